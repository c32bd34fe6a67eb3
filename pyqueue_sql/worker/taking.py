"""Taking messages: when, of which kind, and how many."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pyqueue_sql.errors import QueueError, Restricted
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.delivery import Delivery
from pyqueue_sql.worker.link import Ending, Link, log
from pyqueue_sql.worker.watching import LOOKS_SECONDS, Waiter, Watch

if TYPE_CHECKING:
    from pyqueue_sql.worker.context import Stopping
    from pyqueue_sql.worker.handlers import Handlers
    from pyqueue_sql.worker.keeping import Keeper
    from pyqueue_sql.worker.settings import Settings

MOST_HELD = 5000
POLLS_A_WAIT, POLLS_A_RESERVE = 2, 4
"""In a server that waits for us, a reserve on suspicion may be rarer than the waits, and a proxy may end a
statement that takes 50 s."""


class Taker:
    """Reserves messages for the handlers that are free, or soon will be.

    Args:
        settings: the worker's.
        handlers: what they are for.
        board: where they go.
        keeper: who is asked what is ready.
        stopping: when to take no more.
        link: what messages are reserved over.
        waits: what waits in the server, on MariaDB and MySQL; None: nothing does.
        failed: called where that fails.
    """

    def __init__(
        self,
        settings: Settings,
        handlers: Handlers,
        board: Board,
        keeper: Keeper,
        stopping: Stopping,
        link: Link,
        waits: Link | None,
        failed: Callable[[BaseException], None],
    ) -> None:
        self.ending = Ending()
        """When to give up what there is no use for any more."""
        self._settings = settings
        self._handlers = handlers
        self._board = board
        self._keeper = keeper
        self._stopping = stopping
        self._takes = link
        self._failed = failed
        self._woken = asyncio.Event()
        self._turns = [*handlers]
        self._refused: set[str] = set()
        self._left = settings.max_messages
        looks = LOOKS_SECONDS if keeper.listens else ()
        poll = settings.poll_seconds * (POLLS_A_RESERVE if waits is not None else 1)
        self._watches = {kind: Watch(poll, looks) for kind in handlers}
        self.waiter = waits and Waiter(waits, [*handlers], settings.poll_seconds * POLLS_A_WAIT, self.hint)

    @property
    def has_all(self) -> bool:
        """Whether it has taken as many as it was told, and takes no more."""
        return self._left == 0

    def wake(self) -> None:
        """There may be room for more, or it is time to end."""
        self._woken.set()

    def hint(self, kinds: Iterable[str], is_theirs: bool) -> None:
        """Something may have come, of some kinds or hidden behind an event of theirs; see `Listener`."""
        for kind in kinds:
            watch = self._watches.get(kind)
            if watch is not None:
                (watch.hint if is_theirs else watch.stir)()
        self._woken.set()

    def lost(self) -> None:
        """The connection that listens is a new one: what came meanwhile wasn't heard."""
        self.hint(self._watches, False)

    async def run(self) -> None:
        """Reserve messages, each kind in its turn, and wait where there are none."""
        while not self._stopping.is_set and not self.has_all:
            self._woken.clear()
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
        if not self._settings.drain:
            await self._look()
        for kind in [*self._turns]:
            watch, room = self._watches[kind], self._room(kind)
            if self._stopping.is_set or not room:
                continue
            now = time.monotonic()
            if not self._settings.drain and not (watch.at <= now and watch.by_reserve):
                continue
            try:
                deliveries = await self._reserve(kind, room)
            except Restricted as error:
                self._refuse(kind, error)
                watch.refused(now)
                continue
            self._refused.discard(kind)
            if deliveries:
                found = True
                self._turns.remove(kind)  # to the end: not by rounds, of which a message may make two
                self._turns.append(kind)
                watch.came()
                self._board.add(deliveries)
            else:
                watch.empty(now)
        return found

    def _refuse(self, kind: str, error: Restricted) -> None:
        """Go on without a kind that is for others, as long as there is one that isn't."""
        if kind not in self._refused:
            self._refused.add(kind)
            if len(self._refused) == len(self._handlers):
                raise error
            log.warning("%s; trying again", error, extra={"link": "reserve", "kind": kind})

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
                found = await self._keeper.look(due, self.ending)
            except Exception:
                if self._stopping.is_set:
                    return
                raise
            for one in found:
                self._watches[one.kind].looked(now, one.ready, one.next_seconds)

    async def _reserve(self, kind: str, room: int) -> list[Delivery]:
        handler = self._handlers[kind]
        given: dict[str, Any] = (
            {} if handler.timeout_seconds is None else {"timeout_seconds": handler.timeout_seconds}
        )
        began = time.monotonic()
        try:
            messages = await self._takes.call(
                lambda queue: queue.reserve(kind, self._settings.name, room, **given), self.ending
            )
        except QueueError:
            raise
        except Exception:
            if self._stopping.is_set:  # and the connection is lost: there is nothing to be had any more
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
        if self._settings.drain:
            await self._woken.wait()
            return
        now = time.monotonic()
        open_ = {kind: one for kind, one in self._watches.items() if self._room(kind)}
        if self.waiter is not None:
            self.waiter.want([kind for kind, one in open_.items() if one.at > now], self._failed)
        until = min((one.at for one in open_.values()), default=None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if until is None else max(0.0, until - now)):
                await self._woken.wait()
