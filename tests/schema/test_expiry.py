"""Kinds that expire: what is kept of their use, and who waits for whom."""

from __future__ import annotations

import psycopg

from tests.conftest import Clock

EXPIRES_S = 40


def test_of_the_use_of_a_kind_few_notes_are_kept(conn: psycopg.Connection, clock: Clock) -> None:
    conn.execute(
        "select queue_define('reply', jsonb_build_object('expires_seconds', %s::integer))", [EXPIRES_S]
    )
    for _ in range(60):
        clock.advance(EXPIRES_S / 8)
        for _ in range(2):
            conn.execute("select queue_reserve('reply')")
    row = conn.execute("select count(*) from queue_use").fetchone()
    assert row is not None
    assert 3 <= row[0] <= 6


def test_a_prune_leaves_kinds_alone_while_one_is_being_defined(
    conn: psycopg.Connection, database_url: str, clock: Clock
) -> None:
    conn.execute("""select queue_define('reply', '{"expires_seconds": 40}')""")
    clock.advance(EXPIRES_S)
    with psycopg.connect(database_url) as other:
        other.execute("select queue_define('mail')")
        conn.execute("set lock_timeout = '1s'")
        conn.execute("select queue_prune()")
        assert conn.execute("select from queue_kind where p_kind = 'reply'").fetchall() == [()]
    conn.execute("select queue_prune()")
    assert conn.execute("select from queue_kind where p_kind = 'reply'").fetchall() == []
