"""The worker processes: one step takes a batch, and reports what became of each of its messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from pyqueue_sql import Message, Outcome, Queue
from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.demo.load import Kinds
from pyqueue_sql.errors import QueueError

BATCH = 500
PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Report:
    """What one step did."""

    taken: int
    moved: list[str] = field(default_factory=list[str])
    retried: list[str] = field(default_factory=list[str])
    dead: list[str] = field(default_factory=list[str])
    drained: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    """Keys with the arrival's delay (minutes) as the payload had it."""
    lateness_us: list[int] = field(default_factory=list[int])
    """From due to reserved, first deliveries of departing flights only."""
    odd: list[str] = field(default_factory=list[str])
    """Outcomes that should not come."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a worker gave up."""

    reason: str


Step: TypeAlias = Callable[[Queue, Kinds, str], Report]
READY = "ready"
GO = "go"
STOP = "stop"


def depart(queue: Queue, kinds: Kinds, name: str) -> Report:
    """Move the flights that are due to the arrived ones; those that were cancelled fail."""
    batch = queue.reserve(kinds.departing, name, BATCH)
    report = Report(taken=len(batch))
    report.lateness_us.extend(
        one.reserved_at - one.scheduled_at_initially
        for one in batch
        if one.attempts == 1 and one.reserved_at is not None
    )
    flown = [one for one in batch if one.payload["log"]["dep_time"] is not None]
    cancelled = [one for one in batch if one.payload["log"]["dep_time"] is None]
    if flown:
        moves = [
            {"receipt": one.receipt, "to_kind": kinds.arrived, "payload": landed(one.payload)}
            for one in flown
        ]
        _sort(report, flown, queue.move_many(moves), {"moved": report.moved})
    if cancelled:
        outcomes = queue.nack_many(
            [str(one.receipt) for one in cancelled], error="cancelled: it never departed"
        )
        _sort(report, cancelled, outcomes, {"retry": report.retried, "dead": report.dead})
    return report


def drain(queue: Queue, kinds: Kinds, name: str) -> Report:
    """Take the flights that arrived out of the queue."""
    batch = queue.reserve(kinds.arrived, name, BATCH)
    report = Report(taken=len(batch))
    if batch:
        acked: list[str] = []
        _sort(report, batch, queue.ack_many(str(one.receipt) for one in batch), {"acked": acked})
        delays = {one.key: one.payload["arr_delay"] for one in batch}
        report.drained.extend((key, delays[key]) for key in acked)
    return report


def landed(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of a flight after its arrival: the log's times in place of the log.

    One without an arrival delay was diverted: it departed and never came where it was going.
    """
    log = payload["log"]
    known = {name: value for name, value in payload.items() if name != "log"}
    return known | log | {"status": "diverted" if log["arr_delay"] is None else "arrived"}


def work(link: Connection, url: str, kinds: Kinds, name: str, step: Step) -> None:
    """Run steps from GO to STOP; the end of the link, which is the end of the other process, stops as well.

    Args:
        link: sends READY once connected, then a Report a step, or one Failure; receives GO and STOP.
        url: of the database.
        kinds: the names of the kinds.
        name: what this worker is called in the database.
        step: `depart` or `drain`.
    """
    try:
        with connect(url) as connection:
            link.send(READY)
            queue, told = Queue(connection), link.recv()
            while told == GO:
                report = step(queue, kinds, name)
                if report.taken:
                    link.send(report)
                # a batch that isn't full: let more come due, one by one would cost both sides more
                if report.taken < BATCH:
                    time.sleep(PAUSE_SECONDS)
                if link.poll():
                    told = link.recv()
    except (EOFError, ConnectionError):
        pass
    except Exception as error:
        failure = dialect.failure(error)
        if failure is None and not isinstance(error, ConnectionFailed | QueueError):
            raise
        link.send(Failure(f"{name}: {failure.message if failure else error}"))


def _sort(
    report: Report, batch: Sequence[Message], outcomes: list[Outcome], wanted: dict[str, list[str]]
) -> None:
    """Write the key of each message under its outcome."""
    by_receipt = {message.receipt: message for message in batch}
    for outcome in outcomes:
        message = by_receipt[outcome.receipt]
        keys = wanted.get(outcome.outcome)
        if keys is None:
            report.odd.append(f"{message.kind} {message.key}: {outcome.outcome}")
        else:
            keys.append(message.key)
