"""Times, keys and payloads have the types that Spark's users want, read and written."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema  # pyright: ignore[reportUnknownVariableType]
from pyspark.sql.types import DataType, StructType

from pyqueue_sql import InvalidParameter, InvalidPayload
from pyqueue_sql.spark.arrow import RESERVED, held, pa
from pyqueue_sql.spark.jsons import Misfit, parser, writer, zoned
from pyqueue_sql.spark.shaping import Shape
from tests.conformance.steps import drain
from tests.spark.test_read import explained, read
from tests.spark.test_stream import run, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session

AT = datetime(2100, 1, 2, 3, 4, 5, 678901, UTC)


def us(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000 + at.microsecond


TYPED: list[tuple[str, str, Any]] = [
    ("string", '"a"', "a"),
    ("string", '{"a": [1, 2.5]}', '{"a":[1,2.5]}'),
    ("int", "-2147483648", -(2**31)),
    ("double", '"NaN"', "nan"),
    ("double", "1", 1.0),
    ("decimal(10,2)", "1.005", Decimal("1.00")),
    ("decimal(38,18)", "12345678901.500000000000000000", Decimal("12345678901.500000000000000000")),
    ("decimal(38,0)", "9" * 38, Decimal("9" * 38)),
    ("decimal(2,2)", "0.00", Decimal("0.00")),
    ("boolean", "true", True),
    ("date", '"2026-12-31"', date(2026, 12, 31)),
    ("timestamp", '"2026-12-31T23:00:00.5+01:00"', datetime(2026, 12, 31, 22, 0, 0, 500_000, UTC)),
    ("timestamp_ntz", '"2026-12-31T23:00:00"', datetime(2026, 12, 31, 23)),
    ("binary", '"AAE="', b"\0\1"),
    ("array<int>", "[1, null]", [1, None]),
    ("map<string,bigint>", '{"a": 1, "b": null}', [("a", 1), ("b", None)]),
    ("struct<a: int, b: string>", '{"a": 1, "z": 0}', {"a": 1, "b": None}),
    ("struct<a: int>", "null", None),
]
UNTYPED: list[tuple[str, str, str]] = [
    ("int", "2147483648", "payload: must be a whole number from"),
    ("int", "1.0", "payload: must be a whole number"),
    ("int", "true", "payload: must be a whole number"),
    ("double", '"1"', "payload: must be a number"),
    ("decimal(4,2)", "100", "2 digits before the dot"),
    ("decimal(2,1)", "9.99", "1 digits before the dot"),
    ("decimal(38,18)", "1e999999", "20 digits before the dot"),
    ("timestamp", '"9999-12-31T23:59:59-05:00"', "must be a time, 2026-12-31T"),
    ("timestamp", '"0001-01-01T00:00:00+05:00"', "must be a time, 2026-12-31T"),
    ("string", r'"\ud800"', "must be a text that UTF-8 has"),
    ("boolean", "1", "must be true or false"),
    ("date", '"31.12.2026"', "must be a date, 2026-12-31"),
    ("timestamp_ntz", '"2026-12-31T23:00:00Z"', "must be a time without a zone"),
    ("array<int>", '[1, "2"]', "payload[]: must be a whole number"),
    ("struct<a: struct<b: int not null>>", '{"a": {}}', "payload.a.b: must not be null"),
    ("map<string,int>", "[]", "payload: must be an object"),
]


def of_type(type_: str) -> DataType:
    [field] = cast("StructType", StructType.fromDDL(f"payload {type_}")).fields
    return field.dataType


def written(type_: DataType, value: Any) -> str:
    """Return the JSON that a value becomes on its way through Arrow."""
    [arrow] = cast("Any", to_arrow_schema)(StructType().add("payload", type_), timezone="UTC").types
    [there] = pa.array([value], arrow).cast(held(arrow)).to_pylist()
    return writer(type_)(there)


def test_a_text_becomes_a_value_of_its_type_and_this_the_text_again(spark: SparkSession) -> None:  # noqa: ARG001
    for type_, text, value in TYPED:
        found = parser(of_type(type_))(text)
        assert str(found) == str(value), type_
        if found is not None:
            again = json.dumps(json.loads(written(of_type(type_), found)))
            assert str(parser(of_type(type_))(again)) == str(value), type_


def test_a_text_that_is_not_of_its_type_is_told_where_and_what_it_must_be(spark: SparkSession) -> None:  # noqa: ARG001
    for type_, text, why in UNTYPED:
        with pytest.raises(Misfit) as raised:
            parser(of_type(type_))(text)
        assert why in str(raised.value), type_


def test_what_cannot_be_a_column_is_refused(spark: SparkSession) -> None:  # noqa: ARG001
    for schema, why in (
        ("color string", 'column "color": unknown, there are p_kind, p_key'),
        ("p_key int", 'column "p_key" int: must be string'),
        ("attempts short", "must be int or bigint"),
        ("payload map<int,int>", "keys of a map must be string"),
        ("payload interval day", "must be of a type that JSON can hold"),
    ):
        with pytest.raises(InvalidParameter) as raised:
            Shape(cast("StructType", StructType.fromDDL(schema)), RESERVED, "fail")
        assert why in str(raised.value)


def test_a_payload_that_is_not_of_its_type_fails_is_null_or_goes(spark: SparkSession) -> None:  # noqa: ARG001
    batch = pa.record_batch(
        {"p_key": ["a", "b", "c"], "payload": ['{"n": 1}', '{"n": "x"}', None], "receipt": ["1", "2", "3"]}
    )
    wanted: Any = StructType.fromDDL("payload struct<n: int>, p_key string")
    with pytest.raises(InvalidPayload, match=r'key "b": payload\.n: must be a whole number'):
        Shape(wanted, RESERVED, "fail").of(batch, {})
    bad: dict[str, str] = {}
    [left] = Shape(wanted, RESERVED, "dead").of(batch, bad).to_pylist()
    assert left == {"payload": {"n": 1}, "p_key": "a"}
    assert bad.keys() == {"2", "3"}
    assert "not bytes" in bad["3"]
    told = Shape(wanted.add("error", "string"), RESERVED, "null").of(batch, {}).to_pylist()
    assert [one["payload"] for one in told] == [{"n": 1}, None, None]
    assert [one["error"] is None for one in told] == [True, False, False]


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("Z", 0), ("+02:00", 2), ("-3", -3), ("UTC+1", 1), ("GMT-9:30", -9.5), ("UT+0530", 5.5), ("Japan", 9)],
)
def test_a_zone_is_a_name_or_a_distance_from_utc(spark: SparkSession, zone: str, hours: float) -> None:
    assert zoned(datetime(2100, 1, 2, 3), zone).utcoffset() == timedelta(hours=hours)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        [at] = spark.sql("select unix_micros(timestamp'2100-01-02 03:00:00')").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert at[0] == us(zoned(datetime(2100, 1, 2, 3), zone))


@pytest.mark.parametrize("zone", ["+25:00", "nowhere", "+2:0", ""])
def test_another_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidParameter, match=r"must be like"):
        zoned(datetime(2100, 1, 2, 3), zone)


def test_what_is_written_typed_is_read_typed(
    spark: SparkSession, queue: Session, where: dict[str, str], write: Callable[..., None]
) -> None:
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.sql(
            "select 1 as p_key, map('h', 'x') as headers, named_struct('a', 1, 'none', cast(null as int),"
            " 'list', array(map('k', 1.50)), 'at', timestamp'2026-01-01 00:00:00') as payload,"
            " timestamp'2100-01-02 03:04:05.678901Z' as scheduled_at"
        )
        write(frame, kind="mail")
        local = "timestamp_ntz'2100-07-02 03:04:05' as scheduled_at"
        write(
            frame.selectExpr("2 as p_key", "parse_json('[1, {\"a\": null}]') as payload", local), kind="mail"
        )
        day = "date'2100-01-02'"
        write(frame.selectExpr(f"{day} as p_key", "'3' as payload", f"{day} as scheduled_at"), kind="mail")
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))
    there: dict[str, Any] = {key: queue.get("mail", key) for key in ("1", "2", "2100-01-02")}
    assert there["1"].payload == {"a": 1, "list": [{"k": 1.5}], "at": "2026-01-01T05:00:00+00:00"}
    assert there["1"].headers == {"h": "x"}
    assert there["2"].payload == [1, {"a": None}]
    summer, winter = datetime(2100, 7, 2, 7, 4, 5, tzinfo=UTC), datetime(2100, 1, 2, 5, tzinfo=UTC)
    assert [one.scheduled_at for one in there.values()] == [us(AT), us(summer), us(winter)]
    schema = (
        "scheduled_at timestamp, payload struct<a: int, at: timestamp>, attempts long,"
        " headers map<string,string>"
    )
    typed = spark.read.format("pyqueue").options(**where, look="peek").schema(schema)
    found = typed.load().where((F.col("scheduled_at") == AT) & F.col("headers.h").isNotNull())
    same = "scheduled_at = timestamp'2100-01-02 03:04:05.678901Z'"
    [one] = found.selectExpr(same, "payload.at = timestamp'2026-01-01 05:00:00Z'", "headers").collect()
    assert tuple(one) == (True, True, {"h": "x"})
    assert "2100-01-0" not in explained(found).rpartition("Physical Plan")[2]  # the server checks the time
    raw = read(spark, where, "peek", times="long", payloadSchema="a int", bad_rows="null").orderBy("p_key")
    told = [(one.scheduled_at, one.payload and one.payload.a, one.error is None) for one in raw.collect()]
    assert told == [(us(AT), 1, True), (us(summer), None, False), (us(winter), None, False)]


def test_a_message_that_is_not_of_its_schema_is_a_dead_letter_or_fails_the_batch(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    queue.push_many("mail", [{"key": f"k{n}", "payload": {"n": n}} for n in range(10)])
    queue.push("mail", "bad", {"n": "many"})
    queue.push_bytes("mail", "raw", b"\0")
    seen: list[int] = []

    def work(frame: DataFrame, _: int) -> None:
        seen.extend(one.n for one in frame.select("payload.n").collect())

    with pytest.raises(Exception, match=r'key "(bad|raw)": payload'):
        run(stream(spark, where, payload_schema="n int"), f"{folder}/1", work)
    assert queue.wait("mail", 5) == "mail"
    run(stream(spark, where, payload_schema="n int", bad_rows="dead"), f"{folder}/2", work)
    assert sorted(seen) == list(range(10))
    dead = {one.key: one.errors for one in drain(queue, "mail.dead")}
    assert dead.keys() == {"bad", "raw"}
    assert "payload.n: must be a whole number" in str(dead["bad"])
    [stats] = queue.stats("mail")
    assert (stats.total, stats.acked_total) == (0, 10)
