"""What the history of the queue tells: waiting, processing, attempts, throughput; as files and a report."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from examples.flights.pipeline import IN, WAYS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from pyspark.sql import Column, DataFrame, SparkSession

KINDS = (IN, *WAYS)


def _seconds(since: str, until: str) -> Column:
    return F.col(until).cast("double") - F.col(since).cast("double")


def history(spark: SparkSession, url: str) -> DataFrame:
    """Return what has ended, with how long it waited and how long it was worked on, in seconds."""
    rows = spark.read.format("pyqueue").options(url=url, look="history", partitions="4").load()
    return rows.where(F.col("p_kind").isin(*KINDS)).select(
        "p_kind",
        "outcome",
        "attempts",
        _seconds("created_at", "reserved_at").alias("waiting"),
        _seconds("reserved_at", "finished_at").alias("processing"),
        F.date_trunc("minute", "finished_at").alias("minute"),
        F.col("finished_at").alias("finished"),
    )


def analyse(spark: SparkSession, url: str, work: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write the analysis as Parquet, and return it: a row a kind, and a row a kind and minute."""
    rows = history(spark, url).cache()
    middle, most = F.percentile_approx, F.max
    seconds = F.col("finished").cast("double")
    kinds = rows.groupBy("p_kind", "outcome").agg(
        F.count("*").alias("messages"),
        middle("waiting", 0.5).alias("waiting_p50"),
        middle("waiting", 0.99).alias("waiting_p99"),
        middle("processing", 0.5).alias("processing_p50"),
        middle("processing", 0.99).alias("processing_p99"),
        most("attempts").alias("attempts_most"),
        (F.count("*") / F.greatest(most(seconds) - F.min(seconds), F.lit(1.0))).alias("a_second"),
    )
    minutes = rows.groupBy("p_kind", "minute").agg(F.count("*").alias("messages"))
    found = []
    for name, frame in (("kinds", kinds), ("minutes", minutes)):
        frame.write.mode("overwrite").parquet(str(work / "analysis" / name))
        found.append(spark.read.parquet(str(work / "analysis" / name)).toPandas())
    rows.unpersist()
    return found[0].sort_values("p_kind"), found[1].sort_values("minute")


def report(kinds: pd.DataFrame, minutes: pd.DataFrame, verdict: pd.DataFrame, work: Path) -> None:
    """Write report.png and report.html."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (waiting, processing, throughput) = plt.subplots(3, 1, figsize=(9, 11), layout="constrained")
    for axes, name in ((waiting, "waiting"), (processing, "processing")):
        places = range(len(kinds))
        axes.barh([place + 0.2 for place in places], kinds[f"{name}_p99"], 0.4, label="99%", color="#b8c4d9")
        axes.barh(
            [place - 0.2 for place in places], kinds[f"{name}_p50"], 0.4, label="median", color="#2f5597"
        )
        axes.set_yticks(list(places), list(kinds.p_kind))
        axes.set(title=f"{name}, seconds", xlabel="s")
        axes.legend()
    table = minutes.pivot_table(index="minute", columns="p_kind", values="messages", aggfunc="sum").fillna(0)
    bottom = None
    labels = [f"{minute:%H:%M}" for minute in table.index]
    for kind in table.columns:
        throughput.bar(labels, table[kind], bottom=bottom, label=kind)
        bottom = table[kind] if bottom is None else bottom + table[kind]
    throughput.set(title="done a minute", ylabel="messages")
    throughput.legend()
    figure.savefig(work / "report.png", dpi=110)
    plt.close(figure)
    picture = base64.b64encode((work / "report.png").read_bytes()).decode()
    (work / "report.html").write_text(
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Flights through the queue</title>"
        "<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "table{border-collapse:collapse}"
        "td,th{padding:.3em .8em;border-bottom:1px solid #ccc;text-align:right}img{max-width:100%}</style>"
        "<h1>Flights through the queue</h1><h2>Counts</h2>"
        + verdict.to_html(index=False, border=0)
        + "<h2>What the history says</h2>"
        + kinds.to_html(index=False, border=0, float_format="{:,.2f}".format)
        + "<p><img alt='waiting, processing and throughput by kind'"
        + f" src='data:image/png;base64,{picture}'></p></html>",
        encoding="utf-8",
    )
