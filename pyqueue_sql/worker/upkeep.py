"""What keeps the queue up besides the messages: ticking schedules, pruning, and freeing what dead workers
held.

Two of the workers that are there do it, those whom the database asks (`reaps` of the heartbeat); any number
might call all of this at once. It goes over a connection of its own, since a prune may take its time and
holds have to be renewed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from pyqueue_sql.calls import dialect
from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker.link import Link, log

if TYPE_CHECKING:
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.worker.keeping import Keeper

REAP_SECONDS = 0.8
TICK_SECONDS = 1.5
"""Between two calls of the same worker; there are two that call."""
PRUNE_SECONDS = 60.0
PRUNE_ROWS = 5000
"""In one call; while there are so many the next one comes soon."""
FIRST_ROWS = 100
"""At the start of a worker."""
SOON_SECONDS = 1.0
REFUSED_SECONDS = 60.0
"""After which what the database refused is tried again."""
GIVEN_UP_SECONDS = 5.0
"""The same of what it gave up, because it or a lock took too long, say."""
LOOK_SECONDS = 0.5
"""How often to see whether it is up to this worker; that asks nobody."""


def _tick(queue: Queue[Any]) -> float:
    queue.tick()
    return TICK_SECONDS


def _prune(queue: Queue[Any]) -> float:
    return SOON_SECONDS if queue.prune(PRUNE_ROWS) >= PRUNE_ROWS else PRUNE_SECONDS


@dataclass(eq=False, slots=True)
class _Duty:
    """What is to be done again and again."""

    name: str
    work: Callable[[Queue[Any]], float]
    """Does it; returns in how many seconds to do it again."""
    at: float = 0.0
    """When next, by the monotonic clock."""
    refused: str = ""
    """What the database said last, where it refused."""

    def attempt(self, queue: Queue[Any]) -> tuple[float, str]:
        """Do it; returns in how many seconds again, and what the database refused it with."""
        try:
            return self.work(queue), ""
        except Exception as error:
            if isinstance(error, QueueError):
                return REFUSED_SECONDS, str(error)
            said = dialect.failure(error)
            given_up = said is not None and (said.killed or said.victim)
            if said is None or (said.passes and not given_up):
                raise
            # the others are not to wait until there is time enough for it, or nobody has its locks
            return GIVEN_UP_SECONDS if given_up else REFUSED_SECONDS, said.message


class Upkeep:
    """See above.

    Args:
        keeper: knows whether it is up to this worker.
        link: what calls go over.
    """

    def __init__(self, keeper: Keeper, link: Link) -> None:
        self.link = link
        self._keeper = keeper
        self._duties = (_Duty("reap", self._reap), _Duty("tick", _tick), _Duty("prune", _prune))

    async def begin(self) -> None:
        """Tick and prune a little, whoever else does: what is due is there for who drains, and what the
        database warns of is in the log."""
        await self._do(_Duty("tick", _tick), self._keeper.link)
        await self._do(_Duty("prune", lambda queue: float(queue.prune(FIRST_ROWS))), self._keeper.link)

    async def run(self) -> None:
        """Do it, for ever."""
        while True:
            now = time.monotonic()
            for duty in self._duties if self._keeper.is_asked else ():
                if now >= duty.at:
                    await self._do(duty, self.link)
            await asyncio.sleep(LOOK_SECONDS * random.uniform(0.5, 1.0))

    def _reap(self, queue: Queue[Any]) -> float:
        # others may have lost theirs as well: they have the time of a heartbeat to come back
        reopened_at = max(self.link.reopened_at, self._keeper.link.reopened_at)
        wait = reopened_at + self._keeper.heartbeat_seconds - time.monotonic()
        if wait > 0:
            return wait
        for dead in queue.reap():
            log.warning("worker %s is gone", dead.worker, extra={"gone": dead.worker, "freed": dead.freed})
        return REAP_SECONDS

    async def _do(self, duty: _Duty, link: Link) -> None:
        seconds, refused = await link.call(duty.attempt)
        if refused and refused != duty.refused:
            log.warning("%s: %s", duty.name, refused, extra={"link": "upkeep"})
        duty.refused = refused
        duty.at = time.monotonic() + seconds * random.uniform(0.8, 1.0)


def hear_warnings(connection: object) -> None:
    """Log what the database warns of on this connection; PostgreSQL alone does."""
    if isinstance(connection, psycopg.Connection):
        connection.add_notice_handler(_warned)  # pyright: ignore[reportUnknownMemberType]


def _warned(notice: psycopg.errors.Diagnostic) -> None:
    if notice.severity_nonlocalized == "WARNING":
        hint = f" ({notice.message_hint})" if notice.message_hint else ""
        log.warning("the database warns: %s%s", notice.message_primary, hint)
