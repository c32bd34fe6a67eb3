"""`make spark-demo`: a year of flights in, through the pipeline, out to files, and all of it counted.

Everything can be killed and started again with the same --url and --work: it goes on where it was.
"""

from __future__ import annotations

import calendar
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console
from rich.table import Table

from examples.flights import data
from examples.flights.analysis import KINDS, analyse, report
from examples.flights.pipeline import IN, LATE_MINUTES, WAYS, build
from examples.flights.progress import Progress
from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.embedded import start_server
from pyqueue_sql.schema import migrate
from pyqueue_sql.spark import jars
from pyqueue_sql.spark.session import make_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = 86_400
TASK_MESSAGES = 5_000
WIDTH = 60
LOOKS = {"on_time": ("█", "green"), "delayed": ("▒", "yellow"), "cancelled": ("x", "red")}
"""How a flight of each way is drawn."""


@click.command()
@click.option(
    "--url", envvar="PYQUEUE_URL", help="The database; without it a PostgreSQL of its own, gone afterwards."
)
@click.option(
    "--work", type=click.Path(file_okay=False, path_type=Path), help="Folder for files; else a new one."
)
@click.option(
    "--months", type=click.IntRange(1, 12), default=12, show_default=True, help="Only the first so many."
)
@click.option(
    "--max-messages", type=click.IntRange(1), default=20_000, show_default=True, help="Of a task and batch."
)
@click.option("--master", default="local[2]", show_default=True, help="Where Spark runs.")
@click.option("--driver", help="The JDBC driver's jar, if not that of the system; none: it does without.")
@click.option("--packages", help="The JDBC driver's Maven coordinates, for Spark to fetch.")
def main(
    url: str | None,
    work: Path | None,
    months: int,
    max_messages: int,
    master: str,
    driver: str | None,
    packages: str | None,
) -> None:
    """Take the flights that left New York in 2013 through a pipeline on Spark, and check every count."""
    console = Console()
    work = work or Path(tempfile.mkdtemp(prefix="pyqueue-flights-"))
    work.mkdir(parents=True, exist_ok=True)
    console.print(f"files go to {work}; the server and Spark start", soft_wrap=True, highlight=False)
    with contextlib.ExitStack() as stack:
        try:
            where = url or stack.enter_context(start_server()).url
            by_jdbc, found = True, dict[str, str]()
            try:
                found = jars.driver(where, given=driver, packages=packages)
            except jars.NotFound as error:
                if driver or packages:
                    raise
                by_jdbc = False
                console.print(f'loading by format("pyqueue"): {error}', soft_wrap=True)
            settings = {
                **found,
                "spark.sql.shuffle.partitions": "4",
                "spark.ui.showConsoleProgress": "false",
                "spark.ui.enabled": "false",
            }
            spark = make_session("flights", master, settings)
        except jars.NotFound as error:
            raise click.ClickException(str(error)) from None
        stack.callback(spark.stop)
        spark.sparkContext.setLogLevel("ERROR")
        migrate.upgrade(where)
        wrong = run(spark, where, work, months, max_messages, console, by_jdbc)
    console.print(f"report: {work / 'report.html'}", soft_wrap=True)
    sys.exit(1 if wrong else 0)


def run(
    spark: SparkSession, url: str, work: Path, months: int, max_messages: int, console: Console, by_jdbc: bool
) -> int:
    """Do it all, and return how many counts are wrong."""
    total = data.flights(spark, work, months).count()
    with Progress(url, total, console) as progress:
        with connect(url) as connection:
            queue = Queue(connection)
            # a key that has gone its way is known for a day, so that what is loaded twice comes once
            queue.define(IN, dedup_seconds=DAY, history_seconds=DAY)
            for way in WAYS:
                queue.define(way, history_seconds=DAY)
        load(spark, url, work, months, by_jdbc)
        progress.say("loaded, January by JDBC" if by_jdbc else "loaded")
        build(str(work / "out"), max_messages).run(
            spark, url, str(work / "checkpoints"), once=True, report=progress.say
        )
    kinds, minutes = analyse(spark, url, work)
    verdict = check(spark, url, work, months)
    report(kinds, minutes, verdict, work)
    show(console, verdict)
    draw(console, verdict)
    return int((verdict.queue != verdict.pandas).sum())


def load(spark: SparkSession, url: str, work: Path, months: int, by_jdbc: bool) -> None:
    """Insert January with plain JDBC, where there is a driver, and write the rest as messages."""
    rows = data.flights(spark, work, months)
    names = [F.col(name) for name in rows.columns]
    messages = rows.select(
        F.lit(IN).alias("p_kind"),
        F.concat_ws("/", "time_hour", "carrier", "flight").alias("p_key"),
        F.to_json(F.struct(*names)).alias("payload"),
    )
    # a task is a transaction, and short ones are best for everybody else
    messages = messages.repartition(max(4, rows.count() // TASK_MESSAGES))
    if by_jdbc:
        where, properties = jars.jdbc(url)
        january = messages.where(F.get_json_object("payload", "$.month") == "1")
        january.write.jdbc(where, "queue_inbox", "append", {**properties, "batchsize": "5000"})
        messages = messages.where(F.get_json_object("payload", "$.month") != "1")
    messages.write.format("pyqueue").option("url", url).option("atomic", "task").mode("append").save()


def check(spark: SparkSession, url: str, work: Path, months: int) -> pd.DataFrame:
    """Return what was counted, a row each: in the queue or its files, and by pandas."""
    rows = data.flights_of_pandas(months)
    late = rows[["dep_delay", "arr_delay"]].fillna(0).max(axis=1) > LATE_MINUTES
    cancelled = rows.dep_time.isna()
    expected = {WAYS[0]: rows[~cancelled & ~late], WAYS[1]: rows[~cancelled & late], WAYS[2]: rows[cancelled]}
    with connect(url) as connection:
        stats = {one.kind: one for one in Queue(connection).stats()}
    found: list[tuple[str, Any, Any]] = [("flights in", stats[IN].acked_total, len(rows))]
    found.append(("left in the queue", sum(stats[kind].total for kind in KINDS if kind in stats), 0))
    found.append(("dead letters", sum(one.total for kind, one in stats.items() if kind.endswith(".dead")), 0))
    for way, frame in expected.items():
        files = spark.read.parquet(str(work / "out" / way))
        name = way.rpartition(".")[2]
        sums = files.agg(
            F.count("*"),
            F.countDistinct("p_key"),
            F.count("airline"),
            F.count("destination"),
            F.count("temp"),
            F.sum("distance"),
        ).first()
        assert sums is not None
        whats = ("done", "flights", "with airline", "with destination", "with weather", "miles")
        wanted = (
            len(frame),
            len(frame),
            *(int(frame[one].count()) for one in ("airline", "destination", "temp")),
        )
        acked = stats[way].acked_total if way in stats else 0
        for what, queue, pandas in zip(
            whats, (acked, *sums[1:]), (*wanted, int(frame.distance.sum())), strict=True
        ):
            found.append((f"{name}: {what}", int(queue or 0), pandas))
        found.append((f"{name}: rows", sums[0], len(frame)))
        months_of = {one.month: one["count"] for one in files.groupBy("month").count().collect()}
        for month, count in frame.groupby("month").size().items():
            found.append((f"{name}: month {month}", months_of.get(month, 0), int(count)))
    return pd.DataFrame(found, columns=["what", "queue", "pandas"])


def show(console: Console, verdict: pd.DataFrame) -> None:
    """Print the counts."""
    table = Table("", "queue", "pandas", "", title="flights of 2013", title_justify="left")
    for one in verdict.itertuples():
        mark = "[green]=[/]" if one.queue == one.pandas else "[bold red]WRONG[/]"
        table.add_row(str(one.what), f"{one.queue:,}", f"{one.pandas:,}", mark)
    for column in table.columns[1:]:
        column.justify = "right"
    console.print(table)


def draw(console: Console, verdict: pd.DataFrame) -> None:
    """Draw a bar a month: how many flights went which way."""
    parts = verdict.what.str.extract(r"^(\w+): month (\d+)$")
    counts = verdict.assign(way=parts[0], month=parts[1]).dropna(subset="month").astype({"month": int})
    months = counts.pivot_table(index="month", columns="way", values="queue", fill_value=0)
    most = months.sum(axis=1).max()
    for month, ways in months.iterrows():
        bars = (
            f"[{color}]{sign * round(WIDTH * ways.get(way, 0) / most)}[/]"
            for way, (sign, color) in LOOKS.items()
        )
        console.print(
            f"{calendar.month_abbr[int(str(month))]} {''.join(bars)} {int(ways.sum()):,}", highlight=False
        )
    console.print(*(f"{sign} {way.replace('_', ' ')}" for way, (sign, _) in LOOKS.items()), sep="   ")


if __name__ == "__main__":
    main()
