"""The options of the calls as typed keywords, and how they become the routines' JSON.

They are keywords of one dict, so that a call without any costs nothing, and so that an option that only a
newer server knows can be passed. The server is the one that refuses an unknown one.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, TypedDict, TypeVar, cast

from pyqueue_sql.errors import InvalidOption, InvalidParameter, InvalidPayload, QueueError
from pyqueue_sql.models import CatchUp, Message, to_microseconds

T = TypeVar("T")
NUL: Final = r"\u0000"
"""The character NUL, as JSON writes it."""
OPTION: Final = "option "
"""What stands before the name of an option in an error."""
OnDuplicate = Literal["ignore", "replace", "keep_time", "push_back"]


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"


UNSET: Final = Unset.UNSET
"""An option that isn't given, where None has a meaning of its own (a payload None is JSON's null)."""


class PublishOptions(TypedDict, total=False):
    """Options of `publish`; None is as good as not given."""

    delay_seconds: float | None
    """Deliver so many seconds from now."""
    scheduled_at: datetime | int | str | None
    """Deliver at: an aware datetime, microseconds since 1970, or ISO 8601 with an offset."""
    priority: int | None
    """Higher first, -32768 to 32767; 0 unless given."""
    headers: Mapping[str, Any] | None
    """String keys, scalar values."""
    attempts: int | None
    """Deliveries that it has had already."""
    max_attempts: int | None
    """Deliveries that it may have, in place of its kind's setting."""
    on_duplicate: OnDuplicate | None
    """Where the key is there: `ignore` the push (the default), `replace` payload and time, `keep_time`
    (payload only), `push_back` (time only)."""


class PushOptions(PublishOptions, total=False):
    """Options of `push`, `push_bytes` and of each message of `push_many`; None is as good as not given."""

    route: Sequence[str] | None
    """The kinds that it goes on to, one with each ack."""
    group: str | None
    """The group that it is a member of."""
    order_key: str | None
    """Messages of the same one come one at a time, in the order in which they were pushed."""
    semaphores: Sequence[str] | None
    """Those that it needs a slot of to be delivered, see `semaphore`."""


class AckOptions(TypedDict, total=False):
    """Options of `ack` and `ack_many`; result and payload None are JSON's null, another None is not given."""

    result: Any
    """Kept in the history."""
    to: str | None
    """Where it goes on to, in place of the next step of its route."""
    payload: Any
    """What it goes on with, where it does."""


class GroupOptions(TypedDict, total=False):
    """Options of `group`; those that aren't given stay as they are."""

    close: bool | None
    """True: all members are known."""
    members: int | None
    """How many there will be."""
    on_dead: Literal["wait", "report", "fail"] | None
    """What a dead member does: the group waits (the default), has its error with the results, or fails."""
    fail_kind: str | None
    """Where what follows goes when it fails."""
    key: str | None
    """Of what follows; the name of the group unless given."""
    priority: int | None
    """Of what follows."""
    delay_seconds: float | None
    """Deliver that so many seconds after."""
    keep_seconds: float | None
    """How long it is remembered after it has finished."""


class NackOptions(TypedDict, total=False):
    """Options of `nack` and `nack_many`; a payload None is JSON's null, any other None is not given."""

    delay_seconds: float | None
    """Try again so many seconds from now. Not given: with an error by the kind's backoff, else at once."""
    error: Any
    """What went wrong: it failed. Kept with the message."""
    payload: Any
    """A new payload."""
    final: bool | None
    """True: dead at once."""
    count: bool | None
    """False: this attempt doesn't count."""


class MoveOptions(TypedDict, total=False):
    """Options of `move` and of each of `move_many`; payload and headers None are null, others not given."""

    payload: Any
    """A new payload."""
    headers: Mapping[str, Any] | Unset | None
    """New headers."""
    key: str | None
    """A new key."""
    delay_seconds: float | None
    """Deliver so many seconds from now."""
    priority: int | None
    """A new priority."""
    on_duplicate: OnDuplicate | None
    """Where the key is in the target already; see `PushOptions`."""


class HeartbeatOptions(TypedDict, total=False):
    """Options of `heartbeat`; those that aren't given stay as they are, but for `session`."""

    timeout_seconds: float | None
    """Dead when silent for so long; 30 unless given."""
    kinds: Sequence[str] | None
    """Where it holds messages; anywhere unless given, and then freeing them looks through all kinds."""
    info: Mapping[str, Any] | None
    """What people should see of it: host, pid, version. String keys, scalar values."""
    session: bool | None
    """True: alive as long as this session is. Not behind a pooler that shares sessions."""
    reconnect_seconds: float | None
    """How long it has to come back once that session has ended; 0 unless given."""
    stop: bool | None
    """True: it leaves in good order."""
    upkeep: bool | None
    """False: never one that `reaps`."""


class DefineOptions(TypedDict, total=False):
    """Settings of a kind; those that aren't given stay as they are."""

    timeout_seconds: float | None
    """How long a reservation lasts."""
    max_attempts: int | None
    """Deliveries until a message is dead, 25 unless given; None: for ever."""
    backoff_seconds: float | None
    """How long after its first failure a message is tried again; 1 unless given."""
    backoff_factor: float | None
    """By how much that grows with each failure; 2 unless given."""
    backoff_max_seconds: float | None
    """Where it stops growing; 3600 unless given."""
    jitter: float | None
    """The share of it, 0 to 1, that is left to chance; 0.2 unless given."""
    dead_letter_kind: str | None
    """Where the dead go; None: `<kind>.dead`."""
    dedup_seconds: float | None
    """For how long a key that was acked, popped or moved away is ignored when it is pushed again."""
    history_seconds: float | None
    """For how long what ended is kept for `history`; 0: not at all."""
    payload_shape: Mapping[str, str] | None
    """Fields that a payload must have, and their types: string, number, integer, boolean, object or array."""
    expires_seconds: float | None
    """It goes, with its messages, when it is unused for so long; None: never."""
    max_reserved: int | None
    """How many may be held at once, whoever holds them; None: any number."""
    rate_per_second: float | None
    """How many are delivered in a second, after a pause a second's worth at once; None: any number."""
    filter_index: bool | None
    """An index for `where` of `reserve`, so that messages that are seldom asked for needn't be looked for."""
    log_seconds: float | None
    """For how long the log that `read` reads keeps what came in and ended; 0: not at all."""
    roles: Sequence[str] | None
    """Who may use it: roles, on MariaDB and MySQL names of accounts; None: all."""


class ScheduleOptions(TypedDict, total=False):
    """Options of `schedule`: one of every_seconds, daily_at and cron, and any of the others."""

    every_seconds: float | None
    """Whenever the time since 1970 can be divided by it."""
    daily_at: str | None
    """A time of the day, "09:30"."""
    cron: str | None
    """Minute, hour, day, month and weekday as in cron, perhaps with seconds as a sixth field at the end."""
    time_zone: str | None
    """Of daily_at and cron: an offset, "+02:00", or a name that the server knows; UTC unless given."""
    catch_up: CatchUp | None
    """What becomes of what is found late: last (one message, the default), all, or skip."""
    until: datetime | int | str | None
    """When it ends."""
    paused: bool | None
    """Whether nothing is made."""
    delay_seconds: float | None
    """Deliver so many seconds after that."""
    priority: int | None
    """Higher first."""
    headers: Mapping[str, Any] | None
    """String keys, scalar values."""
    max_attempts: int | None
    """Deliveries that a message may have."""


_encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


def shown(value: object) -> str:
    """Return a value for the message of an error: at most 40 characters, and of a message only what it is."""
    if isinstance(value, Message):
        return "of type Message"
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return f"of type {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:39]}…"


def has_nul(json_text: str) -> bool:
    """Whether JSON has the character NUL, which no server can hold."""
    return NUL in json_text and NUL in json_text.replace(r"\\", "")


def to_list(
    name: str,
    given: Any,
    type_: type[T],
    wanted: str,
    error: type[QueueError] = InvalidParameter,
    error_of_one: type[QueueError] | None = None,
) -> list[T]:
    """Return what was given as a list.

    Args:
        name: of the parameter.
        given: by the user.
        type_: of each element.
        wanted: the same for people.
        error: what to raise.
        error_of_one: what to raise where an element isn't so; None: the same.

    Raises:
        InvalidParameter: it is none (or another error, as named).
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise error(f"{name} {shown(cast('object', given))}: a list is wanted")
    found: list[Any] = list(cast("Iterable[Any]", given))
    for place, one in enumerate(found):
        if not isinstance(one, type_):
            raise (error_of_one or error)(f"{name}[{place}] {shown(one)}: {wanted} is wanted")
    return found


_NO_JSON: Final = "no JSON can be made of it"
_WANTED: Final = "wanted is a dict, list, tuple, str, int, float, bool or None"


def to_json(value: Any, error: type[QueueError] = InvalidPayload, name: str = "payload") -> str:
    """Return the value as JSON text.

    Args:
        value: what `json.dumps` takes, but neither NaN nor infinity.
        error: what to raise.
        name: of the parameter; `OPTION` for options, whose names follow it.

    Raises:
        InvalidPayload: it has no JSON form (or another error, as named); says what in it has none, and where.
    """
    try:
        text = _encode(value)
        if not text.isascii():
            text.encode()  # lone surrogates
        return text
    except (TypeError, ValueError, RecursionError) as cause:
        try:
            said = _misfit(name, value)
        except RecursionError:
            said = None
        raise error(said or f"{name.strip()}: {_NO_JSON}: {cause}") from cause


def _misfit(place: str, value: object) -> str | None:
    """Return which value in this one has no JSON form, and where; None: it can't be told.

    It is named by its type alone, for what a worker moves on is not for its log.
    """
    if isinstance(value, dict):
        return next(filter(None, (_misfit_in(place, *one) for one in cast("Any", value).items())), None)
    if isinstance(value, list | tuple):
        each = enumerate(cast("Sequence[object]", value))
        return next(filter(None, (_misfit(f"{place}[{number}]", one) for number, one in each)), None)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{place} {value}: a finite number is wanted"
    named = f"{place} of type {type(value).__name__}: {_NO_JSON}"
    if value is None or isinstance(value, str | int):
        try:
            _encode(value).encode()
        except UnicodeEncodeError as error:
            return f"{named}, {error.reason}"
        except ValueError as error:
            return f"{named}: {error}"
        return None
    by = "bytes go by push_bytes" if place == "payload" and isinstance(value, bytes) else _WANTED
    return f"{named}; {by}"


def _misfit_in(place: str, key: object, value: object) -> str | None:
    if not (key is None or isinstance(key, str | int | float)) or key != key:
        return f"{place}: a key of type {type(key).__name__}: text is wanted"
    named = f"{key:.40}…" if isinstance(key, str) and len(key) > 40 else f"{key}"
    dot = "" if place == OPTION else "."
    return _misfit(f"{place}: a key", key) or _misfit(f"{place}{dot}{named}", value)


def plain(options: Mapping[str, Any], nullable: Iterable[str] = (), place: str = OPTION) -> dict[str, Any]:
    """Return the options that are given, with times as integers.

    Args:
        options: names and values.
        nullable: names for which None is a value, and others are as for `to_json`.
        place: what stands before their names in an error.

    Raises:
        InvalidOption: one is a datetime without a time zone, or no finite number.
    """
    given = {
        name: value
        for name, value in options.items()
        if value is not UNSET and (value is not None or name in nullable)
    }
    for name, value in given.items():
        if isinstance(value, datetime):
            try:
                given[name] = to_microseconds(value)
            except ValueError as cause:
                raise InvalidOption(f"{place}{name}: {cause}") from cause
        elif isinstance(value, float) and name not in nullable and not math.isfinite(value):
            raise InvalidOption(f"{place}{name} {value}: a finite number is wanted")
    return given


def render(options: Mapping[str, Any], nullable: Iterable[str] = ()) -> str | None:
    """Return the options as JSON text, None where there are none; arguments and errors are as for `plain`."""
    if not options:
        return None
    given = plain(options, nullable)
    return to_json(given, InvalidOption, OPTION) if given else None
