"""Workers: what takes messages and runs handlers for them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import platform
import secrets
import threading
from collections.abc import Callable
from typing import TypedDict, Unpack

from pyqueue_sql.connect import is_mysql
from pyqueue_sql.worker.connecting import shares_sessions
from pyqueue_sql.worker.engine import Engine
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.link import log
from pyqueue_sql.worker.processes import Start, supervise, until_stopped
from pyqueue_sql.worker.settings import Settings

SHARED_POLL_SECONDS = 1.0
"""Where a pooler keeps a worker from being told, at the most."""


class WorkerOptions(TypedDict, total=False):
    """Options of `Worker` and `AsyncWorker`."""

    schema: str | None
    """Where the queue is, None: as the server has it. On MariaDB and MySQL a database."""
    concurrency: int
    """How many handlers run at once in a process: so many functions, and so many coroutines; 1 unless
    given."""
    poll_seconds: float
    """How often to look without being told that something has come; 15 unless given."""
    notify: bool
    """Be told. False: the poll is all there is. Behind a pooler that shares sessions that is so in any case:
    a worker finds out, says so, and looks every second."""
    grace_seconds: float
    """How long handlers may go on after `stop`; 30 unless given."""
    heartbeat_seconds: float
    """How long the worker may be silent before others free what it holds; 30 unless given. On a direct
    connection to PostgreSQL its session tells at once."""
    name: str | None
    """What it is called in the database, with a random end: one that is started again is another. None: the
    host and the number of the process."""
    drain: bool
    """End when nothing is ready any more."""
    max_messages: int | None
    """End after so many."""
    upkeep: bool
    """False: leave ticking schedules, pruning, and freeing what the dead held to others."""


def _settings(url: str, handlers: Handlers, options: WorkerOptions) -> Settings:
    named = options.get("name") or f"{platform.node()[:100]}-{os.getpid()}"
    given: WorkerOptions = {**options, "name": f"{named}-{secrets.token_hex(3)}"}
    settings = Settings(url, **given)  # pyright: ignore[reportArgumentType]
    for name in ("concurrency", "poll_seconds", "heartbeat_seconds", "max_messages"):
        number = getattr(settings, name)
        if number is not None and number <= 0:
            raise ValueError(f"{name} {number}: more than 0")
    if not handlers:
        raise ValueError("a worker without handlers")
    return settings


async def _as_it_can(settings: Settings) -> Settings:
    """Return the settings without what a pooler that shares sessions makes impossible."""
    if not settings.notify or is_mysql(settings.url):
        return settings
    if not await asyncio.to_thread(shares_sessions, settings.url):
        return settings
    seconds = min(settings.poll_seconds, SHARED_POLL_SECONDS)
    log.warning(
        "a pooler shares the sessions of the server, so nothing is heard over it: going on without being"
        " told, with a look every %g s; a connection to the server itself is better, else say notify=False",
        seconds,
        extra={"worker": settings.name},
    )
    return dataclasses.replace(settings, notify=False, poll_seconds=seconds)


class AsyncWorker:
    """A worker in the running event loop.

    Functions run in threads and coroutines in the event loop. Messages are taken in batches no larger than
    what is done in half a second, their holds are renewed until their handlers end, and they are acknowledged
    in batches. Kinds take turns, message by message. Where the database goes away the worker waits for it,
    with pauses that grow and differ; what was done meanwhile is acknowledged when it is back.

    Args:
        url: of the database, as of `pyqueue_sql.connect.connect`.
        handlers: what to run.
        **options: see `WorkerOptions`.

    Raises:
        ValueError: there is no handler, or a number is out of its range.
    """

    def __init__(self, url: str, handlers: Handlers, **options: Unpack[WorkerOptions]) -> None:
        self._handlers = handlers
        self._settings = _settings(url, handlers, options)
        self._running: tuple[asyncio.AbstractEventLoop, Engine] | None = None
        self._stops = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """What it is called in the database."""
        return self._settings.name

    async def run(self) -> None:
        """Work until `stop`, or until it is done.

        Raises:
            ConnectionFailed: no connection could be made at the start. One that is lost later is made again.
            QueueError: the queue refused what every worker does.
        """
        engine = Engine(await _as_it_can(self._settings), self._handlers)
        with self._lock:
            self._running = asyncio.get_running_loop(), engine
            for _ in range(min(self._stops, 2)):
                engine.stop()
        try:
            await engine.run()
        finally:
            with self._lock:
                self._running = None

    def stop(self) -> None:
        """Take no more messages, and end once the handlers have; from any thread.

        When it comes again, and when the grace is over: cancel coroutines, leave functions alone, and give
        back what is held without counting the attempt.
        """
        with self._lock:
            self._stops += 1
            if self._running is not None:
                loop, engine = self._running
                loop.call_soon_threadsafe(engine.stop)


class Worker:
    """A worker that blocks, in an event loop of its own or in several processes; else as `AsyncWorker`.

    In the main thread SIGTERM and SIGINT are its `stop`.

    Args:
        url: of the database, as of `pyqueue_sql.connect.connect`.
        handlers: what to run; for several processes functions that can be imported.
        processes: how many. One that dies is started again.
        initialize: called first in each of several processes, to set up logging, say; can be imported.
        **options: see `WorkerOptions`; for several processes the numbers hold for each.

    Raises:
        ValueError: as `AsyncWorker`.
        TypeError: handlers for several processes can't be imported.
    """

    def __init__(
        self,
        url: str,
        handlers: Handlers,
        *,
        processes: int = 1,
        initialize: Callable[[], object] | None = None,
        **options: Unpack[WorkerOptions],
    ) -> None:
        if processes < 1:
            raise ValueError(f"processes {processes}: at least 1")
        self._processes = processes
        self._worker = AsyncWorker(url, handlers, **options)
        self._start = Start(url, handlers, options, initialize) if processes > 1 else None
        self._stops = threading.Semaphore(0)

    def run(self) -> None:
        """Work until `stop`, or until it is done; raises what `AsyncWorker.run` does."""
        if self._start is None:
            asyncio.run(until_stopped(self._worker))
        else:
            supervise(self._processes, self._start, self._stops)

    def stop(self) -> None:
        """As that of `AsyncWorker`; from any thread."""
        self._stops.release()
        self._worker.stop()
