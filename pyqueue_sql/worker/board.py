"""What a worker holds: what waits for a handler, what runs, and what became of the rest.

The event loop and the threads of handlers share it, so all that changes is changed under one lock.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyqueue_sql.worker.delivery import GIVE_BACK, Delivery
from pyqueue_sql.worker.pace import Pace

if TYPE_CHECKING:
    from pyqueue_sql.worker.handler import Handler
    from pyqueue_sql.worker.handlers import Handlers


@dataclass(eq=False, slots=True)
class _Kind:
    """What is held of one kind."""

    handler: Handler
    waiting: deque[Delivery] = field(default_factory=deque[Delivery])
    running: int = 0


class Board:
    """See above.

    Args:
        handlers: whose messages they are.
        slots: how many handlers of functions run at once, and how many of coroutines.
        tell: called from any thread, where `finished` has something again or there is room for more.
    """

    def __init__(self, handlers: Handlers, slots: int, tell: Callable[[], None]) -> None:
        self.slots = slots
        self.pace = Pace(slots, len(handlers))
        self.held: dict[str, Delivery] = {}
        self._kinds = {kind: _Kind(handler) for kind, handler in handlers.items()}
        self._turns = {
            is_async: deque(kind for kind, one in handlers.items() if one.is_async is is_async)
            for is_async in (False, True)
        }
        self._changed = threading.Condition(threading.Lock())
        self._finished: list[Delivery] = []
        self._tell = tell
        self._has_told = False
        self._is_closed = False
        self.on_added: Callable[[], None] = lambda: None

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """Let messages of a kind, which were just reserved, wait for their handlers."""
        with self._changed:
            for delivery in deliveries:
                self._kinds[delivery.message.kind].waiting.append(delivery)
                self.held[delivery.receipt] = delivery
            self.pace.got(deliveries[0].message.kind, len(deliveries))
            self._changed.notify_all()
        self.on_added()

    def take(self, is_async: bool, done: Delivery | None = None) -> Delivery | None:
        """Return what the next handler is for, None where nothing waits.

        Args:
            is_async: whether it is for a coroutine.
            done: what the caller took before, and is done with.
        """
        with self._changed:
            if done is not None:
                self._finish(done)
            return self._next(is_async)

    def wait(self, done: Delivery | None = None) -> Delivery | None:
        """Return what the next function is for, once there is something; None: there will be no more."""
        with self._changed:
            if done is not None:
                self._finish(done)
            while not self._is_closed:
                if (found := self._next(is_async=False)) is not None:
                    return found
                self._changed.wait()
            return None

    def _next(self, is_async: bool) -> Delivery | None:
        turns = self._turns[is_async]
        for _ in range(len(turns)):
            one = self._kinds[turns[0]]
            turns.rotate(-1)
            if one.waiting and one.running < (one.handler.concurrency or self.slots):
                one.running += 1
                delivery = one.waiting.popleft()
                delivery.started = time.monotonic()
                return delivery
        return None

    def _finish(self, delivery: Delivery) -> None:
        kind = self._kinds[delivery.message.kind]
        kind.running -= 1
        delivery.seconds = time.monotonic() - delivery.started
        self.pace.took(delivery.message.kind, delivery.seconds)
        self._finished.append(delivery)
        if kind.handler.concurrency is not None and kind.waiting:
            self._changed.notify()
        if not self._has_told:
            self._has_told = True
            self._tell()

    def finished(self) -> list[Delivery]:
        """Return what handlers are done with; each comes once."""
        with self._changed:
            found, self._finished = self._finished, []
            self._has_told = False
            return found

    def room(self, kind: str) -> int:
        """Return how many messages of a kind to reserve now."""
        with self._changed:
            one = self._kinds[kind]
            busy = (
                each.running + len(each.waiting)
                for each in self._kinds.values()
                if each.handler.is_async is one.handler.is_async
            )
            free = self.slots - sum(busy)
            limit = one.handler.concurrency
            if limit is not None:
                free = min(free, limit - one.running - len(one.waiting))
            refill = self.pace.ahead(kind, limit) - len(one.waiting)
            # not one by one as they are done, but half a batch at least
            if refill < one.handler.max_messages and 2 * len(one.waiting) > self.pace.last(kind):
                refill = 0
            return min(max(free, refill, 0), one.handler.max_messages)

    def surplus(self) -> list[Delivery]:
        """Take back what waits and takes its handlers far longer than it seemed, and return it."""
        with self._changed:
            found: list[Delivery] = []
            now = time.monotonic()
            running = [one for one in self.held.values() if one.started and not one.settlement]
            for delivery in running:
                self.pace.takes(delivery.message.kind, now - delivery.started)
            for kind, one in self._kinds.items():
                keep = 2 * self.pace.ahead(kind, one.handler.concurrency) + self.slots
                while len(one.waiting) > keep:
                    found.append(one.waiting.pop())
            return found

    def hand_back(self, deliveries: Sequence[Delivery]) -> None:
        """Let the database have again what no handler was given."""
        with self._changed:
            for one in deliveries:
                one.settlement = GIVE_BACK
            self._finished += deliveries
            if deliveries and not self._has_told:
                self._has_told = True
                self._tell()

    def forget(self, deliveries: Iterable[Delivery]) -> None:
        """They are settled."""
        with self._changed:
            for delivery in deliveries:
                self.held.pop(delivery.receipt, None)

    def holding(self) -> list[Delivery]:
        """Return all that is held."""
        with self._changed:
            return list(self.held.values())

    @property
    def is_idle(self) -> bool:
        """Whether no message waits for a handler, and no handler runs."""
        with self._changed:
            return not any(one.waiting or one.running for one in self._kinds.values())

    def close(self) -> None:
        """Let `wait` return None."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
