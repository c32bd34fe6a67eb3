"""`format("pyqueue")`, the data source."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import DataType, StructType, TimestampType

from pyqueue_sql.errors import InvalidOption, QueueError
from pyqueue_sql.spark.arrow import ENDED, PEEKED, RESERVED, spark_schema
from pyqueue_sql.spark.options import READ, READ_STREAM, WRITE, WRITE_STREAM, check_names, named, parse
from pyqueue_sql.spark.read import Reader
from pyqueue_sql.spark.shaping import ERROR
from pyqueue_sql.spark.sink import StreamWriter, Writer
from pyqueue_sql.spark.stream import RefusedReader, StreamReader

_TYPE: Final = re.compile(
    r"\s*((struct|array|map)\s*<.*>|\w+\s*(\([\d\s,]+\))?)\s*", re.IGNORECASE | re.DOTALL
)
"""What says a type by itself; everything else is the fields of a struct."""


class PyQueueDataSource(DataSource):
    """The queue as a data source of Spark: `spark.read.format("pyqueue")`, readStream, write, writeStream.

    `pyqueue_sql.spark.register(spark)` makes it known. A DataFrame that is written has columns of
    queue_inbox: p_kind, p_key (of any atomic type but an interval), payload (JSON as a string, or a struct,
    map, array or variant), payload_bytes, headers, priority, delay_seconds, scheduled_at (a timestamp, with
    or without zone, a date, or microseconds), attempts, max_attempts. What is read may be told its columns
    and types: `.schema("p_key string, payload struct<n: int>, created_at timestamp")`.

    Options, in any case and with or without `_`; each with what it is for, and its default:

        url (all; default: PYQUEUE_URL, as the driver has it): the database, as for the command line:
            postgresql://…, mysql://…. No plan, log or error shows it.
        queue_schema (all; default: the current one): where the queue is; on MySQL a database.
        kind (all; default: none): what to read; where all of a write goes, else the column p_kind says it
            for each row.
        kinds (read, readStream; default: none): several, with commas between. A `readStream` must be told
            `kind`, `kinds` or `kind_pattern`.
        kind_pattern (read, readStream; default: none): those whose whole name matches this regular
            expression, also those that come later. It wants the rights of queue_operator.
        look (read; default: none): peek: the messages that are there, with their state; history: those that
            have ended. One of the two must be given.
        partitions (read, readStream; default: 2): how many tasks read, 1 to 1000.
        max_messages (readStream; default: 10000): of each task in a batch, 1 to 1000000.
        max_messages_per_trigger (readStream; default: none): of a whole batch, 1 to 1000000000, shared among
            tasks and kinds; each task still takes no more than `max_messages`.
        timeout_seconds (readStream; default: 300): how long a hold is, 1 to 31536000, whatever the kind says.
            It is extended while the batch runs, every third of it.
        commit (readStream; default: source): source: messages are acknowledged when Spark has committed the
            batch; sink: a write ends it in the transaction in which it publishes: a `writeStream` of this
            format, or in a `foreachBatch` a write with `stream` and `batch`. A batch that no write has ended
            fails the query. The write keeps a copy of what the batch had read until Spark has noted that it
            is done, for a replay in between.
        atomic (write; default: job): job: tasks stage, and one transaction publishes all of it; task: each
            task is a transaction, which is faster, and when the job fails some of them stay.
        stream (write; default: none): with `batch`: whose batch the write ends, spark/ and the query's id.
        batch (write; default: none): with `stream`: the batch of a `readStream` with commit=sink that it
            ends: what was staged is published, rows with an `error` are given back by their `receipt`, and
            all else that the batch holds is acknowledged, in one transaction.
        txn_app_id (write; default: none): with `txn_version`: what writes, so that a write that is repeated
            writes nothing twice, keys or not. As in Delta Lake.
        txn_version (write; default: none): with `txn_app_id`: the number of this write. One that is no higher
            than the last of this txn_app_id writes nothing; that is remembered for a year.
        failed (write; default: retry): where it ends a batch, what becomes of the rows with an `error`: retry
            or dead.
        backlog (readStream; default: false): true: what waited when the last batch was planned (ready,
            waiting, oldest_ready_seconds) stands in the progress of the query, as latestOffset of the source.
            It counts the messages, so it costs more where more are waiting, and wants the rights of
            queue_operator.
        times (read, readStream; default: timestamp): what times are: timestamp; long: microseconds since
            1970-01-01 UTC.
        payload_schema (read, readStream; default: none): fields of the payload, or a type, in the words of
            SQL: `n int, lines array<string>`; the column payload is then of this type.
        bad_rows (all; default: fail): fail: the task fails, and names the key; dead: a row that can be no
            message becomes one of <kind>.dead, its columns as the payload, with the reason in the header
            `error`, and a message that is read and whose payload isn't of its type becomes a dead letter;
            null: such a payload is NULL, and the column `error` says why.
        reconnect_seconds (readStream, write, writeStream; default: 180, of a write that ends no batch 0): how
            long to try again while the server is away, 0 to 86400.
    """

    @classmethod
    def name(cls) -> str:
        """Return what stands in `format(…)`."""
        return "pyqueue"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        check_names(options)  # already when the frame is made

    def schema(self) -> StructType | str:
        """Return the columns of what is read."""
        # Spark asks before it says for which way; a batch read has a `look`, or is refused later
        look = named(self.options, "look") or ""
        there = {"peek": PEEKED, "history": ENDED}.get(look.lower(), RESERVED)
        found = spark_schema(there, (named(self.options, "times") or "timestamp").lower())
        payload = named(self.options, "payload_schema")
        if payload is None:
            return found
        types = {one.name: _word(one.dataType) for one in found.fields}
        types["payload"] = payload if _TYPE.fullmatch(payload) else f"struct<{payload}>"
        if (named(self.options, "bad_rows") or "").lower() == "null":
            types[ERROR] = "string"
        return ", ".join(f"{name} {type_}" for name, type_ in types.items())  # for Spark's own parser

    def reader(self, schema: StructType) -> Reader:
        """Return the batch reader."""
        return Reader(parse(self.options, READ), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return the streaming reader."""
        try:
            return StreamReader(parse(self.options, READ_STREAM), schema)
        except QueueError as error:
            return RefusedReader(error)

    def writer(self, schema: StructType, overwrite: bool) -> Writer:
        """Return the batch writer."""
        if overwrite:
            raise InvalidOption('mode "overwrite": messages can only be added, mode("append")')
        return Writer(parse(self.options, WRITE), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: N802
        """Return the streaming writer."""
        if overwrite:
            raise InvalidOption(
                'outputMode "complete": messages can only be added, outputMode("append"); a'
                " `foreachBatch` whose function writes may have any mode"
            )
        return StreamWriter(parse(self.options, WRITE_STREAM), schema)


def _word(type_: DataType) -> str:
    # `timestamp` is what spark.sql.timestampType says it is
    return "timestamp_ltz" if isinstance(type_, TimestampType) else type_.simpleString()
