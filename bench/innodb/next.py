"""The loop of a consumer by queue_next, beside the five plain statements and beside reserve and ack."""

from __future__ import annotations

import functools

from bench.innodb.clients import Work, rate, together
from bench.innodb.lifecycle import STATEMENTS
from bench.innodb.lives import calls, nexts, statements
from bench.innodb.tables import enough, tables
from bench.run import Run

NAME = "next"


def run(run: Run) -> None:
    """Measure it."""
    with tables(run.url) as found:

        def loop(work: Work, clients: int) -> float:
            found.empty()
            fill = found.fill_plain if work is statements else found.fill_queue
            fill(enough(run.seconds, batches=False))
            return rate(together(run.url, work, clients, run.seconds))

        for clients in (1, 8):
            for work, name, target in (
                (statements, STATEMENTS, 1.0),
                (calls, "pyqueue, reserve and ack", None),
            ):
                run.compare(
                    "queue_next one by one",
                    functools.partial(loop, nexts, clients),
                    functools.partial(loop, work, clients),
                    other_name=name,
                    unit="messages/s",
                    clients=clients,
                    target=target,
                )
