"""What the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["ok", "note", "unknown", "warning", "error"]
"""From harmless to harmful; `unknown`: this login may not see it."""
ROLES = ("queue_producer", "queue_consumer", "queue_operator", "queue_observer", "queue_admin")
TO_DO: tuple[Level, ...] = ("warning", "error")


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one check."""

    check: str
    level: Level
    found: str
    why: str = ""
    """Why it matters."""
    remedy: str = ""
    """What to do."""


class Check:
    """A check by its name; makes its findings.

    Args:
        name: what it is called in the report.
        why: why it matters.
    """

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.why = why

    def ok(self, found: str) -> Finding:
        """Return that all is well."""
        return Finding(self.name, "ok", found)

    def note(self, found: str, remedy: str = "") -> Finding:
        """Return something to know, that is no fault."""
        return Finding(self.name, "note", found, self.why, remedy)

    def unknown(self, found: str, remedy: str) -> Finding:
        """Return that this login may not see it."""
        return Finding(self.name, "unknown", found, self.why, remedy)

    def warning(self, found: str, remedy: str) -> Finding:
        """Return something that costs time, or that will do harm later."""
        return Finding(self.name, "warning", found, self.why, remedy)

    def error(self, found: str, remedy: str) -> Finding:
        """Return something that stops the queue or loses messages."""
        return Finding(self.name, "error", found, self.why, remedy)


def listed(items: list[str], most: int = 5) -> str:
    """Return the first of some items, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def lasting(seconds: float) -> str:
    """Return a time as people say it: 45 s, 12 min, 3 h, 2 days."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
