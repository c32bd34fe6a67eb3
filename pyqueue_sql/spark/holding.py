"""A thread that keeps the holds of a batch while somebody works on it."""

from __future__ import annotations

import logging
import threading
from types import TracebackType

from pyqueue_sql.spark.database import connected
from pyqueue_sql.spark.options import Options

log = logging.getLogger(__name__)


class Holding:
    """Extends the holds of a batch every third of their time, until it is told to stop.

    Args:
        options: they say where, and how long a hold is.
        stream: the reader.
        batch: its batch.
    """

    def __init__(self, options: Options, stream: str, batch: int) -> None:
        self._options = options
        self._stream = stream
        self._batch = batch
        self._seconds = options.timeout_seconds
        self._stop = threading.Event()
        # a daemon, so that a driver that ends doesn't wait for it
        self._thread = threading.Thread(target=self._run, name="pyqueue-hold", daemon=True)

    def __enter__(self) -> Holding:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds / 3):
            try:
                with connected(self._options) as database:
                    database.extend_batch(self._stream, self._batch, self._seconds)
            except Exception as error:  # the next round may succeed; if none does, the holds end
                log.warning("holds not extended: %s", type(error).__name__)
