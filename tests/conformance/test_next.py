"""The loop of a consumer: one call acks what is done and takes the next, whole or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidReceipt, Lost, QueueError, Refused
from tests.conformance.steps import SECOND, keys, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

GONE = "1-" + "0" * 32


def fill(queue: Session, *names: str, kind: str = "k", **options: Any) -> None:
    """Push messages, one after another."""
    for key in names:
        queue.push(kind, key, key, **options)


def counts(queue: Session, kind: str = "k") -> tuple[int, int, int]:
    """Return how many were acked, were reserved, and were lost."""
    found = {one.kind: (one.acked_total, one.reserved_total, one.lost_total) for one in queue.stats()}
    return found[kind]


def test_what_is_done_is_acked_and_the_next_are_taken(queue: Session, clock: Clock) -> None:
    fill(queue, *"abcde")
    found = queue.next([], "k", "me")
    assert keys(found) == ["a"]
    seen: list[str] = []
    while found:
        seen += keys(found)
        (one,) = found
        assert (one.reserved_by, one.attempts, one.payload) == ("me", 1, one.key)
        assert (one.reserved_at, one.scheduled_at) == (clock.now, clock.now + 300 * SECOND)
        found = queue.next(receipts(found), "k", "me")
        assert [queue.get("k", key) for key in seen] == [None] * len(seen)
    assert seen == ["a", "b", "c", "d", "e"]
    assert counts(queue) == (5, 5, 0)


def test_many_are_acked_and_many_are_taken(queue: Session, clock: Clock) -> None:
    fill(queue, *"abcdefg")
    first = queue.reserve("k", None, 3)
    second = queue.next(receipts(first), "k", None, 10, timeout_seconds=7)
    assert keys(second) == ["d", "e", "f", "g"]
    assert {one.scheduled_at for one in second} == {clock.now + 7 * SECOND}
    assert queue.next(receipts(second)[:3], "k", None, 10) == []
    assert state(queue, "k", "g") == "reserved"
    assert counts(queue) == (6, 7, 0)


def test_what_is_taken_answers_what_a_reserve_answers(queue: Session, clock: Clock) -> None:
    queue.push("k", "a", {"n": 1}, headers={"h": "x"}, priority=5, attempts=2)
    queue.push_bytes("k", "b", b"\x00\xff")
    queue.nack(take(queue, "k", where={"n": 1})[1], error="no")
    clock.advance(3600)
    reserved = queue.reserve("k", "w", 10)
    queue.nack_many(receipts(reserved), count=False)
    found = queue.next([], "k", "w", 10)
    assert [(one.key, one.payload, one.payload_bytes, one.headers, one.errors) for one in found] == [
        (one.key, one.payload, one.payload_bytes, one.headers, one.errors) for one in reserved
    ]
    assert [one["error"] for one in found[0].errors] == ["no"]
    assert not {*receipts(found)} & {*receipts(reserved)}
    assert queue.next(receipts(found), "k") == []
    assert queue.peek("k", 10) == []


@pytest.mark.parametrize("none", [None, "[]", "null", " [ ] "])
def test_receipts_may_be_none(queue: Session, none: str | None) -> None:
    fill(queue, "a", "b")
    assert queue.raw("queue_next", none, "k", None, None, None) == 1
    assert queue.raw("queue_next", none, "k", "w", "5", "{}") == 1
    assert queue.raw("queue_next", none, "k", "w", "5", '{"lost": "error"}') == 0
    assert counts(queue) == (0, 2, 0)


@pytest.mark.parametrize("options", [None, "null", "{}", ' {"lost": null} '])
def test_options_may_be_none(queue: Session, options: str | None) -> None:
    fill(queue, "a", "b")
    (receipt,) = receipts(queue.reserve("k"))
    assert queue.raw("queue_next", json.dumps([receipt, GONE]), "k", None, None, options) == 1
    assert counts(queue) == (1, 2, 1)


def test_what_is_lost_changes_nothing_and_is_counted(queue: Session, clock: Clock) -> None:
    fill(queue, "a", "b", "c")
    late, good = receipts(queue.reserve("k", None, 2, timeout_seconds=5))
    queue.extend(good, 60)
    clock.advance(6)
    others = receipts(queue.reserve("k", "other", 1))
    assert counts(queue)[2] == 0
    assert keys(queue.next([late], "k")) == ["c"]
    assert counts(queue) == (0, 4, 1)
    assert state(queue, "k", "a") == "reserved"
    assert queue.next([good, late, good, GONE], "k") == [], "one that stands twice is lost the second time"
    assert counts(queue) == (1, 4, 4)
    assert queue.next(others, "k") == []
    assert counts(queue) == (2, 4, 4)
    queue.next([late], "nothing of it")
    assert counts(queue, "nothing of it") == (0, 0, 1), "for the kind that is asked for"
    while queue.prune():
        pass
    assert counts(queue) == (2, 4, 4)


def test_what_is_late_but_nobodys_else_counts(queue: Session, clock: Clock) -> None:
    fill(queue, "a")
    (late,) = receipts(queue.reserve("k", timeout_seconds=5))
    clock.advance(60)
    assert queue.next([late], "k", lost="error") == []
    assert queue.get("k", "a") is None


def test_with_lost_error_nothing_at_all_is_done(harness: Harness, queue: Session) -> None:
    fill(queue, "a", "b", "c", "d")
    first, second, third = receipts(queue.reserve("k", None, 3))
    queue.ack(first)
    before, stats = harness.everything(), counts(queue)
    for given, names in (([first], [first]), ([second, first, third, GONE], [first, GONE])):
        with pytest.raises(Lost) as raised:
            queue.next(given, "k", None, 10, lost="error")
        assert (harness.sqlstate(raised.value), Lost.sqlstate) == ("PQ006", "PQ006")
        text = str(raised.value)
        assert text.startswith("receipts ")
        assert [one for one in given if one in text] == names
        assert harness.everything() == before
    assert counts(queue) == stats
    assert keys(queue.next([second, third], "k", None, 10, lost="error")) == ["d"]
    with pytest.raises(Lost, match="receipts"):
        queue.next([second] * 9000, "k", lost="error")


def test_what_fails_acks_nothing(harness: Harness, queue: Session) -> None:
    fill(queue, "a", "b")
    (receipt,) = receipts(queue.reserve("k"))
    before = harness.everything()
    wrong: list[tuple[type[QueueError], str, tuple[str | None, ...]]] = [
        (InvalidParameter, "kind", (None, None, None, None)),
        (InvalidParameter, "kind", ("", None, None, None)),
        (InvalidParameter, "kind", ("k" * 101, None, None, None)),
        (InvalidParameter, "worker", ("k", "", None, None)),
        (InvalidParameter, "worker", ("k", "w" * 201, None, None)),
        (InvalidParameter, "max_messages", ("k", None, "0", None)),
        (InvalidParameter, "max_messages", ("k", None, "10001", None)),
        (InvalidOption, "timeout_seconds", ("k", None, None, '{"timeout_seconds": 0}')),
        (InvalidOption, "where", ("k", None, None, '{"where": 5}')),
        (InvalidOption, 'options "no_such":', ("k", None, None, '{"no_such": 5}')),
        (InvalidOption, 'options "result":', ("k", None, None, '{"result": 5}')),
        (InvalidOption, "lost", ("k", None, None, '{"lost": "errors"}')),
        (InvalidOption, "lost", ("k", None, None, '{"lost": true}')),
        (InvalidOption, "options", ("k", None, None, "[]")),
    ]
    for given in (json.dumps([receipt]), json.dumps([receipt, GONE])):
        for cause, name, rest in wrong:
            with pytest.raises(cause, match=f"^{name} "):
                queue.raw("queue_next", given, *rest)
    for given in (
        "{}",
        '"x"',
        "5",
        "[5]",
        "[null]",
        json.dumps(receipt),
        json.dumps([receipt, "x"]),
        '["x"]',
    ):
        with pytest.raises(InvalidReceipt, match=r"^receipts "):
            queue.raw("queue_next", given, "k", None, None, None)
    with pytest.raises(InvalidReceipt, match=r"^receipts "):
        queue.next([GONE] * 10001, "k")
    assert harness.everything() == before
    assert keys(queue.next([receipt], "k")) == ["b"]


def test_a_route_that_is_refused_keeps_all(harness: Harness, queue: Session) -> None:
    queue.push("k", "a", 1, route=["closed"])
    fill(queue, "b", "c")
    held = receipts(queue.reserve("k", None, 2))
    queue.drain("closed")
    before = harness.everything()
    with pytest.raises(Refused, match="closed"):
        queue.next(held, "k")
    assert harness.everything() == before


def test_who_is_next_in_the_line_of_an_order_key_is_had_by_the_same_call(queue: Session) -> None:
    fill(queue, "a", "b", "c", order_key="o")
    found = queue.reserve("k", None, 10)
    for expected in (["b"], ["c"], []):
        assert keys(found) != expected
        found = queue.next(receipts(found), "k", None, 10)
        assert keys(found) == expected


def test_who_waits_for_a_semaphore_is_had_by_the_same_call(queue: Session) -> None:
    queue.semaphore("s", 1)
    queue.semaphore("t", 2)
    fill(queue, "a", "b", semaphores=["s"])
    fill(queue, "c", semaphores=["s", "t"])
    fill(queue, "d", kind="other", semaphores=["t", "s"])
    found = queue.reserve("k", None, 10)
    for expected in (["b"], ["c"]):
        found = queue.next(receipts(found), "k", None, 10)
        assert keys(found) == expected
    assert keys(queue.next(receipts(found), "other", None, 10)) == ["d"], "in whatever kind"
    assert {one.name: (one.held, one.waiting) for one in queue.semaphores()} == {"s": (1, 0), "t": (1, 0)}


def test_many_that_wait_for_semaphores_are_had_by_the_same_call(queue: Session) -> None:
    queue.semaphore("s", 3)
    fill(queue, *"abcdefg", semaphores=["s"])
    found = queue.reserve("k", None, 10)
    assert keys(found) == ["a", "b", "c"]
    found = queue.next(receipts(found), "k", None, 10)
    assert keys(found) == ["d", "e", "f"]
    assert keys(queue.next(receipts(found)[:1], "k", None, 10)) == ["g"]


def test_what_goes_on_along_its_route_is_had_by_the_same_call(queue: Session) -> None:
    queue.push("k", "a", 1, route=["k2", "k3"])
    found = queue.reserve("k")
    for kind in ("k2", "k3"):
        found = queue.next(receipts(found), kind)
        assert [(one.kind, one.key, one.attempts) for one in found] == [(kind, "a", 1)]
    assert queue.next(receipts(found), "k3") == []
    assert queue.get("k3", "a") is None


def test_what_follows_a_group_is_had_by_the_same_call(queue: Session) -> None:
    queue.group("g", "k", {"then": 1})
    fill(queue, "a", "b", group="g")
    queue.group("g", "k", {"then": 1}, close=True)
    found = queue.reserve("k", None, 10)
    found = queue.next(receipts(found), "k")
    assert keys(found) == ["g"]


def test_what_was_pushed_onto_it_is_had_by_the_same_call(queue: Session) -> None:
    fill(queue, "a")
    found = queue.reserve("k")
    assert queue.push("k", "a", "new", on_duplicate="replace").outcome == "held"
    found = queue.next(receipts(found), "k")
    assert [(one.key, one.payload, one.attempts) for one in found] == [("a", "new", 1)]


def test_the_place_under_max_reserved_is_had_by_the_same_call(queue: Session) -> None:
    queue.define("k", max_reserved=2)
    fill(queue, *"abcde")
    found = queue.reserve("k", None, 10)
    assert (keys(found), queue.next([], "k")) == (["a", "b"], [])
    found = queue.next(receipts(found), "k", None, 10)
    assert keys(found) == ["c", "d"]
    assert keys(queue.next(receipts(found)[:1], "k", None, 10)) == ["e"]


def test_a_rate_is_kept(queue: Session, clock: Clock) -> None:
    queue.define("k", rate_per_second=1)
    fill(queue, "a", "b", "c")
    found = queue.next([], "k", None, 10)
    assert keys(found) == ["a"]
    assert queue.next(receipts(found), "k", None, 10) == []
    assert queue.get("k", "a") is None, "acked all the same"
    clock.advance(1)
    assert keys(queue.next([], "k", None, 10)) == ["b"]


def test_a_paused_kind_acks_and_gets_nothing(queue: Session) -> None:
    fill(queue, "a", "b")
    held = receipts(queue.reserve("k"))
    queue.pause("k")
    assert queue.next(held, "k", lost="error") == []
    assert (queue.get("k", "a"), state(queue, "k", "b")) == (None, "ready")


def test_the_receipts_may_be_of_other_kinds(queue: Session) -> None:
    fill(queue, "a", "b", kind="x")
    fill(queue, "a", kind="y")
    fill(queue, "z", kind="k")
    held = receipts([*queue.reserve("y"), *queue.reserve("x")])
    assert keys(queue.next(held, "k")) == ["z"]
    assert (queue.get("x", "a"), queue.get("y", "a"), state(queue, "x", "b")) == (None, None, "ready")
    assert counts(queue, "x")[0] == counts(queue, "y")[0] == 1


def test_only_what_fits_a_filter_is_taken(queue: Session) -> None:
    for key in "abc":
        queue.push("k", key, {"even": key == "b"})
    held = receipts(queue.reserve("k"))
    assert keys(queue.next(held, "k", None, 10, where={"even": True}, lost="error")) == ["b"]


def test_what_ends_is_kept_and_logged_as_by_an_ack(queue: Session) -> None:
    queue.define("k", history_seconds=60, dedup_seconds=60, log_seconds=60)
    fill(queue, "a", "b")
    held = receipts(queue.next([], "k"))
    queue.next(held, "k")
    assert [(one.key, one.outcome) for one in queue.history("k")] == [("a", "acked")]
    assert queue.push("k", "a", 1).outcome == "ignored"
    events = queue.read("k", "r", 10, events=["acked"])
    assert [(one.event, one.key) for one in events] == [("acked", "a")]


def test_it_lives_and_dies_with_the_transaction_of_the_caller(
    harness: Harness, queue: Session, connect: Connect
) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", "b")
    fill(queue, "c", "d", semaphores=["s"])
    held = receipts(queue.reserve("k", None, 3))
    caller = connect(autocommit=False)
    before = harness.everything()
    assert keys(caller.next([held[0], GONE, held[2]], "k", None, 10)) == ["d"]
    with pytest.raises(Lost), caller.savepoint():
        caller.next([held[1], held[0]], "k", lost="error")
    assert (caller.get("k", "a"), state(caller, "k", "b")) == (None, "reserved"), "only the call is undone"
    caller.rollback()
    assert harness.everything() == before
    assert keys(caller.next(held, "k", None, 10, lost="error")) == ["d"]
    caller.commit()
    assert [state(queue, "k", key) for key in "abcd"] == [None, None, None, "reserved"]
    assert counts(queue) == (3, 4, 0)
