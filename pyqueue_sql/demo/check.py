"""What the queue did, next to what the file says, counted anew from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyqueue_sql import Queue
from pyqueue_sql.demo import data
from pyqueue_sql.demo.ledger import Lateness, Ledger
from pyqueue_sql.demo.load import Kinds, Loaded

MAX_TRIES = 3
LATE_SECONDS = 1.0
"""Where p99 of lateness is above it, the machine couldn't keep the pace."""
PEEK_MOST = 10_000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Left:
    """What is in the kinds when all is done."""

    departing: int
    arrived: int
    dead: int
    dead_keys: Counter[str]

    @classmethod
    def of(cls, queue: Queue, kinds: Kinds) -> Left:
        """Count and look at what is left."""
        totals = {one.kind: one.total for one in queue.stats() if one.kind in set(kinds)}
        keys = Counter(one.key for one in queue.peek(kinds.dead, PEEK_MOST))
        departing, arrived, dead = (totals.get(kind, 0) for kind in kinds)
        return cls(departing, arrived, dead, keys)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: a count of the queue and the same of the file."""

    what: str
    queue: int
    file: int


@dataclass(slots=True)
class Verdict:
    """The tables, and all that is wrong."""

    outcomes: list[Line] = field(default_factory=list[Line])
    carriers: list[tuple[Line, Line]] = field(default_factory=list[tuple[Line, Line]])
    """Departed and cancelled, by carrier."""
    lateness: Lateness | None = None
    problems: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _File:
    """The counts of the file."""

    flights: int = 0
    departed: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    """Keys with the arrival's delay in minutes."""
    cancelled: set[str] = field(default_factory=set[str])
    carriers: Counter[tuple[str, bool]] = field(default_factory=Counter[tuple[str, bool]])


def verify(keys: Sequence[str], loaded: Loaded, ledger: Ledger, left: Left) -> Verdict:
    """Compare the ledger and what is left in the queue with the file.

    Args:
        keys: of the flights that were replayed.
        loaded: what the pushes answered.
        ledger: what the workers did.
        left: what is still in the queue.

    Returns:
        the tables, and a line for everything that is wrong.
    """
    file = _count(set(keys))
    verdict = Verdict(lateness=Lateness.of(ledger.lateness_us))
    totals = ledger.totals
    cancelled = len(file.cancelled)
    created, ignored = loaded.first["created"], loaded.again["ignored"]
    others = (loaded.first + loaded.again).total() - created - ignored
    verdict.outcomes = [
        Line("pushed", created, file.flights),
        Line("pushed again, ignored", ignored, file.flights),
        Line("pushed, anything else", others, 0),
        Line("departed, moved", totals["moved"], len(file.departed)),
        Line("arrived, drained", totals["drained"], len(file.departed)),
        Line("their delay, minutes in all", _sum(ledger.arr_delay), _sum(file.departed)),
        Line("cancelled, tried again", totals["retried"], cancelled * (MAX_TRIES - 1)),
        Line("cancelled, dead letters", left.dead, cancelled),
        Line("left behind", left.departing + left.arrived, 0),
    ]
    verdict.carriers = list(_by_carrier(file, ledger, left))
    verdict.problems = [
        f"{line.what}: {line.queue:,} and not {line.file:,}"
        for line in verdict.outcomes
        if line.queue != line.file
    ]
    verdict.problems += _by_key(file, ledger, left)
    return verdict


def _count(keys: set[str]) -> _File:
    """Count the rows of the file whose keys these are."""
    file = _File()
    for row in data.read_rows():
        key = data.row_key(row)
        if key not in keys:
            continue
        file.flights += 1
        file.carriers[row["carrier"], row["dep_time"] == data.MISSING] += 1
        if row["dep_time"] == data.MISSING:
            file.cancelled.add(key)
        else:
            file.departed[key] = data.number(row["arr_delay"])
    return file


def _sum(minutes: Mapping[str, int | None]) -> int:
    return sum(one for one in minutes.values() if one is not None)


def _by_carrier(file: _File, ledger: Ledger, left: Left) -> Iterator[tuple[Line, Line]]:
    """Count the keys that were drained or are dead by carrier, which is in the key."""
    drained = Counter(key.split("/")[1] for key in ledger.at_least_once("drained"))
    dead = Counter(key.split("/")[1] for key in left.dead_keys)
    for carrier in sorted({carrier for carrier, _ in file.carriers}):
        yield (
            Line(carrier, drained[carrier], file.carriers[carrier, False]),
            Line(carrier, dead[carrier], file.carriers[carrier, True]),
        )


def _by_key(file: _File, ledger: Ledger, left: Left) -> Iterator[str]:
    """Yield what is wrong with single messages: each ends once, and where the file says."""
    places = {
        "moved": (file.departed.keys(), ledger.at_least_once("moved")),
        "drained": (file.departed.keys(), ledger.at_least_once("drained")),
        "dead": (file.cancelled, ledger.at_least_once("dead")),
        "in the kind of dead letters": (file.cancelled, left.dead_keys.keys()),
    }
    for place, (wanted, found) in places.items():
        yield from _some(f"missing, not {place}", wanted - found)
        yield from _some(f"in the wrong place, {place}", found - wanted)
    for name in ("moved", "drained", "dead"):
        twice = {key for key in ledger.at_least_once(name) if ledger.times(name, key) > 1}
        yield from _some(f"doubled, {name} more than once", twice)
    wrong = {key for key, delay in ledger.arr_delay.items() if file.departed.get(key) != delay}
    yield from _some("with another delay than in the file", wrong)
    yield from ledger.odd[:SHOWN]


def _some(what: str, keys: set[str]) -> Iterator[str]:
    """Yield one line that names some of the keys, or none."""
    if keys:
        names = sorted(keys)
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield f"{what}: {', '.join(names[:SHOWN])}{more}"
