"""Reserve and ack, as two CALLs, beside the five plain statements: one by one and in batches of 100."""

from __future__ import annotations

import functools

from bench.innodb.clients import Work, rate, together
from bench.innodb.lives import calls, calls_of_batches, statements, statements_of_batches
from bench.innodb.tables import enough, tables
from bench.run import Run

NAME = "lifecycle"
STATEMENTS = "five plain statements"


def run(run: Run) -> None:
    """Measure it."""
    with tables(run.url) as found:

        def lives(work: Work, clients: int, batches: bool) -> float:
            found.empty()
            fill = found.fill_queue if work in (calls, calls_of_batches) else found.fill_plain
            fill(enough(run.seconds, batches))
            return rate(together(run.url, work, clients, run.seconds, warm_up=3 if batches else 20))

        for clients, target in ((1, 1.1), (8, 1.5)):
            run.compare(
                "reserve and ack one by one",
                functools.partial(lives, calls, clients, batches=False),
                functools.partial(lives, statements, clients, batches=False),
                other_name=STATEMENTS,
                unit="messages/s",
                clients=clients,
                target=target,
            )
        for clients in (1,) if run.quick else (1, 4):
            run.compare(
                "reserve and ack in batches of 100",
                functools.partial(lives, calls_of_batches, clients, batches=True),
                functools.partial(lives, statements_of_batches, clients, batches=True),
                other_name=STATEMENTS,
                unit="messages/s",
                clients=clients,
                target=0.6,
            )
