"""The streaming read of `format("pyqueue")`: a micro-batch holds its messages until it is committed.

An offset is the name of the reader, made when its query first began and kept in the checkpoint, and the
number of the batch. Planning reserves nothing; each task reserves its part under both, so that a task which
runs again, and a batch which is replayed, get the same messages as far as they are still held.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pyqueue_sql.errors import Refused
from pyqueue_sql.spark.arrow import RESERVED, columns
from pyqueue_sql.spark.database import Standing, connected
from pyqueue_sql.spark.holding import Holding
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.reading import batches
from pyqueue_sql.spark.sink import QUERY_ID

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
    except ImportError:  # before 4.2, where `latestOffset` is not told where it begins

        class SupportsTriggerAvailableNow:
            """Nothing: there is no such trigger for a source in Python."""


BATCH_ID: Final = "streaming.sql.batchId"
"""Spark's name for the number of the micro-batch among what a task is told."""
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
    number: int


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a kind, batch by batch.

    Args:
        options: of the read.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._holding: Holding | None = None
        self._standing = Standing(options)
        self._committed = 0
        self._once = False

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
        if self.options.commit == "source":
            self._let_go()
            self._holding = Holding(self.options, end["stream"], end["batch"])
            self._holding.__enter__()
        return [Part(end["stream"], end["batch"], number) for number in range(self.options.partitions)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Reserve a part and read it, as record batches."""
        assert isinstance(partition, Part)
        stream, batch = partition.stream, partition.batch
        if self.options.commit == "sink":
            stream, batch = of_task()
        wanted = self.options.max_messages
        for call in range(-(-wanted // MOST)):
            most = min(MOST, wanted - call * MOST)
            rows = 0
            for one in self._reserve(stream, batch, partition.number * CALLS + call, most):
                rows += one.num_rows
                yield one
            if rows < most:
                return

    def _reserve(self, stream: str, batch: int, part: int, most: int) -> Iterator[Any]:
        limit = json.dumps({"timeout_seconds": self.options.timeout_seconds})
        values = [stream, batch, part, self.options.kind, most, limit]
        with connected(self.options) as database:
            yield from batches(database.connection, _text(database.connection), values, RESERVED)

    def commit(self, end: dict[str, Any]) -> None:
        """Acknowledge what the batch has read; what ended before that stays as it is."""
        if self.options.commit == "source" and end["batch"] > self._committed:
            self._let_go()
            self._standing.do(lambda database: database.commit_batch(end["stream"], end["batch"]))
            self._committed = end["batch"]

    def stop(self) -> None:
        """Leave: what is held comes back."""
        self._let_go()
        self._standing.close()

    def _let_go(self) -> None:
        holding, self._holding = self._holding, None
        if holding is not None:
            holding.__exit__(None, None, None)


def of_task() -> tuple[str, int]:
    """Return the reader and the batch of the streaming query that the task belongs to.

    Raises:
        Refused: it belongs to none.
    """
    context = TaskContext.get()
    query = context.getLocalProperty(QUERY_ID) if context else None
    batch = context.getLocalProperty(BATCH_ID) if context else None
    if query is None or batch is None:
        raise Refused("the task was not told which streaming query it belongs to")
    return stream_of(query), int(batch)


def stream_of(query: str) -> str:
    """Return the name of the reader of a streaming query whose batches its sink commits."""
    return f"spark/{query}"


def _text(connection: Any) -> str:
    if hasattr(connection, "pgconn"):
        names = ", ".join(
            f"{name}::text" if name in ("payload", "headers") else name for name, _ in columns(RESERVED)
        )
        return f"select {names} from queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
    return "call queue_stream_reserve(%s, %s, %s, %s, %s, %s)"
