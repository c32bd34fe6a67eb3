"""The schema goes in, out, elsewhere, twice and after a crash on MariaDB and MySQL; nothing is left."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
import sqlalchemy

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.alembic import tables
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.schema import frozen, migrate, migrate_mysql, revision
from tests.sample import TIMES
from tests.schema import next_release
from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import Catalog, Killer, catalog, open_connection, rows, run
from tests.schema.programs import mariadb
from tests.servers.databases import SESSIONS
from tools import freeze_mysql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.databases import Databases

pytestmark = pytest.mark.servers("mariadb", "mysql")

ROOT = Path(__file__).parents[3]
LIVE = frozen.MIGRATIONS.parent / "sql" / "mysql"
KILLS = int(os.environ.get("PYQUEUE_TEST_KILLS", 2 * TIMES))
"""At how many places a run is killed; 1000 are all."""


def other(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return f"{url.rpartition('/')[0]}/{name}"


@pytest.fixture
def second(innodb_url: str) -> Iterator[str]:
    """The name of another database, which isn't there yet."""
    name = f"{innodb_url.rpartition('/')[2]} `2;\"' 100%"
    yield name
    rows(innodb_url, f"drop database if exists {revision.quote(name, '`')}")


@pytest.mark.long
@pytest.mark.core("mariadb", "mysql")
@pytest.mark.mission("E1")
def test_down_leaves_nothing_and_twice_and_up_again_is_as_before(innodb_url: str):
    migrate.downgrade(innodb_url)
    migrate.upgrade(innodb_url)
    assert migrate.current(innodb_url) == HEAD
    there = catalog(innodb_url)
    assert len(there) > 60
    for _ in range(2):
        migrate.downgrade(innodb_url)
        assert catalog(innodb_url) == {}
        assert migrate.current(innodb_url) is None
    migrate.upgrade(innodb_url)
    assert catalog(innodb_url) == there


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_the_database_may_have_a_character_set_that_no_client_has(databases: Databases):
    with databases.empty() as url:
        rows(url, "alter database character set ucs2")
        migrate.upgrade(url)
        with open_connection(url) as connection:
            run(connection, "set time_zone = '-03:30'")
            queue = Queue(connection)
            assert queue.push("k", "a", {"n": 1}).outcome == "created"
            (message,) = queue.reserve("k")
            assert queue.ack(message.receipt).outcome == "acked"
            with connection.cursor() as cursor:
                cursor.execute("select @@session.time_zone")
                assert cursor.fetchone() == ("-03:30",)


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_up_twice_is_once(innodb_url: str):
    migrate.upgrade(innodb_url)
    text = (
        "select r.routine_type, r.routine_name, r.created from information_schema.routines r"
        " where r.routine_schema = database()"
    )
    with open_connection(innodb_url) as connection:
        before = sorted(run(connection, text))
        run(connection, "do sleep(1.1)")
        migrate.upgrade(innodb_url)
        assert sorted(run(connection, text)) == before


def test_the_tables_are_the_ones_that_autogenerate_is_told_of(url: str):
    text = (
        "select t.table_name from information_schema.tables t"
        " where t.table_schema = database() and t.table_type = 'BASE TABLE'"
    )
    assert {name for (name,) in rows(url, text)} - {SESSIONS} == tables() - {
        "queue_claim",
        "queue_hold",
    }


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_another_database_holds_all_of_it(innodb_url: str, second: str):
    migrate.upgrade(innodb_url, schema=second)
    assert migrate.current(innodb_url, schema=second) == HEAD
    assert migrate.current(innodb_url) is None
    assert catalog(innodb_url) == {}
    migrate.upgrade(innodb_url)
    migrate.downgrade(innodb_url, schema=second)
    assert migrate.current(innodb_url) == HEAD
    with open_connection(other(innodb_url, "")) as connection:
        connection.select_db(second)
        assert run(connection, "show tables") == []


def test_the_longest_names_fit(innodb_url: str):
    """A session's memory of a kind names the database, too."""
    name = "数" * 50  # its folder has 250 characters, of the 255 that file systems take
    kind = "😀" * 95
    try:
        migrate.upgrade(innodb_url, schema=name)
        with connect(innodb_url, schema=name) as connection:
            queue = Queue(connection)
            queue.push_many(kind, [{"key": key, "payload": 1} for key in "abcd"])
            assert [one.key for _ in range(2) for one in queue.reserve(kind, "w")] == ["a", "b"]
            queue.define(kind, max_reserved=3)
            assert [one.key for one in queue.reserve(kind, "w", 2)] == ["c"]
    finally:
        rows(innodb_url, f"drop database if exists {name}")


def test_no_database_is_an_error(innodb_url: str):
    with pytest.raises(MigrationError, match="no current database"):
        migrate.upgrade(other(innodb_url, ""))
    assert migrate.current(innodb_url, schema="nowhere at all") is None
    with pytest.raises(ConnectionFailed, match="'not there'") as caught:
        migrate.current(other(innodb_url, "not there"), schema="nowhere at all")
    assert not caught.value.away


def test_a_schema_that_is_no_database_is_no_connection(innodb_url: str):
    said = r"the schema nowhere .* is a database here: .*'nowhere'"
    with pytest.raises(ConnectionFailed, match=said) as caught:
        connect(innodb_url, schema="nowhere")
    assert not caught.value.away


def printed(what: Callable[..., object], **options: Any) -> str:
    """Return what an upgrade or a downgrade prints."""
    output = io.StringIO()
    what(None, sql=True, dialect="mysql", output=output, **options)
    return output.getvalue()


def takes_all(there: Catalog) -> bool:
    """Return whether the server allows functions that write."""
    return ("FUNCTION", "queue_push") in there


def without_optional(there: Catalog) -> Catalog:
    """Return what of a catalog every server takes."""
    return {name: text for name, text in there.items() if name[0] not in ("FUNCTION", "TRIGGER")}


def run_all(connection: pymysql.Connection[Any], text: str) -> None:
    """Run a text as the client does."""
    for statement in freeze_mysql.split(text):
        run(connection, statement.removesuffix(";"))


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_is_printed_does_the_same(innodb_url: str, fresh: Catalog):
    with open_connection(innodb_url) as connection:
        run_all(connection, printed(migrate.upgrade, optional=takes_all(fresh)))
        assert catalog(innodb_url) == (fresh if takes_all(fresh) else without_optional(fresh))
        assert migrate.current(innodb_url) == HEAD
        migrate.upgrade(innodb_url)
        assert catalog(innodb_url) == fresh
        run_all(connection, printed(migrate.downgrade))
    assert catalog(innodb_url) == {}


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_is_printed_for_another_database_goes_there(innodb_url: str, second: str):
    text = printed(migrate.upgrade, schema=second)
    with open_connection(innodb_url) as connection:
        run_all(connection, text)
    assert catalog(innodb_url) == {}
    assert migrate.current(innodb_url, schema=second) == HEAD


def test_the_dialect_that_is_printed_is_that_of_the_url(innodb_url: str):
    output = io.StringIO()
    migrate.upgrade(innodb_url, sql=True, output=output)
    assert output.getvalue() == printed(migrate.upgrade)
    assert catalog(innodb_url) == {}


def test_a_fresh_install_by_the_manifests_is_the_same(innodb_url: str, fresh: Catalog):
    expected = fresh
    del expected["TABLE", "queue_version"]
    names = ["install.sql", "optional.sql"]
    if not takes_all(expected):
        expected = without_optional(expected)
        names.pop()
    with open_connection(innodb_url) as connection:
        for name in names:
            text = (LIVE / name).read_text(encoding="utf-8")
            text = freeze_mysql.SOURCE.sub(lambda found: freeze_mysql.read(LIVE / found[1]), text)
            run_all(connection, text)
        found = catalog(innodb_url)
        assert run(connection, "select version_num from queue_version") == [(HEAD,)]
    del found["TABLE", "queue_version"]
    assert found == expected


@pytest.mark.long
def test_the_client_of_the_server_reads_what_is_printed(innodb_url: str):
    command, environment = mariadb(innodb_url)
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        input=printed(migrate.upgrade),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    migrate.upgrade(innodb_url)
    there = catalog(innodb_url)
    migrate.downgrade(innodb_url)
    migrate.upgrade(innodb_url)
    assert catalog(innodb_url) == there


@pytest.mark.long
def test_three_upgrades_at_once_make_one(innodb_url: str):
    code = "import sys; from pyqueue_sql.schema import migrate; migrate.upgrade(sys.argv[1])"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, innodb_url], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], errors
    assert migrate.current(innodb_url) == HEAD


def test_an_upgrade_does_nothing_before_another_has_ended_however_long_that_takes(
    innodb_url: str, monkeypatch: pytest.MonkeyPatch
):
    asked, over, at_once = threading.Event(), threading.Event(), list[bool]()
    monkeypatch.setattr(migrate_mysql, "WAIT_S", 0)
    real = sqlalchemy.Connection.scalar

    def scalar(connection: sqlalchemy.Connection, *args: Any, **options: Any) -> Any:
        found = real(connection, *args, **options)
        if found == 0:  # it isn't our turn
            asked.set()
        return found

    monkeypatch.setattr(sqlalchemy.Connection, "scalar", scalar)

    def first(*_: object) -> None:
        pool.submit(migrate_mysql.transaction, innodb_url, None, revision.VERSION_TABLE, second)
        assert asked.wait(60)
        at_once.append(over.wait(0.2))

    def second(*_: object) -> None:
        over.set()

    with ThreadPoolExecutor() as pool:
        migrate_mysql.transaction(innodb_url, None, revision.VERSION_TABLE, first)
    assert (at_once, over.is_set()) == ([False], True)


@pytest.mark.long
@pytest.mark.parametrize("what", [migrate.upgrade, migrate.downgrade], ids=["up", "down"])
def test_what_is_killed_at_a_statement_is_done_by_the_next_run(innodb_url: str, what: Callable[..., None]):
    migrate.upgrade(innodb_url)
    expected = catalog(innodb_url) if what is migrate.upgrade else {}
    other_way = migrate.downgrade if what is migrate.upgrade else migrate.upgrade
    killer = Killer(innodb_url)
    if what is migrate.upgrade:
        other_way(innodb_url)
    total = killer.count(lambda: what(innodb_url))
    assert total > 100
    for at in range(5, total, max(1, total // KILLS)):
        other_way(innodb_url)
        with pytest.raises(pymysql.Error):
            killer.kill(lambda: what(innodb_url), at)
        what(innodb_url)
        assert catalog(innodb_url) == expected, at


@pytest.mark.long
@pytest.mark.usefixtures("released")
def test_an_upgrade_from_an_older_revision_is_a_fresh_install(
    innodb_url: str, request: pytest.FixtureRequest
):
    head: Catalog = request.getfixturevalue("fresh")
    migrate.upgrade(innodb_url, revision=next_release.FIRST)
    for older in (next_release.FIRST, *next_release.STEPS[:-1]):
        migrate.upgrade(innodb_url, revision=older)
        assert migrate.current(innodb_url) == older
        old = catalog(innodb_url)
        assert old != head
        migrate.upgrade(innodb_url)
        assert catalog(innodb_url) == head, older
        migrate.downgrade(innodb_url, revision=older)
        assert catalog(innodb_url) == old, older


@pytest.mark.long
@pytest.mark.core("mysql")
@pytest.mark.usefixtures("released")
def test_tables_that_were_changed_before_it_was_broken_off_are_no_hindrance(
    innodb_url: str, request: pytest.FixtureRequest
):
    head: Catalog = request.getfixturevalue("fresh")
    migrate.upgrade(innodb_url, revision=next_release.FIRST)
    for step in next_release.STEPS:
        for text in frozen.statements(step, "up", "mysql"):
            rows(innodb_url, text)
    migrate.upgrade(innodb_url)
    assert catalog(innodb_url) == head
    for step in next_release.STEPS[:-1]:
        for text in frozen.statements(step, "down", "mysql"):
            rows(innodb_url, text)
    migrate.downgrade(innodb_url)
    assert catalog(innodb_url) == {}


@pytest.mark.long
@pytest.mark.core("mariadb")
@pytest.mark.usefixtures("released")
def test_messages_survive_an_upgrade_and_a_downgrade(innodb_url: str):
    migrate.upgrade(innodb_url, revision=next_release.FIRST)
    with open_connection(innodb_url) as connection:
        queue = Queue(connection)
        for what in (migrate.upgrade, migrate.downgrade):
            queue.push("mail", "held", 1)
            queue.push("mail", "ready", 2, priority=-1, headers={"a": "b"})
            for key in ("first", "second"):
                queue.push("orders", key, order_key="a")
            held = [queue.reserve(kind, "w")[0].receipt or "" for kind in ("mail", "orders")]
            what(innodb_url, revision=next_release.HEAD if what is migrate.upgrade else next_release.FIRST)
            assert queue.reserve("orders") == []
            assert [queue.ack(one).outcome for one in held] == ["acked", "acked"]
            [ready] = queue.pop("mail")
            assert (ready.payload, ready.priority, ready.headers) == (2, -1, {"a": "b"})
            assert [message.key for message in queue.pop("orders")] == ["second"]


@pytest.mark.parametrize(
    ("there", "said"),
    [("0003_innodb", "from before the first release"), ("0099_later", "doesn't know: install the version")],
)
def test_a_revision_that_nobody_knows_here_is_an_error_that_says_what_to_do(
    innodb_url: str, there: str, said: str
):
    rows(innodb_url, "create table queue_version (version_num varchar(32) primary key)")
    rows(innodb_url, f"insert into queue_version values ('{there}')")
    for what in (migrate.upgrade, migrate.downgrade):
        with pytest.raises(MigrationError, match=f"{there}, .*{said}"):
            what(innodb_url)
    assert migrate.current(innodb_url) == there


@pytest.mark.slow
@pytest.mark.long
def test_a_process_that_is_killed_in_the_middle_of_a_statement_leaves_a_beginning(
    innodb_url: str, fresh: Catalog
):
    code = (
        "import sys; from pyqueue_sql.schema import migrate; print(flush=True); migrate.upgrade(sys.argv[1])"
    )
    for delay in (0.2, 0.4, 0.8):
        migrate.downgrade(innodb_url)
        with subprocess.Popen(
            [sys.executable, "-c", code, innodb_url], cwd=ROOT, stdout=subprocess.PIPE
        ) as running:
            assert running.stdout and running.stdout.readline()
            time.sleep(delay)
            running.kill()
        migrate.upgrade(innodb_url)
        assert catalog(innodb_url) == fresh


def test_who_may_not_create_routines_is_told_so(innodb_url: str, visitor: tuple[str, str]):
    with pytest.raises(MigrationError, match=r"right to create.*CREATE ROUTINE"):
        rows(innodb_url, f"grant create on {innodb_url.rpartition('/')[2]}.* to {visitor[1]}")
        rows(innodb_url, f"grant insert, update on {innodb_url.rpartition('/')[2]}.* to {visitor[1]}")
        migrate.upgrade(visitor[0])
    assert [name for kind, name in catalog(innodb_url) if kind != "TABLE"] == []


def test_what_the_server_refuses_is_one_line_and_is_tried_again(
    innodb_url: str, visitor: tuple[str, str], caplog: pytest.LogCaptureFixture, fresh: Catalog
):
    database = innodb_url.rpartition("/")[2]
    rights = (
        "select, insert, update, delete, create, drop, index, alter, create view, show view, create routine,"
        " alter routine, execute, lock tables, references"
    )
    rows(innodb_url, f"grant {rights} on {database}.* to {visitor[1]}")
    caplog.clear()
    with caplog.at_level(logging.WARNING, "pyqueue_sql"):
        migrate.upgrade(visitor[0])
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2, said
    assert "trigger queue_inbox" in said[0]
    assert "roles" in said[1]
    assert migrate.current(innodb_url) == HEAD
    assert ("TRIGGER", "queue_inbox") not in catalog(innodb_url)
    migrate.upgrade(innodb_url)
    assert set(catalog(innodb_url)) == set(fresh)


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("binlog_format", "STATEMENT", "binlog_format must be ROW or MIXED"),
        ("sysdate", "1970", "sysdate_is_now must be off"),
        ("information_schema.engines", "0", "the storage engine InnoDB is needed"),
    ],
)
def test_a_server_on_which_it_would_go_wrong_is_refused(
    innodb_url: str, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
):
    from pyqueue_sql.schema import server_mysql

    real: Callable[..., Any] = server_mysql._value  # pyright: ignore[reportPrivateUsage]

    def value_of(connection: sqlalchemy.Connection, text: str) -> Any:
        if variable in text:
            return int(value) if value.isdigit() else value
        return int(variable == "binlog_format") if "log_bin" in text else real(connection, text)

    monkeypatch.setattr(server_mysql, "_value", value_of)
    with pytest.raises(MigrationError, match=reason):
        migrate.upgrade(innodb_url)
    assert [name for name in catalog(innodb_url) if name != ("TABLE", "queue_version")] == []
