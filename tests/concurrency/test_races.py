"""Several sessions at once, in real time: what each of them may see, and that none of them deadlocks."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pytest

from pyqueue_sql import Refused
from tests.conformance.steps import die, drain, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

T = TypeVar("T")
ROUNDS = 60
PATIENCE_S = 60
LOCKED_S = 10
"""Who waits for a lock here has waited longer when it gives up."""


def test_two_consumers_race_and_each_message_goes_to_one(queue: Session, connect: Connect) -> None:
    queue.push_many("mail", [{"key": f"{number:03}", "payload": 0} for number in range(400)])
    racers = [connect() for _ in range(4)]

    def consume(racer: Session) -> list[str]:
        seen: list[str] = []
        while found := racer.reserve("mail", None, 3):
            seen += keys(found)
        return seen

    seen = [
        key for taken in together([lambda racer=racer: consume(racer) for racer in racers]) for key in taken
    ]
    assert len(seen) == 400
    assert len(set(seen)) == 400


def test_one_message_and_many_who_want_it(queue: Session, connect: Connect) -> None:
    racers = [connect() for _ in range(4)]
    for number in range(ROUNDS):
        queue.push("mail", f"{number}", 0)
        taken = together([lambda racer=racer: racer.reserve("mail") for racer in racers])
        assert sorted(map(len, taken)) == [0, 0, 0, 1]


def test_of_many_pops_one_gets_the_message(queue: Session, connect: Connect) -> None:
    racers = [connect() for _ in range(4)]
    for number in range(ROUNDS):
        queue.push("mail", f"{number}", 0)
        taken = together([lambda racer=racer: racer.pop("mail") for racer in racers])
        assert sorted(map(len, taken)) == [0, 0, 0, 1]


def test_an_expired_message_goes_to_one_of_those_who_wait_for_it(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 0)
    take(queue, "mail", timeout_seconds=0.2)
    racers = [connect() for _ in range(3)]
    ends = [time.monotonic() + PATIENCE_S]

    def wait(racer: Session) -> int:
        took = 0
        while time.monotonic() < min(ends):
            if racer.reserve("mail", timeout_seconds=300):
                took += 1
                ends.append(time.monotonic() + 0.3)  # for the others to take it, too
        return took

    assert sum(together([lambda racer=racer: wait(racer) for racer in racers])) == 1


def test_nobody_waits_for_an_open_transaction(queue: Session, connect: Connect) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(6)])
    slow = connect(autocommit=False)
    held = slow.reserve("mail", None, 2)
    slow.ack(receipts(held)[0])
    before = time.monotonic()
    assert keys(queue.reserve("mail", None, 2)) == ["2", "3"]
    assert keys(queue.pop("mail", 2)) == ["4", "5"]
    assert queue.reserve("mail") == []
    assert time.monotonic() - before < LOCKED_S
    slow.commit()
    assert state(queue, "mail", "0") is None
    assert state(queue, "mail", "1") == "reserved"


@pytest.mark.parametrize("keeps", [False, True], ids=["", "history"])
def test_batches_of_different_messages_of_one_kind_dont_wait_for_each_other(
    queue: Session, connect: Connect, keeps: bool
) -> None:
    queue.define("mail", history_seconds=3600 if keeps else 0)
    queue.push_many("mail", [{"key": f"{number:02}", "payload": 0} for number in range(16)])
    held = receipts(queue.reserve("mail", None, 16))
    slow = connect(autocommit=False)
    before = time.monotonic()
    for session, mine in ((slow, held[:8]), (queue, held[8:])):
        assert outcomes(session.extend_many(mine[:2], 60)) == ["extended"] * 2
        assert outcomes(session.ack_many(mine[2:4])) == ["acked"] * 2
        assert outcomes(session.nack_many(mine[4:6])) == ["retry"] * 2
        moves = [{"receipt": receipt, "to_kind": "letters"} for receipt in mine[6:]]
        assert outcomes(session.move_many(moves)) == ["moved"] * 2
    assert time.monotonic() - before < LOCKED_S
    slow.commit()


def test_a_reserve_that_is_rolled_back_gives_the_messages_back_at_once(
    queue: Session, connect: Connect
) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abc"])
    other = connect(autocommit=False)
    undone: list[str] = []
    for _ in range(5):
        taken = other.reserve("mail", None, 3)
        assert keys(taken) == ["a", "b", "c"]
        undone += receipts(taken)
        other.rollback()
    again = queue.reserve("mail", None, 3)
    assert [(message.key, message.attempts) for message in again] == [("a", 1), ("b", 1), ("c", 1)]
    assert outcomes(other.ack_many(undone)) == ["lost"] * 15, "those deliveries never were"


@pytest.mark.parametrize(("end", "outcome"), [("commit", "ignored"), ("rollback", "created")])
def test_a_push_of_a_key_that_another_is_pushing(
    queue: Session, connect: Connect, end: str, outcome: str
) -> None:
    first = connect(autocommit=False)
    first.push("mail", "a", "first")
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(queue.push, "mail", "a", "second")
        time.sleep(0.1)
        getattr(first, end)()
        assert second.result(10).outcome == outcome
    assert take(queue, "mail")[0].payload == ("first" if outcome == "ignored" else "second")


def test_of_many_pushes_of_one_key_one_creates(queue: Session, connect: Connect) -> None:
    producers = [connect() for _ in range(4)]
    for number in range(ROUNDS):
        pushed = together([lambda p=p, n=number: p.push("mail", f"{n}", 0) for p in producers])
        assert sorted(outcomes(pushed)) == ["created", "ignored", "ignored", "ignored"]
    assert len(drain(queue, "mail")) == ROUNDS


def test_batches_that_overlap_dont_deadlock(connect: Connect) -> None:
    producers = [connect() for _ in range(4)]
    for number in range(10):
        batch = [{"key": f"{number}-{place}", "payload": 0} for place in range(100)]
        orders = [batch, batch[::-1], batch[50:] + batch[:50], batch[1::2] + batch[::2]]
        answers = together(
            [lambda p=p, b=b: p.push_many("mail", b) for p, b in zip(producers, orders, strict=True)]
        )
        created = [answer.key for pushed in answers for answer in pushed if answer.outcome == "created"]
        assert sorted(created) == sorted(message["key"] for message in batch)


@pytest.mark.parametrize("mode", ["replace", "keep_time"])
def test_the_newest_push_is_never_lost_to_an_ack(queue: Session, connect: Connect, mode: str) -> None:
    producer, stop = connect(), threading.Event()
    seen: list[int] = []

    def produce() -> None:
        try:
            for number in range(300):
                producer.push("mail", "a", number, on_duplicate=mode)  # type: ignore[arg-type]
        finally:
            stop.set()

    def consume() -> None:
        while not stop.is_set() or queue.peek("mail"):
            for message in queue.reserve("mail"):
                seen.append(message.payload)
                assert message.receipt
                assert queue.ack(message.receipt).outcome == "acked"

    together([produce, consume])
    assert seen[-1] == 299
    assert seen == sorted(set(seen)), "never an older one after a newer one, and none twice"


def test_of_two_acks_of_one_delivery_one_counts(queue: Session, connect: Connect) -> None:
    rivals = [connect() for _ in range(3)]
    for number in range(ROUNDS):
        queue.push("mail", f"{number}", 0)
        _, receipt = take(queue, "mail")
        calls: list[Callable[[], str]] = [
            lambda r=receipt: rivals[0].ack(r).outcome,
            lambda r=receipt: rivals[1].ack_many([r])[0].outcome,
            lambda r=receipt: rivals[2].move(r, "next").outcome,
        ]
        answers = together(calls)
        assert sorted(answers)[-2:] in (["lost", "lost"], ["lost", "moved"])
        assert answers.count("lost") == 2
    assert queue.peek("mail") == []


@pytest.mark.parametrize(
    "late",
    ["just now", pytest.param("long ago", marks=pytest.mark.long)],
)
def test_what_is_committed_late_is_found_while_others_keep_coming(
    queue: Session, connect: Connect, late: str
) -> None:
    producer = connect(autocommit=False)
    producer.push("mail", "late", 0)
    consumer = connect()
    for number in range(150):
        queue.push("mail", f"{number:03}", 0)
        assert work_off(consumer) == [f"{number:03}"]
    if late == "long ago":
        time.sleep(4)
        queue.push_many("mail", [{"key": f"backlog {number}", "payload": 0} for number in range(500)])
        work_off(consumer)
    producer.commit()
    deadline, number = time.monotonic() + PATIENCE_S, 0
    while "late" not in work_off(consumer):
        assert time.monotonic() < deadline, "it isn't found while there is other work"
        queue.push("mail", f"more {number}", 0)
        number += 1


def test_what_is_committed_late_is_found_at_once_where_nothing_else_is(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    clock.nothing_takes_time()  # after a look back that was slow the next one comes later
    producer = connect(autocommit=False)
    for number in range(20):
        producer.push("mail", f"late {number}", 0, delay_seconds=0.01 if number % 2 else 0)
        queue.push("mail", f"{number}", 0)
        assert work_off(queue) == [f"{number}"]
        clock.advance(0.02)
        producer.commit()
        assert work_off(queue) == [f"late {number}"]


def test_moves_in_opposite_directions_dont_deadlock(queue: Session, connect: Connect) -> None:
    queue.push_many("a", [{"key": f"{number:03}", "payload": 0} for number in range(60)])
    queue.push_many("b", [{"key": f"{number:03}", "payload": 0} for number in range(100, 160)])
    deadline, moved = time.monotonic() + PATIENCE_S, [0] * 4

    def shift(number: int, source: str, target: str) -> None:
        session = connect()
        while min(moved) < 200:
            assert time.monotonic() < deadline, moved
            batch = receipts(session.reserve(source, None, 20))[::-1]
            answers = session.move_many([{"receipt": receipt, "to_kind": target} for receipt in batch])
            assert set(outcomes(answers)) <= {"moved"}
            moved[number] += len(answers)

    ways = [("a", "b"), ("a", "b"), ("b", "a"), ("b", "a")]
    together([lambda n=n, way=way: shift(n, *way) for n, way in enumerate(ways)])
    everything = keys(drain(queue, "a")) + keys(drain(queue, "b"))
    assert len(everything) == len(set(everything)) == 120


def test_of_two_moves_that_cross_one_message_stays(queue: Session, connect: Connect) -> None:
    there, back = connect(), connect()
    batch = [{"key": f"{number}", "payload": 0} for number in range(10)]
    for _ in range(ROUNDS):
        queue.push_many("a", batch)
        queue.push_many("b", batch)
        to_b = [{"receipt": r, "to_kind": "b"} for r in receipts(queue.reserve("a", None, 10))]
        to_a = [{"receipt": r, "to_kind": "a"} for r in receipts(queue.reserve("b", None, 10))][::-1]
        together([lambda moves=to_b: there.move_many(moves), lambda moves=to_a: back.move_many(moves)])
        left = [*drain(queue, "a"), *drain(queue, "b")]
        assert sorted(keys(left)) == sorted(message["key"] for message in batch)
        queue.ack_many(receipts(left))


def test_deaths_and_redrives_of_one_key_dont_deadlock_and_lose_nothing(
    queue: Session, connect: Connect
) -> None:
    undertaker, operator = connect(), connect()
    for number in range(ROUNDS):
        die(queue, "mail", f"{number}", "older")
        queue.push("mail", f"{number}", "newer")
        _, receipt = take(queue, "mail")
        together([lambda r=receipt: undertaker.nack(r, final=True), lambda: operator.redrive("mail.dead")])
        left = [message.payload for kind in ("mail", "mail.dead") for message in queue.peek(kind)]
        assert sorted(left) == ["newer", "older"]
        queue.purge("mail")
        queue.purge("mail.dead")


def test_remove_and_reserve_of_one_message_agree(queue: Session, connect: Connect) -> None:
    operator = connect()
    for number in range(ROUNDS):
        key = f"{number}"
        queue.push("mail", key, 0)
        removed, reserved = together(
            [lambda k=key: operator.remove("mail", k), lambda: ",".join(keys(queue.reserve("mail")))]
        )
        assert (removed, reserved) in (("removed", ""), ("held", key))


def test_drop_and_reserve_of_one_kind_agree(queue: Session, connect: Connect) -> None:
    consumer = connect()

    def drop() -> list[str]:
        try:
            return [queue.drop("mail").kind]
        except Refused:
            return []

    for number in range(ROUNDS):
        queue.push("mail", f"{number}", 0)
        dropped, reserved = together([drop, lambda: receipts(consumer.reserve("mail"))])
        assert bool(dropped) != bool(reserved), "a kind is dropped or its message is held"
        assert outcomes(consumer.ack_many(reserved)) == ["acked"] * len(reserved)


def work_off(queue: Session) -> list[str]:
    """Reserve the next message, acknowledge it, and return its key; nothing where nothing is ready."""
    found = queue.reserve("mail")
    queue.ack_many(receipts(found))
    return keys(found)


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make the calls at the same time, each in a thread, and return what they answer; an error is raised.

    How long they take says how busy the machine is: none of the deadlines is one for a call that works.
    """
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        start.wait(120)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(900) for future in [pool.submit(run, call) for call in calls]]
