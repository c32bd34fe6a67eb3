"""Two texts of a routine, ours and the server's, are taken apart alike."""

import pytest

from pyqueue_sql import MigrationError
from pyqueue_sql.schema.routine_mysql import evaluated, parse
from pyqueue_sql.schema.server_mysql import check_version

OURS = """-- about it
create procedure _queue_x(in in_a varchar(10) character set utf8mb4, out out_b bigint)
    sql security definer modifies sql data
    comment 'It''s a
thing \\\\ (of "two" lines)
begin with this'
begin
    set out_b = char_length(in_a);
end"""
THEIRS = """CREATE DEFINER=`root`@`%` PROCEDURE \
`_queue_x`(in in_a varchar(10) character set utf8mb4, out out_b bigint)
    MODIFIES SQL DATA
    COMMENT 'It''s a\\nthing \\\\ (of "two" lines)\\nbegin with this'
begin
    set out_b = char_length(in_a);
end"""


def test_what_the_server_shows_is_what_we_wrote():
    ours, theirs = parse(OURS), parse(THEIRS)
    assert ours == theirs
    assert ours is not None
    assert (ours.kind, ours.name, ours.traits) == ("procedure", "_queue_x", ("modifies sql data",))
    assert ours.parameters == "(in in_a varchar(10) character set utf8mb4, out out_b bigint)"
    assert ours.comment == 'It\'s a\nthing \\ (of "two" lines)\nbegin with this'
    assert ours.body == "begin\n    set out_b = char_length(in_a);\nend"


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("varchar(10)", "varchar(11)"), ("modifies", "reads"), ("thing", "think"), ("set out_b", "set out_b  ")],
)
def test_each_difference_is_one(was: str, becomes: str):
    assert parse(OURS.replace(was, becomes)) != parse(THEIRS)


def test_the_type_of_a_result_is_compared_by_its_name():
    ours = parse("create function f(in_a int) returns datetime(6) deterministic return now()")
    theirs = "CREATE DEFINER=`r`@`%` FUNCTION `f`(in_a int) RETURNS {}\n    DETERMINISTIC\nreturn now()"
    assert parse(theirs.format("datetime(6)")) == ours
    assert parse(theirs.format("varchar(9) CHARSET utf8mb4 COLLATE utf8mb4_bin")) != ours
    json = parse("create function f() returns json return 1")
    assert (
        parse("create function `f`() RETURNS longtext CHARSET utf8mb4 COLLATE utf8mb4_bin\nreturn 1") == json
    )


def test_a_trigger_is_all_that_follows_its_name():
    one = parse("create trigger t before insert on q for each row begin end")
    assert one is not None
    assert (one.kind, one.name, one.body) == ("trigger", "t", "before insert on q for each row\nbegin end")


@pytest.mark.parametrize(
    "text", ["drop procedure p", "-- create procedure p()\nselect 'create function f()'"]
)
def test_anything_else_is_no_routine(text: str):
    assert parse(text) is None


@pytest.mark.parametrize(
    ("version", "mariadb", "kept"),
    [
        (80021, False, " a  /*M!100600 b */ "),
        (80016, False, "  /*M!100600 b */ "),
        (100600, True, "  b  "),
        (100500, True, "   "),
    ],
)
def test_of_what_is_marked_by_a_version_the_servers_is_kept(version: int, mariadb: bool, kept: str):
    found = evaluated("/*!80017 a */ /*M!100600 b */ ", version, mariadb)
    assert found.replace("   ", "  ").strip() == kept.replace("   ", "  ").strip()


@pytest.mark.parametrize(("version", "mariadb"), [(80020, False), (50744, False), (100522, True)])
def test_an_old_server_is_refused(version: int, mariadb: bool):
    with pytest.raises(MigrationError, match=r"or later is needed, and this is \d+\.\d+\.\d+"):
        check_version(version, mariadb)
    check_version(100600 if mariadb else 80021, mariadb)


def test_the_head_of_a_trigger_is_the_same_however_the_server_writes_it():
    ours = "create trigger g before insert on t for each row\nbegin\n    set @A = 1;\nend"
    shown = "CREATE DEFINER=`o`@`%` TRIGGER `g` BEFORE INSERT ON `t` FOR EACH ROW begin\n    set @A = 1;\nend"
    assert parse(ours) == parse(shown)
    assert parse(ours) != parse(shown.replace("BEFORE", "AFTER"))
    assert parse(ours) != parse(shown.replace("@A", "@a"))
