"""The streaming read of `format("pyqueue")`: a micro-batch holds its messages until it is committed.

An offset is the name of the reader, made when its query first began and kept in the checkpoint, and the
number of the batch: both together name a read. Planning reserves nothing; each task reserves its parts of the
read, and the database writes down what it hands out. A read that is planned again after its driver has gone
gets the parts that are written down, whatever the options say now, as far as they are still held.
"""

from __future__ import annotations

import functools
import json
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from pyqueue_sql.errors import Refused
from pyqueue_sql.spark.arrow import RESERVED, columns
from pyqueue_sql.spark.batches import Batches, Standing
from pyqueue_sql.spark.holding import Holding
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.reading import backlog, batches, kinds_of, warn_if_unused
from pyqueue_sql.spark.shaping import Shape
from pyqueue_sql.spark.sink import of_query, stream_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
    except ImportError:  # before 4.2, where `latestOffset` is not told where it begins

        class ReadMaxRows:
            """Nothing: there are no such limits for a source in Python."""

        class SupportsTriggerAvailableNow:
            """Nothing: there is no such trigger for a source in Python."""


IDLE_SECONDS: Final = 0.1
MOST: Final = 10_000
"""Messages that one call reserves."""
CALLS: Final = 100
"""Of one part of a batch; parts have numbers, and a call has one of a hundred below each."""


class Take(NamedTuple):
    """One call that reserves."""

    number: int
    """Of the part of the read that it gets."""
    kind: str | None
    """None: what is written down for this part is read again, of whatever kind it is."""
    most: int
    follows: bool
    """Whether it is only made where the one before it was full."""


class Planned(NamedTuple):
    """A read, and who does what of it."""

    source: str
    plan: int
    parts: Sequence[InputPartition]


@dataclass(frozen=True)
class Part(InputPartition):
    """What one task reserves."""

    stream: str
    batch: int
    plan: int
    """The right to be handed out anything; a read that is planned again gives another."""
    takes: tuple[Take, ...]

    @property
    def source(self) -> str:
        """The name of the read."""
        return source_of(self.stream, self.batch)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a kind, batch by batch.

    Args:
        options: of the read.
        schema: the columns that are wanted.
    """

    def __init__(self, options: Options, schema: StructType) -> None:
        self.options = options
        self.shape = Shape(schema, RESERVED, options.bad_rows)
        self._holding = Holding(options)
        self._standing = Standing(options)
        self._committed = 0
        self._once = False
        self._planned: Planned | None = None
        self._ready: Sequence[str] = ()
        self._latest: dict[str, Any] | None = None
        self._warned = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Begin, under a new name."""
        return {"stream": f"spark/{uuid.uuid4()}", "batch": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """End where nothing is ready any more."""
        self._once = True

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how many messages a batch may have."""
        return ReadMaxRows(self._most(None))

    def _most(self, limit: ReadLimit | None) -> int:
        options = self.options
        limits = [options.partitions * options.max_messages]
        if limit is None and options.max_messages_per_trigger is not None:
            limits.append(options.max_messages_per_trigger)
        elif isinstance(limit, ReadMaxRows):
            limits.append(limit.max_rows)
        return min(limits)

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        """Plan one more batch where something is ready."""
        if start is None:
            raise Refused("a streaming read wants PySpark 4.2 or later")
        # Spark has done the batch where it asks for the next one; of the last it doesn't say so otherwise
        self.commit(start)
        kinds = self._kinds()
        self._ready = [kind for kind in kinds if self._standing.do(functools.partial(_is_ready, kind=kind))]
        if self._ready:
            offset = {"stream": start["stream"], "batch": start["batch"] + 1, "most": self._most(limit)}
            self._latest = {**offset, **self._count(kinds)}
            return offset
        if not self._warned:
            self._warned = True
            for kind in kinds:
                self._standing.do(functools.partial(_warn, kind=kind))
        if not self._once:
            time.sleep(IDLE_SECONDS)  # Spark asks again at once
        return start

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """Return what stands as latestOffset in the progress of the query: the backlog when the last batch
        was planned, where the login may see it."""
        return self._latest

    def _kinds(self) -> Sequence[str]:
        options = self.options
        if options.kind_pattern is None:
            kinds = [options.kind] if options.kind is not None else options.kinds
        else:
            pattern = re.compile(options.kind_pattern, re.DOTALL)
            found = self._standing.do(lambda database: kinds_of(database.connection, "queue_messages"))
            kinds = [kind for kind in found if pattern.fullmatch(kind)]
        return kinds

    def _count(self, kinds: Sequence[str]) -> dict[str, Any]:
        if self.options.backlog == "false":
            return {}
        return self._standing.do(lambda database: backlog(database.connection, kinds))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Say who reserves what, and keep what they will hold."""
        if start == end:
            return []
        source = source_of(end["stream"], end["batch"])
        if self._planned is None or self._planned.source != source:  # each action on a batch plans it again
            self._planned = self._plan(end)
            self._holding.keep(source, self._planned.plan)
        return self._planned.parts

    def _plan(self, end: dict[str, Any]) -> Planned:
        stream, batch, options = end["stream"], end["batch"], self.options
        source = source_of(stream, batch)
        plan, handed_out = self._standing.do(lambda database: database.plan(source))
        if handed_out is None:
            kinds = self._ready or self._kinds()
            shared = shares(kinds, end.get("most", self._most(None)), options.partitions, batch)
        else:
            self._standing.do(
                lambda database: database.extend_read(source, options.timeout_seconds, plan=plan)
            )
            again = [Take(number, None, 1, False) for number in handed_out]
            shared = [tuple(again[task :: options.partitions]) for task in range(options.partitions)]
        parts = [Part(stream, batch, plan, takes) for takes in shared if takes]
        return Planned(source, plan, parts)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Reserve parts and read them, as record batches."""
        assert isinstance(partition, Part)
        stream, batch = partition.stream, partition.batch
        query, told, _ = of_query()
        # on Spark Connect the tasks of a foreachBatch are told of none: see batch_of
        ends = self.options.commit == "source"  # whether it is known who ends the batch
        if not ends and query is not None and told is not None:
            stream, batch, ends = stream_of(query), told, True
        standing = Standing(self.options, was_there=True)
        try:
            for take in partition.takes:
                given = {
                    "timeout_seconds": self.options.timeout_seconds,
                    "source": partition.source,
                    "plan": partition.plan,
                    "follows": take.follows,
                    "adopt": ends,
                }
                values = [stream, batch, take.number, take.kind, take.most, json.dumps(given)]
                # whole, because a call that is lost half-way is made again
                found = standing.do(functools.partial(_reserve, values=values, names=self.shape.columns))
                bad: dict[str, str] = {}
                made = [self.shape.of(one, bad) for one in found]
                standing.do(functools.partial(_bury, bad=bad))
                yield from made
        finally:
            standing.close()

    def commit(self, end: dict[str, Any]) -> None:
        """Acknowledge what the batch has read; what ended before that stays as it is.

        Raises:
            Refused: no write has ended the batch, where that was for the sink to do.
        """
        if end["batch"] <= self._committed:
            return
        if self.options.commit == "source":
            self._standing.do(lambda database: database.commit_batch(end["stream"], end["batch"]))
        else:
            source = source_of(end["stream"], end["batch"])
            left = any(self._standing.do(lambda database: database.extend_read(source, 0)))
            self._standing.do(lambda database: database.forget(source))
            # what an earlier run left goes back without a word: this one may end its batches
            if left and self._planned is not None:
                raise Refused(
                    'option "commit" is sink, and no write has ended the last batch: its messages go back.'
                    ' End it by writing with format("pyqueue"), in a foreachBatch with "stream" and "batch",'
                    ' or set "commit" to source'
                )
        self._committed = end["batch"]
        self._planned = None
        self._holding.let_go()

    def stop(self) -> None:
        """Leave: what is held and not committed goes back at once."""
        self._holding.close()
        self._standing.close()


class RefusedReader(DataSourceStreamReader):
    """In place of a reader that can't be made.

    An error where Spark makes one is hidden by another of PySpark's; from here it comes as it is.

    Args:
        error: what is wrong.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Say what is wrong."""
        raise self._error

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Say what is wrong."""
        raise self._error

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:  # noqa: ARG002
        """Say what is wrong."""
        raise self._error

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: ARG002
        """Say what is wrong."""
        raise self._error


def shares(kinds: Sequence[str], most: int, tasks: int, turn: int) -> list[tuple[Take, ...]]:
    """Return what each task takes: tasks and kinds share what a batch may have.

    Args:
        kinds: those that have something.
        most: messages of the batch.
        tasks: how many there are.
        turn: which kind is the first to get what can't be shared; it goes round.
    """
    slots = -(-max(tasks, len(kinds)) // tasks) * tasks  # none has more than its share
    found: list[list[Take]] = [[] for _ in range(tasks)]
    for slot in range(slots if kinds else 0):
        left = most // slots + (slot < most % slots)
        kind = kinds[(slot + turn) % len(kinds)]
        for call in range(-(-left // MOST)):
            found[slot % tasks].append(Take(slot * CALLS + call, kind, min(MOST, left), call > 0))
            left -= MOST
    return [tuple(takes) for takes in found]


def source_of(stream: str, batch: int) -> str:
    """Return the name of a read."""
    return f"{stream}/{batch}"


def _reserve(database: Batches, values: list[Any], names: str) -> list[Any]:
    connection = database.connection
    text = "call queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
    if hasattr(connection, "pgconn"):
        large = ("payload", "headers", "errors")
        wanted = ", ".join(f"{name}::text" if name in large else name for name, _ in columns(names))
        text = f"select {wanted} from queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
    return list(batches(connection, text, values, names))


def _is_ready(database: Batches, kind: str) -> bool:
    return database.ready(kind)


def _warn(database: Batches, kind: str) -> None:
    warn_if_unused(database.connection, kind)


def _bury(database: Batches, bad: dict[str, str]) -> None:
    # no part of the batch any more: its commit finds them gone, and a replay doesn't read them
    for why in sorted(set(bad.values())):
        receipts = [receipt for receipt, other in bad.items() if other == why]
        database.nack_many(receipts, error=why, final=True)
