"""Running a handler for one delivery: functions in threads, coroutines in the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyqueue_sql.calls import tracing
from pyqueue_sql.worker.answers import Answer
from pyqueue_sql.worker.context import AsyncContext, Connections, Context, Stopping
from pyqueue_sql.worker.settling import Concluding

if TYPE_CHECKING:
    from pyqueue_sql.worker.board import Board
    from pyqueue_sql.worker.delivery import Delivery

CANCEL_SECONDS = 2.0
"""For coroutines to end once they are cancelled."""
HANDLING = "pyqueue-handler-"
"""What the names of threads and tasks that run handlers begin with."""
TURN_SECONDS = 0.005
"""For how long handlers that never wait may keep the event loop."""


def run(delivery: Delivery, connections: Connections, stopping: Stopping) -> None:
    """Run a function for a delivery."""
    handler = delivery.handler
    context = Context(delivery, connections, stopping) if handler.wants_context else None
    with (
        Concluding(delivery, connections.url, _is_interrupt) as concluding,
        tracing.processing(delivery.message, Answer),
        contextlib.ExitStack() as stack,
    ):
        for around in handler.around:
            if not inspect.isasyncgenfunction(around):
                stack.enter_context(contextlib.contextmanager(around)(delivery.message))
        concluding.answer = handler.function(*handler.arguments(delivery.message, context))


async def run_async(delivery: Delivery, connections: Connections, stopping: Stopping) -> None:
    """Run a coroutine for a delivery."""
    handler = delivery.handler
    context = AsyncContext(delivery, connections, stopping) if handler.wants_context else None
    task = asyncio.current_task()

    def passes(error: BaseException) -> bool:
        match error:
            case asyncio.CancelledError():
                return delivery.is_given_up
            case GeneratorExit():  # of a loop that was closed
                return not _is_current(task)
            case _:  # nothing else is set to take Ctrl-C, as `asyncio.run` and a worker are
                return _is_interrupt(error) and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    with (
        Concluding(delivery, connections.url, passes) as concluding,
        tracing.processing(delivery.message, Answer),
    ):
        async with contextlib.AsyncExitStack() as stack:
            for around in handler.around:
                if inspect.isasyncgenfunction(around):
                    await stack.enter_async_context(contextlib.asynccontextmanager(around)(delivery.message))
                else:
                    stack.enter_context(contextlib.contextmanager(around)(delivery.message))
            arguments = handler.arguments(delivery.message, context)
            if handler.max_seconds is None:
                concluding.answer = await handler.function(*arguments)
            else:
                async with asyncio.timeout(handler.max_seconds):
                    concluding.answer = await handler.function(*arguments)


def _is_interrupt(error: BaseException) -> bool:
    """Whether it is Ctrl-C, which comes to the main thread alone; there `drain` of the kit runs handlers."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _is_current(task: asyncio.Task[Any] | None) -> bool:
    try:
        return asyncio.current_task() is task
    except RuntimeError:
        return False


class Runners:
    """As many threads and as many tasks as handlers may run at once.

    Args:
        board: what waits for them.
        connections: for their transactions.
        stopping: whether the worker is about to end.
    """

    def __init__(self, board: Board, connections: Connections, stopping: Stopping) -> None:
        self._board = board
        self._connections = connections
        self._stopping = stopping
        self._added = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closing = False
        board.on_added = self._added.set

    def start(self, functions: bool, coroutines: bool, failed: Callable[[BaseException], None]) -> None:
        """Start them.

        Args:
            functions: whether there are handlers for threads.
            coroutines: whether there are handlers for tasks.
            failed: called where a runner itself fails.
        """
        for number in range(self._board.slots):
            if functions:
                threading.Thread(target=self._thread, name=f"{HANDLING}{number}", daemon=True).start()
            if coroutines:
                task = asyncio.create_task(self._task(), name=f"{HANDLING}{number}")
                task.add_done_callback(lambda task: task.cancelled() or _report(task.exception(), failed))
                self._tasks.append(task)

    def close(self) -> None:
        """Let no other handler begin: threads end after what they do, and tasks when they are cancelled."""
        self._is_closing = True
        self._board.close()

    async def stop(self) -> None:
        """End the tasks, once closed."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CANCEL_SECONDS)

    def _thread(self) -> None:
        delivery: Delivery | None = None
        while (delivery := self._board.wait(delivery)) is not None:
            if not delivery.is_given_up:
                run(delivery, self._connections, self._stopping)

    async def _task(self) -> None:
        delivery: Delivery | None = None
        since = time.monotonic()
        task = asyncio.current_task()
        assert task is not None
        while not self._is_closing:
            with contextlib.suppress(asyncio.CancelledError):  # a handler may have cancelled its own task
                if task.cancelling():
                    while task.uncancel():
                        pass
                    await asyncio.sleep(0)  # one that is still to come comes here, before the next message
                delivery = self._board.take(True, delivery)
                if delivery is None:
                    self._added.clear()
                    await self._added.wait()
                    since = time.monotonic()
                    continue
                if not delivery.is_given_up:
                    await run_async(delivery, self._connections, self._stopping)
                if time.monotonic() - since > TURN_SECONDS:
                    await asyncio.sleep(0)
                    since = time.monotonic()


def _report(error: BaseException | None, failed: Callable[[BaseException], Any]) -> None:
    if error is not None:
        failed(error)
