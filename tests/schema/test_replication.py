"""The queue in a database that is published: what is written can be replicated, and a copy can take over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pyqueue_sql.schema import migrate
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema.catalogs import connect
from tests.schema.test_hijack import Caller, caller, database_url  # noqa: F401

SEQUENCES = """
select s.relname::text from pg_class s where s.relkind = 'S'
and s.relnamespace = current_schema()::regnamespace and s.relname !~ '^queue_(event|secret|stage_part)'
"""
"""Those that number rows."""
PAGE = Path(__file__).parents[2] / "docs" / "replication.md"


def test_every_table_says_which_of_its_rows_is_meant(conn: psycopg.Connection[Any]) -> None:
    """A table that is published refuses to be deleted from without a key, or all of the row instead."""
    found = conn.execute("""
        select c.relname from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relreplident <> 'f'
            and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)""").fetchall()
    assert found == []


def test_every_routine_runs_in_a_database_that_is_published(
    conn: psycopg.Connection[Any],
    caller: Caller,  # noqa: F811
    database_url: str,  # noqa: F811
) -> None:
    """Each call is replicated whole, as a subscriber would get it."""
    assert conn.execute("select pubname from pg_publication where puballtables").fetchone() is not None
    slot = conn.info.dbname
    conn.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", [slot])
    try:
        with connect(database_url) as connection:
            caller.work(Clock(connection))
        changed = conn.execute(
            "select count(*), count(*) filter (where get_byte(data, 0) = 68)"
            " from pg_logical_slot_get_binary_changes("
            "%s, null, null, 'proto_version', '1', 'publication_names', 'everything')",
            [slot],
        ).fetchone()
    finally:
        conn.execute("select pg_drop_replication_slot(%s)", [slot])
    assert changed is not None
    assert changed[0] > 300
    assert changed[1] > 30  # the rest is by chance: what a call prunes by the way


def test_a_copy_that_takes_over_numbers_where_the_other_ended(conn: psycopg.Connection[Any]) -> None:
    conn.execute(
        """select queue_define('mail', '{"history_seconds": 60, "log_seconds": 60, "expires_seconds": 60}')"""
    )
    conn.execute("select queue_push('mail', n::text, '1') from generate_series(1, 5) n")
    sequences = conn.execute(SEQUENCES).fetchall()
    for (name,) in sequences:  # what a subscriber has: the rows, and sequences that begin
        conn.execute(f"alter sequence {name} restart".encode())
    with pytest.raises(psycopg.errors.UniqueViolation):
        conn.execute("select queue_push('mail', 'new', '1')")
    statement = re.search(r"```sql[^\n]*\n(select setval.*?;)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert statement is not None
    assert set(re.findall(r"setval\('(\w+)'", statement[1])) == {name for (name,) in sequences}
    conn.execute(statement[1].encode())
    assert conn.execute("select outcome from queue_push('mail', 'new', '1')").fetchone() == ("created",)
    behind = conn.execute(
        "select min(last_value) from pg_sequences where sequencename = any (%s)",
        [[name for (name,) in sequences]],
    ).fetchone()
    assert behind is not None
    assert behind[0] > 999_999


def behind(conn: psycopg.Connection[Any]) -> list[str]:
    """Leave what a copy has: the rows, and sequences that begin; returns the names of those that matter."""
    conn.execute(
        """select queue_define('mail', '{"history_seconds": 60, "log_seconds": 60, "expires_seconds": 60}')"""
    )
    conn.execute("select queue_push('mail', n::text, '1') from generate_series(1, 5) n")
    conn.execute("select count(*) from queue_read('mail', 'reader', 10)")
    conn.execute("insert into queue_cursor (p_kind, slow_taken) values ('mail', 1), ('mail', 2)")
    conn.execute("insert into queue_log_known (position) values (1), (2)")
    # the trigger takes a row out at once: one that came with the copy
    conn.execute("alter table queue_inbox disable trigger all")
    conn.execute("insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'copied', '1')")
    conn.execute("alter table queue_inbox enable trigger all")
    names = [name for (name,) in conn.execute(SEQUENCES)]
    for name in names:
        conn.execute(f"alter sequence {name} restart".encode())
    return sorted({*names} - {"queue_use_id_seq", "queue_write_id_seq"})


def test_a_prune_finds_the_sequences_of_a_copy_that_nobody_has_set(conn: psycopg.Connection[Any]) -> None:
    names = behind(conn)
    said: list[str] = []
    conn.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    conn.execute("select queue_prune()")
    assert sorted(re.findall(r"sequence (\w+): it was behind", " ".join(said))) == names
    assert conn.execute("select outcome from queue_push('mail', 'new', '1')").fetchone() == ("created",)
    found = conn.execute("select p_key from delayed_queue order by entry desc limit 1").fetchone()
    assert found == ("new",)
    said.clear()
    conn.execute("select queue_prune()")
    assert said == []
    left = dict(
        conn.execute(
            "select s.sequencename, s.last_value from pg_sequences s where s.sequencename = any (%s)", [names]
        ).fetchall()
    )
    gap = dict(re.findall(r"setval\('(\w+)'.*?\+ (\d+)\)", PAGE.read_text("utf-8"), re.DOTALL))
    assert {name for name in names if left[name] < int(gap[name])} == set(), "it goes on where the page says"


def test_an_upgrade_sets_them_too_and_says_so(conn: psycopg.Connection[Any], database_url: str) -> None:  # noqa: F811
    names = behind(conn)
    said = migrate.upgrade(database_url)
    assert sorted(re.findall(r"sequence (\w+): it was behind", " ".join(said))) == names
    assert migrate.upgrade(database_url) == []


def test_a_part_is_never_that_of_another_though_a_crash_sets_its_sequence_back(
    conn: psycopg.Connection[Any],
) -> None:
    """What writes unlogged tables alone doesn't wait for the disk when it ends."""
    begun: list[int] = []
    for _ in range(40):
        conn.execute("alter sequence queue_stage_part_part_seq restart")
        begun += [part for (part,) in conn.execute("select part from queue_stage_begin('job')")]
        conn.execute("truncate queue_stage, queue_stage_part")
    assert begun == sorted(set(begun))


def test_messages_that_came_before_it_was_found_do_not_hide_it(conn: psycopg.Connection[Any]) -> None:
    conn.execute("select queue_push('mail', n::text, '1') from generate_series(1, 200) n")
    conn.execute("select setval('delayed_queue_entry_seq', 1)")
    conn.execute("delete from delayed_queue where entry < 100")
    for _ in range(9):
        conn.execute("select queue_push('mail', gen_random_uuid()::text, '1')")
    conn.execute("select queue_prune()")
    conn.execute("select queue_push('mail', 'new', '1')")
    found = conn.execute("select p_key from delayed_queue order by entry desc limit 1").fetchone()
    assert found == ("new",)


@pytest.mark.parametrize("call", ["queue_reserve('mail')", "queue_pop('mail')"])
def test_a_take_where_nothing_can_be_written_says_so(conn: psycopg.Connection[Any], call: str) -> None:
    conn.execute("select queue_push('mail', 'a', '1')")
    conn.execute("set default_transaction_read_only = on")
    with pytest.raises(
        psycopg.errors.ReadOnlySqlTransaction,
        match="taken where they can be written: this transaction is read-only",
    ) as raised:
        conn.execute(f"select * from {call}".encode())
    assert "delayed_queue" not in str(raised.value)
    assert conn.execute("select p_key from queue_get('mail', 'a')").fetchall() == [("a",)]
