"""The demo as a command of its own: what it finds right, what it finds wrong, and what it leaves behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pyqueue_sql.embedded import start_server
from pyqueue_sql.schema import migrate

ALL = "from pyqueue_sql.demo.cli import demo; demo()"
JANUARY = f"""
from itertools import islice
from pyqueue_sql.demo import data
rows = data.read_rows
data.read_rows = lambda: islice(rows(), 5000)
{ALL}
"""
"""The same where the file ends sooner: to read all of it twice takes longer than the flights do."""
LOADED = "pushed all flights twice"
ARRIVED = "pyqueue_demo.flights.arrived"
DEPARTING = "pyqueue_demo.flights.departing"
KINDS = "p_kind like 'pyqueue\\_demo.%'"
PATIENCE_SECONDS = 60.0

pytestmark = pytest.mark.slow


@contextmanager
def demo(*arguments: str, program: str = JANUARY) -> Iterator[subprocess.Popen[str]]:
    """Run the demo in a process group of its own, as a terminal would, and end it where the test doesn't."""
    environment = {name: value for name, value in os.environ.items() if name != "PYQUEUE_URL"}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "120"},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until_loaded(process: subprocess.Popen[str]) -> None:
    """Read what the demo writes up to where everything is pushed and nothing is due."""
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        if LOADED in line:
            return
        seen.append(line)
    raise AssertionError("".join(seen))


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for its end; return what it wrote."""
    return process.communicate(timeout=PATIENCE_SECONDS)[0]


def assert_nothing_left(conn: psycopg.Connection) -> None:
    assert conn.execute(f"select * from delayed_queue where {KINDS}").fetchall() == []
    assert conn.execute(f"select * from queue_kind where {KINDS}").fetchall() == []
    others = (
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and application_name <> 'tests'"
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while conn.execute(others).fetchone() != (0,):
        assert time.monotonic() < deadline, "connections are left"
        time.sleep(0.05)


def counts(output: str, what: str) -> tuple[int, int]:
    """Return what a line of the table says: the count of the queue and the one of the file."""
    found = re.search(rf"^\W*{re.escape(what)}\s+\W\s+([\d,]+)\s+\W\s+([\d,]+) ", output, re.MULTILINE)
    assert found is not None, output
    queue, file = (int(text.replace(",", "")) for text in found.groups())
    return queue, file


def test_every_flight_comes_once(database_url: str, conn: psycopg.Connection) -> None:
    with demo("--url", database_url, "--flights", "3000", "--seconds", "4", program=ALL) as process:
        output = finish(process)
    assert process.returncode == 0, output
    assert counts(output, "pushed") == (3000, 3000)
    assert counts(output, "pushed again, ignored") == (3000, 3000)
    departed, cancelled = counts(output, "departed, moved"), counts(output, "cancelled, dead letters")
    assert departed[0] + cancelled[0] == 3000
    assert cancelled[0] > 0
    assert counts(output, "arrived, drained") == departed
    assert "every flight once" in output
    assert_nothing_left(conn)


@pytest.mark.long
def test_what_vanishes_and_what_comes_twice_is_found(database_url: str, conn: psycopg.Connection) -> None:
    with demo("--url", database_url, "--flights", "3000", "--seconds", "4") as process:
        until_loaded(process)
        ends = "select p_key from delayed_queue where p_kind = %s order by scheduled_at {}, p_key limit 1"
        first, last = (conn.execute(ends.format(way), [DEPARTING]).fetchone() for way in ("asc", "desc"))
        assert first is not None and last is not None
        row = conn.execute("select payload from queue_get(%s, %s)", [DEPARTING, first[0]]).fetchone()
        assert row is not None
        vanished = "delete from delayed_queue where p_kind = %s and p_key = %s"
        assert conn.execute(vanished, [DEPARTING, last[0]]).rowcount == 1
        deadline = time.monotonic() + PATIENCE_SECONDS
        underway = "select 1 from delayed_queue where p_kind in (%s, %s) and p_key = %s"
        while conn.execute(underway, [DEPARTING, ARRIVED, first[0]]).fetchone():
            assert time.monotonic() < deadline, "the first flight does not end"
            time.sleep(0.02)
        again = "select outcome from queue_push(%s, %s, %s)"
        parameters = [DEPARTING, first[0], Jsonb(row[0])]
        assert conn.execute(again, parameters).fetchone() == ("created",)
        output = finish(process)
    assert process.returncode == 1, output
    assert f"wrong: missing, not moved: {last[0]}\n" in output
    assert f"wrong: missing, not drained: {last[0]}\n" in output
    assert f"wrong: doubled, drained more than once: {first[0]}\n" in output
    assert_nothing_left(conn)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_an_interrupt_leaves_nothing(
    database_url: str, conn: psycopg.Connection, number: signal.Signals
) -> None:
    with demo("--url", database_url, "--flights", "3000", "--seconds", "30") as process:
        until_loaded(process)
        deadline = time.monotonic() + PATIENCE_SECONDS
        moved = "select 1 from queue_stats where p_kind = %s and moved_total > 0"
        while not conn.execute(moved, [DEPARTING]).fetchone():
            assert time.monotonic() < deadline, "no flight departs"
            time.sleep(0.02)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        output = finish(process)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert "interrupted; everything the demo made is removed, but for the queue itself\n" in output
    assert_nothing_left(conn)


def test_an_interrupt_of_the_cleaning_up_says_what_is_left(
    database_url: str, conn: psycopg.Connection
) -> None:
    dead = f"{DEPARTING}.dead"
    with demo("--url", database_url, "--flights", "3000", "--seconds", "30") as process:
        until_loaded(process)
        conn.execute("select queue_push(%s, 'held', '1')", [dead])
        assert conn.execute("select p_key from queue_reserve(%s, 'me')", [dead]).fetchone() == ("held",)
        os.killpg(process.pid, signal.SIGINT)
        deadline = time.monotonic() + PATIENCE_SECONDS
        others = f"select p_kind from queue_kind where {KINDS} and p_kind <> '{dead}'"
        while conn.execute(others).fetchall():
            assert time.monotonic() < deadline, "the other kinds stay"
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        output = finish(process)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    left = f"interrupted before everything was removed; left: {dead}; to drop it, with the same --url: "
    assert f"{left}pyqueue drop {dead}\n" in output


@pytest.mark.long
def test_a_folder_with_the_kinds_of_a_killed_demo_is_named() -> None:
    folder = Path(tempfile.mkdtemp(prefix="pyqueue-test-"))
    folder.chmod(0o755)
    try:
        with start_server(folder / "data") as server:
            migrate.upgrade(server.url)
            with psycopg.connect(server.url, autocommit=True) as conn:
                conn.execute("select queue_push('flights.departing', 'left', '1')")
        with demo("--data", str(folder / "data"), "--flights", "1", "--seconds", "1") as process:
            output = finish(process)
        assert process.returncode == 3, output
        assert "messages already in the kinds of the demo: flights.departing; " in output
        assert (
            f"give --data another folder, or remove {folder / 'data'} where all of it is a demo's" in output
        )
    finally:
        shutil.rmtree(folder)


@pytest.mark.long
def test_a_machine_that_cannot_keep_the_pace_is_told_so(database_url: str) -> None:
    # whatever the machine: what is late at all is too late
    slow = f"from pyqueue_sql.demo import display\ndisplay.LATE_SECONDS = 0\n{JANUARY}"
    with demo("--url", database_url, "--flights", "2000", "--seconds", "1", program=slow) as process:
        output = finish(process)
    assert process.returncode == 0, output
    assert "late: " in output
    assert "every flight once and in its place" in output


@pytest.mark.long
def test_a_worker_that_is_lost_is_an_error(database_url: str, conn: psycopg.Connection) -> None:
    with demo("--url", database_url, "--flights", "3000", "--seconds", "30") as process:
        until_loaded(process)
        # the first is the demo's own: it was there before it started its workers
        sessions = (
            "select pid from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and backend_type = 'client backend' order by backend_start"
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(pids := conn.execute(sessions).fetchall()) < 4:
            assert time.monotonic() < deadline, "the workers don't come"
            time.sleep(0.02)
        assert conn.execute("select pg_terminate_backend(%s)", pids[-1]).fetchone() == (True,)
        output = finish(process)
    assert process.returncode == 3, output
    assert re.search(r"^pyqueue demo: pyqueue-demo-(depart|drain)-\d: ", output, re.MULTILINE), output
    assert_nothing_left(conn)


def test_messages_of_others_are_left_alone(database_url: str, conn: psycopg.Connection) -> None:
    conn.execute("select queue_push(%s, 'mine', '1')", [DEPARTING])
    with demo("--url", database_url, "--flights", "1", "--seconds", "1") as process:
        output = finish(process)
    assert process.returncode == 3, output
    assert f"pyqueue drop {DEPARTING}" in output
    assert conn.execute(f"select p_key from delayed_queue where {KINDS}").fetchall() == [("mine",)]


@pytest.mark.long
def test_an_interrupted_run_takes_its_server_with_it() -> None:
    with demo("--flights", "3000", "--seconds", "30") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"PostgreSQL \S+ on 127\.0\.0\.1:\d+, data in (.+)$", line)
        assert found is not None, line
        until_loaded(process)
        os.killpg(process.pid, signal.SIGINT)
        output = finish(process)
    assert process.returncode == 130, output
    assert not os.path.exists(found[1])
