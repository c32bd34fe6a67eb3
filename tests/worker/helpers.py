"""What the tests of workers share: threads in which they run, and waiting for what becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Unpack

from pyqueue_sql.worker import AsyncWorker, Handlers, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyqueue_sql.worker import WorkerOptions
    from tests.conformance.harness import Session

PATIENCE_SECONDS = 60.0
LONG_SECONDS = 3600.0
"""A poll that a test doesn't live to see."""
WAITING = "select 1 from information_schema.processlist where db = database() and state = 'User sleep'"
"""Whether something waits in MariaDB or MySQL."""


def until(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """Return what the condition returns as soon as that is something."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.01)
    return found


def one_slow(queue: Session) -> tuple[Handlers, threading.Event, threading.Event]:
    """Push a message of the kind slow; return its handler, when that has begun, and what lets it end."""
    handlers, began, end = Handlers(), threading.Event(), threading.Event()

    @handlers.on("slow")
    def slow(_: object) -> None:
        began.set()
        end.wait(PATIENCE_SECONDS)

    queue.push("slow", "a")
    return handlers, began, end


def others(queue: Session) -> list[int]:
    """Return the numbers of all other connections to the database."""
    if "mysql" in type(queue).__module__:
        found = queue.execute(
            "select p.id from information_schema.processlist p"
            " where p.db = database() and p.id <> connection_id()"
        )
    else:
        found = queue.execute(
            "select a.pid from pg_stat_activity a where a.datname = current_database()"
            " and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'"
        )
    return sorted(number for (number,) in found)


def end_others(queue: Session) -> int:
    """End all other connections to the database, as a failover does; returns how many."""
    found = others(queue)
    for number in found:
        if "mysql" in type(queue).__module__:
            queue.connection.kill(number)
        else:
            queue.execute("select pg_terminate_backend(%s)", [number])
    return len(found)


class Running:
    """A worker in a thread."""

    def __init__(self, worker: Worker | AsyncWorker) -> None:
        self.worker = worker
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if isinstance(self.worker, Worker):
                self.worker.run()
            else:
                asyncio.run(self.worker.run())
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        """Tell it to stop."""
        self.worker.stop()

    def join(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for its end, and raise what it raised."""
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the worker doesn't end"
        if self.error is not None:
            raise self.error


class Workers:
    """Starts workers on a database."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._running: list[Running] = []

    def start(self, handlers: Handlers, **options: Unpack[WorkerOptions]) -> Running:
        """Run a worker in a thread until the end of the test."""
        options.setdefault("poll_seconds", LONG_SECONDS)
        running = Running(Worker(self.url, handlers, **options))
        self._running.append(running)
        return running

    @contextlib.contextmanager
    def running(self, handlers: Handlers, **options: Unpack[WorkerOptions]) -> Iterator[Running]:
        """Run a worker in a thread until the end of the block."""
        running = self.start(handlers, **options)
        yield running
        running.stop()
        running.join()

    def drain(self, handlers: Handlers, **options: Unpack[WorkerOptions]) -> None:
        """Run a worker until nothing is ready."""
        options["drain"] = True
        Worker(self.url, handlers, **options).run()

    def stop(self) -> None:
        """Stop them all, at once."""
        for running in self._running:
            running.stop()
            running.stop()
        for running in self._running:
            running.join()
