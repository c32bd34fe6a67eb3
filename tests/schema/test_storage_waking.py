"""Waiting and reaping in sessions that keep a cursor, because a scan from the start is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.storage import SECOND, another, hold

if TYPE_CHECKING:
    from pyqueue_sql.testing.clock_postgresql import Clock
    from tests.schema.storage import Session


def look(session: Session) -> tuple[bool, float | None]:
    """Return whether something is ready, and in how many seconds to look again."""
    row = session.conn.execute(
        "select ready, next_seconds::float8 from queue_listen(to_jsonb(%s::text))", [session.kind]
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def wait(session: Session) -> list[Any]:
    """Return what a wait of no length answers."""
    return session.conn.execute("select queue_wait(to_jsonb(%s::text), 0)", [session.kind]).fetchall()


def test_what_a_reap_frees_is_taken_by_the_next_reserve(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.conn.execute("""select queue_heartbeat('w', '{"timeout_seconds": 2}')""")
    hold(session, clock, 600)
    with another(session, database_url) as other:
        other.slow(clock.now)
        assert (other.reserve(), session.reserve()) == ({}, {})
        clock.advance(2)
        assert other.conn.execute("select freed from queue_reap()").fetchall() == [(1,)]
        assert list(other.reserve()) == ["held"]


def test_who_was_there_before_the_server_was_away_has_its_timeout_to_come_back(
    session: Session, clock: Clock
) -> None:
    session.conn.execute("""select queue_heartbeat('w', '{"timeout_seconds": 10}')""")
    hold(session, clock, 600)
    clock.advance(60)
    session.conn.execute("update queue_worker set server_run = server_run + 1")
    for seconds, freed in ((9.999999, []), (0.000001, []), (0, [(1,)])):
        assert session.conn.execute("select freed from queue_reap()").fetchall() == freed
        clock.advance(seconds)


def test_a_look_begins_at_the_cursor(session: Session, clock: Clock) -> None:
    session.push("behind")
    session.slow(clock.now + SECOND)
    assert (look(session), wait(session)) == ((False, None), [])
    clock.advance(2)
    session.push("ahead")
    assert (look(session), wait(session)) == ((True, None), [(session.kind,)])


def test_a_look_begins_at_the_cursor_of_each_priority(session: Session, clock: Clock) -> None:
    session.push("behind", priority=-5)
    session.slow(clock.now + SECOND, 0, 5)
    assert (look(session), wait(session)) == ((False, None), [])
    clock.advance(2)
    session.push("ahead", priority=-5)
    assert (look(session), wait(session)) == ((True, None), [(session.kind,)])


def test_a_look_sees_what_comes_with_another_priority(session: Session, clock: Clock) -> None:
    session.slow(clock.now, -5, 3)
    for priority in (9, 4, -2, -7):
        clock.advance(1)
        session.push(f"{priority}", priority=priority)
        assert look(session) == (True, None)
        assert list(session.reserve()) == [f"{priority}"]
        session.slow(clock.now, -5, 3)


def test_a_look_sees_the_timetable(session: Session, clock: Clock) -> None:
    session.slow(clock.now)
    session.push("latest", delay_seconds=30)
    session.push("later", delay_seconds=20)
    assert look(session) == (False, 20)
    clock.advance(20)
    assert look(session) == (True, None)


def test_a_look_sees_the_ends_of_holds(session: Session, clock: Clock) -> None:
    hold(session, clock, 60)
    assert look(session) == (False, 59)
    clock.advance(59)
    assert look(session) == (True, None)
    session.change(marks_at=0)
    assert list(session.reserve()) == ["held"]


def test_what_the_cursor_stands_at_is_not_ready_while_it_is_held(session: Session, clock: Clock) -> None:
    session.slow(clock.now)
    session.push("held")
    assert list(session.reserve(timeout_seconds=60)) == ["held"]
    assert (look(session), wait(session)) == ((False, 60), [])


def test_a_note_of_what_is_done_is_no_reason_to_look(session: Session, clock: Clock) -> None:
    receipt = hold(session, clock, 60)
    session.conn.execute("select queue_ack(%s)", [receipt])
    session.push("later", delay_seconds=100)
    clock.advance(60)
    assert look(session) == (False, 40)


def test_a_wait_ends_where_the_real_clock_was_set_back(session: Session) -> None:
    """By an hour, once the wait has begun; it would last so much longer."""
    session.conn.execute("create sequence ticked")
    session.conn.execute(
        "create or replace function _queue_ticks() returns bigint language sql return"
        " case when nextval('ticked') = 1 then 7200000000 else 3600000000 end"
    )
    session.conn.execute("set statement_timeout = '10s'")
    assert session.conn.execute("select queue_wait(to_jsonb(%s::text), 2)", [session.kind]).fetchall() == []
