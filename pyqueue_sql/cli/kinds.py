"""Commands for operators, about kinds: their settings, counts and what has ended."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, get_args

import click

from pyqueue_sql import Queue, Stats
from pyqueue_sql.cli.common import (
    FLOAT,
    aligned,
    ask,
    check_kind,
    emit,
    from_json_object,
    given,
    is_known,
    kinds,
    max_option,
    no_kind,
    say,
    with_queue,
    yes_option,
)
from pyqueue_sql.cli.producers import when
from pyqueue_sql.models import EndOutcome, Redriven

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
@click.option("--timeout", "timeout_seconds", type=FLOAT, help="Seconds that a reservation lasts.")
@click.option("--max-attempts", type=int, help="Deliveries until a message is dead; 25.")
@click.option("--backoff", "backoff_seconds", type=FLOAT, help="Seconds until what failed is tried again; 1.")
@click.option("--backoff-factor", type=FLOAT, help="By how much that grows with each failure; 2.")
@click.option("--backoff-max", "backoff_max_seconds", type=FLOAT, help="Where it stops growing; 3600.")
@click.option("--jitter", type=FLOAT, help="The share of it that is left to chance, 0 to 1; 0.2.")
@click.option("--dead-letter-kind", help="Where the dead go; KIND.dead unless given.")
@click.option("--dedup", "dedup_seconds", type=FLOAT, help="Seconds that a key is remembered after its end.")
@click.option("--history", "history_seconds", type=FLOAT, help="Seconds that what ended is kept.")
@click.option("--log", "log_seconds", type=FLOAT, help="Seconds that the event log keeps what happened.")
@click.option("--expires", "expires_seconds", type=FLOAT, help="It goes when unused for so many seconds.")
@click.option("--max-reserved", type=int, help="How many may be held at once, by all consumers together.")
@click.option("--rate", "rate_per_second", type=FLOAT, help="How many are delivered in a second.")
@click.option("--filter-index/--no-filter-index", default=None, help="An index for --where of reserve.")
@click.option(
    "--shape",
    "payload_shape",
    type=from_json_object,
    metavar="JSON",
    help="Fields that a payload must have, and their types: string, number, integer, boolean, object, array.",
)
@click.option(
    "--options",
    type=from_json_object,
    metavar="JSON",
    help="Any settings as a JSON object; a null resets one.",
)
@with_queue
def define(queue: Queue, kind: str, options: dict[str, Any] | None, **settings: Any) -> None:
    """Change settings of KIND; what isn't given stays as it is. Prints all of them.

    \b
      pyqueue define mail --timeout 60 --max-attempts 5 --backoff 10 --backoff-factor 3
      pyqueue define mail --dedup 3600 --history 604800 --shape '{"to": "string"}'
      pyqueue define mail --options '{"max_attempts": null}'
    """
    settings = given(**settings) | (options or {})
    emit(**dataclasses.asdict(queue.define(kind, **settings)))


@click.command()
@click.argument("kind")
@yes_option
@with_queue
def drop(queue: Queue, kind: str, yes: bool) -> None:
    """Drop KIND with its settings AND ALL ITS MESSAGES, and ask before; refused while somebody holds one.

    Prints the settings that it had. Exit code 1: nothing is known of KIND.

    \b
      pyqueue drop mail
      pyqueue drop mail --yes
    """
    check_kind(queue, kind)
    if not yes:
        ask(f"This drops {kind} with its settings and all its messages.")
    emit(**dataclasses.asdict(queue.drop(kind)))


@click.command()
@click.argument("kind")
@with_queue
def pause(queue: Queue, kind: str) -> None:
    """Stop deliveries of KIND everywhere; everything else goes on.

    Says so where nothing was known of KIND: it is there from now on, and paused.

    \b
      pyqueue pause mail
    """
    _tell_new(queue, kind)
    emit(kind=kind, changed=queue.pause(kind))


def _tell_new(queue: Queue, kind: str) -> None:
    if not is_known(queue, kind):
        say(f"Kind {kind} is new", kind, lambda: kinds(queue))


@click.command()
@click.argument("kind")
@with_queue
def resume(queue: Queue, kind: str) -> None:
    """Go on with deliveries of KIND, and take in again. Exit code 1: nothing is known of KIND.

    \b
      pyqueue resume mail
    """
    changed = queue.resume(kind)
    emit(kind=kind, changed=changed)
    if not changed:
        check_kind(queue, kind)


@click.command()
@click.argument("kind")
@with_queue
def drain(queue: Queue, kind: str) -> None:
    """Have KIND take nothing in any more and finish what is there, until resume.

    Says so where nothing was known of KIND, as pause does.

    \b
      pyqueue drain mail
      pyqueue stats mail | jq .total
    """
    _tell_new(queue, kind)
    emit(kind=kind, changed=queue.drain(kind))


@click.command()
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON on a terminal too.")
@with_queue
def stats(queue: Queue, kind: str | None, as_json: bool) -> None:
    """Count the messages of KIND, or of every kind: a table on a terminal, else a line of JSON each.

    Exit code 1: nothing is known of KIND.

    \b
      pyqueue stats
      pyqueue stats mail | jq .ready
    """
    rows = queue.stats(kind)
    if kind is not None and not rows:
        no_kind(queue, kind)
    if not as_json and sys.stdout.isatty():
        click.echo(table(rows))
        return
    for row in rows:
        emit(**dataclasses.asdict(row))


def table(rows: list[Stats]) -> str:
    """Return the counts as aligned text."""
    names = [name.removesuffix("_total") for name in TABLE]
    return aligned(names, ([str(getattr(row, name)) for name in TABLE] for row in rows), right=names[1:])


@click.command()
@click.argument("kind")
@max_option
@with_queue
def redrive(queue: Queue, kind: str, max_messages: int | None) -> None:
    """Send the dead letters in KIND back to where they came from.

    One whose key is taken there stays. Prints how many went, and how many stayed. Exit code 1: nothing is
    known of KIND.

    \b
      pyqueue redrive mail.dead --max 100
    """
    _emit_redriven(queue, kind, queue.redrive(kind, max_messages))


def _emit_redriven(queue: Queue, kind: str, done: Redriven) -> None:
    emit(kind=kind, went=done.went, stayed=done.stayed)
    if not done.went + done.stayed:
        check_kind(queue, kind)


@click.command()
@click.argument("kind")
@click.option("--outcome", type=click.Choice(get_args(EndOutcome)), help="Only what ended so.")
@click.option("--key", help="Only what had this key.")
@click.option("--from", "start", type=when, metavar="TIME", help="Only what ended then or later.")
@click.option("--to", "end", type=when, metavar="TIME", help="Only what ended before then.")
@click.option("--limit", type=int, help="Look at so many, the oldest first; 1000.")
@click.option("--to-kind", help="Where it goes; back to KIND unless given.")
@with_queue
def replay(queue: Queue, kind: str, **chosen: Any) -> None:
    """Put what is in the history of KIND back, as new messages. One whose key is taken stays.

    Prints how many went, and how many stayed. Exit code 1: nothing is known of KIND.

    \b
      pyqueue replay mail --outcome dead --from 2030-01-01T09:00:00+01:00
    """
    _emit_redriven(queue, kind, queue.replay(kind, **chosen))


@click.command()
@click.option("--max", "max_rows", type=click.IntRange(min=1), help="At most so many rows.")
@with_queue
def prune(queue: Queue, max_rows: int | None) -> None:
    """Remove what is past its time, a chunk; call it now and then, from as many places as you like.

    \b
      pyqueue prune --max 10000
    """
    emit(pruned=queue.prune(max_rows))


COMMANDS = (define, drop, pause, resume, drain, stats, redrive, replay, prune)
