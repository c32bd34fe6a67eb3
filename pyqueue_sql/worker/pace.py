"""How much to take at once, and when to try again: rules without any waiting of their own."""

from __future__ import annotations

import random

HORIZON_SECONDS = 0.5
"""How much work waits in a worker at the most. Longer batches would save little, and what waits here waits
while another worker may have nothing to do."""
MOST_AHEAD = 2000
GROWTH = 4
"""From one batch to the next, at the most."""
WEIGHT = 0.2
"""Of the newest time in the mean."""


class Pace:
    """How many messages are done in the time that one may wait, by the mean of how long they took so far.

    Args:
        slots: how many handlers run at once.
        kinds: how many kinds share them.
    """

    def __init__(self, slots: int, kinds: int) -> None:
        self._slots = slots
        self._kinds = max(kinds, 1)
        self._mean: dict[str, float] = {}
        self._mean_of_all: float | None = None
        self._got: dict[str, int] = {}

    def took(self, kind: str, seconds: float) -> None:
        """Take note of how long a handler took."""
        mean = self._mean.get(kind, seconds)
        self._mean[kind] = mean + WEIGHT * (seconds - mean)
        mean = seconds if self._mean_of_all is None else self._mean_of_all
        self._mean_of_all = mean + WEIGHT * (seconds - mean)

    def takes(self, kind: str, seconds: float) -> None:
        """Take note of how long a handler has been running."""
        if seconds > self._mean.get(kind, 0.0):
            self.took(kind, seconds)

    def ahead(self, kind: str, limit: int | None = None) -> int:
        """Return how many messages of a kind may wait for a handler while all are busy.

        It grows step by step, so that one that was quick by chance is not taken for the rule.

        Args:
            kind: the kind.
            limit: how many handlers of it run at once, None: as many as there are.
        """
        mean = self._mean.get(kind, self._mean_of_all)
        if mean is None:
            return 0
        slots = min(self._slots, limit or self._slots)
        fit = min(int(slots * HORIZON_SECONDS / max(mean, 1e-7) / self._kinds), MOST_AHEAD)
        return min(fit, GROWTH * self.last(kind) + self._slots)

    def last(self, kind: str) -> int:
        """Return how many messages of a kind came at once the last time."""
        return self._got.get(kind, 0)

    def got(self, kind: str, messages: int) -> None:
        """Take note of how many messages of a kind came at once."""
        self._got[kind] = messages


class Backoff:
    """Pauses between attempts that grow, with most of each left to chance: what fails together comes back
    apart."""

    def __init__(self, first_seconds: float = 0.2, most_seconds: float = 3.0) -> None:
        self._first = first_seconds
        self._most = most_seconds
        self._failures = 0

    def pause(self) -> float:
        """Return how many seconds to wait after another failure."""
        most = min(self._most, self._first * 2**self._failures)
        self._failures = min(self._failures + 1, 30)
        return random.uniform(0.1 * most, most)

    def reset(self) -> None:
        """It worked."""
        self._failures = 0
