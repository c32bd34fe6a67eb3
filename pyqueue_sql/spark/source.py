"""`format("pyqueue")`, the data source."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark.arrow import ENDED, PEEKED, RESERVED, spark_schema
from pyqueue_sql.spark.options import READ, READ_STREAM, WRITE, WRITE_STREAM, parse
from pyqueue_sql.spark.read import Reader
from pyqueue_sql.spark.sink import StreamWriter, Writer
from pyqueue_sql.spark.stream import StreamReader


class PyQueueDataSource(DataSource):
    """The queue as a data source of Spark: `spark.read.format("pyqueue")`, readStream, write, writeStream.

    `pyqueue_sql.spark.register(spark)` makes it known. A DataFrame that is written has columns of
    queue_inbox: p_kind, p_key, payload (JSON as a string: `to_json(struct(…))`), payload_bytes, headers,
    priority, delay_seconds, scheduled_at (microseconds or a timestamp), attempts, max_attempts. Times that
    are read are microseconds since 1970-01-01 UTC: `timestamp_micros(created_at)`.

    Options, for all:
        url: the database, as for the command line: postgresql://…, mysql://…. Default: PYQUEUE_URL, as the
            driver has it. No plan, log or error shows it.
        queue_schema: where the queue is, if not in the current schema (on MySQL a database).

    read, which changes nothing:
        look: peek: the messages that are there, with their state; history: those that have ended. One of the
            two must be given.
        kind: only this one. Filters on kind, key, outcome, entry and times go to the server as well.
        partitions: how many tasks read, 1 to 1000, default 2.

    readStream, which takes messages and acknowledges them when the batch is committed:
        kind: what to read; it must be given.
        partitions: how many tasks reserve, 1 to 1000, default 2.
        max_messages: of each of them and batch, 1 to 1000000, default 10000.
        timeout_seconds: how long a hold is, 1 to 31536000, default 300, whatever the kind says. It is
            extended while the batch runs, every third of it.
        commit: source (default); sink: a write ends the batch in the transaction in which it publishes: a
            `writeStream` of this format, or in a `foreachBatch` a write with `stream` and `batch`. A batch
            that no write has ended fails the query. The write keeps a copy of what the batch had read until
            Spark has noted that it is done, for a replay in between.
        reconnect_seconds: how long to try again while the server is away, 0 to 86400, default 180; also of
            writeStream, and of a write that ends a batch; of another write the default is 0.

    write:
        kind: where all of it goes; else the column p_kind says it for each row.
        atomic: job (default): tasks stage, and one transaction publishes all of it; task: each task is a
            transaction, which is faster, and when the job fails some of them stay.
        stream and batch: the write ends this batch of a `readStream` with commit=sink: what was staged is
            published, rows with an `error` are given back by their `receipt`, and all else that the batch
            holds is acknowledged, in one transaction.
        failed: where it ends a batch: retry (default) or dead, what is given back with an error.

    writeStream, in which a batch that is replayed changes nothing:
        kind: as for write.
    """

    @classmethod
    def name(cls) -> str:
        """Return what stands in `format(…)`."""
        return "pyqueue"

    def schema(self) -> StructType:
        """Return the columns of what is read."""
        # Spark asks before it says for which way; a batch read has a `look`, or is refused later
        return spark_schema({"peek": PEEKED, "history": ENDED}.get(self.options.get("look", ""), RESERVED))

    def reader(self, schema: StructType) -> Reader:  # noqa: ARG002
        """Return the batch reader."""
        return Reader(parse(self.options, READ))

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: ARG002, N802
        """Return the streaming reader."""
        return StreamReader(parse(self.options, READ_STREAM))

    def writer(self, schema: StructType, overwrite: bool) -> Writer:
        """Return the batch writer."""
        _append(overwrite)
        return Writer(parse(self.options, WRITE), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: N802
        """Return the streaming writer."""
        _append(overwrite)
        return StreamWriter(parse(self.options, WRITE_STREAM), schema)


def _append(overwrite: bool) -> None:
    if overwrite:
        raise InvalidOption('mode "overwrite": messages can only be added, mode("append")')
