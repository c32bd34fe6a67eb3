"""Record batches as text for the server, a column at a time: CSV for COPY, or the values of an INSERT."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from decimal import Decimal
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
from pyqueue_sql.spark.arrow import csv, held, pa, pc
from pyqueue_sql.spark.checking import LAST_US
from pyqueue_sql.spark.jsons import (
    DAY,
    EPOCH,
    MICROSECOND,
    Misfit,
    Write,
    moment,
    session_zone,
    shown,
    utf8,
    writer,
    zoned,
)

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
FAR: Final = 2**62
"""Microseconds; what is still further away is said to be this."""
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
        if one.name in ("p_key", "payload", "headers"):
            try:
                writer(one.dataType, one.name)
            except Misfit as error:
                raise InvalidParameter(f"column {error}") from None
    names = set(schema.fieldNames())
    check_error(names)
    if ("p_kind" in names) == kind:
        raise InvalidParameter('column "p_kind" or option "kind": exactly one of the two')
    if not names & {"payload", "payload_bytes"}:
        raise InvalidParameter('column "payload" or "payload_bytes": one of the two')


def check_error(names: Collection[str]) -> None:
    """Refuse errors without the receipts of what they are given back with.

    Raises:
        InvalidParameter: there is none.
    """
    if "error" in names and "receipt" not in names:
        raise InvalidParameter('column "error": must stand beside "receipt", which says what it gives back')


def plain(
    batch: Any, schema: StructType, *, kind: str | None, part: int | None
) -> tuple[Any, dict[int, str]]:
    """Return a batch as rows of queue_inbox, or of queue_stage, and the places of those that can't be rows,
    each with the reason; what is wrong with these is as it can be shown.

    Args:
        batch: of messages.
        schema: the DataFrame's.
        kind: that of all of them; None: they have it.
        part: of the stage; None: there is none.
    """
    columns = {name: batch.column(name) for name in batch.schema.names if name in INBOX}
    unfit: dict[int, str] = {}
    if (key := columns.get("p_key")) is not None:
        columns["p_key"] = _key(key)
    if (at := columns.get("scheduled_at")) is not None and not pa.types.is_integer(at.type):
        columns["scheduled_at"] = _ticks(at, session_zone())
    for one in schema.fields:
        if one.name in ("payload", "headers") and not isinstance(one.dataType, StringType):
            columns[one.name] = _texts(columns[one.name], writer(one.dataType, one.name), unfit)
    for name in ("p_kind", "p_key", "payload", "headers"):
        if name in columns:
            columns[name] = _in_utf8(columns[name], name, unfit)
    if kind is not None:
        columns = {"p_kind": pa.repeat(pa.scalar(kind), batch.num_rows), **columns}
    if part is not None:
        columns = {"part": pa.repeat(pa.scalar(part, pa.int64()), batch.num_rows), **columns}
    return pa.table(columns), unfit


def _texts(column: Any, write: Write, unfit: dict[int, str]) -> Any:
    texts: list[str | None] = []
    for place, value in enumerate(column.cast(held(column.type)).to_pylist()):
        try:
            texts.append(None if value is None else write(value))
        except Misfit as error:
            unfit.setdefault(place, str(error))
            whole = shown(value) if isinstance(value, bytes) else json.dumps(value, default=shown)
            texts.append(whole)
    return pa.array(texts, pa.string())


def _in_utf8(column: Any, name: str, unfit: dict[int, str]) -> Any:
    try:
        text = column.cast(pa.string())
        text.validate(full=True)
    except pa.ArrowInvalid:  # Spark takes any bytes for a string
        return _texts(column.cast(pa.binary()), lambda value: utf8(value, name), unfit)
    return text


def _ticks(column: Any, zone: str | None) -> Any:
    """Return times as microseconds; what has no zone has the session's, else that of the machine."""
    if getattr(column.type, "tz", None) is not None:
        return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    step = DAY if pa.types.is_date(column.type) else MICROSECOND
    # not Arrow's assume_timezone: it knows no summer time after 2037
    local = column.cast(held(column.type)).to_pylist()
    return pa.array(
        [None if one is None else _tick(one * (step // MICROSECOND), zone) for one in local], pa.int64()
    )


def _tick(local: int, zone: str | None) -> int:
    try:
        return (zoned(EPOCH + local * MICROSECOND, zone) - EPOCH.replace(tzinfo=UTC)) // MICROSECOND
    except (ValueError, OverflowError):  # outside of the calendar, and so of what is allowed
        return min(max(local, LAST_US + 1), FAR) if local > 0 else max(local, -FAR)


def _key(column: Any) -> Any:
    """Return keys as text: as Spark's cast writes them, but for times, which are in ISO 8601."""
    type_ = column.type
    if pa.types.is_date(type_):
        return _each(column.cast(held(type_)), lambda one: moment(one, EPOCH.date(), DAY))
    if pa.types.is_timestamp(type_):
        micros = column.cast(pa.timestamp("us", type_.tz)).cast(pa.int64())
        zone = "Z" if type_.tz else ""
        return _each(micros, lambda one: moment(one, EPOCH, MICROSECOND, timespec="microseconds") + zone)
    if pa.types.is_decimal(type_):
        return _each(column, lambda one: format(one, "f"))
    if pa.types.is_floating(type_):
        return _each(column.cast(pa.string()), _as_java)
    if pa.types.is_time(type_):
        return pc.utf8_rtrim(pc.utf8_rtrim(column.cast(pa.string()), "0"), ".")
    return column


def _each(column: Any, write: Write) -> Any:
    return pa.array([None if one is None else write(one) for one in column.to_pylist()], pa.string())


def _as_java(text: str) -> str:
    """Return a floating number as Java writes it, out of any text of it: 1.0E10."""
    number = Decimal(text).normalize()
    if not number.is_finite():
        return str(number)
    digits, _, exponent = f"{number:E}".partition("E")
    if -3 <= int(exponent) < 7:
        digits, exponent = format(number, "f"), ""
    return f"{digits}{'' if '.' in digits else '.0'}{exponent and f'E{int(exponent)}'}"


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
