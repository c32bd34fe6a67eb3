"""Pushing the flights, each to be delivered at its place in a shorter year."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from pyqueue_sql import Queue
from pyqueue_sql.demo import DemoError
from pyqueue_sql.demo.data import DAY_US, SECOND_US, Flight, calendar_day
from pyqueue_sql.demo.interrupts import WholeCalls, later

if TYPE_CHECKING:
    from pyqueue_sql.calls.connect import Connection

BATCH = 1_000
TRIAL_BATCHES = 20
ATTEMPTS = 3
MARGIN = 1.15
MARGIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Kinds:
    """The names of the kinds that the replay uses."""

    departing: str
    arrived: str
    dead: str

    @classmethod
    def named(cls, prefix: str) -> Kinds:
        """Return the kinds whose names begin so."""
        return cls(f"{prefix}departing", f"{prefix}arrived", f"{prefix}departing.dead")

    def __iter__(self) -> Iterator[str]:
        return iter((self.departing, self.arrived, self.dead))


@dataclass(frozen=True, slots=True)
class Timetable:
    """Whole days of 2013 on a shorter time; times are microseconds since 1970-01-01 UTC."""

    first_us: int
    span_us: int
    start_us: int
    length_us: int

    @classmethod
    def of(cls, flights: Sequence[Flight], start_us: int, seconds: float) -> Timetable:
        """Return the timetable that replays the days of these flights from `start_us` on."""
        ends = (flights[0], flights[-1])
        first, last = (round(calendar_day(one.due_us).timestamp()) * SECOND_US for one in ends)
        return cls(first, last + DAY_US - first, start_us, round(seconds * SECOND_US))

    @property
    def end_us(self) -> int:
        """When the replay ends."""
        return self.start_us + self.length_us

    def replayed(self, due_us: int) -> int:
        """Return when a time of 2013 comes in the replay."""
        return self.start_us + (due_us - self.first_us) * self.length_us // self.span_us

    def original(self, now_us: int) -> int:
        """Return the time of 2013 that the replay has come to, within its days."""
        passed = min(max(now_us - self.start_us, 0), self.length_us - 1)
        return self.first_us + passed * self.span_us // self.length_us


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the pushes answered."""

    timetable: Timetable
    clock_us: int
    """How far the server's clock is ahead of ours."""
    first: Counter[str]
    again: Counter[str]
    rate: float
    """Messages pushed a second, both times together."""


class LoadDisplay(Protocol):
    """What the loading tells about itself."""

    def loading(self, what: str, done: int, total: int) -> None:
        """So many of the flights are pushed."""
        ...


def our_us() -> int:
    """Return the time of our clock, in microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000


def load(
    connections: Sequence[Connection],
    kinds: Kinds,
    flights: Sequence[Flight],
    seconds: float,
    display: LoadDisplay,
) -> Loaded:
    """Push all flights, and all of them again, before the first is due.

    The delivery times have to be known at the push, so how long the pushes will take is estimated from a
    trial; where they took longer, everything is removed and pushed anew with that much more time.

    Args:
        connections: in autocommit; all of them push at the same time.
        kinds: where to push.
        flights: in the order of their departures.
        seconds: how long the replay is to take.
        display: is told how far it got.

    Raises:
        DemoError: it took longer than estimated, again and again.
    """
    queue = WholeCalls(connections[0])
    clock_us = _clock(queue, kinds)
    lead = _trial(connections, queue, kinds, flights, clock_us) * MARGIN + MARGIN_SECONDS
    for _ in range(ATTEMPTS):
        began = time.monotonic()
        timetable = Timetable.of(flights, our_us() + clock_us + round(lead * SECOND_US), seconds)
        first = _push_all(connections, kinds, flights, timetable, _telling(display, "pushing"))
        again = _push_all(connections, kinds, flights, timetable, _telling(display, "pushing again"))
        took = time.monotonic() - began
        if took < lead:
            return Loaded(timetable, clock_us, first, again, 2 * len(flights) / took)
        queue.purge(kinds.departing)
        lead = 2 * took + MARGIN_SECONDS
    raise DemoError("the server is too busy: each time the pushes took longer than estimated")


def _clock(queue: Queue, kinds: Kinds) -> int:
    """Return how far the server's clock is ahead of ours (µs), by a message that is removed again."""
    before = our_us()
    pushed = queue.push(kinds.departing, "clock").scheduled_at
    assert pushed is not None
    clock_us = pushed - (before + our_us()) // 2
    queue.purge(kinds.departing)
    return clock_us


def _trial(
    connections: Sequence[Connection],
    queue: Queue,
    kinds: Kinds,
    flights: Sequence[Flight],
    clock_us: int,
) -> float:
    """Return how many seconds all the pushes will take, by those of the first flights; removes them."""
    some = flights[: TRIAL_BATCHES * BATCH]
    tomorrow = Timetable.of(some, our_us() + clock_us + DAY_US, DAY_US / SECOND_US)
    began = time.monotonic()
    for _ in range(2):
        _push_all(connections, kinds, some, tomorrow, _untold)
    took = time.monotonic() - began
    queue.purge(kinds.departing)
    return took / len(some) * len(flights)


def _push_all(
    connections: Sequence[Connection],
    kinds: Kinds,
    flights: Sequence[Flight],
    timetable: Timetable,
    tell: Callable[[int, int], None],
) -> Counter[str]:
    """Push the flights in batches, on all connections at once; return how often each outcome came."""
    free = SimpleQueue[Queue]()
    for connection in connections:
        free.put(Queue(connection))

    def push(batch: Sequence[Flight]) -> list[str]:
        queue = free.get()
        try:
            messages = [
                {"key": one.key, "payload": one.payload(), "scheduled_at": timetable.replayed(one.due_us)}
                for one in batch
            ]
            return [one.outcome for one in queue.push_many(kinds.departing, messages)]
        finally:
            free.put(queue)

    outcomes = Counter[str]()
    batches = [flights[begin : begin + BATCH] for begin in range(0, len(flights), BATCH)]
    pool = ThreadPoolExecutor(len(connections))
    try:
        for pushed in pool.map(push, batches):
            outcomes.update(pushed)
            tell(outcomes.total(), len(flights))
    finally:
        with later():
            pool.shutdown(cancel_futures=True)
    return outcomes


def _telling(display: LoadDisplay, what: str) -> Callable[[int, int], None]:
    return lambda done, total: display.loading(what, done, total)


def _untold(done: int, total: int) -> None:
    """Tell nobody."""
