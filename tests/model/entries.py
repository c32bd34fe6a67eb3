"""What the model of the queue is made of: entries, the settings of a kind, and its counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

SECOND = 1_000_000
DEFAULT_SETTINGS: dict[str, Any] = {
    "timeout_seconds": 300,
    "max_attempts": 25,
    "backoff_seconds": 1,
    "backoff_factor": 2,
    "backoff_max_seconds": 3600,
    "dead_letter_kind": None,
    "dedup_seconds": 0,
    "history_seconds": 0,
    "payload_shape": None,
    "max_reserved": None,
    "rate_per_second": None,
    "filter_index": False,
    "log_seconds": 0,
}
COUNTERS = ("pushed", "reserved", "popped", "acked", "nacked", "moved", "dead", "expired", "lost")


class RefusedByState(Exception):  # noqa: N818 -- named after what happened
    """The routine has to refuse this now."""


class Misfit(Exception):  # noqa: N818 -- named after what happened
    """The payload is not of its kind."""


class Content(NamedTuple):
    """The payload, JSON or bytes, with its headers."""

    payload: Any
    payload_bytes: bytes | None
    headers: dict[str, Any] | None

    def matches(self, where: dict[str, Any] | None) -> bool:
        """Whether payload or headers contain a filter, all of it."""
        return where is None or any(
            isinstance(there, dict) and where.items() <= there.items()
            for there in (self.payload, self.headers)
        )

    def fits(self, shape: dict[str, str] | None) -> bool:
        """Whether the payload has the fields of a shape; the model knows integers only."""
        return shape is None or (
            isinstance(self.payload, dict) and all(type(self.payload.get(name)) is int for name in shape)
        )


@dataclass
class Pending:
    """The newest push onto a held message: what of it is new."""

    content: Content | None = None
    at: int | None = None


@dataclass(eq=False)
class Member:
    """What a message is in its group, wherever it goes."""

    group: str
    kind: str
    key: str
    outcome: str | None = None
    result: tuple[Any, ...] = ()


class Source(NamedTuple):
    """Where a dead letter came from."""

    kind: str
    key: str
    priority: int
    order_key: str | None


class Follows(NamedTuple):
    """What stays with a message where it goes."""

    route: tuple[str, ...] = ()
    order_key: str | None = None
    semaphores: tuple[str, ...] = ()
    member: Member | None = None


@dataclass(eq=False)
class Entry:
    """One message. `place` is the time by which it stands in line: a reserve leaves it alone."""

    kind: str
    key: str
    content: Content
    priority: int
    place: int
    created_at: int
    number: tuple[int, int]
    """Settles ties: the call that made it, and its place in a batch where that counts."""
    serial: int = 0
    """Its place in the line of its order key."""
    scheduled_at: int = 0
    initially: int = 0
    attempts: int = 0
    max_attempts: int | None = None
    reserved_at: int | None = None
    reserved_by: str | None = None
    receipt: str | None = None
    errors: tuple[str, ...] = ()
    """The last ten; what the queue itself says is …"""
    pending: Pending | None = None
    source: Source | None = None
    follows: Follows = field(default_factory=Follows)
    waits: bool = False
    """Behind the first of its order key."""
    placeless: bool = False
    """It has no place among the `max_reserved` of its kind, or none any more."""
    lapsed: bool = False
    """Its hold has expired, so that its slots may be somebody else's, also once the clock was set back."""
    suffixed: bool = False
    """A dead letter whose key was taken: the server adds a suffix to it, which the model is told later."""

    def __post_init__(self) -> None:
        self.scheduled_at = self.place
        self.initially = self.initially or self.place

    def state(self, now: int) -> str:
        """Where it stands at that time."""
        if self.waits:
            return "waiting"
        if self.reserved_at is None:
            return "ready" if self.scheduled_at <= now else "scheduled"
        return "expired" if self.scheduled_at <= now else "reserved"

    def next(self, now: int) -> bool:
        """Whether a reserve may meet it: its time has come, it is the first of its order key."""
        return not self.waits and self.scheduled_at <= now

    @property
    def newest(self) -> Content:
        """What was pushed onto it while it was held, where that has content."""
        return (self.pending and self.pending.content) or self.content

    @property
    def order_key(self) -> str | None:
        """The line that it stands in; a dead letter is in none."""
        return None if self.source else self.follows.order_key

    @property
    def semaphores(self) -> tuple[str, ...]:
        """What it needs a slot of; a dead letter needs none."""
        return () if self.source else self.follows.semaphores

    def rank(self) -> tuple[int, int, tuple[int, int]]:
        """The order of delivery: priority, then time, then entry."""
        return (-self.priority, self.place, self.number)

    def hold(self, now: int, until: int, worker: str) -> None:
        """Begin a delivery."""
        self.reserved_at, self.scheduled_at, self.reserved_by = now, until, worker
        self.attempts += 1
        self.placeless = self.lapsed = False

    def let_go(self, at: int) -> None:
        """End a delivery, or change the time of what nobody holds."""
        self.place = self.scheduled_at = at
        self.reserved_at = self.reserved_by = self.receipt = None

    def ended(self, outcome: str, to_kind: str | None, now: int) -> tuple[Any, ...]:
        """What the history says of it."""
        popped = outcome == "popped"
        return (
            self.kind,
            self.key,
            outcome,
            to_kind,
            *self.content,
            self.priority,
            self.initially,
            self.created_at,
            now if popped else self.reserved_at,
            now,
            self.attempts + popped,
            None if popped else self.reserved_by,
        )

    def visible(self, now: int) -> tuple[Any, ...]:
        """What a look at it shows."""
        return (
            self.key,
            *self.content,
            self.priority,
            self.scheduled_at,
            self.initially,
            self.created_at,
            self.reserved_at,
            self.attempts,
            self.reserved_by,
            self.errors,
            self.state(now),
        )


@dataclass
class Kind:
    """The settings of a kind and what happened to it so far."""

    settings: dict[str, Any] = field(default_factory=lambda: dict(DEFAULT_SETTINGS))
    paused: bool = False
    draining: bool = False
    slotted: bool = False
    """It has had a message that names semaphores."""
    limited: bool = False
    """It has had `max_reserved`."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
