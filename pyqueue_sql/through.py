"""How a call gets to the database: over a connection of a driver, or over what SQLAlchemy has in its place.

Neither SQLAlchemy nor the drivers for MariaDB and MySQL are ever imported here: who has an object of theirs
has imported them. Through SQLAlchemy a call is a statement like the application's own: transactions,
savepoints, events and logging are as they always are. What is particular to MariaDB and MySQL is in
`through_mysql`.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from psycopg.rows import tuple_row

from pyqueue_sql import dialect, through_mysql
from pyqueue_sql.call import Call, Row
from pyqueue_sql.errors import InvalidParameter
from pyqueue_sql.through_mysql import BUFFERED

Rows: TypeAlias = Sequence[Row]

DRIVERS = {
    ("postgresql", "psycopg"),
    *((name, driver) for name in ("mysql", "mariadb") for driver in ("pymysql", "aiomysql")),
}


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
    # not execute() of the connection: its rows are whatever the caller wants them to be
    cursor = connection.cursor(row_factory=tuple_row)
    return cursor.execute(dialect.postgresql_text(call.what), call.params).fetchall()


def _connection(connection: Any, call: Call[Any]) -> Rows:
    if connection.dialect.name == "postgresql":
        return connection.exec_driver_sql(
            dialect.postgresql_text(call.what), call.params, BUFFERED
        ).fetchall()
    return through_mysql.over_connection(connection, call)


def _engine(engine: Any, call: Call[Any]) -> Rows:
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            return _connection(connection, call)
    return through_mysql.over_engine(engine, call)


def _session(session: Any, call: Call[Any]) -> Rows:
    connection = session.connection()
    _check_driver(connection.dialect)
    return _connection(connection, call)


async def _async_psycopg(connection: Any, call: Call[Any]) -> Rows:
    cursor = connection.cursor(row_factory=tuple_row)
    await cursor.execute(dialect.postgresql_text(call.what), call.params)
    return await cursor.fetchall()


async def _async_connection(connection: Any, call: Call[Any]) -> Rows:
    if connection.dialect.name == "postgresql":
        text = dialect.postgresql_text(call.what)
        return (await connection.exec_driver_sql(text, call.params, BUFFERED)).fetchall()
    return await through_mysql.over_async_connection(connection, call)


async def _async_engine(engine: Any, call: Call[Any]) -> Rows:
    if engine.dialect.name == "postgresql":
        async with engine.begin() as connection:
            return await _async_connection(connection, call)
    return await through_mysql.over_async_engine(engine, call)


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
)
ASYNC = (
    Way("psycopg", ("AsyncConnection",), _async_psycopg),
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
        TypeError: there is no such way, or another driver than ours is below SQLAlchemy.
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
    if (below.name, below.driver) not in DRIVERS:
        raise TypeError(
            "below SQLAlchemy psycopg 3, PyMySQL or aiomysql is wanted, postgresql+psycopg://…, mysql+pymysql://…"
            f" or mysql+aiomysql://…; not {below.name}+{below.driver}"
        )


def fail(error: Exception) -> NoReturn:
    """Raise the queue's error that an exception stands for, or itself where it is no such.

    Args:
        error: the driver's, or SQLAlchemy's around the driver's.
    """
    cause = dialect.cause(error)
    ours = None
    if isinstance(cause, UnicodeEncodeError):
        ours = InvalidParameter(f"no text for a database: {cause.reason}")
    elif failure := dialect.failure(error):
        ours = failure.refusal
    if ours is None:
        raise error
    raise ours from cause
