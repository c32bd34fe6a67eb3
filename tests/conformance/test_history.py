"""Rows C4, M6 and M8: what has ended is kept for a time, where its kind wants that; it goes by age."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption
from tests.conformance.steps import SECOND, die, keys, receipts, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def ended(queue: Session, kind: str) -> list[tuple[str, str]]:
    """Return key and outcome of what has ended, the oldest first."""
    return [(one.key, one.outcome) for one in reversed(queue.history(kind))]


def test_C4_M8_what_is_acked_is_kept_with_all_that_is_known_of_it(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=60)
    queue.push("mail", "a", {"to": 1}, headers={"h": "x"}, priority=3, delay_seconds=1)
    created = clock.now
    clock.advance(2)
    first, receipt = take(queue, "mail")
    queue.nack(receipt, error="busy")
    clock.advance(1)
    _, receipt = take(queue, "mail")
    received = clock.now
    clock.advance(5)
    queue.ack(receipt)
    (one,) = queue.history("mail")
    assert (one.kind, one.key, one.outcome, one.to_kind) == ("mail", "a", "acked", None)
    assert (one.payload, one.payload_bytes, one.headers, one.priority) == ({"to": 1}, None, {"h": "x"}, 3)
    assert (one.created_at, one.scheduled_at_initially) == (created, created + SECOND)
    assert (one.reserved_at, one.finished_at) == (received, received + 5 * SECOND)
    assert (one.attempts, one.reserved_by) == (2, "someone")
    assert [error["error"] for error in one.errors] == ["busy"]
    assert first.reserved_by == one.reserved_by


def test_C4_every_way_to_end_has_its_outcome(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=60, max_attempts=2)
    for key in ("acked", "moved", "nacked"):
        queue.push("mail", key, key)
        _, receipt = take(queue, "mail")
        if key == "acked":
            queue.ack(receipt)
        elif key == "moved":
            queue.move(receipt, "next")
        else:
            queue.nack(receipt, final=True, error="broken")
        clock.advance(1)
    queue.push("mail", "popped", 1)
    queue.pop("mail")
    clock.advance(1)
    queue.push("mail", "removed", 1)
    queue.remove("mail", "removed")
    clock.advance(1)
    queue.push("mail", "purged", 1)
    queue.purge("mail")
    clock.advance(1)
    queue.push("mail", "expired", 1, attempts=1)
    take(queue, "mail", timeout_seconds=1)
    clock.advance(1)
    assert queue.reserve("mail") == []
    assert ended(queue, "mail") == [
        ("acked", "acked"),
        ("moved", "moved"),
        ("nacked", "dead"),
        ("popped", "popped"),
        ("removed", "removed"),
        ("purged", "removed"),
        ("expired", "dead"),
    ]
    went = {one.key: one.to_kind for one in queue.history("mail") if one.to_kind}
    assert went == {"moved": "next", "nacked": "mail.dead", "expired": "mail.dead"}
    (popped,) = queue.history("mail", "popped")
    assert (popped.reserved_at, popped.attempts, popped.reserved_by) == (popped.finished_at, 1, None)


def test_C4_batches_are_kept_like_single_ones(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    queue.push_many("mail", [{"key": f"k{i}", "payload": i} for i in range(9)])
    taken = queue.reserve("mail", None, 6)
    queue.ack_many(receipts(taken[:2]))
    queue.nack_many(receipts(taken[2:4]), final=True)
    queue.move_many([{"receipt": one, "to_kind": "next"} for one in receipts(taken[4:])])
    queue.pop("mail", 9)
    assert sorted(ended(queue, "mail")) == [
        *(("k0", "acked"), ("k1", "acked"), ("k2", "dead"), ("k3", "dead"), ("k4", "moved")),
        *(("k5", "moved"), ("k6", "popped"), ("k7", "popped"), ("k8", "popped")),
    ]
    assert {one.key: one.payload for one in queue.history("mail")} == {f"k{i}": i for i in range(9)}


def test_C4_a_binary_payload_is_kept_byte_for_byte(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    queue.push_bytes("mail", "a", bytes(range(256)))
    _, receipt = take(queue, "mail")
    queue.ack(receipt)
    (one,) = queue.history("mail")
    assert (one.payload, one.payload_bytes) == (None, bytes(range(256)))


def test_a_kind_that_does_not_ask_for_it_keeps_nothing(queue: Session) -> None:
    queue.define("other", history_seconds=60)
    queue.push_many("mail", [{"key": "a", "payload": 1}, {"key": "b", "payload": 1}])
    queue.ack_many(receipts(queue.reserve("mail", None, 1)))
    queue.pop("mail")
    assert queue.history() == []


def test_C4_M6_it_goes_by_age_and_the_live_queue_stays(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=60)
    for key in ("old", "new"):
        queue.push("mail", key, 1)
        _, receipt = take(queue, "mail")
        queue.ack(receipt)
        clock.advance(40)
    queue.push("mail", "live", 1)
    while queue.prune():
        pass
    assert keys(queue.peek("mail")) == ["live"]
    assert ended(queue, "mail") == [("new", "acked")]
    clock.advance(20)
    while queue.prune():
        pass
    assert queue.history() == []


def test_C4_prune_works_in_chunks_the_oldest_first(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=1)
    for i in range(10):
        queue.push("mail", f"k{i}", 1)
        queue.pop("mail")
        clock.advance(0.001)
    while queue.prune():  # the counters
        pass
    assert len(queue.history("mail")) == 10
    clock.advance(1)
    assert queue.prune(4) == 4
    assert ended(queue, "mail")[0] == ("k4", "popped")
    assert [queue.prune(4), queue.prune(4), queue.prune(4)] == [4, 2, 0]


def test_C4_a_chunk_is_of_all_kinds_together(queue: Session, clock: Clock) -> None:
    for kind in ("a", "b", "c"):
        queue.define(kind, history_seconds=1)
        queue.push_many(kind, [{"payload": 0}] * 3)
        queue.pop(kind, 3)
    while queue.prune():  # the counters
        pass
    clock.advance(1)
    assert [queue.prune(4), queue.prune(4), queue.prune(4)] == [4, 4, 1]


def test_C4_a_chunk_is_of_history_keys_and_log_together(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=1, dedup_seconds=1, log_seconds=1)
    queue.push_many("mail", [{"payload": 0}] * 3)
    queue.pop("mail", 3)
    while queue.prune():  # the counters
        pass
    clock.advance(1)
    # three each in history and of remembered keys; in the log three that came and three that ended
    assert [queue.prune(4) for _ in range(4)] == [4, 4, 4, 0]


def test_C4_a_shorter_time_concerns_what_is_there(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=3600)
    queue.push("mail", "a", 1)
    queue.pop("mail")
    clock.advance(10)
    queue.define("mail", history_seconds=5)
    while queue.prune():
        pass
    assert queue.history() == []


def test_what_a_kind_no_longer_keeps_goes_though_the_clock_was_set_back(queue: Session, clock: Clock) -> None:
    queue.define("mail", history_seconds=60, dedup_seconds=60, log_seconds=60)
    queue.push("mail", "a", 1)
    queue.pop("mail")
    queue.define("mail", history_seconds=0, dedup_seconds=0, log_seconds=0)
    clock.advance(-3600)
    while queue.prune():
        pass
    queue.define("mail", history_seconds=9999, dedup_seconds=9999, log_seconds=9999)
    assert queue.history() == []
    assert queue.read("mail", "r", 10, events=["pushed", "popped"]) == []
    assert queue.push("mail", "a", 2).outcome == "created"


def test_history_is_part_of_the_transaction(queue: Session, connect: Connect) -> None:
    queue.define("mail", history_seconds=60)
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    consumer = connect(autocommit=False)
    consumer.ack(receipt)
    consumer.rollback()
    assert queue.history() == []
    assert queue.ack(receipt).outcome == "acked"
    assert ended(queue, "mail") == [("a", "acked")]


def test_a_dead_letter_that_is_redriven_ends_once_more(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    die(queue, "mail", "a")
    assert queue.redrive("mail.dead").went == 1
    _, receipt = take(queue, "mail")
    queue.ack(receipt)
    assert sorted(one.outcome for one in queue.history("mail", "a")) == ["acked", "dead"]


@each("name", ["history_seconds", "dedup_seconds", "log_seconds"])
def test_a_time_to_keep_is_a_number_of_seconds(queue: Session, name: str) -> None:
    wrong: list[Any] = [-1, 315360001, True, "60", [1]]
    for value in wrong:
        with pytest.raises(InvalidOption, match=name):
            queue.define("mail", **{name: value})
    most: Any = {name: 315360000}
    assert getattr(queue.define("mail", **most), name) == 315360000


def test_a_kind_that_is_in_use_needs_nobody_who_prunes(
    queue: Session, harness: Harness, clock: Clock
) -> None:
    def kept() -> list[object]:
        tables = ("queue_history", "queue_dedup", "queue_log")
        return [what for name, what in harness.everything().items() if name.endswith(tables)]

    nothing = kept()
    settings: dict[str, Any] = {"history_seconds": 60, "dedup_seconds": 60, "log_seconds": 60}
    for kind in settings:
        queue.define(kind, **{kind: settings[kind]})
        queue.push(kind, "a", 1)
        queue.pop(kind)
    clock.advance(61)
    for _ in range(400):  # one in twenty does something, so none of so many once in 800 million times
        if kept() == nothing:
            break
        for kind in settings:
            queue.reserve(kind)
    assert kept() == nothing
