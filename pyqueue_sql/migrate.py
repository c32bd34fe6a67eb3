"""Install, upgrade and downgrade the schema: Alembic, with a version table of our own.

An application's own `alembic upgrade head` neither sees nor touches any of it. One whose autogenerate
compares the database with its models passes `include_name=pyqueue_sql.migrate.include_name` to Alembic's
`context.configure`.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
import zlib
from collections.abc import Callable, Generator
from typing import Any, TextIO

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pyqueue_sql.connect import connect
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.revision import MIGRATIONS, quote

VERSION_TABLE = "queue_version"
TABLES = frozenset({"delayed_queue", "queue_count", "queue_hint", "queue_hold", "queue_kind", VERSION_TABLE})
OLDEST_SERVER = 140000
LOCK_TIMEOUT_MS = 300
TRIES = 30
UPGRADES = 1_366_977_393
"""The first number of our advisory locks, drawn once."""

_alembic = threading.Lock()
"""Alembic's `context` and `op` are one for the process."""


def include_name(name: str | None, type_: str, parent_names: Any) -> bool:  # noqa: ARG001
    """Tell Alembic's autogenerate which tables are the application's: all but ours."""
    return type_ != "table" or name not in TABLES


def upgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "head",
    sql: bool = False,
    output: TextIO | None = None,
) -> None:
    """Bring the schema to a revision, all of it in one transaction.

    It waits for another upgrade of the same schema to end. For a lock on one of our tables it waits 0.3 s at
    a time, so that the queue goes on in between, and it gives up after 30 tries.

    Args:
        url: the database; None only with `sql`.
        schema: where to install, created if need be; None: the current schema, the first of the search path.
        revision: an id, or `head`.
        sql: print the statements, and touch no database.
        output: where to; None: standard output.

    Raises:
        ConnectionFailed: no connection.
        MigrationError: not on this server, or not in that schema.
        psycopg.Error: what the server says.
    """
    _go(command.upgrade, url, schema, revision, sql, output)


def downgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "base",
    sql: bool = False,
    output: TextIO | None = None,
) -> None:
    """Bring the schema back to a revision, by default to before the first: then nothing of ours is left.

    A schema that `upgrade` created stays. With `sql` the statements start from the newest revision. Arguments
    and errors are those of `upgrade`.
    """
    _go(command.downgrade, url, schema, f"head:{revision}" if sql else revision, sql, output)


def current(url: str, *, schema: str | None = None) -> str | None:
    """Return the revision that is installed, or None; arguments and errors are those of `upgrade`."""
    with _transaction(url) as connection:
        options = {
            "version_table": VERSION_TABLE,
            "version_table_schema": schema or _current_schema(connection),
        }
        return MigrationContext.configure(connection, opts=options).get_current_revision()


def check_server(version: int) -> None:
    """Refuse a server that is too old.

    Args:
        version: as libpq has it, 140000 for 14.0.

    Raises:
        MigrationError: it is.
    """
    if version < OLDEST_SERVER:
        raise MigrationError(
            f"PostgreSQL {OLDEST_SERVER // 10000} or later is needed, and this is {version // 10000}"
        )


def _go(
    what: Callable[..., None],
    url: str | None,
    schema: str | None,
    revision: str,
    sql: bool,
    output: TextIO | None,
) -> None:
    # no URL in the configuration: what Alembic has it may print
    config = Config(output_buffer=output or sys.stdout, attributes={"schema": schema})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    if sql:
        with _alembic:
            what(config, revision, sql=True)
        return
    if url is None:
        raise ValueError("a URL is needed")
    for tries_left in reversed(range(TRIES)):
        try:
            with _transaction(url) as connection:
                _prepare(connection, schema)
                config.attributes["connection"] = connection
                with _alembic:
                    what(config, revision)
            return
        except psycopg.errors.LockNotAvailable:
            if not tries_left:
                raise
        time.sleep(random.uniform(0.2, 1))


@contextlib.contextmanager
def _transaction(url: str) -> Generator[sqlalchemy.Connection]:
    """Give a SQLAlchemy connection in a transaction; what the driver raises comes out as it was."""
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect(url, autocommit=False),
        poolclass=NullPool,
        # the version is read after waiting for another upgrade to end, so that wants a new snapshot
        isolation_level="READ COMMITTED",
    )
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from None
        raise


def _current_schema(connection: sqlalchemy.Connection) -> str:
    found = connection.scalar(sqlalchemy.text("select current_schema()"))
    if found is None:
        raise MigrationError("there is no current schema: the search path names none that exists; name one")
    return found


def _prepare(connection: sqlalchemy.Connection, schema: str | None) -> None:
    """Wait for our turn, and make the schema the current one for this transaction."""
    info: psycopg.ConnectionInfo = connection.connection.driver_connection.info  # pyright: ignore
    check_server(info.server_version)
    name = schema or _current_schema(connection)
    run = connection.execution_options(no_parameters=True).exec_driver_sql
    run("set local lock_timeout = 0")
    # schemas whose numbers collide only wait for each other
    run(f"select pg_catalog.pg_advisory_xact_lock({UPGRADES}, {zlib.crc32(name.encode()) >> 1})")
    run(f"set local lock_timeout = {LOCK_TIMEOUT_MS}")
    # IF NOT EXISTS wants the right to create schemas even where this one exists
    there = sqlalchemy.text("select true from pg_catalog.pg_namespace where nspname = :name")
    if not connection.scalar(there, {"name": name}):
        run(f"create schema {quote(name)}")
    run(f"set local search_path to {quote(name)}, pg_temp")
