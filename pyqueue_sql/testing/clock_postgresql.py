"""The time of a database of PostgreSQL, standing still until a test moves it."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
from psycopg import sql

START_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z


class Clock:
    """The database's time, standing still until a test moves it.

    It is a sequence because reading one is outside of transactions, as reading the time is: a transaction
    that began before `advance` sees the new time, in every isolation level.
    """

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        """Replace queue_now() of the connection's database, as its owner, where it isn't yet.

        The connection is in autocommit.
        """
        self._conn = conn
        row = conn.execute(
            "select n.nspname, pg_catalog.to_regclass(pg_catalog.format('%I.test_clock', n.nspname)) is null"
            " from pg_catalog.pg_proc p"
            " join pg_catalog.pg_namespace n on n.oid = p.pronamespace where p.proname = 'queue_now'"
        ).fetchone()
        assert row is not None, "this database has no queue_now()"
        names = ("queue_now", "_queue_effort", "test_clock")
        self._names = {name: sql.Identifier(row[0], name) for name in names}
        new = row[1]
        if new:
            self._run("create sequence {test_clock} maxvalue 9223372036854775807")
            self._run("grant select on {test_clock} to public")
        self.set(START_US)
        if new:
            self._run(
                "create or replace function {queue_now}() returns bigint language sql volatile"
                " begin atomic select c.last_value from {test_clock} c; end"
            )

    @property
    def now(self) -> int:
        """The time, in microseconds since 1970."""
        row = self._run("select c.last_value from {test_clock} c").fetchone()
        assert row is not None
        return row[0]

    def set(self, us: int) -> None:
        """Set the time, in microseconds since 1970."""
        sequence = self._names["test_clock"].as_string(self._conn)
        self._conn.execute("select setval(%s, %s)", [sequence, us])

    def advance(self, seconds: float) -> None:
        """Move the time, by seconds; a negative number sets it back."""
        self.set(self.now + round(seconds * 1_000_000))

    def nothing_takes_time(self) -> None:
        """No scan is ever slow, so that the order of delivery is exact on a busy machine."""
        self._run("create or replace function {_queue_effort}() returns bigint language sql return 0")

    def _run(self, text: LiteralString) -> psycopg.Cursor[Any]:
        return self._conn.execute(sql.SQL(text).format(**self._names))
