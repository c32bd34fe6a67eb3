"""A call for one kind locks nothing of another, wherever the two lie side by side in an index.

So it is with groups, semaphores, schedules, readers and whatever else has a name.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, TypeAlias, get_args

import pytest

from pyqueue_sql import QueueError
from tests.concurrency.neighbours import KINDS, SEMAPHORES, Look, There, build
from tests.conformance.steps import keys, outcomes, receipts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.concurrency.neighbours import Found
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Session

CALLS: dict[str, Callable[[Session], object]] = {
    "reserve": lambda session: session.reserve("a"),
    "reserve many": lambda session: session.reserve("a", None, 5),
    "reserve where": lambda session: session.reserve("a", None, 5, where={"n": 1}),
    "next": lambda session: session.next([], "a", None, 5),
    "pop": lambda session: session.pop("a", 5),
    "remove": lambda session: session.remove("a", "z"),
    "purge": lambda session: session.purge("a"),
}


@pytest.mark.parametrize("there", [0, 1, 2])
@pytest.mark.parametrize("call", CALLS)
def test_a_kind_is_left_to_others_by_an_open_transaction_of_its_neighbour(
    queue: Session, connect: Connect, call: str, there: int
) -> None:
    for key in "vw":
        queue.push("b", key, {"n": 1})
    (held,) = queue.reserve("b")
    for key in "xy":
        queue.push("b", key, {"n": 1})
    for number in range(there):
        queue.push("a", f"{number}", {"n": 1})
    neighbour = connect(autocommit=False)
    for _ in range(2):
        CALLS[call](neighbour)
    assert keys(queue.reserve("b")) == ["w"]
    assert outcomes(queue.ack_many(receipts([held]))) == ["acked"]
    assert keys(queue.pop("b", 5)) == ["x", "y"]
    assert queue.push("b", "v", 0).outcome == "created"


Made: TypeAlias = "Callable[[Session, Found], object]"
NOW = "1000000 * unix_timestamp()"


def of_a_kind(kind: str) -> dict[str, Made]:
    """Calls of a kind, those that a session makes only now and then by themselves."""
    made: dict[str, Made] = {
        "reserve": lambda s, _: s.reserve(kind),
        "reserve many": lambda s, _: s.reserve(kind, None, 9),
        "reserve where": lambda s, _: s.reserve(kind, None, 9, where={"n": 1}),
        "reserve where none": lambda s, _: s.reserve(kind, None, 9, where={"n": 7}),
        "pop": lambda s, _: s.pop(kind, 9),
        "push": lambda s, _: s.push(kind, None, {"n": 1}),
        "push what is there": lambda s, _: s.push(kind, "b3", {"n": 1}),
        "push in its place": lambda s, _: s.push(kind, "b3", {"n": 2}, on_duplicate="replace"),
        "push many": lambda s, _: s.push_many(kind, [{"key": f"b{n}", "payload": 1} for n in range(9)]),
        "push with semaphores": lambda s, _: s.push(kind, "b9", 1, semaphores=["full.b", "free.b"]),
        "push delayed": lambda s, _: s.push(kind, "b9", 1, delay_seconds=10),
        "remove": lambda s, _: s.remove(kind, "b3"),
        "remove what isn't there": lambda s, _: s.remove(kind, "b99"),
        "purge": lambda s, _: s.purge(kind),
        "redrive": lambda s, _: s.redrive(kind),
        "define": lambda s, _: s.define(
            kind, max_reserved=5, rate_per_second=9, filter_index=True, expires_seconds=100
        ),
        "define less": lambda s, _: s.define(
            kind, max_reserved=1, rate_per_second=None, filter_index=False, expires_seconds=None
        ),
        "drop": lambda s, _: s.drop(kind),
        "ready": lambda s, _: s.execute(f"call _queue_ready(%s, {NOW}, @out)", [kind]),
        "upkeep": lambda s, _: s.execute(f"call _queue_upkeep(%s, true, {NOW}, 40, null)", [kind]),
        "permits": lambda s, _: s.execute(f"call _queue_permits_look(%s, {NOW}, 100, @out)", [kind]),
        "prune": lambda s, _: s.execute(f"call _queue_prune_kind(%s, {NOW}, 100, @out)", [kind]),
        "cursors": lambda s, _: s.execute("call _queue_forget_cursors(%s, null)", [kind]),
    }
    return {f"{name}, {kind}": call for name, call in made.items()}


def of_what_is_held(name: str) -> dict[str, Made]:
    """Calls with receipts; where nothing is held they are lost."""

    def held(found: Found) -> list[str]:
        return found.held.get(name) or [f"1-{'0' * 32}"]

    made: dict[str, Made] = {
        "ack": lambda s, f: s.ack(held(f)[0], result=1),
        "ack_many": lambda s, f: s.ack_many(held(f)),
        "next": lambda s, f: s.next(held(f), "plain.b", None, 9),
        "nack": lambda s, f: s.nack(held(f)[0], error="x"),
        "nack_many": lambda s, f: s.nack_many(held(f), final=True),
        "extend": lambda s, f: s.extend(held(f)[0], 0),
        "extend_many": lambda s, f: s.extend_many(held(f), 100),
        "move": lambda s, f: s.move(held(f)[0], "early.b", key="moved.b"),
        "move_many": lambda s, f: s.move_many([{"receipt": one, "to_kind": "plain.b"} for one in held(f)]),
    }
    return {f"{call}, {name}": make for call, make in made.items()}


OF_OTHERS: dict[str, Made] = {
    "push to a group": lambda s, _: s.push_many("plain.b", [{"key": "b90"}, {"key": "b91"}], group="b"),
    "push in order": lambda s, _: s.push("shared", "order.b9", 1, order_key="b"),
    "remove from a line": lambda s, _: [s.remove("shared", f"order.b{number}") for number in range(4)],
    "pause": lambda s, _: s.pause("plain.b"),
    "resume": lambda s, _: s.resume("plain.b"),
    "drain": lambda s, _: s.drain("plain.b"),
    "replay": lambda s, _: s.replay("plain.b"),
    "tick": lambda s, _: s.tick(),
    "reap": lambda s, _: s.reap(),
    "heartbeat": lambda s, _: s.heartbeat("b", kinds=["plain.b"], session=True),
    "stop": lambda s, _: s.heartbeat("b", stop=True),
    "schedule": lambda s, _: s.schedule("b", "plain.b", every_seconds=5),
    "unschedule": lambda s, _: s.unschedule("b"),
    "group": lambda s, _: s.group("b", on_dead="report", close=True),
    "new group": lambda s, _: s.group("bb", "then.b", {}),
    "more permits": lambda s, _: [s.semaphore(f"{name}.b", 9) for name in SEMAPHORES],
    "fewer permits": lambda s, _: [s.semaphore(f"{name}.b", 0) for name in SEMAPHORES],
    "no semaphore": lambda s, _: [s.semaphore(f"{name}.b", None) for name in SEMAPHORES],
    "room": lambda s, _: [
        s.execute(f"call _queue_permits_room(%s, false, {NOW}, @out)", [f"{name}.b"]) for name in SEMAPHORES
    ],
    "sweep": lambda s, _: s.execute(f"call _queue_permits_sweep({NOW})"),
    "expire": lambda s, _: s.execute(f"call _queue_expire({NOW}, 1000, @out)"),
    "horizon": lambda s, _: s.execute(f"call _queue_log_horizon({NOW}, @out)"),
    "read": lambda s, _: s.read("plain.b", "b", 9),
    "read anew": lambda s, _: s.read("plain.b", "bb", 9, start="now"),
    "read_ack": lambda s, _: s.read_ack("b", 1),
    "read_end": lambda s, _: s.read_end("b"),
    "subscribe": lambda s, _: s.subscribe("topic.b.*", "plain.b"),
    "unsubscribe": lambda s, _: s.unsubscribe("topic.b", "brief.b"),
    "publish": lambda s, _: s.publish("topic.b", "b77", 1),
    "inbox": lambda s, _: s.land([{"p_kind": "plain.b", "p_key": "b55", "payload": "1"}]),
    "stage_begin": lambda s, _: s.answer(
        "queue_stage_begin", "b", '{"query": "open.b", "batch": 2, "run": "another"}'
    ),
    "stage_abort": lambda s, _: s.answer("queue_stage_abort", "open.b"),
    "stage_publish": lambda s, f: s.answer(
        "queue_stage_publish",
        json.dumps([{"part": f.part, "messages": 1}]),
        '{"query": "open.b", "batch": 1}',
    ),
    "stream_plan": lambda s, _: [s.answer("queue_stream_plan", f"{number}.b") for number in (2, 3)],
    "stream_reserve": lambda s, _: s.answer(
        "queue_stream_reserve", "b", "2", "0", "brief.b", "9", '{"source": "2.b"}'
    ),
    "stream_reserve more": lambda s, _: s.answer("queue_stream_reserve", "b", "3", "0", "plain.b", "9", None),
    "stream_commit": lambda s, _: s.answer("queue_stream_commit", "b", "2", '{"keep": true}'),
    "stream_renew": lambda s, _: s.answer("queue_stream_renew", "b", "2"),
    "stream_extend": lambda s, _: s.answer("queue_stream_extend", "2.b", "100", None),
    "stream_forget": lambda s, _: s.answer("queue_stream_forget", "1.b"),
}
ALL: dict[str, Made] = {
    name: call
    for made in (
        *(of_a_kind(f"{kind}.b") for kind in KINDS),
        *(of_what_is_held(f"{name}.b") for name in ("plain", "limited", "full", "free", "order", "group")),
        OF_OTHERS,
    )
    for name, call in made.items()
}
PASSES_OVER = {
    "reserve", "reserve many", "reserve where", "pop", "purge", "redrive", "ready", "permits", "prune",
    "upkeep", "cursors", "tick", "reap", "sweep", "expire", "horizon", "stage_begin",
}  # fmt: skip
"""Calls that don't wait for what another transaction has."""
LEFT: dict[str, tuple[Made, set[str]]] = {
    "upkeep of all groups": (
        lambda s, _: s.prune(),
        {"queue_group PRIMARY", "queue_group queue_group_checked", "queue_group queue_group_forget"},
    ),
}
"""What locks something of a neighbour nevertheless, and in which indexes."""


def make(session: Session, found: Found, call: Made, times: int) -> None:
    """Make a call and take it back, but for its locks; where it is made again it finds less."""
    with contextlib.suppress(QueueError), session.savepoint(undo=True):
        for _ in range(times):
            call(session, found)


def opened(connect: Connect) -> Session:
    """A session with a transaction in which a savepoint keeps the locks, as it doesn't in an empty one."""
    session = connect(autocommit=False)
    session.execute("set session innodb_lock_wait_timeout = 1")
    session.execute("select count(*) from queue_gate")
    return session


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("there", get_args(There))
def test_no_call_locks_what_belongs_to_a_neighbour(queue: Session, connect: Connect, there: There) -> None:
    found = build(queue, there)
    look = Look(connect(autocommit=False))
    before = look.rows()
    calls = ALL
    if there == "locked":
        Look(connect(autocommit=False), "b").lock(connect(autocommit=False))
        calls = {name: call for name, call in ALL.items() if name.partition(",")[0] in PASSES_OVER}

    def locked(made: Iterable[Made]) -> dict[str, set[tuple[object, ...]]]:
        session = opened(connect)
        for call in made:
            make(session, found, call, 2)
        after = look.rows()
        session.close()
        return {where: rows - after[where] for where, rows in before.items() if rows - after[where]}

    whose = {name: locked([call]) for name, call in calls.items()} if locked(calls.values()) else {}
    assert {name: rows for name, rows in whose.items() if rows} == {}
    for name, (call, left) in LEFT.items():
        assert locked([call]).keys() <= left, name


@pytest.mark.servers("mariadb", "mysql")
def test_no_call_waits_for_what_belongs_to_a_neighbour(queue: Session, connect: Connect) -> None:
    found = build(queue, "some")
    Look(connect(autocommit=False)).lock(connect(autocommit=False))
    session = opened(connect)
    waited: list[str] = []
    for name, call in {**ALL, **{name: call for name, (call, _) in LEFT.items()}}.items():
        try:
            make(session, found, call, 1)
        except Exception as error:
            waited.append(f"{name}: {error}")
            session.rollback()
    assert waited == []
