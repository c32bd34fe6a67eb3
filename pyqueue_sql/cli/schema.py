"""Commands for the schema: upgrade, downgrade, current."""

from __future__ import annotations

import click

from pyqueue_sql import migrate
from pyqueue_sql.cli.common import emit, nothing, schema_option, url_option
from pyqueue_sql.revision import DIALECTS

optional_url = click.option(
    "--url",
    envvar="PYQUEUE_URL",
    show_envvar=True,
    help="The database, postgresql://… or mysql://…; with --sql it only says which dialect.",
)
sql_option = click.option("--sql", is_flag=True, help="Print the statements, and touch no database.")
dialect_option = click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="What --sql prints, if not what the URL says; mysql is for MariaDB too.",
)


def _need(url: str | None, sql: bool) -> None:
    if url is None and not sql:
        raise click.UsageError("Missing option '--url' (env var: 'PYQUEUE_URL').")


@click.command()
@click.argument("revision", default="head")
@optional_url
@schema_option
@sql_option
@dialect_option
def upgrade(revision: str, url: str | None, schema: str | None, sql: bool, dialect: str | None) -> None:
    """Install the queue, or bring it to a newer revision (the newest, unless you name one).

    A second one at the same time waits, and then finds nothing to do. Prints the revision that is there
    afterwards. On PostgreSQL an installation is one transaction. On MariaDB and MySQL each statement is one:
    what was interrupted goes on when you run it again. What the server refuses there and the queue can do
    without (functions, the trigger of the inbox, roles) is a line on standard error, and the next upgrade
    tries it again.

    \b
      pyqueue upgrade --url postgresql://localhost/app
      pyqueue upgrade --url mysql://root@localhost/app
      pyqueue upgrade --schema queue              # in a schema of its own; on MySQL a database
      pyqueue upgrade --sql > queue.sql           # for whoever may run it
      pyqueue upgrade --sql --dialect mysql > queue.sql
    """
    _need(url, sql)
    migrate.upgrade(url, schema=schema, revision=revision, sql=sql, dialect=dialect)
    if url is not None and not sql:
        emit(revision=migrate.current(url, schema=schema))


@click.command()
@click.argument("revision")
@optional_url
@schema_option
@sql_option
@dialect_option
def downgrade(revision: str, url: str | None, schema: str | None, sql: bool, dialect: str | None) -> None:
    """Go back to an older revision; `base` removes the queue WITH ALL ITS MESSAGES.

    \b
      pyqueue downgrade base --url postgresql://localhost/app
    """
    _need(url, sql)
    migrate.downgrade(url, schema=schema, revision=revision, sql=sql, dialect=dialect)
    if url is not None and not sql:
        emit(revision=migrate.current(url, schema=schema))


@click.command()
@url_option
@schema_option
def current(url: str, schema: str | None) -> None:
    """Say which revision is installed; exit code 1 where none is.

    \b
      pyqueue current --url postgresql://localhost/app
    """
    revision = migrate.current(url, schema=schema)
    emit(revision=revision)
    if revision is None:
        nothing()


COMMANDS = (upgrade, downgrade, current)
