"""The command `pyqueue doctor`."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING

import click

from pyqueue_sql import InvalidParameter
from pyqueue_sql.cli.common import emit, nothing, schema_option, url_option

if TYPE_CHECKING:
    from pyqueue_sql.doctor import Finding

WIDTH = 100
MARKS = {"ok": "ok", "note": "note", "unknown": "?", "warning": "WARNING", "error": "ERROR"}
COLORS = {"ok": "green", "note": "blue", "unknown": "blue", "warning": "yellow", "error": "red"}


@click.command()
@url_option
@schema_option
@click.option(
    "--json", "as_json", is_flag=True, help="A line of JSON a finding: check, level, found, why, remedy."
)
@click.option("--quiet", is_flag=True, help="Leave out what is in order.")
@click.option("--only", multiple=True, metavar="CHECK", help="Make this check alone; may be given again.")
def doctor(url: str, schema: str | None, as_json: bool, quiet: bool, only: tuple[str, ...]) -> None:
    """Examine server, installation and use of the queue, and say what to do.

    Nothing is written. No table is read whole, so it may be run at any time on a queue of any size. What this
    login may not see is marked with a question mark; the owner of the queue sees most.

    Exit code 0: nothing to do; 1: there is a warning or an error.

    \b
      pyqueue doctor
      pyqueue doctor --quiet || alert
      pyqueue doctor --only dead_letters --only backlog
      pyqueue doctor --json | jq 'select(.level == "error")'
    """
    # imported late, as Alembic in the commands for the schema
    from pyqueue_sql.doctor import examine
    from pyqueue_sql.doctor.findings import TO_DO

    try:
        found = examine(url, schema, only or None)
    except InvalidParameter as error:
        raise click.UsageError(f"--{error}") from None
    for one in found:
        if quiet and one.level == "ok":
            continue
        if as_json:
            emit(**dataclasses.asdict(one))
        else:
            click.echo(_text(one, to_do=one.level in TO_DO))
    if not as_json:
        to_do = sum(one.level in TO_DO for one in found)
        click.echo(f"{len(found)} findings, {to_do} to do something about")
    if any(one.level in TO_DO for one in found):
        nothing()


def _text(one: Finding, *, to_do: bool) -> str:
    mark = click.style(f"{MARKS[one.level]:8}", fg=COLORS[one.level], bold=to_do)
    lines = [f"{mark}{one.check}: {one.found}"]
    if one.level != "ok":
        for name, text in (("why", one.why), ("do", one.remedy)):
            if text:
                first = f"        {name + ':':5}"
                lines += textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * 13)
    return "\n".join(lines)


COMMANDS = (doctor,)
