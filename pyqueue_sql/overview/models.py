"""What a look at a queue answers. Times are microseconds since 1970-01-01 UTC, as in the tables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Totals:
    """How many messages of a kind have ended so far, by how they ended."""

    acked: int = 0
    popped: int = 0
    nacked: int = 0
    moved: int = 0
    dead: int = 0
    expired: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class KindLook:
    """A kind. Where `is_more` is set there are more messages than were counted."""

    kind: str
    paused: bool
    draining: bool
    ready: int
    scheduled: int
    reserved: int
    expired: int
    waiting: int
    is_more: bool
    next_at: int | None
    """When the next scheduled message falls due."""
    oldest_ready_at: int | None
    """Since when the oldest message that was counted is ready."""
    oldest_reserved_at: int | None
    """When the oldest delivery that was counted and is going on began."""
    totals: Totals

    @property
    def total(self) -> int:
        """How many messages were counted."""
        return self.ready + self.scheduled + self.reserved + self.expired + self.waiting


@dataclass(frozen=True, slots=True)
class WorkerLook:
    """A registered worker."""

    worker: str
    kinds: tuple[str, ...] | None
    """Where it holds messages; None: anywhere."""
    started_at: int
    heartbeat_at: int
    timeout_seconds: float
    upkeep: bool
    """Whether it ticks schedules, prunes and reaps."""
    alive: bool

    def takes(self, kind: str) -> bool:
        """Whether it works on messages of this kind."""
        return self.alive and (self.kinds is None or kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Line:
    """A semaphore: how many messages hold it, and how many wait in its line; neither above `AT_MOST`."""

    name: str
    capacity: int
    held: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Blocker:
    """A transaction or replication slot that keeps the server from removing dead rows."""

    what: str
    """`session`, `prepared transaction` or `replication slot`."""
    name: str
    """The number of the session, or a name."""
    user: str | None
    application: str | None
    state: str | None
    seconds: float | None
    """For how long; None where the server doesn't say."""


@dataclass(frozen=True, slots=True)
class Dead:
    """Dead rows of the table of messages, as PostgreSQL estimates them; on MariaDB and MySQL undo records."""

    rows: int
    living: int | None
    """How many rows live; None on MariaDB and MySQL."""


@dataclass(frozen=True, slots=True)
class Overview:
    """All of it, at one time."""

    at: int
    """The time of the database."""
    kinds: tuple[KindLook, ...]
    is_more: bool
    """Whether there are more kinds than were looked at."""
    workers: tuple[WorkerLook, ...]
    lines: tuple[Line, ...] = ()
    blockers: tuple[Blocker, ...] = field(default=())
    dead: Dead | None = None

    def kind(self, name: str) -> KindLook | None:
        """Return one kind, or None where nothing is known of it."""
        return next((one for one in self.kinds if one.kind == name), None)

    def totals(self) -> Totals:
        """Return how many messages of all kinds have ended."""
        names = [one.name for one in dataclasses.fields(Totals)]
        return Totals(*(sum(getattr(one.totals, name) for one in self.kinds) for name in names))
