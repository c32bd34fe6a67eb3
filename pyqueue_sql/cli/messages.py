"""Commands for messages: push, reserve, ack, nack, move, peek, remove."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, get_args

import click

from pyqueue_sql import Outcome, Queue
from pyqueue_sql.cli.common import (
    batches,
    deliveries,
    emit,
    emit_messages,
    emit_outcomes,
    from_json,
    given,
    lines_option,
    max_option,
    nothing,
    objects,
    with_queue,
)
from pyqueue_sql.options import OnDuplicate

receipts_argument = click.argument("receipts", nargs=-1, required=True, metavar="RECEIPT...|-")
delay_option = click.option("--delay", "delay_seconds", type=float, help="Deliver so many seconds from now.")
headers_option = click.option(
    "--headers", type=from_json, metavar="JSON", help="A JSON object with scalar values."
)
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
    options = given(**options)
    if payload == "-":
        if key is not None or file is not None:
            raise click.UsageError("With lines of input, key and payload stand in the lines.")
        for lines in batches(objects(sys.stdin), batch):
            for pushed in queue.push_many(kind, lines, **options):
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
@click.argument("kind")
@click.option(
    "--max", "max_messages", type=click.IntRange(min=1), default=1, show_default=True, help="At most so many."
)
@click.option("--timeout", "timeout_seconds", type=float, help="Hold them for so many seconds.")
@click.option("--worker", help="Who takes them, for people to see.")
@with_queue
def reserve(
    queue: Queue, kind: str, max_messages: int, timeout_seconds: float | None, worker: str | None
) -> None:
    """Take ready messages of KIND; until the timeout nobody else gets them.

    Prints a line a message, with the receipt that ack, nack and move want. Exit code 1: nothing is ready.

    \b
      pyqueue reserve mail --max 10 --timeout 60
      pyqueue reserve mail | jq -r .payload.to
    """
    emit_messages(queue.reserve(kind, worker, max_messages, timeout_seconds=timeout_seconds))


@click.command()
@receipts_argument
@lines_option
@with_queue
def ack(queue: Queue, receipts: tuple[str, ...], batch: int) -> None:
    """Say that messages are done: they are removed.

    Each RECEIPT is what reserve printed; with - they are read from the input, one a line, or the whole lines
    of reserve. Exit code 1: one was lost, because the message had gone to somebody else meanwhile.

    \b
      pyqueue reserve mail --max 10 | tee work.jsonl | pyqueue ack -
    """

    def outcomes() -> Iterator[Outcome]:
        for lines in batches(deliveries(receipts), batch):
            yield from queue.ack_many([line["receipt"] for line in lines])

    emit_outcomes(outcomes())


@click.command()
@receipts_argument
@click.option("--delay", "delay_seconds", type=float, help="Try again so many seconds from now.")
@click.option("--error", help="What went wrong; kept with the message.")
@click.option("--payload", type=from_json, metavar="JSON", help="A new payload.")
@click.option("--final", is_flag=True, default=None, help="No more tries: to the dead letters.")
@click.option("--no-count", "count", flag_value=False, default=None, help="This attempt doesn't count.")
@lines_option
@with_queue
def nack(queue: Queue, receipts: tuple[str, ...], batch: int, **options: Any) -> None:
    """Give messages back for a later try; receipts are as for ack.

    \b
      pyqueue nack "$receipt" --error 'mail server is down' --delay 300
    """

    def outcomes() -> Iterator[Outcome]:
        for lines in batches(deliveries(receipts), batch):
            yield from queue.nack_many([line["receipt"] for line in lines], **given(**options))

    emit_outcomes(outcomes())


@click.command()
@click.argument("kind")
@receipts_argument
@click.option("--payload", type=from_json, metavar="JSON", help="A new payload.")
@click.option("--take-payload", is_flag=True, help="The payload of each line of input is the new one.")
@headers_option
@click.option("--key", help="A new key.")
@delay_option
@priority_option
@on_duplicate_option
@lines_option
@with_queue
def move(
    queue: Queue, kind: str, receipts: tuple[str, ...], take_payload: bool, batch: int, **options: Any
) -> None:
    """Hand messages on to KIND, atomically; receipts are as for ack.

    \b
      pyqueue move archive "$receipt"
      pyqueue reserve raw --max 100 | jq -c '.payload.seen = true' | pyqueue move clean - --take-payload
    """
    names = ("receipt", "payload") if take_payload else ("receipt",)

    def outcomes() -> Iterator[Outcome]:
        for lines in batches(deliveries(receipts), batch):
            moves = [
                {"to_kind": kind, **{name: line[name] for name in names if name in line}} for line in lines
            ]
            yield from queue.move_many(moves, **given(**options))

    emit_outcomes(outcomes())


@click.command()
@click.argument("kind")
@max_option
@with_queue
def peek(queue: Queue, kind: str, max_messages: int | None) -> None:
    """Look at the messages of KIND, in order of delivery; changes nothing. Exit code 1: there is none."""
    emit_messages(queue.peek(kind) if max_messages is None else queue.peek(kind, max_messages))


@click.command()
@click.argument("kind")
@click.argument("key")
@with_queue
def remove(queue: Queue, kind: str, key: str) -> None:
    """Remove the message KEY of KIND, unless somebody holds it. Exit code 1: it is held, or absent."""
    outcome = queue.remove(kind, key)
    emit(kind=kind, key=key, outcome=outcome)
    if outcome != "removed":
        nothing()


COMMANDS = (push, reserve, ack, nack, move, peek, remove)
