"""What a batch may take of which kinds, and what is said of the backlog."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import EqualTo, In
from pyspark.sql.types import LongType, StringType, StructType

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark.holding import Holding, extend
from pyqueue_sql.spark.options import READ, READ_STREAM, Options, parse
from pyqueue_sql.spark.read import Reader
from pyqueue_sql.spark.source import PyQueueDataSource
from pyqueue_sql.spark.stream import MOST, Part, StreamReader, shares
from tests.conformance.steps import drain, state
from tests.spark.test_read import read
from tests.spark.test_stream import run
from tests.spark.test_write import planned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Clock, Session

KEYS = StructType().add("p_key", StringType())


def taken(found: list[Any]) -> list[dict[str, int]]:
    """Return how many messages of which kind each task takes."""
    return [
        {kind: sum(one.most for one in takes if one.kind == kind) for kind in {one.kind for one in takes}}
        for takes in found
    ]


def test_tasks_and_kinds_share_what_a_batch_may_have() -> None:
    assert taken(shares(["a"], 7, 3, 0)) == [{"a": 3}, {"a": 2}, {"a": 2}]
    assert taken(shares(["a", "b"], 7, 3, 0)) == [{"a": 3}, {"b": 2}, {"a": 2}]
    assert taken(shares(["a", "b", "c"], 7, 2, 0)) == [{"a": 2, "c": 2}, {"b": 2, "a": 1}]
    # where there is less than a message for each, they take turns
    assert [taken(shares(["a", "b", "c"], 1, 2, turn))[0] for turn in range(3)] == [
        {"a": 1},
        {"b": 1},
        {"c": 1},
    ]
    [(first, second, third)] = shares(["a"], 2 * MOST + 1, 1, 0)
    assert [(one.most, one.follows) for one in (first, second, third)] == [
        (MOST, False),
        (MOST, True),
        (1, True),
    ]
    assert (second.number, third.number) == (first.number + 1, first.number + 2)
    assert shares([], 7, 2, 0) == [(), ()]


def test_no_task_takes_more_than_its_share() -> None:
    for tasks in range(1, 9):
        for kinds in range(1, 20):
            for most in (1, 10 * tasks - 1, 10 * tasks):
                found = taken(shares([f"k{n}" for n in range(kinds)], most, tasks, 1))
                sums = [sum(one.values()) for one in found]
                assert sum(sums) == most
                assert max(sums) <= 10
                assert len({kind for one in found for kind in one}) == min(kinds, most)


def test_kinds_are_named_in_one_way() -> None:
    assert parse({"url": "u", "kinds": "a, b,a"}, READ_STREAM).kinds == ("a", "b")
    for given, way, why in (
        ({}, READ_STREAM, '"kind", "kinds" or "kind_pattern" must say'),
        ({"kind": "a", "kinds": "b"}, READ_STREAM, "one of them"),
        ({"kind": "a", "kindPattern": "b", "look": "peek"}, READ, "one of them"),
        ({"kinds": "a,,b"}, READ_STREAM, "must be kinds of 1 to 100 characters"),
        ({"kind_pattern": "("}, READ_STREAM, "must be a regular expression"),
    ):
        with pytest.raises(InvalidOption, match=why):
            parse({"url": "u", **given}, way)


def test_a_kind_that_the_pattern_leaves_out_is_not_read_by_a_filter_either(
    queue: Session, where: dict[str, str]
) -> None:
    for name in ("mail", "post"):
        queue.push(name, f"of {name}", 1)
    options = parse({**where, "look": "peek", "kind_pattern": "m.*"}, READ)
    kind = ("p_kind",)
    for given in (EqualTo(kind, "post"), In(kind, ("mail", "post")), EqualTo(kind, "mail")):
        reader = Reader(options, KEYS)
        assert list(reader.pushFilters([given])) == []
        batches = [batch for part in reader.partitions() for batch in reader.read(part)]
        found = [key for batch in batches for key in batch.column(0).to_pylist()]
        assert found == (["of mail"] if "mail" in str(given.value) else []), given


def test_a_payload_schema_is_a_type_or_fields() -> None:
    for given, fields in (
        ("decimal(10,2)", False),
        (" DECIMAL (10, 2) ", False),
        ("int", False),
        ("map<string, decimal(10,2)>", False),
        ("n decimal(10,2)", True),
        ("n int, decimal string", True),
    ):
        source = PyQueueDataSource({"payload_schema": given})
        wanted = f"struct<{given}>" if fields else given
        assert f", payload {wanted}, payload_bytes " in str(source.schema())


def test_times_are_of_their_zone_whatever_a_session_takes_for_a_timestamp(
    spark: SparkSession, queue: Session, where: dict[str, str]
) -> None:
    queue.push("mail", "a", {"n": 1})
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        given = spark.read.format("pyqueue").options(**where, look="peek", payload_schema="n int")
        [row] = given.load().select("payload.n", "created_at").collect()
    finally:
        spark.conf.unset("spark.sql.timestampType")
    assert (row.n, row.created_at is not None) == (1, True)


def test_where_there_is_no_queue_it_is_said_how_to_get_one(where: dict[str, str], server_name: str) -> None:
    there = "pg_catalog" if server_name == "postgresql" else "mysql"
    look = Reader(parse({**where, "look": "peek", "queue_schema": there}, READ), KEYS)
    stream = StreamReader(parse({**where, "kind": "mail", "queue_schema": there}, READ_STREAM), KEYS)
    for begin in (look.partitions, lambda: stream.latestOffset(stream.initialOffset())):
        with pytest.raises(Exception, match=r"queue_\w+.* does( not|n't) exist") as raised:
            begin()
        assert "see pyqueue upgrade" in "".join(traceback.format_exception(raised.value))


def test_messages_are_only_added_and_an_other_mode_is_told_the_way() -> None:
    source = PyQueueDataSource({"url": "u", "kind": "mail"})
    with pytest.raises(InvalidOption, match=r'mode "overwrite": .* mode\("append"\)'):
        source.writer(KEYS, overwrite=True)
    with pytest.raises(
        InvalidOption, match=r'outputMode "complete": .* outputMode\("append"\); a `foreachBatch`'
    ):
        source.streamWriter(KEYS, overwrite=True)


def test_a_kind_that_nobody_has_used_is_warned_of(
    queue: Session, where: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    queue.push("mail", "k", 1)
    queue.pop("mail", 1)
    for kind in ("mail", "mial"):
        reader = StreamReader(parse({**where, "kind": kind}, READ_STREAM), KEYS)
        start = reader.initialOffset()
        assert [reader.latestOffset(start) for _ in range(2)] == [start, start]
        reader.stop()
    warned = [one.getMessage() for one in caplog.records]
    assert warned == ['kind "mial": nobody has ever used it; is it spelt right?']


def test_a_run_ends_while_others_hold_all_that_a_kind_allows(queue: Session, where: dict[str, str]) -> None:
    queue.define("mail", max_reserved=1)
    queue.push_many("mail", [{"key": key, "payload": 1} for key in ("a", "b")])
    [held] = queue.reserve("mail")
    reader = StreamReader(parse({**where, "kind": "mail"}, READ_STREAM), KEYS)
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    assert reader.latestOffset(start) == start
    assert held.receipt is not None
    queue.ack(held.receipt)
    assert reader.latestOffset(start) != start
    reader.stop()


def test_a_batch_has_no_more_than_its_trigger_and_its_tasks_allow(
    queue: Session, where: dict[str, str]
) -> None:
    queue.push("mail", "k", 1)
    for given, most in (
        ({}, 20),
        ({"max_messages_per_trigger": "5"}, 5),
        ({"max_messages_per_trigger": "1000"}, 20),
    ):
        options = parse(
            {**where, "kind": "mail", "partitions": "2", "max_messages": "10", **given}, READ_STREAM
        )
        reader = StreamReader(options, KEYS)
        limit = reader.getDefaultReadLimit()
        start = reader.initialOffset()
        assert [reader.latestOffset(start, one)["most"] for one in (limit, None)] == [most, most], given
        reader.stop()


def handed_out(options: Options, source: Part) -> list[str]:
    """Read a part as its task does, and return the keys."""
    return [key for batch in StreamReader(options, KEYS).read(source) for key in batch.column(0).to_pylist()]


def test_each_message_that_is_not_of_its_schema_is_a_dead_letter_with_its_own_reason(
    queue: Session, where: dict[str, str]
) -> None:
    queue.push_many("mail", [{"key": key, "payload": {"n": n}} for key, n in (("a", "x"), ("b", 1))])
    queue.push_bytes("mail", "c", b"x")
    options = parse({**where, "kind": "mail", "bad_rows": "dead"}, READ_STREAM)
    wanted = StructType([*KEYS.fields]).add("payload", StructType().add("n", LongType()))
    [read] = StreamReader(options, wanted).read(planned(options))
    assert read.to_pylist() == [{"p_key": "b", "payload": {"n": 1}}]
    dead = {one.key: str(one.errors) for one in drain(queue, "mail.dead")}
    assert {key: "whole number" in why for key, why in dead.items()} == {"a": True, "c": False}
    assert "not bytes" in dead["c"]


def test_who_kept_a_read_leaves_it_alone_once_it_is_planned_again(
    queue: Session, where: dict[str, str]
) -> None:
    queue.push("mail", "k", 1)
    options = parse({**where, "kind": "mail"}, READ_STREAM)
    parts: list[Part] = []
    for _ in range(2):  # the driver died, and another one began
        parts.append(planned(options))
        assert handed_out(options, parts[-1]) == ["k"]
    extend(options, parts[0].source, parts[0].plan, 0)
    assert state(queue, "mail", "k") == "reserved"
    extend(options, parts[1].source, parts[1].plan, 0)
    assert state(queue, "mail", "k") == "expired"


def test_what_is_read_again_is_of_no_kind_since_one_of_any_name_may_be_for_others(
    queue: Session, where: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Holding, "keep", lambda *_: None)
    queue.push("mail", "k", 1)
    options = parse({**where, "kind": "mail", "partitions": "1"}, READ_STREAM)
    begun = StreamReader(options, KEYS).initialOffset()
    kinds: list[str | None] = []
    for _ in range(2):
        reader = StreamReader(options, KEYS)
        [part] = reader.partitions(begun, {**begun, "batch": 1})
        reader.stop()
        assert isinstance(part, Part)
        assert handed_out(options, part) == ["k"]
        kinds += [take.kind for take in part.takes]
    assert kinds == ["mail", None]


def test_what_is_still_held_of_a_batch_that_is_done_again_is_held_anew(
    queue: Session, where: dict[str, str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Holding, "keep", lambda *_: None)  # it comes later
    queue.push("mail", "k", 1)
    options = parse({**where, "kind": "mail", "timeout_seconds": "300"}, READ_STREAM)
    begun = StreamReader(options, KEYS).initialOffset()
    for _ in range(3):
        reader = StreamReader(options, KEYS)
        parts = reader.partitions(begun, {**begun, "batch": 1})
        reader.stop()
        assert [key for one in parts if isinstance(one, Part) for key in handed_out(options, one)] == ["k"]
        clock.advance(200)
    assert state(queue, "mail", "k") == "reserved"


def test_several_kinds_are_read_in_batches_of_a_limit_with_their_backlog(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    for kind in ("mail.in", "mail.out", "post"):
        queue.push_many(kind, [{"key": f"k{n}", "payload": n} for n in range(6)])
    queue.push("mail.in", "later", 1, delay_seconds=3600)
    seen: list[list[tuple[str, str]]] = []

    def work(frame: DataFrame, _: int) -> None:
        seen.append([(one.p_kind, one.p_key) for one in frame.select("p_kind", "p_key").collect()])

    options = {"kind_pattern": r"mail\..*", "maxMessagesPerTrigger": "5", "backlog": "true"}
    writer = (
        stream_of(spark, where, **options)
        .writeStream.foreachBatch(work)
        .option("checkpointLocation", f"{folder}/1")
    )
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    assert [len(one) for one in seen] == [5, 5, 2]
    expected = {(kind, f"k{n}") for kind in ("mail.in", "mail.out") for n in range(6)}
    assert {one for batch in seen for one in batch} == expected
    told = [one["sources"][0]["latestOffset"] for one in query.recentProgress]
    assert '"ready": 12, "waiting": 1' in str(told[0])
    found = read(spark, where, "peek", kinds="mail.in,post").select("p_kind", "p_key").collect()
    assert {one.p_kind for one in found} == {"mail.in", "post"}
    assert len(found) == 7
    assert read(spark, where, "peek", kind_pattern="p.*").count() == 6
    run(stream_of(spark, where, kinds="post,none"), f"{folder}/2", work)
    assert sorted(seen[3]) == [("post", f"k{n}") for n in range(6)]


def stream_of(spark: SparkSession, where: dict[str, str], **options: str) -> DataFrame:
    return spark.readStream.format("pyqueue").options(**where, **options).load()
