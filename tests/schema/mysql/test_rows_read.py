"""A call reads the rows that it is about, however many others there are: in lines, slots and groups, too.

The server counts what a session reads. MariaDB makes a list of a whole table out of an EXISTS, and MySQL
sorts a whole line for the first of it, where they are told nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Queue
from tests.rules import each
from tests.schema.mysql.catalogs import rows_read, run
from tests.schema.mysql.world import call

if TYPE_CHECKING:
    from pymysql import Connection

    Call = Callable[[Queue, str, int], object]

pytestmark = pytest.mark.servers("mariadb", "mysql")

MANY = 1000
MOST = 300
"""Rows; no call of these is about more than ten messages."""
TRIES = 4
"""The least of so many counts: one call in 20 tidies up by the way."""
HELD = ("plain", "ordered", "open", "limited", "kept", "logged", "grouped")
STAGED = '{"query": "q", "run": "r"}'
WITH_RECEIPT = ("extend", "ack", "ack_many", "nack", "nack_many", "move", "next")

# each with a receipt of the kind that its name ends with, and the number of the try
CALLS: dict[str, Call] = {
    "push plain": lambda q, _, i: q.push("plain", f"new{i}"),
    "push to a line": lambda q, _, i: q.push("line", f"new{i}", order_key="one"),
    "push to a line of its own": lambda q, _, i: q.push("line", f"newer{i}", order_key=f"new{i}"),
    "push where many wait": lambda q, _, i: q.push("few", f"new{i}", semaphores=["few"]),
    "push where there is room": lambda q, _, i: q.push("open", f"new{i}", semaphores=["open"]),
    "push to a limited kind": lambda q, _, i: q.push("limited", f"new{i}"),
    "push to a kind that remembers": lambda q, _, i: q.push("kept", f"new{i}"),
    "push to a kind with a log": lambda q, _, i: q.push("logged", f"new{i}"),
    "push of a member": lambda q, _, i: q.push("grouped", f"new{i}", group="big"),
    "push_many where many wait": lambda q, _, i: q.push_many(
        "few", [{"key": f"more{i}{n}", "payload": 1} for n in range(5)], semaphores=["few"]
    ),
    "push_many to a line": lambda q, _, i: q.push_many(
        "line", [{"key": f"more{i}{n}", "payload": 1} for n in range(5)], order_key="one"
    ),
    "replace what waits in a line": lambda q, _, i: q.push("line", f"{i + 9}", 2, on_duplicate="replace"),
    "replace what waits for a permit": lambda q, _, i: q.push("few", f"{i + 9}", 2, on_duplicate="replace"),
    "remove what waits in a line": lambda q, _, i: q.remove("line", f"{i + 99}"),
    "remove what waits for a permit": lambda q, _, i: q.remove("few", f"{i + 99}"),
    **{f"reserve {kind}": lambda q, _, i, kind=kind: q.reserve(kind, None, i) for kind in (*HELD, "few")},
    **{f"pop {kind}": lambda q, _, i, kind=kind: q.pop(kind, i) for kind in (*HELD, "few")},
    **{f"peek {kind}": lambda q, _, i, kind=kind: q.peek(kind, i) for kind in (*HELD, "few")},
    **{f"extend {kind}": lambda q, one, _: q.extend(one, 600) for kind in HELD},
    **{f"ack {kind}": lambda q, one, _: q.ack(one) for kind in HELD},
    **{f"ack_many {kind}": lambda q, one, _: q.ack_many([one]) for kind in HELD},
    **{f"nack {kind}": lambda q, one, _: q.nack(one) for kind in HELD},
    **{f"nack_many {kind}": lambda q, one, _: q.nack_many([one], final=True) for kind in HELD},
    **{f"move {kind}": lambda q, one, _: q.move(one, "next") for kind in HELD},
    **{f"next {kind}": lambda q, one, _, kind=kind: q.next([one], kind) for kind in HELD},
    "semaphore": lambda q, _, i: q.semaphore("few", i),
    "redrive": lambda q, _, i: q.redrive("dying.dead", max_messages=i),
    "publish": lambda q, _, i: q.publish("topic.new", f"new{i}", 1),
    "subscribe": lambda q, _, i: q.subscribe(f"new{i}", "plain"),
    "schedule": lambda q, _, i: q.schedule(f"new{i}", "plain", 1, every_seconds=3600),
    "tick": lambda q, *_: q.tick(),
    "group": lambda q, _, i: q.group(f"new{i}", "next"),
    "read": lambda q, _, i: q.read("logged", "reader", i),
    "stage_begin": lambda q, _, i: call(q.connection, "queue_stage_begin", f"new{i}", STAGED),
    "stream_reserve": lambda q, _, i: call(
        q.connection, "queue_stream_reserve", "new", i, 0, "plain", 1, "{}"
    ),
    "stream_commit": lambda q, _, i: call(q.connection, "queue_stream_commit", "old", i, None),
    "define": lambda q, _, i: q.define("plain", timeout_seconds=300 + i),
    "heartbeat": lambda q, _, i: q.heartbeat(f"new{i}"),
    "reap": lambda q, *_: q.reap(),
}


def fill(queue: Queue, kind: str, many: int = MANY, **options: Any) -> None:
    """Push so many messages."""
    queue.push_many(kind, [{"key": str(n), "payload": n} for n in range(many)], **options)


@pytest.fixture
def held(connection: Connection[Any]) -> dict[str, list[str]]:
    """Make a world with many of everything; returns receipts by kind."""
    queue = Queue(connection)
    queue.semaphore("few", 1)
    queue.semaphore("open", 2 * MANY)
    queue.define("limited", max_reserved=5 * MANY)
    queue.define("kept", history_seconds=1000, dedup_seconds=1000)
    queue.define("logged", log_seconds=1000)
    queue.read("logged", "reader", 1, start="oldest")
    queue.group("big", "next", close=False)
    options: dict[str, dict[str, Any]] = {"grouped": {"group": "big"}, "open": {"semaphores": ["open"]}}
    for kind in HELD:
        # what holds permits is counted, so of these there are few
        fill(queue, kind, 80 if kind == "open" else MANY, **options.get(kind, {}))
    fill(queue, "line", order_key="one")
    queue.push_many("ordered", [{"key": f"k{n}", "payload": n, "order_key": f"k{n}"} for n in range(MANY)])
    fill(queue, "few", semaphores=["few"])
    fill(queue, "delayed", delay_seconds=3600)
    fill(queue, "dying")
    fill(queue, "streamed")
    queue.nack_many([one.receipt for one in queue.reserve("dying", None, MANY)], final=True)
    for n in range(MANY // 10):
        queue.group(f"{n}", "next")
        queue.schedule(f"{n}", "plain", 1, every_seconds=3600)
        queue.subscribe(f"{n}.*", f"copies{n % 9}")
        queue.heartbeat(f"{n}")
        call(connection, "queue_stream_reserve", "old", n, 0, "streamed", 1, "{}")
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into queue_stage_part (part, job, query, batch, run, begun_at)"
            " values (%s, 'old', 'q', 1, 'r', 9e17)",
            [(n,) for n in range(MANY)],
        )
    return {kind: [one.receipt for one in queue.reserve(kind, None, 40)] for kind in HELD}


@each("name", CALLS)
def test_a_call_reads_no_more_than_it_is_about(
    connection: Connection[Any], held: dict[str, list[str]], name: str
) -> None:
    queue, (verb, _, kind) = Queue(connection), name.partition(" ")
    counts: list[int] = []
    while len(counts) < TRIES and min(counts, default=MOST) >= MOST:
        receipt = held[kind].pop() if verb in WITH_RECEIPT else ""
        before = rows_read(connection)
        CALLS[name](queue, receipt, len(counts) + 1)
        counts.append(rows_read(connection) - before)
    assert min(counts) < MOST


def test_a_call_looks_after_a_thousand_groups_that_may_be_done(connection: Connection[Any]) -> None:
    """Whose notes came of other transactions; here of groups that are gone, which is the same to it."""
    with connection.cursor() as cursor:
        due = "insert into queue_group_due (group_name, writer, id) values (%s, 1, 1)"
        cursor.executemany(due, [(f"g{number:04}",) for number in range(1001)])
    looked: list[Any] = []
    for _ in range(3):
        run(connection, "call _queue_groups_due(1, @looked)")
        looked += run(connection, "select @looked")
    assert looked == [(1000,), (1,), (0,)]


def test_the_names_of_a_payload_are_read_once(connection: Connection[Any]) -> None:
    queue = Queue(connection)
    queue.define("seen", filter_index=True)
    queue.push("seen", "a", 1)
    before = rows_read(connection)
    queue.push("seen", "b", {f"name{number}": number for number in range(MANY)})
    assert rows_read(connection) - before < 10 * MANY
