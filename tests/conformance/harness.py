"""What the scenarios stand on: sessions of a queue, and what the server can do.

The one place that knows which server it is. Scenarios call nothing else, so that the same files run wherever
there is a harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from pyqueue_sql import Queue
from pyqueue_sql.through import fail


class Session(Queue):
    """A queue on a connection of its own; without autocommit a call begins a transaction."""

    def commit(self) -> None:
        """End the transaction and keep what it did."""
        self.connection.commit()

    def rollback(self) -> None:
        """End the transaction and undo what it did."""
        self.connection.rollback()

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
        places = ", ".join(f"${number + 1}" for number in range(len(arguments)))
        result = self.connection.pgconn.exec_params(
            f"select * from {routine}({places})".encode(),
            [a.encode("utf-8", "surrogateescape") if isinstance(a, str) else a for a in arguments],
        )
        if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
            fail(psycopg.errors.error_from_result(result))
        return result.ntuples

    def land(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows into the inbox, all in one statement.

        Args:
            rows: columns and their values; what a row doesn't have is NULL.
        """
        names = sorted({name for row in rows for name in row})
        places = ", ".join(["(" + ", ".join(["%s"] * len(names)) + ")"] * len(rows))
        text = f"insert into queue_inbox ({', '.join(names)}) values {places}"
        try:
            self.connection.execute(text.encode(), [row.get(name) for row in rows for name in names])
        except psycopg.Error as error:
            fail(error)

    def close(self) -> None:
        """Leave, as a client that dies does: what its transaction did is undone."""
        self.connection.close()


class Harness:
    """Sessions on one database of PostgreSQL, closed together.

    Args:
        url: of a database with the schema in it.
    """

    capabilities = frozenset({"functions", "exact_numbers"})
    """What this server can do and another can't; a scenario that needs it is left out there."""

    connection_lost = (psycopg.OperationalError, psycopg.InterfaceError)
    """What a call raises when the server or the network has ended its connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connections: list[psycopg.Connection[Any]] = []

    def connect(self, autocommit: bool = True, name: str = "scenario") -> Session:
        """Return a session on a connection of its own.

        Args:
            autocommit: whether each call is a transaction of its own; else `commit` and `rollback` end them.
            name: what the server calls the connection, for `terminate_one_of`.
        """
        # a call that waits for another session is to fail, not to hang
        connection = psycopg.connect(
            self.url, autocommit=autocommit, application_name=name, options="-c statement_timeout=20s"
        )
        self._connections.append(connection)
        return Session(connection)

    def terminate(self, session: Session) -> None:
        """End the server's side of a session, as an administrator or a broken network does."""
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute("select pg_terminate_backend(%s, 5000)", [session.connection.info.backend_pid])

    def terminate_one_of(self, name: str) -> bool:
        """End the server's side of a random connection of that name; returns whether there was one."""
        with psycopg.connect(self.url, autocommit=True) as admin:
            found = admin.execute(
                "select pg_terminate_backend(a.pid) from pg_stat_activity a"
                " where a.datname = current_database() and a.application_name = %s order by random() limit 1",
                [name],
            ).fetchone()
        return found is not None

    def open_snapshot(self) -> Session:
        """Return a session with an open snapshot: while it lasts nothing removed can be cleaned away."""
        session = self.connect(autocommit=False)
        session.connection.execute("set transaction isolation level repeatable read")
        session.stats()
        return session

    def close(self) -> None:
        """Close all connections, which ends their transactions."""
        for connection in self._connections:
            connection.close()
