"""Semaphores with many consumers at once: never over capacity, nothing is left waiting, no deadlock."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.concurrency.test_races import together
from tests.conformance.steps import receipts
from tests.sample import chance_of, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

CONSUMERS = 16
ACQUISITIONS = size(150, 300)
CAPACITY = {"a": 1, "b": 2, "c": 5}
WANTS = (["a"], ["b"], ["c"], ["a", "b"], ["b", "a"], ["c", "b"], ["b", "c", "a"])
DEADLINE_SECONDS = 600
"""Generous: it ends when everything is processed."""


class Hold(NamedTuple):
    """A time in which a client surely held a message: from the answer of its reserve to its end."""

    start: float
    end: float
    semaphores: tuple[str, ...]


def over(holds: Iterable[Hold], capacity: dict[str, int]) -> list[str]:
    """Return the instants at which more were held than a semaphore has slots."""
    wrong: list[str] = []
    for name, most in capacity.items():
        events = sorted(
            event
            for hold in holds
            if name in hold.semaphores and hold.end > hold.start
            for event in ((hold.start, 1), (hold.end, -1))
        )
        held = 0
        for at, change in events:
            held += change
            if held > most:
                wrong.append(f"{name}: {held} of {most} at {at}")
    return wrong


def test_the_checker_sees_what_is_over_capacity() -> None:
    good = [Hold(0, 1, ("a",)), Hold(1, 2, ("a", "b")), Hold(0, 3, ("b",))]
    assert over(good, CAPACITY) == []
    assert over([*good, Hold(1.5, 1.6, ("a",))], CAPACITY) == ["a: 2 of 1 at 1.5"]
    assert len(over([*good, Hold(1.5, 1.6, ("b",))], CAPACITY)) == 1


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize("kills", [False, True], ids=["calm", "kills"])
def test_never_over_capacity_and_everything_is_processed(
    queue: Session, connect: Connect, harness: Harness, kills: bool
) -> None:
    for name, capacity in CAPACITY.items():
        queue.semaphore(name, capacity)
    number = ACQUISITIONS // (4 if kills else 2)  # what is killed is held until it expires
    for start in range(0, number, 500):
        queue.push_many(
            "k",
            [
                {"key": f"{n}", "payload": WANTS[n % len(WANTS)], "semaphores": WANTS[n % len(WANTS)]}
                for n in range(start, min(start + 500, number))
            ],
        )
    holds: list[Hold] = []
    timeout = 2.0 if kills else 60.0
    done = threading.Event()
    deadline = time.monotonic() + DEADLINE_SECONDS
    watcher = connect()

    def consume(seed: int) -> None:
        chance = chance_of(seed)
        worker = harness.connect_among_kills()
        while not done.is_set():
            try:
                step(worker, chance, holds, timeout, kills)
            except Exception as error:
                if not harness.is_lost(error):
                    done.set()
                    raise
                worker = harness.connect_among_kills()

    def watch() -> None:
        chance = chance_of(0)
        try:
            while time.monotonic() < deadline and not done.is_set():
                if sum(one.total for one in watcher.stats()) == 0:
                    return
                if kills and chance.random() < 0.2:
                    harness.terminate_one_of("victim")
                done.wait(0.05)
        finally:
            done.set()

    together([watch, *(lambda seed=seed: consume(seed) for seed in range(CONSUMERS))])
    stats = [
        (one.kind, one.ready, one.scheduled, one.reserved, one.expired, one.waiting) for one in queue.stats()
    ]
    assert all(sum(row[1:]) == 0 for row in stats), f"not processed: {stats}, {queue.semaphores()}"
    assert len(holds) >= number
    assert over(holds, CAPACITY) == []
    assert [(one.held, one.waiting) for one in queue.semaphores()] == [(0, 0)] * len(CAPACITY)


def step(worker: Session, chance: random.Random, holds: list[Hold], timeout: float, kills: bool) -> None:
    """Take a message or a few, and end them in one of many ways."""
    kind = chance.choice(["k", "k", "next"])
    before = time.monotonic()
    found = worker.reserve(kind, None, chance.choice([1, 1, 1, 4]), timeout_seconds=timeout)
    start = time.monotonic()
    if not found:
        worker.wait(["k", "next"], 0.2)
        return
    if kills and chance.random() < 0.03:
        for message in found:  # a holder that is stale: it has them until they expire
            holds.append(Hold(start, before + timeout - 0.1, tuple(message.payload)))
        return
    time.sleep(chance.random() * 0.002)
    ended = time.monotonic()
    held = receipts(found)
    way = chance.random()
    if len(held) > 1:
        answers: list[Any] = worker.ack_many(held)
    elif way < 0.1:
        answers = [worker.nack(held[0])]
    elif way < 0.2:
        answers = [worker.nack(held[0], delay_seconds=0.01)]
    elif way < 0.3 and kind == "k":
        answers = [worker.move(held[0], "next")]
    else:
        answers = [worker.ack(held[0])]
    for message, answer in zip(found, answers, strict=True):
        if answer.outcome != "lost":
            end = min(ended, before + timeout - 0.1)
            holds.append(Hold(start, end, tuple(message.payload)))


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_crosswise_pairs_do_not_deadlock(queue: Session, connect: Connect) -> None:
    queue.semaphore("a", 1)
    queue.semaphore("b", 1)
    racers = [connect() for _ in range(8)]

    def race(session: Session, number: int) -> None:
        for round_ in range(25):
            names = ["a", "b"] if (number + round_) % 2 else ["b", "a"]
            session.push("k", f"{number}.{round_}", 0, semaphores=names)
            held = receipts(session.reserve("k", None, 2))
            if held:
                session.ack_many(held)

    together([lambda n=n, racer=racer: race(racer, n) for n, racer in enumerate(racers)])
    left = 8 * 25
    for _ in range(left + 1):
        held = receipts(queue.reserve("k", None, 10))
        if not held:
            break
        assert len(held) == 1
        queue.ack(held[0])
    assert queue.stats("k")[0].total == 0


@pytest.mark.servers("postgresql")
def test_a_push_that_names_semaphores_locks_no_settings_but_for_the_first(
    queue: Session, connect: Connect
) -> None:
    """queue_drop locks the settings before the messages, so that would be a deadlock."""
    queue.semaphore("s", 1)
    queue.push("job", "a", 1, semaphores=["s"])
    session = connect(autocommit=False)
    session.push("job", "b", 1, semaphores=["s"])
    session.push("job", "a", 2, on_duplicate="replace")
    modes = session.execute(
        "select l.mode from pg_locks l where l.pid = pg_backend_pid() and l.relation = 'queue_kind'::regclass"
    )
    assert {mode for (mode,) in modes} <= {"AccessShareLock"}
