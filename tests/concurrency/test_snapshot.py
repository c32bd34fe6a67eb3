"""Under an open snapshot what has died can't be cleaned away; everything is found all the same, and soon."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.conformance.steps import keys, receipts

if TYPE_CHECKING:
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

DEAD = 40_000
"""As many as make a scan over them slow."""
PATIENCE = 10
"""Seconds within which whatever is ready has to be found, while other work keeps coming."""


@pytest.mark.long
@pytest.mark.slow
def test_behind_what_died_everything_is_found_while_other_work_keeps_coming(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    harness.open_snapshot()
    undecided = connect(autocommit=False)
    undecided.push("mail", "committed late", 0)
    process(queue)
    hold = {key: held(queue, key) for key in ("expired", "extended", "shortened", "nacked", "put off")}
    queue.extend(hold["extended"], 3)
    seen = flow(queue, connect(), 4)
    queue.extend(hold["shortened"], 0.5)
    queue.nack(hold["nacked"])
    queue.nack(hold["put off"], delay_seconds=1)
    queue.push("mail", "delayed", 0, delay_seconds=1.5)
    queue.push("mail", "low", 0, priority=-3)
    queue.push("mail", "in the past", 0, scheduled_at="2001-09-09T01:46:40Z")
    undecided.commit()
    expected = {*hold, "delayed", "in the past", "committed late"}
    seen |= flow(queue, connect(), PATIENCE, expected - seen)
    assert seen >= expected
    queue.push("mail", "high", 0, priority=5)
    assert keys(queue.reserve("mail")) == ["high"], "a new priority stands before all that wait"
    assert keys(queue.reserve("mail", None, 100))[-1] == "low"


def process(queue: Session) -> None:
    """Let many messages come and go."""
    for first in range(0, DEAD, 4000):
        queue.push_many(
            "mail", [{"key": f"d{number}", "payload": 0} for number in range(first, first + 4000)]
        )
        while queue.pop("mail", 1000):
            pass


def held(queue: Session, key: str) -> str:
    """Push and reserve a message, for two seconds or a long time, and return its receipt."""
    queue.push("mail", key, 0)
    seconds = 2 if key in ("expired", "extended") else 1000
    found = queue.reserve("mail", timeout_seconds=seconds)
    assert keys(found) == [key]
    return receipts(found)[0]


def flow(queue: Session, consumer: Session, seconds: float, until: set[str] | None = None) -> set[str]:
    """Push and take, one by one, for so many seconds or until those are seen; returns what was taken."""
    seen: set[str] = set()
    deadline, number = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and not (until and until <= seen):
        queue.push("mail", f"{deadline} {number}", 0)
        found = consumer.reserve("mail")
        consumer.ack_many(receipts(found))
        seen.update(keys(found))
        number += 1
    return seen
