"""What a session finds whose scan from the start is slow, and which therefore keeps bounds (see _queue_take).

No test waits for a scan to be slow: each writes the bounds that a slow scan would have left into the session's setting.
The queue's clock stands still; the clock of the first three bounds is the real one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.conftest import Clock

SECOND = 1_000_000
SLOW = 6_000
"""What the last scan from the start took, in microseconds: from 5000 on there is no other."""
BOTH = pytest.mark.parametrize("cursor", [psycopg.ClientCursor, psycopg.Cursor], ids=["simple", "extended"])
"""The two protocols: a call is its own transaction in each, though their timestamps differ."""
LATER = 300 * SECOND
MOST = 2**63 - 1
LOOK, MARKS, ROTATE, TOOK, DUE, DUE_NEW, DUE_OLD, LANE, PLACE, SPAN, ROUND = range(11)
"""The bounds before those of the lanes, counted from 0."""


class Session:
    """A session of the queue whose bounds a test can write.

    Args:
        conn: its connection, in autocommit.
        kind: the kind that it works on.
    """

    def __init__(self, conn: psycopg.Connection[Any], kind: str = "work") -> None:
        self.conn = conn
        self.kind = kind
        self.cursor: type[psycopg.Cursor[Any]] = psycopg.ClientCursor
        row = conn.execute(
            "select 'pyqueue.b' || to_hex(hashtextextended(%s, 'delayed_queue'::regclass::oid::bigint))", [kind]
        ).fetchone()
        assert row is not None
        self.setting: str = row[0]

    def real_now(self) -> int:
        """The real clock, in microseconds since 1970."""
        row = self.conn.execute("select (extract(epoch from clock_timestamp()) * 1000000)::bigint").fetchone()
        assert row is not None
        return row[0]

    def write(self, text: str) -> None:
        """Write the setting as it stands."""
        self.conn.execute("select set_config(%s, %s, false)", [self.setting, text])

    @property
    def bounds(self) -> list[int]:
        """The bounds; none is an empty list."""
        row = self.conn.execute("select current_setting(%s, true)", [self.setting]).fetchone()
        assert row is not None
        return [int(one) for one in (row[0] or "{}").strip("{}").split(",") if one]

    @bounds.setter
    def bounds(self, value: list[int]) -> None:
        self.write("{" + ",".join(map(str, value)) + "}")

    def slow(self, at: int, *ranks: int, mark: int | None = None) -> None:
        """Begin the regime: from now on only what lies behind a place is looked at.

        Args:
            at: the bounds of the timetable and of the lanes.
            ranks: the lanes: priorities, negated; none: one of priority 0.
            mark: where the marks are, if not 3 s before.
        """
        mark = at - 3 * SECOND if mark is None else mark
        later = self.real_now() + LATER
        lanes = [one for rank in ranks or (0,) for one in (rank, at, mark, mark)]
        self.bounds = [later, later, later, SLOW, at, mark, mark, 0, MOST, SECOND, 0, *lanes]

    def change(self, **values: int) -> None:
        """Change single bounds, by the names above in lower case."""
        bounds = self.bounds
        for name, value in values.items():
            bounds[globals()[name.upper()]] = value
        self.bounds = bounds

    def push(self, key: str, **options: Any) -> None:
        self.conn.execute("select queue_push(%s, %s, '1', %s)", [self.kind, key, Jsonb(options)])

    def reserve(self, number: int = 1, **options: Any) -> dict[str, str]:
        """Return the receipts of what is taken, by key."""
        with self.cursor(self.conn) as cursor:
            rows = cursor.execute(
                "select p_key, receipt from queue_reserve(%s, 'w', %s, %s)", [self.kind, number, Jsonb(options)]
            ).fetchall()
        assert len({key for key, _ in rows}) == len(rows)
        return dict(rows)

    def look_back(self, calls: int, number: int = 1) -> list[str]:
        """Reserve so many times, each time when a look behind the bounds is due; return the keys in order."""
        found: list[str] = []
        for _ in range(calls):
            if self.bounds:
                self.change(look=0)
            found += self.reserve(number)
        return found


@pytest.fixture
def session(conn: psycopg.Connection[Any], clock: Clock) -> Session:
    """A session that has called once, with the clock standing still."""
    session = Session(conn)
    session.reserve()
    assert clock.now
    return session


@contextmanager
def another(session: Session, url: str, *, autocommit: bool = True) -> Iterator[Session]:
    """Open one more session."""
    with psycopg.connect(url, autocommit=autocommit) as conn:
        yield Session(conn, session.kind)


def place(session: Session, key: str) -> tuple[int | None, int | None]:
    """Return where a message stands in the line and in the timetable."""
    row = session.conn.execute("select ready_at, due_at from delayed_queue where p_key = %s", [key]).fetchone()
    assert row is not None
    return row[0], row[1]


def test_the_bounds_are_used(session: Session, clock: Clock) -> None:
    session.push("behind")
    session.slow(clock.now + SECOND)
    assert session.reserve() == {}
    session.write("")
    assert list(session.reserve()) == ["behind"]


def test_what_is_committed_late_is_found_from_the_marks(session: Session, clock: Clock, database_url: str) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late")
        clock.advance(1)
        session.push("early")
        session.slow(clock.now)
        assert list(session.reserve()) == ["early"]
        late.conn.commit()
    assert session.reserve() == {}
    session.change(marks=0)
    assert list(session.reserve()) == ["late"]


def test_what_comes_due_late_is_found_from_the_marks(session: Session, clock: Clock, database_url: str) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late", delay_seconds=1)
        clock.advance(2)
        session.slow(clock.now)
        late.conn.commit()
    assert session.reserve() == {}
    session.change(marks=0)
    assert list(session.reserve()) == ["late"]


@pytest.mark.parametrize("ranks", [(0,), (-5, 0, 7)])
def test_what_is_far_behind_is_found_by_the_look_back(session: Session, clock: Clock, ranks: tuple[int, ...]) -> None:
    session.push("behind")
    clock.advance(3600)
    session.slow(clock.now, *ranks)
    session.change(marks=0)
    assert session.reserve() == {}, "the marks lie before it"
    assert session.look_back(20 * (len(ranks) + 1)) == ["behind"]


def test_a_delayed_message_far_behind_is_found_by_the_look_back(
    session: Session, clock: Clock, database_url: str
) -> None:
    with another(session, database_url, autocommit=False) as late:
        late.push("late", delay_seconds=1)
        clock.advance(3600)
        session.slow(clock.now)
        late.conn.commit()
    session.change(marks=0)
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
    found = session.look_back(60)
    assert len(found) == 30
    assert session.look_back(30) == []


def settle(session: Session, clock: Clock) -> None:
    """Let the marks move on over what is held."""
    session.slow(clock.now, mark=clock.now)
    bounds = session.bounds
    bounds[-1] = clock.now - SECOND
    session.bounds = bounds
    session.change(rotate=0)
    session.reserve()


@BOTH
def test_a_hold_behind_the_marks_comes_back_when_it_expires(
    session: Session, clock: Clock, cursor: type[psycopg.Cursor[Any]]
) -> None:
    session.cursor = cursor
    session.push("held")
    receipt = session.reserve(timeout_seconds=60)["held"]
    settle(session, clock)
    assert place(session, "held") == (None, clock.now + 60 * SECOND)
    assert session.reserve() == {}
    clock.advance(61)
    again = session.reserve()
    assert list(again) == ["held"]
    assert again["held"] != receipt


def test_an_extended_hold_behind_the_marks_comes_back_when_that_expires(session: Session, clock: Clock) -> None:
    session.push("held")
    receipt = session.reserve(timeout_seconds=60)["held"]
    settle(session, clock)
    session.conn.execute("select queue_extend(%s, 600)", [receipt])
    clock.advance(61)
    assert session.reserve() == {}
    clock.advance(540)
    assert list(session.reserve()) == ["held"]


def test_a_shortened_hold_behind_the_marks_comes_back_when_that_expires(session: Session, clock: Clock) -> None:
    session.push("held")
    receipt = session.reserve(timeout_seconds=60)["held"]
    settle(session, clock)
    session.conn.execute("select queue_extend(%s, 1)", [receipt])
    clock.advance(2)
    assert list(session.reserve()) == ["held"]


def test_an_extension_leaves_a_message_one_place(session: Session) -> None:
    session.push("held")
    before = place(session, "held")
    session.conn.execute("select queue_extend(%s, 60)", [session.reserve()["held"]])
    assert place(session, "held") == before


def test_a_late_ack_of_a_hold_behind_the_marks_counts(session: Session, clock: Clock) -> None:
    session.push("held")
    receipt = session.reserve(timeout_seconds=60)["held"]
    settle(session, clock)
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


@pytest.mark.parametrize("priority", [9, 0, -9])
def test_a_delayed_message_is_found_when_it_comes_due(session: Session, clock: Clock, priority: int) -> None:
    session.push("waits", delay_seconds=30, priority=priority)
    session.slow(clock.now)
    assert session.reserve() == {}
    clock.advance(30)
    assert list(session.reserve()) == ["waits"]


def test_a_delayed_message_is_found_by_a_session_whose_bounds_another_has_passed(
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
    session.change(marks=0)
    assert list(session.reserve()) == ["b"]


def test_a_reserve_that_is_rolled_back_is_found_again(session: Session, clock: Clock, database_url: str) -> None:
    session.push("a")
    session.push("b")
    session.slow(clock.now)
    before = session.bounds
    with session.conn.transaction(force_rollback=True):
        assert list(session.reserve()) == ["a"]
        with another(session, database_url) as other:
            other.slow(clock.now)
            assert list(other.reserve()) == ["b"]
            other.change(marks=0)
            assert other.reserve() == {}
    assert session.bounds == before
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
    session.change(marks=0)
    assert list(session.reserve()) == ["a"]


def test_a_session_without_bounds_takes_the_hint(session: Session, clock: Clock, database_url: str) -> None:
    session.push("behind")
    clock.advance(10)
    session.push("here")
    session.slow(clock.now)
    session.conn.execute(
        "insert into queue_hint (p_kind, bounds) values (%s, '{1}'), (%s, %s)",
        [session.kind, session.kind, session.bounds],
    )
    with another(session, database_url) as other:
        assert list(other.reserve()) == ["here"]
        assert other.bounds[11:] == session.bounds[11:]
        assert other.look_back(60) == ["behind"]


@BOTH
def test_the_marks_leave_a_hint_where_a_scan_is_slow(
    session: Session, clock: Clock, cursor: type[psycopg.Cursor[Any]]
) -> None:
    session.cursor = cursor
    session.push("a")
    session.slow(clock.now)
    session.change(rotate=0)
    session.reserve()
    hints = session.conn.execute("select p_kind, bounds from queue_hint").fetchall()
    assert hints == [(session.kind, session.bounds)]


GARBAGE = [
    "x", "{", "{}", "{{1,2},{3,4}}", "{1}", "{NULL}", "{1,2,3,4,5}", "0", "{9223372036854775808}",
    "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}", "{0,0,0,9999,0,0,0,7,0,0,0,0,0,0,0}", "{0,0,0,9999,0,0,0,0,0,-5,0,0,0,0}",
    "{0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}",
    "{" + ",".join([str(MOST)] * 15) + "}", "{" + ",".join([str(-MOST)] * 15) + "}",
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
    session.change(rotate=0, marks=0)
    found |= session.reserve(10000)
    assert len(found) == 2000
    clock.advance(1)
    assert len(session.reserve(10000)) == 1000


def test_a_backlog_of_due_messages_behind_the_bounds_drains(session: Session, clock: Clock) -> None:
    """As after an hour without workers, where the first scan was slow: a thousand were moved, the others lie behind."""
    session.conn.execute(
        "select queue_push_many(%s, (select jsonb_agg(jsonb_build_object('key', i::text, 'payload', i,"
        " 'delay_seconds', i)) from generate_series(1, 2000) i))",
        [session.kind],
    )
    clock.advance(3600)
    session.slow(clock.now)
    # a look back of a round is some 30 steps; whole batches of 100 make 2000 in 20 calls
    assert len(session.look_back(100, 100)) == 2000


def test_the_marks_are_looked_at_by_one_who_calls_seldom(session: Session, clock: Clock) -> None:
    """Where each call comes when a look back is due, what lies a little behind the bounds must not wait for that."""
    session.push("late")
    clock.advance(1)
    session.slow(clock.now)
    found: list[str] = []
    for _ in range(3):
        # the look back is busy far behind, and small steps are all that it can take
        session.change(look=0, marks=0, lane=1, place=clock.now - 3600 * SECOND, span=1000)
        found += session.reserve()
    assert found == ["late"]


def test_a_real_clock_that_was_set_back_hides_nothing(session: Session, clock: Clock) -> None:
    """The bounds were kept an hour later than it is now."""
    clock.advance(3600)
    session.slow(clock.now)
    ahead = session.real_now() + 3600 * SECOND
    session.change(look=ahead, marks=ahead, rotate=ahead)
    clock.advance(-3600)
    session.push("new")
    assert [key for _ in range(60) for key in session.reserve()] == ["new"]


def test_a_hint_from_a_slow_past_starves_nobody(session: Session, clock: Clock, database_url: str) -> None:
    """One call a session, a backlog behind the bounds of the hint, and one message before them."""
    session.push("behind")
    clock.advance(3600)
    for i in range(60):
        session.push(f"here{i}")
    session.slow(clock.now)
    # the look back of that round has reached its last step: the line is looked through, down to the last minute
    session.change(look=0, marks=0, rotate=0, lane=1, place=0, round=100)
    session.conn.execute("insert into queue_hint (p_kind, bounds) values (%s, %s)", [session.kind, session.bounds])
    found: list[str] = []
    for _ in range(50):
        with another(session, database_url) as other:
            found += other.reserve()
    assert "behind" in found


@pytest.mark.parametrize("seed", range(6))
def test_every_message_is_taken_once_whatever_the_bounds(
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
                chosen.slow(clock.now - rng.choice([0, 1, 30]) * SECOND, *sorted(rng.sample([-2, -1, 0, 1], 2)))
            if chosen.bounds and rng.random() < 0.5:
                chosen.change(**dict.fromkeys(rng.sample(["look", "marks", "rotate"], rng.randint(1, 3)), 0))
            what = rng.random()
            if what < 0.5:
                pusher = rng.choice([*sessions, late])
                pushed.add(f"m{number}")
                pusher.push(f"m{number}", priority=rng.randint(-2, 2), delay_seconds=rng.choice([0, 0, 0, 1, 15, 100]))
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
            session.change(look=0, marks=0) if session.bounds else session.slow(clock.now, -2, 0)
            for key, receipt in session.reserve(2, timeout_seconds=10000).items():
                row = session.conn.execute("select outcome from queue_ack(%s)", [receipt]).fetchone()
                assert row == ("acked",)
                done.append(key)
    assert sorted(done) == sorted(pushed)
