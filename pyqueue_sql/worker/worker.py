"""A worker that blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Unpack

from pyqueue_sql.worker.aio import AsyncWorker
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.processes import Start, run, supervise
from pyqueue_sql.worker.settings import WorkerOptions


class Worker:
    """A worker that blocks, in an event loop of its own or in several processes; else as `AsyncWorker`.

    In the main thread SIGTERM, SIGINT and SIGHUP are its `stop`.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
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
        if processes > 1 and options.get("health") is not None:
            raise ValueError(f"health {options.get('health')!r}: for one process, not for {processes}")
        self._processes = processes
        self._worker = AsyncWorker(url, handlers, **options)
        self._start = Start(url, handlers, options, initialize) if processes > 1 else None
        self._stops = threading.Semaphore(0)

    def run(self) -> None:
        """Work until `stop`, or until it is done; raises what `AsyncWorker.run` does."""
        if self._start is None:
            run(self._worker)
        else:
            supervise(self._processes, self._start, self._stops)

    def stop(self) -> None:
        """As that of `AsyncWorker`; from any thread."""
        self._stops.release()
        self._worker.stop()
