"""A worker in the running event loop."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import os
import platform
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Unpack

from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.calls.options import shown
from pyqueue_sql.worker.connecting import shares_sessions
from pyqueue_sql.worker.engine import Engine
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.health import parse, serve
from pyqueue_sql.worker.link import STEP_SECONDS, in_thread, log
from pyqueue_sql.worker.settings import Settings, WorkerOptions

SHARED_POLL_SECONDS = 1.0
"""Where a pooler keeps a worker from being told, at the most."""


NUMBERS = ("concurrency", "poll_seconds", "grace_seconds", "heartbeat_seconds", "max_messages")
"""Of the options."""


def _check_types(url: object, handlers: object, options: Mapping[str, object]) -> None:
    if not isinstance(url, str):
        raise TypeError(
            f"url of type {type(url).__name__}: text is wanted, as postgresql://…; it connects by itself"
        )
    if not isinstance(handlers, Handlers):
        raise TypeError(f"handlers {shown(handlers)}: Handlers are wanted")
    for name in NUMBERS:
        number = options.get(name)
        if not (number is None or isinstance(number, int | float)):
            raise TypeError(f"{name} {number!r}: a number is wanted")


def _settings(url: str, handlers: Handlers, options: WorkerOptions) -> Settings:
    _check_types(url, handlers, options)
    named = options.get("name") or f"{platform.node()[:100]}-{os.getpid()}"
    given: WorkerOptions = {**options, "name": f"{named}-{secrets.token_hex(3)}"}
    settings = Settings(url, **given)  # pyright: ignore[reportArgumentType]
    for name in ("poll_seconds", "grace_seconds", "heartbeat_seconds"):
        number = getattr(settings, name)
        if not math.isfinite(number):
            raise ValueError(f"{name} {number}: a finite number is wanted")
    for name in ("concurrency", "poll_seconds", "heartbeat_seconds", "max_messages"):
        number = getattr(settings, name)
        if number is not None and number <= 0:
            raise ValueError(f"{name} {number}: more than 0")
    if settings.health is not None:
        parse(settings.health)
    if not handlers:
        raise ValueError("a worker without handlers")
    return settings


async def _as_it_can(settings: Settings, is_stopped: Callable[[], bool]) -> Settings:
    """Return the settings without what a pooler that shares sessions makes impossible."""
    if not settings.notify or is_mysql(settings.url):
        return settings
    shares = in_thread("look", lambda: shares_sessions(settings.url))
    while not shares.done() and not is_stopped():
        await asyncio.wait({shares}, timeout=STEP_SECONDS)
    # of an error here whoever connects next has the same
    if not shares.done() or shares.exception() is not None or not shares.result():
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
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        handlers: what to run.
        **options: see `WorkerOptions`.

    Raises:
        ValueError: there is no handler, or a number is out of its range.
        TypeError: something is of another type.
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

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` has been called."""
        return self._stops > 0

    async def run(self) -> None:
        """Work until `stop`, or until it is done.

        Raises:
            ConnectionFailed: no connection could be made at the start. One that is lost later is made again.
            QueueError: the queue refused what every worker does.
        """
        settings = await _as_it_can(self._settings, lambda: self.is_stopped)
        async with self._handlers.living() as state:
            await self._run(Engine(settings, self._handlers, state))

    async def _run(self, engine: Engine) -> None:
        with self._lock:
            self._running = asyncio.get_running_loop(), engine
            for _ in range(min(self._stops, 2)):
                engine.stop()
        try:
            async with serve(self._settings.health, engine.health) as port:
                if port is not None:
                    log.info("answers health checks", extra={"worker": self.name, "port": port})
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
