"""reserve + ack of one message after the other, beside pgmq's read + delete and beside the plain statements.

Each client takes one message, gets its payload, and finishes it. The plain statements are an UPDATE of a SKIP
LOCKED select and a DELETE, on a table with nothing but id, time and payload.
"""

from __future__ import annotations

from bench.postgresql.sides import Floor, Pgmq, Pyqueue
from bench.run import Run

NAME = "one_by_one"
CLIENTS = (1, 8, 32, 128)
OF_PGMQ = 1.1
OF_FLOOR = 0.9
OF_8 = 0.9


def run(run: Run) -> None:
    """Measure."""
    sides = [Pyqueue(run.url), Pgmq(run.url), Floor(run.url)]
    ours: dict[int, list[float]] = {}
    for clients in CLIENTS:
        values = run.turns([lambda s=side, c=clients: s.rate(run, 1, c) for side in sides])
        ours[clients] = values[0]
        lives(run, "reserve + ack one by one", sides, values, clients, OF_PGMQ)
    run.keep(
        "reserve + ack one by one, 128 clients against 8",
        ours[128],
        ours[8],
        our_name="pyqueue, 128 clients",
        other_name="pyqueue, 8 clients",
        unit="messages/s",
        clients=128,
        target=OF_8,
    )


def lives(run: Run, name: str, sides: list, values: list[list[float]], clients: int, of_pgmq: float) -> None:
    """Keep the figures against pgmq and against the floor."""
    for side, found, target in zip(sides[1:], values[1:], (of_pgmq, OF_FLOOR), strict=True):
        run.keep(
            name,
            values[0],
            found,
            other_name=side.name,
            unit="messages/s",
            clients=clients,
            target=target,
        )
