"""What waits must not slow what is ready: the rate with a backlog, beside that of an empty queue.

The backlogs: 10,000,000 delayed messages of all priorities in the same kind; 1,000,000 ready ones; 10,000
kinds; 1,000,000 ready ones in other kinds. The empty queue is in another database of the same server. pgmq,
with 1,000,000 delayed ones, is there to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg

from bench import servers
from bench.postgresql.sides import CHUNK, Pgmq, Pyqueue, Side
from bench.run import Run

NAME = "backlog"
ONCE = True
TARGET = 0.9
DELAYED = 10_000_000
QUICK_DELAYED = 300_000
MANY = 1_000_000
QUICK_MANY = 30_000
KINDS = 10_000
QUICK_KINDS = 1_000
OTHER_KINDS = 10
PRIORITIES = range(-5, 5)
HOUR = 3600
FILLERS = 2
LOADS = ((1, 8), (100, 1))


def run(run: Run) -> None:
    """Measure."""
    with servers.database(run.url, run.settings) as beside:
        ours, empty = Pyqueue(run.url), Pyqueue(beside)
        for name, fill in backlogs(run.quick):
            ours.empty()
            fill(ours)
            compare(run, name, ours, empty, beside, TARGET)
        pgmq, empty_pgmq = Pgmq(run.url), Pgmq(beside)
        count = QUICK_MANY if run.quick else MANY
        pgmq.fill(count, delay_seconds=HOUR)
        compare(run, f"pgmq: {count:,} delayed", pgmq, empty_pgmq, beside, None)


def backlogs(quick: bool) -> list[tuple[str, Callable[[Pyqueue], None]]]:
    """Return the backlogs with their names."""
    delayed, many, kinds = (QUICK_DELAYED, QUICK_MANY, QUICK_KINDS) if quick else (DELAYED, MANY, KINDS)
    tenth = delayed // len(PRIORITIES)
    return [
        (
            f"{delayed:,} delayed, all priorities",
            lambda side: put_all(side, [("bench", n, p, HOUR) for p in PRIORITIES for n in chunks(tenth)]),
        ),
        (f"{many:,} ready", lambda side: put_all(side, [("bench", n, 0, 0) for n in chunks(many)])),
        (f"{kinds:,} kinds", lambda side: put_all(side, [(f"kind-{n}", 10, 0, 0) for n in range(kinds)])),
        (
            f"{many:,} in other kinds",
            lambda side: put_all(
                side, [(f"other-{i % OTHER_KINDS}", n, 0, 0) for i, n in enumerate(chunks(many))]
            ),
        ),
    ]


def chunks(count: int) -> list[int]:
    """Return the sizes of the chunks that make up so many."""
    return [min(CHUNK, count - first) for first in range(0, count, CHUNK)]


def put_all(side: Pyqueue, puts: list[tuple[str, int, int, int]]) -> None:
    """Put messages in, from several sessions; each put is (kind, count, priority, delay in seconds)."""

    def work(number: int) -> None:
        with psycopg.connect(side.url, autocommit=True) as connection:
            for put in puts[number::FILLERS]:
                side.put_into(*put, over=connection)

    with ThreadPoolExecutor(FILLERS) as pool:
        list(pool.map(work, range(FILLERS)))


def compare(run: Run, name: str, full: Side, empty: Side, beside: str, target: float | None) -> None:
    """Compare the side with the backlog and the empty one."""
    empty.empty()
    for side in (full, empty):
        side.settle()
    # neither begins anew for each measurement: both have the dead rows of those before in their tables
    for _ in run.each_setting(beside):
        for batch, clients in LOADS:
            how = "one by one" if batch == 1 else f"in batches of {batch}"
            run.compare(
                f"{name}: {how}",
                lambda b=batch, c=clients: full.rate(run, b, c, fresh=False),
                lambda b=batch, c=clients: empty.rate(run, b, c, fresh=False),
                other_name=f"{empty.name}, empty",
                unit="messages/s",
                clients=clients,
                target=target,
                our_name=full.name,
            )
