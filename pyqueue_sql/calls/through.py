"""How a call gets to the database: over a connection of a driver, of SQLAlchemy or of Django.

None of them but psycopg is ever imported here: who has an object of theirs has imported them. Through
SQLAlchemy and Django a call is a statement like the application's own: transactions, savepoints, events and
logging are as they always are. What is particular to MariaDB and MySQL is in `through_mysql`.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from psycopg.errors import DuplicatePreparedStatement, InvalidSqlStatementName
from psycopg.pq import TransactionStatus
from psycopg.raw_cursor import RawCursorMixin
from psycopg.rows import tuple_row

from pyqueue_sql.calls import dialect, through_mysql
from pyqueue_sql.calls.call import Call, Row
from pyqueue_sql.calls.connect import line, own_transaction
from pyqueue_sql.calls.through_mysql import BUFFERED

Rows: TypeAlias = Sequence[Row]

_OF_ANOTHER = (DuplicatePreparedStatement, InvalidSqlStatementName)
"""Behind a pooler that shares sessions and knows nothing of prepared statements: this session has those of
another connection, and ours are elsewhere. The call has not begun."""
SERVERS = ("postgresql", "mysql", "mariadb")


class Way(NamedTuple):
    """One kind of connection, and how a call goes over it."""

    module: str
    classes: tuple[str, ...]
    execute: Callable[[Any, Call[Any]], Rows] | Callable[[Any, Call[Any]], Awaitable[Rows]]

    def takes(self, connection: object) -> bool:
        """Whether it is for this connection."""
        module = sys.modules.get(self.module)
        return module is not None and isinstance(connection, tuple(getattr(module, c) for c in self.classes))


def _psycopg(connection: Any, call: Call[Any]) -> Rows:
    try:
        return _psycopg_once(connection, call)
    except _OF_ANOTHER:
        if not _goes_on_unprepared(connection):
            raise
        return _psycopg_once(connection, call)


def _psycopg_once(connection: Any, call: Call[Any]) -> Rows:
    # not execute() of the connection: its rows are whatever the caller wants them to be
    cursor = connection.cursor(row_factory=tuple_row)
    with line(connection, threading.Lock), own_transaction(connection):
        cursor.execute(*_for_psycopg(cursor, call))
        return dialect.postgresql_rows(call.what, cursor.fetchall())


def _for_psycopg(cursor: Any, call: Call[Any]) -> tuple[str, tuple[object, ...]]:
    style = "numeric_dollar" if isinstance(cursor, RawCursorMixin) else "format"
    return dialect.postgresql_text(call.what, style), dialect.postgresql_params(call)


def _goes_on_unprepared(connection: Any) -> bool:
    """Prepare no statements on this connection any more; returns whether the call can be made again."""
    connection.prepare_threshold = None
    return connection.info.transaction_status == TransactionStatus.IDLE


def _connection(connection: Any, call: Call[Any]) -> Rows:
    below = connection.dialect
    if below.name != "postgresql":
        return through_mysql.over_connection(connection, call)
    text = dialect.postgresql_text(call.what, below.paramstyle)
    rows = connection.exec_driver_sql(text, dialect.postgresql_params(call), BUFFERED).fetchall()
    return dialect.postgresql_rows(call.what, rows)


def _engine(engine: Any, call: Call[Any]) -> Rows:
    if engine.dialect.name != "postgresql":
        return through_mysql.over_engine(engine, call)
    with engine.begin() as connection:
        return _connection(connection, call)


def _session(session: Any, call: Call[Any]) -> Rows:
    connection = session.connection()
    _check_driver(connection.dialect)
    return _connection(connection, call)


def _django(connection: Any, call: Call[Any]) -> Rows:
    if connection.vendor not in SERVERS:
        raise TypeError(f"below Django PostgreSQL, MariaDB or MySQL is wanted; not {connection.vendor}")
    if connection.vendor != "postgresql":
        return through_mysql.over_django(connection, call)
    with connection.cursor() as cursor:
        cursor.execute(dialect.postgresql_text(call.what), dialect.postgresql_params(call))
        return dialect.postgresql_rows(call.what, cursor.fetchall())


async def _async_psycopg(connection: Any, call: Call[Any]) -> Rows:
    try:
        return await _async_psycopg_once(connection, call)
    except _OF_ANOTHER:
        if not _goes_on_unprepared(connection):
            raise
        return await _async_psycopg_once(connection, call)


async def _async_psycopg_once(connection: Any, call: Call[Any]) -> Rows:
    cursor = connection.cursor(row_factory=tuple_row)
    async with line(connection, asyncio.Lock), own_transaction(connection):
        await cursor.execute(*_for_psycopg(cursor, call))
        return dialect.postgresql_rows(call.what, await cursor.fetchall())


async def _asyncpg(connection: Any, call: Call[Any]) -> Rows:
    text = dialect.postgresql_text(call.what, "numeric_dollar")
    return dialect.postgresql_rows(call.what, await connection.fetch(text, *dialect.postgresql_params(call)))


async def _async_connection(connection: Any, call: Call[Any]) -> Rows:
    if connection.dialect.name != "postgresql":
        return await through_mysql.over_async_connection(connection, call)
    return await connection.run_sync(_connection, call)


async def _async_engine(engine: Any, call: Call[Any]) -> Rows:
    if engine.dialect.name != "postgresql":
        return await through_mysql.over_async_engine(engine, call)
    async with engine.begin() as connection:
        return await _async_connection(connection, call)


async def _async_session(session: Any, call: Call[Any]) -> Rows:
    connection = await session.connection()
    _check_driver(connection.dialect)
    return await _async_connection(connection, call)


SYNC = (
    Way("psycopg", ("Connection",), _psycopg),
    Way("pymysql.connections", ("Connection",), through_mysql.over_pymysql),
    Way("sqlalchemy", ("Connection",), _connection),
    Way("sqlalchemy", ("Engine",), _engine),
    Way("sqlalchemy.orm", ("Session", "scoped_session"), _session),
    Way("django.utils.connection", ("ConnectionProxy",), _django),
    Way("django.db.backends.base.base", ("BaseDatabaseWrapper",), _django),
)
ASYNC = (
    Way("psycopg", ("AsyncConnection",), _async_psycopg),
    Way("asyncpg", ("Connection",), _asyncpg),
    Way("asyncpg.pool", ("PoolConnectionProxy", "Pool"), _asyncpg),
    Way("aiomysql", ("Connection",), through_mysql.over_aiomysql),
    Way("sqlalchemy.ext.asyncio", ("AsyncConnection",), _async_connection),
    Way("sqlalchemy.ext.asyncio", ("AsyncEngine",), _async_engine),
    Way("sqlalchemy.ext.asyncio", ("AsyncSession", "async_scoped_session"), _async_session),
)


def find(connection: object, ways: Sequence[Way]) -> Callable[[Any, Call[Any]], Any]:
    """Return what executes calls over this connection, given the connection and the call.

    Args:
        connection: what the user has.
        ways: `SYNC` or `ASYNC`.

    Raises:
        TypeError: there is no such way, or below SQLAlchemy is what calls can't be made for.
    """
    for way in ways:
        if way.takes(connection):
            _check(connection)
            return way.execute
    wanted = ", ".join(f"{way.module}.{name}" for way in ways for name in way.classes)
    given = f"{type(connection).__module__}.{type(connection).__qualname__}"
    other = "AsyncQueue" if ways is SYNC else "Queue"
    hint = f" (that is for {other})" if any(way.takes(connection) for way in (*SYNC, *ASYNC)) else ""
    raise TypeError(f"a connection is wanted, one of {wanted}; not {given}{hint}")


def _check(connection: Any) -> None:
    """Refuse another driver where it is known already; what a session is bound to may be decided later."""
    # not by its property: that would make a scoped_session create its session
    bind = getattr(connection, "__dict__", {}).get("bind") or connection
    if hasattr(bind, "dialect"):
        _check_driver(bind.dialect)


def _check_driver(below: Any) -> None:
    if below.name not in SERVERS or below.paramstyle not in dialect.STYLES:
        raise TypeError(
            "below SQLAlchemy PostgreSQL, MariaDB or MySQL is wanted, and a driver whose paramstyle is one"
            f" of {', '.join(dialect.STYLES)}; not {below.name}+{below.driver}, {below.paramstyle}"
        )


def fail(error: Exception) -> NoReturn:
    """Raise the queue's error that an exception stands for, or itself where it is no such.

    Args:
        error: the driver's, or SQLAlchemy's or Django's around the driver's.
    """
    failure = dialect.failure(error)
    if failure is None or failure.refusal is None:
        raise error
    raise failure.refusal from dialect.cause(error)
