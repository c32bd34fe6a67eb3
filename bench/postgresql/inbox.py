"""COPY into queue_inbox, beside COPY into a bare table with the same key, and into the queue's own table.

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
OF_THE_TABLE = ", scheduled_at, scheduled_at_initially, created_at, ready_at"
"""Columns that COPY gives where nothing else does."""
PLACE = 4 * "\t1700000000000000"
BARE = """create table bare (p_kind text collate "C", p_key text collate "C", payload jsonb,
    primary key (p_kind, p_key))"""


def run(run: Run) -> None:
    """Measure."""
    rows = QUICK_ROWS if run.quick else ROWS
    side = Pyqueue(run.url)
    side.run(BARE)
    chunks = [range(first, first + CHUNK) for first in range(0, rows, CHUNK)]
    text = {
        "": ["".join(f"bench\torder/{n:09}\t{PAYLOAD}\n" for n in chunk).encode() for chunk in chunks],
        OF_THE_TABLE: [
            "".join(f"bench\torder/{n:09}\t{PAYLOAD}{PLACE}\n" for n in chunk).encode() for chunk in chunks
        ],
    }

    def rate(table: str, more: str = "") -> float:
        side.empty()
        side.run("truncate bare")
        began = time.perf_counter()
        with side.admin.cursor().copy(
            cast(LiteralString, f"copy {table} (p_kind, p_key, payload{more}) from stdin")
        ) as copy:
            for chunk in text[more]:
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
    run.compare(
        f"inbox by COPY, {rows:,} rows",
        lambda: rate("delayed_queue", OF_THE_TABLE),
        lambda: rate("bare"),
        our_name="COPY into delayed_queue itself",
        other_name="COPY into a bare table",
        unit="rows/s",
    )
