"""A station of a pipeline: a kind in, a function, kinds out; and what it does with one batch."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everybody has it
from pyspark.sql.types import StringType, StructType

from pyqueue_sql.errors import InvalidParameter, Refused
from pyqueue_sql.spark.arrow import pa
from pyqueue_sql.spark.batches import Committed, connected, patiently
from pyqueue_sql.spark.options import READ_STREAM, Options, parse
from pyqueue_sql.spark.sink import (
    Staged,
    Stager,
    batch_of,
    failures,
    parts_of,
    refused_of,
    run_of,
    tell,
)
from pyqueue_sql.spark.writing import check_error

TRIES = 3
STAGED = "part long, messages long, refused long, failed string, run string"
CORRUPT = "_corrupt_record"
GIVEN = (
    "p_kind",
    "p_key",
    "payload",
    "payload_bytes",
    "headers",
    "priority",
    "attempts",
    "created_at",
    "reserved_at",
    "receipt",
)
"""What the function gets of a message."""
TAKEN = (
    "p_kind",
    "p_key",
    "payload",
    "payload_bytes",
    "headers",
    "priority",
    "delay_seconds",
    "scheduled_at",
    "max_attempts",
    "receipt",
    "error",
)
"""What is taken of what it returns. What it was given besides goes no further: a message begins anew."""


@dataclass(frozen=True)
class Station:
    """Takes the messages of one kind, and says what becomes of them.

    The function gets a DataFrame with p_kind, p_key, payload (a string), payload_bytes, headers, priority,
    attempts, created_at, reserved_at and receipt. What it returns goes on, in the same transaction in which
    the messages that came in are done: a message that has no row there is just done, one that has several
    becomes several, with keys of their own. A row with an `error` (text) is no message: what came in by its
    `receipt` is given back, with that error.

    Args:
        kind: what comes in.
        function: of the DataFrame of a batch.
        to: the kinds that it may go to; the column p_kind of the result chooses. Where there is one, a row
            goes there that has no p_kind or the one that came in. Any other kind is a failure.
        write: in place of `to`, what puts the result somewhere else: it gets the DataFrame and a name of the
            batch, which is the same when the batch is replayed. What it wrote under this name before, it is
            to replace: then nothing comes twice.
        schema: of the payload, in SQL; the function gets the column `data` with its fields as well. A payload
            that doesn't fit is a failure and doesn't reach the function.
        failed: retry: failures come back after the backoff of their kind, until its max_attempts; dead:
            they become dead letters at once.
        options: of the `readStream`: partitions, max_messages, timeout_seconds, reconnect_seconds.
    """

    kind: str
    function: Callable[[DataFrame], DataFrame]
    to: tuple[str, ...] = ()
    write: Callable[[DataFrame, str], None] | None = None
    schema: str | None = None
    failed: Literal["retry", "dead"] = "retry"
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.to and self.write is not None:
            raise ValueError(f"station {self.kind}: either `to` or `write`")

    def result(self, messages: DataFrame) -> DataFrame:
        """Return what becomes of the messages of a batch: columns of TAKEN, `error` always among them."""
        given = messages.select(*GIVEN)
        bad = None
        if self.schema is not None:
            parsed = F.from_json(
                "payload", f"{self.schema}, {CORRUPT} string", {"columnNameOfCorruptRecord": CORRUPT}
            )
            given = given.withColumn("data", parsed)
            fits = F.col("data").isNotNull() & F.col(f"data.{CORRUPT}").isNull()
            bad = given.where(~fits).select("receipt", F.lit(f"payload is not {self.schema}").alias("error"))
            given = given.where(fits).withColumn("data", F.col("data").dropFields(CORRUPT))
        found = self.function(given)
        types = {one.name: one.dataType for one in found.schema.fields}
        if self.write is None and isinstance(types.get("payload"), StructType):
            found = found.withColumn("payload", F.to_json("payload"))
        check_error(types)
        for name in {"receipt", "error"} - types.keys():
            found = found.withColumn(name, F.lit(None).cast(StringType()))
        if len(self.to) == 1:  # the kind that came in is no choice
            chosen = F.nullif(F.col("p_kind"), F.lit(self.kind)) if "p_kind" in types else F.lit(None)
            found = found.withColumn("p_kind", F.coalesce(chosen, F.lit(self.to[0])))
        if self.to:
            wrong = F.concat(F.lit("no way to kind "), F.coalesce(F.col("p_kind"), F.lit("NULL")))
            chosen = F.coalesce(F.col("p_kind").isin(*self.to), F.lit(False))
            found = found.withColumn("error", F.coalesce(F.col("error"), F.when(~chosen, wrong)))
        for name in found.columns if self.to else ():
            if name not in {*TAKEN, *GIVEN, "data"}:
                raise InvalidParameter(f'column "{name}" of {self.kind}: must be one of {", ".join(TAKEN)}')
        if self.write is None:
            found = found.select(*[name for name in TAKEN if name in found.columns])
        return found if bad is None else found.unionByName(bad, allowMissingColumns=True)

    def work(self, url: str, queue_schema: str | None, messages: DataFrame, batch: int) -> None:
        """Do a batch, and end it; once more where others got some of its messages meanwhile.

        Args:
            url: the database.
            queue_schema: where the queue is in it.
            messages: the batch.
            batch: its number.
        """
        named = batch_of(messages, batch)
        if named is None:
            return
        options = parse(
            {"url": url, "kind": self.kind, **_schema(queue_schema), **dict(self.options)}, READ_STREAM
        )
        step = functools.partial(self._move if self.to else self._end, options, *named)
        for left in reversed(range(TRIES)):
            try:
                step(self.result(messages))
                return
            except Refused:
                if not left:
                    raise
                with connected(options) as database:
                    database.renew(*named)

    def _move(self, options: Options, stream: str, batch: int, found: DataFrame) -> None:
        given = dataclasses.replace(options, kind=None, stream=stream, batch=batch)
        stager = Stager(given, found.schema)
        try:
            # one job, in workers that are there: a `write` would start a Python for each of its steps
            rows = cast("Any", found).mapInArrow(functools.partial(staged, stager), STAGED).collect()
            tasks = [
                Staged(one.part, one.messages, one.refused, failed=json.loads(one.failed), run=one.run)
                for one in rows
            ]
            failed = [{**one, **self._final()} for task in tasks for one in task.failed]
            self._commit(
                options,
                stream,
                batch,
                parts=parts_of(tasks),
                failed=failed,
                run=run_of(tasks),
                job=stager.job,
                refused=refused_of(tasks),
            )
        except BaseException:
            stager.drop()
            raise

    def _end(self, options: Options, stream: str, batch: int, found: DataFrame) -> None:
        found = found.persist()
        try:
            rows = found.where(F.col("error").isNotNull()).select("receipt", "error").collect()
            given = failures((one.receipt, one.error) for one in rows)
            failed = [{**one, **self._final()} for one in given]
            with connected(options) as database:
                # after the batch is read: the replay of one that is done has nothing to write
                if database.done(stream, batch):
                    return
                if self.write is not None:
                    sound = found.where(F.col("error").isNull()).drop("error", "receipt")
                    self.write(sound, f"{stream.rpartition('/')[2]}-{batch}")
            self._commit(options, stream, batch, failed=failed)
        finally:
            found.unpersist()

    def _commit(self, options: Options, stream: str, batch: int, **what: Any) -> None:
        def commit() -> Committed:
            with connected(options) as database:
                return database.commit_batch(stream, batch, whole=True, **what)

        tell(patiently(options, commit), what.get("refused", 0))

    def _final(self) -> dict[str, Any]:
        return {"final": True} if self.failed == "dead" else {}


def staged(stager: Stager, batches: Iterator[Any]) -> Iterator[Any]:
    """Stage the rows of a task, and yield the one row of STAGED that says so."""
    done = stager.stage(batches)
    yield pa.record_batch(
        [[done.part], [done.messages], [done.refused], [json.dumps(done.failed)], [done.run]],
        schema=pa.schema(
            [
                *((name, pa.int64()) for name in ("part", "messages", "refused")),
                *((name, pa.string()) for name in ("failed", "run")),
            ]
        ),
    )


def _schema(name: str | None) -> dict[str, str]:
    return {} if name is None else {"queue_schema": name}
