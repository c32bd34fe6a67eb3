"""Progress bars of the demo: what the counters of the queue say, every two seconds."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from rich import progress as bars

from examples.flights.pipeline import IN, WAYS
from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

EVERY_SECONDS = 2.0
LINE_SECONDS = 15.0


class Progress:
    """Shows how it goes, as a context manager; on no terminal a line every fifteen seconds."""

    def __init__(self, url: str, total: int, console: Console) -> None:
        self._url = url
        self._total = total
        self._console = console
        self._bars = bars.Progress(
            bars.TextColumn("{task.description:22}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks = {
            name: self._bars.add_task(name, total=total) for name in ("loaded", "joined", "written")
        }
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._line = 0.0

    def __enter__(self) -> Progress:
        self._bars.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        with contextlib.suppress(Exception):
            self._show()
        self._bars.stop()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._console.print(text, highlight=False)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            with contextlib.suppress(Exception):  # the queue isn't there yet, or the server is busy
                self._show()

    def _show(self) -> None:
        with connect(self._url) as connection:
            stats = {one.kind: one for one in Queue(connection).stats()}
        done = {
            "loaded": stats[IN].pushed_total if IN in stats else 0,
            "joined": stats[IN].acked_total if IN in stats else 0,
            "written": sum(stats[way].acked_total for way in WAYS if way in stats),
        }
        for name, count in done.items():
            self._bars.update(self._tasks[name], completed=count)
        if not self._console.is_terminal and time.monotonic() >= self._line:
            self._line = time.monotonic() + LINE_SECONDS
            self.say("  ".join(f"{name} {count:,} of {self._total:,}" for name, count in done.items()))
