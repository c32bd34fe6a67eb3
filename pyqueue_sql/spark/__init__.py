"""The queue on Spark: `format("pyqueue")`, pipelines, and where to find Java and drivers.

Wants `pip install 'pyqueue_sql[spark]'` and Java 17 or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: SparkSession) -> None:
    """Make `format("pyqueue")` known to a session, filters that the server checks included."""
    # imported late: it wants pyarrow, and a message of ours comes before that of a missing package
    from pyqueue_sql.spark.source import PyQueueDataSource

    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(PyQueueDataSource)
