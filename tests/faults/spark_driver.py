"""A driver to be killed: python -m tests.faults.spark_driver MASTER, and a line of JSON for each query.

A query takes the messages of the kind `mail` until none is ready, and lets each batch last a while. How it
ended stands then in the file that the line names.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.spark.pipeline import Pipeline, Station
from pyqueue_sql.spark.session import make_session

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A Java that lives for some minutes is not to spend them on compiling."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
}
GROUPS = 20
OF_SINK = ("foreach", "stream", "unique", "groups")
"""Where the write ends the batch."""


def no_key() -> Column:
    """Return the column without keys, so that what comes twice is seen."""
    return F.lit(None).cast("string").alias("p_key")


def onwards(messages: DataFrame, *more: str) -> DataFrame:
    """Return what goes on, and more columns."""
    return messages.select(F.lit("next").alias("p_kind"), no_key(), "payload", *more)


def gathered(messages: DataFrame) -> DataFrame:
    """Return all numbers so far of the groups of which some came, from Spark's state."""
    number = F.get_json_object("payload", "$.n").cast("int")
    groups = messages.select(number.alias("n")).groupBy((F.col("n") % GROUPS).alias("group"))
    payload = F.to_json(F.struct("group", "numbers"))
    return groups.agg(F.collect_list("n").alias("numbers")).select(
        F.lit("next").alias("p_kind"), no_key(), payload.alias("payload")
    )


def of_foreach(given: dict[str, Any], frame: DataFrame, batch: int) -> None:
    """Send a batch on and end it, or note what it had where the source commits."""
    time.sleep(given["slow"])
    if given["mode"] == "source":
        found = [json.loads(one.payload)["n"] for one in frame.select("payload").collect()]
        with Path(given["folder"], "seen").open("a") as file:
            file.writelines(f"{n}\n" for n in found)
        return
    query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    options = {"url": given["url"], "stream": f"spark/{query}", "batch": str(batch)}
    frame.write.format("pyqueue").options(**options).mode("append").save()


def slowly(seconds: float, messages: DataFrame) -> DataFrame:
    """Send a station's batch on, after a while."""
    time.sleep(seconds)
    return onwards(messages, "receipt")


def run(spark: SparkSession, given: dict[str, Any]) -> None:
    """Run the query of a mode of tests/faults/spark_rounds.py until nothing is ready."""
    mode = given["mode"]
    options = {name: str(given[name]) for name in ("partitions", "max_messages", "timeout_seconds")}
    if mode == "station":
        work = functools.partial(slowly, given["slow"])
        station = Station("mail", work, to=("next",), options=tuple(options.items()))
        Pipeline("faults", [station]).run(spark, given["url"], given["folder"], once=True)
        return
    options |= {"url": given["url"], "commit": "sink" if mode in OF_SINK else "source"}
    frames = [
        spark.readStream.format("pyqueue").options(**options, kind=kind).load() for kind in given["kinds"]
    ]
    frame = functools.reduce(lambda one, other: one.union(other), frames)
    if mode == "groups":
        frame = gathered(frame)
    elif mode in ("distinct", "unique"):
        frame = onwards(frame.dropDuplicates(["payload"]))
    elif mode == "stream":
        frame = onwards(frame)
    elif mode == "foreach":
        frame = onwards(frame, "receipt")
    if mode in ("stream", "distinct", "unique"):
        writer = frame.writeStream.format("pyqueue").option("url", given["url"])
    else:
        writer = frame.writeStream.foreachBatch(functools.partial(of_foreach, given))
    query = (
        writer.option("checkpointLocation", f"{given['folder']}/checkpoint")
        .outputMode("update" if mode == "groups" else "append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main(master: str) -> None:
    """Run a query for each line of the input."""
    spark = make_session("faults", master, SETTINGS)
    for line in sys.stdin:
        given = json.loads(line)
        try:
            run(spark, given)
            said = "ended"
        except Exception as error:
            traceback.print_exc()
            said = f"failed: {type(error).__name__}"
        answer = Path(given["answer"])
        answer.with_suffix(".new").write_text(said)
        os.replace(answer.with_suffix(".new"), answer)


if __name__ == "__main__":
    main(sys.argv[1])
