"""Groups (row D6): what follows starts once, when all members are done, with their results."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, Refused
from tests.conformance.steps import SECOND, die, drain, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def follow(queue: Session, kind: str = "next") -> list[dict[str, Any]]:
    """Return the results that the one continuation has."""
    (message,) = queue.peek(kind)
    return message.payload["results"]


def stands(queue: Session, name: str = "g") -> tuple[str, int, int, int]:
    """Return the state of a group, and how many of its members there are, are done, are dead."""
    (found,) = (one for one in queue.groups() if one.name == name)
    return found.state, found.members, found.done, found.dead


def test_D6_when_all_are_done_the_next_step_starts_once_with_their_results(
    queue: Session, clock: Clock
) -> None:
    made = queue.group("g", "next", {"what": "sum"}, priority=7, delay_seconds=5)
    assert (made.name, made.state, made.members, made.done) == ("g", "open", 0, 0)
    for key in "ab":
        queue.push("check", key, key, group="g")
    queue.push_many("check", [{"key": "c", "payload": 1}, {"key": "d", "payload": 1}], group="g")
    assert queue.group("g", close=True).state == "closed"
    held = queue.reserve("check", None, 10)
    assert keys(held) == ["a", "b", "c", "d"]
    found = receipts(held)
    queue.ack(found[1], result={"n": 2})
    queue.ack(found[0], result=None)
    assert outcomes(queue.ack_many(found[1:3], result=[3])) == ["lost", "acked"]
    assert stands(queue) == ("closed", 4, 3, 0)
    assert queue.peek("next") == []
    clock.advance(1)
    assert queue.ack(found[3]).outcome == "acked"
    assert queue.ack(found[3]).outcome == "lost"
    (message,) = queue.peek("next")
    assert (message.key, message.priority, message.scheduled_at) == ("g", 7, clock.now + 5 * SECOND)
    kind = message.payload["results"][0]["kind"]
    assert message.payload == {
        "what": "sum",
        "results": [
            {"kind": kind, "key": "a", "outcome": "acked", "result": None},
            {"kind": kind, "key": "b", "outcome": "acked", "result": {"n": 2}},
            {"kind": kind, "key": "c", "outcome": "acked", "result": [3]},
            {"kind": kind, "key": "d", "outcome": "acked"},
        ],
    }
    assert stands(queue) == ("done", 4, 4, 0)


def test_D6_a_member_whose_receipt_is_lost_is_not_done(queue: Session, clock: Clock) -> None:
    queue.group("g", "next", members=2)
    queue.push_many("check", [{"key": "a"}, {"key": "b"}], group="g")
    early = queue.reserve("check", None, 1, timeout_seconds=10)
    late = queue.reserve("check", None, 1, timeout_seconds=60)
    clock.advance(11)
    again = queue.reserve("check", None, 1)
    assert keys([*early, *late, *again]) == ["a", "b", "a"]
    assert outcomes(queue.ack_many(receipts([*early, *late]))) == ["lost", "acked"]
    assert stands(queue)[2:] == (1, 0)
    assert outcomes(queue.ack_many(receipts(again))) == ["acked"]
    assert keys(queue.peek("next")) == ["g"]


def test_D6_a_group_finishes_when_it_has_as_many_members_as_it_was_to_have(queue: Session) -> None:
    queue.group("g", "next", members=2)
    queue.push("check", "a", 1, group="g")
    _, receipt = take(queue, "check")
    queue.ack(receipt)
    assert queue.peek("next") == []
    queue.push("check", "b", 1, group="g")
    _, receipt = take(queue, "check")
    queue.ack(receipt)
    assert [one["key"] for one in follow(queue)] == ["a", "b"]


def test_D6_a_group_with_more_members_than_it_was_to_have_waits_for_all_of_them(queue: Session) -> None:
    queue.group("g", "next", members=1)
    queue.push_many("check", [{"key": key, "payload": 1} for key in "ab"], group="g")
    first, second = receipts(queue.reserve("check", None, 2))
    queue.ack(first)
    assert queue.peek("next") == []
    queue.ack(second)
    assert [one["key"] for one in follow(queue)] == ["a", "b"]


def test_D6_an_empty_group_starts_what_follows_as_soon_as_it_is_closed(queue: Session) -> None:
    queue.group("g", "next")
    assert queue.peek("next") == []
    assert queue.group("g", close=True).state == "done"
    assert follow(queue) == []
    assert queue.group("none", "none", close=True).state == "done"
    assert follow(queue, "none") == []
    assert queue.group("zero", "zero", members=0).state == "done"
    assert follow(queue, "zero") == []


def test_D6_a_group_that_is_added_to_late(queue: Session) -> None:
    queue.group("g", "next", close=False)
    queue.push("check", "a", 1, group="g")
    queue.group("g", close=True)
    _, first = take(queue, "check")
    queue.push("check", "b", 1, group="g")
    queue.ack(first)
    assert queue.peek("next") == []
    _, second = take(queue, "check")
    queue.ack(second)
    assert len(follow(queue)) == 2
    with pytest.raises(Refused, match=r"g.*finished"):
        queue.push("check", "c", 1, group="g")
    with pytest.raises(Refused, match=r"g.*finished"):
        queue.push_many("check", [{"key": "c", "payload": 1, "group": "g"}])
    assert state(queue, "check", "c") is None
    assert queue.group("g", "other", close=True).state == "done", "it stays as it is"


def test_D6_what_is_pushed_again_is_no_second_member(queue: Session) -> None:
    queue.group("g", "next")
    queue.group("other", "next")
    for _ in range(2):
        queue.push("check", "a", 1, group="g")
        queue.push_many("check", [{"key": "a", "payload": 1}, {"key": "b", "payload": 1}], group="g")
    queue.push("check", "a", 1, group="other", on_duplicate="replace")
    assert (stands(queue), stands(queue, "other")) == (("open", 2, 0, 0), ("open", 0, 0, 0))


def test_D6_a_batch_that_is_pushed_again_once_its_group_has_finished_is_ignored(queue: Session) -> None:
    queue.define("check", dedup_seconds=60)
    queue.group("g", "next")
    batch = [{"key": key, "payload": 1} for key in "ab"]
    assert outcomes(queue.push_many("check", batch, group="g")) == ["created", "created"]
    queue.ack_many(receipts(queue.reserve("check", None, 2)))
    assert queue.group("g", close=True).state == "done"
    assert outcomes(queue.push_many("check", batch, group="g")) == ["ignored", "ignored"]
    assert queue.push("check", "a", 1, group="g").outcome == "ignored"
    with pytest.raises(Refused, match=r"^group"):
        queue.push_many("check", [*batch, {"key": "c", "payload": 1}], group="g")


def test_D6_members_of_a_batch_are_of_several_groups(queue: Session) -> None:
    ways: list[dict[str, Any]] = [{}, {"on_duplicate": "replace"}]
    for options in ways:
        for name in ("g", "h"):
            queue.group(f"{name}{len(options)}", "next")
        batch: list[dict[str, Any]] = [
            {"key": f"a{len(options)}", "payload": 1},
            {"key": f"b{len(options)}", "payload": 1, "group": f"h{len(options)}"},
            {"key": f"c{len(options)}", "payload": 1, "group": f"h{len(options)}", "delay_seconds": 1},
        ]
        queue.push_many("check", batch, group=f"g{len(options)}", **options)
        assert stands(queue, f"g{len(options)}")[1] == 1
        assert stands(queue, f"h{len(options)}")[1] == 2


def test_D6_a_batch_of_acks_has_members_behind_what_is_none(queue: Session) -> None:
    queue.group("g", "next", {}, members=2)
    for key in "abcde":
        queue.push("check", key, group="g" if key in "bd" else None)
    queue.push("check", "f", route=["load"])
    held = queue.reserve("check", None, 10)
    assert outcomes(queue.ack_many(receipts(held[:2]))) == ["acked", "acked"]
    assert stands(queue) == ("open", 2, 1, 0)
    queue.next(receipts(held[2:]), "check")
    assert stands(queue) == ("done", 2, 2, 0)
    assert keys(queue.peek("load")) == ["f"]


def test_D6_a_member_is_done_at_the_end_of_its_route(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("first", "a", 1, group="g", route=["second"])
    queue.group("g", close=True)
    _, receipt = take(queue, "first")
    queue.ack(receipt, result="of the first")
    _, receipt = take(queue, "second")
    queue.move(receipt, "third", key="other")
    assert queue.peek("next") == []
    _, receipt = take(queue, "third")
    queue.nack(receipt)
    _, receipt = take(queue, "third")
    queue.ack(receipt, result="of the third")
    (one,) = follow(queue)
    assert (one["key"], one["outcome"], one["result"]) == ("a", "acked", "of the third")


def test_D6_a_member_whose_key_is_taken_where_it_goes_is_done(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("second", "a", 1)
    queue.push("first", "a", 1, group="g", route=["second"])
    queue.group("g", close=True)
    _, receipt = take(queue, "first")
    assert queue.ack(receipt, result=4).outcome == "duplicate"
    (one,) = follow(queue)
    assert (one["outcome"], one["result"]) == ("duplicate", 4)


def test_D6_a_member_that_takes_the_place_of_another_message_is_done(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("second", "a", 1)
    queue.push("first", "a", 2, group="g")
    queue.group("g", close=True)
    _, receipt = take(queue, "first")
    assert queue.move(receipt, "second", on_duplicate="replace").outcome == "moved"
    assert stands(queue) == ("done", 1, 1, 0)
    assert [one["outcome"] for one in follow(queue)] == ["duplicate"]
    assert take(queue, "second")[0].payload == 2


def test_D6_a_group_waits_for_its_dead_members(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("check", "a", 1, group="g")
    queue.group("g", close=True)
    _, receipt = take(queue, "check")
    queue.nack(receipt, final=True, error="broken")
    assert stands(queue) == ("closed", 1, 0, 1)
    queue.redrive("check.dead")
    assert stands(queue) == ("closed", 1, 0, 0)
    _, receipt = take(queue, "check")
    queue.nack(receipt, final=True, error="broken")
    assert queue.peek("next") == []
    _, receipt = take(queue, "check.dead")
    queue.ack(receipt)
    (one,) = follow(queue)
    assert one["outcome"] == "acked"
    assert "error" not in one


def test_D6_a_dead_member_is_reported_in_the_results(queue: Session) -> None:
    queue.define("check", max_attempts=1)
    queue.group("g", "next", on_dead="report")
    queue.push_many("check", [{"key": key, "payload": 1} for key in "ab"], group="g")
    queue.group("g", close=True)
    first, second = receipts(queue.reserve("check", None, 2))
    queue.ack(first, result=1)
    queue.nack(second, error="broken")
    ok, dead = follow(queue)
    assert (ok["outcome"], dead["outcome"], dead["error"]) == ("acked", "dead", "broken")
    assert stands(queue) == ("done", 2, 2, 1)
    assert queue.redrive("check.dead").went == 1
    _, receipt = take(queue, "check")
    assert queue.ack(receipt).outcome == "acked"
    assert len(queue.peek("next")) == 1


def test_D6_a_dead_member_that_comes_back_stays_reported(queue: Session) -> None:
    queue.group("g", "next", members=2, on_dead="report")
    queue.push_many("check", [{"key": key, "payload": 1} for key in "ab"], group="g")
    first, second = receipts(queue.reserve("check", None, 2))
    for error in ("broken", "broken again"):
        queue.nack(second, final=True, error=error)
        assert queue.redrive("check.dead").went == 1
        _, second = take(queue, "check")
    queue.ack(first)
    found = [(one["outcome"], one.get("error")) for one in follow(queue)]
    assert found == [("acked", None), ("dead", "broken")]
    assert queue.ack(second).outcome == "acked"
    assert len(queue.peek("next")) == 1


def test_D6_dead_members_can_be_reported_while_others_are_at_work(queue: Session) -> None:
    queue.group("g", "next", members=2)
    queue.push_many("check", [{"key": key, "payload": 1} for key in "ab"], group="g")
    first, second = receipts(queue.reserve("check", None, 2))
    queue.nack(first, final=True)
    assert stands(queue) == ("open", 2, 0, 1)
    queue.group("g", on_dead="report")
    assert stands(queue) == ("open", 2, 1, 1)
    queue.ack(second)
    assert [one["outcome"] for one in follow(queue)] == ["dead", "acked"]


def test_D6_a_hold_that_expires_for_the_last_time_is_a_dead_member(queue: Session, clock: Clock) -> None:
    queue.define("check", max_attempts=1)
    queue.group("g", "next", on_dead="report")
    queue.push("check", "a", 1, group="g")
    queue.group("g", close=True)
    take(queue, "check", timeout_seconds=1)
    clock.advance(2)
    assert queue.reserve("check") == []
    assert follow(queue)[0]["error"] == "expired"


def test_D6_a_dead_member_fails_the_group(queue: Session) -> None:
    queue.group("g", "next", {"x": 1}, on_dead="fail", fail_kind="failed")
    queue.group("h", "next", on_dead="fail")
    for name in "gh":
        queue.push_many("check", [{"key": f"{name}{n}", "payload": 1} for n in range(3)], group=name)
    held = {message.key: message.receipt or "" for message in queue.reserve("check", None, 6)}
    for name in "gh":
        queue.ack(held[f"{name}0"], result=1)
        queue.nack(held[f"{name}1"], final=True, error="broken")
        queue.ack(held[f"{name}2"])
    assert queue.peek("next") == []
    assert [one["outcome"] for one in follow(queue, "failed")] == ["acked", "dead"]
    assert [stands(queue, name)[0] for name in "gh"] == ["failed", "failed"]


def test_D6_a_dead_member_fails_a_large_group_at_once(queue: Session) -> None:
    """Two of 33 are in one stripe of it, and the other one isn't done."""
    queue.group("g", "next", on_dead="fail")
    queue.push_many("check", [{"payload": 0} for _ in range(33)], group="g")
    first = receipts(queue.reserve("check"))
    assert outcomes(queue.nack_many(first, final=True)) == ["dead"]
    assert stands(queue) == ("failed", 33, 1, 1)


def test_D6_what_goes_without_an_ack_is_done_from_the_next_prune_on(queue: Session) -> None:
    queue.group("g", "next")
    for kind in ("popped", "removed", "purged", "dropped", "acked"):
        queue.push(kind, "a", 1, group="g")
    queue.group("g", close=True)
    queue.pop("popped")
    queue.remove("removed", "a")
    queue.purge("purged")
    queue.drop("dropped")
    _, receipt = take(queue, "acked")
    queue.ack(receipt)
    assert queue.peek("next") == []
    queue.prune()
    assert sorted(one["outcome"] for one in follow(queue)) == ["acked", "gone", "gone", "gone", "gone"]


def test_D6_a_group_is_looked_through_bit_by_bit(queue: Session) -> None:
    queue.group("g", "next")
    queue.push_many("check", [{"key": key, "payload": 1} for key in "abcdefg"], group="g")
    queue.group("g", close=True)
    assert queue.remove("check", "g") == "removed"
    queue.ack_many(receipts(queue.reserve("check", None, 9)))
    for _ in range(4):
        assert queue.peek("next") == []
        queue.prune(2)
    assert [one["outcome"] for one in follow(queue)] == ["acked"] * 6 + ["gone"]


def test_D6_of_several_groups_each_is_looked_through(queue: Session) -> None:
    for name in "gh":
        queue.group(name, "next")
        queue.push_many("check", [{"key": f"{name}{n}", "payload": 1} for n in range(2)], group=name)
        queue.group(name, close=True)
        assert queue.remove("check", f"{name}0") == "removed"
    queue.ack_many(receipts(queue.reserve("check", None, 9)))
    for _ in range(3):
        queue.prune(2)
    assert len(queue.peek("next")) == 2


def test_D6_a_push_onto_a_member_keeps_it_one(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("check", "a", 1, group="g")
    queue.group("g", close=True)
    _, receipt = take(queue, "check")
    assert queue.push("check", "a", 2, on_duplicate="replace").outcome == "held"
    assert queue.nack(receipt).outcome == "retry"
    queue.prune()
    assert stands(queue) == ("closed", 1, 0, 0)
    message, receipt = take(queue, "check")
    assert message.payload == 2
    queue.push("check", "a", 3, on_duplicate="replace")
    queue.ack(receipt)
    assert len(follow(queue)) == 1, "what was pushed meanwhile is no member"
    _, receipt = take(queue, "check")
    queue.ack(receipt)
    assert len(queue.peek("next")) == 1


def test_D6_what_was_pushed_onto_a_member_is_none_once_that_is_dead(queue: Session) -> None:
    queue.group("g", "next")
    queue.push("check", "a", "old", group="g")
    queue.group("g", close=True)
    _, receipt = take(queue, "check")
    queue.push("check", "a", "new", on_duplicate="replace")
    assert queue.nack(receipt, final=True).outcome == "dead"
    message, receipt = take(queue, "check")
    assert (message.payload, queue.ack(receipt).outcome) == ("new", "acked")
    assert stands(queue) == ("closed", 1, 0, 1)
    assert queue.redrive("check.dead").went == 1
    _, receipt = take(queue, "check")
    queue.ack(receipt)
    assert stands(queue) == ("done", 1, 1, 0)


def test_D6_a_finished_group_is_remembered_for_its_time(queue: Session, clock: Clock) -> None:
    queue.group("g", "next", keep_seconds=60)
    queue.push("check", "a", 1, group="g")
    _, receipt = take(queue, "check")
    queue.ack(receipt)
    queue.group("g", close=True)
    (found,) = queue.groups()
    assert (found.then_kind.split("/")[-1].endswith("next"), found.finished_at is not None) == (True, True)
    clock.advance(59)
    queue.prune()
    assert len(queue.groups()) == 1
    clock.advance(1)
    queue.prune()
    assert queue.groups() == []
    assert queue.group("g", "again").state == "open"


def test_D6_what_is_said_of_a_group_stays_until_it_is_said_anew(queue: Session, clock: Clock) -> None:
    queue.group("other", "next", {"n": 0}, on_dead="fail")
    queue.group("g", "first", {"n": 1}, key="then", priority=3, delay_seconds=5, members=1, keep_seconds=60)
    queue.group("h", "next", on_dead="fail", fail_kind="failed", keep_seconds=60)
    assert queue.group("g", "next").state == "open"
    queue.push("failed", "h", "in the way")
    for name in ("g", "h", "other"):
        queue.push("check", name, 0, group=name)
    for close in (True, None, False):
        assert queue.group("h", close=close).state == "closed"
    of_g, of_h, of_other = receipts(queue.reserve("check", None, 3))
    queue.nack(of_h, final=True)
    queue.ack(of_g)
    assert [stands(queue, name) for name in ("g", "h")] == [("done", 1, 1, 0), ("failed", 1, 1, 1)]
    assert stands(queue, "other") == ("open", 1, 0, 0)
    queue.ack(of_other)
    assert queue.group("other", close=True).state == "done"
    found = {one.key: one for one in queue.peek("next", 3)}
    assert sorted(found) == ["other", "then"]
    assert (found["then"].priority, found["then"].scheduled_at) == (3, clock.now + 5 * SECOND)
    assert (found["other"].priority, found["other"].scheduled_at) == (0, clock.now)
    assert (found["then"].payload["n"], found["other"].payload["n"]) == (1, 0)
    assert len(follow(queue, "failed")) == 1, "what was in the way is replaced"
    clock.advance(60)
    queue.prune()
    assert [one.name for one in queue.groups()] == ["other"]


def test_D6_groups_are_forgotten_bit_by_bit_the_first_to_finish_first(queue: Session, clock: Clock) -> None:
    for name in ("second", "first"):
        queue.group(name, "next", members=3, keep_seconds=60)
        queue.push_many(name, [{"payload": 0}] * 3, group=name)
    for name in ("first", "second"):
        clock.advance(1)
        queue.ack_many(receipts(queue.reserve(name, None, 3)))
    queue.prune()
    clock.advance(60)
    assert (queue.prune(2), len(queue.groups())) == (2, 2)
    assert queue.prune(2) == 2
    assert [one.name for one in queue.groups()] == ["second"]
    assert [queue.prune(3) for _ in range(3)] == [3, 1, 0]
    assert queue.groups() == []
    assert queue.execute("select count(*) from queue_group_member") == [(0,)]


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_D6_ten_thousand_members(queue: Session) -> None:
    queue.define("check", timeout_seconds=3600)
    queue.group("g", "next")
    for start in range(0, 10_000, 5000):
        queue.push_many(
            "check", [{"key": f"{n}", "payload": 0} for n in range(start, start + 5000)], group="g"
        )
    queue.group("g", close=True)
    found = receipts(drain(queue, "check", 5000))
    for start in range(0, 10_000, 5000):
        assert queue.peek("next") == []
        queue.ack_many(found[start : start + 5000], result={"n": 1})
    results = follow(queue)
    assert len(results) == 10_000
    assert {one["key"] for one in results} == {str(n) for n in range(10_000)}


def test_D6_two_that_end_at_the_same_moment_start_it_once(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next")
    queue.push_many("check", [{"key": key, "payload": 1} for key in "ab"], group="g")
    queue.group("g", close=True)
    first, second = receipts(queue.reserve("check", None, 2))
    one, other = connect(autocommit=False), connect(autocommit=False)
    one.ack(first)
    with ThreadPoolExecutor(1) as pool:
        ack = pool.submit(other.ack, second)
        while not harness.waits(other) and not ack.done():
            time.sleep(0.01)
        one.commit()
        assert ack.result().outcome == "acked"
    assert queue.peek("next") == []
    other.rollback()
    assert queue.peek("next") == [], "the second one never happened"
    queue.ack(second)
    assert len(follow(queue)) == 2


def test_D6_what_is_asked_of_a_group_is_checked(queue: Session) -> None:
    with pytest.raises(InvalidParameter, match="then_kind"):
        queue.group("g")
    with pytest.raises(InvalidParameter, match="group"):
        queue.group("", "next")
    with pytest.raises(InvalidPayload, match="then_payload"):
        queue.group("g", "next", [1])  # type: ignore[arg-type]
    wrong: list[dict[str, Any]] = [
        {"on_dead": "cry"},
        {"on_dead": "WAIT"},
        {"close": "yes"},
        {"members": -1},
        {"priority": 99999},
        {"keep_seconds": -1},
        {"nothing": 1},
    ]
    for options in wrong:
        with pytest.raises(InvalidOption, match=next(iter(options))):
            queue.group("g", "next", **options)
    with pytest.raises(InvalidOption, match="group"):
        queue.push("check", "a", 1, group="unknown")
    with pytest.raises(InvalidOption, match="group"):
        queue.push("check", "a", 1, group="x" * 101)
    assert state(queue, "check", "a") is None
    die(queue, "check", "a")


def test_D6_a_result_that_is_too_deep_is_refused_by_its_name(queue: Session) -> None:
    queue.push("check", "a", 0)
    _, receipt = take(queue, "check")
    for levels in (29, 40):
        with pytest.raises(InvalidPayload, match="result"):
            queue.ack(receipt, result=json.loads("[" * levels + "]" * levels))


def test_null_of_a_message_is_no_group_whatever_its_batch_has(queue: Session) -> None:
    queue.group("g", "done")
    given = '[{"key": "a", "payload": 1, "group": null}, {"key": "b", "payload": 1}]'
    queue.answer("queue_push_many", "mail", given, '{"group": "g"}')
    assert queue.execute("select p_key from queue_group_member") == [("b",)]
