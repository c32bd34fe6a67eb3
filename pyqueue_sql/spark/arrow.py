"""Arrow, found when it is first wanted, and what the tables of the queue are in it and in Spark."""

from __future__ import annotations

import importlib
from typing import Any, Final

from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

# pyarrow has no types of its own
pa: Final[Any] = importlib.import_module("pyarrow")
pc: Final[Any] = importlib.import_module("pyarrow.compute")
csv: Final[Any] = importlib.import_module("pyarrow.csv")

_TYPES: Final[dict[str, tuple[Any, Any]]] = {
    "text": (StringType(), pa.string()),
    "bytes": (BinaryType(), pa.binary()),
    "short": (ShortType(), pa.int16()),
    "int": (IntegerType(), pa.int32()),
    "long": (LongType(), pa.int64()),
    "time": (TimestampType(), pa.int64()),  # microseconds, until they are shaped
}
_MESSAGE: Final = (
    "p_kind text, p_key text, payload text, payload_bytes bytes, headers text, priority short,"
    " scheduled_at time,"
    " scheduled_at_initially time, created_at time, reserved_at time, attempts int, reserved_by text"
)
RESERVED: Final = f"{_MESSAGE}, receipt text, errors text"
PEEKED: Final = f"{_MESSAGE}, state text, errors text"
ENDED: Final = (
    "p_kind text, p_key text, entry long, outcome text, to_kind text, payload text, payload_bytes bytes,"
    " headers text, priority short, scheduled_at_initially time, created_at time, reserved_at time,"
    " finished_at time, attempts int, reserved_by text, errors text"
)


def columns(text: str) -> list[tuple[str, str]]:
    """Return the columns that a text like PEEKED names, each with its type."""
    return [(name, type_) for name, _, type_ in (one.strip().partition(" ") for one in text.split(","))]


def spark_schema(text: str, times: str = "timestamp") -> StructType:
    """Return the schema of a DataFrame with these columns.

    Args:
        text: the columns.
        times: timestamp, or long: microseconds since 1970-01-01 UTC.
    """
    types = {name: type_ for name, (type_, _) in _TYPES.items()}
    if times == "long":
        types["time"] = LongType()
    return StructType([StructField(name, types[type_]) for name, type_ in columns(text)])


def arrow_schema(text: str) -> Any:
    """Return the schema of record batches with these columns."""
    return pa.schema([(name, _TYPES[type_][1]) for name, type_ in columns(text)])


def held(type_: Any) -> Any:
    """Return the type in which Python has every value of a type as it is: times are numbers, texts bytes, and
    floats of 32 bits text, since as a float of Python 0.1 is 0.10000000149011612."""
    if pa.types.is_struct(type_):
        return pa.struct([(one.name, held(one.type)) for one in type_])
    if pa.types.is_map(type_):
        return pa.map_(held(type_.key_type), held(type_.item_type))
    if pa.types.is_list(type_):
        return pa.list_(held(type_.value_type))
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return pa.int32() if pa.types.is_date(type_) else pa.int64()
    if pa.types.is_float32(type_):
        return pa.string()
    return pa.binary() if pa.types.is_string(type_) or pa.types.is_large_string(type_) else type_
