"""A worker's signals, and several processes of it: one that dies is started again."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker.aio import AsyncWorker
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.link import log
from pyqueue_sql.worker.pace import Backoff
from pyqueue_sql.worker.running import CANCEL_SECONDS, HANDLING
from pyqueue_sql.worker.settings import WorkerOptions

SIGNALS = (signal.SIGTERM, signal.SIGINT)
LOOK_SECONDS = 0.2
SOUND_SECONDS = 60.0
"""A process that lived so long is started again without much delay."""
STOPPED = 128 + signal.SIGTERM
"""The status of a process that was told to end; where that was not by us, another one is wanted."""
HURRY = signal.SIGUSR1
"""What tells a process that it was stopped again. SIGTERM doesn't: who ends a service may send that to each
process and to the one that started them, which sends it on."""
KILL_SECONDS = 15.0
"""A process that should have ended so long ago is killed."""


def run(worker: AsyncWorker) -> None:
    """Run a worker in an event loop of its own, and leave there what doesn't end when it is cancelled.

    `asyncio.run` would wait for that: for a coroutine that takes no notice, and for threads of `to_thread`.
    """
    runner = asyncio.Runner()
    try:
        runner.run(_alone(worker))
    finally:
        runner.get_loop().close()  # not the runner, which would wait
        asyncio.set_event_loop(None)


async def _alone(worker: AsyncWorker) -> None:
    try:
        await until_stopped(worker)
    finally:
        # a worker has cancelled its handlers, and waited for them
        others = {one for one in asyncio.all_tasks() if not one.get_name().startswith(HANDLING)}
        others.discard(asyncio.current_task())
        for one in others:
            one.cancel()
        if others:
            await asyncio.wait(others, timeout=CANCEL_SECONDS)
        await asyncio.get_running_loop().shutdown_asyncgens()


async def until_stopped(worker: AsyncWorker) -> None:
    """Run a worker that signals stop, where this is the main thread."""
    loop = asyncio.get_running_loop()
    parent = multiprocessing.parent_process()
    with contextlib.ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            # what a supervisor's terminal interrupts gets that from its supervisor
            stops = (
                dict.fromkeys(_ending(), worker.stop)
                if parent is None
                else {
                    signal.SIGTERM: lambda: worker.is_stopped or worker.stop(),
                    HURRY: worker.stop,
                }
            )
            for number, stop in stops.items():
                loop.add_signal_handler(number, stop)
                stack.callback(loop.remove_signal_handler, number)
        if parent is not None:
            loop.add_reader(parent.sentinel, _orphaned, loop, parent.sentinel, worker)
            stack.callback(loop.remove_reader, parent.sentinel)
        await worker.run()


def _ending() -> tuple[signal.Signals, ...]:
    """Return what ends a process; the end of its terminal does, unless `nohup` has it ignored."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return SIGNALS if is_ignored else (*SIGNALS, signal.SIGHUP)


def _orphaned(loop: asyncio.AbstractEventLoop, sentinel: int, worker: AsyncWorker) -> None:
    loop.remove_reader(sentinel)
    worker.stop()


@dataclass(frozen=True)
class Start:
    """What a process is started with.

    Raises:
        TypeError: another process couldn't import the handlers.
    """

    url: str = field(repr=False)
    handlers: Handlers
    options: WorkerOptions
    initialize: Callable[[], object] | None

    @property
    def may_end(self) -> bool:
        """Whether a process comes to its end by itself."""
        return self.options.get("drain", False) or self.options.get("max_messages") is not None

    def __post_init__(self) -> None:
        try:
            pickle.dumps((self.handlers, self.initialize))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                f"handlers for several processes have to be functions of modules: {error}"
            ) from None


def _child(start: Start, number: int) -> None:
    """Be one of several processes."""
    for ignored in (signal.SIGINT, signal.SIGHUP):  # its supervisor gets them, too
        signal.signal(ignored, signal.SIG_IGN)
    if start.initialize is not None:
        start.initialize()
    options = start.options.copy()
    if name := options.get("name"):
        options["name"] = f"{name}-{number}"
    worker = AsyncWorker(start.url, start.handlers, **options)
    try:
        run(worker)
    except Exception as error:  # out of here it would be a traceback among the records of the log
        is_clear = isinstance(error, ConnectionFailed | QueueError)
        log.error("%s", error, exc_info=None if is_clear else error, extra={"child": number})
        sys.exit(1)
    if worker.is_stopped:
        sys.exit(STOPPED)


@dataclass
class _Place:
    """One of the processes, and those that come after it."""

    number: int
    process: SpawnProcess | None = None
    started: float = 0.0
    start_at: float = 0.0
    backoff: Backoff = field(default_factory=functools.partial(Backoff, 1.0, 30.0))
    is_done: bool = False


def supervise(processes: int, start: Start, stops: threading.Semaphore) -> None:
    """Run processes until they are done, or stopped.

    Args:
        processes: how many.
        start: what each is started with.
        stops: released once for each stop.
    """
    places = [_Place(number) for number in range(1, processes + 1)]
    stopped_at: float | None = None
    with _signals(stops):
        while not all(one.is_done for one in places):
            while stops.acquire(blocking=False):
                number = signal.SIGTERM if stopped_at is None else HURRY
                stopped_at = stopped_at or time.monotonic()
                for one in places:
                    if one.process is not None and one.process.is_alive():
                        assert one.process.pid is not None
                        os.kill(one.process.pid, number)
            for one in places:
                _look_after(one, start, stopped_at)
            sentinels = [one.process.sentinel for one in places if one.process is not None]
            if sentinels:
                connection.wait(sentinels, LOOK_SECONDS)
            else:
                time.sleep(LOOK_SECONDS)


def _look_after(place: _Place, start: Start, stopped_at: float | None) -> None:
    now = time.monotonic()
    process = place.process
    if process is not None and process.is_alive():
        grace = start.options.get("grace_seconds", 30.0)
        if stopped_at is not None and now > stopped_at + grace + KILL_SECONDS:
            process.kill()
        return
    if process is not None:
        process.join()
        place.process = None
        status = process.exitcode
        place.is_done = status == 0 and start.may_end
        if not place.is_done and stopped_at is None:
            if now - place.started > SOUND_SECONDS:
                place.backoff.reset()
            pause = place.backoff.pause()
            place.start_at = now + pause
            fields = {"child": place.number, "status": status, "seconds": round(pause, 3)}
            log.error("a process died; another one will be started", extra=fields)
    if stopped_at is not None:
        place.is_done = True
    if not place.is_done and now >= place.start_at:
        # not forked: the application may have threads
        process = multiprocessing.get_context("spawn").Process(
            target=_child, args=(start, place.number), name=f"pyqueue-worker-{place.number}"
        )
        try:
            process.start()
        except OSError as error:  # of processes or memory there is no more just now: the others go on
            pause = place.backoff.pause()
            place.start_at = now + pause
            fields = {"child": place.number, "seconds": round(pause, 3)}
            log.error("no process can be started: %s; trying again", error, extra=fields)
        else:
            place.process, place.started = process, now


@contextmanager
def _signals(stops: threading.Semaphore) -> Generator[None]:
    """Let the signals that end a process be stops, where this is the main thread."""

    def stop(number: int, frame: FrameType | None) -> Any:  # noqa: ARG001
        stops.release()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in _ending()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
