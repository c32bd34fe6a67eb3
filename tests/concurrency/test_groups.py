"""Groups with many consumers at once: what follows starts once, whatever is killed or acked twice."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

from tests.concurrency.test_races import together
from tests.conformance.steps import receipts

if TYPE_CHECKING:
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

CONSUMERS = 6
MEMBERS = 300


def test_of_acks_at_the_same_moment_one_is_the_last(queue: Session, connect: Connect) -> None:
    racers = [connect() for _ in range(CONSUMERS)]
    for round_ in range(15):
        queue.group(f"{round_}", "next", members=CONSUMERS)
        queue.push_many("check", [{"payload": 0} for _ in racers], group=f"{round_}")
        held = receipts(queue.reserve("check", None, CONSUMERS))
        together(
            [lambda racer=racer, one=one: racer.ack(one) for racer, one in zip(racers, held, strict=True)]
        )
        (message,) = queue.pop("next", 10)
        assert (message.key, len(message.payload["results"])) == (f"{round_}", CONSUMERS)


def test_a_receipt_that_is_acked_twice_at_the_same_moment_counts_once(
    queue: Session, connect: Connect
) -> None:
    racers = [connect() for _ in range(2)]
    for round_ in range(15):
        queue.group(f"{round_}", "next", members=1)
        queue.push("check", None, 0, group=f"{round_}", route=["again"])
        for kind, outcome in (("check", "moved"), ("again", "acked")):
            (one,) = receipts(queue.reserve(kind))
            found = together([lambda racer=racer, one=one: racer.ack(one) for racer in racers])
            assert sorted(answer.outcome for answer in found) == sorted([outcome, "lost"])
        assert len(queue.pop("next", 10)) == 1


def test_a_group_finishes_once_with_batches_kills_retries_and_dead_members(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("check", timeout_seconds=0.5)
    queue.group("g", "next", on_dead="report")
    for start in range(0, MEMBERS, 100):
        batch = [{"key": f"{n}", "payload": 0} for n in range(start, start + 100)]
        queue.push_many("check", batch, group="g", route=["load"] if start else None)
    queue.group("g", close=True)
    done = threading.Event()

    def finished() -> bool:
        return queue_state(watcher) == "done"

    watcher = connect()

    def consume(number: int) -> None:
        chance = random.Random(number)
        worker = harness.connect(name="victim")
        while not done.is_set():
            try:
                kind = chance.choice(["check", "load"])
                found = receipts(worker.reserve(kind, None, chance.choice([1, 1, 7]), timeout_seconds=0.5))
                if len(found) == 1 and chance.random() < 0.05:
                    worker.nack(found[0], final=True, error="broken")
                elif len(found) == 1 and chance.random() < 0.2:
                    worker.nack(found[0])
                elif len(found) == 1:
                    worker.ack(found[0], result=number)
                elif found:
                    worker.ack_many(found + found[:1])
            except Exception as error:
                if not harness.is_lost(error):
                    raise
                worker = harness.connect(name="victim")

    def kill() -> None:
        chance = random.Random(0)
        try:
            for _ in range(3000):
                if finished():
                    return
                if chance.random() < 0.1:
                    harness.terminate_one_of("victim")
                done.wait(0.02)
        finally:
            done.set()

    together([kill, *(lambda number=number: consume(number) for number in range(CONSUMERS))])
    (message,) = queue.pop("next", 10)
    results = message.payload["results"]
    assert sorted(int(one["key"]) for one in results) == list(range(MEMBERS))
    assert {one["outcome"] for one in results} <= {"acked", "dead"}
    assert {one["error"] for one in results if one["outcome"] == "dead"} <= {"broken"}
    assert queue.prune() >= 0
    assert queue.pop("next", 10) == []


def queue_state(queue: Session) -> str:
    """Return the state of the one group."""
    (found,) = queue.groups()
    return found.state
