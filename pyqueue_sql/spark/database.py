"""The calls that staging and batches need, over a connection of the driver's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import sql

from pyqueue_sql import Queue, call, dialect
from pyqueue_sql.call import Call, Column, Routine
from pyqueue_sql.connect import connect, is_mysql
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.writing import to_csv, to_values

T = TypeVar("T")

_BEGIN = Routine("queue_stage_begin", ("text",), (Column("part", ""),))
_PUBLISH = Routine("queue_stage_publish", ("json", "json"), (Column("outcome", ""), Column("messages", "")))
_ABORT = Routine("queue_stage_abort", ("text",), (Column("removed", ""),))
_READY = Routine("queue_stream_ready", ("text",), (Column("ready", "boolean"),))
_EXTEND = Routine(
    "queue_stream_extend", ("text", "bigint", "numeric"), (Column("extended", ""), Column("lost", ""))
)
_DONE = Routine("queue_stream_done", ("text", "bigint"), (Column("done", "boolean"),))
_COMMIT = Routine(
    "queue_stream_commit",
    ("text", "bigint", "json"),
    tuple(Column(name, "") for name in ("outcome", "acked", "failed", "lost", "published")),
)


class Committed(NamedTuple):
    """What became of a batch."""

    outcome: str
    """committed, or replayed where that had been done before."""
    acked: int
    failed: int
    lost: int
    published: int


def _first(rows: Sequence[call.Row]) -> Any:
    return rows[0][0]


def _row(rows: Sequence[call.Row]) -> Any:
    return rows[0]


class Batches(Queue[Any]):
    """The routines of stages and batches, in the transaction of the connection."""

    def begin(self, job: str) -> int:
        """Begin a part of a job."""
        return self._run(Call(_BEGIN, (job,), _first))

    def publish_parts(
        self, parts: Sequence[Mapping[str, int]], *, query: str | None = None, batch: int | None = None
    ) -> str:
        """Publish parts, and return whether they were published or replayed."""
        options = None if query is None else json.dumps({"query": query, "batch": batch})
        return self._run(Call(_PUBLISH, (json.dumps(parts), options), _first))

    def abort(self, job: str) -> int:
        """Remove what is staged."""
        return self._run(Call(_ABORT, (job,), _first))

    def ready(self, kind: str) -> bool:
        """Whether a reserve would find something."""
        return bool(self._run(Call(_READY, (kind,), _first)))

    def extend_batch(self, stream: str, batch: int, seconds: float) -> tuple[int, int]:
        """Keep the holds of a batch, and return how many were kept and lost."""
        return self._run(Call(_EXTEND, (stream, batch, seconds), _row))

    def done(self, stream: str, batch: int) -> bool:
        """Whether a batch is committed already."""
        return bool(self._run(Call(_DONE, (stream, batch), _first)))

    def commit_batch(self, stream: str, batch: int, **options: Any) -> Committed:
        """End a batch."""
        answer = self._run(Call(_COMMIT, (stream, batch, json.dumps(options) if options else None), _row))
        return Committed(*answer)


@contextmanager
def connected(options: Options, *, autocommit: bool = True) -> Generator[Batches]:
    """Give the routines over a connection of its own, closed at the end.

    Args:
        options: they say where.
        autocommit: whether each call is a transaction of its own; else what isn't committed is undone.
    """
    connection = connect(options.url, autocommit=autocommit, schema=options.queue_schema, read_committed=True)
    try:
        if not isinstance(connection, psycopg.Connection):
            with connection.cursor() as cursor:
                # with the escapes that `to_values` writes
                cursor.execute("set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
        yield Batches(connection)
    finally:
        connection.close()


class Standing:
    """A connection that stays between calls, and is made anew where it was lost.

    Args:
        options: they say where.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._stack = ExitStack()
        self._database: Batches | None = None

    def do(self, what: Callable[[Batches], T]) -> T:
        """Make a call, once more where the connection turns out to be lost."""
        found = self._database
        try:
            return what(found or self._open())
        except Exception as error:
            said = dialect.failure(error)
            self.close()
            if found is None or said is None or not said.lost:
                raise
        return what(self._open())

    def close(self) -> None:
        """Close the connection; the next call makes another."""
        self._database = None
        self._stack.close()

    def _open(self) -> Batches:
        self._database = self._stack.enter_context(connected(self._options))
        return self._database


def has_statement_trigger(options: Options) -> bool:
    """Whether rows that are put into queue_inbox are pushed together, by one statement for all of them."""
    return not is_mysql(options.url)


def put(connection: Any, table: str, batches: Iterator[Any]) -> int:
    """Put rows into a table by the fastest way that the server lets everybody go: COPY, or INSERT of many.

    Args:
        connection: of the driver, in a transaction.
        table: queue_inbox or queue_stage.
        batches: Arrow tables, all with the same columns.

    Returns:
        How many rows.
    """
    first = next(batches, None)
    if first is None:
        return 0
    how = _copy if isinstance(connection, psycopg.Connection) else _insert
    return how(connection, table, first.schema.names, itertools.chain([first], batches))


def _copy(connection: Any, table: str, names: Sequence[str], batches: Iterable[Any]) -> int:
    text = sql.SQL("copy {} ({}) from stdin (format csv)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    rows = 0
    with connection.cursor() as cursor, cursor.copy(text) as copy:
        for one in batches:
            copy.write(to_csv(one))
            rows += one.num_rows
    return rows


def _insert(connection: Any, table: str, names: Sequence[str], batches: Iterable[Any]) -> int:
    before = f"insert into {table} ({', '.join(names)}) values ".encode()
    rows = 0
    with connection.cursor() as cursor:
        for one in batches:
            for values in to_values(one):
                cursor.execute(before + values)
            rows += one.num_rows
    return rows
