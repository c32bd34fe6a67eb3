"""The write side of `format("pyqueue")`: tasks stage what they have, and one transaction publishes it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pyqueue_sql.errors import Refused
from pyqueue_sql.spark.arrow import pc
from pyqueue_sql.spark.database import Batches, connected, has_statement_trigger, put
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.writing import check_columns, plain

QUERY_ID = "sql.streaming.queryId"
"""Spark's name for the id of the streaming query, which a checkpoint keeps, among what a task is told."""


@dataclass
class Staged(WriterCommitMessage):
    """What a task has staged."""

    part: int | None
    """None: nothing, or it is published already."""
    messages: int
    failed: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Of the batch that the write ends: receipts, each with its error."""
    query: str | None = None
    job: str = ""


class Stager:
    """What all ways of writing share; it goes to the executors, and there is no connection in it.

    Args:
        options: of the write.
        schema: of the DataFrame.
    """

    def __init__(self, options: Options, schema: StructType) -> None:
        check_columns(schema, ending=options.stream is not None, kind=options.kind is not None)
        self.options = options
        self.job = f"spark/{uuid.uuid4()}"

    def stage(self, iterator: Iterator[Any]) -> Staged:
        """Stage the rows of a task, in one transaction: one that fails leaves nothing."""
        context = TaskContext.get()
        query = context.getLocalProperty(QUERY_ID) if context else None
        failed: list[dict[str, Any]] = []
        batches = (sound for one in iterator for sound in [_without_failed(one, failed)] if sound.num_rows)
        with connected(self.options, autocommit=False) as database:
            direct = self.options.atomic == "task" and has_statement_trigger(self.options)
            part = None if direct else database.begin(self.job)
            rows = put(
                database.connection,
                "queue_inbox" if direct else "queue_stage",
                (plain(one, kind=self.options.kind, part=part) for one in batches),
            )
            if part is not None and self.options.atomic == "task":
                database.publish_parts([{"part": part, "messages": rows}])
                part = None
            if part is not None and not rows:
                return Staged(None, 0, failed, query, self.job)
            database.connection.commit()
            return Staged(part, rows, failed, query, self.job)

    def drop(self, messages: Sequence[Staged | None] = ()) -> None:
        """Remove what the tasks have staged, also those that another copy of this has sent."""
        with connected(self.options) as database:
            for job in {self.job, *(one.job for one in messages if one is not None)}:
                database.abort(job)


class Writer(Stager, DataSourceArrowWriter):
    """Writes a DataFrame."""

    def write(self, iterator: Iterator[Any]) -> Staged:
        """Stage the rows of a task, or push them where each task is a transaction of its own."""
        return self.stage(iterator)

    def commit(self, messages: Sequence[Staged | None]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Publish what the tasks have staged."""
        if self.options.atomic == "job":
            with connected(self.options) as database:
                self._publish(database, [one for one in messages if one is not None])

    def _publish(self, database: Batches, staged: list[Staged]) -> None:
        parts = parts_of(staged)
        if self.options.stream is None or self.options.batch is None:
            database.publish_parts(parts)
        else:
            final = {"final": True} if self.options.failed == "dead" else {}
            failed = [{**one, **final} for task in staged for one in task.failed]
            done = database.commit_batch(
                self.options.stream, self.options.batch, parts=parts, failed=failed, whole=True
            )
            if done.outcome == "replayed":
                database.abort(self.job)

    def abort(self, messages: Sequence[Staged | None]) -> None:  # noqa: ARG002  # pyright: ignore[reportIncompatibleMethodOverride]
        """Remove what the tasks have staged."""
        self.drop()


class StreamWriter(Stager, DataSourceStreamArrowWriter):
    """Writes the micro-batches of a streaming query, each once."""

    def write(self, iterator: Iterator[Any]) -> Staged:
        """Stage the rows of a task."""
        return self.stage(iterator)

    def commit(self, messages: Sequence[Staged | None], batchId: int) -> None:  # noqa: N803  # pyright: ignore[reportIncompatibleMethodOverride]
        """Publish what the tasks have staged, unless this batch was published before."""
        staged = [one for one in messages if one is not None]
        query = next((one.query for one in staged if one.query), None)
        if not staged:
            return
        if query is None:
            raise Refused("the tasks were not told which streaming query they belong to")
        with connected(self.options) as database:
            if database.publish_parts(parts_of(staged), query=f"spark/{query}", batch=batchId) == "replayed":
                self.drop(messages)

    def abort(self, messages: Sequence[Staged | None], batchId: int) -> None:  # noqa: ARG002, N803  # pyright: ignore[reportIncompatibleMethodOverride]
        """Remove what the tasks have staged."""
        self.drop(messages)


def parts_of(staged: Sequence[Staged]) -> list[dict[str, int]]:
    """Return what is to be published."""
    return [{"part": one.part, "messages": one.messages} for one in staged if one.part is not None]


def _without_failed(batch: Any, failed: list[dict[str, Any]]) -> Any:
    """Return the rows that go on, and add those with an error to a list."""
    if "error" not in batch.schema.names:
        return batch
    wrong = pc.is_valid(batch.column("error"))
    if pc.any(wrong).as_py():
        rows = batch.select(["receipt", "error"]).filter(wrong).to_pylist()
        failed += [{"receipt": one["receipt"], "error": one["error"][:1000]} for one in rows]
    return batch.filter(pc.invert(wrong))
