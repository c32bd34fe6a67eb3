"""DataFrames become messages: all of them once, or with an error none."""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.calls.connect import connect
from pyqueue_sql.spark import sink
from pyqueue_sql.spark.arrow import arrow_schema, pa, spark_schema
from pyqueue_sql.spark.batches import connected
from pyqueue_sql.spark.options import READ_STREAM, WRITE, WRITE_STREAM, Options, parse
from pyqueue_sql.spark.sink import StreamWriter, Writer, stream_of
from pyqueue_sql.spark.stream import Part, StreamReader, Take
from pyqueue_sql.spark.writing import BYTES
from tests.conformance.steps import drain, state
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session

    Write = Callable[..., None]

STRANGE = ['a "b", \\ c', "ä\n\t'", "", "null", "\\N", "x" * 5000]


def numbers(spark: SparkSession, count: int, tasks: int = 2) -> DataFrame:
    """Return messages with keys that count."""
    return spark.range(0, count, 1, tasks).select(
        F.concat(F.lit("k"), "id").alias("p_key"),
        F.to_json(F.struct(F.col("id").alias("n"))).alias("payload"),
    )


def left(queue: Session) -> int:
    """Return how many rows are staged."""
    return queue.execute("select count(*) from queue_stage")[0][0]


@pytest.mark.parametrize("atomic", ["job", "task"])
@pytest.mark.core("postgresql", "mariadb")
def test_a_row_is_a_message(queue: Session, write: Write, atomic: str, server_name: str) -> None:  # noqa: ARG001
    at = datetime(2100, 1, 2, 3, 4, 5, 678901, UTC)
    rows = [{"p_kind": "mail", "p_key": f"{n} {text[:50]}", "text": text} for n, text in enumerate(STRANGE)]
    write(rows_of(write, rows), atomic=atomic)
    write(
        [
            {
                "p_key": "prior",
                "payload": "1",
                "priority": 7,
                "headers": '{"a": 1}',
                "delay_seconds": None,
                "scheduled_at": None,
            },
            {
                "p_key": "later",
                "payload": "2",
                "priority": None,
                "headers": None,
                "delay_seconds": None,
                "scheduled_at": at,
            },
            {
                "p_key": None,
                "payload": "3",
                "priority": None,
                "headers": None,
                "delay_seconds": 3600.5,
                "scheduled_at": None,
            },
        ],
        "p_key string, payload string, priority int, headers string, delay_seconds double,"
        " scheduled_at timestamp",
        kind="other",
        atomic=atomic,
    )
    write(
        [{"p_key": "raw", "payload_bytes": b"\0\xff'\\\n"}],
        "p_key string, payload_bytes binary",
        kind="raw",
        atomic=atomic,
    )
    found = {one.key: one.payload for one in drain(queue, "mail")}
    assert found == {one["p_key"]: {"text": one["text"]} for one in rows}
    [first] = drain(queue, "other")
    assert (first.key, first.priority, first.headers) == ("prior", 7, {"a": 1})
    later = queue.get("other", "later")
    assert later is not None
    assert later.scheduled_at == int(at.timestamp()) * 1_000_000 + at.microsecond
    assert drain(queue, "raw")[0].payload_bytes == b"\0\xff'\\\n"
    assert left(queue) == 0


def rows_of(write: Any, rows: list[dict[str, Any]]) -> DataFrame:
    """Return a DataFrame whose payload is made by Spark."""
    spark = write.__closure__[0].cell_contents
    frame = spark.createDataFrame(rows, "p_kind string, p_key string, text string")
    return frame.select("p_kind", "p_key", F.to_json(F.struct("text")).alias("payload"))


def fail_at_the_end() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a step of which the last task fails once, after all its rows."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 1 and context.attemptNumber() == 0:
            raise ValueError("on purpose")

    return step


@pytest.mark.parametrize("atomic", ["job", "task"])
def test_a_task_that_runs_twice_leaves_one_message_a_key(
    spark: SparkSession, queue: Session, write: Write, atomic: str
) -> None:
    frame = numbers(spark, 400)
    write(frame.mapInArrow(fail_at_the_end(), frame.schema), kind="mail", atomic=atomic)
    write(frame, kind="mail", atomic=atomic)
    assert len(drain(queue, "mail")) == 400
    assert left(queue) == 0


def fail_after_the_other(url: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a step of which the last task fails once another has staged what it has."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 1:
            with connect(url) as connection, connection.cursor() as cursor:
                staged = 0
                while not staged:
                    time.sleep(0.05)
                    cursor.execute("select count(*) from queue_stage")
                    [staged] = cursor.fetchone() or (0,)
            raise ValueError("on purpose")

    return step


def test_a_job_that_fails_leaves_nothing(
    spark: SparkSession, queue: Session, write: Write, where: dict[str, str]
) -> None:
    frame = numbers(spark, 400)
    with pytest.raises(Exception, match="on purpose"):
        write(frame.mapInArrow(fail_after_the_other(where["url"]), frame.schema), kind="mail")
    assert drain(queue, "mail") == []
    assert left(queue) == 0


@pytest.mark.parametrize("atomic", ["job", "task"])
def test_a_row_that_is_wrong_names_itself_and_nothing_is_written(
    queue: Session, write: Write, atomic: str
) -> None:
    rows = [{"p_key": "good", "payload": "1"}, {"p_key": "worse", "payload": "{"}]
    with pytest.raises(Exception, match='key "worse"'):
        write(rows, "p_key string, payload string", kind="mail", atomic=atomic)
    assert "good" not in {one.key for one in drain(queue, "mail")} or atomic == "task"
    assert left(queue) == 0


@pytest.mark.servers("postgresql")
@each(
    ("schema", "options", "message"),
    [
        ("p_key string, payload string, color string", {"kind": "m"}, 'column "color": unknown'),
        (
            "p_key string, payload int",
            {"kind": "m"},
            'column "payload" int: must be string or struct or map or array or variant; to_json',
        ),
        ("p_key string, payload string", {}, "exactly one of the two"),
        ("p_kind string, payload string", {"kind": "m"}, "exactly one of the two"),
        ("p_key string", {"kind": "m"}, "one of the two"),
        (
            "payload string",
            {"kind": "m", "atomik": "x"},
            'option "atomik" is unknown: did you mean "atomic"\\?',
        ),
        ("payload string", {"kind": "m", "atomic": "half"}, 'option "atomic": must be one of job, task'),
        ("payload string", {"kind": "m", "stream": "s"}, "must stand together"),
    ],
)
def test_what_is_not_known_is_an_error(
    write: Write, schema: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        write([], schema, **options)


def planned(options: Options) -> Part:
    """Plan the first batch of the stream spark/s, and return its part, which takes ten of mail."""
    part = Part("spark/s", 1, 0, (Take(0, "mail", 10, False),))
    with connected(options) as database:
        plan, _ = database.plan(part.source)
    return dataclasses.replace(part, plan=plan)


@pytest.mark.parametrize("failed", ["retry", "dead"])
def test_a_write_ends_a_batch_and_leaves_nothing_behind_however_often_it_is_made(
    queue: Session, where: dict[str, str], failed: str
) -> None:
    queue.define("mail", backoff_seconds=1000)
    queue.push_many("mail", [{"key": key, "payload": 1} for key in ("good", "bad")])
    source = parse({**where, "kind": "mail"}, READ_STREAM)
    reader = StreamReader(source, spark_schema("p_key text, payload text, receipt text"))
    [given] = reader.read(planned(source))
    errors = pa.array(["no luck" if key == "bad" else None for key in given.column("p_key").to_pylist()])
    rows = pa.record_batch(
        [*given.columns[1:], errors], schema=arrow_schema("payload text, receipt text, error text")
    )
    options = {**where, "kind": "next", "stream": "spark/s", "batch": "1", "failed": failed}
    for _ in range(2):  # as a driver does that died before Spark noted it
        writer = Writer(parse(options, WRITE), spark_schema("payload text, receipt text, error text"))
        writer.commit([writer.write(iter([rows])), None])
    assert len(drain(queue, "next")) == 1
    assert left(queue) == 0
    kind, states = ("mail.dead", "ready") if failed == "dead" else ("mail", "scheduled")
    assert [state(queue, "mail", "good"), state(queue, kind, "bad")] == [None, states]


def test_what_is_staged_for_a_batch_that_is_done_goes_but_not_what_else_is_written_in_it(
    queue: Session, where: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink, "of_query", lambda: ("query", 1, "run"))
    rows = pa.record_batch([["k"], ["1"]], schema=arrow_schema("p_key text, payload text"))
    schema = spark_schema("p_key text, payload text")
    with connected(parse({**where, "kind": "mail"}, READ_STREAM)) as database:
        database.commit_batch(stream_of("query"), 1)
    late = StreamWriter(parse({**where, "kind": "mail"}, WRITE_STREAM), schema)
    late.write(iter([rows]))
    other = Writer(parse({**where, "kind": "other"}, WRITE), schema)
    staged = other.write(iter([rows]))
    queue.prune()
    assert left(queue) == 1
    other.commit([staged])
    assert [len(drain(queue, kind)) for kind in ("mail", "other")] == [0, 1]


def test_a_micro_batch_that_is_replayed_changes_nothing(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    numbers(spark, 100).withColumn("p_key", F.lit(None).cast("string")).write.parquet(f"{folder}/in")

    def run() -> None:
        frame = spark.readStream.schema("p_key string, payload string").parquet(f"{folder}/in")
        writer = frame.writeStream.format("pyqueue").options(**where, kind="mail")
        writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(
            availableNow=True
        ).start().awaitTermination()

    run()
    forget_commit(f"{folder}/checkpoint")
    run()
    assert len(drain(queue, "mail")) == 100
    assert left(queue) == 0


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.usefixtures("packets")
def test_a_row_that_no_packet_has_room_for_is_refused(queue: Session, write: Callable[..., None]) -> None:
    large = [{"p_key": "large", "payload": f'"{"x" * BYTES}"'}]
    with pytest.raises(Exception, match="max_allowed_packet of the server is"):
        write(large, "p_key string, payload string", kind="mail")
    assert queue.peek("mail") == []


def forget_commit(checkpoint: str) -> None:
    """Leave the checkpoint as a driver does that dies before it notes that the last batch is done."""
    commits = sorted(Path(checkpoint).glob("commits/[0-9]*"), key=lambda one: int(one.name))
    commits[-1].unlink()
    commits[-1].with_name(f".{commits[-1].name}.crc").unlink(missing_ok=True)
