"""What the commands share: the connection, JSON lines in and out, exit codes."""

from __future__ import annotations

import base64
import dataclasses
import functools
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import click
import psycopg

from pyqueue_sql import Message, Outcome, Queue, QueueError
from pyqueue_sql.connect import ConnectionFailed, connect

P = ParamSpec("P")
T = TypeVar("T")

NOTHING, REFUSED, NO_CONNECTION = 1, 3, 4
NOT_INSTALLED = {"42883", "42P01", "3F000"}


class Failure(click.ClickException):
    """An error that a command ends with."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # pyright: ignore[reportAttributeAccessIssue]


class Commands(click.Group):
    """Commands whose exceptions become messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ConnectionFailed as error:
            raise Failure(str(error), NO_CONNECTION) from None
        except QueueError as error:
            raise Failure(str(error), REFUSED) from None
        except psycopg.Error as error:
            raise Failure(*_explain(error)) from None


def _explain(error: psycopg.Error) -> tuple[str, int]:
    message = error.diag.message_primary or str(error).strip()
    if error.sqlstate in NOT_INSTALLED:
        return (
            f"{message} (is the queue installed here, and as new as this? see pyqueue upgrade)",
            REFUSED,
        )
    lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08")[:2] in ("08", "57")
    return message, NO_CONNECTION if lost else REFUSED


url_option = click.option(
    "--url", envvar="PYQUEUE_URL", show_envvar=True, required=True, help="The database, postgresql://…"
)
schema_option = click.option(
    "--schema",
    envvar="PYQUEUE_SCHEMA",
    show_envvar=True,
    help="Where the queue is, if not in the current schema.",
)
max_option = click.option("--max", "max_messages", type=click.IntRange(min=1), help="At most so many.")
lines_option = click.option(
    "--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Lines of input to a call."
)


def with_queue(command: Callable[Concatenate[Queue, P], None]) -> Callable[..., None]:
    """Give the command a queue on a connection in autocommit, by --url and --schema."""

    @url_option
    @schema_option
    @functools.wraps(command)
    def connected(url: str, schema: str | None, *args: P.args, **kwargs: P.kwargs) -> None:
        with connect(url, schema=schema) as connection:
            command(Queue(connection), *args, **kwargs)

    return connected


def from_json(text: str) -> Any:
    """Return what a parameter says in JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no JSON: {error} (a string wants its double quotes)") from None


def emit(**fields: Any) -> None:
    """Write a line of JSON."""
    click.echo(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))


def emit_messages(messages: Iterable[Message]) -> None:
    """Write a line a message, without what it hasn't got; end with exit code 1 where there is none."""
    found = False
    for message in messages:
        found = True
        fields = dataclasses.asdict(message)
        if message.payload_bytes is not None:
            fields["payload_bytes"] = base64.b64encode(message.payload_bytes).decode()
            del fields["payload"]
        emit(**{name: value for name, value in fields.items() if value is not None or name == "payload"})
    if not found:
        nothing()


def emit_outcomes(outcomes: Iterable[Outcome]) -> None:
    """Write a line a receipt; end with exit code 1 where one is lost."""
    lost = False
    for one in outcomes:
        emit(receipt=one.receipt, outcome=one.outcome)
        lost = lost or one.lost
    if lost:
        nothing()


def nothing() -> NoReturn:
    """End with exit code 1."""
    raise click.exceptions.Exit(NOTHING)


def given(**options: Any) -> Any:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None}


def objects(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Read JSON objects, a line each."""
    for line in filter(None, map(str.strip, lines)):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise click.UsageError(f"{line[:40]!r} is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise click.UsageError(f"{line[:40]!r} is no JSON object")
        yield found


def deliveries(receipts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Give an object with a receipt for each argument, and for each line of the input where one is `-`.

    Args:
        receipts: receipts, or `-`: then lines that are a receipt, or what `reserve` wrote.
    """
    for one in receipts:
        if one != "-":
            yield {"receipt": one}
            continue
        for line in filter(None, map(str.strip, sys.stdin)):
            if not line.startswith("{"):
                yield {"receipt": line}
                continue
            (found,) = objects([line])
            if "receipt" not in found:
                raise click.UsageError(f"{line[:40]!r} has no receipt")
            yield found


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut into lists of at most so many."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, size)):
        yield batch
