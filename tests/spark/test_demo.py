"""The flights through the pipeline, with a driver that is killed twice on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.spark.test_jdbc import needs_driver

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.spark.drivers import Drivers

ROOT = Path(__file__).parents[2]
FLIGHTS = 27_004
"""In January."""


@contextlib.contextmanager
def demo(url: str, work: Path) -> Generator[subprocess.Popen[bytes]]:
    """Run the demo in a group of its own, so that a kill takes Spark with it."""
    log = (work / "log").open("ab")
    command = [sys.executable, "-m", "examples.flights.demo", "--months", "1", "--max-messages", "8000"]
    process = subprocess.Popen(
        [*command, "--url", url, "--work", str(work)],
        cwd=ROOT,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        log.close()


def wait(process: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    """Wait until the demo is so far, while it runs."""
    until = time.monotonic() + 600
    while not reached():
        assert process.poll() is None, "it ended before it was to be killed"
        assert time.monotonic() < until, "it doesn't get on"
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.slow
def test_E5_a_driver_that_is_killed_twice_changes_nothing_in_the_result(
    database_url: str, tmp_path: Path, drivers: Drivers
) -> None:
    needs_driver(drivers, "postgresql")

    def acked(conn: psycopg.Connection, kinds: str) -> int:
        row = conn.execute(
            "select coalesce(sum(c.acked), 0) from queue_count c where c.p_kind like %s", [kinds]
        ).fetchone()
        assert row is not None
        return int(row[0])

    with psycopg.connect(database_url, autocommit=True) as conn:
        # while a batch of the first station is under way, and while one of a sink is
        for kinds in ("flights.in", "flights.on%"):
            with demo(database_url, tmp_path) as process:
                wait(process, lambda kinds=kinds: acked(conn, kinds) > 0)
        with demo(database_url, tmp_path) as process:
            code = process.wait(900)
        log = (tmp_path / "log").read_text(errors="replace")
        assert code == 0, log[-3000:]
        assert acked(conn, "flights.in") == FLIGHTS
        assert acked(conn, "flights.%") == 2 * FLIGHTS
    assert "WRONG" not in log
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
