"""What a key promises past the end of its message: dedup_seconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import die, keys, outcomes, receipts, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def ack(queue: Session) -> None:
    queue.ack(take(queue, "mail")[1])


def ack_many(queue: Session) -> None:
    queue.ack_many(receipts(queue.reserve("mail", None, 10)))


def pop(queue: Session) -> None:
    assert len(queue.pop("mail")) == 1


def move(queue: Session) -> None:
    queue.move(take(queue, "mail")[1], "next")


def move_many(queue: Session) -> None:
    queue.move_many([{"receipt": take(queue, "mail")[1], "to_kind": "next"}])


ENDS = [ack, ack_many, pop, move, move_many]


@pytest.mark.parametrize("end", ENDS, ids=lambda one: one.__name__)
def test_a_key_is_remembered_for_so_long_and_no_longer(
    queue: Session, clock: Clock, end: Callable[[Session], None]
) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    clock.advance(100)  # it counts from the end, not from the push
    end(queue)
    clock.advance(59.999999)
    again = queue.push("mail", "a", 2)
    assert (again.key, again.outcome, again.scheduled_at) == ("a", "ignored", None)
    assert queue.push_bytes("mail", "a", b"2").outcome == "ignored"
    assert outcomes(queue.push_many("mail", [{"key": "a", "payload": 2}, {"key": "b", "payload": 2}])) == [
        "ignored",
        "created",
    ]
    clock.advance(0.000001)
    assert queue.push("mail", "a", 3).outcome == "created"


def push_many(queue: Session) -> None:
    queue.push_many("mail", [{"key": "a", "payload": 2}, {"key": "other", "payload": 2}])


def push_each(queue: Session) -> None:
    queue.push_many("mail", [{"key": "a", "payload": 2, "on_duplicate": "replace"}])


def publish(queue: Session) -> None:
    queue.publish("news", "a", 2)


def land(queue: Session) -> None:
    queue.land([{"p_kind": "mail", "p_key": "a", "payload": "2"}])
    queue.prune()  # takes in what has landed, where no trigger does


def stage(queue: Session) -> None:
    part = int(queue.answer("queue_stage_begin", "job", None)[0]["part"] or 0)
    queue.land([{"part": part, "p_kind": "mail", "p_key": "a", "payload": "2"}], "queue_stage")
    queue.answer("queue_stage_publish", json.dumps([{"part": part, "messages": 1}]), None)


@pytest.mark.parametrize("way", [push_many, push_each, publish, land, stage], ids=lambda one: one.__name__)
def test_by_every_way_in_it_is_remembered_to_the_microsecond(
    queue: Session, clock: Clock, way: Callable[[Session], None]
) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.subscribe("news", "mail")
    queue.push("mail", "a", 1)
    ack(queue)
    clock.advance(59.999999)
    way(queue)
    assert queue.get("mail", "a") is None
    clock.advance(0.000001)
    way(queue)
    assert queue.get("mail", "a")


@pytest.mark.parametrize("end", ENDS, ids=lambda one: one.__name__)
def test_a_part_of_a_second_is_some_time(
    queue: Session, clock: Clock, end: Callable[[Session], None]
) -> None:
    queue.define("mail", dedup_seconds=0.5, history_seconds=0.5)
    queue.push("mail", "a", 1)
    end(queue)
    clock.advance(0.499999)
    assert queue.push("mail", "a", 2).outcome == "ignored"
    assert [one.key for one in queue.history("mail")] == ["a"]


@pytest.mark.parametrize("mode", ["ignore", "replace", "keep_time", "push_back"])
def test_there_is_nothing_to_replace(queue: Session, mode: str) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    pop(queue)
    assert queue.push("mail", "a", 2, on_duplicate=mode).outcome == "ignored"  # pyright: ignore[reportArgumentType]
    batch = [{"key": key, "payload": 2, "on_duplicate": mode} for key in ("a", "b", "a")]
    assert outcomes(queue.push_many("mail", batch))[:2] == ["ignored", "created"]
    assert keys(queue.peek("mail")) == ["b"]
    assert queue.stats("mail")[0].pushed_total == 2


@pytest.mark.parametrize("turn", [{"order_key": "o"}, {"semaphores": ["s"]}], ids=lambda one: next(iter(one)))
def test_nobody_waits_behind_what_is_remembered(queue: Session, turn: dict[str, Any]) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.semaphore("s", 1)
    queue.push("mail", "a", 1)
    pop(queue)
    batch = [{"key": key, "payload": 2, **turn} for key in "ab"]
    assert outcomes(queue.push_many("mail", batch)) == ["ignored", "created"]
    assert keys(queue.reserve("mail", None, 9)) == ["b"]


def test_without_it_a_key_is_free_at_once(queue: Session) -> None:
    queue.push("mail", "a", 1)
    ack(queue)
    assert queue.push("mail", "a", 2).outcome == "created"


@pytest.mark.parametrize("end", ["remove", "purge", "dead"])
def test_what_was_not_done_is_not_remembered(queue: Session, end: str) -> None:
    queue.define("mail", dedup_seconds=60)
    if end == "dead":
        die(queue, "mail", "a")
    else:
        queue.push("mail", "a", 1)
        _ = queue.remove("mail", "a") if end == "remove" else queue.purge("mail")
    assert queue.push("mail", "a", 2).outcome == "created"


def test_only_pushes_are_ignored(queue: Session) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    move(queue)
    _, receipt = take(queue, "next")
    assert queue.move(receipt, "mail").outcome == "moved"
    assert keys(queue.peek("mail")) == ["a"]
    assert queue.push("mail", "a", 2).outcome == "ignored"
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "retry"


def test_a_push_onto_a_held_message_still_follows_it(queue: Session) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    assert queue.push("mail", "a", 2, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert [m.payload for m in queue.peek("mail")] == [2]


def test_another_time_concerns_what_is_remembered(queue: Session, clock: Clock) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    ack(queue)
    clock.advance(10)
    queue.define("mail", dedup_seconds=5)
    assert queue.push("mail", "a", 2).outcome == "created"


@pytest.mark.parametrize("way", [push_many, push_each, publish, land, stage], ids=lambda one: one.__name__)
def test_a_memory_that_is_switched_off_ignores_nothing_whatever_the_clock_says(
    queue: Session, clock: Clock, way: Callable[[Session], None]
) -> None:
    queue.define("mail", dedup_seconds=60, log_seconds=60)
    queue.subscribe("news", "mail")
    queue.push("mail", "a", 1)
    ack(queue)
    queue.define("mail", dedup_seconds=0)
    clock.advance(-1)  # it ended in the future now
    way(queue)
    assert queue.get("mail", "a")


def test_the_memory_of_a_rolled_back_end_never_was(queue: Session, connect: Connect) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    consumer = connect(autocommit=False)
    consumer.ack(receipt)
    consumer.rollback()
    queue.remove("mail", "a")
    queue.nack(receipt)
    assert queue.remove("mail", "a") == "removed"
    assert queue.push("mail", "a", 2).outcome == "created"


def test_prune_forgets_what_is_past_its_time(queue: Session, clock: Clock) -> None:
    queue.define("mail", dedup_seconds=60)
    for key in ("old", "new"):
        queue.push("mail", key, 1)
        ack(queue)
        clock.advance(30)  # after which the time of the first one is over to the microsecond
    while queue.prune():
        pass
    queue.define("mail", dedup_seconds=3600)  # what is forgotten stays so
    assert queue.push("mail", "old", 2).outcome == "created"
    assert queue.push("mail", "new", 2).outcome == "ignored"


def test_a_publish_is_ignored_for_its_own_key_alone(queue: Session) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.subscribe("t", "mail")
    for key in "abc":
        assert outcomes(queue.publish("t", key, 1)) == ["created"]
        pop(queue)
    assert outcomes(queue.publish("t", "b", 1)) == ["ignored"]
