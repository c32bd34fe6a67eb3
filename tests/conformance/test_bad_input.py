"""Over a thousand hostile values for every parameter and option: refused by name, or kept exactly.

Nothing else may happen: no other exception, nothing half done, no connection that is of no use afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pyqueue_sql import InvalidOption, InvalidPayload, QueueError
from tests.conformance import hostile
from tests.conformance.hostile import (
    is_flag,
    is_headers,
    is_json,
    is_mode,
    is_time,
    is_where,
    number,
    storable,
    text_of,
)
from tests.conformance.steps import take
from tests.rules import each
from tests.sample import sample, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.conformance.fixtures import Capabilities, Clock
    from tests.conformance.harness import Session

OURS = {"PQ001", "PQ002", "PQ003", "PQ004", "PQ005"}
WATCHED = "watched"


class Parameter(NamedTuple):
    """A parameter or option: how to give it a value, which are sound, and how to read it back."""

    name: str
    """As errors have to name it."""
    values: list[Any]
    sound: Callable[[Any], bool]
    call: Callable[[Session, str, Any], object]
    """With a kind of its own, in which message `there` waits."""
    read: Callable[[Session, str, Any], object] | None = None


def held(queue: Session, kind: str) -> str:
    return take(queue, kind)[1]


def key_and(queue: Session, kind: str, attribute: str, key: Any = "a") -> object:
    message = queue.get(kind, key)
    assert message
    return getattr(message, attribute)


def parameters() -> Iterator[Parameter]:
    """Every parameter of every routine, with values for it."""
    texts = [None, *hostile.TEXTS]
    for most, call in (
        (95, lambda q, _, v: q.push(v, "a", 1)),
        (95, lambda q, _, v: q.push_bytes(v, "a", b"")),
        (95, lambda q, _, v: q.push_many(v, [{"key": "a", "payload": 1}])),
        (100, lambda q, _, v: [q.ack(m.receipt or "") for m in q.reserve(v)]),
        (100, lambda q, _, v: q.pop(v)),
        (100, lambda q, _, v: q.get(v, "a")),
        (100, lambda q, _, v: q.peek(v)),
        (100, lambda q, _, v: q.remove(v, "a")),
        (100, lambda q, _, v: q.purge(v)),
        (100, lambda q, _, v: q.define(v)),
        (100, lambda q, _, v: q.drop(v)),
        (100, lambda q, _, v: q.pause(v)),
        (100, lambda q, _, v: q.resume(v)),
        (100, lambda q, _, v: q.redrive(v)),
        (100, lambda q, _, v: [q.drain(v), q.resume(v)]),
        (100, lambda q, _, v: q.replay(v)),
        (95, lambda q, _, v: q.subscribe("a.b", v)),
        (95, lambda q, _, v: q.schedule("a", v, 1, every_seconds=60)),
    ):
        yield Parameter("kind", texts, text_of(most), call)
    yield Parameter(
        "to_kind",
        texts,
        text_of(95),
        lambda q, k, v: q.move(held(q, k), v),
        lambda q, _, v: q.peek(v)[0].kind,
    )
    key = text_of(200)
    yield Parameter(
        "key", texts[1:], key, lambda q, k, v: q.push(k, v, 1), lambda q, k, v: key_and(q, k, "key", v)
    )
    yield Parameter("key", texts[1:], key, lambda q, k, v: q.push_bytes(k, v, b""))
    yield Parameter("key", texts, key, lambda q, k, v: q.get(k, v))
    yield Parameter("key", texts, key, lambda q, k, v: q.remove(k, v))
    yield Parameter(
        "key",
        texts[1:],
        key,
        lambda q, k, v: q.move(held(q, k), "next", key=v),
        lambda q, _, v: key_and(q, "next", "key", v),
    )
    yield Parameter(
        "messages[1].key",
        texts[1:],
        key,
        lambda q, k, v: q.push_many(k, [{"key": "b", "payload": 1}, {"key": v, "payload": 1}]),
        lambda q, k, v: key_and(q, k, "key", v),
    )
    yield Parameter(
        "worker",
        texts[1:],
        text_of(200),
        lambda q, k, v: q.reserve(k, v),
        lambda q, k, _: key_and(q, k, "reserved_by", "there"),
    )
    yield Parameter(
        "payload",
        hostile.JSONS,
        is_json,
        lambda q, k, v: q.push(k, "a", v),
        lambda q, k, _: key_and(q, k, "payload"),
    )
    yield Parameter(
        "messages[1].payload",
        hostile.JSONS,
        is_json,
        lambda q, k, v: q.push_many(k, [{"key": "b", "payload": 1}, {"key": "a", "payload": v}]),
        lambda q, k, _: key_and(q, k, "payload"),
    )
    yield Parameter(
        "payload",
        hostile.JSONS,
        is_json,
        lambda q, k, v: q.nack(held(q, k), payload=v),
        lambda q, k, _: key_and(q, k, "payload", "there"),
    )
    yield Parameter(
        "payload",
        hostile.JSONS,
        is_json,
        lambda q, k, v: q.move(held(q, k), f"next{k}", payload=v),
        lambda q, k, _: key_and(q, f"next{k}", "payload", "there"),
    )
    yield Parameter(
        "headers",
        hostile.SCALARS_WANTED,
        is_headers,
        lambda q, k, v: q.push(k, "a", 1, headers=v),
        lambda q, k, _: key_and(q, k, "headers") or {},
    )
    yield Parameter(
        "headers",
        hostile.SCALARS_WANTED,
        is_headers,
        lambda q, k, v: q.move(held(q, k), f"next{k}", headers=v),
        lambda q, k, _: key_and(q, f"next{k}", "headers", "there") or {},
    )
    yield from numbers()
    yield Parameter("name", texts, text_of(100), lambda q, _, v: q.semaphore(v, 1))
    yield Parameter("scheduled_at", hostile.TIMES, is_time, lambda q, k, v: q.push(k, "a", 1, scheduled_at=v))
    yield Parameter(
        "scheduled_at",
        hostile.TIMES,
        is_time,
        lambda q, k, v: q.push_many(k, [{"key": "a", "payload": 1, "scheduled_at": v}]),
    )
    yield Parameter(
        "on_duplicate", hostile.MODES, is_mode, lambda q, k, v: q.push(k, "there", 1, on_duplicate=v)
    )
    yield Parameter(
        "on_duplicate", hostile.MODES, is_mode, lambda q, k, v: q.move(held(q, k), k, on_duplicate=v)
    )
    for name in ("final", "count"):
        yield Parameter(
            name, hostile.FLAGS, is_flag, lambda q, k, v, name=name: q.nack(held(q, k), **{name: v})
        )
    yield Parameter(
        "error",
        texts,
        lambda v: v is None or storable(v),
        lambda q, k, v: q.nack(held(q, k), error=v),
    )
    yield Parameter(
        "dead_letter_kind",
        texts,
        lambda v: v is None or text_of(100)(v),
        lambda q, k, v: q.define(k, dead_letter_kind=v),
        lambda q, k, _: q.define(k).dead_letter_kind,
    )
    yield Parameter(
        "filter_index",
        hostile.FLAGS,
        is_flag,
        lambda q, k, v: q.define(k, filter_index=v),
    )
    for call in (
        lambda q, k, v: q.reserve(k, where=v),
        lambda q, k, v: q.pop(k, where=v),
        lambda q, k, v: q.peek(k, where=v),
    ):
        yield Parameter("where", hostile.SCALARS_WANTED, is_where, call)


def numbers() -> Iterator[Parameter]:
    """Those that are numbers."""
    year = 31_536_000
    count = number(1, 10_000, whole=True)
    for name, sound, call in (
        ("timeout_seconds", number(0.001, year), lambda q, k, v: q.reserve(k, timeout_seconds=v)),
        ("delay_seconds", number(0, 200_000_000_000), lambda q, k, v: q.push(k, "a", 1, delay_seconds=v)),
        ("delay_seconds", number(0, 200_000_000_000), lambda q, k, v: q.move(held(q, k), k, delay_seconds=v)),
        ("delay_seconds", number(0, year), lambda q, k, v: q.nack(held(q, k), delay_seconds=v)),
        ("priority", number(-32_768, 32_767, whole=True), lambda q, k, v: q.push(k, "a", 1, priority=v)),
        ("priority", number(-32_768, 32_767, whole=True), lambda q, k, v: q.move(held(q, k), k, priority=v)),
        ("attempts", number(0, 10**9, whole=True), lambda q, k, v: q.push(k, "a", 1, attempts=v)),
        ("max_attempts", number(1, 10**9, whole=True), lambda q, k, v: q.push(k, "a", 1, max_attempts=v)),
        ("timeout_seconds", number(0.001, year), lambda q, k, v: q.define(k, timeout_seconds=v)),
        ("max_attempts", number(1, 10**9, whole=True), lambda q, k, v: q.define(k, max_attempts=v)),
        ("backoff_seconds", number(0, year), lambda q, k, v: q.define(k, backoff_seconds=v)),
        ("backoff_factor", number(1, 100), lambda q, k, v: q.define(k, backoff_factor=v)),
        ("backoff_max_seconds", number(0, year), lambda q, k, v: q.define(k, backoff_max_seconds=v)),
        ("jitter", number(0, 1), lambda q, k, v: q.define(k, jitter=v)),
        ("expires_seconds", number(1, 315_360_000), lambda q, k, v: q.define(k, expires_seconds=v)),
        ("max_reserved", number(1, 10_000, whole=True), lambda q, k, v: q.define(k, max_reserved=v)),
        ("rate_per_second", number(0.001, 1_000_000), lambda q, k, v: q.define(k, rate_per_second=v)),
        ("priority", number(-32_768, 32_767, whole=True), lambda q, k, v: q.publish(k, "a", 1, priority=v)),
    ):
        yield Parameter(name, hostile.NUMBERS, sound, call)
    for name, sound, call in (
        ("max_messages", count, lambda q, k, v: q.reserve(k, None, v)),
        ("max_messages", count, lambda q, k, v: q.pop(k, v)),
        ("max_messages", count, lambda q, k, v: q.peek(k, v)),
        ("max_messages", number(1, 2**63 - 1, whole=True), lambda q, k, v: q.purge(k, v)),
        ("max_messages", number(1, 2**63 - 1, whole=True), lambda q, k, v: q.redrive(k, v)),
        ("limit", number(1, 10_000, whole=True), lambda q, k, v: q.replay(k, limit=v)),
        ("max_rows", number(1, 1_000_000, whole=True), lambda q, _, v: q.prune(v)),
        ("capacity", number(0, 1_000_000, whole=True), lambda q, _, v: q.semaphore("s", v)),
        ("seconds", number(0, year, none=False), lambda q, k, v: q.extend(held(q, k), v)),
        ("seconds", number(0, year, none=False), lambda q, k, v: q.extend_many([held(q, k)], v)),
    ):
        # what a typed argument can't be isn't called hostile: a type checker says it
        sort = int if "max" in name or name == "capacity" else int | float
        values = [v for v in hostile.NUMBERS if isinstance(v, sort) and not isinstance(v, bool)]
        yield Parameter(name, values, sound, call)


ALL = list(parameters())
VALUES = [
    (f"{row}.{place}", parameter, value)
    for row, parameter in enumerate(ALL)
    for place, value in enumerate(parameter.values)
]


def test_there_are_over_a_thousand_of_them() -> None:
    assert len(VALUES) > 1000


@pytest.fixture
def watched(queue: Session, clock: Clock) -> Callable[[], object]:
    """A queue that nothing may change; returns how to look at it."""
    assert clock
    for key in ("ready", "held", "later"):
        queue.push(WATCHED, key, key, headers={"h": 1}, delay_seconds=60 if key == "later" else 0)
    queue.reserve(WATCHED, "somebody", 1)
    return lambda: (queue.peek(WATCHED, 9), queue.stats(WATCHED))


@pytest.mark.long
@pytest.mark.core("postgresql")
@each("name", sorted({parameter.name for parameter in ALL}))
def test_a_hostile_value_is_refused_by_name_or_kept_exactly(
    queue: Session,
    capabilities: Capabilities,
    watched: Callable[[], object],
    server_name: str,
    name: str,
) -> None:
    before = watched()
    values = [one for one in VALUES if one[1].name == name]
    longest = [one for one in values if isinstance(one[2], str) and one[2] in hostile.LONGEST]
    tried = {one[0]: one for one in [*sample(values, name, whole=whole(server_name)), *longest]}
    wrong = problems(queue, capabilities, tried.values())
    assert watched() == before
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


@pytest.mark.long
@pytest.mark.core("postgresql")
@each("routine", ["ack", "nack", "extend", "move", "many"])
def test_a_forged_receipt_is_refused_or_lost(
    queue: Session, watched: Callable[[], object], routine: str
) -> None:
    queue.push("other", "a", 1)
    good = held(queue, "other")
    before = watched(), queue.get("other", "a")
    calls: list[Callable[[Any], Any]] = {
        "ack": [queue.ack],
        "nack": [queue.nack, lambda r: queue.nack(r, final=True, payload=1)],
        "extend": [lambda r: queue.extend(r, 1)],
        "move": [lambda r: queue.move(r, "next"), lambda r: queue.move(r, WATCHED, key="ready")],
        "many": [
            lambda r: queue.ack_many([r])[0],
            lambda r: queue.nack_many([r])[0],
            lambda r: queue.extend_many([r], 1)[0],
            lambda r: queue.move_many([{"receipt": r, "to_kind": "next"}])[0],
        ],
    }[routine]
    wrong: list[str] = []
    for receipt in hostile.receipts(good):
        if routine != "many" and not isinstance(receipt, str | None):
            continue  # a typed argument
        for call in calls:
            try:
                if not call(receipt).lost:
                    wrong.append(f"{receipt!r}: taken")
            except QueueError as error:
                text = str(error)
                named = "receipt" in text or "moves" in text
                if len(text) > 250 or (is_json(receipt) and not named):
                    wrong.append(f"{receipt!r}"[:60] + f": {error!r}")
            except Exception as error:
                wrong.append(f"{receipt!r}"[:60] + f": {error!r}")
    assert (watched(), queue.get("other", "a")) == before
    assert queue.peek("next") == []
    assert not wrong, "\n".join(wrong)
    assert queue.ack(good).outcome == "acked", "the good one is still good"


def problems(
    queue: Session, capabilities: Capabilities, values: Iterable[tuple[str, Parameter, Any]]
) -> list[str]:
    """Return what is wrong with the answers to values."""
    return [
        f"{parameter.name} {place} = {repr(value)[:60]}: {problem}"
        for place, parameter, value in values
        if (problem := reaction(queue, capabilities, parameter, f"k{place}", value))
    ]


def reaction(
    queue: Session, capabilities: Capabilities, parameter: Parameter, kind: str, value: Any
) -> str | None:
    """Return what is wrong with the answer to a value, None where nothing is."""
    queue.push(kind, "there", "before", priority=1)
    sound = parameter.sound(value)
    try:
        parameter.call(queue, kind, value)
    except QueueError as error:
        deep = "deep_json" in capabilities
        # what stands in a batch has two levels around it, and MariaDB reads no more than 32
        if sound and (deep or "[" not in parameter.name or is_json(value, 29)):
            return f"refused: {error!r}"
        if [m.payload for m in queue.peek(kind, 9)] != ["before"]:
            return "refused, and half done"
        return badly_said(error, parameter.name, value, deep)
    except Exception as error:
        return f"{error!r}"[:200]
    if not sound:
        return "accepted"
    expected = value if "exact_numbers" in capabilities else rounded(value)
    if parameter.read and (kept := parameter.read(queue, kind, value)) != expected:
        return f"came back as {kept!r}"[:200]
    return None


def rounded(value: Any) -> Any:
    """What a server keeps that makes a double of whole numbers beyond 64 bits."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def readable(value: Any, deep: bool) -> bool:
    """Whether the server can read it as text, JSON or a number: else no routine gets to see and name it."""
    if isinstance(value, int | float):
        return -(2**31) <= value < 2**31
    return is_json(value, 10**6 if deep else 28)


def badly_said(error: QueueError, name: str, value: Any, deep: bool) -> str | None:
    """Return what is wrong with the text of an error, None where nothing is.

    Args:
        error: it.
        name: what it has to name, where the server can read the value.
        value: what it refused.
        deep: whether the server reads JSON of any depth.
    """
    text = str(error)
    if error.sqlstate not in OURS:
        return f"{error!r}: no cause of ours"
    if name not in text and readable(value, deep):
        return f"{error!r}: doesn't name {name}"[:300]
    if len(text) > 250 or (isinstance(value, str) and len(value) > 40 and value[:41] in text):
        return f"too long: {text[:300]}"
    return None


NUL: list[tuple[type[QueueError], str, Callable[[Session], object]]] = [
    (InvalidPayload, 'payload "{"a":"x\\u0000y"}"', lambda queue: queue.push("mail", "a", {"a": "x\0y"})),
    (
        InvalidPayload,
        'messages "[{"key":"a","payload":"\\u0000"}]"',
        lambda queue: queue.push_many("mail", [{"key": "a", "payload": "\0"}]),
    ),
    (
        InvalidOption,
        'options "{"headers":{"a":"\\u0000"}}"',
        lambda queue: queue.push("mail", "a", headers={"a": "\0"}),
    ),
    (
        InvalidOption,
        'options "{"where":{"\\u0000":1}}"',
        lambda queue: queue.reserve("mail", where={"\0": 1}),
    ),
]


@pytest.mark.parametrize(("error", "what", "call"), NUL, ids=["payload", "messages", "headers", "where"])
def test_a_character_that_no_json_may_have_is_refused_by_the_name_of_what_has_it(
    queue: Session, error: type[QueueError], what: str, call: Callable[[Session], object]
) -> None:
    with pytest.raises(error) as refused:
        call(queue)
    assert str(refused.value) == rf"{what}: must not contain \u0000"
    assert queue.push("mail", "a", r"\u0000").outcome == "created"
