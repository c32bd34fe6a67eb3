"""Limits of a kind: max_reserved, how many are held at once, and rate_per_second, how many are delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, QueueError
from tests.conformance.steps import SECOND, keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def fill(queue: Session, kind: str = "calls", number: int = 20, **options: Any) -> None:
    """Push messages, and define the kind's limits."""
    queue.define(kind, **options)
    if number:
        queue.push_many(kind, [{"key": f"{n:06}", "payload": n} for n in range(number)])


def held(queue: Session, kind: str = "calls") -> int:
    """Return how many are held."""
    (one,) = queue.stats(kind)
    return one.reserved


def test_the_settings_show_the_limits(queue: Session) -> None:
    made = queue.define("calls", max_reserved=3, rate_per_second=2.5)
    assert (made.max_reserved, made.rate_per_second) == (3, 2.5)
    again = queue.define("calls", timeout_seconds=10)
    assert (again.max_reserved, again.rate_per_second) == (3, 2.5)
    assert queue.define("other").max_reserved is None
    gone = queue.define("calls", max_reserved=None, rate_per_second=None)
    assert (gone.max_reserved, gone.rate_per_second) == (None, None)


def test_a_batch_takes_no_more_than_there_is_room_for(queue: Session, connect: Connect) -> None:
    fill(queue, max_reserved=3)
    other = connect()
    assert keys(queue.reserve("calls")) == ["000000"]
    assert keys(other.reserve("calls", None, 10)) == ["000001", "000002"]
    assert queue.reserve("calls", None, 10) == other.reserve("calls") == []
    assert held(queue) == 3
    assert len(queue.reserve("unlimited", None, 10)) == 0


@pytest.mark.parametrize("ending", ["ack", "ack_many", "nack", "final", "move", "move_many", "pop"])
def test_what_ends_a_delivery_makes_room_for_one(queue: Session, connect: Connect, ending: str) -> None:
    fill(queue, max_reserved=2)
    first, second = receipts(queue.reserve("calls", None, 2))
    match ending:
        case "ack":
            queue.ack(first)
        case "ack_many":
            queue.ack_many([first])
        case "nack":
            queue.nack(first, delay_seconds=60)
        case "final":
            queue.nack(first, final=True)
        case "move":
            queue.move(first, "next")
        case "move_many":
            queue.move_many([{"receipt": first, "to_kind": "next"}])
        case _:
            assert len(queue.pop("calls", 5)) == 5, "a pop holds nothing"
            assert queue.reserve("calls") == []
            queue.ack(second)
    other = connect()
    (message,) = other.reserve("calls", None, 10)
    assert queue.reserve("calls") == []
    assert held(queue) == 2
    assert message.receipt
    assert other.ack(message.receipt).outcome == "acked"


def test_a_hold_that_has_expired_makes_room_at_once(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=2, timeout_seconds=10)
    (late,) = receipts(queue.reserve("calls", timeout_seconds=5))
    assert len(queue.reserve("calls", None, 2)) == 1
    clock.advance(5)
    assert len(queue.reserve("calls", None, 10)) == 1, "the other one is held"
    assert queue.ack(late).outcome == "lost", "it was delivered again"
    assert queue.reserve("calls") == []
    clock.advance(5)
    assert len(queue.reserve("calls", None, 10)) == 1


def test_a_late_ack_counts_and_frees_nobody_elses_place(queue: Session, clock: Clock) -> None:
    fill(queue, number=1, max_reserved=1, timeout_seconds=5)
    _, late = take(queue, "calls")
    clock.advance(5)
    queue.push("calls", "urgent", 1, priority=9)
    (urgent,) = queue.reserve("calls")
    assert urgent.key == "urgent"
    assert queue.ack(late).outcome == "acked"
    queue.push("calls", "next", 1)
    assert queue.reserve("calls") == []
    assert queue.ack(urgent.receipt or "").outcome == "acked"
    assert keys(queue.reserve("calls")) == ["next"]


@pytest.mark.parametrize("many", [False, True])
def test_a_hold_that_gave_up_its_place_cannot_be_extended(queue: Session, clock: Clock, many: bool) -> None:
    clock.nothing_takes_time()  # the order is exact
    fill(queue, number=1, max_reserved=1, timeout_seconds=5)

    def extend(receipt: str) -> str:
        return queue.extend_many([receipt], 9)[0].outcome if many else queue.extend(receipt, 9).outcome

    _, late = take(queue, "calls")
    clock.advance(6)
    assert extend(late) == "extended", "nobody wanted its place"
    clock.advance(8)
    assert queue.reserve("calls") == []
    clock.advance(1)
    queue.push("calls", "urgent", 1, priority=9)
    assert keys(queue.reserve("calls")) == ["urgent"]
    assert extend(late) == "lost"
    assert held(queue) == 1
    assert queue.ack(late).outcome == "acked"


def test_a_hold_whose_place_the_same_session_has_taken_cannot_be_extended(
    queue: Session, clock: Clock
) -> None:
    fill(queue, number=1, max_reserved=1, timeout_seconds=5)
    (late,) = receipts(queue.reserve("calls"))
    clock.advance(5)
    queue.push("calls", "urgent", 1, priority=9)
    assert keys(queue.reserve("calls")) == ["urgent"]
    assert queue.extend(late, 9).outcome == "lost"
    assert held(queue) == 1


def test_a_hold_that_had_expired_when_the_first_limit_was_set_cannot_be_extended(
    queue: Session, clock: Clock
) -> None:
    fill(queue, number=1, timeout_seconds=5)
    (late,) = receipts(queue.reserve("calls"))
    clock.advance(5)
    queue.define("calls", max_reserved=1)
    queue.push("calls", "urgent", 1, priority=9)
    assert keys(queue.reserve("calls")) == ["urgent"]
    assert queue.extend(late, 9).outcome == "lost"
    assert queue.ack(late).outcome == "acked", "the work is done"


def test_an_extension_keeps_the_place(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=1, timeout_seconds=5)
    (message,) = queue.reserve("calls")
    for _ in range(3):
        clock.advance(4)
        assert queue.extend(message.receipt or "", 5).outcome == "extended"
        assert queue.reserve("calls") == []
    assert queue.extend(message.receipt or "", 0).outcome == "extended"
    assert len(queue.reserve("calls")) == 1


def test_what_is_held_when_the_first_limit_is_set_counts(queue: Session) -> None:
    fill(queue)
    fill(queue, "others")
    assert len(queue.reserve("others", None, 9)) > 3, "which are nothing to this one"
    early = receipts(queue.reserve("calls", None, 5))
    queue.define("calls", max_reserved=3)
    assert queue.extend(early[4], 60).outcome == "extended"
    for receipt in early[:2]:
        assert queue.reserve("calls", None, 10) == []
        queue.ack(receipt)
    assert queue.reserve("calls", None, 10) == []
    queue.ack(early[2])
    assert len(queue.reserve("calls", None, 10)) == 1
    assert held(queue) == 3


def test_a_lowered_limit_lets_nothing_through_until_there_is_less(queue: Session, connect: Connect) -> None:
    fill(queue, max_reserved=6)
    taken = receipts(queue.reserve("calls", None, 10))
    assert len(taken) == 6
    queue.define("calls", max_reserved=2)
    for receipt in taken[:4]:
        assert queue.ack(receipt).outcome == "acked"
        assert connect().reserve("calls", None, 10) == []
    queue.ack(taken[4])
    assert len(queue.reserve("calls", None, 10)) == 1
    queue.ack(taken[5])
    assert len(queue.reserve("calls", None, 10)) == 1
    assert held(queue) == 2
    queue.define("calls", max_reserved=4)
    assert len(queue.reserve("calls", None, 10)) == 2
    queue.define("calls", max_reserved=None)
    assert len(queue.reserve("calls", None, 10)) == 10
    queue.define("calls", max_reserved=3)
    assert queue.reserve("calls") == []


def test_a_lowered_limit_gives_all_its_places_once_they_are_free(queue: Session) -> None:
    fill(queue, max_reserved=5)
    taken = receipts(queue.reserve("calls", None, 10))
    queue.define("calls", max_reserved=2)
    queue.ack_many(taken)
    assert len(queue.reserve("calls", None, 10)) == 2


def test_what_is_undone_takes_no_place(queue: Session, connect: Connect) -> None:
    fill(queue, max_reserved=1)
    other = connect(autocommit=False)
    assert len(other.reserve("calls", None, 3)) == 1
    assert queue.reserve("calls") == [], "it may be committed yet"
    other.rollback()
    (message,) = queue.reserve("calls")
    assert other.reserve("calls") == []
    other.rollback()
    queue.ack(message.receipt or "")
    with other.savepoint(undo=True):
        assert len(other.reserve("calls")) == 1
    assert len(other.reserve("calls", None, 3)) == 1
    other.commit()
    assert queue.reserve("calls") == []


def test_a_transaction_that_acks_and_reserves_keeps_its_place(queue: Session, connect: Connect) -> None:
    fill(queue, max_reserved=2)
    first, second = connect(autocommit=False), connect(autocommit=False)
    for worker in (first, second):
        (message,) = worker.reserve("calls")
        worker.commit()
        worker.ack(message.receipt or "")
    for worker in (first, second):
        assert len(worker.reserve("calls", None, 5)) == 1
        worker.commit()
    assert held(queue) == 2


def test_moved_into_dead_redriven_and_replayed_do_not_count_until_reserved(queue: Session) -> None:
    fill(queue, number=0, max_reserved=1, history_seconds=60)
    queue.define("calls.dead", max_reserved=1)
    for key in "abc":
        queue.push("first", key, 1, route=["calls"])
    for receipt in receipts(queue.reserve("first", None, 3)):
        assert queue.ack(receipt).outcome == "moved"
    message, receipt = take(queue, "calls")
    queue.nack(receipt, final=True)
    assert keys(queue.reserve("calls.dead", None, 3)) == [message.key]
    _, receipt = take(queue, "calls")
    assert queue.ack(receipt).outcome == "acked"
    assert queue.replay("calls")
    assert len(queue.reserve("calls", None, 9)) == 1


def test_an_expired_last_delivery_dies_and_makes_room(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=2, timeout_seconds=5, max_attempts=1)
    queue.reserve("calls", None, 2)
    clock.advance(5)
    assert keys(queue.reserve("calls", None, 9)) == ["000002", "000003"]
    assert keys(queue.peek("calls.dead", 9)) == ["000000", "000001"]


def test_a_last_delivery_whose_place_was_wanted_lives_until_a_call_comes_to_it(
    queue: Session, clock: Clock
) -> None:
    queue.define("k", max_reserved=1, rate_per_second=1, max_attempts=1)
    queue.push("k", "last", 1)
    (late,) = receipts(queue.reserve("k"))
    queue.push("k", "first", 1, priority=1)
    queue.extend(late, 0)
    clock.advance(1)
    assert keys(queue.reserve("k")) == ["first"], "there is one token"
    assert state(queue, "k", "last") == "expired"
    assert queue.ack(late).outcome == "acked"


def test_a_payload_that_does_not_fit_dies_and_takes_no_place(queue: Session) -> None:
    fill(queue, number=3)
    queue.push("calls", "sound", {"a": 1})
    queue.define("calls", payload_shape={"a": "integer"}, max_reserved=2)
    assert keys(queue.reserve("calls", None, 9)) == ["sound"]
    queue.push_many("calls", [{"key": key, "payload": {"a": 1}} for key in "xy"])
    assert len(queue.reserve("calls", None, 9)) == 1


def test_pause_remove_purge_drain_and_drop_go_with_limits(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=2, rate_per_second=1000, timeout_seconds=5)
    clock.advance(1)
    queue.pause("calls")
    assert queue.reserve("calls") == []
    queue.resume("calls")
    taken = receipts(queue.reserve("calls", None, 9))
    assert len(taken) == 2
    assert queue.remove("calls", "000000") == "held"
    assert queue.purge("calls") == 18
    clock.advance(5)
    assert queue.remove("calls", "000000") == "removed"
    queue.push_many("calls", [{"key": key, "payload": 1} for key in "xyz"])
    queue.drain("calls")
    assert len(queue.reserve("calls", None, 9)) == 2
    assert queue.reserve("calls") == []
    clock.advance(6)
    assert queue.drop("calls").max_reserved == 2
    queue.push_many("calls", [{"key": key, "payload": 1} for key in "xyz"])
    assert len(queue.reserve("calls", None, 9)) == 3
    assert queue.define("calls").max_reserved is None


def test_what_was_pushed_onto_a_held_one_comes_when_there_is_room(queue: Session) -> None:
    fill(queue, number=1, max_reserved=1)
    _, receipt = take(queue, "calls")
    assert queue.push("calls", "000000", 2, on_duplicate="replace").outcome == "held"
    queue.push("calls", "other", 1)
    assert queue.nack(receipt).outcome == "retry"
    (message,) = queue.reserve("calls", None, 9)
    queue.ack(message.receipt or "")
    assert len(queue.reserve("calls", None, 9)) == 1


def test_places_are_found_again_over_many_rounds(queue: Session, connect: Connect, clock: Clock) -> None:
    fill(queue, number=0, max_reserved=3)
    workers = [connect() for _ in range(4)]
    for round_ in range(60):
        clock.advance(1)
        queue.push_many("calls", [{"payload": n} for n in range(5)])
        taken = [receipts(worker.reserve("calls", None, 2)) for worker in workers]
        assert [len(one) for one in taken] == [2, 1, 0, 0]
        assert outcomes(queue.ack_many(taken[0] + taken[1])) == ["acked"] * 3
        queue.pop("calls", 9)
        workers.append(workers.pop(round_ % 4))


def test_reaping_a_worker_frees_its_places(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=2)
    queue.heartbeat("w", kinds=["calls"], timeout_seconds=10)
    assert len(queue.reserve("calls", "w", 9)) == 2
    clock.advance(11)
    assert [one.freed for one in queue.reap()] == [2]
    assert len(queue.reserve("calls", "v", 9)) == 2


def rate_of(sessions: list[Session], clock: Clock, seconds: float, step: float, pop: bool, most: int) -> int:
    """Return how many the sessions get, each asking again at each step for as many."""
    number = 0
    for _ in range(round(seconds / step)):
        clock.advance(step)
        for session in sessions:
            if pop:
                number += len(session.pop("calls", most))
            else:
                taken = receipts(session.reserve("calls", None, most))
                number += len(taken)
                if taken:
                    session.ack_many(taken)
    return number


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize(
    ("rate", "sessions", "step", "most", "pop"),
    [
        (10, 3, 0.25, 1, False),
        (10, 3, 0.25, 7, True),
        (1.5, 2, 0.25, 1, False),
        (100, 4, 0.5, 30, False),
        (100, 3, 0.5, 100, True),
        (1000, 3, 1, 1000, True),
    ],
)
def test_in_a_minute_as_many_are_delivered_as_the_rate_says(
    queue: Session,
    connect: Connect,
    clock: Clock,
    rate: float,
    sessions: int,
    step: float,
    most: int,
    pop: bool,
) -> None:
    queue.define("calls", rate_per_second=rate)
    for start in range(0, int(rate * 70), 10_000):
        queue.push_many(
            "calls",
            [{"key": f"{n:06}", "payload": n} for n in range(start, min(start + 10_000, int(rate * 70)))],
        )
    everybody = [connect() for _ in range(sessions)]
    found = rate_of(everybody, clock, 60, step, pop, most)
    assert abs(found - 60 * rate) <= 0.02 * 60 * rate + 1


def test_after_a_pause_a_seconds_worth_comes_at_once(queue: Session, connect: Connect, clock: Clock) -> None:
    fill(queue, number=100, rate_per_second=10)
    assert len(queue.pop("calls", 100)) == 1, "it begins with one"
    clock.advance(100)
    first = len(queue.pop("calls", 5))
    assert first == 5
    assert first + len(connect().reserve("calls", None, 100)) in (8, 9, 10, 11)
    clock.advance(0.2)
    assert len(queue.reserve("calls", None, 100)) <= 4


def test_a_low_rate_gives_one_at_a_time(queue: Session, connect: Connect, clock: Clock) -> None:
    fill(queue, rate_per_second=0.1)
    assert len(queue.reserve("calls", None, 9)) == 1
    for _ in range(3):
        clock.advance(9.9)
        assert queue.reserve("calls") == connect().pop("calls") == []
        clock.advance(0.1)
        assert len(connect().reserve("calls", None, 9)) == 1
        assert queue.reserve("calls") == []


def test_what_finds_nothing_costs_nothing_of_the_rate(queue: Session, clock: Clock) -> None:
    fill(queue, number=0, rate_per_second=0.1)
    assert queue.reserve("calls") == queue.pop("calls", 9) == []
    queue.push("calls", "a", 1)
    assert keys(queue.pop("calls", 9)) == ["a"]
    clock.advance(10)
    assert queue.reserve("calls", None, 9) == []
    queue.push("calls", "b", 1)
    assert keys(queue.reserve("calls")) == ["b"]


def test_the_rate_counts_for_all_sessions_and_both_limits_hold(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    fill(queue, number=200, rate_per_second=4, max_reserved=3)
    everybody = [queue, *(connect() for _ in range(4))]
    taken: list[str] = []
    for _ in range(10):
        clock.advance(1)
        now = [receipt for one in everybody for receipt in receipts(one.reserve("calls", None, 2))]
        assert len(now) <= 3
        taken += now
        queue.ack_many(now)
    assert len(taken) == 30


def test_defining_the_same_rate_again_gives_nothing(queue: Session, clock: Clock) -> None:
    fill(queue, rate_per_second=1)
    assert len(queue.reserve("calls", None, 9)) == 1
    for _ in range(3):
        queue.define("calls", rate_per_second=1)
        assert queue.reserve("calls") == []
    queue.define("calls", rate_per_second=None)
    assert len(queue.reserve("calls", None, 9)) == 9
    assert clock


def test_a_clock_that_was_set_back_stops_nothing(queue: Session, connect: Connect, clock: Clock) -> None:
    fill(queue, rate_per_second=10)
    clock.advance(1)
    assert queue.pop("calls", 3)
    clock.advance(-3600)
    queue.push_many("calls", [{"payload": n, "priority": 9} for n in range(100)])
    other = connect()
    found = [len(queue.pop("calls", 100)) + len(other.pop("calls", 100))]
    for _ in range(3):
        clock.advance(1)
        found.append(len(queue.pop("calls", 100)) + len(other.pop("calls", 100)))
    assert found[0] <= 20
    assert all(8 <= one <= 12 for one in found[1:])


# a session takes some tokens ahead where the rate is high
@pytest.mark.parametrize(("rate", "seconds"), [(6400, 0.01), (10, 0.5)])
def test_a_clock_that_hops_gives_no_more_than_its_rate(
    queue: Session, clock: Clock, rate: float, seconds: float
) -> None:
    """Two nodes, or a step of NTP: the tokens of one stretch of time are given once."""
    fill(queue, number=400, rate_per_second=rate)
    number = 0
    for _ in range(20):
        clock.advance(seconds)
        number += len(queue.reserve("calls"))
        clock.advance(-seconds)
        number += len(queue.reserve("calls"))
    clock.advance(seconds)
    number += len(queue.reserve("calls", None, 400))
    assert rate * seconds - 1 <= number <= rate * seconds + 1


@each(
    ("option", "value"),
    [
        ("max_reserved", 0),
        ("max_reserved", 10_001),
        ("max_reserved", 1.5),
        ("max_reserved", "3"),
        ("rate_per_second", 0),
        ("rate_per_second", -1),
        ("rate_per_second", 1_000_001),
        ("rate_per_second", True),
    ],
)
def test_a_limit_that_is_none_is_refused(queue: Session, option: str, value: Any) -> None:
    with pytest.raises(InvalidOption, match=option):
        queue.define("calls", **{option: value})
    assert queue.define("calls").max_reserved is None


def test_who_waits_is_not_told_of_what_the_limit_holds_back(queue: Session, clock: Clock) -> None:
    fill(queue, max_reserved=1, timeout_seconds=5)
    assert queue.wait("calls", 0) == "calls"
    _, receipt = take(queue, "calls")
    assert queue.wait("calls", 0) is None
    queue.ack(receipt)
    assert queue.wait("calls", 0) == "calls"
    take(queue, "calls")
    assert queue.wait("calls", 0) is None
    clock.advance(5)
    assert queue.wait("calls", 0) == "calls"


def test_who_waits_is_told_when_there_is_a_token(queue: Session, clock: Clock) -> None:
    fill(queue, rate_per_second=2)
    while queue.pop("calls", 9):
        pass
    assert queue.wait("calls", 0) is None
    clock.advance(0.5)
    assert queue.wait("calls", 0) == "calls"


def test_an_error_of_a_caller_leaves_the_limits_as_they_are(queue: Session) -> None:
    fill(queue, max_reserved=2, rate_per_second=1000)
    with pytest.raises(QueueError):
        queue.reserve("calls", "", 1)
    assert state(queue, "calls", "000000") == "ready"
    assert SECOND


def test_what_a_session_took_ahead_of_one_kind_is_not_given_to_another(queue: Session, clock: Clock) -> None:
    for kind, rate in (("fast", 3200), ("slow", 1)):
        queue.define(kind, rate_per_second=rate)
        queue.push_many(kind, [{"payload": n} for n in range(9)])
    clock.advance(1)
    assert [len(queue.pop("fast")) for _ in range(2)] == [1, 1]
    assert len(queue.pop("slow", 9)) == 1


@pytest.mark.parametrize("rate", [5, 640])
def test_who_finds_nothing_keeps_no_tokens_from_others(
    queue: Session, connect: Connect, clock: Clock, rate: int
) -> None:
    """But for what a session takes ahead where the rate is high."""
    queue.define("mail", rate_per_second=rate)
    queue.push_many("mail", [{"key": str(number), "payload": {"tag": "x"}} for number in range(30)])
    other, seen = connect(), 0
    for _ in range(6):
        clock.advance(1)
        assert queue.reserve("mail", None, 10, where={"tag": "y"}) == []
        assert queue.pop("mail", 10, where={"tag": "y"}) == []
        seen += len(other.reserve("mail", None, 10))
    assert seen == 30
