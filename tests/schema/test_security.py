"""Who may do what, and that no caller can make a routine do something else with the rights of its owner."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from pyqueue_sql.schema import migrate
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema.catalogs import connect
from tests.schema.sources import install_text, routines
from tests.schema.test_hijack import Caller, caller  # noqa: F401

EVERYBODY = {"queue_now", "queue_time", "queue_timestamp"}
PUBLIC = {name for name in routines() if not name.startswith("_")}

DEFINERS = """select p.proname, p.proconfig from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.prosecdef"""


@pytest.fixture
def role(conn: psycopg.Connection) -> Iterator[str]:
    """A role that may do nothing yet; roles belong to the cluster, so it is dropped again."""
    name = f"pyqueue_test_{uuid.uuid4().hex[:12]}"
    conn.execute(sql.SQL("create role {}").format(sql.Identifier(name)))
    try:
        yield name
    finally:
        conn.execute("reset session authorization")
        for text in ("drop owned by {} cascade", "drop role {}"):
            conn.execute(sql.SQL(text).format(sql.Identifier(name)))


def become(conn: psycopg.Connection, role: str, *groups: str) -> None:
    """Go on as a role that is a member of the groups."""
    for group in groups:
        conn.execute(sql.SQL("grant {} to {}").format(sql.Identifier(group), sql.Identifier(role)))
    conn.execute(sql.SQL("set session authorization {}").format(sql.Identifier(role)))


def callable_by(conn: psycopg.Connection, role: str) -> set[str]:
    """Return the names of our routines that a role may call."""
    rows = conn.execute(
        "select p.proname from pg_proc p where p.pronamespace = current_schema()::regnamespace"
        " and has_function_privilege(%s, p.oid, 'execute')",
        [role],
    )
    return {name for (name,) in rows}


RUNNING_AS_OWNER = PUBLIC - EVERYBODY | {"_queue_drain_inbox"}
"""A trigger has the rights of whoever inserts, unless it is a definer."""


def assert_pinned(conn: psycopg.Connection) -> None:
    """The routines that run as their owner look up nothing but what is the server's."""
    rows = conn.execute(DEFINERS).fetchall()
    paths = {one for _, config in rows for one in config if one.startswith("search_path=")}
    assert {name for name, config in rows if len(config) > 0} == RUNNING_AS_OWNER
    assert paths == {"search_path=pg_catalog, pg_temp"}


def test_nothing_is_for_public(conn: psycopg.Connection) -> None:
    open_to_all = conn.execute("""
        select p.oid::regprocedure::text, a.privilege_type
        from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where p.pronamespace = current_schema()::regnamespace and a.grantee = 0
        union all
        select c.relname, a.privilege_type
        from pg_class c, aclexplode(coalesce(c.relacl,
            acldefault(case when c.relkind = 'S' then 's' else 'r' end::"char", c.relowner))) a
        where c.relnamespace = current_schema()::regnamespace and a.grantee = 0""").fetchall()
    assert open_to_all == []


def test_public_routines_run_as_their_owner_and_internal_ones_do_not(conn: psycopg.Connection) -> None:
    assert {name for name, _ in conn.execute(DEFINERS)} == RUNNING_AS_OWNER


def test_the_search_path_is_pinned(conn: psycopg.Connection) -> None:
    assert_pinned(conn)


def test_the_search_path_is_pinned_where_psql_installs(conn: psycopg.Connection, database_url: str) -> None:
    migrate.downgrade(database_url)
    with conn.transaction():
        conn.execute(install_text())  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert_pinned(conn)


def test_rights_that_a_database_gives_by_default_are_taken_back(empty_url: str, role: str) -> None:
    with connect(empty_url) as conn:
        conn.execute(
            sql.SQL(
                "alter default privileges grant execute on functions to {0};"
                " alter default privileges grant select on tables to {0}"
            ).format(sql.Identifier(role))
        )
        migrate.upgrade(empty_url)
        callable_then = callable_by(conn, role)
        readable = conn.execute(
            "select c.relname from pg_class c where c.relnamespace = current_schema()::regnamespace"
            " and c.relkind in ('r', 'v') and has_table_privilege(%s, c.oid, 'select')",
            [role],
        ).fetchall()
        conn.execute(sql.SQL("drop owned by {}").format(sql.Identifier(role)))
    assert callable_then == set()
    assert {name for (name,) in readable} <= {"queue_version"}


def test_a_producer_pushes_and_does_not_reserve(conn: psycopg.Connection, role: str) -> None:
    become(conn, role, "queue_producer")
    assert conn.execute("select outcome from queue_push('mail', 'a', '1')").fetchall() == [("created",)]
    for text in ("select queue_reserve('mail')", "select queue_pop('mail')", "select queue_get('mail', 'a')"):
        with pytest.raises(InsufficientPrivilege):
            conn.execute(text)


def test_a_consumer_reserves_and_finishes_and_does_not_push(conn: psycopg.Connection, role: str) -> None:
    conn.execute("select queue_push('mail', 'a', '1')")
    become(conn, role, "queue_consumer")
    row = conn.execute("select receipt from queue_reserve('mail')").fetchone()
    assert row is not None
    for text in ("select queue_push('mail', 'b', '1')", "select queue_pause('mail')", "table queue_messages"):
        with pytest.raises(InsufficientPrivilege):
            conn.execute(text)
    assert conn.execute("select outcome from queue_ack(%s)", row).fetchone() == ("acked",)
    assert conn.execute("""select ready from queue_listen('"mail"')""").fetchone() == (False,)
    assert conn.execute("""select p_kind from queue_wait('"mail"', 0)""").fetchone() is None
    assert conn.execute("select alive from queue_heartbeat('w')").fetchone() == (True,)
    assert conn.execute("select worker from queue_reap()").fetchone() is None


def test_an_operator_looks_and_runs_and_does_not_consume(conn: psycopg.Connection, role: str) -> None:
    conn.execute("select queue_push('mail', 'a', '1'), queue_heartbeat('w', '{\"session\": true}')")
    become(conn, role, "queue_operator")
    assert conn.execute("select worker, alive from queue_workers").fetchall() == [("w", True)]
    assert conn.execute("select ready, paused from queue_stats").fetchall() == [(1, False)]
    assert conn.execute("select changed from queue_pause('mail')").fetchone() == (True,)
    assert conn.execute("select changed from queue_resume('mail')").fetchone() == (True,)
    assert conn.execute("select outcome from queue_remove('mail', 'a')").fetchone() == ("removed",)
    for text in ("select queue_reserve('mail')", "select queue_push('mail')", "table delayed_queue"):
        with pytest.raises(InsufficientPrivilege):
            conn.execute(text)


def test_an_operator_reads_the_views_and_no_secret(conn: psycopg.Connection, role: str) -> None:
    conn.execute("select queue_push('mail', 'a', '1')")
    row = conn.execute("select receipt from queue_reserve('mail')").fetchone()
    assert row is not None
    secret = row[0].split("-")[1]
    become(conn, role, "queue_operator")
    for text in (
        "select to_jsonb(m)::text from queue_messages m",
        "select to_jsonb(s)::text from queue_stats s",
        "select to_jsonb(g)::text from queue_get('mail', 'a') g",
        "select to_jsonb(p)::text from queue_peek('mail', 10) p",
    ):
        rows = conn.execute(text).fetchall()
        assert len(rows) == 1
        assert secret not in rows[0][0]


HIJACK = """
create schema mine;
create function mine.taken() returns trigger language plpgsql as $$begin raise 'hijacked'; end$$;
create function mine.eq(text, text) returns boolean language plpgsql as $$begin raise 'hijacked'; end$$;
create operator mine.= (leftarg = text, rightarg = text, function = mine.eq);
create operator mine.|| (leftarg = text, rightarg = text, function = mine.cat);
create function mine.queue_now() returns bigint language plpgsql as $$begin raise 'hijacked'; end$$;
create function mine._queue_check_name(text, integer, text default '') returns void
    language plpgsql as $$begin raise 'hijacked'; end$$;
create table mine.delayed_queue (p_kind text, p_key text);
create table mine.queue_count (p_kind text);
create view mine.queue_kind as select 1 / 0 as p_kind;
create temporary table delayed_queue (p_kind text, p_key text, entry bigint, payload jsonb,
    payload_bytes bytea, headers jsonb, priority smallint, scheduled_at bigint, scheduled_at_initially bigint,
    created_at bigint, reserved_at bigint, attempts integer, reserved_by text, secret bytea, ready_at bigint,
    due_at bigint, max_attempts integer, pending jsonb,
    constraint delayed_queue_pkey primary key (p_kind, p_key));
create temporary table queue_count (p_kind text, pushed bigint);
create trigger taken before insert on pg_temp.delayed_queue for each row execute function mine.taken();
set search_path = pg_temp, mine, public, pg_catalog;
""".replace(
    "create operator mine.||",
    "create function mine.cat(text, text) returns text language plpgsql as $$begin raise 'hijacked'; end$$;\n"
    "create operator mine.||",
)


def test_nobody_can_put_something_of_his_own_in_between(conn: psycopg.Connection, role: str) -> None:
    conn.execute(
        sql.SQL("grant create on database {} to {}").format(
            sql.Identifier(conn.info.dbname), sql.Identifier(role)
        )
    )
    become(conn, role, "queue_admin")
    conn.execute(HIJACK)
    assert conn.execute("select outcome from public.queue_push('mail', 'a', '1')").fetchone() == ("created",)
    many = """select outcome from public.queue_push_many('mail', '[{"key": "b", "payload": 1}]')"""
    assert conn.execute(many).fetchone() == ("created",)
    row = conn.execute("select receipt from public.queue_reserve('mail')").fetchone()
    assert row is not None
    assert conn.execute("select outcome from public.queue_nack(%s)", row).fetchone() == ("retry",)
    assert len(conn.execute("select from public.queue_pop('mail', 2)").fetchall()) == 2
    assert conn.execute("select count(*) from pg_temp.delayed_queue").fetchone() == (0,)


def test_a_consumer_cannot_share_a_cursor_that_blinds_other_sessions(
    conn: psycopg.Connection, role: str, database_url: str
) -> None:
    name = conn.execute("select _queue_setting('cursor mail')").fetchone()  # which nobody else can know
    become(conn, role, "queue_consumer")
    most = 9_000_000_000_000_000_000
    numbers = ",".join(map(str, [64, most, most, 0, 6000, most, most, most, 0, most, 1000, 0, most]))
    lanes = ",".join(["{0}", f"{{{most}}}", "{0}"] + [f"{{{most}}}", "{0}"] * 2)
    conn.execute("select set_config(%s, %s, false)", [*(name or ()), f"(,mail,{numbers},{lanes})"])
    conn.execute("select queue_reserve('mail')")
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute("select queue_push('mail', 'a', '1')")
        found = [row for _ in range(200) for row in other.execute("select p_key from queue_reserve('mail')")]
    assert found == [("a",)]


# what is the caller's to decide: how long to wait, in which transaction, where and as whom
OF_THE_CALLER = (
    "search_path|role|session_authorization|.*timeout|.*transaction.*|.*log.*|.*keepalives.*|.*tablespace.*|"
    "client_encoding|client_connection_check_interval|seed|random_page_cost|.*debug.*|tcp.*|default_table_access_method|"
    "post_auth_delay|trace.*|ssl.*|commit_.*|stats.*|track.*|exit_on_error|backtrace.*|allow.*|lc_.*|application_name|local_preload.*"
)
SETTABLE = """
select s.name, case s.vartype when 'bool' then case s.setting when 'on' then 'off' else 'on' end
    when 'enum' then (select e from unnest(s.enumvals) e where e <> s.setting order by e limit 1) end
from pg_settings s where s.context = 'user' and s.vartype in ('bool', 'enum') and s.name !~ %s
"""
HOSTILE = {
    "datestyle": "German, DMY",
    "intervalstyle": "sql_standard",
    "timezone": "Asia/Kathmandu",
    "timezone_abbreviations": "Australia",
    "extra_float_digits": "-15",
    "join_collapse_limit": "1",
    "from_collapse_limit": "1",
    "geqo_threshold": "2",
    "work_mem": "64",
    "gin_fuzzy_search_limit": "1",
}


@pytest.mark.long
def test_no_setting_of_a_session_changes_what_a_call_does(
    conn: psycopg.Connection[Any],
    caller: Caller,  # noqa: F811
    database_url: str,
) -> None:
    with connect(database_url) as other:
        clock = Clock(other)
        caller.work(clock)
        usual = list(caller.errors)
        hostile = {**dict(conn.execute(SETTABLE, [f"^({OF_THE_CALLER})$"]).fetchall()), **HOSTILE}
        assert hostile["standard_conforming_strings"] == "off"
        caller.connection.execute("discard plans")
        for name, value in hostile.items():
            caller.connection.execute("select set_config(%s, %s, false)", [name, value])
        caller.errors.clear()
        caller.work(clock)
    assert len(hostile) > 40
    # a group that has finished by now, say, is none of it
    new = {one for one in caller.errors if one[1] in ("PQ001", "PQ002", "PQ003")} - {*usual}
    assert new == set()


def test_a_session_can_neither_find_nor_guess_what_it_keeps(conn: psycopg.Connection[Any], role: str) -> None:
    conn.execute(
        """select queue_define('mail', '{"rate_per_second": 100000, "max_reserved": 5, "log_seconds": 5}')"""
    )
    conn.execute("select queue_push('mail', n::text, '1') from generate_series(1, 9) n")
    become(conn, role, "queue_consumer")
    for _ in range(3):
        conn.execute("select queue_ack(r.receipt) from queue_reserve('mail') r")
    assert conn.execute("select count(*) from pg_settings where name like 'pyqueue.%'").fetchone() == (0,)
    for text in (
        "table queue_secret",
        "select _queue_setting('limits mail')",
        "select _queue_setting('limits mail')",
        "select nextval('queue_secret')",
        "select currval('queue_secret')",
    ):
        with pytest.raises(InsufficientPrivilege):
            conn.execute(text.encode())
    with contextlib.suppress(InsufficientPrivilege):  # PostgreSQL 14 refuses it, later ones answer nothing
        text = "select pg_sequence_last_value('queue_secret'::regclass)"
        assert conn.execute(text).fetchone() == (None,)
