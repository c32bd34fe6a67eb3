"""The contract on pushing: keys, outcomes, and what on_duplicate does in each state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import SECOND, keys, outcomes, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

CHANGING = ["replace", "keep_time", "push_back"]
NEW_CONTENT = ["replace", "keep_time"]


def test_a_push_answers_what_it_made(queue: Session, clock: Clock) -> None:
    pushed = queue.push("mail", "a", 1, delay_seconds=2)
    assert (pushed.kind, pushed.key) == ("mail", "a")
    assert (pushed.scheduled_at, pushed.outcome) == (clock.now + 2 * SECOND, "created")


def test_without_a_key_each_push_gets_one_of_its_own_in_order_of_time(queue: Session, clock: Clock) -> None:
    made: list[str] = []
    for _ in range(20):
        made.append(queue.push("mail", None, 0).key)
        clock.advance(0.001)
    made += [pushed.key for pushed in queue.push_many("mail", [{"payload": 0}, {"key": None, "payload": 0}])]
    assert len(set(made)) == 22
    assert made[:20] == sorted(made[:20])
    assert keys(queue.reserve("mail", None, 30))[:20] == made[:20]


@pytest.mark.parametrize(
    "payload",
    [
        None,
        True,
        0,
        -1.5,
        "",
        'text ✓ 😀 \n\t"\\',
        [],
        {},
        {"a": [1, {"b": None}], "é": "ü"},
        2**53,
        1.5e-7,
        123456789.125,
    ],
    ids=repr,
)
def test_a_json_payload_comes_back_as_it_was(queue: Session, payload: Any) -> None:
    queue.push("mail", "a", payload)
    message, _ = take(queue, "mail")
    assert message.payload == payload
    assert type(message.payload) is type(payload)
    assert message.payload_bytes is None


@pytest.mark.needs("exact_numbers")
def test_numbers_beyond_a_double_come_back_exactly(queue: Session) -> None:
    queue.push("mail", "a", 12345678901234567890123)
    assert take(queue, "mail")[0].payload == 12345678901234567890123


@pytest.mark.parametrize("payload", [b"", b"\x00", bytes(range(256)), "é".encode("latin-1")], ids=repr)
def test_a_binary_payload_comes_back_byte_for_byte(queue: Session, payload: bytes) -> None:
    assert queue.push_bytes("mail", "a", payload).outcome == "created"
    message, _ = take(queue, "mail")
    assert (message.payload, message.payload_bytes) == (None, payload)


def test_kinds_of_95_and_keys_of_200_characters_work(queue: Session) -> None:
    kind, key = "ü" * 95, "😀" * 200
    assert queue.push(kind, key, 1).outcome == "created"
    message, receipt = take(queue, kind)
    assert (message.kind, message.key) == (kind, key)
    assert queue.ack(receipt).outcome == "acked"


def test_a_push_that_is_rolled_back_never_was(queue: Session, connect: Connect) -> None:
    producer = connect(autocommit=False)
    producer.push("mail", "a", 1)
    assert queue.reserve("mail") == []
    producer.rollback()
    assert queue.get("mail", "a") is None
    assert queue.push("mail", "a", 2).outcome == "created"


def test_attempts_that_are_given_are_behind_it_already(queue: Session) -> None:
    queue.push("mail", "a", 1, attempts=4, max_attempts=5)
    message, receipt = take(queue, "mail")
    assert message.attempts == 5
    assert queue.nack(receipt).outcome == "dead"


def test_duplicates_inside_a_batch_are_as_if_pushed_one_after_another(queue: Session, clock: Clock) -> None:
    batch = [
        {"key": "b", "payload": 1},
        {"key": "a", "payload": 2},
        {"key": "b", "payload": 3, "on_duplicate": "replace", "delay_seconds": 5},
        {"key": "a", "payload": 4},
        {"key": "b", "payload": 5, "on_duplicate": "keep_time"},
    ]
    answers = queue.push_many("mail", batch)
    assert [answer.key for answer in answers] == ["b", "a", "b", "a", "b"]
    assert outcomes(answers) == ["created", "created", "replaced", "ignored", "replaced"]
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 9)] == [("a", 2)]
    clock.advance(5)
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 9)] == [("b", 5)]


def test_a_batch_with_an_error_pushes_nothing(queue: Session) -> None:
    with pytest.raises(Exception, match=r"messages\[1\]"):
        queue.push_many("mail", [{"key": "a", "payload": 1}, {"key": "b" * 201, "payload": 2}])
    assert queue.peek("mail") == []


def test_an_empty_batch_is_no_error(queue: Session) -> None:
    assert queue.push_many("mail", []) == []


@pytest.mark.parametrize("at_first", ["scheduled", "ready", "expired"])
@pytest.mark.parametrize("mode", CHANGING)
def test_on_duplicate_changes_what_nobody_holds(
    queue: Session, clock: Clock, at_first: str, mode: Any
) -> None:
    before = push_until(queue, clock, at_first)
    answer = queue.push("mail", "a", "new", headers={"h": "new"}, delay_seconds=100, on_duplicate=mode)
    assert answer.outcome == "replaced"
    found = queue.get("mail", "a")
    assert found
    expected_payload = "new" if mode in NEW_CONTENT else "old"
    # an expired hold says nothing of the time at which the message was due
    expected_time = before if mode == "keep_time" else clock.now + 100 * SECOND
    if (mode, at_first) == ("keep_time", "expired"):
        expected_time = found.scheduled_at
        assert state(queue, "mail", "a") == "ready"
    assert (found.payload, found.scheduled_at) == (expected_payload, expected_time)
    assert (answer.scheduled_at, found.headers) == (
        found.scheduled_at,
        {"h": "new"} if mode in NEW_CONTENT else None,
    )
    clock.advance(1000)
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 9)] == [("a", expected_payload)]


@pytest.mark.parametrize("at_first", ["scheduled", "ready", "reserved", "expired"])
@pytest.mark.parametrize("options", [{}, {"on_duplicate": "ignore"}], ids=["default", "ignore"])
def test_ignore_changes_nothing_in_any_state(
    queue: Session, clock: Clock, at_first: str, options: Any
) -> None:
    push_until(queue, clock, at_first)
    before = queue.get("mail", "a")
    answer = queue.push("mail", "a", "new", headers={"h": 1}, priority=9, delay_seconds=100, **options)
    assert answer.outcome == "ignored"
    assert queue.get("mail", "a") == before


@pytest.mark.parametrize(
    ("mode", "payload", "wait"), [("replace", "new", 20), ("keep_time", "new", 0), ("push_back", "old", 20)]
)
def test_what_is_pushed_onto_a_held_message_comes_once_it_is_acked(
    queue: Session, clock: Clock, mode: Any, payload: str, wait: int
) -> None:
    queue.push("mail", "a", "old")
    _, receipt = take(queue, "mail")
    assert queue.push("mail", "a", "new", delay_seconds=20, on_duplicate=mode).outcome == "held"
    held = queue.get("mail", "a")
    assert held
    assert (held.state, held.payload) == ("reserved", "old"), "the present delivery is left alone"
    assert queue.ack(receipt).outcome == "acked"
    if wait:
        clock.advance(wait - 0.000001)
        assert queue.reserve("mail") == []
        clock.advance(0.000001)
    message, again = take(queue, "mail")
    assert (message.payload, message.attempts) == (payload, 1)
    assert queue.ack(receipt).outcome == "lost", "that was another entry"
    assert queue.ack(again).outcome == "acked"
    assert queue.get("mail", "a") is None


def test_of_several_pushes_onto_a_held_message_the_newest_counts(queue: Session) -> None:
    queue.push("mail", "a", 0)
    _, receipt = take(queue, "mail")
    for number in (1, 2, 3):
        assert queue.push("mail", "a", number, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert [message.payload for message in queue.reserve("mail", None, 9)] == [3]


@pytest.mark.parametrize("end", ["ack", "nack", "final", "move", "expire", "late ack"])
def test_what_is_pushed_onto_a_held_message_is_never_lost(queue: Session, clock: Clock, end: str) -> None:
    queue.push("mail", "a", "old")
    _, receipt = take(queue, "mail", timeout_seconds=10)
    queue.push("mail", "a", "new", on_duplicate="replace")
    if end == "ack":
        queue.ack(receipt)
    elif end == "nack":
        queue.nack(receipt)
    elif end == "final":
        queue.nack(receipt, final=True)
    elif end == "move":
        queue.move(receipt, "next")
    clock.advance(20)
    if end == "late ack":
        assert queue.ack(receipt).outcome == "acked"
    assert [message.payload for message in queue.reserve("mail", None, 9)] == ["new"]
    assert [message.payload for message in queue.peek("next")] == (["old"] if end == "move" else [])
    assert [message.payload for message in queue.peek("mail.dead")] == (["old"] if end == "final" else [])


@pytest.mark.parametrize("binary", [False, True])
def test_a_binary_and_a_json_payload_can_take_each_others_place(queue: Session, binary: bool) -> None:
    if binary:
        queue.push("mail", "a", None)
        _, receipt = take(queue, "mail")
        assert queue.push_bytes("mail", "a", b"\x00", on_duplicate="replace").outcome == "held"
    else:
        queue.push_bytes("mail", "a", b"\x00")
        _, receipt = take(queue, "mail")
        assert queue.push("mail", "a", None, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    message, _ = take(queue, "mail")
    assert (message.payload, message.payload_bytes) == (None, b"\x00" if binary else None)


def test_a_push_onto_an_expired_message_outlives_the_late_ack_of_the_old_one(
    queue: Session, clock: Clock
) -> None:
    queue.push("mail", "a", "old")
    _, receipt = take(queue, "mail", timeout_seconds=10)
    clock.advance(10)
    queue.push("mail", "a", "new", on_duplicate="replace")
    queue.ack(receipt)
    assert take(queue, "mail")[0].payload == "new"


def test_the_newest_push_counts_over_one_that_came_before_the_timeout(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", "oldest")
    take(queue, "mail", timeout_seconds=10)
    assert queue.push("mail", "a", "older", on_duplicate="replace").outcome == "held"
    clock.advance(10)
    queue.push("mail", "a", "newest", on_duplicate="replace")
    message, receipt = take(queue, "mail")
    assert message.payload == "newest"
    assert queue.ack(receipt).outcome == "acked"
    assert queue.reserve("mail") == []


def test_push_back_is_a_debounce(queue: Session, clock: Clock) -> None:
    for number in range(5):
        queue.push("index", "page", number, delay_seconds=10, on_duplicate="push_back")
        clock.advance(9)
        assert queue.reserve("index") == []
    clock.advance(1)
    assert take(queue, "index")[0].payload == 0
    assert queue.reserve("index") == []


def test_keep_time_after_the_first_makes_a_batch_that_is_not_put_off(queue: Session, clock: Clock) -> None:
    for number in range(3):
        queue.push("index", "page", number, delay_seconds=10, on_duplicate="keep_time")
        clock.advance(3)
    clock.advance(1)
    assert take(queue, "index")[0].payload == 2


def push_until(queue: Session, clock: Clock, wanted: str) -> int:
    """Push a message and bring it into that state; returns its delivery time."""
    pushed = queue.push("mail", "a", "old", delay_seconds=50 if wanted == "scheduled" else 0)
    assert pushed.scheduled_at
    if wanted in ("reserved", "expired"):
        take(queue, "mail", timeout_seconds=10)
    clock.advance(10 if wanted == "expired" else 5)
    assert state(queue, "mail", "a") == wanted
    return pushed.scheduled_at
