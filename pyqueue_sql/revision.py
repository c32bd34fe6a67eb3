"""What a revision does: run the SQL that was frozen for it in the dialect of the database.

Revisions are pointers to frozen text, never to the live `sql/`, or history would change under them. They also
run as a branch of an application's own migrations, on its driver and in its transaction, so that nothing is
assumed here but Alembic.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from alembic import op
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from pyqueue_sql import reload_mysql

PACKAGE = Path(__file__).resolve().parent
INSTALLED = PACKAGE / "migrations"
MIGRATIONS = INSTALLED if INSTALLED.is_dir() else PACKAGE.parent / "migrations"
"""Inside of the package where that was installed from a wheel, beside it in a checkout."""

DIALECTS = ("postgresql", "mysql")
"""The folders of `sql/` and of what is frozen; mysql is MariaDB and MySQL. A revision says in `dialects` for
which of them it does something."""

SEPARATOR = "\n--;\n"
"""Between the statements of a frozen file, because some drivers take one at a time."""

# Routines keep the search path that they are created under, so it must be one schema and no more.
PIN = """select pg_catalog.set_config('pyqueue.search_path', pg_catalog.current_setting('search_path'), true),
    pg_catalog.set_config('search_path',
        pg_catalog.quote_ident(pg_catalog.current_schema()) || ', pg_temp', true)"""
UNPIN = "select pg_catalog.set_config('search_path', pg_catalog.current_setting('pyqueue.search_path'), true)"
OPTIONAL_LAST = "pyqueue_optional_last"
"""An option of `context.configure`: the environment calls `optional` itself, after the revisions."""

PINS: dict[str, tuple[list[str], list[str]]] = {
    "postgresql": ([PIN], [UNPIN]),
    "mysql": (reload_mysql.SETTINGS, []),
}
"""What comes before and after the statements of a revision."""


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


def statements(revision: str, part: str, dialect: str = "postgresql") -> list[str]:
    """Return the statements of a frozen file; none where there is no such file.

    Args:
        revision: the revision's id.
        part: up, routines, down, or on MariaDB and MySQL optional.
        dialect: one of DIALECTS.
    """
    file = MIGRATIONS / "frozen" / dialect / f"{revision}.{part}.sql"
    if not file.exists():
        return []
    return [text.strip().removesuffix(";") for text in file.read_text(encoding="utf-8").split(SEPARATOR)]


def run(revision: str, *parts: str, anew: str = "") -> None:
    """Run frozen files in the current schema (the first of the search path), or in the current database.

    Args:
        revision: the revision's id.
        *parts: up, routines, down or optional, in that order of running; a dialect may have none of them.
        anew: a view that has fewer columns there than it has now, which only PostgreSQL can't replace. It is
            dropped where it is created, because until the end others wait for it.
    """
    context = op.get_context()
    dialect = dialect_of(context)
    # what the server may refuse comes at the end, where env.py sees to it
    later = {"optional"} if context.as_sql or OPTIONAL_LAST in context.opts else set[str]()
    found = {part: statements(revision, part, dialect) for part in parts if part not in later}
    if dialect == "mysql" and any(found.values()) and not context.as_sql:
        assert context.connection is not None
        reload_mysql.run(context.connection, found)
    elif any(found.values()):
        before, after = PINS[dialect]
        for text in itertools.chain(before, *found.values(), after):
            if anew and f"create or replace view {anew} " in text:
                execute(context, f"drop view {anew}")
            execute(context, text)


def optional(context: MigrationContext, revision: str | None) -> None:
    """Run once more, or print, what some servers refuse: they may have come round since.

    Args:
        context: Alembic's.
        revision: the one that is installed; None: none is, and there is nothing to do.
    """
    if revision is None or dialect_of(context) != "mysql":
        return
    scripts = ScriptDirectory(str(MIGRATIONS)).iterate_revisions(revision, "base")
    parts = (statements(script.revision, "optional", "mysql") for script in scripts)
    found = next(filter(None, parts), list[str]())
    if not context.as_sql:
        assert context.connection is not None
        reload_mysql.run(context.connection, {"optional": found})
    elif found:
        context.impl.static_output(
            "-- where the server allows it: functions, the trigger of the inbox, roles"
        )
        for text in found:
            execute(context, text)
