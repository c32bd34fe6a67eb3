"""What the calls answer: frozen dataclasses, built by position from the rows of the routines.

Times are integers, microseconds since 1970-01-01 UTC, as in the tables; `to_datetime` makes them readable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

PushOutcome = Literal["created", "ignored", "replaced", "held"]
RemoveOutcome = Literal["removed", "held", "absent"]
ReceiptOutcome = Literal["acked", "extended", "retry", "dead", "moved", "duplicate", "lost"]
CatchUp = Literal["all", "last", "skip"]
EndOutcome = Literal["acked", "popped", "moved", "dead", "removed"]
GroupState = Literal["open", "closed", "done", "failed"]
EventName = Literal["pushed", "replaced", "acked", "popped", "moved", "dead", "removed"]
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
    """Names this delivery; only a `Reserved` one has it."""
    state: State | None = None
    """Where it stands; only `get` and `peek` say so."""
    errors: tuple[Mapping[str, Any], ...] = ()
    """The last ten errors, the newest last; each has at (microseconds), attempt, by and error."""


M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Reserved(Message):
    """A message that is held, as `reserve` gives it: its receipt is there."""

    receipt: str = ""
    """Names this delivery: for `ack`, `nack`, `move` and `extend`."""


_Draft: Any = dataclasses.make_dataclass(
    "_Draft",
    [
        (field.name, Any) if field.default is dataclasses.MISSING else (field.name, Any, field.default)
        for field in dataclasses.fields(Message)
    ],
    slots=True,
)


def to_messages(rows: Iterable[Sequence[Any]]) -> list[Message]:
    """Return rows as messages.

    What is frozen is slow to make, since each field is set by a call; so a draft of the same layout is
    filled, and becomes a message. That takes a fifth of the time, which shows where a hundred are reserved.

    Args:
        rows: values in the order of the fields; errors are a list, or None.
    """
    return _become(Message, rows)


def to_reserved(rows: Iterable[Sequence[Any]]) -> list[Reserved]:
    """Return rows as reserved messages; see `to_messages`."""
    return _become(Reserved, rows)


def _become(cls: type[M], rows: Iterable[Sequence[Any]]) -> list[M]:
    drafts = [_Draft(*row) for row in rows]
    for draft in drafts:
        draft.errors = tuple(draft.errors or ())
        draft.__class__ = cls
    return drafts


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push."""

    kind: str
    key: str
    scheduled_at: int | None
    """When it will be delivered; `push_many` doesn't say, and a push that is ignored because its key is still
    remembered has no time."""
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
    dedup_seconds: float
    """How long a key is remembered after its message was acked, popped or moved away."""
    history_seconds: float
    """How long `history` keeps what ended; 0: not at all."""
    payload_shape: dict[str, Any] | None
    """The fields that a payload must have, and their types."""
    draining: bool
    """Whether it takes nothing in."""
    expires_seconds: float | None
    """It goes when it is unused for so long; None: never."""
    max_reserved: int | None
    """How many may be held at once; None: any number."""
    rate_per_second: float | None
    """How many are delivered in a second; None: any number."""
    filter_index: bool
    """Whether `where` of `reserve` has an index."""
    log_seconds: float
    """How long the log that `read` reads keeps what came in and ended; 0: not at all."""
    roles: Sequence[str] | None
    """Who may use it: roles, on MariaDB and MySQL accounts; None: all."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A message that ended; `Message` says more of its payload."""

    kind: str
    key: str
    entry: int
    """Its number; a message that moves gets a new one."""
    outcome: EndOutcome
    to_kind: str | None
    """Where it went, if it moved or is dead."""
    payload: Any
    payload_bytes: bytes | None
    headers: dict[str, Any] | None
    priority: int
    scheduled_at_initially: int
    created_at: int
    reserved_at: int | None
    finished_at: int
    attempts: int
    reserved_by: str | None
    errors: tuple[Mapping[str, Any], ...]
    """What went wrong, as in `Message`."""
    result: Any
    """What its ack gave."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """How many dead letters, or messages of the history, went back, and how many stayed."""

    went: int
    stayed: int


@dataclass(frozen=True, slots=True)
class Listening:
    """A kind that a session listens to."""

    kind: str
    channel: str
    """What to LISTEN on."""
    ready: bool
    """Whether something may be taken now. It is a hint: others may be taking it."""
    next_at: int | None
    """When the next message may fall due, or a hold end; None: nothing is known of."""
    next_seconds: float | None
    """The same from now on: how long to wait for an event at the most."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a worker's heartbeat did."""

    worker: str
    alive: bool
    """False once it has left."""
    started_at: int
    heartbeat_at: int
    expires_at: int | None
    """When it counts as dead unless it is heard of again; None: with its session."""
    reaps: bool
    """Whether it is one of the two that should call `reap` every second, and `tick` and `prune` now and then:
    the living ones with upkeep that were first."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A registered worker."""

    worker: str
    kinds: list[str] | None
    """Where it holds messages; None: anywhere."""
    info: dict[str, Any] | None
    started_at: datetime
    heartbeat_at: datetime
    timeout_seconds: float
    by_session: bool
    """Whether it is alive as long as its session is, however long it is silent."""
    alive: bool
    reserved: int
    """How many messages it holds."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """A dead worker, and how many of its messages were freed."""

    worker: str
    freed: int


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
    lost_total: int
    """How many receipts `next` was given for it that were lost."""
    draining: bool
    """Whether it takes nothing in."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Which kind gets a copy of what is published to topics of a pattern."""

    pattern: str
    kind: str
    subscribed_at: datetime


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What became of `schedule`."""

    name: str
    kind: str
    next_at: int | None
    """When it is due first; None: it has ended already."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is pushed again and again."""

    name: str
    kind: str
    payload: Any
    push_options: dict[str, Any]
    rule: dict[str, Any]
    """every_seconds, daily_at or cron, and time_zone."""
    catch_up: CatchUp
    paused: bool
    until: datetime | None
    next_at: datetime | None
    """None: never again."""
    last_at: datetime | None
    """For when it last made a message."""


@dataclass(frozen=True, slots=True)
class Semaphore:
    """A semaphore, and how full it is."""

    name: str
    capacity: int
    held: int
    """How many messages that name it are held."""
    waiting: int
    """How many stand in its line."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A group that was made or changed."""

    name: str
    state: GroupState
    """A closed one finishes when all are done."""
    members: int
    done: int


@dataclass(frozen=True, slots=True)
class Group:
    """A group, and how far it is."""

    name: str
    then_kind: str
    """The kind of what follows it."""
    state: GroupState
    members: int
    done: int
    dead: int
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a kind that has a log."""

    position: int
    """Its place in the log, for `read_ack`."""
    event: EventName
    topic: str | None
    """Where it was published; None: it was not."""
    kind: str
    key: str
    entry: int
    payload: Any
    """Of what came in; None for an end."""
    payload_bytes: bytes | None
    headers: dict[str, Any] | None
    to_kind: str | None
    """Where it was moved or buried."""
    created_at: int


@dataclass(frozen=True, slots=True)
class ReadUpTo:
    """The place of a reader."""

    reader: str
    position: int


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of the log."""

    reader: str
    name: str
    """The kind, topic or pattern that it reads."""
    events: str
    """Those that it wants to see, with a comma between them."""
    position: int
    """It is done up to there."""
    behind: int
    """How many events it is going to see after that."""
    missed: int | None
    """Up to where the log has lost what it hasn't read; it goes on once it acks that."""
    created_at: datetime
