"""Holds whose ends are noted by the stretch of the line that they were taken from, not one by one."""

from __future__ import annotations

from typing import LiteralString

import pytest
from psycopg import sql

from tests.conftest import Clock
from tests.schema.storage import MOST, SLOW, Session, another

TIMEOUT = 300


def begin(session: Session, clock: Clock) -> None:
    """Have the session note the place from which on it takes messages, by taking one."""
    session.push("before")
    session.slow(clock.now)
    session.change(turn_at=0)
    assert list(session.reserve()) == ["before"]
    clock.advance(1)


def notes(session: Session) -> list[tuple[int, bool]]:
    """Return how many entries each note has, and whether it is of a stretch."""
    return session.conn.execute(
        "select cardinality(h.entries), h.line is not null from queue_hold h order by 1, 2"
    ).fetchall()


def test_what_is_taken_one_by_one_is_noted_once(session: Session, clock: Clock) -> None:
    begin(session, clock)
    noted = notes(session)
    assert noted == [(0, True), (1, False)]
    for key in "abc":
        session.push(key)
        assert list(session.reserve()) == [key]
    assert notes(session) == noted


def test_a_hold_that_ends_before_those_of_its_stretch_has_a_note_of_its_own(
    session: Session, clock: Clock
) -> None:
    begin(session, clock)
    before = notes(session)
    session.push("short")
    session.reserve(timeout_seconds=TIMEOUT - 1)
    assert notes(session) == sorted([*before, (1, False)])


def test_who_finds_no_room_at_a_semaphore_notes_no_hold(session: Session, clock: Clock) -> None:
    session.conn.execute("select queue_semaphore('s', 1)")
    session.push("a", semaphores=["s"])
    session.conn.execute("select queue_semaphore('s', 0)")
    session.slow(clock.now)
    assert session.reserve() == {}
    assert notes(session) == []


def test_a_hold_of_a_filter_is_noted_where_a_look_from_the_start_is_slow(
    session: Session, clock: Clock
) -> None:
    session.push("a", headers={"h": 1})
    assert list(session.reserve(where={"h": 1}, timeout_seconds=1)) == ["a"]
    assert notes(session) == []
    clock.advance(2)
    session.slow(clock.now)
    session.share()
    assert list(session.reserve(where={"h": 1})) == ["a"]
    assert notes(session) == [(1, False)]


def test_holds_of_a_stretch_come_back_when_they_expire(
    session: Session, clock: Clock, database_url: str
) -> None:
    begin(session, clock)
    receipts: dict[str, str] = {}
    for key in ("kept", "acked", "extended", "lost"):
        session.push(key)
        receipts |= session.reserve()
    session.conn.execute("select queue_ack(%s)", [receipts["acked"]])
    session.conn.execute("select queue_extend(%s, 1000)", [receipts["extended"]])
    clock.advance(TIMEOUT + 1)
    session.push("new")
    with another(session, database_url) as other:
        other.slow(clock.now, mark=clock.now)
        other.change(hold_from=0)
        found: list[str] = []
        for _ in range(6):
            other.change(marks_at=0)
            found += other.reserve(timeout_seconds=5000)
        assert sorted(found) == ["before", "kept", "lost", "new"]
        clock.advance(1000 - TIMEOUT)
        other.change(marks_at=0)
        assert list(other.reserve()) == ["extended"]


def test_a_stretch_ends_where_the_next_one_begins(session: Session, clock: Clock) -> None:
    begin(session, clock)
    session.push("first")
    session.reserve()
    clock.advance(1)
    session.push("turn")
    session.change(turn_at=0)
    session.reserve()
    clock.advance(1)
    session.push("second")
    session.reserve()
    clock.advance(TIMEOUT + 1)
    stretches = session.conn.execute(
        "select array(select q.p_key from delayed_queue q where q.ctid = any(e.tids) order by q.entry)"
        " from queue_hold h, _queue_find_expired(h.p_kind, h.until, %s, 100) e"
        " where h.line is not null order by h.until",
        [clock.now],
    ).fetchall()
    assert stretches == [(["before", "first"],), (["turn", "second"],)]


def test_a_stretch_is_noted_at_each_turn_and_where_one_priority_is_in_use(
    session: Session, clock: Clock
) -> None:
    begin(session, clock)
    session.push("from the marks")
    session.change(marks_at=0)
    session.reserve()
    assert [one for one in notes(session) if one[1]] == [(0, True)]
    session.slow(clock.now, 0, 5)
    session.push("of two")
    session.change(turn_at=0)
    session.reserve()
    assert [one for one in notes(session) if one[1]] == [(0, True)]


def test_the_look_back_ends_before_the_cursor(session: Session, clock: Clock) -> None:
    """What stands at the bound is for the scan: a look back that finds it would begin again at once."""
    for key in "abc":
        session.push(key)
    session.slow(clock.now)
    assert list(session.reserve()) == ["a"]
    session.change(back_lane=1, start_at=0)
    assert list(session.reserve()) == ["b"]
    assert session.kept["back_lane"] != 1 or session.kept["back_place"] < MOST
    assert session.kept["start_at"] > 0


def test_a_pop_from_the_cursor_takes_in_order_and_once(session: Session, clock: Clock) -> None:
    session.slow(clock.now)
    session.push("held")
    session.reserve()
    for key, priority in (("b", 0), ("c", 0), ("a", 3)):
        session.push(key, priority=priority)
    popped = [
        session.conn.execute("select p_key, attempts from queue_pop(%s)", [session.kind]).fetchall()
        for _ in range(4)
    ]
    assert popped == [[("a", 1)], [("b", 1)], [("c", 1)], []]
    counts = session.conn.execute(
        "select pushed_total, popped_total, total from queue_stats where p_kind = %s", [session.kind]
    ).fetchone()
    assert counts == (4, 3, 1)


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_of_the_timetable_only_what_the_cursor_has_before_it_is_read(
    session: Session, clock: Clock, routine: LiteralString
) -> None:
    session.push("behind", delay_seconds=1)
    clock.advance(60)
    session.slow(clock.now)
    session.push("here")
    text = sql.SQL("select p_key from {}('work')").format(sql.Identifier(routine))
    with session.conn.transaction():
        assert session.conn.execute(text).fetchall() == [("here",)]
        read = session.conn.execute("select pg_stat_get_xact_tuples_returned('delayed_queue_due'::regclass)")
        assert read.fetchall() == [(0,)]


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_what_has_had_all_its_deliveries_is_given_to_nobody_from_the_cursor(
    session: Session, clock: Clock, routine: LiteralString
) -> None:
    session.slow(clock.now)
    session.push("spent", attempts=3, max_attempts=3)
    session.push("spent, too", attempts=25)
    session.push("last", attempts=2, max_attempts=3)
    session.push("late", attempts=24)
    text = sql.SQL("select p_key from {}('work')").format(sql.Identifier(routine))
    taken = [key for _ in range(4) for (key,) in session.conn.execute(text)]
    assert taken == ["last", "late"]
    letters = session.conn.execute("select p_key from queue_peek('work.dead', 10)").fetchall()
    assert sorted(letters) == [("spent",), ("spent, too",)]


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
@pytest.mark.parametrize("took", [SLOW, 0])
@pytest.mark.parametrize("spent", [True, False], ids=["spent", "no room"])
def test_a_batch_that_looks_further_leaves_what_is_too_much_before_the_cursor(
    session: Session, clock: Clock, spent: bool, took: int, routine: LiteralString
) -> None:
    session.slow(clock.now)
    session.change(took=took)
    if spent:
        session.push("first", attempts=3, max_attempts=3)
    else:
        session.conn.execute("select queue_semaphore('narrow', 1)")
        session.push("first", semaphores=["narrow"])
        clock.advance(2)  # the room that it was promised is anybody's again
        session.conn.execute("select queue_push('other', 'holder', '1', '{\"semaphores\": [\"narrow\"]}')")
        assert session.conn.execute("select from queue_reserve('other')").fetchall() == [()]
    for i in range(9):
        session.push(f"m{i}")
    text = sql.SQL("select p_key from {}('work', in_max_messages => 5)").format(sql.Identifier(routine))
    taken = [[key for (key,) in session.conn.execute(text)] for _ in range(2)]
    assert taken == [["m0", "m1", "m2", "m3", "m4"], ["m5", "m6", "m7", "m8"]]


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_a_session_goes_on_behind_what_it_took_last(
    session: Session, clock: Clock, routine: LiteralString
) -> None:
    session.slow(clock.now)
    for key in "abc":
        session.push(key)
    entries = session.conn.execute("select q.entry from delayed_queue q order by q.entry").fetchall()
    text = sql.SQL("select p_key from {}('work')").format(sql.Identifier(routine))
    for key, (entry,) in zip("abc", entries, strict=True):
        assert session.conn.execute(text).fetchall() == [(key,)]
        assert session.kept["entries"] == [entry]
