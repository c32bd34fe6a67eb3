"""Handlers run in the caller's process, over the caller's connection, until nothing is ready."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from pyqueue_sql.calls.client import Queue
from pyqueue_sql.models import Message
from pyqueue_sql.worker.context import Connections, Stopping
from pyqueue_sql.worker.delivery import Delivery
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.running import run, run_async
from pyqueue_sql.worker.settling import settle

WORKER = "drain"


@dataclass(frozen=True, slots=True)
class Handled:
    """A delivery, and what became of it."""

    kind: str
    key: str
    outcome: str
    """acked, retry, dead, moved, duplicate or lost."""
    error: BaseException | None
    """What its handler raised, or why its payload was refused."""
    message: Message


class _Same(Connections):
    """In place of connections for transactions, the one that everything goes over."""

    def __init__(self, connection: Any, schema: str | None) -> None:
        self.url = ""
        self._connection = connection
        self.schema = schema

    @contextmanager
    def transaction(self) -> Generator[Any]:
        yield self._connection

    @asynccontextmanager
    async def async_transaction(self) -> AsyncGenerator[Any]:
        raise NotImplementedError("drain() has no async connection for context.transaction(); a worker has")
        yield  # so that this is a generator


def drain(
    queue: Queue[Any],
    handlers: Handlers,
    kinds: str | Iterable[str] | None = None,
    *,
    max_messages: int = 10_000,
) -> list[Handled]:
    """Run handlers, as a worker would, until nothing is ready: what they push is worked on, too.

    A message that is to be tried again later waits for the clock. In a transaction of the caller's everything
    is part of that, `context.transaction()` of plain functions too; under autocommit what a handler does
    there is not undone where it fails.

    Args:
        queue: where the messages are.
        handlers: what to run; a coroutine runs in an event loop of its own.
        kinds: only of these, so that with an empty list nothing is handled; None: of all that have a handler.
        max_messages: end with an error after so many, as a message that makes another has no end.

    Returns:
        What was handled, in order.

    Raises:
        LookupError: one of the kinds has no handler.
        RuntimeError: there were more messages.
    """
    wanted = handlers if kinds is None else [kinds] if isinstance(kinds, str) else kinds
    chosen = handlers.only(wanted)
    connections, stopping = _Same(queue.connection, queue.schema), Stopping()
    handled: list[Handled] = []
    while True:
        taken = [message for kind in chosen for message in queue.reserve(kind, WORKER)]
        if not taken:
            return handled
        for message in taken:
            if len(handled) >= max_messages:
                raise RuntimeError(f"{max_messages} messages were handled, and there are more")
            delivery = Delivery(message, chosen[message.kind], str(message.receipt), 0.0, 0.0)
            if delivery.handler.is_async:
                _in_a_loop(delivery, connections, stopping)
            else:
                run(delivery, connections, stopping)
            outcome = "acked" if delivery.is_acked else settle(queue, [delivery])[0][1]
            error = delivery.failure and delivery.failure.error
            handled.append(Handled(message.kind, message.key, outcome, error, message))


def _in_a_loop(delivery: Delivery, connections: Connections, stopping: Stopping) -> None:
    # in a thread, because the test itself may run in an event loop
    thread = threading.Thread(
        target=lambda: asyncio.run(run_async(delivery, connections, stopping)), name="pyqueue-drain"
    )
    thread.start()
    thread.join()
