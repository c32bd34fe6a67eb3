"""A micro-batch holds its messages until it is committed, and what comes of it is there once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from tests.conformance.steps import drain
from tests.spark.test_write import forget_commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session


def fill(queue: Session, count: int) -> None:
    queue.push_many("mail", [{"key": f"k{n}", "payload": {"n": n}} for n in range(count)])


def stream(spark: SparkSession, where: dict[str, str], **options: str) -> DataFrame:
    return spark.readStream.format("pyqueue").options(**where, **{"kind": "mail", **options}).load()


def run(frame: DataFrame, folder: str, work: Callable[[DataFrame, int], None]) -> None:
    """Run until nothing is ready."""
    writer = frame.writeStream.foreachBatch(work).option("checkpointLocation", f"{folder}/checkpoint")
    writer.trigger(availableNow=True).start().awaitTermination()


@pytest.mark.servers("postgresql")
def test_a_wrong_option_is_said_in_one_sentence(
    spark: SparkSession, where: dict[str, str], folder: str
) -> None:
    with pytest.raises(Exception, match='option "look" is unknown to readStream') as raised:
        run(stream(spark, where, look="peek"), folder, lambda _frame, _: None)
    assert "UnboundLocalError" not in str(raised.value)


def test_every_message_comes_once_and_is_done(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 100)
    frame = stream(spark, where, max_messages="30")
    writer = (
        frame.select("p_key", "payload", "reserved_by")
        .writeStream.format("parquet")
        .option("path", f"{folder}/out")
    )
    writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(
        availableNow=True
    ).start().awaitTermination()
    rows = spark.read.parquet(f"{folder}/out").collect()
    assert sorted(one.p_key for one in rows) == sorted(f"k{n}" for n in range(100))
    assert len({one.reserved_by for one in rows}) >= 4
    [stats] = queue.stats("mail")
    assert (stats.total, stats.acked_total) == (0, 100)


def test_a_batch_that_is_replayed_has_the_same_messages_and_no_others(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 20)
    seen: list[set[str]] = []

    def work(frame: DataFrame, _: int) -> None:
        seen.append({one.p_key for one in frame.collect()})
        if len(seen) == 1:
            queue.push("mail", "late", 1)
            raise ValueError("on purpose")

    frame = stream(spark, where, max_messages="5")
    with pytest.raises(Exception, match="on purpose"):
        run(frame, folder, work)
    run(frame, folder, work)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 10
    assert set.union(*seen[1:]) == {f"k{n}" for n in range(20)} | {"late"}
    [stats] = queue.stats("mail")
    assert (stats.total, stats.acked_total) == (0, 21)


@pytest.mark.servers("postgresql")
def test_a_batch_is_extended_while_it_runs(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 3)
    taken: list[Any] = []

    def work(frame: DataFrame, _: int) -> None:
        assert frame.count() == 3
        until = time.monotonic() + 6
        while (
            time.monotonic() < until
        ):  # real time: the holds are the server's, and they are two seconds long
            taken.extend(queue.reserve("mail", "thief", 10))
            time.sleep(0.2)

    run(stream(spark, where, timeout_seconds="4", partitions="1"), folder, work)
    assert taken == []
    assert drain(queue, "mail") == []


def test_from_queue_to_queue_each_message_arrives_once_whatever_is_replayed(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 60)
    queue.define("mail", backoff_seconds=1000)
    batches: list[int] = []

    def work(frame: DataFrame, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        found = frame.select(
            F.lit("next").alias("p_kind"),
            F.lit(None).cast("string").alias("p_key"),
            "payload",
            "receipt",
            F.when(F.col("p_key") == "k7", F.lit("bad luck")).alias("error"),
        )
        options = {**where, "stream": f"spark/{query}", "batch": str(batch)}
        found.write.format("pyqueue").options(**options).mode("append").save()
        batches.append(batch)
        if len(batches) == 2:
            raise ValueError("after the commit, on purpose")

    frame = stream(spark, where, max_messages="20", commit="sink", partitions="1")
    with pytest.raises(Exception, match="on purpose"):
        run(frame, folder, work)
    run(frame, folder, work)
    forget_commit(f"{folder}/checkpoint")
    run(frame, folder, work)
    assert batches == [0, 1, 1, 2, 2]
    assert sorted(one.payload["n"] for one in drain(queue, "next")) == [n for n in range(60) if n != 7]
    failed = queue.get("mail", "k7")
    assert failed is not None
    assert failed.state == "scheduled"
