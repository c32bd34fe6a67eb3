"""How a call gets to MariaDB or MySQL, and what is done when the server gives it up.

A call may send its rows before it has committed, so each is read to its very end before it is believed. And
the server may end a call, as the victim of a deadlock or because a lock didn't come in time (1213, 1205).
Where a call is a transaction of its own, over an engine and under autocommit, it is then made again, up to
five times, after a few random milliseconds. In a transaction of the caller's the error comes through at once,
because only the caller knows what else was in it; and so it does over a connection of a driver that doesn't
tell whether a transaction is open (mysqlclient), but for Django's, which knows.

The server hangs up on a call that is larger than `max_allowed_packet`. Made again it would be so again: a
worker would come to no end. So it isn't sent over the drivers that a worker has.

MySQL leaves the transaction of a call open that KILL QUERY ends (1317), and now and then MariaDB does, also
where max_statement_time ends it (1969). So do both where the server has no room for a sort or a temporary
table (1038, 1114). Where the transaction is the call's own it is rolled back, whatever the server said, and
the error comes through.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.call import Call, Routine, Row
from pyqueue_sql.calls.connect import line

RETRIES = 5
PAUSE_S = (0.001, 0.02)
SMALL = 200_000
"""Of so many characters a call fits into a packet, and the server isn't asked how large one may be."""
BUFFERED = {"stream_results": False, "yield_per": None}
"""For SQLAlchemy: a cursor on the server, which the application may have asked for, would run the routine as
it is read."""
# else it would be in the server's default, REPEATABLE READ, in which calls wait for each other
_READ_COMMITTED = "set transaction isolation level read committed"


def over_pymysql(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call over a connection of PyMySQL."""
    dialect.check_mysql(connection)
    plain = sys.modules["pymysql.cursors"].Cursor

    def once() -> list[Row]:
        with connection.cursor(plain) as cursor:
            text = cursor.mogrify(dialect.mysql_text(call.what), dialect.mysql_params(call))
            if len(text) > SMALL:
                cursor.execute(dialect.MYSQL_PACKET)
                dialect.check_packet(text.encode(), *cursor.fetchone())
            cursor.execute(text)
            return _fetched(cursor, call)

    with line(connection, threading.Lock):
        return _retried(once, connection.rollback) if dialect.mysql_is_own(connection) else once()


def over_django(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call over a connection of Django's."""

    def once() -> list[Row]:
        with connection.cursor() as cursor:
            dialect.check_mysql(connection.connection)
            cursor.execute(dialect.mysql_text(call.what), dialect.mysql_params(call))
            return _fetched(cursor, call)

    is_own = connection.get_autocommit() and not connection.in_atomic_block
    return _retried(once, connection.rollback) if is_own else once()


def _fetched(cursor: Any, call: Call[Any]) -> list[Row]:
    description, rows = cursor.description, cursor.fetchall()
    while cursor.nextset():
        pass
    return dialect.mysql_rows(call.what, description, rows)


def over_connection(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call over a connection of SQLAlchemy's."""
    once = functools.partial(_once, connection, call)
    return _retried(once, functools.partial(_undo, connection)) if _is_own(connection) else once()


def over_engine(engine: Any, call: Call[Any]) -> list[Row]:
    """Make a call over an engine of SQLAlchemy's."""

    def once() -> list[Row]:
        with engine.begin() as connection:
            return _first(connection, call)

    return _retried(once)


async def over_aiomysql(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call over a connection of aiomysql."""
    dialect.check_mysql(connection)
    plain = sys.modules["aiomysql"].Cursor

    async def once() -> list[Row]:
        async with connection.cursor(plain) as cursor:
            text = cursor.mogrify(dialect.mysql_text(call.what), dialect.mysql_params(call))
            if len(text) > SMALL:
                await cursor.execute(dialect.MYSQL_PACKET)
                dialect.check_packet(text.encode(), *await cursor.fetchone())
            await cursor.execute(text)
            description, rows = cursor.description, await cursor.fetchall()
            while await cursor.nextset():
                pass
        return dialect.mysql_rows(call.what, description, rows)

    async with line(connection, asyncio.Lock):
        is_own = dialect.mysql_is_own(connection)
        return await (_async_retried(once, connection.rollback) if is_own else once())


async def over_async_connection(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call over an async connection of SQLAlchemy's."""

    async def once() -> list[Row]:
        return await connection.run_sync(_once, call)

    async def undo() -> None:
        await connection.run_sync(_undo)

    return await (_async_retried(once, undo) if await connection.run_sync(_is_own) else once())


async def over_async_engine(engine: Any, call: Call[Any]) -> list[Row]:
    """Make a call over an async engine of SQLAlchemy's."""

    async def once() -> list[Row]:
        async with engine.begin() as connection:
            return await connection.run_sync(_first, call)

    return await _async_retried(once)


def _is_own(connection: Any) -> bool:
    return dialect.mysql_is_own(connection.connection.driver_connection)


def _undo(connection: Any) -> None:
    connection.connection.rollback()  # the driver's: SQLAlchemy's transaction is the caller's


def _first(connection: Any, call: Call[Any]) -> list[Row]:
    """Make a call that is all of a transaction."""
    try:
        connection.exec_driver_sql(_READ_COMMITTED)
    except Exception as error:
        failure = dialect.failure(error)
        # an event of the application's may have begun it already
        if failure is None or not failure.begun:
            raise
    return _once(connection, call)


def _once(connection: Any, call: Call[Any]) -> list[Row]:
    dialect.check_mysql(connection.connection.driver_connection)
    text = dialect.mysql_text(call.what, connection.dialect.paramstyle)
    result = connection.exec_driver_sql(text, dialect.mysql_params(call), BUFFERED)
    cursor = result.cursor
    description, rows = cursor.description, ()
    try:
        rows = cursor.fetchall()
        if isinstance(call.what, Routine):
            # a CALL ends with what has no columns; nextset() doesn't say so, over aiomysql it returns nothing
            while cursor.description:
                cursor.nextset()
    except Exception as error:
        # as SQLAlchemy does with an error while it fetches rows: wrapped, and a lost connection marked
        result.cursor_strategy.handle_exception(result, cursor, error)
    result.close()
    return dialect.mysql_rows(call.what, description, rows)


def _retried(once: Callable[[], list[Row]], undo: Callable[[], object] | None = None) -> list[Row]:
    """Make a call that is a transaction of its own, again where it was a victim.

    Args:
        once: makes it.
        undo: undoes what the call itself couldn't; None: who calls does.
    """
    tries = 0
    while True:
        try:
            return once()
        except Exception as error:
            if undo is not None and _may_be_open(error):
                with contextlib.suppress(Exception):
                    undo()
            if tries >= RETRIES or not _is_victim(error):
                raise
        tries += 1
        time.sleep(random.uniform(*PAUSE_S))


async def _async_retried(
    once: Callable[[], Awaitable[list[Row]]], undo: Callable[[], Awaitable[object]] | None = None
) -> list[Row]:
    """As `_retried`."""
    tries = 0
    while True:
        try:
            return await once()
        except Exception as error:
            if undo is not None and _may_be_open(error):
                with contextlib.suppress(Exception):
                    await undo()
            if tries >= RETRIES or not _is_victim(error):
                raise
        tries += 1
        await asyncio.sleep(random.uniform(*PAUSE_S))


def _is_victim(error: Exception) -> bool:
    failure = dialect.failure(error)
    return failure is not None and failure.victim


def _may_be_open(error: Exception) -> bool:
    """Whether the call's transaction may be.

    MySQL runs no handler of one that is killed, MariaDB none of a victim whose UPDATE waited for an index
    entry, and neither one where it has no room for a sort. A refusal of the queue comes from a handler.
    """
    failure = dialect.failure(error)
    return failure is not None and failure.refusal is None and not failure.lost
