"""Freezing: what is split, what is undone, and that what is frozen is what is live."""

from pathlib import Path

import pytest

from pyqueue_sql.schema.frozen import DIALECTS
from tests.rules import each
from tools import freeze, freeze_mysql, house


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_frozen_is_what_is_live(dialect: str):
    assert freeze.differing(freeze.LIVE / dialect, freeze.FROZEN / dialect) == []


def test_every_live_file_is_in_the_manifest_once():
    live = freeze.LIVE / "postgresql"
    names = freeze.manifest(live)
    assert len(names) == len(set(names))
    assert set(names) == set(live.rglob("*.sql")) - {live / "install.sql"}


def test_every_live_file_of_mysql_is_in_one_of_its_manifests_once():
    live = freeze.LIVE / "mysql"
    names = [*freeze_mysql.manifest(live), *freeze_mysql.manifest(live, "optional.sql")]
    assert len(names) == len(set(names))
    assert set(names) == set(live.rglob("*.sql")) - {live / "install.sql", live / "optional.sql"}


def test_statements_keep_their_comments_and_their_bodies():
    text = "-- one; ä\nselect 'ä;';\n\n-- two\ndo $$ begin null; end $$;\nselect 3"
    assert freeze.split(text) == [
        "-- one; ä\nselect 'ä;';",
        "-- two\ndo $$ begin null; end $$;",
        "select 3",
    ]


@each(
    ("statement", "undone"),
    [
        ("create table t (a integer)", "drop table t;"),
        ("create view v as select 1", "drop view v;"),
        ("create sequence s", "drop sequence s;"),
        ("create type t as (a integer)", "drop type t;"),
        ("create type t as enum ('a')", "drop type t;"),
        ("create domain d as integer", "drop domain d;"),
        ("create trigger g after insert on t execute function f()", "drop trigger g on t;"),
        (
            "create or replace function f(a text, out b integer, variadic c bigint[] default '{}') return 1",
            "drop function f(text, bigint[]);",
        ),
        ("create function f(a text) returns table (b text) return 1", "drop function f(text);"),
        ("create procedure p(inout a text) language sql as ''", "drop procedure p(text);"),
        ("create index i on t (a)", None),
        ("comment on table t is 'x'", None),
    ],
)
def test_what_is_created_is_dropped(statement: str, undone: str | None):
    assert freeze.drop(statement) == undone


@each(
    ("drops", "together"),
    [
        (
            [
                "drop view a;",
                "drop view b;",
                "drop trigger g on t;",
                "drop function f(text);",
                "drop function h();",
            ],
            ["drop view a, b;", "drop trigger g on t;", "drop function f(text), h();"],
        ),
        (
            ["drop table if exists a;", "drop table if exists b;", "drop function if exists f;"],
            ["drop table if exists a, b;", "drop function if exists f;"],
        ),
        (["drop procedure if exists f;", "drop procedure if exists h;"], None),
    ],
)
def test_drops_of_a_kind_are_one_statement_where_the_server_takes_that(
    drops: list[str], together: list[str] | None
):
    assert freeze.together(drops) == (together or drops)


def test_a_long_list_of_drops_is_wrapped():
    names = [f"a_function_{number}(double precision, bigint[])" for number in range(9)]
    [found] = freeze.together([f"drop function {name};" for name in names])
    assert max(map(len, found.splitlines())) <= house.WIDTH
    assert " ".join(found.split()) == f"drop function {', '.join(names)};"


def test_what_nobody_knows_how_to_undo_is_refused():
    with pytest.raises(ValueError, match="how is that undone"):
        freeze.drop("create extension hstore")


@pytest.fixture
def live(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    (tmp_path / "install.sql").write_text("-- all\n\\ir room/t.table.sql\n\n\\ir room/f.sql\n")
    (tmp_path / "room" / "t.table.sql").write_text("create table t (a integer);\n")
    (tmp_path / "room" / "f.sql").write_text("create function f() returns t return null;\n")
    return tmp_path


def test_the_first_revision_is_whole_and_goes_backwards(live: Path):
    assert freeze.freeze(live, first=True) == {
        "up": ["create table t (a integer);"],
        "routines": ["create function f() returns t return null;"],
        "down": ["drop function f();", "drop table t;"],
    }
    assert freeze.texts(live, first=True)["down"].endswith("\ndrop function f();\n--;\ndrop table t;\n")


def test_a_later_revision_has_only_its_routines_generated(live: Path):
    assert set(freeze.freeze(live, first=False)) == {"routines"}


def test_a_change_of_what_is_live_is_noticed(live: Path, tmp_path: Path):
    frozen = tmp_path / "frozen"
    frozen.mkdir()
    for part, text in freeze.texts(live, first=True).items():
        (frozen / f"0001_x.{part}.sql").write_text(text)
    assert freeze.differing(live, frozen) == []
    (live / "room" / "f.sql").write_text("create function f() returns t return null::t;\n")
    assert freeze.differing(live, frozen) == ["0001_x.routines.sql"]
