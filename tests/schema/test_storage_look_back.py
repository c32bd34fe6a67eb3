"""What lies behind the cursor of a session is found in the end: the look back, the marks, shared cursors."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema.storage import MOST, SECOND, SLOW, Session, another

BOTH = pytest.mark.parametrize("cursor", [psycopg.ClientCursor, psycopg.Cursor], ids=["simple", "extended"])
"""The two protocols: a call is its own transaction in each, though their timestamps differ."""


@pytest.mark.parametrize("ranks", [(0,), (-5, 0, 7)])
def test_what_is_far_behind_is_found_by_the_look_back(
    session: Session, clock: Clock, ranks: tuple[int, ...]
) -> None:
    session.push("behind")
    clock.advance(3600)
    session.slow(clock.now, *ranks)
    session.change(marks_at=0)
    assert session.reserve() == {}, "the marks lie before it"
    assert session.look_back(36 * (len(ranks) + 1)) == ["behind"]


def test_a_delayed_message_far_behind_is_found_by_the_look_back(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late", delay_seconds=1)
        clock.advance(3600)
        session.slow(clock.now)
        late.conn.commit()
    session.change(marks_at=0)
    assert session.reserve() == {}, "the marks lie before it"
    assert session.look_back(60) == ["late"]


def test_many_delayed_messages_far_behind_are_all_found_by_the_look_back(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        for i in range(50):
            late.push(f"late{i}", delay_seconds=1)
        clock.advance(3600)
        session.slow(clock.now)
        late.conn.commit()
    # a round is some 25 steps, and 50 messages are to be taken
    assert len(session.look_back(150)) == 50


def test_the_look_back_goes_on_where_it_found_something(session: Session, clock: Clock) -> None:
    for i in range(30):
        session.push(f"behind{i}")
    clock.advance(3600)
    session.slow(clock.now)
    # the first round through the timetable is some 35 steps, from 0.1 s to 50 years
    found = session.look_back(85)
    assert len(found) == 30
    assert session.look_back(30) == []


def test_after_the_last_lane_the_look_back_begins_anew(session: Session, clock: Clock) -> None:
    session.push("behind")
    clock.advance(3600)
    session.slow(clock.now)
    session.change(back_lane=1, back_place=0)
    assert session.look_back(80) == ["behind"]


@pytest.mark.parametrize("cost", [0, SLOW])
def test_shared_cursors_go_once_a_whole_round_of_the_look_back_is_fast(
    session: Session, clock: Clock, cost: int
) -> None:
    session.slow(clock.now)
    session.change(start_at=0, back_lane=1, back_place=0, back_took=cost)
    session.share()
    assert session.reserve() == {}
    assert len(session.conn.execute("select from queue_cursor").fetchall()) == (cost > 0)


def test_a_shared_cursor_that_another_one_removes_keeps_nobody_waiting(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.slow(clock.now)
    session.change(start_at=0, back_lane=1, back_place=0)
    session.share()
    with another(session, database_url, autocommit=False) as other:
        other.conn.execute("delete from queue_cursor")
        session.conn.execute("set lock_timeout = '1s'")
        assert session.reserve() == {}


def test_the_look_back_takes_those_first_that_stand_first(session: Session, clock: Clock) -> None:
    for earlier in (1, 2, 0):
        session.push(f"{earlier}", scheduled_at=clock.now - earlier)
    clock.advance(3600)
    session.slow(clock.now)
    session.change(back_lane=1, back_span=2 * 3600 * SECOND)
    assert session.look_back(3) == ["2", "1", "0"]


def test_a_session_without_a_cursor_takes_the_shared_cursor(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.push("behind")
    clock.advance(10)
    session.push("here")
    session.slow(clock.now)
    session.share()
    with another(session, database_url) as other:
        assert list(other.reserve()) == ["here"]
        same = ("hold_from", "ranks", "places", "newer_places", "older_places")
        assert [other.kept[name] for name in same] == [session.kept[name] for name in same]
        assert other.look_back(60) == ["behind"]


@BOTH
def test_the_marks_share_the_cursor_where_a_scan_is_slow(
    session: Session, clock: Clock, cursor: type[psycopg.Cursor[Any]]
) -> None:
    session.cursor = cursor
    session.push("a")
    session.slow(clock.now)
    session.change(turn_at=0)
    session.reserve()
    shared = session.conn.execute("select to_jsonb(c) - 'id' from queue_cursor c").fetchall()
    assert shared == [({name: value for name, value in session.kept.items() if name != "id"},)]


def test_a_session_that_finds_nothing_shares_no_cursor(session: Session, clock: Clock) -> None:
    session.slow(clock.now)
    session.change(turn_at=0, marks_at=0, took=1000)
    assert session.reserve() == {}
    assert session.conn.execute("select p_kind from queue_cursor").fetchall() == []


def test_a_backlog_of_due_messages_behind_the_cursor_drains(session: Session, clock: Clock) -> None:
    """As after an hour without workers whose first scan was slow: what it didn't move lies behind."""
    session.conn.execute(
        "select queue_push_many(%s, (select jsonb_agg(jsonb_build_object('key', i::text, 'payload', i,"
        " 'delay_seconds', i)) from generate_series(1, 2000) i))",
        [session.kind],
    )
    clock.advance(3600)
    session.slow(clock.now)
    # a look back of a round is some 30 steps; whole batches of 100 make 2000 in 20 calls
    assert len(session.look_back(100, 100)) == 2000


def test_the_look_back_stays_where_it_left_due_messages(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        for i in range(3):
            late.push(f"late{i}", delay_seconds=1)
        due = clock.now + SECOND
        clock.advance(3600)
        session.slow(clock.now)
        late.conn.commit()
    session.change(start_at=0, back_span=2 * 3600 * SECOND)
    session.reserve()
    left = session.conn.execute("select from delayed_queue where due_at = %s", [due]).fetchall()
    assert left == [] or (session.kept["back_lane"] == 0 and session.kept["back_place"] >= due)


def test_the_first_cursor_lies_before_what_is_left_in_the_timetable(session: Session, clock: Clock) -> None:
    """Slow scans after an hour without workers: they moved a thousand of those that had come due."""
    session.conn.execute(
        "insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at,"
        " reserved_at, attempts, ready_at, due_at)"
        " select %(kind)s, i::text, '1', case when i <= 5000 then %(now)s + 9e9 else %(now)s end, 0, 0,"
        " case when i <= 5000 then %(now)s end, 0, case when i <= 5000 then %(now)s - 1 end,"
        " case when i > 5000 then %(now)s end"
        " from generate_series(1, 9000) i",
        {"kind": session.kind, "now": clock.now},
    )
    clock.advance(3600)
    for _ in range(64):
        session.reserve()
    assert session.kept, "the scans past 5000 held messages were slow"
    row = session.conn.execute("select min(due_at) from delayed_queue").fetchone()
    assert row is not None
    assert row[0] is not None
    assert session.kept["due"] <= row[0]


def test_the_marks_are_looked_at_by_one_who_calls_seldom(session: Session, clock: Clock) -> None:
    """Each call comes when a look back is due, and what lies a little behind must not wait for that."""
    session.push("late")
    clock.advance(1)
    session.slow(clock.now)
    found: list[str] = []
    for _ in range(3):
        # the look back is busy far behind, and small steps are all that it can take
        session.change(
            start_at=0, marks_at=0, back_lane=1, back_place=clock.now - 3600 * SECOND, back_span=1000
        )
        found += session.reserve()
    assert found == ["late"]


def test_a_real_clock_that_was_set_back_hides_nothing(session: Session, clock: Clock) -> None:
    """The cursor was kept an hour later than it is now."""
    clock.advance(3600)
    session.slow(clock.now)
    ahead = session.real_now() + 3600 * SECOND
    session.change(start_at=ahead, marks_at=ahead, turn_at=ahead)
    clock.advance(-3600)
    session.push("new")
    assert [key for _ in range(60) for key in session.reserve()] == ["new"]


def test_a_shared_cursor_from_a_slow_past_starves_nobody(
    session: Session, clock: Clock, database_url: str
) -> None:
    """One call a session, a backlog behind the shared cursor, and one message before them."""
    session.push("behind")
    clock.advance(3600)
    for i in range(60):
        session.push(f"here{i}")
    session.slow(clock.now)
    # the look back has reached the last step of its round
    session.change(start_at=0, marks_at=0, turn_at=0, back_lane=1, back_place=0, back_took=100)
    session.share()
    found: list[str] = []
    for _ in range(50):
        with another(session, database_url) as other:
            found += other.reserve()
    assert "behind" in found


def test_what_comes_due_with_a_cursor_keeps_its_order(session: Session, clock: Clock) -> None:
    for seconds in (7, 6, 8, 5):
        session.push(f"after {seconds}", delay_seconds=seconds)
    clock.advance(60)
    session.slow(clock.now - 100 * SECOND)
    assert list(session.reserve(10)) == [f"after {seconds}" for seconds in (5, 6, 7, 8)]


def test_a_machine_that_stands_still_is_not_taken_for_a_slow_scan(session: Session) -> None:
    rows = session.conn.execute("select _queue_effort(), pg_sleep(0.1)::text, _queue_effort()").fetchall()
    assert rows[0][0] == rows[0][2]


def test_an_entry_that_died_costs_a_quarter_of_a_microsecond(session: Session, database_url: str) -> None:
    for n in range(801):
        session.push(str(n))
    with another(session, database_url, autocommit=False) as holder:
        holder.conn.commit()
        holder.conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.conn.execute("select from delayed_queue limit 1")
        session.conn.execute("select from queue_pop(%s, 800)", [session.kind])
        with session.conn.transaction():
            session.conn.execute("set local enable_seqscan = off")
            session.conn.execute("set local enable_bitmapscan = off")
            session.conn.execute("set local enable_sort = off")
            [before] = session.conn.execute("select _queue_effort()").fetchone() or (0,)
            session.conn.execute(
                "select s.tids from _queue_scan(%s, %s, 1, 1, null, 'start', null) s", [session.kind, MOST]
            )
            [after] = session.conn.execute("select _queue_effort()").fetchone() or (0,)
    assert 200 <= after - before < 240, "and half a one for each page"


def test_where_the_server_counts_nothing_a_scan_is_timed(session: Session) -> None:
    session.conn.execute("set track_counts = off")
    rows = session.conn.execute("select _queue_effort(), pg_sleep(0.02)::text, _queue_effort()").fetchall()
    assert rows[0][2] - rows[0][0] >= 20_000


def test_who_pops_one_by_one_keeps_a_cursor_with_its_lane(session: Session, database_url: str) -> None:
    for n in range(900):
        session.push(str(n))
    with another(session, database_url, autocommit=False) as holder:
        holder.conn.commit()
        holder.conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.conn.execute("select from delayed_queue limit 1")
        assert session.conn.execute("select from queue_pop(%s, 800)", [session.kind]).rowcount == 800
        with another(session, database_url) as other:
            keys = [
                other.conn.execute("select p_key from queue_pop(%s)", [session.kind]).fetchone()
                for _ in range(80)
            ]
            assert keys == [(str(n),) for n in range(800, 880)]
            assert other.kept["ranks"] == [0]
    shared = session.conn.execute("select ranks from queue_cursor").fetchall()
    assert {tuple(ranks) for (ranks,) in shared} <= {(0,)}


def test_a_cursor_is_kept_where_scans_walk_over_what_died(session: Session, database_url: str) -> None:
    for n in range(3300):
        session.push(str(n))
    for _ in range(80):
        session.conn.execute("select queue_ack(%s)", list(session.reserve().values()))
    assert session.kept == {}, "80 messages, each right behind the one before"
    with another(session, database_url, autocommit=False) as holder:
        holder.conn.commit()
        holder.conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.conn.execute("select from delayed_queue limit 1")
        for _ in range(32):
            receipts = list(session.reserve(100).values())
            session.conn.execute("select from queue_ack_many(%s)", [Jsonb(receipts)])
    assert session.kept["took"] > 110, "10 µs, and 1 a message"


def costly(session: Session, effort: int) -> None:
    """Have each look at the effort of scans find so much more than the one before."""
    session.conn.execute(f"create sequence effort increment {effort}".encode())
    session.conn.execute(
        "create or replace function _queue_effort() returns bigint language sql volatile"
        " begin atomic select nextval('effort'); end"
    )


@pytest.mark.parametrize(("effort", "taken"), [(8_000, 64), (15_000, 1)])
def test_a_cursor_is_kept_after_64_slow_scans_or_one_of_20_ms(
    session: Session, effort: int, taken: int
) -> None:
    costly(session, effort)
    session.write("")  # the first call may have walked over what the tests before it left in the index
    for number in range(taken):
        assert session.kept == {}, f"after {number}"
        session.push(f"{number}")
        session.reserve()
    assert (session.kept["ranks"], len(session.kept["places"])) == ([0], 1)


def test_a_cursor_has_32_lanes_and_what_is_between_them_is_found(session: Session) -> None:
    costly(session, 25_000)
    for _ in range(2):
        for priority in range(40):
            session.push(f"{priority}", priority=priority)
        found = session.reserve(40)
        assert list(found) == [f"{priority}" for priority in reversed(range(40))]
        assert session.kept["ranks"] == list(range(-39, -7))
        session.conn.execute("select from queue_ack_many(%s)", [Jsonb(list(found.values()))])


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_slow_scans_are_forgotten_once_one_is_fast(session: Session, routine: LiteralString) -> None:
    costly(session, 1)
    session.push("a")
    session.kept = {"p_kind": session.kind, "slow_taken": 60}
    text = sql.SQL("select p_key from {}('work')").format(sql.Identifier(routine))
    assert session.conn.execute(text).fetchall() == [("a",)]
    assert session.conn.execute("select current_setting(%s)", [session.setting]).fetchone() == ("",)


def test_the_marks_stay_for_two_seconds(session: Session) -> None:
    """What is committed so late is found from them."""
    costly(session, 25_000)
    for key in ("first", "turn"):
        session.push(key)
        before = session.real_now()
        assert list(session.reserve()) == [key]
        assert before + 2 * SECOND <= session.kept["turn_at"] <= session.real_now() + 2 * SECOND
        session.change(turn_at=0)


def test_the_marks_are_looked_from_again_within_a_second_whatever_that_costs(
    session: Session, clock: Clock
) -> None:
    costly(session, 100_000)
    session.slow(clock.now)
    session.push("a")
    session.change(marks_at=0, took=1000)
    before = session.real_now()
    assert list(session.reserve()) == ["a"]
    assert before + 800_000 <= session.kept["marks_at"] <= session.real_now() + 800_000
