"""What a handler that has a second parameter is given."""

from __future__ import annotations

import contextlib
import select
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from pyqueue_sql.calls.aio import AsyncQueue
from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker.connecting import connect_async

if TYPE_CHECKING:
    from pyqueue_sql.calls.connect import Connection
    from pyqueue_sql.models import Message, Outcome
    from pyqueue_sql.worker.delivery import Delivery


class Lost(Exception):  # noqa: N818 -- named after what happened
    """The message was no longer this handler's when its transaction was about to commit; it was rolled
    back."""


class Connections:
    """Connections for the transactions of handlers, opened when one is wanted and used again.

    Args:
        url: of the database.
        schema: where the queue is, None: as the server has it.
        shared: whether others may have the same sessions in between, so that nothing is prepared.
        state: what handlers share besides.
    """

    def __init__(self, url: str, schema: str | None, *, shared: bool = False, state: Any = None) -> None:
        self.state = state
        self.url = url
        self.schema = schema
        self._shared = shared
        self._idle: deque[Connection] = deque()
        self._idle_async: deque[Any] = deque()
        self._is_closed = False

    def __repr__(self) -> str:
        return "Connections(…)"

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """Give a connection, in a transaction that is committed at the end."""
        connection = self._taken()
        if connection is None:
            connection = connect(self.url, autocommit=False, read_committed=True)
            if self._shared and isinstance(connection, psycopg.Connection):
                connection.prepare_threshold = None
        try:
            yield connection
            connection.commit()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if self._is_closed:  # the worker has ended meanwhile
            self._close_idle()

    @asynccontextmanager
    async def async_transaction(self) -> AsyncGenerator[Any]:
        """Give an async connection, in a transaction that is committed at the end."""
        connection = None
        while self._idle_async and connection is None:
            idle = self._idle_async.popleft()
            connection = idle if await _is_sound_async(idle) else None
        if connection is None:
            connection = await connect_async(self.url)
            if self._shared and isinstance(connection, psycopg.AsyncConnection):
                connection.prepare_threshold = None
        try:
            yield connection
            await connection.commit()
        except BaseException:
            await _close(connection)
            raise
        self._idle_async.append(connection)
        if self._is_closed:
            await self._close_idle_async()

    def _taken(self) -> Connection | None:
        """Return a connection that nobody uses; several threads may want the last one."""
        with contextlib.suppress(IndexError):
            while True:
                idle = self._idle.popleft()
                if _is_sound(idle):
                    return idle
        return None

    async def close(self) -> None:
        """Close those that nobody uses, and from now on the others when their transactions end."""
        self._is_closed = True
        self._close_idle()
        await self._close_idle_async()

    def _close_idle(self) -> None:
        with contextlib.suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle.popleft().close()

    async def _close_idle_async(self) -> None:
        while self._idle_async:
            await _close(self._idle_async.popleft())


def _is_sound(connection: Any) -> bool:
    """Whether the server hasn't ended a connection while it was idle, and it can have a transaction."""
    try:
        _check_mode(connection)
        if isinstance(connection, psycopg.Connection):
            _check_silence(connection)  # pyright: ignore[reportUnknownArgumentType]
        else:
            connection.ping(reconnect=False)
    except Exception:
        with contextlib.suppress(Exception):
            connection.close()
        return False
    return True


async def _is_sound_async(connection: Any) -> bool:
    try:
        _check_mode(connection)
        if isinstance(connection, psycopg.AsyncConnection):
            _check_silence(connection)  # pyright: ignore[reportUnknownArgumentType]
        else:
            await connection.ping(reconnect=False)
    except Exception:
        with contextlib.suppress(Exception):
            await _close(connection)
        return False
    return True


def _check_mode(connection: Any) -> None:
    """Fail where a handler has left autocommit on: what the next one does would not be undone together."""
    is_psycopg = isinstance(connection, psycopg.Connection | psycopg.AsyncConnection)
    if connection.autocommit if is_psycopg else connection.get_autocommit():
        raise psycopg.OperationalError("it is in autocommit")


def _check_silence(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Fail where PostgreSQL has said anything unasked, which is how it says farewell."""
    watch = select.poll()
    watch.register(connection.fileno(), select.POLLIN)
    if watch.poll(0):
        raise psycopg.OperationalError("there is news")


async def _close(connection: Any) -> None:
    closing = connection.close()
    if closing is not None:  # aiomysql's isn't awaited
        await closing


class _Context:
    """What a handler may know and do beside its message."""

    def __init__(self, delivery: Delivery, connections: Connections, stopping: Stopping) -> None:
        self._delivery = delivery
        self._connections = connections
        self._stopping = stopping

    @property
    def message(self) -> Message:
        """The message; its `attempts` counts this delivery."""
        return self._delivery.message

    @property
    def state(self) -> Any:
        """What the lifespan of the handlers has yielded, None where there is none."""
        return self._connections.state

    @property
    def shutting_down(self) -> bool:
        """Whether the worker is about to end; a handler that takes long may then end early, with
        `Snooze(0)`."""
        return self._stopping.is_set

    def _check(self, outcome: Outcome) -> None:
        if outcome.lost:
            raise Lost(f"{self.message.kind} {self.message.key}")


class Stopping:
    """Whether a worker is about to end."""

    is_set = False


class Context(_Context):
    """The context of a handler that is a plain function."""

    @contextmanager
    def transaction(self) -> Generator[Queue[Any]]:
        """Give a queue whose calls commit together with the acknowledgement of the message, at the end of the
        block.

        So what is pushed there is pushed once, however often the message is delivered. `queue.connection` is
        the driver's, for statements of the application's own in the same transaction. After the block the
        message is done, whatever the handler does.

        Raises:
            Lost: at the end of the block, where somebody else has the message by now; all was rolled back.
        """
        with self._connections.transaction() as connection:
            queue = Queue(connection, schema=self._connections.schema)
            yield queue
            self._check(queue.ack(self._delivery.receipt))
        self._delivery.is_acked = True


class AsyncContext(_Context):
    """The context of a handler that is a coroutine function."""

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncQueue[Any]]:
        """Give an async queue; else it is as that of `Context`. On MariaDB and MySQL it needs aiomysql."""
        async with self._connections.async_transaction() as connection:
            queue = AsyncQueue(connection, schema=self._connections.schema)
            yield queue
            self._check(await queue.ack(self._delivery.receipt))
        self._delivery.is_acked = True
