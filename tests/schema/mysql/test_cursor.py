"""Where a scan begins once one from the start has become slow: what lies behind the cursor is found in time.

The queue's clock stands still; start_at, marks_at and turn_at of a cursor are those of _queue_ticks, the real
ones.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.testing import clock_mysql
from tests.conformance.steps import SECOND, keys, take
from tests.schema.mysql.catalogs import rows_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Harness, Session

pytestmark = pytest.mark.servers("mariadb", "mysql")

HOUR = 3600 * SECOND


def ticks(session: Session) -> int:
    session.execute("call _queue_ticks(@ticks)")
    return session.execute("select @ticks")[0][0]


def path(session: Session) -> str:
    return session.execute("select concat('$.k', hex(concat(database(), '.mail')))")[0][0]


def keep_cursor(
    session: Session, *lanes: tuple[int, int], start: int = HOUR, look: int = HOUR, **fields: int
) -> None:
    """Let a session keep a cursor, as after slow scans.

    Args:
        session: it.
        *lanes: ranks and the places where their scans begin, those of their marks are 3 s earlier.
        start: when it looks from the start next, in microseconds from now.
        look: when it looks from the marks next.
        **fields: of the cursor, where they aren't as usual.
    """
    session.execute(
        "set @pyqueue_cursors = json_set('{}', %s, json_extract(%s, '$'))",
        [path(session), json.dumps(made(session, *lanes, start=start, look=look) | fields)],
    )


def made(session: Session, *lanes: tuple[int, int], start: int = HOUR, look: int = HOUR) -> dict[str, Any]:
    """Return such a cursor, see _queue_take."""
    now = ticks(session)
    due = max(place for _, place in lanes)
    return {
        "start_at": now + start,
        "marks_at": now + look,
        "turn_at": now + SECOND,
        "took": 100,
        "due": due,
        "due_newer": due - 3 * SECOND,
        "due_older": due - 3 * SECOND,
        "lanes": [
            {"rank": rank, "place": place, "newer": place - 3 * SECOND, "older": place - 3 * SECOND}
            for rank, place in lanes
        ],
    }


def cursor(session: Session) -> Any:
    found = session.execute("select json_extract(@pyqueue_cursors, %s)", [path(session)])
    return json.loads(found[0][0] or "null")


def place(session: Session) -> int:
    """Return the place of the first lane of its cursor."""
    return cursor(session)["lanes"][0]["place"]


@pytest.fixture
def scans_take(queue: Session, clock: Clock) -> Iterator[Callable[[int], None]]:
    """Let each look at the real time be so many microseconds after the one before."""
    assert clock.now
    drop, make = clock_mysql.MAKE[-2:]
    queue.execute(drop)
    queue.execute(
        "create procedure _queue_ticks(out out_ticks bigint)"
        " set @ticks_were = coalesce(@ticks_were, 0) + @ticks_step, out_ticks = @ticks_were"
    )
    queue.execute("set @ticks_were = %s", [HOUR])

    def step(us: int) -> None:
        queue.execute("set @ticks_step = %s", [us])

    yield step
    queue.execute(drop)
    queue.execute(make)


@pytest.mark.parametrize(
    ("us", "kept"),
    [(1000, [None, None, None]), (2000, [None, {}, [0]]), (20_000, [[0], [0], [0]])],
    ids=["fast", "slow", "very slow"],
)
def test_a_cursor_is_kept_after_two_slow_scans_or_a_very_slow_one(
    queue: Session, scans_take: Callable[[int], None], us: int, kept: list[Any]
) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abc"])
    scans_take(us)
    for key, one in zip("abc", kept, strict=True):
        assert keys(queue.reserve("mail")) == [key]
        found = cursor(queue)
        assert ([lane["rank"] for lane in found["lanes"]] if found else found) == one


def test_a_new_cursor_looks_back_three_seconds_until_the_marks_move_on(
    queue: Session, clock: Clock, scans_take: Callable[[int], None]
) -> None:
    now = clock.now
    for priority, ago in ((5, 1), (0, 2)):
        queue.push("mail", f"{priority}", priority=priority, scheduled_at=now - ago * SECOND)
    entries = [entry for (entry,) in queue.execute("select q.entry from delayed_queue q")]
    scans_take(9000)

    def keep(known: str | None, start: int, first: str = "start") -> Any:
        queue.execute("set @pyqueue_cursors = '{}'")
        queue.execute(
            "call _queue_keep_cursor('mail', %s, %s, %s, %s, 9000, 2, %s, %s)",
            [path(queue), known, first, start, json.dumps(entries), now],
        )
        return cursor(queue)

    assert keep(None, HOUR) == {}
    made = keep("{}", HOUR)
    places = now - SECOND, now - 2 * SECOND
    lane = [
        {"rank": rank, "place": place, "entry": 0} | dict.fromkeys(("newer", "older"), place - 3 * SECOND)
        for rank, place in zip((-5, 0), places, strict=True)
    ]
    assert made == {
        "start_at": HOUR + 450_000,
        "marks_at": 0,
        "turn_at": HOUR + 3 * SECOND,
        "took": 9000,
        "due": now,
        "due_newer": now - 3 * SECOND,
        "due_older": now - 3 * SECOND,
        "lanes": lane,
    }
    assert queue.execute("select fields from queue_cursor") == []
    turned = keep(json.dumps(made), made["turn_at"], "marks")
    assert turned == made | {
        "marks_at": made["turn_at"] + 400_000,
        "turn_at": made["turn_at"] + 3 * SECOND,
        "due_newer": now,
        "lanes": [one | {"newer": one["place"]} for one in lane],
    }
    [(shared,)] = queue.execute("select fields from queue_cursor")
    assert json.loads(shared) == turned, "for sessions that have none"
    again = keep(json.dumps(turned), turned["turn_at"], "marks")
    assert [again["due_older"], *(one["older"] for one in again["lanes"])] == [now, *places]


@pytest.mark.parametrize("most", [1, 2])
def test_a_scan_begins_at_the_cursor_and_moves_it(queue: Session, clock: Clock, most: int) -> None:
    for second in range(3):
        queue.push("mail", f"k{second}", scheduled_at=clock.now - (10 - second) * SECOND)
    keep_cursor(queue, (0, clock.now - 9 * SECOND))
    assert keys(queue.reserve("mail", None, most)) == ["k1", "k2"][:most]
    assert place(queue) == clock.now - (10 - most) * SECOND


@pytest.mark.parametrize("most", [1, 5])
def test_a_scan_passes_over_nothing_that_it_took_of_the_same_statement(
    queue: Session, clock: Clock, most: int
) -> None:
    queue.reserve("mail")  # the first call of a session is another one
    wanted = [f"{number:03}" for number in range(400)]
    queue.push_many("mail", [{"key": key, "payload": 0} for key in wanted])  # all have the same place
    keep_cursor(queue, (0, clock.now))
    found = keys(queue.reserve("mail", None, 300))
    for _ in range(10):
        before = rows_read(queue.connection)
        found += keys(queue.reserve("mail", None, most))
        assert rows_read(queue.connection) - before < 100, "of 300 that are held"
    assert found == wanted[: 300 + 10 * most]
    last = queue.execute("select max(q.entry) from delayed_queue q where q.reserved_at is not null")
    assert [(cursor(queue)["lanes"][0]["entry"],)] == last


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize(("took", "look"), [(100, HOUR), (9000, -1)])
def test_what_is_committed_late_of_the_same_moment_is_found(
    queue: Session, connect: Connect, clock: Clock, took: int, look: int, most: int
) -> None:
    queue.reserve("mail")  # the first call of a session is another one
    other = connect(autocommit=False)
    other.push("mail", "late")
    queue.push("mail", "a")
    keep_cursor(queue, (0, clock.now))
    assert keys(queue.reserve("mail", None, most)) == ["a"]
    other.commit()
    queue.execute(
        "set @pyqueue_cursors = json_set(@pyqueue_cursors, %s, %s, %s, %s)",
        [f"{path(queue)}.took", took, f"{path(queue)}.marks_at", ticks(queue) + look],
    )
    assert keys(queue.reserve("mail", None, most)) == ["late"]


@pytest.mark.parametrize("most", [1, 2])
def test_a_scan_begins_where_its_lane_does_wherever_the_timetable_does(
    queue: Session, clock: Clock, most: int
) -> None:
    queue.reserve("mail")  # the first call of a session is another one
    for key, ago in (("old", 5), ("new", 0)):
        queue.push("mail", key, scheduled_at=clock.now - ago * SECOND)
    keep_cursor(queue, (0, clock.now - 9 * SECOND), due=clock.now - SECOND)
    assert keys(queue.reserve("mail", None, most)) == ["old", "new"][:most]


@pytest.mark.parametrize(("look", "start"), [(HOUR, -1), (-1, HOUR)])
def test_what_lies_behind_the_cursor_is_found_by_the_next_look(
    queue: Session, clock: Clock, look: int, start: int
) -> None:
    queue.push("mail", "late", scheduled_at=clock.now - 2 * SECOND)
    for key in ("new", "newer"):
        queue.push("mail", key)
    keep_cursor(queue, (0, clock.now))
    assert keys(queue.reserve("mail")) == ["new"]
    keep_cursor(queue, (0, clock.now), look=look, start=start)
    assert keys(queue.reserve("mail")) == ["late"]


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("lanes", [1, 2])
def test_a_scan_from_the_cursor_passes_over_what_another_has_locked(
    queue: Session, connect: Connect, clock: Clock, most: int, lanes: int
) -> None:
    queue.reserve("mail")  # the first call of a session is another one
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abc"])
    other = connect(autocommit=False)
    assert keys(other.reserve("mail")) == ["a"]
    keep_cursor(queue, *[(0, clock.now - SECOND), (5, clock.now)][:lanes])
    queue.execute("set session innodb_lock_wait_timeout = 1")
    found = queue.answer("queue_reserve", "mail", None, str(most), None)  # which isn't made again
    assert [row["p_key"] for row in found] == ["b", "c"][:most]


def test_an_old_snapshot_keeps_a_cursor_of_what_is_there_now(queue: Session, harness: Harness) -> None:
    for key in "ab":
        queue.push("mail", key, 0, order_key="line")
    old = harness.connect(autocommit=False, isolation="repeatable read")
    if old.execute("show variables like 'innodb_snapshot_isolation'"):
        old.execute("set innodb_snapshot_isolation = off")  # else the server refuses what has changed since
    assert [message.state for message in old.peek("mail")] == ["ready", "waiting"]  # so b has no place
    _, receipt = take(queue, "mail")
    queue.ack(receipt)
    keep_cursor(old, (0, 0), look=-1)
    assert keys(old.reserve("mail")) == ["b"]
    assert [lane["rank"] for lane in cursor(old)["lanes"]] == [0]
    assert old.pop("mail") == []


def test_where_nothing_is_ahead_the_start_is_looked_at(queue: Session, clock: Clock) -> None:
    queue.push("mail", "late", scheduled_at=clock.now - 60 * SECOND)
    keep_cursor(queue, (0, clock.now))
    assert keys(queue.reserve("mail")) == ["late"]


@pytest.mark.parametrize("seconds", [1, 2.5])
def test_what_lies_behind_a_new_lane_is_found_by_the_next_look(
    queue: Session, clock: Clock, seconds: float
) -> None:
    queue.push("mail", "first", priority=5)
    keep_cursor(queue, (0, clock.now), look=-1)
    assert keys(queue.reserve("mail")) == ["first"]
    for ago, key in ((seconds, "late"), (0, "new"), (0, "newer")):
        queue.push("mail", key, priority=5, scheduled_at=clock.now - round(ago * SECOND))
    assert keys(queue.reserve("mail")) == ["new"]
    now = ticks(queue)
    queue.execute(
        "set @pyqueue_cursors = json_set(@pyqueue_cursors, %s, %s)", [f"{path(queue)}.marks_at", now]
    )
    assert keys(queue.reserve("mail")) == ["late"]


def test_an_expired_hold_behind_the_cursor_is_found_from_the_start(queue: Session, clock: Clock) -> None:
    queue.push("mail", "dropped", scheduled_at=clock.now - 60 * SECOND)
    queue.reserve("mail", timeout_seconds=10)
    clock.advance(11)
    queue.push("mail", "new")
    keep_cursor(queue, (0, clock.now))
    assert keys(queue.reserve("mail")) == ["new"]
    keep_cursor(queue, (0, clock.now), start=-1)
    assert keys(queue.reserve("mail")) == ["dropped"]


@pytest.mark.parametrize("priority", [7, 3, 0, -5])
def test_every_priority_is_seen_with_a_lane_or_without(queue: Session, clock: Clock, priority: int) -> None:
    queue.push("mail", "other", priority=priority)
    keep_cursor(queue, (-3, clock.now), (0, clock.now))
    assert keys(queue.reserve("mail")) == ["other"]


def test_priorities_keep_their_order_with_a_cursor(queue: Session, clock: Clock) -> None:
    for priority in (0, 5, 3, -2, 1):
        queue.push("mail", f"p{priority}", priority=priority)
    keep_cursor(queue, (-3, clock.now), (0, clock.now))
    assert keys(queue.reserve("mail", None, 4)) == ["p5", "p3", "p1", "p0"]


@pytest.mark.parametrize(("wait", "found"), [(SECOND, "new"), (-1, "urgent"), (HOUR, "urgent")])
def test_a_higher_priority_is_looked_for_again_when_the_last_look_said(
    queue: Session, clock: Clock, wait: int, found: str
) -> None:
    queue.reserve("mail")  # the first call of a session looks for all
    queue.push("mail", "new")
    queue.push("mail", "urgent", priority=5)
    keep_cursor(queue, (0, clock.now - SECOND))
    again = [path(queue), ticks(queue) + wait]
    queue.execute("set @pyqueue_ahead_of = %s, @pyqueue_ahead_at = %s", again)
    assert keys(queue.reserve("mail")) == [found]


def test_what_has_come_due_is_seen_before_the_cursor(queue: Session, clock: Clock) -> None:
    queue.push("mail", "delayed", delay_seconds=5)
    clock.advance(6)
    keep_cursor(queue, (0, clock.now + SECOND))
    assert keys(queue.reserve("mail")) == ["delayed"]


@pytest.mark.parametrize("first", [True, False])
def test_a_cursor_of_a_clock_that_was_set_back_is_dropped(queue: Session, clock: Clock, first: bool) -> None:
    if not first:  # the first call of a session is another one
        queue.reserve("mail")
    queue.push("mail", "a", scheduled_at=clock.now - 60 * SECOND)
    queue.push("mail", "b")
    keep_cursor(queue, (0, clock.now))
    of_the_future = [cursor(queue)["turn_at"], ticks(queue) + HOUR]
    queue.execute("set @pyqueue_cursors = replace(@pyqueue_cursors, %s, %s)", of_the_future)
    assert keys(queue.reserve("mail")) == ["a"]


def test_two_databases_keep_their_cursors_apart(queue: Session, clock: Clock) -> None:
    queue.push("mail", "late", scheduled_at=clock.now - 60 * SECOND)
    queue.push("mail", "new")
    keep_cursor(queue, (0, clock.now))
    queue.execute("set @pyqueue_cursors = replace(@pyqueue_cursors, %s, %s)", ['"k', '"kAA'])
    assert keys(queue.reserve("mail")) == ["late"]


def test_a_session_without_a_cursor_begins_at_that_of_another(queue: Session, clock: Clock) -> None:
    queue.push("mail", "late", scheduled_at=clock.now - 60 * SECOND)
    queue.push("mail", "new")
    shared = made(queue, (0, clock.now)) | {"took": 9000}
    queue.execute(
        "insert into queue_cursor (id, p_kind, fields) values (1, 'mail', %s)", [json.dumps(shared)]
    )
    assert keys(queue.reserve("mail")) == ["new"]


def test_what_comes_due_with_a_cursor_keeps_its_order(queue: Session, clock: Clock) -> None:
    for seconds in (7, 6, 8, 5):
        queue.push("mail", f"after {seconds}", delay_seconds=seconds)
    clock.advance(60)
    keep_cursor(queue, (0, clock.now - 100 * SECOND))
    assert keys(queue.reserve("mail", None, 10)) == [f"after {seconds}" for seconds in (5, 6, 7, 8)]


@pytest.fixture
def shared(queue: Session, clock: Clock) -> None:
    """The cursor of another session, which is past the first hour."""
    clock.advance(3600)
    fields = json.dumps(made(queue, (0, clock.now)) | {"took": 9000})
    queue.execute("insert into queue_cursor (id, p_kind, fields) values (1, 'mail', %s)", [fields])
    clock.advance(-3600)


@pytest.mark.usefixtures("shared")
def test_what_a_filter_finds_due_and_leaves_is_seen_by_who_keeps_a_cursor(
    queue: Session, clock: Clock
) -> None:
    queue.push("mail", "first", headers={"to": "ann"})
    queue.push("mail", "late", delay_seconds=1, headers={"to": "ann"})
    clock.advance(3600)
    assert keys(queue.reserve("mail", where={"to": "ann"})) == ["first"]
    queue.push("mail", "new")
    keep_cursor(queue, (0, clock.now), look=-1)
    assert keys(queue.reserve("mail")) == ["late"]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("indexed", [False, True], ids=["scanned", "indexed"])
def test_what_a_filter_finds_due_with_a_cursor_keeps_its_order(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("mail", filter_index=indexed)
    for seconds in (7, 6, 8, 5):
        queue.push("mail", f"after {seconds}", delay_seconds=seconds, headers={"to": "ann"})
    clock.advance(3600)
    found = queue.reserve("mail", None, 10, where={"to": "ann"})
    assert keys(found) == [f"after {seconds}" for seconds in (5, 6, 7, 8)]


@pytest.mark.parametrize("known", ["nothing", "one slow scan", "a cursor"])
def test_a_machine_that_stood_still_is_not_taken_for_a_slow_scan(
    queue: Session, clock: Clock, known: str
) -> None:
    queue.push("mail", "a")
    if known == "a cursor":
        keep_cursor(queue, (0, clock.now))
    else:
        kept = "{}" if known == "nothing" else json.dumps({path(queue)[2:]: {}})
        queue.execute("set @pyqueue_cursors = %s", [kept])
    start = ticks(queue)
    clock.nothing_takes_time()  # the second time
    queue.execute(
        "call _queue_keep_cursor('mail', %s, json_extract(@pyqueue_cursors, %s), 'start', %s, 5001, 100,"
        " null, %s)",
        [path(queue), path(queue), start, clock.now],
    )
    assert cursor(queue) is None


def test_shared_cursors_that_others_are_removing_keep_no_scan_waiting(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    rows = "(1, 'mail', '{}'), (2, 'mail', '{}'), (3, 'other', '{}')"
    queue.execute(f"insert into queue_cursor (id, p_kind, fields) values {rows}")
    other = connect(autocommit=False)
    other.execute("delete from queue_cursor where id = 1")
    queue.execute("set session innodb_lock_wait_timeout = 1")
    queue.execute("set @pyqueue_cursors = '{}'")
    queue.execute(
        "call _queue_keep_cursor('mail', %s, null, 'start', %s, 0, 100, null, %s)",
        [path(queue), ticks(queue), clock.now],
    )
    other.rollback()
    assert queue.execute("select id from queue_cursor order by id") == [(1,), (3,)]
