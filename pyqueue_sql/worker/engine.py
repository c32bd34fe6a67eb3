"""What a worker does: takes messages, hands them to their handlers, and tells the database what became of
them.

An event loop has a task for each of these. Whatever calls the database does so over a link of its own, so
that messages are taken while others are settled.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Iterable
from typing import Any

import psycopg

from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import NO_LIMIT, connect, is_mysql
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.context import Connections, Stopping
from pyqueue_sql.worker.declaring import declare
from pyqueue_sql.worker.delivery import GIVE_BACK
from pyqueue_sql.worker.finishing import Finisher
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.keeping import Keeper
from pyqueue_sql.worker.link import Ending, Link, log
from pyqueue_sql.worker.running import Runners
from pyqueue_sql.worker.settings import Settings
from pyqueue_sql.worker.taking import Taker
from pyqueue_sql.worker.upkeep import Upkeep, hear_warnings
from pyqueue_sql.worker.watching import Listener

RESERVING, SETTLING = "pyqueue-reserve", "pyqueue-settle"
GIVE_UP_SECONDS = 5.0
"""For giving back what is held, after the grace."""
LAST_SECONDS = 0.5
"""After that, for calls to say themselves why they fail, before it is said that nobody answers."""


class Engine:
    """A worker that runs once, in the running event loop.

    Args:
        settings: see there.
        handlers: what it runs.
        state: what their lifespan has yielded.
    """

    def __init__(self, settings: Settings, handlers: Handlers, state: Any = None) -> None:
        self._settings = settings
        self._handlers = handlers
        self._ending, self._stopping = Ending(), Stopping()
        self._stopped, self._hurried = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._failed: asyncio.Future[None] = self._loop.create_future()
        self._board = Board(handlers, settings.concurrency, self._tell)
        self._connections = Connections(
            settings.url, settings.schema, shared=not settings.notify, state=state
        )
        self._runners = Runners(self._board, self._connections, self._stopping)
        waits_there = is_mysql(settings.url) and settings.notify
        listener = Listener(self._hint) if settings.notify and not waits_there else None
        self._keeper = Keeper(
            settings, self._board, list(handlers), self._ending, self._connect, listener, self._lost
        )
        takes = Link("reserve", self._connect, self._ending, self._opened_to_reserve)
        waits = Link("wait", self._connect, self._ending, self._opened_to_wait) if waits_there else None
        self._taker = Taker(
            settings, handlers, self._board, self._keeper, self._stopping, takes, waits, self._fail
        )
        settles = Link("settle", self._connect, self._ending, behind=takes)
        self._finisher = Finisher(self._board, settles, self._taker.wake)
        self._upkeep = Upkeep(self._keeper, Link("upkeep", self._connect, self._ending))
        self._links = [self._keeper.link, takes, settles, self._upkeep.link, *([waits] if waits else [])]

    def stop(self) -> None:
        """Take no more, and end when all is done that is held; at once when called again."""
        if self._stopped.is_set():
            self._hurried.set()
        elif not self._stopping.is_set:
            log.info("stopping", extra={"worker": self._settings.name, "held": len(self._board.held)})
        if not self._stopped.is_set():
            now = time.monotonic()
            self._taker.ending.deadline = now
            self._ending.deadline = now + self._settings.grace_seconds
        self._stopping.is_set = True
        self._stopped.set()
        self._taker.wake()

    def health(self) -> dict[str, Any]:
        """Return how it is: `status` is ok, stopping, or no heartbeat."""
        silent = self._keeper.silent_seconds
        is_heard = self._keeper.has_beaten and silent <= self._settings.heartbeat_seconds
        status = "ok" if is_heard else "no heartbeat"
        return {
            "status": "stopping" if self._stopping.is_set or self._taker.has_all else status,
            "worker": self._settings.name,
            "held": len(self._board.held),
            "heartbeat_seconds_ago": round(silent, 3),
        }

    async def run(self) -> None:
        """Work until `stop`, or until there is nothing more to do.

        Raises:
            QueueError: the queue refused what every worker does; or, before anything worked, a driver's
                errors.
        """
        sorts = {one.is_async for one in self._handlers.values()}
        tasks: list[asyncio.Task[None]] = []
        try:
            if self._stopped.is_set() or not await self._has_begun():
                return
            self._runners.start(False in sorts, True in sorts, self._fail)
            upkeep = self._settings.upkeep
            log.info(
                "started" if upkeep else "started, schedules and pruning are up to others",
                extra={"worker": self._settings.name, "kinds": list(self._handlers), "upkeep": upkeep},
            )
            tasks = [
                asyncio.create_task(self._guard(work), name=name)
                for name, work in (
                    (RESERVING, self._taker.run()),
                    (SETTLING, self._finisher.run()),
                    ("pyqueue-keep", self._keeper.run()),
                    *([("pyqueue-upkeep", self._upkeep.run())] if upkeep else []),
                )
            ]
            await self._finish(tasks[0])
        finally:
            await self._end(tasks)

    async def _begin(self) -> None:
        await self._keeper.begin()
        declared = [one for one in self._handlers.values() if one.settings or one.cron is not None]
        if declared:
            await self._keeper.link.call(lambda queue: declare(queue, declared))
        if self._settings.upkeep:
            await self._upkeep.begin()

    async def _has_begun(self) -> bool:
        """Begin, and leave that where the worker is stopped; returns whether it was done.

        Once the database has let it in it has a while to come to its end: a worker that has registered
        meanwhile has to take that back.
        """
        doing = asyncio.create_task(self._begin())
        try:
            await _first(doing, self._stopped.wait())
            if not doing.done() and self._keeper.link.is_in:
                await _first(doing, self._hurried.wait(), timeout=GIVE_UP_SECONDS)
            if doing.done():
                doing.result()
            return doing.done()
        finally:
            doing.cancel()

    async def _guard(self, work: Any) -> None:
        try:
            await work
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _finish(self, taking: asyncio.Task[None]) -> None:
        """Wait for the end of the work: until nothing more comes in and all is done, or the worker is
        stopped, and then for a while until all is done."""
        await _first(taking, self._failed, self._stopped.wait())
        if not self._failed.done():  # the grace is for who is told to end: what was taken last has its time
            await _first(self._failed, self._stopped.wait(), self._is_done(taking))
        if not self._failed.done():
            if not self._stopped.is_set():
                self.stop()
            await _first(
                self._failed,
                self._hurried.wait(),
                self._is_done(taking),
                timeout=self._settings.grace_seconds,
            )
        if self._failed.done():
            self._failed.result()

    async def _is_done(self, taking: asyncio.Task[None]) -> None:
        # what is held has the grace; for a server that is asked for more and says nothing there is less time
        await asyncio.wait({taking}, timeout=GIVE_UP_SECONDS)
        while self._board.held:
            await asyncio.sleep(0.01)

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        """Give back what is held, leave, and close all connections, or give that up after a while."""
        self._stopping.is_set = True
        self._runners.close()  # no other handler begins, whatever still comes
        now = time.monotonic()
        self._taker.ending.deadline, self._ending.deadline = now, now + GIVE_UP_SECONDS
        abandoning = self._loop.call_later(GIVE_UP_SECONDS + LAST_SECONDS, self._abandon)
        for task in tasks:
            if task.get_name() not in (RESERVING, SETTLING):
                task.cancel()
        # in the middle of a call they would not know what is held, and what is settled
        self._taker.wake()
        self._finisher.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        given_back = [one for one in self._board.holding() if one.settlement is None]
        for one in given_back:
            one.is_given_up = True
            one.settlement = GIVE_BACK
        try:
            await self._runners.stop()
            await self._finisher.settle([one for one in self._board.holding() if one.settlement is not None])
            if self._taker.waiter is not None:
                await self._taker.waiter.stop(self._finisher.link)
            await self._keeper.leave()
        except Exception as error:  # they come back by themselves, when their holds end
            log.warning("not given back: %s", error, extra={"held": len(self._board.held)})
        await self._connections.close()
        for link in self._links:
            await link.close()
        abandoning.cancel()
        self._abandon()  # a thread may still be opening a connection
        if not self._failed.cancel():
            self._failed.exception()  # what failed while all ended isn't asked for any more
        log.info("stopped", extra={"worker": self._settings.name, **self._finisher.counts})

    def _abandon(self) -> None:
        for link in self._links:
            link.abandon()

    def _connect(self) -> Queue[Any]:
        connection = connect(self._settings.url, read_committed=True)
        hear_warnings(connection)
        if isinstance(connection, psycopg.Connection) and not self._settings.notify:
            connection.prepare_threshold = None  # behind a pooler another session may be asked for it
        return Queue(connection, schema=self._settings.schema)

    def _opened_to_reserve(self, queue: Queue[Any]) -> None:
        """Let commits of a new connection not wait for the disk: what a crash of the server undoes of them is
        that a message is held, and it is handed out again."""
        connection: Any = queue.connection
        is_own = self._settings.notify  # else others may share the session
        if is_own and isinstance(connection, psycopg.Connection):
            connection.execute("set synchronous_commit = off")
        self._opened(queue)

    def _opened_to_wait(self, queue: Queue[Any]) -> None:
        """Let a wait be as long as it is asked for: MariaDB's limit isn't meant for it."""
        with queue.connection.cursor() as cursor:
            # for MySQL, which refuses a statement of a comment alone, with something that is set already
            cursor.execute(f"set {NO_LIMIT} /*M!100600 , max_statement_time = 0 */")
        self._opened(queue)

    def _opened(self, _: object) -> None:
        self._loop.call_soon_threadsafe(self._keeper.doubt)

    def _tell(self) -> None:
        """Called from any thread: a handler is done."""
        with contextlib.suppress(RuntimeError):  # a function that went on after the end of the loop
            self._loop.call_soon_threadsafe(self._note)

    def _note(self) -> None:
        self._finisher.note()
        self._taker.wake()

    def _hint(self, kinds: Iterable[str], is_theirs: bool) -> None:
        self._taker.hint(kinds, is_theirs)

    def _lost(self) -> None:
        self._taker.lost()


async def _first(*ends: Awaitable[object], timeout: float | None = None) -> None:
    """Wait until one of these has come, or so many seconds; leave no coroutine of them behind."""
    waits = [asyncio.ensure_future(one) for one in ends]
    try:
        await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for given, one in zip(ends, waits, strict=True):
            if one is not given:
                one.cancel()
