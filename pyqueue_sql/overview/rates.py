"""What two looks at a queue say together: how many messages ended in a second, of each kind."""

from __future__ import annotations

from collections import defaultdict, deque

from pyqueue_sql.overview.models import Overview, Totals

KEPT = 30
BARS = " ▁▂▃▄▅▆▇█"
SECOND = 1_000_000


def ended(totals: Totals) -> int:
    """Return how many messages have ended, in whatever way."""
    return totals.acked + totals.popped + totals.moved + totals.dead


class Rates:
    """The rates of the last looks, by kind."""

    def __init__(self) -> None:
        self._last: Overview | None = None
        self._rates: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))
        self.ready: deque[int] = deque(maxlen=KEPT)
        """How many messages of all kinds were ready at each look."""
        self.ended: deque[float] = deque(maxlen=KEPT)
        """How many of all kinds ended in a second, between each two looks."""

    def add(self, seen: Overview) -> None:
        """Take note of a look."""
        last, self._last = self._last, seen
        self.ready.append(sum(one.ready for one in seen.kinds))
        if last is None or seen.at <= last.at:
            return
        seconds = (seen.at - last.at) / SECOND
        for one in seen.kinds:
            before = last.kind(one.kind)
            count = ended(one.totals) - (ended(before.totals) if before else 0)
            self._rates[one.kind].append(max(count, 0) / seconds)
        self.ended.append(sum(self._rates[one.kind][-1] for one in seen.kinds))

    def rate(self, kind: str) -> float | None:
        """Return how many messages of a kind ended in a second, between the last two looks."""
        rates = self._rates.get(kind)
        return rates[-1] if rates else None

    def values(self, kind: str) -> tuple[float, ...]:
        """Return the rates of a kind, the newest last."""
        return tuple(self._rates.get(kind, ()))

    def spark(self, kind: str) -> str:
        """Return the rates of a kind as a line of bars, the highest of them as the full one."""
        rates = self.values(kind)
        most = max(rates, default=0.0)
        return "".join(BARS[round(rate / most * (len(BARS) - 1))] if most else BARS[0] for rate in rates)
