"""Telling the database what handlers said of their messages."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker import logs
from pyqueue_sql.worker.link import Link, log
from pyqueue_sql.worker.settling import Group, groups

if TYPE_CHECKING:
    from pyqueue_sql.worker.board import Board
    from pyqueue_sql.worker.delivery import Delivery

GATHER_SECONDS = 0.002
"""How long what is done waits for more, so that one call settles it."""


class Finisher:
    """See above.

    Args:
        board: what is held, and what handlers are done with.
        link: what calls go over.
        wake: called where there is room for more.
    """

    def __init__(self, board: Board, link: Link, wake: Callable[[], None]) -> None:
        self.link = link
        self.counts: Counter[str] = Counter()
        """How many messages had which outcome, and how many of those that came back count no attempt."""
        self._board = board
        self._wake = wake
        self._done = asyncio.Event()
        self._is_closing = False

    def note(self) -> None:
        """Handlers are done with something."""
        self._done.set()

    def close(self) -> None:
        """Let `run` end after what is done by now."""
        self._is_closing = True
        self._done.set()

    async def run(self) -> None:
        """Do it as it comes, until `close`."""
        while True:
            await self._done.wait()
            if not self._board.is_idle:
                await asyncio.sleep(GATHER_SECONDS)
            self._done.clear()
            finished = self._board.finished()
            self._wake()
            await self.settle([one for one in finished if not one.is_given_up])
            self._board.forget(one for one in finished if one.is_given_up)
            if self._is_closing:
                return

    async def settle(self, deliveries: list[Delivery]) -> None:
        """Do it now.

        Args:
            deliveries: each with its settlement.
        """
        acked = [one for one in deliveries if one.is_acked]
        self._conclude(acked, ["acked"] * len(acked))
        todo = groups(one for one in deliveries if not one.is_acked)
        while todo:
            group = todo.pop()
            try:
                outcomes = await self.link.call(functools.partial(Group.apply, group))
            except QueueError as error:
                apart = group.apart(error)
                todo += apart
                if not apart:
                    self._conclude(group.deliveries, ["refused"] * len(group.deliveries))
            else:
                self._conclude(group.deliveries, [one.outcome for one in outcomes])

    def _conclude(self, deliveries: list[Delivery], outcomes: list[str]) -> None:
        self._board.forget(deliveries)
        self.counts.update(map(_ended, deliveries, outcomes))
        logs.settled(zip(deliveries, outcomes, strict=True), log.isEnabledFor(logging.DEBUG))
        self._wake()


def _ended(delivery: Delivery, outcome: str) -> str:
    given_back = delivery.settlement is not None and delivery.settlement.options.get("count") is False
    return "given_back" if given_back and outcome == "retry" else outcome
