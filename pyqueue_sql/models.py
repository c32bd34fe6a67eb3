"""What the calls answer: frozen dataclasses, built by position from the rows of the routines.

Times are integers, microseconds since 1970-01-01 UTC, as in the tables; `to_datetime` makes them readable.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

PushOutcome = Literal["created", "ignored", "replaced", "held"]
RemoveOutcome = Literal["removed", "held", "absent"]
ReceiptOutcome = Literal["acked", "extended", "retry", "dead", "moved", "duplicate", "lost"]
State = Literal["scheduled", "ready", "reserved", "expired", "waiting"]


def to_datetime(time_us: int) -> datetime:
    """Return the time as an aware datetime in UTC.

    Args:
        time_us: microseconds since 1970-01-01 UTC.
    """
    return EPOCH + time_us * MICROSECOND


def to_microseconds(time: datetime) -> int:
    """Return microseconds since 1970-01-01 UTC.

    Args:
        time: an aware datetime.

    Raises:
        ValueError: it has no time zone.
    """
    if time.tzinfo is None:
        raise ValueError(f"{time.isoformat()} has no time zone")
    return (time - EPOCH) // MICROSECOND


@dataclass(frozen=True, slots=True)
class Message:
    """A message. Where `payload_bytes` is None the payload is JSON, and None there is JSON's null."""

    kind: str
    key: str
    payload: Any
    payload_bytes: bytes | None
    headers: dict[str, Any] | None
    priority: int
    scheduled_at: int
    scheduled_at_initially: int
    created_at: int
    reserved_at: int | None
    attempts: int
    reserved_by: str | None
    receipt: str | None = None
    """Names this delivery; only `reserve` gives one."""
    state: State | None = None
    """Where it stands; only `get` and `peek` say so."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push."""

    kind: str
    key: str
    scheduled_at: int | None
    """When it will be delivered; `push_many` doesn't say."""
    outcome: PushOutcome


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a held message."""

    receipt: str
    outcome: ReceiptOutcome

    @property
    def lost(self) -> bool:
        """Whether the receipt no longer named anything, so that nothing was changed."""
        return self.outcome == "lost"


@dataclass(frozen=True, slots=True)
class Kind:
    """The settings of a kind; a time is in seconds."""

    kind: str
    timeout_seconds: float
    max_attempts: int | None
    backoff_seconds: float
    backoff_factor: float
    backoff_max_seconds: float
    jitter: float
    dead_letter_kind: str | None
    paused: bool


@dataclass(frozen=True, slots=True)
class Redriven:
    """How many dead letters went back, and how many stayed because their key is taken there."""

    went: int
    stayed: int


@dataclass(frozen=True, slots=True)
class Stats:
    """How many messages of a kind stand where, and what happened to it so far."""

    kind: str
    paused: bool
    ready: int
    scheduled: int
    reserved: int
    expired: int
    waiting: int
    total: int
    next_at: datetime | None
    """When the next one that waits comes due."""
    oldest_ready_seconds: float | None
    pushed_total: int
    reserved_total: int
    popped_total: int
    acked_total: int
    nacked_total: int
    moved_total: int
    dead_total: int
    expired_total: int
