"""`python tests/spark/connected.py URL FOLDER`: what a user of Spark Connect does, with a server of its own.

A process has a session of Spark or one of Spark Connect, so this isn't a part of the tests' process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.spark import register
from pyqueue_sql.spark.pipeline import Pipeline, Station, and_again
from pyqueue_sql.spark.sink import batch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main(url: str, folder: str) -> None:
    """Write, read, stream in all ways, and run a station."""
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    register(spark)
    where = {"url": url}

    def copy(frame: DataFrame, kind: str) -> None:
        found = frame.select(F.lit(kind).alias("p_kind"), "p_key", "payload")
        writer = found.writeStream.format("pyqueue").options(**where)
        writer = writer.option("checkpointLocation", f"{folder}/{kind}")
        writer.trigger(availableNow=True).start().awaitTermination()

    def take(kind: str, commit: str) -> DataFrame:
        options = {"kind": kind, "commit": commit, "max_messages": "3"}
        return spark.readStream.format("pyqueue").options(**where, **options).load()

    def work(messages: DataFrame, batch: int) -> None:
        named = batch_of(messages, batch)
        if named is not None:
            options = {**where, "stream": named[0], "batch": str(named[1])}
            found = messages.select(F.lit("third").alias("p_kind"), "p_key", "payload", "receipt")
            found.write.format("pyqueue").options(**options).mode("append").save()

    def pack(messages: DataFrame) -> DataFrame:
        error = F.when(F.col("data.id") == 7, F.lit("no seven"))
        return messages.select("receipt", "p_key", "payload", error.alias("error"))

    rows = spark.range(10).selectExpr("concat('k', id) as p_key", "struct(id) as payload")
    rows.write.format("pyqueue").options(**where, kind="mail").mode("append").save()
    there = spark.read.format("pyqueue").options(**where, look="peek").load().where("p_kind = 'mail'")
    assert there.count() == 10
    copy(take("mail", "source"), "first")
    copy(take("first", "sink"), "second")
    writer = take("second", "sink").writeStream.foreachBatch(work)
    writer = writer.option("checkpointLocation", f"{folder}/third").trigger(availableNow=True)
    and_again(lambda: writer.start().awaitTermination())
    options = (("max_messages", "3"),)
    station = Station("third", pack, to=("packed",), schema="id int", failed="dead", options=options)
    Pipeline("shop", [station]).run(spark, url, folder, once=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
