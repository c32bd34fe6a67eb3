"""What the commands share: the connection, what they print, exit codes."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import difflib
import errno
import functools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import click

from pyqueue_sql import (
    UNSET,
    Ended,
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Message,
    Outcome,
    Queue,
    QueueError,
)
from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.cli import rights
from pyqueue_sql.models import (
    Event,
    Group,
    Reader,
    Schedule,
    Semaphore,
    Subscription,
    to_datetime,
    to_microseconds,
)

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

UNWRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""What a file says that can't take the answer."""
NOTHING, USAGE, REFUSED, NO_CONNECTION, INTERRUPTED = 1, 2, 3, 4, 130
WRONG = (InvalidParameter, InvalidOption, InvalidPayload, InvalidReceipt)
"""What the queue calls wrong of what it is given."""
DEAD = ".dead"


class Failure(click.ClickException):
    """An error that a command ends with."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # pyright: ignore[reportAttributeAccessIssue]


class Number(click.types.FloatParamType):
    """A finite number; of JSON there is no other."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return it."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value}: a finite number is wanted", param, ctx)
        return found


FLOAT = Number()


class Seconds(click.FloatRange):
    """A finite number in a range; click's own takes NaN, whatever the range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return it."""
        return super().convert(FLOAT.convert(value, param, ctx), param, ctx)


class Commands(click.Group):
    """Commands in sections, whose exceptions become messages and exit codes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections: list[tuple[str, Sequence[click.Command]]] = []

    def add_section(self, title: str, commands: Sequence[click.Command]) -> None:
        """Add commands, and show them below a title."""
        self.sections.append((title, commands))
        for command in commands:
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the sections."""
        names = max(len(name) for name in self.commands)
        for title, commands in self.sections:
            with formatter.section(title):
                formatter.write_dl(
                    [((one.name or "").ljust(names), one.get_short_help_str(limit=200)) for one in commands]
                )

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; click sees to a pipe that nobody reads any more."""
        # a stream that is closed is None
        if sys.stdin is None:
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        if sys.stdout is None:  # nobody would hear of what a command reserves
            _refuse("standard output is closed")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno not in UNWRITTEN:
                raise
            with open(os.devnull, "wb") as nowhere:  # the interpreter would try it again at its end
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            _refuse(error.strerror or str(error))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except Exception as error:
            found = failure(error)
            if found is None:
                raise
            raise found from None


def _refuse(why: str) -> NoReturn:
    with contextlib.suppress(OSError):
        click.echo(f"Error: the answer can't be written: {why}", err=True)
    sys.exit(REFUSED)


def failure(error: Exception) -> Failure | None:
    """Return what a command ends with after this error, or None where it is neither ours nor a driver's."""
    if isinstance(error, ConnectionFailed):
        return Failure(str(error), NO_CONNECTION)
    if isinstance(error, QueueError):
        return Failure(str(error), USAGE if isinstance(error, WRONG) else REFUSED)
    said = dialect.failure(error)
    if said is None:
        return None
    if said.missing:
        return Failure(
            f"{said.message} (is the queue installed here, and as new as this? see pyqueue upgrade)", REFUSED
        )
    if said.denied and (may := rights.roles(said.message)):
        which = " or ".join(may)
        return Failure(f"{said.message} ({which} may: grant {may[0]} to this login)", REFUSED)
    hint = ": the URL names none; name one" if said.nowhere else ""
    return Failure(f"{said.message}{hint}", NO_CONNECTION if said.lost else REFUSED)


def check_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Refuse a URL without a character in it: libpq would take that for wherever it goes by itself."""
    if value is not None and not value.strip():
        raise click.BadParameter(f"{value!r} is no URL of a database; give one here, or in PYQUEUE_URL")
    return value


def check_schema(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Refuse an empty name, what a variable of a shell that isn't set leaves: the queue is elsewhere."""
    if value == "":
        raise click.BadParameter(f"{value!r} is no name of a schema")
    return value


url_option = click.option(
    "--url",
    envvar="PYQUEUE_URL",
    show_envvar=True,
    required=True,
    callback=check_url,
    help="The database, postgresql://… or mysql://…",
)
schema_option = click.option(
    "--schema",
    envvar="PYQUEUE_SCHEMA",
    show_envvar=True,
    callback=check_schema,
    help="Where the queue is, if not in the current schema (on MySQL: database).",
)
yes_option = click.option("--yes", is_flag=True, help="Don't ask before.")
max_option = click.option("--max", "max_messages", type=click.IntRange(min=1), help="At most so many.")


RAW = "pyqueue.raw"
TIMES = frozenset(
    {
        "at",
        "created_at",
        "expires_at",
        "finished_at",
        "heartbeat_at",
        "next_at",
        "reserved_at",
        "scheduled_at",
    }
    | {"scheduled_at_initially", "started_at"}
)
"""The fields that are times."""


def _keep_raw(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    ctx.meta[RAW] = value


raw_option = click.option(
    "--raw",
    is_flag=True,
    expose_value=False,
    callback=_keep_raw,
    help="Times as microseconds since 1970, as in the tables, not in ISO 8601.",
)


def with_queue(command: Callable[Concatenate[Queue, P], None]) -> Callable[..., None]:
    """Give the command a queue on a connection in autocommit, by --url and --schema."""

    @url_option
    @schema_option
    @raw_option
    @functools.wraps(command)
    def connected(url: str, schema: str | None, *args: P.args, **kwargs: P.kwargs) -> None:
        with connect(url, read_committed=True) as connection:
            command(Queue(connection, schema=schema), *args, **kwargs)

    return connected


def from_json(text: str) -> Any:
    """Return what a parameter says in JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(
            f"{text[:40]!r} is no JSON: {error} (a string wants its double quotes)"
        ) from None


def from_json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a parameter is."""
    found = from_json(text)
    if not isinstance(found, dict):
        raise click.BadParameter(f"{text[:40]!r} is no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]


where_option = click.option(
    "--where",
    type=from_json_object,
    metavar="JSON",
    help="Only messages whose payload or headers contain this object.",
)


def json_option(name: str, text: str) -> Callable[[F], F]:
    """Return an option in JSON; it is UNSET where it isn't given, for null is a value."""

    def parse(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
        return UNSET if value is None else from_json(value)

    return click.option(name, callback=parse, metavar="JSON", help=text)


def given(**options: Any) -> Any:
    """Return the options that the user gave."""
    return {
        name: value
        for name, value in options.items()
        if value is not UNSET and (value is not None or name in ("payload", "headers", "result"))
    }


def emit(**fields: Any) -> None:
    """Write a line of JSON, in UTF-8 whatever the locale, its times as --raw says."""
    raw = click.get_current_context().meta.get(RAW, False)
    line = {name: _time(name, value, raw) for name, value in fields.items()}
    if line.get("errors"):
        line["errors"] = [{name: _time(name, one[name], raw) for name in one} for one in line["errors"]]
    click.echo(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode())


def _time(name: str, value: Any, raw: bool) -> Any:
    if isinstance(value, datetime):
        return to_microseconds(value) if raw else value.astimezone(UTC).isoformat()
    if name in TIMES and isinstance(value, int) and not raw:
        return to_datetime(value).isoformat()
    return value


def show(row: Group | Reader | Schedule | Semaphore | Subscription) -> None:
    """Print a row."""
    emit(**dataclasses.asdict(row))


def is_known(queue: Queue, kind: str) -> bool:
    """Whether a kind has a message, settings, a past, a subscription or a schedule, or is for the dead of one
    that has; True, too, where this login may not look. Nothing is counted where it has a message."""
    try:
        return (
            bool(queue.peek(kind, 1) or queue.stats(kind))
            or kind in {one.kind for one in (*queue.subscriptions(), *queue.schedules())}
            or (kind.endswith(DEAD) and is_known(queue, kind.removesuffix(DEAD)))
        )
    except Exception as error:
        if failure(error) is None:
            raise
        return True


def say(what: str, name: str, look: Callable[[], Iterable[str]]) -> None:
    """Say something on stderr, with those names that are near.

    Args:
        what: it is.
        name: the one that was meant.
        look: returns all that there are; this login may not be allowed to.
    """
    try:
        near = difflib.get_close_matches(name, list(look()), n=3)
    except Exception as error:
        if failure(error) is None:
            raise
        near = []
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    click.echo(_printable(f"{what}{hint}"), err=True)


def missing(what: str, name: str, look: Callable[[], Iterable[str]]) -> NoReturn:
    """Say that something isn't there, as `say` does, and end with exit code 1."""
    say(what, name, look)
    nothing()


def kinds(queue: Queue) -> list[str]:
    """Return the kinds of which something is known."""
    return [one.kind for one in queue.stats()]


def no_kind(queue: Queue, kind: str) -> NoReturn:
    """Say that nothing is known of a kind, and end with exit code 1."""
    missing(f"Nothing is known of kind {kind}", kind, lambda: kinds(queue))


def check_kind(queue: Queue, kind: str) -> None:
    """End as `no_kind` does, unless something is known of a kind."""
    if not is_known(queue, kind):
        no_kind(queue, kind)


def aligned(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Return a table as text.

    Args:
        header: the names of its columns.
        rows: their cells; what a terminal might act upon is escaped.
        right: the columns that end at the right, numbers.
    """
    lines = [header, *([_printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def with_payload(row: Message | Ended | Event) -> dict[str, Any]:
    """Return the fields, with the one of the two payloads that it has; bytes in base64."""
    fields = dataclasses.asdict(row)
    if row.payload_bytes is not None:
        fields["payload_bytes"] = base64.b64encode(row.payload_bytes).decode()
        del fields["payload"]
    return fields


def emit_messages(messages: Iterable[Message | Ended]) -> None:
    """Write a line a message, without what it hasn't got; end with exit code 1 where there is none."""
    found = False
    for message in messages:
        found = True
        fields = with_payload(message)
        absent = (None, ())
        emit(**{name: value for name, value in fields.items() if name == "payload" or value not in absent})
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


def ask(what: str) -> None:
    """Ask whether something that can't be undone is to be done.

    Args:
        what: it is, a sentence.

    Raises:
        click.Abort: it isn't.
        Failure: nobody is there to be asked.
    """
    if sys.stdin.isatty():
        click.confirm(f"{what} Go on?", abort=True, err=True)
        return
    answer = sys.stdin.readline()
    if not answer:
        raise Failure(f"{what} Nobody is there to be asked: say --yes.", USAGE)
    click.echo(f"{what} Go on? [y/N]: {answer.strip()}", err=True)
    if answer.strip().lower() not in ("y", "yes"):
        raise click.Abort


def nothing() -> NoReturn:
    """End with exit code 1."""
    raise click.exceptions.Exit(NOTHING)
