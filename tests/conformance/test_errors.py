"""The contract on errors: one cause, one SQLSTATE; the message names the parameter and its value."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import (
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Queue,
    QueueError,
    Refused,
)
from tests.conformance.steps import keys, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Session

LONG = "x" * 300
R = "never a receipt"

CAUSES: list[tuple[type[QueueError], str, Callable[[Queue, str], object]]] = [
    # a parameter is missing, too long or out of its range
    (InvalidParameter, "kind", lambda q, _: q.push("", "a", 1)),
    (InvalidParameter, "kind", lambda q, _: q.push("k" * 96, "a", 1)),
    (InvalidParameter, "kind", lambda q, _: q.push(None, "a", 1)),  # type: ignore[arg-type]
    (InvalidParameter, "kind", lambda q, _: q.push_bytes("", "a", b"")),
    (InvalidParameter, "kind", lambda q, _: q.push_many("", [])),
    (InvalidParameter, "kind", lambda q, _: q.reserve("")),
    (InvalidParameter, "kind", lambda q, _: q.reserve("k" * 101)),
    (InvalidParameter, "kind", lambda q, _: q.pop("")),
    (InvalidParameter, "kind", lambda q, _: q.get("", "a")),
    (InvalidParameter, "kind", lambda q, _: q.peek("")),
    (InvalidParameter, "kind", lambda q, _: q.remove("", "a")),
    (InvalidParameter, "kind", lambda q, _: q.purge("")),
    (InvalidParameter, "kind", lambda q, _: q.define("")),
    (InvalidParameter, "kind", lambda q, _: q.drop("")),
    (InvalidParameter, "kind", lambda q, _: q.pause("")),
    (InvalidParameter, "kind", lambda q, _: q.resume("")),
    (InvalidParameter, "kind", lambda q, _: q.redrive("")),
    (InvalidParameter, "to_kind", lambda q, k: move(q, k, "")),
    (InvalidParameter, "to_kind", lambda q, k: move(q, k, "k" * 96)),
    (InvalidParameter, "to_kind", lambda q, k: q.replay(k, to_kind="")),
    (InvalidParameter, "to_kind", lambda q, k: q.replay(k, to_kind="k" * 101)),
    (InvalidParameter, "key", lambda q, k: q.push(k, "", 1)),
    (InvalidParameter, "key", lambda q, k: q.push(k, "k" * 201, 1)),
    (InvalidParameter, "key", lambda q, k: q.get(k, "")),
    (InvalidParameter, "key", lambda q, k: q.remove(k, "")),
    (InvalidParameter, "messages[0].key", lambda q, k: q.push_many(k, [{"key": 5, "payload": 1}])),
    (InvalidParameter, "max_messages", lambda q, k: q.reserve(k, None, 0)),
    (InvalidParameter, "max_messages", lambda q, k: q.pop(k, -1)),
    (InvalidParameter, "max_messages", lambda q, k: q.peek(k, 0)),
    (InvalidParameter, "max_messages", lambda q, k: q.purge(k, 0)),
    (InvalidParameter, "max_messages", lambda q, k: q.redrive(k, 0)),
    (InvalidParameter, "max_rows", lambda q, _: q.prune(0)),
    (InvalidParameter, "worker", lambda q, k: q.reserve(k, "w" * 201)),
    (InvalidParameter, "seconds", lambda q, k: extend(q, k, -1)),
    (InvalidParameter, "seconds", lambda q, k: extend(q, k, None)),
    # an option is unknown, of the wrong type or out of its range
    (InvalidOption, "no_such", lambda q, k: q.push(k, "a", 1, no_such=1)),  # type: ignore[call-arg]
    (InvalidOption, "no_such", lambda q, k: q.push_many(k, [{"key": "a", "payload": 1, "no_such": 1}])),
    (InvalidOption, "no_such", lambda q, k: q.push_many(k, [], no_such=1)),  # type: ignore[call-arg]
    (InvalidOption, "no_such", lambda q, k: nack(q, k, no_such=1)),
    (InvalidOption, "no_such", lambda q, k: move(q, k, "next", no_such=1)),
    (InvalidOption, "no_such", lambda q, k: q.define(k, no_such=1)),  # type: ignore[call-arg]
    (InvalidOption, "delay_seconds", lambda q, k: q.push(k, "a", 1, delay_seconds=-1)),
    (InvalidOption, "delay_seconds", lambda q, k: q.push(k, "a", 1, delay_seconds="1")),  # type: ignore[arg-type]
    (InvalidOption, "delay_seconds", lambda q, k: q.push(k, "a", 1, delay_seconds=1e300)),
    (InvalidOption, "delay_seconds", lambda q, k: nack(q, k, delay_seconds=-1)),
    (InvalidOption, "delay_seconds", lambda q, k: move(q, k, "next", delay_seconds=True)),
    (InvalidOption, "scheduled_at", lambda q, k: q.push(k, "a", 1, scheduled_at=1_767_225_600)),
    (InvalidOption, "scheduled_at", lambda q, k: q.push(k, "a", 1, scheduled_at="2030-01-01T00:00:00")),
    (InvalidOption, "scheduled_at", lambda q, k: q.push(k, "a", 1, scheduled_at="2030-02-30T00:00:00Z")),
    (InvalidOption, "scheduled_at", lambda q, k: q.push(k, "a", 1, scheduled_at="tomorrow")),
    (InvalidOption, "scheduled_at", lambda q, k: q.push(k, "a", 1, scheduled_at=datetime(2030, 1, 1))),
    (
        InvalidOption,
        "scheduled_at",
        lambda q, k: q.push(k, "a", 1, scheduled_at="2030-01-01T00:00:00Z", delay_seconds=1),
    ),
    (InvalidOption, "priority", lambda q, k: q.push(k, "a", 1, priority=32768)),
    (InvalidOption, "priority", lambda q, k: q.push_many(k, [{"key": "a", "payload": 1, "priority": 32768}])),
    (InvalidOption, "priority", lambda q, k: q.push(k, "a", 1, priority=1.5)),  # type: ignore[arg-type]
    (InvalidOption, "priority", lambda q, k: move(q, k, "next", priority="high")),
    (InvalidOption, "attempts", lambda q, k: q.push(k, "a", 1, attempts=-1)),
    (InvalidOption, "max_attempts", lambda q, k: q.push(k, "a", 1, max_attempts=0)),
    (InvalidOption, "on_duplicate", lambda q, k: q.push(k, "a", 1, on_duplicate="x")),  # type: ignore[arg-type]
    (InvalidOption, "on_duplicate", lambda q, k: q.push(k, "a", 1, on_duplicate=7)),  # type: ignore[arg-type]
    (InvalidOption, "on_duplicate", lambda q, k: move(q, k, "next", on_duplicate="x")),
    (InvalidOption, "timeout_seconds", lambda q, k: q.reserve(k, timeout_seconds=-1)),
    (InvalidOption, "final", lambda q, k: nack(q, k, final=1)),
    (InvalidOption, "count", lambda q, k: nack(q, k, count="no")),
    (InvalidOption, "timeout_seconds", lambda q, k: q.define(k, timeout_seconds=0)),
    (InvalidOption, "max_attempts", lambda q, k: q.define(k, max_attempts=0)),
    (InvalidOption, "backoff_seconds", lambda q, k: q.define(k, backoff_seconds=-1)),
    (InvalidOption, "jitter", lambda q, k: q.define(k, jitter=2)),
    (InvalidOption, "dead_letter_kind", lambda q, k: q.define(k, dead_letter_kind=5)),  # type: ignore[arg-type]
    # a payload or headers that can't be stored
    (InvalidPayload, "payload", lambda q, k: q.push_bytes(k, "a", None)),  # type: ignore[arg-type]
    (InvalidPayload, "payload", lambda q, k: q.push(k, "a", deep())),
    (InvalidPayload, "payload", lambda q, k: q.push_many(k, [{"key": "a", "payload": deep()}])),
    (InvalidPayload, "payload", lambda q, k: nack(q, k, payload=deep())),
    (InvalidPayload, "payload", lambda q, k: move(q, k, "next", payload=deep())),
    (InvalidPayload, "", lambda q, k: q.push(k, "a", "nul \x00")),
    (InvalidPayload, "", lambda q, k: q.push(k, "a", "lone \ud800")),
    (InvalidPayload, "headers", lambda q, k: q.push(k, "a", 1, headers=[1])),  # type: ignore[arg-type]
    (InvalidPayload, "headers", lambda q, k: q.push(k, "a", 1, headers={"a": {"b": 1}})),
    (InvalidPayload, "headers", lambda q, k: q.push_bytes(k, "a", b"", headers={"a": [1]})),
    (InvalidPayload, "headers", lambda q, k: move(q, k, "next", headers="x")),
    # refused in this state
    (Refused, "kind", lambda q, k: (take_one(q, k), q.drop(k))),
    (Refused, "dead_letter_kind", lambda q, k: q.define(k, dead_letter_kind=k)),
    # that is no receipt
    (InvalidReceipt, "receipt", lambda q, _: q.ack(R)),
    (InvalidReceipt, "receipt", lambda q, _: q.ack("")),
    (InvalidReceipt, "receipt", lambda q, _: q.ack(None)),  # type: ignore[arg-type]
    (InvalidReceipt, "receipt", lambda q, _: q.nack(R)),
    (InvalidReceipt, "receipt", lambda q, _: q.extend(R, 1)),
    (InvalidReceipt, "receipt", lambda q, _: q.move(R, "next")),
    (InvalidReceipt, "receipts", lambda q, _: q.ack_many([R])),
    (InvalidReceipt, "receipts", lambda q, _: q.nack_many([R])),
    (InvalidReceipt, "receipts", lambda q, _: q.next([R], "next")),
    (InvalidReceipt, "receipts", lambda q, _: q.extend_many([R], 1)),
    (InvalidReceipt, "", lambda q, _: q.move_many([{"receipt": R, "to_kind": "next"}])),
]


@each("cause", dict.fromkeys(cause for cause, _, _ in CAUSES))
def test_each_cause_has_its_sqlstate_and_the_message_names_the_parameter(
    queue: Session, cause: type[QueueError]
) -> None:
    wrong: list[str] = []
    for number, (expected, name, call) in enumerate(CAUSES):
        kind = f"k{number}"
        queue.push(kind, "there", "before")
        if expected is cause:
            try:
                wrong.append(f"{number}: {name}: no error but {call(queue, kind)}")
            except QueueError as error:
                if type(error) is not expected or name not in str(error):
                    wrong.append(f"{number}: {name}: {error!r}")
                if keys(queue.peek(kind)) != ["there"] or queue.peek("next"):
                    wrong.append(f"{number}: {name}: it changed something")
    assert not wrong, "\n".join(wrong)


@each(
    "call",
    [
        lambda q: q.push(LONG, "a", 1),
        lambda q: q.push("mail", LONG, 1),
        lambda q: q.push("mail", "a", 1, on_duplicate=LONG),
        lambda q: q.push("mail", "a", 1, headers=[LONG]),
        lambda q: q.push("mail", "a", 1, **{LONG: 1}),
        lambda q: q.ack(LONG),
        lambda q: q.ack_many([LONG]),
        lambda q: q.define("mail", dead_letter_kind=LONG),
    ],
)
def test_a_value_is_cut_at_40_characters(queue: Session, call: Callable[[Queue], object]) -> None:
    with pytest.raises(QueueError) as raised:
        call(queue)
    text = str(raised.value)
    assert "x" * 30 in text
    assert "x" * 41 not in text
    assert len(text) <= 200


@each(
    ("call", "meant"),
    [
        (lambda q: q.push("mail", "a", 1, semaphore=["a"]), "semaphores"),
        (lambda q: q.push("mail", "a", 1, order="a"), "order_key"),
        (lambda q: q.define("mail", log=1), "log_seconds"),
        (lambda q: q.define("mail", rate=1), "rate_per_second"),
        (lambda q: q.push_many("mail", [{"key": "a", "max_attempt": 1}]), "max_attempts"),
    ],
)
def test_an_unknown_option_is_told_what_it_may_have_meant(
    queue: Session, call: Callable[[Queue], object], meant: str
) -> None:
    with pytest.raises(InvalidOption, match=f"allowed are .*{meant}"):
        call(queue)


@each(
    ("call", "most"),
    [
        (lambda q: q.reserve("mail", None, 10_001), 10_000),
        (lambda q: q.pop("mail", 0), 10_000),
        (lambda q: q.prune(1_000_001), 1_000_000),
    ],
)
def test_a_number_out_of_its_range_is_told_the_range(
    queue: Session, call: Callable[[Queue], object], most: int
) -> None:
    with pytest.raises(InvalidParameter, match=rf"must be a whole number from 1 to {most}\b"):
        call(queue)


def test_a_receipt_that_names_nothing_is_an_answer_not_an_error(queue: Session) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    queue.ack(receipt)
    assert queue.ack(receipt).lost


def test_a_refused_call_leaves_the_transaction_to_the_caller(queue: Session, connect: Connect) -> None:
    producer = connect(autocommit=False)
    producer.push("mail", "before", 1)
    with pytest.raises(InvalidParameter):
        producer.push("mail", "", 1)
    producer.rollback()
    assert queue.get("mail", "before") is None
    producer.push("mail", "after", 1)
    producer.commit()
    assert keys(queue.peek("mail")) == ["after"]


def deep() -> object:
    """Return JSON one level deeper than all servers can hold."""
    value: object = 1
    for _ in range(31):
        value = {"a": value}
    return value


def take_one(queue: Queue, kind: str) -> str:
    """Reserve the message that is there, and return its receipt."""
    (message,) = queue.reserve(kind)
    assert message.receipt
    return message.receipt


def extend(queue: Queue, kind: str, seconds: Any) -> object:
    return queue.extend(take_one(queue, kind), seconds)


def nack(queue: Queue, kind: str, **options: Any) -> object:
    return queue.nack(take_one(queue, kind), **options)


def move(queue: Queue, kind: str, to_kind: str, **options: Any) -> object:
    return queue.move(take_one(queue, kind), to_kind, **options)
