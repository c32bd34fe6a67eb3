"""Push one by one beside a plain INSERT, and 1,000 keyed messages a CALL beside an INSERT of 1,000 rows."""

from __future__ import annotations

import functools

from bench.innodb.clients import Work, rate, together
from bench.innodb.lives import insert, insert_many, push, push_many
from bench.innodb.tables import tables
from bench.run import Run

NAME = "push"


def run(run: Run) -> None:
    """Measure it."""
    with tables(run.url) as found:

        def pushes(work: Work, clients: int, warm_up: int) -> float:
            found.empty()
            return rate(together(run.url, work, clients, run.seconds, warm_up=warm_up))

        for clients in (1, 8):
            run.compare(
                "push one by one",
                functools.partial(pushes, push, clients, 20),
                functools.partial(pushes, insert, clients, 20),
                other_name="a plain INSERT",
                unit="messages/s",
                clients=clients,
                note="the plain table has no key but its number",
            )
        for clients in (1,) if run.quick else (1, 4):
            run.compare(
                "push_many of 1,000 keyed messages",
                functools.partial(pushes, functools.partial(push_many, count=1000), clients, 2),
                functools.partial(pushes, functools.partial(insert_many, count=1000), clients, 2),
                other_name="a plain INSERT of 1,000 rows",
                unit="messages/s",
                clients=clients,
                target=0.35,
                note="the plain table has no key but its number",
            )
