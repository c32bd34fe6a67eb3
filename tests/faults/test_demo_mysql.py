"""The demo on MariaDB and MySQL: what it finds right, and what it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.test_demo import PATIENCE_SECONDS, counts, demo, finish
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pymysql

    from tests.servers.databases import Databases

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.servers("mariadb", "mysql")]

OURS = "left(p_kind, 13) = 'pyqueue_demo.'"


@pytest.fixture
def url(databases: Databases) -> str:
    """The URL of a database with the queue and nothing in it."""
    return databases.clean(clocked=False)


@pytest.fixture
def connection(url: str) -> Iterator[pymysql.Connection[Any]]:
    """A connection to it, in autocommit."""
    with open_connection(url) as connection:
        yield connection


def rows(connection: pymysql.Connection[Any], text: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        return list(cursor.fetchall())


def assert_nothing_left(connection: pymysql.Connection[Any]) -> None:
    others = (
        "select p.info from information_schema.processlist p"
        " where p.db = database() and p.id <> connection_id()"
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while left := rows(connection, others):
        assert time.monotonic() < deadline, f"connections are left: {left}"
        time.sleep(0.05)
    assert rows(connection, f"select p_kind, count(*) from delayed_queue where {OURS} group by p_kind") == []
    assert rows(connection, f"select p_kind from queue_kind where {OURS}") == []


def test_every_flight_comes_once(url: str, connection: pymysql.Connection[Any]) -> None:
    with demo("--url", url, "--flights", "1000", "--seconds", "1") as process:
        output = finish(process)
    assert process.returncode == 0, output
    assert counts(output, "pushed") == (1000, 1000)
    assert counts(output, "pushed again, ignored") == (1000, 1000)
    departed, cancelled = counts(output, "departed, moved"), counts(output, "cancelled, dead letters")
    assert departed[0] + cancelled[0] == 1000
    assert cancelled[0] > 0
    assert counts(output, "arrived, drained") == departed
    assert "every flight once" in output
    assert_nothing_left(connection)


def test_an_interrupt_in_the_middle_of_a_call_leaves_nothing(
    url: str, connection: pymysql.Connection[Any]
) -> None:
    with demo("--url", url, "--flights", "3000", "--seconds", "30") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.match(r"pushing [\d,]+ of 3,000 flights$", line), line
        deadline = time.monotonic() + PATIENCE_SECONDS
        calls = (
            "select 1 from information_schema.processlist p"
            " where p.db = database() and p.id <> connection_id() and p.command = 'Query'"
        )
        while not rows(connection, calls):
            assert time.monotonic() < deadline, "nothing is pushed"
        os.killpg(process.pid, signal.SIGINT)
        output = finish(process)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert_nothing_left(connection)
