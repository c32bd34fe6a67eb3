"""A message queue in MySQL, the specification, rows M1, M5, M7 and M8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.steps import SECOND, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def test_M1_accept_removes_and_reject_brings_back(queue: Session) -> None:
    queue.push("mail", "good", 1)
    queue.push("mail", "bad", 2)
    good, bad = queue.reserve("mail", None, 2)
    accepted, rejected = receipts([good, bad])
    assert outcomes([queue.ack(accepted), queue.nack(rejected)]) == ["acked", "retry"]
    assert keys(queue.reserve("mail", None, 10)) == ["bad"]
    assert queue.get("mail", "good") is None


def test_M1_reject_for_good_sets_aside(queue: Session) -> None:
    queue.push("mail", "bad", 1)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt, final=True, error="not an address").outcome == "dead"
    assert queue.reserve("mail") == []
    assert keys(queue.peek("mail.dead")) == ["bad"]


def test_M5_a_batch_is_claimed_in_one_step_and_nobody_else_gets_any_of_it(
    queue: Session, connect: Connect
) -> None:
    queue.push_many("mail", [{"key": f"{number:02}", "payload": 0} for number in range(30)])
    first, second = connect(autocommit=False), connect(autocommit=False)
    batch = keys(first.reserve("mail", "one", 10))
    other = keys(second.reserve("mail", "two", 15))
    assert batch == [f"{number:02}" for number in range(10)]
    assert other == [f"{number:02}" for number in range(10, 25)]
    first.commit()
    second.commit()
    assert keys(queue.reserve("mail", "three", 30)) == [f"{number:02}" for number in range(25, 30)]


def test_M5_a_batch_is_never_larger_than_asked_for(queue: Session) -> None:
    queue.push_many("mail", [{"key": f"{number:03}", "payload": 0} for number in range(300)])
    assert [len(queue.reserve("mail", None, size)) for size in (1, 7, 100, 192, 1)] == [1, 7, 100, 192, 0]


def test_M7_what_a_crashed_client_held_comes_back(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    queue.push_many("mail", [{"key": key, "payload": key} for key in "abc"])
    crashed = connect()
    assert len(crashed.reserve("mail", "crashed", 3, timeout_seconds=60)) == 3
    harness.terminate(crashed)
    assert queue.reserve("mail", None, 3) == []
    clock.advance(60)
    back = queue.reserve("mail", None, 3)
    assert {(message.key, message.payload) for message in back} == {("a", "a"), ("b", "b"), ("c", "c")}
    assert [message.attempts for message in back] == [2, 2, 2]


def test_M7_what_a_client_took_in_an_open_transaction_comes_back_at_once(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("mail", "a", 1)
    crashed = connect(autocommit=False)
    take(crashed, "mail")
    harness.terminate(crashed)
    message, _ = take(queue, "mail")
    assert message.attempts == 1, "the delivery that was undone doesn't count"


def test_M8_when_it_was_created_and_received_is_known(queue: Session, clock: Clock) -> None:
    created = clock.now
    queue.push("mail", "a", 1)
    clock.advance(3)
    message, receipt = take(queue, "mail")
    assert (message.created_at, message.reserved_at) == (created, created + 3 * SECOND)
    assert message.reserved_by == "someone"
    found = queue.get("mail", "a")
    assert found
    assert (found.created_at, found.reserved_at, found.reserved_by) == (
        created,
        created + 3 * SECOND,
        "someone",
    )
    queue.nack(receipt)
    found = queue.get("mail", "a")
    assert found
    assert (found.created_at, found.reserved_at, found.reserved_by) == (created, None, None)
    assert state(queue, "mail", "a") == "ready"
