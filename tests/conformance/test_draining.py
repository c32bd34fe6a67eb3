"""Drain (row K8), queues that go by themselves (row M3) and replay (row C4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, Redriven, Refused, to_datetime
from tests.conformance.steps import SECOND, die, drain, keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Capabilities, Clock, Connect
    from tests.conformance.harness import Session


def test_K8_a_drained_kind_takes_nothing_in_and_finishes_what_is_there(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in ("held", "held too", "ready")])
    queue.push("mail", "later", 0, delay_seconds=60)
    holder = connect()
    held = receipts(holder.reserve("mail", None, 2, timeout_seconds=3600))
    assert queue.drain("mail")
    assert not queue.drain("mail"), "it is already"
    assert queue.stats("mail")[0].draining
    refused: list[Callable[[], Any]] = [
        lambda: queue.push("mail", "new", 0),
        lambda: queue.push("mail", "ready", 0, on_duplicate="replace"),
        lambda: queue.push("mail", None, 0, delay_seconds=1),
        lambda: queue.push_bytes("mail", "new", b""),
        lambda: queue.push_many("mail", [{"key": "new", "payload": 0}]),
    ]
    for call in refused:
        with pytest.raises(Refused, match=r"mail.*drained"):
            call()
    # what is held is finished, or given back and delivered again
    assert holder.ack(held[0]).outcome == "acked"
    assert holder.nack(held[1]).outcome == "retry"
    clock.advance(60)
    assert sorted(keys(drain(queue, "mail"))) == ["held too", "later", "ready"]
    assert queue.pop("mail") == []
    assert queue.stats("mail")[0].total == 3
    clock.advance(3600)
    assert len(queue.pop("mail", 10)) == 3
    assert queue.stats("mail")[0].total == 0, "it is drained"
    assert queue.resume("mail")
    assert not queue.resume("mail")
    assert queue.push("mail", "new", 0).outcome == "created"


def test_K8_nothing_is_moved_into_a_drained_kind(queue: Session) -> None:
    queue.push("first", "a", 1)
    queue.drain("second")
    _, receipt = take(queue, "first")
    with pytest.raises(Refused, match="second"):
        queue.move(receipt, "second")
    with pytest.raises(Refused, match="second"):
        queue.move_many([{"receipt": receipt, "to_kind": "second"}])
    assert state(queue, "first", "a") == "reserved", "who holds it still does"
    assert queue.move(receipt, "third").outcome == "moved"


def test_K8_within_itself_and_out_of_it_messages_move_on(queue: Session) -> None:
    queue.push("k", "a", 1)
    queue.push("k", "b", 1)
    queue.drain("k")
    first, second = receipts(queue.reserve("k", None, 2))
    assert queue.move(first, "k", key="again").outcome == "moved"
    assert queue.move(second, "next").outcome == "moved"
    assert keys(queue.peek("k")) == ["again"]


def test_K8_dead_letters_find_their_kind_and_stay_there(queue: Session) -> None:
    queue.drain("mail.dead")
    die(queue, "mail", "a")
    assert state(queue, "mail.dead", "a") == "ready", "what dies elsewhere has to go somewhere"
    queue.drain("mail")
    assert queue.redrive("mail.dead") == Redriven(0, 1)
    queue.resume("mail")
    assert queue.redrive("mail.dead") == Redriven(1, 0)


def test_K8_pause_and_drain_go_together_and_resume_ends_both(queue: Session) -> None:
    queue.push("k", "a", 1)
    assert queue.pause("k")
    assert queue.drain("k")
    assert queue.reserve("k") == []
    assert queue.resume("k")
    [stats] = queue.stats("k")
    assert (stats.paused, stats.draining) == (False, False)


def test_K8_settings_and_draining_leave_each_other_alone(queue: Session) -> None:
    assert queue.define("k", timeout_seconds=7).draining is False
    queue.drain("k")
    kind = queue.define("k", max_attempts=3)
    assert (kind.draining, kind.timeout_seconds, kind.max_attempts) == (True, 7, 3)
    assert queue.drop("k").draining
    assert queue.push("k", "a", 1).outcome == "created"


@pytest.mark.needs("inbox_at_once")
def test_K8_an_insert_into_the_inbox_is_refused_as_a_whole(queue: Session) -> None:
    queue.drain("full")
    rows = [{"p_kind": kind, "p_key": "a", "payload": "1"} for kind in ("open", "full")]
    with pytest.raises(Refused, match="full"):
        queue.land(rows)
    assert queue.peek("open") == []


def test_M3_a_reply_queue_goes_by_itself_when_unused(queue: Session, clock: Clock) -> None:
    assert queue.define("reply.1", expires_seconds=60, timeout_seconds=5).expires_seconds == 60
    queue.subscribe("answers.*", "reply.1")
    queue.push("reply.1", "never read", 1)
    queue.push("reply.1", "later", 1, delay_seconds=3600)
    queue.push("other", "a", 1)
    clock.advance(59)
    queue.prune()
    assert len(queue.peek("reply.1")) == 2
    clock.advance(1)
    assert queue.prune() >= 3
    assert queue.peek("reply.1") == []
    assert queue.subscriptions() == []
    assert queue.define("reply.1").timeout_seconds == 300, "its settings are gone too"
    assert keys(queue.peek("other")) == ["a"]


def test_M3_who_waits_for_replies_keeps_it(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=60)
    for take_one in (queue.reserve, queue.pop):
        for _ in range(4):
            clock.advance(40)
            assert take_one("reply") == []
            queue.prune()
    assert queue.define("reply").expires_seconds == 60


def test_M3_who_asks_whether_there_are_replies_keeps_it(
    queue: Session, clock: Clock, capabilities: Capabilities
) -> None:
    asks: dict[str, Callable[[str], Any]] = {
        "wait": lambda kind: queue.wait(kind, 0),
        "read": lambda kind: queue.answer("queue_stream_ready", kind)[0]["ready"] in ("t", "1"),
    }
    if "listen" in capabilities:
        asks["listen"] = lambda kind: queue.listen(kind)[0].ready
    for kind in (*asks, "nobody"):
        queue.define(kind, expires_seconds=60)
        queue.subscribe("answers.*", kind)
    for _ in range(4):
        clock.advance(40)
        for kind, ask in asks.items():
            assert not ask(kind)
        queue.prune()
    assert {one.kind for one in queue.subscriptions()} == {*asks}


def test_M3_few_notes_of_its_use_are_kept(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=40)
    for _ in range(60):
        clock.advance(5)
        for _ in range(2):
            queue.reserve("reply")
    assert 3 <= queue.execute("select count(*) from queue_use")[0][0] <= 6


def test_M3_a_push_into_it_keeps_it(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=60)
    for number in range(4):
        clock.advance(40)
        queue.push("reply", f"m{number}", 1)
        queue.prune()
    assert len(queue.peek("reply")) == 4
    clock.advance(61)
    queue.prune()
    assert queue.peek("reply") == []


def test_M3_a_delivery_keeps_all_of_it_also_once_its_hold_has_expired(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=60)
    for key in "ab":
        queue.push("reply", key, 1)
    clock.advance(10)
    assert keys(queue.reserve("reply", timeout_seconds=5)) == ["a"]
    clock.advance(59)
    queue.prune()
    assert keys(queue.peek("reply", 2)) == ["a", "b"]
    clock.advance(1)
    queue.prune()
    assert queue.peek("reply", 2) == []


def test_M3_while_messages_are_held_it_stays(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=60)
    queue.push("reply", "a", 1)
    _, receipt = take(queue, "reply", timeout_seconds=600)
    for _ in range(5):
        clock.advance(100)
        queue.prune()
    assert queue.ack(receipt).outcome == "acked"
    clock.advance(59)
    queue.prune()
    assert queue.define("reply").expires_seconds == 60


def test_M3_the_next_one_that_is_made_clears_the_old_ones_away(queue: Session, clock: Clock) -> None:
    queue.define("reply.1", expires_seconds=60)
    queue.push("reply.1", "a", 1)
    clock.advance(61)
    queue.define("reply.2", expires_seconds=60)
    assert {stats.kind for stats in queue.stats() if stats.total} == set()
    assert queue.peek("reply.1") == []
    assert queue.define("reply.2").expires_seconds == 60


def test_M3_a_large_one_goes_in_chunks(queue: Session, clock: Clock) -> None:
    queue.define("reply", expires_seconds=60)
    queue.push_many("reply", [{"key": f"m{number:03}", "payload": 0} for number in range(250)])
    clock.advance(60)
    assert queue.prune(100) == 100
    assert queue.stats("reply")[0].total == 150
    assert queue.prune(1000) >= 151
    assert queue.peek("reply") == []
    assert queue.stats("reply")[0].pushed_total == 250


def test_M3_a_chunk_is_of_all_kinds_together(queue: Session, clock: Clock) -> None:
    for kind, number in (("reply.1", 2), ("reply.2", 6)):
        queue.define(kind, expires_seconds=60)
        queue.push_many(kind, [{"payload": 0}] * number)
    clock.advance(60)
    assert queue.prune(5) == 5, "two messages, their kind, and two of the other"
    assert queue.stats("reply.2")[0].total == 4


def test_M3_of_kinds_that_are_empty_no_more_go_than_a_prune_is_to_take(queue: Session, clock: Clock) -> None:
    for kind in "ab":
        queue.define(kind, expires_seconds=60)
    clock.advance(61)
    assert [queue.prune(1) for _ in range(3)] == [1, 1, 0]


def test_M3_dead_letters_of_another_keep_it(queue: Session, clock: Clock) -> None:
    queue.define("morgue", expires_seconds=60)
    queue.define("mail", dead_letter_kind="morgue")
    clock.advance(600)
    queue.prune()
    assert queue.define("morgue").expires_seconds == 60


@each("seconds", [0, -1, 0.5, 315360001])
def test_M3_what_is_no_time_to_expire_is_refused(queue: Session, seconds: float) -> None:
    with pytest.raises(InvalidOption, match="expires_seconds"):
        queue.define("reply", expires_seconds=seconds)


def finish(queue: Session, clock: Clock) -> dict[str, int]:
    """Have messages end in each way, a second apart; returns when by key."""
    queue.define("k", history_seconds=86400)
    ends: dict[str, int] = {}
    for key in ("acked", "popped", "moved", "dead", "removed"):
        queue.push("k", key, {"was": key}, priority=2, headers={"h": key})
        clock.advance(1)
        ends[key] = clock.now
        if key == "popped":
            queue.pop("k")
        elif key == "removed":
            queue.remove("k", key)
        elif key == "acked":
            queue.ack(take(queue, "k")[1])
        elif key == "moved":
            queue.move(take(queue, "k")[1], "next")
        else:
            queue.nack(take(queue, "k")[1], final=True)
    clock.advance(1)
    return ends


def test_C4_what_has_ended_is_replayed(queue: Session, clock: Clock) -> None:
    finish(queue, clock)
    assert queue.replay("k") == Redriven(5, 0)
    found = queue.reserve("k", None, 10)
    assert keys(found) == ["acked", "popped", "moved", "dead", "removed"], "in the order in which it ended"
    assert [(m.payload, m.priority, m.headers, m.attempts) for m in found[:1]] == [
        ({"was": "acked"}, 2, {"h": "acked"}, 1)
    ]
    assert found[0].created_at == found[0].scheduled_at_initially == clock.now
    assert queue.replay("k") == Redriven(0, 5), "their keys are there"
    queue.define("logged", log_seconds=60)
    assert queue.replay("k", to_kind="logged") == Redriven(5, 0)
    assert [event.key for event in queue.read("logged", "r", 10)] == keys(found), "in the log, too"


def test_C4_a_filter_says_what_is_replayed(queue: Session, clock: Clock) -> None:
    ends = finish(queue, clock)
    for outcome in ends:
        assert queue.replay("k", outcome=outcome, to_kind=f"was {outcome}") == Redriven(1, 0)
        assert state(queue, f"was {outcome}", outcome) == "ready"
    assert queue.replay("k", key="moved", to_kind="next") == Redriven(0, 1), "it is there"
    assert queue.replay("k", key="moved", to_kind="again") == Redriven(1, 0)
    assert queue.replay("k", start=ends["popped"], end=ends["dead"], to_kind="between") == Redriven(2, 0)
    assert sorted(keys(queue.peek("between"))) == ["moved", "popped"]
    assert queue.replay("k", key="popped", end=ends["popped"], to_kind="none") == Redriven(0, 0)
    assert queue.replay("k", key="popped", start=ends["popped"], to_kind="again") == Redriven(1, 0)
    assert queue.replay("k", start=to_datetime(ends["removed"] + SECOND)) == Redriven(0, 0)
    assert queue.replay("k", limit=2, to_kind="first") == Redriven(2, 0)
    assert keys(queue.peek("first")) == ["acked", "popped"]
    assert queue.replay("k", outcome="acked", key="popped") == Redriven(0, 0)
    assert queue.replay("nothing") == Redriven(0, 0)


def test_C4_the_oldest_thousand_are_replayed_where_no_limit_is_given(queue: Session) -> None:
    queue.define("k", history_seconds=86400)
    queue.push_many("k", [{"key": f"{number:04}", "payload": 0} for number in range(1001)])
    queue.pop("k", 1001)
    assert queue.replay("k") == Redriven(1000, 0)
    assert [state(queue, "k", key) for key in ("0000", "0999", "1000")] == ["ready", "ready", None]


def test_C4_of_one_key_the_newest_is_replayed(queue: Session, clock: Clock) -> None:
    queue.define("k", history_seconds=86400)
    for number in range(3):
        queue.push("k", "a", number)
        queue.pop("k")
        clock.advance(1)
    queue.push("k", "b", "b")
    queue.pop("k")
    assert queue.replay("k") == Redriven(2, 2)
    assert [(m.key, m.payload) for m in queue.pop("k", 10)] == [("a", 2), ("b", "b")]


def test_C4_bytes_and_remembered_keys_are_replayed(queue: Session) -> None:
    queue.define("k", history_seconds=86400, dedup_seconds=3600)
    queue.push_bytes("k", "a", b"\x00\xff")
    queue.ack(take(queue, "k")[1])
    assert outcomes([queue.push_bytes("k", "a", b"")]) == ["ignored"]
    assert queue.replay("k") == Redriven(1, 0)
    assert queue.pop("k")[0].payload_bytes == b"\x00\xff"


def test_C4_a_replay_that_is_rolled_back_wasnt(connect: Connect, clock: Clock) -> None:
    finish(connect(), clock)
    queue = connect(autocommit=False)
    assert queue.replay("k").went == 5
    queue.rollback()
    assert queue.peek("k") == []
    assert queue.replay("k").went == 5


def test_C4_a_replay_into_a_drained_kind_is_refused(queue: Session, clock: Clock) -> None:
    finish(queue, clock)
    queue.drain("k")
    with pytest.raises(Refused, match="to_kind"):
        queue.replay("k")
    assert queue.replay("k", to_kind="other").went == 5


@each(
    ("name", "chosen"),
    [
        ("outcome", {"outcome": "lost"}),
        ("from", {"start": "yesterday"}),
        ("to", {"end": 5}),
        ("limit", {"limit": 0}),
        ("limit", {"limit": 10_001}),
    ],
)
def test_C4_a_wrong_filter_is_refused_by_name(queue: Session, name: str, chosen: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=name):
        queue.replay("k", **chosen)
    with pytest.raises(InvalidParameter, match="to_kind"):
        queue.replay("k", to_kind="k" * 101)


@pytest.mark.needs("inbox_later")
def test_K8_what_had_landed_but_was_not_taken_in_yet_is_a_dead_letter(queue: Session) -> None:
    queue.land([{"p_kind": "full", "p_key": "a", "payload": "1"}])
    queue.drain("full")
    queue.prune()
    assert queue.peek("full") == []
    assert keys(queue.peek("full.dead")) == ["a"]
    queue.resume("full")
    assert queue.redrive("full.dead") == Redriven(1, 0)
