"""Bytes of redo a message, its whole life and what cleaning up after it costs."""

from __future__ import annotations

import functools

from bench.innodb.clients import Work, together
from bench.innodb.lives import (
    insert_statements,
    insert_statements_of_batches,
    push_calls,
    push_calls_of_batches,
)
from bench.innodb.tables import tables
from bench.run import Run

NAME = "redo"
ONCE = True


def run(run: Run) -> None:
    """Measure it."""
    lives = 200 if run.quick else 5000
    with tables(run.url) as found:

        def redo(work: Work, messages: int) -> float:
            found.empty()
            before = found.redo()
            [done] = together(run.url, work, 1, 600, messages, warm_up=0)
            return (found.redo() - before) / done.messages

        for name, ours, other, messages in (
            ("redo a message, one by one", push_calls, insert_statements, lives),
            (
                "redo a message, in batches of 100",
                push_calls_of_batches,
                insert_statements_of_batches,
                10 * lives,
            ),
        ):
            run.compare(
                name,
                functools.partial(redo, ours, messages),
                functools.partial(redo, other, messages),
                other_name="the plain statements",
                unit="bytes",
                target=1.0,
                less_is_better=True,
                note="by the log sequence number, from push to ack, and until nothing is left to purge",
            )
