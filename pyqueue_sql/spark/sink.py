"""The write side of `format("pyqueue")`: tasks stage what they have, and one transaction publishes it."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pyqueue_sql.errors import InvalidParameter, Refused
from pyqueue_sql.spark.arrow import pa, pc
from pyqueue_sql.spark.batches import Committed, Published, connected, patiently
from pyqueue_sql.spark.checking import dead_rows, sound
from pyqueue_sql.spark.database import has_statement_trigger, put
from pyqueue_sql.spark.jsons import shown
from pyqueue_sql.spark.kept import Kept
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.writing import check_columns, plain

log = logging.getLogger(__name__)

QUERY_ID: Final = "sql.streaming.queryId"
"""Spark's name for the id of the streaming query, which a checkpoint keeps, among what a task is told."""
BATCH_ID: Final = "streaming.sql.batchId"
"""Spark's name for the number of the micro-batch there."""
RUN_ID: Final = "spark.jobGroup.id"
"""Of a streaming query this is the id of its run, another one after each start."""


@dataclass
class Staged(WriterCommitMessage):
    """What a task has staged."""

    part: int | None
    """None: nothing, or it is published already."""
    messages: int
    refused: int = 0
    """Rows that could be no messages, and have become dead letters."""
    published: Published | None = None
    """What came of it, where the task is a transaction of its own."""
    failed: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Of the batch that the write ends: receipts, each with its error."""
    query: str | None = None
    run: str | None = None
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
        self._schema = schema
        self.job = f"spark/{uuid.uuid4()}"

    def stage(self, iterator: Iterator[Any]) -> Staged:
        """Stage the rows of a task, in one transaction: one that fails leaves nothing."""
        with Kept(iterator) as kept:
            return patiently(self.options, lambda: self._stage(kept))

    def _stage(self, iterator: Iterable[Any]) -> Staged:
        query, batch, run = of_query()
        failed: list[dict[str, Any]] = []
        batches = (left for one in iterator for left in [_without_failed(one, failed)] if left.num_rows)
        first = next(batches, None)
        nothing = Staged(None, 0, failed=failed, query=query, run=run, job=self.job)
        if first is None:
            return nothing
        dead: list[dict[str, Any]] = []
        with connected(self.options, autocommit=False) as database:
            at_once = self.options.atomic == "task"
            direct = at_once and has_statement_trigger(self.options)
            part = None if direct else database.begin(self.job, **self._purpose(query, batch, run))
            table = "queue_inbox" if direct else "queue_stage"
            found = (
                sound(
                    *plain(one, self._schema, kind=self.options.kind, part=part),
                    dead=dead if self._buries else None,
                )
                for one in itertools.chain([first], batches)
            )
            rows = put(database.connection, table, found)
            rows += put(database.connection, table, dead_rows(dead, part))
            staged = dataclasses.replace(nothing, part=part, messages=rows, refused=len(dead))
            if at_once:
                work = f"{self.job}/{partition()}"
                done = database.publish_parts(
                    parts_of([staged]), job=work, refused=len(dead), **self._noted(work)
                )
                if done.outcome == "replayed":
                    return nothing  # what is put once more goes with the transaction
                staged = dataclasses.replace(staged, part=None, published=done)
            database.connection.commit()
            return staged

    @property
    def _buries(self) -> bool:
        return self.options.bad_rows == "dead"

    def _noted(self, work: str) -> dict[str, Any]:
        """Return the options that note work as done in its transaction, where it may be done again."""
        if self.options.txn_app_id is not None:
            return {"query": self.options.txn_app_id, "batch": self.options.txn_version}
        return {"query": work, "batch": 0} if self.options.patience else {}

    def _purpose(self, query: str | None, batch: int | None, run: str | None) -> dict[str, Any]:
        """Return what a part is for, so that it goes when nobody can publish it any more."""
        if self.options.stream is not None:
            return {"query": self.options.stream, "batch": self.options.batch, "run": run}
        if self.options.txn_app_id is not None:
            return self._noted(self.job)
        if query is None:
            return {}
        # of a plain write in a batch nothing says when the batch is done
        return {"query": stream_of(query), "run": run, **({"batch": batch} if self.options.streams else {})}

    def end(self, stream: str, batch: int, staged: Sequence[Staged], **more: Any) -> Committed:
        """End a batch, and publish what the tasks have staged for it, unless that was done before.

        Args:
            stream: whose batch it is.
            batch: its number.
            staged: by the tasks.
            more: options of queue_stream_commit.

        Raises:
            Refused: there is something to publish, but a later batch is done: this is no replay.
        """
        parts = parts_of(staged)
        with connected(self.options) as database:
            done = database.commit_batch(
                stream,
                batch,
                parts=parts,
                whole=True,
                keep=True,
                run=run_of(staged),
                job=self.job,
                refused=refused_of(staged),
                **more,
            )
            if done.outcome == "replayed" and parts and database.done(stream, batch + 1):
                raise Refused(
                    f"batch {batch} of {stream} has messages, and a later one is done: its checkpoint is an"
                    " older copy. Start it with the newest one, or without any: then it is a new query"
                )
            return done

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
        staged = [one for one in messages if one is not None]
        if self.options.atomic == "job":
            tell(patiently(self.options, lambda: self._end(staged)), refused_of(staged))
        else:
            for one in staged:
                tell(one.published, one.refused)

    def _end(self, staged: list[Staged]) -> Published | Committed:
        if self.options.stream is None or self.options.batch is None:
            named = {"job": self.job, **self._noted(self.job)}
            with connected(self.options) as database:
                done: Published | Committed = database.publish_parts(
                    parts_of(staged), refused=refused_of(staged), **named
                )
        else:
            final = {"final": True} if self.options.failed == "dead" else {}
            failed = [{**one, **final} for task in staged for one in task.failed]
            done = self.end(self.options.stream, self.options.batch, staged, failed=failed)
        if done.outcome == "replayed":
            self.drop()
        return done

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
        # what a source whose batches the sink commits has handed out for this batch ends with it
        done = patiently(self.options, lambda: self.end(stream_of(query), batchId, staged))
        tell(done, refused_of(staged))
        if done.outcome == "replayed":
            self.drop(messages)

    def abort(self, messages: Sequence[Staged | None], batchId: int) -> None:  # noqa: ARG002, N803  # pyright: ignore[reportIncompatibleMethodOverride]
        """Remove what the tasks have staged."""
        self.drop(messages)


def of_query() -> tuple[str | None, int | None, str | None]:
    """Return the streaming query that the task belongs to, its batch and its run, where there is one."""
    context = TaskContext.get()
    query, batch, run = (
        context.getLocalProperty(name) if context else None for name in (QUERY_ID, BATCH_ID, RUN_ID)
    )
    return query, None if batch is None else int(batch), None if query is None else run


def batch_of(messages: DataFrame, batch: int) -> tuple[str, int] | None:
    """Return what a write in a `foreachBatch` names, `stream` and `batch`, where the source has commit=sink.

    Args:
        messages: the batch, with the column reserved_by.
        batch: its number.

    Returns:
        None: there is nothing in the batch, and nothing to be ended.
    """
    context: Any = getattr(messages.sparkSession, "sparkContext", None)
    if context is not None:
        return stream_of(context.getLocalProperty(QUERY_ID)), batch
    # Spark Connect tells neither us nor our tasks which query it is, but whoever holds a message says so
    first = messages.select("reserved_by").first()
    if first is None:
        return None
    stream, number, _ = first.reserved_by.rsplit("/", 2)
    return stream, int(number)


def partition() -> int:
    """Return the number of the task among those of its job."""
    context = TaskContext.get()
    return context.partitionId() if context else 0


def stream_of(query: str) -> str:
    """Return the name of the reader of a streaming query whose batches its sink commits."""
    return f"spark/{query}"


def run_of(staged: Sequence[Staged]) -> str | None:
    """Return the run of the query that the tasks belong to."""
    return next((one.run for one in staged if one.run), None)


def refused_of(staged: Sequence[Staged]) -> int:
    """Return how many rows could be no messages."""
    return sum(one.refused for one in staged)


def tell(done: Published | Committed | None, refused: int) -> None:
    """Say in the log what came of a write: as a warning where something may be wrong with what it had."""
    if done is None:
        return
    if done.outcome == "replayed":
        log.info("written before, nothing is written again")
        return
    messages = done.messages if isinstance(done, Published) else done.published
    log.log(
        logging.WARNING if refused or done.differing else logging.INFO,
        "%s messages: %s pushed, %s ignored, %s with another payload than the message of their key, %s of"
        " them rows that could be none and are dead letters",
        *(messages, done.pushed, messages - done.pushed),
        *("unknown" if done.differing is None else done.differing, refused),
    )


def parts_of(staged: Sequence[Staged]) -> list[dict[str, int]]:
    """Return what is to be published."""
    return [{"part": one.part, "messages": one.messages} for one in staged if one.part is not None]


def failures(rows: Iterable[tuple[str | None, str]]) -> list[dict[str, Any]]:
    """Return what of a batch is given back.

    Args:
        rows: receipts, each with its error.

    Raises:
        InvalidParameter: there is an error without a receipt, so that nobody knows whose it is.
    """
    found: list[dict[str, Any]] = []
    for receipt, error in rows:
        if receipt is None:
            raise InvalidParameter(f'column "receipt" NULL: must not be beside error "{error[:40]}"')
        found.append({"receipt": receipt, "error": error[:1000]})
    return found


def _without_failed(batch: Any, failed: list[dict[str, Any]]) -> Any:
    """Return the rows that go on, and add those with an error to a list."""
    if "error" not in batch.schema.names:
        return batch
    wrong = pc.is_valid(batch.column("error"))
    receipts, errors = (batch.column(name).filter(wrong) for name in ("receipt", "error"))
    texts = map(shown, errors.cast(pa.binary()).to_pylist())  # whatever bytes Spark has in them
    failed += failures(zip(receipts.to_pylist(), texts, strict=True))
    return batch.filter(pc.invert(wrong))
