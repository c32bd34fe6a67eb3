"""Consumers in the loop of queue_next: nothing is lost or done twice, and no deadlock reaches any."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency.test_races import together
from tests.conformance.steps import receipts
from tests.sample import chance_of, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.harness import Harness

CONSUMERS = 8
MESSAGES = size(120, 240)
DEADLINE_SECONDS = 240
"""Generous: it ends when everything is processed."""
WANTS = (["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["c", "a"])
OPTIONS: dict[str, Callable[[int], dict[str, Any]]] = {
    "plain": lambda n: {"priority": n % 3},
    "semaphores": lambda n: {"semaphores": WANTS[n % len(WANTS)]},
    "lines": lambda n: {"order_key": f"{n % 20}", "route": [["k"], []][n % 2]} if n % 3 else {},
    "everything": lambda n: [
        {},
        {"semaphores": WANTS[n // 4 % len(WANTS)]},
        {"order_key": f"{n % 5}"},
        {"route": ["k"], "max_attempts": 2},
    ][n % 4],
}


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize("limited", [False, True], ids=["unlimited", "limited"])
@pytest.mark.parametrize("what", list(OPTIONS))
def test_consumers_in_the_loop_of_next_get_all_and_no_deadlock(
    harness: Harness, what: str, limited: bool
) -> None:
    queue = harness.connect()
    for name in "abc":
        queue.semaphore(name, 2)
    if limited:
        queue.define("k", max_reserved=12)
    number = MESSAGES // 2 if limited else MESSAGES
    options = OPTIONS[what]
    batch = [{"key": f"{n}", "payload": n, **options(n)} for n in range(number)]
    for start in range(0, number, 200):
        queue.push_many("k", batch[start : start + 200])
    steps = number + sum(len(one.get("route", [])) for one in batch)
    deadline = time.monotonic() + DEADLINE_SECONDS
    taken: list[list[str]] = [[] for _ in range(CONSUMERS)]

    def consume(place: int) -> None:
        session, chance = harness.connect(), chance_of(place)
        done: list[str] = []
        while time.monotonic() < deadline:
            found = session.next(done, "k", None, chance.choice((1, 1, 3)), lost="error")
            done = receipts(found)
            taken[place] += done
            if not found and sum(one.total for one in session.stats()) == 0:
                return

    together([lambda place=place: consume(place) for place in range(CONSUMERS)])
    (stats,) = queue.stats()
    assert (stats.total, stats.lost_total) == (0, 0)
    everything = [receipt for some in taken for receipt in some]
    assert len({*everything}) == len(everything) == steps == stats.reserved_total
    assert stats.acked_total == number
    assert [(one.held, one.waiting) for one in queue.semaphores()] == [(0, 0)] * 3
