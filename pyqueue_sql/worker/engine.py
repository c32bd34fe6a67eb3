"""What a worker does: takes messages, hands them to their handlers, and tells the database what became of
them.

An event loop has a task for each of these. Whatever calls the database does so over a link of its own, so
that messages are taken while others are settled.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg

from pyqueue_sql.connect import connect, is_mysql
from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker import logs
from pyqueue_sql.worker.board import Board, Delivery
from pyqueue_sql.worker.context import Connections, Stopping
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.keeping import Keeper
from pyqueue_sql.worker.link import Ending, Link, log
from pyqueue_sql.worker.running import Runners
from pyqueue_sql.worker.settling import GIVE_BACK, Group, groups
from pyqueue_sql.worker.watching import LOOKS_SECONDS, Listener, Waiter, Watch

if TYPE_CHECKING:
    from pyqueue_sql.connect import Connection

GATHER_SECONDS = 0.002
"""How long what is done waits for more, so that one call settles it."""
MOST_HELD = 5000
POLLS_A_WAIT = 4
"""In a server that waits for us, a reserve on suspicion may be rarer than the waits."""
SETTLING = "pyqueue-settle"
GIVE_UP_SECONDS = 5.0
"""For giving back what is held, after the grace."""


@dataclass(frozen=True)
class Settings:
    """What a worker was asked for; see `WorkerOptions`."""

    url: str = field(repr=False)
    name: str
    schema: str | None = None
    concurrency: int = 1
    poll_seconds: float = 15.0
    notify: bool = True
    grace_seconds: float = 30.0
    heartbeat_seconds: float = 30.0
    drain: bool = False
    max_messages: int | None = None


class Engine:
    """A worker that runs once, in the running event loop.

    Args:
        settings: see there.
        handlers: what it runs.
    """

    def __init__(self, settings: Settings, handlers: Handlers) -> None:
        self._settings = settings
        self._handlers = handlers
        self._ending, self._no_more = Ending(), Ending()
        self._stopping = Stopping()
        self._stopped = asyncio.Event()
        self._hurried = asyncio.Event()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wake, self._done = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._board = Board(handlers, settings.concurrency, self._tell)
        self._connections = Connections(settings.url, settings.schema)
        self._runners = Runners(self._board, self._connections, self._stopping)
        self._turns = deque(handlers)
        self._left = settings.max_messages
        self._is_closing = False
        self.counts: Counter[str] = Counter()
        """How many messages had which outcome."""

        mysql = is_mysql(settings.url)
        listens = settings.notify and not mysql
        poll = settings.poll_seconds * (POLLS_A_WAIT if mysql and settings.notify else 1)
        self._watches = {kind: Watch(poll, LOOKS_SECONDS if listens else ()) for kind in handlers}
        self._listener = Listener(self._hint) if listens else None
        self._keeper = Keeper(
            settings, self._board, list(handlers), self._ending, self._connect, self._listener, self._lost
        )
        self._takes = Link("reserve", self._connect, self._ending, self._opened)
        self._settles = Link("settle", self._connect, self._ending)
        self._waits = (
            Link("wait", self._connect, self._ending, self._opened) if settings.notify and mysql else None
        )
        self._waiter = self._waits and Waiter(self._waits, [*handlers], settings.poll_seconds, self._hint)

    def stop(self) -> None:
        """Take no more, and end when all is done that is held; at once when called again."""
        if self._stopped.is_set():
            self._hurried.set()
        elif not self._stopping.is_set:
            log.info("stopping", extra={"worker": self._settings.name, "held": len(self._board.held)})
        if not self._stopped.is_set():
            now = time.monotonic()
            self._no_more.deadline = now
            self._ending.deadline = now + self._settings.grace_seconds
        self._stopping.is_set = True
        self._stopped.set()
        self._wake.set()

    async def run(self) -> None:
        """Work until `stop`, or until there is nothing more to do.

        Raises:
            QueueError: the queue refused what every worker does; or, before anything worked, a driver's
                errors.
        """
        sorts = {one.is_async for one in self._handlers.values()}
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._keeper.begin()
            self._runners.start(False in sorts, True in sorts, self._fail)
            log.info("started", extra={"worker": self._settings.name, "kinds": list(self._handlers)})
            tasks = [
                asyncio.create_task(self._guard(work), name=name)
                for name, work in (
                    ("pyqueue-reserve", self._take()),
                    (SETTLING, self._settle()),
                    ("pyqueue-keep", self._keeper.run()),
                )
            ]
            await self._finish(tasks[0])
        finally:
            await self._end(tasks)

    async def _guard(self, work: Any) -> None:
        try:
            await work
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _finish(self, taking: asyncio.Task[None]) -> None:
        """Wait for the end of the work: until nothing more comes in, and then for a while until all is
        done."""
        await asyncio.wait({taking, self._failed}, return_when=asyncio.FIRST_COMPLETED)
        if not self._failed.done():
            if not self._stopped.is_set():
                self.stop()
            hurried = asyncio.ensure_future(self._hurried.wait())
            done = asyncio.ensure_future(self._is_done())
            await asyncio.wait(
                {hurried, done, self._failed},
                timeout=self._settings.grace_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            hurried.cancel()
            done.cancel()
        if self._failed.done():
            self._failed.result()

    async def _is_done(self) -> None:
        while self._board.held:
            self._done.set()
            await asyncio.sleep(0.01)

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        """Give back what is held, leave, and close all connections."""
        self._stopping.is_set = True
        self._ending.deadline = time.monotonic() + GIVE_UP_SECONDS
        for task in tasks:
            if task.get_name() != SETTLING:
                task.cancel()
        self._is_closing = True
        self._done.set()  # in the middle of a call it would not know what is settled
        await asyncio.gather(*tasks, return_exceptions=True)
        given_back = [one for one in self._board.holding() if one.settlement is None]
        for one in given_back:
            one.is_given_up = True
            one.settlement = GIVE_BACK
        try:
            await self._runners.stop()
            await self._settle_all([one for one in self._board.holding() if one.settlement is not None])
            if self._waiter is not None:
                await self._waiter.stop(self._settles)
            await self._keeper.leave()
        except Exception as error:  # they come back by themselves, when their holds end
            log.warning("not given back: %s", error, extra={"held": len(self._board.held)})
        await self._connections.close()
        for link in (self._takes, self._settles, self._waits):
            if link is not None:
                await link.close()
        if not self._failed.cancel():
            self._failed.exception()  # what failed while all ended isn't asked for any more
        log.info("stopped", extra={"worker": self._settings.name, **self.counts})

    def _connect(self) -> Connection:
        connection = connect(self._settings.url, schema=self._settings.schema)
        if isinstance(connection, psycopg.Connection) and not self._settings.notify:
            connection.prepare_threshold = None  # behind a pooler another session may be asked for it
        return connection

    def _opened(self, _: object) -> None:
        self._loop.call_soon_threadsafe(self._keeper.doubt)

    def _tell(self) -> None:
        """Called from any thread: a handler is done."""
        with contextlib.suppress(RuntimeError):  # a function that went on after the end of the loop
            self._loop.call_soon_threadsafe(self._note)

    def _note(self) -> None:
        self._done.set()
        self._wake.set()

    def _hint(self, kinds: Iterable[str], is_theirs: bool) -> None:
        for kind in kinds:
            watch = self._watches.get(kind)
            if watch is not None:
                (watch.hint if is_theirs else watch.stir)()
        self._wake.set()

    def _lost(self) -> None:
        """The connection that listens is a new one: what came meanwhile wasn't heard."""
        self._hint(self._watches, False)

    async def _take(self) -> None:
        """Reserve messages, each kind in its turn, and wait where there are none."""
        while not self._stopped.is_set() and self._left != 0:
            self._wake.clear()
            was_idle = not self._board.held
            found = await self._round()
            if found:
                continue
            if self._settings.drain and was_idle and not self._board.held:
                return
            await self._pause()

    async def _round(self) -> bool:
        """Reserve once for each kind that it is time for; returns whether anything came."""
        found = False
        self._turns.rotate(-1)
        if self._listener is not None and not self._settings.drain:
            await self._look()
        for kind in self._turns:
            watch, room = self._watches[kind], self._room(kind)
            if self._stopped.is_set() or not room:
                continue
            now = time.monotonic()
            if not self._settings.drain and not (watch.at <= now and watch.by_reserve):
                continue
            deliveries = await self._reserve(kind, room)
            if deliveries:
                found = True
                watch.came()
                self._board.add(deliveries)
            else:
                watch.empty(now)
        return found

    def _room(self, kind: str) -> int:
        if len(self._board.held) >= MOST_HELD:
            return 0
        room = self._board.room(kind)
        return room if self._left is None else min(room, self._left)

    async def _look(self) -> None:
        """Ask about the kinds for which that is due."""
        now = time.monotonic()
        due = [kind for kind, one in self._watches.items() if one.at <= now and not one.by_reserve]
        if due:
            try:
                found = await self._keeper.look(due, self._no_more)
            except Exception:
                if self._stopped.is_set():
                    return
                raise
            for one in found:
                self._watches[one.kind].looked(now, one.ready, one.next_seconds)

    async def _reserve(self, kind: str, room: int) -> list[Delivery]:
        handler = self._handlers[kind]
        given = {} if handler.timeout_seconds is None else {"timeout_seconds": handler.timeout_seconds}
        began = time.monotonic()
        try:
            messages = await self._takes.call(
                lambda queue: queue.reserve(kind, self._settings.name, room, **given), self._no_more
            )
        except QueueError:
            raise
        except Exception:
            if self._stopped.is_set():  # and the connection is lost: there is nothing to be had any more
                return []
            raise
        if self._left is not None:
            self._left -= len(messages)
        found: list[Delivery] = []
        for message in messages:
            assert message.receipt is not None and message.reserved_at is not None
            seconds = (message.scheduled_at - message.reserved_at) / 1_000_000
            found.append(Delivery(message, handler, message.receipt, began + seconds, seconds))
        if found:
            self._keeper.holds(found[0].hold_seconds)
        return found

    async def _pause(self) -> None:
        """Wait until it is time to look again, or somebody says so."""
        now = time.monotonic()
        open_ = {kind: one for kind, one in self._watches.items() if self._board.room(kind)}
        if self._settings.drain:
            await self._wake.wait()
            return
        if self._waiter is not None:
            self._waiter.want([kind for kind, one in open_.items() if one.at > now], self._fail)
        until = min((one.at for one in open_.values()), default=None)
        if until is None or until > now:
            try:
                async with asyncio.timeout(None if until is None else until - now):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _settle(self) -> None:
        """Tell the database what handlers said."""
        while True:
            await self._done.wait()
            if not self._board.is_idle:
                await asyncio.sleep(GATHER_SECONDS)
            self._done.clear()
            finished = self._board.finished()
            self._wake.set()
            await self._settle_all([one for one in finished if not one.is_given_up])
            self._board.forget(one for one in finished if one.is_given_up)
            if self._is_closing:
                return

    async def _settle_all(self, deliveries: list[Delivery]) -> None:
        acked = [one for one in deliveries if one.is_acked]
        self._conclude(acked, ["acked"] * len(acked))
        todo = groups(one for one in deliveries if not one.is_acked)
        while todo:
            group = todo.pop()
            try:
                outcomes = await self._settles.call(functools.partial(Group.apply, group))
            except QueueError as error:
                apart = group.apart(error)
                todo += apart
                if not apart:
                    self._conclude(group.deliveries, ["refused"] * len(group.deliveries))
            else:
                self._conclude(group.deliveries, [one.outcome for one in outcomes])

    def _conclude(self, deliveries: list[Delivery], outcomes: list[str]) -> None:
        self._board.forget(deliveries)
        self.counts.update(outcomes)
        logs.settled(zip(deliveries, outcomes, strict=True), log.isEnabledFor(logging.DEBUG))
        self._wake.set()
