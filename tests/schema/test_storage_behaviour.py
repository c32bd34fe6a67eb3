"""What a session finds whose scan from the start is slow, and which therefore keeps a cursor."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema.storage import MOST, SECOND, Session, another, hold, place

BOTH = pytest.mark.parametrize("cursor", [psycopg.ClientCursor, psycopg.Cursor], ids=["simple", "extended"])
"""The two protocols: a call is its own transaction in each, though their timestamps differ."""


def test_the_cursor_is_used(session: Session, clock: Clock) -> None:
    session.push("behind")
    session.slow(clock.now + SECOND)
    assert session.reserve() == {}
    session.write("")
    assert list(session.reserve()) == ["behind"]


def test_what_is_committed_late_is_found_from_the_marks(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late")
        clock.advance(1)
        session.push("early")
        session.slow(clock.now)
        assert list(session.reserve()) == ["early"]
        late.conn.commit()
    assert session.reserve() == {}
    session.change(marks_at=0)
    assert list(session.reserve()) == ["late"]


def test_what_comes_due_late_is_found_from_the_marks(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late", delay_seconds=1)
        clock.advance(2)
        session.slow(clock.now)
        late.conn.commit()
    assert session.reserve() == {}
    session.change(marks_at=0)
    assert list(session.reserve()) == ["late"]


@BOTH
def test_a_hold_behind_the_marks_comes_back_when_it_expires(
    session: Session, clock: Clock, cursor: type[psycopg.Cursor[Any]]
) -> None:
    session.cursor = cursor
    receipt = hold(session, clock, 60)
    assert session.reserve() == {}
    clock.advance(61)
    session.change(marks_at=0)
    again = session.reserve()
    assert list(again) == ["held"]
    assert again["held"] != receipt


def test_an_extended_hold_behind_the_marks_comes_back_when_that_expires(
    session: Session, clock: Clock
) -> None:
    receipt = hold(session, clock, 60)
    session.conn.execute("select queue_extend(%s, 600)", [receipt])
    clock.advance(61)
    session.change(marks_at=0)
    assert session.reserve() == {}
    clock.advance(540)
    session.change(marks_at=0)
    assert list(session.reserve()) == ["held"]


def test_a_shortened_hold_behind_the_marks_comes_back_when_that_expires(
    session: Session, clock: Clock
) -> None:
    receipt = hold(session, clock, 60)
    session.conn.execute("select queue_extend(%s, 1)", [receipt])
    clock.advance(2)
    assert session.look_back(75) == ["held"]


def test_an_extension_leaves_a_message_one_place(session: Session) -> None:
    session.push("held")
    before = place(session, "held")
    session.conn.execute("select queue_extend(%s, 60)", [session.reserve()["held"]])
    assert place(session, "held") == before


def test_a_late_ack_of_a_hold_behind_the_marks_counts(session: Session, clock: Clock) -> None:
    receipt = hold(session, clock, 60)
    clock.advance(61)
    assert session.conn.execute("select outcome from queue_ack(%s)", [receipt]).fetchone() == ("acked",)
    assert session.reserve() == {}


@pytest.mark.parametrize("ranks", [(0,), (-3, 0), (-3, 0, 4)])
@pytest.mark.parametrize("priority", [32767, 5, 3, 1, -2, -32768])
def test_the_order_is_that_of_the_priorities(
    session: Session, clock: Clock, ranks: tuple[int, ...], priority: int
) -> None:
    session.slow(clock.now, *ranks)
    session.push("zero")
    clock.advance(1)
    session.push("other", priority=priority)
    expected = ["other", "zero"] if priority > 0 else ["zero", "other"]
    assert [key for _ in range(3) for key in session.reserve()] == expected


def test_what_is_more_urgent_moves_the_place_of_the_others_nowhere(session: Session, clock: Clock) -> None:
    session.slow(clock.now)
    for key in "abc":
        session.push(key)
        clock.advance(0.001)
    session.push("urgent", priority=5)
    assert sorted(session.reserve(2)) == ["a", "urgent"]
    assert [*session.reserve(), *session.reserve()] == ["b", "c"]


def test_the_cursor_is_used_where_scans_are_fast_too(session: Session, clock: Clock) -> None:
    session.push("behind")
    clock.advance(10)
    session.slow(clock.now)
    session.change(took=1000)
    session.push("here")
    assert list(session.reserve(2)) == ["here"]


@pytest.mark.parametrize("priority", [9, 0, -9])
def test_a_delayed_message_is_found_when_it_comes_due(session: Session, clock: Clock, priority: int) -> None:
    session.push("waits", delay_seconds=30, priority=priority)
    session.slow(clock.now)
    assert session.reserve() == {}
    clock.advance(30)
    assert list(session.reserve()) == ["waits"]


def test_a_delayed_message_is_found_by_a_session_whose_cursor_another_has_passed(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.push("a", delay_seconds=30)
    session.push("b", delay_seconds=30)
    clock.advance(40)
    with another(session, database_url) as other:
        other.slow(clock.now - 20 * SECOND)
        assert list(other.reserve()) == ["a"]
    session.slow(clock.now)
    assert session.reserve() == {}
    session.change(marks_at=0)
    assert list(session.reserve()) == ["b"]


def test_what_a_filter_finds_due_and_leaves_is_seen_by_who_keeps_a_cursor(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.push("first", headers={"to": "ann"})
    session.push("late", delay_seconds=1, headers={"to": "ann"})
    clock.advance(3600)
    session.slow(clock.now)
    session.share()
    with another(session, database_url) as other:
        assert list(other.reserve(where={"to": "ann"})) == ["first"]
    session.change(marks_at=0)
    assert list(session.reserve()) == ["late"]


@pytest.mark.parametrize("indexed", [False, True], ids=["scanned", "indexed"])
def test_what_a_filter_finds_due_with_a_cursor_keeps_its_order(
    session: Session, clock: Clock, indexed: bool
) -> None:
    session.conn.execute("select queue_define('work', %s)", [Jsonb({"filter_index": indexed})])
    for seconds in (7, 6, 8, 5):
        session.push(f"after {seconds}", delay_seconds=seconds, headers={"to": "ann"})
    clock.advance(60)
    session.slow(clock.now)
    session.share()
    assert list(session.reserve(10, where={"to": "ann"})) == [f"after {n}" for n in (5, 6, 7, 8)]


def test_a_reserve_that_is_rolled_back_is_found_again(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.push("a")
    session.push("b")
    session.slow(clock.now)
    before = session.kept
    with session.conn.transaction(force_rollback=True):
        assert list(session.reserve()) == ["a"]
        with another(session, database_url) as other:
            other.slow(clock.now)
            assert list(other.reserve()) == ["b"]
            other.change(marks_at=0)
            assert other.reserve() == {}
    assert session.kept == before
    assert list(session.reserve()) == ["a"]


def test_what_a_session_that_died_had_reserved_is_found_by_others(
    session: Session, clock: Clock, database_url: str
) -> None:
    session.push("a")
    clock.advance(1)
    session.push("b")
    session.slow(clock.now - SECOND)
    with another(session, database_url, autocommit=False) as dying:
        assert list(dying.reserve()) == ["a"]
        assert list(session.reserve()) == ["b"]
        dying.conn.rollback()
    session.change(marks_at=0)
    assert list(session.reserve()) == ["a"]


GARBAGE = [
    "x", "(", "()", "(1)", "{1}", "(" + "," * 20 + ")", "(" + "," * 21 + ")", "(" + "," * 22 + ")",
    "(,,0,0,0,0,9999,0,0,0,0,0,0,0,0,{},{},{},{},{},{},{})",
    "(,,0,0,0,0,9999,0,0,0,7,0,0,0,0,{0},{0},{0},{0},{0},{0},{0})",
    "(,,0,0,0,0,9999,0,0,0,-5,0,0,0,0,{0},{0},{0},{0},{0},{0},{0})",
    "(,,0,0,0,0,9999,0,0,0,0,0,0,0,0,{NULL},{NULL},{NULL},{NULL},{NULL},{NULL},{NULL})",
    '(,,0,0,0,0,0,0,0,0,0,0,0,0,0,"{0,1}",{0},{},{},{},{},{})',
    f"(,,64{f',{MOST}' * 12}{f',{{{MOST}}}' * 7})", f"(,,64{f',{-MOST}' * 12}{f',{{{-MOST}}}' * 7})",
]  # fmt: skip


@pytest.mark.parametrize("text", GARBAGE)
def test_garbage_in_the_setting_gives_no_wrong_answer(session: Session, text: str) -> None:
    session.push("a")
    session.push("b", priority=3)
    session.write(text)
    found: list[str] = []
    for _ in range(5):
        try:
            found += session.reserve()
        except psycopg.Error:
            break
    session.write("")
    found += session.reserve(10)
    assert sorted(found) == ["a", "b"]


def test_more_due_than_one_call_moves_are_all_found(session: Session, clock: Clock) -> None:
    session.conn.execute(
        "select queue_push_many(%s, (select jsonb_agg(jsonb_build_object('key', i::text, 'payload', i))"
        " from generate_series(1, 3000) i), '{\"delay_seconds\": 1}')",
        [session.kind],
    )
    clock.advance(60)
    session.slow(clock.now - 61 * SECOND)
    found = session.reserve(10000)
    session.change(turn_at=0, marks_at=0)
    found |= session.reserve(10000)
    assert len(found) == 2000
    clock.advance(1)
    assert len(session.reserve(10000)) == 1000


@pytest.mark.parametrize("seed", range(4))
def test_every_message_is_taken_once_whatever_the_cursor(
    session: Session, clock: Clock, database_url: str, seed: int
) -> None:
    rng = random.Random(seed)
    pushed: set[str] = set()
    done: list[str] = []
    held: dict[str, str] = {}
    with another(session, database_url) as one, another(session, database_url, autocommit=False) as late:
        sessions = [session, one]
        for number in range(150):
            clock.advance(rng.choice([0, 0.001, 0.5, 2, 20]))
            chosen = rng.choice(sessions)
            if rng.random() < 0.25:
                chosen.slow(
                    clock.now - rng.choice([0, 1, 30]) * SECOND, *sorted(rng.sample([-2, -1, 0, 1], 2))
                )
            if chosen.kept and rng.random() < 0.5:
                chosen.change(
                    **dict.fromkeys(rng.sample(["start_at", "marks_at", "turn_at"], rng.randint(1, 3)), 0)
                )
            what = rng.random()
            if what < 0.5:
                pusher = rng.choice([*sessions, late])
                pushed.add(f"m{number}")
                pusher.push(
                    f"m{number}", priority=rng.randint(-2, 2), delay_seconds=rng.choice([0, 0, 0, 1, 15, 100])
                )
            elif what < 0.6:
                late.conn.commit()
            elif what < 0.9:
                got = chosen.reserve(rng.choice([1, 3]), timeout_seconds=rng.choice([5, 1000]))
                assert not got.keys() & set(done), "a message that is done came again"
                held |= got
            elif held:
                key = rng.choice(sorted(held))
                receipt = held.pop(key)
                call = rng.choice(["queue_ack(%s)", "queue_nack(%s)", "queue_extend(%s, 3)"])
                row = chosen.conn.execute(f"select outcome from {call}", [receipt]).fetchone()  # pyright: ignore
                if row == ("acked",):
                    done.append(key)
        late.conn.commit()
        clock.advance(2000)
        for _ in range(400):
            session.change(start_at=0, marks_at=0) if session.kept else session.slow(clock.now, -2, 0)
            for key, receipt in session.reserve(2, timeout_seconds=10000).items():
                row = session.conn.execute("select outcome from queue_ack(%s)", [receipt]).fetchone()
                assert row == ("acked",)
                done.append(key)
    assert sorted(done) == sorted(pushed)
