"""A consumer that waits as the comment of queue_listen says, over a connection of psycopg."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg import sql

from pyqueue_sql import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOOKS_S = (0.05, 0.25, 1.25)
PATIENCE_S = 30


class Event(NamedTuple):
    """A notification."""

    channel: str
    kind: str


class Listener:
    """A session that listens.

    Args:
        url: of the database.
        kinds: what it waits for.
        listens: whether it really does; else it has said so and gets no event.
    """

    def __init__(self, url: str, *kinds: str, listens: bool = True) -> None:
        self.conn = psycopg.connect(url, autocommit=True)
        self.queue = Queue(self.conn)
        self.kinds: Sequence[str] = kinds
        if listens:
            for channel in {one.channel for one in self.queue.listen(kinds)}:
                self.conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))

    def events(self, seconds: float = 0.3, *, awaited: int = 0) -> list[Event]:
        """Return what comes within so many seconds.

        Args:
            seconds: what has not come by then isn't in it.
            awaited: but for so many it waits as long as a slow machine takes.
        """
        found = list(self.conn.notifies(timeout=PATIENCE_S, stop_after=awaited)) if awaited else []
        found += self.conn.notifies(timeout=seconds)
        return [Event(one.channel, one.payload) for one in found]

    def take(self, number: int, poll_s: float) -> dict[str, float]:
        """Take messages until there are so many; return by key when they came."""
        taken: dict[str, float] = {}
        looks, began = list(LOOKS_S), time.monotonic()
        polled = began
        while len(taken) < number:
            seen = self.queue.listen(self.kinds)
            found = [key for one in seen if one.ready for key in self._pop(one.kind)]
            if time.monotonic() - polled >= poll_s:
                polled = time.monotonic()
                found += [key for kind in self.kinds for key in self._pop(kind)]
            if found:
                taken |= dict.fromkeys(found, time.monotonic())
                looks, began = list(LOOKS_S), time.monotonic()
                continue
            now = time.monotonic()
            looks = [one for one in looks if began + one > now]
            due = [polled + poll_s - now, *(one - now + began for one in looks[:1])]
            due += [one.next_seconds for one in seen if one.next_seconds is not None]
            if list(self.conn.notifies(timeout=max(min(due), 0.001), stop_after=1)):
                looks, began = list(LOOKS_S), time.monotonic()
        return taken

    def _pop(self, kind: str) -> list[str]:
        return [message.key for message in self.queue.pop(kind, 10)]


@contextmanager
def listening(url: str, *kinds: str, **options: Any) -> Iterator[Listener]:
    """Open a listener."""
    listener = Listener(url, *kinds, **options)
    try:
        yield listener
    finally:
        listener.conn.close()


def same_channel(conn: psycopg.Connection[Any], kind: str) -> str:
    """Return another kind that shares the channel of a kind."""
    names = [f"other{number}" for number in range(100)]
    row = conn.execute(
        "select k.kind from unnest(%s::text[]) k (kind) where hashtext(k.kind) & 15 = hashtext(%s) & 15",
        [names, kind],
    ).fetchone()
    assert row is not None
    return row[0]
