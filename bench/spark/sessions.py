"""Spark sessions: of one or two cores of this machine, and of a cluster of two workers on it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from pyqueue_sql.embedded.supervisor import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "2g",
    "spark.executor.memory": "1g",
}
PATIENCE_SECONDS = 300


@contextmanager
def session(master: str, jars: dict[str, str]) -> Iterator[SparkSession]:
    """Give a session, stopped at the end."""
    from pyqueue_sql.spark.session import make_session

    with tempfile.TemporaryDirectory() as folder:
        settings = QUIET | jars | {"spark.sql.warehouse.dir": folder, "spark.executor.cores": "1"}
        spark = make_session("pyqueue bench", master, settings)
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def cluster(workers: int = 2) -> Iterator[str]:
    """Give the URL of a standalone cluster with workers of a core each.

    Raises:
        TimeoutError: it doesn't start.
    """
    import pyspark

    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    port, page = free_port(), free_port()
    master = f"spark://127.0.0.1:{port}"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as folder:

        def start(role: str, *arguments: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [program, f"org.apache.spark.deploy.{role}", *arguments],
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        running = [
            start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        ]
        try:
            for number in range(workers):
                place = ["--work-dir", f"{folder}/{number}", "--webui-port", "0", "--host", "127.0.0.1"]
                running.append(start("worker.Worker", "-c", "1", "-m", "1g", *place, master))
            wait_for(f"http://127.0.0.1:{page}/json/", workers)
            yield master
        finally:
            for process in running:
                process.kill()
                process.wait()


def wait_for(page: str, workers: int) -> None:
    """Wait until so many workers have told the master that they are there."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        try:
            with urlopen(page) as answer:
                if answer.read().count(b'"ALIVE"') > workers:  # the master says so of itself, too
                    return
        except URLError:
            pass
        time.sleep(0.2)
    raise TimeoutError("the cluster doesn't start")
