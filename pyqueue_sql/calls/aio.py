"""The queue for asyncio: the same methods, to be awaited. Their types stand in aio.pyi."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from pyqueue_sql.calls import call, through
from pyqueue_sql.calls.client import C, Queue

T = TypeVar("T")


class AsyncQueue(Queue[C]):
    """The routines over one asynchronous connection; see `Queue`, of which every method is awaited here.

    Calls of several coroutines over one connection of psycopg or aiomysql wait for each other; asyncpg
    refuses the second one. A connection is for the event loop that made it.

    Args:
        connection: an async connection of psycopg 3, a connection or a pool of asyncpg, or a connection of
            aiomysql; or an async connection, engine, session or scoped session of SQLAlchemy, with any driver
            for PostgreSQL, MariaDB or MySQL below it (psycopg, asyncpg, aiomysql, asyncmy). Over a pool, as
            over an engine, each call is a transaction of its own.
    """

    _ways: ClassVar = through.ASYNC

    # every method returns what this does, so here they return what is to be awaited
    async def _run(self, what: call.Call[T]) -> T:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            rows = await self._execute(self._connection, self._qualified(what))
        except Exception as error:
            through.fail(error)
        return what.result(rows)
