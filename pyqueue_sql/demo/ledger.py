"""What the workers did, key by key, and how late it was: written down outside the database."""

from __future__ import annotations

import time
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyqueue_sql.demo.workers import Report

RECENT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Lateness:
    """Of a number of deliveries, in seconds."""

    p50: float
    p99: float
    most: float

    @classmethod
    def of(cls, lateness_us: Iterable[int]) -> Lateness | None:
        """Return it for these microseconds, None where there are none."""
        ordered = sorted(lateness_us)
        if not ordered:
            return None
        last = len(ordered) - 1
        return cls(*(ordered[round(last * share)] / 1e6 for share in (0.50, 0.99, 1.0)))


class Ledger:
    """How often each key was moved, drained and dead."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Begin with nothing done.

        Args:
            keys: of all messages.
        """
        self._keys = keys
        self._number = {key: number for number, key in enumerate(keys)}
        self._times = {name: bytearray(len(keys)) for name in ("moved", "drained", "dead")}
        self.totals = Counter[str]()
        self.arr_delay: dict[str, int | None] = {}
        """The delay (minutes) that the payload had when the flight was drained."""
        self.lateness_us = array("q")
        self.odd: list[str] = []
        self.last_report = time.monotonic()
        self._recent: deque[tuple[float, Report]] = deque()

    def add(self, report: Report) -> None:
        """Write a report down."""
        self._count("moved", report.moved)
        self._count("dead", report.dead)
        self._count("drained", [key for key, _ in report.drained])
        self.totals["retried"] += len(report.retried)
        self.arr_delay.update(report.drained)
        self.lateness_us.extend(report.lateness_us)
        self.odd += report.odd
        self.last_report = time.monotonic()
        self._recent.append((self.last_report, report))

    def times(self, name: str, key: str) -> int:
        """Return how often the key was `moved`, `drained` or `dead`."""
        return self._times[name][self._number[key]]

    def at_least_once(self, name: str) -> set[str]:
        """Return the keys that were `moved`, `drained` or `dead`."""
        return {key for key, times in zip(self._keys, self._times[name], strict=True) if times}

    @property
    def settled(self) -> bool:
        """Whether as many messages came to an end as there are."""
        return self.totals["drained"] + self.totals["dead"] >= len(self._keys)

    def rates(self) -> tuple[float, float, Lateness | None]:
        """Return flights moved and drained a second, and the lateness, all over the last seconds."""
        now = time.monotonic()
        while self._recent and self._recent[0][0] < now - RECENT_SECONDS:
            self._recent.popleft()
        reports = [report for _, report in self._recent]
        moved, drained = (
            sum(len(keys) for keys in lists) / RECENT_SECONDS
            for lists in ((one.moved for one in reports), (one.drained for one in reports))
        )
        return moved, drained, Lateness.of(late for one in reports for late in one.lateness_us)

    def _count(self, name: str, keys: Sequence[str]) -> None:
        times = self._times[name]
        for key in keys:
            number = self._number.get(key)
            if number is None:
                self.odd.append(f"{key}: {name}, and nobody pushed it")
            else:
                times[number] = min(times[number] + 1, 255)
        self.totals[name] += len(keys)
