"""Values that no routine should stumble over, and which of them are sound for which parameter."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "x" * 10_000_000
LAST_US = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""


def nested(depth: int, of: type) -> Any:
    """JSON of that depth, a scalar being one level."""
    value: Any = 1
    for _ in range(depth - 1):
        value = [value] if of is list else {"a": value}
    return value


LONGEST = ["x" * length for most in (95, 100, 200) for length in (most, most + 1)]
"""Texts that are as long as one may be, and one character longer."""
TEXTS: list[Any] = [
    "", " ", "  a ", "a\x00b", "\x00", "lone \ud800", "\udfff", "escaped \udcff\udcfe", "\t\n\r",
    "\x01\x1f\x7f", "'; drop table delayed_queue; --", "' or '1'='1", "\"", "'", "''", "`", "\\", "\\'",
    "\\x00", "\\ud800", "%", "%s", "%(kind)s", "%%", "100%d", "$1", ":name", "?", "{}", "{0}", "{a,b}",
    "${x}", "$$", "--", "/*", ";", "null", "NULL", "None", "true", "0", "-1", "[]", '{"a": 1}', "é",
    "e\u0301", "😀", "\u202e", "\ufeff", "\uffff", "\u200b", "K", "ß", "😀" * 95, "😀" * 200, "😀" * 201,
    *LONGEST, LONG,
]  # fmt: skip
NO_TEXTS: list[Any] = [0, -1, 5, 2**63, 1.5, True, b"bytes", b"\xff", [], ["a"], {}, {"a": 1}]

NUMBERS: list[Any] = [
    None, 0, -1, 1, 2, 3, 0.5, 0.001, 0.000_999, 1.5, -0.0, 1e-300, 1e300, 100, 1000, 10_000, 10_001,
    32_767, 32_768, -32_768, -32_769, 1_000_000, 1_000_001, 31_536_000, 31_536_000.5, 31_536_001,
    1_000_000_000, 1_000_000_001, 2**31 - 1, 2**31, 2**40, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1,
    10**30, -(10**30), 10**1000, float("nan"), float("inf"), float("-inf"), True, False, "", "1", "1e3",
    "one", "'; --", "٣", [], [1], {}, {"a": 1}, datetime(2030, 1, 1, tzinfo=UTC), b"1",
]  # fmt: skip

TIMES: list[Any] = [
    None, 0, -1, 1_767_225_600, 1_767_225_600_000, 99_999_999_999_999, 100_000_000_000_000, LAST_US,
    LAST_US + 1, -1_767_225_600_000_000, 2**63 - 1, 2**63, 10**40, 1_767_225_600_000_000,
    1_767_225_600_000_000.5, 1.7e15, 1e300, float("nan"), float("inf"), True, False, [], {},
    [1_767_225_600_000_000], "", " ", "now", "infinity", "-infinity", "epoch", "tomorrow",
    "1767225600000000", "2030-01-01", "2030-01-01T00:00:00", "2030-01-01T00:00:00Z",
    "2030-01-01 00:00:00+02", "2030-13-01T00:00:00Z", "2030-02-30T00:00:00Z", "2030-01-01T25:00:00Z",
    "2030-01-01T23:59:60Z", "2030-01-01T00:00:00+99:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-12:00", "0000-00-00T00:00:00Z", "2030-01-01T00:00:00 Europe/Paris",
    "2030-01-01T00:00:00Z' --", "\uff12030-01-01T00:00:00Z", "2030-01-01T00:00:00.1234567Z",
    datetime(2030, 1, 1), LONG,
]  # fmt: skip

JSONS: list[Any] = [
    None, True, 0, -0.5, 1e-300, 2**53 + 1, 10**30, "", [], {}, "a\x00b", ["\x00"], {"\x00": 1},
    {"a": {"\x00": 1}}, "lone \ud800", ["\udfff"], {"\ud800": 1}, "escaped \udcff", "\\u0000", "\\ud800",
    "'; drop table x; --", "%s", "{}", "\"", nested(30, dict), nested(31, dict), nested(32, dict),
    nested(31, list), nested(32, list), nested(900, list), nested(900, dict), float("nan"), float("inf"),
    [float("-inf")], b"bytes", {1, 2}, object, {"": 1}, {"a": None}, {"😀": "😀"}, {"x" * 1000: 1}, LONG,
    [LONG[:100]] * 1000, {"a": datetime(2030, 1, 1)}, {"p_key": 1}, {"$": {"#": "$$"}},
]  # fmt: skip

SCALARS_WANTED: list[Any] = [
    {}, {"a": 1}, {"a": None}, {"": ""}, {"a": "'; --"}, {"%s": "%s"}, {"{}": "{0}"}, {"a": True},
    {"a": -0.5}, {"é": "😀"}, {"x" * 1000: "y"}, {"a": []}, {"a": {}}, {"a": [1]}, {"a": {"b": 1}},
    {"a": 1, "b": {}}, [], [1], "x", "", 0, 1.5, True, False, {"a": "\x00"}, {"\x00": 1}, {"a": "\ud800"},
    {"\ud800": 1}, {"a": float("nan")}, {"a": b""}, {"a": LONG}, nested(40, dict), nested(900, list),
    {"a": 10**30},
]  # fmt: skip

FLAGS: list[Any] = [None, True, False, 0, 1, "", "true", "false", "t", [], {}, 1.0, [True]]

MODES: list[Any] = [
    None, "ignore", "replace", "keep_time", "push_back", "", "IGNORE", "ignore ", "replaced", "'; --",
    "%s", 0, 1, True, [], ["ignore"], {}, "x" * 300, "\x00", "\ud800", LONG,
]  # fmt: skip


def receipts(good: str) -> list[Any]:
    """Forged receipts, from one that is good but of another message."""
    entry, secret = good.split("-")
    return [
        None, "", " ", "-", "0", "x", good[:-1], good[1:] + "0" * 40, good + " ", " " + good, good + "\n",
        good.upper() + "G", good.upper(), entry + "-" + "A" * 32, entry + "-" + "g" * 32,
        entry + "-" + "٣" * 32, "٣" + "-" + secret, "\uff11-" + secret, "0-" + "0" * 32, "0-" + secret,
        "-1-" + secret,
        "+1-" + secret, "1.0-" + secret, "1e3-" + secret, "0x1-" + secret, str(2**63 - 1) + "-" + secret,
        str(2**63) + "-" + secret, "9" * 18 + "-" + secret, "9" * 19 + "-" + secret,
        "0" * 30 + entry + "-" + secret, entry + "-" + secret[::-1], entry + "-" + "0" * 32,
        str(int(entry) + 1) + "-" + secret, entry + "_" + secret, entry + "--" + secret,
        secret + "-" + entry, entry, secret, "-" + secret, "'; --", "%s", "{}", "a\x00b",
        good.replace("-", "\x00"), "\ud800", "\udcff", "\\x" + secret, "null", "[]", good + "," + good,
        LONG, 0, 5, 1.5, True, b"bytes", [], [good], {}, {"receipt": good},
    ]  # fmt: skip


def storable(value: Any) -> bool:
    """Whether a text can be stored anywhere: UTF-8 and no NUL."""
    try:
        return isinstance(value, str) and "\x00" not in value and value.encode() is not None
    except UnicodeEncodeError:
        return False


def text_of(most: int, least: int = 1) -> Callable[[Any], bool]:
    """Texts of so many characters."""
    return lambda value: storable(value) and least <= len(value) <= most


def is_json(value: Any, depth: int = 31) -> bool:
    """Whether it can be stored as JSON of that depth."""
    if depth == 0 or (isinstance(value, float) and not math.isfinite(value)):
        return False
    if isinstance(value, list):
        return all(is_json(one, depth - 1) for one in value)
    if isinstance(value, dict):
        return all(storable(name) and is_json(one, depth - 1) for name, one in value.items())
    return value is None or isinstance(value, bool | int | float) or storable(value)


def is_headers(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and is_json(value, 2)
        and not any(isinstance(one, dict | list) for one in value.values())
    )


def number(least: float, most: float, whole: bool = False, none: bool = True) -> Callable[[Any], bool]:
    """Numbers in that range; JSON's true is none."""

    def sound(value: Any) -> bool:
        if value is None:
            return none
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            return False
        return least <= value <= most and (not whole or value == int(value))

    return sound


def is_time(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("2030-01-01T00:00:00Z", "2030-01-01 00:00:00+02", "9999-12-31T23:59:59Z", SIXTY)
    return value is None or number(10**14, LAST_US, whole=True)(value)


SIXTY = "2030-01-01T23:59:60Z"
"""A leap second is the next minute to PostgreSQL."""


def is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def is_where(value: Any) -> bool:
    """Whether it can be a filter; none of the values here has too many values."""

    def flat(one: Any) -> bool:
        if isinstance(one, dict):
            return all(flat(inner) for inner in one.values())
        return not isinstance(one, list) or not any(isinstance(inner, dict | list) for inner in one)

    return value is None or (isinstance(value, dict) and is_json(value, 31) and flat(value))


def is_mode(value: Any) -> bool:
    return value is None or value in ("ignore", "replace", "keep_time", "push_back")
