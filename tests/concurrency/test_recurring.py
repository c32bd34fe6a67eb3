"""Schedules and topics with many sessions at once, in real time."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql.calls.options import OnDuplicate
from tests.concurrency.test_races import together
from tests.conformance.steps import drain, keys, outcomes

if TYPE_CHECKING:
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Session

TICKERS = 10
SCHEDULES = 5
SECONDS = 4


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_ten_who_tick_at_once_make_one_message_an_occurrence(queue: Session, connect: Connect) -> None:
    began = time.monotonic()
    for number in range(SCHEDULES):
        queue.schedule(f"s{number}", f"k{number}", number, every_seconds=1, catch_up="all")
    tickers = [connect() for _ in range(TICKERS)]
    end = time.monotonic() + SECONDS

    def tick(ticker: Session) -> int:
        made = 0
        while time.monotonic() < end:
            made += ticker.tick()
            # what was made may be done before the others come
            ticker.pop("k0", 10)
        return made

    made = sum(together([lambda ticker=ticker: tick(ticker) for ticker in tickers]))
    found = Counter(
        f"{number} {key}" for number in range(1, SCHEDULES) for key in keys(drain(queue, f"k{number}"))
    )
    assert len(found) >= (SCHEDULES - 1) * (SECONDS - 1)
    assert set(found.values()) == {1}
    pushed = sum(stats.pushed_total for stats in queue.stats())
    assert made == pushed, "none was made twice, those that are done included"
    assert queue.stats("k0")[0].pushed_total <= time.monotonic() - began + 1


def test_publishes_of_the_same_keys_dont_deadlock_and_each_kind_gets_one(
    queue: Session, connect: Connect
) -> None:
    kinds = [f"k{number}" for number in range(8)]
    # the order of the entries is not that of the kinds
    for kind in reversed(kinds):
        queue.subscribe("t.#", kind)
    publishers = [connect() for _ in range(6)]
    modes: list[OnDuplicate] = ["ignore", "replace"]
    for number in range(15):
        for kind in reversed(kinds[::2]):
            queue.push(kind, f"m{number}", "before")
        mode = modes[number % 2]
        answers = together(
            [
                lambda p=p, key=f"m{number}", mode=mode: p.publish("t.x", key, "copy", on_duplicate=mode)
                for p in publishers
            ]
        )
        for place in range(len(kinds)):
            counted = Counter(outcomes([answer[place] for answer in answers]))
            assert counted["created"] == place % 2, kinds[place]
    assert {kind: len(drain(queue, kind)) for kind in kinds} == dict.fromkeys(kinds, 15)
