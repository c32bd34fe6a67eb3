"""Commands for operators, about messages: get, peek, history, remove, purge."""

from __future__ import annotations

import sys
from typing import Any

import click

from pyqueue_sql import Ended, Queue, to_datetime
from pyqueue_sql.cli.common import (
    aligned,
    ask,
    check_kind,
    emit,
    emit_messages,
    given,
    max_option,
    no_kind,
    nothing,
    where_option,
    with_queue,
    yes_option,
)

HISTORY = ("finished", "kind", "key", "outcome", "to", "attempts", "worker", "last error")


@click.command()
@click.argument("kind")
@click.argument("key")
@with_queue
def get(queue: Queue, kind: str, key: str) -> None:
    """Look at the message KEY of KIND; changes nothing. Exit code 1: it isn't there.

    \b
      pyqueue get mail welcome/ann | jq .state
    """
    found = queue.get(kind, key)
    if found is None:
        check_kind(queue, kind)
    emit_messages([found] if found else [])


@click.command()
@click.argument("kind")
@max_option
@where_option
@with_queue
def peek(queue: Queue, kind: str, max_messages: int | None, where: dict[str, Any] | None) -> None:
    """Look at the messages of KIND, in order of delivery; changes nothing. Exit code 1: there is none.

    \b
      pyqueue peek mail --max 100 | jq -r '[.state, .key] | @tsv'
    """
    found = queue.peek(kind, **given(max_messages=max_messages, where=where))
    if not found and not queue.stats(kind):
        no_kind(queue, kind)
    emit_messages(found)


@click.command()
@click.argument("kind")
@click.argument("key")
@with_queue
def remove(queue: Queue, kind: str, key: str) -> None:
    """Remove the message KEY of KIND, unless somebody holds it. Exit code 1: it is held, or absent.

    \b
      pyqueue remove mail welcome/ann
    """
    outcome = queue.remove(kind, key)
    emit(kind=kind, key=key, outcome=outcome)
    if outcome == "absent":
        check_kind(queue, kind)
    if outcome != "removed":
        nothing()


@click.command()
@click.argument("kind")
@max_option
@yes_option
@with_queue
def purge(queue: Queue, kind: str, max_messages: int | None, yes: bool) -> None:
    """Remove all messages of KIND that nobody holds, and ask before. Prints how many went.

    Exit code 1: nothing is known of KIND.

    \b
      pyqueue purge mail.dead
      pyqueue purge mail.dead --max 1000 --yes
    """
    if not yes:
        most = "all" if max_messages is None else f"up to {max_messages}"
        ask(f"This removes {most} messages of {kind} that nobody holds.")
    purged = queue.purge(kind, max_messages)
    emit(kind=kind, purged=purged)
    if not purged:
        check_kind(queue, kind)


@click.command()
@click.argument("kind", required=False)
@click.option("--key", help="Only with this key.")
@click.option(
    "--max",
    "max_messages",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="At most so many.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on a terminal too.")
@with_queue
def history(queue: Queue, kind: str | None, key: str | None, max_messages: int, as_json: bool) -> None:
    """Look at what ended in KIND, or anywhere, the newest first.

    Prints a table on a terminal, else a line of JSON each. Only kinds that keep history have any,
    see define. Exit code 1: there is none.

    \b
      pyqueue define mail --history 86400
      pyqueue history mail --key welcome/ann
      pyqueue history | jq -c 'select(.outcome == "dead") | .errors'
    """
    ended = queue.history(kind, key, max_messages=max_messages)
    if not ended and kind is not None:
        check_kind(queue, kind)
    if ended and not as_json and sys.stdout.isatty():
        click.echo(history_table(ended))
    else:
        emit_messages(ended)


def history_table(ended: list[Ended]) -> str:
    """Return what ended as aligned text, times in ISO 8601."""
    return aligned(
        HISTORY,
        (
            (
                to_datetime(one.finished_at).isoformat(timespec="milliseconds"),
                one.kind,
                one.key,
                one.outcome,
                one.to_kind or "",
                str(one.attempts),
                one.reserved_by or "",
                one.errors[-1]["error"] if one.errors else "",
            )
            for one in ended
        ),
        right=("attempts",),
    )


COMMANDS = (get, peek, history, remove, purge)
