"""A step of an upgrade on PostgreSQL: one transaction, in one schema, one upgrade at a time."""

from __future__ import annotations

import contextlib
import random
import time
import zlib
from collections.abc import Callable, Generator
from typing import Any, cast

import psycopg
import sqlalchemy
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pyqueue_sql.calls.connect import connect
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema.reload_postgresql import OF_AN_EXTENSION, differing, extension_of, settle
from pyqueue_sql.schema.revision import quote

__all__ = [
    "DIALECT",
    "differing",
    "extension_of",
    "let_calls_end",
    "reading",
    "revision",
    "settle",
    "transaction",
]

DIALECT = "postgresql"
OLDEST_SERVER = 140000
LOCK_TIMEOUT_MS = 300
TRIES = 30
CALLS_END_S = 10
UPGRADES = 1_366_977_393
"""The first number of our advisory locks, drawn once."""

OPEN = """
select l.virtualxid from pg_catalog.pg_locks l join pg_catalog.pg_stat_activity a on a.pid = l.pid
where l.locktype = 'virtualxid' and a.datname = pg_catalog.current_database()
and a.pid <> pg_catalog.pg_backend_pid()
"""
"""Transactions of this database, each by a name that never comes again; everybody may see them."""


def check_server(version: int, encoding: str | None) -> None:
    """Refuse a server that is too old, and a database that can't keep every text.

    Args:
        version: as libpq has it, 140000 for 14.0.
        encoding: of the database, as the server says it.

    Raises:
        MigrationError: it is one of these.
    """
    if version < OLDEST_SERVER:
        raise MigrationError(
            f"PostgreSQL {OLDEST_SERVER // 10000} or later is needed, and this is {version // 10000}"
        )
    if encoding != "UTF8":
        raise MigrationError(f"a database of encoding UTF8 is needed, and this one has {encoding}")


def revision(url: str, schema: str | None, table: str) -> str | None:
    """Return the revision that is installed, or None.

    Args:
        url: the database.
        schema: where to look; None: the current schema.
        table: the version table.
    """
    with _transaction(url) as connection:
        return _revision(connection, table, schema or _current_schema(connection))


def transaction(
    url: str,
    schema: str | None,
    table: str,
    step: Callable[[sqlalchemy.Connection, str | None], None],
    *,
    creates: bool = True,
) -> None:
    """Do a step in one transaction, again where somebody holds a lock.

    Args:
        url: the database.
        schema: where the queue is; None: the current schema.
        table: the version table.
        step: takes the connection, and the revision that is there once it is our turn.
        creates: whether a schema that isn't there is created.

    Raises:
        MigrationError: not on this server, or not in that schema, where others may create, say, or which
            belongs to the extension or isn't there.
        psycopg.Error: what the server says.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            with _transaction(url) as connection:
                _prepare(connection, schema, creates=creates)
                if extension_of(connection):
                    raise MigrationError(OF_AN_EXTENSION)
                step(connection, _revision(connection, table))
                _refuse_intruders(connection)
            return
        except psycopg.errors.InvalidSchemaDefinition as error:
            raise MigrationError(f"{error.diag.message_primary}; {error.diag.message_hint}") from None
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if not tries_left:
                raise
        time.sleep(random.uniform(0.2, 1))


@contextlib.contextmanager
def reading(url: str, schema: str | None) -> Generator[sqlalchemy.Connection]:
    """Give a connection for looking at what is installed, its search path the schema and pg_temp."""
    with _transaction(url) as connection:
        run = connection.execution_options(no_parameters=True).exec_driver_sql
        run("set transaction read only")
        run(f"set local search_path to {quote(schema or _current_schema(connection))}, pg_temp")
        yield connection


def let_calls_end(url: str) -> None:
    """Wait for the transactions that are open now, though not for ever.

    A call ends in the routines that it began in, and those may need what the next step drops.

    Args:
        url: the database.
    """
    with cast("psycopg.Connection[Any]", connect(url)) as connection:
        began = set(connection.execute(OPEN).fetchall())
        deadline = time.monotonic() + CALLS_END_S
        while began and time.monotonic() < deadline:
            time.sleep(0.05)
            began &= set(connection.execute(OPEN).fetchall())


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


def _revision(connection: sqlalchemy.Connection, table: str, schema: str | None = None) -> str | None:
    options = {"version_table": table, "version_table_schema": schema}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _current_schema(connection: sqlalchemy.Connection) -> str:
    found = connection.scalar(sqlalchemy.text("select current_schema()"))
    if found is None:
        raise MigrationError("there is no current schema: the search path names none that exists; name one")
    return found


def _prepare(connection: sqlalchemy.Connection, schema: str | None, *, creates: bool) -> None:
    """Wait for our turn, and make the schema the current one for this transaction."""
    info: psycopg.ConnectionInfo = connection.connection.driver_connection.info  # pyright: ignore
    check_server(info.server_version, info.parameter_status("server_encoding"))
    name = schema or _current_schema(connection)
    run = connection.execution_options(no_parameters=True).exec_driver_sql
    run("set local lock_timeout = 0")
    # schemas whose numbers collide only wait for each other
    run(f"select pg_catalog.pg_advisory_xact_lock({UPGRADES}, {zlib.crc32(name.encode()) >> 1})")
    run(f"set local lock_timeout = {LOCK_TIMEOUT_MS}")
    # IF NOT EXISTS wants the right to create schemas even where this one exists
    there = sqlalchemy.text("select true from pg_catalog.pg_namespace where nspname = :name")
    if not connection.scalar(there, {"name": name}):
        if not creates:
            raise MigrationError(f"there is no schema {name}")
        run(f"create schema {quote(name)}")
    run(f"set local search_path to {quote(name)}, pg_temp")
    run("set local standard_conforming_strings = on")  # which our text is in


def _refuse_intruders(connection: sqlalchemy.Connection) -> None:
    """Refuse a schema in which others may create by now; an installation has asked before it began."""
    home = "pg_catalog.quote_ident(pg_catalog.current_schema())"
    if connection.scalar(sqlalchemy.text(f"select pg_catalog.to_regproc({home} || '._queue_intruders')")):
        text = f"select i.fault, i.remedy from _queue_intruders({home}::pg_catalog.regnamespace::oid) i"
        fault, remedy = connection.execute(sqlalchemy.text(text)).one()
        if fault is not None:
            raise MigrationError(f"{fault}; {remedy}")
