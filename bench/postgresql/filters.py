"""A reserve with a filter that one message in a million matches, with an index of filters and without.

Beside a reserve without a filter in the same kind. The message that matches is the newest: without the index
all others are read.
"""

from __future__ import annotations

import time

import psycopg

from bench.postgresql.sides import Pyqueue
from bench.run import Run

NAME = "filters"
ONCE = True
MESSAGES = 1_000_000
QUICK_MESSAGES = 50_000
WANTED = '{"where": {"wanted": true}}'


def run(run: Run) -> None:
    """Measure."""
    side = Pyqueue(run.url)
    count = QUICK_MESSAGES if run.quick else MESSAGES
    for index in (False, True):
        side.empty()
        side.run("select queue_define('bench', jsonb_build_object('filter_index', %s::boolean))", index)
        began = time.perf_counter()
        side.fill(count)
        filled = count / (time.perf_counter() - began)
        side.settle()
        how = "with filter_index" if index else "without filter_index"
        with psycopg.connect(run.url, autocommit=True) as connection:
            wanted_ms(side, connection)  # the first call of a session reads the routines
            any_ms(connection)
            run.compare(
                f"a filter that 1 in {count:,} matches, {how}",
                lambda c=connection: wanted_ms(side, c),
                lambda c=connection: any_ms(c),
                other_name="a reserve without a filter",
                unit="ms",
                less_is_better=True,
                note=f"filled with {filled:,.0f} messages/s",
            )


def wanted_ms(side: Pyqueue, connection: psycopg.Connection) -> float:
    """Push the one message that matches, and return how long it takes to reserve it."""
    side.run("select queue_push('bench', null, '{\"wanted\": true}')")
    return reserved_ms(connection, WANTED)


def any_ms(connection: psycopg.Connection) -> float:
    """Return how long it takes to reserve the next message."""
    return reserved_ms(connection, None)


def reserved_ms(connection: psycopg.Connection, options: str | None) -> float:
    """Reserve a message and return the milliseconds of that; it is acked afterwards."""
    began = time.perf_counter()
    row = connection.execute(
        "select receipt from queue_reserve('bench', 'bench', 1, %s::jsonb)", (options,), prepare=True
    ).fetchone()
    taken = (time.perf_counter() - began) * 1000
    if row is None:
        raise RuntimeError("a message that is there was not delivered")
    connection.execute("select queue_ack(%s)", row)
    return taken
