"""The two tables that are compared: filling and emptying them, and what the server does behind them."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from bench.innodb.clients import call
from bench.innodb.lives import KIND
from pyqueue_sql.calls.connect import connect_mysql

PLAIN = "create table plain (id bigint auto_increment primary key, vt bigint, payload json, key (vt))"
REDO = {"mariadb": "Innodb_lsn_current", "mysql": "Innodb_redo_log_current_lsn"}
A_SECOND = 6000
"""More messages than any number of clients gets through one by one; in batches they do ten times that."""

APART_MICROSECONDS = 40_000
"""Between one thousand of messages and the next: as if they were pushed at 25,000 a second."""

A_STATEMENT = 20
"""Thousands of rows that are put in by one statement."""


class Tables:
    """The queue and the plain table, in one database.

    Args:
        url: of a database with the queue.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = connect_mysql(url)
        self._cursor = self._connection.cursor()
        self._fills = itertools.count()
        self.run(PLAIN)

    def run(self, text: str, *arguments: object) -> Any:
        """Run a statement and return its rows."""
        return call(self._cursor, text, *arguments)

    def close(self) -> None:
        self._connection.close()

    def fill_queue(self, count: int, delayed: bool = False) -> None:
        """Put messages into the kind: a thousand are pushed, into another kind, and copied.

        Args:
            count: how many, in thousands.
            delayed: due in an hour and later, of 200 priorities below and above 0.
        """
        options: list[dict[str, object]] = [{} for _ in range(1000)]
        if delayed:
            options = [{"delay_seconds": 3600 + n, "priority": n * 7 % 200 - 100} for n in range(1000)]
        batch = [{"key": f"{n:03}", "payload": {"n": n}} | options[n] for n in range(1000)]
        self.run("call queue_push_many('copied', %s, null)", json.dumps(batch))
        # whatever the layout is: a copy has an entry and a key of its own, and earlier times
        [(names,)] = self.run(
            "select group_concat(c.column_name separator ', ') from information_schema.columns c"
            " where c.table_schema = database() and c.table_name = 'delayed_queue'"
            " and coalesce(c.generation_expression, '') = ''"
        )
        changed = {
            "entry": "uuid_short() & 9223372036854775807",
            "p_kind": f"'{KIND}'",
            "p_key": f"concat(q.p_key, '/', j.n, '/{next(self._fills)}')",
        }
        copied = ", ".join(
            changed.get(
                name, f"q.{name} - j.n * {APART_MICROSECONDS}" if name.endswith("_at") else f"q.{name}"
            )
            for name in names.split(", ")
        )
        self.run("create temporary table pushed as select q.* from delayed_queue q where q.p_kind = 'copied'")
        self.run("call queue_purge('copied', null)")
        for numbers in parts(0, count // 1000):
            self.run(
                f"insert into delayed_queue ({names}) select {copied}"
                f" from {listed(numbers)} j straight_join pushed q"
            )
        self.run("drop temporary table pushed")

    def fill_plain(self, count: int) -> None:
        """Insert thousands of rows that are due, each a microsecond after the one before."""
        first = time.time_ns() // 1000 - 3_600_000_000
        for numbers in parts(0, count // 1000):
            self.run(
                "insert into plain (vt, payload)"
                f" select {first} + j.n * 1000 + i.n, json_object('n', i.n)"
                f" from {listed(numbers)} j straight_join {listed(range(1000))} i"
            )

    def empty(self) -> None:
        """Make everything as it was at first, what the queue remembers of earlier messages too."""
        found = self.run(
            "select t.table_name from information_schema.tables t where t.table_schema = database()"
            " and t.table_type = 'BASE TABLE' and t.table_name <> 'queue_version'"
        )
        for (name,) in found:
            self.run(f"truncate {name}")
        self.wait_for_purge()

    def wait_for_purge(self) -> None:
        """Wait until the server has cleaned up; an idle MySQL rests with some thousands left."""
        least, fell = 1 << 60, time.monotonic()
        while least > 0 and time.monotonic() < fell + 0.5:
            left = self.run(
                "select m.count from information_schema.innodb_metrics m"
                " where m.name = 'trx_rseg_history_len'"
            )[0][0]
            if left < least:
                least, fell = left, time.monotonic()
            time.sleep(0.05)

    def redo(self) -> int:
        """Return how many bytes of redo the server has written so far, what purging writes included."""
        self.wait_for_purge()
        server = "mariadb" if "MariaDB" in self.run("select version()")[0][0] else "mysql"
        return int(self.run(f"show global status like '{REDO[server]}'")[0][1])


def enough(seconds: float, batches: bool = False) -> int:
    """Return how many messages clients don't run out of, in thousands."""
    return 1000 * round(4 + seconds * A_SECOND * (10 if batches else 1) / 1000)


def parts(begin: int, end: int) -> Iterator[range]:
    """Give the numbers from `begin` until before `end`, as many at once as a statement puts in."""
    for first in range(begin, end, A_STATEMENT):
        yield range(first, min(first + A_STATEMENT, end))


def listed(numbers: range) -> str:
    """Return numbers as a table of SQL with the column n."""
    return f"json_table('{list(numbers)}', '$[*]' columns (n int path '$'))"


@contextmanager
def tables(url: str) -> Iterator[Tables]:
    """Give the tables of a database with the queue."""
    with closing(Tables(url)) as found:
        yield found


@contextmanager
def read_view(url: str) -> Iterator[None]:
    """Keep a read view open: what is deleted meanwhile can't be purged."""
    with closing(connect_mysql(url)) as connection, connection.cursor() as cursor:
        call(cursor, "set transaction isolation level repeatable read")
        call(cursor, "start transaction with consistent snapshot")
        yield
