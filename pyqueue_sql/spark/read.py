"""The batch read of `format("pyqueue")`: what is there, or history, in ranges that don't overlap."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from pyspark.sql import datasource as ds
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyqueue_sql.spark.arrow import ENDED, PEEKED
from pyqueue_sql.spark.batches import connected
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.reading import Filter, Source, batches, fetch, kinds_of, select, warn_if_unused
from pyqueue_sql.spark.shaping import Shape

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

SOURCES: Final = {
    "peek": Source("queue_messages", PEEKED, times=True),
    "history": Source("queue_history", ENDED),
}
PUSHED: Final = frozenset(
    {"p_kind", "p_key", "outcome", "to_kind", "entry", "priority", "attempts"}
    | {"scheduled_at", "scheduled_at_initially", "created_at", "reserved_at", "finished_at"}
)
"""Columns whose conditions the server checks."""
_OPERATORS: Final[dict[type, str]] = {
    ds.EqualTo: "=",
    ds.GreaterThan: ">",
    ds.GreaterThanOrEqual: ">=",
    ds.LessThan: "<",
    ds.LessThanOrEqual: "<=",
    ds.In: "in",
}


@dataclass(frozen=True)
class Range(InputPartition):
    """What one task reads."""

    filters: tuple[Filter, ...]


class Reader(DataSourceReader):
    """Reads what is there, and changes nothing; each task sees the server as it is when the task begins.

    Args:
        options: of the read.
        schema: the columns that are wanted.
    """

    def __init__(self, options: Options, schema: StructType) -> None:
        self.options = options
        self.shape = Shape(schema, SOURCES[options.look].columns, options.bad_rows)
        self.source = dataclasses.replace(SOURCES[options.look], columns=self.shape.columns)
        self.filters = list[Filter]()
        if options.kind is not None:
            self.filters.append(Filter("p_kind", "=", options.kind))
        elif options.kinds:
            self.filters.append(Filter("p_kind", "in", options.kinds))

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802
        """Take the filters that the server can check, and give back the others."""
        for one in filters:
            found = _to_filter(one)
            if found is None:
                yield one
            else:
                self.filters.append(found)

    def partitions(self) -> Sequence[InputPartition]:
        """Cut what is to be read into ranges: of time where it is history, else of keys."""
        with connected(self.options) as database:
            kinds = self._kinds(database.connection)
            each = math.ceil(self.options.partitions / max(len(kinds), 1))
            cut = self._by_time if self.options.look == "history" else self._by_key
            ranges = [one for kind in kinds for one in cut(database.connection, kind, each)]
            if not ranges or not self._any(database.connection, kinds):
                for kind in (self.options.kind, *self.options.kinds):
                    if kind is not None:
                        warn_if_unused(database.connection, kind)
        return ranges or [Range((*self.filters, Filter("p_kind", "=", "")))]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read a range, as record batches."""
        assert isinstance(partition, Range)
        with connected(self.options) as database:
            text, values = select(database.connection, self.source, partition.filters)
            for one in batches(database.connection, text, values, self.source.columns):
                yield self.shape.of(one, {})

    def _any(self, connection: Any, kinds: Sequence[str]) -> bool:
        text = f"select 1 from {self.source.name} where p_kind = %s limit 1"
        return any(fetch(connection, text, [kind]) for kind in kinds)

    def _kinds(self, connection: Any) -> list[str]:
        """Return the kinds that are there, each found by a look at the index."""
        pattern = re.compile(self.options.kind_pattern or ".*", re.DOTALL)
        named = [one for one in self.filters if one.column == "p_kind" and one.operator in ("=", "in")]
        if named:
            found = [named[0].value] if named[0].operator == "=" else list(named[0].value)
        else:
            found = kinds_of(connection, self.source.name)
        return [kind for kind in found if pattern.fullmatch(kind)]

    def _of(self, kind: str) -> list[Filter]:
        return [Filter("p_kind", "=", kind), *self.filters]

    def _by_time(self, connection: Any, kind: str, number: int) -> Iterator[Range]:
        text = f"select min(finished_at), max(finished_at) from {self.source.name} where p_kind = %s"
        [(first, last)] = fetch(connection, text, [kind])
        if first is None:
            return
        for one in self.filters:
            if one.column == "finished_at" and one.operator in (">", ">="):
                first = max(first, one.value)
            if one.column == "finished_at" and one.operator in ("<", "<="):
                last = min(last, one.value)
        cuts = [first + (last - first) * n // number for n in range(1, number)]
        yield from self._between(kind, "finished_at", list(dict.fromkeys(cuts)))

    def _by_key(self, connection: Any, kind: str, number: int) -> Iterator[Range]:
        text = (
            "select min(t.p_key) from (select p_key, ntile(%s) over (order by p_key) as tile"
            f" from {self.source.name} where p_kind = %s) t group by t.tile order by 1"
        )
        rows = fetch(connection, text, [number, kind]) if number > 1 else []
        yield from self._between(kind, "p_key", [key for (key,) in rows[1:]])

    def _between(self, kind: str, column: str, cuts: list[Any]) -> Iterator[Range]:
        for low, high in zip([None, *cuts], [*cuts, None], strict=True):
            found = self._of(kind)
            found += [Filter(column, ">=", low)] if low is not None else []
            found += [Filter(column, "<", high)] if high is not None else []
            yield Range(tuple(found))


def _to_filter(one: Any) -> Filter | None:
    operator = _OPERATORS.get(cast("type[Any]", type(one)))
    if operator is None or len(one.attribute) != 1 or one.attribute[0] not in PUSHED or one.value is None:
        return None
    if operator == "in":
        values = tuple(_ticks(value) for value in one.value if value is not None)
        return Filter(one.attribute[0], operator, values) if values else None
    return Filter(one.attribute[0], operator, _ticks(one.value))


def _ticks(value: Any) -> Any:
    return (value - EPOCH) // timedelta(microseconds=1) if isinstance(value, datetime) else value
