"""The queue in Spark's SQL: views, tables, INSERT INTO and `writeTo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from tests.conformance.harness import Session

COLUMNS = "(p_kind string, p_key string, payload string)"


@pytest.fixture
def sql(spark: SparkSession, where: dict[str, str]) -> Iterator[SparkSession]:
    """A session with the view `rows` of three messages; what a test creates goes after it."""
    rows = spark.range(3).selectExpr("'mail' as p_kind", "concat('k', id) as p_key", "string(id) as payload")
    rows.createOrReplaceTempView("rows")
    url = where["url"]
    spark.sql(f"create temporary view there using pyqueue options (url '{url}', look 'peek')")
    spark.sql(f"create temporary view box {COLUMNS} using pyqueue options (url '{url}')")
    yield spark
    for name in ("rows", "there", "box"):
        spark.catalog.dropTempView(name)
    spark.sql("drop table if exists mails")


def test_a_view_takes_what_is_inserted_and_another_shows_what_is_there(sql: SparkSession) -> None:
    sql.sql("insert into box select * from rows")
    assert sql.sql("select p_key, payload from there where p_kind = 'mail' order by p_key").collect() == [
        ("k0", "0"),
        ("k1", "1"),
        ("k2", "2"),
    ]


def test_a_table_is_told_its_options_with_each_statement(
    sql: SparkSession, queue: Session, where: dict[str, str]
) -> None:
    url = where["url"]
    sql.sql(f"create table mails {COLUMNS} using pyqueue options (url '{url}')")
    # Spark hands the options of a table to no source in Python: the URL is PYQUEUE_URL's, or the statement's
    with pytest.raises(Exception, match='option "url" or the variable PYQUEUE_URL must say'):
        sql.sql("insert into mails select * from rows")
    sql.sql(f"insert into mails with (url '{url}') select 'a', p_key, payload from rows")
    sql.table("rows").selectExpr("'b' as p_kind", "p_key", "payload").writeTo("mails").option(
        "url", url
    ).append()
    assert sql.sql(f"select * from mails with (url '{url}', look 'peek')").count() == 6
    assert {one.kind: one.total for one in queue.stats()} == {"a": 3, "b": 3}
    with pytest.raises(Exception, match="messages can only be added"):
        sql.sql(f"insert overwrite mails with (url '{url}') select * from rows")


def test_a_table_is_created_of_a_query(sql: SparkSession, queue: Session, where: dict[str, str]) -> None:
    options = sql.table("rows").writeTo("mails").using("pyqueue").option("url", where["url"])
    options.create()
    assert [(one.kind, one.total) for one in queue.stats()] == [("mail", 3)]
