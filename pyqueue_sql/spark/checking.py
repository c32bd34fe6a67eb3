"""Rows that are no messages, found in the task that has them, before anything of them is sent."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pyqueue_sql.calls.options import NUL, has_nul
from pyqueue_sql.errors import InvalidParameter
from pyqueue_sql.spark.arrow import pa, pc

LONGEST_KIND: Final = 95
LONGEST_KEY: Final = 200
DEEPEST: Final = 31
FIRST_US, LAST_US = 100_000_000_000_000, 253_402_300_799_999_999
RANGES: Final = {
    "priority": (-32_768, 32_767),
    "attempts": (0, 1_000_000_000),
    "max_attempts": (1, 1_000_000_000),
    "delay_seconds": (0, 1_000_000_000),
    "scheduled_at": (FIRST_US, LAST_US),
}
DEAD: Final = ("p_kind", "p_key", "payload", "headers")
"""Columns of what a bad row becomes."""


def sound(table: Any, unfit: Mapping[int, str], *, dead: list[dict[str, Any]] | None) -> Any:
    """Return the rows that are messages.

    Args:
        table: rows of queue_inbox.
        unfit: the places of those that are known to be none, each with the reason.
        dead: takes what the others become, rows of DEAD; None: the first of them is an error.

    Raises:
        InvalidParameter: a row is none, or what it is can't be kept either.
    """
    found = dict(unfit)
    for place, why in _faults(table):
        found.setdefault(place, why)
    if not found:
        return table
    for place in sorted(found):
        [row] = table.slice(place, 1).to_pylist()
        if dead is None:
            raise InvalidParameter(f"{_named(row)}: {found[place]}")
        dead.append(_dead(row, found[place]))
    return table.filter(pa.array([place not in found for place in range(table.num_rows)]))


def _named(row: dict[str, Any]) -> str:
    key = row.get("p_key")
    return "message without a key" if key is None else f"key {_shown(key)}"


def _dead(row: dict[str, Any], why: str) -> dict[str, Any]:
    kind, key = row["p_kind"], row.get("p_key")
    if _misnamed(kind, LONGEST_KIND - len(".dead")) is not None:
        raise InvalidParameter(f"{_named(row)}: {why}; and there is no dead-letter kind of {_shown(kind)}")
    given = {
        name: value.hex()
        if isinstance(value, bytes)
        else value
        if isinstance(value, int)
        else _text(str(value))
        for name, value in row.items()
        if value is not None and name != "part"
    }
    text = json.dumps(given, ensure_ascii=False)
    # the same row again is no second dead letter, another one of its key is
    number = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    begin = "" if key is None else _text(key)[: LONGEST_KEY - 20] + "~"
    return {
        "p_kind": f"{kind}.dead",
        "p_key": f"{begin}{number}",
        "payload": text,
        "headers": json.dumps({"error": _text(why)}, ensure_ascii=False),
    }


def _text(value: str) -> str:
    return value.replace("\0", "\ufffd")  # which no server keeps in JSON


def dead_rows(rows: list[dict[str, Any]], part: int | None) -> Iterator[Any]:
    """Yield what bad rows become, as rows of queue_inbox or queue_stage."""
    if rows:
        table = pa.table({name: pa.array([one[name] for one in rows], pa.string()) for name in DEAD})
        yield table if part is None else table.append_column("part", pa.repeat(pa.scalar(part), len(rows)))


def _faults(table: Any) -> Iterator[tuple[int, str]]:
    """Yield the places of what is wrong, and why; of one row it may be several."""
    columns = {name: table.column(name).combine_chunks() for name in table.schema.names}
    yield from _texts(columns["p_kind"], "kind", LONGEST_KIND, null=True)
    if "p_key" in columns:
        yield from _texts(columns["p_key"], "key", LONGEST_KEY, null=False)
    for name in RANGES.keys() & columns.keys():
        yield from _ranges(columns[name], name)
    yield from _both(columns, "delay_seconds", "scheduled_at")
    yield from _both(columns, "payload", "payload_bytes")
    for name, why in (("payload", why_no_payload), ("headers", why_no_headers)):
        if name in columns:
            yield from _each(columns[name], name, why)


def _texts(column: Any, name: str, most: int, *, null: bool) -> Iterator[tuple[int, str]]:
    length = pc.utf8_length(column)
    wrong = pc.or_(pc.or_(pc.less(length, 1), pc.greater(length, most)), pc.match_substring(column, "\0"))
    for place in _places(pc.fill_null(wrong, null)):
        yield place, f"{name} {_shown(column[place].as_py())}: {_misnamed(column[place].as_py(), most)}"


def _misnamed(value: str | None, most: int) -> str | None:
    if value is None or not 1 <= len(value) <= most:
        return f"must have 1 to {most} characters"
    return "must not contain the character NUL" if "\0" in value else None


def _ranges(column: Any, name: str) -> Iterator[tuple[int, str]]:
    least, most = RANGES[name]
    if not pa.types.is_integer(column.type):  # neither a small decimal nor a float has room for the bounds
        column = column.cast(pa.float64())
    within = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))
    for place in _places(pc.invert(pc.fill_null(within, True))):
        yield place, f"{name} {column[place].as_py()}: must be {least} to {most}"


def _both(columns: dict[str, Any], one: str, other: str) -> Iterator[tuple[int, str]]:
    if one in columns and other in columns:
        for place in _places(pc.and_(pc.is_valid(columns[one]), pc.is_valid(columns[other]))):
            yield place, f"{one}: must not stand beside {other}"


def _each(column: Any, name: str, why: Callable[[str], str | None]) -> Iterator[tuple[int, str]]:
    for place, text in enumerate(column.to_pylist()):
        if text is not None and (wrong := why(text)) is not None:
            yield place, f"{name} {_shown(text)}: {wrong}"


def why_no_payload(text: str) -> str | None:
    """Return what JSON must be that all servers hold, or None where this is it."""
    try:
        value = _parse(text)
        if text.count("{") + text.count("[") >= DEEPEST and _depth(value) > DEEPEST:
            return f"must be at most {DEEPEST} levels deep"
        if "\\u" in text:
            if has_nul(text):
                return f"must not contain {NUL}"
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "must not contain half of a surrogate pair"
    except RecursionError:
        return f"must be at most {DEEPEST} levels deep"
    except ValueError:
        return "must be JSON"
    return None


def why_no_headers(text: str) -> str | None:
    """Return what headers must be, or None where they are it."""
    wrong = why_no_payload(text)
    if wrong is not None:
        return wrong
    value = _parse(text)
    if value is not None and (
        not isinstance(value, dict) or any(isinstance(one, dict | list) for one in value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    ):
        return "must be a JSON object with scalar values"
    return None


def _no_number(name: str) -> Any:
    raise ValueError(name)


# integers may be longer than Python reads
_parse: Final[Callable[[str], Any]] = functools.partial(
    json.loads, parse_constant=_no_number, parse_int=float
)


def _depth(value: Any) -> int:
    inside: list[Any] = list(value.values()) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return 1 + max(map(_depth, inside), default=0) if isinstance(value, dict | list) else 1


def _places(wrong: Any) -> list[int]:
    return pc.indices_nonzero(wrong).to_pylist()


def _shown(value: str | None) -> str:
    return "NULL" if value is None else f'"{value[:40]}"'
