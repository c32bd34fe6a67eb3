"""What is kept of messages that ended: keys for `dedup_seconds`, the history for `history_seconds`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.model.entries import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.model.entries import Entry, Kind


@dataclass
class Ended:
    """When a key of a kind ended, and whether that may have been forgotten since."""

    at: int
    doubtful: bool = False


class Memory:
    """Keys and history."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], Ended] = {}
        self.history: list[tuple[Any, ...]] = []
        """What has to be kept."""
        self.ever_ended: list[tuple[Any, ...]] = []
        """What may be."""

    def keep(
        self, entry: Entry, outcome: str, to_kind: str | None, settings: Mapping[str, Any], now: int
    ) -> None:
        """Keep what its kind wants kept of a message that ends."""
        if settings["history_seconds"]:
            self.history.append(entry.ended(outcome, to_kind, now))
            self.ever_ended.append(self.history[-1])
        if settings["dedup_seconds"] and outcome in ("acked", "popped", "moved"):
            self._keys[entry.kind, entry.key] = Ended(now)

    def age(self, kinds: Mapping[str, Kind], now: int) -> None:
        """Note what may be cleared away from now on, whenever anybody does."""
        for (kind, _), ended in self._keys.items():
            ended.doubtful |= not self._within(ended, kinds[kind], now)
        self.history = [row for row in self.history if kinds[row[0]].settings["history_seconds"]]

    def _within(self, ended: Ended, kind: Kind, now: int) -> bool:
        seconds = kind.settings["dedup_seconds"]
        return seconds > 0 and ended.at > now - seconds * SECOND

    def has(self, name: str, key: str, kinds: Mapping[str, Kind], now: int) -> bool | None:
        """Whether a push of that key is ignored because of one that ended; None: that can't be known."""
        ended = self._keys.get((name, key))
        if ended is None or not self._within(ended, kinds[name], now):
            return False
        return None if ended.doubtful else True
