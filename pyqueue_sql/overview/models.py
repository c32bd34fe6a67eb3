"""What a look at a queue answers. Times are microseconds since 1970-01-01 UTC, as in the tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyqueue_sql.models import State


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
class MessageLook:
    """A message, without what is in it."""

    kind: str
    key: str
    state: State
    entry: int
    priority: int
    scheduled_at: int
    """The delivery time; while somebody holds the message, the end of the hold."""
    created_at: int
    reserved_at: int | None
    attempts: int
    max_attempts: int | None
    reserved_by: str | None
    source_kind: str | None
    source_key: str | None
    order_key: str | None
    member: int | None
    """Its number as a member of a group."""
    errors: tuple[Mapping[str, Any], ...] | None
    """As of `Message`; None where this login may not see them."""

    @property
    def error(self) -> str | None:
        """The text of the last error, if there is one to be seen."""
        return str(self.errors[-1].get("error") or "") if self.errors else None


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a message: one of `payload` and `payload_bytes`, and its headers."""

    payload: Any
    payload_bytes: bytes | None
    headers: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Past:
    """An entry that has ended, without what was in it."""

    entry: int
    outcome: str
    to_kind: str | None
    created_at: int
    reserved_at: int | None
    finished_at: int
    attempts: int
    reserved_by: str | None
    errors: tuple[Mapping[str, Any], ...] | None
    """As of `Message`; None where this login may not see them."""


@dataclass(frozen=True, slots=True)
class Timing:
    """A schedule, without what it pushes."""

    name: str
    kind: str
    rule: Mapping[str, Any]
    catch_up: str
    paused: bool
    next_at: int | None
    last_at: int | None


@dataclass(frozen=True, slots=True)
class GroupLook:
    """A group, and its members as far as they were counted."""

    name: str
    then_kind: str
    then_key: str
    fail_kind: str | None
    expected: int | None
    state: str
    """open, closed, done or failed, as in the view `queue_groups`."""
    created_at: int
    finished_at: int | None
    members: int
    done: int
    dead: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group, and where its message was pushed."""

    member: int
    kind: str
    key: str
    outcome: str | None
    """None: it isn't done."""
    done_at: int | None
    is_dead: bool
    """Whether its message died. Where the group waits for it all the same, only who sees errors sees that."""


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
    sees_sessions: bool = False
    """Whether the login sees the sessions of others, among which the blockers are."""

    def kind(self, name: str) -> KindLook | None:
        """Return one kind, or None where nothing is known of it."""
        return next((one for one in self.kinds if one.kind == name), None)

    def totals(self) -> Totals:
        """Return how many messages of all kinds have ended."""
        names = [one.name for one in dataclasses.fields(Totals)]
        return Totals(*(sum(getattr(one.totals, name) for one in self.kinds) for name in names))
