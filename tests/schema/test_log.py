"""Up to where the log is complete is noted for readers that keep a snapshot; old notes are cleared away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.conformance.harness import Clock


def test_who_reads_clears_away_old_notes_and_leaves_the_newest(conn: psycopg.Connection) -> None:
    conn.execute("""select queue_define('k', '{"log_seconds": 60}'), queue_push('k', 'a', '1')""")
    conn.execute("insert into queue_log_known (position) values (1), (3), (2)")
    notes: list[tuple[int]] = [(1,), (2,), (3,)]
    for _ in range(5000):  # one in 100 does
        conn.execute("select queue_read('k', 'r', 1)")
        before = notes
        notes = conn.execute("select n.position from queue_log_known n order by n.position").fetchall()
        if notes != before:
            break
    assert notes == [(3,)]


def test_what_a_read_prunes_by_the_way_stays_pruned(conn: psycopg.Connection, clock: Clock) -> None:
    conn.execute("""select queue_define('k', '{"log_seconds": 60}'), queue_push('k', 'a', '1')""")
    conn.execute("select queue_read('k', 'r', 1)")
    clock.advance(61)
    for _ in range(5000):  # one in 100 prunes
        if conn.execute("select 1 from queue_log").fetchone() is None:
            break
        conn.execute("select queue_read('k', 'r', 1)")
    assert conn.execute("select 1 from queue_log").fetchone() is None
    with pytest.raises(psycopg.Error, match="has missed what was pruned"):
        conn.execute("select queue_read('k', 'r', 1)")
