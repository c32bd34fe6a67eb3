"""Reserve and ack with delayed messages of all priorities in the same kind, beside the kind without them."""

from __future__ import annotations

import functools

from bench import servers
from bench.innodb.clients import rate, together
from bench.innodb.lives import calls
from bench.innodb.tables import Tables, enough, tables
from bench.run import Run

NAME = "backlog"
ONCE = True


def run(run: Run) -> None:
    """Measure it, the backlog in a database of its own."""
    delayed = 50_000 if run.quick else 1_000_000
    with servers.database(run.url, {}) as url, tables(url) as full, tables(run.url) as empty:
        full.fill_queue(delayed, delayed=True)

        def lives(where: Tables, clients: int) -> float:
            where.fill_queue(enough(run.seconds))
            where.wait_for_purge()
            return rate(together(where.url, calls, clients, run.seconds))

        for clients in (1,) if run.quick else (1, 8):
            run.compare(
                f"reserve and ack with {delayed:,} delayed",
                functools.partial(lives, full, clients),
                functools.partial(lives, empty, clients),
                other_name="nothing delayed",
                unit="messages/s",
                clients=clients,
                target=0.9,
                note="delayed in 200 priorities, above and below that of the ready ones",
            )
