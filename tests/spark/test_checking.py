"""A row that can be no message is found in its task, with its key, before the server sees it."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidParameter
from pyqueue_sql.spark.arrow import pa
from pyqueue_sql.spark.checking import FIRST_US, LAST_US, dead_rows, sound
from tests.conformance.hostile import JSONS, TEXTS, is_headers, is_json, nested, text_of
from tests.conformance.steps import drain
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tests.conformance.harness import Session

GOOD: dict[str, Any] = {
    "p_kind": "mail",
    "p_key": "k",
    "payload": "1",
    "payload_bytes": None,
    "headers": '{"a": 1}',
    "priority": 32_767,
    "delay_seconds": Decimal("1.5"),
    "scheduled_at": None,
    "attempts": 0,
    "max_attempts": 1,
}
TYPES = {
    **dict.fromkeys(("p_kind", "p_key", "payload", "headers"), pa.string()),
    "payload_bytes": pa.binary(),
    "delay_seconds": pa.decimal128(20, 6),
    **dict.fromkeys(("priority", "scheduled_at", "attempts", "max_attempts"), pa.int64()),
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"p_key": ""}, 'key "": key "": must have 1 to 200 characters'),
    ({"p_key": "x" * 201}, "must have 1 to 200 characters"),
    ({"p_key": "a\0b"}, "must not contain the character NUL"),
    ({"p_kind": None}, 'key "k": kind NULL: must have 1 to 95 characters'),
    ({"p_kind": "x" * 96}, "must have 1 to 95 characters"),
    ({"priority": 2**40}, 'key "k": priority 1099511627776: must be -32768 to 32767'),
    ({"priority": -32_769}, "must be -32768 to 32767"),
    ({"attempts": -1}, "attempts -1: must be 0 to 1000000000"),
    ({"max_attempts": 0}, "max_attempts 0: must be 1 to 1000000000"),
    ({"delay_seconds": Decimal("-0.1")}, "must be 0 to 1000000000"),
    (
        {"delay_seconds": None, "scheduled_at": 1_767_225_600},
        "scheduled_at 1767225600: must be 100000000000000 to",
    ),
    ({"scheduled_at": 1_767_225_600_000_000}, "delay_seconds: must not stand beside scheduled_at"),
    ({"payload_bytes": b"x"}, "payload: must not stand beside payload_bytes"),
    ({"payload": "{"}, 'payload "{": must be JSON'),
    ({"payload": "NaN"}, "must be JSON"),
    ({"payload": json.dumps(nested(32, dict))}, "must be at most 31 levels deep"),
    ({"payload": "[" * 100_000}, "must be"),
    ({"payload": '"\\u0000"'}, "must not contain"),
    ({"payload": '"\\ud800"'}, "half of a surrogate pair"),
    ({"headers": "[]"}, "must be a JSON object with scalar values"),
    ({"headers": '{"a": []}'}, "must be a JSON object with scalar values"),
]


def table(*rows: dict[str, Any]) -> Any:
    return pa.table({name: pa.array([one[name] for one in rows], type_) for name, type_ in TYPES.items()})


@each(("wrong", "why"), WRONG)
def test_a_row_that_is_no_message_is_named_with_the_reason(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidParameter) as raised:
        sound(table(GOOD, GOOD | wrong, GOOD), {}, dead=None)
    assert why in str(raised.value)
    assert len(str(raised.value)) < 300


def test_a_row_that_is_a_message_stays() -> None:
    rows = [
        GOOD,
        GOOD | {"p_key": None, "payload": None, "headers": None, "priority": None, "max_attempts": None},
        GOOD
        | {
            "p_key": "😀" * 200,
            "p_kind": "😀" * 95,
            "payload": json.dumps(nested(31, list)),
            "headers": "null",
        },
        GOOD | {"payload": '"\\\\u0000 \\ud83d\\ude00 {[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{["', "headers": "{}"},
        GOOD | {"payload": "9" * 5000, "delay_seconds": None, "scheduled_at": 100_000_000_000_000},
    ]
    assert sound(table(*rows), {}, dead=None).num_rows == len(rows)


def test_a_delay_may_be_of_any_type_of_numbers() -> None:
    for type_ in (pa.float32(), pa.float64(), pa.int8(), pa.decimal128(38, 30), pa.decimal128(38, 0)):
        one = pa.table({"p_kind": ["mail"], "delay_seconds": pa.array([1], type_)})
        assert sound(one, {}, dead=None).num_rows == 1
        with pytest.raises(InvalidParameter, match=r"delay_seconds -1(\.0)?: must be 0 to 1000000000"):
            sound(one.set_column(1, "delay_seconds", pa.array([-1], type_)), {}, dead=None)


def test_a_bad_row_becomes_a_dead_letter_with_all_that_it_had() -> None:
    dead: list[dict[str, Any]] = []
    bad = GOOD | {"p_key": "a\0b", "priority": 2**40}
    assert sound(table(GOOD, bad, bad, bad | {"payload": "2"}), {}, dead=dead).to_pylist() == [GOOD]
    [rows] = dead_rows(dead, 7)
    assert set(rows.column("p_kind").to_pylist()) == {"mail.dead"}
    assert len(set(rows.column("p_key").to_pylist())) == 2  # the same row twice is one
    assert all(one.startswith("a\ufffdb~") for one in rows.column("p_key").to_pylist())
    assert json.loads(rows.column("payload")[0].as_py())["priority"] == 2**40
    sound(table(GOOD | {"p_key": "x" * 201}), {}, dead=dead)
    assert 180 < len(dead[-1]["p_key"]) <= 200
    with pytest.raises(InvalidParameter, match="no dead-letter kind"):
        sound(table(GOOD | {"p_kind": ""}), {}, dead=dead)


def parsed(text: str) -> Any:
    """Return what a text is as JSON, and of what is none something that isn't JSON either."""
    try:
        return json.loads(text)
    except ValueError:
        return math.nan


def test_a_row_that_cannot_be_converted_is_a_bad_row(
    spark: SparkSession, queue: Session, write: Callable[..., None]
) -> None:
    rows = spark.sql(
        "select p_key, struct(text as text) as payload, at as scheduled_at, cast(2.5 as decimal(38, 30)) as"
        " delay_seconds from values (x'61', cast(x'ff' as string), null), (x'ff', 'no key', null),"
        " (x'62', 'late', timestamp_ntz'9999-12-31 00:00:00' + interval 1000 years), (x'63', 'good', null)"
        " as t (p_key, text, at)"
    )
    with pytest.raises(Exception, match=r'key "a": payload.text "\\xff": must be UTF-8'):
        write(rows.where("p_key = x'61'"), kind="mail")
    write(rows, kind="mail", badRows="dead")
    assert [one.key for one in queue.peek("mail", 10)] == ["c"]
    dead = {one.key.partition("~")[0]: one for one in drain(queue, "mail.dead")}
    assert {key: one.headers for key, one in dead.items()} == {
        "a": {"error": r'payload.text "\xff": must be UTF-8'},
        "\\xff": {"error": r'p_key "\xff": must be UTF-8'},
        "b": {"error": f"scheduled_at 284959209600000000: must be {FIRST_US} to {LAST_US}"},
    }
    assert dead["b"].payload["payload"] == '{"text":"late"}'


def test_bad_rows_are_dead_letters_and_no_others(queue: Session, write: Callable[..., None]) -> None:
    texts = [one for one in TEXTS if len(one) < 10_000 and not re.search("[\ud800-\udfff]", one)]
    values = [
        json.dumps(one)
        for one in JSONS
        if one is None
        or (
            isinstance(one, str | int | list | dict)
            and "datetime" not in repr(one)
            and len(repr(one)) < 10_000
        )
    ]
    payloads = [*texts, *values, '"\\ud800"', "NaN", "[1.]", "1e5"]
    rows = [
        *({"p_key": f"payload {n}", "payload": one, "priority": 1} for n, one in enumerate(payloads)),
        *({"p_key": f"headers {n}", "payload": "1", "headers": one} for n, one in enumerate(payloads)),
        *({"p_key": key, "payload": '"key"'} for key in {*texts, "a\0b"}),
        {"p_key": "large", "payload": "1", "priority": 2**40},
    ]
    names = ("p_key", "payload", "headers", "priority")
    rows = [{name: one.get(name) for name in names} for one in rows]
    schema = "p_key string, payload string, headers string, priority long"
    with pytest.raises(Exception, match=r"priority 1099511627776: must be -32768 to 32767") as raised:
        write(rows[-1:], schema, kind="mail")
    assert 'key "large"' in str(raised.value)
    write(rows, schema, kind="mail", badRows="dead")
    alive = {one.key for one in drain(queue, "mail")}
    dead = drain(queue, "mail.dead")
    good = {f"payload {n}" for n, one in enumerate(payloads) if is_json(parsed(one))}
    good |= {
        f"headers {n}" for n, one in enumerate(payloads) if parsed(one) is None or is_headers(parsed(one))
    }
    good |= set(filter(text_of(200), texts))
    assert alive == good
    assert len(dead) == len(rows) - len(good)
    [large] = [one for one in dead if one.payload["p_key"] == "large"]
    assert large.headers == {"error": "priority 1099511627776: must be -32768 to 32767"}
    assert large.payload["priority"] == 2**40
