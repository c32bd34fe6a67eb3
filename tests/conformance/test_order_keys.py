"""Order keys (row K7): the messages of one come one at a time, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption
from tests.conformance.steps import drain, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyqueue_sql import Message
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def push(
    queue: Session, names: Iterable[str], order_key: str = "o", kind: str = "work", **options: Any
) -> None:
    """Push messages of one order key, one by one."""
    for name in names:
        assert queue.push(kind, name, name, order_key=order_key, **options).outcome == "created"


def ready(queue: Session, kind: str = "work") -> list[str]:
    """Return the keys of what may be taken or is held, in order, and leave it there."""
    return [one.key for one in queue.peek(kind, 100) if one.state in {"ready", "reserved", "expired"}]


def waiting(queue: Session, kind: str = "work") -> list[str]:
    """Return the keys of what waits in a line."""
    found = [one.key for one in queue.peek(kind, 100) if one.state == "waiting"]
    (row,) = [one for one in queue.stats() if one.kind == kind] or [None]
    assert (row.waiting if row else 0) == len(found)
    return found


def test_K7_messages_of_one_order_key_come_one_at_a_time_in_push_order(queue: Session) -> None:
    push(queue, "cab")
    push(queue, "zy", "other")
    queue.push("work", "free", 1)
    assert sorted(waiting(queue)) == ["a", "b", "y"]
    assert state(queue, "work", "a") == "waiting"
    assert keys(queue.reserve("work", None, 10)) == ["c", "z", "free"]
    assert queue.reserve("work", None, 10) == []


def test_K7_a_peek_that_asks_for_few_shows_the_first_who_wait(queue: Session) -> None:
    push(queue, "abcd")
    assert [keys(queue.peek("work", many)) for many in (1, 2, 3)] == [["a"], ["a", "b"], ["a", "b", "c"]]


def test_K7_the_end_of_the_first_makes_the_next_ready(queue: Session) -> None:
    push(queue, "abc")
    for name in "abc":
        message, receipt = take(queue, "work")
        assert message.key == name
        assert queue.ack(receipt).outcome == "acked"
    assert queue.reserve("work") == []
    push(queue, "d")
    assert keys(queue.pop("work", 10)) == ["d"]


def test_K7_a_stuck_order_key_blocks_nobody_else(queue: Session, clock: Clock) -> None:
    push(queue, "ab", "stuck")
    take(queue, "work")
    push(queue, "cd", "lively")
    assert [message.key for message in pop_all(queue)] == ["c", "d"]
    clock.advance(301)
    assert keys(queue.reserve("work", None, 10)) == ["a"]


def pop_all(queue: Session, most: int = 10) -> list[Message]:
    """Pop until nothing is ready."""
    everything: list[Message] = []
    while found := queue.pop("work", most):
        everything += found
    return everything


def test_K7_pops_in_batches_and_one_by_one_go_on_with_the_next(queue: Session) -> None:
    for name in "ab":
        push(queue, [f"{name}{n}" for n in range(4)], name)
    assert keys(queue.pop("work", 10)) == ["a0", "b0"]
    assert keys(queue.pop("work")) == ["a1"]
    assert keys(queue.pop("work", 10)) == ["b1", "a2"]
    assert sorted(keys(queue.pop("work", 10))) == ["a3", "b2"]
    assert keys(queue.pop("work", 10)) == ["b3"]


def test_K7_pops_with_history_go_on_with_the_next(queue: Session) -> None:
    queue.define("work", history_seconds=60, dedup_seconds=60)
    push(queue, "abc")
    assert keys(pop_all(queue)) == ["a", "b", "c"]
    push(queue, "de")
    for name in "de":
        message, receipt = take(queue, "work")
        assert message.key == name
        queue.ack_many([receipt])


def test_K7_a_retry_stays_first_and_its_successors_wait_through_its_delay(
    queue: Session, clock: Clock
) -> None:
    push(queue, "ab")
    _, receipt = take(queue, "work")
    assert queue.nack(receipt, delay_seconds=60).outcome == "retry"
    assert (state(queue, "work", "a"), state(queue, "work", "b")) == ("scheduled", "waiting")
    assert queue.reserve("work") == []
    clock.advance(61)
    message, receipt = take(queue, "work")
    assert (message.key, message.attempts) == ("a", 2)
    assert queue.nack(receipt).outcome == "retry"
    assert keys(pop_all(queue)) == ["a", "b"]


def test_K7_a_delayed_first_blocks_those_behind_it_and_a_delayed_next_is_due_in_its_time(
    queue: Session, clock: Clock
) -> None:
    push(queue, "a", delay_seconds=10)
    push(queue, "b", delay_seconds=60)
    push(queue, "c")
    assert queue.reserve("work") == []
    (row,) = queue.stats()
    assert (row.ready, row.scheduled, row.waiting, row.total) == (0, 1, 2, 3)
    clock.advance(11)
    assert keys(pop_all(queue)) == ["a"]
    assert state(queue, "work", "b") == "scheduled"
    clock.advance(50)
    assert keys(pop_all(queue)) == ["b", "c"]


def test_K7_priorities_do_not_reorder_an_order_key(queue: Session) -> None:
    push(queue, "a")
    push(queue, "b", priority=9)
    queue.push("work", "free", 1, priority=5)
    assert keys(queue.pop("work", 10)) == ["free", "a"]
    assert keys(pop_all(queue)) == ["b"]


def test_K7_an_expired_first_is_delivered_again_before_its_successors(queue: Session, clock: Clock) -> None:
    push(queue, "ab")
    take(queue, "work")
    clock.advance(301)
    message, receipt = take(queue, "work")
    assert (message.key, message.attempts) == ("a", 2)
    queue.ack(receipt)
    assert keys(pop_all(queue)) == ["b"]


def test_K7_a_dead_letter_leaves_the_line_and_gets_to_its_end_by_a_redrive(
    queue: Session, clock: Clock
) -> None:
    queue.define("work", max_attempts=1)
    push(queue, "abc")
    _, receipt = take(queue, "work")
    assert queue.nack(receipt).outcome == "dead"
    take(queue, "work")
    clock.advance(301)
    message, receipt = take(
        queue, "work"
    )  # b's last delivery has expired, and the next comes with the same call
    assert message.key == "c"
    assert sorted(keys(queue.reserve("work.dead", None, 10))) == ["a", "b"]
    clock.advance(301)
    push(queue, "d")
    assert queue.redrive("work.dead").went == 2
    queue.ack(receipt)
    assert ready(queue) == ["d"]
    assert sorted(waiting(queue)) == ["a", "b"]
    assert len(pop_all(queue, 1)) == 3


def test_K7_a_dead_letter_that_dies_again_gets_back_into_its_line(queue: Session) -> None:
    push(queue, "ab")
    for kind in ("work", "work.dead"):
        (message,) = queue.reserve(kind)
        assert message.key == "a"
        assert queue.nack(message.receipt or "", final=True).outcome == "dead"
    assert queue.redrive("work.dead.dead").went == 1
    assert (ready(queue), waiting(queue)) == (["b"], ["a"])


def test_K7_a_redrive_of_a_line_that_is_empty_starts_it(queue: Session) -> None:
    push(queue, "ab")
    for _ in range(2):
        queue.nack(take(queue, "work")[1], final=True)
    assert queue.redrive("work.dead").went == 2
    assert (len(ready(queue)), len(waiting(queue))) == (1, 1)
    assert sorted(keys(pop_all(queue))) == ["a", "b"]


def test_K7_moves_and_routes_take_the_order_key_along(queue: Session) -> None:
    push(queue, "ab", route=["next"])
    push(queue, "x", kind="next")
    assert queue.ack(take(queue, "work")[1]).outcome == "moved"
    assert queue.move(take(queue, "work")[1], "next").outcome == "moved"
    assert (ready(queue, "next"), waiting(queue, "next")) == (["x"], ["a", "b"])
    queue.pop("next")
    assert (ready(queue, "next"), waiting(queue, "next")) == (["a"], ["b"])


def test_K7_a_move_within_the_kind_goes_to_the_end_of_the_line(queue: Session) -> None:
    push(queue, "ab")
    assert queue.move(take(queue, "work")[1], "work").outcome == "moved"
    assert keys(pop_all(queue)) == ["b", "a"]


def test_K7_a_move_onto_a_taken_key_goes_on_with_the_next(queue: Session) -> None:
    push(queue, "ab")
    queue.push("next", "a", 1)
    assert queue.move(take(queue, "work")[1], "next").outcome == "duplicate"
    assert ready(queue) == ["b"]


def test_K7_batches_of_acks_nacks_and_moves_go_on_with_the_next_of_each_line(queue: Session) -> None:
    for name in "abc":
        push(queue, [f"{name}{n}" for n in range(4)], name)
    queue.push("work", "free", 1)
    held = queue.reserve("work", None, 10)
    assert keys(held) == ["a0", "b0", "c0", "free"]
    assert set(outcomes(queue.ack_many(receipts(held)))) == {"acked"}
    held = queue.reserve("work", None, 10)
    assert keys(held) == ["a1", "b1", "c1"]
    assert set(outcomes(queue.nack_many(receipts(held)))) == {"retry"}
    held = queue.reserve("work", None, 10)
    assert sorted(keys(held)) == ["a1", "b1", "c1"]
    assert set(outcomes(queue.nack_many(receipts(held), final=True))) == {"dead"}
    held = queue.reserve("work", None, 10)
    assert sorted(keys(held)) == ["a2", "b2", "c2"]
    moves = [{"receipt": one, "to_kind": "next"} for one in receipts(held)]
    assert set(outcomes(queue.move_many(moves))) == {"moved"}
    assert sorted(ready(queue)) == ["a3", "b3", "c3"]
    assert sorted(ready(queue, "next")) == ["a2", "b2", "c2"]


def test_K7_an_ack_with_a_result_goes_on_with_the_next(queue: Session) -> None:
    push(queue, "abc")
    queue.ack(take(queue, "work")[1], result=1)
    queue.ack_many([take(queue, "work")[1]], result=1)
    assert ready(queue) == ["c"]


def test_K7_who_is_removed_or_purged_makes_room(queue: Session) -> None:
    push(queue, "abcd")
    assert queue.remove("work", "b") == "removed"
    assert ready(queue) == ["a"]
    assert queue.remove("work", "a") == "removed"
    assert ready(queue) == ["c"]
    take(queue, "work")
    assert queue.remove("work", "c") == "held"
    push(queue, "ef")
    assert queue.purge("work") == 3
    assert (ready(queue), waiting(queue)) == (["c"], [])
    push(queue, "g")
    assert waiting(queue) == ["g"]


def test_K7_a_purge_of_some_leaves_no_line_without_a_first(queue: Session) -> None:
    push(queue, "abcde")
    for left in (4, 3, 2, 1):
        queue.purge("work", 1)
        assert (len(ready(queue)), len(waiting(queue))) == (1, left - 1)
    queue.purge("work")
    push(queue, "ab")
    assert (ready(queue), waiting(queue)) == (["a"], ["b"])


def test_K7_a_dropped_kind_forgets_its_lines(queue: Session) -> None:
    push(queue, "ab")
    queue.drop("work")
    push(queue, "cd")
    assert keys(pop_all(queue)) == ["c", "d"]


def test_K7_a_kind_that_expires_forgets_its_lines(queue: Session, clock: Clock) -> None:
    queue.define("work", expires_seconds=60)
    push(queue, "ab")
    clock.advance(61)
    assert queue.prune() >= 2
    push(queue, "cd")
    assert keys(pop_all(queue)) == ["c", "d"]


def test_K7_a_batch_stands_in_its_order_in_lines_of_their_own(queue: Session) -> None:
    assert queue.push("work", "z0", 1, order_key="z").outcome == "created"
    batch = [
        {"key": "b", "payload": 1},
        {"key": "a", "payload": 1},
        {"key": "z1", "payload": 1, "order_key": "z"},
        {"key": "y1", "payload": 1, "order_key": "y"},
        {"key": "y0", "payload": 1, "order_key": "y"},
        {"key": "x0", "payload": 1, "order_key": "x", "priority": -1},
        {"key": "b", "payload": 2},
    ]
    assert outcomes(queue.push_many("work", batch, order_key="o")) == ["created"] * 6 + ["ignored"]
    assert keys(queue.reserve("work", None, 10)) == ["z0", "b", "y1", "x0"]
    assert waiting(queue) == ["a", "z1", "y0"]


def test_K7_a_batch_whose_first_is_ignored_starts_the_line_with_its_next(queue: Session) -> None:
    queue.push("work", "a", 1)
    batch = [{"key": name, "payload": 1} for name in "abc"]
    assert outcomes(queue.push_many("work", batch, order_key="o")) == ["ignored", "created", "created"]
    assert (ready(queue), waiting(queue)) == (["a", "b"], ["c"])


def test_K7_a_batch_with_remembered_keys_starts_the_line_with_what_is_new(queue: Session) -> None:
    queue.define("work", dedup_seconds=60)
    push(queue, "ab")
    assert keys(pop_all(queue)) == ["a", "b"]
    batch = [{"key": name, "payload": 1} for name in "abcd"]
    assert outcomes(queue.push_many("work", batch, order_key="o")) == ["ignored"] * 2 + ["created"] * 2
    assert queue.push("work", "a", 1, order_key="o").outcome == "ignored"
    assert keys(pop_all(queue)) == ["c", "d"]


def test_K7_a_batch_with_on_duplicate_stands_in_line_too(queue: Session) -> None:
    push(queue, "b")
    batch = [{"key": name, "payload": 2} for name in "cba"]
    assert outcomes(queue.push_many("work", batch, order_key="o", on_duplicate="replace")) == [
        "created",
        "replaced",
        "created",
    ]
    assert [message.payload for message in pop_all(queue)] == [2, 2, 2]


@pytest.mark.parametrize("on_duplicate", ["replace", "push_back", "keep_time"])
def test_K7_a_push_onto_one_that_waits_leaves_it_in_its_place(queue: Session, on_duplicate: Any) -> None:
    push(queue, "abc")
    assert queue.push("work", "b", 2, on_duplicate=on_duplicate, order_key="x").outcome == "replaced"
    assert (ready(queue), waiting(queue)) == (["a"], ["b", "c"])
    assert keys(pop_all(queue)) == ["a", "b", "c"]


def test_K7_what_is_pushed_onto_a_held_one_is_put_in_at_the_end_of_the_line(
    queue: Session, clock: Clock
) -> None:
    push(queue, "ab")
    _, receipt = take(queue, "work")
    assert queue.push("work", "a", 2, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert (ready(queue), waiting(queue)) == (["b"], ["a"])
    for end in ("nack", "move", "dead", "expire"):
        message, receipt = take(queue, "work")
        assert queue.push("work", message.key, end, on_duplicate="replace").outcome == "held"
        if end == "nack":
            queue.nack(receipt)
        elif end == "move":
            queue.move(receipt, "next")
        elif end == "dead":
            queue.nack(receipt, final=True)
        else:
            clock.advance(301)
            assert keys(queue.reserve("work")) != [message.key]
        assert message.key in waiting(queue)
        assert len(queue.peek("work", 10)) == 2


def test_K7_a_pause_and_a_drain_leave_the_lines_alone(queue: Session) -> None:
    push(queue, "ab")
    _, receipt = take(queue, "work")
    queue.pause("work")
    queue.ack(receipt)
    assert (ready(queue), queue.reserve("work")) == (["b"], [])
    queue.resume("work")
    push(queue, "c")
    queue.drain("work")
    assert keys(pop_all(queue)) == ["b", "c"]


def test_K7_lines_of_the_same_order_key_in_two_kinds_are_two(queue: Session) -> None:
    push(queue, "ab")
    push(queue, "ab", kind="other")
    assert (ready(queue), ready(queue, "other")) == (["a"], ["a"])


def test_K7_order_keys_are_told_apart_exactly(queue: Session) -> None:
    for number, order_key in enumerate(["a", "A", "a ", "ä", "x" * 200, "x" * 199]):
        push(queue, [str(number)], order_key)
    assert len(drain(queue, "work")) == 6


def test_K7_a_push_that_is_rolled_back_leaves_the_line_as_it_was(queue: Session, connect: Connect) -> None:
    other = connect(autocommit=False)
    push(other, "ab")
    other.rollback()
    push(queue, "cd")
    assert (ready(queue), waiting(queue)) == (["c"], ["d"])
    (held,) = other.reserve("work")
    other.ack(receipts([held])[0])
    other.rollback()
    assert (ready(queue), waiting(queue)) == (["c"], ["d"])
    (held,) = other.reserve("work")
    other.ack(receipts([held])[0])
    push(other, "e")
    other.commit()
    assert (ready(queue), waiting(queue)) == (["d"], ["e"])


def test_K7_a_dead_worker_keeps_its_place_in_the_line(queue: Session, harness: Harness) -> None:
    push(queue, "ab")
    worker = harness.connect()
    worker.heartbeat("w", session=True)
    assert keys(worker.reserve("work", "w")) == ["a"]
    harness.terminate(worker)
    while not queue.reap():
        pass
    assert (ready(queue), waiting(queue)) == (["a"], ["b"])


def test_K7_an_order_key_that_is_none_is_refused(queue: Session) -> None:
    wrong: list[Any] = ["", "x" * 201, 7, ["a"]]
    for order_key in wrong:
        with pytest.raises(InvalidOption):
            queue.push("work", "a", 1, order_key=order_key)
        with pytest.raises(InvalidOption):
            queue.push_many("work", [{"key": "a", "payload": 1, "order_key": order_key}])
    assert queue.push("work", "a", 1, order_key=None).outcome == "created"
