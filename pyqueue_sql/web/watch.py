"""One look at the queue for all who watch the page, and what the last ones said."""

from __future__ import annotations

import threading
import time

from pyqueue_sql.overview import Overview, Rates, open_look

REST_S = 2.0


class Watch:
    """Looks when somebody asks, but not more often than every two seconds.

    Args:
        url: of the database.
        schema: where the queue is; None: the current schema.
    """

    def __init__(self, url: str, schema: str | None) -> None:
        self._url, self._schema = url, schema
        self._lock = threading.Lock()
        self._seen: Overview | None = None
        self._looked = 0.0
        self.rates = Rates()

    def seen(self) -> Overview:
        """Return what the newest look says; errors are those of `open_look`."""
        with self._lock:
            if self._seen is None or time.monotonic() - self._looked > REST_S:
                with open_look(self._url, self._schema) as look:
                    self._seen = look.overview()
                self.rates.add(self._seen)
                self._looked = time.monotonic()
            return self._seen

    def forget(self) -> None:
        """Look again when somebody asks, since something was changed."""
        with self._lock:
            self._seen = None
