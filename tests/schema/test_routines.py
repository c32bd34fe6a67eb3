"""The house rules of the SQL, read off its text: no server is asked."""

from __future__ import annotations

import re

from pglast import ast

from tests.rules import every
from tests.schema.sources import SQL, Routine, included, install_text, revoked, routines
from tools import house

ROUTINES = list(routines().values())
MOST_LINES = 130
READ_THE_CLOCK = {"queue_now", "_queue_ticks"}
"""Who may: what everything else asks."""

each_routine = every(ROUTINES, lambda one: one.path.stem)


def test_install_lists_every_file_once() -> None:
    files = [f"{path.parent.name}/{path.name}" for path in house.files(SQL)]
    assert sorted(included()) == sorted([*files, "check.sql", "bind.sql", "grants.sql"])
    assert included()[:2] == ["base/_queue_intruders.sql", "check.sql"]
    assert included()[-1] == "grants.sql"


@each_routine
def test_an_internal_routine_has_no_defaults(routine: Routine) -> None:
    # one without that parameter, which somebody else creates, would be preferred
    if routine.name.startswith("_"):
        assert [one.name for one in routine.statements[0].parameters or () if one.defexpr is not None] == []


@each_routine
def test_relations_are_named_in_full_or_by_themselves(routine: Routine) -> None:
    # bind.sql puts the schema before names and before what is cast to regclass, no other strings
    assert not re.findall(r"nextval\('\w+'\)|\)::regclass", routine.code)


def test_nothing_else_of_psql_is_in_the_files() -> None:
    assert not re.findall(r"(?m)^\\.*", install_text())


def test_grants_revokes_every_routine() -> None:
    assert revoked("OBJECT_FUNCTION") == {one.signature for one in ROUTINES}


def test_grants_revokes_every_table_and_view() -> None:
    files = [house.name(path) for path in house.files(SQL, "table", "view")]
    assert revoked("OBJECT_TABLE") == {*files} - {"queue_event"}
    sequences = re.findall(
        r"create sequence (\w+)", house.file(SQL, "queue_event", "table").read_text("utf-8")
    )
    assert revoked("OBJECT_SEQUENCE") == {*sequences}


@each_routine
def test_a_file_is_one_function_and_its_comment(routine: Routine) -> None:
    kinds = [type(one) for one in routine.statements]
    assert kinds == [ast.CreateFunctionStmt, ast.CommentStmt]
    assert routine.name == routine.path.stem
    assert routine.statements[1].object.objname[-1].sval == routine.name


@each_routine
def test_the_body_is_static_sql(routine: Routine) -> None:
    tree = routine.plpgsql
    assert not re.findall(r'"PLpgSQL_stmt_dyn\w+"|"dynquery"', tree)


@each_routine
def test_names_are_sorted_alike_in_every_database(routine: Routine) -> None:
    # columns have the collation C; what comes out of an array or JSON has that of the database
    arrays = r"(?:unnest|jsonb_\w+_(?:text|keys))\([^()]*\)(?: with ordinality)? (\w+) \((\w+)"
    made = re.findall(arrays, routine.code)
    named = [rf"{alias}\.{column}" for alias, column in made if column not in {"entry", "slot", "part"}]
    order = rf"order by (?:[^;)]*, )?(?:{'|'.join(named)})\b(?! collate)"
    assert not named or not re.findall(order, routine.code)


@each_routine
def test_names_say_what_is_a_parameter_and_what_a_variable(routine: Routine) -> None:
    assert [name for name, out in routine.parameters if out == name.startswith(("in_", "v_"))] == []
    # i is the counter of a loop
    assert {name for name in routine.variables if not name.startswith("v_")} <= {"i"}


@each_routine
def test_a_routine_fits_on_a_screen(routine: Routine) -> None:
    assert routine.create.count("\n") + 1 <= MOST_LINES


@each_routine
def test_only_queue_now_says_what_time_it_is(routine: Routine) -> None:
    # this asks whether a call is its own transaction, not for the time
    code = routine.code.replace("statement_timestamp() > transaction_timestamp() + interval '5 ms'", "")
    assert not re.search(r"\b(now|transaction_timestamp|statement_timestamp|timeofday)\s*\(", code)
    assert not re.search(r"\b(current|local)_?(timestamp|time|date)\b", code)
    assert "clock_timestamp" not in code or routine.name in READ_THE_CLOCK


def test_no_string_of_a_body_depends_on_what_a_backslash_means() -> None:
    # standard_conforming_strings is the caller's
    for routine in ROUTINES:
        assert "\\" not in routine.code, routine.name
