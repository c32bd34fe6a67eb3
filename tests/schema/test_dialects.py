"""The two dialects have one interface: names, parameters, order, comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyqueue_sql.alembic import tables
from pyqueue_sql.schema import frozen
from tests.rules import every
from tests.schema.sources import routines
from tests.schema.sources_mysql import SQL, File, files, same_comment
from tools import house
from tools.house import LIVE
from tools.index import absent

if TYPE_CHECKING:
    from pathlib import Path

ONLY_MYSQL = {"queue_push_into"}
ONLY_POSTGRESQL = {"queue_listen"}
PUBLIC = [name for name in routines() if not name.startswith("_") and name not in ONLY_POSTGRESQL]
CONVERSIONS = {"queue_time", "queue_timestamp"}
"""Functions on every server, because they write nothing."""


def of_mysql(name: str) -> File:
    """Return the file of a public routine."""
    return files()[f"{'function' if name in CONVERSIONS else 'routine'}/{name}"]


def test_both_have_the_same_public_routines() -> None:
    procedures = {house.name(path) for path in house.files(SQL, "routine") if not path.name.startswith("_")}
    assert procedures | CONVERSIONS == {*PUBLIC, *ONLY_MYSQL}
    assert {name for where, name in absent(LIVE) if where == "routine"} == ONLY_POSTGRESQL


def test_the_short_forms_are_of_public_routines() -> None:
    functions = {house.name(path) for path in house.files(SQL, "function")}
    assert functions == {"queue_push", "queue_reserve", "queue_ack"} | CONVERSIONS


@every(PUBLIC)
def test_parameters_are_the_same_in_the_same_order(name: str) -> None:
    ours = [parameter for parameter, out in routines()[name].parameters if not out]
    assert [parameter for mode, parameter in of_mysql(name).parameters if mode != "out"] == ours


@every(PUBLIC)
def test_comments_are_the_same_but_for_what_differs(name: str) -> None:
    """But for where their lines end, too: a quotation mark is written twice in one of them."""
    comments = same_comment(of_mysql(name).routine.comment), routines()[name].statements[1].comment
    assert comments[0].split() == comments[1].split()


@every(["queue_push", "queue_reserve", "queue_ack"])
def test_a_short_form_has_the_first_parameters_of_its_procedure(name: str) -> None:
    short = files()[f"function/{name}"].parameters
    assert short == of_mysql(name).parameters[: len(short)]


def test_a_routine_that_only_one_dialect_has_says_why() -> None:
    of = [
        {house.name(path): path for path in house.files(LIVE / dialect, "routine", "function")}
        for dialect in frozen.DIALECTS
    ]
    alone = [one[name] for one, other in (of, of[::-1]) for name in one.keys() - other.keys()]
    assert alone
    assert [
        path for path in alone if not re.search(r"(?m)^differs: ", path.read_text(encoding="utf-8"))
    ] == []


@every(["table", "view"])
def test_tables_and_views_are_the_same_but_for_those_with_a_reason(kind: str) -> None:
    postgresql, mysql = (
        {house.name(path) for path in house.files(LIVE / one, kind)} for one in frozen.DIALECTS
    )
    without = {name for where, name in absent(LIVE) if where == kind}
    assert postgresql - mysql == without
    for name in mysql - postgresql:
        assert "-- differs: " in house.file(SQL, name, kind).read_text(encoding="utf-8")


def test_autogenerate_is_told_of_every_table() -> None:
    files = {house.name(path) for one in frozen.DIALECTS for path in house.files(LIVE / one, "table")}
    assert files - {"queue_event"} | {"queue_version"} == tables()


def columns(path: Path) -> set[str]:
    """Return the names of the columns of a table."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"create (?:unlogged )?table (?:if not exists )?\w+ \((.*?)\n\)", text, re.DOTALL)
    assert body is not None
    found = re.findall(r"(?m)^ {4}(\w+) ", body[1])
    return set(found) - {"primary", "unique", "key", "constraint", "check"}


@every([house.name(path) for path in house.files(SQL, "table")])
def test_tables_have_the_columns_of_postgresql_but_for_those_with_a_reason(name: str) -> None:
    if name in {house.name(path) for path in house.files(LIVE / "postgresql", "table")}:
        ours, other = (house.file(LIVE / dialect, name, "table") for dialect in frozen.DIALECTS)
        reason = "-- differs: " in other.read_text(encoding="utf-8")
        assert columns(ours) <= columns(other) or reason


def test_both_have_the_same_rooms_each_with_its_readme() -> None:
    for dialect in frozen.DIALECTS:
        rooms = {path.name for path in (LIVE / dialect).iterdir() if path.is_dir()}
        assert rooms == {*house.ROOMS}
        for room in house.ROOMS:
            title, about = (LIVE / dialect / room / "README.md").read_text(encoding="utf-8").split("\n\n")[:2]
            assert title == f"# {room.capitalize()}"
            assert (
                about
                == (LIVE / "postgresql" / room / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
            )


def test_the_same_name_is_in_the_same_room() -> None:
    rooms = [
        {(house.kind(path), house.name(path)): path.parent.name for path in house.files(LIVE / dialect)}
        for dialect in frozen.DIALECTS
    ]
    assert {one: room for one, room in rooms[0].items() if rooms[1].get(one, room) != room} == {}
