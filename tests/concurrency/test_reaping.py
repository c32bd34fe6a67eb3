"""Several sessions that reap, reserve and finish at once: each message is freed once, and nobody waits."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.conformance.steps import drain, keys, receipts

if TYPE_CHECKING:
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Session

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
    assert time.monotonic() - before < 2
    slow.commit()
    assert "000" not in keys(drain(queue, "job"))
