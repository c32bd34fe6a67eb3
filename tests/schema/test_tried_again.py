"""A call that ends as a deadlock is undone and tried again, and answers nothing twice."""

from __future__ import annotations

import json
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from tests.conftest import Clock
from tests.schema.storage import Session

COUNTS = (
    "select reserved_total, expired_total, popped_total, dead_total, total from queue_stats"
    " where p_kind = 'work'"
)


def be_a_deadlock(session: Session, times: int, table: LiteralString = "queue_count") -> None:
    """Have so many of the next counts end as a deadlock does: they come once a call has chosen."""
    conn = session.conn
    conn.execute("create sequence tries")
    conn.execute(
        sql.SQL(
            "create function be_a_deadlock() returns trigger language plpgsql security definer as $$ begin"
            " if nextval({}::regclass) <= {} then raise deadlock_detected; end if; return null; end $$"
        ).format(f"{conn.execute('select current_schema()').fetchall()[0][0]}.tries", times)
    )
    conn.execute(
        sql.SQL("create trigger be_a_deadlock after insert on {} execute function be_a_deadlock()").format(
            sql.Identifier(table)
        )
    )


def take(session: Session, routine: LiteralString) -> list[str]:
    text = sql.SQL("select p_key from {}('work', in_max_messages => 5)").format(sql.Identifier(routine))
    return [key for (key,) in session.conn.execute(text)]


@pytest.fixture
def expired(session: Session, clock: Clock) -> Session:
    """Give a session that finds three ready: two had been held, and one of these for the last time."""
    session.push("back")
    session.push("spent", max_attempts=1)
    assert len(session.reserve(2, timeout_seconds=1)) == 2
    session.push("new")
    clock.advance(2)
    return session


@pytest.mark.parametrize(
    ("routine", "counts"), [("queue_reserve", (4, 2, 0, 1, 2)), ("queue_pop", (2, 2, 2, 1, 0))]
)
def test_what_was_chosen_and_undone_is_counted_and_answered_once(
    expired: Session, routine: LiteralString, counts: tuple[int, ...]
) -> None:
    before = expired.conn.execute(COUNTS).fetchall()
    be_a_deadlock(expired, 3)
    assert take(expired, routine) == ["back", "new"]
    assert before == [(2, 0, 0, 0, 3)]
    assert expired.conn.execute(COUNTS).fetchall() == [counts]
    assert len(expired.conn.execute("select from queue_peek('work.dead', 9)").fetchall()) == 1


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_it_is_tried_four_times(expired: Session, routine: LiteralString) -> None:
    be_a_deadlock(expired, 4)
    with pytest.raises(psycopg.errors.DeadlockDetected):
        take(expired, routine)
    assert take(expired, routine) == ["back", "new"], "nothing was done"


def test_a_pop_that_was_undone_after_its_end_answers_once(session: Session) -> None:
    session.push("a")
    session.push("b")
    be_a_deadlock(session, 1)
    assert take(session, "queue_pop") == ["a", "b"]
    assert session.conn.execute(COUNTS).fetchall() == [(0, 0, 2, 0, 0)]


def test_a_kind_that_gets_an_index_is_tried_four_times(session: Session) -> None:
    session.conn.execute("""select from queue_push('work', 'a', '{"n": 1}')""")
    text = """select from queue_define('work', '{"filter_index": true}')"""
    be_a_deadlock(session, 7, "queue_term")
    with pytest.raises(psycopg.errors.DeadlockDetected):
        session.conn.execute(text)
    session.conn.execute(text)
    assert session.conn.execute("select count(*) from queue_term").fetchall() == [(1,)]


@pytest.mark.parametrize("options", [{"semaphores": ["s"]}, {}], ids=["semaphore locked", "none"])
@pytest.mark.parametrize("times", [0, 1, 3, 4])
def test_who_acks_and_takes_waits_for_nobody_while_a_semaphore_is_locked(
    session: Session, times: int, options: dict[str, list[str]]
) -> None:
    """SKIP LOCKED waits now and then, and perhaps for somebody who waits for the semaphore."""
    conn = session.conn
    conn.execute("select queue_semaphore('s', 5)")
    for key in "abc":
        session.push(key, **options)
    [done] = conn.execute("select receipt from queue_reserve('work')").fetchall()
    conn.execute("create sequence tries")
    conn.execute("create table seen (lock_timeout text)")
    conn.execute(
        "create function be_waited_for() returns trigger language plpgsql security definer as $$ begin"
        f" if nextval('public.tries') <= {times} then raise lock_not_available; end if;"
        " insert into public.seen values (current_setting('lock_timeout')); return new; end $$".encode()
    )
    conn.execute(
        "create trigger be_waited_for before update on delayed_queue for each row"
        " when (old.reserved_at is null and new.reserved_at is not null) execute function be_waited_for()"
    )
    conn.execute("set lock_timeout = '7min'")

    def loop() -> list[tuple[str]]:
        text = "select p_key from queue_next(%s, 'work')"
        return conn.execute(text, [json.dumps(done)]).fetchall()

    if times > (3 if options else 0):
        with pytest.raises(psycopg.errors.LockNotAvailable):
            loop()
        held = "select p_key from delayed_queue where reserved_at is not null"
        assert conn.execute(held).fetchall() == [("a",)], "nothing is acked"
    else:
        assert loop() == [("b",)]
        expected = "10ms" if options and times < 3 else "7min"
        assert conn.execute("select * from seen").fetchall() == [(expected,)]
        assert conn.execute(COUNTS.replace("popped", "acked")).fetchall() == [(2, 0, 1, 0, 2)]
    assert conn.execute("show lock_timeout").fetchall() == [("7min",)]
