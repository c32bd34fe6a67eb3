"""The command line, `pyqueue`."""

from __future__ import annotations

import click

from pyqueue_sql.cli import (
    consumers,
    doctor,
    kinds,
    messages,
    metrics,
    pipeline,
    producers,
    recurring,
    schema,
    streams,
    top,
    web,
    worker,
    workers,
)
from pyqueue_sql.cli.common import Commands


@click.group(cls=Commands, epilog="Each command has its own --help, with examples.")
@click.version_option(package_name="pyqueue_sql")
def main() -> None:
    """A delayed message queue inside the database.

    Commands read and write JSON, a line a message, so that they pipe into one another and into jq. The
    database is named by --url or PYQUEUE_URL: postgresql://user:password@host:port/database, or mysql://… for
    MariaDB and MySQL.

    A first session:

    \b
      export PYQUEUE_URL=postgresql://localhost/app
      pyqueue upgrade
      pyqueue push mail '{"to": "ann@example.org"}' --key welcome/ann --delay 60
      pyqueue peek mail
      pyqueue reserve mail --max 10 > work.jsonl     # after a minute; yours for five
      jq -r .payload.to work.jsonl
      pyqueue ack - < work.jsonl
      pyqueue stats

    Exit codes: 0 fine; 1 nothing there, or a receipt was lost; 2 wrong usage, or a value that isn't allowed;
    3 the queue or the database refused, or the answer can't be written; 4 no connection; 130 interrupted.
    """


@click.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
@click.pass_context
def demo(ctx: click.Context) -> None:
    """Replay a year of flights through the queue and count what came out."""
    # imported late: it has dependencies of its own, and nothing else here is to wait for them
    from pyqueue_sql.demo.cli import demo as command

    command.main(ctx.args, prog_name=ctx.command_path)


main.add_section("See it at work", (demo,))
main.add_section("Schema", schema.COMMANDS)
main.add_section("Producers", producers.COMMANDS)
main.add_section("Consumers", (*worker.COMMANDS, *consumers.COMMANDS, *workers.CONSUMERS))
main.add_section("Readers", streams.COMMANDS)
main.add_section("Spark", (pipeline.pipeline,))
main.add_section("Looking", (*top.COMMANDS, *web.COMMANDS, *doctor.COMMANDS, *metrics.COMMANDS))
main.add_section("Operators", (*messages.COMMANDS, *kinds.COMMANDS, *workers.OPERATORS))
main.add_section("By itself", recurring.COMMANDS)
