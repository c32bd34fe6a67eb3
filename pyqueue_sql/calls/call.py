"""Every call as a value: what it calls, its arguments, and how its rows become a result.

Nothing here knows a dialect (see `dialect`) and nothing is executed, so that clients of any kind share it.
Columns are named, because a newer server may answer with more of them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from pyqueue_sql.calls.options import plain, render, to_json, to_list
from pyqueue_sql.errors import InvalidParameter, InvalidReceipt
from pyqueue_sql.models import (
    Ended,
    Event,
    Group,
    Grouped,
    Heartbeat,
    Kind,
    Listening,
    Message,
    Outcome,
    Pushed,
    Reader,
    ReadUpTo,
    Reaped,
    Redriven,
    RemoveOutcome,
    Reserved,
    Schedule,
    Scheduled,
    Semaphore,
    Stats,
    Subscription,
    WorkerState,
    to_messages,
    to_reserved,
)

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]


class Column(NamedTuple):
    """A parameter, or a column of an answer, with its type."""

    name: str
    type: str
    """Of a parameter: text, json, bytes, integer, bigint or numeric. Of a column: json, bytes, number, count,
    boolean, timestamp, or the empty string for text and plain integers; an absent one is always null."""


def columns(text: str) -> tuple[Column, ...]:
    """Return columns or parameters: names, each with its type behind it, and commas between them."""
    if not text:
        return ()
    parts = (one.strip().partition(" ") for one in text.split(","))
    return tuple(Column(name, type_) for name, _, type_ in parts)


@dataclass(frozen=True, eq=False, slots=True)
class Routine:
    """A routine, one object for each way to call it, so that what is made of it is made once."""

    name: str
    arguments: tuple[Column, ...]
    columns: tuple[Column, ...]
    defaults: int = 0
    """How many of its last parameters are left to their defaults."""
    scalar: bool = False
    """Whether it answers with one value."""
    schema: str | None = None
    """Where it is, None: as the session says."""


@dataclass(frozen=True, eq=False, slots=True)
class Relation:
    """A view or table to select from, one object for each way to ask."""

    name: str
    columns: tuple[Column, ...]
    where: tuple[str, ...] = ()
    """Columns that are equal to the first arguments."""
    order: str = ""
    limit: bool = False
    """Whether the last argument is how many rows at most."""
    schema: str | None = None
    """Where it is, None: as the session says."""


@functools.cache
def qualified(what: Routine | Relation, schema: str) -> Routine | Relation:
    """Return the same with the schema, or the database, that it is in."""
    return dataclasses.replace(what, schema=schema)


class Call(NamedTuple, Generic[T]):
    """A call that is ready to be rendered and executed."""

    what: Routine | Relation
    params: tuple[object, ...]
    result: Callable[[Sequence[Row]], T]


_COMMON = (
    "p_kind, p_key, payload json, payload_bytes bytes, headers json, priority, scheduled_at,"
    " scheduled_at_initially, created_at, reserved_at, attempts, reserved_by, "
)
_MESSAGE = columns(_COMMON + "receipt absent, state absent, errors json")
_RESERVED = columns(_COMMON + "receipt, state absent, errors json")
_SEEN = columns(_COMMON + "receipt absent, state, errors json")
_PUSHED = columns("p_kind, p_key, scheduled_at, outcome")
_PUSHED_MANY = columns("p_key, outcome")
_OUTCOME = columns("receipt, outcome")
_KIND = columns(
    "p_kind, timeout_seconds number, max_attempts, backoff_seconds number, backoff_factor number,"
    " backoff_max_seconds number, jitter number, dead_letter_kind, paused boolean,"
    " dedup_seconds number, history_seconds number, payload_shape json, draining boolean,"
    " expires_seconds number, max_reserved, rate_per_second number, filter_index boolean, log_seconds number,"
    " roles json"
)
_STATS = columns(
    "p_kind, paused boolean, ready count, scheduled count, reserved count, expired count, waiting count,"
    " total count, next_at timestamp, oldest_ready_seconds number, pushed_total count, reserved_total count,"
    " popped_total count, acked_total count, nacked_total count, moved_total count, dead_total count,"
    " expired_total count, lost_total count, draining boolean"
)
_ENDED = columns(
    "p_kind, p_key, entry, outcome, to_kind, payload json, payload_bytes bytes, headers json, priority,"
    " scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors json,"
    " result json"
)
_CHANGED = columns("changed boolean")
_LISTENING = columns("p_kind, channel, ready boolean, next_at, next_seconds number")
_HEARTBEAT = columns("worker, alive boolean, started_at, heartbeat_at, expires_at, reaps boolean")
_WORKER = columns(
    "worker, kinds json, info json, started_at timestamp, heartbeat_at timestamp, timeout_seconds number,"
    " by_session boolean, alive boolean, reserved count"
)

_PUSH = Routine("queue_push", columns("kind text, key text, payload json, options json"), _PUSHED)
_PUSH_BYTES = Routine(
    "queue_push_bytes", columns("kind text, key text, payload_bytes bytes, options json"), _PUSHED
)
_PUSH_MANY = Routine("queue_push_many", columns("kind text, messages json, options json"), _PUSHED_MANY)
_RESERVE = Routine(
    "queue_reserve", columns("kind text, worker text, max_messages integer, options json"), _RESERVED
)
_NEXT = Routine(
    "queue_next",
    columns("receipts json, kind text, worker text, max_messages integer, options json"),
    _RESERVED,
)
_POP = Routine("queue_pop", columns("kind text, max_messages integer"), _MESSAGE, defaults=1)
_POP_WITH = Routine("queue_pop", columns("kind text, max_messages integer, options json"), _MESSAGE)
_EXTEND = Routine("queue_extend", columns("receipt text, seconds numeric"), _OUTCOME)
_EXTEND_MANY = Routine("queue_extend_many", columns("receipts json, seconds numeric"), _OUTCOME)
_ACK = Routine("queue_ack", columns("receipt text"), _OUTCOME, defaults=1)
_ACK_WITH = Routine("queue_ack", columns("receipt text, options json"), _OUTCOME)
_ACK_MANY = Routine("queue_ack_many", columns("receipts json"), _OUTCOME, defaults=1)
_ACK_MANY_WITH = Routine("queue_ack_many", columns("receipts json, options json"), _OUTCOME)
_NACK = Routine("queue_nack", columns("receipt text, options json"), _OUTCOME)
_NACK_MANY = Routine("queue_nack_many", columns("receipts json, options json"), _OUTCOME)
_MOVE = Routine("queue_move", columns("receipt text, to_kind text, options json"), _OUTCOME)
_MOVE_MANY = Routine("queue_move_many", columns("moves json, options json"), _OUTCOME)
_GET = Routine("queue_get", columns("kind text, key text"), _SEEN)
_PEEK = Routine("queue_peek", columns("kind text, max_messages integer"), _SEEN, defaults=1)
_PEEK_WITH = Routine("queue_peek", columns("kind text, max_messages integer, options json"), _SEEN)
_REMOVE = Routine("queue_remove", columns("kind text, key text"), columns("outcome"), scalar=True)
_PURGE = Routine(
    "queue_purge", columns("kind text, max_messages bigint"), columns("purged count"), scalar=True
)
_DEFINE = Routine("queue_define", columns("kind text, options json"), _KIND)
_DROP = Routine("queue_drop", columns("kind text"), _KIND)
_PAUSE = Routine("queue_pause", columns("kind text"), _CHANGED, scalar=True)
_RESUME = Routine("queue_resume", columns("kind text"), _CHANGED, scalar=True)
_REDRIVE = Routine(
    "queue_redrive", columns("kind text, max_messages bigint"), columns("went count, stayed count")
)
_PRUNE = Routine("queue_prune", columns("max_rows bigint"), columns("pruned count"), scalar=True)
_WAIT = Routine("queue_wait", columns("kinds json, timeout_seconds numeric"), columns("p_kind"))
_LISTEN = Routine("queue_listen", columns("kinds json"), _LISTENING)
_BEAT = Routine("queue_heartbeat", columns("worker text, options json"), _HEARTBEAT)
_REAP = Routine("queue_reap", (), columns("worker, freed count"))
_WORKERS = Relation("queue_workers", _WORKER, order="worker")
_DRAIN = Routine("queue_drain", columns("kind text"), _CHANGED, scalar=True)
_REPLAY = Routine("queue_replay", columns("kind text, filter json"), columns("went count, stayed count"))
_SUBSCRIBE = Routine("queue_subscribe", columns("pattern text, kind text"), _CHANGED, scalar=True)
_UNSUBSCRIBE = Routine("queue_unsubscribe", columns("pattern text, kind text"), _CHANGED, scalar=True)
_PUBLISH = Routine("queue_publish", columns("topic text, key text, payload json, options json"), _PUSHED)
_SUBSCRIPTIONS = Relation(
    "queue_subscriptions", columns("pattern, p_kind, subscribed_at timestamp"), order="pattern, p_kind"
)
_SCHEDULE = Routine(
    "queue_schedule",
    columns("name text, kind text, payload json, options json"),
    columns("name, p_kind, next_at"),
)
_GROUP = Routine(
    "queue_group",
    columns("name text, then_kind text, then_payload json, options json"),
    columns("group_name, state, members count, done count"),
)
_GROUPS = Relation(
    "queue_groups",
    columns(
        "group_name, then_kind, state, members count, done count, dead count, created_at timestamp,"
        " finished_at timestamp"
    ),
    order="group_name",
)
_SEMAPHORE = Routine("queue_semaphore", columns("name text, capacity bigint"), columns("name, capacity"))
_SEMAPHORES = Relation(
    "queue_semaphores", columns("name, capacity count, held count, waiting count"), order="name"
)
_UNSCHEDULE = Routine("queue_unschedule", columns("name text"), _CHANGED, scalar=True)
_TICK = Routine("queue_tick", (), columns("ticked count"), scalar=True)
_SCHEDULES = Relation(
    "queue_schedules",
    columns(
        "name, p_kind, payload json, push_options json, rule json, catch_up, paused boolean, until timestamp,"
        " next_at timestamp, last_at timestamp"
    ),
    order="name",
)
_READ = Routine(
    "queue_read",
    columns("name text, reader text, max_messages integer, options json"),
    columns(
        "position, event, topic, p_kind, p_key, entry, payload json, payload_bytes bytes, headers json,"
        " to_kind, created_at"
    ),
)
_READ_ACK = Routine("queue_read_ack", columns("reader text, position bigint"), columns("reader, position"))
_READ_END = Routine("queue_read_end", columns("reader text"), _CHANGED, scalar=True)
_READERS = Relation(
    "queue_readers",
    columns("reader, name, events, position, behind count, missed, created_at timestamp"),
    order="reader",
)
_STATS_OF_ALL = Relation("queue_stats", _STATS, order="p_kind")
_STATS_OF_ONE = Relation("queue_stats", _STATS, ("p_kind",))


def _history(*where: str) -> Relation:
    return Relation("queue_history", _ENDED, where, order="finished_at desc, entry desc", limit=True)


# each with a text of its own, so that the index serves it whatever the plan
_HISTORY = {
    (False, False): _history(),
    (True, False): _history("p_kind"),
    (False, True): _history("p_key"),
    (True, True): _history("p_kind", "p_key"),
}
_NULLABLE = ("payload", "headers")
"""A payload of null is a payload, and headers of null are none: neither is the same as leaving them alone."""
_RESULTS = ("payload", "result")
"""The same of an ack."""


def _pushed(rows: Sequence[Row]) -> Pushed:
    return Pushed(*rows[0])


def _message(rows: Sequence[Row]) -> Message | None:
    return to_messages(rows)[0] if rows else None


def _outcome(rows: Sequence[Row]) -> Outcome:
    return Outcome(*rows[0])


def _outcomes(rows: Sequence[Row]) -> list[Outcome]:
    return [Outcome(*row) for row in rows]


def _kind(rows: Sequence[Row]) -> Kind:
    return Kind(*rows[0])


def _redriven(rows: Sequence[Row]) -> Redriven:
    return Redriven(*rows[0])


def _stats(rows: Sequence[Row]) -> list[Stats]:
    return [Stats(*row) for row in rows]


def _ended(rows: Sequence[Row]) -> list[Ended]:
    place = [column.name for column in _ENDED].index("errors")
    found = [[*row] for row in rows]
    for row in found:
        row[place] = tuple(row[place] or ())
    return [Ended(*row) for row in found]


def _waited(rows: Sequence[Row]) -> str | None:
    return rows[0][0] if rows else None


def _listening(rows: Sequence[Row]) -> list[Listening]:
    return [Listening(*row) for row in rows]


def _heartbeat(rows: Sequence[Row]) -> Heartbeat:
    return Heartbeat(*rows[0])


def _workers(rows: Sequence[Row]) -> list[WorkerState]:
    return [WorkerState(*row) for row in rows]


def _reaped(rows: Sequence[Row]) -> list[Reaped]:
    return [Reaped(*row) for row in rows]


def _published(rows: Sequence[Row]) -> list[Pushed]:
    return [Pushed(*row) for row in rows]


def _subscriptions(rows: Sequence[Row]) -> list[Subscription]:
    return [Subscription(*row) for row in rows]


def _scheduled(rows: Sequence[Row]) -> Scheduled:
    return Scheduled(*rows[0])


def _schedules(rows: Sequence[Row]) -> list[Schedule]:
    return [Schedule(*row) for row in rows]


def _grouped(rows: Sequence[Row]) -> Grouped:
    return Grouped(*rows[0])


def _groups(rows: Sequence[Row]) -> list[Group]:
    return [Group(*row) for row in rows]


def _semaphores(rows: Sequence[Row]) -> list[Semaphore]:
    return [Semaphore(*row) for row in rows]


def _nothing(rows: Sequence[Row]) -> None:
    assert rows


def _read(rows: Sequence[Row]) -> list[Event]:
    return [Event(*row) for row in rows]


def _read_up_to(rows: Sequence[Row]) -> ReadUpTo:
    return ReadUpTo(*rows[0])


def _readers(rows: Sequence[Row]) -> list[Reader]:
    return [Reader(*row) for row in rows]


def _scalar(rows: Sequence[Row]) -> Any:
    return rows[0][0]


def _receipts(receipts: Iterable[str]) -> str:
    given = to_list("receipts", receipts, str, "the text of a receipt", error_of_one=InvalidReceipt)
    return to_json(given, InvalidReceipt, "receipts")


def _mappings(name: str, given: Iterable[Mapping[str, Any]], such: str) -> str:
    found: list[Mapping[str, Any]] = to_list(name, given, Mapping, f"a mapping, such as {such},")
    each = [plain(one, _NULLABLE, f"{name}[{place}].") for place, one in enumerate(found)]
    return to_json(each, name=name)


def push(kind: str, key: str | None, payload: Any, options: Mapping[str, Any]) -> Call[Pushed]:
    """Put one message."""
    return Call(_PUSH, (kind, key, to_json(payload), render(options)), _pushed)


def push_bytes(kind: str, key: str | None, payload_bytes: bytes, options: Mapping[str, Any]) -> Call[Pushed]:
    """Put one message with a binary payload."""
    return Call(_PUSH_BYTES, (kind, key, payload_bytes, render(options)), _pushed)


def push_many(
    kind: str, messages: Iterable[Mapping[str, Any]], options: Mapping[str, Any]
) -> Call[list[Pushed]]:
    """Put many messages of one kind in one statement."""

    def pushed(rows: Sequence[Row]) -> list[Pushed]:
        return [Pushed(kind, key, None, outcome) for key, outcome in rows]

    batch = _mappings("messages", messages, "{'key': …}")
    return Call(_PUSH_MANY, (kind, batch, render(options)), pushed)


def reserve(
    kind: str, worker: str | None, max_messages: int, options: Mapping[str, Any]
) -> Call[list[Reserved]]:
    """Take ready messages and hold them."""
    return Call(_RESERVE, (kind, worker, max_messages, render(options)), to_reserved)


def next_(
    receipts: Iterable[str], kind: str, worker: str | None, max_messages: int, options: Mapping[str, Any]
) -> Call[list[Reserved]]:
    """Ack what is done, and take the next messages."""
    return Call(_NEXT, (_receipts(receipts), kind, worker, max_messages, render(options)), to_reserved)


def pop(kind: str, max_messages: int, options: Mapping[str, Any]) -> Call[list[Message]]:
    """Take ready messages and remove them."""
    text = render(options)
    if text is None:
        return Call(_POP, (kind, max_messages), to_messages)
    return Call(_POP_WITH, (kind, max_messages, text), to_messages)


def extend(receipt: str, seconds: float) -> Call[Outcome]:
    """Keep a hold."""
    return Call(_EXTEND, (receipt, seconds), _outcome)


def extend_many(receipts: Iterable[str], seconds: float) -> Call[list[Outcome]]:
    """Keep many holds."""
    return Call(_EXTEND_MANY, (_receipts(receipts), seconds), _outcomes)


def ack(receipt: str, options: Mapping[str, Any]) -> Call[Outcome]:
    """Say that a message is done."""
    given = render(options, _RESULTS)
    return Call(_ACK_WITH, (receipt, given), _outcome) if given else Call(_ACK, (receipt,), _outcome)


def ack_many(receipts: Iterable[str], options: Mapping[str, Any]) -> Call[list[Outcome]]:
    """Say that many messages are done."""
    batch = _receipts(receipts)
    given = render(options, _RESULTS)
    return Call(_ACK_MANY_WITH, (batch, given), _outcomes) if given else Call(_ACK_MANY, (batch,), _outcomes)


def nack(receipt: str, options: Mapping[str, Any]) -> Call[Outcome]:
    """Give a message back for a later try."""
    return Call(_NACK, (receipt, render(options, _NULLABLE)), _outcome)


def nack_many(receipts: Iterable[str], options: Mapping[str, Any]) -> Call[list[Outcome]]:
    """Give many messages back for a later try."""
    return Call(_NACK_MANY, (_receipts(receipts), render(options, _NULLABLE)), _outcomes)


def move(receipt: str, to_kind: str, options: Mapping[str, Any]) -> Call[Outcome]:
    """Hand a message to the next kind."""
    return Call(_MOVE, (receipt, to_kind, render(options, _NULLABLE)), _outcome)


def move_many(moves: Iterable[Mapping[str, Any]], options: Mapping[str, Any]) -> Call[list[Outcome]]:
    """Hand many messages to their next kinds in one statement."""
    batch = _mappings("moves", moves, "{'receipt': …, 'to_kind': …}")
    return Call(_MOVE_MANY, (batch, render(options, _NULLABLE)), _outcomes)


def get(kind: str, key: str) -> Call[Message | None]:
    """Look at one message."""
    return Call(_GET, (kind, key), _message)


def peek(kind: str, max_messages: int, options: Mapping[str, Any]) -> Call[list[Message]]:
    """Look at what comes next."""
    text = render(options)
    if text is None:
        return Call(_PEEK, (kind, max_messages), to_messages)
    return Call(_PEEK_WITH, (kind, max_messages, text), to_messages)


def remove(kind: str, key: str) -> Call[RemoveOutcome]:
    """Remove a message that nobody holds."""
    return Call(_REMOVE, (kind, key), _scalar)


def purge(kind: str, max_messages: int | None) -> Call[int]:
    """Remove all that nobody holds."""
    return Call(_PURGE, (kind, max_messages), _scalar)


def define(kind: str, options: Mapping[str, Any]) -> Call[Kind]:
    """Change the settings of a kind."""
    return Call(_DEFINE, (kind, render(options, options)), _kind)


def drop(kind: str) -> Call[Kind]:
    """Forget a kind with what waits in it."""
    return Call(_DROP, (kind,), _kind)


def pause(kind: str) -> Call[bool]:
    """Stop deliveries."""
    return Call(_PAUSE, (kind,), _scalar)


def resume(kind: str) -> Call[bool]:
    """Go on with deliveries."""
    return Call(_RESUME, (kind,), _scalar)


def redrive(kind: str, max_messages: int | None) -> Call[Redriven]:
    """Send dead letters back."""
    return Call(_REDRIVE, (kind, max_messages), _redriven)


def prune(max_rows: int | None) -> Call[int]:
    """Remove what is past its time."""
    return Call(_PRUNE, (max_rows,), _scalar)


def _kinds(kinds: str | Iterable[str]) -> str:
    given = kinds if isinstance(kinds, str) else to_list("kinds", kinds, str, "text")
    return to_json(given, InvalidParameter, "kinds")


def wait(kinds: str | Iterable[str], timeout_seconds: float | None) -> Call[str | None]:
    """Wait until something may be ready."""
    return Call(_WAIT, (_kinds(kinds), timeout_seconds), _waited)


def listen(kinds: str | Iterable[str]) -> Call[list[Listening]]:
    """Mark a session as one that listens, and look what is ready."""
    return Call(_LISTEN, (_kinds(kinds),), _listening)


def heartbeat(worker: str, options: Mapping[str, Any]) -> Call[Heartbeat]:
    """Say that a worker is alive, or that it leaves."""
    return Call(_BEAT, (worker, render(options)), _heartbeat)


def workers() -> Call[list[WorkerState]]:
    """Look at the workers that are registered."""
    return Call(_WORKERS, (), _workers)


def reap() -> Call[list[Reaped]]:
    """Free what dead workers held."""
    return Call(_REAP, (), _reaped)


def stats(kind: str | None) -> Call[list[Stats]]:
    """Count."""
    if kind is None:
        return Call(_STATS_OF_ALL, (), _stats)
    return Call(_STATS_OF_ONE, (kind,), _stats)


def history(kind: str | None, key: str | None, max_messages: int) -> Call[list[Ended]]:
    """Look at what ended."""
    given = tuple(one for one in (kind, key) if one is not None)
    return Call(_HISTORY[kind is not None, key is not None], (*given, max_messages), _ended)


def drain(kind: str) -> Call[bool]:
    """Take nothing in any more."""
    return Call(_DRAIN, (kind,), _scalar)


def replay(kind: str, chosen: Mapping[str, Any]) -> Call[Redriven]:
    """Put what is in the history back."""
    return Call(_REPLAY, (kind, render(chosen)), _redriven)


def subscribe(pattern: str, kind: str) -> Call[bool]:
    """Have a kind get copies."""
    return Call(_SUBSCRIBE, (pattern, kind), _scalar)


def unsubscribe(pattern: str, kind: str) -> Call[bool]:
    """Have a kind get no more copies."""
    return Call(_UNSUBSCRIBE, (pattern, kind), _scalar)


def publish(topic: str, key: str | None, payload: Any, options: Mapping[str, Any]) -> Call[list[Pushed]]:
    """Put a copy into every kind that is subscribed."""
    return Call(_PUBLISH, (topic, key, to_json(payload), render(options)), _published)


def subscriptions() -> Call[list[Subscription]]:
    """Look at who is subscribed."""
    return Call(_SUBSCRIPTIONS, (), _subscriptions)


def schedule(name: str, kind: str, payload: Any, options: Mapping[str, Any]) -> Call[Scheduled]:
    """Have a message pushed again and again."""
    return Call(_SCHEDULE, (name, kind, to_json(payload), render(options)), _scheduled)


def unschedule(name: str) -> Call[bool]:
    """Push it no more."""
    return Call(_UNSCHEDULE, (name,), _scalar)


def tick() -> Call[int]:
    """Push what the schedules are due for."""
    return Call(_TICK, (), _scalar)


def schedules() -> Call[list[Schedule]]:
    """Look at the schedules."""
    return Call(_SCHEDULES, (), _schedules)


def group(
    name: str, then_kind: str | None, then_payload: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Call[Grouped]:
    """Make or change a group."""
    payload = None if then_payload is None else to_json(then_payload, name="then_payload")
    return Call(_GROUP, (name, then_kind, payload, render(options)), _grouped)


def groups() -> Call[list[Group]]:
    """Look at the groups."""
    return Call(_GROUPS, (), _groups)


def semaphore(name: str, capacity: int | None) -> Call[None]:
    """Define, change or remove a semaphore."""
    return Call(_SEMAPHORE, (name, capacity), _nothing)


def semaphores() -> Call[list[Semaphore]]:
    """Look at the semaphores."""
    return Call(_SEMAPHORES, (), _semaphores)


def read(name: str, reader: str, max_messages: int, options: Mapping[str, Any]) -> Call[list[Event]]:
    """Read the log."""
    return Call(_READ, (name, reader, max_messages, render(options)), _read)


def read_ack(reader: str, position: int) -> Call[ReadUpTo]:
    """Say up to where a reader is done."""
    return Call(_READ_ACK, (reader, position), _read_up_to)


def read_end(reader: str) -> Call[bool]:
    """Forget a reader."""
    return Call(_READ_END, (reader,), _scalar)


def readers() -> Call[list[Reader]]:
    """Look at the readers."""
    return Call(_READERS, (), _readers)
