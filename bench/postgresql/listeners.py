"""Pushes while a hundred sessions listen to the kind, beside none: NOTIFY makes commits wait for one another.

The listeners are as idle workers between two looks: they have marked themselves by queue_listen, have said
LISTEN, and take note of what comes.
"""

from __future__ import annotations

import json
import selectors
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from psycopg import sql

from bench import servers
from bench.postgresql.pgbench import pgbench
from bench.postgresql.sides import Pyqueue
from bench.run import Run

NAME = "listeners"
LISTENERS = 100
CLIENTS = 16
KIND = "bench"


def run(run: Run) -> None:
    """Measure."""
    with servers.database(run.url, run.settings) as beside:
        heard, alone = Pyqueue(run.url), Pyqueue(beside)
        run.compare(
            f"push one by one, {LISTENERS} idle listeners",
            lambda: with_listeners(run, heard),
            lambda: rate(run, alone),
            other_name="without",
            unit="pushes/s",
            clients=CLIENTS,
            target=0.85,
        )


def rate(run: Run, side: Pyqueue) -> float:
    """Return pushes a second into empty tables."""
    side.empty()
    return pgbench(side.url, side.push, clients=CLIENTS, seconds=run.seconds).tps


def with_listeners(run: Run, side: Pyqueue) -> float:
    """Return the same while they listen."""
    with listening(side.url):
        return rate(run, side)


@contextmanager
def listening(url: str) -> Iterator[None]:
    """Have sessions listen, and a thread that takes note of what they are told."""
    ended = threading.Event()
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(LISTENERS):
            connection = stack.enter_context(psycopg.connect(url, autocommit=True))
            row = connection.execute("select channel from queue_listen(%s)", [json.dumps(KIND)]).fetchone()
            assert row is not None
            connection.execute(sql.SQL("listen {}").format(sql.Identifier(row[0])))
            selector.register(connection.pgconn.socket, selectors.EVENT_READ, connection)

        def take_note() -> None:
            while not ended.is_set():
                for key, _ in selector.select(0.1):
                    key.data.pgconn.consume_input()
                    while key.data.pgconn.notifies():
                        pass

        thread = threading.Thread(target=take_note)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
