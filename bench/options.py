"""queue_push_many of 1,000 messages with options, and into kinds with settings, beside the same without.

One session, through the Python client. A batch is measured beside a plain one, in turns; keys are random, as
those of applications are.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from bench.run import Run
from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect

NAME = "options"
MESSAGES = 1000
TURNS = 6
QUICK_TURNS = 2
PAYLOAD = {"to": "ann@example.org", "subject": "Welcome", "tries": 3}


@dataclass(frozen=True)
class Batch:
    """Batches of one sort."""

    name: str
    message: Callable[[int], Mapping[str, Any]] = lambda _: {}
    """What a message has besides, by its number."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of the batch."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of its kind."""


BATCHES = (
    Batch("without keys", lambda _: {"key": None}),
    Batch("a priority each", lambda n: {"priority": n % 5}),
    Batch("a delay each", lambda n: {"delay_seconds": n % 60}),
    Batch("headers each", lambda _: {"headers": {"trace": uuid.uuid4().hex}}),
    Batch("max_attempts each", lambda _: {"max_attempts": 3}),
    Batch("an order key each", lambda _: {"order_key": uuid.uuid4().hex}),
    Batch("on_duplicate replace, all new", options={"on_duplicate": "replace"}),
    Batch("a kind with dedup_seconds", settings={"dedup_seconds": 3600}),
    Batch("a kind with a payload_shape", settings={"payload_shape": {"to": "string", "tries": "number"}}),
    Batch("a kind with a log", settings={"log_seconds": 3600}),
    Batch("a kind with filter_index", settings={"filter_index": True}),
)
PLAIN = Batch("plain")


def run(run: Run) -> None:
    """Measure it."""
    turns = QUICK_TURNS if run.quick else TURNS
    with closing(connect(run.url)) as connection:
        queue = Queue(connection)
        for number, batch in enumerate(BATCHES):
            queue.define(f"with{number}", **batch.settings)
            run.compare(
                f"push_many of 1,000, {batch.name}",
                lambda batch=batch, number=number: _rate(queue, f"with{number}", batch, turns),
                lambda number=number: _rate(queue, f"plain{number}", PLAIN, turns),
                other_name="a plain batch",
                unit="messages/s",
            )


def _rate(queue: Queue[Any], kind: str, batch: Batch, turns: int) -> float:
    took = 0.0
    for _ in range(turns):
        keys = (uuid.uuid4().hex for _ in range(MESSAGES))
        messages = [{"key": key, "payload": PAYLOAD, **batch.message(n)} for n, key in enumerate(keys)]
        began = time.perf_counter()
        queue.push_many(kind, messages, **batch.options)
        took += time.perf_counter() - began
    return turns * MESSAGES / took
