"""Rows become text for the server a column at a time, whatever is in them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DateType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyqueue_sql import InvalidParameter
from pyqueue_sql.spark.arrow import csv, pa
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
    rows: list[dict[str, Any]] = plain(batch, StructType(), kind="mail", part=7).to_pylist()
    assert rows == [{"part": 7, "p_kind": "mail", "p_key": "a", "scheduled_at": 1_700_000_000_123_456}]


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (pa.array([7, None], pa.int64()), ["7", None]),
        (pa.array([-1], pa.int8()), ["-1"]),
        (pa.array([2.5], pa.float64()), ["2.5"]),
        (pa.array([Decimal("1.50")]), ["1.50"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2026, 1, 2)]), ["2026-01-02"]),
        (pa.array([1_700_000_000_123_456], pa.timestamp("us", "UTC")), ["2023-11-14T22:13:20.123456Z"]),
        (pa.array([1_700_000_000_123_456], pa.timestamp("us")), ["2023-11-14T22:13:20.123456"]),
        (pa.array([b"a"]), ["a"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
    ],
)
def test_a_key_of_any_atomic_type_becomes_text(column: Any, keys: list[str | None]) -> None:
    batch = pa.record_batch([column], names=["p_key"])
    assert plain(batch, StructType(), kind=None, part=None).column("p_key").to_pylist() == keys


def test_a_key_may_be_of_any_atomic_type_and_of_no_other() -> None:
    payload = StructField("payload", StringType())
    for type_ in (StringType(), LongType(), DoubleType(), BooleanType(), DateType(), TimestampType()):
        check_columns(StructType([StructField("p_key", type_), payload]), ending=False, kind=True)
    with pytest.raises(InvalidParameter, match='column "p_key" array<string>: must be atomic'):
        check_columns(
            StructType([StructField("p_key", ArrayType(StringType())), payload]), ending=False, kind=True
        )
