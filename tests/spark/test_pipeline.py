"""Stations: a kind in, a function, kinds out, and what fails goes back or is dead."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql import InvalidParameter
from pyqueue_sql.spark import pipeline
from pyqueue_sql.spark.pipeline import STARTS, Pipeline, Station, and_again
from tests.conformance.steps import drain, state
from tests.spark.test_write import forget_commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from pyqueue_sql.spark.options import Options
    from tests.conformance.harness import Session

SCHEMA = "n int"
GIVEN = (
    "p_kind string, p_key string, payload string, payload_bytes binary, headers string, priority int,"
    " attempts int, created_at timestamp, reserved_at timestamp, receipt string"
)


def choose(messages: DataFrame) -> DataFrame:
    """Even ones one way, odd ones another, tens nowhere, and one way that isn't there."""
    n = F.col("data.n")
    return messages.where(n % 10 != 0).select(
        "receipt",
        "p_key",
        "headers",
        "priority",
        F.struct(n.alias("n"), (n * n).alias("square")).alias("payload"),
        F.when(n == 13, "elsewhere").when(n % 2 == 0, "even").otherwise("odd").alias("p_kind"),
    )


def test_E5_each_message_goes_its_way_in_one_transaction(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.push_many("in", [{"key": f"k{n}", "payload": {"n": n}, "headers": {"h": n}} for n in range(40)])
    queue.push("in", "text", "no object")
    queue.push("in", "wrong", {"n": "many"})

    def keep(messages: DataFrame, batch: str) -> None:
        messages.write.mode("overwrite").parquet(f"{folder}/out/batch={batch}")

    shop = Pipeline(
        "test",
        [
            Station(
                "in",
                choose,
                to=("even", "odd"),
                schema=SCHEMA,
                failed="dead",
                options=(("max_messages", "10"),),
            ),
            Station("even", lambda messages: messages, to=("done",)),
            Station(
                "odd",
                lambda messages: messages.select("receipt", "p_key", "data.square"),
                write=keep,
                schema="square int",
            ),
        ],
    )
    shop.run(spark, where["url"], f"{folder}/checkpoints", once=True)
    done = {one.key: one for one in drain(queue, "done")}
    assert set(done) == {f"k{n}" for n in range(40) if n % 2 == 0 and n % 10 != 0}
    assert done["k4"].payload == {"n": 4, "square": 16}
    assert done["k4"].headers == {"h": 4}
    written = [n * n for n in range(40) if n % 2 and n != 13]
    assert sorted(one.square for one in spark.read.parquet(f"{folder}/out").collect()) == written
    # the batch that is replayed after its end has nothing to write in place of what is there
    forget_commit(f"{folder}/checkpoints/test/odd")
    sink = shop.stations[2]
    shop.start(spark, sink, where["url"], f"{folder}/checkpoints", once=True).awaitTermination()
    assert sorted(one.square for one in spark.read.parquet(f"{folder}/out").collect()) == written
    dead = {one.key for one in drain(queue, "in.dead")}
    assert dead == {"k13", "text", "wrong"}
    for kind in ("in", "even", "odd"):
        [stats] = queue.stats(kind)
        assert stats.total == 0


def test_what_fails_comes_back_and_is_done_in_the_end(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.define("in", max_attempts=3, backoff_seconds=0)
    queue.push_many("in", [{"key": f"k{n}", "payload": n} for n in range(5)])

    def once_more(messages: DataFrame) -> DataFrame:
        early = F.col("attempts") < F.when(F.col("p_key") == "k4", 9).otherwise(2)
        return messages.withColumn("error", F.when(early, F.lit("too early")))

    Pipeline("test", [Station("in", once_more, to=("out",))]).run(spark, where["url"], folder, once=True)
    assert sorted(one.key for one in drain(queue, "out")) == ["k0", "k1", "k2", "k3"]
    assert state(queue, "in.dead", "k4") == "ready"


@pytest.mark.servers("postgresql")
def test_what_others_get_of_a_batch_meanwhile_is_theirs_and_the_rest_is_done(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.push_many("in", [{"key": f"k{n}", "payload": n} for n in range(3)])
    taken: list[str] = []

    def slow(messages: DataFrame) -> DataFrame:
        if not taken:
            [one] = messages.where("p_key = 'k1'").collect()
            queue.extend(one.receipt, 0)
            taken.extend(one.key for one in queue.pop("in", 10))
        return messages

    Pipeline("test", [Station("in", slow, to=("out",))]).run(spark, where["url"], folder, once=True)
    assert taken == ["k1"]
    assert sorted(one.key for one in drain(queue, "out")) == ["k0", "k2"]


@pytest.mark.servers("postgresql")
def test_a_station_says_when_its_messages_come_and_names_no_column_that_is_none(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.push("in", "k", 1)

    def later(messages: DataFrame) -> DataFrame:
        return messages.withColumn("scheduled_at", F.lit("2099-01-01T00:00:00").cast("timestamp"))

    Pipeline("test", [Station("in", later, to=("out",))]).run(spark, where["url"], folder, once=True)
    assert state(queue, "out", "k") == "scheduled"
    given = spark.createDataFrame([], GIVEN)
    typing_error = Station("in", lambda messages: messages.withColumn("delay_second", F.lit(1)), to=("out",))
    with pytest.raises(InvalidParameter, match='column "delay_second" of in: must be one of p_kind'):
        typing_error.result(given)


@pytest.mark.servers("postgresql")
def test_a_pipeline_that_runs_takes_what_comes_until_it_is_stopped(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    station = Station("in", lambda messages: messages, to=("out",))
    query = Pipeline("test", [station]).start(spark, station, where["url"], folder, once=False)
    try:
        for n in range(2):
            queue.push("in", f"k{n}", n)
            query.processAllAvailable()
            for _ in range(60):
                if queue.get("out", f"k{n}"):
                    break
                query.awaitTermination(1)
            assert queue.get("out", f"k{n}")
    finally:
        query.stop()


def test_a_station_with_one_way_takes_no_other_kind(spark: SparkSession) -> None:
    given = spark.createDataFrame(
        [{"p_kind": "in", "p_key": key, "receipt": "r"} for key in ("in", "out", "else", "null")], GIVEN
    )
    chosen = F.when(F.col("p_key") != "null", F.col("p_key"))
    for function, went in (
        (
            lambda messages: messages.withColumn("p_kind", chosen),
            ["no way to kind else", "out", "out", "out"],
        ),
        (lambda messages: messages.drop("p_kind"), ["out"] * 4),
    ):
        found = Station("in", function, to=("out",)).result(given).orderBy("p_key").collect()
        assert [one.error or one.p_kind for one in found] == went


@pytest.mark.servers("postgresql")
def test_a_station_without_receipts_has_no_errors(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.push_many("in", [{"key": key, "payload": 1} for key in ("a", "b")])
    told: list[str] = []
    keep = Station(
        "in",
        lambda messages: messages.select("p_key"),
        write=lambda frame, _: told.extend(one.p_key for one in frame.collect()),
    )
    Pipeline("test", [keep]).run(spark, where["url"], folder, once=True)
    assert sorted(told) == ["a", "b"]
    wrong = Station("in", lambda messages: messages.select("p_key", F.lit("x").alias("error")), to=("out",))
    with pytest.raises(InvalidParameter, match='column "error": must stand beside "receipt"'):
        wrong.result(spark.createDataFrame([], GIVEN))


def test_a_station_goes_one_way() -> None:
    with pytest.raises(ValueError, match="either"):
        Station("in", lambda messages: messages, to=("out",), write=lambda _frame, _batch: None)


class Fake(Pipeline):
    """A pipeline whose queries are none."""

    def start(self, spark: Any, station: Station, *_: object, once: bool, **__: object) -> Any:
        spark.calls.append(("once" if once else "start", station.kind))
        return SimpleNamespace(
            awaitTermination=lambda: None, stop=lambda: spark.calls.append(("stop", station.kind))
        )


STATIONS = [Station(kind, lambda messages: messages, to=("out",)) for kind in ("b", "a")]


def test_a_pipeline_that_runs_once_comes_back_to_what_has_something_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spark: Any = SimpleNamespace(calls=[])
    found = iter([{"b", "out"}, {"a", "b"}, set[str]()])  # what is ready after each round

    @contextmanager
    def connected(options: Options) -> Iterator[object]:
        if options.kind == STATIONS[0].kind:
            rounds.append(next(found))
        yield SimpleNamespace(ready=lambda kind: kind in rounds[-1])

    rounds: list[set[str]] = []
    monkeypatch.setattr(pipeline, "connected", connected)
    Fake("test", STATIONS).run(spark, "postgresql://127.0.0.1:1/nowhere", "", once=True)
    assert spark.calls == [("once", kind) for kind in ("b", "a", "b", "b", "a")]


def test_where_a_station_fails_the_others_are_stopped() -> None:
    def fail() -> None:
        raise PySparkException("on purpose")

    spark: Any = SimpleNamespace(calls=[], streams=SimpleNamespace(awaitAnyTermination=fail))
    with pytest.raises(PySparkException, match="on purpose"):
        Fake("test", STATIONS).run(spark, "postgresql://127.0.0.1:1/nowhere", "")
    assert spark.calls == [(what, kind) for what in ("start", "stop") for kind in ("b", "a")]


@pytest.mark.parametrize(
    ("says", "starts"),
    [
        ("Timed out while waiting for the Python worker to connect back", STARTS),
        ("terminated with exception: Python worker failed to connect back. SQLSTATE: XXKST", STARTS),
        ("something else", 1),
    ],
)
def test_a_query_whose_python_was_too_slow_is_started_again(says: str, starts: int) -> None:
    errors: list[PySparkException] = []

    def run(fails: int) -> None:
        if len(errors) < fails:
            errors.append(PySparkException(says))
            raise errors[-1]

    if starts > 1:
        and_again(lambda: run(STARTS - 1))
        assert len(errors) == STARTS - 1
        errors.clear()
    with pytest.raises(PySparkException, match=says):
        and_again(lambda: run(10))
    assert len(errors) == starts
