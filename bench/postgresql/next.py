"""The loop of a consumer by queue_next, beside pgmq's read + delete and our own reserve + ack."""

from __future__ import annotations

from bench.postgresql.sides import Pgmq, Pyqueue
from bench.run import Run

NAME = "next"
CLIENTS = (1, 8, 32, 128)
OF_PGMQ = 1.6


class Next(Pyqueue):
    """The queue by queue_next: each call acks what the one before took."""

    name = "pyqueue, queue_next"

    def life(self, batch: int) -> str:
        assert batch == 1
        return """\\if :got
    select receipt, payload, 1 as got from queue_next(jsonb_build_array(:receipt::text), 'bench') \\aset
\\else
    select receipt, payload, 1 as got from queue_reserve('bench') \\aset
\\endif
"""


def run(run: Run) -> None:
    """Measure."""
    sides = [Next(run.url), Pgmq(run.url), Pyqueue(run.url)]
    for clients in CLIENTS:
        ours, *others = run.turns([lambda s=side, c=clients: s.rate(run, 1, c) for side in sides])
        for side, found in zip(sides[1:], others, strict=True):
            run.keep(
                "queue_next one by one",
                ours,
                found,
                our_name=sides[0].name,
                other_name=side.name,
                unit="messages/s",
                clients=clients,
                target=OF_PGMQ if isinstance(side, Pgmq) else None,
            )
