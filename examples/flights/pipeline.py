"""The pipeline: flights come in, get what is known about them, and go one of three ways into files.

pyqueue pipeline examples.flights.pipeline:pipeline --master 'local[2]' --once
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from examples.flights import data
from pyqueue_sql.spark.pipeline import Pipeline, Station

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IN = "flights.in"
WAYS = ("flights.on_time", "flights.delayed", "flights.cancelled")
LATE_MINUTES = 15
JOINED = (
    f"{data.FLIGHT}, airline string, destination string, temp double, wind_speed double, precip double,"
    " visib double"
)


def enrich(messages: DataFrame) -> DataFrame:
    """Join airline, airport and the weather of the hour, and choose the way."""
    spark = messages.sparkSession
    rows = messages.select("receipt", "p_key", "headers", "data.*")
    for what, by in (
        (data.airlines, ["carrier"]),
        (data.airports, ["dest"]),
        (data.weather, ["origin", "time_hour"]),
    ):
        rows = rows.join(F.broadcast(what(spark)), by, "left")
    names = [name for name in rows.columns if name not in ("receipt", "p_key", "headers")]
    late = F.greatest(F.coalesce("dep_delay", F.lit(0)), F.coalesce("arr_delay", F.lit(0))) > LATE_MINUTES
    way = F.when(F.col("dep_time").isNull(), WAYS[2]).when(late, WAYS[1]).otherwise(WAYS[0])
    return rows.select("receipt", "p_key", "headers", way.alias("p_kind"), F.struct(*names).alias("payload"))


def keep(folder: str, messages: DataFrame, batch: str) -> None:
    """Write a batch as files, in place of what an earlier try has written of it."""
    messages.write.mode("overwrite").partitionBy("month").parquet(f"{folder}/batch={batch}")


def unpack(messages: DataFrame) -> DataFrame:
    """Return a column a field."""
    return messages.select("receipt", "p_key", "data.*")


def build(folder: str, max_messages: int = 20_000) -> Pipeline:
    """Return the pipeline.

    Args:
        folder: where the files go.
        max_messages: of each task and batch.
    """
    options = (("max_messages", str(max_messages)), ("timeout_seconds", "600"))
    first = Station(IN, enrich, to=WAYS, schema=data.FLIGHT, failed="dead", options=options)
    sinks = [
        Station(
            way,
            unpack,
            write=functools.partial(keep, f"{folder}/{way}"),
            schema=JOINED,
            failed="dead",
            options=options,
        )
        for way in WAYS
    ]
    return Pipeline("flights", [first, *sinks])


pipeline = build(os.environ.get("FLIGHTS_FOLDER", "flights"))
