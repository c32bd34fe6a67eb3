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
}
_MESSAGE: Final = (
    "p_kind text, p_key text, payload text, payload_bytes bytes, headers text, priority short,"
    " scheduled_at long,"
    " scheduled_at_initially long, created_at long, reserved_at long, attempts int, reserved_by text"
)
RESERVED: Final = f"{_MESSAGE}, receipt text, errors text"
PEEKED: Final = f"{_MESSAGE}, state text, errors text"
ENDED: Final = (
    "p_kind text, p_key text, entry long, outcome text, to_kind text, payload text, payload_bytes bytes,"
    " headers text, priority short, scheduled_at_initially long, created_at long, reserved_at long,"
    " finished_at long, attempts int, reserved_by text, errors text"
)


def columns(text: str) -> list[tuple[str, str]]:
    """Return the columns that a text like PEEKED names, each with its type."""
    return [(name, type_) for name, _, type_ in (one.strip().partition(" ") for one in text.split(","))]


def spark_schema(text: str) -> StructType:
    """Return the schema of a DataFrame with these columns."""
    return StructType([StructField(name, _TYPES[type_][0]) for name, type_ in columns(text)])


def arrow_schema(text: str) -> Any:
    """Return the schema of record batches with these columns."""
    return pa.schema([(name, _TYPES[type_][1]) for name, type_ in columns(text)])
