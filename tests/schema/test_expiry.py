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
