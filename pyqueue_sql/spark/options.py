"""The options of `format("pyqueue")`: their names and what they may be; their text hides the URL."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyqueue_sql.errors import InvalidOption

READ, READ_STREAM, WRITE, WRITE_STREAM = "read", "readStream", "write", "writeStream"
WAYS: Final = (READ, READ_STREAM, WRITE, WRITE_STREAM)
STREAM_PATIENCE_SECONDS: Final = 180.0
OF_SPARK: Final = frozenset({"checkpointlocation", "provider"})
"""What Spark hands on of its own; and where a table is created, each option once more as `option.…`."""


def _text(value: str) -> str:
    if not 1 <= len(value) <= 200:
        raise ValueError("must have 1 to 200 characters")
    return value


def _names(value: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(one.strip() for one in value.split(",")))
    for one in found:
        if not 1 <= len(one) <= 100:
            raise ValueError("must be kinds of 1 to 100 characters, with commas between")
    return found


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"must be a regular expression: {error.msg}") from None
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value.lower() not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value.lower()

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
    kinds: tuple[str, ...] = ()
    kind_pattern: str | None = None
    look: str = ""
    partitions: int = 2
    max_messages: int = 10_000
    max_messages_per_trigger: int | None = None
    timeout_seconds: float = 300.0
    commit: str = "source"
    atomic: str = "job"
    stream: str | None = None
    batch: int | None = None
    txn_app_id: str | None = None
    txn_version: int | None = None
    failed: str = "retry"
    bad_rows: str = "fail"
    times: str = "timestamp"
    backlog: str = "false"
    payload_schema: str | None = None
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
    "kinds": _Option(_names, (READ, READ_STREAM)),
    "kind_pattern": _Option(_pattern, (READ, READ_STREAM)),
    "look": _Option(_one_of("peek", "history"), (READ,)),
    "partitions": _Option(_whole(1, 1000), (READ, READ_STREAM)),
    "max_messages": _Option(_whole(1, 1_000_000), (READ_STREAM,)),
    "max_messages_per_trigger": _Option(_whole(1, 1_000_000_000), (READ_STREAM,)),
    "timeout_seconds": _Option(_seconds(1, 31_536_000), (READ_STREAM,)),
    "commit": _Option(_one_of("source", "sink"), (READ_STREAM,)),
    "atomic": _Option(_one_of("job", "task"), (WRITE,)),
    "stream": _Option(_text, (WRITE,)),
    "batch": _Option(_whole(0, 2**63 - 1), (WRITE,)),
    "txn_app_id": _Option(_text, (WRITE,)),
    "txn_version": _Option(_whole(0, 2**63 - 1), (WRITE,)),
    "failed": _Option(_one_of("retry", "dead"), (WRITE,)),
    "backlog": _Option(_one_of("true", "false"), (READ_STREAM,)),
    "times": _Option(_one_of("timestamp", "long"), (READ, READ_STREAM)),
    "payload_schema": _Option(str, (READ, READ_STREAM)),
    "bad_rows": _Option(_one_of("fail", "null", "dead"), WAYS),
    "reconnect_seconds": _Option(_seconds(0, 86_400), (READ_STREAM, WRITE, WRITE_STREAM)),
}
"""What each may be, and for what; what it means stands in the docstring of PyQueueDataSource."""
_PLAIN: Final = {name.replace("_", ""): name for name in KNOWN}
"""The names as they are compared: in lower case and without `_`."""


_NO_BAD_ROWS: Final = {READ: "dead", WRITE: "null", WRITE_STREAM: "null"}
"""What bad_rows can't be there: a read changes nothing, and what is written is a message or none."""


def plain(name: str) -> str:
    """Return a name as it is compared: Spark's users write maxMessages as well as max_messages."""
    return name.lower().replace("_", "")


def _is_of_spark(name: str) -> bool:
    return name.lower() in OF_SPARK or name.lower().startswith("option.")


def check_names(given: Mapping[str, str]) -> None:
    """Refuse a name that no way of reading or writing knows.

    Raises:
        InvalidOption: it names the nearest that there is.
    """
    for name in given:
        if plain(name) not in _PLAIN and not _is_of_spark(name):
            raise InvalidOption(_unknown(name, "", list(KNOWN)))


def named(given: Mapping[str, str], name: str) -> str | None:
    """Return the value of an option, however its name is written; None: it isn't given."""
    return next((value for other, value in given.items() if plain(other) == plain(name)), None)


def parse(given: Mapping[str, str], way: str) -> Options:
    """Return the options that somebody gave.

    Args:
        given: names in any case, with or without `_`.
        way: one of WAYS.

    Raises:
        InvalidOption: one is unknown, means nothing for this way, has a wrong value, or is missing.
    """
    check_names(given)
    found: dict[str, Any] = {}
    allowed = sorted(name for name, one in KNOWN.items() if way in one.ways)
    for name, value in given.items():
        if _is_of_spark(name):
            continue
        known = _PLAIN[plain(name)]
        # no value is shown: what is misspelt may be the URL
        if known not in allowed:
            raise InvalidOption(_unknown(name, f" to {way}", allowed))
        if known in found:
            raise InvalidOption(f'option "{name}" is given twice')
        try:
            found[known] = KNOWN[known].check(value)
        except ValueError as error:
            raise InvalidOption(f'option "{name}": {error}') from None
    if not found.setdefault("url", os.environ.get("PYQUEUE_URL", "")):
        raise InvalidOption('option "url" or the variable PYQUEUE_URL must say where the database is')
    if way == READ and "look" not in found:
        raise InvalidOption('option "look" must say what to read: peek or history')
    chosen = [name for name in ("kind", "kinds", "kind_pattern") if name in found]
    if way == READ_STREAM and not chosen:
        raise InvalidOption('option "kind", "kinds" or "kind_pattern" must say what to read')
    if len(chosen) > 1:
        raise InvalidOption(f'options "{chosen[0]}" and "{chosen[1]}": one of them')
    for one, other in (("stream", "batch"), ("txn_app_id", "txn_version")):
        if (one in found) != (other in found):
            raise InvalidOption(f'options "{one}" and "{other}" must stand together')
        if one in found and found.get("atomic") == "task":
            raise InvalidOption(f'option "atomic" must be job where there is "{one}"')
    if "stream" in found and "txn_app_id" in found:
        raise InvalidOption('options "stream" and "txn_app_id": one of them')
    if found.get("bad_rows", "") == _NO_BAD_ROWS.get(way):
        raise InvalidOption(f'option "bad_rows": can\'t be {found["bad_rows"]} where it is for {way}')
    if found.get("bad_rows") == "dead" and found.get("commit") == "sink":
        raise InvalidOption(
            'option "bad_rows": can\'t be dead with commit=sink, whose write ends all of the batch: with null'
            " it is handed `receipt` and `error`, and its option failed=dead makes these dead letters"
        )
    return Options(**found, streams=way in (READ_STREAM, WRITE_STREAM) or "stream" in found)


def _unknown(name: str, where: str, allowed: list[str]) -> str:
    near = difflib.get_close_matches(plain(name), map(plain, allowed), n=1)
    hint = f'did you mean "{_PLAIN[near[0]]}"?' if near else f"allowed are {', '.join(sorted(allowed))}"
    return f'option "{name[:40]}" is unknown{where}: {hint}'
