"""Each routine inside a transaction of the caller's, in each isolation level.

It commits, it rolls back, it goes on after a savepoint; under an old snapshot it is right, or it raises the
database's own serialization failure and is right when the transaction is tried again.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidReceipt, QueueError, Refused
from pyqueue_sql.calls import through_mysql
from tests.concurrency.overlapping import committed
from tests.concurrency.test_who_waits import LATE, ONCE, unchanged
from tests.concurrency.world import World, brief, changed
from tests.conformance.steps import keys, receipts, state
from tests.rules import each
from tests.sample import sample

if TYPE_CHECKING:
    import psycopg

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Harness, Session

Case = Callable[["Session", World], Any]
Effect = dict[str, str | None]

NOT_OF_A_QUEUE = {"queue_now", "queue_time", "queue_timestamp"}
"""Routines that neither read nor write messages."""

TESTED_APART = {"queue_wait", "queue_listen", "queue_heartbeat", "queue_reap"} | {
    *(f"queue_stage_{verb}" for verb in ("begin", "publish", "abort")),
    *(
        f"queue_stream_{verb}"
        for verb in ("ready", "plan", "reserve", "renew", "extend", "done", "commit", "forget")
    ),
}
"""Those that wait write nothing; workers, whom any reserve may reap by the way, are in test_reaping; batches
are in tests/conformance/test_batches.py and tests/spark."""

READY = "0 0 attempts 0"
SECOND = 1_000_000
GONE: Effect = {"message mail held": None, "ended mail held": "acked"}
FIRST_GONE: Effect = {"message mail 1": None}

# name: (call, what it changes in the world that `make` has made)
CASES: dict[str, tuple[Case, Effect]] = {
    "queue_push": (lambda q, w: q.push(w.kind("mail"), "new", 0), {"message mail new": READY}),
    "queue_push_bytes": (
        lambda q, w: q.push_bytes(w.kind("mail"), "new", b"0"),
        {"message mail new": "bytes 0 attempts 0"},
    ),
    "queue_push_many": (
        lambda q, w: q.push_many(w.kind("mail"), [{"key": key, "payload": 0} for key in ("new", "1")]),
        {"message mail new": READY},
    ),
    "queue_reserve": (
        lambda q, w: q.reserve(w.kind("mail"), timeout_seconds=9),
        {"message mail 1": f"0 {9 * SECOND} held attempts 1"},
    ),
    "queue_pop": (lambda q, w: q.pop(w.kind("mail")), FIRST_GONE | {"ended mail 1": "popped"}),
    "queue_next": (
        lambda q, w: q.next([w.receipts["held"]], w.kind("mail"), timeout_seconds=9),
        GONE | {"message mail 1": f"0 {9 * SECOND} held attempts 1"},
    ),
    "queue_extend": (
        lambda q, w: q.extend(w.receipts["held"], 7),
        {"message mail held": f"0 {7 * SECOND} held attempts 1"},
    ),
    "queue_extend_many": (
        lambda q, w: q.extend_many([w.receipts["held"]], 7),
        {"message mail held": f"0 {7 * SECOND} held attempts 1"},
    ),
    "queue_ack": (lambda q, w: q.ack(w.receipts["held"]), GONE),
    "queue_ack_many": (lambda q, w: q.ack_many([w.receipts["held"]]), GONE),
    "queue_nack": (
        lambda q, w: q.nack(w.receipts["held"], delay_seconds=5, error="no"),
        {"message mail held": f"0 {5 * SECOND} attempts 1 errors 1"},
    ),
    "queue_nack_many": (
        lambda q, w: q.nack_many([w.receipts["held"]], final=True),
        {
            "message mail held": None,
            "message mail.dead held": "0 0 attempts 0 errors 1",
            "ended mail held": "dead",
        },
    ),
    "queue_move": (
        lambda q, w: q.move(w.receipts["held"], w.kind("next")),
        {"message mail held": None, "message next held": READY, "ended mail held": "moved"},
    ),
    "queue_move_many": (
        lambda q, w: q.move_many([{"receipt": w.receipts["held"], "to_kind": w.kind("next"), "payload": 1}]),
        {"message mail held": None, "message next held": "1 0 attempts 0", "ended mail held": "moved"},
    ),
    "queue_get": (lambda q, w: q.get(w.kind("mail"), "1"), {}),
    "queue_peek": (lambda q, w: q.peek(w.kind("mail")), {}),
    "queue_remove": (
        lambda q, w: q.remove(w.kind("mail"), "1"),
        FIRST_GONE | {"ended mail 1": "removed"},
    ),
    "queue_purge": (
        lambda q, w: q.purge(w.kind("mail")),
        FIRST_GONE | {"message mail 2": None, "ended mail 1": "removed", "ended mail 2": "removed"},
    ),
    "queue_define": (
        lambda q, w: q.define(w.kind("mail"), timeout_seconds=8).timeout_seconds,
        {"kind mail": "8"},
    ),
    "queue_drop": (
        lambda q, w: q.drop(w.kind("old")).kind.removeprefix(w.kind("")),
        {"message old o": None, "kind old": None},
    ),
    "queue_pause": (lambda q, w: q.pause(w.kind("mail")), {"kind mail": "300 paused"}),
    "queue_resume": (lambda q, w: q.resume(w.kind("still")), {"kind still": "300"}),
    "queue_redrive": (
        lambda q, w: q.redrive(w.kind("mail.dead")).went,
        {"message mail.dead d": None, "message mail d": "0 0 attempts 0 errors 1"},
    ),
    # what else there is to prune is counters, whose number is nobody's business
    "queue_prune": (lambda q, _: bool(q.prune()), {"ended old past": None}),
    "queue_drain": (lambda q, w: q.drain(w.kind("mail")), {"kind mail": "300 drained"}),
    "queue_replay": (
        lambda q, w: q.replay(w.kind("old"), to_kind=w.kind("again")).went,
        {"message again past": READY},
    ),
    "queue_publish": (
        lambda q, w: [one.outcome for one in q.publish(w.kind("topic"), "new", 0)],
        {"message mail new": READY},
    ),
    # what these change is theirs, and no message
    "queue_subscribe": (lambda q, w: q.subscribe(w.kind("#"), w.kind("mail")), {}),
    "queue_unsubscribe": (lambda q, w: q.unsubscribe(w.kind("topic"), w.kind("mail")), {}),
    "queue_schedule": (lambda q, w: bool(q.schedule(w.kind("due"), "ticks", 1, every_seconds=9)), {}),
    "queue_unschedule": (lambda q, w: q.unschedule(w.kind("due")), {}),
    "queue_tick": (lambda q, _: bool(q.tick()), {}),
    "queue_group": (lambda q, w: q.group(w.kind("crew"), w.kind("next")).state, {}),
    "queue_semaphore": (lambda q, w: q.semaphore(w.kind("slots"), 1), {}),
    "queue_read": (lambda q, w: q.read(w.kind("mail"), w.kind("reader")), {}),
    "queue_read_ack": (
        lambda q, w: (q.read(w.kind("mail"), w.kind("reads")), q.read_ack(w.kind("reads"), 0).position)[1],
        {},
    ),
    "queue_read_end": (lambda q, w: q.read_end(w.kind("reads")), {}),
}

DISTURBERS: dict[str, Case] = {
    **{
        name: call
        for name, (call, _) in CASES.items()
        if not name.endswith(
            ("_many", "get", "peek", "prune", "subscribe", "schedule", "tick", "group", "semaphore")
        )
    },
    "replace what is ready": lambda q, w: q.push(w.kind("mail"), "1", 1, on_duplicate="replace"),
    "replace what is held": lambda q, w: q.push(w.kind("mail"), "held", 1, on_duplicate="replace"),
    "push where it will move": lambda q, w: q.push(w.kind("next"), "held", 2),
    "push where it will be redriven": lambda q, w: q.push(w.kind("mail"), "d", 2),
    "push what is dropped": lambda q, w: q.push(w.kind("old"), "late", 2),
}

REFUSED: dict[str, tuple[Case, type[QueueError]]] = {
    "push": (lambda q, _: q.push("", "a", 0), InvalidParameter),
    "push_many": (lambda q, w: q.push_many(w.kind("mail"), [{"key": "a"}, {"key": ""}]), QueueError),
    "reserve": (lambda q, w: q.reserve(w.kind("mail"), timeout_seconds=-1), InvalidOption),
    "ack": (lambda q, _: q.ack("no receipt"), InvalidReceipt),
    "drop": (lambda q, w: q.drop(w.kind("mail")), Refused),
}

LEVELS = ["read committed", "repeatable read", "serializable"]
_numbers = itertools.count(1)

each_case = each("name", CASES)


def make(queue: Session, clock: Clock) -> World:
    """A world with a message in every state, two that are ready, and a kind to drop."""
    world = World(f"w{next(_numbers)}")
    queue.define(world.kind("old"), history_seconds=1)
    queue.subscribe(world.kind("topic"), world.kind("mail"))
    queue.schedule(world.kind("due"), "ticks", 0, every_seconds=1)
    world.hold(queue, "old", "past")
    queue.ack(world.receipts["past"])
    clock.advance(2)
    queue.push(world.kind("old"), "o", 0)
    queue.define(world.kind("mail"), history_seconds=1000)
    world.hold(queue, "mail", "d")
    queue.nack(world.receipts["d"], final=True)
    clear_history(queue, world)
    world.hold(queue, "mail", "held")
    queue.push_many(world.kind("mail"), [{"key": key, "payload": 0} for key in "12"])
    queue.pause(world.kind("still"))
    return world


def clear_history(queue: Session, world: World) -> None:
    """Forget how `d` died."""
    queue.execute("delete from queue_history where p_kind = %s", [world.kind("mail")])


def begin(harness: Harness, level: str) -> Session:
    """A session whose next call begins a transaction of that level."""
    return harness.connect(autocommit=False, isolation=level)


@pytest.fixture
def sessions(harness: Harness) -> list[Session]:
    """A session a level, whose next call begins a transaction of it."""
    return [begin(harness, level) for level in LEVELS]


@pytest.fixture
def patient(harness: Harness) -> list[Session]:
    """A session for each level whose transactions see what there was when they began."""
    return [begin(harness, level) for level in harness.snapshot_levels]


def with_snapshot(harness: Harness, level: str) -> Session:
    """A session whose transaction of that level sees what there is by now, and nothing later."""
    session = begin(harness, level)
    session.get("none", "a")
    return session


# the dialects have the same ones, which tests/schema compares
def test_every_public_routine_has_a_case(conn: psycopg.Connection[Any]) -> None:
    rows = conn.execute(
        "select distinct p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where starts_with(p.proname, 'queue_') and n.nspname = current_schema()"
    ).fetchall()
    assert {name for (name,) in rows} == CASES.keys() | NOT_OF_A_QUEUE | TESTED_APART


@pytest.mark.long
@pytest.mark.core("postgresql")
@each_case
def test_it_counts_when_the_transaction_commits_and_leaves_nothing_when_it_is_rolled_back(
    harness: Harness, queue: Session, clock: Clock, sessions: list[Session], name: str
) -> None:
    call, effect = CASES[name]
    for session in sessions:
        session.rollback()  # what the row before has left where it failed
        world = make(queue, clock)
        before = world.look(harness)
        first = brief(call(session, world))
        session.rollback()
        assert world.look(harness) == before
        # as if nothing had been, and the same after a part of a transaction that was undone
        with session.savepoint(undo=True):
            assert brief(call(session, world)) == first
        assert brief(call(session, world)) == first
        assert world.look(harness) == before, "nobody sees it yet"
        session.commit()
        assert changed(before, world.look(harness)) == effect


@each("refused", REFUSED)
def test_an_error_of_the_queue_inside_a_savepoint_leaves_the_transaction_usable(
    harness: Harness, queue: Session, clock: Clock, sessions: list[Session], refused: str
) -> None:
    for session in sessions:
        session.rollback()
        world = make(queue, clock)
        before = world.look(harness)
        session.push(world.kind("mail"), "new", 0)
        wrong, error = REFUSED[refused]
        with pytest.raises(error), session.savepoint():
            wrong(session, world)
        session.ack(world.receipts["held"])
        session.commit()
        assert changed(before, world.look(harness)) == GONE | {"message mail new": READY}


@pytest.mark.long
@each_case
def test_under_an_old_snapshot_it_is_right_or_a_serialization_failure(
    harness: Harness, queue: Session, clock: Clock, patient: list[Session], name: str, server_name: str
) -> None:
    call, _ = CASES[name]
    for disturber, disturb in sample(DISTURBERS.items(), f"{name} {server_name}"):
        # what two transactions may come to is what they come to one after the other, in either order
        world = make(queue, clock)
        disturbed = outcome(disturb, queue, world)
        after = outcome(call, queue, world), disturbed, world.look(harness)
        before: object = None
        for session in patient:
            session.rollback()
            world = make(queue, clock)
            session.get(world.kind("mail"), "1")  # this takes the snapshot
            disturbed = outcome(disturb, queue, world)
            answer, again = committed(harness, session, lambda one, world=world: outcome(call, one, world))
            found = answer, disturbed, world.look(harness)
            if found != after and not again and before is None:
                world = make(queue, clock)
                answer = outcome(call, queue, world)
                before = answer, outcome(disturb, queue, world), world.look(harness)
            assert found == after or (found == before and not again), disturber


def test_what_was_pushed_onto_a_hold_after_a_snapshot_is_delivered_once_the_hold_has_expired(
    harness: Harness, queue: Session
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.push(kind, "a", "old")
        assert queue.reserve(kind, timeout_seconds=1)
        session = with_snapshot(harness, level)
        assert queue.push(kind, "a", "new", on_duplicate="replace").outcome == "held"
        time.sleep(1)
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind))
        assert [message.payload for message in found] == ["new"]


@pytest.mark.parametrize("before", [True, False], ids=["another went", "none was there"])
def test_a_push_onto_what_has_come_after_a_snapshot_changes_it(
    harness: Harness, queue: Session, before: bool
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        if before:
            queue.push(kind, "a", "old")
        session = with_snapshot(harness, level)
        queue.pop(kind)
        queue.push(kind, "a", "newer")
        answer, _ = committed(
            harness, session, lambda one, kind=kind: one.push(kind, "a", "newest", on_duplicate="replace")
        )
        found = queue.get(kind, "a")
        assert found is not None
        assert (answer.outcome, found.payload) == ("replaced", "newest")


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("way", ["plain", "one by one", "single"])
def test_what_is_put_in_where_another_ended_after_a_snapshot_has_all_that_follows(
    harness: Harness, queue: Session, way: str
) -> None:
    """To PostgreSQL its key is taken until the transaction ends."""
    queue.semaphore("s", 1)
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.define(kind, log_seconds=1000, filter_index=True)
        queue.group(f"group {level}", "next", members=1)
        queue.push(kind, "a", {"n": "old"})
        session = with_snapshot(harness, level)
        queue.pop(kind)
        more: dict[str, Any] = {"group": f"group {level}", "semaphores": ["s"]}
        message = {"key": "a", "payload": {"n": "new"}, **more}

        def put(one: Session, kind: str = kind, message: dict[str, Any] = message, more: Any = more) -> Any:
            if way == "single":
                return [one.push(kind, "a", {"n": "new"}, **more)]
            return one.push_many(kind, [message | ({"attempts": 1} if way == "one by one" else {})])

        answers, _ = committed(harness, session, put)
        assert [answer.outcome for answer in answers] == ["created"]
        [receipt] = receipts(queue.reserve(kind, where={"n": "new"}))
        queue.ack(receipt)
        assert keys(queue.reserve("next", None, 10)) == [f"group {level}"], "it was a member"
        queue.purge("next")
        found = queue.read(kind, f"reader {level}", 10)
        assert [event.payload for event in found] == [{"n": "old"}, {"n": "new"}]
        queue.ack_many(receipts(queue.reserve("next", None, 10)))


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("way", ["many", "single", "publish"])
def test_what_replaces_what_has_come_after_a_snapshot_is_found_and_logged(
    harness: Harness, queue: Session, way: str
) -> None:
    """PostgreSQL raises a serialization failure there."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.define(kind, log_seconds=1000, filter_index=True)
        queue.subscribe(f"news.{level.partition(' ')[0]}", kind)
        queue.push(kind, "a", {"n": "old"})
        session = with_snapshot(harness, level)
        queue.pop(kind)
        queue.push(kind, "a", {"n": "newer"})

        def put(one: Session, kind: str = kind, level: str = level) -> Any:
            if way == "many":
                return one.push_many(kind, [{"key": "a", "payload": {"n": "newest"}}], on_duplicate="replace")
            if way == "publish":
                topic = f"news.{level.partition(' ')[0]}"
                return one.publish(topic, "a", {"n": "newest"}, on_duplicate="replace")
            return [one.push(kind, "a", {"n": "newest"}, on_duplicate="replace")]

        answers, _ = committed(harness, session, put)
        assert [answer.outcome for answer in answers] == ["replaced"]
        assert len(queue.reserve(kind, where={"n": "newest"})) == 1
        found = queue.read(kind, f"reader {level}", 10)
        assert [event.payload for event in found] == [{"n": "old"}, {"n": "newer"}, {"n": "newest"}]


@pytest.mark.servers("mariadb", "mysql")
def test_what_is_published_where_another_ended_after_a_snapshot_is_created(
    harness: Harness, queue: Session
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.define(kind, log_seconds=1000)
        queue.subscribe("news", kind)
        queue.push(kind, "a", "old")
        session = with_snapshot(harness, level)
        queue.pop(kind)
        answers, _ = committed(harness, session, lambda one: one.publish("news", "a", "new"))
        queue.unsubscribe("news", kind)
        assert [answer.outcome for answer in answers] == ["created"]
        found = queue.read(kind, f"reader {level}", 10)
        assert [(event.topic, event.payload) for event in found] == [(None, "old"), ("news", "new")]


@pytest.mark.servers("mariadb", "mysql")
def test_an_index_of_filters_that_is_made_has_what_has_changed_since_the_snapshot(
    harness: Harness, queue: Session
) -> None:
    """To PostgreSQL that change comes after the transaction."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.push(kind, "a", {"n": "old"})
        session = with_snapshot(harness, level)
        queue.push(kind, "a", {"n": "new"}, on_duplicate="replace")
        committed(harness, session, lambda one, kind=kind: one.define(kind, filter_index=True))
        assert len(queue.reserve(kind, where={"n": "new"})) == 1


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("pops", [False, True], ids=["reserve", "pop"])
def test_what_is_taken_after_a_snapshot_is_answered_as_it_is(
    harness: Harness, queue: Session, pops: bool
) -> None:
    """To PostgreSQL what has come since isn't there."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.push(kind, "a", "old")
        session = with_snapshot(harness, level)
        queue.push(kind, "a", "new", on_duplicate="replace")
        queue.push(kind, "b", "late")
        found, _ = committed(
            harness,
            session,
            lambda one, kind=kind: one.pop(kind, 2) if pops else one.reserve(kind, None, 2),
        )
        assert [message.payload for message in found] == ["new", "late"]


@pytest.mark.servers("mariadb", "mysql")
def test_what_another_has_taken_since_the_snapshot_keeps_its_place(
    harness: Harness, queue: Session, clock: Clock
) -> None:
    """To the snapshot it is still to come into the ready line; to PostgreSQL that change comes after it."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.push(kind, "first", 0)
        queue.push(kind, "second", 0, delay_seconds=1)
        clock.advance(1)
        session = with_snapshot(harness, level)
        assert len(queue.reserve(kind, None, 2, timeout_seconds=10)) == 2
        assert committed(harness, session, lambda one, kind=kind: one.reserve(kind))[0] == []
        clock.advance(11)
        assert keys(queue.reserve(kind, None, 2)) == ["first", "second"], "once the holds have expired"


@pytest.mark.parametrize("call", ONCE)
def test_a_change_that_another_has_made_since_the_snapshot_is_none(
    harness: Harness, queue: Session, call: str
) -> None:
    unchanged(queue)
    session = with_snapshot(harness, "repeatable read")
    assert ONCE[call](queue)
    assert not committed(harness, session, ONCE[call])[0]


@pytest.mark.servers("mariadb", "mysql")
def test_what_has_died_after_a_snapshot_is_redriven_whole(harness: Harness, queue: Session) -> None:
    """To PostgreSQL it isn't dead."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        session = with_snapshot(harness, level)
        queue.push(kind, "a", "late", priority=3)
        queue.nack(*receipts(queue.reserve(kind)), final=True)
        answer, _ = committed(harness, session, lambda one, kind=kind: one.redrive(f"{kind}.dead"))
        found = queue.get(kind, "a")
        assert found is not None
        assert (answer.went, found.payload, found.priority) == (1, "late", 3)


def test_a_snapshot_has_no_room_at_a_semaphore_that_has_less_since(harness: Harness, queue: Session) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        queue.push(kind, "a", 0, semaphores=[kind])
        session = with_snapshot(harness, level)
        queue.semaphore(kind, 0)
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind))
        assert found == []


def test_a_snapshot_has_no_room_at_a_semaphore_where_another_holds_since(
    harness: Harness, queue: Session
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        session = with_snapshot(harness, level)
        for key in "ab":
            queue.push(kind, key, 0, semaphores=[kind])
        assert queue.reserve(kind)
        committed(harness, session, lambda one, kind=kind: one.push(kind, "c", 0, semaphores=[kind]))
        assert [one.state for one in queue.peek(kind, 9)] == ["reserved", "waiting", "waiting"]


def test_who_has_a_snapshot_takes_no_permit_from_who_holds_since(harness: Harness, queue: Session) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        queue.push(kind, "a", 0, semaphores=[kind])
        session = with_snapshot(harness, level)
        assert queue.reserve(kind)
        committed(harness, session, lambda one, kind=kind: one.semaphore(kind, 0))
        queue.semaphore(kind, 1)
        queue.push(kind, "b", 0, semaphores=[kind])
        assert state(queue, kind, "b") == "waiting"


def test_who_has_a_snapshot_wakes_who_has_come_to_a_semaphore_since(harness: Harness, queue: Session) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        queue.push(kind, "a", 0, semaphores=[kind])
        [receipt] = receipts(queue.reserve(kind))
        session = with_snapshot(harness, level)
        queue.push(kind, "b", 0, semaphores=[kind])
        committed(harness, session, lambda one, receipt=receipt: one.ack(receipt))
        assert state(queue, kind, "b") == "ready"


def test_who_has_a_snapshot_leaves_in_line_what_another_has_locked(
    harness: Harness, queue: Session, connect: Connect
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        queue.push(kind, "a", 0, semaphores=[kind])
        queue.push(kind, "b", 0, delay_seconds=1000)
        [receipt] = receipts(queue.reserve(kind))
        session = with_snapshot(harness, level)
        queue.push(kind, "c", 0, semaphores=[kind])
        other = connect(autocommit=False)
        other.execute(f"select 1 from delayed_queue where p_kind = '{kind}' and p_key = 'c' for update")
        committed(harness, session, lambda one, receipt=receipt: one.ack(receipt))
        other.commit()
        queue.prune()
        assert keys(queue.reserve(kind)) == ["c"]


def test_a_snapshot_sees_who_has_come_since_the_first_to_name_a_semaphore(
    harness: Harness, queue: Session, clock: Clock
) -> None:
    for level in harness.snapshot_levels:
        kind, other = f"mail {level}", f"other {level}"
        queue.semaphore(kind, 1)
        session = with_snapshot(harness, level)
        for name in (kind, other):
            queue.push(name, "a", 0, semaphores=[kind])
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind))
        clock.advance(2)
        assert len(found) + len(queue.reserve(other)) == 1, "there is one permit"


def test_a_snapshot_takes_no_permit_for_a_promise_it_does_not_see(
    harness: Harness, queue: Session, clock: Clock
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 1)
        queue.push(kind, "first", 0, semaphores=[kind])
        queue.remove(kind, "first")
        session = with_snapshot(harness, level)
        for key in "ab":
            queue.push(kind, key, 0, semaphores=[kind], delay_seconds=1)
        clock.advance(2)
        assert keys(queue.reserve(kind)) == ["a"]
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind))
        assert found == []


@pytest.mark.parametrize("since", ["last", "pending"])
def test_a_snapshot_delivers_no_more_than_may_be_of_what_names_a_semaphore(
    harness: Harness, queue: Session, clock: Clock, since: str
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.define(kind, max_attempts=1 if since == "last" else None)
        queue.semaphore(kind, 1)
        queue.push(kind, "a", "old", semaphores=[kind])
        session = with_snapshot(harness, level)
        assert keys(queue.reserve(kind, timeout_seconds=1)) == ["a"]
        if since == "pending":
            queue.push(kind, "a", "new", on_duplicate="replace")
        clock.advance(2)
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind, None, 2))
        assert [(one.payload, one.attempts) for one in found or queue.reserve(kind)] == (
            [] if since == "last" else [("new", 1)]
        )


def test_a_snapshot_checks_the_payload_that_is_there(harness: Harness, queue: Session) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.push(kind, "a", {"v": "text"})
        queue.define(kind, payload_shape={"v": "integer"})
        session = with_snapshot(harness, level)
        queue.push(kind, "a", {"v": 5}, on_duplicate="replace")
        found, _ = committed(harness, session, lambda one, kind=kind: one.reserve(kind))
        assert [one.payload for one in found] == [{"v": 5}]


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("call", LATE)
def test_the_receipt_of_a_delivery_after_the_snapshot_is_good(
    harness: Harness, queue: Session, call: str
) -> None:
    """To PostgreSQL that delivery comes after the transaction."""
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        session = with_snapshot(harness, level)
        queue.push(kind, "a", 0)
        [receipt] = receipts(queue.reserve(kind))
        answer, _ = committed(harness, session, lambda one, receipt=receipt: LATE[call](one, receipt))
        assert answer != "lost"


@pytest.mark.servers("mariadb", "mysql")
@each("call", [*(call for call in LATE if not call.startswith("extend")), "pop", "pop with history"])
def test_what_stands_behind_what_has_come_after_the_snapshot_comes_after_its_end(
    harness: Harness, queue: Session, call: str
) -> None:
    for level, turn in itertools.product(harness.snapshot_levels, ("order_key", "semaphores")):
        kind = f"mail {next(_numbers)}"
        options: dict[str, Any] = {turn: kind if turn == "order_key" else [kind]}
        queue.semaphore(kind, 1)
        if call == "pop with history":
            queue.define(kind, history_seconds=60)
        session = with_snapshot(harness, level)
        for key in "ab":
            queue.push(kind, key, 0, **options)
        if call.startswith("pop"):
            committed(harness, session, lambda one, kind=kind: one.pop(kind))
        else:
            [receipt] = receipts(queue.reserve(kind))
            committed(harness, session, lambda one, receipt=receipt: LATE[call](one, receipt))
        came = list[str]()
        while found := queue.reserve(kind):
            came += [message.key for message in found]
            queue.ack_many(receipts(found))
        assert "b" in came, (level, turn)


@pytest.mark.servers("mariadb", "mysql")
def test_a_batch_that_was_read_after_the_snapshot_is_extended_and_ended_whole(
    harness: Harness, queue: Session
) -> None:
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.semaphore(kind, 9)
        session = with_snapshot(harness, level)
        for key, options in {"plain": {}, "failed": {}, "guarded": {"semaphores": [kind]}}.items():
            queue.push(kind, key, 0, **options)
        read = queue.answer("queue_stream_reserve", kind, "1", "0", kind, "9", None)
        [failed] = [row["receipt"] for row in read if row["p_key"] == "failed"]
        options = json.dumps({"failed": [{"receipt": failed}]})

        def end(one: Session, kind: str = kind, options: str = options) -> Any:
            [extended] = one.answer("queue_stream_extend", f"{kind}/1", "60", None)
            [done] = one.answer("queue_stream_commit", kind, "1", options)
            return extended, done

        (extended, done), _ = committed(harness, session, end)
        assert extended == {"extended": "3", "lost": "0"}
        assert (done["acked"], done["failed"], done["lost"]) == ("2", "1", "0")
        assert [one.key for one in queue.peek(kind, 9)] == ["failed"]


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("plain", [True, False])
def test_what_is_written_back_after_the_snapshot_is_there_when_its_batch_has_ended(
    harness: Harness, queue: Session, plain: bool
) -> None:
    shape = None if plain else {"n": "integer"}
    for level in harness.snapshot_levels:
        kind = f"mail {level}"
        queue.define(kind, payload_shape=shape)
        session = with_snapshot(harness, level)
        queue.push_many(kind, [{"key": key, "payload": {"n": 0}} for key in ("read", "taken")])
        assert queue.answer("queue_stream_reserve", kind, "1", "0", kind, "1", None)[0]["p_key"] == "read"

        def end(one: Session, kind: str = kind) -> Any:
            part = int(str(one.answer("queue_stage_begin", kind, None)[0]["part"]))
            rows = [{"p_kind": kind, "p_key": key, "payload": '{"n": 1}'} for key in ("read", "taken", "new")]
            one.land([{"part": part, **row} for row in rows], "queue_stage")
            [done] = one.answer(
                "queue_stream_commit", kind, "1", json.dumps({"parts": [{"part": part, "messages": 3}]})
            )
            return done

        done, _ = committed(harness, session, end)
        assert (done["acked"], done["published"], done["pushed"]) == ("1", "3", "2")
        assert {one.key: one.payload["n"] for one in queue.peek(kind, 9)} == {"read": 1, "taken": 0, "new": 1}
        assert queue.execute("select part from queue_stage union select part from queue_stage_part") == []


@pytest.mark.servers("mariadb", "mysql")
def test_a_call_that_has_waited_too_long_leaves_no_transaction(
    harness: Harness, queue: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB runs no handler where it is an UPDATE that waited for an index entry."""
    monkeypatch.setattr(through_mysql, "RETRIES", 0)
    waits, other = harness.connect(), begin(harness, "repeatable read")
    waits.execute("set session innodb_lock_wait_timeout = 1")
    queue.push("mail", "a", 1, delay_seconds=1)
    assert other.reserve("mail") == []
    time.sleep(1.1)
    with pytest.raises(pymysql.err.OperationalError, match="Lock wait timeout"):
        waits.reserve("mail")
    other.rollback()
    assert queue.remove("mail", "a") == "removed"
    assert waits.push("mail", "a", 2).outcome == "created"


@pytest.mark.servers("mariadb", "mysql")
def test_a_group_and_a_semaphore_of_after_the_snapshot_are_changed(harness: Harness, queue: Session) -> None:
    for level in harness.snapshot_levels:
        name = f"mail {level}"
        session = with_snapshot(harness, level)
        queue.group(name, "after", {})
        queue.semaphore(name, 1)
        queue.push(name, "a", 0, semaphores=[name], group=name)
        assert queue.reserve(name)

        def change(one: Session, name: str = name) -> str:
            one.semaphore(name, 2)
            return one.group(name, close=True).state

        answer, _ = committed(harness, session, change)
        held = [one.held for one in queue.semaphores() if one.name == name]
        assert (answer, held) == ("closed", [1]), level


def outcome(call: Case, session: Session, world: World) -> object:
    """What a call says, or that it was refused, after which the transaction goes on."""
    try:
        with session.savepoint():
            return brief(call(session, world))
    except Refused:
        return "refused"
