"""The command `pyqueue pipeline`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from bench.spark.sessions import cluster
from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.cli import main
from pyqueue_sql.cli.pipeline import stopping
from tests.sample import LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PROGRAM = """
from pyqueue_sql.spark.pipeline import Pipeline, Station

nothing = 1

def same(messages):
    return messages

pipeline = Pipeline("app", [Station("in", same, to=("out",))])
"""


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an application, the current one."""
    (tmp_path / "an_application.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "an_application", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_module:pipeline", "no_such_module"),
        ("an_application:other", "other"),
        ("an_application", "an_application"),
        ("an_application:nothing", "is no Pipeline"),
    ],
)
@pytest.mark.usefixtures("application")
def test_what_is_no_pipeline_is_wrong_usage(target: str, message: str) -> None:
    done = CliRunner().invoke(main, ["pipeline", target, "--url", "postgresql://localhost/app"])
    assert done.exit_code == 2
    assert message in done.output


def test_a_pipeline_is_stopped_by_a_signal_as_by_an_interrupt_and_nothing_else_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stopping():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_without_java_the_command_says_what_to_install(
    application: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(application))
    done = CliRunner().invoke(
        main, ["pipeline", "an_application:pipeline", "--url", "postgresql://localhost/app"]
    )
    assert done.exit_code == 3
    assert "Java 17 or later" in done.output


@pytest.fixture(params=["one process", "a cluster of two workers"])
def master(
    request: pytest.FixtureRequest, application: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Where Spark runs: the master of a standalone cluster and its workers are processes of their own."""
    if request.param == "one process":
        yield "local[1]"
        return
    if not LARGE:
        pytest.skip("LEFT OUT, nothing was tested on a standalone cluster of Spark: make test-all has it")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(application), str(ROOT)]))
    with cluster(2) as url:
        yield url


@pytest.mark.long
@pytest.mark.slow
def test_a_pipeline_of_an_application_runs_until_nothing_is_ready(
    application: Path, database_url: str, master: str
) -> None:
    with connect(database_url) as connection:
        queue = Queue(connection)
        queue.push_many("in", [{"key": f"k{n}", "payload": n} for n in range(10)])
        command = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", "pipeline"]
        options = ["--url", database_url, "--master", master, "--once", "--conf", "spark.ui.enabled=false"]
        done = subprocess.run(
            [*command, "an_application:pipeline", *options],
            cwd=application,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert "app: in" in done.stderr
        assert sorted(one.payload for one in queue.pop("out", 100)) == list(range(10))
        assert queue.pop("in") == []
