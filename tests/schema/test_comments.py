"""The server carries the documentation: what the comments say is there, and is so."""

from __future__ import annotations

import re

import psycopg
import pytest

from pyqueue_sql import errors
from tests.schema.sources import routines

PUBLIC = [name for name in routines() if not name.startswith("_")]
CODES = {
    one.sqlstate
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.QueueError) and one.sqlstate
}


def comment(conn: psycopg.Connection, name: str) -> str:
    """Return the comment of a routine, and behind it those of the routines that it refers to."""
    row = conn.execute(
        "select obj_description(p.oid, 'pg_proc') from pg_proc p where p.proname = %s", [name]
    ).fetchone()
    assert row is not None
    text: str = row[0]
    other = re.search(r"(?:are those of|[Tt]hose of|other parameters are as in) (_?queue_\w+)", text)
    return text + (comment(conn, other[1]) if other else "")


def raised(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the codes in the text of a routine and of those that it calls."""
    code = routines()[name].code
    found = set(re.findall(r"_queue_fail\('(PQ\d+)'", code))
    for called in set(re.findall(r"\b(_?queue_\w+)\(", code)) & routines().keys() - seen - {
        name,
        "queue_prune",
    }:
        found |= raised(called, seen | {name})
    return found


def test_everything_has_a_comment(conn: psycopg.Connection) -> None:
    bare = conn.execute("""
        select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = current_schema()::regnamespace and obj_description(p.oid, 'pg_proc') is null
        union all
        select c.relname from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
            and c.relname <> 'queue_version' and obj_description(c.oid, 'pg_class') is null
        union all
        select format('delayed_queue.%I', a.attname) from pg_attribute a
        where a.attrelid = 'delayed_queue'::regclass and a.attnum > 0 and not a.attisdropped
            and col_description(a.attrelid, a.attnum) is null""").fetchall()
    assert bare == []


@pytest.fixture(scope="module")
def comments() -> dict[str, str]:
    """The comments of the routines, from their files."""
    return {name: one.statements[1].comment for name, one in routines().items()}


def test_the_server_has_the_comments_of_the_files(conn: psycopg.Connection, comments: dict[str, str]) -> None:
    there = conn.execute("""
        select p.proname, obj_description(p.oid, 'pg_proc') from pg_proc p
        where p.pronamespace = current_schema()::regnamespace""").fetchall()
    assert dict(there) == comments


def test_the_comment_of_a_public_routine_names_its_parameters(conn: psycopg.Connection) -> None:
    missing = [
        (name, parameter)
        for name in PUBLIC
        for parameter, out in routines()[name].parameters
        if not out and not re.search(rf"\b{parameter}\b", comment(conn, name))
    ]
    assert missing == []


def test_the_comment_of_a_public_routine_says_what_it_answers(conn: psycopg.Connection) -> None:
    assert [name for name in PUBLIC if not re.search(r"(?m)\bResult:", comment(conn, name))] == ["queue_now"]


def test_the_comment_of_a_public_routine_names_the_errors_that_it_raises(conn: psycopg.Connection) -> None:
    said = {name: set(re.findall(r"PQ\d+", comment(conn, name))) for name in PUBLIC}
    assert said == {name: raised(name) for name in PUBLIC}


def test_the_codes_of_the_comments_are_those_of_the_client(conn: psycopg.Connection) -> None:
    documented = {code for name in PUBLIC for code in re.findall(r"PQ\d+", comment(conn, name))}
    assert documented == CODES


def test_the_list_of_codes_is_whole(comments: dict[str, str]) -> None:
    assert set(re.findall(r"PQ\d+", comments["_queue_fail"])) == CODES
