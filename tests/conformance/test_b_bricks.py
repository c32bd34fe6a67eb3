"""Keuss, modelling queues I, rows B1 to B3 and B6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.steps import SECOND, keys

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def test_B1_push_and_pop_deliver_at_most_once(queue: Session, connect: Connect, clock: Clock) -> None:
    queue.push("mail", "a", {"to": "x"}, headers={"h": 1}, priority=3)
    (message,) = queue.pop("mail")
    assert (message.kind, message.key, message.payload) == ("mail", "a", {"to": "x"})
    assert (message.headers, message.priority, message.attempts) == ({"h": 1}, 3, 1)
    assert message.receipt is None
    clock.advance(100_000)
    assert connect().pop("mail") == []
    assert queue.get("mail", "a") is None


def test_B1_pop_takes_several_in_order_of_delivery(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": key} for key in "abcde"])
    assert keys(queue.pop("mail", 3)) == ["a", "b", "c"]
    assert keys(queue.pop("mail", 3)) == ["d", "e"]


def test_B1_a_pop_that_is_rolled_back_took_nothing(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    consumer = connect(autocommit=False)
    assert keys(consumer.pop("mail")) == ["a"]
    assert queue.pop("mail") == [], "while it is undecided nobody else gets it"
    consumer.rollback()
    assert keys(queue.pop("mail")) == ["a"]


def test_B2_what_is_pushed_survives_its_client(queue: Session, connect: Connect, harness: Harness) -> None:
    closed, killed, undecided = connect(), connect(), connect(autocommit=False)
    closed.push("mail", "closed", 1)
    closed.close()
    killed.push("mail", "killed", 2)
    harness.terminate(killed)
    undecided.push("mail", "undecided", 3)
    harness.terminate(undecided)
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 10)] == [("closed", 1), ("killed", 2)]


def test_B2_a_receipt_is_good_from_any_connection(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    consumer = connect()
    (message,) = consumer.reserve("mail")
    consumer.close()
    assert message.receipt
    assert queue.ack(message.receipt).outcome == "acked"


def test_B3_the_queue_is_ordered_by_time_wherever_one_inserts(queue: Session, clock: Clock) -> None:
    clock.nothing_takes_time()
    order = [(number * 37) % 50 for number in range(50)]
    for number in order:
        queue.push("mail", f"{number:02}", number, scheduled_at=clock.now + number * SECOND)
    clock.advance(24)
    assert keys(queue.reserve("mail", None, 100)) == [f"{number:02}" for number in range(25)]
    queue.push("mail", "in between", 0, scheduled_at=clock.now + SECOND // 2)
    clock.advance(1)
    assert keys(queue.reserve("mail", None, 100)) == ["in between", "25"]
    queue.push("mail", "long ago", 0, scheduled_at=clock.now - 1000 * SECOND)
    clock.advance(25)
    assert keys(queue.reserve("mail")) == ["long ago"]
    assert keys(queue.reserve("mail", None, 100)) == [f"{number:02}" for number in range(26, 50)]


def test_B6_pause_and_resume_reach_every_consumer(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    consumers = [connect() for _ in range(3)]
    assert queue.pause("mail") is True
    assert [consumer.reserve("mail") + consumer.pop("mail") for consumer in consumers] == [[], [], []]
    assert consumers[1].resume("mail") is True
    assert keys(consumers[2].reserve("mail")) == ["a"]
