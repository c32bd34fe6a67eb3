"""Checks of how the queue is used, the same for all servers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from pyqueue_sql.doctor.findings import Check, Finding, lasting, listed
from pyqueue_sql.overview import AT_MOST, Look

SECOND = 1_000_000
CLOCK = Check("clock", "a delivery time that a client computes is compared with the clock of the database")
UPKEEP = Check(
    "upkeep",
    "schedules are ticked, the past is pruned and what dead workers hold is freed by workers, or by nobody",
)
WORKERS = Check("workers", "what a dead worker holds waits until somebody frees it, or until its timeout")
HELD = Check("held", "a handler that never ends keeps its message for as long as it runs")
BACKLOG = Check("backlog", "messages are ready and nobody takes them")
DEAD = Check("dead_letters", "a dead letter is a message that nobody could process; it waits for a person")
SKEW_S = 2.0
OLD_S = 300
HELD_S = 3600
NEW_S = 3600


def clock(look: Look) -> Iterable[Finding]:
    """Compare the clock of the queue with the one here."""
    before = time.time()
    there = look.now() / SECOND
    after = time.time()
    ahead = there - (before + after) / 2
    if abs(ahead) - (after - before) / 2 <= SKEW_S:
        yield CLOCK.ok(f"the clocks of the database and of this machine differ by less than {SKEW_S:g} s")
        return
    way = "ahead of" if ahead > 0 else "behind"
    yield CLOCK.warning(
        f"the database's clock is {lasting(abs(ahead))} {way} the clock of this machine",
        "set both by NTP; until then say delay_seconds, not scheduled_at",
    )


def upkeep(look: Look) -> Iterable[Finding]:
    """Whether somebody alive does the upkeep."""
    there = look.workers(look.now())
    doing = [one for one in there if one.alive and one.upkeep]
    if doing:
        yield UPKEEP.ok(f"{len(doing)} living workers do it or would")
        return
    alive = sum(one.alive for one in there)
    yield UPKEEP.warning(
        f"no registered worker that is alive does it ({alive} without upkeep)",
        "run a worker without --no-upkeep, or pyqueue tick, reap and prune each minute by cron",
    )


def workers(look: Look) -> Iterable[Finding]:
    """Which registered workers have gone without a word."""
    there = look.workers(look.now())
    gone = [one.worker for one in there if not one.alive]
    if gone:
        yield WORKERS.warning(
            f"without a heartbeat, and not freed: {listed(gone)}",
            "pyqueue reap frees what they hold; see their logs, and restart them",
        )
    else:
        yield WORKERS.ok(f"{len(there)} registered, all alive")


def held(look: Look) -> Iterable[Finding]:
    """Which messages are held for too long."""
    now = look.now()
    long = [
        f"{one.kind} (for {lasting((now - one.oldest_reserved_at) / SECOND)})"
        for one in look.overview(details=False).kinds
        if one.oldest_reserved_at is not None and now - one.oldest_reserved_at > HELD_S * SECOND
    ]
    if long:
        yield HELD.warning(
            f"a delivery goes on for more than {lasting(HELD_S)} in {listed(long)}",
            "pyqueue workers says who holds how much; restart that worker, or give the handler max_seconds",
        )
    else:
        yield HELD.ok(f"no delivery goes on for more than {lasting(HELD_S)}")


def backlog(look: Look) -> Iterable[Finding]:
    """Which messages nobody takes."""
    now, seen = look.now(), look.overview(details=False)
    waiting: list[str] = []
    for one in seen.kinds:
        age = (now - one.oldest_ready_at) / SECOND if one.oldest_ready_at is not None else 0
        if age > OLD_S and not one.paused and not one.kind.endswith(".dead"):
            taken = any(worker.takes(one.kind) for worker in seen.workers)
            waiting.append(
                f"{one.kind} (for {lasting(age)}{'' if taken else ', and no living worker takes it'})"
            )
    if waiting:
        yield BACKLOG.warning(
            f"ready for more than {lasting(OLD_S)}: {listed(waiting)}",
            "start more workers of these kinds, or raise their concurrency; pyqueue peek KIND shows some",
        )
    else:
        yield BACKLOG.ok(f"nothing is ready for more than {lasting(OLD_S)} in a kind that isn't paused")
    paused = [f"{one.kind} ({one.ready} ready)" for one in seen.kinds if one.paused and one.ready]
    if paused:
        yield BACKLOG.note(f"paused, with messages: {listed(paused)}", "pyqueue resume KIND")


def dead_letters(look: Look) -> Iterable[Finding]:
    """Whether dead letters become more."""
    since = look.now() - NEW_S * SECOND
    counts = {kind: look.dead_letters(kind, since) for kind in look.dead_letter_kinds()}
    growing = [
        f"{kind} ({_many(new)} new, {_many(there)} in all)" for kind, (there, new) in counts.items() if new
    ]
    remedy = (
        "pyqueue peek KIND shows their errors; mend the handler, then pyqueue redrive KIND brings them back,"
        " or pyqueue purge KIND removes them"
    )
    if growing:
        yield DEAD.warning(f"new in the last {lasting(NEW_S)}: {listed(growing)}", remedy)
    elif there := [f"{kind} ({_many(count)})" for kind, (count, _) in counts.items() if count]:
        yield DEAD.note(f"none is new; older ones are in {listed(there)}", remedy)
    else:
        yield DEAD.ok("there is none")


def _many(count: int) -> str:
    return f"{AT_MOST} or more" if count >= AT_MOST else str(count)


CHECKS: tuple[tuple[Check, Callable[[Look], Iterable[Finding]]], ...] = (
    (CLOCK, clock),
    (UPKEEP, upkeep),
    (WORKERS, workers),
    (HELD, held),
    (BACKLOG, backlog),
    (DEAD, dead_letters),
)
