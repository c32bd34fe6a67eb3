"""Who waits has locked nothing that others want first, and what others have is left to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import InvalidOption, Refused
from tests.concurrency.waiting import PATIENCE_S, lock, until_it_waits, waiting
from tests.conformance import test_batches as batches
from tests.conformance.steps import keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql.calls.options import OnDuplicate
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def test_a_batch_that_waits_for_a_line_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    first = connect(autocommit=False)
    first.push("k", "x", 0, order_key="a")
    batch = [{"key": line, "payload": 0, "order_key": line} for line in "ba"]
    with waiting(harness, connect(), lambda session: session.push_many("k", batch)) as pushed:
        assert queue.push("k", "y", 0, order_key="b").outcome == "created"
        first.commit()
        assert outcomes(pushed.result(PATIENCE_S)) == ["created"] * 2


def test_acks_that_wait_for_a_line_have_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for line in "ab":
        queue.push("k", line, 0, order_key=line)
    held = receipts(reversed(queue.reserve("k", None, 2)))
    first = connect(autocommit=False)
    first.push("k", "x", 0, order_key="a")
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        assert queue.push("k", "y", 0, order_key="b").outcome == "created"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2
    assert sorted(keys(queue.reserve("k", None, 9))) == ["x", "y"]


@pytest.mark.servers("postgresql")
def test_acks_that_wait_for_who_comes_next_have_not_locked_what_stands_behind(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """MariaDB and MySQL lock rows of lines."""
    for key, line in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        queue.push("k", key, 0, order_key=line)
    held = receipts(queue.reserve("k", None, 2))
    other = connect(autocommit=False)
    lock(other, "a2")
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        lock(other, "b1")
        other.rollback()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2
    assert keys(queue.reserve("k", None, 9)) == ["a2"]


@pytest.mark.parametrize("way", ["ack_many", "nack_many"])
def test_who_waits_for_who_comes_next_and_finds_it_gone_gives_the_turn_to_the_one_behind(
    queue: Session, connect: Connect, harness: Harness, way: str
) -> None:
    for key in ("a1", "a2", "a3"):
        queue.push("k", key, 0, max_attempts=1, order_key="a")
    queue.push("k", "b1", 0, order_key="b")
    held = receipts(queue.reserve("k", None, 2))
    other = connect(autocommit=False)
    assert other.remove("k", "a2")
    with waiting(harness, connect(), lambda session: getattr(session, way)(held)) as ended:
        other.commit()
        assert len(ended.result(PATIENCE_S)) == 2
    assert "a3" in keys(queue.reserve("k", None, 9))


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("kept", ["not kept", "kept", "logged"])
@pytest.mark.parametrize("lines", [["kb", "ka", "kc"], ["bo", "ao", "co"]], ids=["of a kind", "of kinds"])
def test_lines_are_locked_in_the_order_of_their_kinds_and_keys(
    queue: Session, connect: Connect, harness: Harness, lines: list[str], kept: str
) -> None:
    """PostgreSQL locks them in the order of the messages."""
    held: list[str] = []
    for kind, line in lines:
        seconds = 60 * (kept == "kept"), 60 * (kept == "logged")
        queue.define(kind, history_seconds=seconds[0], log_seconds=seconds[1])
        queue.push(kind, line, 0, order_key=line)
        held.append(take(queue, kind)[1])
    (kind, line), *others = sorted(lines)
    first = connect(autocommit=False)
    first.push(kind, "x", 0, order_key=line)
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        for kind, line in others:
            assert queue.push(kind, f"y{line}", 0, order_key=line).outcome == "created"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 3


def test_who_plans_what_another_is_making_waits_and_makes_it_no_second_time(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    queue.schedule("hourly", "k", 0, every_seconds=3600)
    clock.advance(3600)
    ticking = connect(autocommit=False)
    assert ticking.tick() == 1
    with waiting(harness, connect(), lambda s: s.schedule("hourly", "k", 1, every_seconds=3600)) as planned:
        ticking.commit()
        next_at = planned.result(PATIENCE_S).next_at
    assert next_at is not None
    assert next_at > clock.now
    assert queue.tick() == 0


ONCE: dict[str, Callable[[Session], bool]] = {
    "unschedule": lambda s: s.unschedule("hourly"),
    "subscribe": lambda s: s.subscribe("another", "k"),
    "unsubscribe": lambda s: s.unsubscribe("topic", "k"),
    "read_end": lambda s: s.read_end("reader"),
    "drain": lambda s: s.drain("k"),
    "pause": lambda s: s.pause("k"),
    "resume": lambda s: s.resume("paused"),
}


def unchanged(queue: Session) -> None:
    """Have there what these calls change."""
    queue.schedule("hourly", "k", 0, every_seconds=3600)
    queue.subscribe("topic", "k")
    queue.define("k", log_seconds=60)
    queue.read("k", "reader")
    queue.pause("paused")


@pytest.mark.parametrize("call", ONCE)
def test_of_two_who_make_the_same_change_one_did(
    queue: Session, connect: Connect, harness: Harness, call: str
) -> None:
    unchanged(queue)
    first = connect(autocommit=False)
    assert ONCE[call](first)
    with waiting(harness, connect(), ONCE[call]) as second:
        first.commit()
        assert not second.result(PATIENCE_S)


def test_of_two_acks_of_a_reader_the_later_place_stays(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("k", log_seconds=60)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"])
    early, late = (event.position for event in queue.read("k", "reader", 9))
    first = connect(autocommit=False)
    first.read_ack("reader", late)
    with waiting(harness, connect(), lambda session: session.read_ack("reader", early)) as acked:
        first.commit()
        assert acked.result(PATIENCE_S).position == late
    assert queue.read("k", "reader", 9) == []


def test_what_one_prunes_nobody_waits_for(queue: Session, connect: Connect, clock: Clock) -> None:
    queue.define("k", history_seconds=60, dedup_seconds=60, log_seconds=60)
    queue.group("g", "then", members=2, keep_seconds=60)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"], group="g")
    queue.ack_many(receipts(queue.reserve("k", None, 2)))
    queue.pop("then")
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "cd"])
    assert len(batches.reserve(queue, 1, most=1)) == 1
    batches.commit(queue, 1, keep=True)
    assert batches.plan(queue, "reader/2") == (1, None)
    assert len(batches.reserve(queue, 2, plan=1)) == 1
    batches.stage(queue, batches.row("e"))
    batches.publish(queue, batches.stage(queue, batches.row("f")), job="j")
    batches.publish(queue, batches.stage(queue, batches.row("g")), query="query", batch=1)
    clock.advance(366 * batches.DAY)
    other = connect(autocommit=False)
    pruned = other.prune()
    assert pruned > 5
    assert queue.prune() == 0
    other.rollback()
    assert queue.prune() == pruned


def test_what_one_prunes_of_a_batch_that_is_done_nobody_waits_for(queue: Session, connect: Connect) -> None:
    left, published = (batches.stage(queue, batches.row(key), query="q", batch=1, run="r") for key in "ab")
    assert batches.publish(queue, published, query="q", batch=1) == ("published", "1")
    other = connect(autocommit=False)
    assert other.prune() == left["messages"]
    assert queue.prune() == 0
    other.rollback()
    assert queue.prune() == left["messages"]


def test_what_one_takes_out_of_the_index_of_filters_nobody_waits_for(
    queue: Session, connect: Connect
) -> None:
    queue.define("k", filter_index=True)
    queue.push_many("k", [{"key": key, "payload": {"n": 1}} for key in "ab"])
    assert keys(queue.pop("k")) == ["a"]
    other = connect(autocommit=False)
    gone = other.prune()
    assert gone > 0
    assert queue.prune() == 0
    assert keys(queue.reserve("k", where={"n": 1})) == ["b"]
    other.rollback()
    assert queue.prune() == gone


def test_a_run_that_begins_leaves_what_an_earlier_one_is_publishing(queue: Session, connect: Connect) -> None:
    early = batches.stage(queue, batches.row("a"), query="q", batch=1, run="r1")
    other = connect(autocommit=False)
    assert batches.publish(other, early) == ("published", "1")
    late = batches.stage(queue, batches.row("b"), query="q", batch=1, run="r2")
    other.commit()
    assert batches.publish(queue, late) == ("published", "1")
    assert keys(queue.pop("mail", 9)) == ["a", "b"]


def test_settings_that_are_not_committed_keep_nobody_waiting(queue: Session, connect: Connect) -> None:
    for kind in ("k", "k.dead", "to"):
        queue.define(kind, timeout_seconds=60, history_seconds=60)
    queue.define("reply", expires_seconds=3600)
    other = connect(autocommit=False)
    for kind in ("k", "k.dead", "to"):
        other.define(kind, timeout_seconds=5, history_seconds=0)
        other.pause(kind)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "abcdefgh"])
    queue.push("k", "i", 0, on_duplicate="replace")
    held = receipts(queue.reserve("k", None, 7))
    assert outcomes(queue.ack_many(held[:2])) == ["acked"] * 2
    assert queue.ack(held[2]).outcome == "acked"
    assert queue.move(held[3], "to").outcome == "moved"
    assert outcomes(queue.nack_many(held[4:6], final=True)) == ["dead"] * 2
    assert queue.nack(held[6]).outcome == "retry"
    assert (queue.redrive("k.dead").went, len(queue.pop("k", 2))) == (2, 2)
    assert queue.publish("topic", "x", 0) == []
    assert queue.wait("k", 0) == "k"
    assert queue.prune() >= 0
    assert queue.purge("k") == 3


def test_a_purge_leaves_what_another_transaction_has(queue: Session, connect: Connect) -> None:
    queue.push_many("k", [{"key": key, "payload": 0} for key in "abc"])
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    assert queue.purge("k") == 2
    other.commit()
    assert state(queue, "k", "a") == "reserved"


def test_a_redrive_leaves_what_another_transaction_has(queue: Session, connect: Connect) -> None:
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"])
    queue.nack_many(receipts(queue.reserve("k", None, 2)), final=True)
    other = connect(autocommit=False)
    assert keys(other.reserve("k.dead")) == ["a"]
    redriven = queue.redrive("k.dead")
    assert (redriven.went, redriven.stayed) == (1, 0)
    other.commit()
    assert (state(queue, "k.dead", "a"), state(queue, "k", "b")) == ("reserved", "ready")


@pytest.mark.servers("postgresql")
def test_a_redrive_that_waits_for_a_line_has_put_no_key(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """MariaDB and MySQL lock the row of a line once the message is there."""
    queue.push("k", "x", 0, order_key="a")
    queue.nack(take(queue, "k")[1], final=True)
    queue.push("k", "y", 0, order_key="a")
    first = connect(autocommit=False)
    assert first.ack(take(queue, "k")[1]).outcome == "acked"
    with waiting(harness, connect(), lambda session: session.redrive("k.dead")) as redriven:
        assert queue.push("k", "x", 1).outcome == "created"
        first.commit()
        assert (redriven.result(PATIENCE_S).went, redriven.result().stayed) == (0, 1)


@pytest.mark.parametrize("special", [False, True], ids=["plain", "remembered"])
def test_a_publish_that_waits_counts_only_what_it_has_put_in(
    queue: Session, connect: Connect, harness: Harness, special: bool
) -> None:
    if special:
        queue.define("mail", dedup_seconds=60)
    parts = json.dumps([batches.stage(queue, *(batches.row(key) for key in "axz"))])
    first = connect(autocommit=False)
    first.push("mail", "a", 2)
    with waiting(harness, connect(), lambda s: s.answer("queue_stage_publish", parts, None)) as published:
        assert queue.push("mail", "x", 2).outcome == "created"
        first.commit()
        [answer] = published.result(PATIENCE_S)
    assert (answer["messages"], answer["pushed"], answer["differing"]) == ("3", "1", "2")


def test_what_comes_due_is_taken_past_what_another_has_taken(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    other = connect(autocommit=False)
    for key, session in (("first", other), ("second", queue)):
        queue.push("k", key, 0, delay_seconds=1)
        clock.advance(2)
        assert keys(session.reserve("k")) == [key]


LATE: dict[str, Callable[[Session, str], str]] = {
    "extend": lambda s, r: s.extend(r, 60).outcome,
    "extend_many": lambda s, r: s.extend_many([r], 60)[0].outcome,
    "ack": lambda s, r: s.ack(r).outcome,
    "ack_many": lambda s, r: s.ack_many([r])[0].outcome,
    "result": lambda s, r: s.ack(r, result=1).outcome,
    "nack": lambda s, r: s.nack(r).outcome,
    "nack_many": lambda s, r: s.nack_many([r])[0].outcome,
    "final": lambda s, r: s.nack(r, final=True).outcome,
    "move": lambda s, r: s.move(r, "to").outcome,
    "move_many": lambda s, r: s.move_many([{"receipt": r, "to_kind": "to"}])[0].outcome,
}


@pytest.fixture
def two(connect: Connect) -> tuple[Session, Session]:
    """A session in a transaction, and one that is going to wait for it."""
    return connect(autocommit=False), connect()


@each("call", LATE)
def test_a_late_receipt_is_lost_to_who_is_taking_the_message(
    queue: Session, two: tuple[Session, Session], harness: Harness, clock: Clock, call: str
) -> None:
    other, waits = two
    queue.push(call, "a", 0)
    [late] = receipts(queue.reserve(call, timeout_seconds=10))
    clock.advance(11)
    [taken] = other.reserve(call, timeout_seconds=10)
    with waiting(harness, waits, lambda session: LATE[call](session, late)) as answered:
        other.commit()
        assert answered.result(PATIENCE_S) == "lost"
    found = queue.get(call, "a")
    assert found is not None
    assert (found.state, found.scheduled_at) == ("reserved", taken.scheduled_at)


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("call", ["extend", "ack", "nack", "move"])
def test_a_receipt_that_is_lost_already_waits_for_nobody_who_has_the_message(
    queue: Session, connect: Connect, clock: Clock, call: str
) -> None:
    """InnoDB locks a row before it looks at the secret."""
    queue.push("k", "a", 0)
    [late] = receipts(queue.reserve("k", timeout_seconds=10))
    clock.advance(11)
    assert keys(queue.reserve("k")) == ["a"]
    lock(connect(autocommit=False), "a")
    assert LATE[call](queue, late) == "lost"


def test_who_drops_a_kind_waits_for_who_is_taking_its_messages(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("k", "a", 0)
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    with waiting(harness, connect(), lambda session: session.drop("k")) as dropped:
        other.commit()
        with pytest.raises(Refused, match="held"):
            dropped.result(PATIENCE_S)
    assert state(queue, "k", "a") == "reserved"


@pytest.mark.parametrize("indexed", [False, True])
def test_a_filter_passes_over_what_another_transaction_has(
    queue: Session, connect: Connect, indexed: bool
) -> None:
    queue.define("k", filter_index=indexed)
    queue.push_many("k", [{"key": key, "payload": {"n": 1}} for key in "abc"])
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    assert keys(queue.reserve("k", where={"n": 1})) == ["b"]
    assert keys(queue.pop("k", 9, where={"n": 1})) == ["c"]


@pytest.mark.servers("mariadb", "mysql")
def test_what_another_transaction_has_is_not_there_for_who_waits(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    """PostgreSQL tells who listens when a message may be taken, and not before that."""
    queue.push("due", "a", 0, delay_seconds=1)
    clock.advance(2)
    queue.push("ready", "b", 0)
    other = connect(autocommit=False)
    assert keys(other.reserve("due") + other.reserve("ready")) == ["a", "b"]
    assert queue.wait(["due", "ready"], 0) is None
    other.rollback()
    assert (queue.wait("due", 0), queue.wait("ready", 0)) == ("due", "ready")


def test_a_remove_waits_for_who_is_taking_the_message(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("k", "a", 0)
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    with waiting(harness, connect(), lambda session: session.remove("k", "a")) as removed:
        other.commit()
        assert removed.result(PATIENCE_S) == "held"
    assert state(queue, "k", "a") == "reserved"


def test_rows_of_the_inbox_and_new_readers_wait_for_no_settings(queue: Session, connect: Connect) -> None:
    other = connect(autocommit=False)
    for kind in ("k", "other"):
        other.define(kind, timeout_seconds=5)
    queue.land([{"p_kind": "k", "p_key": "landed", "payload": "0"}])
    assert queue.read("other", "reader", 1) == []
    with pytest.raises(InvalidOption, match="for no kind of such a name"):
        queue.read("other", "reader", 1, events=["acked"])


@each("end", ["ack", "nack"])
@each("way", LATE)
def test_of_two_who_end_a_delivery_the_second_has_lost_it(
    queue: Session, two: tuple[Session, Session], harness: Harness, way: str, end: str
) -> None:
    (first, waits), kind = two, f"{end} {way}"
    queue.push(kind, "a", 0)
    [receipt] = receipts(queue.reserve(kind))
    assert LATE[end](first, receipt) != "lost"
    with waiting(harness, waits, lambda session: LATE[way](session, receipt)) as second:
        first.commit()
        assert second.result(PATIENCE_S) == "lost"
    assert state(queue, kind, "a") == (None if end == "ack" else "ready")
    assert [queue.peek(one) for one in ("to", f"{kind}.dead")] == [[], []]


@pytest.mark.parametrize("way", ["ack", "ack_many", "move"])
def test_of_two_who_end_a_delivery_that_is_kept_one_is_in_the_history(
    queue: Session, connect: Connect, harness: Harness, way: str
) -> None:
    queue.define("k", history_seconds=60)
    queue.push("k", "a", 0)
    [receipt] = receipts(queue.reserve("k"))
    first = connect(autocommit=False)
    assert first.ack(receipt).outcome == "acked"
    with waiting(harness, connect(), lambda session: LATE[way](session, receipt)) as second:
        first.commit()
        assert second.result(PATIENCE_S) == "lost"
    assert [one.outcome for one in queue.history("k")] == ["acked"]


def test_what_is_pushed_onto_a_message_that_another_is_taking_comes_after_it(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("k", "a", 0)
    other = connect(autocommit=False)
    [receipt] = receipts(other.reserve("k"))
    with waiting(
        harness, connect(), lambda session: session.push("k", "a", 1, on_duplicate="replace").outcome
    ) as pushed:
        other.commit()
        assert pushed.result(PATIENCE_S) == "held"
    assert queue.ack(receipt).outcome == "acked"
    assert [one.payload for one in queue.pop("k", 2)] == [1]


MANY: dict[str, Callable[[Session, list[str]], list[str]]] = {
    "ack_many": lambda queue, both: outcomes(queue.ack_many(both)),
    "nack_many": lambda queue, both: outcomes(queue.nack_many(both)),
    "extend_many": lambda queue, both: outcomes(queue.extend_many(both, 60)),
    "move_many": lambda queue, both: outcomes(
        queue.move_many([{"receipt": receipt, "to_kind": "to"} for receipt in both])
    ),
}


@pytest.mark.parametrize("named", ["", "a", "ab"], ids=["plain", "the first names a semaphore", "both do"])
@pytest.mark.parametrize("way", MANY)
def test_a_call_that_waits_for_a_delivery_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness, way: str, named: str
) -> None:
    queue.semaphore("s", 2)
    for key in "ab":
        queue.push("k", key, 0, semaphores=["s"] if key in named else None)
    sooner, later = receipts(queue.reserve("k", None, 2))
    first = connect(autocommit=False)
    lock(first, "a")
    with waiting(harness, connect(), lambda session: MANY[way](session, [later, sooner])) as called:
        assert queue.extend(later, 60).outcome == "extended"
        first.commit()
        assert "lost" not in called.result(PATIENCE_S)


@pytest.mark.parametrize("named", ["", "a", "ab"], ids=["plain", "the first names a semaphore", "both do"])
def test_who_keeps_the_holds_of_a_read_and_waits_for_one_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness, named: str
) -> None:
    queue.semaphore("s", 2)
    for key in "ab":
        queue.push("k", key, 0, semaphores=["s"] if key in named else None)
    _, later = queue.answer("queue_stream_reserve", "reader", "1", "0", "k", "2", None)
    first = connect(autocommit=False)
    lock(first, "a")
    with waiting(harness, connect(), lambda session: batches.extend(session, 60)) as called:
        assert queue.extend(str(later["receipt"]), 60).outcome == "extended"
        first.commit()
        assert called.result(PATIENCE_S) == ("2", "0")


@pytest.mark.parametrize("says", ["the batch", "each message"])
def test_a_batch_that_waits_for_a_message_to_replace_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness, says: str
) -> None:
    for key in "ba":
        queue.push("k", key, 0)
    first = connect(autocommit=False)
    lock(first, "b")
    own = {"on_duplicate": "replace"} if says == "each message" else {}
    batch = [{"key": key, "payload": 2, **own} for key in "ab"]
    of_all: OnDuplicate | None = None if own else "replace"
    with waiting(
        harness, connect(), lambda session: session.push_many("k", batch, on_duplicate=of_all)
    ) as pushed:
        assert queue.push("k", "a", 1, on_duplicate="replace").outcome == "replaced"
        first.rollback()
        assert outcomes(pushed.result(PATIENCE_S)) == ["replaced"] * 2


def test_a_batch_that_changes_nothing_waits_for_nobody_who_has_one_of_its_keys(
    queue: Session, connect: Connect
) -> None:
    queue.push("k", "a", 0)
    lock(connect(autocommit=False), "a")
    batch = [{"key": key, "payload": 0} for key in "ab"]
    assert outcomes(queue.push_many("k", batch)) == ["ignored", "created"]


def test_a_batch_that_replaces_waits_for_nobody_who_has_another_message(
    queue: Session, connect: Connect
) -> None:
    for key in "ab":
        queue.push("k", key, 0)
    lock(connect(autocommit=False), "b")
    batch = [{"key": "a", "payload": 1}]
    assert outcomes(queue.push_many("k", batch, on_duplicate="replace")) == ["replaced"]


def test_a_batch_that_waits_for_the_first_of_what_came_meanwhile_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.push("k", "a", 0)
    first, second, session = connect(autocommit=False), connect(autocommit=False), connect()
    lock(first, "a")
    batch = [{"key": key, "payload": 2} for key in "abc"]
    with waiting(
        harness, session, lambda session: session.push_many("k", batch, on_duplicate="replace")
    ) as pushed:
        for key in "cb":
            queue.push("k", key, 0)
        lock(second, "c")
        first.rollback()
        until_it_waits(harness, session, pushed)
        assert queue.push("k", "b", 1, on_duplicate="replace").outcome == "replaced"
        second.rollback()
        assert outcomes(pushed.result(PATIENCE_S)) == ["replaced"] * 3


@pytest.mark.servers("postgresql")
def test_a_batch_that_waits_for_what_came_meanwhile_has_locked_nothing(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """MariaDB and MySQL lock what stands in the way of an insert."""
    first, second, session = connect(autocommit=False), connect(autocommit=False), connect()
    first.push("k", "b", 0)
    second.push("k", "a", 0)
    batch = [{"key": key, "payload": 2} for key in "ab"]
    with waiting(
        harness, session, lambda session: session.push_many("k", batch, on_duplicate="replace")
    ) as pushed:
        first.commit()
        lock(first, "b")
        second.commit()
        until_it_waits(harness, session, pushed)
        assert queue.push("k", "a", 1, on_duplicate="replace").outcome == "replaced"
        first.rollback()
        assert outcomes(pushed.result(PATIENCE_S)) == ["replaced"] * 2


def test_what_ended_first_is_replayed_first_though_its_message_began_later(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    queue.define("k", history_seconds=600)
    first = connect(autocommit=False)
    first.push("k", "a", 0)
    batch = [{"key": key, "payload": "late"} for key in "ab"]
    with waiting(
        harness, connect(), lambda session: session.push_many("k", batch, on_duplicate="replace")
    ) as pushed:
        queue.push("k", "b", "early")
        assert keys(queue.pop("k")) == ["b"]
        first.rollback()
        assert outcomes(pushed.result(PATIENCE_S)) == ["created"] * 2
    clock.advance(1)
    assert keys(queue.pop("k", 2)) == ["a", "b"]
    assert queue.replay("k", key="b", limit=1).went == 1
    assert [one.payload for one in queue.pop("k")] == ["early"]


def test_of_two_who_prune_a_log_each_notes_how_far_it_came(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("k", log_seconds=60)
    assert queue.read("k", "r", 1) == []
    for keys_ in ("a", "bc"):
        queue.push_many("k", [{"key": key, "payload": 0} for key in keys_])
        clock.advance(61)
        if keys_ == "a":
            queue.prune()
    other = connect(autocommit=False)
    other.prune(1)
    queue.prune()
    other.commit()
    with pytest.raises(Refused, match="missed"):
        queue.read("k", "r", 1)


def test_of_two_heartbeats_that_bring_a_worker_back_the_second_finds_it_there(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    queue.heartbeat("w", timeout_seconds=1)
    clock.advance(2)
    first = connect(autocommit=False)
    came_back = first.heartbeat("w").started_at
    clock.advance(0.5)
    with waiting(harness, connect(), lambda session: session.heartbeat("w").started_at) as second:
        first.commit()
        assert second.result(PATIENCE_S) == came_back


def test_a_publish_that_waits_for_a_message_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for kind in "ba":
        queue.subscribe("topic", kind)
        queue.push(kind, "x", 0)
    first = connect(autocommit=False)
    first.execute("select 1 from delayed_queue where p_kind = 'b' for update")
    with waiting(
        harness, connect(), lambda session: session.publish("topic", "x", 2, on_duplicate="replace")
    ) as published:
        assert queue.push("a", "x", 1, on_duplicate="replace").outcome == "replaced"
        first.commit()
        assert outcomes(published.result(PATIENCE_S)) == ["replaced"] * 2


def test_a_publish_that_waits_for_a_key_has_not_put_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for kind in "ba":
        queue.subscribe("topic", kind)
    first = connect(autocommit=False)
    first.push("a", "x", 0)
    with waiting(harness, connect(), lambda session: session.publish("topic", "x", 1)) as published:
        assert queue.push("b", "x", 0).outcome == "created"
        first.commit()
        assert outcomes(published.result(PATIENCE_S)) == ["ignored"] * 2


PUSHES: dict[str, Callable[[Session], str]] = {
    "push": lambda queue: queue.push("mail", "x", 1).outcome,
    "push_many": lambda queue: queue.push_many("mail", [{"key": "x", "payload": 1}])[0].outcome,
    "publish": lambda queue: queue.publish("topic", "x", 1)[0].outcome,
}


@pytest.mark.parametrize("way", PUSHES)
def test_what_waited_for_the_end_of_a_message_finds_its_key_remembered(
    queue: Session, connect: Connect, harness: Harness, way: str
) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.subscribe("topic", "mail")
    queue.push("mail", "x", 0)
    [receipt] = receipts(queue.reserve("mail"))
    first = connect(autocommit=False)
    assert first.ack(receipt).outcome == "acked"
    # a batch in a transaction of the caller's: MariaDB and MySQL else see at once that the key is taken
    with waiting(harness, connect(autocommit=way != "push_many"), PUSHES[way]) as pushed:
        first.commit()
        assert pushed.result(PATIENCE_S) == "ignored"
    assert queue.get("mail", "x") is None


IN_GROUP: dict[str, Callable[[Session], str]] = {
    "push": lambda queue: queue.push("mail", "x", 1, group="g").outcome,
    "push_many": lambda queue: queue.push_many("mail", [{"key": "x", "payload": 1}], group="g")[0].outcome,
}


@pytest.mark.parametrize("way", IN_GROUP)
def test_what_finds_its_key_remembered_once_it_has_waited_is_not_refused_by_its_group(
    queue: Session, connect: Connect, harness: Harness, way: str
) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.group("g", "next", close=True)
    queue.push("mail", "x", 0)
    [receipt] = receipts(queue.reserve("mail"))
    first = connect(autocommit=False)
    assert first.ack(receipt).outcome == "acked"
    with waiting(harness, connect(autocommit=way != "push_many"), IN_GROUP[way]) as pushed:
        first.commit()
        assert pushed.result(PATIENCE_S) == "ignored"


@pytest.mark.servers("postgresql")
def test_who_would_wait_behind_what_finds_its_key_remembered_is_first(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    """In the order of delivery nobody may be waited for, so a trigger holds the batch up."""
    queue.define("k", dedup_seconds=60)
    queue.push("k", "x", 0)
    [receipt] = receipts(queue.reserve("k"))
    for text in HOLDS_UP:
        queue.execute(text)
    batch = [{"key": key, "payload": 1, "order_key": "a"} for key in "xy"]
    first = connect(autocommit=False)
    first.execute("select pg_advisory_xact_lock(1)")
    try:
        with waiting(harness, connect(), lambda session: session.push_many("k", batch)) as pushed:
            assert first.ack(receipt).outcome == "acked"
            first.commit()
            assert outcomes(pushed.result(PATIENCE_S)) == ["ignored", "created"]
    finally:
        queue.execute("drop function public.hold_up() cascade")
    assert keys(queue.pop("k", 9)) == ["y"]


HOLDS_UP = (
    "create function public.hold_up() returns trigger language plpgsql set lock_timeout = 0 as"
    " 'begin perform pg_advisory_xact_lock(1); return new; end'",
    "create trigger hold_up before insert on delayed_queue for each row execute function public.hold_up()",
)


def test_a_publish_that_waited_for_who_removed_a_message_puts_it_anew(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.subscribe("topic", "mail")
    queue.push("mail", "x", 0)
    first = connect(autocommit=False)
    first.execute("select 1 from delayed_queue where p_kind = 'mail' for update")
    with waiting(
        harness, connect(), lambda session: session.publish("topic", "x", 1, on_duplicate="replace")
    ) as published:
        assert first.remove("mail", "x") == "removed"
        first.commit()
        assert outcomes(published.result(PATIENCE_S)) == ["created"]
    assert [one.payload for one in queue.pop("mail", 2)] == [1]


def test_a_kind_that_one_lets_expire_keeps_no_other_waiting(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("reply", expires_seconds=60)
    queue.push_many("reply", [{"key": key, "payload": 0} for key in "ab"])
    clock.advance(61)
    other = connect(autocommit=False)
    other.push("reply", "a", 1, on_duplicate="replace")
    assert queue.prune() == 1, "what another has locked stays"
    other.rollback()
    assert other.prune() == 2
    assert queue.prune() == 0
    other.rollback()
    assert queue.prune() == 2


def test_an_empty_kind_that_one_lets_expire_keeps_no_other_waiting(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("reply", expires_seconds=60)
    clock.advance(61)
    other = connect(autocommit=False)
    assert other.prune() == 1
    assert queue.prune() == 0
    other.rollback()
    assert queue.prune() == 1


def test_who_notes_that_a_kind_is_used_keeps_no_other_waiting(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("reply", expires_seconds=60)
    clock.advance(61)
    other = connect(autocommit=False)
    assert other.reserve("reply") == []
    assert queue.reserve("reply") == []
    other.rollback()
    assert queue.prune() == 0, "it is used"
