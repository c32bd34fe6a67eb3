"""Pushing the flights, each to be delivered at its place in a shorter year."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import psycopg

from pyqueue_sql import Queue
from pyqueue_sql.demo import DemoError
from pyqueue_sql.demo.data import DAY_US, SECOND_US, Flight, calendar_day
from pyqueue_sql.demo.interrupts import WholeCalls, later

if TYPE_CHECKING:
    from pyqueue_sql.calls.connect import Connection

BATCH = 1_000
TRIAL_BATCHES = 20
ATTEMPTS = 3
MARGIN = 1.2
MARGIN_SECONDS = 2.0


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
    connection: Connection,
    kinds: Kinds,
    flights: Sequence[Flight],
    seconds: float,
    display: LoadDisplay,
) -> Loaded:
    """Push all flights, and all of them again, before the first is due.

    The delivery times have to be known at the push, so how long the pushes will take is estimated from a
    trial; where they took longer, everything is removed and pushed anew with that much more time.

    Args:
        connection: in autocommit.
        kinds: where to push.
        flights: in the order of their departures.
        seconds: how long the replay is to take.
        display: is told how far it got.

    Raises:
        DemoError: it took longer than estimated, again and again.
    """
    queue = WholeCalls(connection)
    rate, clock_us = _trial(connection, queue, kinds, flights)
    lead = 2 * len(flights) / rate * MARGIN + MARGIN_SECONDS
    for _ in range(ATTEMPTS):
        began = time.monotonic()
        timetable = Timetable.of(flights, our_us() + clock_us + round(lead * SECOND_US), seconds)
        first = _push_all(queue, kinds, flights, timetable, _telling(display, "pushing"))
        again = _push_all(queue, kinds, flights, timetable, _telling(display, "pushing again"))
        took = time.monotonic() - began
        if took < lead:
            return Loaded(timetable, clock_us, first, again, 2 * len(flights) / took)
        queue.purge(kinds.departing)
        lead = 2 * took + MARGIN_SECONDS
    raise DemoError("the server is too busy: each time the pushes took longer than estimated")


def _trial(
    connection: Connection, queue: Queue, kinds: Kinds, flights: Sequence[Flight]
) -> tuple[float, int]:
    """Return messages pushed a second, and how far the server's clock is ahead (µs); keeps nothing."""
    with _undone(connection):
        before = our_us()
        pushed = queue.push(kinds.departing, "trial").scheduled_at
        assert pushed is not None
        clock_us = pushed - (before + our_us()) // 2
        some = flights[: TRIAL_BATCHES * BATCH]
        timetable = Timetable.of(some, pushed + DAY_US, DAY_US / SECOND_US)
        began = time.monotonic()
        _push_all(queue, kinds, some, timetable, _untold)
        return len(some) / (time.monotonic() - began), clock_us


@contextmanager
def _undone(connection: Connection) -> Generator[None]:
    """A transaction that is rolled back at the end."""
    if isinstance(connection, psycopg.Connection):
        with connection.transaction(force_rollback=True):
            yield
        return
    with later():
        connection.begin()
    try:
        yield
    finally:
        with later():
            connection.rollback()


def _push_all(
    queue: Queue,
    kinds: Kinds,
    flights: Sequence[Flight],
    timetable: Timetable,
    tell: Callable[[int, int], None],
) -> Counter[str]:
    """Push the flights in batches; return how often each outcome came."""
    outcomes = Counter[str]()
    for begin in range(0, len(flights), BATCH):
        batch = flights[begin : begin + BATCH]
        pushed = queue.push_many(
            kinds.departing,
            [
                {"key": one.key, "payload": one.payload(), "scheduled_at": timetable.replayed(one.due_us)}
                for one in batch
            ],
        )
        outcomes.update(one.outcome for one in pushed)
        tell(begin + len(batch), len(flights))
    return outcomes


def _telling(display: LoadDisplay, what: str) -> Callable[[int, int], None]:
    return lambda done, total: display.loading(what, done, total)


def _untold(done: int, total: int) -> None:
    """Tell nobody."""
