"""Queues for tests: databases that are thrown away, transactions that are rolled back, and their clocks."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.schema import migrate
from pyqueue_sql.testing import clock_mysql, clock_postgresql

_numbers = itertools.count(1)


class Clock(Protocol):
    """The queue's time, which stands still until a test moves it."""

    @property
    def now(self) -> int:
        """The time, in microseconds since 1970."""
        ...

    def set(self, us: int) -> None:
        """Set the time, in microseconds since 1970."""
        ...

    def advance(self, seconds: float) -> None:
        """Move the time, by seconds; a negative number sets it back."""
        ...


def clock_of(connection: Any) -> Clock:
    """Replace the clock of a database that will be thrown away, for ever; the time is 2026-01-01T00:00:00Z
    then.

    Args:
        connection: of psycopg or PyMySQL, in autocommit, of the owner of the queue's routines.
    """
    if isinstance(connection, psycopg.Connection):
        return clock_postgresql.Clock(connection)  # pyright: ignore[reportUnknownArgumentType]
    name = connection.db if isinstance(connection.db, str) else connection.db.decode()
    clock_mysql.replace_clock(connection, name)
    return clock_mysql.Clock(connection)


@contextmanager
def rolled_back(url: str, *, schema: str | None = None) -> Generator[Queue[Any]]:
    """Give a queue in a transaction that is rolled back: for a test database in which the queue is installed.

    `queue.connection` is the driver's, for statements of the application in the same transaction.

    Args:
        url: of the database.
        schema: where the queue is, None: as the server has it.
    """
    with connect(url, autocommit=False, schema=schema, read_committed=True) as connection:
        try:
            yield Queue(connection)
        finally:
            connection.rollback()


@contextmanager
def database(server_url: str) -> Generator[str]:
    """Give the URL of a new database with a queue in it, dropped afterwards.

    Args:
        server_url: of any database of that server, for a user who may create others.
    """
    # in containers numbers of processes come again, and a run that was killed leaves its database
    name = f"pyqueue_test_{os.getpid()}_{secrets.token_hex(4)}_{next(_numbers)}"
    parts = urlsplit(server_url)
    with _administering(server_url) as run:
        run("create database {}", name)
        try:
            url = urlunsplit(parts._replace(path=f"/{name}"))
            migrate.upgrade(url)
            yield url
        finally:
            run("drop database {}" if is_mysql(server_url) else "drop database {} with (force)", name)


@contextmanager
def copy_of(url: str, server_url: str) -> Generator[str]:
    """Give the URL of a copy of a database of PostgreSQL, dropped afterwards.

    Args:
        url: of a database that nobody is connected to.
        server_url: as of `database`.
    """
    parts = urlsplit(url)
    template = parts.path.removeprefix("/")
    name = f"{template}_{next(_numbers)}"
    with _administering(server_url) as run:
        run("create database {} template {}", name, template)
        try:
            yield urlunsplit(parts._replace(path=f"/{name}"))
        finally:
            run("drop database {} with (force)", name)


@contextmanager
def _administering(url: str) -> Generator[Any]:
    with connect(url) as connection:

        def run(text: str, *names: str) -> None:
            if isinstance(connection, psycopg.Connection):
                connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))  # pyright: ignore
            else:
                with connection.cursor() as cursor:
                    cursor.execute(text.format(*names))

        yield run
