"""Delayed messages in an RDBMS, rows A1 to A8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import InvalidPayload
from tests.conformance.steps import SECOND, keys, outcomes, state, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Message, Queue
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


@pytest.mark.mission("E3")
def test_A1_many_consumers_read_one_queue_and_a_message_goes_to_one_of_them(
    queue: Session, connect: Connect
) -> None:
    expected = {f"m{number:02}" for number in range(20)}
    queue.push_many("mail", [{"key": key, "payload": key} for key in expected])
    consumers = [connect() for _ in range(4)]
    seen: list[str] = []
    for turn in range(20):
        seen += keys(consumers[turn % 4].reserve("mail"))
    assert len(seen) == 20
    assert set(seen) == expected
    assert [consumer.reserve("mail") for consumer in consumers] == [[], [], [], []]


def test_A2_a_message_in_processing_is_invisible_and_comes_back(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push("mail", "a", 1)
    taken, _ = take(queue, "mail", timeout_seconds=30)
    other = connect()
    assert other.reserve("mail") == []
    clock.advance(29.999999)
    assert other.reserve("mail") == []
    clock.advance(0.000001)
    again, _ = take(other, "mail")
    assert (again.key, again.payload) == ("a", 1)
    assert (taken.attempts, again.attempts) == (1, 2)


def test_A3_a_duplicate_push_changes_nothing_and_says_so(queue: Session, connect: Connect) -> None:
    first = queue.push("mail", "a", {"n": 1})
    second = connect().push("mail", "a", {"n": 2}, priority=7, delay_seconds=60)
    assert (first.outcome, second.outcome) == ("created", "ignored")
    assert (second.kind, second.key) == ("mail", "a")
    message, _ = take(queue, "mail")
    assert (message.payload, message.priority) == ({"n": 1}, 0)
    assert queue.reserve("mail") == []


def test_A3_the_same_key_in_another_kind_is_another_message(queue: Session) -> None:
    assert queue.push("mail", "a", 1).outcome == "created"
    assert queue.push("post", "a", 2).outcome == "created"
    assert queue.push("Mail", "a", 3).outcome == "created"


@each("other", ["A", "a ", " a", "á", "a\u0301"])
def test_A3_keys_are_the_same_only_where_every_character_is(queue: Session, other: str) -> None:
    queue.push("mail", "a", 1)
    assert queue.push("mail", other, 2).outcome == "created"
    assert queue.push("mail", other, 3).outcome == "ignored"


def test_A4_what_cant_be_a_payload_is_refused_before_it_is_stored(queue: Session) -> None:
    for payload in ({"text": "nul \x00"}, float("nan"), nested(32)):
        with pytest.raises(InvalidPayload):
            queue.push("mail", "a", payload)
        assert queue.get("mail", "a") is None
    assert queue.push("mail", "a", nested(31)).outcome == "created"


def test_A5_the_loop_takes_processes_and_acknowledges_and_polls_where_nothing_is_there(
    queue: Session, clock: Clock
) -> None:
    queue.push("mail", "now", 0)
    queue.push("mail", "later", 0, delay_seconds=40)
    processed: list[tuple[str, int]] = []
    start = clock.now

    def process(message: Message) -> None:
        processed.append((message.key, (clock.now - start) // SECOND))

    run(queue, "mail", process, wait=lambda: clock.advance(15), rounds=5)
    assert processed == [("now", 0), ("later", 45)]
    assert queue.peek("mail") == []


def test_A6_of_two_that_race_one_wins_and_the_other_goes_on_to_the_next(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    clock.nothing_takes_time()  # on a busy machine what was given back may come a second late
    queue.push_many("mail", [{"key": "a", "payload": 1}, {"key": "b", "payload": 2}])
    first, second = connect(autocommit=False), connect(autocommit=False)
    assert keys(first.reserve("mail")) == ["a"]
    assert keys(second.reserve("mail")) == ["b"], "it neither waits for the first nor gets the same"
    first.rollback()
    second.commit()
    assert keys(queue.reserve("mail")) == ["a"]


def test_A7_an_ack_counts_only_until_the_timeout_has_given_the_message_to_another(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push("mail", "a", 1)
    _, slow = take(queue, "mail", timeout_seconds=10)
    clock.advance(11)
    _, quick = take(connect(), "mail", timeout_seconds=10)
    assert queue.ack(slow).outcome == "lost"
    assert state(queue, "mail", "a") == "reserved"
    assert queue.ack(quick).outcome == "acked"
    assert queue.get("mail", "a") is None


def test_A7_an_ack_leaves_a_new_entry_under_the_same_key_alone(queue: Session) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    queue.ack(receipt)
    queue.push("mail", "a", 2)
    assert queue.ack(receipt).outcome == "lost"
    message, _ = take(queue, "mail")
    assert message.payload == 2


def test_A8_the_time_first_asked_for_stays_for_the_person_who_debugs(queue: Session, clock: Clock) -> None:
    asked = queue.push("mail", "a", 1, delay_seconds=5).scheduled_at
    assert asked == clock.now + 5 * SECOND
    clock.advance(6)
    message, receipt = take(queue, "mail", timeout_seconds=100)
    assert message.scheduled_at_initially == asked
    assert message.scheduled_at == clock.now + 100 * SECOND
    assert outcomes([queue.extend(receipt, 500), queue.nack(receipt, delay_seconds=50)]) == [
        "extended",
        "retry",
    ]
    found = queue.get("mail", "a")
    assert found
    assert found.scheduled_at_initially == asked
    assert found.scheduled_at == clock.now + 50 * SECOND


def nested(levels: int) -> object:
    """Return JSON of so many levels, the innermost a scalar."""
    value: object = 1
    for _ in range(levels - 1):
        value = [value]
    return value


def run(
    queue: Queue, kind: str, process: Callable[[Message], None], wait: Callable[[], None], rounds: int
) -> None:
    """Take, process, acknowledge; wait where nothing is there."""
    for _ in range(rounds):
        messages = queue.reserve(kind)
        for message in messages:
            process(message)
            assert message.receipt
            queue.ack(message.receipt)
        if not messages:
            wait()
