"""Several sessions that reap, reserve and finish at once: each message is freed once, and nobody waits."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Reaped
from tests.concurrency.overlapping import committed
from tests.concurrency.test_races import LOCKED_S
from tests.conformance.steps import drain, keys, receipts

if TYPE_CHECKING:
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Harness, Session

LEVELS = ["read committed", "repeatable read", "serializable"]
MESSAGES = 300
REAPERS = 4


def dead_workers(queue: Session, clock: Clock, names: list[str]) -> list[str]:
    """Let workers hold messages and be silent for too long; return the receipts."""
    queue.push_many("job", [{"key": f"{number:03}", "payload": number} for number in range(MESSAGES)])
    held: list[str] = []
    for name in names:
        queue.heartbeat(name, timeout_seconds=10)
        held += receipts(queue.reserve("job", name, MESSAGES // len(names)))
    clock.advance(11)
    return held


def test_two_who_reap_at_once_free_each_message_once(queue: Session, connect: Connect, clock: Clock) -> None:
    names = [f"w{number}" for number in range(6)]
    dead_workers(queue, clock, names)
    reapers = [connect() for _ in range(REAPERS)]
    with ThreadPoolExecutor(REAPERS) as pool:
        found = [
            one for calls in pool.map(lambda reaper: reaper.reap() + reaper.reap(), reapers) for one in calls
        ]
    assert {one.worker: one.freed for one in found if one.freed} == dict.fromkeys(names, 50)
    assert len(drain(queue, "job")) == MESSAGES
    [stats] = queue.stats("job")
    assert (stats.expired_total, stats.reserved_total) == (MESSAGES, 2 * MESSAGES)


def test_what_is_acked_while_it_is_reaped_ends_one_way(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    held = dead_workers(queue, clock, ["w"])
    sessions = [connect() for _ in range(3)]

    def ack(session: Session) -> int:
        return sum(session.ack(receipt).outcome == "acked" for receipt in held)

    with ThreadPoolExecutor(3) as pool:
        acked = [pool.submit(ack, session) for session in sessions[:2]]
        time.sleep(0.02)
        freed = sum(one.freed for one in pool.submit(sessions[2].reap).result())
        done = sum(one.result() for one in acked)
    assert done + freed == MESSAGES
    assert len(drain(queue, "job")) == freed


def test_a_reap_passes_over_what_another_transaction_has_locked(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    held = dead_workers(queue, clock, ["w"])
    slow = connect(autocommit=False)
    assert slow.ack(held[0]).outcome == "acked"
    before = time.monotonic()
    assert [one.freed for one in queue.reap()] == [MESSAGES - 1]
    assert time.monotonic() - before < LOCKED_S
    slow.commit()
    assert "000" not in keys(drain(queue, "job"))


def test_of_two_who_reap_the_second_waits_for_nobody(queue: Session, connect: Connect, clock: Clock) -> None:
    dead_workers(queue, clock, ["w"])
    slow = connect(autocommit=False)
    assert slow.reap() == [Reaped("w", MESSAGES)]
    before = time.monotonic()
    assert queue.reap() == []
    assert time.monotonic() - before < LOCKED_S
    slow.commit()
    assert len(drain(queue, "job")) == MESSAGES


def test_who_gives_a_worker_time_to_come_back_to_a_server_that_was_away_keeps_nobody_waiting(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    queue.execute("update queue_worker set server_run = server_run - 1")
    clock.advance(11)
    other = connect(autocommit=False)
    assert other.reap() == []
    assert queue.reap() == []
    other.commit()
    clock.advance(9)
    assert queue.reap() == []
    clock.advance(1)
    assert queue.reap() == [Reaped("w", 0)]


@pytest.mark.parametrize("level", LEVELS)
def test_a_reap_counts_with_its_transaction(
    queue: Session, harness: Harness, clock: Clock, level: str
) -> None:
    held = dead_workers(queue, clock, ["w"])
    session = harness.connect(autocommit=False, isolation=level)
    for end in (session.rollback, session.commit):
        assert session.reap() == [Reaped("w", MESSAGES)]
        assert ([one.worker for one in queue.workers()], queue.stats("job")[0].ready) == (["w"], 0)
        end()
    assert (queue.workers(), queue.stats("job")[0].ready) == ([], MESSAGES)
    assert queue.ack(held[0]).outcome == "lost"


@pytest.mark.parametrize("level", LEVELS)
def test_a_reap_after_a_savepoint_that_was_undone_frees_all_the_same(
    queue: Session, harness: Harness, clock: Clock, level: str
) -> None:
    dead_workers(queue, clock, ["w"])
    session = harness.connect(autocommit=False, isolation=level)
    with session.savepoint(undo=True):
        assert session.reap() == [Reaped("w", MESSAGES)]
    assert session.reap() == [Reaped("w", MESSAGES)]
    session.commit()
    assert queue.stats("job")[0].ready == MESSAGES


def test_a_reap_under_an_old_snapshot_is_right_or_a_serialization_failure(
    queue: Session, harness: Harness, clock: Clock
) -> None:
    for level in harness.snapshot_levels:
        queue.push("job", level, 0)
        held = dead_workers(queue, clock, ["w"])
        session = harness.connect(autocommit=False, isolation=level)
        session.stats()  # this takes the snapshot
        assert queue.ack(held[0]).outcome == "acked"
        found, _ = committed(harness, session, lambda one: one.reap())
        assert found == [Reaped("w", MESSAGES - 1)]
        assert len(queue.pop("job", 1000)) == MESSAGES


@pytest.mark.parametrize("session", [False, True], ids=["heartbeat", "session"])
def test_a_heartbeat_counts_with_its_transaction(
    queue: Session, connect: Connect, clock: Clock, session: bool
) -> None:
    worker = connect(autocommit=False)
    for end, there in ((worker.rollback, []), (worker.commit, ["w"]), (worker.rollback, ["w"])):
        assert worker.heartbeat("w", session=session).alive
        assert queue.reap() == []
        end()
        assert [one.worker for one in queue.workers() if one.alive] == there
        clock.advance(1)
    for end, there in ((worker.rollback, ["w"]), (worker.commit, [])):
        assert not worker.heartbeat("w", stop=True).alive
        end()
        if not session:
            assert [one.worker for one in queue.workers() if one.alive] == there
    assert queue.workers() == []
