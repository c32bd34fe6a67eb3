"""Groups with many consumers at once: what follows starts once, whatever is killed or acked twice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency.overlapping import overlapping
from tests.concurrency.test_races import together
from tests.concurrency.waiting import PATIENCE_S, waiting
from tests.conformance.steps import receipts
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

CONSUMERS = 6
MEMBERS = 300

LEVELS = ("read committed", "repeatable read", "serializable")

FINDERS: dict[str, Callable[[Session], Any]] = {
    "reserve": lambda queue: queue.reserve("next", timeout_seconds=0.001),
    "reserve_elsewhere": lambda queue: queue.reserve("elsewhere"),
    "reserve_many": lambda queue: queue.reserve("elsewhere", None, 10),
    "pop_elsewhere": lambda queue: queue.pop("elsewhere"),
    "wait": lambda queue: queue.reserve(str(queue.wait("next", 3)), timeout_seconds=0.001),
    "heartbeat": lambda queue: queue.heartbeat("w"),
    "reap": lambda queue: queue.reap(),
    "prune": lambda queue: queue.prune(),
}
"""Who finds a group that nobody saw to be done."""


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
        chance = chance_of(number)
        worker = harness.connect_among_kills()
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
                worker = harness.connect_among_kills()

    def kill() -> None:
        chance = chance_of(0)
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


@pytest.mark.parametrize("how", ["acks", "close"])
@pytest.mark.parametrize("finder", FINDERS)
def test_a_group_goes_on_whose_last_two_could_not_see_one_another(
    queue: Session, harness: Harness, finder: str, how: str
) -> None:
    for level in ["read committed", *harness.snapshot_levels]:
        group = f"after {level}"
        held = members(queue, group, 2 if how == "acks" else 1)
        olds = [harness.connect(autocommit=False, isolation=level) for _ in range(2)]
        calls: list[Callable[[Session], Any]] = [
            lambda one, receipt=receipt: one.ack(receipt) for receipt in held
        ]
        calls += [] if how == "acks" else [lambda one, group=group: one.group(group, close=True)]
        overlapping(harness, olds, calls)
        FINDERS[finder](queue)
        assert [one.key for one in queue.peek("next", 10)] == [group], level
        assert queue.prune() >= 0
        assert [one.key for one in queue.peek("next", 10)] == [group], f"once, {level}"
        while queue.peek("next"):
            queue.pop("next")


def test_a_group_is_left_to_who_comes_after_those_that_could_not_see_it(
    queue: Session, harness: Harness
) -> None:
    """Their own calls find the note, too, and see no better."""
    for level in harness.snapshot_levels:
        held = members(queue, level, 4)
        calls: list[Callable[[Session], Any]] = [
            lambda one, two=two: (one.ack(two[0]), one.ack(two[1]), one.reserve("elsewhere"))
            for two in (held[:2], held[2:])
        ]
        overlapping(harness, [harness.connect(autocommit=False, isolation=level) for _ in calls], calls)
        queue.reserve("elsewhere")
        assert [one.key for one in queue.pop("next", 10)] == [level]
        assert queue.execute("select count(*) from queue_group_due") == [(0,)]


@pytest.mark.parametrize("how", ["change", "look"])
def test_a_group_that_somebody_has_is_finished_by_who_comes_after_that(
    queue: Session, connect: Connect, harness: Harness, how: str
) -> None:
    end_unseen(queue, harness, members(queue, "g", 2))
    other = connect(autocommit=False)
    if how == "change":
        other.execute("select 1 from queue_group where group_name = 'g' for update")
    else:
        other.reserve("elsewhere")
    queue.reserve("elsewhere")
    assert queue.peek("next") == []
    other.rollback()
    queue.reserve("elsewhere")
    assert [one.key for one in queue.pop("next", 10)] == ["g"]


def test_a_prune_finishes_a_group_of_which_there_is_no_note_while_another_is_open(
    queue: Session, harness: Harness
) -> None:
    members(queue, "open", 2)
    end_unseen(queue, harness, members(queue, "g", 2))
    queue.execute("delete from queue_group_due")
    queue.prune()
    assert [one.key for one in queue.pop("next", 10)] == ["g"]


def test_a_group_that_may_be_done_wakes_who_waits_for_what_follows_it(
    queue: Session, harness: Harness
) -> None:
    end_unseen(queue, harness, members(queue, "g", 2))
    queue.group("g", "next", on_dead="fail", fail_kind="failed")
    assert queue.wait("elsewhere", 0) is None
    assert queue.wait("next", 0) == "next"
    assert queue.wait("failed", 0) == "failed"


def test_a_look_at_a_group_that_is_not_done_keeps_nobody_waiting(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    *two, last = members(queue, "g", 3)
    end_unseen(queue, harness, two)
    other = connect(autocommit=False)
    other.reserve("elsewhere")
    assert queue.reserve("elsewhere") == []
    assert queue.ack(last).outcome == "acked"
    assert [one.key for one in queue.pop("next", 10)] == ["g"]


def test_who_has_an_older_snapshot_than_a_group_that_has_finished_goes_on(
    queue: Session, harness: Harness
) -> None:
    end_unseen(queue, harness, members(queue, "g", 2))
    old = harness.connect(autocommit=False, isolation="repeatable read")
    old.stats()
    queue.reserve("elsewhere")
    assert [one.key for one in queue.pop("next", 10)] == ["g"]
    assert old.reserve("elsewhere") == []


def test_who_finds_several_groups_done_finishes_them_in_the_order_of_their_names(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """As a batch puts its keys."""
    end_unseen(queue, harness, *[members(queue, name, 2) for name in "ba"])
    first = connect(autocommit=False)
    first.push("next", "a", 0)
    with waiting(harness, connect(), lambda session: session.reserve("elsewhere")) as found:
        assert queue.push("next", "b", 0).outcome == "created"
        first.rollback()
        assert found.result(PATIENCE_S) == []
    assert [len(one.payload["results"]) for one in queue.pop("next", 3)] == [2, 2]


def test_of_two_that_end_the_last_members_the_second_sees_what_the_first_did(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """Though it comes while the first is not done, and their members are in different parts of the group."""
    held = members(queue, "a", 16)
    stripes = dict(queue.execute("select entry, stripe from queue_group_member where group_name = 'a'"))
    stripe_of = {one: stripes[int(one.partition("-")[0])] for one in held}
    early = held[0]
    late = next(one for one in held if stripe_of[one] != stripe_of[early])
    queue.ack_many([one for one in held if one not in (early, late)])
    done, last = members(queue, "b", 2)
    queue.ack(done)
    third = connect(autocommit=False)
    third.push("next", "b", 0)
    # it has looked at group a, and waits to put in what follows group b
    with (
        waiting(harness, connect(), lambda session: session.ack_many([early, last])) as first,
        waiting(harness, connect(), lambda session: session.ack(late)) as second,
    ):
        third.rollback()
        assert [one.outcome for one in first.result(PATIENCE_S)] == ["acked"] * 2
        assert second.result(PATIENCE_S).outcome == "acked"
    assert sorted(one.key for one in queue.pop("next", 3)) == ["a", "b"]


def end_unseen(queue: Session, harness: Harness, *held: list[str]) -> None:
    """Ack the first members of groups, and the second ones, in transactions that can't see one another."""
    olds = [harness.connect(autocommit=False, isolation="repeatable read") for _ in range(2)]
    calls: list[Callable[[Session], Any]] = [
        lambda one, part=part: one.ack_many(part) for part in zip(*held, strict=True)
    ]
    overlapping(harness, olds, calls)
    assert queue.peek("next") == []


def members(queue: Session, group: str, number: int) -> list[str]:
    """Make a group and hold its members; returns their receipts."""
    queue.group(group, "next", **({"members": number} if number > 1 else {}))
    queue.push_many(f"check.{group}", [{"payload": 0} for _ in range(number)], group=group)
    return receipts(queue.reserve(f"check.{group}", None, number))


def test_who_reads_batches_is_told_of_what_follows_once_members_have_ended_unseen(
    queue: Session, harness: Harness
) -> None:
    def ready(kind: str) -> bool:
        return queue.answer("queue_stream_ready", kind)[0]["ready"] in ("1", "t")

    end_unseen(queue, harness, members(queue, "g", 2))
    assert (ready("next"), ready("another")) == (True, False)
    assert len(queue.pop("next")) == 1
    assert not ready("next")


@pytest.mark.parametrize("level", LEVELS)
def test_consumers_with_transactions_of_their_own_finish_each_group(
    queue: Session, harness: Harness, level: str
) -> None:
    groups = 20
    for number in range(groups):
        queue.group(f"g{number}", "next", members=4)
        queue.push_many("check", [{"payload": 0} for _ in range(4)], group=f"g{number}")

    def consume() -> None:
        session = harness.connect(autocommit=False, isolation=level)
        empty = 0
        while empty < 20:
            try:
                held = receipts(session.reserve("check"))
                for receipt in held:
                    session.ack(receipt)
                session.commit()
                empty = 0 if held else empty + 1
            except Exception as error:
                if not harness.is_serialization_failure(error):
                    raise
                session.rollback()

    if level not in ("read committed", *harness.snapshot_levels):
        return  # there what is read is locked, and they wait for one another
    together([consume] * 4)
    assert len(queue.pop("next", 1000)) + len(queue.pop("next", 1000)) == groups
