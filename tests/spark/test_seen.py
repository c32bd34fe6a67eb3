"""What came of a write is seen, in a view and in the log; a write that is repeated writes nothing twice."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark.batches import Committed, Published
from pyqueue_sql.spark.options import WRITE, parse
from pyqueue_sql.spark.sink import tell
from tests.conformance.steps import drain
from tests.spark.test_stream import fill, run, stream
from tests.spark.test_write import left

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Session

    Write = Callable[..., None]

COLUMNS = "p_key string, payload string"
ROWS = [{"p_key": key, "payload": payload} for key, payload in (("a", "1"), ("b", "2"), ("c", "3"))]


def writes(queue: Session) -> list[Any]:
    """Return what came of all writes, the sums of each job, and remember it no longer."""
    text = (
        "select sum(w.messages), sum(w.pushed), sum(w.ignored), sum(w.differing), sum(w.refused)"
        " from queue_writes w group by substr(w.job, 1, 42) order by min(w.written_at)"
    )
    found = [tuple(None if one is None else int(one) for one in row) for row in queue.execute(text)]
    queue.execute("delete from queue_write")
    return found


def test_what_came_of_a_write_stands_in_a_view_and_in_the_log(
    spark: SparkSession, queue: Session, write: Write
) -> None:
    queue.push("mail", "a", 1)
    queue.push("mail", "b", 1)
    spark.conf.set("spark.sql.pyspark.worker.logging.enabled", "true")
    try:
        write([*ROWS, {"p_key": "d", "payload": "{"}], COLUMNS, kind="mail", bad_rows="dead")
        logged = {(one.level, one.msg) for one in spark.sql("select * from python_worker_logs()").collect()}
    finally:
        spark.conf.unset("spark.sql.pyspark.worker.logging.enabled")
    assert writes(queue) == [(4, 2, 2, 1, 1)]
    said = (
        "4 messages: 2 pushed, 2 ignored, 1 with another payload than the message of their key, 1 of them"
        " rows that could be none and are dead letters"
    )
    assert ("WARNING", said) in logged


def test_a_write_is_a_warning_only_where_something_may_be_wrong(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for done, refused, level in (
        (Published("published", 3, 2, 0), 0, "INFO"),
        (Published("published", 3, 3, None), 0, "INFO"),
        (Published("published", 3, 2, 1), 0, "WARNING"),
        (Published("published", 3, 3, 0), 1, "WARNING"),
        (Published("replayed", 0, 0, 0), 1, "INFO"),
        (Committed("committed", 9, 1, 0, 3, 2, 0), 0, "INFO"),
        (Committed("committed", 9, 1, 0, 3, 2, 1), 0, "WARNING"),
    ):
        caplog.clear()
        tell(done, refused)
        [said] = caplog.records
        assert said.levelname == level, (done, refused)
        assert said.getMessage().startswith("3 messages: " if done.outcome != "replayed" else "written")
    tell(None, 1)
    assert len(caplog.records) == 1


def test_what_came_of_tasks_that_are_transactions_stands_in_the_view(
    queue: Session, write: Write, where: dict[str, str]
) -> None:
    queue.push("mail", "a", 2)
    for patience, new in (("0", 2), ("30", 0)):
        write(ROWS, COLUMNS, kind="mail", atomic="task", reconnect_seconds=patience)
        [(messages, pushed, ignored, differing, refused)] = writes(queue)
        assert (messages, pushed, ignored, refused) == (3, new, 3 - new, 0)
        # PostgreSQL pushes them straight through the inbox, where nobody looks at payloads
        assert differing == 1 or where["url"].startswith("postgresql")


def test_what_came_of_a_micro_batch_stands_in_the_view(
    spark: SparkSession, queue: Session, where: dict[str, str], folder: str
) -> None:
    fill(queue, 3)
    queue.push("next", "k1", 1)

    def copy(commit: str) -> None:
        found = stream(spark, where, commit=commit).select(F.lit("next").alias("p_kind"), "p_key", "payload")
        writer = found.writeStream.format("pyqueue").options(**where)
        writer.option("checkpointLocation", f"{folder}/{commit}").trigger(
            availableNow=True
        ).start().awaitTermination()

    copy("sink")
    assert writes(queue) == [(3, 2, 1, 1, 0)]
    fill(queue, 3)
    copy("source")
    assert writes(queue) == [(3, 0, 3, 1, 0)]


def test_a_write_that_is_repeated_writes_nothing_twice(
    spark: SparkSession, queue: Session, write: Write, where: dict[str, str], folder: str
) -> None:
    def again(version: int, count: int) -> None:
        rows = spark.range(count).select(F.to_json(F.struct("id")).alias("payload"))
        write(rows, kind="mail", txnAppId="nightly", txnVersion=str(version))

    again(1, 20)
    again(1, 20)
    assert len(drain(queue, "mail")) == 20
    again(3, 5)
    again(2, 20)
    assert len(drain(queue, "mail")) == 5
    assert left(queue) == 0
    fill(queue, 3)
    tries: list[int] = []

    def work(frame: DataFrame, batch: int) -> None:
        options = {"kind": "copy", "txn_app_id": "stream", "txn_version": str(batch)}
        frame.select("payload").write.format("pyqueue").options(**where, **options).mode("append").save()
        tries.append(batch)
        if len(tries) == 1:
            raise ValueError("on purpose")

    frame = stream(spark, where)
    with pytest.raises(Exception, match="on purpose"):
        run(frame, folder, work)
    run(frame, folder, work)
    assert tries == [0, 0]
    assert len(drain(queue, "copy")) == 3


def test_the_name_of_a_write_is_whole_and_its_own() -> None:
    for given, why in (
        ({"txnAppId": "a"}, '"txn_app_id" and "txn_version" must stand together'),
        ({"txnAppId": "a", "txnVersion": "1", "atomic": "task"}, 'must be job where there is "txn_app_id"'),
        ({"txnAppId": "a", "txnVersion": "1", "stream": "s", "batch": "1"}, "one of them"),
        ({"txnAppId": "a", "txnVersion": "-1"}, "must be a whole number from 0"),
    ):
        with pytest.raises(InvalidOption, match=why):
            parse({"url": "u", "kind": "k", **given}, WRITE)
