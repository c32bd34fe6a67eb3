"""A pipeline: stations, each a streaming query, that run for ever or until nothing is left to do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from pyspark.errors import PySparkException

from pyqueue_sql.spark.batches import connected
from pyqueue_sql.spark.options import READ_STREAM, parse
from pyqueue_sql.spark.station import Station

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Pipeline", "Station"]

POLL_SECONDS = 1.0
SLOW = "to connect back"
"""Of what Spark says where a Python wasn't there in time; the whole differs between its places."""
STARTS = 3
"""How often a query is started whose Python wasn't there in time."""


@dataclass(frozen=True)
class Pipeline:
    """Stations that belong together: where one puts its messages, another may take them.

    All that has to be remembered is in the database and below `checkpoints`; stop it anywhere, kill it, start
    it again: messages are held for the batch that had begun, and this batch is done first. Without its
    checkpoints it begins new batches, and what was held comes back after its timeout.

    Args:
        name: of the pipeline.
        stations: in the order of the way through them.
    """

    name: str
    stations: Sequence[Station]

    def start(
        self,
        spark: SparkSession,
        station: Station,
        url: str,
        checkpoints: str,
        *,
        once: bool,
        queue_schema: str | None = None,
    ) -> StreamingQuery:
        """Start the query of a station.

        Args:
            spark: a session that knows `format("pyqueue")`.
            station: one of them.
            url: the database.
            checkpoints: a folder, for all stations.
            once: end where nothing is ready; else look again every second.
            queue_schema: where the queue is in the database.
        """
        options = {"url": url, "kind": station.kind, "commit": "sink", **dict(station.options)}
        if queue_schema is not None:
            options["queue_schema"] = queue_schema
        work = functools.partial(station.work, url, queue_schema)
        writer = (
            spark.readStream.format("pyqueue")
            .options(**options)
            .load()
            .writeStream.queryName(f"{self.name}/{station.kind}")
            .option(
                "checkpointLocation",
                f"{checkpoints}/{quote(self.name, safe='')}/{quote(station.kind, safe='')}",
            )
            .foreachBatch(work)
        )
        trigger = (
            writer.trigger(availableNow=True)
            if once
            else writer.trigger(processingTime=f"{POLL_SECONDS} seconds")
        )
        return trigger.start()

    def run(
        self,
        spark: SparkSession,
        url: str,
        checkpoints: str,
        *,
        once: bool = False,
        queue_schema: str | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Run until somebody stops it, or until nothing is ready in any kind that a station takes.

        Args:
            spark: a session that knows `format("pyqueue")`.
            url: the database.
            checkpoints: a folder, for all stations.
            once: end where nothing is ready.
            queue_schema: where the queue is in the database.
            report: is told what goes on, a line at a time.

        Raises:
            pyspark.errors.StreamingQueryException: a station failed; the others are stopped.
        """
        if once:
            # all of them at first: a batch that was under way is done first, and what it holds isn't ready
            waiting: Sequence[Station] = self.stations
            while waiting:
                for one in waiting:
                    report(f"{self.name}: {one.kind}")
                    start = functools.partial(self.start, spark, one, url, checkpoints, once=True)
                    and_again(lambda start=start: start(queue_schema=queue_schema).awaitTermination())
                waiting = [one for one in self.stations if self._ready(one, url, queue_schema)]
            return
        queries = [
            self.start(spark, one, url, checkpoints, once=False, queue_schema=queue_schema)
            for one in self.stations
        ]
        report(f"{self.name}: {len(queries)} stations")
        try:
            spark.streams.awaitAnyTermination()
        finally:
            for query in queries:
                query.stop()

    def _ready(self, station: Station, url: str, queue_schema: str | None) -> bool:
        given = {"url": url, "kind": station.kind}
        if queue_schema is not None:
            given["queue_schema"] = queue_schema
        with connected(parse(given, READ_STREAM)) as database:
            return database.ready(station.kind)


def and_again(run: Callable[[], object]) -> None:
    """Run a query to its end, and again where the machine was too slow for its start: Spark gives the Python
    of a source or a `foreachBatch` ten seconds, and has no setting for it.

    Args:
        run: starts the query and waits for it; its checkpoint knows what is done.
    """
    for left in reversed(range(STARTS)):
        try:
            run()
            return
        except PySparkException as error:
            if not left or SLOW not in str(error):
                raise
