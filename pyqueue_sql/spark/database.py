"""Rows into the inbox and the stage, by the fastest way that each server lets everybody go."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.writing import BYTES, to_csv, to_values


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
                if len(values) > BYTES:  # of one row
                    cursor.execute(dialect.MYSQL_PACKET)
                    dialect.check_packet(before + values, *cursor.fetchone())
                cursor.execute(before + values)
            rows += one.num_rows
    return rows
