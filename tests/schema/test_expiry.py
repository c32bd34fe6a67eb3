"""Kinds that expire, and who waits for whom."""

from __future__ import annotations

import psycopg

from tests.conftest import Clock


def test_a_prune_leaves_kinds_alone_while_one_is_being_defined(
    conn: psycopg.Connection, database_url: str, clock: Clock
) -> None:
    conn.execute("""select queue_define('reply', '{"expires_seconds": 40}')""")
    clock.advance(40)
    with psycopg.connect(database_url) as other:
        other.execute("select queue_define('mail')")
        conn.execute("set lock_timeout = '1s'")
        conn.execute("select queue_prune()")
        assert conn.execute("select from queue_kind where p_kind = 'reply'").fetchall() == [()]
    conn.execute("select queue_prune()")
    assert conn.execute("select from queue_kind where p_kind = 'reply'").fetchall() == []


def test_one_may_wait_where_nothing_can_be_written(conn: psycopg.Connection) -> None:
    conn.execute("""select queue_define('reply', '{"expires_seconds": 1}')""")
    conn.execute("select pg_sleep(0.3)")  # so that a note of its use is due
    conn.execute("set default_transaction_read_only = on")
    for ask in ("queue_wait('\"reply\"', 0)", "queue_listen('\"reply\"')", "queue_stream_ready('reply')"):
        conn.execute(f"select * from {ask}".encode())
