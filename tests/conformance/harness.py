"""What the scenarios stand on: sessions of a queue, and what only a server's own administrator does.

Scenarios call nothing else, so that the same files run wherever there is a harness. What the families of
servers need for it is in the modules `on_postgresql` and `on_mysql`.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pyqueue_sql import Queue, QueueError
from pyqueue_sql.calls.connect import ConnectionFailed
from tests.servers import kept

USUAL = (True, "scenario", "read committed")
"""What `Harness.connect` is asked for by most tests."""


class Clock(Protocol):
    """The database's time, which stands still until a scenario moves it."""

    @property
    def now(self) -> int: ...

    def set(self, us: int) -> None: ...

    def advance(self, seconds: float) -> None: ...

    def nothing_takes_time(self) -> None: ...


class Session(Queue[Any], ABC):
    """A queue on a connection of its own; without autocommit a call begins a transaction.

    Args:
        connection: of the driver.
        autocommit: whether each call is a transaction of its own.
    """

    def __init__(self, connection: Any, autocommit: bool) -> None:
        super().__init__(connection)
        self.autocommit = autocommit
        self.is_for_the_next = False
        """Whether it goes on to the next test, where it can be made as new."""

    def commit(self) -> None:
        """End the transaction and keep what it did."""
        self.connection.commit()

    def rollback(self) -> None:
        """End the transaction and undo what it did."""
        self.connection.rollback()

    @abstractmethod
    def raw(self, routine: str, *arguments: str | bytes | None) -> int:
        """Call a routine with arguments as they are, past all that the client does with them.

        Args:
            routine: its name.
            *arguments: as text; bytes need not be text of any encoding; None is NULL.

        Returns:
            How many rows it answered.

        Raises:
            QueueError: as any call; what isn't the queue's is the driver's own.
        """

    @abstractmethod
    def columns(self, routine: str, *arguments: str | None) -> list[str]:
        """Call a routine with arguments as they are.

        Args:
            routine: its name.
            *arguments: as text; None is NULL.

        Returns:
            The names of the columns that it answered, in their order.

        Raises:
            QueueError: as any call; what isn't the queue's is the driver's own.
        """

    @abstractmethod
    def answer(self, routine: str, *arguments: str | None) -> list[dict[str, str | None]]:
        """Call a routine with arguments as they are.

        Args:
            routine: its name.
            *arguments: as text; None is NULL.

        Returns:
            Its rows, by column and as text.

        Raises:
            QueueError: as any call; what isn't the queue's is the driver's own.
        """

    @abstractmethod
    def call(self, routine: str, *values: object) -> list[Any]:
        """Call a routine with values as the driver binds them.

        Args:
            routine: its name.
            *values: its arguments.

        Returns:
            Its rows.
        """

    @abstractmethod
    def land(self, rows: Sequence[Mapping[str, Any]], table: str = "queue_inbox") -> None:
        """Insert rows into the inbox or the stage, all in one statement.

        Args:
            rows: columns and their values; what a row doesn't have is NULL.
            table: which of the two.
        """

    @contextmanager
    def savepoint(self, undo: bool = False) -> Iterator[None]:
        """A part of the transaction, or where each call is one a transaction, that is undone where it fails.

        Args:
            undo: undo it in any case.
        """
        begin, keep, back = (
            ("begin", "commit", "rollback")
            if self.autocommit
            else ("savepoint part", "release savepoint part", "rollback to savepoint part")
        )
        self.execute(begin)
        try:
            yield
        except BaseException:
            with contextlib.suppress(Exception):  # where the server has undone the whole transaction
                self.execute(back)
            raise
        self.execute(back if undo else keep)

    @abstractmethod
    def execute(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        """Do what isn't a call of the queue, with a %s for each value; returns the rows."""

    def close(self) -> None:
        """Leave, as a client that dies does: what its transaction did is undone."""
        self.connection.close()


def insertion(rows: Sequence[Mapping[str, Any]], table: str) -> tuple[str, list[Any]]:
    """Return the INSERT of rows into the inbox or the stage, and its values."""
    names = sorted({name for row in rows for name in row})
    places = ", ".join(["(" + ", ".join(["%s"] * len(names)) + ")"] * len(rows))
    text = f"insert into {table} ({', '.join(names)}) values {places}"
    return text, [row.get(name) for row in rows for name in names]


class Harness(ABC):
    """Sessions on one database, closed together.

    Args:
        url: of a database with the queue in it.
        keeps: whether its sessions go on to the next harness of the same database that has this, too.
    """

    snapshot_levels: Sequence[str]
    """Isolation levels in which a transaction has one snapshot and doesn't lock what it reads."""

    prepared = True
    """Whether its sessions prepare statements, where their driver does: a pooler may not stand that."""

    def __init__(self, url: str, keeps: bool = False) -> None:
        self.url = url
        self._keeps = keeps
        self._threads = threading.active_count()
        self._sessions: list[Session] = []

    def connect(
        self, autocommit: bool = True, name: str = "scenario", isolation: str = "read committed"
    ) -> Session:
        """Return a session on a connection of its own.

        Args:
            autocommit: whether each call is a transaction of its own; else `commit` and `rollback` end them.
            name: what `terminate_one_of` calls the connection.
            isolation: the level of its transactions.
        """
        usual = self._keeps and (autocommit, name, isolation) == USUAL
        session = self._take() if usual else None
        session = session or self._open(autocommit, name, isolation)
        session.is_for_the_next = usual
        self._sessions.append(session)
        return session

    def share_none(self) -> None:
        """Have the sessions from here on be new, and end with it: the server treats new ones another way."""
        self._keeps = False

    def _take(self) -> Session | None:
        """Return a session of a test before, None where there is none that still works."""
        while (connection := kept.take(self.url)) is not None:
            if (session := self._again(connection)) is not None:
                return session
        return None

    @abstractmethod
    def _again(self, connection: Any) -> Session | None:
        """Return a session on a connection that was kept, None where it works no more."""

    @abstractmethod
    def _renew(self, session: Session) -> int | None:
        """Make a session as new, but for what it has compiled.

        Returns:
            What the server calls it; None: that isn't possible, or nobody knows.
        """

    @abstractmethod
    def _open(self, autocommit: bool, name: str, isolation: str) -> Session:
        """Return a new session, in which a call that waits for another session for long fails."""

    def connect_among_kills(self, name: str = "victim") -> Session:
        """Return a new session while others are killed: MySQL was seen to end one with them that was new."""
        for _ in range(20):
            try:
                return self.connect(name=name)
            except Exception as error:
                if not ((isinstance(error, ConnectionFailed) and error.away) or self.is_lost(error)):
                    raise
        return self.connect(name=name)

    @abstractmethod
    def is_lost(self, error: Exception) -> bool:
        """Whether a call raised this because the server or the network has ended its connection."""

    @abstractmethod
    def terminate(self, session: Session) -> None:
        """End the server's side of a session, as an administrator or a broken network does."""

    @abstractmethod
    def terminate_one_of(self, name: str) -> bool:
        """End the server's side of a random connection of that name; returns whether there was one."""

    @abstractmethod
    def open_snapshot(self) -> Session:
        """Return a session with an open snapshot: while it lasts nothing removed can be cleaned away."""

    @abstractmethod
    def is_serialization_failure(self, error: Exception) -> bool:
        """Whether a call raised this because its transaction has to be tried again, and was undone."""

    @abstractmethod
    def sqlstate(self, error: QueueError) -> str | None:
        """Return the SQLSTATE that the driver has of what the queue refused."""

    @abstractmethod
    def cause(self, error: Exception) -> tuple[str, str]:
        """Return what an error is known by, as docs/sql.md lists it, and its text."""

    @abstractmethod
    def refusal(self, error: Exception) -> str:
        """Return the code of an error by which the server refused a call, "" where it may have been done."""

    @abstractmethod
    def routines(self) -> list[str]:
        """Return the names of the public routines."""

    @abstractmethod
    def everything(self) -> dict[str, object]:
        """Return something about each of the queue's tables that changes with it."""

    @abstractmethod
    def waits(self, session: Session) -> bool:
        """Whether a session's call waits for another transaction."""

    @abstractmethod
    def outlast(self, session: Session) -> None:
        """Have a session's calls wait for all others for longer than theirs wait for it."""

    @abstractmethod
    def learn_zone(self, name: str) -> None:
        """See to it that the server knows a time zone."""

    @abstractmethod
    def look(self, prefix: str) -> list[tuple[str, str, str, str]]:
        """Return all that others can see of the kinds that begin with a prefix, in a database with a clock.

        Returns:
            What it is (message, kind, ended), the kind, the key where there is one, and how it is.
        """

    @abstractmethod
    def clock(self) -> Clock:
        """Give the database's time, standing still."""

    def close(self) -> None:
        """Close all connections, which ends their transactions; new ones may be opened after that."""
        idle = threading.active_count() <= self._threads  # else one of the test's may be in a call still
        while self._sessions:
            session = self._sessions.pop()
            number = self._renew(session) if idle and session.is_for_the_next else None
            if number is None or not kept.keep(self.url, number, session.connection):
                session.close()


def open_harness(url: str, keeps: bool = False) -> Harness:
    """Return the harness for a database, whichever server it is of."""
    # each needs a driver of its own
    if url.startswith("postgresql"):
        from tests.conformance.on_postgresql import PostgresqlHarness

        return PostgresqlHarness(url, keeps)
    from tests.conformance.on_mysql import MysqlHarness

    return MysqlHarness(url, keeps)
