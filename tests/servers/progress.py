"""What a long run says while it goes on: a line every so often, and each failure at once (`--progress`).

The line says how long it has been running, how many tests are done and have failed, what is running, and what
is left, by room: a folder of tests/ and the server.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import Any

import pytest

SECONDS = 10
SERVER = re.compile(r"\[(postgresql|mariadb|mysql)\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--progress", action="store_true", help="a line every ten seconds: what runs, what is left"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Report in this way where it was asked for; a process of pytest-xdist reports to the one that does."""
    if config.getoption("progress") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config))


def room(nodeid: str) -> str:
    """Return the folder of a test below tests/, and its server where its name says it."""
    server = SERVER.search(nodeid)
    folder = nodeid.partition("::")[0].split("/")[1:-1]
    return " ".join([*folder[:1], *([server[1]] if server else [])])


class Progress:
    """Counts what is done.

    Args:
        config: of the run.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = self._said = time.monotonic()
        self._left: Counter[str] = Counter()
        self._all = self._done = self._failed = 0
        self._running: dict[str, str] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take note of what there is to do, without -n."""
        if session.items:
            self._begin([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take note of what there is to do, with -n: each process says the same."""
        if not self._all:
            self._begin(ids)

    def _begin(self, ids: list[str]) -> None:
        self._all = len(ids)
        self._left = Counter(map(room, ids))
        self._say()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Have no point or letter for a test."""
        if report.when in ("setup", "teardown") and report.passed:
            return "", "", ""
        word = report.outcome if report.when == "call" or report.skipped else "error"
        if hasattr(report, "wasxfail"):  # pytest asks each that is called skipped for its place
            word = "xfailed" if report.skipped else "xpassed"
        return word, "", ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note what is running."""
        self._running[nodeid] = room(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count, and tell of a failure at once."""
        if report.failed:
            self._failed += 1
            crash = getattr(report.longrepr, "reprcrash", None)
            why = (crash.message if crash else str(report.longrepr)).strip().split("\n")[0]
            self._write(f"{self._time()}  FAILED {report.nodeid}: {why[:200]}")
        if report.when == "teardown":
            self._running.pop(report.nodeid, None)
            self._done += 1
            self._left[room(report.nodeid)] -= 1
        if time.monotonic() - self._said >= SECONDS:
            self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        now = ", ".join(dict.fromkeys(self._running.values())) or "starting"
        left = ", ".join(f"{name} {count}" for name, count in self._left.items() if count > 0)
        failed = f", {self._failed} FAILED" if self._failed else ""
        self._write(
            f"{self._time()}  {self._done} of {self._all}{failed}; now {now}; left: {left or 'nothing'}"
        )

    def _time(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return f"{minutes}:{seconds:02}"

    def _write(self, line: str) -> None:
        reporter: Any = self._config.pluginmanager.getplugin("terminalreporter")
        reporter.ensure_newline()
        reporter.write_line(line)
