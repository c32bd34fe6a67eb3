"""Two transactions overlap, each ends one of the last two, and neither sees the other: nobody is left behind.

Whatever asks "am I the last?" through a snapshot of its own gets that wrong; groups are in test_groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.concurrency.overlapping import overlapping
from tests.conformance.steps import receipts
from tests.conformance.test_batches import publish, row, stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Harness, Session

    Calls: TypeAlias = list[Callable[[Session], Any]]
    Look: TypeAlias = Callable[[Session, str], list[str]]
    Scene: TypeAlias = tuple[Calls, Look, list[str]]
    """Two calls, what is looked at after them, and what is there then."""


def taken(queue: Session, kind: str) -> list[str]:
    """The keys of what can be taken now."""
    return sorted(message.key for message in queue.reserve(kind, None, 10))


def acks_of_two(queue: Session, kind: str) -> Calls:
    """Hold two messages; an ack each."""
    held = receipts(queue.reserve(kind, None, 10))
    assert len(held) == 2
    return [lambda one, receipt=receipt: one.ack(receipt) for receipt in held]


def semaphores(queue: Session, kind: str) -> Scene:
    queue.semaphore(kind, 2)
    for key in "abcd":
        queue.push(kind, key, 0, semaphores=[kind])
    return acks_of_two(queue, kind), taken, ["c", "d"]


def limits(queue: Session, kind: str) -> Scene:
    queue.define(kind, max_reserved=2)
    for key in "abcd":
        queue.push(kind, key, 0)
    return acks_of_two(queue, kind), taken, ["c", "d"]


def lines(queue: Session, kind: str) -> Scene:
    for key, order_key in (("a", "o"), ("b", "p"), ("c", "o"), ("d", "p")):
        queue.push(kind, key, 0, order_key=order_key)
    return acks_of_two(queue, kind), taken, ["c", "d"]


def who_ends_and_who_comes(queue: Session, kind: str) -> Scene:
    queue.push(kind, "a", 0, order_key="o")
    (receipt,) = receipts(queue.reserve(kind))
    return [lambda one: one.ack(receipt), lambda one: one.push(kind, "b", 0, order_key="o")], taken, ["b"]


def logs(queue: Session, kind: str) -> Scene:
    queue.define(kind, log_seconds=3600)

    def read(queue: Session, kind: str) -> list[str]:
        return sorted(event.key for event in queue.read(kind, f"reader of {kind}", 10))

    assert read(queue, kind) == []
    return [lambda one, key=key: one.push(kind, key, 0) for key in "ab"], read, ["a", "b"]


def schedules(queue: Session, kind: str) -> Scene:
    queue.schedule(f"often {kind}", kind, 0, every_seconds=10)
    return [lambda one: one.tick()] * 2, lambda queue, kind: [m.kind for m in queue.peek(kind, 10)], [kind]


def keys(queue: Session, kind: str) -> Scene:
    assert queue.get(kind, "a") is None
    return [lambda one: one.push(kind, "a", 0)] * 2, taken, ["a"]


def batches(queue: Session, kind: str) -> Scene:
    """Two writes of one batch, of a query that has published another before."""

    def write(batch: int, key: str) -> Callable[[Session], Any]:
        part = stage(queue, row(key, p_kind=kind), job=f"{kind} {key}")
        return lambda one: publish(one, part, query=kind, batch=batch)

    write(0, "before")(queue)
    return [write(1, key) for key in "ab"], taken, ["a", "before"]


SCENES = (semaphores, limits, lines, who_ends_and_who_comes, logs, schedules, keys, batches)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_what_ends_in_two_transactions_at_once_leaves_nobody_behind(
    queue: Session, harness: Harness, clock: Clock, scene: Callable[[Session, str], Scene]
) -> None:
    for number, level in enumerate(["read committed", *harness.snapshot_levels]):
        kind = f"work{number}"
        calls, look, expected = scene(queue, kind)
        clock.advance(10)
        overlapping(harness, [harness.connect(autocommit=False, isolation=level) for _ in range(2)], calls)
        clock.advance(2)
        assert look(queue, kind) == expected, level
