"""Semaphores (row D5): a capacity, several a message; what is over it waits in line and is woken in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, Refused
from tests.conformance.steps import drain, keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def stands(queue: Session, name: str = "s") -> tuple[int, int, int]:
    """Return capacity, how many are held and how many wait."""
    (found,) = (one for one in queue.semaphores() if one.name == name)
    return found.capacity, found.held, found.waiting


def fill(queue: Session, *names: str, kind: str = "k", **options: Any) -> None:
    """Push messages that name the semaphore s, one after another."""
    given: dict[str, Any] = {"semaphores": ["s"]} | options
    for key in names:
        queue.push(kind, key, key, **given)


def states(queue: Session, *names: str, kind: str = "k") -> list[str | None]:
    return [state(queue, kind, key) for key in names]


def hold(queue: Session, kind: str = "k", most: int = 10, **options: Any) -> dict[str, str]:
    """Reserve, and return the receipts by key."""
    held = queue.reserve(kind, None, most, **options)
    return dict(zip(keys(held), receipts(held), strict=True))


def test_D5_no_more_than_the_capacity_are_held_at_once_in_whatever_kinds(queue: Session) -> None:
    queue.semaphore("s", 2)
    fill(queue, "a", "b", "c")
    fill(queue, "d", kind="other")
    queue.push("k", "free", 1)
    assert states(queue, "a", "b", "c", "free") == ["ready", "ready", "waiting", "ready"]
    held = hold(queue)
    assert list(held) == ["a", "b", "free"]
    assert (hold(queue), hold(queue, "other")) == ({}, {})
    assert stands(queue) == (2, 2, 2)
    stats = {one.kind: (one.ready, one.reserved, one.waiting, one.total) for one in queue.stats()}
    assert sorted(stats.values()) == [(0, 0, 1, 1), (0, 3, 1, 4)]
    queue.ack(held["b"])
    assert (states(queue, "c"), state(queue, "other", "d")) == (["ready"], "waiting")
    queue.ack(held["a"])
    assert state(queue, "other", "d") == "ready"
    assert stands(queue) == (2, 0, 0)
    assert list(hold(queue)) == ["c"]
    assert list(hold(queue, "other")) == ["d"]
    assert stands(queue) == (2, 2, 0)


def test_D5_those_that_lack_nothing_else_are_woken_the_oldest_first(queue: Session) -> None:
    for name in "st":
        queue.semaphore(name, 1)
    fill(queue, "s", "t1", "both", "only", "late")
    queue.remove("k", "t1")
    queue.push("k", "t", 1, semaphores=["t"])
    queue.remove("k", "both")
    queue.push("k", "both", 1, semaphores=["t", "s"])
    held = hold(queue)
    assert sorted(held) == ["s", "t"]
    assert states(queue, "both", "only", "late") == ["waiting"] * 3
    queue.ack(held["s"])
    assert states(queue, "both", "only", "late") == ["waiting", "ready", "waiting"], "who lacks least"
    queue.ack(held["t"])
    (only,) = hold(queue).values()
    queue.ack(only)
    assert states(queue, "both", "late") == ["waiting", "ready"], "the oldest by its entry"
    (late,) = hold(queue).values()
    queue.ack(late)
    assert list(hold(queue)) == ["both"]
    assert (stands(queue), stands(queue, "t")) == ((1, 1, 0), (1, 1, 0))


def test_D5_of_several_lines_the_oldest_comes_first(queue: Session) -> None:
    for name in "stu":
        queue.semaphore(name, 1)
    queue.push("k", "holds", 1, semaphores=["s", "t"])
    (receipt,) = hold(queue).values()
    for key, names in (("old", "tu"), ("new", "su")):
        queue.push("k", key, 1, semaphores=list(names))
    queue.ack(receipt)
    assert states(queue, "old", "new") == ["ready", "waiting"]


def test_D5_of_those_that_wait_in_a_kind_the_oldest_gets_what_has_expired(
    queue: Session, clock: Clock
) -> None:
    queue.semaphore("s", 1)
    fill(queue, "dead", kind="gone")
    fill(queue, "old", "young")
    assert list(hold(queue, "gone", timeout_seconds=10)) == ["dead"]
    clock.advance(11)
    assert list(hold(queue)) == ["old"]


def test_D5_who_finds_more_room_than_it_takes_leaves_the_rest_to_others(queue: Session, clock: Clock) -> None:
    for name in "st":
        queue.semaphore(name, 1)
        fill(queue, f"holds {name}", kind="gone", semaphores=[name])
        fill(queue, name, semaphores=[name])
    assert len(hold(queue, "gone", timeout_seconds=10)) == 2
    fill(queue, "another", kind="other", semaphores=["t"])
    clock.advance(11)
    assert list(hold(queue, most=1)) == ["s"]
    assert list(hold(queue, "other")) == ["another"]


def test_D5_what_comes_for_those_that_lack_a_permit_comes_in_order(queue: Session) -> None:
    queue.semaphore("s", 2)
    fill(queue, "first", "second", priority=1)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "abcd"])
    queue.semaphore("s", 0)
    assert list(hold(queue, most=4)) == [*"abcd"]


def test_D5_one_that_lacks_several_stands_in_the_line_of_the_first_by_name(queue: Session) -> None:
    for name in "abc":
        queue.semaphore(name, 1)
        queue.push("k", name, 0, semaphores=[name])
    assert len(queue.reserve("k", None, 3)) == 3
    queue.push("k", "one", 0, semaphores=["c", "b", "a"])
    queue.push_many("k", [{"key": "many", "payload": 0, "semaphores": ["c", "b"]}])
    assert {one.name: one.waiting for one in queue.semaphores()} == {"a": 1, "b": 1, "c": 0}


@pytest.mark.parametrize("call", ["reserve", "pop"])
def test_D5_what_is_woken_by_a_call_comes_in_the_order_of_delivery(
    queue: Session, clock: Clock, call: str
) -> None:
    queue.semaphore("s", 1)
    queue.push("other", "held", 0, semaphores=["s"])
    queue.reserve("other", timeout_seconds=5)
    queue.push_many("k", [{"key": "low", "payload": 0, "priority": -1}, {"key": "plain", "payload": 0}])
    queue.push("k", "woken", 0, semaphores=["s"], priority=1)
    clock.advance(6)
    taken = queue.reserve("k", None, 3) if call == "reserve" else queue.pop("k", 3)
    assert keys(taken) == ["woken", "plain", "low"]


def test_D5_a_long_line_for_another_keeps_nobody_waiting(queue: Session) -> None:
    for name in "stu":
        queue.semaphore(name, 1)
    for name in "st":
        fill(queue, f"holds {name}", semaphores=[name])
    queue.push_many("k", [{"key": f"{n:03}", "payload": 1, "semaphores": ["t"]} for n in range(110)])
    fill(queue, "last", semaphores=["s", "u"])
    queue.ack(hold(queue, most=2)["holds s"])
    assert states(queue, "000", "last") == ["waiting", "ready"]


def test_D5_of_those_that_wait_at_several_the_oldest_is_first(queue: Session) -> None:
    for name in "st":
        queue.semaphore(name, 1)
    for key, names in (("first", "st"), ("old", "st"), ("young", "t")):
        queue.push("k", key, 1, semaphores=[*names])
    (held,) = hold(queue).values()
    queue.ack(held)
    assert states(queue, "old", "young") == ["ready", "waiting"]


def test_D5_one_that_lacks_any_has_none(queue: Session) -> None:
    queue.semaphore("s", 1)
    queue.semaphore("t", 0)
    queue.push("k", "both", 1, semaphores=["s", "t"])
    fill(queue, "only")
    assert list(hold(queue)) == ["only"]
    queue.semaphore("t", 1)
    assert (hold(queue), states(queue, "both")) == ({}, ["waiting"])
    assert stands(queue, "t") == (1, 0, 0)


def test_D5_each_way_in_which_a_hold_ends_wakes_who_is_next(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    queue.define("k", max_attempts=5)
    ends = {
        "ack": lambda r: queue.ack(r),
        "ack_many": lambda r: queue.ack_many([r]),
        "result": lambda r: queue.ack(r, result=1),
        "to": lambda r: queue.ack(r, to="elsewhere"),
        "nack": lambda r: queue.nack(r, delay_seconds=60),
        "nack_many": lambda r: queue.nack_many([r], delay_seconds=60),
        "final": lambda r: queue.nack(r, final=True),
        "move": lambda r: queue.move(r, "elsewhere"),
        "move_many": lambda r: queue.move_many([{"receipt": r, "to_kind": "elsewhere"}]),
        "extend": lambda r: queue.extend(r, 0),
        "extend_many": lambda r: queue.extend_many([r], 0),
    }
    for name, end in ends.items():
        fill(queue, f"{name}1", f"{name}2", "later", kind=name)
        assert state(queue, name, f"{name}2") == "waiting"
        (receipt,) = hold(queue, name).values()
        end(receipt)
        assert state(queue, name, f"{name}2") == "ready", name
        assert state(queue, name, "later") == "waiting", name
        queue.purge(name)
        queue.purge("elsewhere")
        queue.purge(f"{name}.dead")
        assert stands(queue) == (1, 0, 0), name
        clock.advance(1)


def test_D5_a_hold_that_expires_is_found_by_who_wants_its_slot(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "dead", kind="gone")
    fill(queue, "next")
    (late,) = hold(queue, "gone", timeout_seconds=10).values()
    assert queue.wait(["k"], 0) is None
    assert hold(queue) == {}
    clock.advance(11)
    assert (state(queue, "gone", "dead"), stands(queue)) == ("expired", (1, 0, 1))
    assert queue.wait(["k"], 0) == "k"
    assert list(hold(queue)) == ["next"], "nobody has touched the other kind"
    assert queue.extend(late, 10).outcome == "lost", "its slot is somebody else's"
    assert hold(queue, "gone") == {}
    assert state(queue, "gone", "dead") == "waiting"
    assert queue.ack(late).outcome == "acked", "nobody else has got it yet"
    assert state(queue, "gone", "dead") is None
    assert stands(queue) == (1, 1, 0)
    assert queue.wait(["k"], 0) is None, "nobody is left in line"


def test_D5_an_expired_hold_whose_slot_nobody_wanted_goes_on(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a")
    (late,) = hold(queue, timeout_seconds=10).values()
    clock.advance(11)
    assert queue.extend(late, 10).outcome == "extended"
    fill(queue, "b")
    assert (hold(queue), states(queue, "b")) == ({}, ["waiting"])
    clock.advance(9)
    assert outcomes(queue.extend_many([late], 10)) == ["extended"]
    clock.advance(9)
    assert hold(queue) == {}, "the slot lasts as long as the hold"
    clock.advance(2)
    assert list(hold(queue)) == ["a"], "the expired one stands first, and has its slot again"
    assert queue.ack(late).outcome == "lost"


def test_D5_a_hold_that_is_extended_is_counted_until_its_new_end(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 3)
    fill(queue, "a", "b", "c")
    receipt = hold(queue, timeout_seconds=10)["a"]
    assert queue.extend(receipt, 20).outcome == "extended"
    clock.advance(11)
    assert stands(queue) == (3, 1, 0)
    assert outcomes(queue.extend_many([receipt], 20)) == ["extended"]
    for seconds, held in ((19, 1), (2, 0)):
        clock.advance(seconds)
        assert stands(queue) == (3, held, 0)


def test_D5_the_slot_of_a_hold_that_another_call_is_extending_is_given_to_nobody(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", kind="gone")
    fill(queue, "b")
    (late,) = hold(queue, "gone", timeout_seconds=10).values()
    clock.advance(11)
    other = connect(autocommit=False)
    assert other.extend(late, 10).outcome == "extended"
    assert hold(queue) == {}, "and it waits for nobody"
    other.commit()
    assert (hold(queue), stands(queue)) == ({}, (1, 1, 1))


def test_D5_reap_and_prune_find_slots_of_expired_holds(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    for find in (queue.reap, queue.prune):
        fill(queue, "a", kind="gone")
        hold(queue, "gone", timeout_seconds=5)
        fill(queue, "b")
        assert states(queue, "b") == ["waiting"]
        clock.advance(6)
        find()
        assert states(queue, "b") == ["ready"]
        queue.purge("gone")
        queue.purge("k")


def test_D5_what_a_dead_worker_held_wakes_who_is_next(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    queue.heartbeat("w", timeout_seconds=10)
    fill(queue, "a", "b")
    assert keys(queue.reserve("k", "w", 10)) == ["a"]
    clock.advance(11)
    assert [one.freed for one in queue.reap()] == [1]
    (got,) = hold(queue)
    assert got in {"a", "b"}
    assert stands(queue) == (1, 1, 1)


def test_D5_what_a_dead_worker_held_is_for_who_waits_in_another_kind(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    queue.heartbeat("w", timeout_seconds=10)
    fill(queue, "a", kind="elsewhere")
    fill(queue, "b")
    assert keys(queue.reserve("elsewhere", "w", timeout_seconds=1000)) == ["a"]
    clock.advance(11)
    assert [one.freed for one in queue.reap()] == [1]
    assert list(hold(queue)) == ["b"]
    assert (state(queue, "elsewhere", "a"), hold(queue, "elsewhere")) == ("ready", {})


def test_D5_capacity_is_changed_while_messages_wait(queue: Session) -> None:
    queue.semaphore("s", 0)
    fill(queue, "a", "b", "c", "d")
    assert (hold(queue), stands(queue)) == ({}, (0, 0, 4))
    queue.semaphore("s", 3)
    assert states(queue, "a", "b", "c", "d") == ["ready", "ready", "ready", "waiting"]
    held = hold(queue)
    assert list(held) == ["a", "b", "c"]
    queue.semaphore("s", 1)
    queue.ack(held["a"])
    assert states(queue, "d") == ["waiting"], "more are held than there is room for"
    queue.ack(held["b"])
    assert (hold(queue), stands(queue)) == ({}, (1, 1, 1))
    queue.ack(held["c"])
    assert list(hold(queue)) == ["d"]
    queue.semaphore("s", 0)
    fill(queue, "e", "f")
    queue.semaphore("s", None)
    assert queue.semaphores() == []
    assert sorted(hold(queue)) == ["e", "f"], "it keeps nobody waiting any more"
    with pytest.raises(InvalidOption, match=r"semaphores.*s.*there"):
        fill(queue, "g")


def test_D5_as_many_are_woken_at_once_as_there_is_room_for(queue: Session) -> None:
    queue.semaphore("s", 0)
    queue.semaphore("t", 1000)
    names = [f"{number:03}" for number in range(120)]
    queue.push_many("k", [{"key": name, "payload": 0, "semaphores": ["s", "t"]} for name in names])
    queue.semaphore("s", 110)
    assert states(queue, *names) == ["ready"] * 110 + ["waiting"] * 10


@pytest.mark.parametrize("capacity", [0, 1])
@pytest.mark.parametrize("most", [1, 10])
@pytest.mark.parametrize("apart", [0, 0.1], ids=["at once", "one by one"])
def test_D5_a_lower_capacity_counts_for_who_was_told_that_there_is_room(
    queue: Session, clock: Clock, capacity: int, most: int, apart: float
) -> None:
    queue.semaphore("s", 2)
    for key in "abc":
        fill(queue, key)
        clock.advance(apart)
    assert states(queue, "a", "b", "c") == ["ready", "ready", "waiting"]
    queue.semaphore("s", capacity)
    held = {key: receipt for _ in range(3) for key, receipt in hold(queue, most=most).items()}
    assert list(held) == ["a"][:capacity]
    assert stands(queue) == (capacity, capacity, 3 - capacity)
    queue.semaphore("s", 3)
    assert sorted([*held, *hold(queue)]) == ["a", "b", "c"]


def test_D5_one_that_lost_what_it_was_told_of_takes_nothing_of_who_holds(
    queue: Session, clock: Clock
) -> None:
    queue.semaphore("s", 2)
    queue.semaphore("t", 1)
    fill(queue, "held")
    assert list(hold(queue)) == ["held"]
    fill(queue, "both", semaphores=["s", "t"])
    queue.semaphore("t", 0)
    assert hold(queue, most=1) == {}
    assert stands(queue)[:2] == (2, 1)
    queue.semaphore("s", 1)
    fill(queue, "late")
    clock.advance(2)
    assert hold(queue) == {}


def test_D5_one_that_lost_one_of_what_it_was_told_of_gives_on_the_other(queue: Session) -> None:
    for name in "st":
        queue.semaphore(name, 1)
    fill(queue, "both", semaphores=["s", "t"])
    fill(queue, "only", kind="other")
    queue.semaphore("t", 0)
    assert hold(queue) == {}
    assert (states(queue, "both"), states(queue, "only", kind="other")) == (["waiting"], ["ready"])


def test_D5_pop_takes_what_has_slots_and_keeps_none(queue: Session) -> None:
    queue.semaphore("s", 2)
    fill(queue, "a", "b", "c", "d")
    queue.push("k", "free", 1)
    assert keys(queue.pop("k", 10)) == ["a", "b", "free"]
    assert stands(queue) == (2, 0, 0)
    fill(queue, "e")
    assert keys(queue.reserve("k", None, 10)) == ["c", "d"]
    assert queue.pop("k", 10) == []
    assert states(queue, "e") == ["waiting"]


def test_D5_what_is_removed_lets_others_by(queue: Session) -> None:
    queue.semaphore("s", 1)
    for number, end in enumerate((queue.purge, queue.drop, lambda kind: queue.remove(kind, "a"))):
        fill(queue, "a", kind="gone")
        fill(queue, f"b{number}")
        assert states(queue, f"b{number}") == ["waiting"]
        end("gone")
        assert states(queue, f"b{number}") == ["ready"]
        queue.purge("k")
        queue.purge("gone")
    fill(queue, "x", "y", "z")
    assert queue.remove("k", "y") == "removed"
    (receipt,) = hold(queue).values()
    queue.ack(receipt)
    assert list(hold(queue)) == ["z"]


def test_D5_who_waits_in_another_kind_gets_what_is_not_taken(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", kind="paused")
    fill(queue, "b")
    queue.pause("paused")
    assert states(queue, "b") == ["waiting"]
    assert hold(queue) == {}, "it was told a moment ago"
    clock.advance(2)
    (receipt,) = hold(queue).values()
    queue.resume("paused")
    assert hold(queue, "paused") == {}
    queue.ack(receipt)
    assert list(hold(queue, "paused")) == ["a"]


def test_D5_what_comes_due_gets_what_is_not_taken_elsewhere_in_its_turn(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "told", kind="elsewhere")
    fill(queue, "due", priority=1, delay_seconds=1)
    queue.push("k", "plain", 1)
    clock.advance(2)
    assert list(hold(queue, most=1)) == ["due"]


def test_D5_who_waits_in_a_kind_with_a_shape_gets_what_is_not_taken_elsewhere(
    queue: Session, clock: Clock
) -> None:
    queue.define("shaped", payload_shape={"n": "integer"})
    queue.semaphore("s", 1)
    queue.push("elsewhere", "first", 1, semaphores=["s"])  # is told that there is room
    queue.push("shaped", "waits", {"n": 1}, semaphores=["s"])
    queue.push("shaped", "plain", {"n": 2})
    clock.advance(2)
    assert keys(queue.reserve("shaped", None, 9)) == ["plain", "waits"]


def test_D5_what_is_delayed_waits_for_its_time_first(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "later", "after", delay_seconds=10)
    fill(queue, "now")
    assert states(queue, "later", "after", "now") == ["scheduled", "scheduled", "ready"]
    clock.advance(11)
    held = hold(queue)
    assert len(held) == 1
    assert sorted(str(one) for one in states(queue, "later", "after", "now")) == [
        "reserved",
        "waiting",
        "waiting",
    ]
    assert stands(queue) == (1, 1, 2)
    for _ in range(2):
        queue.ack(*held.values())
        held = hold(queue)
    assert len(held) == 1


def test_D5_semaphores_stay_with_a_message(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", route=["k2"])
    fill(queue, "b", kind="k2")
    (receipt,) = hold(queue).values()
    assert queue.ack(receipt).outcome == "moved"
    assert states(queue, "a", "b", kind="k2") == ["waiting", "ready"]
    (receipt,) = hold(queue, "k2").values()
    assert queue.move(receipt, "k3").outcome == "moved"
    assert (state(queue, "k2", "a"), state(queue, "k3", "b")) == ("ready", "waiting")
    (receipt,) = hold(queue, "k2").values()
    assert queue.nack(receipt, final=True, error="broken").outcome == "dead"
    dead = hold(queue, "k2.dead")
    assert list(dead) == ["a"], "a dead letter needs none"
    assert stands(queue) == (1, 0, 0)
    queue.nack(dead["a"])
    assert queue.redrive("k2.dead").went == 1
    assert list(hold(queue, "k3")) == ["b"]
    assert hold(queue, "k2") == {}
    assert state(queue, "k2", "a") == "waiting"
    clock.advance(1)


def test_D5_a_dead_letter_that_is_replaced_needs_none(queue: Session) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", kind="gone")
    assert queue.nack(*hold(queue, "gone").values(), final=True).outcome == "dead"
    fill(queue, "b")
    assert list(hold(queue)) == ["b"]
    assert queue.push("gone.dead", "a", "newer", on_duplicate="replace").outcome == "replaced"
    assert [one.payload for one in queue.reserve("gone.dead")] == ["newer"]
    assert stands(queue) == (1, 1, 0)


def test_D5_a_dead_letter_needs_none_where_others_do(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "dead", kind="gone")
    assert queue.nack(*hold(queue, "gone").values(), final=True).outcome == "dead"
    fill(queue, "b", kind="gone.dead")
    clock.advance(1)
    fill(queue, "c")
    assert list(hold(queue)) == ["c"], "b was told of room, and didn't take it"
    [(key, receipt)] = hold(queue, "gone.dead").items()
    assert (key, states(queue, "b", kind="gone.dead"), stands(queue)) == ("dead", ["waiting"], (1, 1, 1))
    assert queue.extend(receipt, 10).outcome == "extended"
    assert queue.nack(receipt).outcome == "retry"
    assert (states(queue, "dead", kind="gone.dead"), stands(queue)) == (["ready"], (1, 1, 1))


def test_D5_what_is_pushed_onto_one_that_waits_or_is_held(queue: Session) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", "b")
    assert queue.push("k", "b", "newer", on_duplicate="replace").outcome == "replaced"
    message = queue.get("k", "b")
    assert message and (message.state, message.payload) == ("waiting", "newer")
    assert queue.push("k", "b", 1, on_duplicate="push_back", delay_seconds=60).outcome == "replaced"
    assert states(queue, "b") == ["scheduled"]
    assert stands(queue) == (1, 0, 0)
    queue.push("k", "b", 1, on_duplicate="push_back")
    (receipt,) = hold(queue).values()
    assert queue.push("k", "a", "newest", on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert sorted(str(one) for one in states(queue, "a", "b")) == ["ready", "waiting"]
    assert len(hold(queue)) == 1


@pytest.mark.parametrize("way", ["push", "publish", "move", "group"])
def test_D5_what_is_put_onto_one_that_is_ready_leaves_it_ready(queue: Session, way: str) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a")
    if way == "push":
        queue.push("k", "a", "new", on_duplicate="replace")
    elif way == "publish":
        queue.subscribe("topic", "k")
        queue.publish("topic", "a", "new", on_duplicate="replace")
    elif way == "move":
        queue.push("from", "a", "new")
        [receipt] = hold(queue, "from").values()
        queue.move(receipt, "k", on_duplicate="replace")
    else:
        queue.group("g", "k", key="a", close=True)
    message = queue.get("k", "a")
    assert message is not None
    assert (message.state, message.payload != "a") == ("ready", True)
    assert list(hold(queue)) == ["a"]
    assert stands(queue) == (1, 1, 0)


@pytest.mark.parametrize("many", [False, True], ids=["push", "push_many"])
def test_D5_what_is_put_onto_one_that_has_a_permit_gives_it_to_nobody(queue: Session, many: bool) -> None:
    def put(payload: str) -> None:
        if many:
            message = {"key": "a", "payload": payload, "semaphores": ["s"], "on_duplicate": "replace"}
            queue.push_many("k", [message])
        else:
            queue.push("k", "a", payload, semaphores=["s"], on_duplicate="replace")

    queue.semaphore("s", 1)
    fill(queue, "a", "b")
    put("new")
    assert states(queue, "a", "b") == ["ready", "waiting"]
    [receipt] = hold(queue).values()
    put("newer")
    assert states(queue, "a", "b") == ["reserved", "waiting"]
    queue.ack(receipt)
    assert states(queue, "a", "b") == ["waiting", "ready"]


@pytest.mark.parametrize("end", ["ack", "ack_many", "nack", "expiry"])
def test_D5_what_was_pushed_onto_one_that_lost_its_permit_is_told_of_room(
    queue: Session, clock: Clock, end: str
) -> None:
    queue.define("k", max_attempts=1)
    queue.semaphore("s", 1)
    fill(queue, "a")
    (late,) = hold(queue, timeout_seconds=10).values()
    fill(queue, "a", on_duplicate="replace")
    clock.advance(11)
    fill(queue, "other", kind="other")
    (given,) = hold(queue, "other").values()
    assert queue.extend(late, 10).outcome == "lost", "its permit is somebody else's"
    queue.ack(given)
    assert stands(queue) == (1, 0, 0)
    match end:
        case "ack":
            assert queue.ack(late).outcome == "acked"
        case "ack_many":
            assert outcomes(queue.ack_many([late])) == ["acked"]
        case "nack":
            assert queue.nack(late, final=True).outcome == "dead"
        case _:
            queue.reap()
            queue.push("k", "ready", 1)
            assert set(hold(queue)) <= {"ready", "a"}
    assert stands(queue)[2] == 0, "it is told of the room that there is"


def test_D5_a_lost_receipt_gives_nobody_s_permit_back(queue: Session) -> None:
    queue.semaphore("s", 2)
    fill(queue, "a", "b", "c", "d", "e")
    held = hold(queue)
    queue.nack(held["a"], delay_seconds=0)
    again = queue.nack_many([held["a"], held["b"]], delay_seconds=1000)
    assert outcomes(again) == ["lost", "retry"]
    assert states(queue, "a", "c", "d") == ["ready", "ready", "waiting"]
    now = hold(queue)
    assert sorted(now) == ["a", "c"]
    assert outcomes(queue.nack_many([held["a"], now["c"]], delay_seconds=1000)) == ["lost", "retry"]
    assert states(queue, "a", "d", "e") == ["reserved", "ready", "waiting"]


def test_D5_who_was_told_of_room_has_a_second_to_take_it(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", kind="elsewhere")
    fill(queue, "b", delay_seconds=0.5)
    clock.advance(0.999999)
    assert hold(queue) == {}
    assert [state(queue, "elsewhere", "a"), state(queue, "k", "b")] == ["ready", "waiting"]
    clock.advance(0.000001)
    assert list(hold(queue)) == ["b"]
    assert hold(queue, "elsewhere") == {}


@pytest.mark.parametrize(
    "way", ["ack", "result", "ack_many", "move", "duplicate", "nack", "nack_many", "close", "reserve"]
)
def test_D5_what_follows_a_group_leaves_what_is_ready_ready(queue: Session, clock: Clock, way: str) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a")
    queue.group("g", "k", key="a", on_dead="fail", fail_kind="k")
    queue.push("members", "m", group="g", max_attempts=1)
    [receipt] = hold(queue, "members").values()
    if way != "close":
        queue.group("g", close=True)
    match way:
        case "ack":
            queue.ack(receipt)
        case "result":
            queue.ack(receipt, result=1)
        case "close":
            queue.ack(receipt)
            queue.group("g", close=True)
        case "ack_many":
            queue.ack_many([receipt])
        case "move":
            queue.move(receipt, "last")
            queue.ack_many(hold(queue, "last").values())
        case "duplicate":
            queue.push("last", "m")
            queue.move(receipt, "last")
        case "nack":
            queue.nack(receipt, final=True)
        case "nack_many":
            queue.nack_many([receipt], final=True)
        case _:
            clock.advance(400)
            assert queue.reserve("members") == []
    message = queue.get("k", "a")
    assert message is not None
    assert (message.state, message.payload != "a") == ("ready", True)
    assert list(hold(queue)) == ["a"]


def test_D5_a_batch_has_semaphores_of_its_own_and_of_its_messages(queue: Session) -> None:
    for name in "st":
        queue.semaphore(name, 1)
    ways: list[dict[str, Any]] = [{}, {"on_duplicate": "replace"}]
    for number, options in enumerate(ways):
        kind = f"k{number}"
        batch: list[dict[str, Any]] = [
            {"key": "a", "payload": 1},
            {"key": "b", "payload": 1, "semaphores": ["t"]},
            {"key": "c", "payload": 1, "semaphores": ["t", "s"]},
            {"key": "d", "payload": 1},
        ]
        assert outcomes(queue.push_many(kind, batch, semaphores=["s"], **options)) == ["created"] * 4
        assert states(queue, "a", "b", "c", "d", kind=kind) == ["ready", "ready", "waiting", "waiting"]
        held = hold(queue, kind)
        assert sorted(held) == ["a", "b"]
        assert outcomes(queue.ack_many(held.values())) == ["acked", "acked"]
        held = hold(queue, kind)
        assert list(held) == ["c"]
        assert outcomes(queue.ack_many(held.values())) == ["acked"]
        held = hold(queue, kind)
        assert list(held) == ["d"]
        queue.nack_many(held.values(), final=True)
        assert (stands(queue), stands(queue, "t")) == ((1, 0, 0), (1, 0, 0))


def test_D5_messages_that_name_no_semaphores_have_those_of_their_batch(queue: Session) -> None:
    queue.semaphore("s", 1)
    assert outcomes(queue.push_many("k", [{"key": "a"}, {"key": "b"}], semaphores=["s"])) == ["created"] * 2
    assert states(queue, "a", "b") == ["ready", "waiting"]
    queue.ack(hold(queue)["a"])
    assert list(hold(queue)) == ["b"]


def test_D5_what_waits_is_passed_by_and_peeked_at(queue: Session) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", "b", "c", priority=9)
    queue.push("k", "free", 1)
    queue.push("k", "later", 1, delay_seconds=60)
    assert [(one.key, one.state) for one in queue.peek("k", 10)] == [
        *(("a", "ready"), ("free", "ready"), ("later", "scheduled")),
        *(("b", "waiting"), ("c", "waiting")),
    ]
    assert keys(drain(queue, "k", 1)) == ["a", "free"]


def test_D5_a_peek_that_asks_for_few_shows_the_first_who_wait(queue: Session) -> None:
    queue.semaphore("s", 1)
    fill(queue, *"abcd")
    assert [keys(queue.peek("k", many)) for many in (1, 2, 3)] == [["a"], ["a", "b"], ["a", "b", "c"]]


@pytest.mark.parametrize("full", [False, True], ids=["nobody waits for", "are full"])
def test_D5_a_prune_comes_to_who_waits_past_a_thousand_that(queue: Session, clock: Clock, full: bool) -> None:
    others = ", ".join(f"('other {n:03}', {0 if full else 1})" for n in range(1000))
    queue.execute(f"insert into queue_semaphore (name, capacity) values {others}")
    if full:
        waits = ", ".join(f"({-1 - n}, 'other {n:03}', 'other')" for n in range(1000))
        queue.execute(f"insert into queue_semaphore_wait (entry, name, p_kind) values {waits}")
    queue.semaphore("s", 1)
    fill(queue, "a", "b")
    hold(queue, timeout_seconds=5)
    clock.advance(5)
    assert state(queue, "k", "b") == "waiting"
    queue.prune()
    assert state(queue, "k", "b") == "ready"


def test_D5_the_last_delivery_of_one_that_expires(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", max_attempts=1)
    fill(queue, "b")
    hold(queue, timeout_seconds=5)
    clock.advance(6)
    assert list(hold(queue)) == ["b"]
    assert state(queue, "k.dead", "a") == "ready"
    assert stands(queue) == (1, 1, 0)


def test_D5_counters_are_right_with_expired_holds_that_wait(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a")
    (late,) = hold(queue, timeout_seconds=5).values()
    clock.advance(6)
    queue.semaphore("s", 0)
    assert hold(queue) == {}
    assert states(queue, "a") == ["waiting"]
    assert queue.ack(late).outcome == "acked"
    stats = queue.stats("k")[0]
    assert (stats.reserved_total, stats.expired_total, stats.acked_total, stats.total) == (1, 1, 1, 0)


@pytest.mark.parametrize("pops", [False, True], ids=["reserve", "pop"])
def test_D5_what_has_had_its_last_delivery_keeps_nothing_ready_from_the_call_that_ends_it(
    queue: Session, clock: Clock, pops: bool
) -> None:
    queue.semaphore("s", 1)
    queue.define("k", timeout_seconds=1, max_attempts=1)
    queue.push("k", "plain", 1, priority=1)
    fill(queue, "slotted", max_attempts=1, priority=1)
    queue.push("k", "another", 1)
    assert set(hold(queue)) == {"plain", "slotted", "another"}
    fill(queue, "next", max_attempts=3)
    queue.push("k", "last", 1)
    clock.advance(60)
    assert keys(queue.pop("k") if pops else queue.reserve("k")) == ["last"]
    (found,) = (one for one in queue.stats() if one.kind == "k")
    assert (found.dead_total, found.expired_total, found.reserved_total) == (3, 3, 3 if pops else 4)
    assert keys(queue.reserve("k", None, 9)) == ["next"]


@pytest.mark.parametrize("pops", [False, True], ids=["reserve", "pop"])
@pytest.mark.parametrize("why", ["last", "misfit", "newer"])
def test_D5_what_a_call_must_leave_to_the_next_keeps_nothing_behind_it_waiting(
    queue: Session, clock: Clock, why: str, pops: bool
) -> None:
    queue.semaphore("s", 1)
    queue.push("k", "left", "old", priority=1, max_attempts=1 if why == "last" else 3)
    if why != "misfit":
        hold(queue, timeout_seconds=1)
    if why == "newer":
        assert queue.push("k", "left", {"n": 1}, on_duplicate="replace").outcome == "held"
    queue.push("k", "slotted", {"n": 1}, priority=2, semaphores=["s"])
    if why == "misfit":
        queue.define("k", payload_shape={"n": "integer"})
    queue.push("k", "behind", {"n": 1})
    queue.semaphore("s", 0)
    clock.advance(2)
    assert keys(queue.pop("k") if pops else queue.reserve("k")) == ["behind"]
    assert states(queue, "slotted") == ["waiting"]
    assert list(hold(queue)) == (["left"] if why == "newer" else [])
    assert states(queue, "left", kind="k.dead") == [None if why == "newer" else "ready"]


def test_D5_a_semaphore_that_another_call_has_locked_keeps_nothing_else_waiting(
    queue: Session, connect: Connect
) -> None:
    queue.semaphore("s", 1)
    queue.semaphore("t", 1)
    fill(queue, "slotted", priority=2)
    queue.push("k", "locked", 1, priority=1, semaphores=["t"])
    queue.push("k", "behind", 1)
    queue.semaphore("s", 0)
    other = connect(autocommit=False)
    other.semaphore("t", 2)
    assert list(hold(queue, most=1)) == ["behind"]
    other.commit()
    assert list(hold(queue)) == ["locked"]


def test_D5_many_that_end_keep_nothing_behind_them_waiting(queue: Session) -> None:
    queue.semaphore("s", 1)
    queue.push_many("k", [{"key": f"{n:03}", "payload": "old"} for n in range(120)])
    queue.define("k", payload_shape={"n": "integer"})
    queue.push("k", "behind", {"n": 1}, semaphores=["s"])
    assert list(hold(queue, most=1)) == ["behind"]


def test_D5_who_is_told_of_room_at_a_time_to_come_keeps_nobody_waiting(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    fill(queue, "told")
    clock.set(clock.now - 300_000_000)
    fill(queue, "first", kind="other")
    assert list(hold(queue, "other", timeout_seconds=600)) == ["first"], "what was told is of the future"
    clock.advance(300)
    assert hold(queue) == {}
    assert stands(queue) == (1, 1, 1)


def test_D5_who_waits_is_told_of_room_and_of_what_needs_none(queue: Session, clock: Clock) -> None:
    queue.semaphore("nothing to do with it", 0)
    queue.semaphore("s", 1)
    fill(queue, "held", kind="other")
    fill(queue, "a")
    assert list(hold(queue, "other", timeout_seconds=60)) == ["held"]
    assert queue.wait("k", 0) is None
    queue.push("k", "free", 1)
    assert queue.wait("k", 0) == "k"
    queue.remove("k", "free")
    clock.advance(60)
    queue.pause("k")
    assert queue.wait("k", 0) is None
    queue.resume("k")
    assert queue.wait("k", 0) == "k"


def test_D5_who_waits_is_told_a_second_later_of_room_that_another_was_told_of(
    queue: Session, clock: Clock
) -> None:
    queue.semaphore("s", 1)
    fill(queue, "told", kind="other")
    fill(queue, "a")
    clock.advance(0.999999)
    assert queue.wait("k", 0) is None
    clock.advance(0.000001)
    assert queue.wait("k", 0) == "k"
    assert list(hold(queue)) == ["a"]


@pytest.mark.parametrize("free", ["r", "s", "t"])
def test_D5_who_waits_is_told_of_room_at_any_of_the_semaphores_that_are_waited_for(
    queue: Session, clock: Clock, free: str
) -> None:
    for name in "rst":
        queue.semaphore(name, 1)
        fill(queue, name, kind=f"holds {name}", semaphores=[name])
        fill(queue, name, semaphores=[name])
        assert hold(queue, f"holds {name}", timeout_seconds=60 if name == free else 600)
    assert queue.wait("k", 0) is None
    clock.advance(61)
    assert queue.wait("k", 0) == "k"
    assert list(hold(queue)) == [free]


def test_D5_kinds_that_are_paused_or_drained(queue: Session) -> None:
    queue.semaphore("s", 1)
    fill(queue, "a", "b")
    queue.pause("k")
    assert hold(queue) == {}
    queue.resume("k")
    queue.drain("k")
    with pytest.raises(Refused, match="drained"):
        fill(queue, "c")
    (receipt,) = hold(queue).values()
    queue.nack(receipt, delay_seconds=60)
    assert list(hold(queue)) == ["b"]


@each(
    "given",
    [[], ["s", "s"], "s", [1], [None], [""], ["x" * 101], [f"{n}" for n in range(9)], {"s": 1}, [["s"]]],
)
def test_D5_semaphores_that_are_none(queue: Session, given: Any) -> None:
    for name in ("s", "1", "null"):
        queue.semaphore(name, 1)
    with pytest.raises(InvalidOption, match="semaphores"):
        queue.push("k", "a", 1, semaphores=given)
    with pytest.raises(InvalidOption, match="semaphores"):
        queue.push_many("k", [{"key": "a", "payload": 1, "semaphores": given}])
    assert state(queue, "k", "a") is None


def test_D5_a_semaphore_that_is_not_there(queue: Session) -> None:
    queue.semaphore("s", 1)
    with pytest.raises(InvalidOption, match=r"semaphores.*other.*there"):
        queue.push("k", "a", 1, semaphores=["s", "other"])
    with pytest.raises(InvalidOption, match=r"semaphores.*other.*there"):
        queue.push_many("k", [{"key": "a", "payload": 1}], semaphores=["other"])
    assert state(queue, "k", "a") is None


def test_D5_limits_of_name_and_capacity(queue: Session) -> None:
    for name in ("", "x" * 101):
        with pytest.raises(InvalidParameter, match="name"):
            queue.semaphore(name, 1)
    for capacity in (-1, 1_000_001):
        with pytest.raises(InvalidParameter, match="capacity"):
            queue.semaphore("s", capacity)
    queue.semaphore("x" * 100, 1_000_000)
    queue.semaphore("S", 1)
    queue.semaphore("s", 2)
    found = {one.name: one.capacity for one in queue.semaphores()}
    assert found == {"S": 1, "s": 2, "x" * 100: 1_000_000}


@pytest.mark.parametrize("woken", [False, True])
def test_what_goes_with_its_kind_leaves_its_permit_to_others(
    queue: Session, clock: Clock, woken: bool
) -> None:
    queue.semaphore("s", 1)
    queue.define("reply", expires_seconds=60)
    queue.push("other", "x", 0, semaphores=["s"])
    _, receipt = take(queue, "other", timeout_seconds=3600)
    queue.push("reply", "w", 0, semaphores=["s"])
    assert queue.reserve("reply") == []
    if woken:
        queue.ack(receipt)
        assert state(queue, "reply", "w") == "ready"
    queue.push("other", "y", 0, semaphores=["s"])
    clock.advance(61)
    queue.define("another reply", expires_seconds=60)
    assert queue.peek("reply") == []
    if not woken:
        queue.ack(receipt)
    assert keys(queue.reserve("other")) == ["y"]
    assert queue.execute("select count(*) from queue_semaphore_wait") == [(0,)]


@pytest.mark.servers("postgresql")
def test_who_defines_a_semaphore_is_told_what_it_is_now(queue: Session) -> None:
    """The client leaves the answer away."""
    for capacity in (3, None):
        assert queue.execute("select * from queue_semaphore('a', %s)", [capacity]) == [("a", capacity)]


def test_what_replaces_a_message_that_lost_its_permit_begins_anew(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    queue.push("mail", "a", "old", semaphores=["s"])
    assert keys(queue.reserve("mail", timeout_seconds=1)) == ["a"]
    clock.advance(2)
    queue.push("other", "b", 0, semaphores=["s"])
    [receipt] = receipts(queue.reserve("other"))
    assert queue.reserve("mail") == []
    queue.push("mail", "a", "new", on_duplicate="replace")
    queue.ack(receipt)
    assert [(one.payload, one.attempts) for one in queue.reserve("mail")] == [("new", 1)]


def test_an_earlier_receipt_of_a_message_with_a_permit_is_lost(queue: Session) -> None:
    queue.semaphore("s", 1)
    queue.push("mail", "a", 0, semaphores=["s"])
    [early] = receipts(queue.reserve("mail"))
    assert queue.nack(early).outcome == "retry"
    queue.push("mail", "a", 0, on_duplicate="replace")
    [late] = receipts(queue.reserve("mail"))
    assert [one.outcome for one in queue.extend_many([early, late], 60)] == ["lost", "extended"]
    assert [one.outcome for one in queue.extend_many([late, early], 60)] == ["extended", "lost"]
