"""A throw-away server of the tests goes with the program that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqueue_sql.calls.connect import ConnectionFailed, connect
from tests.servers import Running, UnavailableError, start
from tests.servers.together import Together

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys, time
from tests.servers import start
print(start("mariadb", None).url, flush=True)
{end}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A MariaDB; where there is none, the end of the report says so."""
    try:
        running = start("mariadb", None)
    except UnavailableError as error:
        pytest.skip(str(error))
    yield running
    running.stop()


@pytest.mark.parametrize(
    "end",
    [
        "sys.exit(3)",
        pytest.param("raise RuntimeError", marks=pytest.mark.long),
        pytest.param("os._exit(1)", marks=pytest.mark.long),
        pytest.param("time.sleep(600)", marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("server")
def test_no_server_outlives_its_program(end: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end=end)],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    if "sleep" in end:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while list(tmp_path.iterdir()):
        assert time.monotonic() < deadline, "its folder is still there"
        time.sleep(0.05)
    with pytest.raises(ConnectionFailed):
        connect(url)


def test_the_server_of_a_url_is_taken_as_it_is(server: Running) -> None:
    given = start("mariadb", server.url)
    given.stop()
    connect(server.url).close()


def test_a_server_of_another_make_is_refused(server: Running) -> None:
    with pytest.raises(UnavailableError, match="no mysql"):
        start("mysql", server.url)


def test_what_shares_something_that_takes_long_to_make_comes_to_one_process() -> None:
    scope = object.__new__(Together)._split_scope
    plans = "tests/schema/test_plans.py::test_a[100000-{}-known-queue_pop]"
    assert scope(plans.format("all")) == scope(plans.format("nothing"))
    assert scope("tests/schema/test_plans.py::test_b") == "tests/schema/test_plans.py::test_b"
    assert scope("tests/spark/test_read.py::test_a[mysql]") == scope("tests/spark/test_write.py::test_b")
    assert scope("tests/unit/test_spark.py::test_a") == "tests/unit/test_spark.py::test_a"
