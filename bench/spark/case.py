"""Spark: writes, reads and a station between two kinds, beside Spark's JDBC and a bare table of the same key.

1,000,000 rows of the contract's columns in two partitions. JDBC has the driver's setting that makes one
statement of many rows; the bare table has the same primary key and nothing else.
"""

from __future__ import annotations

import functools
import importlib.util
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bench import servers
from bench.postgresql.pgbench import PAYLOAD
from bench.run import Run
from bench.spark.sessions import cluster, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "spark"
ONCE = True
ROWS = (50_000, 1_000_000)
MOVED = (20_000, 200_000)
BATCH = 50_000
"""Of a station, for each of two partitions."""
PARTITIONS = 2
NOW = "1700000000000000L"
RATE = 12_000
"""Messages a second that a station is to reach on two cores."""
BARE = {
    "postgresql": (
        'create table bare (p_kind text collate "C", p_key text collate "C", payload jsonb, headers jsonb,'
        " priority smallint, delay_seconds numeric, primary key (p_kind, p_key))"
    ),
    "mysql": (
        "create table bare (p_kind varchar(100) character set utf8mb4 collate utf8mb4_bin,"
        " p_key varchar(200) character set utf8mb4 collate utf8mb4_bin, payload json, headers json,"
        " priority smallint, delay_seconds decimal(20, 6), primary key (p_kind, p_key)) engine = innodb"
    ),
}
PLACED = tuple(
    f"{NOW} as {name}" for name in ("scheduled_at", "scheduled_at_initially", "created_at", "ready_at")
)
"""What a row of delayed_queue has besides, where nothing but JDBC writes it."""
PLACED_INNODB = ("monotonically_increasing_id() as entry", "0 as ready_rank")
ENDED = (
    "'bench' as p_kind",
    "cast(id as string) as p_key",
    "id as entry",
    "'acked' as outcome",
    f"'{PAYLOAD}' as payload",
    "cast(0 as smallint) as priority",
    "id as scheduled_at_initially",
    "id as created_at",
    "id as finished_at",
    "1 as attempts",
)


def run(run: Run) -> None:
    """Measure."""
    if importlib.util.find_spec("pyspark") is None:
        run.leave_out(NAME, "pip install 'pyqueue_sql[spark]'")
        return
    from pyqueue_sql.spark import jars

    try:
        jars.check_java()
        found = jars.driver(run.url)
    except jars.NotFound as error:
        run.leave_out(NAME, str(error))
        return
    rows, moved = (sizes[0 if run.quick else 1] for sizes in (ROWS, MOVED))
    name = servers.name_of(run.url)
    servers.tell(run.url, BARE["postgresql" if name == "postgresql" else "mysql"])
    with session("local[2]", found) as spark:
        write(run, spark, rows)
        read(run, spark, rows)
        two = station(run, spark, moved, 0)
        run.keep(
            "a station between two kinds",
            two,
            [RATE] * len(two),
            other_name="what was asked for",
            unit="messages/s",
            target=1,
        )
        waiting = station(run, spark, moved, rows)
        run.keep(
            f"a station with {rows:,} waiting in its kind",
            waiting,
            two,
            other_name="with none",
            unit="messages/s",
            target=0.9,
        )
    with session("local[1]", found) as spark:
        one = station(run, spark, moved, 0)
    run.keep("a station at local[2]", two, one, other_name="at local[1]", unit="messages/s")
    with cluster() as master, session(master, found) as spark:
        apart = station(run, spark, moved, 0)
    run.keep("a station on two workers", apart, two, other_name="at local[2]", unit="messages/s")


def messages(spark: SparkSession, rows: int, prefix: str = "", delay_seconds: int = 0) -> DataFrame:
    """Return messages, a key each, in no order of their keys."""
    numbers = spark.range(0, rows, numPartitions=PARTITIONS)
    return numbers.selectExpr(
        "'bench' as p_kind",
        f"md5(concat('{prefix}', id)) as p_key",
        f"'{PAYLOAD}' as payload",
        "cast(null as string) as headers",
        "cast(0 as smallint) as priority",
        f"cast({delay_seconds} as decimal(20, 6)) as delay_seconds",
    )


def write(run: Run, spark: SparkSession, rows: int) -> None:
    """Compare the ways to write with JDBC into the bare table."""
    from pyqueue_sql.spark.jars import jdbc

    url, properties = jdbc(run.url)
    frame = messages(spark, rows).persist()
    frame.count()
    mysql = servers.name_of(run.url) != "postgresql"
    placed = frame.drop("headers", "delay_seconds").selectExpr(
        "*", *PLACED, *(PLACED_INNODB if mysql else ())
    )

    def by_jdbc(table: str, given: DataFrame = frame) -> float:
        empty(run)
        return timed(
            rows, lambda: given.write.jdbc(url, table, "append", {**properties, "batchsize": "10000"})
        )

    def ours(atomic: str) -> float:
        empty(run)
        writer = frame.write.format("pyqueue").option("url", run.url).option("atomic", atomic)
        return timed(rows, writer.mode("append").save)

    for name, side, target in (
        ("write, a transaction a task", lambda: ours("task"), 0.6),
        ("write, staged and published at once", lambda: ours("job"), 0.35),
        ("inbox by JDBC", lambda: by_jdbc("queue_inbox"), 0.4),
        ("the queue's own table by JDBC", lambda: by_jdbc("delayed_queue", placed), None),
    ):
        run.compare(
            f"{name}, {rows:,} rows",
            side,
            lambda: by_jdbc("bare"),
            other_name="JDBC into a bare table",
            unit="rows/s",
            clients=PARTITIONS,
            target=target,
        )


def read(run: Run, spark: SparkSession, rows: int) -> None:
    """Compare a read of the history with JDBC's of the same rows."""
    from pyqueue_sql.spark.jars import jdbc

    url, properties = jdbc(run.url)
    empty(run)
    numbers = spark.range(1, rows + 1, numPartitions=PARTITIONS)
    numbers.selectExpr(*ENDED).write.jdbc(url, "queue_history", "append", properties)

    def ours() -> float:
        options = {"url": run.url, "look": "history", "partitions": str(PARTITIONS)}
        return timed(rows, lambda: away(spark.read.format("pyqueue").options(**options).load()))

    def by_jdbc() -> float:
        return timed(
            rows,
            lambda: away(
                spark.read.jdbc(url, "queue_history", "entry", 0, rows, PARTITIONS, properties=properties)
            ),
        )

    run.compare(
        f"history read, {rows:,} rows",
        ours,
        by_jdbc,
        other_name="JDBC's read",
        unit="rows/s",
        clients=PARTITIONS,
        target=0.8,
    )


def station(run: Run, spark: SparkSession, moved: int, waiting: int) -> list[float]:
    """Return messages a second from one kind to another, with so many that wait in the first."""
    from pyqueue_sql.spark.pipeline import Pipeline, Station

    found: list[float] = []
    for _ in range(run.repetitions):
        empty(run)
        if waiting:
            put(run, messages(spark, waiting, "later", 3600))
        put(run, messages(spark, moved))
        options = (("max_messages", str(BATCH)),)
        pipeline = Pipeline("bench", [Station("bench", lambda given: given, ("done",), options=options)])
        with tempfile.TemporaryDirectory() as folder:
            go = functools.partial(pipeline.run, spark, run.url, folder, once=True)
            found.append(timed(moved, go))
    return found


def put(run: Run, frame: DataFrame) -> None:
    """Write messages."""
    frame.write.format("pyqueue").option("url", run.url).mode("append").save()


def empty(run: Run) -> None:
    """Throw everything away."""
    for table in ("delayed_queue", "queue_history", "queue_inbox", "bare"):
        servers.tell(run.url, f"truncate table {table}")


def away(frame: DataFrame) -> None:
    """Read all of it, for nothing."""
    frame.write.format("noop").mode("overwrite").save()


def timed(rows: int, do: Callable[[], object]) -> float:
    """Return rows a second."""
    began = time.perf_counter()
    do()
    return rows / (time.perf_counter() - began)
