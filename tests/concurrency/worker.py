"""One of the processes of a history: it does what workers do, good and bad, until it is told to stop."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyqueue_sql.calls.connect import ConnectionFailed
from tests.concurrency.history import Recorder
from tests.conformance.harness import open_harness
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyqueue_sql import Message, Outcome
    from tests.conformance.harness import Harness, Session

NAME = "history"
"""The name of the workers' connections."""

MOST = 20
"""Messages that a reserve takes at the most, where nobody asks for more."""
PAUSE_S = 0.001
"""Before the next reserve where nothing was there, for each message that it takes at the most."""
POPPED = 5
"""Messages that a pop takes at the most."""
DEADLY = "deadly"
"""What the key of a message begins with that kills who takes it."""
EATEN_SECONDS = 2.0
"""How long such a hold lasts; what is done takes no part of it."""
STAGED = 20
"""Messages of a stage."""
MEMBERS = 2
"""Of a group."""
TRANSACTIONS = itertools.count(1)
"""Names for those of a process, which makes a new worker when a connection is lost."""


def work(
    url: str,
    path: str,
    stop: str,
    seed: int,
    prepared: bool = True,
    *,
    refusals: bool = False,
    most: int = MOST,
) -> None:
    """Work on the kinds in and out until the file `stop` exists; connections that are cut are made anew.

    Args:
        url: of the database.
        path: where the history goes.
        stop: a file whose existence means: stop.
        seed: of the choices.
        prepared: whether statements are prepared, where the driver does that.
        refusals: whether to go on after errors of the server, which the history then has.
        most: how many messages it takes at a time at the most.
    """
    harness, chance = open_harness(url), chance_of(seed)
    recorder = Recorder(Path(path), harness.refusal if refusals else None)
    harness.prepared = prepared
    while not Path(stop).exists():
        try:
            worker = Worker(harness, recorder, chance, most)
            while not Path(stop).exists():
                worker.step()
        except Exception as error:
            if not passes(harness, error) and not (refusals and harness.refusal(error)):
                raise
            pause(harness)
    harness.close()


def move_and_publish(url: str, path: str, stop: str, seed: int) -> None:
    """Move messages to and fro and publish others, until the file `stop` exists."""
    harness, recorder, chance = open_harness(url), Recorder(Path(path)), chance_of(seed)
    queue = harness.connect(name=NAME)
    for number in itertools.count():
        if Path(stop).exists():
            break
        held = queue.reserve(chance.choice("abc"), None, 5, timeout_seconds=0.5)
        moves = [{"receipt": one.receipt, "to_kind": chance.choice("abc")} for one in held]
        recorder.record("move", lambda moves=moves: queue.move_many(moves), lambda _: [])
        if not number % 10:
            queue.publish("news", f"{path}/{number}"[-200:], 0)
    harness.close()


def pop(url: str, path: str, stop: str, seed: int) -> None:  # noqa: ARG001
    """Pop until the file `stop` exists."""
    harness, recorder = open_harness(url), Recorder(Path(path))
    queue = harness.connect(name=NAME)
    while not Path(stop).exists():
        if not recorder.record(
            "pop", lambda: queue.pop("in", POPPED), lambda found: [one.key for one in found]
        ):
            time.sleep(0.01)
    harness.close()


def eat(url: str, path: str, stop: str, seed: int) -> None:  # noqa: ARG001
    """Take messages and ack them until the file `stop` exists, or one of them is deadly."""
    harness, recorder = open_harness(url), Recorder(Path(path))
    queue = harness.connect(name=NAME)
    while not Path(stop).exists():
        found = queue.reserve("work", None, 1, timeout_seconds=EATEN_SECONDS)
        if not found:
            time.sleep(0.02)
        elif found[0].key.startswith(DEADLY):
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            recorder.record(
                "ack",
                lambda one=found[0]: queue.ack(one.receipt),
                lambda answer, key=found[0].key: [key] if answer.outcome == "acked" else [],
            )
    harness.close()


def stage_and_group(url: str, path: str, stop: str, seed: int) -> None:
    """Stage and publish, and finish groups, until the file `stop` exists."""
    harness, recorder = open_harness(url), Recorder(Path(path))
    queue = harness.connect(name=NAME)
    for number in itertools.count():
        if Path(stop).exists():
            break
        name = f"{seed:06}{number:06}"
        [(part, *_)] = queue.call("queue_stage_begin", name, None)
        queue.land(
            [
                {"part": part, "p_kind": "staged", "p_key": f"{name}-{n}", "payload": "1"}
                for n in range(STAGED)
            ],
            "queue_stage",
        )
        parts = f'[{{"part": {part}, "messages": {STAGED}}}]'
        recorder.record(
            "publish", lambda parts=parts: queue.call("queue_stage_publish", parts, None), lambda _: []
        )
        queue.group(name, "next", {}, members=MEMBERS)
        queue.push_many(
            "members", [{"key": f"{name}-{n}", "payload": n, "group": name} for n in range(MEMBERS)]
        )
        held = queue.reserve("members", None, 2 * MEMBERS, timeout_seconds=1)
        receipts = [one.receipt for one in held]
        recorder.record("ack", lambda receipts=receipts: queue.ack_many(receipts), lambda _: [])
    harness.close()


def passes(harness: Harness, error: Exception) -> bool:
    """Whether an error says that the connection is lost, or that there is none to be had for now."""
    return harness.is_lost(error) or (isinstance(error, ConnectionFailed) and error.away)


def pause(harness: Harness) -> None:
    """Leave what was lost, and wait a moment before the next try."""
    harness.close()
    time.sleep(0.02)


class Worker:
    """A session whose calls are recorded."""

    def __init__(self, harness: Harness, recorder: Recorder, chance: random.Random, most: int = MOST) -> None:
        self._harness = harness
        self._queue = harness.connect(name=NAME)
        self._patient = harness.connect(autocommit=False, name=NAME)
        self._recorder = recorder
        self._chance = chance
        self._sizes = (1, 5, most, most)

    def step(self) -> None:
        """Reserve once, and do something with what came."""
        kind = self._chance.choice(("in", "in", "out"))
        seconds = self._chance.choice((0.4, 0.7, 1.0))
        dice = self._chance.random()
        if dice < 0.05:
            self._in_a_transaction(kind, seconds)
            return
        batch = self.reserve(self._queue, kind, self._chance.choice(self._sizes), seconds)
        if not batch:
            time.sleep(self._sizes[-1] * PAUSE_S)
        elif dice < 0.15:
            self._use("nack", batch, lambda: self._queue.nack_many(batch))
        elif dice < 0.17:
            self._use("nack", batch, lambda: self._queue.nack_many(batch, final=True))
        elif dice < 0.35 and kind == "in":
            moves = [{"receipt": receipt, "to_kind": "out"} for receipt in batch]
            self._use("move", batch, lambda: self._queue.move_many(moves))
        elif dice < 0.38:
            time.sleep(seconds / 2)
            self._use("extend", batch, lambda: self._queue.extend_many(batch, seconds), seconds=seconds)
            time.sleep(seconds * self._chance.choice((0.6, 1.1)))
            self.ack(self._queue, batch)
        elif dice < 0.4:
            time.sleep(seconds * 1.3)
            self.ack(self._queue, batch)
        else:
            self.ack(self._queue, batch)

    def _in_a_transaction(self, kind: str, seconds: float) -> None:
        name = str(next(TRANSACTIONS))
        end = self._chance.choice((self._patient.commit, self._patient.rollback))
        try:
            batch = self.reserve(self._patient, kind, 5, seconds, transaction=name)
            time.sleep(self._chance.choice((0, 0, 0.1)))
            if batch:
                self.ack(self._patient, batch, transaction=name)
        except Exception as error:
            # InnoDB may make a transaction of several calls a victim; PostgreSQL has no reason to
            if not self._harness.is_serialization_failure(error):
                raise
            end = self._patient.rollback
        self._recorder.record(end.__name__, end, lambda _: [], transaction=name)

    def reserve(
        self, queue: Session, kind: str, most: int, seconds: float, transaction: str | None = None
    ) -> list[str]:
        """Reserve, and return the receipts."""
        found = self._recorder.record(
            "reserve",
            lambda: queue.reserve(kind, NAME, most, timeout_seconds=seconds),
            deliveries,
            kind=kind,
            seconds=seconds,
            transaction=transaction,
        )
        return [message.receipt for message in found if message.receipt]

    def ack(self, queue: Session, batch: Sequence[str], transaction: str | None = None) -> None:
        """Acknowledge them all."""
        self._use("ack", batch, lambda: queue.ack_many(batch), transaction=transaction)

    def _use(self, op: str, batch: Sequence[str], call: Callable[[], list[Outcome]], **about: Any) -> None:
        self._recorder.record(op, call, outcomes, receipts=list(batch), **about)


def deliveries(messages: Sequence[Message]) -> list[object]:
    """Return what a history says of a reserve."""
    return [[message.key, message.receipt, message.attempts] for message in messages]


def outcomes(answers: list[Outcome]) -> list[object]:
    """Return what a history says of an ack, nack, move or extend."""
    return [answer.outcome for answer in answers]


def keys(found: Sequence[Message]) -> list[object]:
    """Return what a history says of a pop."""
    return [one.key for one in found]
