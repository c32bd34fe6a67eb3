"""Databases on a MariaDB or MySQL server: one with the queue in it that tests use in turn, and empty ones."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pymysql

from pyqueue_sql.calls.connect import connect
from pyqueue_sql.schema import migrate
from pyqueue_sql.testing import clock_mysql as clock
from tests.servers import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.starting import Running

LIMITS = "set session innodb_lock_wait_timeout = 20, lock_wait_timeout = 20"
"""A call that waits for another session is to fail, not to hang."""

SESSIONS = "test_session"
"""The table in which a test's sessions have their names."""

LARGE = 500
"""Rows; a table that has as many is truncated, for deleting would leave the next test to pass over them."""
FROM_ONE = ("queue_log", "queue_log_epoch")
"""The positions of the first start again where the second, which comes with the first of them, has rows: up
to where they are complete stands in a table that is emptied, too."""
MESSAGES = "delayed_queue"
"""Always truncated. Whoever puts in a key that is still in the index, deleted but not purged, locks the gap
behind it, and the keys that other sessions put in there wait for the end of its transaction."""
END_SECONDS = 30
KEPT = {"queue_version", clock.TABLE}
_numbers = itertools.count(1)


class Databases:
    """The databases of this run on one server.

    Args:
        server: it; closed with the databases.
    """

    def __init__(self, server: Running) -> None:
        self.server = server
        self._admin = open_connection(server.url)
        self._made: dict[bool, str] = {}
        self._tables: dict[str, list[str]] = {}

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """What this server can do and another can't; a scenario that needs it is left out there."""
        name = self.clean(clocked=False).rpartition("/")[2]
        found = {"exact_numbers"} if "MariaDB" in self.server.about else set[str]()
        # what it let the upgrade install is what it can do
        if self._run(
            f"select 1 from information_schema.routines where routine_schema = '{name}'"
            " and routine_type = 'FUNCTION' and routine_name = 'queue_push'"
        ):
            found.add("functions")
        trigger = self._run(f"select 1 from information_schema.triggers where trigger_schema = '{name}'")
        found.add("inbox_at_once" if trigger else "inbox_later")
        return frozenset(found)

    def clean(self, clocked: bool, keep: bool = False) -> str:
        """Return the URL of a database with the queue and no message in it, for one test at a time.

        To make a database and all its routines for each test would take most of the time of a short one.

        Args:
            clocked: whether its time is a `Clock`'s; else it is the real one.
            keep: whether the sessions that are kept for the next test stay.
        """
        if clocked not in self._made:
            name = f"pyqueue_test_{os.getpid()}_{'clock' if clocked else 'real'}"
            self._run(f"drop database if exists {name}")
            self._run(f"create database {name}")
            migrate.upgrade(self._owner(name))
            self._run(f"create table {name}.{SESSIONS} (name varchar(100), id bigint) engine = myisam")
            self._made[clocked] = name
            if clocked:
                clock.replace_clock(self._admin, name)
        url = f"{self.server.url}/{self._made[clocked]}"
        if not keep:
            kept.leave(url)
        self._empty(self._made[clocked], {self._admin.thread_id(), *kept.numbers(url)})
        return url

    def _empty(self, name: str, stay: set[int]) -> None:
        """End the sessions of the test before but those that stay, and remove the rows; numbers go on."""
        sessions = f"select p.id from information_schema.processlist p where p.db = '{name}'"
        deadline = time.monotonic() + END_SECONDS
        while others := [row for row in self._run(sessions) if row[0] not in stay]:
            assert time.monotonic() < deadline, "a session of the test before doesn't end"
            for (number,) in others:
                with contextlib.suppress(pymysql.OperationalError):  # it has gone by itself
                    self._run(f"kill {number}")
        if name not in self._tables:
            found = self._run(
                "select t.table_name from information_schema.tables t"
                f" where t.table_schema = '{name}' and t.table_type = 'BASE TABLE'"
            )
            self._tables[name] = sorted({table for (table,) in found} - KEPT)
        counts = " union all ".join(
            f"(select '{table}', count(*) from (select 1 from {name}.{table} limit {LARGE}) r)"
            for table in self._tables[name]
        )
        left = dict(self._run(counts))
        if left.get(FROM_ONE[1]):
            left[FROM_ONE[0]] = LARGE
        left[MESSAGES] = LARGE
        for table, rows in left.items():
            if rows:
                self._run(f"{'truncate' if rows >= LARGE else 'delete from'} {name}.{table}")

    def _owner(self, name: str) -> str:
        """Return the URL of a database for a user who has every right in it and none beside it.

        That is who installs an application's tables; a superuser may do what a server otherwise refuses.
        """
        password = secrets.token_urlsafe(16)
        self._run(f"create user {name} identified by '{password}'")
        self._run(f"grant all on {name}.* to {name}")
        where = urlsplit(self.server.url)
        login = f"{name}:{password}@{where.netloc.rpartition('@')[2]}"
        return f"{where.scheme}://{login}/{name}"

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Give the URL of a database with nothing in it, dropped afterwards."""
        name = f"pyqueue_test_{os.getpid()}_{next(_numbers)}"
        self._run(f"create database {name}")
        try:
            yield f"{self.server.url}/{name}"
        finally:
            self._run(f"drop database if exists {name}")

    def close(self) -> None:
        """Drop the databases and stop the server, where it is ours."""
        with contextlib.suppress(pymysql.Error):  # the server may be gone
            for name in self._made.values():
                kept.leave(f"{self.server.url}/{name}")
                self._run(f"drop database if exists {name}")
                self._run(f"drop user {name}")
            self._admin.close()
        self.server.stop()

    def _run(self, text: str) -> tuple[tuple[Any, ...], ...]:
        with self._admin.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchall()


def open_connection(url: str) -> pymysql.Connection[Any]:
    """Return a connection in autocommit that doesn't wait for locks for ever."""
    connection = connect(url)
    assert isinstance(connection, pymysql.Connection)
    with connection.cursor() as cursor:
        cursor.execute(LIMITS)
    return connection
