"""The command `pyqueue worker` as a process: signals and deaths."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Message
from pyqueue_sql.worker import Handlers, Worker
from tests.worker.helpers import PATIENCE_SECONDS, Running, until

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", "worker"]
APPLICATION = """
import os, time
from pyqueue_sql.worker import Handlers

handlers = Handlers()

@handlers.on("slow")
def slow(message):
    time.sleep(message.payload)

@handlers.on("quick")
def quick(message):
    pass

@handlers.on("deadly")
def deadly(message):
    if message.attempts == 1:
        os.kill(os.getpid(), 9)
"""


@contextmanager
def worker(
    folder: Path, url: str, *arguments: str, before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a process group of its own, and end it where the test doesn't.

    Args:
        folder: where the application is put.
        url: of the database.
        *arguments: of the command, after the module.
        before: what runs it.
    """
    (folder / "application.py").write_text(APPLICATION)
    process = subprocess.Popen(
        [*before, *COMMAND, "application", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYQUEUE_URL": url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        print(process.communicate()[0])  # what a test that fails shows


def held(queue: Session) -> int:
    return sum(one.reserved for one in queue.stats("slow"))


def test_a_signal_lets_handlers_end(harness: Harness, queue: Session, tmp_path: Path) -> None:
    queue.push("slow", "a", 1.5)
    with worker(tmp_path, harness.url, "--log-format", "json", "--log-level", "debug") as process:
        until(lambda: held(queue) == 1)
        process.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in process.communicate(timeout=PATIENCE_SECONDS)[0].splitlines()]
    assert process.returncode == 0, lines
    assert queue.stats("slow")[0].acked_total == 1
    acked = next(line for line in lines if line["message"] == "acked")
    assert {name: acked[name] for name in ("kind", "key", "attempt", "outcome")} == {
        "kind": "slow", "key": "a", "attempt": 1, "outcome": "acked",
    }  # fmt: skip
    assert acked["seconds"] > 1
    assert "payload" not in acked


def test_a_second_signal_gives_back_what_is_held(harness: Harness, queue: Session, tmp_path: Path) -> None:
    queue.push("slow", "a", 3600)
    with worker(tmp_path, harness.url) as process:
        until(lambda: held(queue) == 1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output
    message = queue.get("slow", "a")
    assert message is not None
    assert (message.state, message.attempts) == ("ready", 0)


def test_what_a_killed_worker_held_is_free_at_once(harness: Harness, queue: Session, tmp_path: Path) -> None:
    queue.push_many("slow", [{"key": str(number), "payload": 3600} for number in range(100)])
    handlers, seen = Handlers(), list[str]()

    @handlers.on("quick")
    def quick(message: Message) -> None:
        seen.append(message.key)

    other = Running(Worker(harness.url, handlers))
    try:
        with worker(tmp_path, harness.url, "--concurrency", "100") as process:
            until(lambda: held(queue) == 100)
            assert all(one.by_session for one in queue.workers())
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            # by its session, long before its heartbeat or the holds are over
            until(lambda: held(queue) == 0, 18)
        assert queue.stats("slow")[0].ready == 100
        assert len(queue.workers()) == 1
    finally:
        other.stop()
        other.join()


@pytest.mark.servers("postgresql")
def test_a_process_that_dies_is_started_again(harness: Harness, queue: Session, tmp_path: Path) -> None:
    with worker(tmp_path, harness.url, "--processes", "2") as process:
        until(lambda: len(queue.workers()) == 2)
        queue.push("deadly", "a")
        until(lambda: queue.stats("deadly")[0].acked_total == 1)
        until(lambda: len(queue.workers()) == 2)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them, but once
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output
    assert "another one will be started" in output
    assert queue.workers() == []


@pytest.mark.long
@pytest.mark.servers("postgresql")
def test_a_process_that_somebody_else_stops_is_started_again(
    harness: Harness, queue: Session, tmp_path: Path
) -> None:
    with worker(tmp_path, harness.url, "--processes", "2") as process:
        first, second = until(lambda: len(found := queue.workers()) == 2 and found)
        assert first.info is not None
        os.kill(first.info["pid"], signal.SIGTERM)
        until(lambda: len({one.worker for one in queue.workers()} - {first.worker, second.worker}) == 1)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output
    assert output.count("another one will be started") == 1
    assert "status=143" in output


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("again", [False, pytest.param(True, marks=pytest.mark.long)], ids=["once", "twice"])
def test_what_ends_a_service_may_tell_each_process(
    harness: Harness, queue: Session, tmp_path: Path, again: bool
) -> None:
    queue.push("slow", "a", 3600 if again else 2)
    with worker(tmp_path, harness.url, "--processes", "2") as process:
        until(lambda: len(queue.workers()) == 2 and held(queue) == 1)
        os.killpg(process.pid, signal.SIGTERM)  # as systemd does, unless its KillMode says otherwise
        if again:
            time.sleep(0.3)
            assert held(queue) == 1
            process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output
    if again:
        message = queue.get("slow", "a")
        assert message is not None
        assert (message.state, message.attempts) == ("ready", 0)
    else:
        assert queue.stats("slow")[0].acked_total == 1


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("processes", [pytest.param("1", marks=pytest.mark.long), "2"])
def test_the_end_of_its_terminal_lets_handlers_end(
    harness: Harness, queue: Session, tmp_path: Path, processes: str
) -> None:
    queue.push("slow", "a", 1.5)
    with worker(tmp_path, harness.url, "--processes", processes) as process:
        until(lambda: len(queue.workers()) == int(processes) and held(queue) == 1)
        os.killpg(process.pid, signal.SIGHUP)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output
    assert queue.stats("slow")[0].acked_total == 1


@pytest.mark.servers("postgresql")
def test_in_the_background_of_a_script_an_interrupt_ends_it(
    harness: Harness, queue: Session, tmp_path: Path
) -> None:
    ignores = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as a shell without job control has it
    with worker(tmp_path, harness.url, before=ignores) as process:
        until(lambda: len(queue.workers()) == 1)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output


@pytest.mark.servers("postgresql")
def test_under_nohup_it_goes_on(harness: Harness, queue: Session, tmp_path: Path) -> None:
    with worker(tmp_path, harness.url, before=["nohup"]) as process:
        until(lambda: len(queue.workers()) == 1)
        process.send_signal(signal.SIGHUP)
        queue.push("quick", "a", None)
        until(lambda: queue.stats("quick")[0].acked_total == 1)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert process.returncode == 0, output


@pytest.mark.servers("postgresql")
def test_processes_end_with_the_one_that_started_them(
    harness: Harness, queue: Session, tmp_path: Path
) -> None:
    with worker(tmp_path, harness.url, "--processes", "2", "--name", "app") as process:
        names = until(lambda: len(found := queue.workers()) == 2 and [one.worker for one in found])
        assert sorted(name[:6] for name in names) == ["app-1-", "app-2-"]
        process.kill()
        until(lambda: queue.workers() == [])


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_processes_drain(harness: Harness, queue: Session, tmp_path: Path) -> None:
    queue.push_many("quick", [{"key": str(number), "payload": None} for number in range(500)])
    with worker(tmp_path, harness.url, "--processes", "2", "--drain", "--kind", "quick") as process:
        output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output
    assert queue.stats("quick")[0].acked_total == 500


@pytest.mark.servers("postgresql")
def test_wrong_usage_and_no_connection_end_at_once(harness: Harness, tmp_path: Path) -> None:
    for url, arguments, status in (
        (harness.url, ("--kind", "nobody"), 2),
        ("postgresql://nobody:secret@127.0.0.1:1/none", (), 4),
        (harness.url.rpartition("/")[0] + "/template1", (), 3),
    ):
        with worker(tmp_path, url, *arguments) as process:
            output = process.communicate(timeout=PATIENCE_SECONDS)[0]
        assert process.returncode == status, output
        assert "Traceback" not in output
        assert "secret" not in output


@pytest.mark.servers("postgresql")
def test_a_process_that_fails_says_why_in_its_log(harness: Harness, tmp_path: Path) -> None:  # noqa: ARG001
    nowhere = "postgresql://ann:hidden@127.0.0.1:1/none"
    said: list[dict[str, object]] = []
    with worker(tmp_path, nowhere, "--processes", "2", "--log-format", "json") as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(json.loads(line))  # and so each line is a record
            if "a process died" in line:
                break
    [why, *_] = [one["message"] for one in said if one["level"] == "error"]
    assert "connection refused" in str(why).lower()
    assert "hidden" not in str(said)


@pytest.mark.servers("postgresql")
def test_wrong_usage_under_reload_is_a_line(harness: Harness, tmp_path: Path) -> None:
    with worker(tmp_path, harness.url, "--reload", "--kind", "other") as process:
        assert process.stdout is not None
        seen = ""
        while "no handler" not in seen:
            seen += process.stdout.readline()
    assert "Invalid value for --kind: kind other has no handler" in seen
    assert "Traceback" not in seen


@pytest.mark.servers("postgresql")
def test_a_health_check_that_nobody_can_be_answered_at_ends_it_with_one_line(
    harness: Harness, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for where in (address, "no.host.invalid:80", f"{'x' * 70}:80"):
            with worker(tmp_path, harness.url, "--health", where) as process:
                output = process.communicate(timeout=PATIENCE_SECONDS)[0]
            assert process.returncode == 3, output
            assert output.startswith(f"Error: health '{where}': ")
            assert output.count("\n") == 1
