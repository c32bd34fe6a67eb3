"""The shortest that the queue's own table allows, beside the queue and the plain table.

Statements, and a routine, that put in, hold and end messages in the order of the line, by a secret, and do
nothing else: no settings of the kind, no check, no cursor, no counter, no dead letter. So nothing on this
table can be faster than they are.
"""

from __future__ import annotations

import functools
import time
from typing import Any

from bench.innodb.clients import Work, call, rate, together
from bench.innodb.lifecycle import STATEMENTS
from bench.innodb.lives import (
    BATCH,
    HOLD_MICROSECONDS,
    KIND,
    calls_of_batches,
    insert_many,
    key,
    nexts,
    push_many,
    statements,
    statements_of_batches,
)
from bench.innodb.tables import Tables, enough, tables
from bench.run import Run

NAME = "shortest"
MANY = 1000

NEXT = """
create procedure shortest_next(in in_entry bigint, in in_secret binary(16), in in_now bigint)
begin
    declare v_entry bigint;
    declare v_secret binary(16) default unhex(replace(uuid(), '-', ''));
    declare continue handler for not found begin end;
    start transaction;
    delete from delayed_queue where entry = in_entry and secret = in_secret;
    select q.entry into v_entry from delayed_queue q force index (delayed_queue_ready)
    where q.ready_kind = 'bench' and q.scheduled_at <= in_now
    order by q.ready_rank, q.ready_at, q.entry limit 1 for update skip locked;
    update delayed_queue q
    set q.scheduled_at = in_now + 300000000, q.reserved_at = in_now, q.attempts = q.attempts + 1,
        q.deliveries = q.deliveries + 1, q.reserved_by = 'worker', q.secret = v_secret,
        q.room = null
    where q.entry = v_entry;
    commit;
    select q.entry, q.secret, q.p_key, q.payload from delayed_queue q where q.entry = v_entry;
end
"""
_held: list[Any] = [None, None]
"""The entry and the secret of what this client took last."""


def shortest_nexts(cursor: Any) -> int:
    """End the message that was taken last and take the next."""
    rows = call(cursor, "call shortest_next(%s, %s, %s)", *_held, time.time_ns() // 1000)
    _held[:] = rows[0][:2] if rows else [None, None]
    return len(rows)


def shortest_of_batches(cursor: Any) -> int:
    """Hold and delete 100 messages."""
    call(cursor, "start transaction")
    now = time.time_ns() // 1000
    rows = call(
        cursor,
        "select entry, p_key, payload from delayed_queue force index (delayed_queue_ready)"
        f" where ready_kind = '{KIND}' and scheduled_at <= %s"
        f" order by ready_rank, ready_at, entry limit {BATCH} for update skip locked",
        now,
    )
    found = ", ".join(str(row[0]) for row in rows)
    secret = key()
    if rows:
        call(
            cursor,
            f"update delayed_queue set scheduled_at = {now + HOLD_MICROSECONDS}, reserved_at = {now},"
            " attempts = attempts + 1, deliveries = deliveries + 1, reserved_by = 'worker', room = null,"
            f" secret = x'{secret}' where entry in ({found})",
        )
    call(cursor, "commit")
    if rows:
        call(cursor, f"delete from delayed_queue where entry in ({found}) and secret = x'{secret}'")
    return len(rows)


def shortest_many(cursor: Any) -> int:
    """Insert messages in one statement, in the order of their keys."""
    now = time.time_ns() // 1000
    times = str(now), str(now), str(now), "0", str(now)
    keys = sorted(key() for _ in range(MANY))
    values = ", ".join(
        f"(uuid_short() & 9223372036854775807, '{KIND}', '{one}', '{{\"n\": {n}}}', {', '.join(times)})"
        for n, one in enumerate(keys)
    )
    call(
        cursor,
        "insert into delayed_queue (entry, p_kind, p_key, payload, scheduled_at, scheduled_at_initially,"
        f" created_at, ready_rank, ready_at) values {values}"
        " on duplicate key update entry = delayed_queue.entry",
    )
    return MANY


def run(run: Run) -> None:
    """Measure it."""
    many = functools.partial(push_many, count=MANY), functools.partial(insert_many, count=MANY)
    with tables(run.url) as found:
        found.run(NEXT)
        for name, several, ours, shortest, plain in (
            ("queue_next one by one", (1, 8), nexts, shortest_nexts, statements),
            (
                "reserve and ack in batches of 100",
                (1, 4),
                calls_of_batches,
                shortest_of_batches,
                statements_of_batches,
            ),
            ("push_many of 1,000 keyed messages", (1, 4), many[0], shortest_many, many[1]),
        ):
            for clients in several:
                values = run.turns(
                    [
                        functools.partial(measured, run, found, work, work is plain, clients)
                        for work in (ours, shortest, plain)
                    ]
                )
                names = (
                    "pyqueue",
                    "the shortest on its table",
                    "an INSERT" if plain is many[1] else STATEMENTS,
                )
                for mine, other in ((1, 2), (0, 1)):
                    run.keep(
                        name,
                        values[mine],
                        values[other],
                        our_name=names[mine],
                        other_name=names[other],
                        unit="messages/s",
                        clients=clients,
                    )


def measured(run: Run, found: Tables, work: Work, plain: bool, clients: int) -> float:
    """Return messages a second of so many clients."""
    batches = work in (calls_of_batches, shortest_of_batches, statements_of_batches)
    found.empty()
    if batches or work in (nexts, shortest_nexts, statements):
        (found.fill_plain if plain else found.fill_queue)(enough(run.seconds, batches))
    return rate(together(run.url, work, clients, run.seconds, warm_up=3 if batches else 20))
