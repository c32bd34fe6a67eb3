"""What a revision does: run the SQL that was frozen for it.

Revisions are pointers to frozen text, never to the live `sql/`, or history would change under them. They also
run as a branch of an application's own migrations, on its driver and in its transaction, so that nothing is
assumed here but Alembic.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op
from alembic.runtime.migration import MigrationContext

PACKAGE = Path(__file__).resolve().parent
INSTALLED = PACKAGE / "migrations"
MIGRATIONS = INSTALLED if INSTALLED.is_dir() else PACKAGE.parent / "migrations"
"""Inside of the package where that was installed from a wheel, beside it in a checkout."""

SEPARATOR = "\n--;\n"
"""Between the statements of a frozen file, because some drivers take one at a time."""

# Routines keep the search path that they are created under, so it must be one schema and no more.
PIN = """select pg_catalog.set_config('pyqueue.search_path', pg_catalog.current_setting('search_path'), true),
    pg_catalog.set_config('search_path',
        pg_catalog.quote_ident(pg_catalog.current_schema()) || ', pg_temp', true)"""
UNPIN = "select pg_catalog.set_config('search_path', pg_catalog.current_setting('pyqueue.search_path'), true)"


def quote(name: str) -> str:
    """Return the name as an identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def execute(context: MigrationContext, text: str) -> None:
    """Execute a statement as it stands, or print it where Alembic runs offline.

    Args:
        context: Alembic's.
        text: one statement; colons and percent signs mean nothing in it.
    """
    if context.as_sql:
        context.impl.static_output(f"{text};")
    else:
        assert context.connection is not None
        context.connection.exec_driver_sql(text, execution_options={"no_parameters": True})


def statements(revision: str, part: str) -> list[str]:
    """Return the statements of a frozen file.

    Args:
        revision: the revision's id.
        part: up, routines or down.
    """
    file = MIGRATIONS / "frozen" / "postgresql" / f"{revision}.{part}.sql"
    return [text.strip().removesuffix(";") for text in file.read_text(encoding="utf-8").split(SEPARATOR)]


def run(revision: str, *parts: str) -> None:
    """Run frozen files in the current schema (the first of the search path).

    Args:
        revision: the revision's id.
        *parts: up, routines or down, in that order of running.
    """
    context = op.get_context()
    execute(context, PIN)
    for part in parts:
        for text in statements(revision, part):
            execute(context, text)
    execute(context, UNPIN)
