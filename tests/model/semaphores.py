"""Semaphores: no more who name one are held than it has room for, and nobody waits for room that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.model.entries import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.model.entries import Entry


class Semaphores:
    """Their capacities; who has a slot is who is held."""

    def __init__(self) -> None:
        self.capacity: dict[str, int] = {}
        self._touched = set[int]()

    def touch(self, names: Iterable[str], now: int) -> None:
        """Somebody may have been told that there is room, which is their right for a second."""
        if names:
            self._touched.add(now)

    def overfull(self, entries: Iterable[Entry], now: int) -> list[str]:
        """Those that more are held of than they have room for; a hold that has expired once has no slot."""
        held = [e for e in entries if e.state(now) == "reserved" and not e.lapsed]
        return [
            name
            for name, capacity in self.capacity.items()
            if sum(name in e.semaphores for e in held) > capacity
        ]

    def room(self, entry: Entry, entries: Iterable[Entry], now: int) -> bool:
        """Whether there is a slot for a message of each that it names."""
        held = [e for e in entries if e is not entry and (e.state(now) == "reserved")]
        return all(
            sum(name in e.semaphores for e in held) < self.capacity.get(name, len(held) + 1)
            for name in entry.semaphores
        )

    def has_to_come(self, entry: Entry, entries: Iterable[Entry], now: int) -> bool:
        """Whether a reserve that finds nothing else has to take a message: nobody else was just told to."""
        others = [e for e in entries if e.kind != entry.kind or not e.next(now)]
        wanted = any({*e.semaphores} & {*entry.semaphores} for e in others if e.state(now) != "reserved")
        told = any(abs(now - at) < SECOND for at in self._touched)
        return self.room(entry, entries, now) and not (wanted and told)
