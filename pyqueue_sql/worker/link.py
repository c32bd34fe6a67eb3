"""A connection in a thread of its own, which comes back by itself.

The drivers' own blocking calls, in a thread, so that there is one text for all servers and for synchronous
and asynchronous workers, and the event loop never waits for a database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import ConnectionFailed, hang_up
from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker.pace import Backoff

T = TypeVar("T")
Job = tuple[Callable[[], Any], "asyncio.Future[Any]"]

STEP_SECONDS = 0.1
SAID_SECONDS = 60.0
"""After which it is said once more what is wrong."""

log = logging.getLogger("pyqueue_sql.worker")


class Ending:
    """When links give up what they can't get done."""

    deadline: float | None = None
    """By the monotonic clock; None: never."""

    async def pause(self, seconds: float) -> None:
        """Wait so long, but not past the deadline, which may come meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.is_over:
            await asyncio.sleep(min(left, STEP_SECONDS))

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


class Link:
    """See above. Calls come one after another.

    Args:
        name: what it is for.
        connect: opens a connection in autocommit, and returns the queue over it.
        ending: when to give up.
        on_open: called in the thread with each new connection.
        on_notify: called in the event loop with the channel and the payload of each notification, and with
            None where the connection turns out to be lost; PostgreSQL alone has any.
        behind: a link that has worked by the time that this one is called, whose proof is this one's, too.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], Queue[Any]],
        ending: Ending,
        on_open: Callable[[Queue[Any]], object] | None = None,
        on_notify: Callable[[str | None, str], None] | None = None,
        behind: Link | None = None,
    ) -> None:
        self._name = name
        self._connect = connect
        self._ending = ending
        self._on_open = on_open
        self._on_notify = on_notify
        self._loop = asyncio.get_running_loop()
        self._lock = asyncio.Lock()
        self._backoff = Backoff()
        self._queue: Queue[Any] | None = None
        self._armed: int | None = None
        self._is_proven = False
        self._behind = behind
        self._is_broken = False
        self._was_open = False
        self._lost_at: float | None = None
        """Since when calls fail, by the monotonic clock."""
        self._said, self._said_at = "", 0.0
        """What was last logged of that, and when."""
        self.reopened_at = float("-inf")
        """When a connection that was lost was last replaced, by the monotonic clock."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._pending: asyncio.Future[Any] | None = None
        """What the thread is at, or was last."""
        self._is_abandoned = False
        self._opening: Queue[Any] | None = None
        self._has_thread = False

    async def call(
        self, work: Callable[[Queue[Any]], T], ending: Ending | None = None, *, patient: bool = True
    ) -> T:
        """Return what `work` returns for the queue; called again on a new connection where one is lost.

        Args:
            work: called in the thread.
            ending: when to give it up; None: with the link.
            patient: whether to wait for a database that isn't there; for one that is, and takes in nothing
                for a while, it waits in any case.

        Raises:
            QueueError: the queue refused it.
            Exception: the driver's, where it is time to end, or nothing has worked on this link so far and
                the reason is not one that passes by itself.
        """
        ending = ending or self._ending
        async with self._lock:
            while True:
                self._disarm()
                if self._is_broken:
                    await self._drop()
                try:
                    found = await self._submit(lambda: work(self._opened()))
                except QueueError:
                    raise
                except Exception as error:
                    await self._drop()
                    said = dialect.failure(error)
                    passes = said.passes if said else isinstance(error, ConnectionFailed | OSError)
                    is_there = not said.lost if said else isinstance(error, ConnectionFailed) and error.busy
                    waits = (passes and (patient or is_there)) or (said and self.is_proven)
                    if not waits or ending.is_over or self._is_abandoned:
                        raise
                    self._lost_at = self._lost_at or time.monotonic()
                    pause = self._backoff.pause()
                    self._complain(said.message if said else str(error), pause)
                    await ending.pause(pause)
                    if self._is_abandoned:
                        raise
                else:
                    self._is_proven = True
                    self._backoff.reset()
                    self._said = ""
                    if self._lost_at is not None:
                        seconds, self._lost_at = time.monotonic() - self._lost_at, None
                        log.info(
                            "%s: back after %.1f s", self._name, seconds,
                            extra={"link": self._name, "seconds": round(seconds, 3)},
                        )  # fmt: skip
                    self._arm()
                    return found

    def _complain(self, why: str, pause: float) -> None:
        """Log why a call is made again: once, and from time to time while that stays the same."""
        now = time.monotonic()
        is_news = why != self._said or now >= self._said_at + SAID_SECONDS
        if is_news:
            self._said, self._said_at = why, now
        log.log(
            logging.WARNING if is_news else logging.DEBUG, "%s: %s; trying again", self._name, why,
            extra={"link": self._name, "seconds": round(pause, 3)},
        )  # fmt: skip

    @property
    def is_proven(self) -> bool:
        """Whether a call has worked, so that what doesn't work now may pass."""
        return self._is_proven or (self._behind is not None and self._behind.is_proven)

    @property
    def is_in(self) -> bool:
        """Whether the database has let it in, so that it may have been asked for something."""
        return self._queue is not None or self._opening is not None

    async def close(self) -> None:
        """Close the connection once nothing is under way, and end the thread."""
        self._disarm()
        async with self._lock:
            await self._drop()
            self._jobs.put(None)

    def abandon(self) -> None:
        """Do without an answer from now on: what is under way fails, and so does what is asked for later.

        For a server that takes in what it is asked and says nothing, as one does that was halted.
        """
        self._is_abandoned = True
        if self._pending is not None:
            _fail(self._pending, _silent())
        for found in (self._queue, self._opening):
            if found is not None:
                hang_up(found.connection)  # which ends the waiting of the thread

    def thread_id(self) -> int | None:
        """Return the number by which `kill` of another link ends what goes on here, on MariaDB and MySQL."""
        found = self._queue
        return None if found is None else found.connection.thread_id()

    async def _submit(self, job: Callable[[], T]) -> T:
        if self._is_abandoned:
            raise _silent()
        if not self._has_thread:  # not before: who makes a link may come to nothing, and closes none
            self._has_thread = True
            threading.Thread(target=self._work, name=f"pyqueue-{self._name}", daemon=True).start()
        self._pending = future = self._loop.create_future()
        self._jobs.put((job, future))
        # a caller that is cancelled leaves no connection in the middle of a call
        return await asyncio.shield(future)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, future = job
            _fulfil(self._loop, future, _refuse if self._is_abandoned else call)
        with contextlib.suppress(Exception):
            self._close()

    def _opened(self) -> Queue[Any]:
        if self._queue is None:
            queue = self._connect()
            connection = queue.connection
            self._opening = queue
            try:
                if self._is_abandoned:
                    raise _silent()
                if isinstance(connection, psycopg.Connection) and self._on_notify is not None:
                    connection.add_notify_handler(self._heard)
                if self._on_open is not None:
                    self._on_open(queue)
            except BaseException:
                self._opening = None
                connection.close()
                raise
            self._queue, self._opening = queue, None
            if self._was_open:
                self.reopened_at = time.monotonic()
            self._was_open = True
        return self._queue

    async def _drop(self) -> None:
        self._disarm()
        self._is_broken = False
        if self._queue is not None and not self._is_abandoned:
            with contextlib.suppress(Exception):
                await self._submit(self._close)

    def _close(self) -> None:
        found, self._queue = self._queue, None
        if found is not None:
            found.connection.close()

    def _heard(self, notify: psycopg.Notify) -> None:
        if self._on_notify is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._on_notify, notify.channel, notify.payload)

    def _arm(self) -> None:
        """Listen while nothing is called."""
        connection: Any = None if self._queue is None else self._queue.connection
        if self._on_notify is not None and isinstance(connection, psycopg.Connection):
            self._read(connection)  # pyright: ignore[reportUnknownArgumentType] -- what came with the last answer
            if not self._is_broken:
                self._armed = connection.fileno()
                self._loop.add_reader(self._armed, self._read, connection)  # pyright: ignore[reportUnknownArgumentType]

    def _disarm(self) -> None:
        if self._armed is not None:
            self._loop.remove_reader(self._armed)
            self._armed = None

    def _read(self, connection: psycopg.Connection[Any]) -> None:
        assert self._on_notify is not None
        try:
            connection.pgconn.consume_input()
            while (found := connection.pgconn.notifies()) is not None:
                self._on_notify(found.relname.decode(), found.extra.decode("utf-8", "replace"))
        except psycopg.OperationalError:
            self._disarm()
            self._is_broken = True
            self._on_notify(None, "")


def in_thread(name: str, job: Callable[[], T]) -> asyncio.Future[T]:
    """Do something in a thread of its own, which the loop doesn't wait for at its end as for those it has."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    thread = threading.Thread(target=_fulfil, args=(loop, future, job), name=f"pyqueue-{name}", daemon=True)
    thread.start()
    return future


def _fulfil(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], job: Callable[[], object]) -> None:
    """Do the job in this thread, and let the loop's future say what came of it."""
    what: Any
    try:
        report, what = _succeed, job()
    except BaseException as error:
        report, what = _fail, error
    with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(report, future, what)


def _silent() -> ConnectionFailed:
    return ConnectionFailed("the server doesn't answer", away=True)


def _refuse() -> None:
    raise _silent()


def _succeed(future: asyncio.Future[Any], found: object) -> None:
    if not future.done():
        future.set_result(found)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # so that it is nothing to report where nobody waits for it any more
