"""The routines by plain JDBC, as an application in Java calls them; Spark's Java is at hand for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.spark.jars import jdbc
from tests.spark.test_jdbc import needs_driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from tests.conformance.harness import Harness, Session
    from tests.spark.drivers import Drivers

Rows = list[dict[str, Any]]


@pytest.fixture
def call(
    spark: SparkSession, harness: Harness, drivers: Drivers, server_name: str
) -> Iterator[Callable[..., Rows]]:
    """Call a routine with a prepared statement, JSON given as a string; gives the rows."""
    needs_driver(drivers, server_name)
    jvm: Any = spark.sparkContext._jvm  # pyright: ignore[reportPrivateUsage]
    url, properties = jdbc(harness.url)
    mysql = is_mysql(harness.url)
    given = jvm.java.util.Properties()
    for name in ("user", "password", "permitMysqlScheme"):
        if name in properties:
            given.setProperty(name, properties[name])
    driver = (jvm.org.mariadb.jdbc if mysql else jvm.org.postgresql).Driver()
    connection = driver.connect(url, given)

    def call(name: str, *arguments: object, json: tuple[int, ...] = ()) -> Rows:
        marks = ["?::jsonb" if place in json and not mysql else "?" for place in range(len(arguments))]
        text = f"{name}({', '.join(marks)})"
        statement = connection.prepareStatement(f"call {text}" if mysql else f"select * from {text}")
        for place, value in enumerate(arguments, 1):
            statement.setObject(place, value)
        found = statement.executeQuery()
        about = found.getMetaData()
        names = [about.getColumnLabel(n) for n in range(1, about.getColumnCount() + 1)]
        rows: Rows = []
        while found.next():
            rows.append({name: found.getString(name) for name in names})
        statement.close()
        return rows

    yield call
    connection.close()


def test_E2_a_message_goes_its_way_by_jdbc(call: Callable[..., Rows], queue: Session) -> None:
    [pushed] = call("queue_push", "mail", "k1", '{"n": 1}', '{"priority": 5}', json=(2, 3))
    assert (pushed["p_key"], pushed["outcome"]) == ("k1", "created")
    [again] = call("queue_push", "mail", "k1", '{"n": 2}', None, json=(2, 3))
    assert again["outcome"] == "ignored"
    [taken] = call("queue_reserve", "mail", "java", 10, None, json=(3,))
    assert (taken["p_key"], taken["priority"], taken["reserved_by"]) == ("k1", "5", "java")
    [kept] = call("queue_extend", taken["receipt"], 60)
    assert kept["outcome"] == "extended"
    [done] = call("queue_ack", taken["receipt"], None, json=(1,))
    assert done["outcome"] == "acked"
    assert [one.total for one in queue.stats("mail")] == [0]


def test_E2_an_error_tells_jdbc_its_cause(call: Callable[..., Rows]) -> None:
    with pytest.raises(Exception, match=r'kind ""') as raised:
        call("queue_push", "", "k1", "{}", None, json=(2, 3))
    assert raised.value.java_exception.getSQLState() == "PQ001"  # pyright: ignore[reportAttributeAccessIssue]
