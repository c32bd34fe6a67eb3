"""The inbox as drivers write to it, and what it leaves behind."""

from __future__ import annotations

import re
import threading
import time

import psycopg
import pytest
from psycopg import sql


def there(conn: psycopg.Connection) -> list[tuple[str, object]]:
    return conn.execute("select p_key, payload from delayed_queue order by entry").fetchall()


def left(conn: psycopg.Connection) -> int:
    row = conn.execute("select count(*) from queue_inbox").fetchone()
    assert row is not None
    return row[0]


def test_copy(conn: psycopg.Connection) -> None:
    with conn.cursor() as cursor, cursor.copy("copy queue_inbox (p_kind, p_key, payload) from stdin") as copy:
        for i in range(3000):
            copy.write_row(("mail", f"k{i % 2000}", str(i)))
    assert there(conn) == [(f"k{i}", i) for i in range(2000)]
    assert left(conn) == 0


def test_copy_that_has_a_wrong_row_names_it(conn: psycopg.Connection) -> None:
    with (
        pytest.raises(psycopg.Error, match=r'^row 1501 \(key "k1500"\)') as caught,
        conn.cursor() as cursor,
        cursor.copy("copy queue_inbox (p_kind, p_key, payload) from stdin") as copy,
    ):
        for i in range(3000):
            copy.write_row(("mail", f"k{i}", "{" if i == 1500 else "1"))
    assert caught.value.sqlstate == "PQ003"
    assert there(conn) == []


def test_insert_select(conn: psycopg.Connection) -> None:
    conn.execute("create table orders (id integer, note text)")
    conn.execute("insert into orders values (1, 'a'), (2, null)")
    conn.execute(
        "insert into queue_inbox (p_kind, p_key, payload)"
        " select 'mail', 'order/' || o.id, to_jsonb(o) from orders o order by o.id"
    )
    assert there(conn) == [("order/1", {"id": 1, "note": "a"}), ("order/2", {"id": 2, "note": None})]


def test_one_row_a_statement(conn: psycopg.Connection) -> None:
    rows = [("mail", f"k{i}", str(i)) for i in range(100)]
    with conn.transaction():
        conn.cursor().executemany(
            "insert into queue_inbox (p_kind, p_key, payload) values (%s, %s, %s)", rows
        )
    assert len(there(conn)) == 100
    assert left(conn) == 0


def test_a_statement_without_rows(conn: psycopg.Connection) -> None:
    conn.execute("insert into queue_inbox (p_kind, payload) select 'mail', '1' where false")
    assert there(conn) == []


def test_a_statement_takes_no_subtransaction(conn: psycopg.Connection) -> None:
    """A batch of single rows in one transaction would overflow what others have to look at."""
    with conn.transaction():
        conn.execute(
            "insert into queue_inbox (p_kind, p_key, payload, priority) values ('mail', 'a', '1', 1)"
        )
        found = conn.execute(
            "select q.xmin::text = (pg_current_xact_id()::xid)::text from delayed_queue q"
        ).fetchall()
    assert found == [(True,)]


def test_a_producer_may_write_to_it_and_sees_nothing_of_others(conn: psycopg.Connection) -> None:
    name = f"writer_{conn.info.backend_pid}"
    conn.execute(sql.SQL("create role {} in role queue_producer").format(sql.Identifier(name)))
    try:
        with conn.transaction(force_rollback=True):
            conn.execute("insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'secret', '1')")
            conn.execute(sql.SQL("set local role {}").format(sql.Identifier(name)))
            conn.execute("insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'own', '1')")
            assert conn.execute("select * from queue_inbox").fetchall() == []
            conn.execute("reset role")
            assert [key for key, _ in there(conn)] == ["secret", "own"]
    finally:
        conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


ENDING = {
    "push": "select queue_push('mail', 'a', '2')",
    "push_many": """select queue_push_many('mail', '[{"key": "a", "payload": 2}]')""",
    "push_many replace": """select queue_push_many('mail', '[{"key": "a", "payload": 2}]',
        '{"on_duplicate": "replace"}')""",
    "inbox": "insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'a', '2') returning 1",
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
@pytest.mark.parametrize("way", ENDING)
def test_a_push_that_waits_for_the_end_of_the_message_before_remembers_it(
    conn: psycopg.Connection, database_url: str, way: str, isolation: str
) -> None:
    """Its snapshot is from before the ack: the memory is not in it."""
    conn.execute("""select queue_define('mail', '{"dedup_seconds": 60}')""")
    conn.execute("select queue_push('mail', 'a', '1')")
    with psycopg.connect(database_url) as consumer, psycopg.connect(database_url) as producer:
        consumer.execute("select a.outcome from queue_reserve('mail') r, queue_ack(r.receipt) a")
        producer.execute(f"set transaction isolation level {isolation}".encode())
        producer.execute("select count(*) from delayed_queue")
        failed: list[str | None] = []

        def push() -> None:
            try:
                producer.execute(ENDING[way].encode())
                producer.commit()
            except psycopg.errors.SerializationFailure as error:
                failed.append(error.sqlstate)

        thread = threading.Thread(target=push)
        thread.start()
        waiting = "select from pg_locks l where not l.granted and l.pid = %s"
        while thread.is_alive() and not conn.execute(waiting, [producer.info.backend_pid]).fetchall():
            pass
        consumer.commit()
        thread.join()
    assert there(conn) == []
    assert failed == ([] if isolation == "read committed" else ["40001"])


def test_who_waits_for_a_key_waits_as_long_as_the_session_says_and_once(
    conn: psycopg.Connection, database_url: str
) -> None:
    conn.execute("set lock_timeout = '300ms'")
    with psycopg.connect(database_url) as other:
        other.execute("select queue_push('mail', 'b', '1')")
        began = time.monotonic()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            conn.execute("insert into queue_inbox (p_kind, p_key) values ('mail', 'a'), ('mail', 'b')")
        assert 0.3 < time.monotonic() - began < 3, "and not once more"
        other.rollback()
    assert there(conn) == []
    assert conn.execute("show lock_timeout").fetchone() == ("300ms",)


def test_a_session_that_replays_for_a_replica_pushes_too(conn: psycopg.Connection) -> None:
    conn.execute("set session_replication_role = replica")
    conn.execute("insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'a', '1')")
    assert conn.execute("select count(*) from queue_inbox").fetchone() == (0,)
    assert conn.execute("select p_key from queue_reserve('mail')").fetchone() == ("a",)


def test_what_came_while_the_trigger_was_off_is_pushed_by_queue_prune(conn: psycopg.Connection) -> None:
    conn.execute("alter table queue_inbox disable trigger queue_inbox")
    conn.execute(
        "insert into queue_inbox (p_kind, p_key, payload, priority)"
        " values ('mail', 'a', '1', 5), ('mail', '', '1', 0), ('mail', 'b', '2', 0)"
    )
    conn.execute("alter table queue_inbox enable always trigger queue_inbox")
    said: list[str] = []
    conn.add_notice_handler(lambda one: said.append(one.message_primary or ""))
    conn.execute("select queue_prune()")
    assert len(said) == 1
    assert re.match(r'the row \d+ of queue_inbox stays there: row 1 \(key ""\)', said[0])
    assert conn.execute("select p_key, priority from queue_pop('mail', 5)").fetchall() == [("a", 5), ("b", 0)]
    assert conn.execute("select p_key from queue_inbox").fetchall() == [("",)]


def test_a_prune_leaves_what_another_is_taking_out_of_the_inbox(
    conn: psycopg.Connection, database_url: str
) -> None:
    conn.execute("alter table queue_inbox disable trigger queue_inbox")
    conn.execute("insert into queue_inbox (p_kind, p_key) values ('mail', 'a'), ('mail', 'b')")
    conn.execute("alter table queue_inbox enable always trigger queue_inbox")
    conn.execute("set lock_timeout = '1s'")
    with psycopg.connect(database_url) as other:
        other.execute("select queue_prune()")
        conn.execute("select queue_prune()")
        assert (there(conn), left(conn)) == ([], 2)
    assert (sorted(there(conn)), left(conn)) == ([("a", None), ("b", None)], 0)
