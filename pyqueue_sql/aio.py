"""The queue for asyncio: the same methods, to be awaited. Their types stand in aio.pyi."""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.rows import tuple_row

from pyqueue_sql import call
from pyqueue_sql.client import Queue, fail

T = TypeVar("T")


class AsyncQueue(Queue):
    """The routines over one asynchronous connection; see `Queue`, of which every method is awaited here.

    Args:
        connection: psycopg 3, async.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection: psycopg.AsyncConnection[Any] = connection  # pyright: ignore[reportIncompatibleVariableOverride]

    # every method returns what this does, so here they return what is to be awaited
    async def _run(self, what: call.Call[T]) -> T:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            cursor = self._connection.cursor(row_factory=tuple_row)
            await cursor.execute(what.text, what.params)
            rows = await cursor.fetchall()
        except (psycopg.Error, UnicodeEncodeError) as error:
            fail(error)
        return what.result(rows)
