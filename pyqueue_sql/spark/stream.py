"""The streaming read of `format("pyqueue")`: a micro-batch holds its messages until it is committed.

An offset is the name of the reader, made when its query first began and kept in the checkpoint, and the
number of the batch: both together name a read. Planning reserves nothing; each task reserves its parts of the
read, and the database writes down what it hands out. A read that is planned again after its driver has gone
gets the parts that are written down, whatever the options say now, as far as they are still held.
"""

from __future__ import annotations

import functools
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pyqueue_sql.errors import Refused
from pyqueue_sql.spark.arrow import RESERVED, columns
from pyqueue_sql.spark.batches import Batches, Standing
from pyqueue_sql.spark.holding import Holding
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.reading import batches
from pyqueue_sql.spark.sink import of_query, stream_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
    except ImportError:  # before 4.2, where `latestOffset` is not told where it begins

        class SupportsTriggerAvailableNow:
            """Nothing: there is no such trigger for a source in Python."""


IDLE_SECONDS: Final = 0.1
MOST: Final = 10_000
"""Messages that one call reserves."""
CALLS: Final = 100
"""Of one part of a batch; parts have numbers, and a call has one of a hundred below each."""


@dataclass(frozen=True)
class Part(InputPartition):
    """What one task reserves."""

    stream: str
    batch: int
    plan: int
    """The right to be handed out anything; a read that is planned again gives another."""
    numbers: tuple[int, ...]
    """Of the parts that it gets."""
    begins: bool
    """Whether they are new: then each is only asked for where the one before it was full."""

    @property
    def source(self) -> str:
        """The name of the read."""
        return source_of(self.stream, self.batch)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a kind, batch by batch.

    Args:
        options: of the read.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._holding = Holding(options)
        self._standing = Standing(options)
        self._committed = 0
        self._once = False
        self._planned: tuple[str, Sequence[InputPartition]] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Begin, under a new name."""
        return {"stream": f"spark/{uuid.uuid4()}", "batch": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """End where nothing is ready any more."""
        self._once = True

    def latestOffset(  # noqa: N802
        self,
        start: dict[str, Any] | None = None,
        limit: ReadLimit | None = None,  # noqa: ARG002 -- max_messages is the limit, for every trigger
    ) -> dict[str, Any]:
        """Plan one more batch where something is ready."""
        if start is None:
            raise Refused("a streaming read wants PySpark 4.2 or later")
        # Spark has done the batch where it asks for the next one; of the last it doesn't say so otherwise
        self.commit(start)
        if self._standing.do(lambda database: database.ready(str(self.options.kind))):
            return {**start, "batch": start["batch"] + 1}
        if not self._once:
            time.sleep(IDLE_SECONDS)  # Spark asks again at once
        return start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Say who reserves what, and keep what they will hold."""
        if start == end:
            return []
        source = source_of(end["stream"], end["batch"])
        if self._planned is None or self._planned[0] != source:  # each action on a batch plans it again
            self._planned = source, self._plan(end["stream"], end["batch"])
            self._holding.keep(source)
        return self._planned[1]

    def _plan(self, stream: str, batch: int) -> Sequence[InputPartition]:
        source, options = source_of(stream, batch), self.options
        plan, handed_out = self._standing.do(lambda database: database.plan(source))
        if handed_out is None:
            calls = range(-(-options.max_messages // MOST))
            return [
                Part(stream, batch, plan, tuple(task * CALLS + call for call in calls), True)
                for task in range(options.partitions)
            ]
        self._standing.do(lambda database: database.extend_read(source, options.timeout_seconds))
        shares = [tuple(handed_out[task :: options.partitions]) for task in range(options.partitions)]
        return [Part(stream, batch, plan, share, False) for share in shares if share]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Reserve parts and read them, as record batches."""
        assert isinstance(partition, Part)
        stream, batch = partition.stream, partition.batch
        if self.options.commit == "sink":
            stream, batch = of_task()
        standing = Standing(self.options, was_there=True)
        left = self.options.max_messages
        try:
            for number in partition.numbers:
                given = {
                    "timeout_seconds": self.options.timeout_seconds,
                    "source": partition.source,
                    "plan": partition.plan,
                    "follows": partition.begins and number != partition.numbers[0],
                }
                most = min(MOST, left) if partition.begins else 1
                values = [stream, batch, number, self.options.kind, most, json.dumps(given)]
                # whole, because a call that is lost half-way is made again
                yield from standing.do(functools.partial(_reserve, values=values))
                left -= most
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
        elif any(self._give_back(source_of(end["stream"], end["batch"]))):
            raise Refused(
                'option "commit" is sink, and no write has ended the last batch: its messages go back. End it'
                ' by writing with format("pyqueue"), in a foreachBatch with "stream" and "batch", or set'
                ' "commit" to source'
            )
        else:
            self._standing.do(lambda database: database.forget(source_of(end["stream"], end["batch"])))
        self._committed = end["batch"]
        self._planned = None
        self._holding.let_go()

    def stop(self) -> None:
        """Leave: what is held and not committed goes back at once."""
        self._holding.close()
        self._standing.close()

    def _give_back(self, source: str) -> tuple[int, int]:
        return self._standing.do(lambda database: database.extend_read(source, 0))


def source_of(stream: str, batch: int) -> str:
    """Return the name of a read."""
    return f"{stream}/{batch}"


def of_task() -> tuple[str, int]:
    """Return the reader and the batch of the streaming query that the task belongs to.

    Raises:
        Refused: it belongs to none.
    """
    query, batch, _ = of_query()
    if query is None or batch is None:
        raise Refused("the task was not told which streaming query it belongs to")
    return stream_of(query), batch


def _reserve(database: Batches, values: list[Any]) -> list[Any]:
    connection = database.connection
    text = "call queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
    if hasattr(connection, "pgconn"):
        large = ("payload", "headers", "errors")
        names = ", ".join(f"{name}::text" if name in large else name for name, _ in columns(RESERVED))
        text = f"select {names} from queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
    return list(batches(connection, text, values, RESERVED))
