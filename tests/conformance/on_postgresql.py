"""The harness on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.pq.abc import PGresult

from pyqueue_sql import QueueError
from pyqueue_sql.calls.through import fail
from pyqueue_sql.testing.clock_postgresql import Clock as SequenceClock
from tests.conformance.harness import Clock, Harness, Session, insertion

LOOK = """
select 'message', q.p_kind, q.p_key, concat_ws(' ', coalesce(q.payload::text, 'bytes'),
    q.scheduled_at - n.now, case when q.reserved_at is not null then 'held' end, 'attempts ' || q.attempts,
    q.pending - 'scheduled_at', 'errors ' || jsonb_array_length(q.errors))
from delayed_queue q cross join (select queue_now() as now) n where starts_with(q.p_kind, %(prefix)s)
union all
select 'kind', k.p_kind, '', concat_ws(' ', k.timeout_seconds, case when k.paused then 'paused' end,
    case when k.draining then 'drained' end)
from queue_kind k where starts_with(k.p_kind, %(prefix)s)
union all
select 'ended', h.p_kind, h.p_key, h.outcome from queue_history h where starts_with(h.p_kind, %(prefix)s)
"""

LEVELS = {level.name.replace("_", " ").lower(): level for level in psycopg.IsolationLevel}


USUAL_SETTINGS = (
    b"select current_setting('transaction_isolation') = 'read committed'"
    b" and current_setting('transaction_read_only') = 'off'"
)

AS_NEW = (
    b"reset session authorization; reset all; unlisten *; close all; discard temp; discard sequences;"
    b" select pg_advisory_unlock_all()"
)

AWAY = ("08", "57P")
"""How the codes begin that say that a session ends: what it was at may have been done."""


class PostgresqlSession(Session):
    """A session over psycopg."""

    def raw(self, routine: str, *arguments: str | bytes | None) -> int:
        return self._call(routine, arguments).ntuples

    def columns(self, routine: str, *arguments: str | None) -> list[str]:
        result = self._call(routine, arguments)
        return [(result.fname(number) or b"").decode() for number in range(result.nfields)]

    def _call(self, routine: str, arguments: Sequence[str | bytes | None]) -> PGresult:
        if not self.autocommit:
            self.connection.execute("")  # begins a transaction where none is open, which pgconn doesn't
        places = ", ".join(f"${number + 1}" for number in range(len(arguments)))
        result = self.connection.pgconn.exec_params(
            f"select * from {routine}({places})".encode(),
            [a.encode("utf-8", "surrogateescape") if isinstance(a, str) else a for a in arguments],
        )
        if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
            fail(psycopg.errors.error_from_result(result))
        return result

    def answer(self, routine: str, *arguments: str | None) -> list[dict[str, str | None]]:
        result = self._call(routine, arguments)
        names = [(result.fname(number) or b"").decode() for number in range(result.nfields)]
        rows = [
            [result.get_value(row, place) for place in range(len(names))] for row in range(result.ntuples)
        ]
        return [
            {name: None if value is None else value.decode() for name, value in zip(names, row, strict=True)}
            for row in rows
        ]

    def call(self, routine: str, *values: object) -> list[Any]:
        return self.execute(f"select * from {routine}({', '.join(['%s'] * len(values))})", values)

    def land(self, rows: Sequence[Mapping[str, Any]], table: str = "queue_inbox") -> None:
        text, values = insertion(rows, table)
        try:
            self.connection.execute(text.encode(), values)
        except psycopg.Error as error:
            fail(error)

    def execute(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        cursor = self.connection.execute(text.encode(), values)
        return cursor.fetchall() if cursor.description else []


class PostgresqlHarness(Harness):
    """Sessions on one database of PostgreSQL."""

    snapshot_levels = ("repeatable read", "serializable")

    def __init__(self, url: str, keeps: bool = False) -> None:
        super().__init__(url, keeps)
        self._watcher: psycopg.Connection[Any] | None = None

    def _open(self, autocommit: bool, name: str, isolation: str) -> Session:
        connection = psycopg.connect(
            self.url,
            autocommit=autocommit,
            application_name=name,
            options="-c statement_timeout=20s",
        )
        connection.isolation_level = LEVELS[isolation]
        if not self.prepared:
            connection.prepare_threshold = None
        return PostgresqlSession(connection, autocommit)

    def _again(self, connection: Any) -> Session | None:
        result = connection.pgconn.exec_(USUAL_SETTINGS)
        # what a test had set for the database when it was opened stays with a session
        if result.status != psycopg.pq.ExecStatus.TUPLES_OK or result.get_value(0, 0) != b"t":
            connection.close()
            return None
        return PostgresqlSession(connection, autocommit=True)

    def _renew(self, session: Session) -> int | None:
        connection: psycopg.Connection[Any] = session.connection
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            return None
        if connection.pgconn.exec_(AS_NEW).status != psycopg.pq.ExecStatus.TUPLES_OK:
            return None
        return connection.info.backend_pid

    def is_lost(self, error: Exception) -> bool:
        if isinstance(error, psycopg.InternalError) and "results from command" in f"{error}":
            return (
                True  # PgBouncer puts the end of the server's session before an answer, and psycopg sees that
            )
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)

    def terminate(self, session: Session) -> None:
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute("select pg_terminate_backend(%s, 5000)", [session.connection.info.backend_pid])

    def terminate_one_of(self, name: str) -> bool:
        with psycopg.connect(self.url, autocommit=True) as admin:
            found = admin.execute(
                "select pg_terminate_backend(a.pid) from pg_stat_activity a"
                " where a.datname = current_database() and a.application_name = %s order by random() limit 1",
                [name],
            ).fetchone()
        return found is not None

    def open_snapshot(self) -> Session:
        session = self.connect(autocommit=False)
        session.connection.execute("set transaction isolation level repeatable read")
        session.stats()
        return session

    def is_serialization_failure(self, error: Exception) -> bool:
        return isinstance(error, psycopg.errors.SerializationFailure)

    def sqlstate(self, error: QueueError) -> str | None:
        cause = error.__cause__
        assert isinstance(cause, psycopg.Error)
        return cause.sqlstate

    def cause(self, error: Exception) -> tuple[str, str]:
        found = error.__cause__ if isinstance(error, QueueError) else error
        if not isinstance(found, psycopg.Error) or not found.sqlstate:
            return type(found).__name__, str(found)
        return found.sqlstate, found.diag.message_primary or ""

    def refusal(self, error: Exception) -> str:
        code = getattr(error.__cause__ if isinstance(error, QueueError) else error, "sqlstate", None) or ""
        return "" if code.startswith(AWAY) else code

    def routines(self) -> list[str]:
        found = self._watch(
            "select p.proname from pg_proc p"
            " where p.pronamespace = current_schema()::regnamespace and starts_with(p.proname, 'queue_')",
            None,
        )
        return [name for (name,) in found]

    def everything(self) -> dict[str, object]:
        tables = self._watch(
            "select c.oid::regclass::text from pg_class c"
            " where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace",
            None,
        )
        parts = [
            f"select '{t}', coalesce(sum(hashtext(t::text)), 0) + count(*) from {t} t" for (t,) in tables
        ]
        return dict(self._watch(" union all ".join(parts), None))

    def waits(self, session: Session) -> bool:
        pid = session.connection.info.backend_pid
        return self._watch("select pg_blocking_pids(%s) <> '{}'", [pid]) == [(True,)]

    def outlast(self, session: Session) -> None:
        # new keys are put in plain first, for 10 ms: who has just met another doesn't try
        session.execute("select set_config('pyqueue.met', %s, false)", [str(10**16 - 1)])

    def learn_zone(self, name: str) -> None:
        assert self._watch("select from pg_timezone_names where name = %s", [name])

    def look(self, prefix: str) -> list[tuple[str, str, str, str]]:
        return self._watch(LOOK, {"prefix": prefix})

    def _watch(self, text: str, values: Any) -> list[Any]:
        if self._watcher is None:
            self._watcher = psycopg.connect(self.url, autocommit=True)
        return self._watcher.execute(text.encode(), values).fetchall()

    def close(self) -> None:
        super().close()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def clock(self) -> Clock:
        return SequenceClock(self.connect().connection)
