"""Kinds that have their homes on several servers: each lives on one, with all that is promised of it.

Between two homes a message goes at least once; while its key is in its new kind, or is remembered there
(`dedup_seconds`), once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from pyqueue_sql import Outcome, Queue, Reserved
from pyqueue_sql.calls.connect import connect


class Homes:
    """Queues of several servers, by the kind.

    Args:
        urls: where a kind lives; None is for all the others.
    """

    def __init__(self, urls: Mapping[str | None, str]) -> None:
        """Connect to each server once, in autocommit."""
        self._urls = dict(urls)
        self._queues: dict[str, Queue[Any]] = {url: Queue(connect(url)) for url in set(urls.values())}

    def of(self, kind: str) -> Queue[Any]:
        """Return the queue at the home of a kind.

        Args:
            kind: that lives there.
        """
        return self._queues[self._urls.get(kind, self._urls[None])]

    def forward(self, message: Reserved, to_kind: str) -> Outcome:
        """Send a message that is held on to another kind, wherever that lives.

        Within a home it is a move. Elsewhere the message is pushed with the same key, and acked after that:
        whoever dies between the two sends it again, and the key keeps it from being there twice.

        Args:
            message: which this process has reserved.
            to_kind: where it goes.
        """
        here, there = self.of(message.kind), self.of(to_kind)
        if here is there:
            return here.move(message.receipt, to_kind)
        kept: dict[str, Any] = {"headers": message.headers or {}, "priority": message.priority}
        if message.payload_bytes is None:
            there.push(to_kind, message.key, message.payload, **kept)
        else:
            there.push_bytes(to_kind, message.key, message.payload_bytes, **kept)
        return here.ack(message.receipt)

    def close(self) -> None:
        """Close the connections."""
        for queue in self._queues.values():
            queue.connection.close()


def part_of(kind: str, key: str, parts: int) -> str:
    """Return the part of a kind that is too large for a server, such as mail-3; a key stays in its own.

    Args:
        kind: the whole.
        key: of the message.
        parts: how many there are; to change it, empty the kind first.
    """
    return f"{kind}-{crc32(key.encode()) % parts}"
