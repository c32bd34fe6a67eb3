"""Many sessions make calls of every kind at the same few messages; none of them is anybody's deadlock.

PYQUEUE_DEADLOCK_CALLS sets how many calls there are; by default 4,000, and 2,000 in `make test`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Lost, Refused
from tests.conformance.steps import receipts
from tests.sample import chance_of, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.conformance.harness import Harness, Session

CALLS = int(os.environ.get("PYQUEUE_DEADLOCK_CALLS", size(2000, 4000)))
SESSIONS = 8
KEYS = [f"k{number:02}" for number in range(8)]
KINDS = ["a", "b", "c"]
DEAD = "dead"
"""Where all three bury theirs, so that keys of one collide with those of another there."""
COUNTED = {"push", "push_bytes", "push_many", "reserve", "pop", "ack", "ack_many", "nack", "nack_many"} | {
    "extend",
    "extend_many",
    "move",
    "move_many",
    "remove",
    "purge",
    "redrive",
    "pause",
    "prune",
    "stream",
}
"""The calls whose answers say how many messages there are more or fewer than before."""


class Caller:
    """A session that calls at random.

    Args:
        session: each call is a transaction of its own.
        seed: of the choices.
        shared: receipts that the sessions know from each other, live ones and others.
        counted: only make calls whose answers count messages, and keep count.
    """

    def __init__(self, session: Session, seed: int, shared: deque[str], *, counted: bool) -> None:
        self.made: Counter[str] = Counter()
        self.errors: list[str] = []
        self.messages = 0
        """How many there are more than before, by the answers."""
        self._queue = session
        self._seed = seed
        self._batch = 0
        self._chance = chance_of(seed)
        self._shared = shared
        self._counted = counted
        self._calls: dict[str, Callable[[], None]] = {
            name.removeprefix("call_"): getattr(self, name) for name in dir(self) if name.startswith("call_")
        }

    @property
    def names(self) -> list[str]:
        """What it calls."""
        return sorted(COUNTED & set(self._calls) if self._counted else self._calls)

    def run(self, calls: int) -> None:
        """Make so many calls."""
        # every other one reserves, so that there is something to finish
        names = self.names
        for _ in range(calls):
            name = self._chance.choice((self._chance.choice(names), "push_many", "reserve"))
            self.made[name] += 1
            try:
                self._calls[name]()
            except Exception as error:  # in a thread, where nobody else sees it
                self.errors.append(f"{name}: {error!r}")

    def call_push(self) -> None:
        pushed = self._queue.push(self._kind(), self._key(), 0, **self._push_options())
        self.messages += pushed.outcome == "created"

    def call_push_bytes(self) -> None:
        pushed = self._queue.push_bytes(self._kind(), self._key(), b"0", **self._push_options())
        self.messages += pushed.outcome == "created"

    def call_push_many(self) -> None:
        plain = self._chance.random() < 0.5  # most batches of most users are, and have a way of their own
        options = [{} if plain else self._push_options() for _ in range(self._size())]
        batch = [{"key": self._key(), "payload": 0, **given} for given in options]
        pushed = self._queue.push_many(self._kind(), batch)
        self.messages += sum(one.outcome == "created" for one in pushed)

    def call_reserve(self) -> None:
        kind = self._chance.choice([*KINDS, *KINDS, DEAD])
        seconds = self._chance.choice((0.01, 0.2, 5))
        self._shared += receipts(self._queue.reserve(kind, None, self._size(), timeout_seconds=seconds))

    def call_pop(self) -> None:
        self.messages -= len(self._queue.pop(self._kind(), self._chance.choice((1, 2))))

    def call_ack(self) -> None:
        for receipt in self._receipts(1):
            self.messages -= self._queue.ack(receipt).outcome == "acked"

    def call_ack_many(self) -> None:
        answers = self._queue.ack_many(self._receipts())
        self.messages -= sum(answer.outcome == "acked" for answer in answers)

    def call_next(self) -> None:
        kind = self._chance.choice([*KINDS, *KINDS, DEAD])
        given: dict[str, Any] = {"timeout_seconds": self._chance.choice((0.01, 0.2, 5))}
        if self._chance.random() < 0.5:
            given["lost"] = "error"
        with contextlib.suppress(Lost):
            self._shared += receipts(self._queue.next(self._receipts(), kind, None, self._size(), **given))

    def call_stream(self) -> None:
        """Read a batch, and write some of its keys back."""
        self._batch += 1
        stream, batch, kind = f"s{self._seed}", str(self._batch), self._kind()
        given = json.dumps({"timeout_seconds": self._chance.choice((0.01, 0.2, 5))})
        most = str(self._size())
        read = self._queue.answer("queue_stream_reserve", stream, batch, "0", kind, most, given)
        part = int(str(self._queue.answer("queue_stage_begin", stream, None)[0]["part"]))
        rows = [{"part": part, "p_kind": kind, "p_key": one["p_key"], "payload": "1"} for one in read]
        if rows:
            self._queue.land(rows, "queue_stage")
        options = json.dumps({"parts": [{"part": part, "messages": len(rows)}]})
        [done] = self._queue.answer("queue_stream_commit", stream, batch, options)
        self.messages += int(str(done["pushed"])) - int(str(done["acked"]))

    def call_nack(self) -> None:
        for receipt in self._receipts(1):
            self._queue.nack(receipt, **self._nack_options())

    def call_nack_many(self) -> None:
        self._queue.nack_many(self._receipts(), **self._nack_options())

    def call_extend(self) -> None:
        for receipt in self._receipts(1):
            self._queue.extend(receipt, self._chance.choice((0, 1)))

    def call_extend_many(self) -> None:
        self._queue.extend_many(self._receipts(), self._chance.choice((0, 1)))

    def call_move(self) -> None:
        for receipt in self._receipts(1):
            answer = self._queue.move(receipt, self._kind(), **self._move_options())
            self.messages -= answer.outcome == "duplicate"

    def call_move_many(self) -> None:
        moves = [
            {"receipt": one, "to_kind": self._kind(), **self._move_options()} for one in self._receipts()
        ]
        answers = self._queue.move_many(moves)
        self.messages -= sum(answer.outcome == "duplicate" for answer in answers)

    def call_remove(self) -> None:
        self.messages -= self._queue.remove(self._kind(), self._key()) == "removed"

    def call_purge(self) -> None:
        self.messages -= self._queue.purge(self._kind(), self._chance.choice((1, 3)))

    def call_redrive(self) -> None:
        self._queue.redrive(DEAD, self._chance.choice((1, 5, None)))

    def call_define(self) -> None:
        define(self._queue, self._kind(), max_attempts=self._chance.choice((2, 3)))

    def call_pause(self) -> None:
        kind = self._kind()
        self._queue.pause(kind)
        self._queue.resume(kind)

    def call_prune(self) -> None:
        self._queue.prune(self._chance.choice((1, 100)))

    def call_look(self) -> None:
        self._queue.get(self._kind(), self._key())
        self._queue.peek(self._kind(), 5)
        self._queue.stats()

    def call_drop(self) -> None:
        with contextlib.suppress(Refused):
            self._queue.drop(self._chance.choice([*KINDS, DEAD]))

    def _kind(self) -> str:
        return self._chance.choice(KINDS)

    def _key(self) -> str:
        return self._chance.choice(KEYS)

    def _size(self) -> int:
        return self._chance.choice((1, 3, 8))

    def _receipts(self, most: int | None = None) -> list[str]:
        """Some of the newest receipts, in any order; anybody's."""
        known = list(self._shared.copy())
        return self._chance.sample(known, min(len(known), most or self._size()))

    def _push_options(self) -> dict[str, Any]:
        modes = ["ignore"] if self._counted else ["ignore", "replace", "keep_time", "push_back"]
        return {"on_duplicate": self._chance.choice(modes), "priority": self._chance.choice((0, 0, 1))}

    def _move_options(self) -> dict[str, Any]:
        if self._counted:
            return self._chance.choice([{}, {"key": self._key()}])
        return self._push_options() | self._chance.choice([{}, {"key": self._key()}])

    def _nack_options(self) -> dict[str, Any]:
        return {"final": self._chance.random() < 0.5, "error": "broken"}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.core("mariadb")
@pytest.mark.parametrize("counted", [False, True], ids=["every call", "calls that count messages"])
def test_calls_of_every_kind_at_the_same_messages_dont_deadlock(harness: Harness, counted: bool) -> None:
    queue, shared = harness.connect(), deque[str](maxlen=40)
    for kind in KINDS:
        define(queue, kind, max_attempts=3)
    callers = [Caller(harness.connect(), seed, shared, counted=counted) for seed in range(SESSIONS)]
    with ThreadPoolExecutor(SESSIONS) as pool:
        list(pool.map(lambda caller: caller.run(CALLS // SESSIONS // 2), callers))
    errors = [error for caller in callers for error in caller.errors]
    # of one message, a reserve isn't made again where SKIP LOCKED itself waited: docs/adr/0008-order.md
    own = [error for error in errors if "while locking updated version" in error]
    assert len(own) <= 1, own
    assert [error for error in errors if error not in own] == []
    assert total(caller.made for caller in callers).keys() == set(callers[0].names)
    if counted:
        there = sum(stats.total for stats in queue.stats())
        assert there == sum(caller.messages for caller in callers), "as many as the answers say"


def define(queue: Session, kind: str, max_attempts: int) -> None:
    """Give a kind few attempts, and the dead-letter kind of all."""
    queue.define(kind, max_attempts=max_attempts, dead_letter_kind=DEAD)


def total(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum."""
    return sum(counters, Counter())
