"""A Spark session for the command line, the demo and the tests; an application has its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from pyqueue_sql.spark import register
from pyqueue_sql.spark.jars import check_java


def make_session(
    name: str, master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return a session that knows `format("pyqueue")`.

    Args:
        name: of the application.
        master: local[2], say, the URL of a cluster, or that of Spark Connect, sc://…; None: as spark-submit
            or the configuration has it.
        settings: of Spark.

    Raises:
        pyqueue_sql.spark.jars.NotFound: there is no Java, and Spark would run here.
    """
    builder = SparkSession.builder.appName(name)
    elsewhere = master is not None and master.startswith("sc://")
    if not elsewhere:
        check_java()
        # else the executors take another Python from PATH
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None and elsewhere:
        builder = builder.remote(master)
    elif master is not None:
        builder = builder.master(master)
        if master.startswith("local"):  # nobody else has to reach it
            builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config(
                "spark.driver.host", "127.0.0.1"
            )
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    register(spark)
    return spark
