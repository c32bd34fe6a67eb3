"""What a revision does: run the SQL that was frozen for it in the dialect of the database.

Revisions are pointers to frozen text, never to the live `sql/`, or history would change under them. They also
run as a branch of an application's own migrations, on its driver and in its transaction, so that nothing is
assumed here but Alembic.
"""

from __future__ import annotations

import itertools
import logging

from alembic import op
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema import frozen, reload_mysql, reload_postgresql
from pyqueue_sql.schema.release import release
from pyqueue_sql.schema.routine_mysql import parse

# What is created, and what views and indexes name, is looked up in one schema and no more. Texts are those of
# the standard.
PIN = """select pg_catalog.set_config('pyqueue.search_path', pg_catalog.current_setting('search_path'), true),
    pg_catalog.set_config('search_path',
        pg_catalog.quote_ident(pg_catalog.current_schema()) || ', pg_temp', true),
    pg_catalog.set_config('standard_conforming_strings', 'on', true)"""
UNPIN = "select pg_catalog.set_config('search_path', pg_catalog.current_setting('pyqueue.search_path'), true)"
VERSION_TABLE = "queue_version"
OURS = "pyqueue_sql"
"""An option of `context.configure`: the environment is our own, not that of an application."""

PINS: dict[str, tuple[list[str], list[str]]] = {
    "postgresql": ([PIN], [UNPIN]),
    "mysql": (reload_mysql.SETTINGS, []),
}
"""What comes before and after the statements of a revision."""

NOT_ALLOWED = ", ".join(map(str, sorted(reload_mysql.NO_ROLE | reload_mysql.NOT_ALLOWED)))
TRY = f"""create procedure _queue_give_rights()
begin
    declare continue handler for {NOT_ALLOWED} begin end;"""

log = logging.getLogger("pyqueue_sql")


def quote(name: str, mark: str = '"') -> str:
    """Return the name as an identifier in SQL.

    Args:
        name: of a schema, say.
        mark: what stands around names: a double quote, on MariaDB and MySQL a backtick.
    """
    return mark + name.replace(mark, mark * 2) + mark


def dialect_of(context: MigrationContext) -> str:
    """Return which of DIALECTS a database has.

    Args:
        context: Alembic's.
    """
    return "mysql" if context.dialect.name in ("mysql", "mariadb") else "postgresql"


def enter(context: MigrationContext, schema: str) -> None:
    """Print what makes a schema the current one, and creates it where it isn't there.

    Args:
        context: Alembic's, offline.
        schema: on MariaDB and MySQL a database.
    """
    if dialect_of(context) == "mysql":
        name = quote(schema, "`")
        execute(context, f"create database if not exists {name} character set utf8mb4")
        execute(context, f"use {name}")
    else:
        execute(context, f"create schema if not exists {quote(schema)}")
        execute(context, f"set local search_path to {quote(schema)}, pg_temp")


def execute(context: MigrationContext, text: str) -> None:
    """Execute a statement as it stands, or print it where Alembic runs offline.

    Args:
        context: Alembic's.
        text: one statement; colons and percent signs mean nothing in it.
    """
    if context.as_sql:
        body = ";" in text and dialect_of(context) == "mysql"
        context.impl.static_output(f"delimiter $$\n{text}$$\ndelimiter ;" if body else f"{text};")
    else:
        assert context.connection is not None
        context.connection.exec_driver_sql(text, execution_options={"no_parameters": True})


def run(revision: str, *parts: str) -> None:
    """Run frozen files in the current schema (the first of the search path), or in the current database.

    As a branch of an application's migrations that does nothing where `pyqueue upgrade` looks after the queue
    and has got as far.

    Args:
        revision: the revision's id.
        *parts: up, routines, down or optional, in that order of running; a dialect may have none of them.

    Raises:
        MigrationError: `pyqueue upgrade` looks after the queue, and hasn't got as far.
    """
    context = op.get_context()
    dialect = dialect_of(context)
    if _is_done(context, revision, parts):
        return
    # what the server may refuse comes at the end, where pyqueue_sql.schema.migrate sees to it
    later = {"optional"} if context.as_sql or OURS in context.opts else set[str]()
    found = {part: frozen.statements(revision, part, dialect) for part in parts if part not in later}
    if not any(found.values()):
        return
    if context.as_sql:
        before, after = PINS[dialect]
        for text in itertools.chain(before, *found.values(), after):
            execute(context, text)
        return
    assert context.connection is not None
    if dialect == "mysql":
        reload_mysql.run(context.connection, found)
    else:
        before, after = PINS[dialect]
        reload_postgresql.load(context.connection, [*before, *itertools.chain(*found.values()), *after])


def _is_done(context: MigrationContext, revision: str, parts: tuple[str, ...]) -> bool:
    """Return whether a branch of an application's migrations has nothing to do here."""
    if context.as_sql or OURS in context.opts or context.connection is None:
        return False
    ours = MigrationContext.configure(context.connection, opts={"version_table": VERSION_TABLE})
    kept = ours.get_current_revision()
    if kept is None:
        return False
    scripts = ScriptDirectory(str(frozen.MIGRATIONS)).iterate_revisions(kept, "base")
    if parts != ("down",) and revision not in {script.revision for script in scripts}:
        if dialect_of(context) == "postgresql" and reload_postgresql.extension_of(context.connection):
            raise MigrationError(reload_postgresql.OF_AN_EXTENSION)
        raise MigrationError(
            f"the queue here is of revision {kept} and looked after by pyqueue upgrade "
            f"(table {VERSION_TABLE}): run that before {revision}"
        )
    log.warning("%s: nothing done, the queue here is looked after by pyqueue upgrade", revision)
    return True


def print_optional(context: MigrationContext, revision: str | None, refusable: bool) -> None:
    """Print what some servers refuse, or some users may not do, so that this stops nobody.

    Args:
        context: Alembic's, offline.
        revision: the one that is installed; None: none is, and there is nothing to print.
        refusable: also the functions and triggers, which can't but be an error where they are refused.
    """
    if revision is None or dialect_of(context) != "mysql":
        return
    texts = release(ScriptDirectory(str(frozen.MIGRATIONS)), revision, "mysql").optional
    functions = [text for text in texts if " on function " in text]
    routines = [text for text in texts if parse(text) or reload_mysql.DROP.search(text)]
    roles = [f"{text};" for text in texts if text not in (*functions, *routines)]
    context.impl.static_output("-- roles and their rights, as far as the user may give them")
    body = "\n".join([TRY, *roles, "end"])
    for text in (
        "drop procedure if exists _queue_give_rights",
        body,
        "call _queue_give_rights()",
        "drop procedure _queue_give_rights",
    ):
        execute(context, text)
    if refusable:
        context.impl.static_output("-- functions and the trigger of the inbox: errors where they are refused")
        for text in (*routines, *functions):
            execute(context, text)
