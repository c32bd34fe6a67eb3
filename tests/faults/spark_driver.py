"""A driver to be killed: python -m tests.faults.spark_driver '{"mode": …, "folder": …, …}', with PYQUEUE_URL.

It takes the messages of the kind `mail` until none is ready, and lets each batch last a while.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.spark.pipeline import Pipeline, Station
from pyqueue_sql.spark.session import make_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def onwards(messages: DataFrame) -> DataFrame:
    """Return what goes on, without keys, so that what comes twice is seen."""
    nothing = F.lit(None).cast("string").alias("p_key")
    return messages.select(F.lit("next").alias("p_kind"), nothing, "payload", "receipt")


def of_foreach(given: dict[str, Any], frame: DataFrame, batch: int) -> None:
    """Send a batch on and end it, or note what it had where the source commits."""
    time.sleep(given["slow"])
    if given["mode"] == "source":
        found = [json.loads(one.payload)["n"] for one in frame.select("payload").collect()]
        with Path(given["folder"], "seen").open("a") as file:
            file.writelines(f"{n}\n" for n in found)
        return
    query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    options = {"stream": f"spark/{query}", "batch": str(batch)}
    onwards(frame).write.format("pyqueue").options(**options).mode("append").save()


def slowly(seconds: float, messages: DataFrame) -> DataFrame:
    """Send a station's batch on, after a while."""
    time.sleep(seconds)
    return onwards(messages)


def main(given: dict[str, Any]) -> None:
    """Run the query of a mode: foreach, stream, station or source."""
    spark = make_session("faults", f"local[{given['cores']}]", {"spark.ui.enabled": "false"})
    options = {name: str(given[name]) for name in ("partitions", "max_messages", "timeout_seconds")}
    if given["mode"] == "station":
        work = functools.partial(slowly, given["slow"])
        station = Station("mail", work, to=("next",), options=tuple(options.items()))
        Pipeline("faults", [station]).run(spark, os.environ["PYQUEUE_URL"], given["folder"], once=True)
        return
    options |= {"commit": "source" if given["mode"] == "source" else "sink"}
    kinds = ("mail", "post") if given["mode"] == "foreach" else ("mail",)
    frames = [spark.readStream.format("pyqueue").options(**options, kind=kind).load() for kind in kinds]
    frame = functools.reduce(lambda one, other: one.union(other), frames)
    if given["mode"] == "stream":
        writer = onwards(frame).drop("receipt").writeStream.format("pyqueue")
    else:
        writer = frame.writeStream.foreachBatch(functools.partial(of_foreach, given))
    query = (
        writer.option("checkpointLocation", f"{given['folder']}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
