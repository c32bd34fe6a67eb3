"""Spark Connect, where there is no sparkContext: all ways in and out, and a station."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql.spark.jars import NotFound, check_java
from tests.conformance.steps import drain

if TYPE_CHECKING:
    from tests.conformance.harness import Session

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.rare("mariadb", "mysql")
@pytest.mark.slow
def test_on_spark_connect_each_message_goes_all_ways_once(
    queue: Session, where: dict[str, str], folder: str
) -> None:
    try:
        check_java()
    except NotFound as error:
        pytest.skip(f"LEFT OUT, nothing was tested on Spark Connect: {error}")
    done = subprocess.run(
        [sys.executable, "tests/spark/connected.py", where["url"], folder],
        cwd=ROOT,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("\tat ")]
    assert done.returncode == 0, "\n".join(said)[-3000:]
    assert sorted(one.payload["id"] for one in drain(queue, "packed")) == [n for n in range(10) if n != 7]
    assert [one.key for one in drain(queue, "third.dead")] == ["k7"]
    for kind in ("mail", "first", "second", "third"):
        [stats] = queue.stats(kind)
        assert stats.total == 0
