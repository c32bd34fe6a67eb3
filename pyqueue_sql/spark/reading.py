"""Rows of the server as record batches: by way of CSV, but for calls and what is large on MySQL."""

from __future__ import annotations

import io
import logging
import selectors
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.pq import ExecStatus
from pymysql.cursors import SSCursor

from pyqueue_sql.calls.connect import own_transaction
from pyqueue_sql.spark.arrow import arrow_schema, columns, csv, pa

log = logging.getLogger(__name__)

BYTES: Final = 4_000_000
ROWS: Final = 10_000
OPERATORS: Final = frozenset({"=", ">", ">=", "<", "<=", "in"})
_LARGE: Final = frozenset({"payload", "payload_bytes", "headers", "errors"})
"""Columns that MariaDB and MySQL don't put into a line with the others, since packets have an end."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a column has to be."""

    column: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Source:
    """A view or table, or a call, to read from."""

    name: str
    columns: str
    times: bool = False
    """Whether its times are timestamps; what we hand on are microseconds."""


def expression(source: Source, name: str, *, mysql: bool) -> str:
    """Return what stands for a column in SQL."""
    if source.times and name.endswith(("_at", "_initially")):
        if mysql:
            return f"timestampdiff(microsecond, '1970-01-01', {name})"
        return f"(extract(epoch from {name}) * 1000000)::bigint"
    return name


def select(connection: Any, source: Source, filters: Sequence[Filter]) -> tuple[str, list[Any]]:
    """Return the text of a query and its parameters, as the connection's driver takes them.

    Args:
        connection: of the driver.
        source: what to read from.
        filters: all of them have to hold.
    """
    mysql = not isinstance(connection, psycopg.Connection)
    names = [name for name, _ in columns(source.columns)]
    wanted = [expression(source, name, mysql=mysql) for name in names]
    if mysql:
        wanted = [_line(source), *(name for name in names if name in _LARGE)]
    text = f"select {', '.join(wanted)} from {source.name}"
    values: list[Any] = []
    for number, one in enumerate(filters):
        given = list(one.value) if one.operator == "in" else [one.value]
        places = ", ".join(["%s"] * len(given))
        text += (
            f" {'and' if number else 'where'} {expression(source, one.column, mysql=mysql)} {one.operator} "
        )
        text += f"({places})" if one.operator == "in" else places
        values += given
    return text, values


def _line(source: Source) -> str:
    """Return what makes a line of CSV of all but the large columns; PyMySQL takes long for each column."""
    parts: list[str] = []
    for name, type_ in columns(source.columns):
        if name not in _LARGE:
            value = expression(source, name, mysql=True)
            quoted = f"""concat('"', replace({value}, '"', '""'), '"')""" if type_ == "text" else value
            parts.append(f"ifnull({quoted}, '')")
    return f"concat_ws(',', {', '.join(parts)})"


def fetch(connection: Any, text: str, values: Sequence[Any]) -> list[Any]:
    """Return the few rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return list(cursor.fetchall())


def kinds_of(connection: Any, name: str) -> list[str]:
    """Return the kinds that a view or table has, each found by a look at the index."""
    found: list[str] = []
    while True:
        [(kind,)] = fetch(
            connection, f"select min(p_kind) from {name} where p_kind > %s", [(found or [""])[-1]]
        )
        if kind is None:
            return found
        found.append(kind)


def backlog(connection: Any, kinds: Sequence[str]) -> dict[str, Any]:
    """Return what waits in these kinds: ready, waiting (delayed or in a line), and the age of the oldest."""
    places = ", ".join(["%s"] * len(kinds))
    text = (
        "select sum(ready), sum(scheduled + waiting), max(oldest_ready_seconds) from queue_stats"
        f" where p_kind in ({places})"
    )
    [(ready, waiting, oldest)] = fetch(connection, text, kinds)
    return {
        "ready": int(ready or 0),
        "waiting": int(waiting or 0),
        "oldest_ready_seconds": None if oldest is None else float(oldest),
    }


def warn_if_unused(connection: Any, kind: str) -> None:
    """Say in the log that nobody has ever used a kind, where the login may know: its name may be misspelt."""
    try:
        used = fetch(connection, "select 1 from queue_stats where p_kind = %s", [kind])
    except Exception as error:
        log.debug("whether a kind is used isn't known: %s", type(error).__name__)
    else:
        if not used:
            log.warning('kind "%s": nobody has ever used it; is it spelt right?', kind[:100])


def batches(connection: Any, text: str, values: Sequence[Any], names: str) -> Generator[Any]:
    """Yield the rows of a query.

    Args:
        connection: of the driver, in a transaction or in autocommit.
        text: the query.
        values: its parameters.
        names: its columns, as PEEKED has them.
    """
    if isinstance(connection, psycopg.Connection):
        yield from _copied(connection, text, values, names)
    elif text.startswith("call "):
        yield from _called(connection, text, values, names)
    else:
        yield from _lined(connection, text, values, names)


def _copied(connection: Any, text: str, values: Sequence[Any], names: str) -> Iterator[Any]:
    parts = text.split("%s")
    query = sql.Composed([_sql(parts[0])])
    for value, part in zip(values, parts[1:], strict=True):
        query += sql.Literal(value) + _sql(part)
    copy = sql.SQL("copy ({}) to stdout (format csv)").format(query)
    with own_transaction(connection), connection.cursor() as cursor, cursor.copy(copy):
        rows: list[bytes] = []
        size = 0
        for row in _rows(connection.pgconn):
            rows.append(row)
            size += len(row)
            if size >= BYTES:
                yield from _parsed(rows, names)
                rows, size = [], 0
        yield from _parsed(rows, names)


def _rows(pgconn: Any) -> Iterator[bytes]:
    """Yield the rows of the COPY that is under way.

    The same from psycopg's `Copy` takes 2.4 times as long, since it makes a generator and waits for each row.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(pgconn.socket, selectors.EVENT_READ)
        while True:
            size, row = pgconn.get_copy_data(1)
            if size > 0:
                yield bytes(row)  # quicker to join than views are
            elif size == 0:
                selector.select()
                pgconn.consume_input()
            else:
                break
    for result in list(iter(pgconn.get_result, None)):
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(result)


def _sql(text: str) -> sql.SQL:
    # put together of names that stand in this package, never of what somebody gave
    return sql.SQL(text)  # pyright: ignore[reportArgumentType]


def _parsed(rows: list[bytes], names: str) -> Iterator[Any]:
    if not rows:
        return
    wanted = arrow_schema(names)
    for one in _from_csv(rows, wanted).to_batches():
        yield pa.record_batch(
            [
                _bytes(column) if pa.types.is_binary(type_) else column
                for column, type_ in zip(one.columns, wanted.types, strict=True)
            ],
            schema=wanted,
        )


def _from_csv(rows: list[bytes], wanted: Any) -> Any:
    """Return a table of the columns, where bytes are still text."""
    return csv.read_csv(
        io.BytesIO(b"".join(rows)),
        csv.ReadOptions(
            column_names=wanted.names, use_threads=False, block_size=2 * BYTES + len(max(rows, key=len))
        ),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types={
                name: pa.string() if pa.types.is_binary(type_) else type_
                for name, type_ in zip(wanted.names, wanted.types, strict=True)
            },
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _bytes(column: Any) -> Any:
    return pa.array(
        [None if text is None else bytes.fromhex(text[2:]) for text in column.to_pylist()], pa.binary()
    )


def _lined(connection: Any, text: str, values: Sequence[Any], names: str) -> Iterator[Any]:
    wanted = arrow_schema(names)
    large = [name for name in wanted.names if name in _LARGE]
    lines = pa.schema([wanted.field(name) for name in wanted.names if name not in _LARGE])
    with _unbuffered(connection) as cursor:
        cursor.execute(text, values)
        for rows in _fetched(cursor, range(1, 1 + len(large))):
            line, *rest = zip(*rows, strict=True)
            found = _from_csv([f"{one}\n".encode() for one in line], lines).combine_chunks()
            of_name = dict(zip(large, rest, strict=True))
            yield pa.record_batch(
                [
                    pa.array(of_name[name], type_) if name in _LARGE else found[name].chunk(0)
                    for name, type_ in zip(wanted.names, wanted.types, strict=True)
                ],
                schema=wanted,
            )


def _called(connection: Any, text: str, values: Sequence[Any], names: str) -> Iterator[Any]:
    wanted = arrow_schema(names)
    with _unbuffered(connection) as cursor:
        cursor.execute(text, values)
        given = [one[0] for one in cursor.description]
        order = [given.index(name) for name in wanted.names]
        for rows in _fetched(cursor, [given.index(name) for name in wanted.names if name in _LARGE]):
            found = list(zip(*rows, strict=True))
            yield pa.record_batch(
                [pa.array(found[place], type_) for place, type_ in zip(order, wanted.types, strict=True)],
                schema=wanted,
            )


@contextmanager
def _unbuffered(connection: Any) -> Generator[Any]:
    """Give a cursor that reads as its user does."""
    cursor = connection.cursor(SSCursor)
    try:
        yield cursor
    finally:
        if not connection.open and connection._result is not None:
            # or PyMySQL reads on where nothing is any more, and its error hides that the server has gone
            connection._result.unbuffered_active = False
        cursor.close()


def _fetched(cursor: Any, large: Sequence[int]) -> Iterator[list[Any]]:
    """Yield the rows, some megabytes at a time: a column of Arrow has room for two gigabytes.

    Args:
        cursor: that has them.
        large: the places of what may be large.
    """
    rows: list[Any] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += sum(len(row[place] or "") for place in large)
        if size >= BYTES or len(rows) == ROWS:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows
