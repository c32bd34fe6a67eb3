"""The contract on a key that is taken: each mode, onto a message in each state, by each way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.conformance.steps import SECOND, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Message
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session

MODES = ["ignore", "replace", "keep_time", "push_back"]
OLD_HEADERS, NEW_HEADERS = {"h": "old"}, {"h": "new"}
OLD_PRIORITY, NEW_PRIORITY = 3, 7
DELAY = 100
"""Of the push that meets the key, in seconds."""


class Row(NamedTuple):
    """What the push answers, and what is there then."""

    outcome: str
    content: str = "old"
    """Payload and headers: old or new."""
    time: str = "as it was"
    """The delivery time: as it was, the one of the push, or now."""
    receipt: str = "none"
    """That of the delivery before: good, lost, or none where there was no delivery."""


# where there is no message of that key the mode doesn't matter; a dead letter of that key is in another kind
CREATED = Row("created", "new", "of the push")

MATRIX: dict[str, dict[str, Row]] = {
    "absent": dict.fromkeys(MODES, CREATED),
    "scheduled": {
        "ignore": Row("ignored"),
        "replace": Row("replaced", "new", "of the push"),
        "keep_time": Row("replaced", "new"),
        "push_back": Row("replaced", "old", "of the push"),
    },
    "ready": {
        "ignore": Row("ignored"),
        "replace": Row("replaced", "new", "of the push"),
        "keep_time": Row("replaced", "new"),
        "push_back": Row("replaced", "old", "of the push"),
    },
    # the present delivery is left alone; AFTER says what comes once it is done
    "held": {
        "ignore": Row("ignored", receipt="good"),
        "replace": Row("held", receipt="good"),
        "keep_time": Row("held", receipt="good"),
        "push_back": Row("held", receipt="good"),
    },
    # an expired hold is none, but its late ack must not remove what is new; and its end is no delivery time
    "expired": {
        "ignore": Row("ignored", receipt="good"),
        "replace": Row("replaced", "new", "of the push", "lost"),
        "keep_time": Row("replaced", "new", "now", "lost"),
        "push_back": Row("replaced", "old", "of the push", "lost"),
    },
    "dead": dict.fromkeys(MODES, CREATED),
    # the dead-letter kind is a kind like any other
    "dead letter": {
        "ignore": Row("ignored"),
        "replace": Row("replaced", "new", "of the push"),
        "keep_time": Row("replaced", "new"),
        "push_back": Row("replaced", "old", "of the push"),
    },
}


def push(queue: Session, kind: str, **options: Any) -> str:
    return queue.push(
        kind, "a", "new", headers=NEW_HEADERS, priority=NEW_PRIORITY, delay_seconds=DELAY, **options
    ).outcome


def push_bytes(queue: Session, kind: str, **options: Any) -> str:
    return queue.push_bytes(
        kind, "a", b"new", headers=NEW_HEADERS, priority=NEW_PRIORITY, delay_seconds=DELAY, **options
    ).outcome


MESSAGE: dict[str, Any] = {
    "key": "a",
    "payload": "new",
    "headers": NEW_HEADERS,
    "priority": NEW_PRIORITY,
    "delay_seconds": DELAY,
}


def push_many(queue: Session, kind: str, **options: Any) -> str:
    return queue.push_many(kind, [MESSAGE], **options)[0].outcome


def push_among_others(queue: Session, kind: str, **options: Any) -> str:
    others = [{"key": key, "payload": 0, "delay_seconds": 10**6} for key in ("Z", "z")]
    answers = queue.push_many(kind, [others[1], {**MESSAGE, **options}, others[0]])
    assert outcomes([answers[0], answers[2]]) == ["created", "created"]
    assert [queue.remove(kind, key) for key in ("Z", "z")] == ["removed", "removed"]
    return answers[1].outcome


def move(queue: Session, kind: str, **options: Any) -> str:
    queue.push("source", "a", "new", headers=NEW_HEADERS, priority=NEW_PRIORITY)
    _, receipt = take(queue, "source")
    outcome = queue.move(receipt, kind, delay_seconds=DELAY, **options).outcome
    assert queue.get("source", "a") is None
    return outcome


WAYS: dict[str, Callable[..., str]] = {
    "push": push,
    "push_bytes": push_bytes,
    "push_many": push_many,
    "push_among_others": push_among_others,
    "move": move,
}
ways = each("way", WAYS)
MOVED = {"created": "moved", "ignored": "duplicate", "replaced": "moved", "held": "moved"}
"""What a move answers in place of the outcome of a push."""


@ways
@each("there", MATRIX)
def test_what_a_push_onto_a_key_answers_and_leaves(
    queue: Session, clock: Clock, way: str, there: str
) -> None:
    for mode, expected in MATRIX[there].items():
        kind, receipt = bring(queue, clock, f"{way}.{mode}.{there}", there)
        before = queue.get(kind, "a")
        outcome = WAYS[way](queue, kind, on_duplicate=mode)
        assert outcome == (MOVED[expected.outcome] if way == "move" else expected.outcome), mode
        after = queue.get(kind, "a")
        assert after
        if expected == CREATED:
            assert (after.created_at, after.priority, after.attempts) == (clock.now, NEW_PRIORITY, 0), mode
        else:
            assert before
            # the message keeps its priority, whatever the mode
            assert (after.created_at, after.priority) == (before.created_at, OLD_PRIORITY), mode
        if expected.outcome in ("ignored", "held"):
            assert after == before, mode
        assert content(after) == new_or_old(expected.content, way), mode
        times = {"of the push": clock.now + DELAY * SECOND, "now": clock.now}
        assert after.scheduled_at == times.get(expected.time, before and before.scheduled_at), mode
        if receipt:
            answer = queue.extend(receipt, 1).outcome
            assert answer == {"good": "extended", "lost": "lost"}[expected.receipt], mode
        if there == "dead":
            assert [m.payload for m in queue.peek(f"{kind}.dead")] == ["old"], mode


@each("there", ["scheduled", "ready", "held", "expired"])
@each("mode", MODES)
def test_a_push_answers_the_time_of_the_message_that_is_there_then(
    queue: Session, clock: Clock, there: str, mode: Any
) -> None:
    kind, _ = bring(queue, clock, f"{mode}.{there}", there)
    pushed = queue.push(kind, "a", "new", delay_seconds=DELAY, on_duplicate=mode)
    message = queue.get(kind, "a")
    assert message
    assert pushed.scheduled_at == message.scheduled_at


class Then(NamedTuple):
    """What is delivered after the delivery that was going on, and how long after the push; None: nothing."""

    content: str | None
    wait: float
    attempts: int = 1


HOLD = 10
"""How long the delivery lasts on which the push falls, in seconds."""

# what was pushed comes as a new entry with attempts 1, at the time that it asks for, or at once where it asks
# for none; deliveries end 5 s after the push, or with their time
AFTER: dict[str, dict[str, Then]] = {
    **{
        end: {
            "ignore": Then(None, 0),
            "replace": Then("new", DELAY),
            "keep_time": Then("new", 5),
            "push_back": Then("old", DELAY),
        }
        for end in ("ack", "extend and ack", "move", "final nack")
    },
    "nack": {
        "ignore": Then("old", 5, attempts=2),
        "replace": Then("new", DELAY),
        "keep_time": Then("new", 5),
        "push_back": Then("old", DELAY),
    },
    "late ack": {
        "ignore": Then(None, 0),
        "replace": Then("new", DELAY),
        "keep_time": Then("new", HOLD),
        "push_back": Then("old", DELAY),
    },
    "expiry": {
        "ignore": Then("old", HOLD, attempts=2),
        "replace": Then("new", DELAY),
        "keep_time": Then("new", HOLD),
        "push_back": Then("old", DELAY),
    },
}
ENDS: dict[str, Callable[[Session, str], str]] = {
    "ack": lambda queue, receipt: queue.ack(receipt).outcome,
    "extend and ack": lambda queue, receipt: queue.extend(receipt, 20).outcome + queue.ack(receipt).outcome,
    "move": lambda queue, receipt: queue.move(receipt, "next").outcome,
    "final nack": lambda queue, receipt: queue.nack(receipt, final=True).outcome,
    "nack": lambda queue, receipt: queue.nack(receipt).outcome,
    "late ack": lambda queue, receipt: queue.ack(receipt).outcome,
}
ANSWERS = {
    "ack": "acked",
    "extend and ack": "extendedacked",
    "move": "moved",
    "final nack": "dead",
    "nack": "retry",
    "late ack": "acked",
}


@pytest.mark.long
@pytest.mark.core("postgresql", "mariadb")
@ways
@each("end", AFTER)
def test_what_comes_after_the_delivery_that_a_push_falls_on(
    queue: Session, clock: Clock, way: str, end: str
) -> None:
    for mode, then in AFTER[end].items():
        kind, receipt = bring(queue, clock, f"{way}.{mode}.{end}", "held")
        assert receipt
        start = clock.now
        WAYS[way](queue, kind, on_duplicate=mode)
        clock.advance(HOLD if end in ("late ack", "expiry") else 5)
        if end == "expiry":
            # nobody says anything: the next reserve finds the hold expired
            assert [m.attempts for m in queue.reserve(kind)] == ([then.attempts] if then.wait == HOLD else [])
        else:
            assert ENDS[end](queue, receipt) == ANSWERS[end]
            assert queue.ack(receipt).lost
        if end in ("move", "final nack"):
            (gone,) = queue.peek("next" if end == "move" else f"{kind}.dead")
            assert (gone.payload, gone.headers) == ("old", OLD_HEADERS), mode
            queue.purge("next")
        message = queue.get(kind, "a")
        if then.content is None:
            assert message is None, mode
            continue
        assert message, mode
        assert content(message) == new_or_old(then.content, way), mode
        assert message.priority == OLD_PRIORITY, mode
        if message.reserved_at is None:
            assert message.scheduled_at == start + then.wait * SECOND, mode
            clock.set(message.scheduled_at)
            assert take(queue, kind)[0].attempts == then.attempts, mode
        assert queue.ack(receipt).lost, mode


def test_of_several_pushes_onto_a_held_message_the_newest_counts(queue: Session) -> None:
    queue.push("mail", "a", 0)
    _, receipt = take(queue, "mail")
    for number in (1, 2, 3):
        assert queue.push("mail", "a", number, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert [message.payload for message in queue.reserve("mail", None, 9)] == [3]


def test_a_batch_of_acks_leaves_what_was_pushed_onto_some_of_it(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": "old"} for key in "abc"])
    held = receipts(queue.reserve("mail", None, 3))
    assert queue.push("mail", "b", "new", on_duplicate="replace").outcome == "held"
    assert outcomes(queue.ack_many(held)) == ["acked"] * 3
    assert [(message.key, message.payload) for message in queue.reserve("mail", None, 3)] == [("b", "new")]


def test_of_pushes_onto_a_held_message_each_counts_for_what_it_gives(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 0)
    _, receipt = take(queue, "mail")
    queue.push("mail", "a", 1, on_duplicate="keep_time")
    queue.push("mail", "a", 2, delay_seconds=50, on_duplicate="push_back")
    queue.ack(receipt)
    assert queue.reserve("mail") == []
    clock.advance(50)
    assert take(queue, "mail")[0].payload == 1


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


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("seconds", [0, 60], ids=["nothing kept", "history"])
def test_a_pop_after_the_timeout_takes_what_came_before_it(
    queue: Session, clock: Clock, seconds: int, most: int
) -> None:
    queue.define("mail", history_seconds=seconds)
    queue.push("mail", "a", "old")
    take(queue, "mail", timeout_seconds=10)
    assert queue.push("mail", "a", "new", on_duplicate="replace").outcome == "held"
    clock.advance(10)
    assert [message.payload for message in queue.pop("mail", most)] == ["new"]
    assert queue.get("mail", "a") is None


def test_a_time_in_the_past_puts_nothing_before_the_end_of_the_delivery(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", "old")
    _, receipt = take(queue, "mail")
    queue.push("mail", "a", "new", on_duplicate="replace", scheduled_at=clock.now - 60 * SECOND)
    clock.advance(5)
    queue.ack(receipt)
    message = queue.get("mail", "a")
    assert message
    assert (message.payload, message.scheduled_at) == ("new", clock.now)


@pytest.mark.parametrize("binary", [False, True], ids=["JSON", "binary"])
def test_what_came_before_the_timeout_stays_where_only_the_time_is_pushed_after_it(
    queue: Session, clock: Clock, binary: bool
) -> None:
    queue.push("mail", "a", "old")
    take(queue, "mail", timeout_seconds=10)
    if binary:
        held = queue.push_bytes("mail", "a", b"new", on_duplicate="replace")
    else:
        held = queue.push("mail", "a", "new", on_duplicate="replace")
    clock.advance(10)
    assert outcomes([held, queue.push("mail", "a", 0, on_duplicate="push_back")]) == ["held", "replaced"]
    message, _ = take(queue, "mail")
    assert (message.payload, message.payload_bytes) == ((None, b"new") if binary else ("new", None))


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


def test_of_a_batch_with_many_for_one_key_the_last_stays(queue: Session) -> None:
    queue.push_many("k", [{"key": f"{n % 3}", "payload": n} for n in range(60)], on_duplicate="replace")
    assert {one.key: one.payload for one in queue.pop("k", 9)} == {"0": 57, "1": 58, "2": 59}


def bring(queue: Session, clock: Clock, name: str, there: str) -> tuple[str, str | None]:
    """Bring a message `a` into that state; returns the kind to push into, and the receipt of a delivery."""
    kind, receipt = name, None
    if there == "dead letter":
        kind = f"{name}.dead"
    if there in ("dead", "dead letter"):
        queue.push(name, "a", "old", headers=OLD_HEADERS, priority=OLD_PRIORITY)
        _, dying = take(queue, name)
        queue.nack(dying, final=True)
    elif there != "absent":
        delay = 50 if there == "scheduled" else 0
        queue.push(kind, "a", "old", headers=OLD_HEADERS, priority=OLD_PRIORITY, delay_seconds=delay)
    if there in ("held", "expired"):
        _, receipt = take(queue, kind, timeout_seconds=HOLD)
    if there != "held":
        clock.advance(HOLD)
    reached = {"held": "reserved", "absent": None, "dead": None, "dead letter": "ready"}
    assert state(queue, kind, "a") == reached.get(there, there)
    return kind, receipt


def content(message: Message) -> tuple[Any, ...]:
    """The payload, of whichever kind, and the headers."""
    return message.payload, message.payload_bytes, message.headers


def new_or_old(which: str, way: str) -> tuple[Any, ...]:
    """The content that this way brings, or that of the message before."""
    if which == "old":
        return "old", None, OLD_HEADERS
    return (None, b"new", NEW_HEADERS) if way == "push_bytes" else ("new", None, NEW_HEADERS)


def test_what_was_pushed_onto_a_hold_without_headers_has_none(queue: Session, clock: Clock) -> None:
    queue.push("k", "a", 1, headers={"h": 1})
    queue.reserve("k", timeout_seconds=10)
    assert queue.push("k", "a", 2, on_duplicate="replace").outcome == "held"
    clock.advance(11)
    assert queue.push("k", "a", 3, on_duplicate="push_back").outcome == "replaced"
    message = queue.get("k", "a")
    assert message is not None
    assert (message.payload, message.headers) == (2, None)
    assert queue.execute("select count(*) from queue_messages where headers is null") == [(1,)]


def test_a_delivery_of_what_was_replaced_counts(queue: Session, clock: Clock) -> None:
    queue.push("k", "a", 1)
    queue.reserve("k", timeout_seconds=10)
    clock.advance(11)
    assert queue.push("k", "a", 2, on_duplicate="replace").outcome == "replaced"
    assert queue.stats("k")[0].reserved_total == 1
    assert len(queue.reserve("k")) == 1
    assert queue.stats("k")[0].reserved_total == 2
