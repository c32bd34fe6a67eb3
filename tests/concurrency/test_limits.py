"""Limits with many consumers at once: never more are held than max_reserved says, whatever is killed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.concurrency.checker import SLACK
from tests.concurrency.overlapping import committed
from tests.concurrency.test_races import together
from tests.concurrency.waiting import PATIENCE_S, waiting
from tests.conformance.steps import receipts
from tests.sample import WITH_LONG, chance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

CONSUMERS = 16
MOST = 5
MESSAGES = 400 if WITH_LONG else 200
TIMEOUT_S = 3


def most_at_once(holds: list[tuple[float, float]]) -> int:
    """Return how many of the times have a moment in common."""
    changes = sorted(
        [(end, -1) for start, end in holds if start < end]
        + [(start, 1) for start, end in holds if start < end]
    )
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def test_the_checker_sees_what_overlaps() -> None:
    assert most_at_once([(0, 2), (1, 3), (2, 4), (5, 4)]) == 2
    assert most_at_once([(0, 2), (1, 3), (1.5, 4)]) == 3


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize("kills", [False, True])
def test_never_more_are_held_than_the_limit_says(
    queue: Session, connect: Connect, harness: Harness, kills: bool
) -> None:
    queue.define("calls", max_reserved=MOST, timeout_seconds=TIMEOUT_S if kills else 300)
    queue.push_many("calls", [{"key": f"{n}", "payload": n} for n in range(MESSAGES)])
    holds: list[tuple[float, float]] = []
    done = threading.Event()
    acked: list[str] = []
    seen: list[int] = []

    def consume(number: int) -> None:
        chance = chance_of(number)
        worker = harness.connect_among_kills()
        while not done.is_set():
            try:
                before = time.monotonic()
                found = receipts(worker.reserve("calls", None, chance.choice([1, 1, 2, 8])))
                taken = time.monotonic()
                ends = dict.fromkeys(found, before + (TIMEOUT_S if kills else 300) - SLACK)
                try:
                    for receipt in found:
                        ends[receipt] = min(ends[receipt], time.monotonic())
                        if chance.random() < 0.1:
                            worker.nack(receipt)
                        elif worker.ack(receipt).outcome == "acked":
                            acked.append(receipt)
                finally:
                    holds.extend((taken, end) for end in ends.values())
            except Exception as error:
                if not harness.is_lost(error):
                    raise
                worker = harness.connect_among_kills()

    def watch() -> None:
        watcher, chance = connect(), chance_of(0)
        try:
            for _ in range(20_000):
                (one,) = watcher.stats("calls")
                seen.append(one.reserved)
                if one.total == 0:
                    return
                if kills and chance.random() < 0.1:
                    harness.terminate_one_of("victim")
                done.wait(0.01)
        finally:
            done.set()

    together([watch, *(lambda number=number: consume(number) for number in range(CONSUMERS))])
    assert max(seen) <= MOST
    assert most_at_once(holds) <= MOST
    assert queue.stats("calls")[0].total == 0, "and all of them were delivered"
    assert len(acked) <= MESSAGES
    assert max(seen) > 1


def test_callers_transactions_keep_the_limit_too(queue: Session, harness: Harness) -> None:
    queue.define("calls", max_reserved=MOST)
    queue.push_many("calls", [{"key": f"{n}", "payload": n} for n in range(200)])
    done = threading.Event()
    seen: list[int] = []

    def consume(number: int) -> None:
        chance = chance_of(number)
        level = chance.choice(["read committed", *harness.snapshot_levels])
        found: list[str] = []
        worker = harness.connect(autocommit=False, isolation=level)
        while not done.is_set():
            try:
                worker.get("calls", "0")
                found = receipts(worker.reserve("calls", None, chance.choice([1, 2, 8])))
                worker.commit()
                for receipt in found:
                    worker.ack(receipt)
                    if chance.random() < 0.1:
                        worker.rollback()
                    else:
                        worker.commit()
                for receipt in found:
                    worker.ack(receipt)
                    worker.commit()
            except Exception as error:
                if not harness.is_serialization_failure(error):
                    raise
                worker.rollback()
                for receipt in found:
                    retry(worker, receipt)

    def retry(worker: Session, receipt: str) -> None:
        for _ in range(100):
            try:
                worker.ack(receipt)
                worker.commit()
                return
            except Exception as error:
                if not harness.is_serialization_failure(error):
                    raise
                worker.rollback()

    def watch() -> None:
        watcher = harness.connect()
        try:
            for _ in range(20_000):
                (one,) = watcher.stats("calls")
                seen.append(one.reserved)
                if one.total == 0:
                    return
                done.wait(0.01)
        finally:
            done.set()

    together([watch, *(lambda number=number: consume(number) for number in range(8))])
    assert max(seen) <= MOST
    assert queue.stats("calls")[0].total == 0


@pytest.mark.parametrize("isolation", ["read committed", "snapshot"])
def test_an_old_snapshot_finds_no_room_that_is_gone(queue: Session, harness: Harness, isolation: str) -> None:
    """What a transaction saw free may be taken when it comes to take it."""
    levels = harness.snapshot_levels if isolation == "snapshot" else ["read committed"]
    for number, level in enumerate(levels):
        kind = f"calls{number}"
        queue.define(kind, max_reserved=1)
        queue.push_many(kind, [{"payload": n} for n in range(30)])
        for _ in range(5):  # a place that has been used
            (receipt,) = receipts(queue.reserve(kind))
            queue.ack(receipt)
        old = harness.connect(autocommit=False, isolation=level)
        receipt = None
        for step in ("held", "another is held", "tidied"):
            old.get(kind, "x")
            if receipt:
                queue.ack(receipt)
            for _ in range(40 if step == "tidied" else 0):
                (receipt,) = receipts(queue.reserve(kind))
                queue.nack(receipt)
            (receipt,) = receipts(queue.reserve(kind))
            try:
                assert old.reserve(kind) == [], (level, step)
            except Exception as error:
                if not harness.is_serialization_failure(error):
                    raise
            old.rollback()  # it may have the place locked
        assert queue.stats(kind)[0].reserved == 1
        old.rollback()


def test_who_still_has_a_lowered_limit_takes_no_room_from_one_that_was_raised_since(
    queue: Session, harness: Harness
) -> None:
    for level in harness.snapshot_levels:
        queue.define(level, max_reserved=5)
        queue.define(level, max_reserved=2)
        queue.push_many(level, [{"payload": n} for n in range(8)])
        old = harness.connect(autocommit=False, isolation=level)
        old.get("none", "a")
        queue.define(level, max_reserved=5)
        taken, _ = committed(harness, old, lambda one, level=level: one.reserve(level))
        assert len(taken) + len(queue.reserve(level, None, 8)) == 5


def test_an_extension_and_a_reserve_at_the_same_moment_do_not_both_get_the_place(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("calls", max_reserved=1, timeout_seconds=5)
    racers = [connect(), connect()]
    outcomes: list[tuple[str, int]] = []
    for round_ in range(30):
        queue.push("calls", f"late{round_}", 0)
        (late,) = receipts(racers[0].reserve("calls"))
        queue.push("calls", f"urgent{round_}", 0, priority=9)
        clock.advance(6)
        calls: list[Callable[[], object]] = [
            lambda late=late: racers[0].extend(late, 5).outcome,
            lambda: racers[1].reserve("calls"),
        ]
        extended, found = together(calls)
        assert isinstance(found, list | tuple)
        outcomes.append((str(extended), len(found)))
        assert outcomes[-1] in (("extended", 0), ("lost", 1)), round_
        (one,) = queue.stats("calls")
        assert one.reserved == 1
        for message in found:
            queue.ack(message.receipt or "")
        queue.ack(late)
        queue.pop("calls", 9)
    assert outcomes


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_the_rate_holds_for_many_sessions_at_once(queue: Session, connect: Connect, clock: Clock) -> None:
    queue.define("calls", rate_per_second=100)
    queue.push_many("calls", [{"payload": n} for n in range(3000)])
    workers = [connect() for _ in range(8)]
    found = 0
    for _ in range(40):
        clock.advance(0.5)
        found += sum(len(one) for one in together([lambda w=w: w.pop("calls", 20) for w in workers]))
    assert found <= 2000 + 100
    clock.advance(1)
    found += sum(len(one.pop("calls", 200)) for one in workers)
    assert found >= 0.98 * 2050


def test_a_transaction_that_stays_open_takes_the_rate_from_nobody(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("calls", rate_per_second=100)
    queue.push_many("calls", [{"payload": n} for n in range(500)])
    open_one = connect(autocommit=False)
    clock.advance(1)
    assert len(open_one.pop("calls", 5)) == 5
    for _ in range(3):
        assert len(queue.pop("calls", 50)) == 50
        clock.advance(0.7)
    open_one.rollback()
    clock.advance(1)
    assert 94 <= len(queue.pop("calls", 200)) <= 101  # each part saves whole ones


def test_the_slot_that_a_session_had_last_is_waited_for_by_nobody(queue: Session, connect: Connect) -> None:
    queue.define("calls", max_reserved=2)
    queue.push_many("calls", [{"payload": n} for n in range(4)])
    queue.ack(receipts(queue.reserve("calls"))[0])
    other = connect(autocommit=False)
    assert [len(other.reserve("calls")) for _ in range(2)] == [1, 1]
    assert queue.reserve("calls") == []
    other.rollback()
    assert len(queue.reserve("calls")) == 1


def test_a_hold_that_has_expired_and_is_locked_keeps_its_slot(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("calls", max_reserved=1)
    for key in "ab":
        queue.push("calls", key, 0)
    assert len(queue.reserve("calls", timeout_seconds=60)) == 1
    clock.advance(61)
    other = connect(autocommit=False)
    other.execute("select 1 from delayed_queue where p_kind = 'calls' and p_key = 'a' for update")
    assert queue.reserve("calls") == []
    other.rollback()
    assert len(queue.reserve("calls")) == 1


@pytest.mark.servers("postgresql")
def test_a_hold_that_is_extended_while_its_slot_is_looked_at_keeps_it(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    """Between a look and what it leads to nobody is waited for, so a trigger holds the reserve up."""
    queue.define("calls", max_reserved=1)
    queue.push_many("calls", [{"payload": n} for n in range(2)])
    [receipt] = receipts(queue.reserve("calls", timeout_seconds=60))
    clock.advance(60)
    queue.execute(
        "create function public.hold_up() returns trigger language plpgsql set lock_timeout = 0 as"
        " 'begin perform pg_advisory_xact_lock(1); return null; end'"
    )
    queue.execute("create trigger hold_up before update on delayed_queue execute function public.hold_up()")
    first = connect(autocommit=False)
    first.execute("select pg_advisory_xact_lock(1)")
    try:
        with waiting(harness, connect(), lambda session: session.reserve("calls")) as reserved:
            assert first.extend(receipt, 60).outcome == "extended"
            first.commit()
            assert reserved.result(PATIENCE_S) == []
    finally:
        queue.execute("drop function public.hold_up() cascade")
    assert queue.extend(receipt, 60).outcome == "extended"


def test_a_listener_is_told_of_the_ack_that_makes_room(queue: Session, connect: Connect) -> None:
    queue.define("calls", max_reserved=1)
    queue.push_many("calls", [{"payload": n} for n in range(2)])
    (receipt,) = receipts(queue.reserve("calls"))
    waiter, woken = connect(), threading.Event()

    def wait() -> None:
        for _ in range(100):
            if waiter.wait("calls", 5) == "calls":
                woken.set()
                return

    def ack() -> None:
        time.sleep(0.3)
        assert not woken.is_set()
        queue.ack(receipt)

    together([wait, ack])
    assert woken.is_set()
