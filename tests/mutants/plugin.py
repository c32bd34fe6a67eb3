"""The part of pytest in this: which tests reach which routine, which to run in which order, what was red.

Each is told by a variable that names a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakSet

import psycopg
import pymysql
import pytest
from psycopg.pq import TransactionStatus

from pyqueue_sql.calls.connect import connect

REACH = "PYQUEUE_MUTANTS_REACH"
"""Where to write a line of JSON for each test: its name, its seconds, the routines that it reached."""
CHOSEN = "PYQUEUE_MUTANTS_CHOSEN"
"""Has the names of the tests to run, in order, and of all that are known: what isn't known runs first."""
RED = "PYQUEUE_MUTANTS_RED"
"""Where to write which test was red, when and why."""
URL = "PYQUEUE_MUTANTS_URL"
"""Of the server that the tests use."""

Routine: TypeAlias = tuple[str, str]
"""Of which database, since a test may get a new one, which begins at 0; and its name."""
CALLS_POSTGRESQL = """
select d.oid::text, f.funcname, sum(f.calls)::bigint from pg_stat_user_functions f, pg_database d
where d.datname = current_database() group by 1, 2
"""
CALLS_MYSQL = """
select p.object_schema, p.object_name, sum(p.count_star)
from performance_schema.events_statements_summary_by_program p
where p.object_schema like 'pyqueue\\_test\\_%%' group by 1, 2
"""
NAMES = """
select d.datname from pg_database d where d.datname like 'pyqueue\\_test%' and d.datname not like '%template'
"""
BUSY = """
select count(*) from pg_stat_activity a
where a.backend_type = 'client backend' and a.application_name <> 'tests'
"""
"""A session gives its numbers to the server when it ends, or when it is told to."""
OWN = {"database_url", "databases"}
"""Fixtures of tests that may have a database of their own, which is gone before its calls can be counted."""
ANY = "*"
"""Nobody knows which routines such a test reached."""
END_SECONDS = 0.5
_calls: Counter[Routine] = Counter()
"""As they stood after the test before."""
_sessions: WeakSet[psycopg.Connection[Any]] = WeakSet()
"""Of this process; some stay open from test to test."""
_failed: set[str] = set()
"""Routines that an error of this test came out of, which the server doesn't count."""


class _Counted(psycopg.Connection[Any]):
    """Takes the place of what `psycopg.connect` makes, to be found again."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        _sessions.add(self)


def pytest_configure() -> None:
    """Know each session and each error, where calls are counted."""
    if REACH in os.environ:
        psycopg.connect = _Counted.connect  # type: ignore[method-assign]
        made = psycopg.errors.error_from_result

        def error_from_result(*arguments: Any, **options: Any) -> psycopg.Error:
            error = made(*arguments, **options)
            _failed.update(re.findall(r"function (?:\w+\.)?(\w+)\(", error.diag.context or ""))
            return error

        psycopg.errors.error_from_result = error_from_result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Choose, after all others have."""
    yield
    if CHOSEN in os.environ:
        told = json.loads(Path(os.environ[CHOSEN]).read_text())
        place, known = {name: n for n, name in enumerate(told["chosen"])}, set(told["known"])
        items[:] = [item for item in items if item.nodeid in place or item.nodeid not in known]
        items.sort(key=lambda item: place.get(item.nodeid, -1))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count what a test calls."""
    began = time.monotonic()
    result = yield
    if REACH in os.environ:
        took = time.monotonic() - began
        calls = count()
        reached = sorted({routine[1] for routine in calls if calls[routine] != _calls[routine]} | _failed)
        _failed.clear()
        _calls.clear()
        _calls.update(calls)
        if not reached and OWN & {*getattr(item, "fixturenames", ())}:
            reached = [ANY]
        line = {"test": item.nodeid, "seconds": round(took, 2), "routines": reached}
        with open(os.environ[REACH], "a") as file:
            file.write(json.dumps(line) + "\n")
    return result


def count() -> Counter[Routine]:
    """Return how often each routine has been called so far."""
    url = os.environ[URL]
    if not url.startswith("postgresql"):
        with connect(url) as connection:
            assert isinstance(connection, pymysql.Connection)
            with connection.cursor() as cursor:
                cursor.execute(CALLS_MYSQL)
                return Counter({(schema, name): int(calls) for schema, name, calls in cursor.fetchall()})
    calls: Counter[Routine] = Counter()
    still_open = sum(_report(session) for session in [*_sessions])
    with psycopg.Connection.connect(url, autocommit=True, application_name="tests") as connection:
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            [[busy]] = connection.execute(BUSY).fetchall()
            if busy <= still_open:
                break
            time.sleep(0.01)
        databases = [name for (name,) in connection.execute(NAMES)]
    for name in databases:
        url_of = url.rpartition("/")[0] + "/" + name
        with psycopg.Connection.connect(url_of, autocommit=True, application_name="tests") as connection:
            calls.update({(oid, name): int(n) for oid, name, n in connection.execute(CALLS_POSTGRESQL)})
    return calls


def _report(session: psycopg.Connection[Any]) -> bool:
    """Have an idle session give its numbers to the server; returns whether it is open."""
    if session.closed:
        return False
    if session.info.transaction_status == TransactionStatus.IDLE:
        with contextlib.suppress(psycopg.Error):  # its server may be gone
            session.execute("select pg_catalog.pg_stat_force_next_flush()")
            if not session.autocommit:
                session.rollback()
    return not session.closed


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down the first that is red."""
    red = Path(os.environ.get(RED, os.devnull))
    if report.failed and RED in os.environ and not red.exists():
        crash = getattr(report.longrepr, "reprcrash", None)
        why = crash.message if crash else str(report.longrepr)
        red.write_text(
            json.dumps(
                {
                    "test": report.nodeid,
                    "when": report.when,
                    "why": why[-600:],
                    "all": str(report.longrepr)[-4000:],
                }
            )
        )
