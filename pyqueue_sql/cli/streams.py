"""Commands for readers of the event log."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import click

from pyqueue_sql import Queue
from pyqueue_sql.cli.common import emit, missing, nothing, show, with_payload, with_queue
from pyqueue_sql.models import EventName

MESSAGES = frozenset[EventName]({"pushed", "replaced"})
"""The events that have a payload, which may be null."""


@click.command()
@click.argument("name")
@click.argument("reader")
@click.option("--max", "max_messages", type=int, default=1, help="How many events at most; 1 unless given.")
@click.option("--from", "start", type=click.Choice(["oldest", "now"]), help="Where a new reader begins.")
@click.option(
    "--event", "events", multiple=True, type=click.Choice(get_args(EventName)), help="What it sees."
)
@with_queue
def read(
    queue: Queue, name: str, reader: str, max_messages: int, start: Any, events: tuple[Any, ...]
) -> None:
    """Read the log of the kind, topic or pattern NAME from the place of READER, a line an event.

    The place moves with read-ack. Exit code 1 where there is nothing.

    \b
      pyqueue define orders --log 604800
      pyqueue read 'orders.#' billing --max 100
    """
    found = queue.read(name, reader, max_messages, start=start, events=events or None)
    for event in found:
        kept = {"payload"} if event.event in MESSAGES else set[str]()
        emit(**{key: value for key, value in with_payload(event).items() if value is not None or key in kept})
    if not found:
        nothing()


@click.command("read-ack")
@click.argument("reader")
@click.argument("position", type=int)
@with_queue
def read_ack(queue: Queue, reader: str, position: int) -> None:
    """Say that READER is done up to POSITION.

    \b
      pyqueue read-ack billing 1042
    """
    emit(**dataclasses.asdict(queue.read_ack(reader, position)))


@click.command("read-end")
@click.argument("reader")
@with_queue
def read_end(queue: Queue, reader: str) -> None:
    """Forget READER and its place. Exit code 1: there is no such reader.

    \b
      pyqueue read-end billing
    """
    changed = queue.read_end(reader)
    emit(reader=reader, changed=changed)
    if not changed:
        missing(f"There is no reader {reader}", reader, lambda: [one.reader for one in queue.readers()])


@click.command()
@with_queue
def readers(queue: Queue) -> None:
    """Print the readers of the log, what they read and how far they are, a line of JSON each.

    \b
      pyqueue readers | jq -r '[.reader, .behind] | @tsv'
    """
    for row in queue.readers():
        show(row)


COMMANDS = (read, read_ack, read_end, readers)
