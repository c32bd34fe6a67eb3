"""Every call as a value: its SQL, its parameters, and how its rows become a result.

This is the only module with the SQL of calls. It executes nothing, so that clients of any kind share it.
Columns are named, because a newer server may answer with more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, LiteralString, NamedTuple, TypeAlias, TypeVar

from pyqueue_sql.models import (
    Ended,
    Kind,
    Message,
    Outcome,
    Pushed,
    Redriven,
    RemoveOutcome,
    Stats,
    to_messages,
)
from pyqueue_sql.options import plain, render, to_json

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]


class Call(NamedTuple, Generic[T]):
    """A call that is ready to be executed."""

    text: LiteralString
    params: tuple[object, ...]
    result: Callable[[Sequence[Row]], T]


_COLUMNS = (
    "p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,"
    " created_at, reserved_at, attempts, reserved_by"
)
_KIND = (
    "p_kind, timeout_seconds::float8, max_attempts, backoff_seconds::float8, backoff_factor::float8,"
    " backoff_max_seconds::float8, jitter::float8, dead_letter_kind, paused,"
    " dedup_seconds::float8, history_seconds::float8, payload_shape"
)
_STATS = (
    "p_kind, paused, ready, scheduled, reserved, expired, waiting, total, next_at,"
    " oldest_ready_seconds::float8, pushed_total, reserved_total, popped_total, acked_total, nacked_total,"
    " moved_total, dead_total, expired_total"
)
_ENDED = (
    "p_kind, p_key, entry, outcome, to_kind, payload, payload_bytes, headers, priority,"
    " scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors"
)
_NULLABLE = ("payload", "headers")
"""A payload of null is a payload, and headers of null are none: neither is the same as leaving them alone."""


def _pushed(rows: Sequence[Row]) -> Pushed:
    return Pushed(*rows[0])


def _message(rows: Sequence[Row]) -> Message | None:
    return Message(*rows[0]) if rows else None


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
    return [Ended(*row) for row in rows]


def _scalar(rows: Sequence[Row]) -> Any:
    return rows[0][0]


def push(kind: str, key: str | None, payload: Any, options: Mapping[str, Any]) -> Call[Pushed]:
    """Put one message."""
    return Call(
        "select p_kind, p_key, scheduled_at, outcome from queue_push(%s, %s, %s, %s)",
        (kind, key, to_json(payload), render(options)),
        _pushed,
    )


def push_bytes(kind: str, key: str | None, payload_bytes: bytes, options: Mapping[str, Any]) -> Call[Pushed]:
    """Put one message with a binary payload."""
    return Call(
        "select p_kind, p_key, scheduled_at, outcome from queue_push_bytes(%s, %s, %s, %s)",
        (kind, key, payload_bytes, render(options)),
        _pushed,
    )


def push_many(
    kind: str, messages: Iterable[Mapping[str, Any]], options: Mapping[str, Any]
) -> Call[list[Pushed]]:
    """Put many messages of one kind in one statement."""

    def pushed(rows: Sequence[Row]) -> list[Pushed]:
        return [Pushed(kind, key, None, outcome) for key, outcome in rows]

    return Call(
        "select p_key, outcome from queue_push_many(%s, %s, %s)",
        (kind, to_json([plain(message, _NULLABLE) for message in messages]), render(options)),
        pushed,
    )


def reserve(
    kind: str, worker: str | None, max_messages: int, options: Mapping[str, Any]
) -> Call[list[Message]]:
    """Take ready messages and hold them."""
    return Call(
        f"select {_COLUMNS}, receipt from queue_reserve(%s, %s, %s::integer, %s)",
        (kind, worker, max_messages, render(options)),
        to_messages,
    )


def pop(kind: str, max_messages: int) -> Call[list[Message]]:
    """Take ready messages and remove them."""
    return Call(f"select {_COLUMNS} from queue_pop(%s, %s::integer)", (kind, max_messages), to_messages)


def extend(receipt: str, seconds: float) -> Call[Outcome]:
    """Keep a hold."""
    return Call("select receipt, outcome from queue_extend(%s, %s::numeric)", (receipt, seconds), _outcome)


def extend_many(receipts: Iterable[str], seconds: float) -> Call[list[Outcome]]:
    """Keep many holds."""
    return Call(
        "select receipt, outcome from queue_extend_many(%s, %s::numeric)",
        (to_json(list(receipts)), seconds),
        _outcomes,
    )


def ack(receipt: str) -> Call[Outcome]:
    """Say that a message is done."""
    return Call("select receipt, outcome from queue_ack(%s)", (receipt,), _outcome)


def ack_many(receipts: Iterable[str]) -> Call[list[Outcome]]:
    """Say that many messages are done."""
    return Call("select receipt, outcome from queue_ack_many(%s)", (to_json(list(receipts)),), _outcomes)


def nack(receipt: str, options: Mapping[str, Any]) -> Call[Outcome]:
    """Give a message back for a later try."""
    return Call(
        "select receipt, outcome from queue_nack(%s, %s)", (receipt, render(options, _NULLABLE)), _outcome
    )


def nack_many(receipts: Iterable[str], options: Mapping[str, Any]) -> Call[list[Outcome]]:
    """Give many messages back for a later try."""
    return Call(
        "select receipt, outcome from queue_nack_many(%s, %s)",
        (to_json(list(receipts)), render(options, _NULLABLE)),
        _outcomes,
    )


def move(receipt: str, to_kind: str, options: Mapping[str, Any]) -> Call[Outcome]:
    """Hand a message to the next kind."""
    return Call(
        "select receipt, outcome from queue_move(%s, %s, %s)",
        (receipt, to_kind, render(options, _NULLABLE)),
        _outcome,
    )


def move_many(moves: Iterable[Mapping[str, Any]], options: Mapping[str, Any]) -> Call[list[Outcome]]:
    """Hand many messages to their next kinds in one statement."""
    return Call(
        "select receipt, outcome from queue_move_many(%s, %s)",
        (to_json([plain(one, _NULLABLE) for one in moves]), render(options, _NULLABLE)),
        _outcomes,
    )


def get(kind: str, key: str) -> Call[Message | None]:
    """Look at one message."""
    return Call(f"select {_COLUMNS}, null, state from queue_get(%s, %s)", (kind, key), _message)


def peek(kind: str, max_messages: int) -> Call[list[Message]]:
    """Look at what comes next."""
    return Call(
        f"select {_COLUMNS}, null, state from queue_peek(%s, %s::integer)", (kind, max_messages), to_messages
    )


def remove(kind: str, key: str) -> Call[RemoveOutcome]:
    """Remove a message that nobody holds."""
    return Call("select * from queue_remove(%s, %s)", (kind, key), _scalar)


def purge(kind: str, max_messages: int | None) -> Call[int]:
    """Remove all that nobody holds."""
    return Call("select * from queue_purge(%s, %s::bigint)", (kind, max_messages), _scalar)


def define(kind: str, options: Mapping[str, Any]) -> Call[Kind]:
    """Change the settings of a kind."""
    return Call(f"select {_KIND} from queue_define(%s, %s)", (kind, render(options, options)), _kind)


def drop(kind: str) -> Call[Kind]:
    """Forget a kind with what waits in it."""
    return Call(f"select {_KIND} from queue_drop(%s)", (kind,), _kind)


def pause(kind: str) -> Call[bool]:
    """Stop deliveries."""
    return Call("select * from queue_pause(%s)", (kind,), _scalar)


def resume(kind: str) -> Call[bool]:
    """Go on with deliveries."""
    return Call("select * from queue_resume(%s)", (kind,), _scalar)


def redrive(kind: str, max_messages: int | None) -> Call[Redriven]:
    """Send dead letters back."""
    return Call("select went, stayed from queue_redrive(%s, %s::bigint)", (kind, max_messages), _redriven)


def prune(max_rows: int | None) -> Call[int]:
    """Remove what is past its time."""
    return Call("select * from queue_prune(%s::bigint)", (max_rows,), _scalar)


def stats(kind: str | None) -> Call[list[Stats]]:
    """Count."""
    if kind is None:
        return Call(f"select {_STATS} from queue_stats order by p_kind", (), _stats)
    return Call(f"select {_STATS} from queue_stats where p_kind = %s", (kind,), _stats)


def history(kind: str | None, key: str | None, max_messages: int) -> Call[list[Ended]]:
    """Look at what ended."""
    # each with a text of its own, so that the index serves it whatever the plan
    newest = "order by finished_at desc, entry desc limit %s::bigint"
    if kind is None and key is None:
        return Call(f"select {_ENDED} from queue_history {newest}", (max_messages,), _ended)
    if key is None:
        return Call(
            f"select {_ENDED} from queue_history where p_kind = %s {newest}", (kind, max_messages), _ended
        )
    if kind is None:
        return Call(
            f"select {_ENDED} from queue_history where p_key = %s {newest}", (key, max_messages), _ended
        )
    return Call(
        f"select {_ENDED} from queue_history where p_kind = %s and p_key = %s {newest}",
        (kind, key, max_messages),
        _ended,
    )
