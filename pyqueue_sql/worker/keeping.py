"""What keeps a worker's messages its own: its heartbeat and its holds."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pyqueue_sql.worker.link import Ending, Link, log
from pyqueue_sql.worker.watching import KINDS_A_CALL

if TYPE_CHECKING:
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.models import Heartbeat, Listening
    from pyqueue_sql.worker.board import Board
    from pyqueue_sql.worker.delivery import Delivery
    from pyqueue_sql.worker.settings import Settings
    from pyqueue_sql.worker.watching import Listener

TICK_SECONDS = 1.0
DOUBT_SECONDS = 2.0
"""After which one that is asked for upkeep makes sure that it is."""
RECONNECT_SECONDS = 0.5
"""Whatever ended the sessions of many may not have come to all of them yet when one looks who is dead."""
BEATS = 3
"""A timeout of the heartbeat."""


class Keeper:
    """Keeps up a worker over a connection of its own, on which it also listens.

    Args:
        settings: the worker's.
        board: what it holds.
        kinds: what it takes.
        ending: when to give up.
        connect: opens a connection.
        listener: what hears notifications; None: nothing does.
        on_open: called in the event loop where the connection is a new one.
    """

    def __init__(
        self,
        settings: Settings,
        board: Board,
        kinds: Sequence[str],
        ending: Ending,
        connect: Callable[[], Queue[Any]],
        listener: Listener | None,
        on_open: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._board = board
        self._kinds = kinds
        self._listener = listener
        self._on_open = on_open
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._tick = TICK_SECONDS
        self._beaten_at = time.monotonic()
        self._beat_at = 0.0
        self._heartbeat: Heartbeat | None = None
        heard = None if listener is None else self._heard
        self.link = Link("control", connect, ending, self._open, heard)

    @property
    def listens(self) -> bool:
        """Whether it is told of what comes."""
        return self._listener is not None

    @property
    def has_beaten(self) -> bool:
        """Whether there was a heartbeat."""
        return self._heartbeat is not None

    @property
    def is_asked(self) -> bool:
        """Whether upkeep is up to this worker."""
        return self._heartbeat is not None and self._heartbeat.reaps

    @property
    def silent_seconds(self) -> float:
        """How long ago the last heartbeat was; before the first one, for how long the worker has run."""
        return time.monotonic() - self._beaten_at

    @property
    def heartbeat_seconds(self) -> float:
        """After how long without a heartbeat a worker is taken for dead."""
        return self._settings.heartbeat_seconds

    async def begin(self) -> None:
        """Register, which is done with each new connection; here nobody waits for one."""
        await self.link.call(lambda _: None, patient=False)

    async def leave(self) -> None:
        """Say that the worker ends, where it had begun."""
        if self._heartbeat is not None:
            await self.link.call(lambda queue: queue.heartbeat(self._settings.name, stop=True), patient=False)

    async def look(self, kinds: Sequence[str], ending: Ending) -> list[Listening]:
        """Ask what is ready of some kinds, and be told from now on.

        Args:
            kinds: them.
            ending: when to give that up.
        """
        assert self._listener is not None
        return await self._listener.look(self.link, kinds, ending)

    def holds(self, seconds: float) -> None:
        """Messages are held for so long now."""
        tick = max(0.02, seconds / 8)
        if tick < self._tick:
            self._tick = tick
            self._changed.set()

    def doubt(self) -> None:
        """Another connection is a new one, so this one may be lost without anybody having noticed."""
        if time.monotonic() - self._beaten_at > TICK_SECONDS:
            self._beat_at = 0.0
            self._changed.set()

    async def run(self) -> None:
        """Keep everything up, for ever."""
        while True:
            try:
                async with asyncio.timeout(self._tick):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            await self._extend()
            now = time.monotonic()
            if now >= self._beat_at:
                await self.link.call(self._beat)
            self._board.hand_back(self._board.surplus())

    def _heard(self, channel: str | None, payload: str) -> None:
        assert self._listener is not None
        if channel is None:
            self._beat_at = 0.0
            self._changed.set()
        else:
            self._listener.heard(channel, payload)

    def _open(self, queue: Queue[Any]) -> None:
        self._beat(queue)
        self._loop.call_soon_threadsafe(self._on_open)

    def _beat(self, queue: Queue[Any]) -> None:
        now = time.monotonic()
        was_asked = self.is_asked
        self._heartbeat = queue.heartbeat(
            self._settings.name,
            timeout_seconds=self._settings.heartbeat_seconds,
            kinds=self._kinds if len(self._kinds) <= KINDS_A_CALL else None,
            info={"host": platform.node(), "pid": os.getpid(), "version": version("pyqueue_sql")},
            session=self._settings.notify,
            reconnect_seconds=RECONNECT_SECONDS,
            upkeep=self._settings.upkeep,
        )
        # where the session tells, only to learn whether others rely on this one for upkeep
        beats = BEATS if self._heartbeat.expires_at is not None else BEATS / 2
        self._beaten_at = now
        self._beat_at = now + self._settings.heartbeat_seconds / beats
        if self._heartbeat.reaps and not was_asked:  # who come together each may be the first
            self._beat_at = min(self._beat_at, now + DOUBT_SECONDS)

    async def _extend(self) -> None:
        """Renew the holds that are half over."""
        now = time.monotonic()
        due: dict[float, list[Delivery]] = defaultdict(list)
        for one in self._board.holding():
            longest = one.handler.max_seconds
            is_over_time = longest is not None and one.started and now - one.started > longest
            is_ours = not (is_over_time or one.is_given_up or one.is_acked)
            if one.held_until - now < one.hold_seconds / 2 and is_ours:
                due[one.hold_seconds].append(one)
        for seconds, deliveries in due.items():
            now = time.monotonic()
            receipts = [one.receipt for one in deliveries]
            outcomes = await self.link.call(lambda queue: queue.extend_many(receipts, seconds))  # noqa: B023 -- at once
            for one, outcome in zip(deliveries, outcomes, strict=True):
                one.held_until = now + seconds
                # one that was settled meanwhile is lost as well
                if outcome.lost and one.settlement is None and not one.is_acked:
                    one.is_given_up = True
                    log.warning("lost while its handler ran, or before", extra={
                        "kind": one.message.kind, "key": one.message.key, "attempt": one.message.attempts,
                        "outcome": "lost",
                    })  # fmt: skip
