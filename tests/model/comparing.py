"""The server's answers beside the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pyqueue_sql import InvalidPayload, Refused, to_datetime
from tests.model.entries import DEFAULT_SETTINGS, Misfit, RefusedByState

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
    assert answer == expected, f"server: {answer!r}, model: {expected!r}"


def seen(message: Message) -> tuple[Any, ...]:
    """What a look at a message shows, in the order of `Entry.visible`."""
    return (
        message.key,
        without_errors(message.payload),
        message.payload_bytes,
        message.headers,
        message.priority,
        message.scheduled_at,
        message.scheduled_at_initially,
        message.created_at,
        message.reserved_at,
        message.attempts,
        message.reserved_by,
        tuple("broken" if e["error"] == "broken" else "…" for e in message.errors),
        message.state,
    )


def without_errors(payload: Any) -> Any:
    """The payload of what follows a group, where the model knows just that there is an error."""
    if not isinstance(payload, dict) or "results" not in payload:
        return payload
    names = ("kind", "key", "outcome", "result", "error")
    results = [{n: "…" if n == "error" else r[n] for n in names if n in r} for r in payload["results"]]
    return {name: results if name == "results" else payload[name] for name in sorted(payload, reverse=True)}


def loosened(message: Message, entry: Entry | None, now: int) -> tuple[Any, ...]:
    """What a look shows; whether what needs slots waits for them isn't modelled."""
    visible = seen(message)
    waits = entry and entry.semaphores and visible[-1] == "waiting" and entry.reserved_at is None
    return (*visible[:-1], entry.state(now)) if entry and waits else visible


def learn_places(model: Model, kind: str, messages: Sequence[Message]) -> None:
    """Tell the model which expired holds had a place or a slot that somebody wanted since."""
    for message in messages:
        entry = model.entries.get((kind, message.key))
        if entry and entry.state(model.now) == "expired":
            if entry.semaphores and message.reserved_at is None:
                entry.reserved_at = entry.reserved_by = None  # there was no room to deliver it again
                model.kinds[kind].counts["expired"] += 1
            elif model.settings(kind)["max_reserved"] and message.reserved_by is None:
                entry.reserved_by, entry.placeless = None, True  # its place was wanted


def learn(model: Model, kind: str, messages: Sequence[Message]) -> None:
    """Tell the model what it can't know: keys of dead letters, and what `learn_places` does."""
    learn_places(model, kind, messages)
    for entry in [e for e in model.of(kind) if e.suffixed]:
        known = {e.key for e in model.of(kind)}
        found = [
            m.key
            for m in messages
            if m.key not in known
            and m.key.startswith(entry.key.split("~")[0])
            and seen(m)[1:] == entry.visible(model.now)[1:]
        ]
        assert found, f"no dead letter {entry}"
        for event in model.log.events:
            if (event.kind, event.key) == (entry.kind, entry.key):
                event.key = found[0]
        del model.entries[entry.kind, entry.key]
        entry.key, entry.suffixed = found[0], False
        model.entries[entry.kind, entry.key] = entry


def learn_delays(queue: Queue, model: Model) -> None:
    """Tell the model until when what has just failed waits."""
    for entry in model.jittered:
        found = queue.get(entry.kind, entry.key)
        assert found, f"{entry} is gone"
        longest = entry.scheduled_at - model.now
        assert 0.8 * longest - 1 <= found.scheduled_at - model.now <= longest, entry
        entry.let_go(found.scheduled_at)
    model.jittered.clear()


def compare_kind(queue: Queue, model: Model, kind: str) -> None:
    """Compare every message of a kind, and the order in which they stand."""
    messages = queue.peek(kind, 1000)
    learn(model, kind, messages)
    loose = {e.key for e in model.of(kind) if e.semaphores}
    server = {m.key: loosened(m, model.entries.get((kind, m.key)), model.now) for m in messages}
    expected = {e.key: e.visible(model.now) for e in model.of(kind)}
    different = {key: (server.get(key), expected.get(key)) for key in server.keys() | expected.keys()}
    different = {key: both for key, both in different.items() if both[0] != both[1]}
    assert not different, f"{kind}, of each key server and model: {different}"
    line = [
        model.entries[kind, key].rank()
        for key in server
        if key not in loose and server[key][-1] in ("ready", "expired")
    ]
    assert line == sorted(line), f"{kind}: not in order of delivery: {list(server)}"


def compare_delivery(got: Sequence[Message], taken: Sequence[Entry]) -> None:
    """Each message is what was pushed."""
    for message, entry in zip(got, taken, strict=True):
        content = (without_errors(message.payload), message.payload_bytes, message.headers)
        assert content == tuple(entry.content)
        assert (message.priority, message.created_at) == (entry.priority, entry.created_at)


def compare_stats(queue: Queue, model: Model, prefix: str) -> None:
    """Compare all that is counted of the kinds of this run."""
    found = {stats.kind: stats for stats in queue.stats() if stats.kind.startswith(prefix)}
    for kind in {kind for kind, _ in model.entries} | set(found):
        assert kind in found, f"{kind} is missing in the statistics"
        expected = model.stats(kind)
        if expected["next_at"] is not None:
            expected["next_at"] = to_datetime(expected["next_at"])
        answer = {name: getattr(found[kind], name) for name in expected}
        if model.kinds[kind].slotted:  # waits in line for slots, or was told that there is room
            for some in (expected, answer):
                some["ready"] += some.pop("waiting") + some.pop("scheduled")
                del some["oldest_ready_seconds"], some["next_at"], some["expired_total"]
        assert answer == expected, kind


def compare_history(queue: Queue, model: Model, prefix: str) -> None:
    """Compare what ended: what has to be kept is there, once, and nothing that never was."""
    found = [
        (
            e.kind,
            e.key,
            e.outcome,
            e.to_kind,
            without_errors(e.payload),
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
        for kind in {row[0] for row in model.memory.ever_ended}
        for e in queue.history(kind, max_messages=10_000)
    ]

    def known(row: tuple[Any, ...]) -> str:
        """Leave out who held what died, where `max_reserved` may have given its place away at once."""
        return repr(row[:-1] if row[2] == "dead" and model.kinds[row[0]].limited else row)

    server = sorted(map(known, found))
    missing = [row for row in map(known, model.memory.history) if row not in server]
    possible = set(map(known, model.memory.ever_ended))
    invented = [row for row in server if row not in possible]
    assert (missing, invented) == ([], []), prefix
    assert len(server) <= len(model.memory.ever_ended)


def settings_in(kind: Kind) -> dict[str, Any]:
    """The settings that the model knows."""
    return {name: getattr(kind, name) for name in DEFAULT_SETTINGS}
