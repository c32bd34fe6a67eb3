"""Commands for the schema: upgrade, downgrade, current, sql."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import click

from pyqueue_sql.cli.common import ask, check_url, emit, nothing, schema_option, url_option, yes_option
from pyqueue_sql.schema.frozen import DIALECTS

optional_url = click.option(
    "--url",
    envvar="PYQUEUE_URL",
    show_envvar=True,
    callback=check_url,
    help="The database, postgresql://… or mysql://…; with --sql it only says which dialect.",
)
sql_option = click.option("--sql", is_flag=True, help="Print the statements, and touch no database.")
dialect_option = click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="What --sql prints, if not what the URL says; mysql is for MariaDB too.",
)


optional_option = click.option(
    "--optional",
    is_flag=True,
    help="For MariaDB and MySQL, printed: also what some servers refuse, functions and a trigger.",
)
MARIADB = "mariadb"
HINT = """\
The queue is installed. If this database belongs to an application whose Alembic generates migrations
(alembic revision --autogenerate), one line in its env.py keeps the queue out of them:
    context.configure(..., include_object=pyqueue_sql.alembic.include_object)"""


def _need(url: str | None, sql: bool) -> str:
    if url is None and not sql:
        raise click.UsageError("Missing option '--url' (env var: 'PYQUEUE_URL').")
    return url or ""


def _print(what: Callable[..., object], url: str | None, **options: Any) -> None:
    """Print statements, in UTF-8 whatever the locale: they say themselves that they are."""
    output = io.StringIO()
    what(url, sql=True, output=output, **options)
    click.echo(output.getvalue().encode(), nl=False)


@click.command()
@click.argument("revision", default="head")
@optional_url
@schema_option
@sql_option
@dialect_option
@optional_option
def upgrade(
    revision: str, url: str | None, schema: str | None, sql: bool, dialect: str | None, optional: bool
) -> None:
    """Install the queue, or bring it to a newer revision (the newest, unless you name one).

    Prints the revision that is there afterwards, and `changed`: what was missing or differed from it.
    Whatever routine, view, trigger, comment, role or right that is, it is made again, from any state: after a
    restore without routines, a rename of the schema, an installation by sql/. Rights come by our roles: what
    others than these and the owner were granted on what is ours is taken back.

    A second one at the same time waits, and then finds nothing to do. On PostgreSQL an installation is one
    transaction. On MariaDB and MySQL each statement is one: what was interrupted goes on when you run it
    again. What the server refuses there and the queue can do without (functions, the trigger of the inbox,
    roles) is a line on standard error, and the next upgrade tries it again.

    \b
      pyqueue upgrade --url postgresql://localhost/app
      pyqueue upgrade --url mysql://root@localhost/app
      pyqueue upgrade --schema queue              # in a schema of its own; on MySQL a database
      pyqueue upgrade --sql > queue.sql           # for whoever may run it
      pyqueue upgrade --sql --dialect mysql | mysql --comments app
    """
    # imported late: Alembic takes longer than most commands, and they are not to wait for it
    from pyqueue_sql.schema import migrate

    where = _need(url, sql)
    if sql:
        _print(migrate.upgrade, url, schema=schema, revision=revision, dialect=dialect, optional=optional)
        return
    before = migrate.current(where, schema=schema)
    changed = migrate.upgrade(url, schema=schema, revision=revision)
    emit(revision=migrate.current(where, schema=schema), changed=changed)
    if before is None:
        click.echo(HINT, err=True)


@click.command()
@click.argument("revision")
@optional_url
@schema_option
@sql_option
@dialect_option
@yes_option
def downgrade(
    revision: str, url: str | None, schema: str | None, sql: bool, dialect: str | None, yes: bool
) -> None:
    """Go back to an older revision; `base` removes the queue WITH ALL ITS MESSAGES, and asks before.

    \b
      pyqueue downgrade base --url postgresql://localhost/app
      pyqueue downgrade base --yes
    """
    from pyqueue_sql.schema import migrate

    where = _need(url, sql)
    if sql:
        _print(migrate.downgrade, url, schema=schema, revision=revision, dialect=dialect)
        return
    before = migrate.current(where, schema=schema)
    if before is not None and revision == "base" and not yes:
        ask("This removes the queue with all its messages.")
    migrate.downgrade(url, schema=schema, revision=revision)
    if before is None:
        click.echo("Nothing was removed: no queue is installed here by pyqueue upgrade.", err=True)
    emit(revision=migrate.current(where, schema=schema))


@click.command()
@url_option
@schema_option
def current(url: str, schema: str | None) -> None:
    """Say which revision is installed; exit code 1 where none is. The owner of the queue may ask.

    \b
      pyqueue current --url postgresql://localhost/app
    """
    from pyqueue_sql.schema import migrate

    revision = migrate.current(url, schema=schema)
    emit(revision=revision)
    if revision is None:
        nothing()


@click.command()
@click.option(
    "--dialect", type=click.Choice((*DIALECTS, MARIADB)), required=True, help="The server that it is for."
)
@schema_option
@optional_option
def sql(dialect: str, schema: str | None, optional: bool) -> None:
    """Print what installs the queue, as one text for psql, mariadb or mysql.

    `pyqueue upgrade` goes on from there. Many versions of mariadb and mysql leave out the comments in
    routines unless they are given --comments; then the doctor finds all of them changed.

    \b
      pyqueue sql --dialect postgresql | psql -v ON_ERROR_STOP=1 app
      pyqueue sql --dialect postgresql --schema queue > queue.sql
      pyqueue sql --dialect mariadb | mariadb --comments app
      pyqueue sql --dialect mysql --optional | mysql --comments app
    """
    from pyqueue_sql.schema import migrate

    kind = DIALECTS[1] if dialect == MARIADB else dialect
    _print(migrate.upgrade, None, schema=schema, dialect=kind, optional=optional)


COMMANDS = (upgrade, downgrade, current, sql)
