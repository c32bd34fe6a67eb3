"""What the calls by chance are made of: few values, so that they meet."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pyqueue_sql.models import CatchUp, EventName

KINDS = ["mail", "post", "mail.dead"]
KEYS = "abcde"
ON_DUPLICATE = ["ignore", "replace", "keep_time", "push_back"]
DELAYS = [0, 0, 1, 10, 60, 3600]
SEMAPHORES = ["s1", "s2"]
EVENTS: list[EventName] = ["pushed", "replaced", "acked", "popped", "moved", "dead", "removed"]
STARTS: list[Literal["oldest", "now"]] = ["oldest", "now"]
CATCH_UPS: list[CatchUp] = ["last", "all", "skip"]
FILTERS: list[dict[str, Any]] = [{"tag": "x"}, {"tag": "y"}, {"h": 1}, {"tag": "x", "h": 1}]
EVERYTHING: dict[str, Any] = {
    "timeout_seconds": 10,
    "dedup_seconds": 10,
    "history_seconds": 10**8,
    "payload_shape": {"n": "integer"},
    "max_reserved": 3,
    "rate_per_second": 1.5,
    "filter_index": True,
    "log_seconds": 10**8,
}
"""A kind that has all features."""
TOPICS = ["t.a", "t.b.c"]
PATTERNS = ["t.*", "t.#", "#.c", "t.a"]


class Draw(Random):
    """Chance, and what is drawn by it; `prefix` is that of the names of a run."""

    def __init__(self, seed: str, prefix: str) -> None:
        super().__init__(seed)
        self.prefix = prefix

    def some(self, **of: tuple[float, Any]) -> dict[str, Any]:
        """Some of these, each as probable as it says."""
        return {name: value for name, (probable, value) in of.items() if self.random() < probable}

    def kind(self) -> str:
        """A kind."""
        return self.prefix + self.choice(KINDS)

    def key(self) -> str:
        """A key."""
        return self.choice(KEYS)

    def semaphores(self) -> list[str]:
        """Names of semaphores."""
        return [self.prefix + name for name in self.sample(SEMAPHORES, self.randint(1, 2))]

    def headers(self) -> dict[str, Any] | None:
        """Headers."""
        return self.choice([None, {"h": 1}])

    def where(self) -> dict[str, Any] | None:
        """A filter, sometimes."""
        return self.choice(FILTERS) if self.random() < 0.4 else None

    def plain_options(self) -> dict[str, Any]:
        """Options of a push that also a publish has."""
        return self.some(
            delay_seconds=(0.2, self.choice(DELAYS)),
            priority=(0.5, self.randint(-1, 2)),
            headers=(0.3, self.headers()),
            attempts=(0.1, self.randint(0, 2)),
            max_attempts=(0.2, self.randint(1, 3)),
        )

    def push_options(self, groups: list[str]) -> dict[str, Any]:
        """Options of a push."""
        line = self.choice(["order_key", "semaphores", None])
        return self.plain_options() | self.some(
            on_duplicate=(0.4, self.choice(ON_DUPLICATE)),
            route=(0.3, [self.kind() for _ in range(self.randint(1, 2))]),
            group=(0.4 if groups else 0, self.choice(groups or [""])),
            order_key=(0.8 if line == "order_key" else 0, self.choice("op")),
            semaphores=(0.8 if line == "semaphores" else 0, self.semaphores()),
        )

    def ack_options(self) -> dict[str, Any]:
        """Options of an ack."""
        return self.some(
            result=(0.5, self.choice([7, {"r": [1]}, None])),
            to=(0.1, self.kind()),
            payload=(0.2, self.payload()),
        )

    def nack_options(self) -> dict[str, Any]:
        """Options of a nack."""
        return self.some(
            delay_seconds=(0.5, self.choice(DELAYS)),
            error=(0.5, "broken"),
            payload=(0.2, self.payload()),
            final=(0.3, self.random() < 0.7),
            count=(0.3, self.random() < 0.5),
        )

    def move_options(self) -> dict[str, Any]:
        """Options of a move."""
        return self.some(
            delay_seconds=(0.2, self.choice(DELAYS)),
            priority=(0.2, self.randint(-1, 2)),
            payload=(0.2, self.payload()),
            headers=(0.2, self.headers()),
            key=(0.3, self.key()),
            on_duplicate=(0.4, self.choice(ON_DUPLICATE)),
        )

    def payload(self) -> Any:
        """A payload that is new, of the shape or not."""
        return self.choice(["new", {"n": 0, "tag": "x"}, {"n": -1}])

    def settings(self, probable: float) -> dict[str, Any]:
        """Settings of a kind; rates are such that a kind has one bucket of tokens."""
        return self.some(
            timeout_seconds=(probable, self.choice([1, 10, 60])),
            max_attempts=(probable, self.choice([None, 1, 2, 3])),
            backoff_seconds=(probable, self.choice([0, 5])),
            backoff_factor=(probable, self.choice([1, 3])),
            backoff_max_seconds=(probable, self.choice([7, 3600])),
            dead_letter_kind=(probable, self.choice([None, self.kind()])),
            dedup_seconds=(probable, self.choice([0, 10, 400])),
            history_seconds=(probable, self.choice([0, 10**8])),
            payload_shape=(probable, self.choice([None, {"n": "integer"}])),
            max_reserved=(probable, self.choice([None, 1, 3])),
            rate_per_second=(probable, self.choice([None, None, 0.1, 1.5])),
            filter_index=(probable, self.random() < 0.5),
            log_seconds=(probable, self.choice([0, 10**8, 10**8])),
        )
