"""Consumers that wake at once, rows A5, B4, B5, B6 and D7: whoever waits in the server."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import pytest

from pyqueue_sql import InvalidParameter
from tests.conformance.steps import keys, receipts, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

BEGUN_S = 0.3
"""In that time a wait has begun."""
AT_ONCE_S = 4.0
"""What is as long as that hasn't waited for a poll, however busy the machine."""
WAIT_S = 5
PATIENCE_S = 60


class Waiting(Protocol):
    """Waits for kinds in a session of its own in the course of a block, which may ask for the answer."""

    def __call__(
        self, kinds: str | Sequence[str], seconds: float = WAIT_S
    ) -> AbstractContextManager[Callable[[], str | None]]: ...


@pytest.fixture
def waiting(connect: Connect) -> Waiting:
    """Wait."""

    @contextmanager
    def wait(kinds: str | Sequence[str], seconds: float = WAIT_S) -> Iterator[Callable[[], str | None]]:
        session = connect()
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(session.wait, kinds, seconds)
            time.sleep(BEGUN_S)
            yield lambda: answer.result(AT_ONCE_S)

    return wait


def test_A5_the_run_loop_takes_processes_acknowledges_and_waits_where_nothing_is(
    queue: Session, connect: Connect
) -> None:
    consumer, processed, waits = connect(), list[str](), list[str | None]()

    def run() -> None:
        while len(processed) < 3:
            for message in consumer.reserve("mail"):
                processed.append(message.key)
                assert consumer.ack(message.receipt or "").outcome == "acked"
                break
            else:
                waits.append(consumer.wait("mail", WAIT_S))

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        for key in "abc":
            time.sleep(BEGUN_S)
            queue.push("mail", key, 1)
        running.result(PATIENCE_S)
    assert processed == ["a", "b", "c"]
    assert 3 <= len(waits) <= 6, "no poll loop"


def test_A5_the_wait_has_the_length_that_one_asks_for(queue: Session) -> None:
    for seconds in (0, 0.5):
        before = time.monotonic()
        assert queue.wait("mail", seconds) is None
        assert seconds <= time.monotonic() - before < seconds + AT_ONCE_S


def test_B4_who_waits_wakes_at_once_when_something_is_pushed(queue: Session, waiting: Waiting) -> None:
    with waiting("mail") as answer:
        queue.push("mail", "a", 1)
        assert answer() == "mail"
    assert keys(queue.reserve("mail")) == ["a"], "waiting takes nothing"


def test_B4_who_comes_when_something_is_there_waits_for_nothing(queue: Session) -> None:
    queue.push("mail", "a", 1)
    before = time.monotonic()
    assert queue.wait("mail", WAIT_S) == "mail"
    assert time.monotonic() - before < AT_ONCE_S


def test_B4_many_who_wait_all_wake(queue: Session, waiting: Waiting) -> None:
    with waiting("mail") as first, waiting("mail") as second, waiting(["mail", "other"]) as third:
        queue.push("mail", "a", 1)
        assert [first(), second(), third()] == ["mail"] * 3


def test_B4_a_push_that_is_not_committed_wakes_nobody(
    queue: Session, connect: Connect, waiting: Waiting
) -> None:
    producer = connect(autocommit=False)
    with waiting("mail") as answer:
        producer.push("mail", "a", 1)
        assert queue.wait("mail", 0) is None
        producer.commit()
        assert answer() == "mail"


def test_B4_what_falls_due_wakes_without_a_push(queue: Session, clock: Clock, waiting: Waiting) -> None:
    queue.push("mail", "a", 1, delay_seconds=60)
    with waiting("mail") as answer:
        assert queue.wait("mail", 0) is None
        clock.advance(60)
        assert answer() == "mail"


def test_B4_a_hold_that_ends_wakes_without_a_push(queue: Session, clock: Clock, waiting: Waiting) -> None:
    queue.push("mail", "a", 1)
    take(queue, "mail", timeout_seconds=60)
    with waiting("mail") as answer:
        assert queue.wait("mail", 0) is None
        clock.advance(60)
        assert answer() == "mail"


def test_B4_what_is_given_back_wakes(queue: Session, waiting: Waiting) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    with waiting("mail") as answer:
        queue.nack(receipt)
        assert answer() == "mail"


@pytest.mark.parametrize("gap_ms", range(0, 70, 10))
def test_B5_none_of_those_pushed_one_after_another_waits_for_the_poll(
    queue: Session, connect: Connect, gap_ms: int
) -> None:
    consumer, taken = connect(), dict[str, float]()

    def consume() -> None:
        while len(taken) < 4:
            consumer.wait("mail", WAIT_S)
            taken.update(dict.fromkeys(keys(consumer.pop("mail", 10)), time.monotonic()))

    pushed: dict[str, float] = {}
    with ThreadPoolExecutor(1) as pool:
        consuming = pool.submit(consume)
        time.sleep(BEGUN_S)
        for key in "abcd":
            queue.push("mail", key, 1)
            pushed[key] = time.monotonic()
            time.sleep(gap_ms / 1000)
        consuming.result(PATIENCE_S)
    assert [key for key in pushed if taken[key] - pushed[key] > AT_ONCE_S] == []


def test_B6_pause_and_resume_reach_those_who_wait(queue: Session, waiting: Waiting) -> None:
    queue.pause("mail")
    queue.push("mail", "a", 1)
    assert queue.wait("mail", 0) is None, "a paused kind has nothing"
    with waiting("mail") as answer:
        queue.resume("mail")
        assert answer() == "mail"


def test_D7_who_waits_for_several_kinds_learns_where_to_look(queue: Session, waiting: Waiting) -> None:
    with waiting(["mail", "sms", "letters"]) as answer:
        queue.push("elsewhere", "a", 1)
        queue.push("sms", "a", 1)
        assert answer() == "sms"


def test_D7_of_several_that_have_something_the_first_is_the_answer(queue: Session) -> None:
    for kind in ("mail", "sms"):
        queue.push(kind, "a", 1)
    assert [queue.wait(kinds, 0) for kinds in (["mail", "sms"], ["sms", "mail"])] == ["mail", "sms"]


@each("kinds", [[], [""], ["k" * 101], ["k"] * 101, "", ["mail", 1], [None]])
def test_what_is_no_kind_is_refused(queue: Session, kinds: list[str]) -> None:
    with pytest.raises(InvalidParameter, match="kinds"):
        queue.wait(kinds, 0)


@pytest.mark.parametrize("seconds", [-1, 301])
def test_a_wait_of_no_length_is_refused(queue: Session, seconds: float) -> None:
    with pytest.raises(InvalidParameter, match="timeout_seconds"):
        queue.wait("mail", seconds)


@pytest.mark.needs("listen")
def test_B4_who_listens_learns_what_is_ready_and_when_to_look_again(queue: Session, clock: Clock) -> None:
    queue.push("ready", "a", 1)
    queue.push("later", "a", 1, delay_seconds=60)
    queue.push("held", "a", 1)
    queue.push("paused", "a", 1)
    queue.pause("paused")
    assert receipts(queue.reserve("held", None, timeout_seconds=30))
    seen = queue.listen(["ready", "later", "held", "paused", "nothing"])
    assert [(one.kind, one.ready, one.next_seconds) for one in seen] == [
        ("ready", True, None),
        ("later", False, 60),
        ("held", False, 30),
        ("paused", False, None),
        ("nothing", False, None),
    ]
    assert [one.next_at for one in queue.listen("later")] == [clock.now + 60_000_000]
    assert len({one.channel for one in seen}) <= 5


@pytest.mark.needs("listen")
def test_D5_who_listens_looks_again_once_who_was_told_of_room_has_not_taken_it(
    queue: Session, clock: Clock
) -> None:
    queue.semaphore("s", 1)
    for kind, key in (("k", "a"), ("k", "b"), ("other", "c")):
        queue.push(kind, key, 1, semaphores=["s"])
    assert queue.ack(receipts(queue.reserve("k"))[0]).outcome == "acked"
    assert [(one.ready, one.next_seconds) for one in queue.listen("other")] == [(False, 1)]
    clock.advance(1)
    assert [one.ready for one in queue.listen("other")] == [True]
    assert keys(queue.reserve("other")) == ["c"]
