"""Two transactions in every order of their steps come to what one after the other comes to.

Each is a call and its end, commit or rollback, on the same message. A call that waits for the other
transaction goes on when that has ended.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency.world import World, brief
from tests.rules import each
from tests.sample import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Clock, Harness, Session

Call = Callable[["Session", World, "Clock"], Any]
Result = tuple[list[object], dict[str, str]]

TIMEOUT_SECONDS = 300
PATIENCE_SECONDS = 60
CALLS: dict[str, Call] = {
    "reserve": lambda q, w, _: q.reserve(w.kind("mail")),
    "pop": lambda q, w, _: q.pop(w.kind("mail")),
    "ack": lambda q, w, _: q.ack(w.receipts["a"]),
    "extend": lambda q, w, _: q.extend(w.receipts["a"], 7),
    "nack": lambda q, w, _: q.nack(w.receipts["a"], delay_seconds=5, error="no"),
    "move": lambda q, w, _: q.move(w.receipts["a"], w.kind("next")),
    "push": lambda q, w, _: q.push(w.kind("mail"), "a", "pushed"),
    "replace": lambda q, w, _: q.push(w.kind("mail"), "a", "replaced", on_duplicate="replace"),
    "remove": lambda q, w, _: q.remove(w.kind("mail"), "a"),
    "expire": lambda _, __, clock: clock.advance(TIMEOUT_SECONDS + 1),
}
PASS_OVER = {"reserve", "pop"}
"""They pass over what the other has locked, and get nothing: as if they had never come."""

ENDS = list(itertools.product(("commit", "rollback"), repeat=2))
ONE_AFTER_THE_OTHER = [(0, 0, 1, 1), (1, 1, 0, 0)]
MIXED = sorted(set(itertools.permutations((0, 0, 1, 1))) - set(ONE_AFTER_THE_OTHER))


class Stepper:
    """Two sessions whose transactions are moved on by hand.

    Args:
        harness: opens the two and a third, which prepares; looks, and sees who waits.
        clock: of the database.
        state: of the message at the beginning: ready, held or expired.
    """

    def __init__(self, harness: Harness, clock: Clock, state: str) -> None:
        self._harness, self._clock, self._state = harness, clock, state
        self._queue = harness.connect()
        self._sessions = [harness.connect(autocommit=False) for _ in range(2)]
        self._pool = ThreadPoolExecutor(2)
        self._numbers = itertools.count(1)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()

    def run(self, calls: tuple[str, ...], ends: tuple[str, ...], order: tuple[int, ...]) -> Result:
        """Take the steps on a new message.

        Args:
            calls: what each transaction calls.
            ends: how each ends.
            order: whose step is next: the first of each is its call, the second its end.

        Returns:
            What the calls answered (None: not in `order`), and all that is there afterwards.
        """
        world = self._make()
        running: dict[int, Future[Any]] = {}
        steps, deadline = list(order), time.monotonic() + PATIENCE_SECONDS
        while steps:
            # who waits for the other has to let it go first; it may be on its way already
            possible = [n for n, who in enumerate(steps) if who not in running or self._settled(who, running)]
            if not possible:
                assert time.monotonic() < deadline, "each waits for the other"
                continue
            place = possible[0]
            who = steps.pop(place)
            if who in running:
                getattr(self._sessions[who], ends[who])()
            else:
                call = CALLS[calls[who]]
                running[who] = self._pool.submit(call, self._sessions[who], world, self._clock)
                self._settled(who, running)
        answers = [brief(running[who].result(PATIENCE_SECONDS)) if who in running else [] for who in range(2)]
        return answers, world.look(self._harness)

    def _make(self) -> World:
        world = World(f"w{next(self._numbers)}")
        world.hold(self._queue, "mail", "a")
        if self._state == "ready":
            self._queue.nack(world.receipts["a"])
        elif self._state == "expired":
            self._clock.advance(TIMEOUT_SECONDS + 1)
        return world

    def _settled(self, who: int, running: dict[int, Future[Any]]) -> bool:
        """Wait until a call has answered, which is True, or waits for the other transaction."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not running[who].done():
            assert time.monotonic() < deadline, "it neither answers nor waits"
            if self._harness.waits(self._sessions[who]):
                return False
            time.sleep(0.0002)
        return True


@pytest.fixture(params=["ready", "held", pytest.param("expired", marks=pytest.mark.long)])
def stepper(request: pytest.FixtureRequest, harness: Harness, clock: Clock) -> Iterator[Stepper]:
    """Two transactions, and the message in a state."""
    stepper = Stepper(harness, clock, request.param)
    yield stepper
    stepper.close()


@each("first", CALLS)
def test_two_transactions_come_to_what_one_after_the_other_comes_to(
    stepper: Stepper, first: str, request: pytest.FixtureRequest
) -> None:
    names = list(CALLS)
    combinations = itertools.product(names[names.index(first) :], ENDS)
    for second, ends in sample(combinations, f"{first} {request.node.name}"):
        calls = (first, second)
        allowed = [stepper.run(calls, ends, order) for order in ONE_AFTER_THE_OTHER]
        allowed += [
            stepper.run(calls, ends, (1 - who, 1 - who)) for who in range(2) if calls[who] in PASS_OVER
        ]
        for order in MIXED:
            assert stepper.run(calls, ends, order) in allowed, (calls, ends, order)
