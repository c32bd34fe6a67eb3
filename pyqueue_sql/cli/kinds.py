"""Commands for kinds: define, pause, resume, stats, redrive, prune."""

from __future__ import annotations

import dataclasses
import sys
from datetime import UTC
from typing import Any

import click

from pyqueue_sql import Queue, Stats
from pyqueue_sql.cli.common import emit, from_json, given, max_option, with_queue

TABLE = (
    "kind",
    "ready",
    "scheduled",
    "reserved",
    "expired",
    "waiting",
    "total",
    "pushed_total",
    "acked_total",
    "dead_total",
)


@click.command()
@click.argument("kind")
@click.option("--timeout", "timeout_seconds", type=float, help="Seconds that a reservation lasts.")
@click.option("--max-attempts", type=int, help="Deliveries until a message is dead.")
@click.option("--backoff", "backoff_seconds", type=float, help="Seconds until the second try.")
@click.option("--backoff-factor", type=float, help="By how much that grows with each failure.")
@click.option("--backoff-max", "backoff_max_seconds", type=float, help="Where it stops growing.")
@click.option("--jitter", type=float, help="The share of it that is left to chance, 0 to 1.")
@click.option("--dead-letter-kind", help="Where the dead go; KIND.dead unless given.")
@click.option(
    "--options", type=from_json, metavar="JSON", help="Any settings as a JSON object; a null resets one."
)
@with_queue
def define(queue: Queue, kind: str, options: Any, **settings: Any) -> None:
    """Change settings of KIND; what isn't given stays as it is. Prints all of them.

    \b
      pyqueue define mail --timeout 60 --max-attempts 5 --backoff 10 --backoff-factor 3
      pyqueue define mail --options '{"max_attempts": null}'
    """
    if not isinstance(options, dict | None):
        raise click.UsageError("--options wants a JSON object.")
    settings = given(**settings) | (options or {})
    emit(**dataclasses.asdict(queue.define(kind, **settings)))


@click.command()
@click.argument("kind")
@with_queue
def pause(queue: Queue, kind: str) -> None:
    """Stop deliveries of KIND everywhere; everything else goes on."""
    emit(kind=kind, changed=queue.pause(kind))


@click.command()
@click.argument("kind")
@with_queue
def resume(queue: Queue, kind: str) -> None:
    """Go on with deliveries of KIND."""
    emit(kind=kind, changed=queue.resume(kind))


@click.command()
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON on a terminal too.")
@with_queue
def stats(queue: Queue, kind: str | None, as_json: bool) -> None:
    """Count the messages of KIND, or of every kind: a table on a terminal, else a line of JSON each."""
    rows = queue.stats(kind)
    if not as_json and sys.stdout.isatty():
        click.echo(table(rows))
        return
    for row in rows:
        fields = dataclasses.asdict(row)
        emit(**{**fields, "next_at": row.next_at and row.next_at.astimezone(UTC).isoformat()})


def table(rows: list[Stats]) -> str:
    """Return the counts as aligned text."""
    lines = [[name.removesuffix("_total") for name in TABLE]]
    lines += [[str(getattr(row, name)) for name in TABLE] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [
                first.ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)),
            ]
        )
        for first, *rest in lines
    )


@click.command()
@click.argument("kind")
@max_option
@with_queue
def redrive(queue: Queue, kind: str, max_messages: int | None) -> None:
    """Send the dead letters in KIND back to where they came from.

    One whose key is taken there stays. Prints how many went, and how many stayed.

    \b
      pyqueue redrive mail.dead --max 100
    """
    done = queue.redrive(kind, max_messages)
    emit(kind=kind, went=done.went, stayed=done.stayed)


@click.command()
@click.option("--max", "max_rows", type=click.IntRange(min=1), help="At most so many rows.")
@with_queue
def prune(queue: Queue, max_rows: int | None) -> None:
    """Remove what is past its time, a chunk; call it now and then, from as many places as you like."""
    emit(pruned=queue.prune(max_rows))


COMMANDS = (define, pause, resume, stats, redrive, prune)
