"""What is there, and what has ended, as DataFrames."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pymysql
import pytest
from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.spark.arrow import PEEKED, RESERVED, spark_schema
from pyqueue_sql.spark.batches import connected, is_away
from pyqueue_sql.spark.options import READ, READ_STREAM, parse
from pyqueue_sql.spark.read import Reader
from pyqueue_sql.spark.reading import BYTES, batches, fetch
from pyqueue_sql.spark.stream import StreamReader
from tests.conformance.hostile import TEXTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session


def read(spark: SparkSession, where: dict[str, str], look: str, **options: str) -> DataFrame:
    return spark.read.format("pyqueue").options(**where, look=look, **options).load()


def explained(frame: DataFrame) -> str:
    """Return the plan, as explain() prints it."""
    return frame._jdf.queryExecution().toString()  # pyright: ignore[reportOptionalCall, reportPrivateUsage]


@pytest.fixture
def full(queue: Session) -> Session:
    """A queue with messages in several states, and history."""
    queue.define("mail", history_seconds=3600)
    queue.push_many("mail", [{"key": f"k{n}", "payload": {"n": n}} for n in range(50)])
    queue.push("mail", "later", {"x": 'a"b,\nc'}, delay_seconds=3600, headers={"h": 1}, priority=3)
    queue.push_bytes("raw", "b", b"\0\1\xff")
    for message in queue.reserve("mail", "me", 20):
        assert message.receipt is not None
        queue.ack(message.receipt)
    queue.reserve("mail", "me", 5)
    return queue


def test_peek_shows_every_message_once_with_its_state(
    spark: SparkSession, full: Session, where: dict[str, str]
) -> None:
    frame = read(spark, where, "peek", partitions="3").cache()
    states = {
        (one.p_kind, one.state): one["count"] for one in frame.groupBy("p_kind", "state").count().collect()
    }
    assert states == {
        ("mail", "ready"): 25,
        ("mail", "reserved"): 5,
        ("mail", "scheduled"): 1,
        ("raw", "ready"): 1,
    }
    assert frame.select("p_kind", "p_key").distinct().count() == 32
    [later] = frame.where("p_key = 'later'").collect()
    there = full.get("mail", "later")
    assert there is not None
    raw = read(spark, where, "peek", times="long").where("p_key = 'later'").collect()[0]
    assert (raw.scheduled_at, raw.created_at, later.priority) == (there.scheduled_at, there.created_at, 3)
    assert later.reserved_at is None
    [row] = frame.where("p_kind = 'raw'").collect()
    assert bytes(row.payload_bytes) == b"\0\1\xff"
    frame.unpersist()


@pytest.mark.core("mariadb")
def test_history_is_read_in_ranges_that_do_not_overlap(
    spark: SparkSession, full: Session, where: dict[str, str]
) -> None:
    frame = read(spark, where, "history", kind="mail", partitions="4")
    assert frame.rdd.getNumPartitions() > 1
    rows = frame.collect()
    assert sorted(one.p_key for one in rows) == sorted(one.key for one in full.history("mail"))
    assert {one.outcome for one in rows} == {"acked"}
    assert {one.reserved_by for one in rows} == {"me"}


def test_filters_on_kind_key_and_time_are_checked_by_the_server(
    spark: SparkSession, full: Session, where: dict[str, str]
) -> None:
    ended = full.history("mail")
    middle = sorted(one.finished_at for one in ended)[10]
    frame = read(spark, where, "history", times="long").where(
        (F.col("p_kind") == "mail") & F.col("p_key").isin("k1", "k2", "k3") & (F.col("finished_at") < middle)
    )
    expected = {one.key for one in ended if one.key in ("k1", "k2", "k3") and one.finished_at < middle}
    assert {one.p_key for one in frame.collect()} == expected
    physical = explained(frame).rpartition("Physical Plan")[2]
    assert "Filter" in physical
    assert "k1" not in physical  # what is left to Spark is that they are not null
    assert str(middle) not in physical
    assert read(spark, where, "peek").where("p_kind = 'mail' and p_key = 'later'").count() == 1


def test_what_is_not_there_is_empty(spark: SparkSession, queue: Session, where: dict[str, str]) -> None:  # noqa: ARG001
    assert read(spark, where, "history").count() == 0
    assert read(spark, where, "peek", kind="nothing").count() == 0


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, 'option "look" must say'),
        ({"look": "everything"}, 'option "look": must be one of peek, history'),
        ({"look": "peek", "partitions": "0"}, "must be a whole number from 1 to 1000"),
        ({"look": "peek", "timeout_seconds": "5"}, 'option "timeout_seconds" is unknown to read'),
    ],
)
def test_a_wrong_option_is_an_error(
    spark: SparkSession, where: dict[str, str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        spark.read.format("pyqueue").options(**where, **options).load().count()


@pytest.mark.servers("postgresql")
def test_a_read_that_the_server_breaks_off_is_its_error_and_leaves_the_connection_usable(
    database_url: str,
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        text = "select (100 / (%s - n))::text from generate_series(1, 100000) n"
        with pytest.raises(psycopg.errors.DivisionByZero):
            list(batches(connection, text, [90_000], "p_key text"))
        [whole] = batches(connection, text, [-1], "p_key text")
        assert whole.num_rows == 100_000
        abandoned = batches(connection, "select n::text from generate_series(1, 9000000) n", [], "p_key text")
        next(abandoned)
        abandoned.close()
        assert connection.execute("select 1").fetchone() == (1,)


@pytest.mark.servers("mariadb", "mysql")
def test_a_server_that_goes_while_it_is_read_is_said_to_have_gone(
    queue: Session, where: dict[str, str]
) -> None:
    """For then a stream tries again."""
    text = (
        "select repeat('x', 1000) from information_schema.columns a, information_schema.columns b limit 60000"
    )
    with connected(parse({**where, "look": "peek"}, READ)) as database:
        found = batches(database.connection, text, [], "p_key text")
        next(found)
        queue.connection.kill(database.connection.thread_id())
        with pytest.raises(pymysql.err.OperationalError) as raised:
            list(found)
        assert is_away(raised.value)


@pytest.mark.servers("mariadb", "mysql")
def test_who_reads_slowly_is_waited_for(where: dict[str, str]) -> None:
    with connected(parse({**where, "look": "peek"}, READ)) as database:
        [(seconds,)] = fetch(database.connection, "select @@session.net_write_timeout", [])
        assert seconds == 86_400


@pytest.mark.long
@pytest.mark.core("postgresql", "mariadb")
@pytest.mark.parametrize("way", ["peek", "reserve"])
def test_large_payloads_are_read_a_few_at_a_time(queue: Session, where: dict[str, str], way: str) -> None:
    payload = "x" * 500_000
    queue.push_many("mail", [{"key": f"{n:02}", "payload": payload} for n in range(20)])
    if way == "peek":
        reader = Reader(
            parse({**where, "look": "peek", "kind": "mail", "partitions": "1"}, READ), spark_schema(PEEKED)
        )
        [whole] = reader.partitions()
        found = list(reader.read(whole))
    else:
        stream = StreamReader(
            parse({**where, "kind": "mail", "partitions": "1"}, READ_STREAM), spark_schema(RESERVED)
        )
        [whole] = stream.partitions({"stream": "s", "batch": 0}, {"stream": "s", "batch": 1})
        found = list(stream.read(whole))
        stream.stop()
    keys = [key for one in found for key in one.column("p_key").to_pylist()]
    assert sorted(keys) == [f"{n:02}" for n in range(20)]
    assert max(one.num_rows for one in found) <= BYTES // len(payload) + 1


@pytest.mark.parametrize("look", ["peek", "history"])
def test_keys_of_any_text_come_back_as_they_are(
    spark: SparkSession, queue: Session, where: dict[str, str], look: str
) -> None:
    keys = sorted(one for one in TEXTS if one.isprintable() or one in ("\t\n\r", "\x01\x1f\x7f"))
    keys = [one for one in keys if 1 <= len(one) <= 200]
    queue.define("mail", history_seconds=3600)
    queue.push_many("mail", [{"key": key, "payload": key} for key in keys])
    if look == "history":
        queue.pop("mail", len(keys))
    rows = read(spark, where, look, partitions="1").collect()
    assert sorted((one.p_key, json.loads(one.payload)) for one in rows) == [(key, key) for key in keys]
    assert {one.to_kind if look == "history" else one.reserved_by for one in rows} == {None}
