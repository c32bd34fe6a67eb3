"""A step of an upgrade on MariaDB and MySQL, in one database, one upgrade at a time.

No step is a transaction there, for every DDL statement commits: each can be run again instead.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema.reload_mysql import differing, settle
from pyqueue_sql.schema.revision import quote

if TYPE_CHECKING:
    import pymysql

__all__ = ["DIALECT", "differing", "let_calls_end", "reading", "revision", "settle", "transaction"]

DIALECT = "mysql"
WAIT_S = 10
NO_SUCH_DATABASE = 1049


def revision(url: str, schema: str | None, table: str) -> str | None:
    """Return the revision that is installed, or None.

    Args:
        url: the database.
        schema: another database to look in; None: that of the URL.
        table: the version table.

    Raises:
        MigrationError: neither names a database.
    """
    try:
        with _connection(url, schema) as connection:
            _database(connection)
            return _revision(connection, table)
    except ConnectionFailed as error:
        # what the server says of the schema; of the URL's own database there is no cause
        if error.__cause__ is not None and error.__cause__.args[:1] == (NO_SUCH_DATABASE,):
            return None
        raise


def transaction(
    url: str,
    schema: str | None,
    table: str,
    step: Callable[[sqlalchemy.Connection, str | None], None],
    *,
    creates: bool = True,
) -> None:
    """Do a step once it is our turn.

    Args:
        url: the database.
        schema: another database for the queue; None: that of the URL.
        table: the version table.
        step: takes the connection, and the revision that is there once it is our turn.
        creates: whether a database that isn't there is created.

    Raises:
        ConnectionFailed: it isn't there, and not created either.
        MigrationError: not on this server, or not by this user, or neither names a database.
        pymysql.Error: what the server says.
    """
    if schema is not None and creates:
        _create(url, schema)
    with _connection(url, schema) as connection:
        lock = sqlalchemy.text("select get_lock(:name, :wait)")
        name = hashlib.sha1(_database(connection).encode()).hexdigest()
        # MariaDB has no wait without end; the lock goes with the connection
        while connection.scalar(lock, {"name": f"pyqueue.{name}", "wait": WAIT_S}) != 1:
            pass
        step(connection, _revision(connection, table))


@contextlib.contextmanager
def reading(url: str, schema: str | None) -> Generator[sqlalchemy.Connection]:
    """Give a connection for looking at what is installed; arguments and errors are those of `revision`."""
    with _connection(url, schema) as connection:
        _database(connection)
        yield connection


def let_calls_end(url: str) -> None:
    """Do nothing: routines are replaced once the calls that are going on have ended.

    Args:
        url: the database.
    """


@contextlib.contextmanager
def _connection(url: str, schema: str | None) -> Generator[sqlalchemy.Connection]:
    """Give a SQLAlchemy connection in autocommit; what the driver raises comes out as it was."""
    try:
        engine = sqlalchemy.create_engine(
            "mysql+pymysql://",
            # what SQLAlchemy takes for the current database is the one that the connection begins in
            creator=lambda: connect(url, schema=schema),
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
        )
    except ImportError:
        connect(url)  # says what to install
        raise
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        if error.orig is not None:
            raise error.orig from None
        raise


def _revision(connection: sqlalchemy.Connection, table: str) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": table}).get_current_revision()


def _database(connection: sqlalchemy.Connection) -> str:
    found = connection.scalar(sqlalchemy.text("select database()"))
    if found is None:
        raise MigrationError("there is no current database: the URL names none; name one")
    return found


def _create(url: str, schema: str) -> None:
    there = "select count(*) from information_schema.schemata s where s.schema_name = %s"
    with cast("pymysql.Connection[Any]", connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(there, [schema])
        # IF NOT EXISTS wants the right to create databases even where this one exists
        if cursor.fetchone() == (0,):
            cursor.execute(f"create database if not exists {quote(schema, '`')} character set utf8mb4")
