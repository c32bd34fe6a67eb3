"""Keuss, modelling queues II, rows C1, C2, C3, C5 and C6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.steps import SECOND, die, keys, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_C1_waiting_messages_stay_out_of_the_way_of_ready_ones(queue: Session, clock: Clock) -> None:
    waiting = [
        {"key": f"w{number}", "payload": 0, "priority": number % 5, "delay_seconds": 60 + number}
        for number in range(1000)
    ]
    queue.define("mail", timeout_seconds=100_000)
    queue.push_many("mail", waiting)
    queue.push("mail", "ready", 1, priority=-1)
    assert keys(queue.reserve("mail")) == ["ready"]
    assert queue.reserve("mail") == []
    clock.advance(60)
    assert keys(queue.reserve("mail", None, 10)) == ["w0"]
    clock.advance(1000)
    assert len(queue.reserve("mail", None, 1000)) == 999


def test_C1_a_delay_ends_to_the_microsecond(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1, delay_seconds=1.5)
    clock.advance(1.499999)
    assert (queue.reserve("mail"), state(queue, "mail", "a")) == ([], "scheduled")
    clock.advance(0.000001)
    assert state(queue, "mail", "a") == "ready"
    assert keys(queue.reserve("mail")) == ["a"]


def test_C2_reserve_commit_roll_back_with_a_delay_and_retries_counted(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1)
    for attempt in (1, 2, 3):
        message, receipt = take(queue, "mail")
        assert message.attempts == attempt
        assert queue.nack(receipt, delay_seconds=20, error=f"no luck {attempt}").outcome == "retry"
        assert state(queue, "mail", "a") == "scheduled"
        clock.advance(19)
        assert queue.reserve("mail") == []
        clock.advance(1)
    message, receipt = take(queue, "mail")
    assert message.attempts == 4
    assert queue.ack(receipt).outcome == "acked"
    clock.advance(100_000)
    assert queue.reserve("mail") == []


def test_C3_too_many_roll_backs_make_a_dead_letter_that_redrive_sends_back(queue: Session) -> None:
    queue.define("mail", max_attempts=3, backoff_seconds=0)
    queue.push("mail", "a", {"to": "x"}, headers={"h": 1}, priority=5)
    answers: list[str] = []
    for _ in range(3):
        _, receipt = take(queue, "mail")
        answers.append(queue.nack(receipt, error="no luck").outcome)
    assert answers == ["retry", "retry", "dead"]
    assert queue.reserve("mail") == []
    (letter,) = queue.peek("mail.dead")
    assert (letter.key, letter.payload, letter.headers) == ("a", {"to": "x"}, {"h": 1})
    redriven = queue.redrive("mail.dead")
    assert (redriven.went, redriven.stayed) == (1, 0)
    message, _ = take(queue, "mail")
    assert (message.key, message.payload, message.headers) == ("a", {"to": "x"}, {"h": 1})
    assert (message.priority, message.attempts) == (5, 1)
    assert queue.peek("mail.dead") == []


def test_C5_a_move_is_in_one_of_the_two_at_every_instant(queue: Session, connect: Connect) -> None:
    queue.push("load", "a", 1)
    worker = connect(autocommit=False)
    (message,) = worker.reserve("load")
    worker.commit()
    assert message.receipt
    assert worker.move(message.receipt, "clean").outcome == "moved"
    assert (state(queue, "load", "a"), state(queue, "clean", "a")) == ("reserved", None)
    worker.commit()
    assert (state(queue, "load", "a"), state(queue, "clean", "a")) == (None, "ready")


def test_C5_a_move_whose_client_dies_never_happened(queue: Session, connect: Connect) -> None:
    queue.push("load", "a", 1)
    worker = connect(autocommit=False)
    (message,) = worker.reserve("load")
    worker.commit()
    assert message.receipt
    worker.move(message.receipt, "clean")
    worker.close()
    assert (state(queue, "load", "a"), state(queue, "clean", "a")) == ("reserved", None)
    assert queue.move(message.receipt, "clean").outcome == "moved", "the receipt is as good as before"


def test_C5_moves_of_a_batch_happen_together(queue: Session, connect: Connect) -> None:
    queue.push_many("load", [{"key": key, "payload": key} for key in "abc"])
    worker = connect(autocommit=False)
    batch = receipts(worker.reserve("load", None, 3))
    worker.commit()
    answers = worker.move_many(
        [{"receipt": receipt, "to_kind": kind} for receipt, kind in zip(batch, ("x", "y", "y"), strict=True)]
    )
    assert [(answer.receipt, answer.outcome) for answer in answers] == [(r, "moved") for r in batch]
    assert (queue.peek("x"), queue.peek("y")) == ([], [])
    worker.commit()
    assert (keys(queue.peek("x")), keys(queue.peek("y")), queue.peek("load")) == (["a"], ["b", "c"], [])


def test_C6_the_payload_can_change_in_a_move(queue: Session) -> None:
    queue.push("load", "a", {"step": 1})
    _, receipt = take(queue, "load")
    queue.move(receipt, "clean", payload={"step": 2})
    message, receipt = take(queue, "clean")
    assert message.payload == {"step": 2}
    queue.move(receipt, "sink", payload=None)
    message, _ = take(queue, "sink")
    assert (message.payload, message.payload_bytes) == (None, None), "JSON's null is a payload"


def test_C6_the_payload_can_change_in_a_roll_back(queue: Session) -> None:
    queue.push("load", "a", {"done": []})
    message, receipt = take(queue, "load")
    assert message.payload == {"done": []}
    queue.nack(receipt, payload={"done": ["b"]})
    message, receipt = take(queue, "load")
    assert message.payload == {"done": ["b"]}
    queue.nack(receipt)
    message, receipt = take(queue, "load")
    assert message.payload == {"done": ["b"]}, "not given: as it was"
    assert queue.nack(receipt, payload={"done": "never"}, final=True).outcome == "dead"
    (letter,) = queue.peek("load.dead")
    assert letter.payload == {"done": "never"}


def test_C6_a_new_payload_takes_the_place_of_a_binary_one(queue: Session) -> None:
    queue.push_bytes("load", "a", b"\x00\xff")
    message, receipt = take(queue, "load")
    assert (message.payload, message.payload_bytes) == (None, b"\x00\xff")
    queue.nack(receipt, payload={"text": "x"})
    message, receipt = take(queue, "load")
    assert (message.payload, message.payload_bytes) == ({"text": "x"}, None)
    queue.move(receipt, "clean")
    message, _ = take(queue, "clean")
    assert (message.payload, message.payload_bytes) == ({"text": "x"}, None)


def test_C6_a_binary_payload_moves_dies_and_returns_byte_for_byte(queue: Session) -> None:
    payload = bytes(range(256)) * 10
    queue.push_bytes("load", "a", payload)
    _, receipt = take(queue, "load")
    queue.move(receipt, "clean")
    _, receipt = take(queue, "clean")
    queue.nack(receipt, final=True)
    queue.redrive("clean.dead")
    message, _ = take(queue, "clean")
    assert (message.payload, message.payload_bytes) == (None, payload)


def test_C3_a_dead_letter_waits_for_as_long_as_it_takes(queue: Session, clock: Clock) -> None:
    die(queue, "mail", "a", 1)
    clock.advance(10 * 365 * 86_400)
    assert queue.redrive("mail.dead").went == 1
    message, _ = take(queue, "mail")
    assert message.scheduled_at_initially <= clock.now
    assert message.reserved_at == clock.now
    assert message.scheduled_at == clock.now + 300 * SECOND
