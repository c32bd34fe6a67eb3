"""queue_push of one message after the other, its key checked, beside pgmq.send, which has no keys.

Keys are random numbers: the worst order for an index. Both begin with an empty queue.
"""

from __future__ import annotations

from bench.postgresql.pgbench import pgbench
from bench.postgresql.sides import Pgmq, Pyqueue, Side
from bench.run import Run

NAME = "push"
CLIENTS = (1, 8, 32)
TARGET = 1.0


def run(run: Run) -> None:
    """Measure."""
    ours, pgmq = Pyqueue(run.url), Pgmq(run.url)
    for clients in CLIENTS:
        run.compare(
            "push one by one",
            lambda c=clients: rate(run, ours, c),
            lambda c=clients: rate(run, pgmq, c),
            other_name="pgmq.send",
            unit="messages/s",
            clients=clients,
            target=TARGET,
        )


def rate(run: Run, side: Side, clients: int) -> float:
    """Return messages a second."""
    side.empty()
    return pgbench(side.url, side.push, clients=clients, seconds=run.seconds).tps
