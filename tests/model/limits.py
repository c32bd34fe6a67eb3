"""Limits: `max_reserved` is exact; `rate_per_second` is a bucket that saves a second, or 1.5 deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.model.entries import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.model.entries import Entry


def free_places(most: int, entries: Iterable[Entry], now: int) -> tuple[int, int]:
    """How many more may be held: at least, and at most, since what has lost its place may be held again.

    That is where the clock was set back, and nobody else has got the place.
    """
    held = [e for e in entries if e.state(now) == "reserved"]
    return max(0, most - len(held)), max(0, most - sum(not e.placeless for e in held))


@dataclass
class Bucket:
    """Tokens of a kind: at least so many are there, at most as many, since a session may have some ahead."""

    rate: float
    since: int
    least: float = 1.0
    most: float = 2.0

    def tokens(self, now: int) -> tuple[int, int]:
        """How many deliveries there may be."""
        if now < self.since:  # the clock was set back: what is spent stays so for a second at most
            self.least, self.most = -self.rate, 2 * self._full()
        passed = max(now - self.since, 0) / SECOND * self.rate
        self.least = min(self.least + passed, self._full())
        self.most = min(self.most + passed, 2 * self._full())
        self.since = now
        return max(0, int(self.least - 1e-6)), int(self.most + 1e-6)

    def spend(self, tokens: int) -> None:
        """Take some."""
        self.least -= tokens
        self.most -= tokens

    def _full(self) -> float:
        return max(self.rate, 1.5)
