"""Which features a run has had together, in one message that was delivered: each pair has to be there."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.model.entries import Entry
    from tests.model.model import Model

OF_MESSAGES = ("order_key", "semaphores", "route", "group", "headers", "priority")
OF_KINDS = (
    "max_reserved",
    "rate_per_second",
    "filter_index",
    "log_seconds",
    "dedup_seconds",
    "history_seconds",
    "payload_shape",
)


class Pairs:
    """Those that were."""

    def __init__(self) -> None:
        self._seen: set[frozenset[str]] = set()

    def note(self, model: Model, entry: Entry, where: dict[str, Any] | None) -> None:
        """A message is delivered."""
        settings, follows = model.settings(entry.kind), entry.follows
        had = {
            **{name: settings[name] for name in OF_KINDS},
            "order_key": follows.order_key,
            "semaphores": follows.semaphores,
            "route": follows.route,
            "group": follows.member,
            "headers": entry.content.headers,
            "priority": entry.priority,
            "where": where,
            "subscribed": any(kind == entry.kind for _, kind in model.subscriptions),
            "scheduled": any(s.kind == entry.kind for s in model.schedules.values()),
        }
        self._seen |= {
            frozenset(pair) for pair in itertools.combinations([n for n, v in had.items() if v], 2)
        }

    def missing(self) -> list[list[str]]:
        """Those that never were."""
        names = (*OF_MESSAGES, *OF_KINDS, "where", "subscribed", "scheduled")
        wanted = {frozenset(pair) for pair in itertools.combinations(names, 2)}
        return sorted(sorted(pair) for pair in wanted - self._seen - {frozenset({"order_key", "semaphores"})})
