"""The lines of order keys on PostgreSQL: who is put in while others come and go, and what is left alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import psycopg
import pytest

Push: TypeAlias = Callable[[psycopg.Connection, str], str]

PATIENCE_S = 20


def push_one(conn: psycopg.Connection, key: str) -> str:
    row = conn.execute("""select outcome from queue_push('work', %s, '0', '{"order_key": "o"}')""", [key])
    return row.fetchall()[0][0]


def push_many(conn: psycopg.Connection, key: str) -> str:
    messages = json.dumps([{"key": key, "payload": 0, "order_key": "o"}])
    return conn.execute("select outcome from queue_push_many('work', %s)", [messages]).fetchall()[0][0]


def push_apart(conn: psycopg.Connection, key: str) -> str:
    """Push a message that stands in no line."""
    return conn.execute("select outcome from queue_push('work', %s, '0')", [key]).fetchall()[0][0]


def line(conn: psycopg.Connection) -> list[str]:
    return [key for (key,) in conn.execute("select p_key from queue_peek('work', 9)")]


def until_it_waits(watch: psycopg.Connection, who: psycopg.Connection, whom: psycopg.Connection) -> None:
    """Return once a session waits for another, for longer than a push does that begins again after it."""
    waits = """select %s = any (pg_blocking_pids(l.pid)) from pg_locks l
        where l.pid = %s and l.waitstart < clock_timestamp() - interval '200 ms'"""
    pids = [who.info.backend_pid, whom.info.backend_pid]
    deadline = time.monotonic() + PATIENCE_S
    while watch.execute(waits, pids[::-1]).fetchone() != (True,):
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize("push", [push_one, push_many])
def test_who_has_to_wait_for_the_first_of_a_line_waits_with_nothing_put_in(
    conn: psycopg.Connection, database_url: str, push: Push
) -> None:
    """Else who holds the first, and comes to need the key, would wait in a circle."""
    conn.execute("set deadlock_timeout = '1min'")  # who finds a deadlock is the other
    with (
        psycopg.connect(database_url) as keeper,
        psycopg.connect(database_url) as consumer,
        psycopg.connect(database_url, autocommit=True) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        consumer.execute("set deadlock_timeout = '100ms'")
        push_apart(keeper, "x")
        pushed = pool.submit(push, conn, "x")  # finds no line, and waits for the key
        until_it_waits(other, conn, keeper)
        assert push(other, "first") == "created"
        assert consumer.execute("select p_key from queue_reserve('work')").fetchall() == [("first",)]
        keeper.rollback()
        until_it_waits(other, conn, consumer)
        assert push_apart(consumer, "x") == "created"
        consumer.commit()
        assert pushed.result(PATIENCE_S) == "ignored"


@pytest.mark.parametrize("push", [push_one, push_many])
def test_who_is_put_in_late_stands_behind_those_that_are_there(
    conn: psycopg.Connection, database_url: str, push: Push
) -> None:
    """Though it had its number before them, and whatever stands in a line of that name elsewhere."""
    for key in "yz":
        conn.execute("""select queue_push('zoo', %s, '0', '{"order_key": "o"}')""", [key])
    with (
        psycopg.connect(database_url) as first,
        psycopg.connect(database_url) as second,
        psycopg.connect(database_url, autocommit=True) as early,
        psycopg.connect(database_url, autocommit=True) as late,
        ThreadPoolExecutor(2) as pool,
    ):
        push_apart(first, "a")
        push_apart(second, "c")
        pushed = pool.submit(push, early, "a")
        until_it_waits(conn, early, first)
        waiting = pool.submit(push, late, "c")
        until_it_waits(conn, late, second)
        first.rollback()
        assert pushed.result(PATIENCE_S) == "created"
        assert push(conn, "b") == "created"
        second.rollback()
        assert waiting.result(PATIENCE_S) == "created"
    assert line(conn) == ["a", "b", "c"]


@pytest.mark.parametrize("push", [push_one, push_many])
def test_who_comes_behind_a_line_leaves_its_first_as_it_is(conn: psycopg.Connection, push: Push) -> None:
    """A row that each push wrote anew would make the line slower and slower under an open snapshot."""
    where = "select q.ctid::text from delayed_queue q where q.p_key = 'a'"
    for key in "ab":
        push(conn, key)
    before = conn.execute(where).fetchall()
    for key in "cd":
        push(conn, key)
    assert (line(conn), conn.execute(where).fetchall()) == (["a", "b", "c", "d"], before)


def test_a_batch_whose_semaphore_went_while_it_was_put_in_is_ready(conn: psycopg.Connection) -> None:
    """It puts in what names semaphores apart from the ready line, and then lines it up."""
    [entry] = conn.execute(
        "insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at,"
        " attempts, semaphores) values ('work', 'a', '1', 0, 0, 0, 0, '{gone}') returning entry"
    ).fetchone() or (0,)
    assert conn.execute("select _queue_line_up(%s)", [[entry]]).fetchone() == (None,)
    assert conn.execute("select p_key from queue_reserve('work')").fetchall() == [("a",)]


def test_the_lines_of_several_kinds_are_joined_in_the_order_of_the_kinds(
    conn: psycopg.Connection, database_url: str
) -> None:
    """That in which a publish goes through its kinds: the two would wait in a circle."""
    moves: list[dict[str, str]] = []
    for kind in "az":
        push = """select queue_push(%s, 'm', '0', '{"order_key": "o"}')"""
        conn.execute(push, [f"to {kind}"])
        row = conn.execute("select receipt from queue_reserve(%s)", [f"to {kind}"]).fetchall()[0]
        moves.append({"receipt": row[0], "to_kind": kind})
    move = "select outcome from queue_move_many(%s)"
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(database_url) as keeper,
        psycopg.connect(database_url, autocommit=True, options="-c lock_timeout=1s") as other,
    ):
        keeper.execute("""select queue_push('a', 'first', '0', '{"order_key": "o"}')""")
        moved = pool.submit(lambda: conn.execute(move, [json.dumps(moves)]).fetchall())
        until_it_waits(other, conn, keeper)
        other.execute("""select queue_push('z', 'free', '0', '{"order_key": "o"}')""")
        keeper.rollback()
        assert moved.result(PATIENCE_S) == [("moved",)] * 2


@pytest.mark.parametrize("most", [2, 9])
def test_a_pop_leaves_the_first_of_a_line_whose_next_another_has(
    conn: psycopg.Connection, database_url: str, most: int
) -> None:
    def pop() -> list[str]:
        return [key for (key,) in conn.execute("select p_key from queue_pop('work', %s)", [most])]

    for key in "ab":
        push_one(conn, key)
    push_apart(conn, "z")
    with psycopg.connect(database_url) as other:
        other.execute("select from delayed_queue where p_key = 'b' for update")
        conn.execute("set lock_timeout = '5s'")
        assert pop() == ["z"]
    assert (pop(), pop()) == (["a"], ["b"])
