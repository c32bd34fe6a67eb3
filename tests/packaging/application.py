"""An application outside of the package: what a worker runs, and what strict checkers of types read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_type

import psycopg

from pyqueue_sql import AsyncQueue, Outcome, Pushed, Queue, QueueError, Reserved, Stats, to_datetime
from pyqueue_sql.alembic import include_object
from pyqueue_sql.testing import Handled, drain
from pyqueue_sql.worker import Handlers, Worker

KIND = "mail"
OURS = include_object
handlers = Handlers()


@dataclass
class Email:
    """What a message of the kind carries."""

    to: str
    urgent: bool = False


@handlers.on(KIND)
def send(email: Email) -> None:
    """Handle one."""
    print(f"sent to {email.to}", flush=True)


@handlers.task("letters", max_attempts=3)
def write(email: Email) -> str:
    """Handle one, and have a result."""
    return email.to


def produce(connection: psycopg.Connection[Any]) -> str:
    """Push, look, and take."""
    queue = Queue(connection)
    pushed = queue.push(KIND, "welcome", {"to": "ada@example.org"}, delay_seconds=1.5)
    assert_type(pushed, Pushed)
    assert_type(write.push(queue, Email("ada@example.org")), Pushed)
    assert_type(queue.stats(), list[Stats])
    found = queue.reserve(KIND, max_messages=10)
    assert_type(found, list[Reserved])
    try:
        for message in found:
            assert_type(queue.ack(message.receipt), Outcome)
            assert_type(to_datetime(message.scheduled_at), datetime)
    except QueueError as error:
        return error.sqlstate or ""
    return pushed.key


async def produce_later(queue: AsyncQueue[Any]) -> str:
    """Push and take, awaited."""
    found = await queue.reserve(KIND)
    assert_type(found, list[Reserved])
    return (await queue.push(KIND, None, {"to": "bob@example.org"})).key


def work(url: str) -> None:
    """Run the handlers until nothing is ready."""
    Worker(url, handlers, concurrency=2, drain=True).run()


def tried(queue: Queue[Any]) -> list[Handled]:
    """Run the handlers over what a test has pushed."""
    return drain(queue, handlers)
