"""Rows become text for the server a column at a time, whatever is in them."""

from __future__ import annotations

import json
import math
from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    YearMonthIntervalType,
)

from pyqueue_sql import InvalidParameter
from pyqueue_sql.spark.arrow import csv, pa
from pyqueue_sql.spark.checking import LAST_US
from pyqueue_sql.spark.sink import failures
from pyqueue_sql.spark.writing import BYTES, ROWS, check_columns, plain, to_csv, to_values

STRANGE = ["plain", 'it\'s \\ "quoted"', "null", "", "\0\n\r\t,", "ä😀", None]


def test_values_are_literals_of_mysql() -> None:
    table = pa.table(
        {
            "p_key": ["it's \\ a", None, "\0"],
            "priority": pa.array([1, None, -3], pa.int32()),
            "payload_bytes": [b"\0\xff'", None, b""],
            "delay_seconds": [1.5, None, 2.0],
        }
    )
    assert list(to_values(table)) == [
        rb"('it\'s \\ a',1,x'00ff27',1.5),(null,null,null,null),('\0',-3,x'',2)",
    ]


@pytest.mark.parametrize("size", [1, 1000])
def test_an_insert_has_neither_too_many_rows_nor_too_many_bytes(size: int) -> None:
    table = pa.table({"p_key": ["x" * size] * (2 * ROWS + 1)})
    found = list(to_values(table))
    assert sum(one.count(b"(") for one in found) == 2 * ROWS + 1
    assert max(one.count(b"(") for one in found) <= ROWS
    assert max(map(len, found)) <= BYTES


def test_a_row_that_is_larger_than_that_goes_alone() -> None:
    large = "y" * (BYTES + 10)
    assert [len(one) for one in to_values(pa.table({"p_key": ["a", large, "b"]}))] == [5, len(large) + 4, 5]
    assert list(to_values(pa.table({"p_key": pa.array([], pa.string())}))) == []


def test_csv_tells_null_from_an_empty_string() -> None:
    text = bytes(to_csv(pa.table({"p_key": STRANGE, "n": pa.array([*range(6), None], pa.int64())})))
    read = csv.read_csv(
        pa.BufferReader(text),
        csv.ReadOptions(column_names=["p_key", "n"]),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types={"p_key": pa.string()}, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    assert read.column("p_key").to_pylist() == STRANGE
    assert text.splitlines()[0] == b'"plain",0'
    assert bytes(to_csv(pa.table({"payload_bytes": [b"\0\xff", None]}))) == b'"\\x00ff"\n\n'


def test_a_batch_gets_its_kind_its_part_and_microseconds() -> None:
    at = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", "UTC")).cast(
        pa.timestamp("us", "UTC"), safe=False
    )
    batch = pa.record_batch([["a"], at, ["gone"]], names=["p_key", "scheduled_at", "receipt"])
    rows: list[dict[str, Any]] = plain(batch, StructType(), kind="mail", part=7)[0].to_pylist()
    assert rows == [{"part": 7, "p_kind": "mail", "p_key": "a", "scheduled_at": 1_700_000_000_123_456}]


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (pa.array([7, None], pa.int64()), ["7", None]),
        (pa.array([-1], pa.int8()), ["-1"]),
        (
            pa.array(
                [2.5, 2, -0.0, 1e7, 9999999.5, 1e-3, 9.99e-4, 1e22, math.nan, -math.inf, None], pa.float64()
            ),
            [
                "2.5",
                "2.0",
                "-0.0",
                "1.0E7",
                "9999999.5",
                "0.001",
                "9.99E-4",
                "1.0E22",
                "NaN",
                "-Infinity",
                None,
            ],
        ),
        (pa.array([0.1, 123456.79], pa.float32()), ["0.1", "123456.79"]),
        (pa.array([Decimal("1.50"), None]), ["1.50", None]),
        (pa.array([Decimal("1E-7"), 0], pa.decimal128(38, 10)), ["0.0000001000", "0.0000000000"]),
        (pa.array([time(10), time(10, 0, 0, 500_000)], pa.time64("ns")), ["10:00:00", "10:00:00.5"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2026, 1, 2)]), ["2026-01-02"]),
        (pa.array([3_334_960], pa.int32()).cast(pa.date32()), ["+11100-10-24"]),
        (pa.array([1_700_000_000_123_456], pa.timestamp("us", "UTC")), ["2023-11-14T22:13:20.123456Z"]),
        (pa.array([1_700_000_000_123_456], pa.timestamp("us")), ["2023-11-14T22:13:20.123456"]),
        (pa.array([b"a"]), ["a"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
    ],
)
def test_a_key_of_any_atomic_type_becomes_text(column: Any, keys: list[str | None]) -> None:
    batch = pa.record_batch([column], names=["p_key"])
    rows, unfit = plain(batch, StructType(), kind=None, part=None)
    assert rows.column("p_key").to_pylist() == keys
    assert unfit == {}


NO_TEXT: Any = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"]).buffers())


@pytest.mark.parametrize(
    ("name", "type_", "column", "why", "is_shown"),
    [
        ("p_kind", StringType(), NO_TEXT, r'p_kind "\xff": must be UTF-8', "\\xff"),
        ("p_key", StringType(), NO_TEXT, r'p_key "\xff": must be UTF-8', "\\xff"),
        ("p_key", BinaryType(), NO_TEXT.cast(pa.binary()), r'p_key "\xff": must be UTF-8', "\\xff"),
        ("payload", StringType(), NO_TEXT, r'payload "\xff": must be UTF-8', "\\xff"),
        (
            "payload",
            StructType([StructField("s", StringType()), StructField("at", DateType())]),
            pa.StructArray.from_arrays(
                [NO_TEXT, pa.array([1, 4_000_000], pa.int32()).cast(pa.date32())], ["s", "at"]
            ),
            r'payload.s "\xff": must be UTF-8',
            r'{"s": "\\xff", "at": 4000000}',
        ),
        (
            "headers",
            MapType(StringType(), StringType()),
            pa.MapArray.from_arrays([0, 1, 2], pa.array(["a", "b"]), NO_TEXT),
            r'headers.* "\xff": must be UTF-8',
            r'[["b", "\\xff"]]',
        ),
    ],
)
def test_a_value_that_no_server_can_have_is_named_and_shown(
    name: str, type_: DataType, column: Any, why: str, is_shown: str
) -> None:
    schema = StructType([StructField(name, type_)])
    rows, unfit = plain(pa.record_batch([column], names=[name]), schema, kind=None, part=None)
    assert unfit == {1: why}
    assert rows.column(name)[1].as_py() == is_shown


def test_times_of_all_years_are_written_or_out_of_range() -> None:
    days = pa.array([0, 2_932_896, 2_932_897, 400_000_000, -800_000, None], pa.int32()).cast(pa.date32())
    moments = pa.array([0, LAST_US, LAST_US + 1, -(2**62), None], pa.int64())
    for column in (days, moments.cast(pa.timestamp("us")), moments.cast(pa.timestamp("us", "UTC"))):
        batch = pa.record_batch([column, pa.array(["1"] * len(column))], names=["scheduled_at", "payload"])
        rows, unfit = plain(batch, StructType(), kind=None, part=None)
        assert unfit == {}
        within = [one is None or 0 <= one <= LAST_US for one in rows.column("scheduled_at").to_pylist()]
        assert within == [True, True, False, *([False, False] if column is days else [False]), True]
    far = StructType([StructField("a", DateType()), StructField("b", TimestampType())])
    there = {"a": days.slice(1, 4), "b": moments.slice(0, 4).cast(pa.timestamp("us", "America/New_York"))}
    batch = pa.record_batch(
        [pa.StructArray.from_arrays(list(there.values()), list(there))], names=["payload"]
    )
    schema = StructType([StructField("payload", far)])
    rows, unfit = plain(batch, schema, kind=None, part=None)
    assert unfit == {}
    assert [list(json.loads(one).values()) for one in rows.column("payload").to_pylist()] == [
        ["9999-12-31", "1970-01-01T00:00:00+00:00"],
        ["+10000-01-01", "9999-12-31T23:59:59.999999+00:00"],
        ["+1097132-10-21", "+10000-01-01T00:00:00+00:00"],
        ["-0221-09-04", "-144169-06-28T09:59:32.612096+00:00"],
    ]


def test_a_float_is_written_with_its_own_digits() -> None:
    column = pa.array(
        [{"f": one} for one in (0.1, 2, 1e10, math.nan, -math.inf)], pa.struct([("f", pa.float32())])
    )
    schema = StructType([StructField("payload", StructType([StructField("f", FloatType())]))])
    rows, _ = plain(pa.record_batch([column], names=["payload"]), schema, kind=None, part=None)
    assert rows.column("payload").to_pylist() == [
        f'{{"f":{one}}}' for one in ("0.1", "2", "1e+10", '"NaN"', '"-Infinity"')
    ]


def test_a_column_of_intervals_is_told_what_to_do() -> None:
    day = DayTimeIntervalType()
    payload = StructField("payload", StringType())
    for name, type_, path in (
        ("p_key", day, "p_key"),
        ("payload", StructType([StructField("a", ArrayType(YearMonthIntervalType()))]), "payload.a[]"),
        ("headers", MapType(StringType(), day), "headers.*"),
    ):
        fields = {"payload": payload, name: StructField(name, type_)}
        with pytest.raises(InvalidParameter) as raised:
            check_columns(StructType(list(fields.values())), ending=False, kind=True)
        assert str(raised.value).startswith(f'column "{path}" interval')
        assert str(raised.value).endswith(": must be no interval; cast it to string")


def test_an_error_stands_beside_the_receipt_that_it_gives_back() -> None:
    payload, error, receipt = (StructField(name, StringType()) for name in ("payload", "error", "receipt"))
    check_columns(StructType([payload, error, receipt]), ending=True, kind=True)
    with pytest.raises(InvalidParameter, match='column "error": must stand beside "receipt"'):
        check_columns(StructType([payload, error]), ending=True, kind=True)
    assert failures([("1", "x" * 2000)]) == [{"receipt": "1", "error": "x" * 1000}]
    with pytest.raises(InvalidParameter, match='column "receipt" NULL: must not be beside error "bad luck"'):
        failures([("1", "fine"), (None, "bad luck")])


def test_a_key_may_be_of_any_atomic_type_and_of_no_other() -> None:
    payload = StructField("payload", StringType())
    for type_ in (StringType(), LongType(), DoubleType(), BooleanType(), DateType(), TimestampType()):
        check_columns(StructType([StructField("p_key", type_), payload]), ending=False, kind=True)
    with pytest.raises(InvalidParameter, match='column "p_key" array<string>: must be atomic'):
        check_columns(
            StructType([StructField("p_key", ArrayType(StringType())), payload]), ending=False, kind=True
        )
