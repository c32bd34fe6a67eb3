"""What a client does with a message: two CALLs, or the statements of an application on a table of its own."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from bench.innodb.clients import call

KIND = "bench"
BATCH = 100
HOLD_MICROSECONDS = 300_000_000
RECEIPT = -2
"""Where it stands in a row of a reserve."""

_held: list[str] = []
"""The receipts of what this client took last."""


def calls(cursor: Any) -> int:
    """Reserve one message and ack it."""
    rows = call(cursor, f"call queue_reserve('{KIND}', 'worker', 1, null)")
    if rows:
        call(cursor, "call queue_ack(%s, null)", rows[0][RECEIPT])
    return len(rows)


def nexts(cursor: Any) -> int:
    """Ack the message that was taken last and take the next."""
    rows = call(cursor, f"call queue_next(%s, '{KIND}', 'worker', 1, null)", json.dumps(_held))
    _held[:] = [row[RECEIPT] for row in rows]
    return len(rows)


def statements(cursor: Any) -> int:
    """Do what an application does to hold one row for longer than a transaction, and to delete it."""
    call(cursor, "start transaction")
    now = time.time_ns() // 1000
    rows = call(
        cursor,
        "select id, payload from plain where vt <= %s order by vt limit 1 for update skip locked",
        now,
    )
    if rows:
        call(cursor, "update plain set vt = %s where id = %s", now + HOLD_MICROSECONDS, rows[0][0])
    call(cursor, "commit")
    if rows:
        call(cursor, "delete from plain where id = %s", rows[0][0])
    return len(rows)


def calls_of_batches(cursor: Any) -> int:
    """Reserve 100 messages and ack them."""
    rows = call(cursor, f"call queue_reserve('{KIND}', 'worker', {BATCH}, null)")
    if rows:
        call(cursor, "call queue_ack_many(%s, null)", json.dumps([row[RECEIPT] for row in rows]))
    return len(rows)


def statements_of_batches(cursor: Any) -> int:
    """Hold and delete 100 rows."""
    call(cursor, "start transaction")
    now = time.time_ns() // 1000
    rows = call(
        cursor,
        f"select id, payload from plain where vt <= %s order by vt limit {BATCH} for update skip locked",
        now,
    )
    found = ", ".join(str(row[0]) for row in rows)
    if rows:
        call(cursor, f"update plain set vt = {now + HOLD_MICROSECONDS} where id in ({found})")
    call(cursor, "commit")
    if rows:
        call(cursor, f"delete from plain where id in ({found})")
    return len(rows)


def key() -> str:
    """Return a key as applications have them: hexadecimal digits, among them what looks like a number."""
    return uuid.uuid4().hex


def push(cursor: Any) -> int:
    """Push one keyed message."""
    call(cursor, f"call queue_push('{KIND}', %s, %s, null)", key(), '{"n": 1}')
    return 1


def insert(cursor: Any) -> int:
    """Insert one row."""
    call(cursor, "insert into plain (vt, payload) values (%s, %s)", time.time_ns() // 1000, '{"n": 1}')
    return 1


def push_calls(cursor: Any) -> int:
    """Push one message, reserve one and ack it."""
    return push(cursor) and calls(cursor)


def insert_statements(cursor: Any) -> int:
    """Insert one row, hold one and delete it."""
    return insert(cursor) and statements(cursor)


def push_many(cursor: Any, count: int = BATCH) -> int:
    """Push keyed messages in one call."""
    batch = [{"key": key(), "payload": {"n": n}} for n in range(count)]
    call(cursor, f"call queue_push_many('{KIND}', %s, null)", json.dumps(batch))
    return count


def insert_many(cursor: Any, count: int = BATCH) -> int:
    """Insert rows in one statement."""
    now = time.time_ns() // 1000
    values = ", ".join(f"({now}, '{{\"n\": {n}}}')" for n in range(count))
    call(cursor, f"insert into plain (vt, payload) values {values}")
    return count


def push_calls_of_batches(cursor: Any) -> int:
    """Push 100 messages, reserve 100 and ack them."""
    return push_many(cursor) and calls_of_batches(cursor)


def insert_statements_of_batches(cursor: Any) -> int:
    """Insert 100 rows, hold 100 and delete them."""
    return insert_many(cursor) and statements_of_batches(cursor)
