"""The short way of a batch of acks on PostgreSQL: who takes it, what it leaves behind, and what it undoes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import psycopg
import pytest

from tests.schema.walks import routines_called

MANY = 100
"""Batches of one transaction: more than the 64 savepoints that it may have without being a burden to all."""
PATIENCE_S = 20


def reserve(conn: psycopg.Connection[Any], kind: str = "mail", count: int = 9) -> list[str]:
    text = "select receipt from queue_reserve(%s, 'w', %s)"
    return [receipt for (receipt,) in conn.execute(text, [kind, count])]


def push(conn: psycopg.Connection[Any], kind: str = "mail", **options: object) -> None:
    for key in "abc":
        conn.execute("select queue_push(%s, %s, '0', %s)", [kind, key, json.dumps(options)])


def ack(conn: psycopg.Connection[Any], receipts: list[str]) -> list[str]:
    text = "select outcome from queue_ack_many(%s)"
    return [outcome for (outcome,) in conn.execute(text, [json.dumps(receipts)])]


def blocked_by(url: str, who: psycopg.Connection[Any]) -> list[int]:
    text = "select pid from pg_locks where %s = any (pg_blocking_pids(pid))"
    with psycopg.connect(url) as watch:
        return [pid for (pid,) in watch.execute(text, [who.info.backend_pid])]


def goes_the_long_way(conn: psycopg.Connection[Any], receipts: list[str]) -> bool:
    with routines_called(conn) as called:
        assert ack(conn, receipts) == ["acked"] * len(receipts)
    return "_queue_ack_many" in called


@pytest.mark.parametrize(
    "options", [{}, {"order_key": "o"}, {"semaphores": ["s"]}], ids=["plain", "order key", "semaphore"]
)
@pytest.mark.parametrize("settings", [{}, {"max_reserved": 9}], ids=["no limit", "max_reserved"])
def test_most_batches_end_in_one_statement(
    conn: psycopg.Connection[Any], options: dict[str, Any], settings: dict[str, int]
) -> None:
    conn.execute("select queue_semaphore('s', 9)")
    conn.execute("select queue_define('mail', %s)", [json.dumps(settings)])
    push(conn, **options)
    while receipts := reserve(conn):
        assert not goes_the_long_way(conn, receipts[::-1]), "in whatever order they are given"
    assert conn.execute("select pushed_total, acked_total, total from queue_stats").fetchall() == [(3, 3, 0)]


@pytest.mark.parametrize(
    "options",
    [{"order_key": "o"}, {"semaphores": ["s"]}, {"route": ["z"]}],
    ids=["order key", "semaphore", "route"],
)
def test_a_batch_of_unlike_messages_ends_the_long_way(
    conn: psycopg.Connection[Any], options: dict[str, Any]
) -> None:
    """Also where the first one is plain: what hangs on the end of the others is done all the same."""
    conn.execute("select queue_semaphore('s', 1)")
    push(conn)
    conn.execute("select queue_push('mail', 'last', '0', %s)", [json.dumps(options)])
    conn.execute("select queue_push('mail', 'next', '0', %s)", [json.dumps(options)])
    receipts = reserve(conn, count=4)
    outcomes = ack(conn, receipts)
    assert outcomes == ["acked"] * 3 + ["moved" if "route" in options else "acked"]
    assert [key for (key,) in conn.execute("select p_key from queue_reserve('mail')")] == ["next"]


def test_a_batch_takes_no_savepoint_once_a_transaction_has_many(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    messages = [{"key": f"{number:03}", "payload": 0} for number in range(2 * MANY)]
    conn.execute("select queue_push_many('mail', %s)", [json.dumps(messages)])
    receipts = reserve(conn, count=2 * MANY)
    numbers: LiteralString = "select pg_current_xact_id()::text::bigint"
    with psycopg.connect(database_url, autocommit=True) as other, conn.transaction():
        [(before,)] = other.execute(numbers)
        for first in range(0, 2 * MANY, 2):
            assert ack(conn, receipts[first : first + 2]) == ["acked"] * 2
        [(after,)] = other.execute(numbers)
    assert after - before < 64, "each savepoint that changes something has a number"
    assert conn.execute("select count(*) from delayed_queue").fetchall() == [(0,)]


def test_who_waits_for_a_message_keeps_the_key_of_no_other(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    """Else who holds that message, and comes to need the key, would wait in a circle."""
    conn.execute("set deadlock_timeout = '1min'")  # who finds a deadlock is the other
    push(conn)
    receipts = reserve(conn)
    with psycopg.connect(database_url) as other, ThreadPoolExecutor(1) as pool:
        other.execute("set deadlock_timeout = '100ms'")
        other.execute("select from delayed_queue where p_key = 'b' for update")
        acked = pool.submit(ack, conn, receipts)
        while conn.info.backend_pid not in blocked_by(database_url, other):
            assert not acked.done()
        text = "select outcome from queue_push('mail', 'a', '0')"
        assert other.execute(text).fetchall() == [("ignored",)]
        other.commit()
        assert acked.result(PATIENCE_S) == ["acked"] * 3


@pytest.mark.parametrize("lost", [False, True], ids=["held", "one is lost"])
def test_it_leaves_the_settings_of_the_transaction(conn: psycopg.Connection[Any], lost: bool) -> None:
    push(conn)
    receipts = reserve(conn)
    if lost:
        ack(conn, receipts[1:2])
    with conn.transaction():
        conn.execute("set local lock_timeout = '7min'")
        assert ack(conn, receipts) == ["acked", "lost" if lost else "acked", "acked"]
        assert conn.execute("show lock_timeout").fetchall() == [("7min",)]
    assert conn.execute("select count(*) from delayed_queue").fetchall() == [(0,)]


def test_garbage_in_its_setting_is_no_error(conn: psycopg.Connection[Any]) -> None:
    push(conn)
    conn.execute("set pyqueue.savepoints = 'many'")
    assert ack(conn, reserve(conn)) == ["acked"] * 3
