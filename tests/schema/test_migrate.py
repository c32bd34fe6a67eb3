"""The schema goes in, out, elsewhere and twice; nothing is left, and nothing of others' is touched."""

import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest
import sqlalchemy
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy.pool import NullPool

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.alembic import include_name, include_object, tables
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.embedded import start_server
from pyqueue_sql.schema import frozen, migrate, migrate_postgresql
from pyqueue_sql.schema.revision import VERSION_TABLE
from tests.schema.catalogs import CATALOGS, DEFINITIONS, HEAD, Rows, connect, printed, rows

PATIENCE = "?options=-cstatement_timeout%3D20s"


def test_down_leaves_nothing(empty_url: str):
    before = rows(empty_url, CATALOGS)
    migrate.upgrade(empty_url)
    assert migrate.current(empty_url) == HEAD
    assert rows(empty_url, CATALOGS) != before
    with connect(empty_url) as connection:
        Queue(connection).push("a", "k")
    migrate.downgrade(empty_url)
    assert rows(empty_url, CATALOGS) == before
    assert migrate.current(empty_url) is None


@pytest.mark.mission("E1")
def test_down_twice_and_up_again(empty_url: str):
    migrate.downgrade(empty_url)
    migrate.upgrade(empty_url)
    migrate.downgrade(empty_url)
    migrate.downgrade(empty_url)
    migrate.upgrade(empty_url)
    assert migrate.current(empty_url) == HEAD


def test_up_twice_is_once(database_url: str):
    text = "select xmin::text, oid from pg_proc union all select xmin::text, oid from pg_class order by 2"
    before = rows(database_url, text)
    migrate.upgrade(database_url)
    assert rows(database_url, text) == before


def test_the_version_has_a_table_of_its_own(database_url: str):
    assert rows(database_url, "select version_num from queue_version") == [(HEAD,)]
    assert rows(database_url, "select to_regclass('alembic_version')") == [(None,)]


def test_the_tables_are_the_ones_that_autogenerate_is_told_of(database_url: str):
    found = rows(database_url, "select tablename::text from pg_tables where schemaname = 'public'")
    assert {name for (name,) in found} == tables() - {
        "queue_epoch",
        "queue_gate",
        "queue_log_epoch",
        "queue_order",
        "queue_order_waiting",
    }


@pytest.mark.parametrize("schema", ["queue", 'My "own"; it\'s 100% :x'])
def test_another_schema_holds_all_of_it(empty_url: str, schema: str):
    before = rows(empty_url, CATALOGS)
    migrate.upgrade(empty_url, schema=schema)
    assert migrate.current(empty_url, schema=schema) == HEAD
    assert migrate.current(empty_url) is None
    homes = "select distinct pronamespace::regnamespace::oid from pg_proc where proname ~ '^_?queue_'"
    where = f"select n.nspname::text from pg_namespace n where n.oid in ({homes})"
    assert rows(empty_url, where) == [(schema,)]
    with connect(empty_url, schema=schema) as connection:
        queue = Queue(connection)
        queue.push("a", "k", 1)
        # the routines find their tables whatever the path of the caller
        connection.execute("select set_config('search_path', 'pg_catalog', false)")
        routine = sql.Identifier(schema, "queue_push")
        pushed = sql.SQL("select outcome from {}('a', 'k', '1')").format(routine)
        assert connection.execute(pushed).fetchall() == [("ignored",)]
    migrate.downgrade(empty_url, schema=schema)
    with connect(empty_url) as connection:
        connection.execute(sql.SQL("drop schema {}").format(sql.Identifier(schema)))
    assert rows(empty_url, CATALOGS) == before


def test_two_installations_live_side_by_side(database_url: str):
    migrate.upgrade(database_url, schema="second")
    migrate.downgrade(database_url)
    with connect(database_url, schema="second") as connection:
        assert Queue(connection).push("a", "k").outcome == "created"


def test_a_search_path_that_names_no_schema_is_an_error(database_url: str):
    with pytest.raises(MigrationError, match="no current schema"):
        migrate.upgrade(f"{database_url}?options=-csearch_path%3Dnowhere")


@pytest.mark.parametrize("schema", [None, 'a "b"'])
def test_what_is_printed_does_the_same(empty_url: str, schema: str | None):
    before = rows(empty_url, CATALOGS)
    migrate.upgrade(empty_url, schema="other" if schema else None)
    expected = rows(empty_url, DEFINITIONS, "other" if schema else None)
    migrate.downgrade(empty_url, schema="other" if schema else None)
    with connect(empty_url) as connection:
        connection.execute(printed(migrate.upgrade, schema=schema).encode())
    found = rows(empty_url, DEFINITIONS, schema)
    assert len(found) == len(expected) > 50
    if schema is None:
        assert found == expected
    with connect(empty_url) as connection:
        connection.execute(printed(migrate.downgrade, schema=schema).encode())
        connection.execute(b'drop schema if exists other; drop schema if exists "a ""b"""')
    assert rows(empty_url, CATALOGS) == before


def test_a_fresh_install_by_the_manifest_is_the_same(empty_url: str):
    live = frozen.MIGRATIONS.parent / "sql" / "postgresql"
    includes = [
        line.split()[1]
        for line in (live / "install.sql").read_text().splitlines()
        if line.startswith("\\ir ")
    ]
    with connect(empty_url) as connection:
        connection.execute("create schema zz_live")
    with connect(empty_url, schema="zz_live", autocommit=False) as connection:
        for name in includes:
            connection.execute((live / name).read_bytes())
    migrate.upgrade(empty_url, schema="zz_done")

    def definitions(schema: str) -> Rows:
        return [
            tuple(str(cell).replace(schema, "…") for cell in row)
            for row in rows(empty_url, DEFINITIONS, schema)
        ]

    assert definitions("zz_live") == definitions("zz_done")


def test_two_upgrades_at_once_make_one(empty_url: str):
    code = "import sys; from pyqueue_sql.schema import migrate; migrate.upgrade(sys.argv[1])"
    root = Path(__file__).parents[2]
    running = [
        subprocess.Popen([sys.executable, "-c", code, empty_url], cwd=root, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=60)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], errors
    assert migrate.current(empty_url) == HEAD


def test_an_upgrade_waits_for_another_and_then_finds_nothing_to_do(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
):
    # neither the timeout for locks on tables nor the role's own is for this one, and no second try hides it
    monkeypatch.setattr(migrate_postgresql, "TRIES", 1)
    impatient = f"{empty_url}?options=-clock_timeout%3D100"
    with ThreadPoolExecutor() as pool:
        with migrate_postgresql._transaction(empty_url) as connection:  # pyright: ignore[reportPrivateUsage]
            migrate_postgresql._prepare(connection, None, creates=True)  # pyright: ignore[reportPrivateUsage]
            others = [pool.submit(migrate.upgrade, impatient) for _ in range(2)]
            time.sleep(migrate_postgresql.LOCK_TIMEOUT_MS / 1000 + 0.7)
            assert not any(other.done() for other in others)
            assert migrate.current(empty_url) is None
        assert [other.result(timeout=60) for other in others] == [[], []]
    assert migrate.current(empty_url) == HEAD


def test_a_lock_on_a_table_is_tried_again(database_url: str, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    with connect(database_url, autocommit=False) as reader:
        reader.execute("select from delayed_queue")

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            reader.rollback()

        monkeypatch.setattr(migrate_postgresql.time, "sleep", sleep)
        migrate.downgrade(f"{database_url}{PATIENCE}")
    assert len(slept) == 1
    assert migrate.current(database_url) is None


def test_a_deadlock_is_tried_again(database_url: str, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    waiting: list[Future[object]] = []
    until_it_waits = """do $$ begin
        while not exists (
            select from pg_locks l where l.relation = 'queue_version'::regclass and not l.granted) loop
            perform pg_sleep(0.01);
        end loop;
    end $$"""

    def step(upgrade: sqlalchemy.Connection, revision: str | None) -> None:
        assert revision == HEAD
        run = upgrade.exec_driver_sql
        run("lock table queue_version")
        if not waiting:
            waiting.append(pool.submit(other.execute, "lock table queue_version"))
            run(until_it_waits)
            # the other one would find it after a second, and be its victim
            run("set local deadlock_timeout = 1")
        run("lock table queue_kind")

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        waiting[0].result(timeout=60)
        other.rollback()

    monkeypatch.setattr(migrate_postgresql.time, "sleep", sleep)
    with ThreadPoolExecutor() as pool, connect(database_url, autocommit=False) as other:
        other.execute("lock table queue_kind")
        migrate_postgresql.transaction(database_url, None, VERSION_TABLE, step)
    assert len(slept) == 1


def test_a_lock_that_stays_is_given_up_and_nothing_changed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    slept: list[float] = []
    monkeypatch.setattr(migrate_postgresql, "TRIES", 2)
    monkeypatch.setattr(migrate_postgresql.time, "sleep", slept.append)
    with connect(database_url, autocommit=False) as reader:
        reader.execute("select from delayed_queue")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            migrate.downgrade(f"{database_url}{PATIENCE}")
    assert len(slept) == 1, "between two tries"
    assert migrate.current(database_url) == HEAD


def test_who_owns_a_schema_needs_no_right_to_create_one(empty_url: str):
    name = f"owner_of_{conninfo_to_dict(empty_url)['dbname']}"
    role = sql.Identifier(name)
    with connect(empty_url) as connection:
        connection.execute(sql.SQL("create role {0}; create schema app authorization {0}").format(role))
        try:
            url = f"{empty_url}?options=-crole%3D{name}"
            done = list[str | None]()
            migrate_postgresql.transaction(url, "app", "none", lambda _, now: done.append(now))
            assert done == [None]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                migrate_postgresql.transaction(url, "another", "none", lambda _, now: done.append(now))
            assert done == [None]
        finally:
            connection.execute(sql.SQL("drop schema app; drop role {}").format(role))


def test_between_its_steps_an_upgrade_waits_for_calls_of_its_own_database_alone(
    database_url: str, empty_url: str
):
    name = "select l.virtualxid from pg_locks l where l.locktype = 'virtualxid' and l.pid = pg_backend_pid()"
    with connect(database_url, autocommit=False) as here, connect(empty_url, autocommit=False) as elsewhere:
        (own,), (other,) = here.execute(name).fetchall(), elsewhere.execute(name).fetchall()
        with connect(database_url) as looking:
            waited_for = looking.execute(migrate_postgresql.OPEN).fetchall()
        assert own in waited_for
        assert other not in waited_for


def test_it_waits_for_the_calls_that_had_begun_and_not_for_others(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(migrate_postgresql, "CALLS_END_S", 120)
    looks = "select 1 from pg_stat_activity a where a.query = %s and a.pid <> pg_backend_pid()"
    with (
        ThreadPoolExecutor() as pool,
        connect(database_url, autocommit=False) as first,
        connect(database_url, autocommit=False) as second,
        connect(database_url) as looking,
    ):
        first.execute("select 1")
        waiting = pool.submit(migrate_postgresql.let_calls_end, database_url)
        while not looking.execute(looks, [migrate_postgresql.OPEN]).fetchall():
            assert not waiting.done()
        time.sleep(0.2)  # so that it has its answer
        second.execute("select 1")
        assert not waiting.done()
        first.rollback()
        waiting.result(timeout=20)


@pytest.mark.parametrize(
    ("name", "error"),
    [("queue_stats", psycopg.errors.WrongObjectType), ("queue_kind", psycopg.errors.DuplicateTable)],
)
def test_an_upgrade_that_fails_leaves_nothing(empty_url: str, name: str, error: type[psycopg.Error]):
    rows(empty_url, f"create table {name} (mine integer)")
    before = rows(empty_url, CATALOGS)
    with pytest.raises(error):  # and a table by a name of ours is no queue to take over
        migrate.upgrade(empty_url)
    assert rows(empty_url, CATALOGS) == before


@pytest.mark.long
def test_roles_stay_while_they_are_used_and_go_with_the_last_installation():
    text = "select rolname::text from pg_roles where rolname ~ '^queue_' order by 1"
    ours = [(f"queue_{name}",) for name in ("admin", "consumer", "observer", "operator", "producer")]
    with start_server() as server:
        migrate.upgrade(server.url)
        migrate.upgrade(server.url, schema="second")
        with connect(server.url) as connection:
            connection.execute("create role app login")
        migrate.downgrade(server.url)
        assert rows(server.url, text) == ours
        with connect(server.url) as connection:
            connection.execute("grant queue_consumer to app")
        migrate.downgrade(server.url, schema="second")
        assert rows(server.url, text) == ours
        migrate.upgrade(server.url)
        with connect(server.url) as connection:
            connection.execute("revoke queue_consumer from app")
        migrate.downgrade(server.url)
        assert rows(server.url, text) == []


@pytest.mark.parametrize("version", [90624, 139999])
def test_an_old_server_is_refused(version: int):
    with pytest.raises(MigrationError, match="PostgreSQL 14 or later"):
        migrate_postgresql.check_server(version, "UTF8")
    migrate_postgresql.check_server(140000, "UTF8")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_can_not_keep_every_text_is_refused(empty_url: str, encoding: str):
    name = f"of_{encoding.lower()}"
    with connect(empty_url) as connection:
        connection.execute(
            sql.SQL("create database {} encoding {} locale 'C' template template0").format(
                sql.Identifier(name), sql.Literal(encoding)
            )
        )
        try:
            there = make_conninfo(empty_url, dbname=name)
            url = f"postgresql:///?{urlencode(conninfo_to_dict(there))}"
            with pytest.raises(MigrationError, match=f"encoding UTF8 is needed, and this one has {encoding}"):
                migrate.upgrade(url)
        finally:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_what_a_database_says_of_clients_is_not_for_ours(empty_url: str, encoding: str):
    with connect(empty_url) as connection:
        name = connection.info.dbname
        connection.execute(sql.SQL("alter database {} set client_encoding = {}").format(
            sql.Identifier(name), sql.Literal(encoding)))  # fmt: skip
    migrate.upgrade(empty_url)
    with connect(empty_url) as connection:
        queue = Queue(connection)
        queue.push("mail", "\u20ac", {"a": "\u20ac"})
        assert [(one.key, one.payload) for one in queue.reserve("mail")] == [("\u20ac", {"a": "\u20ac"})]


def test_a_database_whose_texts_are_not_those_of_the_standard_gets_the_queue(empty_url: str):
    with connect(empty_url) as connection:
        connection.execute(
            sql.SQL("alter database {} set standard_conforming_strings = off").format(
                sql.Identifier(connection.info.dbname)
            )
        )
    migrate.upgrade(empty_url)
    with connect(empty_url) as connection:
        Queue(connection).push("mail", "a\\b'", {"a": "\\"})
        assert [(one.key, one.payload) for one in Queue(connection).pop("mail")] == [("a\\b'", {"a": "\\"})]


def test_mariadb_and_mysql_want_their_driver(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(ConnectionFailed, match="pip install"):
        migrate.upgrade("mysql://127.0.0.1:1/x")


def test_no_password_in_what_goes_wrong():
    for url in (
        "postgresql://me:secret@127.0.0.1:1/x",
        "postgresql://me:secret@[x/y",
        "nonsense://me:secret@x",
    ):
        with pytest.raises(ConnectionFailed) as caught:
            migrate.upgrade(url)
        error: BaseException | None = caught.value
        while error is not None:
            assert "secret" not in repr(error)
            error = None if error.__suppress_context__ else error.__cause__ or error.__context__


APPLICATION = sqlalchemy.MetaData()
sqlalchemy.Table("account", APPLICATION, sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))


def engine(url: str) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)


def test_autogenerate_finds_nothing_of_ours(database_url: str):
    with engine(database_url).begin() as connection:
        APPLICATION.create_all(connection)
        for options in ({"include_name": include_name}, {"include_object": include_object}):
            assert compare_metadata(MigrationContext.configure(connection, opts=options), APPLICATION) == []
        assert compare_metadata(MigrationContext.configure(connection), APPLICATION) != []


ENV = """
from alembic import context
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None)
with context.begin_transaction():
    context.run_migrations()
"""
OWN = """
import sqlalchemy
from alembic import op
revision, down_revision = "own", None
def upgrade():
    op.create_table("account", sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))
def downgrade():
    op.drop_table("account")
"""


def test_it_can_be_a_branch_of_the_applications_migrations(empty_url: str, tmp_path: Path):
    (tmp_path / "env.py").write_text(ENV)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "own.py").write_text(OWN)
    with connect(empty_url) as connection:
        connection.execute("create schema app")
    before = rows(empty_url, CATALOGS)
    with engine(f"{empty_url}?options=-csearch_path%3Dapp,public").connect() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(tmp_path))
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", f"{tmp_path / 'own'}\n{frozen.MIGRATIONS / 'versions'}")
        # in a transaction that is open already Alembic leaves the end to whoever began it
        connection.begin()
        command.upgrade(config, "heads")
        assert connection.scalar(sqlalchemy.text("show search_path")) == "app,public"
        connection.commit()
        versions = connection.scalars(
            sqlalchemy.text("select version_num from app.alembic_version order by 1")
        )
        assert list(versions) == [HEAD, "own"]
        paths = connection.scalars(
            sqlalchemy.text("select distinct unnest(proconfig) from pg_proc where proname = 'queue_push'")
        )
        assert "search_path=pg_catalog, pg_temp" in list(paths)
        command.downgrade(config, "pyqueue_sql@base")
        command.downgrade(config, "base")
        connection.execute(sqlalchemy.text("drop table app.alembic_version"))
        connection.commit()
    assert rows(empty_url, CATALOGS) == before
