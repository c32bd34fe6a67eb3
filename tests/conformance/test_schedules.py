"""Recurring messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, to_datetime, to_microseconds
from tests.conformance.steps import SECOND, keys, outcomes, receipts
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

BERLIN = "Europe/Berlin"


def at(text: str) -> int:
    """Return a time of UTC in microseconds."""
    return to_microseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))


def text(us: int) -> str:
    """Return microseconds as a time of UTC."""
    return to_datetime(us).strftime("%m-%d %H:%M:%S").removesuffix(":00")


def occurrences(queue: Session, clock: Clock, start: str, count: int, **options: Any) -> list[str]:
    """Return when a schedule makes a message, so often from a time on, each tick at the very moment."""
    clock.set(at(start))
    queue.purge("k")
    next_at = queue.schedule("s", "k", 1, **options).next_at
    found: list[str] = []
    for _ in range(count):
        assert next_at
        clock.set(next_at - 1)
        assert queue.tick() == 0
        clock.set(next_at)
        assert queue.tick() == 1
        found.append(text(next_at))
        due = queue.schedules()[0].next_at
        next_at = to_microseconds(due) if due else None
    return found


def test_every_so_many_seconds(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:30:10"))
    scheduled = queue.schedule("beat", "k", {"n": 1}, every_seconds=60, priority=2, headers={"h": None})
    assert (scheduled.name, scheduled.kind, scheduled.next_at) == ("beat", "k", at("2026-11-21 09:31:00"))
    assert queue.tick() == 0
    clock.advance(50)
    assert queue.tick() == 1
    assert queue.tick() == 0
    clock.advance(60)
    assert queue.tick() == 1
    messages = queue.reserve("k", None, 10)
    assert keys(messages) == ["beat@2026-11-21T09:31:00Z", "beat@2026-11-21T09:32:00Z"]
    assert [(m.payload, m.priority, m.headers) for m in messages] == [({"n": 1}, 2, {"h": None})] * 2


def test_a_fraction_of_a_second_adds_up(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:30:00"))
    next_at = queue.schedule("beat", "k", 1, every_seconds=1.5, catch_up="all").next_at
    assert next_at == at("2026-11-21 09:30:00") + SECOND + SECOND // 2
    clock.advance(6)
    assert queue.tick() == 4


CRONS: dict[str, tuple[str, list[str]]] = {
    "*/20 * * * *": ("2026-11-21 09:30", ["11-21 09:40", "11-21 10:00", "11-21 10:20"]),
    "5 0 * * *": ("2026-11-21 00:05", ["11-22 00:05", "11-23 00:05"]),
    "0 9-17/4 * * mon-fri": ("2026-11-20 12:00", ["11-20 13:00", "11-20 17:00", "11-23 09:00"]),
    "0 0 1 jan,jul *": ("2026-11-21", ["01-01 00:00", "07-01 00:00", "01-01 00:00"]),
    "0 0 29 2 *": ("2026-11-21", ["02-29 00:00", "02-29 00:00"]),
    "0 0 13 * 5": ("2026-11-01", ["11-06 00:00", "11-13 00:00", "11-20 00:00", "11-27 00:00", "12-04 00:00"]),
    "0 0 */10 * 1": ("2026-11-01", ["12-21 00:00", "01-11 00:00"]),
    "0 12 * * 7": ("2026-11-21", ["11-22 12:00", "11-29 12:00"]),
    "59 23 31 12 * 30,59": ("2026-11-21", ["12-31 23:59:30", "12-31 23:59:59", "12-31 23:59:30"]),
    "* * * * * */30": ("2026-11-21 09:30", ["11-21 09:30:30", "11-21 09:31", "11-21 09:31:30"]),
    "10/25,3 4 * * *": ("2026-11-21", ["11-21 04:03", "11-21 04:10", "11-21 04:35", "11-22 04:03"]),
    "  0   0  *  *  SUN ": ("2026-11-21", ["11-22 00:00"]),
}


@each("cron", CRONS)
def test_a_cron_expression(queue: Session, clock: Clock, cron: str) -> None:
    start, expected = CRONS[cron]
    assert occurrences(queue, clock, start, len(expected), cron=cron) == expected


def test_a_cron_expression_may_name_every_value(queue: Session, clock: Clock) -> None:
    fields = [range(60), range(24), range(1, 32), range(1, 13), range(7), range(60)]
    cron = " ".join(",".join(map(str, values)) for values in fields)
    found = occurrences(queue, clock, "2026-11-21 09:30", 2, cron=cron)
    assert found == ["11-21 09:30:01", "11-21 09:30:02"]


@each(
    "cron",
    [
        *("", "* * * *", "* * * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8"),
        *("a * * * *", "*/0 * * * *", "5-1 * * * *", "1,,2 * * * *", "1, * * * *", "* * * foo *", "@daily"),
        *(
            "* * * jan-foo *",
            "* * 0,5 * *",
            "* * * 0-2 *",
            "*-5 * * * *",
            "-5 * * * *",
            "1- * * * *",
            "0 0 31 2 *",
            "é * * * *",
        ),
    ],
)
def test_what_is_no_cron_expression_is_refused(queue: Session, cron: str) -> None:
    with pytest.raises(InvalidOption, match="cron"):
        queue.schedule("s", "k", 1, cron=cron)
    assert queue.schedules() == []


@pytest.mark.servers("mariadb", "mysql")
def test_a_cron_expression_that_is_too_long_is_refused(queue: Session) -> None:
    with pytest.raises(InvalidOption, match="cron"):
        queue.schedule("s", "k", 1, cron=f"{'0,' * 2500}0 * * * *")


@pytest.mark.parametrize("hours", ["0", "*"])
def test_a_time_that_never_comes_is_refused_in_a_zone_that_changes_its_offset(
    queue: Session, harness: Harness, hours: str
) -> None:
    harness.learn_zone(BERLIN)
    with pytest.raises(InvalidOption, match="cron"):
        queue.schedule("s", "k", 1, cron=f"0 {hours} 31 2 *", time_zone=BERLIN)
    assert queue.schedules() == []


def test_daily_at_a_time_of_an_offset(queue: Session, clock: Clock) -> None:
    found = occurrences(queue, clock, "2026-11-21 08:30", 2, daily_at="09:30", time_zone="+02:00")
    assert found == ["11-22 07:30", "11-23 07:30"]
    found = occurrences(queue, clock, "2026-11-21 08:30", 1, daily_at="23:59:30", time_zone="-05:30")
    assert found == ["11-22 05:29:30"]


def test_the_seconds_since_1970_go_on_beyond_32_bits(queue: Session, clock: Clock) -> None:
    found = occurrences(queue, clock, "2038-01-19 03:14:00", 2, cron="14,15 3 * * *")
    assert found == ["01-19 03:15", "01-20 03:14"]
    assert occurrences(queue, clock, "2038-01-18", 2, daily_at="09:30", time_zone="+02:00") == [
        "01-18 07:30",
        "01-19 07:30",
    ]


def test_the_hour_that_is_skipped(queue: Session, clock: Clock, harness: Harness) -> None:
    harness.learn_zone(BERLIN)
    # at 01:00 of UTC the clock goes from 02:00 to 03:00
    found = occurrences(queue, clock, "2026-03-28 00:00", 3, daily_at="02:30", time_zone=BERLIN)
    assert found == ["03-28 01:30", "03-29 01:00", "03-30 00:30"]
    found = occurrences(queue, clock, "2026-03-29 00:00", 4, cron="15,45 1-3 * * *", time_zone=BERLIN)
    assert found == ["03-29 00:15", "03-29 00:45", "03-29 01:00", "03-29 01:15"]
    found = occurrences(queue, clock, "2026-03-29 00:30", 3, cron="*/30 * * * *", time_zone=BERLIN)
    assert found == ["03-29 01:00", "03-29 01:30", "03-29 02:00"]


def test_the_hour_that_comes_twice(queue: Session, clock: Clock, harness: Harness) -> None:
    harness.learn_zone(BERLIN)
    # at 01:00 of UTC the clock goes from 03:00 to 02:00
    found = occurrences(queue, clock, "2026-10-24 01:00", 3, daily_at="02:30", time_zone=BERLIN)
    assert found == ["10-25 00:30", "10-26 01:30", "10-27 01:30"]
    found = occurrences(queue, clock, "2026-10-24 22:00", 4, cron="0,30 2,3 * * *", time_zone=BERLIN)
    assert found == ["10-25 00:00", "10-25 00:30", "10-25 02:00", "10-25 02:30"]
    clock.set(at("2026-10-25 01:10"))
    assert queue.schedule("s", "k", 1, cron="* 2 * * *", time_zone=BERLIN).next_at == at("2026-10-26 01:00")
    found = occurrences(queue, clock, "2026-10-25 00:15", 4, cron="*/30 * * * *", time_zone=BERLIN)
    assert found == ["10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 02:00"], "as real time goes on"


@pytest.mark.parametrize(
    ("zone", "cron", "away", "made"),
    [
        (BERLIN, "30 2 * * *", ("03-28", "03-30"), ["03-28 01:30", "03-29 01:00", "03-30 00:30"]),
        (BERLIN, "30 2 * * *", ("10-24", "10-26"), ["10-24 00:30", "10-25 00:30", "10-26 01:30"]),
        # midnight is jumped over, then half an hour is
        ("America/Santiago", "15 0 * * *", ("09-05", "09-07"), ["09-05 04:15", "09-06 04:00", "09-07 03:15"]),
        (
            "Australia/Lord_Howe",
            "15 2 * * *",
            ("10-02", "10-04"),
            ["10-02 15:45", "10-03 15:30", "10-04 15:15"],
        ),
    ],
)
def test_what_was_missed_while_the_clock_changed_comes_once(
    queue: Session,
    clock: Clock,
    harness: Harness,
    zone: str,
    cron: str,
    away: tuple[str, str],
    made: list[str],
) -> None:
    harness.learn_zone(zone)
    clock.set(at(f"2026-{away[0]} 00:00"))
    queue.schedule("s", "k", 1, cron=cron, time_zone=zone, catch_up="all")
    clock.set(at(f"2026-{away[1]} 23:00"))
    assert queue.tick() == 3
    assert keys(queue.reserve("k", None, 9)) == [f"s@2026-{one.replace(' ', 'T')}:00Z" for one in made]
    assert queue.tick() == 0


def test_a_day_that_changes_between_the_zones(queue: Session, clock: Clock, harness: Harness) -> None:
    harness.learn_zone(BERLIN)
    found = occurrences(queue, clock, "2026-11-21 12:00", 2, cron="30 0 * * sun", time_zone=BERLIN)
    assert found == ["11-21 23:30", "11-28 23:30"]


@each("zone", ["Nowhere/Land", "", "+2", "+25:00", "SYSTEM", "+02:00 ", "foo+3"])
def test_a_zone_that_nobody_knows_is_refused(queue: Session, zone: str) -> None:
    with pytest.raises(InvalidOption, match="time_zone"):
        queue.schedule("s", "k", 1, daily_at="09:30", time_zone=zone)


@pytest.mark.parametrize(
    ("catch_up", "late", "made"),
    [
        ("last", 30, ["08:00"]),
        ("last", 10 * 3600, ["18:00"]),
        ("skip", 30, ["08:00"]),
        ("skip", 60, ["08:00"]),
        ("skip", 61, []),
        ("skip", 10 * 3600 + 5, ["18:00"]),
        ("skip", 10 * 3600 + 120, []),
        ("all", 30, ["08:00"]),
        ("all", 4 * 3600, ["08:00", "10:00", "12:00"]),
    ],
)
def test_what_is_found_late_is_caught_up_with_as_asked(
    queue: Session, clock: Clock, catch_up: str, late: int, made: list[str]
) -> None:
    clock.set(at("2026-11-21 07:00"))
    options: Any = {"catch_up": catch_up}
    queue.schedule("s", "k", 1, cron="0 */2 * * *", **options)
    clock.set(at("2026-11-21 08:00") + late * SECOND)
    assert queue.tick() == len(made)
    assert keys(queue.reserve("k", None, 100)) == [f"s@2026-11-21T{one}:00Z" for one in made]
    assert queue.tick() == 0
    [schedule] = queue.schedules()
    assert schedule.next_at and schedule.next_at > to_datetime(clock.now), "and goes on from now"
    assert schedule.next_at.hour % 2 == 0


def test_what_was_missed_for_months_is_found_without_going_through_it(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-01-01 00:00"))
    queue.schedule("s", "k", 1, cron="* * * * * *")
    queue.schedule("ended", "k", 1, cron="* * * * *", until="2026-02-01T00:00:30Z")
    clock.set(at("2026-11-21 09:30:05"))
    assert queue.tick() == 2
    found = sorted(keys(queue.reserve("k", None, 10)))
    assert found == ["ended@2026-02-01T00:00:00Z", "s@2026-11-21T09:30:05Z"]


def test_what_was_missed_before_an_end_of_years_ago_is_the_last_of_it(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-01-01 00:00"))
    queue.schedule("s", "k", 1, cron="0 * * * *", until="2026-01-01T06:30:00Z")
    clock.set(at("2028-01-01 00:00"))
    assert queue.tick() == 1
    assert keys(queue.peek("k", 9)) == ["s@2026-01-01T06:00:00Z"]


def test_all_that_was_missed_comes_a_bounded_number_a_call(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", 1, every_seconds=1, catch_up="all")
    clock.advance(1200)
    assert [queue.tick(), queue.tick(), queue.tick()] == [1000, 200, 0]


def test_of_more_than_a_call_sees_to_those_come_that_have_been_due_the_longest(
    queue: Session, clock: Clock
) -> None:
    for number in range(100):
        queue.schedule(f"{number}", "k", 1, every_seconds=60)
    queue.schedule("z", "z", 1, every_seconds=30)
    clock.advance(60)
    assert queue.tick() == 100
    assert len(queue.peek("z", 9)) == 1


def test_until_ends_it(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", 1, every_seconds=60, catch_up="all", until="2026-11-21T10:02:00+01:00")
    clock.advance(600)
    assert queue.tick() == 2
    [schedule] = queue.schedules()
    assert (schedule.next_at, schedule.until) == (None, to_datetime(at("2026-11-21 09:02")))
    assert schedule.last_at == schedule.until
    assert queue.schedule("s", "k", 1, every_seconds=60, until=at("2026-11-21 09:05")).next_at is None


def test_a_rule_ends_with_the_occurrence_that_its_end_is(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", 1, cron="*/10 * * * *", catch_up="all", until="2026-11-21T09:20:00Z")
    clock.advance(3600)
    assert queue.tick() == 2
    [schedule] = queue.schedules()
    assert (schedule.last_at, schedule.next_at) == (schedule.until, None)


def test_paused_nothing_is_made_nor_made_up_for(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", 1, every_seconds=60, paused=True)
    clock.advance(600)
    assert queue.tick() == 0
    assert queue.schedules()[0].paused
    assert queue.schedule("s", "k", 1, every_seconds=60).next_at == at("2026-11-21 09:11")


def test_to_schedule_again_keeps_what_is_due(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", 1, daily_at="09:30")
    clock.set(at("2026-11-21 09:31"))
    assert queue.schedule("s", "k", 2, daily_at="09:30").next_at == at("2026-11-21 09:30"), "a restart"
    again = queue.schedule("s", "k", 2, daily_at="09:30:00")
    assert again.next_at == at("2026-11-21 09:30"), "spelt otherwise"
    assert queue.schedule("s", "k", 2, daily_at="09:32").next_at == at("2026-11-21 09:32"), "another rule"
    clock.set(at("2026-11-21 09:33"))
    assert queue.tick() == 1
    assert queue.reserve("k")[0].payload == 2
    assert len(queue.schedules()) == 1


def test_a_schedule_of_each_sort_shows_its_rule(queue: Session) -> None:
    rules: dict[str, dict[str, Any]] = {
        "a": {"daily_at": "09:30", "time_zone": "+02:00"},
        "b": {"cron": "0 10 * * *", "time_zone": "+02:00"},
        "c": {"every_seconds": 60},
    }
    for name, rule in rules.items():
        queue.schedule(name, "k", 1, **rule)
    assert {schedule.name: schedule.rule for schedule in queue.schedules()} == rules


def test_what_is_due_and_not_made_yet_comes_no_more_where_the_end_is_set_before_it(
    queue: Session, clock: Clock
) -> None:
    queue.schedule("s", "k", 0, every_seconds=3600)
    clock.advance(3600)
    assert queue.schedule("s", "k", 0, every_seconds=3600, until=clock.now - 3600 * SECOND).next_at is None
    assert (queue.tick(), queue.peek("k")) == (0, [])


def test_what_a_schedule_pushes_has_its_options(queue: Session, clock: Clock) -> None:
    queue.schedule("s", "k", 0, every_seconds=3600, max_attempts=1, priority=3, headers={"h": 1})
    nulls = json.dumps({"every_seconds": 3600, "headers": None, "max_attempts": None, "priority": None})
    queue.answer("queue_schedule", "t", "k", "0", nulls)
    queue.schedule("u", "other", 0, every_seconds=3600, headers={})
    clock.advance(3600)
    assert queue.tick() == 3
    assert [message.headers for message in queue.peek("other")] == [None]
    first, second = queue.reserve("k", None, 2)
    assert (first.priority, first.headers) == (3, {"h": 1})
    assert (second.priority, second.headers) == (0, None)
    assert outcomes(queue.nack_many(receipts([first, second]), error="no")) == ["dead", "retry"]


def test_unschedule_knows_how_long_a_name_is(queue: Session) -> None:
    assert not queue.unschedule("s" * 100)
    with pytest.raises(InvalidParameter, match="name"):
        queue.unschedule("s" * 101)


def test_unschedule_ends_it(queue: Session, clock: Clock) -> None:
    queue.schedule("s", "k", 1, every_seconds=60)
    assert queue.unschedule("s")
    assert not queue.unschedule("s")
    clock.advance(600)
    assert queue.tick() == 0


def test_a_schedule_shows_what_it_is(queue: Session, clock: Clock) -> None:
    clock.set(at("2026-11-21 09:00"))
    queue.schedule("s", "k", {"a": [1]}, cron="0 10 * * *", priority=1, delay_seconds=5, catch_up="skip")
    [schedule] = queue.schedules()
    assert (schedule.name, schedule.kind, schedule.payload) == ("s", "k", {"a": [1]})
    assert schedule.rule == {"cron": "0 10 * * *", "time_zone": "UTC"}
    assert schedule.push_options == {"priority": 1, "delay_seconds": 5}
    assert (schedule.catch_up, schedule.paused) == ("skip", False)
    assert (schedule.until, schedule.last_at) == (None, None)
    assert schedule.next_at == datetime(2026, 11, 21, 10, tzinfo=UTC)
    clock.set(at("2026-11-21 10:00"))
    assert queue.tick() == 1
    assert queue.reserve("k") == [], "delayed"
    clock.advance(5)
    assert len(queue.reserve("k")) == 1


def test_a_tick_that_is_rolled_back_wasnt(connect: Connect, clock: Clock) -> None:
    queue = connect(autocommit=False)
    queue.schedule("s", "k", 1, every_seconds=60)
    queue.commit()
    clock.advance(60)
    assert queue.tick() == 1
    queue.rollback()
    assert queue.tick() == 1
    queue.commit()
    assert queue.tick() == 0


def test_a_tick_passes_over_what_another_is_making(connect: Connect, queue: Session, clock: Clock) -> None:
    other = connect(autocommit=False)
    queue.schedule("s", "k", 1, every_seconds=60)
    clock.advance(60)
    assert other.tick() == 1
    assert queue.tick() == 0
    other.commit()
    assert queue.tick() == 0
    assert len(queue.reserve("k", None, 10)) == 1


def test_a_schedule_waits_while_its_kind_is_drained(queue: Session, clock: Clock) -> None:
    queue.schedule("s", "k", 1, every_seconds=60)
    queue.drain("k")
    clock.advance(120)
    assert queue.tick() == 0
    queue.resume("k")
    assert queue.tick() == 1


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("options", {}),
    ("options", {"every_seconds": 60, "daily_at": "09:30"}),
    ("every_seconds", {"every_seconds": 0.5}),
    ("time_zone", {"every_seconds": 60, "time_zone": "UTC"}),
    ("daily_at", {"daily_at": "9:30"}),
    ("daily_at", {"daily_at": "24:00"}),
    ("daily_at", {"daily_at": "09:30\n"}),
    ("catch_up", {"every_seconds": 60, "catch_up": "none"}),
    ("until", {"every_seconds": 60, "until": "tomorrow"}),
    ("until", {"every_seconds": 60, "until": 5}),
    ("paused", {"every_seconds": 60, "paused": "yes"}),
    ("priority", {"every_seconds": 60, "priority": 40000}),
    ("scheduled_at", {"every_seconds": 60, "scheduled_at": "2030-01-01T00:00:00Z"}),
]


@each(("name", "options"), WRONG)
def test_a_wrong_option_is_refused_by_name(queue: Session, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=name):
        queue.schedule("s", "k", 1, **options)
    assert queue.schedules() == []


def test_what_would_be_no_push_is_no_schedule(queue: Session) -> None:
    for name in ("", "n" * 101):
        with pytest.raises(InvalidParameter, match="name"):
            queue.schedule(name, "k", 1, every_seconds=60)
    with pytest.raises(InvalidParameter, match="kind"):
        queue.schedule("s", "k" * 96, 1, every_seconds=60)
    queue.define("k", payload_shape={"to": "string"})
    with pytest.raises(InvalidPayload, match="payload"):
        queue.schedule("s", "k", 1, every_seconds=60)
