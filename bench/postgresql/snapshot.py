"""What a snapshot held open does, while messages go through: no dead row can be cleared away.

A transaction in REPEATABLE READ stays open while 1,000,000 messages are pushed and finished in batches. Then
the rate under it is compared, in turns, with that of a fresh queue in another database of the same server, on
which the snapshot doesn't bear. pgmq goes the same way, as far as it gets in a time that can be waited for.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench import servers
from bench.figure import Curve, Figure
from bench.postgresql.delays import expired_hold, late_commit
from bench.postgresql.sides import Pgmq, Pyqueue, Side
from bench.run import Run

NAME = "snapshot"
ONCE = True
PROCESSED = 1_000_000
QUICK_PROCESSED = 50_000
PGMQ_AT_MOST = 300_000
QUICK_PGMQ_AT_MOST = 10_000
STEPS = 5
CLIENTS = 8
RESERVES = 2000
QUICK_RESERVES = 300
AFTER_SECONDS = 60
QUICK_AFTER_SECONDS = 5
LONGEST_MS = 250


def run(run: Run) -> None:
    """Measure."""
    count = QUICK_PROCESSED if run.quick else PROCESSED
    name = f"a snapshot held open, {count:,} processed"
    with servers.database(run.url, run.settings) as beside:
        ours, fresh = Pyqueue(run.url), Pyqueue(beside)
        with held(ours.url):
            line = grow(run, ours, count)
            for _ in run.each_setting(beside):
                rates(run, name, ours, fresh)
                latencies(run, name, ours, fresh)
                delays(run, name, ours)
            if run.hold_minutes:
                stay(run, ours, fresh)
        at_its_end = ours.size()
        wait = QUICK_AFTER_SECONDS if run.quick else AFTER_SECONDS
        time.sleep(wait)
        for _ in run.each_setting(beside):
            turns(
                run,
                f"a snapshot gone for {wait} s, {count:,} processed under it",
                ours,
                fresh,
                1,
                CLIENTS,
                0.95,
            )
        for _ in range(STEPS):
            churn(ours, count // STEPS)
        run.keep(
            f"size once the snapshot is gone and {count:,} more are processed",
            [ours.size() / 1e6],
            [at_its_end / 1e6],
            other_name="its size when the snapshot went",
            unit="MB",
            target=0.9,
            less_is_better=True,
        )
    of_pgmq(run, count, line)


def of_pgmq(run: Run, count: int, line: list[tuple[float, float]]) -> None:
    """Measure pgmq the same way, and draw both."""
    pgmq = Pgmq(run.url)
    least = min(count, QUICK_PGMQ_AT_MOST if run.quick else PGMQ_AT_MOST)
    pgmq.rate(run, 1, CLIENTS)
    with held(pgmq.url):
        theirs = grow(run, pgmq, least)
    run.keep(
        f"pgmq: a snapshot held open, {least:,} processed, one by one",
        [theirs[-1][1]],
        [theirs[0][1]],
        our_name="pgmq",
        other_name="pgmq, nothing processed",
        unit="messages/s",
        clients=CLIENTS,
    )
    lines = {"pyqueue": line, "pgmq": theirs}
    run.draw(
        Curve(
            "One snapshot held open", "messages processed under it", f"messages/s, {CLIENTS} clients", lines
        )
    )


@contextmanager
def held(url: str) -> Iterator[None]:
    """Hold a snapshot open."""
    with psycopg.connect(url) as holder:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("select count(*) from pg_class")
        yield


def churn(side: Side, count: int) -> None:
    """Push and finish so many."""
    side.fill(count)
    side.process(count)


def grow(run: Run, side: Side, count: int) -> list[tuple[float, float]]:
    """Push and finish so many, and return the rate at each step."""
    side.empty()
    points = [(0.0, side.rate(run, 1, CLIENTS, fresh=False))]
    for step in range(1, STEPS + 1):
        churn(side, count // STEPS)
        points.append((step * (count // STEPS), side.rate(run, 1, CLIENTS, fresh=False)))
    return points


def rates(run: Run, name: str, ours: Side, fresh: Side) -> None:
    """Compare rates."""
    turns(run, f"{name}, one by one", ours, fresh, 1, CLIENTS, 0.9)
    turns(run, f"{name}, in batches of 100", ours, fresh, 100, 1, 0.9)


def turns(run: Run, name: str, ours: Side, fresh: Side, batch: int, clients: int, target: float) -> Figure:
    """Compare what the snapshot bears on with a fresh queue."""
    return run.compare(
        name,
        lambda: ours.rate(run, batch, clients, fresh=False),
        lambda: fresh.rate(run, batch, clients),
        other_name="pyqueue, fresh",
        unit="messages/s",
        clients=clients,
        target=target,
    )


def latencies(run: Run, name: str, ours: Pyqueue, fresh: Pyqueue) -> None:
    """Compare what single reserves take, as one client of psycopg sees it."""
    found: list[list[float]] = []

    def p99(side: Pyqueue) -> float:
        found.append(reserves_ms(side, QUICK_RESERVES if run.quick else RESERVES))
        return statistics.quantiles(found[-1], n=100)[98]

    run.compare(
        f"{name}, p99 of a reserve",
        lambda: p99(ours),
        lambda: p99(fresh),
        other_name="pyqueue, fresh",
        unit="ms",
        target=round(1 / 3, 3),
        less_is_better=True,
        note="the reserve alone, of a client that acks in between",
    )
    longest = [max(times) for times in found[::2]]
    run.limit(f"{name}, longest reserve", longest, LONGEST_MS, unit="ms")


def reserves_ms(side: Pyqueue, count: int) -> list[float]:
    """Return the milliseconds of each of so many reserves."""
    if side.stock < count:
        side.fill(count - side.stock)
    taken: list[float] = []
    with psycopg.connect(side.url, autocommit=True) as connection:
        for number in range(count + 10):
            began = time.perf_counter()
            row = connection.execute(
                "select receipt, payload from queue_reserve('bench')", prepare=True
            ).fetchone()
            if number >= 10:  # a session's first calls make its plans
                taken.append((time.perf_counter() - began) * 1000)
            if row:
                connection.execute("select * from queue_ack(%s)", (row[0],), prepare=True)
    side.stock -= count
    return taken


def delays(run: Run, name: str, ours: Pyqueue) -> None:
    """Measure how late a message is that a scan can't see."""
    ours.drain()  # or they would be in line behind what is left
    late = [late_commit(ours) for _ in range(run.repetitions)]
    run.limit(f"{name}, delivery after a late commit", late, 1.0, unit="s", clients=2)
    expired = [expired_hold(ours) for _ in range(run.repetitions)]
    run.limit(f"{name}, delivery after a hold's end", expired, 2.0, unit="s", clients=2)
    ours.drain()


def stay(run: Run, ours: Pyqueue, fresh: Pyqueue) -> None:
    """Go on under the snapshot for the minutes that were asked for."""
    lines: dict[str, list[tuple[float, float]]] = {"under the snapshot": [], "fresh": []}
    began = time.monotonic()
    while (minutes := (time.monotonic() - began) / 60) < run.hold_minutes:
        churn(ours, 20_000)
        for side, line in zip((ours, fresh), lines.values(), strict=True):
            line.append((minutes, side.rate(run, 1, CLIENTS, fresh=side is fresh)))
    last = [[rate for _, rate in line[-max(3, run.repetitions) :]] for line in lines.values()]
    name = f"a snapshot held open for {run.hold_minutes:g} minutes, one by one"
    run.keep(
        name,
        last[0],
        last[1],
        other_name="pyqueue, fresh",
        unit="messages/s",
        clients=CLIENTS,
        target=0.9,
    )
    run.draw(Curve("A snapshot held open, over time", "minutes", f"messages/s, {CLIENTS} clients", lines))
