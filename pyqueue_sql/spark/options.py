"""The options of `format("pyqueue")`: their names and what they may be; their text hides the URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyqueue_sql.errors import InvalidOption

READ, READ_STREAM, WRITE, WRITE_STREAM = "read", "readStream", "write", "writeStream"
WAYS: Final = (READ, READ_STREAM, WRITE, WRITE_STREAM)
STREAM_PATIENCE_SECONDS: Final = 180.0
OF_SPARK: Final = frozenset({"checkpointlocation"})
"""What Spark hands on of its own."""


def _text(value: str) -> str:
    if not 1 <= len(value) <= 200:
        raise ValueError("must have 1 to 200 characters")
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return check


def _whole(least: int, most: int) -> Callable[[str], int]:
    def check(value: str) -> int:
        if not value.isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(value)

    return check


def _seconds(least: int, most: int) -> Callable[[str], float]:
    def check(value: str) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if not least <= seconds <= most:
            raise ValueError(f"must be a number of seconds from {least} to {most}")
        return seconds

    return check


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one read or write, checked. Its text says nothing of the URL."""

    url: str = field(repr=False)
    queue_schema: str | None = None
    kind: str | None = None
    look: str = ""
    partitions: int = 2
    max_messages: int = 10_000
    timeout_seconds: float = 300.0
    commit: str = "source"
    atomic: str = "job"
    stream: str | None = None
    batch: int | None = None
    failed: str = "retry"
    streams: bool = False
    """Whether it is a part of a streaming query."""
    reconnect_seconds: float | None = None

    @property
    def patience(self) -> float:
        """How many seconds a server that is away is waited for: for a batch write 0, unless it says more."""
        if self.reconnect_seconds is not None:
            return self.reconnect_seconds
        return STREAM_PATIENCE_SECONDS if self.streams else 0.0


@dataclass(frozen=True, slots=True)
class _Option:
    check: Callable[[str], Any]
    ways: tuple[str, ...]


KNOWN: Final[Mapping[str, _Option]] = {
    "url": _Option(str, WAYS),
    "queue_schema": _Option(_text, WAYS),
    "kind": _Option(_text, WAYS),
    "look": _Option(_one_of("peek", "history"), (READ,)),
    "partitions": _Option(_whole(1, 1000), (READ, READ_STREAM)),
    "max_messages": _Option(_whole(1, 1_000_000), (READ_STREAM,)),
    "timeout_seconds": _Option(_seconds(1, 31_536_000), (READ_STREAM,)),
    "commit": _Option(_one_of("source", "sink"), (READ_STREAM,)),
    "atomic": _Option(_one_of("job", "task"), (WRITE,)),
    "stream": _Option(_text, (WRITE,)),
    "batch": _Option(_whole(0, 2**63 - 1), (WRITE,)),
    "failed": _Option(_one_of("retry", "dead"), (WRITE,)),
    "reconnect_seconds": _Option(_seconds(0, 86_400), (READ_STREAM, WRITE, WRITE_STREAM)),
}


def parse(given: Mapping[str, str], way: str) -> Options:
    """Return the options that somebody gave.

    Args:
        given: names in lower case, as Spark has them.
        way: one of WAYS.

    Raises:
        InvalidOption: one is unknown, means nothing for this way, has a wrong value, or is missing.
    """
    found: dict[str, Any] = {}
    allowed = sorted(name for name, one in KNOWN.items() if way in one.ways)
    for name in given:
        if name.lower() in OF_SPARK:
            continue
        # no value is shown: what is misspelt may be the URL
        if name.lower() not in allowed:
            raise InvalidOption(f'option "{name}" is unknown to {way}, allowed are {", ".join(allowed)}')
        try:
            found[name.lower()] = KNOWN[name.lower()].check(given[name])
        except ValueError as error:
            raise InvalidOption(f'option "{name}": {error}') from None
    if not found.setdefault("url", os.environ.get("PYQUEUE_URL", "")):
        raise InvalidOption('option "url" or the variable PYQUEUE_URL must say where the database is')
    if way == READ and "look" not in found:
        raise InvalidOption('option "look" must say what to read: peek or history')
    if way == READ_STREAM and "kind" not in found:
        raise InvalidOption('option "kind" must say what to read')
    if ("stream" in found) != ("batch" in found):
        raise InvalidOption('options "stream" and "batch" must stand together')
    if "stream" in found and found.get("atomic") == "task":
        raise InvalidOption('option "atomic" must be job where a write ends a batch')
    return Options(**found, streams=way in (READ_STREAM, WRITE_STREAM) or "stream" in found)
