"""In which order a batch goes into the table: that of delivery, so that a reserve reads page after page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import psycopg
import pytest

from pyqueue_sql.testing.clock_postgresql import Clock
from tests.conformance.options import LONG, NEW_YEAR, SHORT, YEAR_10000

KEYS = [f"k{number:03}" for number in range(200, 0, -1)]
"""As they come: the other way round than in the index of keys."""

MANY = 64
"""Batches of one transaction."""

LATEST = YEAR_10000 - 1 - NEW_YEAR
"""How many seconds after the start of a test the last second is that a time can have."""

Push: TypeAlias = Callable[[psycopg.Connection], None]
Look: TypeAlias = Callable[[], list[str]]


def push_many(conn: psycopg.Connection) -> None:
    messages = [{"key": key, "payload": 0} for key in KEYS]
    conn.execute("select queue_push_many('mail', %s::jsonb)", [json.dumps(messages)])


def copy(conn: psycopg.Connection) -> None:
    with conn.cursor() as cursor, cursor.copy("copy queue_inbox (p_kind, p_key) from stdin") as rows:
        for key in KEYS:
            rows.write_row(("mail", key))


def publish(conn: psycopg.Connection) -> None:
    stage = "insert into queue_stage (part, p_kind, p_key) select %s, 'mail', unnest(%s::text[])"
    row = conn.execute("select queue_stage_begin('job')").fetchone()
    assert row is not None
    conn.execute(stage, [row[0], KEYS])
    conn.execute(
        "select queue_stage_publish(%s::jsonb)", [json.dumps([{"part": row[0], "messages": len(KEYS)}])]
    )


@pytest.fixture
def went_in(conn: psycopg.Connection) -> Iterator[Look]:
    """The keys in the order in which they went in since the last look.

    Where each lies is the server's: PostgreSQL 14 comes back to a page that it left in 1 of 500 batches.
    """
    conn.execute("create table public.noted (n bigint generated always as identity, key text)")
    conn.execute(
        "create function public.note() returns trigger language plpgsql as"
        " 'begin insert into public.noted (key) values (new.p_key); return null; end'"
    )
    conn.execute(
        "create trigger note after insert on delayed_queue for each row execute function public.note()"
    )

    def look() -> list[str]:
        keys = [key for (key,) in conn.execute("select n.key from public.noted n order by n.n")]
        conn.execute("truncate delayed_queue, public.noted")
        return keys

    try:
        yield look
    finally:
        conn.execute("drop trigger note on delayed_queue")
        conn.execute("drop function public.note()")
        conn.execute("drop table public.noted")


@pytest.mark.parametrize("push", [push_many, copy, publish])
def test_a_batch_goes_in_in_the_order_of_delivery(
    conn: psycopg.Connection, went_in: Look, push: Push
) -> None:
    push(conn)
    assert went_in() == KEYS


@pytest.mark.parametrize("push", [push_many, copy])
@pytest.mark.parametrize("before", [1, MANY])
def test_once_a_transaction_has_many_a_batch_takes_no_savepoint_and_goes_in_in_the_order_of_its_keys(
    conn: psycopg.Connection, went_in: Look, push: Push, before: int
) -> None:
    with conn.transaction():
        for number in range(before):
            conn.execute(
                "insert into queue_inbox (p_kind, p_key) values (%s, 'b'), (%s, 'a')", [str(number)] * 2
            )
        push(conn)
        own = conn.execute(
            "select distinct q.xmin::text = pg_current_xact_id()::xid::text from delayed_queue q"
            " where q.p_kind = 'mail'"
        ).fetchall()
        savepoints = conn.execute("select count(distinct q.xmin::text) from delayed_queue q").fetchall()
    assert went_in()[-len(KEYS) :] == (KEYS if before < MANY else KEYS[::-1])
    assert own == [(before == MANY,)], "more than 64 savepoints in one transaction are a burden to all"
    assert savepoints[0][0] < 64


@pytest.mark.parametrize("push", [push_many, copy, publish])
def test_a_batch_that_would_have_to_wait_goes_in_in_the_order_of_its_keys(
    conn: psycopg.Connection,
    database_url: str,
    clock: Clock,
    went_in: Look,
    push: Push,
) -> None:
    """So that who has its key and comes to need another of the batch doesn't wait for it."""
    conn.execute(
        "set lock_timeout = '1min'; set deadlock_timeout = '1min'"
    )  # who finds a deadlock is the other
    waits = (
        "select from pg_locks l where not l.granted and l.pid = %s"
        " and clock_timestamp() > l.waitstart + interval '150 ms'"
    )
    with (
        psycopg.connect(database_url) as other,
        psycopg.connect(database_url, autocommit=True) as watch,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute("select queue_push('mail', %s, '0')", [KEYS[100]])
        pushed = pool.submit(push, conn)
        while not pushed.done() and not watch.execute(waits, [conn.info.backend_pid]).fetchall():
            pass
        other.execute("select queue_push('mail', %s, '0')", [KEYS[0]])
        other.commit()
        pushed.result(60)
    keys = [key for key in went_in() if key not in (KEYS[100], KEYS[0])]
    assert keys == sorted({*KEYS} - {KEYS[100], KEYS[0]})
    assert conn.execute("show lock_timeout").fetchone() == ("1min",)
    push(conn)
    assert went_in() == sorted(KEYS), "where one has met another, the next ones may"
    clock.advance(2)
    push(conn)
    assert went_in() == KEYS


def test_what_most_messages_of_a_batch_are_is_seen_at_once(conn: psycopg.Connection) -> None:
    def plain(options: str) -> object:
        message = f'{{"key": "a", "payload": 1, {options}}}'
        row = conn.execute("select _queue_is_plain(%s::jsonb)", [message]).fetchone()
        assert row is not None
        return row[0]

    right = [option for option in SHORT if "group" not in option]
    assert [option for option in right if not plain(option)] == [
        f'"priority": {-(2**15)}',
        *(f'"delay_seconds": {seconds}' for seconds in ("-1e-400", "123456789.1234565", 2**32, LATEST)),
    ]
    # how a number is spelt doesn't matter here, nor what a string has in it, nor which semaphores there are
    wrong = [option for option in LONG if not option.startswith('"semaphores"')]
    assert [option for option in wrong if plain(option)] == [
        *('"priority": 1.0', '"priority": 1e0', '"priority": 1e1', '"scheduled_at": 1.8e15'),
        *('"max_attempts": 1.0', '"max_attempts": 1e1'),
        *(
            '"headers": {"a": "["}',
            '"headers": {"a": "{"}',
            '"headers": {}',
            '"order_key": "x", "semaphores": ["wide"]',
        ),
    ]
