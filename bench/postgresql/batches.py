"""reserve + ack in batches of 100, beside pgmq's read + delete and beside the plain statements."""

from __future__ import annotations

from bench.postgresql.one_by_one import lives
from bench.postgresql.sides import Floor, Pgmq, Pyqueue
from bench.run import Run

NAME = "batches"
BATCH = 100
CLIENTS = (1, 4)
OF_PGMQ = 1.8
OF_PGMQ_BY_SEVERAL = 1.4


def run(run: Run) -> None:
    """Measure."""
    sides = [Pyqueue(run.url), Pgmq(run.url), Floor(run.url)]
    for clients in CLIENTS:
        values = run.turns([lambda s=side, c=clients: s.rate(run, BATCH, c) for side in sides])
        lives(
            run,
            "reserve + ack in batches of 100",
            sides,
            values,
            clients,
            OF_PGMQ if clients == 1 else OF_PGMQ_BY_SEVERAL,
        )
