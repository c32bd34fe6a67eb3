"""Waiting for what a handler returned: a message that has ended says so in the history of its kind."""

# ruff: noqa: N818 -- named after what happened
from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyqueue_sql.calls.aio import AsyncQueue
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.models import Ended

FIRST_SECONDS = 0.02
LONGEST_SECONDS = 1.0
GROWTH = 1.5
"""Of the pauses between two looks."""


class EndedBadly(Exception):
    """The message is dead, or was removed or popped: there is no result."""


class NotKept(Exception):
    """The message is gone, and nothing says what became of it."""


def wait_for_result(queue: Queue[Any], kind: str, key: str, timeout_seconds: float = 30.0) -> Any:
    """Return the result of a message as soon as it has ended well; where it moves it is followed.

    It looks again and again, at first after 20 ms and later every second. The push has to be committed, and
    the connection in autocommit or READ COMMITTED.

    Args:
        queue: may look at messages and history, as `queue_operator` may.
        kind: where the message was pushed; it keeps a history (`history_seconds`).
        key: of the message. Where it was used before, the newest message of this key counts.
        timeout_seconds: for how long to wait.

    Raises:
        TimeoutError: it hasn't ended by then.
        EndedBadly: it is dead, or was removed or popped.
        NotKept: it is gone, and the kind keeps no history of it.
    """
    deadline, pause = time.monotonic() + timeout_seconds, FIRST_SECONDS
    while True:
        if queue.get(kind, key) is None:
            to_kind, result = _said(kind, key, queue.history(kind, key, max_messages=1))
            if to_kind is None:
                return result
            kind = to_kind
            continue
        _check(kind, key, deadline, timeout_seconds)
        time.sleep(pause)
        pause = min(pause * GROWTH, LONGEST_SECONDS)


async def wait_for_result_async(
    queue: AsyncQueue[Any], kind: str, key: str, timeout_seconds: float = 30.0
) -> Any:
    """Return the result of a message as soon as it has ended well; as `wait_for_result`."""
    deadline, pause = time.monotonic() + timeout_seconds, FIRST_SECONDS
    while True:
        if await queue.get(kind, key) is None:
            to_kind, result = _said(kind, key, await queue.history(kind, key, max_messages=1))
            if to_kind is None:
                return result
            kind = to_kind
            continue
        _check(kind, key, deadline, timeout_seconds)
        await asyncio.sleep(pause)
        pause = min(pause * GROWTH, LONGEST_SECONDS)


def _check(kind: str, key: str, deadline: float, seconds: float) -> None:
    if time.monotonic() >= deadline:
        raise TimeoutError(f"{kind} {key}: not done within {seconds:g} s")


def _said(kind: str, key: str, past: list[Ended]) -> tuple[str | None, Any]:
    """Return where the message went on to, or None and its result."""
    if not past:
        raise NotKept(f"{kind} {key}: neither there nor in the history; history_seconds of the kind keeps it")
    [one] = past
    if one.outcome == "moved":
        return one.to_kind, None
    if one.outcome != "acked":
        last = one.errors[-1].get("error") if one.errors else None
        raise EndedBadly(f"{kind} {key}: {one.outcome}{f', {last}' if last else ''}")
    return None, one.result
