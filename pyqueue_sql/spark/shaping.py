"""What is read, as the columns and types that are wanted: times, numbers, and JSON as structs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pyspark.sql.pandas.types import to_arrow_schema  # pyright: ignore[reportUnknownVariableType]
from pyspark.sql.types import (
    AtomicType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
    TimestampType,
)

from pyqueue_sql.errors import InvalidParameter, InvalidPayload
from pyqueue_sql.spark.arrow import columns, pa
from pyqueue_sql.spark.jsons import Misfit, parser

JSON: Final = ("payload", "headers", "errors")
"""Columns of JSON, which may be of any type that JSON can hold."""
ERROR: Final = "error"
"""Why a payload isn't of its type, where that is asked for."""
_ALLOWED: Final[Mapping[str, tuple[type[DataType], ...]]] = {
    "text": (StringType,),
    "bytes": (BinaryType,),
    "short": (ShortType, IntegerType, LongType),
    "int": (IntegerType, LongType),
    "long": (LongType,),
    "time": (LongType, TimestampType),
}


class Shape:
    """Makes record batches as they are wanted out of those that the server gives.

    Args:
        wanted: the columns and their types.
        there: the columns that there are, a text like PEEKED.
        bad_rows: what becomes of a row whose payload isn't of its type: fail, null, or dead.

    Raises:
        InvalidParameter: a column isn't there, or can't be of its type.
    """

    def __init__(self, wanted: StructType, there: str, bad_rows: str) -> None:
        types = dict(columns(there))
        for one in wanted.fields:
            if one.name == ERROR and bad_rows == "null":
                continue
            if one.name not in types:
                raise InvalidParameter(f'column "{one.name[:40]}": unknown, there are {", ".join(types)}')
            if one.name not in JSON and not isinstance(one.dataType, _ALLOWED[types[one.name]]):
                allowed = " or ".join(type_().simpleString() for type_ in _ALLOWED[types[one.name]])
                raise InvalidParameter(
                    f'column "{one.name}" {one.dataType.simpleString()[:40]}: must be {allowed}'
                )
        self.wanted = wanted
        self.bad_rows = bad_rows
        self._parsed = [one for one in wanted.fields if one.name in JSON and not _is_text(one.dataType)]
        for one in self._parsed:
            _parser(one.name, one.dataType)
        needed = {"p_key", *(one.name for one in wanted.fields), *(["receipt"] if self._parsed else [])}
        self.columns = ", ".join(f"{name} {type_}" for name, type_ in types.items() if name in needed)
        """What of the columns is needed."""

    def of(self, batch: Any, bad: dict[str, str]) -> Any:
        """Return a batch as it is wanted.

        Args:
            batch: with the columns of `self.columns`.
            bad: takes receipts of messages whose payload isn't of its type, each with the reason, where
                these are not handed on.

        Raises:
            InvalidPayload: a payload isn't of its type, and that is to fail.
        """
        schema: Any = cast("Any", to_arrow_schema)(self.wanted, timezone="UTC")
        found: dict[str, Any] = {}
        wrong: dict[int, str] = {}
        for one in self._parsed:
            parse = _parser(one.name, one.dataType)
            values: list[Any] = []
            texts = batch.column(one.name)
            for place, text in enumerate(texts.to_pylist()):
                try:
                    if text is None and one.name == "payload":
                        raise Misfit("payload: must be JSON and not bytes")
                    values.append(None if text is None else parse(text))
                except ValueError as error:
                    wrong[place] = str(error) if isinstance(error, Misfit) else f"{one.name}: must be JSON"
                    values.append(None)
            found[one.name] = values
        if wrong and self.bad_rows == "fail":
            place = min(wrong)
            raise InvalidPayload(f'key "{batch.column("p_key")[place].as_py()[:40]}": {wrong[place]}')
        found[ERROR] = [wrong.get(place) for place in range(batch.num_rows)]
        arrays = [
            pa.array(found[field.name], field.type)
            if field.name in found
            else batch.column(field.name).cast(field.type)
            for field in schema
        ]
        made = pa.record_batch(arrays, schema=schema)
        if wrong and self.bad_rows == "dead":
            receipts = batch.column("receipt").to_pylist()
            bad.update({receipts[place]: why for place, why in wrong.items()})
            made = made.filter(pa.array([place not in wrong for place in range(batch.num_rows)]))
        return made


def _is_text(type_: DataType) -> bool:
    return isinstance(type_, StringType)


def _parser(name: str, type_: DataType) -> Any:
    if isinstance(type_, AtomicType) and name != "payload":
        raise InvalidParameter(f'column "{name}" {type_.simpleString()[:40]}: must be string, struct or map')
    try:
        return parser(type_, name)
    except Misfit as error:
        raise InvalidParameter(f'column "{error}') from None
