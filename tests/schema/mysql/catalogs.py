"""What is in a database of MariaDB or MySQL, as text to compare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import pymysql
from sqlalchemy import Connection, Engine, event

from pyqueue_sql.calls.connect import connect

if TYPE_CHECKING:
    from collections.abc import Callable

ROUTINES = (
    "select r.routine_type, r.routine_name from information_schema.routines r"
    " where r.routine_schema = database()"
)
TRIGGERS = (
    "select 'TRIGGER', t.trigger_name from information_schema.triggers t where t.trigger_schema = database()"
)
TABLES = "select 'TABLE', t.table_name from information_schema.tables t where t.table_schema = database()"
TEXTS = {"PROCEDURE": 2, "FUNCTION": 2, "TRIGGER": 2, "TABLE": 1}
"""In which column SHOW CREATE has the text."""
RECEIPT = -2
"""In which column the answer of a reserve has the receipt."""

Catalog: TypeAlias = dict[tuple[str, str], str]
"""Definitions, by the sort of what is defined and its name."""


def open_connection(url: str) -> pymysql.Connection[Any]:
    """Return a connection in autocommit."""
    connection = connect(url)
    assert isinstance(connection, pymysql.Connection)
    return connection


def rows_read(connection: pymysql.Connection[Any]) -> int:
    """Return how many rows the session has read by now."""
    return sum(int(number) for _, number in run(connection, "show session status like 'Handler_read%'"))


def run(connection: pymysql.Connection[Any], text: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, of a CALL those of the first result set, once all of it is read."""
    with connection.cursor() as cursor:
        cursor.execute(text)
        found = list(cursor.fetchall())
        while cursor.nextset():
            pass
        return found


def rows(url: str, text: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement on a connection of its own."""
    with open_connection(url) as connection:
        return run(connection, text)


def catalog(url: str) -> Catalog:
    """Return the definitions of all that is in a database, without what doesn't belong to them."""
    with open_connection(url) as connection:
        found = [row for text in (ROUTINES, TRIGGERS, TABLES) for row in run(connection, text)]
        return {(kind, name): _definition(connection, kind, name) for kind, name in found}


def _definition(connection: pymysql.Connection[Any], kind: str, name: str) -> str:
    [row] = run(connection, f"show create {kind} `{name}`")
    database = connection.db.decode() if isinstance(connection.db, bytes) else str(connection.db)
    text = row[TEXTS[kind]].replace(f"`{database}`.", "")
    return re.sub(r" AUTO_INCREMENT=\d+", "", text) + (f" {row[1]}" if TEXTS[kind] == 2 else "")


class Killer:
    """Counts the statements of SQLAlchemy, and has the server kill the connection before one of them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = 0
        self._count = 0

    def __call__(self, connection: Connection, *_: Any) -> None:
        """Be told of a statement that is about to be sent."""
        self._count += 1
        if self._count == self._at:
            theirs: Any = connection.connection.driver_connection
            rows(self._url, f"kill {theirs.thread_id()}")

    def count(self, what: Callable[[], None]) -> int:
        """Do it, and return how many statements it took."""
        self.kill(what, 0)
        return self._count

    def kill(self, what: Callable[[], None], at: int) -> None:
        """Do it, killed before the statement of that number."""
        self._count, self._at = 0, at
        event.listen(Engine, "before_cursor_execute", self)
        try:
            what()
        finally:
            event.remove(Engine, "before_cursor_execute", self)
