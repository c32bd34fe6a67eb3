"""The extension: what an upgrade makes, kept by dumps, updated, and known to `pyqueue upgrade`."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from alembic.script import ScriptDirectory
from pglast import parse_sql

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.doctor import examine
from pyqueue_sql.schema import frozen, migrate
from pyqueue_sql.schema.release import release
from tests.schema import extended, next_release
from tests.schema.catalogs import DEFINITIONS, HEAD, connect, empty_database, rows
from tools import extension, surface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyqueue_sql.embedded import EmbeddedServer

SCHEMA = "queue"
CREATE = f"create extension pyqueue_sql schema {SCHEMA}"
NEXT = "99.0.0"
"""A version that is made up, of the release that is made up."""
EMPTY = {"queue_inbox", "queue_version"}
"""What a dump leaves out."""
MEMBERS = """
select pg_describe_object(d.classid, d.objid, d.objsubid) from pg_depend d
join pg_extension e on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
where e.extname = 'pyqueue_sql' and d.deptype = 'e' order by 1
"""
DUMPED = """
select c.relname::text from pg_extension e, unnest(e.extconfig) o join pg_class c on c.oid = o
where e.extname = 'pyqueue_sql' and c.relkind = 'r' order by 1
"""
SEQUENCES = """
select s.sequencename::text, s.last_value from pg_sequences s where s.schemaname = 'queue' order by 1
"""


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of migrations once there is a release after this one."""
    return next_release.make(tmp_path_factory.mktemp("later"))


@pytest.fixture(scope="module")
def place(later: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedServer, Path]]:
    """A server with the extension of this release and of the next, and the folder of its programs."""
    known = extension.versions()
    made = tmp_path_factory.mktemp("extension")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frozen, "MIGRATIONS", later)
        extension.write(made, {**known, NEXT: next_release.HEAD})
    extension.write(made, known)

    def install(folder: Path) -> None:
        for file in (made / "pyqueue_sql.control", *(made / "sql").glob("*.sql")):
            shutil.copy(file, folder)

    with extended.server(install) as found:
        yield found


@pytest.fixture(scope="module")
def template(place: tuple[EmbeddedServer, Path]) -> str:
    """The name of a database with the extension, to be copied."""
    with connect(place[0].url) as connection:
        connection.execute("create database with_extension template template0")
    url = f"{place[0].url.rpartition('/')[0]}/with_extension"
    rows(url, f"create schema {SCHEMA}; {CREATE}")
    return "with_extension"


@pytest.fixture
def fresh(place: tuple[EmbeddedServer, Path]) -> Iterator[Callable[[str], str]]:
    """Make a database with a schema for the queue; gives its URL."""
    with contextlib.ExitStack() as stack:

        def make(name: str) -> str:
            url = stack.enter_context(empty_database(place[0].url, name))
            rows(url, f"create schema {SCHEMA}")
            return url

        yield make


@pytest.fixture
def url(place: tuple[EmbeddedServer, Path], template: str) -> Iterator[str]:
    """The URL of a database with the extension."""
    with empty_database(place[0].url, "copied", template=template) as copied:
        yield copied


def definitions(url: str) -> list[tuple[Any, ...]]:
    found = rows(url, DEFINITIONS, SCHEMA)
    assert len(found) > 50
    return found


@pytest.mark.long
def test_the_extension_is_what_an_upgrade_makes(url: str, fresh: Callable[[str], str]):
    upgraded = fresh("upgraded")
    migrate.upgrade(upgraded, schema=SCHEMA)
    assert definitions(url) == definitions(upgraded)
    assert migrate.current(url, schema=SCHEMA) == HEAD
    assert migrate.differing(url, schema=SCHEMA) == []


def test_it_belongs_to_who_creates_it_and_needs_no_superuser(fresh: Callable[[str], str]):
    url = fresh("plain")
    rows(url, "create role builder login password 'x'; grant create on database plain to builder")
    try:
        rows(url, f"alter schema {SCHEMA} owner to builder")
        with connect(url) as connection:
            connection.execute("set role builder")
            connection.execute(CREATE.encode())
        text = (
            "select distinct proowner::regrole::text from pg_proc where pronamespace = 'queue'::regnamespace"
        )
        assert rows(url, text) == [("builder",)]
        with connect(url, schema=SCHEMA) as connection:
            connection.execute("set role builder")
            assert Queue(connection).push("mail", "k").outcome == "created"
    finally:
        rows(url, "drop extension if exists pyqueue_sql; drop owned by builder; drop role builder")


def test_a_schema_in_which_others_may_create_is_refused(fresh: Callable[[str], str]):
    url = fresh("shared")
    rows(url, f"grant create on schema {SCHEMA} to public")
    with pytest.raises(psycopg.errors.InvalidSchemaDefinition, match="others may create"):
        rows(url, CREATE)
    assert rows(url, MEMBERS) == []


def test_it_goes_and_leaves_nothing(url: str):
    rows(url, "drop extension pyqueue_sql")
    assert rows(url, f"select relname from pg_class where relnamespace = '{SCHEMA}'::regnamespace") == []
    assert rows(url, f"select proname from pg_proc where pronamespace = '{SCHEMA}'::regnamespace") == []


def fill(url: str) -> str:
    """Put something into many tables, and return the receipt of a message that is held."""
    with connect(url, schema=SCHEMA) as connection:
        queue = Queue(connection)
        queue.define("mail", history_seconds=3600, dedup_seconds=3600, log_seconds=3600, max_reserved=5)
        queue.semaphore("smtp", 1)
        queue.subscribe("order.*", "mail")
        queue.schedule("nightly", "mail", {"n": 1}, cron="0 3 * * *")
        queue.group("g", "done", {"n": 2})
        queue.publish("order.new", "p", {"n": 3})
        queue.push("mail", "held", {"é": "😀"}, priority=9, semaphores=["smtp"], headers={"a": "b"})
        queue.push("mail", "done", {"é": "😀"}, priority=10, group="g")
        queue.push("mail", "line 1", None, order_key="o")
        queue.push("mail", "line 2", None, order_key="o")
        queue.push_bytes("mail", "bytes", b"\0\xff")
        queue.push("mail", "later", None, delay_seconds=3600)
        queue.push("dead", "d", None)
        queue.read("order.*", "reader", 10)
        [dead] = queue.reserve("dead")
        queue.nack(dead.receipt, error="no", final=True)
        taken = {one.key: one.receipt for one in queue.reserve("mail", max_messages=5)}
        assert queue.ack(taken["done"], result={"n": 4}).outcome == "acked"
        return taken["held"]


def test_a_dump_keeps_all_that_the_queue_has(
    url: str, place: tuple[EmbeddedServer, Path], fresh: Callable[[str], str]
):
    programs = place[1]
    if not (programs / "pg_restore").exists():
        pytest.skip("LEFT OUT, nothing was dumped: this server comes without pg_dump and pg_restore")
    restored = fresh("restored")
    receipt = fill(url)
    dump = subprocess.run([programs / "pg_dump", "-Fc", url], capture_output=True, check=True).stdout
    rows(restored, f"drop schema {SCHEMA}")
    command = [programs / "pg_restore", "--exit-on-error", f"--dbname={restored}"]
    subprocess.run(command, input=dump, capture_output=True, check=True)
    assert definitions(restored) == definitions(url)
    kept: set[str] = set()
    for name in ours():
        text = f"select t::text from {SCHEMA}.{name} t order by 1"
        found = rows(url, text)
        assert rows(restored, text) == found, name
        kept |= {name} if found else set()
    assert {"delayed_queue", "queue_kind", "queue_history", "queue_log", "queue_recurring"} <= kept
    assert rows(restored, SEQUENCES) == rows(url, SEQUENCES)
    with connect(restored, schema=SCHEMA) as connection:
        queue = Queue(connection)
        assert queue.ack(receipt).outcome == "acked"
        assert queue.push("mail", "line 1").outcome == "ignored"
        assert queue.push("mail", "new").outcome == "created"


def ours() -> list[str]:
    """Return the names of our tables, without that of the revision."""
    return sorted(release(ScriptDirectory(str(frozen.MIGRATIONS)), HEAD, "postgresql").tables)


def test_every_table_that_keeps_something_is_dumped(url: str):
    assert {name for (name,) in rows(url, DUMPED)} == set(ours()) - EMPTY
    assert rows(url, f"select version_num from {SCHEMA}.queue_version") == [(HEAD,)]


@pytest.mark.long
def test_an_update_leads_to_the_next_version(
    url: str, fresh: Callable[[str], str], later: Path, monkeypatch: pytest.MonkeyPatch
):
    upgraded = fresh("of_the_next")
    before = definitions(url)
    with connect(url, schema=SCHEMA) as connection:
        Queue(connection).push("mail", "k", {"n": 1})
    rows(url, f"alter extension pyqueue_sql update to '{NEXT}'")
    monkeypatch.setattr(frozen, "MIGRATIONS", later)
    migrate.upgrade(upgraded, schema=SCHEMA)
    assert definitions(url) != before
    assert definitions(url) == definitions(upgraded)
    assert migrate.current(url, schema=SCHEMA) == next_release.HEAD
    assert ("queue_more",) in rows(url, DUMPED)
    with connect(url, schema=SCHEMA) as connection:
        assert [one.key for one in Queue(connection).pop("mail")] == ["k"]
    straight = fresh("straight")
    rows(straight, f"{CREATE} version '{NEXT}'")
    assert definitions(straight) == definitions(upgraded)
    assert rows(straight, MEMBERS) == rows(url, MEMBERS)


def test_an_upgrade_leaves_it_to_the_extension(url: str):
    before = definitions(url)
    for what in (migrate.upgrade, migrate.downgrade):
        with pytest.raises(MigrationError, match=r"belongs to the extension pyqueue_sql.*alter extension"):
            what(url, schema=SCHEMA)
    assert definitions(url) == before


def test_the_doctor_knows_whose_it_is(url: str):
    def said() -> dict[str, str]:
        found = examine(url, SCHEMA, only={"installation", "routines"})
        return {one.check: f"{one.level} {one.remedy}" for one in found}

    assert {text.split()[0] for text in said().values()} == {"ok"}
    rows(url, f"update {SCHEMA}.queue_version set version_num = '0000_older'")
    assert "alter extension pyqueue_sql update" in said()["installation"]
    rows(url, f"update {SCHEMA}.queue_version set version_num = '{HEAD}'")
    rows(url, "update pg_proc set prosrc = prosrc || ' -- changed' where proname = 'queue_purge'")
    assert "from the script of the extension" in said()["routines"]


def test_a_queue_that_is_there_is_refused_and_adopted(fresh: Callable[[str], str]):
    url, extended_url = fresh("adopted"), fresh("born")
    rows(extended_url, CREATE)
    migrate.upgrade(url, schema=SCHEMA)
    before = definitions(url)
    with connect(url, schema=SCHEMA) as connection:
        Queue(connection).push("mail", "k", {"n": 1})
        connection.execute("create function queue_of_the_application() returns integer return 1")
    with pytest.raises(
        psycopg.errors.DuplicateObject, match="was installed without the extension"
    ) as refused:
        rows(url, CREATE)
    assert "to adopt it: pyqueue upgrade; then create extension" in (refused.value.diag.message_hint or "")
    rows(url, f"{CREATE} version 'unpackaged'; alter extension pyqueue_sql update")
    assert rows(url, "select extversion from pg_extension where extname = 'pyqueue_sql'") == [
        (surface.version(),)
    ]
    rows(url, f"drop function {SCHEMA}.queue_of_the_application()")  # it isn't a member
    assert definitions(url) == before
    bare = f"set search_path to pg_catalog; {MEMBERS}"
    with connect(url) as one, connect(extended_url) as other:
        for connection in (one, other):
            connection.execute("set search_path to pg_catalog")
        assert one.execute(MEMBERS.encode()).fetchall() == other.execute(MEMBERS.encode()).fetchall(), bare
    assert rows(url, DUMPED) == rows(extended_url, DUMPED)
    with connect(url, schema=SCHEMA) as connection:
        assert [one.key for one in Queue(connection).pop("mail")] == ["k"]


def test_only_a_queue_of_the_same_revision_is_adopted(fresh: Callable[[str], str]):
    url = fresh("other")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="there is none"):
        rows(url, f"{CREATE} version 'unpackaged'")
    rows(url, f"create table {SCHEMA}.queue_version as select '0000_older' as version_num")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="it is 0000_older"):
        rows(url, f"{CREATE} version 'unpackaged'")


OLD = [
    "create or replace function f(a text) returns text language sql as 'select a';",
    "create or replace function g(a text) returns text language sql as 'select a';",
    "create or replace view v as select 1 as one;",
    "create or replace view w as select 1 as one;",
]


@pytest.mark.parametrize(
    ("number", "news", "dropped"),
    [
        (0, "create or replace function f(a text) returns text language sql as 'select a || a';", []),
        (
            0,
            "create or replace function f(a text) returns bigint language sql as 'select 1';",
            ["drop view w;", "drop view v;", "drop function f(text);"],
        ),
        (
            0,
            "create or replace function f(b text) returns text language sql as 'select b';",
            ["drop view w;", "drop view v;", "drop function f(text);"],
        ),
        (2, "create or replace view v as select 1 as two;", ["drop view w;", "drop view v;"]),
    ],
)
def test_what_cant_be_replaced_is_dropped_before(number: int, news: str, dropped: list[str]):
    after = [*OLD]
    after[number] = news
    assert extension.in_the_way(OLD, after) == dropped


def test_pg_tle_gets_the_same_script():
    known = extension.versions()
    [(version, revision)] = known.items()
    [call] = parse_sql(extension.pg_tle(known))
    arguments: Any = call.stmt.targetList[0].val.args  # pyright: ignore
    given = [one.val.sval for one in arguments]
    assert given[:2] == ["pyqueue_sql", version]
    script = extension.install(version, revision)
    assert given[3].split() == [
        word for line in script.splitlines() if not line.startswith("\\") for word in line.split()
    ]
