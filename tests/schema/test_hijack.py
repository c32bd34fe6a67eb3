# ruff: noqa: E501
"""Whoever may create in the queue's schema does not become its owner, and is found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from pyqueue_sql import MigrationError
from pyqueue_sql.schema import migrate
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema import hijackers
from tests.schema.catalogs import connect
from tests.schema.sources import install_text, routines
from tests.servers.databases_postgresql import Databases

SETTING = """
queue_define('kept', '{"history_seconds": 60, "dedup_seconds": 5, "log_seconds": 60, "filter_index": true, "jitter": 0.5,
    "payload_shape": {"a": "number"}, "max_attempts": 2, "backoff_seconds": 1, "expires_seconds": 1000, "dead_letter_kind": "gone"}')
queue_define('few', '{"max_reserved": 2, "rate_per_second": 100, "history_seconds": 60}')
queue_semaphore('s', 1)
queue_subscribe('a.*.c', 'mail')
queue_subscribe('a.#', 'kept')
queue_group('g', 'mail', '{"x": 1}', '{"members": 2, "on_dead": "fail", "fail_kind": "failed"}')
queue_schedule('often', 'mail', '1', '{"every_seconds": 1, "priority": 2}')
queue_schedule('daily', 'mail', '1', '{"daily_at": "10:00", "time_zone": "Europe/Berlin", "catch_up": "all"}')
queue_schedule('cron', 'mail', '1', '{"cron": "*/5 1-3 * 1,2 1", "time_zone": "+02:00", "headers": {"a": "b"}}')
queue_heartbeat('w', '{"session": true, "kinds": ["mail"], "timeout_seconds": 10}')
queue_listen('["mail"]')
"""
PUSHING = """
queue_push('mail', 'a', '{"a": {"b": [1]}}')
queue_push('mail', 'a', '2', '{"on_duplicate": "replace", "delay_seconds": 0, "headers": {"h": 1}}')
queue_push('mail', null, 'null')
queue_push('mail', 'late', '2', '{"scheduled_at": "2026-01-01T00:00:01+00:00", "priority": 3}')
queue_push('mail', 'order 1', '1', '{"order_key": "o", "max_attempts": 3}')
queue_push('mail', 'order 2', '1', '{"order_key": "o"}')
queue_push('mail', 'slot 1', '1', '{"semaphores": ["s"]}')
queue_push('mail', 'slot 2', '1', '{"semaphores": ["s"]}')
queue_push('mail', 'member 1', '1', '{"group": "g", "route": ["next", "last"]}')
queue_push('mail', 'member 2', '1', '{"group": "g"}')
queue_push('kept', 'k 1', '{"a": 1}')
queue_push('kept', 'k 1', '{"a": 2}', '{"on_duplicate": "keep_time"}')
queue_push('few', 'f 1', '1')
queue_push_bytes('mail', 'bytes', decode('00', 'hex'))
queue_push_many('mail', '[{"key": "m 1", "payload": 1}, {"key": "m 1", "payload": 1}, {"payload": 2, "delay_seconds": 1}]')
queue_push_many('kept', '[{"key": "k 2", "payload": {"a": 1}}, {"key": "k 3", "payload": {"a": 1}, "order_key": "o"}]')
queue_push_many('mail', '[{"key": "m 2", "payload": 1, "order_key": "o"}, {"key": "m 3", "payload": 1, "semaphores": ["s"]}]', '{"priority": 1}')
queue_push_many('few', '[{"key": "f 2", "payload": 1}, {"key": "f 3", "payload": 1, "group": "g"}]')
queue_publish('a.b.c', 'p', '{"a": 1}', '{"headers": {"x": "y"}}')
queue_tick()
queue_wait('["mail"]', 0)
queue_get('mail', 'a')
queue_peek('mail', 10)
queue_peek('kept', 10, '{"where": {"a": 1}}')
"""
ROUND = """
queue_stage_begin('job')
queue_tick()
queue_drain('drained')
queue_pause('mail')
queue_resume('mail')
queue_heartbeat('w', '{"session": true, "kinds": ["mail"], "timeout_seconds": 10}')
queue_reap()
queue_prune()
queue_read('kept', 'reader', 10, '{"from": "oldest"}')
queue_read('a.*.c', 'other reader', 10, '{"from": "oldest"}')
queue_read_ack('reader', 1)
queue_read('kept', 'new reader', 10, '{"from": "now", "events": ["acked", "pushed"]}')
queue_stream_ready('mail')
queue_redrive('kept.dead')
queue_redrive('gone')
queue_replay('kept', '{"outcome": "acked", "limit": 5}')
"""
ENDING = """
queue_remove('mail', 'late')
queue_purge('few')
queue_semaphore('s', 5)
queue_define('few', '{"max_reserved": 1, "filter_index": true}')
queue_unsubscribe('a.#', 'kept')
queue_unschedule('often')
queue_read_end('reader')
queue_heartbeat('w', '{"stop": true}')
queue_drop('next')
queue_prune(1000)
"""
ENDS = (
    "queue_ack(%s)",
    "queue_ack(%s, '{\"result\": 1}')",
    "queue_nack(%s)",
    'queue_nack(%s, \'{"error": "no", "delay_seconds": 1}\')',
    'queue_nack(%s, \'{"error": "no", "final": true}\')',
    'queue_nack(%s, \'{"payload": {"a": 5}, "count": false}\')',
    "queue_move(%s, 'next')",
    'queue_move(%s, \'kept\', \'{"payload": {"a": 1}, "key": "k 1", "on_duplicate": "replace"}\')',
    "queue_extend(%s, 5)",
    "queue_ack_many(jsonb_build_array(%s))",
    "queue_ack_many(jsonb_build_array(%s), '{\"result\": 2}')",
    "queue_nack_many(jsonb_build_array(%s))",
    'queue_nack_many(jsonb_build_array(%s), \'{"error": "x", "final": true}\')',
    "queue_next(jsonb_build_array(%s), 'kept')",
    "queue_next(jsonb_build_array(%s, '1-00000000000000000000000000000000'), 'mail', null, 2)",
    "queue_move_many(jsonb_build_array(jsonb_build_object('receipt', %s, 'to_kind', 'next')))",
    "queue_extend_many(jsonb_build_array(%s), 1)",
)
TAKES = (
    "queue_reserve(%s)",
    "queue_reserve(%s, 'w', 3)",
    'queue_reserve(%s, null, 2, \'{"timeout_seconds": 1, "where": {"a": 1}}\')',
    "queue_reserve(%s, 'w', 20, '{\"timeout_seconds\": 1}')",
    "queue_pop(%s)",
    "queue_pop(%s, 2)",
    'queue_pop(%s, 1, \'{"where": {"a": 1}}\')',
)
KINDS = ("mail", "kept", "few", "next", "gone")


class Caller:
    """A session that may call everything and owns nothing; what it writes by itself is looked up in pg_catalog."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        connection.cursor_factory = psycopg.ClientCursor
        self.taken = 0
        self.errors: list[tuple[str, str]] = []

    def call(self, text: str, *values: Any) -> list[Any]:
        """Call a routine; an error of ours is an answer."""
        try:
            cursor = self.connection.cursor(row_factory=dict_row)
            return cursor.execute(f"select * from public.{text}".encode(), values or None).fetchall()
        except psycopg.Error as error:
            assert (error.sqlstate or "").startswith("PQ"), f"{text}: {error}"
            self.errors.append((text, error.sqlstate or ""))
            return []

    def lines(self, text: str) -> None:
        """Call what stands in the text."""
        for one in text.strip().replace("\n    ", " ").splitlines():
            self.call(one)

    def work(self, clock: Clock) -> None:
        """Take messages of all kinds in all ways, and end them in all ways."""
        self.lines(SETTING)
        for kind in KINDS:
            for take in TAKES:
                self.lines(PUSHING)
                self.connection.execute(
                    "insert into public.queue_inbox (p_kind, p_key, payload, headers, delay_seconds) values"
                    " ('mail', 'i 1', '1', null, null), ('kept', 'i 2', '{\"a\": 1}', '{\"h\": 1}', 1)"
                )
                rows = self.call(take, kind)
                for row in rows:
                    if "pop" not in take:
                        self.call(ENDS[self.taken % len(ENDS)], row["receipt"])
                        self.taken += 1
                clock.advance(0.7)
            self.lines(ROUND)
        self.batches()
        self.lines(ENDING)
        if self.connection.info.server_version >= 150000:
            self.connection.execute("select pg_stat_force_next_flush()")
        else:  # a session there tells the collector twice a second, at the end of a transaction
            time.sleep(0.6)
            self.connection.execute("select 1")
            time.sleep(0.6)
        self.connection.execute("select 1")

    def batches(self) -> None:
        """Stage, publish, abort, and read a stream."""
        part = self.call("queue_stage_begin('job')")[0]["part"]
        self.connection.execute(
            "insert into public.queue_stage (part, p_kind, p_key, payload) values (%s, 'mail', 'st', '1')",
            [part],
        )
        self.call(
            "queue_stage_publish(jsonb_build_array(jsonb_build_object('part', %s::bigint, 'messages', 1)),"
            ' \'{"query": "q", "batch": 1}\')',
            part,
        )
        self.call("queue_stage_begin('other')")
        self.call("queue_stage_abort('other')")
        self.call("queue_stream_reserve('str', 1, 0, 'mail', 5)")
        self.call("queue_stream_renew('str', 1)")
        self.call("queue_stream_plan('source')")
        self.call("queue_stream_reserve('other', 1, 0, 'mail', 5, '{\"source\": \"source\", \"plan\": 1}')")
        self.call("queue_stream_extend('source', 10)")
        self.call("queue_stream_commit('str', 1, '{\"keep\": true}')")
        self.call("queue_stream_forget('str/1')")
        self.call("queue_stream_reserve('str', 2, 0, 'mail', 5)")
        rows = self.call("queue_stream_reserve('str', 3, 0, 'mail', 5)")
        for row in rows[:1]:
            self.call(
                "queue_stream_commit('str', 3, jsonb_build_object('failed', jsonb_build_array("
                "jsonb_build_object('receipt', %s, 'error', 'x')), 'whole', false))",
                row["receipt"],
            )
        self.call("queue_stream_done('str', 2)")


@pytest.fixture
def database_url(databases_postgresql: Databases) -> Iterator[str]:
    """A database that no other test gets: some would ask it in words that mean something else there."""
    with databases_postgresql.own() as url:
        yield url


@pytest.fixture
def caller(conn: psycopg.Connection[Any], database_url: str) -> Iterator[Caller]:
    """A session of a member of queue_admin."""
    name = sql.Identifier(f"{conn.info.dbname}_caller")
    conn.execute(sql.SQL("create role {0} in role queue_admin").format(name))
    try:
        with connect(database_url) as connection:
            connection.execute("set track_functions = 'all'")
            connection.execute(sql.SQL("set session authorization {}").format(name))
            connection.execute("set search_path = pg_catalog, pg_temp")
            yield Caller(connection)
    finally:
        conn.execute(sql.SQL("drop owned by {0} cascade").format(name))
        conn.execute(sql.SQL("drop role {0}").format(name))


def test_no_overload_of_anything_is_preferred_in_a_routine(
    conn: psycopg.Connection[Any], caller: Caller, database_url: str
) -> None:
    assert hijackers.create(conn) > 5000
    with connect(database_url, schema="pg_catalog") as connection:  # what a test asks of the clock isn't ours
        clock = Clock(connection)
        caller.work(clock)
    assert caller.taken >= len(ENDS)
    found = caller.connection.execute(
        "select funcname from pg_stat_user_functions where calls > 0"
    ).fetchall()
    missing = {*routines()} - {name for (name,) in found}
    assert {name for name in missing if not name.startswith("_")} == set()
    # those in SQL are put into what calls them, and some are for scans that are slow or for errors
    assert len(missing) < len(routines()) / 5


GRANTED = "in the schema public others may create: "


@pytest.mark.parametrize("grantee", ["public", '"the others"'])
def test_no_schema_is_taken_in_which_others_may_create(empty_url: str, grantee: str) -> None:
    with connect(empty_url) as connection:
        if grantee != "public":
            connection.execute(f"create role {grantee}".encode())
        try:
            connection.execute(f"grant create on schema public to {grantee}".encode())
            said = (
                f"{GRANTED}{grantee}; revoke create on schema public from {grantee}; or a schema of its own:"
            )
            with pytest.raises(MigrationError, match=said):
                migrate.upgrade(empty_url)
            with pytest.raises(psycopg.errors.InvalidSchemaDefinition, match=f"{GRANTED}{grantee}"):
                connection.execute(install_text().encode())
            migrate.upgrade(empty_url, schema="pyqueue")
            connection.execute(f"revoke create on schema public from {grantee}".encode())
            migrate.upgrade(empty_url)
        finally:
            if grantee != "public":
                connection.execute(f"drop owned by {grantee}; drop role {grantee}".encode())


def test_a_schema_of_its_own_is_for_its_owner_to_create_in(empty_url: str) -> None:
    migrate.upgrade(empty_url, schema="pyqueue")
    with connect(empty_url) as connection:
        found = connection.execute(
            "select n.nspowner = current_user::regrole, array(select r.rolname::text from pg_roles r"
            " where not r.rolsuper and has_schema_privilege(r.oid, n.oid, 'create'))"
            " from pg_namespace n where n.nspname = 'pyqueue'"
        ).fetchall()
    assert found == [(True, [])]


def test_a_grant_that_comes_later_is_found(
    conn: psycopg.Connection[Any], caller: Caller, database_url: str
) -> None:
    name = sql.Identifier(f"{conn.info.dbname}_caller")
    said: list[str] = []
    caller.connection.add_notice_handler(
        lambda one: said.append(f"{one.message_primary}; {one.message_hint}")
    )
    caller.call("queue_prune()")
    assert said == []
    conn.execute(sql.SQL("grant create on schema public to {}").format(name))
    caller.call("queue_prune()")
    assert [one.startswith(f"{GRANTED}{conn.info.dbname}_caller; revoke create") for one in said] == [True]
    with pytest.raises(MigrationError, match=GRANTED):
        migrate.upgrade(database_url)
    caller.connection.execute(
        "create function public._queue_check_name(text) returns void language sql as ''; "
        "create function public.no(jsonb, jsonb) returns jsonb language sql as 'select $1'; "
        "create operator public.-> (leftarg = jsonb, rightarg = jsonb, function = public.no)"
    )
    conn.execute(sql.SQL("revoke create on schema public from {}").format(name))
    with pytest.raises(MigrationError, match=r"others have made .*_queue_check_name\(text\).*drop operator"):
        migrate.upgrade(database_url)
    conn.execute(sql.SQL("drop owned by {} cascade; grant queue_admin to {}").format(name, name))
    migrate.upgrade(database_url)
    said.clear()
    caller.call("queue_prune()")
    assert said == []


@pytest.mark.usefixtures("caller")
def test_a_table_of_others_is_in_the_way_in_the_schema_of_the_queue_alone(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    name = sql.Identifier(f"{conn.info.dbname}_caller")
    conn.execute("create schema elsewhere; create table elsewhere.queue_mine (n integer)")
    conn.execute(sql.SQL("alter table elsewhere.queue_mine owner to {}").format(name))
    try:
        migrate.upgrade(database_url)
        conn.execute("alter table elsewhere.queue_mine set schema public")
        with pytest.raises(MigrationError, match=r"others have made (public\.)?queue_mine; drop table"):
            migrate.upgrade(database_url)
    finally:
        conn.execute("drop table if exists public.queue_mine; drop schema elsewhere cascade")


def test_a_schema_of_somebody_else_is_refused(empty_url: str, conn: psycopg.Connection[Any]) -> None:
    name = sql.Identifier(f"{conn.info.dbname}_owner")
    with connect(empty_url) as connection:
        connection.execute(sql.SQL("create role {0}; create schema app authorization {0}").format(name))
        try:
            with pytest.raises(MigrationError, match=r"belongs to another role.*let .* install"):
                migrate.upgrade(empty_url, schema="app")
        finally:
            connection.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(name))
