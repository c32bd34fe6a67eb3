"""Looks at a queue: a connection on which nothing can be written and no statement takes long."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, LiteralString, cast

import psycopg

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import connect, ended_after
from pyqueue_sql.models import State
from pyqueue_sql.overview import queries
from pyqueue_sql.overview.models import (
    Blocker,
    Contents,
    Dead,
    GroupLook,
    KindLook,
    Line,
    Member,
    MessageLook,
    Overview,
    Past,
    Timing,
    Totals,
    WorkerLook,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyqueue_sql.calls.connect import Connection

AT_MOST = 10_000
"""How many messages of a kind are counted."""
KINDS = 500
WORKERS = 1000
SEMAPHORES = 100
SCHEDULES = 500
STATEMENT_S = 10
LOCK_S = 2
PATIENCE_S = 2 * STATEMENT_S
"""For a statement, by our own clock: a server that was halted keeps no limit."""
LIMITS: LiteralString = """
select set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true)
"""
"""Of a transaction on PostgreSQL. An index is read from its beginning up to the limit, whatever is known of
the table."""
RIGHTS = {"42501", 1044, 1142, 1143, 1227, 1370}
"""What the servers say to whom they don't let look."""


class NotSeen(Exception):  # noqa: N818 -- named after what happened
    """This login may not see it; the message is the server's."""


class Look:
    """A connection for looking.

    Args:
        connection: of psycopg or PyMySQL, in autocommit.
        at_most: how many messages of a kind are counted.
    """

    def __init__(self, connection: Connection, at_most: int = AT_MOST) -> None:
        self.connection = connection
        self.is_mysql = not isinstance(connection, psycopg.Connection)
        self._at_most = at_most
        self._queries = queries.MYSQL if self.is_mysql else queries.POSTGRESQL

    def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Args:
            text: static SQL, with a %s for each value.
            *values: them.

        Raises:
            NotSeen: the login lacks a right.
            psycopg.Error, pymysql.Error: what else the server says.
        """
        with self._cursor() as cursor:
            cursor.execute(text, values or None)
            return [tuple(row) for row in cursor.fetchall()]

    def run(self, text: str) -> None:
        """Run a statement without rows; errors are those of `rows`."""
        with self._cursor() as cursor:
            cursor.execute(text)

    @contextlib.contextmanager
    def _cursor(self) -> Generator[Any]:
        connection = self.connection
        try:
            with contextlib.ExitStack() as opened:
                opened.enter_context(ended_after(connection, PATIENCE_S))
                if isinstance(connection, psycopg.Connection):
                    # which ends with the transaction: a pooler may give this session to others
                    opened.enter_context(connection.transaction())
                    connection.execute(LIMITS, (f"{STATEMENT_S}s", f"{LOCK_S}s"))
                yield opened.enter_context(cast("Any", connection).cursor())
        except Exception as error:
            codes = {getattr(error, "sqlstate", None), *error.args[:1]}
            said = dialect.failure(error)
            if codes & RIGHTS and said:
                raise NotSeen(said.message) from None
            raise

    def value(self, text: str, *values: object) -> Any:
        """Return the first value of the first row, or None; arguments and errors are those of `rows`."""
        found = self.rows(text, *values)
        return found[0][0] if found else None

    def now(self) -> int:
        """Return the time of the queue."""
        if self.is_mysql:
            self.run("call queue_now(@pyqueue_now)")
        return int(self.value(self._queries.now))

    def overview(self, *, details: bool = True) -> Overview:
        """Return what is going on.

        Args:
            details: semaphores and what keeps dead rows, too.

        Raises:
            NotSeen: this login may not read the tables of the queue.
        """
        now = self.now()
        settings = {
            kind: (bool(paused), bool(draining))
            for kind, paused, draining, _ in self.rows(self._queries.settings, KINDS + 1)
        }
        totals = {
            kind: Totals(*(int(count or 0) for count in counts))
            for kind, *counts in self.rows(self._queries.totals)
        }
        names = sorted({*self.kinds(), *settings, *totals})
        return Overview(
            now,
            tuple(
                self._kind(name, now, *settings.get(name, (False, False)), totals.get(name, Totals()))
                for name in names[:KINDS]
            ),
            len(names) > KINDS,
            tuple(self.workers(now)),
            tuple(self.lines(now)) if details else (),
            tuple(self.blockers()) if details else (),
            self.dead() if details else None,
            details and self.sees_sessions(),
        )

    def kinds(self) -> list[str]:
        """Return the kinds that have messages, at most 501."""
        found: list[str] = []
        while len(found) <= KINDS:
            kind = self.value(queries.NEXT_KIND, found[-1] if found else "")
            if kind is None:
                break
            found.append(kind)
        return found

    def dead_letter_kinds(self) -> list[str]:
        """Return the kinds that dead letters are in: those that are named so, and what settings name."""
        named = [found for *_, found in self.rows(self._queries.settings, KINDS) if found is not None]
        return sorted({*(kind for kind in self.kinds() if kind.endswith(".dead")), *named})

    def dead_letters(self, kind: str, since: int) -> tuple[int, int]:
        """Return how many messages of a kind there are, and how many came since; of `AT_MOST` of them.

        Args:
            kind: where dead letters are.
            since: a time in microseconds.
        """
        [(there, new)] = self.rows(self._queries.dead_letters, since, kind, self._at_most)
        return int(there), int(new)

    def workers(self, now: int) -> list[WorkerLook]:
        """Return the registered workers, at most 1000."""
        return [
            WorkerLook(
                worker,
                None if kinds is None else tuple(self._json(kinds)),
                began,
                beat,
                float(timeout),
                bool(upkeep),
                bool(alive),
            )
            for worker, kinds, began, beat, timeout, upkeep, alive in self.rows(
                self._queries.workers, now, WORKERS
            )
        ]

    def lines(self, now: int) -> list[Line]:
        """Return the semaphores, at most 100."""
        return [
            Line(
                name,
                int(capacity),
                self.value(self._queries.held, name, now, self._at_most),
                self.value(self._queries.waiting, name, self._at_most),
            )
            for name, capacity in self.rows(self._queries.semaphores, SEMAPHORES)
        ]

    @functools.cached_property
    def sees_contents(self) -> bool:
        """Whether this login may see what is in messages, and their errors."""
        try:
            self.rows(queries.MAY_SEE)
        except NotSeen:
            return False
        return True

    def messages(self, kind: str, at_most: int, now: int) -> list[MessageLook]:
        """Return the messages of a kind that come first: those in the ready line, and then by time.

        Args:
            kind: which.
            at_most: how many.
            now: the time of the queue.
        """
        found = self._messages(self._queries.first, now, kind, at_most)
        found += self._messages(self._queries.timetable, now, kind, at_most - len(found))
        seen = {one.key for one in found}
        # what waits for its turn has neither a place nor a date
        rest = self.by_key(kind, at_most, now) if len(found) < at_most else []
        return found + [one for one in rest if one.key not in seen][: at_most - len(found)]

    def by_key(
        self, kind: str, at_most: int, now: int, *, prefix: str = "", after: str = ""
    ) -> list[MessageLook]:
        """Return messages of a kind in the order of their keys.

        Args:
            kind: which.
            at_most: how many.
            now: the time of the queue.
            prefix: what the keys begin with.
            after: the key that they come after.
        """
        found = self._messages(self._queries.by_key, now, kind, prefix, after, at_most)
        return [one for one in found if one.key.startswith(prefix)]

    def message(self, kind: str, key: str, now: int) -> MessageLook | None:
        """Return one message, None where there is none."""
        return next(iter(self._messages(queries.ONE, now, kind, key)), None)

    def contents(self, kind: str, key: str) -> Contents | None:
        """Return what is in a message, None where there is none or this login may not see it."""
        rows = self.rows(queries.INSIDE, kind, key) if self.sees_contents else []
        return next(
            (Contents(self._json(payload), inside, self._json(headers)) for payload, inside, headers in rows),
            None,
        )

    def past(self, kind: str, key: str, at_most: int) -> list[Past]:
        """Return what has ended under a key, the newest first.

        Args:
            kind: the kind.
            key: the key.
            at_most: how many are looked at; on PostgreSQL those need not be the newest ones.
        """
        rows = self.rows(self._seen(self._queries.past), kind, key, at_most)
        found = [Past(*row, errors=self._errors(errors)) for *row, errors in rows]
        return sorted(found, key=lambda one: (-one.finished_at, -one.entry))

    def schedules(self) -> list[Timing]:
        """Return the schedules, at most 500."""
        return [
            Timing(name, kind, self._json(rule), catch_up, bool(paused), next_at, last_at)
            for name, kind, rule, catch_up, paused, next_at, last_at in self.rows(
                queries.SCHEDULES, SCHEDULES
            )
        ]

    def groups(self, at_most: int, members: int, *, name: str = "", after: str = "") -> list[GroupLook]:
        """Return groups in the order of their names.

        Args:
            at_most: how many.
            members: of how many members they say what became of them.
            name: the first that is wanted.
            after: the group that they come after.
        """
        found: list[GroupLook] = []
        rows = self.rows(queries.GROUPS, name, after, at_most)
        for group, then_kind, then_key, fail_kind, expected, closed, failed, created_at, finished_at in rows:
            ended = "done" if finished_at is not None else "closed" if closed else "open"
            of_it = self.members(group, members)
            found.append(
                GroupLook(
                    group,
                    then_kind,
                    then_key,
                    fail_kind,
                    expected,
                    "failed" if failed else ended,
                    created_at,
                    finished_at,
                    len(of_it),
                    sum(one.done_at is not None for one in of_it),
                    sum(one.is_dead for one in of_it),
                )
            )
        return found

    def members(self, group: str, at_most: int) -> list[Member]:
        """Return members of a group, in the order in which they were pushed."""
        return [
            Member(*row, is_dead=row[3] == "dead" or (bool(died) and row[4] is None))
            for *row, died in self.rows(self._seen(queries.MEMBERS), group, at_most)
        ]

    def group_of(self, member: int) -> str | None:
        """Return the group that a message is a member of, by its number as one."""
        return self.value(queries.GROUP_OF, member)

    def _messages(self, text: str, now: int, *values: object) -> list[MessageLook]:
        return [
            MessageLook(
                kind,
                key,
                _state(now, ready_at, due_at, rest[4], rest[2]),
                *rest,
                errors=self._errors(errors),
            )
            for kind, key, ready_at, due_at, *rest, errors in self.rows(self._seen(text), *values)
        ]

    def _seen(self, text: str) -> str:
        if self.sees_contents:
            return text
        return text.replace(queries.ERRORS, queries.NO_ERRORS).replace(queries.DIED, queries.NOT_KNOWN)

    def _json(self, found: Any) -> Any:
        """Return a value of JSON, which MariaDB and MySQL give as a text and psycopg as what it says."""
        return json.loads(found) if self.is_mysql and found is not None else found

    def _errors(self, found: Any) -> tuple[Mapping[str, Any], ...] | None:
        return tuple(self._json(found) or ()) if self.sees_contents else None

    def blockers(self) -> list[Blocker]:
        """Return who keeps dead rows, the oldest first, as far as this login sees them."""
        try:
            found = list(self._blockers_mysql() if self.is_mysql else self._blockers_postgresql())
        except NotSeen:
            return []
        return sorted(found, key=lambda one: -(one.seconds or 0))

    def _blockers_postgresql(self) -> Iterator[Blocker]:
        for what, name, user, application, state, seconds in self.rows(queries.BLOCKERS_POSTGRESQL):
            yield Blocker(what, name, user, application, state, None if seconds is None else float(seconds))

    def _blockers_mysql(self) -> Iterator[Blocker]:
        found = self.rows(queries.BLOCKERS_MYSQL)
        sessions = {row[0]: row for row in self.rows(queries.SESSIONS_MYSQL)}
        for number, state, seconds in found:
            _, user, host, _, command, *_ = sessions.get(number, (None,) * 5)  # it may have ended since
            yield Blocker("session", str(number), user, host, command or state, float(seconds))

    def sees_sessions(self) -> bool:
        """Return whether this login sees the sessions of others, and so who keeps dead rows."""
        text = queries.SEES_SESSIONS_MYSQL if self.is_mysql else queries.SEES_SESSIONS_POSTGRESQL
        try:
            return bool(self.rows(text)[0][0])
        except NotSeen:
            return False

    def dead(self) -> Dead | None:
        """Return how many dead rows there are, None where the server doesn't say."""
        try:
            rows = self.rows(queries.DEAD_MYSQL if self.is_mysql else queries.DEAD_POSTGRESQL)
        except NotSeen:
            return None
        return Dead(int(rows[0][0]), rows[0][1]) if rows and rows[0][0] is not None else None

    def _kind(self, kind: str, now: int, paused: bool, draining: bool, totals: Totals) -> KindLook:
        [all_of_it] = self.rows(self._queries.counted, kind, self._at_most + 1, now)
        is_more = all_of_it[5] > self._at_most
        parts = [all_of_it]
        if is_more:
            texts = (self._queries.in_line, self._queries.due)
            parts = [self.rows(text, kind, self._at_most, now)[0] for text in texts]
        counts = [sum(int(part[place] or 0) for part in parts) for place in range(5)]
        times = [_least(part[place] for part in parts) for place in (6, 7, 8)]
        return KindLook(
            kind,
            paused,
            draining,
            ready=counts[0],
            scheduled=counts[1],
            reserved=counts[2],
            expired=counts[3],
            waiting=counts[4],
            is_more=is_more,
            next_at=times[0],
            oldest_ready_at=times[1],
            oldest_reserved_at=times[2],
            totals=totals,
        )


@contextlib.contextmanager
def open_look(url: str, schema: str | None = None, at_most: int = AT_MOST) -> Generator[Look]:
    """Give a look at the queue behind a URL: it can't write, and no statement takes longer than 10 s.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        schema: where the queue is; None: the current schema.
        at_most: how many messages of a kind are counted.

    Raises:
        ConnectionFailed: no connection.
    """
    with connect(url, schema=schema, read_committed=True) as connection:
        look = Look(connection, at_most)
        if isinstance(connection, psycopg.Connection):
            connection.read_only = True
            connection.prepare_threshold = None  # a statement is prepared in one session
        else:
            for text in _mysql_limits(look):
                look.run(text)
        yield look


def _mysql_limits(look: Look) -> Sequence[str]:
    longest = (
        f"set session max_statement_time = {STATEMENT_S}"
        if "mariadb" in str(look.value("select version()")).lower()
        else f"set session max_execution_time = {STATEMENT_S * 1000}"
    )
    return (
        "set session transaction read only",
        longest,
        f"set session lock_wait_timeout = {LOCK_S}",
    )


def _least(values: Iterable[Any]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _state(
    now: int, ready_at: int | None, due_at: int | None, reserved_at: int | None, scheduled_at: int
) -> State:
    if reserved_at is not None:
        return "reserved" if scheduled_at > now else "expired"
    if ready_at is None and due_at is None:
        return "waiting"
    return "scheduled" if scheduled_at > now else "ready"
