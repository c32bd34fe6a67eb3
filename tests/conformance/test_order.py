"""The contract on the order of delivery: priority, then time, then entry; and on looking without touching."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.conformance.steps import SECOND, drain, keys, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_order_is_priority_then_time_then_entry(queue: Session, clock: Clock) -> None:
    chance = random.Random(7)
    pushed: list[tuple[int, int, int, str]] = []
    for number in range(200):
        priority, offset = chance.choice([-1, 0, 0, 5]), chance.randrange(-20, 1)
        key = f"{chance.random():.6f}"
        queue.push("job", key, 0, priority=priority, scheduled_at=clock.now + offset * SECOND)
        pushed.append((-priority, offset, number, key))
    expected = [key for *_, key in sorted(pushed)]
    assert keys(queue.peek("job", 200)) == expected
    taken = [key for size in (1, 2, 3, 50, 144) for key in keys(queue.reserve("job", None, size))]
    assert taken == expected


def test_what_comes_due_stands_by_its_time_not_by_when_it_was_pushed(queue: Session, clock: Clock) -> None:
    queue.push("job", "third", 0, delay_seconds=30)
    queue.push("job", "first", 0, delay_seconds=10)
    clock.advance(20)
    queue.push("job", "second", 0)
    clock.advance(20)
    queue.push("job", "fourth", 0)
    assert keys(drain(queue, "job")) == ["first", "second", "third", "fourth"]


def test_a_retry_stands_by_the_time_it_was_put_off_to(queue: Session, clock: Clock) -> None:
    queue.push("job", "retried", 0)
    _, receipt = take(queue, "job")
    queue.nack(receipt, delay_seconds=10)
    clock.advance(5)
    queue.push("job", "earlier", 0)
    clock.advance(10)
    queue.push("job", "later", 0)
    assert keys(drain(queue, "job")) == ["earlier", "retried", "later"]


def test_a_new_priority_is_found_above_and_below_the_ones_in_use(queue: Session, clock: Clock) -> None:
    for number in range(30):
        queue.push("job", f"{number}", 0)
    for number in range(10):
        assert keys(queue.reserve("job")) == [f"{number}"]
        clock.advance(0.5)
    queue.push("job", "low", 0, priority=-5)
    queue.push("job", "high", 0, priority=5)
    assert keys(queue.reserve("job", None, 2)) == ["high", "10"]
    assert keys(drain(queue, "job"))[-1] == "low"


def test_peek_and_get_change_nothing(queue: Session, clock: Clock) -> None:
    queue.push("job", "ready", {"n": 1}, headers={"h": 1}, priority=1)
    queue.push("job", "scheduled", 0, delay_seconds=50)
    queue.push_bytes("job", "held", b"\x01", priority=9)
    _, receipt = take_best(queue)
    before = queue.peek("job", 10)
    assert queue.peek("job", 10) == before
    assert {m.key: (m.state, m.attempts, m.receipt) for m in before} == {
        "ready": ("ready", 0, None),
        "scheduled": ("scheduled", 0, None),
        "held": ("reserved", 1, None),
    }
    for message in before:
        assert queue.get("job", message.key) == message
    assert keys(queue.reserve("job", None, 9)) == ["ready"]
    assert queue.ack(receipt).outcome == "acked"
    clock.advance(50)
    assert (state(queue, "job", "scheduled"), queue.get("job", "never")) == ("ready", None)


def test_peek_and_get_say_the_same_at_the_moment_when_something_ends(queue: Session, clock: Clock) -> None:
    queue.push("job", "held", 0)
    take(queue, "job", timeout_seconds=1)
    queue.push("job", "scheduled", 0, delay_seconds=1)
    for waited, held, scheduled in ((0.999999, "reserved", "scheduled"), (0.000001, "expired", "ready")):
        clock.advance(waited)
        states = {"held": held, "scheduled": scheduled}
        assert {message.key: message.state for message in queue.peek("job", 9)} == states
        assert {key: state(queue, "job", key) for key in states} == states


def test_peek_shows_so_many_in_order_of_delivery(queue: Session) -> None:
    for number in range(15):
        queue.push("job", f"{number:02}", 0, priority=1 if number == 14 else 0)
    assert keys(queue.peek("job")) == ["14", *(f"{number:02}" for number in range(9))]
    assert keys(queue.peek("job", 2)) == ["14", "00"]
    assert queue.peek("another") == []


def take_best(queue: Session) -> tuple[str, str]:
    """Reserve the first message, and return its key and receipt."""
    (message,) = queue.reserve("job")
    return message.key, receipts([message])[0]


def test_of_many_that_come_due_at_once_the_highest_priority_is_first(queue: Session, clock: Clock) -> None:
    messages = [
        {"key": f"{number:02}", "priority": number, "delay_seconds": 1 + number / 10} for number in range(30)
    ]
    queue.push_many("mail", messages)
    clock.advance(10)
    assert keys(queue.reserve("mail")) == ["29"]
    assert keys(queue.reserve("mail", None, 3)) == ["28", "27", "26"]
    assert len(drain(queue, "mail", 5)) == 26


def test_what_another_takes_of_many_that_come_due_at_once_is_passed_over(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push_many("mail", [{"key": f"{number:02}", "delay_seconds": 1} for number in range(50)])
    clock.advance(10)
    other = connect(autocommit=False)
    taken = keys(other.reserve("mail", None, 10))
    found = keys(queue.reserve("mail", None, 10))
    assert len(found) == 10 and not set(found) & set(taken), "it waits for nobody"
    other.rollback()
    assert len(drain(queue, "mail", 50)) == 40
