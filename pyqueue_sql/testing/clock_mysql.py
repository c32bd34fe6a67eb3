"""The time of a database of MariaDB or MySQL, standing still until a test moves it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyqueue_sql.schema import frozen, migrate
from pyqueue_sql.testing.clock_postgresql import START_US

if TYPE_CHECKING:
    import pymysql

TABLE = "test_clock"
REAL_TIME = "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))"
"""What views have in place of queue_now, which they can't call."""
VIEW = re.compile(r"(?m)^create (?:or replace )?view ")

# outside of transactions, as the time is: a row of MyISAM has no versions
MAKE = (
    f"create table {TABLE} (now bigint not null, ticks boolean not null) engine = myisam",
    f"insert into {TABLE} values (0, true)",
    "drop procedure queue_now",
    f"create procedure queue_now(out out_now bigint) select c.now into out_now from {TABLE} c",
    "drop procedure _queue_ticks",
    "create procedure _queue_ticks(out out_ticks bigint)"
    " select if(c.ticks, timestampdiff(microsecond, '1970-01-01 00:00:00', sysdate(6)), 0) into out_ticks"
    f" from {TABLE} c",
)


def replace_clock(connection: pymysql.Connection[Any], database: str) -> None:
    """Replace the clock of a database by the row of a table.

    Args:
        connection: of the owner, in autocommit; its database is changed.
        database: the name of one with the queue in it.
    """
    connection.select_db(database)  # pyright: ignore[reportUnknownMemberType]
    texts = frozen.statements(migrate.newest(), "routines", "mysql")
    moved = [text for text in texts if VIEW.search(text) and REAL_TIME in text]
    assert moved, "no view has the time in the form that is replaced"
    with connection.cursor() as cursor:
        for text in (*MAKE, *moved):
            cursor.execute(text.replace(REAL_TIME, f"(select c.now from {TABLE} c)"))


class Clock:
    """The time of a database whose clock was replaced; the same as that of PostgreSQL's databases."""

    def __init__(self, connection: pymysql.Connection[Any], start: int = START_US) -> None:
        """Set the time, in microseconds since 1970; the connection is in autocommit."""
        self._connection = connection
        self._run(f"update {TABLE} set now = %s, ticks = true", start)

    @property
    def now(self) -> int:
        """The time, in microseconds since 1970."""
        return self._run(f"select c.now from {TABLE} c")[0][0]

    def set(self, us: int) -> None:
        """Set the time, in microseconds since 1970."""
        self._run(f"update {TABLE} set now = %s", us)

    def advance(self, seconds: float) -> None:
        """Move the time, by seconds; a negative number sets it back."""
        self.set(self.now + round(seconds * 1_000_000))

    def nothing_takes_time(self) -> None:
        """No scan is ever slow, so that the order of delivery is exact on a busy machine."""
        self._run(f"update {TABLE} set ticks = false")

    def _run(self, text: str, *values: int) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(text, values)
            return cursor.fetchall()
