"""The commands for producers: push, publish. And the options that a move has as well."""

from __future__ import annotations

from typing import Any, BinaryIO, get_args

import click

from pyqueue_sql import Queue
from pyqueue_sql.calls.options import OnDuplicate
from pyqueue_sql.cli.common import FLOAT, emit, from_json, given, json_option, with_queue
from pyqueue_sql.cli.lines import in_batches, objects

delay_option = click.option("--delay", "delay_seconds", type=FLOAT, help="Deliver so many seconds from now.")
headers_option = json_option("--headers", "A JSON object with scalar values.")
priority_option = click.option("--priority", type=int, help="Higher first; 0 unless given.")
on_duplicate_option = click.option(
    "--on-duplicate",
    type=click.Choice(get_args(OnDuplicate)),
    help="What a push onto a key that is there does: nothing (ignore, the default), new payload and time"
    " (replace), new payload (keep_time), new time (push_back).",
)


def when(text: str) -> int | str:
    """Return digits as a number, and the rest for the server to judge."""
    return int(text) if text.isdecimal() else text


@click.command()
@click.argument("kind")
@click.argument("payload", required=False)
@click.option("--key", help="What makes it that message; without one it gets a UUID.")
@click.option("--bytes", "file", type=click.File("rb"), help="Push this file's bytes in place of JSON.")
@delay_option
@click.option(
    "--at",
    "scheduled_at",
    type=when,
    metavar="TIME",
    help="Deliver at: ISO 8601 with an offset, or microseconds.",
)
@priority_option
@headers_option
@click.option("--max-attempts", type=int, help="Deliveries that it may have.")
@click.option("--route", multiple=True, help="A kind that it goes on to with an ack; may be given again.")
@click.option("--group", help="The group that it is a member of.")
@click.option("--order-key", help="Messages of the same one come one at a time, in order.")
@click.option("--semaphore", "semaphores", multiple=True, help="One that it needs; may be given again.")
@on_duplicate_option
@click.option(
    "--batch",
    type=click.IntRange(1, 10_000),
    default=1000,
    show_default=True,
    help="Lines of input to a call: all of them are pushed, or none.",
)
@with_queue
def push(
    queue: Queue,
    kind: str,
    payload: str | None,
    key: str | None,
    file: BinaryIO | None,
    batch: int,
    route: tuple[str, ...],
    semaphores: tuple[str, ...],
    **options: Any,
) -> None:
    """Put a message into KIND; or many, with - for the PAYLOAD: then each line of the input is one.

    Prints what became of it: created, ignored, replaced or held. A line of input is a JSON object with key,
    payload and any of the push options; options of the command are for those lines that don't say otherwise.

    \b
      pyqueue push mail '{"to": "ann@example.org"}'
      pyqueue push mail '{"to": "ann@example.org"}' --key welcome/ann --at 2030-01-01T09:00:00+01:00
      pyqueue push thumbs --bytes photo.jpg --key photo/7
      echo '{"key": "a", "payload": [1], "delay_seconds": 60}' | pyqueue push mail -
    """
    options = given(route=list(route) or None, semaphores=list(semaphores) or None, **options)
    if payload == "-":
        if key is not None or file is not None:
            raise click.UsageError("With lines of input, key and payload stand in the lines.")
        for pushed in in_batches(objects(), batch, lambda lines: queue.push_many(kind, lines, **options)):
            emit(kind=pushed.kind, key=pushed.key, outcome=pushed.outcome)
        return
    if (payload is None) == (file is None):
        raise click.UsageError("Give a PAYLOAD or --bytes, and not both.")
    if file is not None:
        one = queue.push_bytes(kind, key, file.read(), **options)
    else:
        one = queue.push(kind, key, from_json(payload or ""), **options)
    emit(kind=one.kind, key=one.key, scheduled_at=one.scheduled_at, outcome=one.outcome)


@click.command()
@click.argument("topic")
@click.argument("payload", type=from_json)
@click.option("--key", help="The key of each copy; without one they get a UUID.")
@delay_option
@priority_option
@headers_option
@click.option("--max-attempts", type=int, help="Deliveries that a copy may have.")
@on_duplicate_option
@with_queue
def publish(queue: Queue, topic: str, payload: Any, key: str | None, **options: Any) -> None:
    """Put a copy of a message into every kind that is subscribed to TOPIC, all or none.

    Prints what became of each; nothing where nobody is subscribed.

    \b
      pyqueue publish order.7.paid '{"id": 7}' --key order/7
    """
    for one in queue.publish(topic, key, payload, **given(**options)):
        emit(kind=one.kind, key=one.key, scheduled_at=one.scheduled_at, outcome=one.outcome)


COMMANDS = (push, publish)
