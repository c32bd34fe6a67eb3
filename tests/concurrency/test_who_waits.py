"""Who waits has locked nothing that others want first, and what others have is left to them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import pytest

from pyqueue_sql import InvalidOption
from tests.conformance import test_batches as batches
from tests.conformance.steps import keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

T = TypeVar("T")
PATIENCE_S = 60


@contextmanager
def waiting(harness: Harness, session: Session, call: Callable[[Session], T]) -> Iterator[Future[T]]:
    """Make a call that waits for another session, which ends in the course of the block."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call, session)
        deadline = time.monotonic() + PATIENCE_S
        while not harness.waits(session):
            assert not running.done(), f"it waited for nobody: {running.result()}"
            assert time.monotonic() < deadline
            time.sleep(0.005)
        yield running


def test_a_batch_that_waits_for_a_line_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    first = connect(autocommit=False)
    first.push("k", "x", 0, order_key="a")
    batch = [{"key": line, "payload": 0, "order_key": line} for line in "ba"]
    with waiting(harness, connect(), lambda session: session.push_many("k", batch)) as pushed:
        assert queue.push("k", "y", 0, order_key="b").outcome == "created"
        first.commit()
        assert outcomes(pushed.result(PATIENCE_S)) == ["created"] * 2


def test_acks_that_wait_for_a_line_have_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for line in "ab":
        queue.push("k", line, 0, order_key=line)
    held = receipts(reversed(queue.reserve("k", None, 2)))
    first = connect(autocommit=False)
    first.push("k", "x", 0, order_key="a")
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        assert queue.push("k", "y", 0, order_key="b").outcome == "created"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2
    assert sorted(keys(queue.reserve("k", None, 9))) == ["x", "y"]


def test_dead_letters_of_one_key_go_to_their_kinds_in_order(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    held: list[str] = []
    for kind in "ba":
        queue.push(kind, "x", 0)
        held.append(take(queue, kind)[1])
    first = connect(autocommit=False)
    first.push("a.dead", "x", 0)
    with waiting(harness, connect(), lambda session: session.nack_many(held, final=True)) as dead:
        assert queue.push("b.dead", "x", 0).outcome == "created"
        first.rollback()
        assert outcomes(dead.result(PATIENCE_S)) == ["dead"] * 2


def test_who_finds_no_room_at_a_semaphore_keeps_nobody_waiting_there(
    queue: Session, connect: Connect
) -> None:
    queue.semaphore("s", 1)
    queue.push("elsewhere", "a", 0, semaphores=["s"])
    queue.push("k", "b", 0, semaphores=["s"])
    [receipt] = receipts(queue.reserve("elsewhere"))
    other = connect(autocommit=False)
    assert other.reserve("k") == []
    assert queue.ack(receipt).outcome == "acked"
    assert state(queue, "k", "b") == "ready"


def test_semaphores_that_have_nothing_in_common_wait_for_nobody(queue: Session, connect: Connect) -> None:
    for name in "stu":
        queue.semaphore(name, 1)
    queue.push("k", "t", 0, semaphores=["t"])
    queue.push("k", "both", 0, semaphores=["t", "u"])
    queue.push("k", "s", 0, semaphores=["s"])
    of_t, of_s = receipts(queue.reserve("k", None, 3))
    other = connect(autocommit=False)
    other.ack(of_t)
    assert queue.ack(of_s).outcome == "acked"
    other.commit()
    assert keys(queue.reserve("k", None, 3)) == ["both"]


def test_who_plans_what_another_is_making_waits_and_makes_it_no_second_time(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    queue.schedule("hourly", "k", 0, every_seconds=3600)
    clock.advance(3600)
    ticking = connect(autocommit=False)
    assert ticking.tick() == 1
    with waiting(harness, connect(), lambda s: s.schedule("hourly", "k", 1, every_seconds=3600)) as planned:
        ticking.commit()
        next_at = planned.result(PATIENCE_S).next_at
    assert next_at is not None
    assert next_at > clock.now
    assert queue.tick() == 0


def test_of_two_who_end_a_schedule_one_did(queue: Session, connect: Connect, harness: Harness) -> None:
    queue.schedule("hourly", "k", 0, every_seconds=3600)
    first = connect(autocommit=False)
    assert first.unschedule("hourly")
    with waiting(harness, connect(), lambda session: session.unschedule("hourly")) as second:
        first.commit()
        assert not second.result(PATIENCE_S)


def test_what_one_prunes_nobody_waits_for(queue: Session, connect: Connect, clock: Clock) -> None:
    queue.define("k", history_seconds=60, dedup_seconds=60, log_seconds=60)
    queue.group("g", "then", members=2, keep_seconds=60)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"], group="g")
    queue.ack_many(receipts(queue.reserve("k", None, 2)))
    queue.pop("then")
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "cd"])
    assert len(batches.reserve(queue, 1, most=1)) == 1
    batches.commit(queue, 1, keep=True)
    assert batches.plan(queue, "reader/2") == (1, None)
    assert len(batches.reserve(queue, 2, plan=1)) == 1
    batches.stage(queue, batches.row("e"))
    batches.publish(queue, batches.stage(queue, batches.row("f")), job="j")
    batches.publish(queue, batches.stage(queue, batches.row("g")), query="query", batch=1)
    clock.advance(366 * batches.DAY)
    other = connect(autocommit=False)
    pruned = other.prune()
    assert pruned > 5
    assert queue.prune() == 0
    other.rollback()
    assert queue.prune() == pruned


def test_settings_that_are_not_committed_keep_nobody_waiting(queue: Session, connect: Connect) -> None:
    for kind in ("k", "k.dead", "to"):
        queue.define(kind, timeout_seconds=60, history_seconds=60)
    other = connect(autocommit=False)
    for kind in ("k", "k.dead", "to"):
        other.define(kind, timeout_seconds=5, history_seconds=0)
        other.pause(kind)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "abcdefgh"])
    queue.push("k", "i", 0, on_duplicate="replace")
    held = receipts(queue.reserve("k", None, 7))
    assert outcomes(queue.ack_many(held[:2])) == ["acked"] * 2
    assert queue.ack(held[2]).outcome == "acked"
    assert queue.move(held[3], "to").outcome == "moved"
    assert outcomes(queue.nack_many(held[4:6], final=True)) == ["dead"] * 2
    assert queue.nack(held[6]).outcome == "retry"
    assert (queue.redrive("k.dead").went, len(queue.pop("k", 2))) == (2, 2)
    assert queue.publish("topic", "x", 0) == []
    assert queue.wait("k", 0) == "k"
    assert queue.prune() >= 0
    assert queue.purge("k") == 3


def test_a_purge_leaves_what_another_transaction_has(queue: Session, connect: Connect) -> None:
    queue.push_many("k", [{"key": key, "payload": 0} for key in "abc"])
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    assert queue.purge("k") == 2
    other.commit()
    assert state(queue, "k", "a") == "reserved"


def test_a_remove_waits_for_who_is_taking_the_message(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("k", "a", 0)
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    with waiting(harness, connect(), lambda session: session.remove("k", "a")) as removed:
        other.commit()
        assert removed.result(PATIENCE_S) == "held"
    assert state(queue, "k", "a") == "reserved"


def test_who_changes_a_group_that_is_finishing_finds_it_finished(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next", members=1)
    queue.push("check", None, 0, group="g")
    last = connect(autocommit=False)
    assert last.ack(receipts(queue.reserve("check"))[0]).outcome == "acked"
    with waiting(harness, connect(), lambda session: session.group("g", keep_seconds=1)) as changed:
        last.commit()
        assert changed.result(PATIENCE_S).state == "done"
    [(kept,)] = queue.execute("select keep_seconds from queue_group where group_name = 'g'")
    assert kept == 86_400, "a day, which is the default"


def test_the_first_permit_of_a_call_is_waited_for(queue: Session, connect: Connect, harness: Harness) -> None:
    """Only who has locked a semaphore leaves the next one to others, lest two wait for one another."""
    queue.semaphore("s", 1)
    queue.push("k", "a", 0, semaphores=["s"])
    first = connect(autocommit=False)
    first.semaphore("s", 2)
    with waiting(harness, connect(), lambda session: keys(session.reserve("k"))) as taken:
        first.commit()
        assert taken.result(PATIENCE_S) == ["a"]


def test_rows_of_the_inbox_and_new_readers_wait_for_no_settings(queue: Session, connect: Connect) -> None:
    other = connect(autocommit=False)
    for kind in ("k", "other"):
        other.define(kind, timeout_seconds=5)
    queue.land([{"p_kind": "k", "p_key": "landed", "payload": "0"}])
    assert queue.read("other", "reader", 1) == []
    with pytest.raises(InvalidOption, match="for no kind of such a name"):
        queue.read("other", "reader", 1, events=["acked"])
