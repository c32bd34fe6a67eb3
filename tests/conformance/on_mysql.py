"""The harness on MariaDB and MySQL."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pymysql

from pyqueue_sql import QueueError
from pyqueue_sql.calls.through import fail
from pyqueue_sql.testing.clock_mysql import TABLE as CLOCK
from pyqueue_sql.testing.clock_mysql import Clock as RowClock
from tests.conformance.harness import USUAL, Clock, Harness, Session, insertion
from tests.servers.databases import SESSIONS, open_connection

HARMLESS = ("select", "insert", "update", "delete", "call")
"""How statements begin that leave nothing behind in the session."""

LOST = {0, 1053, 1927, 2006, 2013, 4031}
"""Error numbers; 0 is PyMySQL's for a connection that it has closed."""

UNSURE = {1026, 1598}
"""Error numbers: the binary log couldn't be written, after which the server may keep it nevertheless."""

UNDONE = {1020, 1205, 1213}
"""Error numbers: changed since the snapshot, waited too long, deadlock."""

SQLSTATES = {
    31001: "PQ001",
    31002: "PQ002",
    31003: "PQ003",
    31004: "PQ004",
    31005: "PQ005",
    31006: "PQ006",
    31007: "PQ007",
}
"""Those of the queue, by the error numbers that say the same."""

LOOK = f"""
select 'message', q.p_kind, q.p_key, concat_ws(' ', coalesce(cast(q.payload as char), 'bytes'),
    q.scheduled_at - c.now, case when q.reserved_at is not null then 'held' end,
    concat('attempts ', q.attempts),
    case when q.pending then concat('pending ', coalesce(cast(q.pending_payload as char), '')) end,
    concat('errors ', json_length(q.errors)))
from delayed_queue q cross join {CLOCK} c where left(q.p_kind, char_length(%(prefix)s)) = %(prefix)s
union all
select 'kind', k.p_kind, '', concat_ws(' ', k.timeout_seconds + 0e0, case when k.paused then 'paused' end,
    case when k.draining then 'drained' end)
from queue_kind k where left(k.p_kind, char_length(%(prefix)s)) = %(prefix)s
union all
select 'ended', h.p_kind, h.p_key, h.outcome from queue_history h
where left(h.p_kind, char_length(%(prefix)s)) = %(prefix)s
"""


class MysqlSession(Session):
    """A session over PyMySQL."""

    def raw(self, routine: str, *arguments: str | bytes | None) -> int:
        return self._do(called(routine, arguments))[0]

    def columns(self, routine: str, *arguments: str | None) -> list[str]:
        return self._do(called(routine, arguments))[1]

    def answer(self, routine: str, *arguments: str | None) -> list[dict[str, str | None]]:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(called(routine, arguments))
                names = [column[0] for column in cursor.description or ()]
                rows = cursor.fetchall()
        except Exception as error:
            fail(error)
        return [
            {name: None if value is None else str(value) for name, value in zip(names, row, strict=True)}
            for row in rows
        ]

    def call(self, routine: str, *values: object) -> list[Any]:
        return self.execute(f"call {routine}({', '.join(['%s'] * len(values))})", values)

    def land(self, rows: Sequence[Mapping[str, Any]], table: str = "queue_inbox") -> None:
        self._do(*insertion(rows, table))

    def execute(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        self.is_for_the_next = self.is_for_the_next and text.lstrip().lower().startswith(HARMLESS)
        with self.connection.cursor() as cursor:
            cursor.execute(text, values)
            return list(cursor.fetchall())

    def _do(self, text: Any, values: Any = None) -> tuple[int, list[str]]:
        """Return how many rows there were in the first result set, and the names of its columns."""
        try:
            with self.connection.cursor() as cursor:
                found = cursor.execute(text, values)
                names = [column[0] for column in cursor.description or ()]
                # an error may come after the rows
                while cursor.nextset():
                    pass
                return found, names
        except Exception as error:
            fail(error)

    def close(self) -> None:
        with contextlib.suppress(pymysql.Error):  # it is closed
            super().close()


@cache
def variables() -> list[str]:
    """Return the names of the variables in which the routines keep something while a session lasts."""
    texts = (path.read_text() for path in (Path(__file__).parents[2] / "sql" / "mysql").rglob("*.sql"))
    return sorted({name for text in texts for name in re.findall(r"@pyqueue_\w+", text)})


def called(routine: str, arguments: Sequence[str | bytes | None]) -> bytes:
    """Return a call of a routine with values as they are."""
    return f"call {routine}(".encode() + b", ".join(map(literal, arguments)) + b")"


def literal(value: str | bytes | None) -> bytes:
    """Return a value as SQL."""
    if value is None:
        return b"null"
    given = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return b"'" + given.replace(b"\\", b"\\\\").replace(b"'", b"''").replace(b"\0", b"\\0") + b"'"


def _change(day: datetime, zone: ZoneInfo, offset: timedelta | None) -> datetime:
    """Return when a zone changed to an offset, in the day before."""
    while (day - timedelta(minutes=15)).astimezone(zone).utcoffset() == offset:
        day -= timedelta(minutes=15)
    return day


class MysqlHarness(Harness):
    """Sessions on one database of MariaDB or MySQL."""

    snapshot_levels = ("repeatable read",)

    def __init__(self, url: str, keeps: bool = False) -> None:
        super().__init__(url, keeps)
        self._watcher: pymysql.Connection[Any] | None = None
        self._patient: list[Session] = []
        self._waiting: dict[Session, int] = {}
        """How many others waited when a session's call began."""

    def _open(self, autocommit: bool, name: str, isolation: str) -> Session:
        connection = open_connection(self.url)
        with connection.cursor() as cursor:
            cursor.execute(f"set session transaction isolation level {isolation}")
            # which attributes a connection has isn't known to every server
            cursor.execute(f"insert into {SESSIONS} values (%s, connection_id())", [name])
        connection.autocommit(autocommit)
        return MysqlSession(connection, autocommit)

    def _again(self, connection: Any) -> Session | None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"insert into {SESSIONS} values (%s, connection_id())", [USUAL[1]])
        except pymysql.Error:  # it has been ended
            return None
        return MysqlSession(connection, autocommit=True)

    def _renew(self, session: Session) -> int | None:
        connection: pymysql.Connection[Any] = session.connection
        if not connection.open:
            return None
        try:
            connection.rollback()
            with connection.cursor() as cursor:
                cursor.execute("do release_all_locks()")
                cursor.execute("set " + ", ".join(f"{name} = cast(null as char)" for name in variables()))
        except pymysql.Error:
            return None
        return connection.thread_id()

    def is_lost(self, error: Exception) -> bool:
        return isinstance(error, pymysql.Error) and error.args[:1] != () and error.args[0] in LOST

    def terminate(self, session: Session) -> None:
        self._kill(session.connection.thread_id())

    def terminate_one_of(self, name: str) -> bool:
        found = self._watch(
            "select p.id from information_schema.processlist p"
            f" join {SESSIONS} s on s.id = p.id where s.name = %s and p.db = database()"
            " order by rand() limit 1",
            [name],
        )
        for (number,) in found:
            self._kill(number)
        return bool(found)

    def open_snapshot(self) -> Session:
        session = self.connect(autocommit=False, isolation="repeatable read")
        session.execute("start transaction with consistent snapshot")
        session.stats()
        return session

    def clock(self) -> Clock:
        return RowClock(self.connect().connection)

    def is_serialization_failure(self, error: Exception) -> bool:
        return isinstance(error, pymysql.Error) and error.args[:1] != () and error.args[0] in UNDONE

    def sqlstate(self, error: QueueError) -> str | None:
        # older versions of PyMySQL keep it to themselves
        number = error.__cause__.args[0] if error.__cause__ else 0
        return getattr(error.__cause__, "sqlstate", None) or SQLSTATES.get(number)

    def cause(self, error: Exception) -> tuple[str, str]:
        found = error.__cause__ if isinstance(error, QueueError) else error
        if not isinstance(found, pymysql.Error) or not found.args:
            return type(found).__name__, str(found)
        return SQLSTATES.get(found.args[0], str(found.args[0])), str(found.args[-1])

    def refusal(self, error: Exception) -> str:
        code = self.cause(error)[0]
        return code if code[-1].isdigit() and not {code} & set(map(str, LOST | UNSURE)) else ""

    def routines(self) -> list[str]:
        found = self._watch(
            "select routine_name from information_schema.routines where routine_schema = database()"
            " and routine_type = 'PROCEDURE' and left(routine_name, 6) = 'queue_'"
        )
        return [name for (name,) in found]

    def everything(self) -> dict[str, object]:
        tables = self._watch(
            "select table_name from information_schema.tables"
            " where table_schema = database() and table_type = 'BASE TABLE'"
        )
        return dict(self._watch("checksum table " + ", ".join(name for (name,) in tables)))

    def waits(self, session: Session) -> bool:
        # nobody else has come since; what says which one it is lags a tenth of a second behind
        return self._waits() > self._waiting.get(session, 0)

    def _waits(self) -> int:
        [(_, number)] = self._watch("show global status like 'innodb_row_lock_current_waits'")
        return int(number)

    def outlast(self, session: Session) -> None:
        # a call that the server gives up is made again, and meanwhile the locks that it had are free
        self._patient.append(session)
        self._waiting[session] = self._waits()
        for one in self._sessions:
            seconds = 100 if one is session else 4
            if one is session or one not in self._patient:  # those are in the middle of a call
                one.execute("set session innodb_lock_wait_timeout = %s", [seconds])

    def learn_zone(self, name: str) -> None:
        if self._watch("select 1 from mysql.time_zone_name where name = %s", [name]):
            return
        self._watch("insert into mysql.time_zone (use_leap_seconds) values ('N')")
        [(number,)] = self._watch("select last_insert_id()")
        types: dict[tuple[timedelta | None, str | None, bool], int] = {}
        day = datetime(1990, 1, 1, tzinfo=UTC)
        before = None
        while day.year < 2037:
            local = day.astimezone(ZoneInfo(name))
            now = (local.utcoffset(), local.tzname(), bool(local.dst()))
            if now != before:
                at = _change(day, ZoneInfo(name), local.utcoffset()) if before else day
                if now not in types:
                    offset = int((now[0] or timedelta()).total_seconds())
                    types[now] = len(types)
                    self._watch(
                        "insert into mysql.time_zone_transition_type values (%s, %s, %s, %s, %s)",
                        [number, types[now], offset, now[2], now[1]],
                    )
                self._watch(
                    "insert into mysql.time_zone_transition values (%s, %s, %s)",
                    [number, int(at.timestamp()), types[now]],
                )
            before, day = now, day + timedelta(days=1)
        self._watch("insert into mysql.time_zone_name values (%s, %s)", [name, number])

    def look(self, prefix: str) -> list[tuple[str, str, str, str]]:
        return self._watch(LOOK, {"prefix": prefix})

    def close(self) -> None:
        super().close()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def _kill(self, number: int) -> None:
        """End a session, and wait until it is gone: it leaves the list after it has rolled back."""
        with contextlib.suppress(pymysql.OperationalError):  # it has gone by itself
            self._watch("kill %s", [number])
        until = time.monotonic() + 30
        while self._watch("select 1 from information_schema.processlist p where p.id = %s", [number]):
            assert time.monotonic() < until, f"session {number} is still there"
            time.sleep(0.002)

    def _watch(self, text: str, values: Any = None) -> list[Any]:
        if self._watcher is None:
            self._watcher = open_connection(self.url)
        with self._watcher.cursor() as cursor:
            cursor.execute(text, values)
            return list(cursor.fetchall())
