"""Schedules: each occurrence makes one message; what was missed is caught up with as the schedule says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.model.entries import SECOND

if TYPE_CHECKING:
    from pyqueue_sql.models import CatchUp


@dataclass
class Schedule:
    """A message every so many seconds, counted from 1970."""

    name: str
    kind: str
    payload: Any
    every: int
    catch_up: CatchUp
    priority: int
    next_at: int = 0

    def begin(self, now: int, before: Schedule | None) -> int:
        """When it is due first; what it is due for already stays so where its rule is the same."""
        stays = before is not None and before.every == self.every and before.next_at <= now
        self.next_at = before.next_at if before and stays else self._after(now)
        return self.next_at

    def _after(self, at: int) -> int:
        every = self.every * SECOND
        return at // every * every + every

    def tick(self, now: int) -> list[str]:
        """The keys of the messages that it makes now."""
        due = list(range(self.next_at, now + 1, self.every * SECOND))
        if due:
            self.next_at = self._after(now)
        if self.catch_up != "all":
            due = due[-1:]
        if self.catch_up == "skip":
            due = [at for at in due if at >= now - 60 * SECOND]
        return [f"{self.name}@{datetime.fromtimestamp(at // SECOND, UTC):%Y-%m-%dT%H:%M:%SZ}" for at in due]
