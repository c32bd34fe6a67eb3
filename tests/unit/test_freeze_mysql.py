"""Freezing sql/mysql: what the client's `delimiter` splits, and what is undone."""

from pathlib import Path

import pytest

from tools import freeze, freeze_mysql

FILE = """drop procedure if exists p;
delimiter $$
create procedure p()
    comment 'it''s; a "comment"
of two lines $$'
begin
    -- don't; and $$
    select ';', "a;b", `c;d`; # isn't;
    /* it's;
    */
end $$
delimiter ;
-- the last; one
select 1;
"""


def test_a_statement_ends_where_the_client_sees_its_end():
    first, second, third = freeze_mysql.split(FILE)
    assert first == "drop procedure if exists p;"
    assert second.startswith("create procedure p()\n    comment 'it''s;")
    assert second.endswith("*/\nend;")
    assert third == "-- the last; one\nselect 1;"


def test_a_statement_without_an_end_is_an_error():
    with pytest.raises(ValueError, match="without its end"):
        freeze_mysql.split("select 1; select 2")


@pytest.mark.parametrize(
    ("statement", "undone"),
    [
        ("-- about\ncreate table if not exists t (a int);", "drop table if exists t;"),
        ("create or replace view v as select 1;", "drop view if exists v;"),
        ("create procedure p() begin end;", "drop procedure if exists p;"),
        ("create function f() returns int return 1;", "drop function if exists f;"),
        ("create trigger g before insert on t for each row begin end;", "drop trigger if exists g;"),
        ("drop procedure if exists p;", None),
        ("create role if not exists r;", None),
        ("grant execute on procedure p to r;", None),
    ],
)
def test_what_is_created_is_dropped(statement: str, undone: str | None):
    assert freeze_mysql.drop(statement) == undone


def test_what_nobody_knows_how_to_undo_is_refused():
    with pytest.raises(ValueError, match="how is that undone"):
        freeze_mysql.drop("create event e on schedule every 1 day do select 1;")


@pytest.fixture
def live(tmp_path: Path) -> Path:
    folder = tmp_path / "mysql"
    (folder / "room").mkdir(parents=True)
    (folder / "install.sql").write_text(
        "-- all\nset names utf8mb4;\nsource room/t.table.sql\n\nsource room/p.sql\n"
    )
    (folder / "optional.sql").write_text("source room/f.function.sql\nsource grants.sql\n")
    (folder / "room" / "t.table.sql").write_text("create table if not exists t (a int);\n")
    (folder / "room" / "p.sql").write_text("create procedure p() do 1;\n")
    (folder / "room" / "f.function.sql").write_text("create function f() returns int return 1;\n")
    (folder / "grants.sql").write_text("create role r;\n")
    return folder


def test_the_first_revision_is_whole_and_goes_backwards(live: Path):
    assert freeze_mysql.freeze(live, first=True) == {
        "up": ["create table if not exists t (a int);"],
        "routines": ["drop procedure if exists p;", "create procedure p() do 1;"],
        "optional": [
            "drop function if exists f;",
            "create function f() returns int return 1;",
            "create role r;",
        ],
        "down": ["drop function if exists f;", "drop procedure if exists p;", "drop table if exists t;"],
    }
    assert freeze.texts(live, first=True)["up"].startswith("-- frozen from sql/mysql by")


def test_of_a_later_revision_all_but_the_tables_is_generated(live: Path):
    assert set(freeze_mysql.freeze(live, first=False)) == {"routines", "optional"}
