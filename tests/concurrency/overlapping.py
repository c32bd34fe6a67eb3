"""Calls in two transactions that can't see one another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.harness import Harness, Session

T = TypeVar("T")


def committed(harness: Harness, session: Session, call: Callable[[Session], T]) -> tuple[T, bool]:
    """Make a call and commit, once more in a new transaction where the server can't serialize the first.

    Returns:
        What it answered, and whether that was the second time.
    """
    try:
        answer = call(session)
        session.commit()
    except Exception as error:
        if not harness.is_serialization_failure(error):
            raise
        session.rollback()
        answer = call(session)
        session.commit()
        return answer, True
    return answer, False


def overlapping(harness: Harness, olds: list[Session], calls: list[Callable[[Session], Any]]) -> None:
    """Make a call in each of two transactions that can't see one another, again where it fails."""
    for old in olds:
        old.stats()

    def run(old: Session, call: Callable[[Session], Any], called: bool = False) -> None:
        for _ in range(3):
            try:
                if not called:
                    call(old)
                old.commit()
                return
            except Exception as error:
                if not harness.is_serialization_failure(error):
                    raise
                old.rollback()
                called = False
        raise AssertionError("tried three times")

    with ThreadPoolExecutor(2) as pool:
        calls[0](olds[0])
        second = pool.submit(run, olds[1], calls[1])
        waited = threading.Event()
        for _ in range(20):
            if second.done() or harness.waits(olds[1]):
                break
            waited.wait(0.05)
        run(olds[0], calls[0], called=True)
        second.result(60)
