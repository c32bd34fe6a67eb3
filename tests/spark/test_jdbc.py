"""Plain JDBC into queue_inbox, by a driver that knows nothing of us."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.spark.jars import jdbc
from tests.conformance.steps import drain
from tests.spark.test_write import fail_at_the_end, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Harness, Session
    from tests.spark.drivers import Drivers


def needs_driver(drivers: Drivers, server_name: str) -> None:
    """Leave the test out where there is no driver; where that is required, `find_drivers` has said so."""
    if server_name in drivers.missing:
        pytest.skip(f"no JDBC driver: {drivers.missing[server_name]}")


@pytest.fixture
def insert(harness: Harness, drivers: Drivers, server_name: str) -> Callable[[DataFrame], None]:
    """Write a DataFrame into the inbox, many rows a statement."""
    needs_driver(drivers, server_name)
    url, properties = jdbc(harness.url)

    def insert(frame: DataFrame) -> None:
        frame.write.jdbc(url, "queue_inbox", "append", {**properties, "batchsize": "100"})

    return insert


def mail(spark: SparkSession, count: int) -> DataFrame:
    return numbers(spark, count).selectExpr("'mail' as p_kind", "*")


def test_E4_a_task_that_runs_twice_or_fails_half_way_leaves_one_message_a_key(
    spark: SparkSession, queue: Session, insert: Callable[[DataFrame], None]
) -> None:
    frame = mail(spark, 300)
    insert(frame.mapInArrow(fail_at_the_end(), frame.schema))
    insert(frame)
    queue.prune()  # where no trigger has taken it in
    found = {one.key: one.payload for one in drain(queue, "mail")}
    assert found == {f"k{n}": {"n": n} for n in range(300)}


def test_a_key_that_is_done_stays_done_within_its_window(
    spark: SparkSession, queue: Session, insert: Callable[[DataFrame], None]
) -> None:
    queue.define("mail", dedup_seconds=600)
    insert(mail(spark, 20))
    queue.prune()
    assert len(queue.pop("mail", 10)) == 10
    insert(mail(spark, 20))
    queue.prune()
    assert len(drain(queue, "mail")) == 10


def test_E4_the_row_that_is_wrong_is_named(
    spark: SparkSession, queue: Session, insert: Callable[[DataFrame], None], request: pytest.FixtureRequest
) -> None:
    rows: list[dict[str, Any]] = [{"p_kind": "mail", "p_key": f"k{n}", "payload": "1"} for n in range(5)]
    rows.append({"p_kind": "mail", "p_key": "worse", "payload": "{"})
    frame = spark.createDataFrame(rows, "p_kind string, p_key string, payload string").coalesce(1)
    with pytest.raises(Exception, match=r"worse|queue_inbox_payload") as raised:
        insert(frame)
    assert drain(queue, "mail") == []
    named = re.search(r'key "worse"', str(raised.value))
    assert (
        named or "postgresql" not in request.node.name
    )  # where no trigger may be, a constraint has no more to say
