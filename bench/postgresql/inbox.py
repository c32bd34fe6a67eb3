"""COPY into queue_inbox, beside COPY into a bare table with the same key.

Keys are in order. What comes in through the inbox is ready to be reserved when COPY ends.
"""

from __future__ import annotations

import time
from typing import LiteralString, cast

from bench.postgresql.pgbench import PAYLOAD
from bench.postgresql.sides import Pyqueue
from bench.run import Run

NAME = "inbox"
ROWS = 1_000_000
QUICK_ROWS = 100_000
CHUNK = 1_000
TARGET = 0.35
BARE = """create table bare (p_kind text collate "C", p_key text collate "C", payload jsonb,
    primary key (p_kind, p_key))"""


def run(run: Run) -> None:
    """Measure."""
    rows = QUICK_ROWS if run.quick else ROWS
    side = Pyqueue(run.url)
    side.run(BARE)
    text = [
        "".join(f"bench\torder/{number:09}\t{PAYLOAD}\n" for number in range(first, first + CHUNK)).encode()
        for first in range(0, rows, CHUNK)
    ]

    def rate(table: str) -> float:
        side.empty()
        side.run("truncate bare")
        began = time.perf_counter()
        with side.admin.cursor().copy(
            cast(LiteralString, f"copy {table} (p_kind, p_key, payload) from stdin")
        ) as copy:
            for chunk in text:
                copy.write(chunk)
        return rows / (time.perf_counter() - began)

    run.compare(
        f"inbox by COPY, {rows:,} rows",
        lambda: rate("queue_inbox"),
        lambda: rate("bare"),
        other_name="COPY into a bare table",
        unit="rows/s",
        target=TARGET,
    )
