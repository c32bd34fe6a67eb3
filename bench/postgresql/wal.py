"""Bytes of WAL that a message writes in its whole life, VACUUM included, beside pgmq's.

Pushed, taken and finished one by one, and again in batches of 100, on tables that begin empty just after a
checkpoint: pages that are new then write no full images of themselves.
"""

from __future__ import annotations

from bench.postgresql.pgbench import pgbench
from bench.postgresql.sides import Pgmq, Pyqueue, Side
from bench.run import Run

NAME = "wal"
ONCE = True
MESSAGES = 20_000
QUICK_MESSAGES = 2_000
BATCH = 100
TARGET = 1.25


def run(run: Run) -> None:
    """Measure."""
    count = QUICK_MESSAGES if run.quick else MESSAGES
    ours, pgmq = Pyqueue(run.url), Pgmq(run.url)
    for name, batch in (("one by one", 1), (f"in batches of {BATCH}", BATCH)):
        run.compare(
            f"WAL of a message's whole life, {name}",
            lambda b=batch: written(ours, count, b),
            lambda b=batch: written(pgmq, count, b),
            other_name="pgmq",
            unit="bytes/message",
            target=TARGET,
            less_is_better=True,
        )


def written(side: Side, count: int, batch: int) -> float:
    """Return bytes a message."""
    side.empty()
    side.run("checkpoint")
    before = side.run("select pg_current_wal_insert_lsn()").fetchall()[0][0]
    if batch == 1:
        pgbench(side.url, side.push, clients=1, calls=count)
    else:
        for _ in range(count // batch):
            side.put(batch, 0)
    pgbench(side.url, side.life(batch), clients=1, calls=count // batch)
    side.run(f"vacuum {', '.join(side.tables())}")
    after = side.run("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s)", before).fetchall()[0][0]
    left = side.run(f"select count(*) from {side.table}").fetchall()[0][0]
    if left:
        raise RuntimeError(f"{side.name}: {left} messages are left, which were to have ended")
    return float(after) / count
