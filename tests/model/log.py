"""The event log: each reader sees all that came in and ended in a kind with a log, once and in order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass
class Happened:
    """An event; those of one call have no order among themselves."""

    call: int
    event: str
    topic: str | None
    kind: str
    key: str
    content: tuple[Any, ...]
    to_kind: str | None
    at: int


@dataclass
class Reader:
    """What a reader of a kind has not yet said it is done with."""

    kind: str
    events: Sequence[str]
    unread: list[Happened] = field(default_factory=list[Happened])

    def sees(self, event: Happened) -> bool:
        """Whether it wants to see an event."""
        return event.kind == self.kind and event.event in self.events

    def read(self, got: Sequence[Happened]) -> list[Happened]:
        """What is unread after what it got, which has to be what is next."""
        left = list(self.unread)
        for event in got:
            first = [e for e in left if e.call == left[0].call]
            found = next((e for e in first if e == replace(event, call=e.call)), None)
            assert found, f"{event} in place of one of {first}"
            left = [e for e in left if e is not found]
        return left


class Log:
    """All events that are kept, and the readers."""

    def __init__(self) -> None:
        self.events: list[Happened] = []
        self.readers: dict[str, Reader] = {}

    def add(self, event: Happened) -> None:
        """Something happened in a kind with a log."""
        self.events.append(event)
        for reader in self.readers.values():
            if reader.sees(event):
                reader.unread.append(event)

    def end_batch(self, call: int, contents: Mapping[str, tuple[Any, ...]]) -> None:
        """All events of a batch show what it has left behind, also where it has changed a message twice."""
        for event in self.events:
            if event.call == call:
                event.content = contents.get(event.key, event.content)

    def begin(self, name: str, kind: str, events: Sequence[str], start: str) -> Reader:
        """A new reader, from the oldest event that is kept or from now on."""
        reader = self.readers[name] = Reader(kind, events)
        reader.unread = [e for e in self.events if reader.sees(e)] if start == "oldest" else []
        return reader

    def cut(self, kind: str) -> list[str]:
        """A kind has no log any more: its readers, who go, since what they haven't read may."""
        gone = [name for name, reader in self.readers.items() if reader.kind == kind]
        for name in gone:
            del self.readers[name]
        self.events = [e for e in self.events if e.kind != kind]
        return gone
