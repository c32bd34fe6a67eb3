"""The life of a message: what is known of it, in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyqueue_sql.overview import MessageLook, Past


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happened to a message, or that is going to."""

    at: int
    what: str
    """The class of its mark: created, failed, held, due, or how it ended."""
    text: str
    error: str | None = None
    kind: str | None = None
    """Where it went, or came from."""
    key: str | None = None
    is_ahead: bool = False


def steps(message: MessageLook | None, past: Iterable[Past], key: str) -> list[Step]:
    """Return the steps of all that has had a key, the first one first.

    Args:
        message: what has it now.
        past: what has had it, here and where a dead letter came from.
        key: it.
    """
    found: list[Step] = []
    for one in past:
        found.append(Step(one.created_at, "created", "came into the kind"))
        found += _failed(one.errors)
        if one.reserved_at is not None:
            found.append(Step(one.reserved_at, "held", f"taken by {one.reserved_by or 'somebody'}"))
        times = "delivery" if one.attempts == 1 else "deliveries"
        text = f"{one.outcome} after {one.attempts} {times}" + (" to" if one.to_kind else "")
        found.append(Step(one.finished_at, one.outcome, text, kind=one.to_kind, key=key))
    if message is not None:
        text = "came into the kind" + (" as a dead letter of" if message.source_kind else "")
        source = (message.source_kind, message.source_key)
        found.append(Step(message.created_at, "created", text, kind=source[0], key=source[1]))
        # what the history tells already of a dead letter isn't said twice
        told = {(one.at, one.error) for one in found}
        found += [one for one in _failed(message.errors) if (one.at, one.error) not in told]
        found += _now(message)
    # what failed for the last time became a dead letter in the same moment, and after that
    return sorted(found, key=lambda one: (one.at, one.what != "failed"))


def _failed(errors: Sequence[Mapping[str, Any]] | None) -> list[Step]:
    return [
        Step(
            int(one["at"]),
            "failed",
            f"delivery {one.get('attempt')} failed, with {one.get('by') or 'somebody'}",
            str(one.get("error") or ""),
        )
        for one in errors or ()
    ]


def _now(message: MessageLook) -> list[Step]:
    if message.reserved_at is None:
        ahead = message.state == "scheduled"
        text = "due" if message.state != "waiting" else "due, and in line for its turn since"
        return [Step(message.scheduled_at, "due", text, is_ahead=ahead)]
    ahead = message.state == "reserved"
    text = "its hold ends, unless it is done" if ahead else "its hold ended: it comes again"
    return [
        Step(message.reserved_at, "held", f"taken by {message.reserved_by or 'somebody'}"),
        Step(message.scheduled_at, "due" if ahead else "expired", text, is_ahead=ahead),
    ]
