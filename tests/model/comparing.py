"""The server's answers beside the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pyqueue_sql import InvalidPayload, Refused, to_datetime
from tests.model.entries import DEFAULT_SETTINGS
from tests.model.model import Misfit, RefusedByState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyqueue_sql import Kind, Message, Queue
    from tests.model.entries import Entry
    from tests.model.model import Model

T = TypeVar("T")


def agree(server: Callable[[], T], model: Callable[[], T]) -> None:
    """Make the call on both; answers and refusals have to be the same."""
    try:
        expected: T | str = model()
    except RefusedByState:
        expected = "refused"
    except Misfit:
        expected = "misfit"
    try:
        answer: T | str = server()
    except Refused:
        answer = "refused"
    except InvalidPayload:
        answer = "misfit"
    assert answer == expected


def seen(message: Message) -> tuple[Any, ...]:
    """What a look at a message shows, in the order of `Entry.visible`."""
    return (
        message.key,
        message.payload,
        message.payload_bytes,
        message.headers,
        message.priority,
        message.scheduled_at,
        message.scheduled_at_initially,
        message.created_at,
        message.reserved_at,
        message.attempts,
        message.reserved_by,
        message.state,
    )


def name_dead_letters(queue: Queue, model: Model) -> None:
    """Tell the model the keys of dead letters whose key was taken: the suffix is the server's to choose."""
    for entry in [e for e in model.entries.values() if e.suffixed]:
        known = {e.key for e in model.of(entry.kind)}
        wanted = entry.visible(model.now)[1:]
        found = [
            m.key
            for m in queue.peek(entry.kind, 1000)
            if m.key not in known and m.key.startswith(entry.key.split("~")[0]) and seen(m)[1:] == wanted
        ]
        assert found, f"no dead letter {entry}"
        del model.entries[entry.kind, entry.key]
        entry.key, entry.suffixed = found[0], False
        model.entries[entry.kind, entry.key] = entry


def compare_kind(queue: Queue, model: Model, kind: str) -> None:
    """Compare every message of a kind, and the order in which they stand."""
    server = {m.key: seen(m) for m in queue.peek(kind, 1000)}
    expected = {e.key: e.visible(model.now) for e in model.of(kind)}
    assert server == expected
    line = [model.entries[kind, key].rank() for key in server if not waits(server[key])]
    assert line == sorted(line), f"{kind}: not in order of delivery: {list(server)}"


def waits(visible: tuple[Any, ...]) -> bool:
    """Whether a message, as `seen`, has to wait for its time."""
    return visible[-1] in ("scheduled", "reserved")


def compare_delivery(
    got: Sequence[Message], walked: Sequence[Entry], met: bool, line: Sequence[Entry]
) -> list[Entry]:
    """Return the entries that were delivered, in the server's order, which has to be that of the model.

    Args:
        got: what the server delivered.
        walked: what the model would; of several in the same place the server may have taken another.
        line: all messages of the kind.
        met: whether something stood between them that couldn't be delivered: then only who comes counts, not
            in which order.
    """
    assert len(got) == len(walked), f"{[m.key for m in got]} for {[e.key for e in walked]}"
    of_key = {entry.key: entry for entry in line}
    taken = [of_key[message.key] for message in got]
    assert sorted(e.rank() for e in taken) == sorted(e.rank() for e in walked)
    for message, entry in zip(got, taken, strict=True):
        assert (message.payload, message.payload_bytes, message.headers) == entry.content
        assert (message.priority, message.created_at) == (entry.priority, entry.created_at)
    ranks = [entry.rank() for entry in taken]
    assert met or ranks == sorted(ranks), f"not in order of delivery: {[m.key for m in got]}"
    return taken


def compare_stats(queue: Queue, model: Model, prefix: str) -> None:
    """Compare all that is counted of the kinds of this run."""
    found = {stats.kind: stats for stats in queue.stats() if stats.kind.startswith(prefix)}
    for kind in {kind for kind, _ in model.entries} | set(found):
        assert kind in found, f"{kind} is missing in the statistics"
        expected = model.stats(kind)
        if expected["next_at"] is not None:
            expected["next_at"] = to_datetime(expected["next_at"])
        assert {name: getattr(found[kind], name) for name in expected} == expected, kind


def compare_history(queue: Queue, model: Model, prefix: str) -> None:
    """Compare what ended: what has to be kept is there, once, and nothing that never was."""
    found = [
        (
            e.kind,
            e.key,
            e.outcome,
            e.to_kind,
            e.payload,
            e.payload_bytes,
            e.headers,
            e.priority,
            e.scheduled_at_initially,
            e.created_at,
            e.reserved_at,
            e.finished_at,
            e.attempts,
            e.reserved_by,
        )
        for kind in {row[0] for row in model.ever_ended}
        for e in queue.history(kind, max_messages=10_000)
    ]
    server = sorted(map(repr, found))
    missing = [row for row in map(repr, model.history) if row not in server]
    invented = [row for row in server if row not in set(map(repr, model.ever_ended))]
    assert (missing, invented) == ([], []), prefix
    assert len(server) <= len(model.ever_ended)


def settings_in(kind: Kind) -> dict[str, Any]:
    """The settings that the model knows."""
    return {name: getattr(kind, name) for name in DEFAULT_SETTINGS}
