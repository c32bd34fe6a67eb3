"""The command `pyqueue top`."""

from __future__ import annotations

import sys

import click

from pyqueue_sql.cli.common import REFUSED, Failure, Seconds, schema_option, url_option


@click.command()
@url_option
@schema_option
@click.option(
    "--interval",
    type=Seconds(min=0.5),
    default=2,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--read-only", is_flag=True, help="Nothing can be paused, redriven or retried from here.")
def top(url: str, schema: str | None, interval: float, read_only: bool) -> None:
    """Watch the queue live: kinds, rates, workers, semaphores, schedules, and what holds the server up.

    Enter shows the messages of a kind, and again one with its errors and history. p pauses or resumes a kind,
    r redrives its dead letters, t makes a message ready now; each asks first. q ends.

    It needs `pip install 'pyqueue_sql[top]'`.

    \b
      pyqueue top
      pyqueue top --interval 5 --read-only
    """
    try:
        # imported late: it has dependencies of its own, and nothing else here is to wait for them
        from pyqueue_sql.top.app import Top
    except ImportError as error:
        raise Failure(f"{error.name} is needed: pip install 'pyqueue_sql[top]'", REFUSED) from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("a terminal is needed; see pyqueue stats and pyqueue metrics", REFUSED)
    Top(url, schema, interval, read_only).run()


COMMANDS = (top,)
