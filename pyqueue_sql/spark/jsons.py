"""JSON and Spark's types: a text as a value of a type, as `from_json` reads it, and a value as a text."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyspark import TaskContext
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
    VariantVal,
    YearMonthIntervalType,
)

from pyqueue_sql.errors import InvalidParameter

_WIDE: Final = Context(prec=76)
"""For what is rounded to Spark's 38 digits at the most, on both sides of the dot."""
EPOCH: Final = datetime(1970, 1, 1)
DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
_SINCE: Final[Mapping[type[DataType], tuple[Any, timedelta]]] = {
    TimestampType: (EPOCH.replace(tzinfo=UTC), MICROSECOND),
    TimestampNTZType: (EPOCH, MICROSECOND),
    DateType: (EPOCH.date(), DAY),
}
"""From when times are counted, and in which steps."""

Read = Callable[[Any], Any]
Write = Callable[[Any], str]

_BITS: Final[Mapping[type[DataType], int]] = {ByteType: 7, ShortType: 15, IntegerType: 31, LongType: 63}
_WORDS: Final = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}
ZONE: Final = "spark.sql.session.timeZone"
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(0?\d|1[0-8])(?::?([0-5]\d))?(?::?([0-5]\d))?")
"""A zone that is a distance from UTC, as Spark takes it."""


class Misfit(ValueError):  # noqa: N818 -- named after what happened
    """A value isn't of a type; the text says where and what it must be."""


def session_zone() -> str | None:
    """Return the zone of the session that a task belongs to; None: nobody has set one."""
    context = TaskContext.get()
    return context.getLocalProperty(ZONE) if context else None


def reader(type_: DataType, path: str = "payload") -> Read:
    """Return what makes a value of a type out of what `json.loads` answers.

    Raises:
        Misfit: nothing of the type can come out of JSON; the reader raises it for a value that doesn't fit.
    """
    if isinstance(type_, StructType):
        return _struct(type_, path)
    if isinstance(type_, ArrayType):
        inner = reader(type_.elementType, f"{path}[]")
        return _nullable(lambda value: [inner(one) for one in _of(value, list, path, "an array")])
    if isinstance(type_, MapType):
        if not isinstance(type_.keyType, StringType):
            raise Misfit(f"{path}: keys of a map must be string")
        inner = reader(type_.valueType, f"{path}.*")
        return _nullable(
            lambda value: [(key, inner(one)) for key, one in _of(value, dict, path, "an object").items()]
        )
    found = _scalar(type_, path)
    if found is None:
        raise Misfit(f"{path} {type_.simpleString()[:40]}: must be of a type that JSON can hold")
    return _nullable(found)


def _nullable(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _of(value: Any, type_: type, path: str, what: str) -> Any:
    if not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool):
        raise Misfit(f"{path}: must be {what}")
    return value


def _struct(type_: StructType, path: str) -> Read:
    fields = [(one.name, reader(one.dataType, f"{path}.{one.name}"), one.nullable) for one in type_.fields]

    def read(value: Any) -> dict[str, Any]:
        given = _of(value, dict, path, "an object")
        found = {name: inner(given.get(name)) for name, inner, _ in fields}
        for name, _, nullable in fields:
            if not nullable and found[name] is None:
                raise Misfit(f"{path}.{name}: must not be null")
        return found

    return _nullable(read)


def _scalar(type_: DataType, path: str) -> Read | None:
    if isinstance(type_, StringType):
        return lambda value: _encodable(value if isinstance(value, str) else dumps(value), path)
    if isinstance(type_, BooleanType):
        return lambda value: _of(value, bool, path, "true or false")
    if type(type_) in _BITS:
        most = 2 ** _BITS[type(type_)]

        def whole(value: Any) -> int:
            if not -most <= _of(value, int, path, "a whole number") < most:
                raise Misfit(f"{path}: must be a whole number from {-most} to {most - 1}")
            return value

        return whole
    if isinstance(type_, DoubleType | FloatType):

        def number(value: Any) -> float:
            if isinstance(value, str) and value in _WORDS:
                return _WORDS[value]
            return float(_of(value, int | float | Decimal, path, "a number"))  # pyright: ignore[reportArgumentType]

        return number
    if isinstance(type_, DecimalType):
        before, last = type_.precision - type_.scale, Decimal(1).scaleb(-type_.scale)

        def exact(value: Any) -> Decimal:
            given = Decimal(_of(value, int | Decimal, path, "a number"))  # pyright: ignore[reportArgumentType]
            try:
                found = given.quantize(last, context=_WIDE)
            except InvalidOperation:  # far too many digits
                found = None
            if found is None or not found.is_finite() or (found and found.adjusted() >= before):
                raise Misfit(f"{path}: must be a number of {before} digits before the dot")
            return found

        return exact
    if isinstance(type_, BinaryType):
        return _said(path, "base64", lambda text: base64.b64decode(text, validate=True))
    if isinstance(type_, DateType):
        return _said(path, "a date, 2026-12-31", date.fromisoformat)
    if isinstance(type_, TimestampType):
        return _said(path, "a time, 2026-12-31T23:59:59.5Z", _instant)
    if isinstance(type_, TimestampNTZType):
        return _said(path, "a time without a zone, 2026-12-31T23:59:59.5", _local)
    return None


def _said(path: str, what: str, parse: Callable[[str], Any]) -> Read:
    def read(value: Any) -> Any:
        try:
            return parse(_of(value, str, path, what))
        except (ValueError, OverflowError):  # in UTC the calendar's first and last hours may be outside of it
            raise Misfit(f"{path}: must be {what}") from None

    return read


def _encodable(text: str, path: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise Misfit(f"{path}: must be a text that UTF-8 has") from None
    return text


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return (zoned(found, session_zone()) if found.tzinfo is None else found).astimezone(UTC)


def zoned(local: datetime, zone: str | None) -> datetime:
    """Return a time of a zone; None: that of the machine.

    Raises:
        InvalidParameter: there is no such zone.
        ValueError, OverflowError: the calendar doesn't have it.
    """
    if zone is None:
        return local.astimezone()
    if offset := _OFFSET.fullmatch(zone):
        sign, hours, minutes, seconds = offset.groups(default="0")
        ahead = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
        return local.replace(tzinfo=timezone(-ahead if sign == "-" else ahead))
    try:
        return local.replace(tzinfo=ZoneInfo("UTC" if zone == "Z" else zone))
    except (ValueError, ZoneInfoNotFoundError):
        raise InvalidParameter(f'{ZONE} "{zone}": must be like Europe/Paris, UTC or +02:00') from None


def _local(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is not None:
        raise ValueError(text)
    return found


def writer(type_: DataType, path: str = "payload") -> Write:
    """Return what makes JSON out of a value of a column that is `held`: null fields of a struct are left out,
    as by `to_json`; times have their zone and their microseconds.

    Raises:
        Misfit: no value of the type is written; the writer raises it for a value that can't be.
    """
    if isinstance(type_, StructType):
        fields = [
            (json.dumps(one.name), one.name, writer(one.dataType, f"{path}.{one.name}"))
            for one in type_.fields
        ]
        return lambda value: _object(
            (shown, inner(value[name])) for shown, name, inner in fields if value[name] is not None
        )
    if isinstance(type_, ArrayType):
        inner = _or_null(writer(type_.elementType, f"{path}[]"))
        return lambda value: f"[{','.join(map(inner, value))}]"
    if isinstance(type_, MapType):
        named, inner = writer(type_.keyType, f"{path}.*"), _or_null(writer(type_.valueType, f"{path}.*"))
        return lambda value: _object((_name(named(key)), inner(one)) for key, one in value)
    if isinstance(type_, VariantType):
        return lambda value: _variant(value, path)
    if isinstance(type_, DayTimeIntervalType | YearMonthIntervalType):
        raise Misfit(f'"{path}" {type_.simpleString()}: must be no interval; cast it to string')
    if isinstance(type_, StringType):
        return lambda value: dumps(utf8(value, path))
    if isinstance(type_, FloatType):
        return lambda value: value if math.isfinite(float(value)) else _plain(float(value))
    if type(type_) in _SINCE:
        since, step = _SINCE[type(type_)]
        return lambda value: json.dumps(moment(value, since, step))
    return _plain


def _object(fields: Iterable[tuple[str, str]]) -> str:
    return f"{{{','.join(f'{name}:{value}' for name, value in fields)}}}"


def _or_null(write: Write) -> Write:
    return lambda value: "null" if value is None else write(value)


def _name(text: str) -> str:
    return text if text.startswith('"') else json.dumps(text)


def _variant(value: Any, path: str) -> str:
    try:
        return VariantVal(value["value"], value["metadata"]).toJson()
    except (ValueError, OverflowError) as error:
        raise Misfit(f"{path}: must be a variant that Python can read: {error}") from None


def moment(value: int, since: Any, step: timedelta, **how: str) -> str:
    """Return a time in ISO 8601, also of a year that Python doesn't have.

    Args:
        value: so many steps.
        since: a date or a time.
        step: how long a step is.
        **how: as for `isoformat`.
    """
    try:
        return (since + value * step).isoformat(**how)
    except OverflowError:
        rounds, left = divmod(value, 146_097 * DAY // step)  # the calendar is the same again after 400 years
        text = (since + left * step).isoformat(**how)
        return f"{int(text[:4]) + 400 * rounds:+05}{text[4:]}"


def utf8(value: bytes, path: str) -> str:
    """Return a text.

    Raises:
        Misfit: it is none; Spark takes any bytes for a string.
    """
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Misfit(f'{path} "{shown(value)[:40]}": must be UTF-8') from None


def shown(value: Any) -> str:
    """Return what shows a value, so that no other is shown in the same way."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(str(value).replace("nan", "NaN").replace("inf", "Infinity"))
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    return dumps(value) if isinstance(value, int | float) else json.dumps(str(value))


def dumps(value: Any) -> str:
    """Return a value as JSON, with nothing between what it is made of."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_number)


def _number(value: Any) -> Any:
    return float(value)


def parser(type_: DataType, path: str = "payload") -> Callable[[str], Any]:
    """Return what makes a value of a type out of a JSON text; it raises Misfit."""
    read = reader(type_, path)
    given: Mapping[str, Any] = {"parse_float": Decimal} if "decimal" in type_.simpleString() else {}

    def parse(text: str) -> Any:
        return read(json.loads(text, **given))

    return parse
