"""Whatever changes between a failure and the next start, nothing is lost, and what is exact stays exact."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812

from tests.conformance.steps import drain
from tests.spark.test_stream import fill, run, stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session


def onwards(frame: DataFrame, where: dict[str, str], batch: int) -> None:
    """Send a batch on, without keys, and end it."""
    query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    found = frame.select(
        F.lit("next").alias("p_kind"), F.lit(None).cast("string").alias("p_key"), "payload", "receipt"
    )
    options = {**where, "stream": f"spark/{query}", "batch": str(batch)}
    found.write.format("pyqueue").options(**options).mode("append").save()


def numbers(queue: Session, kind: str = "next") -> list[int]:
    return sorted(one.payload["n"] for one in drain(queue, kind))


@pytest.mark.parametrize("commit", ["source", "sink"])
@pytest.mark.parametrize(
    ("count", "before", "after", "thief"),
    [
        (40, {"partitions": "4", "max_messages": "10"}, {"partitions": "1", "max_messages": "10"}, 0),
        (40, {"partitions": "1", "max_messages": "40"}, {"partitions": "1", "max_messages": "10"}, 0),
        (40, {"partitions": "2", "max_messages": "10"}, {"partitions": "3", "max_messages": "7"}, 3),
        (12_000, {"partitions": "1", "max_messages": "20000"}, {}, 1),
    ],
    ids=["fewer-partitions", "fewer-messages", "both-and-a-thief", "a-thief-of-one-in-the-first-call"],
)
def test_a_start_with_other_options_loses_nothing(
    spark: SparkSession,
    queue: Session,
    where: dict[str, str],
    folder: str,
    commit: str,
    count: int,
    before: dict[str, str],
    after: dict[str, str],
    thief: int,
) -> None:
    for first in range(0, count, 5_000):
        messages = [{"key": f"k{n}", "payload": {"n": n}} for n in range(first, min(first + 5_000, count))]
        queue.push_many("mail", messages)
    seen: list[int] = []
    fails = [True]

    def work(frame: DataFrame, batch: int) -> None:
        if fails.pop() if fails else False:
            frame.count()
            raise ValueError("on purpose")
        if commit == "sink":
            onwards(frame, where, batch)
        else:
            found = frame.select(F.get_json_object("payload", "$.n").cast("int").alias("n"))
            seen.extend(one.n for one in found.collect())

    with pytest.raises(Exception, match="on purpose"):
        run(stream(spark, where, commit=commit, **before), folder, work)
    taken: list[int] = []
    deadline = time.monotonic() + 20  # what the source held goes back as its process ends
    while len(taken) < thief and time.monotonic() < deadline:
        taken += [one.payload["n"] for one in queue.pop("mail", thief - len(taken))]
    assert len(taken) == thief
    run(stream(spark, where, commit=commit, **(after or before)), folder, work)
    assert sorted([*taken, *(numbers(queue) if commit == "sink" else seen)]) == list(range(count))
    [stats] = queue.stats("mail")
    assert stats.total == 0


@pytest.mark.parametrize(("before", "after"), [("source", "source"), ("sink", "sink"), ("sink", "source")])
def test_a_batch_that_is_replayed_after_its_write_is_in_the_state_and_is_written_once(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str, before: str, after: str
) -> None:
    """The driver dies after the write and before Spark notes that the batch is done."""

    def work(frame: DataFrame, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        payload = F.to_json(F.struct("group", "numbers"))
        none = F.lit(None).cast("string").alias("p_key")
        found = frame.select(F.lit("next").alias("p_kind"), none, payload.alias("payload"))
        options = {**where, "stream": f"spark/{query}", "batch": str(batch)}
        found.write.format("pyqueue").options(**options).mode("append").save()
        if fails.pop() if fails else False:
            raise ValueError("on purpose")

    def start(commit: str) -> None:
        number = F.get_json_object("payload", "$.n").cast("int").alias("n")
        groups = stream(spark, where, commit=commit).select(number).groupBy((F.col("n") % 2).alias("group"))
        writer = groups.agg(F.collect_list("n").alias("numbers")).writeStream.foreachBatch(work)
        query = writer.outputMode("update").option("checkpointLocation", folder).trigger(availableNow=True)
        query.start().awaitTermination()

    fails = [True]
    fill(queue, 10)
    with pytest.raises(Exception, match="on purpose"):
        start(before)
    queue.push_many("mail", [{"key": f"k{n}", "payload": {"n": n}} for n in range(10, 20)])
    start(after)
    came = sorted((one.payload["group"], sorted(one.payload["numbers"])) for one in drain(queue, "next"))
    assert came == sorted((group, list(range(group, last, 2))) for group in (0, 1) for last in (10, 20))


def test_two_sources_of_one_query_each_end_with_the_batch(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 30)
    queue.push_many("post", [{"key": f"p{n}", "payload": {"n": n}} for n in range(30, 50)])
    frames = [
        stream(spark, where, commit="sink", kind=kind, partitions="2", max_messages="20")
        for kind in ("mail", "post")
    ]
    run(frames[0].union(frames[1]), folder, lambda frame, batch: onwards(frame, where, batch))
    assert numbers(queue) == list(range(50))
    assert sum(one.total for kind in ("mail", "post") for one in queue.stats(kind)) == 0


def test_a_stream_of_this_format_ends_what_its_source_leaves_to_the_sink(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 20)
    frame = stream(spark, where, commit="sink", max_messages="6")
    found = frame.select(F.lit("next").alias("p_kind"), F.lit(None).cast("string").alias("p_key"), "payload")
    for _ in range(2):  # the second start finds nothing that is its own
        found.writeStream.format("pyqueue").options(**where).option("checkpointLocation", folder).trigger(
            availableNow=True
        ).start().awaitTermination()
    assert numbers(queue) == list(range(20))
    [stats] = queue.stats("mail")
    assert (stats.total, stats.acked_total) == (0, 20)


def test_a_second_write_that_ends_the_same_batch_is_an_error(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 5)

    def twice(frame: DataFrame, batch: int) -> None:
        onwards(frame, where, batch)
        onwards(
            spark.range(3)
            .selectExpr("named_struct('n', id) as p", "'x' as receipt")
            .select(F.to_json("p").alias("payload"), F.lit(None).cast("string").alias("receipt")),
            where,
            batch,
        )

    with pytest.raises(Exception, match="one write"):
        run(stream(spark, where, commit="sink"), folder, twice)
    assert numbers(queue) == list(range(5))


def test_a_batch_that_no_write_ends_is_an_error_and_goes_back_at_once(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 5)
    with pytest.raises(Exception, match="no write has ended the last batch"):
        run(stream(spark, where, commit="sink"), folder, lambda frame, _: frame.show())
    assert numbers(queue, "mail") == list(range(5))


def test_a_query_none_of_whose_writes_ended_its_batch_is_started_again_with_one_that_does(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 5)
    with pytest.raises(Exception, match="no write has ended the last batch"):
        run(stream(spark, where, commit="sink"), folder, lambda frame, _: frame.show())
    run(stream(spark, where, commit="sink"), folder, lambda frame, batch: onwards(frame, where, batch))
    assert numbers(queue) == list(range(5))
    assert sum(one.total for one in queue.stats("mail")) == 0


@pytest.mark.parametrize(("before", "after"), [("source", "sink"), ("sink", "source")])
def test_a_batch_under_way_is_ended_by_whoever_is_to_end_it_now(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str, before: str, after: str
) -> None:
    fill(queue, 10)

    def dies(frame: DataFrame, _: int) -> None:
        frame.count()
        raise ValueError("on purpose")

    with pytest.raises(Exception, match="on purpose"):
        run(stream(spark, where, commit=before), folder, dies)
    found = stream(spark, where, commit=after).select(
        F.lit("next").alias("p_kind"), F.lit(None).cast("string").alias("p_key"), "payload"
    )
    found.writeStream.format("pyqueue").options(**where).option("checkpointLocation", folder).trigger(
        availableNow=True
    ).start().awaitTermination()
    assert numbers(queue) == list(range(10))
    [stats] = queue.stats("mail")
    assert (stats.total, stats.acked_total) == (0, 10)


@pytest.mark.parametrize("way", ["writeStream", "foreachBatch"])
def test_a_checkpoint_that_is_an_older_copy_is_refused_where_something_would_be_lost(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str, way: str
) -> None:
    """A source of files plans other batches then, under numbers that are done."""
    checkpoint, backup, files = (Path(folder, name) for name in ("checkpoint", "backup", "files"))
    files.mkdir()

    def put(number: int) -> None:
        (files / f"{number}.json").write_text(f'{{"n": {number}}}')
        frame = spark.readStream.schema("n int").json(str(files))
        payload = frame.select(F.lit("next").alias("p_kind"), F.to_json(F.struct("n")).alias("payload"))
        writer = payload.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        if way == "writeStream":
            writer = writer.format("pyqueue").options(**where)
        else:
            writer = writer.foreachBatch(end)
        writer.start().awaitTermination()

    def end(frame: DataFrame, batch: int) -> None:
        options = {**where, "stream": "of the test", "batch": str(batch)}
        frame.write.format("pyqueue").options(**options).mode("append").save()

    put(0)
    shutil.copytree(checkpoint, backup)
    put(1)
    put(2)
    newest = checkpoint.rename(f"{folder}/newest")
    backup.rename(checkpoint)
    with pytest.raises(Exception, match="a later one is done: its checkpoint is an older copy"):
        put(3)
    assert queue.execute("select count(*) from queue_stage") == [(0,)]
    checkpoint.rename(backup)
    newest.rename(checkpoint)
    put(4)
    assert numbers(queue) == list(range(5))


def test_a_query_that_fails_gives_back_what_it_holds_at_once(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 5)

    def work(frame: DataFrame, _: int) -> None:
        assert frame.count() == 5
        assert queue.reserve("mail", "thief", 10) == []
        raise ValueError("on purpose")

    with pytest.raises(Exception, match="on purpose"):
        run(stream(spark, where), folder, work)
    # the source's own process gives them back as it ends, and Spark doesn't wait for it
    assert queue.wait("mail", 5) == "mail"
    assert numbers(queue, "mail") == list(range(5))


def test_what_a_driver_that_died_has_staged_goes_with_the_next_write(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 5)
    staged: list[int] = []

    def work(frame: DataFrame, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        options = f'{{"query": "spark/{query}", "batch": {batch}, "run": "an earlier one"}}'
        part = queue.answer("queue_stage_begin", "dead", options)[0]["part"]
        queue.land([{"part": part, "p_kind": "next", "payload": "1"}], "queue_stage")
        onwards(frame, where, batch)
        staged.extend(count for (count,) in queue.execute("select count(*) from queue_stage"))

    run(stream(spark, where, commit="sink"), folder, work)
    assert staged == [0]
    assert numbers(queue) == list(range(5))
