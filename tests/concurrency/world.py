"""Many small queues in one database, each as if it were alone, and all that can be seen of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqueue_sql import Message, Outcome, Pushed
from tests.conformance.steps import receipts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conformance.harness import Harness, Session


class World:
    """The kinds that begin with a prefix of their own.

    Args:
        prefix: tells it from the others of the database; nothing of it is there yet.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = f"{prefix}."
        self.receipts: dict[str, str] = {}
        """Of what is held, by key."""

    def kind(self, name: str) -> str:
        """The full name of one of its kinds."""
        return self._prefix + name

    def hold(self, queue: Session, kind: str, key: str) -> None:
        """Push a message, reserve it and keep its receipt; nothing else of the kind is ready."""
        queue.push(self.kind(kind), key, 0)
        [self.receipts[key]] = receipts(queue.reserve(self.kind(kind)))

    def look(self, harness: Harness) -> dict[str, str]:
        """Everything that is there: messages, settings and what has ended, without names of its own."""
        return {
            " ".join((what, kind.removeprefix(self._prefix), key)).strip(): found
            for what, kind, key, found in harness.look(self._prefix)
        }


def brief(answer: object) -> object:
    """What an answer says that doesn't differ from world to world."""
    match answer:
        case list():
            return [brief(one) for one in answer]  # pyright: ignore[reportUnknownVariableType]
        case Message():
            return answer.key, answer.payload, answer.attempts
        case Outcome() | Pushed():
            return answer.outcome
        case int() | str() | None:
            return answer
        case _:
            return type(answer).__name__


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """What differs: the new value, None for what is gone."""
    return {
        name: after.get(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    }
