"""LOAD DATA LOCAL into the inbox, until all is in the queue, beside the same into the plain table."""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pymysql

from bench.innodb.clients import call
from bench.innodb.lives import KIND
from bench.innodb.tables import tables
from bench.run import Run
from pyqueue_sql.calls.connect import mysql_settings

NAME = "inbox"


def load(cursor: Any, file: Path, into: str) -> None:
    """Load a file of comma-separated values, quoted where there is a comma inside."""
    call(
        cursor,
        f"load data local infile '{file}' into table {into.partition(' ')[0]} character set utf8mb4"
        f" fields terminated by '\\t' escaped by '' {into.partition(' ')[2]}",
    )


def run(run: Run) -> None:
    """Measure it."""
    rows = 10_000 if run.quick else 100_000
    with (
        tables(run.url) as found,
        tempfile.TemporaryDirectory() as folder,
        closing(pymysql.connect(autocommit=True, local_infile=True, **mysql_settings(run.url))) as connection,
        connection.cursor() as cursor,
    ):
        keyed, plain = Path(folder, "keyed"), Path(folder, "plain")
        keyed.write_text("".join(f'{KIND}\t{n}\t{{"n": {n}}}\n' for n in range(rows)))
        plain.write_text("".join(f'{time.time_ns() // 1000}\t{{"n": {n}}}\n' for n in range(rows)))

        def inbox() -> float:
            found.empty()
            began = time.perf_counter()
            load(cursor, keyed, "queue_inbox (p_kind, p_key, payload)")
            while found.run("select count(*) from delayed_queue")[0][0] < rows:
                call(cursor, "call queue_prune(null)")
            return rows / (time.perf_counter() - began)

        def bare() -> float:
            found.empty()
            began = time.perf_counter()
            load(cursor, plain, "plain (vt, payload)")
            return rows / (time.perf_counter() - began)

        run.compare(
            "inbox",
            inbox,
            bare,
            other_name="LOAD DATA LOCAL into the plain table",
            unit="rows/s",
            target=0.4,
            note=f"{rows:,} rows; by queue_prune where the inbox has no trigger",
        )
