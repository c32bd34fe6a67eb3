"""Routes and results (rows C7 and D6): pipelines, choices, and what comes of a message that is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, Refused
from tests.conformance.steps import keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_C7_each_ack_moves_a_message_to_the_next_kind_of_its_route(queue: Session, clock: Clock) -> None:
    queue.push("extract", "a", {"n": 1}, route=["clean", "load"], priority=3, headers={"h": 1})
    for kind, following, outcome in (
        ("extract", "clean", "moved"),
        ("clean", "load", "moved"),
        ("load", None, "acked"),
    ):
        clock.advance(1)
        message, receipt = take(queue, kind)
        assert (message.payload, message.priority, message.headers) == ({"n": 1}, 3, {"h": 1})
        assert message.attempts == 1
        assert queue.ack(receipt).outcome == outcome
        assert queue.ack(receipt).outcome == "lost"
        assert state(queue, kind, "a") is None
        if following:
            found = queue.get(following, "a")
            assert found
            assert (found.attempts, found.created_at, found.state) == (0, clock.now, "ready")


def test_C7_a_station_hands_on_what_it_made(queue: Session) -> None:
    queue.push("extract", "a", {"n": 1}, route=["clean"])
    _, receipt = take(queue, "extract")
    assert queue.ack(receipt, payload={"clean": 1}).outcome == "moved"
    message, receipt = take(queue, "clean")
    assert message.payload == {"clean": 1}
    assert queue.ack(receipt, payload={"ignored": 1}).outcome == "acked", "there is nowhere to go on to"
    queue.push_bytes("extract", "b", b"\x00", route=["clean"])
    _, receipt = take(queue, "extract")
    queue.ack(receipt)
    message, receipt = take(queue, "clean")
    assert message.payload_bytes == b"\x00"


def test_C7_a_choice_takes_the_place_of_the_next_kind(queue: Session) -> None:
    queue.push("extract", "a", 1, route=["clean", "load"])
    _, receipt = take(queue, "extract")
    assert queue.ack(receipt, to="repair").outcome == "moved"
    assert state(queue, "clean", "a") is None
    _, receipt = take(queue, "repair")
    assert queue.ack(receipt).outcome == "moved"
    _, receipt = take(queue, "load")
    assert queue.ack(receipt, to="repair").outcome == "moved", "a loop: after the end of its route"
    _, receipt = take(queue, "repair")
    assert queue.ack(receipt).outcome == "acked"


def test_C7_at_its_last_kind_a_message_has_no_route(queue: Session) -> None:
    queue.push("extract", "a", 1, route=["clean"])
    _, receipt = take(queue, "extract")
    assert queue.ack(receipt).outcome == "moved"
    assert queue.execute("select p_kind, route from delayed_queue") == [("clean", None)]


def test_C7_null_is_no_route(queue: Session) -> None:
    assert queue.answer("queue_push", "extract", "a", "1", '{"route": null}')[0]["outcome"] == "created"
    given = '[{"key": "b", "payload": 1, "route": null}, {"key": "c", "payload": 1}]'
    queue.answer("queue_push_many", "extract", given, '{"route": ["clean"]}')
    taken = queue.reserve("extract", None, 9)
    answers = {
        key: queue.ack(receipt).outcome for key, receipt in zip(keys(taken), receipts(taken), strict=True)
    }
    assert answers == {"a": "acked", "b": "acked", "c": "moved"}


def test_C7_a_choice_needs_no_route(queue: Session) -> None:
    queue.push("load", "a", 1)
    _, receipt = take(queue, "load")
    assert queue.ack(receipt, to="clean", payload=2).outcome == "moved"
    message, receipt = take(queue, "clean")
    assert message.payload == 2
    assert queue.ack(receipt).outcome == "acked"


def test_C7_where_the_key_is_taken_the_target_stays(queue: Session) -> None:
    queue.push("load", "a", "there already")
    queue.push("clean", "a", "new", route=["load"])
    _, receipt = take(queue, "clean")
    assert queue.ack(receipt).outcome == "duplicate"
    message, receipt = take(queue, "load")
    assert message.payload == "there already"
    assert state(queue, "clean", "a") is None
    assert queue.ack(receipt).outcome == "acked", "the route went with the message that had one"


def test_C7_a_route_outlives_nacks_dead_letters_and_redrives(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    _, receipt = take(queue, "clean")
    queue.nack(receipt)
    _, receipt = take(queue, "clean")
    queue.nack(receipt, final=True, error="broken")
    assert queue.redrive("clean.dead").went == 1
    _, receipt = take(queue, "clean")
    assert queue.ack(receipt).outcome == "moved"
    assert state(queue, "load", "a") == "ready"


def test_C7_the_ack_of_a_dead_letter_ends_it(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    _, receipt = take(queue, "clean")
    queue.nack(receipt, final=True)
    _, receipt = take(queue, "clean.dead")
    assert queue.ack(receipt).outcome == "acked"
    assert state(queue, "load", "a") is None


def test_C7_the_ack_of_a_dead_letter_ends_it_among_others_that_go_on(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    _, receipt = take(queue, "clean")
    queue.nack(receipt, final=True)
    _, dead = take(queue, "clean.dead")
    queue.push("clean", "b", 1, route=["load"])
    _, receipt = take(queue, "clean")
    assert outcomes(queue.ack_many([dead, receipt])) == ["acked", "moved"]
    assert [state(queue, "load", key) for key in "ab"] == [None, "ready"]


def test_C7_a_route_goes_with_a_move(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    _, receipt = take(queue, "clean")
    assert queue.move(receipt, "aside", key="b").outcome == "moved"
    _, receipt = take(queue, "aside")
    assert queue.ack(receipt).outcome == "moved"
    assert state(queue, "load", "b") == "ready"


def test_C7_a_push_onto_a_message_leaves_its_route_alone(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    assert queue.push("clean", "a", 2, route=["other"]).outcome == "ignored"
    assert queue.push("clean", "a", 3, route=["other"], on_duplicate="replace").outcome == "replaced"
    _, receipt = take(queue, "clean")
    assert queue.push("clean", "a", 4, on_duplicate="replace").outcome == "held"
    assert queue.ack(receipt).outcome == "moved"
    message, receipt = take(queue, "load")
    assert message.payload == 3
    queue.ack(receipt)
    message, receipt = take(queue, "clean")
    assert message.payload == 4, "what was pushed meanwhile"
    assert queue.ack(receipt).outcome == "moved", "goes the same way"


def test_C7_messages_of_a_batch_have_routes_of_their_own(queue: Session) -> None:
    ways: list[dict[str, Any]] = [{}, {"on_duplicate": "replace"}]
    for options in ways:
        batch: list[dict[str, Any]] = [
            {"key": "a", "payload": 1},
            {"key": "b", "payload": 1, "route": ["y", "z"]},
            {"key": "c", "payload": 1, "route": []},
        ]
        pushed = queue.push_many("first", batch, route=["x"], **options)
        assert outcomes(pushed) == ["created"] * 3
        messages = queue.reserve("first", None, 3)
        found = queue.ack_many(receipts(messages))
        assert dict(zip(keys(messages), outcomes(found), strict=True)) == {
            "a": "moved",
            "b": "moved",
            "c": "acked",
        }
        assert (keys(queue.peek("x")), keys(queue.peek("y"))) == (["a"], ["b"])
        assert [len(queue.pop(kind, 10)) for kind in "xy"] == [1, 1]


def test_C7_acks_of_many_move_and_end_and_say_which(queue: Session) -> None:
    queue.push("first", "a", 1, route=["second"])
    queue.push("first", "b", 1)
    queue.push("first", "c", 1, route=["second"])
    queue.push("second", "c", "there already")
    found = receipts(queue.reserve("first", None, 3))
    queue.push("other", "d", 1)
    _, gone = take(queue, "other")
    queue.ack(gone)
    assert outcomes(queue.ack_many([found[0], gone, found[1], found[2], found[0]])) == [
        "moved",
        "lost",
        "acked",
        "duplicate",
        "lost",
    ]


def test_C7_acks_of_many_go_where_they_are_told_to(queue: Session) -> None:
    queue.push_many("first", [{"key": key, "payload": 1} for key in "ab"])
    queue.push("second", "b", 2)
    answers = queue.ack_many(receipts(queue.reserve("first", None, 2)), to="second", payload={"new": 1})
    assert outcomes(answers) == ["moved", "duplicate"]
    assert [(message.key, message.payload) for message in queue.peek("second")] == [
        ("b", 2),
        ("a", {"new": 1}),
    ]


def test_C7_a_key_that_the_same_call_acks_is_free_for_the_next_step(queue: Session) -> None:
    queue.push("load", "a", 1)
    _, first = take(queue, "load")
    queue.push("clean", "a", 2, route=["load"])
    _, second = take(queue, "clean")
    assert outcomes(queue.ack_many([second, first])) == ["moved", "acked"]
    assert take(queue, "load")[0].payload == 2


def test_C7_a_step_is_in_one_of_the_two_kinds_at_every_instant(queue: Session, connect: Connect) -> None:
    queue.push("clean", "a", 1, route=["load"])
    worker = connect(autocommit=False)
    (receipt,) = receipts(worker.reserve("clean"))
    worker.commit()
    worker.ack(receipt)
    assert (state(queue, "clean", "a"), state(queue, "load", "a")) == ("reserved", None)
    worker.rollback()
    worker.ack(receipt)
    worker.commit()
    assert (state(queue, "clean", "a"), state(queue, "load", "a")) == (None, "ready")


def test_C7_an_ack_doesnt_move_into_a_drained_kind(queue: Session) -> None:
    queue.push("clean", "a", 1, route=["load"])
    queue.drain("load")
    _, receipt = take(queue, "clean")
    with pytest.raises(Refused, match="load"):
        queue.ack(receipt)
    assert state(queue, "clean", "a") == "reserved"
    queue.resume("load")
    assert queue.ack(receipt).outcome == "moved"


def test_C7_what_doesnt_fit_the_next_kind_stays(queue: Session) -> None:
    queue.define("load", payload_shape={"id": "integer"})
    queue.push("clean", "a", {"id": "x"}, route=["load"])
    _, receipt = take(queue, "clean")
    with pytest.raises(InvalidPayload, match="id"):
        queue.ack(receipt)
    assert queue.ack(receipt, payload={"id": 1}).outcome == "moved"


def test_C7_routes_and_choices_are_checked(queue: Session) -> None:
    for route in ("load", ["x", 1], ["x"] * 33, [""], ["x" * 96], {"a": 1}):
        options: dict[str, Any] = {"route": route}
        with pytest.raises(InvalidOption, match="route"):
            queue.push("clean", "a", 1, **options)
        with pytest.raises(InvalidOption, match="route"):
            queue.push_many("clean", [{"key": "a", "payload": 1, **options}])
    assert queue.push("clean", "a", 1, route=["x"] * 31 + ["y" * 95]).outcome == "created"
    _, receipt = take(queue, "clean")
    with pytest.raises(InvalidParameter, match="to"):
        queue.ack(receipt, to="x" * 96)
    with pytest.raises(InvalidOption, match="delay_seconds"):
        queue.ack(receipt, delay_seconds=1)  # type: ignore[typeddict-unknown-key]
    with pytest.raises(InvalidOption, match="next"):
        queue.move(receipt, "x", next=True)  # type: ignore[typeddict-unknown-key]
    queue.subscribe("#", "all")
    with pytest.raises(InvalidOption, match="route"):
        queue.publish("topic", "a", 1, route=["x"])  # type: ignore[typeddict-unknown-key]
    assert queue.ack(receipt).outcome == "moved"


def test_D6_a_result_is_kept_with_the_history(queue: Session, clock: Clock) -> None:
    queue.define("clean", history_seconds=60)
    queue.define("load", history_seconds=60, dedup_seconds=10)
    queue.push("clean", "a", 1, route=["load"])
    _, receipt = take(queue, "clean")
    queue.ack(receipt, result={"rows": 7})
    clock.advance(1)
    _, receipt = take(queue, "load")
    queue.ack(receipt, result=None)
    queue.push_many("load", [{"key": key, "payload": 1} for key in "bc"])
    queue.ack_many(receipts(queue.reserve("load", None, 2)), result=[1])
    queue.push("load", "d", 1)
    _, receipt = take(queue, "load")
    queue.ack(receipt)
    (step,) = queue.history("clean")
    assert (step.outcome, step.to_kind, step.result) == ("moved", "load", {"rows": 7})
    found = {(one.key, one.outcome): one.result for one in queue.history("load")}
    assert found == {
        ("a", "acked"): None,
        ("b", "acked"): [1],
        ("c", "acked"): [1],
        ("d", "acked"): None,
    }
    assert queue.stats("load")[0].acked_total == 4
    assert queue.history("load")[0].finished_at == clock.now
    clock.advance(61)
    assert queue.prune() > 0
    assert queue.history("clean") == []


def test_D6_a_result_is_taken_where_no_history_is_kept(queue: Session) -> None:
    queue.push("load", "a", 1)
    _, receipt = take(queue, "load", timeout_seconds=1)
    deep: Any = 1
    for _ in range(28):
        deep = [deep]
    with pytest.raises(InvalidPayload, match="result"):
        queue.ack(receipt, result=deep)
    assert queue.ack(receipt, result=deep[0]).outcome == "acked"
    assert queue.history("load") == []
