"""The two dialects have one interface: names, parameters, order, comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyqueue_sql import revision
from pyqueue_sql.alembic import tables
from tests.rules import every
from tests.schema.sources import routines
from tests.schema.sources_mysql import SQL, File, files, same_comment
from tools.freeze import LIVE
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
    return files()[f"{'functions' if name in CONVERSIONS else 'routines'}/{name}"]


def test_both_have_the_same_public_routines() -> None:
    procedures = {path.stem for path in (SQL / "routines").glob("queue_*.sql")}
    assert procedures | CONVERSIONS == {*PUBLIC, *ONLY_MYSQL}
    assert {name for where, name in absent(LIVE) if where == "routines"} == ONLY_POSTGRESQL


def test_the_short_forms_are_of_public_routines() -> None:
    functions = {path.stem for path in (SQL / "functions").glob("*.sql")}
    assert functions == {"queue_push", "queue_reserve", "queue_ack"} | CONVERSIONS


@every(PUBLIC)
def test_parameters_are_the_same_in_the_same_order(name: str) -> None:
    ours = [parameter for parameter, out in routines()[name].parameters if not out]
    assert [parameter for mode, parameter in of_mysql(name).parameters if mode != "out"] == ours


@every(PUBLIC)
def test_comments_are_the_same_but_for_what_differs(name: str) -> None:
    assert same_comment(of_mysql(name).routine.comment) == routines()[name].statements[1].comment


@every(["queue_push", "queue_reserve", "queue_ack"])
def test_a_short_form_has_the_first_parameters_of_its_procedure(name: str) -> None:
    short = files()[f"functions/{name}"].parameters
    assert short == of_mysql(name).parameters[: len(short)]


@every(["tables", "views"])
def test_tables_and_views_are_the_same_but_for_those_with_a_reason(folder: str) -> None:
    postgresql, mysql = (
        {path.stem for path in (LIVE / one / folder).glob("*.sql")} for one in revision.DIALECTS
    )
    without = {name for where, name in absent(LIVE) if where == folder}
    assert postgresql - mysql == without
    for name in mysql - postgresql:
        assert "-- differs: " in (SQL / folder / f"{name}.sql").read_text(encoding="utf-8")


def test_autogenerate_is_told_of_every_table() -> None:
    files = {path.stem for one in revision.DIALECTS for path in (LIVE / one / "tables").glob("*.sql")}
    assert files - {"queue_event"} | {"queue_version"} == tables()


def columns(path: Path) -> set[str]:
    """Return the names of the columns of a table."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"create (?:unlogged )?table (?:if not exists )?\w+ \((.*?)\n\)", text, re.DOTALL)
    assert body is not None
    found = re.findall(r"(?m)^ {4}(\w+) ", body[1])
    return set(found) - {"primary", "unique", "key", "constraint", "check"}


@every(sorted(path.stem for path in (SQL / "tables").glob("*.sql")))
def test_tables_have_the_columns_of_postgresql(name: str) -> None:
    ours, other = (LIVE / dialect / "tables" / f"{name}.sql" for dialect in revision.DIALECTS)
    if ours.exists():
        assert columns(ours) - columns(other) == set()
