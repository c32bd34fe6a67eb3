"""One Spark session for all tests of this folder, since its start takes as long as ten of them."""

from __future__ import annotations

import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.spark.jars import NotFound, check_java
from pyqueue_sql.spark.session import make_session
from tests.conformance.fixtures import clock, harness, packets, queue
from tests.faults.spark_driver import QUICK
from tests.servers.favour import favoured
from tests.servers.plugin import REQUIRE, required
from tests.spark.drivers import Drivers, find_drivers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.conformance.harness import Harness

__all__ = ["clock", "harness", "packets", "queue"]

END_SECONDS = 30


@pytest.fixture(scope="session")
def drivers(pytestconfig: pytest.Config) -> Drivers:
    """The JDBC drivers that there are."""
    return find_drivers(pytestconfig)


@pytest.fixture(scope="session")
def spark(drivers: Drivers) -> Iterator[SparkSession]:
    """A session of two cores, in which a task may fail once."""
    try:
        check_java()
    except NotFound as error:
        if "jdbc" in required():
            raise pytest.UsageError(f"{REQUIRE} names jdbc: {error}") from None
        pytest.skip(f"LEFT OUT, nothing was tested on Spark: {error}")
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "spark.driver.extraJavaOptions": QUICK,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": folder,
            "spark.jars": ",".join(drivers.jars),
        }
        with favoured():
            session = make_session("pyqueue tests", "local[2,2]", settings)
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(autouse=True)
def tasks_end_with_their_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A job that fails leaves its other tasks running for two seconds. Each that is a transaction of its own
    may still write then: into the database of the next test."""
    yield
    if "spark" in request.fixturenames:
        status = request.getfixturevalue("spark").sparkContext._jsc.sc().statusTracker()
        until = time.monotonic() + END_SECONDS
        while any(one.numRunningTasks() for one in status.getExecutorInfos()):
            assert time.monotonic() < until, "a task of this test doesn't end"
            time.sleep(0.02)


@pytest.fixture(autouse=True)
def processes_go_first() -> Iterator[None]:
    """So it is for the Sparks that tests start themselves."""
    with favoured():
        yield


@pytest.fixture
def where(harness: Harness) -> dict[str, str]:
    """The options that say where the test's database is."""
    return {"url": harness.url}


@pytest.fixture
def write(spark: SparkSession, where: dict[str, str]) -> Callable[..., None]:
    """Write a DataFrame, or rows of dictionaries."""

    def write(rows: DataFrame | list[dict[str, Any]], schema: str | None = None, **options: str) -> None:
        frame = spark.createDataFrame(rows, schema) if isinstance(rows, list) else rows
        frame.write.format("pyqueue").options(**where, **options).mode("append").save()

    return write


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder for checkpoints and files."""
    return str(tmp_path)
