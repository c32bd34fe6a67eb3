"""The contract on moving: a new entry in the next kind, and what is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidParameter
from tests.conformance.steps import SECOND, keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session


def test_moving_gives_a_new_entry(queue: Session, clock: Clock) -> None:
    queue.push("load", "a", {"n": 1}, priority=4, headers={"h": 1}, max_attempts=9)
    _, receipt = take(queue, "load")
    queue.nack(receipt)
    _, receipt = take(queue, "load")
    clock.advance(5)
    assert queue.move(receipt, "clean").outcome == "moved"
    found = queue.get("clean", "a")
    assert found
    assert (found.attempts, found.created_at, found.scheduled_at) == (0, clock.now, clock.now)
    assert (found.payload, found.priority, found.headers) == ({"n": 1}, 4, {"h": 1})
    assert (found.reserved_at, found.reserved_by, found.state) == (None, None, "ready")
    assert queue.get("load", "a") is None
    queue.define("clean", max_attempts=1)
    assert queue.nack(take(queue, "clean")[1], error="no").outcome == "dead", "as many as its kind says now"


def test_a_move_changes_what_it_is_told_to(queue: Session, clock: Clock) -> None:
    queue.push("load", "a", 1, priority=4, headers={"h": 1})
    _, receipt = take(queue, "load")
    queue.move(receipt, "clean", key="b", headers={"g": 2}, priority=-1, delay_seconds=30, payload=[2])
    found = queue.get("clean", "b")
    assert found
    assert (found.payload, found.priority, found.headers) == ([2], -1, {"g": 2})
    assert (found.state, found.scheduled_at) == ("scheduled", clock.now + 30 * SECOND)
    clock.advance(30)
    _, receipt = take(queue, "clean")
    queue.move(receipt, "sink", headers=None)
    found = queue.get("sink", "b")
    assert found
    assert found.headers is None


def test_where_the_key_is_taken_the_target_stays_and_the_source_goes(queue: Session) -> None:
    queue.push("clean", "a", "there")
    queue.push("load", "a", "moved", priority=5)
    _, receipt = take(queue, "load")
    assert queue.move(receipt, "clean").outcome == "duplicate"
    assert queue.get("load", "a") is None
    message, _ = take(queue, "clean")
    assert (message.payload, message.priority) == ("there", 0)
    assert queue.move(receipt, "clean").outcome == "lost"


@pytest.mark.parametrize(
    ("mode", "payload", "wait"),
    [("replace", "moved", 30), ("keep_time", "moved", 10), ("push_back", "there", 30)],
)
def test_on_duplicate_decides_as_in_a_push(
    queue: Session, clock: Clock, mode: Any, payload: str, wait: int
) -> None:
    queue.push("clean", "a", "there", delay_seconds=10)
    queue.push("load", "a", "moved")
    _, receipt = take(queue, "load")
    assert queue.move(receipt, "clean", delay_seconds=30, on_duplicate=mode).outcome == "moved"
    assert queue.get("load", "a") is None
    found = queue.get("clean", "a")
    assert found
    assert (found.payload, found.scheduled_at) == (payload, clock.now + wait * SECOND)


def test_a_move_onto_a_held_message_is_delivered_after_it(queue: Session) -> None:
    queue.push("clean", "a", "there")
    _, holding = take(queue, "clean")
    queue.push("load", "a", "moved")
    _, receipt = take(queue, "load")
    assert queue.move(receipt, "clean", on_duplicate="replace").outcome == "moved"
    assert queue.get("load", "a") is None
    assert queue.ack(holding).outcome == "acked"
    assert take(queue, "clean")[0].payload == "moved"


def test_several_moves_of_a_batch_to_one_key_leave_one(queue: Session) -> None:
    queue.push_many("load", [{"key": key, "payload": key} for key in "abc"])
    batch = receipts(queue.reserve("load", None, 3))
    answers = queue.move_many([{"receipt": r, "to_kind": "clean", "key": "one"} for r in batch])
    assert sorted(outcomes(answers)) == ["duplicate", "duplicate", "moved"]
    assert keys(queue.peek("clean")) == ["one"]
    assert queue.peek("load") == []


def test_options_of_a_move_count_over_those_of_the_batch(queue: Session, clock: Clock) -> None:
    queue.push_many("load", [{"key": key, "payload": key} for key in "ab"])
    a, b = receipts(queue.reserve("load", None, 2))
    moves = [
        {"receipt": a, "to_kind": "clean"},
        {"receipt": b, "to_kind": "clean", "priority": 1, "payload": None, "delay_seconds": 5},
    ]
    assert outcomes(queue.move_many(moves, priority=8, payload="all")) == ["moved", "moved"]
    clock.advance(5)
    found = [(m.key, m.payload, m.priority) for m in queue.reserve("clean", None, 9)]
    assert found == [("a", "all", 8), ("b", None, 1)]


@each("moves", ["1", "{}", '["receipt"]', "[null]"])
def test_what_is_no_array_of_moves_is_refused_by_that_name(queue: Session, moves: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^moves .*must be a JSON array"):
        queue.raw("queue_move_many", moves, None)


def test_a_message_can_move_within_its_kind_to_another_key(queue: Session) -> None:
    queue.push("load", "a", 1)
    _, receipt = take(queue, "load")
    assert queue.move(receipt, "load", key="b").outcome == "moved"
    assert (state(queue, "load", "a"), state(queue, "load", "b")) == (None, "ready")


def test_a_message_that_moves_onto_itself_is_not_lost(queue: Session) -> None:
    queue.push("load", "a", 1)
    _, receipt = take(queue, "load")
    assert queue.move(receipt, "load").outcome in ("moved", "duplicate")
    assert keys(queue.peek("load")) == ["a"]


def test_two_keys_can_change_places(queue: Session) -> None:
    queue.push_many("load", [{"key": "a", "payload": 1}, {"key": "b", "payload": 2}])
    a, b = receipts(queue.reserve("load", None, 2))
    moves = [{"receipt": a, "to_kind": "clean", "key": "b"}, {"receipt": b, "to_kind": "clean", "key": "a"}]
    assert outcomes(queue.move_many(moves)) == ["moved", "moved"]
    assert {(m.key, m.payload) for m in queue.peek("clean")} == {("b", 1), ("a", 2)}


def test_of_several_moves_to_one_key_the_oldest_is_first(queue: Session) -> None:
    for _ in range(8):
        for kind in ("a", "b"):
            queue.push(kind, "same", kind)
        held = [queue.reserve(kind)[0].receipt for kind in ("a", "b")]
        moves: list[Any] = [{"receipt": one, "to_kind": "c"} for one in reversed(held)]
        assert outcomes(queue.move_many(moves)) == ["duplicate", "moved"]
        assert [one.payload for one in queue.pop("c")] == ["a"]
