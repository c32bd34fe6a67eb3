"""When to look for messages of a kind, and who says that some have come."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pyqueue_sql.calls import dialect

if TYPE_CHECKING:
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.models import Listening
    from pyqueue_sql.worker.link import Ending, Link

LOOKS_SECONDS = (0.0, 0.05, 0.25, 1.25)
"""After a kind was empty. The first look marks the session as one that listens and tells when the next
message falls due. The others find what was pushed inside the window of an event, or was committing when the
last look came."""
SOON_SECONDS = 0.02
POLLS = 8
"""After so many in vain a look takes the place of the next, to learn afresh when a message falls due."""
KINDS_A_CALL = 100
LONGEST_WAIT_SECONDS = 300.0
"""That the server takes."""
PART_SECONDS = 1.0
"""How long a wait for some of the kinds may be, where others could join it."""


class Watch:
    """When to look next for messages of one kind, by the monotonic clock.

    Args:
        poll_seconds: when nothing else is known.
        looks: `LOOKS_SECONDS` where somebody can be asked; else only the poll is left.
    """

    def __init__(self, poll_seconds: float, looks: Sequence[float]) -> None:
        self.at = 0.0
        self.by_reserve = True
        """Whether to reserve then, and not only to ask."""
        self._poll = poll_seconds
        self._looks = looks
        self._began = 0.0
        self._step = 0
        self._misses = 0
        self._polls = 0
        self._poll_at = 0.0
        self._due: float | None = None

    def hint(self) -> None:
        """Something may have come."""
        self.at, self.by_reserve = 0.0, True
        self._step = 0

    def stir(self) -> None:
        """Something came elsewhere, and an event of this kind's may be hidden behind that one."""
        if not (self.by_reserve and self.at == 0):
            self._restart(time.monotonic())

    def came(self) -> None:
        """Messages came, and there may be more."""
        self.hint()
        self._misses = 0

    def empty(self, now: float) -> None:
        """A reserve that began at `now` got nothing."""
        self._misses += 1
        self._polls += 1
        self._set_poll(now)
        if self._step < len(self._looks):
            self._restart(now)
        else:
            self._plan()

    def looked(self, now: float, ready: bool, next_seconds: float | None) -> None:
        """What somebody who was asked at `now` said."""
        self._due = None if next_seconds is None else now + max(next_seconds, SOON_SECONDS)
        if ready:
            # what can't be had is taken by others just now; soon that is over, or it isn't ready any more
            self.by_reserve = True
            self.at = now + (min(1.0, 0.001 * 2**self._misses) if self._misses > 1 else 0.0)
            return
        self._misses = 0
        self._step = min(self._step + 1, len(self._looks))
        if self._polls >= POLLS and self._poll_at <= now:  # it was in place of the poll
            self._set_poll(now)
        self._polls = 0
        self._plan()

    def refused(self, now: float) -> None:
        """A reserve that began at `now` was refused: that may change, but nobody will say so."""
        self._step, self._due = len(self._looks), None
        self._poll_at = now + self._poll
        self._plan()

    def _restart(self, now: float) -> None:
        if self._looks:
            self._step, self._began, self._due = 0, now, None
            self.at, self.by_reserve = now, False
        else:
            self.hint()

    def _set_poll(self, now: float) -> None:
        self._poll_at = now + self._poll * random.uniform(0.9, 1.0)

    def _plan(self) -> None:
        asked = [self._due] if self._due is not None else []
        if self._step < len(self._looks):
            asked.append(self._began + self._looks[self._step])
        self.at, self.by_reserve = min(
            [(self._poll_at, self._polls < POLLS or not self._looks), *((at, False) for at in asked)]
        )


class Listener:
    """LISTEN on PostgreSQL.

    Args:
        tell: called in the event loop with kinds, and whether one of theirs came or one that may hide theirs.
    """

    def __init__(self, tell: Callable[[Iterable[str], bool], None]) -> None:
        self._tell = tell
        self._connection: Any = None
        self._channels: dict[str, set[str]] = {}

    async def look(self, link: Link, kinds: Sequence[str], ending: Ending) -> list[Listening]:
        """Ask what is ready, and be told from now on.

        Args:
            link: whose connection listens; `heard` is told of its notifications.
            kinds: which.
            ending: when to give that up.
        """
        return await link.call(lambda queue: self._look(queue, kinds), ending)

    def heard(self, channel: str, kind: str) -> None:
        """A notification came."""
        kinds = self._channels.get(channel, set())
        self._tell([kind] if kind in kinds else [], True)
        self._tell(kinds - {kind}, False)

    def _look(self, queue: Queue[Any], kinds: Sequence[str]) -> list[Listening]:
        connection = queue.connection
        assert isinstance(connection, psycopg.Connection)
        if connection is not self._connection:
            self._connection, self._channels = connection, {}
        found = _ask(queue, kinds)
        new = {one.channel for one in found} - self._channels.keys()
        for one in found:
            self._channels.setdefault(one.channel, set()).add(one.kind)
        for channel in sorted(new):
            connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
        # what was pushed before is looked for now, what is pushed after is heard
        return _ask(queue, kinds) if new else found


def _ask(queue: Queue[Any], kinds: Sequence[str]) -> list[Listening]:
    parts = range(0, len(kinds), KINDS_A_CALL)
    return list(itertools.chain(*(queue.listen(kinds[one : one + KINDS_A_CALL]) for one in parts)))


class Waiter:
    """Waiting in the server, on MariaDB and MySQL, over a connection that does nothing else.

    Args:
        link: it.
        kinds: all of them.
        seconds: how long to wait at the most.
        tell: as of `Listener`.
    """

    def __init__(
        self, link: Link, kinds: Sequence[str], seconds: float, tell: Callable[[Iterable[str], bool], None]
    ) -> None:
        self._link = link
        self._kinds = [*kinds]
        self._seconds = min(seconds, LONGEST_WAIT_SECONDS)
        self._tell = tell
        self._task: asyncio.Task[None] | None = None
        self._is_over = False

    def want(self, kinds: Sequence[str], failed: Callable[[BaseException], None]) -> None:
        """Wait for some of the kinds from now on, unless that is so already.

        Of more than a call takes, those come next that weren't waited for last.
        """
        among = set(kinds)
        if among and (self._task is None or self._task.done()):
            wanted = [kind for kind in self._kinds if kind in among][:KINDS_A_CALL]
            self._kinds = [*(kind for kind in self._kinds if kind not in wanted), *wanted]
            self._task = asyncio.create_task(self._wait(wanted), name="pyqueue-wait")
            self._task.add_done_callback(
                lambda task: task.cancelled() or (error := task.exception()) is None or failed(error)
            )

    async def _wait(self, kinds: Sequence[str]) -> None:
        seconds = self._seconds if len(kinds) == len(self._kinds) else min(self._seconds, PART_SECONDS)
        # a wait that begins after `stop`, because its connection was being opened then, would have no end
        found = await self._link.call(lambda queue: None if self._is_over else queue.wait(kinds, seconds))
        self._task = None
        # also where there is none, so that the next wait begins
        self._tell([] if found is None else [found], True)

    async def stop(self, other: Link) -> None:
        """End a wait that is under way, by way of another connection of the same user's."""
        self._is_over = True
        if self._task is None or self._task.done():
            return
        self._task.cancel()
        with contextlib.suppress(Exception):
            number = self._link.thread_id()
            if number is not None and not await other.call(lambda queue: _kill(queue, number)):
                self._link.abandon()


def _kill(queue: Queue[Any], number: int) -> bool:
    """End a session; returns False where this login may not: what waits there runs as the queue's owner."""
    try:
        queue.connection.kill(number)
    except Exception as error:
        said = dialect.failure(error)
        if said is None or said.lost:
            raise
        return False
    return True
