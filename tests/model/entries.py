"""What the model of the queue is made of: entries, the settings of a kind, and its counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

SECOND = 1_000_000
DEFAULT_SETTINGS: dict[str, Any] = {
    "timeout_seconds": 300,
    "max_attempts": None,
    "backoff_seconds": 0,
    "backoff_factor": 2,
    "backoff_max_seconds": 3600,
    "dead_letter_kind": None,
    "dedup_seconds": 0,
    "history_seconds": 0,
    "payload_shape": None,
}
COUNTERS = ("pushed", "reserved", "popped", "acked", "nacked", "moved", "dead", "expired")


class Content(NamedTuple):
    """The payload, JSON or bytes, with its headers."""

    payload: Any
    payload_bytes: bytes | None
    headers: dict[str, Any] | None


@dataclass
class Pending:
    """The newest push onto a held message: what of it is new."""

    content: Content | None = None
    at: int | None = None


@dataclass
class Memory:
    """When a key of a kind ended, and whether that may have been forgotten since."""

    ended_at: int
    doubtful: bool = False


class Source(NamedTuple):
    """Where a dead letter came from."""

    kind: str
    key: str
    priority: int


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
    scheduled_at: int = 0
    initially: int = 0
    attempts: int = 0
    max_attempts: int | None = None
    reserved_at: int | None = None
    reserved_by: str | None = None
    receipt: str | None = None
    pending: Pending | None = None
    source: Source | None = None
    suffixed: bool = False
    """A dead letter whose key was taken: the server adds a suffix to it, which the model is told later."""

    def __post_init__(self) -> None:
        self.scheduled_at = self.place
        self.initially = self.initially or self.place

    def state(self, now: int) -> str:
        """Where it stands at that time."""
        if self.reserved_at is None:
            return "ready" if self.scheduled_at <= now else "scheduled"
        return "expired" if self.scheduled_at <= now else "reserved"

    def rank(self) -> tuple[int, int, tuple[int, int]]:
        """The order of delivery: priority, then time, then entry."""
        return (-self.priority, self.place, self.number)

    def hold(self, now: int, until: int, worker: str) -> None:
        """Begin a delivery."""
        self.reserved_at, self.scheduled_at, self.reserved_by = now, until, worker
        self.attempts += 1

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
            self.state(now),
        )


@dataclass
class Kind:
    """The settings of a kind and what happened to it so far."""

    settings: dict[str, Any] = field(default_factory=lambda: dict(DEFAULT_SETTINGS))
    paused: bool = False
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
