"""Something changes in the middle, while messages are held or have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import InvalidPayload, Refused
from tests.conformance.steps import die, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session


def test_a_semaphore_that_is_made_again_knows_who_holds(queue: Session) -> None:
    queue.semaphore("s", 1)
    for key in "abc":
        queue.push("k", key, 0, semaphores=["s"])
    (held,) = receipts(queue.reserve("k", None, 5))
    queue.semaphore("s", None)
    queue.semaphore("s", 1)
    assert queue.reserve("k", None, 5) == []
    assert queue.extend(held, 60).outcome == "extended"
    assert queue.ack(held).outcome == "acked"
    assert keys(queue.reserve("k", None, 5)) == ["b"]


def test_of_a_semaphore_that_is_made_again_only_who_holds_has_a_permit(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 9)
    for key in ("expired", "dead", "held"):
        queue.push("k", key, 0, semaphores=["s"])
    queue.push("k", "delayed", 0, semaphores=["s"], delay_seconds=60)
    assert keys(queue.reserve("k", timeout_seconds=1)) == ["expired"]
    queue.nack(*receipts(queue.reserve("k")), final=True)
    assert keys(queue.reserve("k.dead")) == ["dead"]
    assert keys(queue.reserve("k")) == ["held"]
    clock.advance(2)
    queue.semaphore("s", None)
    queue.semaphore("s", 9)
    assert [one.held for one in queue.semaphores()] == [1]


def test_a_hold_that_expired_before_the_limit_has_no_place_to_extend(queue: Session, clock: Clock) -> None:
    for key in "abc":
        queue.push("k", key, 0)
    old = receipts(queue.reserve("k", None, 2, timeout_seconds=1))
    clock.advance(10)
    queue.define("k", max_reserved=1)
    assert len(queue.reserve("k", None, 5)) == 1
    assert [queue.extend(one, 60).outcome for one in old] == ["lost", "lost"]
    assert len([one for one in queue.peek("k", 9) if one.state == "reserved"]) == 1


def test_on_dead_that_changes_after_the_death_settles_the_group(queue: Session) -> None:
    for number, on_dead in enumerate(("report", "fail")):
        name = f"g{number}"
        queue.group(name, f"next{number}", on_dead="wait", members=2, fail_kind=f"failed{number}")
        for key in "ab":
            queue.push(f"k{number}", key, 0, group=name)
        first, second = receipts(queue.reserve(f"k{number}", None, 2))
        queue.nack(first, final=True)
        queue.ack(second)
        assert queue.peek(f"next{number}") == []
        queue.group(name, on_dead=on_dead)
        (found,) = (one for one in queue.groups() if one.name == name)
        assert found.state != "open", on_dead
        assert len(queue.peek(f"next{number}" if on_dead == "report" else f"failed{number}")) == 1, on_dead


def followed(queue: Session, **seconds: float) -> None:
    """Log kinds that are copies of one topic, for seconds."""
    for kind, kept in seconds.items():
        queue.define(kind, log_seconds=kept)
        queue.subscribe("t.#", kind)


def seen(queue: Session, name: str, reader: str) -> list[tuple[str, str]]:
    """Read on and be done with it: the event and the key of each."""
    events = queue.read(name, reader, 100)
    if events:
        queue.read_ack(reader, events[-1].position)
    return [(event.event, event.key) for event in events]


def prune(queue: Session) -> None:
    """Prune until nothing is left to prune."""
    while queue.prune():
        pass


@pytest.mark.parametrize("name", ["t.x", "t.#"])
@pytest.mark.parametrize("how", ["defined", "late"])
def test_readers_of_a_topic_miss_nothing_that_a_kind_still_logs(
    queue: Session, clock: Clock, name: str, how: str
) -> None:
    followed(queue, a=10, b=500, c=1000)
    queue.read(name, "begun")
    queue.read("a", "of a")
    queue.publish("t.x", "1", {"n": 1})
    queue.publish("t.x", "2", {"n": 2})
    (behind,) = queue.read(name, "behind", 1)
    queue.read_ack("behind", behind.position)
    assert seen(queue, name, "ahead") == [("pushed", "1"), ("pushed", "2")]
    if how == "defined":
        queue.define("a", log_seconds=0)
    else:
        clock.advance(20)
    prune(queue)
    (first, second) = queue.read(name, "begun", 9)
    assert [(one.event, one.topic, one.key, one.payload) for one in (first, second)] == [
        ("pushed", "t.x", "1", {"n": 1}),
        ("pushed", "t.x", "2", {"n": 2}),
    ]
    assert {first.kind, second.kind} <= {"b", "c"}, "a keeps them no longer"
    assert seen(queue, name, "new") == [("pushed", "1"), ("pushed", "2")]
    assert seen(queue, name, "behind") == [("pushed", "2")]
    assert seen(queue, name, "ahead") == [], "which it has seen"
    for kind in ("b", "c"):
        assert seen(queue, kind, f"of {kind}") == [("pushed", "1"), ("pushed", "2")], "once"
    with pytest.raises(Refused, match="missed"):
        queue.read("a", "of a")
    clock.advance(700)
    prune(queue)
    assert seen(queue, name, "later") == [("pushed", "1"), ("pushed", "2")]
    assert {one.behind for one in queue.readers() if one.reader == "begun"} == {2}
    clock.advance(700)
    prune(queue)
    with pytest.raises(Refused, match="missed"):
        queue.read(name, "begun")
    assert seen(queue, name, "last") == []


def test_a_publish_onto_what_is_there_keeps_its_event_under_the_topic(queue: Session) -> None:
    followed(queue, a=60, b=60)
    queue.push("b", "1", 0)
    queue.publish("t.x", "1", 1, on_duplicate="replace")
    queue.define("a", log_seconds=0)
    prune(queue)
    assert seen(queue, "t.x", "r") == [("pushed", "1")]
    assert seen(queue, "b", "of b") == [("pushed", "1"), ("replaced", "1")]


def test_a_dead_letter_that_dies_again_knows_where_it_came_from(queue: Session) -> None:
    queue.define("a", max_attempts=1)
    die(queue, "a", "x")
    _, receipt = take(queue, "a.dead")
    queue.nack(receipt, final=True)
    assert state(queue, "a.dead.dead", "x") == "ready"
    assert queue.redrive("a.dead").went == 0
    assert queue.redrive("a.dead.dead").went == 1
    assert state(queue, "a", "x") == "ready"


def test_dead_letters_stand_in_no_line(queue: Session) -> None:
    queue.define("a", max_attempts=1)
    for key in "xy":
        queue.push("a", key, 0, order_key="o")
    for _ in "xy":
        (receipt,) = receipts(queue.reserve("a", None, 5))
        queue.nack(receipt, final=True)
    found = queue.reserve("a.dead", None, 5)
    assert keys(found) == ["x", "y"]
    assert outcomes([queue.nack(one, final=True) for one in receipts(found)]) == ["dead", "dead"]
    assert keys(queue.reserve("a.dead.dead", None, 5)) == ["x", "y"]


def test_a_move_onto_one_whose_semaphore_is_gone_leaves_it_ready(queue: Session) -> None:
    for number, on_duplicate in enumerate(("replace", "keep_time", "push_back")):
        kind, source, name = f"k{number}", f"source{number}", f"s{number}"
        queue.semaphore(name, 0)
        queue.push(kind, "a", 0, semaphores=[name])
        assert queue.reserve(kind) == []
        assert state(queue, kind, "a") == "waiting"
        queue.semaphore(name, None)
        assert state(queue, kind, "a") == "ready"
        queue.push(source, "a", 1)
        _, receipt = take(queue, source)
        assert queue.move(receipt, kind, on_duplicate=on_duplicate).outcome == "moved"
        assert state(queue, kind, "a") == "ready", on_duplicate
        assert keys(queue.reserve(kind)) == ["a"]


def test_what_follows_a_group_onto_one_whose_semaphore_is_gone_is_ready(queue: Session) -> None:
    queue.semaphore("s", 0)
    queue.push("next", "g", 0, semaphores=["s"])
    queue.semaphore("s", None)
    queue.group("g", "next")
    queue.push("k", "a", 0, group="g")
    queue.group("g", close=True)
    _, receipt = take(queue, "k")
    queue.ack(receipt)
    assert state(queue, "next", "g") == "ready"
    assert keys(queue.reserve("next")) == ["g"]


def test_what_expires_waits_for_no_semaphore_any_more(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 0)
    queue.define("k", expires_seconds=10)
    queue.push("k", "a", 0, semaphores=["s"])
    queue.push("other", "b", 0, semaphores=["s"])
    assert queue.reserve("k") == queue.reserve("other") == []
    clock.advance(60)
    while queue.prune():
        pass
    assert [one.waiting for one in queue.semaphores()] == [1]


@pytest.mark.parametrize("call", ["ack_many", "move_many"])
def test_a_batch_that_is_refused_names_the_message(queue: Session, call: str) -> None:
    queue.define("shaped", payload_shape={"id": "integer"})
    for key, payload, to in (("a", {"id": 1}, "shaped"), ("b", 2, "shaped"), ("c", 3, "drained")):
        queue.push("k", key, payload, route=[to])
    held = {one.key: one.receipt for one in queue.reserve("k", None, 3)}

    def end(*wanted: str) -> None:
        if call == "ack_many":
            queue.ack_many([str(held[key]) for key in wanted])
        else:
            to = {"a": "shaped", "b": "shaped", "c": "drained"}
            queue.move_many([{"receipt": held[key], "to_kind": to[key]} for key in wanted])

    queue.drain("drained")
    with pytest.raises(InvalidPayload, match='payload of "b"'):
        end("a", "b")
    with pytest.raises(Refused, match='to_kind of "c" "drained"'):
        end("a", "c")
    assert {state(queue, "k", key) for key in "abc"} == {"reserved"}
