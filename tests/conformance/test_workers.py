"""Row D4: workers have an identity; what a dead one held is free at once, and a slow living one keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, Reaped, to_datetime
from tests.conformance.steps import keys, receipts, state, take
from tests.rules import each
from tests.worker.helpers import until

if TYPE_CHECKING:
    from pyqueue_sql import WorkerState
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

ERROR = "worker w is gone"


def hold(queue: Session, worker: str, *names: str, kind: str = "job") -> list[str]:
    """Push messages and let a worker reserve them; return the receipts."""
    for name in names:
        queue.push(kind, name, name)
    messages = queue.reserve(kind, worker, len(names))
    assert keys(messages) == [*names]
    return receipts(messages)


def by_the_way(queue: Session) -> int:
    """Reserve so often that one call reaps by the way; none does once in 800 million times.

    Returns:
        How many messages came.
    """
    return sum(len(queue.reserve("elsewhere")) for _ in range(400))


def reap_soon(queue: Session) -> list[Reaped]:
    """Reap as a worker does that is asked to, until the server has seen the end of a session."""
    return until(queue.reap)


def of(queue: Session, worker: str) -> WorkerState:
    """Return a worker as it is seen."""
    [found] = [one for one in queue.workers() if one.worker == worker]
    return found


def test_D4_what_a_dead_worker_held_is_free_at_once(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10, kinds=["job"])
    hold(queue, "w", "a", "b")
    clock.advance(9)
    assert queue.reap() == []
    clock.advance(1)
    assert queue.reap() == [Reaped("w", 2)]
    assert (queue.workers(), queue.reap()) == ([], [])
    assert keys(queue.reserve("job", "other", 10)) == ["a", "b"]


def test_D4_what_was_pushed_onto_what_a_dead_worker_held_is_there_at_once(
    queue: Session, clock: Clock
) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "w", "a")
    assert queue.push("job", "a", "newer", on_duplicate="replace").outcome == "held"
    clock.advance(10)
    assert queue.reap() == [Reaped("w", 1)]
    message = queue.get("job", "a")
    assert message
    assert (message.payload, message.state, message.attempts, message.errors) == ("newer", "ready", 0, ())


def test_D4_a_slow_worker_that_lives_keeps_what_it_holds(queue: Session, clock: Clock) -> None:
    hold(queue, "w", "a")
    for _ in range(10):
        queue.heartbeat("w", timeout_seconds=10)
        clock.advance(9)
        assert queue.reap() == []
    assert state(queue, "job", "a") == "reserved"


def test_D4_who_never_registered_is_left_to_the_timeout(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "stranger", "a")
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 0)]
    assert state(queue, "job", "a") == "reserved"
    clock.advance(300)
    assert state(queue, "job", "a") == "expired"


def test_D4_a_worker_is_free_to_hold_messages_of_any_kind(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    for kind in ("job", "mail", "x"):
        hold(queue, "w", "a", kind=kind)
    hold(queue, "living", "b")
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 3)]
    assert [state(queue, kind, "a") for kind in ("job", "mail", "x")] == ["ready"] * 3
    assert state(queue, "job", "b") == "reserved"


def test_D4_what_is_not_its_own_keeps_no_dead_worker_registered(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "stranger", "b")
    hold(queue, "w", "a")
    queue.push("job", "later", "later", delay_seconds=100)
    clock.advance(10)
    assert queue.reap() == [Reaped("w", 1)]
    assert (queue.workers(), state(queue, "job", "b")) == ([], "reserved")


def test_D4_the_kinds_that_it_names_are_where_is_looked(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10, kinds=["job", "mail"])
    for kind in ("job", "x"):
        hold(queue, "w", "a", kind=kind)
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 1)]
    assert [state(queue, kind, "a") for kind in ("job", "x")] == ["ready", "reserved"]


def test_D4_a_lost_session_is_a_dead_worker(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    worker = connect()
    beats = [worker.heartbeat("w", session=True) for _ in range(2)]
    assert [(one.alive, one.expires_at) for one in beats] == [(True, None)] * 2
    hold(worker, "w", "a")
    clock.advance(100)
    assert [one.reap() for one in (worker, queue)] == [[], []], "silent, but the session is there"
    assert (of(queue, "w").by_session, of(worker, "w").alive) == (True, True)
    harness.terminate(worker)
    assert reap_soon(queue) == [Reaped("w", 1)]
    assert keys(queue.reserve("job")) == ["a"]


def test_D4_a_worker_that_comes_back_in_a_new_session_lives(
    connect: Connect, queue: Session, harness: Harness
) -> None:
    first, second = connect(), connect()
    first.heartbeat("w", session=True)
    hold(first, "w", "a")
    harness.terminate(first)
    second.heartbeat("w", session=True)
    assert queue.reap() == []
    assert state(queue, "job", "a") == "reserved"
    second.close()
    assert reap_soon(queue) == [Reaped("w", 1)]


def test_D4_a_worker_that_may_reconnect_is_not_dead_before_that(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    lost, second = connect(), connect()
    lost.heartbeat("w", session=True, timeout_seconds=30, reconnect_seconds=5)
    hold(lost, "w", "a")
    harness.terminate(lost)
    until(lambda: not of(queue, "w").alive)
    assert (queue.reap(), of(queue, "w").by_session, of(queue, "w").alive) == ([], False, True)
    clock.advance(4.9)
    assert queue.reap() == []
    second.heartbeat("w", session=True)
    clock.advance(100)
    assert (queue.reap(), of(queue, "w").by_session, state(queue, "job", "a")) == ([], True, "reserved")
    harness.terminate(second)
    until(lambda: not of(queue, "w").alive)
    assert queue.reap() == []
    clock.advance(5)
    assert queue.reap() == [Reaped("w", 1)]


def test_D4_to_reconnect_takes_its_timeout_at_the_most(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    lost = connect()
    lost.heartbeat("w", session=True, timeout_seconds=10, reconnect_seconds=60)
    harness.terminate(lost)
    until(lambda: not of(queue, "w").alive)
    assert queue.reap() == []
    clock.advance(9.9)
    assert queue.reap() == []
    clock.advance(0.1)
    assert queue.reap() == [Reaped("w", 0)]


def test_D4_a_new_session_presumes_nobody_dead_by_the_way(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    worker, fresh = connect(), connect()
    worker.heartbeat("w", session=True, timeout_seconds=20)
    queue.push("job", "a", 1)
    assert keys(worker.reserve("job", "w", timeout_seconds=3600)) == ["a"]
    harness.terminate(worker)
    for seconds in (0, 19):
        clock.advance(seconds)
        by_the_way(fresh)
        assert state(queue, "job", "a") == "reserved", "others may have lost their sessions as well"
    clock.advance(2)
    by_the_way(fresh)
    assert state(queue, "job", "a") == "ready"


def test_D4_from_a_session_to_a_heartbeat_and_back(queue: Session, connect: Connect, clock: Clock) -> None:
    worker = connect()
    assert worker.heartbeat("w", session=True, timeout_seconds=10).expires_at is None
    assert worker.heartbeat("w").expires_at == clock.now + 10_000_000
    clock.advance(11)
    assert of(queue, "w").alive is False
    assert worker.heartbeat("w", session=True).alive is True
    assert of(queue, "w").alive is True


def test_D4_a_heartbeat_that_is_rolled_back_changes_nothing(queue: Session, connect: Connect) -> None:
    worker, second = connect(autocommit=False), connect()
    for name in ("v", "w"):
        worker.heartbeat(name, session=True)
        hold(worker, name, name)
    worker.commit()
    options: list[dict[str, Any]] = [{"stop": True}, {}, {"session": True}]
    for given in options:
        worker.heartbeat("w", **given)
        worker.rollback()
        assert queue.reap() == []
        assert [(one.by_session, one.alive) for one in queue.workers()] == [(True, True)] * 2
    second.heartbeat("w", session=True)
    worker.close()
    assert reap_soon(queue) == [Reaped("v", 1)]
    assert (of(queue, "w").alive, state(queue, "job", "w")) == (True, "reserved")


def test_D4_who_leaves_in_good_order_is_forgotten(queue: Session, connect: Connect, clock: Clock) -> None:
    worker = connect()
    worker.heartbeat("w", session=True)
    hold(worker, "w", "a")
    for _ in range(2):
        left = worker.heartbeat("w", stop=True)
        assert (left.alive, left.expires_at, left.reaps) == (False, None, False)
    assert (queue.workers(), queue.reap()) == ([], [])
    assert state(queue, "job", "a") == "reserved", "left to the timeout"
    clock.advance(300)
    assert state(queue, "job", "a") == "expired"


def test_D4_one_that_was_reaped_registers_anew(queue: Session, clock: Clock) -> None:
    began = queue.heartbeat("w", timeout_seconds=10, kinds=["job"]).started_at
    hold(queue, "w", "a")
    clock.advance(11)
    queue.reap()
    back = queue.heartbeat("w")
    assert (back.started_at, back.started_at - began) == (clock.now, 11_000_000)
    assert of(queue, "w").kinds is None
    assert queue.reap() == []


def test_D4_one_that_comes_back_from_the_dead_starts_anew_and_stands_last(
    queue: Session, clock: Clock
) -> None:
    for name in ("late", "y", "z"):
        queue.heartbeat(name, timeout_seconds=10 if name == "late" else 60)
        clock.advance(1)
    clock.advance(11)
    assert [queue.heartbeat(name).reaps for name in ("y", "z")] == [True, True]
    back = queue.heartbeat("late")
    assert (back.started_at, back.reaps, of(queue, "late").started_at) == (
        clock.now,
        False,
        to_datetime(clock.now),
    )


def test_D4_a_freed_message_has_lost_its_receipt_and_an_attempt(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    [receipt] = hold(queue, "w", "a")
    clock.advance(11)
    queue.reap()
    assert [queue.ack(receipt).outcome, queue.extend(receipt, 1).outcome] == ["lost", "lost"]
    message, _ = take(queue, "job")
    assert message.attempts == 2
    [stats] = queue.stats("job")
    assert (stats.expired_total, stats.reserved_total, stats.nacked_total) == (1, 2, 0)


def test_D4_a_freed_message_says_why(queue: Session, clock: Clock) -> None:
    queue.define("job", history_seconds=1000)
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "w", "a")
    clock.advance(11)
    queue.reap()
    _, receipt = take(queue, "job")
    queue.ack(receipt)
    [ended] = queue.history("job")
    assert [(one["error"], one["by"], one["attempt"]) for one in ended.errors] == [(ERROR, "w", 1)]


def test_D4_the_last_delivery_of_a_dead_worker_makes_a_dead_letter(queue: Session, clock: Clock) -> None:
    queue.define("job", max_attempts=1)
    queue.define("job.dead", history_seconds=1000)
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "w", "a")
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 1)]
    assert queue.get("job", "a") is None
    _, receipt = take(queue, "job.dead")
    queue.ack(receipt)
    [ended] = queue.history("job.dead")
    assert [one["error"] for one in ended.errors] == [ERROR]
    [stats] = queue.stats("job")
    assert (stats.dead_total, stats.expired_total) == (1, 1)


def test_D4_in_a_paused_kind_nothing_dies_of_the_end_of_its_worker(queue: Session, clock: Clock) -> None:
    queue.define("job", max_attempts=1)
    queue.heartbeat("w", timeout_seconds=10)
    for key in "ab":
        hold(queue, "w", key)
    queue.push("job", "b", "newer", on_duplicate="replace")
    queue.pause("job")
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 2)]
    assert ([one.key for one in queue.peek("job", 9)], queue.peek("job.dead")) == (["a", "b"], [])
    queue.resume("job")
    assert [(one.key, one.payload) for one in queue.reserve("job", None, 9)] == [("b", "newer")]
    assert [one.key for one in queue.peek("job.dead")] == ["a"]


def test_D4_what_was_pushed_meanwhile_comes_in_its_place(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "w", "a")
    assert queue.push("job", "a", "newest", on_duplicate="replace").outcome == "held"
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 1)]
    message, _ = take(queue, "job")
    assert (message.payload, message.attempts) == ("newest", 1)


def test_D4_an_expired_hold_of_a_dead_worker_stays_as_it_is(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    queue.push("job", "a", 1)
    [message] = queue.reserve("job", "w", timeout_seconds=5)
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 0)]
    assert queue.ack(message.receipt or "").outcome == "acked", "until somebody else has got it"


@pytest.mark.parametrize("kinds", [None, ["job"]], ids=["any kind", "its kinds"])
def test_D4_a_dead_worker_whose_hold_ends_at_that_moment_is_forgotten_at_once(
    queue: Session, clock: Clock, kinds: list[str] | None
) -> None:
    queue.heartbeat("w", timeout_seconds=10, kinds=kinds)
    queue.push("job", "a", 1)
    assert queue.reserve("job", "w", timeout_seconds=10)
    clock.advance(10)
    assert queue.reap() == [Reaped("w", 0)]
    assert queue.workers() == []


def test_D4_one_call_frees_a_bounded_number(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    queue.push_many("job", [{"payload": number} for number in range(1200)])
    assert len(queue.reserve("job", "w", 1200)) == 1200
    clock.advance(11)
    assert [queue.reap(), queue.reap(), queue.reap()] == [[Reaped("w", 1000)], [Reaped("w", 200)], []]
    assert queue.stats("job")[0].ready == 1200


def test_D4_what_another_has_locked_is_freed_by_the_next_call(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    for worker in ("v", "w"):
        queue.heartbeat(worker, timeout_seconds=10)
    queue.push_many("job", [{"key": key, "payload": 1} for key in "abc"])
    for worker in ("v", "w"):
        assert len(queue.reserve("job", worker, timeout_seconds=3600)) == 1
    other = connect(autocommit=False)
    other.push("job", "a", 2, on_duplicate="replace")
    clock.advance(11)
    assert queue.reap() == [Reaped("w", 1)], "who holds what is locked is not yet forgotten"
    assert queue.reap() == []
    other.commit()
    assert queue.reap() == [Reaped("v", 1)]
    assert sorted(keys(queue.reserve("job", None, 9))) == ["a", "b", "c"]


def test_D4_any_reserve_frees_a_little_by_the_way(queue: Session, clock: Clock) -> None:
    queue.heartbeat("w", timeout_seconds=10)
    hold(queue, "w", "a")
    found = by_the_way(queue)
    clock.advance(10)  # that long to the microsecond
    assert (by_the_way(queue), found, queue.workers()) == (0, 0, [])
    assert state(queue, "job", "a") == "ready"


@pytest.mark.parametrize("most", [1, 2])
def test_D4_who_reserves_keeps_what_it_gets_however_late_its_heartbeat_is(
    queue: Session, clock: Clock, most: int
) -> None:
    queue.define("job", max_attempts=1)
    for _ in range(150):
        queue.push("job", "a")
        queue.heartbeat("w", timeout_seconds=1, kinds=["job"])
        clock.advance(10)
        (message,) = queue.reserve("job", "w", most)
        assert queue.ack(message.receipt).outcome == "acked"


def test_D4_a_worker_shows_what_it_says_of_itself(queue: Session, clock: Clock) -> None:
    started = clock.now
    queue.heartbeat("w", info={"host": "a", "pid": 7}, kinds=["job"], timeout_seconds=20)
    hold(queue, "w", "a", "b")
    clock.advance(5)
    beat = queue.heartbeat("w")
    assert (beat.worker, beat.alive, beat.started_at) == ("w", True, started)
    assert (beat.heartbeat_at, beat.expires_at) == (clock.now, clock.now + 20_000_000)
    seen = of(queue, "w")
    assert (seen.kinds, seen.info, seen.timeout_seconds) == (["job"], {"host": "a", "pid": 7}, 20)
    assert (seen.by_session, seen.alive, seen.reserved) == (False, True, 2)
    assert (seen.started_at, seen.heartbeat_at) == (to_datetime(started), to_datetime(clock.now))
    clock.advance(21)
    assert of(queue, "w").alive is False


def test_D4_two_of_the_living_are_asked_to_reap(queue: Session, clock: Clock) -> None:
    for name in ("z", "y", "x"):
        queue.heartbeat(name, timeout_seconds=10)
        clock.advance(1)
    assert [queue.heartbeat(name).reaps for name in ("z", "y", "x")] == [True, True, False]
    clock.advance(9)
    queue.heartbeat("z", stop=True)
    assert [queue.heartbeat(name).reaps for name in ("x", "y")] == [True, True]


def test_one_without_upkeep_is_never_asked_and_stands_in_nobodys_way(queue: Session, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        assert queue.heartbeat(name, upkeep=False).reaps is False
        clock.advance(1)
    assert [queue.heartbeat(name).reaps for name in ("d", "e", "f")] == [True, True, False]
    assert queue.heartbeat("a").reaps is False, "it stays as it is"
    assert queue.heartbeat("a", upkeep=True).reaps is True, "and it is the oldest"
    assert queue.heartbeat("e").reaps is False


@each(
    ("options", "error"),
    [
        ({"timeout_seconds": 0.5}, InvalidOption),
        ({"timeout_seconds": 86401}, InvalidOption),
        ({"session": 1}, InvalidOption),
        ({"reconnect_seconds": -1}, InvalidOption),
        ({"reconnect_seconds": 86401}, InvalidOption),
        ({"stop": "yes"}, InvalidOption),
        ({"unknown": 1}, InvalidOption),
        ({"kinds": []}, InvalidParameter),
        ({"kinds": [1]}, InvalidParameter),
        ({"info": {"a": {"b": 1}}}, InvalidPayload),
        ({"info": 1}, InvalidPayload),
    ],
)
def test_what_a_worker_cannot_say_is_refused(
    queue: Session, options: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        queue.heartbeat("w", **options)  # pyright: ignore[reportArgumentType]
    assert queue.workers() == []


@pytest.mark.parametrize("worker", ["", "w" * 201])
def test_a_worker_has_a_name(queue: Session, worker: str) -> None:
    with pytest.raises(InvalidParameter, match="worker"):
        queue.heartbeat(worker)


def test_a_heartbeat_of_before_the_clock_was_set_back_counts_from_then_on(
    queue: Session, clock: Clock
) -> None:
    """Who is dead would else be alive for as long, and stand in the way of who does the upkeep."""
    for name in ("a", "b"):
        queue.heartbeat(name, timeout_seconds=7200, kinds=["job"])
    clock.advance(3600)
    for name in ("a", "b"):
        queue.heartbeat(name, timeout_seconds=10)
    hold(queue, "a", "x")
    clock.advance(-3600)
    assert queue.heartbeat("c", timeout_seconds=10).reaps
    assert queue.reap() == [], "nobody is presumed dead"
    clock.advance(9)
    assert queue.heartbeat("c").reaps is False, "the others are there again"
    assert queue.reap() == []
    clock.advance(1)
    assert queue.reap() == [Reaped("a", 1), Reaped("b", 0)]
    assert keys(queue.reserve("job")) == ["x"]
