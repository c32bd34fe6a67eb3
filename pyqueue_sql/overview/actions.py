"""What can be done to a queue from `pyqueue top` and `pyqueue web`: each a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import connect


class Gone(Exception):  # noqa: N818 -- named after what happened
    """The message isn't there any more, or somebody holds it; nothing was changed."""


def _pause(queue: Queue[Any], kind: str, key: str) -> str:  # noqa: ARG001
    return f"{kind} is paused" if queue.pause(kind) else f"{kind} was paused already"


def _resume(queue: Queue[Any], kind: str, key: str) -> str:  # noqa: ARG001
    return f"{kind} goes on" if queue.resume(kind) else f"{kind} wasn't paused"


def _redrive(queue: Queue[Any], kind: str, key: str) -> str:  # noqa: ARG001
    found = queue.redrive(kind)
    return f"{found.went} went back to where they came from, {found.stayed} stayed in {kind}"


def _retry(queue: Queue[Any], kind: str, key: str) -> str:
    message = queue.get(kind, key)
    outcome = "created"
    if message is not None and message.payload_bytes is not None:
        outcome = queue.push_bytes(kind, key, message.payload_bytes, on_duplicate="push_back").outcome
    elif message is not None:  # with its payload, or one without it wouldn't fit the shape of the kind
        outcome = queue.push(kind, key, message.payload, on_duplicate="push_back").outcome
    if outcome == "created":  # nothing is left of that: the transaction isn't committed
        raise Gone(f"{key} isn't in {kind} any more")
    return f"{key} is ready" if outcome == "replaced" else f"{key} is held, and comes again after that"


def _remove(queue: Queue[Any], kind: str, key: str) -> str:
    outcome = queue.remove(kind, key)
    if outcome != "removed":
        raise Gone(f"{key} in {kind} is {outcome}")
    return f"{key} is removed"


ACTIONS: Final[dict[str, Callable[[Queue[Any], str, str], str]]] = {
    "pause": _pause,
    "resume": _resume,
    "redrive": _redrive,
    "retry": _retry,
    "remove": _remove,
}


def act(url: str, schema: str | None, action: str, kind: str, key: str = "") -> str:
    """Do one of `ACTIONS`, on a connection of its own.

    Args:
        url: of the database.
        schema: where the queue is; None: the current schema.
        action: pause, resume or redrive: a kind; retry or remove: a message.
        kind: the kind.
        key: the key of the message.

    Returns:
        What has been done, in words.

    Raises:
        Gone: see there.
        QueueError: the queue refuses.
        psycopg.Error, pymysql.Error: what else the server says, as where this login has no right to it.
    """
    with connect(url, schema=schema, autocommit=False, read_committed=True) as connection:
        said = ACTIONS[action](Queue(connection, schema=schema), kind, key)
        connection.commit()
        return said
