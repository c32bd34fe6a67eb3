"""Every upgrade ends in what the release has, whatever was there before: on PostgreSQL."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.pool import NullPool

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.embedded import start_server
from pyqueue_sql.embedded.server import wheel_bin_dir
from pyqueue_sql.schema import frozen, migrate, migrate_postgresql, reload_postgresql, revision
from pyqueue_sql.schema.release import release
from tests.schema import next_release
from tests.schema.catalogs import DEFINITIONS, HEAD, connect, rows

if TYPE_CHECKING:
    from pathlib import Path

LIVE = frozen.MIGRATIONS.parent / "sql" / "postgresql"
DAMAGE = {
    "routines, views and triggers": {
        "function queue_pause(text)": "drop function queue_pause(text)",
        "function queue_now()": "create or replace function queue_now() returns bigint return 1",
        "function queue_resume(text)": "drop function queue_resume(text); create function queue_resume(text)"
        " returns integer language sql as 'select 1'",
        "function _queue_ticks()": "alter function _queue_ticks security definer",
        "view queue_stats": "drop view queue_stats",
        "view queue_readers": "drop view queue_readers; create view queue_readers as select 1 as one",
        "trigger queue_inbox on queue_inbox": "drop trigger queue_inbox on queue_inbox",
    },
    "comments": {
        "comment on function queue_push(text,text,jsonb,jsonb)": "comment on function queue_push is 'mine'",
        "comment on view queue_stats": "comment on view queue_stats is null",
        "comment on table delayed_queue": "comment on table delayed_queue is null",
    },
    "rights": {
        "rights on function queue_reserve(text,text,integer,jsonb)": (
            "grant execute on function queue_reserve to public"
        ),
        "rights on function queue_ack(text,jsonb)": (
            "revoke execute on function queue_ack from queue_consumer"
        ),
        "rights on function queue_drop(text)": "grant execute on function queue_drop to queue_producer",
        "rights on table delayed_queue": "grant select on delayed_queue to public",
        "rights on table queue_kind": "grant update (paused) on queue_kind to queue_producer",
        "rights on view queue_stats": "grant select on queue_stats to pg_monitor with grant option",
    },
    "rights on a sequence": {
        "rights on sequence queue_event_3": "grant usage on sequence queue_event_3 to public",
    },
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_missing_or_differs_is_made_again_and_named(database_url: str, what: str):
    before = seen = rows(database_url, DEFINITIONS)
    for text in DAMAGE[what].values():
        rows(database_url, text)
        was, seen = seen, rows(database_url, DEFINITIONS)
        assert seen != was or "sequence" in what, text
    found = migrate.upgrade(database_url)
    assert rows(database_url, DEFINITIONS) == before
    of_it = re.compile(f"(rights on |comment on )?({'|'.join(map(re.escape, DAMAGE[what]))})")
    assert set(DAMAGE[what]) <= set(found)
    assert [one for one in found if not of_it.fullmatch(one)] == []
    assert migrate.upgrade(database_url) == []


@pytest.mark.parametrize(
    "schema",
    [pytest.param("queue", marks=pytest.mark.long), "q"],  # which is an alias in our texts, too
)
def test_what_differs_is_named_and_stays_so(empty_url: str, schema: str):
    migrate.upgrade(empty_url, schema=schema)
    assert migrate.differing(empty_url, schema=schema) == []
    rows(empty_url, f"comment on table {schema}.queue_version is null")  # so that each is looked at
    assert migrate.differing(empty_url, schema=schema) == []
    for text in (
        "drop function {}.queue_pause(text)",
        "create or replace function {}.queue_resume(in_kind text) returns boolean"
        " language sql as 'select true'",
        "drop view {}.queue_readers",
    ):
        rows(empty_url, text.format(schema))
    for _ in range(2):
        assert sorted(migrate.differing(empty_url, schema=schema)) == [
            "function queue_resume",
            "missing: function queue_pause",
            "missing: queue_readers",
        ]
    migrate.upgrade(empty_url, schema=schema)
    assert migrate.differing(empty_url, schema=schema) == []
    rows(empty_url, f"grant select on {schema}.queue_stats to public")
    assert migrate.differing(empty_url, schema=schema) == [reload_postgresql.REST]


@pytest.mark.parametrize("body", ["return 1", pytest.param("as 'select 1::bigint'", marks=pytest.mark.long)])
def test_what_the_server_keeps_without_its_text_is_named_too(empty_url: str, body: str):
    migrate.upgrade(empty_url)
    rows(empty_url, f"create or replace function queue_now() returns bigint language sql volatile {body}")
    rows(empty_url, "create or replace function queue_pause(in_kind text) returns boolean return true")
    rows(empty_url, "drop function queue_time(timestamptz) cascade")
    assert sorted(migrate.differing(empty_url)) == [
        "function queue_now",
        "function queue_pause",
        "missing: function queue_time",
    ]
    migrate.upgrade(empty_url)
    assert migrate.differing(empty_url) == []


def test_what_is_made_from_what_the_server_prints_is_printed_so_again(database_url: str):
    printed = """
        select p.proname::text, pg_get_functiondef(p.oid) from pg_proc p
        where p.pronamespace = current_schema()::regnamespace and p.prokind = 'f'
        union all select c.relname::text,
            format('create or replace view %I as %s', c.relname, pg_get_viewdef(c.oid))
        from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'v'
        order by 1
    """
    before = dict(rows(database_url, printed))
    assert {"queue_now", "queue_stats"} <= set(before)
    for text in before.values():
        rows(database_url, text)
    after = dict(rows(database_url, printed))
    assert [name for name in before if after[name] != before[name]] == []


def test_no_view_has_a_column_that_an_older_server_names_otherwise(database_url: str):
    """PostgreSQL 14 calls a bare false bool, so what comes from there by pg_upgrade would differ."""
    views = """
        select c.relname::text, pg_get_viewdef(c.oid) from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'v'
    """
    bare = re.compile(r"^ *(?:true|false)(?: AS bool)?,?$", re.MULTILINE)
    assert [name for name, text in rows(database_url, views) if bare.search(text)] == []


@pytest.mark.long
@pytest.mark.parametrize("form", ["custom", "plain"])
def test_what_comes_out_of_a_dump_is_in_order(form: str):
    programs = wheel_bin_dir()
    with start_server() as server:
        base = server.url.rpartition("/")[0]
        for name in ("before", "after"):
            rows(server.url, f"create database {name}")
        migrate.upgrade(f"{base}/before")
        dump = [programs / "pg_dump", f"--format={form}", f"{base}/before"]
        given = subprocess.run(dump, capture_output=True, check=True).stdout
        restore = {
            "custom": [programs / "pg_restore", "--exit-on-error", f"--dbname={base}/after"],
            "plain": [programs / "psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"{base}/after"],
        }
        subprocess.run(restore[form], input=given, capture_output=True, check=True)
        assert migrate.differing(f"{base}/after") == []
        assert migrate.upgrade(f"{base}/after") == []


def test_what_was_said_of_a_column_that_is_dropped_by_now_is_left_out(database_url: str):
    given = release(ScriptDirectory(str(frozen.MIGRATIONS)), HEAD, migrate_postgresql.DIALECT)
    said = [f"comment on column queue_kind.{name} is 'new'" for name in ("paused", "dropped")]
    later = dataclasses.replace(given, routines=[*said, *given.routines])
    found: list[str] = []

    def step(connection: sqlalchemy.Connection, _: str | None) -> None:
        found[:] = reload_postgresql.settle(connection, later, revision.VERSION_TABLE, loaded=False)

    migrate_postgresql.transaction(database_url, None, revision.VERSION_TABLE, step)
    assert found == ["comment on table queue_kind"]


def test_all_at_once(database_url: str):
    before = rows(database_url, DEFINITIONS)
    names = "select p.oid::regprocedure::text from pg_proc p where p.proname ~ '^_?queue_'"
    names += " and p.pronamespace = 'public'::regnamespace"
    views = "select viewname::text from pg_views where schemaname = 'public'"
    rows(database_url, "drop trigger queue_inbox on queue_inbox")
    rows(database_url, f"drop view {', '.join(name for (name,) in rows(database_url, views))}")
    rows(database_url, f"drop function {', '.join(name for (name,) in rows(database_url, names))}")
    assert len(migrate.upgrade(database_url)) > 200
    assert rows(database_url, DEFINITIONS) == before


def test_a_view_of_ours_is_not_in_the_way_of_a_function_with_another_result(database_url: str):
    before = rows(database_url, DEFINITIONS)
    rows(database_url, "drop function queue_now() cascade; drop view if exists queue_stats cascade")
    rows(database_url, "create function queue_now() returns numeric language sql as 'select 1'")
    rows(database_url, "create view queue_stats as select queue_now() as one")
    found = migrate.upgrade(database_url)
    assert {"function queue_now()", "view queue_stats"} <= set(found)
    assert rows(database_url, DEFINITIONS) == before


def test_a_view_of_the_application_holds_a_function_that_it_needs(database_url: str):
    before = rows(database_url, DEFINITIONS)
    rows(database_url, "drop function queue_resume(text)")
    rows(database_url, "create function queue_resume(text) returns integer language sql as 'select 1'")
    rows(database_url, "create view mine as select queue_resume('a')")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist, match="queue_resume"):
        migrate.upgrade(database_url)
    rows(database_url, "drop view mine")
    migrate.upgrade(database_url)
    assert rows(database_url, DEFINITIONS) == before


def test_where_nothing_differs_no_lock_is_asked_for(database_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(migrate_postgresql, "TRIES", 1)
    with connect(database_url, autocommit=False) as application:
        application.execute("insert into queue_inbox (p_kind, p_key, payload) values ('a', 'k', '1')")
        application.execute("select from queue_stats")
        assert migrate.upgrade(database_url) == []


def test_what_is_found_in_order_is_left_as_it_was(database_url: str):
    rows(database_url, "comment on table queue_version is null")  # which says that nothing has changed since
    text = "select xmin::text, oid from pg_proc union all select xmin::text, oid from pg_class order by 2"
    before = rows(database_url, text)
    assert migrate.upgrade(database_url) == []
    assert rows(database_url, text) == before


def test_what_somebody_was_granted_and_granted_to_others_is_taken_back_from_all(database_url: str):
    one, two = (sql.Identifier(f"{name}_of_{conninfo_to_dict(database_url)['dbname']}") for name in "ab")
    acl = "select relacl::text from pg_class where relname = 'queue_stats'"
    before = rows(database_url, acl)
    with connect(database_url) as connection:
        connection.execute(sql.SQL("create role {}; create role {}").format(one, two))
        try:
            connection.execute(sql.SQL(
                "grant select on queue_stats to {0} with grant option; set role {0};"
                " grant select on queue_stats to {1}; reset role"
            ).format(one, two))  # fmt: skip
            assert migrate.upgrade(database_url) == ["rights on view queue_stats"]
            assert rows(database_url, acl) == before
        finally:
            connection.execute(
                sql.SQL("reset role; drop owned by {0}, {1}; drop role {0}, {1}").format(one, two)
            )


def test_what_our_roles_have_by_default_is_what_the_release_gives(database_url: str, empty_url: str):
    rows(empty_url, "alter default privileges grant execute on functions to queue_producer")
    rows(empty_url, "alter default privileges grant select on tables to queue_producer")
    migrate.upgrade(empty_url)
    there, wanted = (
        {row for row in rows(url, DEFINITIONS) if "queue_version" not in str(row)}
        for url in (empty_url, database_url)
    )
    assert there == wanted


def test_what_is_of_others_is_left_alone(database_url: str):
    rows(database_url, "create table queue_position (id integer); grant select on queue_position to public")
    rows(database_url, "create function queue_mine() returns integer language sql as 'select 1'")
    text = "select relacl::text from pg_class where relname = 'queue_position' union all"
    text += " select proacl::text from pg_proc where proname = 'queue_mine'"
    before = rows(database_url, text)
    rows(database_url, "drop view queue_stats")
    assert "view queue_stats" in migrate.upgrade(database_url)
    assert rows(database_url, text) == before


@pytest.mark.long
def test_roles_are_made_and_granted_once_the_installer_may():
    with start_server() as server:
        rows(server.url, "create role owner login password 'owner'")
        rows(server.url, "create database app owner owner")
        base = server.url.rpartition("@")[2].rpartition("/")[0]
        url = f"postgresql://owner:owner@{base}/app"
        migrate.upgrade(url)
        roles = "select rolname::text from pg_roles where rolname ~ '^queue_' order by 1"
        assert rows(url, roles) == []
        assert migrate.upgrade(url) == []
        rows(server.url, "alter role owner createrole")
        found = migrate.upgrade(url)
        assert {f"role {name}" for (name,) in rows(url, roles)} == {
            one for one in found if one.startswith("role ")
        }
        assert "rights on function queue_push(text,text,jsonb,jsonb)" in found
        granted = "select has_function_privilege('queue_producer', oid, 'execute') from pg_proc"
        granted += " where proname = 'queue_push'"
        assert rows(url, granted) == [(True,)]
        rows(f"{server.url.rpartition('/')[0]}/app", "drop owned by queue_producer; drop role queue_producer")
        assert "role queue_producer" in migrate.upgrade(url)
        assert rows(url, granted) == [(True,)]


def manifest() -> str:
    """Return install.sql as psql reads it."""
    text = (LIVE / "install.sql").read_text(encoding="utf-8")
    return re.sub(r"(?m)^\\ir (\S+)$", lambda found: (LIVE / found[1]).read_text(encoding="utf-8"), text)


def test_what_the_manifest_installed_is_taken_over(empty_url: str):
    rows(empty_url, manifest())
    before = rows(empty_url, DEFINITIONS)
    assert migrate.current(empty_url) == HEAD
    with connect(empty_url) as connection:
        Queue(connection).push("mail", "k", 1)
    assert migrate.upgrade(empty_url) == []
    assert rows(empty_url, DEFINITIONS) == before
    # whoever had installed it by another way has no version
    rows(empty_url, "drop table queue_version; drop function queue_pause(text)")
    assert migrate.upgrade(empty_url)[0] == f"taken over as {HEAD}"
    assert rows(empty_url, DEFINITIONS) == before
    assert rows(empty_url, "select p_key from delayed_queue") == [("k",)]
    migrate.downgrade(empty_url)
    assert rows(empty_url, "select tablename::text from pg_tables where schemaname = 'public'") == []


@pytest.mark.long
@pytest.mark.usefixtures("released")
def test_what_the_manifest_installed_goes_on_to_the_next_release(empty_url: str):
    migrate.upgrade(empty_url)
    expected = rows(empty_url, DEFINITIONS)
    migrate.downgrade(empty_url)
    rows(empty_url, manifest())
    migrate.upgrade(empty_url)
    assert migrate.current(empty_url) == next_release.HEAD
    assert rows(empty_url, DEFINITIONS) == expected


@pytest.mark.parametrize("name", ["renamed", 'My "own"'])
def test_after_a_rename_of_the_schema_the_routines_find_their_tables(empty_url: str, name: str):
    migrate.upgrade(empty_url, schema="before")
    quoted = revision.quote(name)
    with connect(empty_url, schema="before") as connection:
        Queue(connection).push("mail", "k", 1)
    rows(empty_url, f"alter schema before rename to {quoted}")
    found = migrate.upgrade(empty_url, schema=name)
    assert any(one.startswith("function queue_push(") for one in found)
    with connect(empty_url, schema=name) as connection:
        assert [message.key for message in Queue(connection).reserve("mail")] == ["k"]
    assert migrate.upgrade(empty_url, schema=name) == []


ENV = """
from alembic import context
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None)
with context.begin_transaction():
    context.run_migrations()
"""


@pytest.fixture
def application(tmp_path: Path) -> Config:
    """The configuration of an application with our revisions as a branch."""
    (tmp_path / "env.py").write_text(ENV)
    (tmp_path / "own").mkdir()
    config = Config()
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{tmp_path / 'own'}\n{frozen.MIGRATIONS / 'versions'}")
    return config


def run(config: Config, url: str, what: Any, to: str) -> None:
    """Run a command of the application's Alembic."""
    engine = sqlalchemy.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        what(config, to)
        connection.commit()


@pytest.mark.long
def test_what_a_branch_of_the_application_installed_is_taken_over(
    empty_url: str, application: Config, request: pytest.FixtureRequest
):
    run(application, empty_url, command.upgrade, "pyqueue_sql@head")
    before = rows(empty_url, DEFINITIONS)
    rows(empty_url, "drop function queue_pause(text)")
    found = migrate.upgrade(empty_url)
    assert found[0] == f"taken over as {HEAD}"
    assert "function queue_pause(text)" in found
    assert rows(empty_url, DEFINITIONS) == before
    # the branch does nothing any more, and says where it may not
    released: Path = request.getfixturevalue("released")
    application.set_main_option("version_locations", str(released / "versions"))
    with pytest.raises(MigrationError, match=f"{HEAD} and looked after by pyqueue upgrade.*run that before"):
        run(application, empty_url, command.upgrade, "pyqueue_sql@head")
    assert rows(empty_url, DEFINITIONS) == before
    migrate.upgrade(empty_url)
    after = rows(empty_url, DEFINITIONS)
    run(application, empty_url, command.upgrade, "pyqueue_sql@head")
    run(application, empty_url, command.downgrade, "pyqueue_sql@base")
    assert rows(empty_url, DEFINITIONS) == after
    assert migrate.current(empty_url) == next_release.HEAD


@pytest.mark.long
def test_what_a_branch_has_brought_further_is_taken_over_as_that(
    empty_url: str, application: Config, released: Path
):
    application.set_main_option("version_locations", str(released / "versions"))
    run(application, empty_url, command.upgrade, "pyqueue_sql@head")
    assert migrate.upgrade(empty_url) == [f"taken over as {next_release.HEAD}"]
    assert migrate.current(empty_url) == next_release.HEAD


def test_a_prune_warns_of_what_anybody_may_execute_until_an_upgrade(database_url: str):
    def warned() -> list[str | None]:
        found: list[str | None] = []
        with connect(database_url) as connection:
            connection.add_notice_handler(lambda notice: found.append(notice.message_primary))
            Queue(connection).prune()
        return found

    assert warned() == []
    rows(database_url, "grant execute on function queue_pop, queue_drop to public")
    text = "anybody may execute routines of the queue (2), such as public.queue_drop(text)"
    assert warned() == [text]
    migrate.upgrade(database_url)
    assert warned() == []
    # as after pg_restore --no-acl
    rows(database_url, "update pg_proc set proacl = null where proname = 'queue_pop'")
    assert [one and one.partition(",")[0] for one in warned()] == [
        "anybody may execute routines of the queue (1)"
    ]
    migrate.upgrade(database_url)
    assert warned() == []
