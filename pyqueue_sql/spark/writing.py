"""Record batches as text for the server, a column at a time: CSV for COPY, or the values of an INSERT."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    BinaryType,
    DataType,
    DateType,
    IntegralType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from pyqueue_sql.errors import InvalidParameter
from pyqueue_sql.spark.arrow import csv, pa, pc
from pyqueue_sql.spark.jsons import session_zone, writer, zoned

INBOX: Final[dict[str, tuple[type[DataType], ...]]] = {
    "p_kind": (StringType,),
    "p_key": (AtomicType,),
    "payload": (StringType, StructType, MapType, ArrayType, VariantType),
    "payload_bytes": (BinaryType,),
    "headers": (StringType, StructType, MapType),
    "priority": (IntegralType,),
    "delay_seconds": (NumericType,),
    "scheduled_at": (IntegralType, TimestampType, TimestampNTZType, DateType),
    "attempts": (IntegralType,),
    "max_attempts": (IntegralType,),
}
"""What a DataFrame may have, with the types that it may have there: the columns of queue_inbox."""
ENDING: Final[dict[str, tuple[type[DataType], ...]]] = {"receipt": (StringType,), "error": (StringType,)}
"""What else it may have where the write ends a batch."""
ROWS: Final = 5_000
BYTES: Final = 2_000_000
"""Of one INSERT: less than any server's max_allowed_packet."""


def check_columns(schema: StructType, *, ending: bool, kind: bool) -> None:
    """Refuse a DataFrame that isn't made of messages.

    Args:
        schema: the DataFrame's.
        ending: whether the write ends a batch.
        kind: whether the option says which kind.

    Raises:
        InvalidParameter: a column is unknown, missing or of another type.
    """
    allowed = INBOX | ENDING if ending else INBOX
    for one in schema.fields:
        if one.name not in allowed:
            raise InvalidParameter(f'column "{one.name}": unknown, allowed are {", ".join(allowed)}')
        if not isinstance(one.dataType, allowed[one.name]):
            wanted = " or ".join(type_.__name__.removesuffix("Type").lower() for type_ in allowed[one.name])
            hint = "; to_json() makes a string of what is none" if one.name in ("payload", "headers") else ""
            raise InvalidParameter(
                f'column "{one.name}" {one.dataType.simpleString()[:40]}: must be {wanted}{hint}'
            )
    names = set(schema.fieldNames())
    if ("p_kind" in names) == kind:
        raise InvalidParameter('column "p_kind" or option "kind": exactly one of the two')
    if not names & {"payload", "payload_bytes"}:
        raise InvalidParameter('column "payload" or "payload_bytes": one of the two')


def plain(batch: Any, schema: StructType, *, kind: str | None, part: int | None) -> Any:
    """Return a batch as the rows of queue_inbox, or of queue_stage.

    Args:
        batch: of messages.
        schema: the DataFrame's.
        kind: that of all of them; None: they have it.
        part: of the stage; None: there is none.
    """
    columns = {name: batch.column(name) for name in batch.schema.names if name in INBOX}
    if (key := columns.get("p_key")) is not None:
        columns["p_key"] = _key(key)
    if kind is not None:
        columns = {"p_kind": pa.repeat(pa.scalar(kind), batch.num_rows), **columns}
    if part is not None:
        columns = {"part": pa.repeat(pa.scalar(part, pa.int64()), batch.num_rows), **columns}
    if (at := columns.get("scheduled_at")) is not None and not pa.types.is_integer(at.type):
        columns["scheduled_at"] = _ticks(at, session_zone())
    for one in schema.fields:
        if one.name in ("payload", "headers") and not isinstance(one.dataType, StringType):
            write = writer(one.dataType)
            values = columns[one.name].to_pylist()
            texts = [None if value is None else write(value) for value in values]
            columns[one.name] = pa.array(texts, pa.string())
    return pa.table(columns)


def _ticks(column: Any, zone: str | None) -> Any:
    """Return times as microseconds; what has no zone has the session's, else that of the machine."""
    column = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)))
    if column.type.tz is None:
        # not Arrow's assume_timezone: it knows no summer time after 2037
        column = pa.array([one and zoned(one, zone) for one in column.to_pylist()], pa.timestamp("us", "UTC"))
    return column.cast(pa.int64())


def _key(column: Any) -> Any:
    """Return keys as text: numbers and dates as Spark writes them, times in ISO 8601, bytes as UTF-8."""
    if pa.types.is_timestamp(column.type):
        zone = "Z" if column.type.tz else ""
        return pc.strftime(
            column.cast(pa.timestamp("us", column.type.tz and "UTC")), f"%Y-%m-%dT%H:%M:%S{zone}"
        )
    return column.cast(pa.string())


def to_csv(table: Any) -> Any:
    """Return rows as CSV for COPY: what is null is empty, an empty string is a pair of quotes."""
    sink = io.BytesIO()
    columns = [
        _hex(column, r"\x")
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        else column
        for column in table.columns
    ]
    csv.write_csv(pa.table(columns, table.schema.names), sink, csv.WriteOptions(include_header=False))
    return sink.getbuffer()


def to_values(table: Any) -> Iterator[bytes]:
    """Yield the rows as `(…),(…)`, some thousands at a time, for a session without NO_BACKSLASH_ESCAPES."""
    if table.num_rows == 0:
        return
    literals = [_literal(column.combine_chunks()) for column in table.columns]
    rows = pc.binary_join_element_wise(*literals, _text(","))
    rows = _joined("(", rows, ")")
    start = 0
    ends = pc.cumulative_sum(pc.add(pc.cast(pc.binary_length(rows), pa.int64()), 1)).to_numpy()
    while start < len(rows):
        before = ends[start - 1] if start else 0
        stop = int(ends.searchsorted(before + BYTES, side="right"))
        stop = min(max(stop, start + 1), start + ROWS, len(rows))
        chunk = pa.LargeListArray.from_arrays(
            pa.array([0, stop - start], pa.int64()), rows.slice(start, stop - start)
        )
        yield pc.binary_join(chunk, _text(","))[0].as_buffer().to_pybytes()
        start = stop


def _hex(column: Any, before: str) -> Any:
    # Arrow has no function for it, and binary payloads are the rare ones
    return pa.chunked_array(
        [
            pa.array(
                [None if one is None else before + one.hex() for one in column.to_pylist()], pa.large_string()
            )
        ]
    )


def _literal(column: Any) -> Any:
    type_ = column.type
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        text = _joined("x'", _hex(column, "").combine_chunks(), "'")
    elif pa.types.is_string(type_) or pa.types.is_large_string(type_):
        text = column.cast(pa.large_string())
        for what, by in _ESCAPES:
            text = pc.replace_substring(text, what, by)
        text = _joined("'", text, "'")
    else:
        text = column.cast(pa.large_string())
    return pc.fill_null(text, _text("null"))


def _text(value: str) -> Any:
    return pa.scalar(value, pa.large_string())


def _joined(before: str, text: Any, after: str) -> Any:
    return pc.binary_join_element_wise(_text(before), text, _text(after), _text(""))


_ESCAPES: Final[Sequence[tuple[str, str]]] = (("\\", "\\\\"), ("'", "\\'"), ("\0", "\\0"))
