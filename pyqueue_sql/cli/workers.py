"""Commands about those who wait and work: wait, workers, reap."""

from __future__ import annotations

import dataclasses
import sys
import time
from datetime import UTC

import click

from pyqueue_sql import Queue, WorkerState
from pyqueue_sql.cli.common import Seconds, aligned, emit, nothing, with_queue

SLICE_S = 5
"""PostgreSQL waits no longer in one statement."""


@click.command()
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...")
@click.option("--timeout", type=Seconds(min=0), default=30, show_default=True, help="Seconds.")
@with_queue
def wait(queue: Queue, kinds: tuple[str, ...], timeout: float) -> None:
    """Wait until something may be ready, and print the first KIND where that is so.

    It takes nothing, so that another may be quicker. Exit code 1: the time is over.

    \b
      pyqueue wait mail sms --timeout 60
      while pyqueue wait mail; do pyqueue pop mail; done
    """
    until = time.monotonic() + timeout
    while True:
        left = max(until - time.monotonic(), 0)
        kind = queue.wait(kinds, min(left, SLICE_S))
        if kind is not None:
            emit(kind=kind)
            return
        if left <= SLICE_S:
            nothing()


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON on a terminal too.")
@with_queue
def workers(queue: Queue, as_json: bool) -> None:
    """Show the registered workers: a table on a terminal, else a line of JSON each.

    \b
      pyqueue workers
      pyqueue workers | jq 'select(.alive | not)'
    """
    rows = queue.workers()
    if not as_json and sys.stdout.isatty():
        click.echo(table(rows))
        return
    for row in rows:
        emit(**dataclasses.asdict(row))


def table(rows: list[WorkerState]) -> str:
    """Return the workers as aligned text."""
    names = ["worker", "alive", "by", "reserved", "started", "heartbeat", "kinds", "info"]
    cells = [
        [
            row.worker,
            "yes" if row.alive else "no",
            "session" if row.by_session else "heartbeat",
            str(row.reserved),
            f"{row.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
            f"{row.heartbeat_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
            "any" if row.kinds is None else " ".join(row.kinds),
            " ".join(f"{name}={value}" for name, value in (row.info or {}).items()),
        ]
        for row in rows
    ]
    return aligned(names, cells, right=["reserved"])


@click.command()
@with_queue
def reap(queue: Queue) -> None:
    """Free what dead workers hold, up to 1000 messages; a line a worker that was found dead.

    Workers and reserves do that by the way: nobody has to call it.

    \b
      pyqueue reap
    """
    for one in queue.reap():
        emit(worker=one.worker, freed=one.freed)


CONSUMERS = (wait,)
OPERATORS = (workers, reap)
