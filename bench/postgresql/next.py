"""The loop of a consumer by queue_next, alone and in batches, beside pgmq and our two calls."""

from __future__ import annotations

from bench.postgresql import batches
from bench.postgresql.sides import Pgmq, Pyqueue
from bench.run import Run

NAME = "next"
CLIENTS = (1, 8, 32, 128)
OF_PGMQ = 1.6


class Next(Pyqueue):
    """The queue by queue_next: each call acks what the one before took."""

    name = "pyqueue, queue_next"

    def life(self, batch: int) -> str:
        if batch == 1:
            return """\\if :got
    select receipt, payload, 1 as got from queue_next(jsonb_build_array(:receipt::text), 'bench') \\aset
\\else
    select receipt, payload, 1 as got from queue_reserve('bench') \\aset
\\endif
"""
        return f"""\\if :got
    select jsonb_agg(receipt) as receipts, count(*) as got
        from queue_next(:receipts::jsonb, 'bench', 'bench', {batch}) \\gset
\\else
    select jsonb_agg(receipt) as receipts, count(*) as got
        from queue_reserve('bench', 'bench', {batch}) \\gset
\\endif
"""


def run(run: Run) -> None:
    """Measure."""
    sides = [Next(run.url), Pgmq(run.url), Pyqueue(run.url)]
    several = [(clients, 1, "one by one", OF_PGMQ) for clients in CLIENTS]
    targets = (batches.OF_PGMQ, batches.OF_PGMQ_BY_SEVERAL)
    several += [
        (clients, batches.BATCH, f"in batches of {batches.BATCH}", target)
        for clients, target in zip(batches.CLIENTS, targets, strict=True)
    ]
    for clients, batch, how, target in several:
        ours, *others = run.turns([lambda s=side, b=batch, c=clients: s.rate(run, b, c) for side in sides])
        for side, found in zip(sides[1:], others, strict=True):
            run.keep(
                f"queue_next {how}",
                ours,
                found,
                our_name=sides[0].name,
                other_name=side.name,
                unit="messages/s",
                clients=clients,
                target=target if isinstance(side, Pgmq) else None,
            )
