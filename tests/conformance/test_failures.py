"""Why a message failed is seen wherever it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.steps import SECOND, receipts, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Message
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session


def fail(queue: Session, *errors: str, kind: str = "mail") -> None:
    """Take the one message that is ready and give it back, once with each error."""
    for error in errors:
        _, receipt = take(queue, kind)
        assert queue.nack(receipt, error=error, delay_seconds=0).outcome == "retry"


LOOKS: dict[str, Callable[[Session], Message | None]] = {
    "get": lambda queue: queue.get("mail", "a"),
    "peek": lambda queue: queue.peek("mail")[0],
    "reserve one": lambda queue: queue.reserve("mail")[0],
    "reserve many": lambda queue: queue.reserve("mail", None, 10)[0],
    "pop one": lambda queue: queue.pop("mail")[0],
    "pop many": lambda queue: queue.pop("mail", 10)[0],
}


def test_every_look_at_a_message_shows_its_errors(queue: Session, clock: Clock) -> None:
    at = clock.now
    for name, look in LOOKS.items():
        for kind in ("plain", "limited", "slotted"):
            queue.purge("mail")
            queue.define("mail", max_reserved=5 if kind == "limited" else None)
            if kind == "slotted":
                queue.semaphore("one", 1)
            queue.push("mail", "a", 1, semaphores=["one"] if kind == "slotted" else None)
            fail(queue, "first", "second")
            found = look(queue)
            assert found is not None, (name, kind)
            assert [dict(one) for one in found.errors] == [
                {"at": at, "attempt": 1, "by": "someone", "error": "first"},
                {"at": at, "attempt": 2, "by": "someone", "error": "second"},
            ], (name, kind)
            if found.receipt:
                queue.ack(found.receipt)


def test_what_never_failed_has_no_errors(queue: Session) -> None:
    for name, look in LOOKS.items():
        queue.push("mail", "a", 1)
        found = look(queue)
        assert found is not None
        assert found.errors == (), name
        if found.receipt:
            queue.ack(found.receipt)
    queue.push("mail", "a", 1)
    for routine, *arguments in (("queue_get", "mail", "a"), ("queue_reserve", "mail", None, "1", None)):
        (row,) = queue.answer(routine, *arguments)
        assert row["errors"] is None, routine


def test_only_the_last_ten_errors_are_kept(queue: Session) -> None:
    queue.push("mail", "a", 1)
    fail(queue, *(f"{number}" for number in range(1, 13)))
    found = queue.get("mail", "a")
    assert found is not None
    assert [one["error"] for one in found.errors] == [f"{number}" for number in range(3, 13)]


def test_a_dead_letter_shows_why_it_died(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=2)
    queue.push("mail", "a", 1)
    fail(queue, "first")
    clock.advance(1)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt, error="second").outcome == "dead"
    for found in (queue.get("mail.dead", "a"), queue.peek("mail.dead")[0], queue.reserve("mail.dead")[0]):
        assert found is not None
        assert [(one["at"], one["attempt"], one["error"]) for one in found.errors] == [
            (clock.now - SECOND, 1, "first"),
            (clock.now, 2, "second"),
        ]


def test_errors_stay_until_the_message_ends_and_not_with_the_next_one(queue: Session) -> None:
    queue.push("mail", "a", 1)
    fail(queue, "busy")
    _, receipt = take(queue, "mail")
    queue.move(receipt, "next")
    moved: Any = queue.get("next", "a")
    assert moved.errors == (), "it is a new entry"
    queue.ack_many(receipts(queue.reserve("next")))
    queue.push("mail", "a", 1)
    again = queue.get("mail", "a")
    assert again is not None
    assert again.errors == ()
