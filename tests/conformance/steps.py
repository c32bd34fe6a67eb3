"""Steps that many scenarios take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyqueue_sql import Message, Outcome, Pushed, Queue

SECOND = 1_000_000
"""In microseconds."""


def keys(messages: Iterable[Message]) -> list[str]:
    """Return the keys, in order."""
    return [message.key for message in messages]


def outcomes(answers: Iterable[Outcome | Pushed]) -> list[str]:
    """Return the outcomes, in order."""
    return [answer.outcome for answer in answers]


def receipts(messages: Iterable[Message]) -> list[str]:
    """Return the receipts, in order; each message has one."""
    found = [message.receipt for message in messages]
    assert all(found)
    return [receipt for receipt in found if receipt]


def take(queue: Queue, kind: str, **options: Any) -> tuple[Message, str]:
    """Reserve the one message that is ready, and return it with its receipt."""
    messages = queue.reserve(kind, "someone", 10, **options)
    assert len(messages) == 1, f"ready: {keys(messages)}"
    return messages[0], receipts(messages)[0]


def state(queue: Queue, kind: str, key: str) -> str | None:
    """Return the state of a message, None where it isn't there."""
    message = queue.get(kind, key)
    return message.state if message else None


def die(queue: Queue, kind: str, key: str, payload: object = None, *, priority: int = 0) -> None:
    """Push a message and make it a dead letter; nothing else of the kind is ready."""
    queue.push(kind, key, payload, priority=priority)
    _, receipt = take(queue, kind)
    assert queue.nack(receipt, final=True, error="broken").outcome == "dead"


def drain(queue: Queue, kind: str, most: int = 1000) -> Sequence[Message]:
    """Reserve until nothing is ready, and return everything in order."""
    everything: list[Message] = []
    while messages := queue.reserve(kind, "drain", most):
        everything += messages
    return everything
