"""Chapman, a distributed job queue, rows D1 to D3."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from pyqueue_sql import to_microseconds
from tests.conformance.steps import SECOND, keys, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_D1_messages_are_scheduled_by_the_databases_clock(queue: Session, clock: Clock) -> None:
    clock.set(to_microseconds(datetime(2030, 6, 1, 12, tzinfo=UTC)))
    queue.push("job", "delayed", 1, delay_seconds=60)
    queue.push("job", "integer", 1, scheduled_at=clock.now + 61 * SECOND)
    queue.push("job", "text", 1, scheduled_at="2030-06-01T14:01:02+02:00")
    east = timezone(timedelta(hours=5, minutes=30))
    queue.push("job", "datetime", 1, scheduled_at=datetime(2030, 6, 1, 17, 31, 3, tzinfo=east))
    clock.advance(59)
    seen: list[list[str]] = []
    for _ in range(5):
        seen.append(keys(queue.reserve("job", None, 10)))
        clock.advance(1)
    assert seen == [[], ["delayed"], ["integer"], ["text"], ["datetime"]]


def test_D1_the_clock_is_read_at_the_moment_of_the_work(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    worker = connect(autocommit=False)
    worker.push("job", "a", 1)
    clock.advance(10)
    pushed = worker.push("job", "b", 1)
    assert pushed.scheduled_at == clock.now, "not the time at which the transaction began"
    worker.commit()
    found = queue.get("job", "b")
    assert found
    assert found.created_at == clock.now


def test_D2_priority_first_and_first_in_first_out_within_one(queue: Session) -> None:
    for number, priority in enumerate([0, 5, -3, 5, 0, 32767, -32768, 5]):
        queue.push("job", f"{number}", number, priority=priority)
    assert keys(queue.reserve("job", None, 4)) == ["5", "1", "3", "7"]
    queue.push("job", "new", 8, priority=1)
    assert [keys(queue.reserve("job")) for _ in range(6)] == [["new"], ["0"], ["4"], ["2"], ["6"], []]


def test_D3_each_reservation_has_a_timeout_of_its_own(queue: Session, clock: Clock) -> None:
    queue.define("job", timeout_seconds=100)
    for key in ("short", "defined", "long"):
        queue.push("job", key, 0)
    short, defined, long = (
        queue.reserve("job", None, 1, timeout_seconds=0.5)[0],
        queue.reserve("job")[0],
        queue.reserve("job", None, 1, timeout_seconds=1000)[0],
    )
    start = clock.now
    assert [(m.key, m.scheduled_at - start) for m in (short, defined, long)] == [
        ("short", SECOND // 2),
        ("defined", 100 * SECOND),
        ("long", 1000 * SECOND),
    ]
    back: dict[str, int] = {}
    for after in (0.4, 0.1, 99.4, 0.1, 899, 1):
        clock.advance(after)
        for message in queue.reserve("job", None, 3, timeout_seconds=100_000):
            back[message.key] = clock.now - start
    assert back == {"short": SECOND // 2, "defined": 100 * SECOND, "long": 1000 * SECOND}


def test_D3_without_a_definition_a_reservation_lasts_five_minutes(queue: Session, clock: Clock) -> None:
    queue.push("job", "a", 0)
    take(queue, "job")
    clock.advance(299.999999)
    assert (state(queue, "job", "a"), queue.reserve("job")) == ("reserved", [])
    clock.advance(0.000001)
    assert state(queue, "job", "a") == "expired"
    take(queue, "job")
