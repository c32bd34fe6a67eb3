"""Commands for consumers: reserve, next, pop, extend, ack, nack, move."""

from __future__ import annotations

from typing import Any

import click

from pyqueue_sql import Outcome, Queue
from pyqueue_sql.cli.common import (
    FLOAT,
    emit_messages,
    emit_outcomes,
    given,
    json_option,
    where_option,
    with_queue,
)
from pyqueue_sql.cli.lines import deliveries, in_batches, lines_option
from pyqueue_sql.cli.producers import delay_option, headers_option, on_duplicate_option, priority_option

receipts_argument = click.argument("receipts", nargs=-1, required=True, metavar="RECEIPT...|-")
at_most_option = click.option(
    "--max", "max_messages", type=click.IntRange(min=1), default=1, show_default=True, help="At most so many."
)


@click.command()
@click.argument("kind")
@at_most_option
@click.option("--timeout", "timeout_seconds", type=FLOAT, help="Hold them for so many seconds.")
@click.option("--worker", help="Who takes them, for people to see.")
@where_option
@with_queue
def reserve(
    queue: Queue,
    kind: str,
    max_messages: int,
    timeout_seconds: float | None,
    worker: str | None,
    where: dict[str, Any] | None,
) -> None:
    """Take ready messages of KIND; until the timeout nobody else gets them.

    Prints a line a message, with the receipt that ack, nack and move want. Exit code 1: nothing is ready.

    \b
      pyqueue reserve mail --max 10 --timeout 60
      pyqueue reserve mail | jq -r .payload.to
      pyqueue reserve mail --where '{"lang": "fr"}'
    """
    emit_messages(queue.reserve(kind, worker, max_messages, timeout_seconds=timeout_seconds, where=where))


@click.command("next")
@click.argument("kind")
@click.argument("receipts", nargs=-1, metavar="[RECEIPT...|-]")
@at_most_option
@click.option("--timeout", "timeout_seconds", type=FLOAT, help="Hold them for so many seconds.")
@click.option("--worker", help="Who takes them, for people to see.")
@where_option
@click.option("--lost", type=click.Choice(["error"]), help="error: where a receipt is lost, do nothing.")
@with_queue
def next_(queue: Queue, kind: str, receipts: tuple[str, ...], max_messages: int, **options: Any) -> None:
    """Ack what is done and take the next messages of KIND, in one transaction.

    Receipts are as for ack, all of them in one call; one that is lost is only counted, see stats. Prints what
    reserve prints. Exit code 1: nothing is ready.

    \b
      pyqueue next mail --max 10 > work.jsonl
      pyqueue next mail --max 10 - < work.jsonl > more.jsonl
    """
    done = [line["receipt"] for _, line in deliveries(receipts)]
    worker = options.pop("worker")
    emit_messages(queue.next(done, kind, worker, max_messages, **options))


@click.command()
@click.argument("kind")
@at_most_option
@where_option
@with_queue
def pop(queue: Queue, kind: str, max_messages: int, where: dict[str, Any] | None) -> None:
    """Take ready messages of KIND and remove them: at most once.

    Prints a line a message. One that isn't worked off is lost; where that matters use reserve and ack. Exit
    code 1: nothing is ready.

    \b
      pyqueue pop ticks --max 100 | jq -c .payload
    """
    emit_messages(queue.pop(kind, max_messages, where=where))


@click.command()
@click.argument("seconds", type=FLOAT)
@receipts_argument
@lines_option
@with_queue
def extend(queue: Queue, seconds: float, receipts: tuple[str, ...], batch: int) -> None:
    """Keep messages for so many SECONDS from now; receipts are as for ack.

    \b
      pyqueue extend 300 "$receipt"
      pyqueue extend 300 - < work.jsonl
    """

    def extended(lines: list[dict[str, Any]]) -> list[Outcome]:
        return queue.extend_many([line["receipt"] for line in lines], seconds)

    emit_outcomes(in_batches(deliveries(receipts), batch, extended))


@click.command()
@receipts_argument
@json_option("--result", "Kept in the history, and given to its group.")
@click.option("--to", help="The kind that it goes on to, in place of the next of its route.")
@json_option("--payload", "A new payload, where it goes on.")
@lines_option
@with_queue
def ack(queue: Queue, receipts: tuple[str, ...], batch: int, **options: Any) -> None:
    """Say that messages are done: they are removed, or go on along their route.

    Each RECEIPT is what reserve printed; with - they are read from the input, one a line, or the whole lines
    of reserve. Exit code 1: one was lost, because the message had gone to somebody else meanwhile.

    \b
      pyqueue reserve mail --max 10 | tee work.jsonl | pyqueue ack -
    """

    def acked(lines: list[dict[str, Any]]) -> list[Outcome]:
        return queue.ack_many([line["receipt"] for line in lines], **given(**options))

    emit_outcomes(in_batches(deliveries(receipts), batch, acked))


@click.command()
@receipts_argument
@click.option("--delay", "delay_seconds", type=FLOAT, help="Try again so many seconds from now.")
@click.option("--error", help="What went wrong; kept with the message.")
@json_option("--payload", "A new payload.")
@click.option("--final", is_flag=True, default=None, help="No more tries: to the dead letters.")
@click.option("--no-count", "count", flag_value=False, default=None, help="This attempt doesn't count.")
@lines_option
@with_queue
def nack(queue: Queue, receipts: tuple[str, ...], batch: int, **options: Any) -> None:
    """Give messages back for a later try; receipts are as for ack.

    \b
      pyqueue nack "$receipt" --error 'mail server is down' --delay 300
      pyqueue nack - --no-count < work.jsonl        # a shutdown: as if never delivered
    """

    def nacked(lines: list[dict[str, Any]]) -> list[Outcome]:
        return queue.nack_many([line["receipt"] for line in lines], **given(**options))

    emit_outcomes(in_batches(deliveries(receipts), batch, nacked))


@click.command()
@click.argument("kind")
@receipts_argument
@json_option("--payload", "A new payload.")
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

    def moved(lines: list[dict[str, Any]]) -> list[Outcome]:
        moves = [{"to_kind": kind, **{name: line[name] for name in names if name in line}} for line in lines]
        return queue.move_many(moves, **given(**options))

    emit_outcomes(in_batches(deliveries(receipts), batch, moved))


COMMANDS = (reserve, next_, pop, extend, ack, nack, move)
