"""Drivers of Spark for tests/faults/spark_rounds.py: started once, told what to run, struck."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import pyspark

from tests.servers.favour import favoured

ROOT: Final = Path(__file__).parents[2]
PATIENCE_SECONDS: Final = 400.0
"""A Spark that shares two cores with other things has been seen to take a minute to start."""


class Driver:
    """A process with a Spark session.

    Args:
        master: Spark's, a local one.
        folder: for its log, and what Spark puts where it is installed.
    """

    def __init__(self, master: str, folder: Path) -> None:
        self.log = folder / "log"
        self._numbers = itertools.count()
        self._answer = folder
        home = folder / "spark"  # executors write beside Spark's programs
        home.mkdir()
        for one in Path(pyspark.__path__[0]).iterdir():
            (home / one.name).symlink_to(one)
        with self.log.open("wb") as log, favoured():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.spark_driver", master],
                cwd=ROOT,
                env=os.environ | {"SPARK_HOME": str(home), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                text=True,
            )

    def begin(self, given: dict[str, Any]) -> None:
        """Run a query."""
        assert self._process.stdin is not None
        self._answer = Path(given["folder"], f"answer{next(self._numbers)}")
        print(json.dumps(given | {"answer": str(self._answer)}), file=self._process.stdin, flush=True)

    @property
    def there(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def said(self) -> str | None:
        """Return how the query ended; None: it hasn't."""
        if self._answer.exists():
            return self._answer.read_text()
        return None if self.there else "died"

    def wait(self) -> str:
        """Return how the query ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (said := self.said()) is None:
            assert time.monotonic() < deadline, "the query doesn't end"
            time.sleep(0.05)
        return said

    def kill(self) -> None:
        """Kill it and its Java; those who keep its holds live on, and give them back."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_all(self) -> None:
        """Kill it and all that it has started, as a machine that is gone does."""
        # from the top, so that nobody starts another for one that has gone
        for pid in [self._process.pid, *descendants(self._process.pid)]:
            kill(pid)
        self._process.wait()

    def kill_one(self, chance: Random, text: str) -> str:
        """Kill one of the processes that it has started with this in their commands, and say which."""
        found = {pid: said for pid in descendants(self._process.pid) if text in (said := command(pid))}
        if not found:
            return "(none was there)"
        chosen = chance.choice(sorted(found))
        kill(chosen)
        return re.findall(r"[.\w]*(?:pyspark|Backend)[.\w]*", found[chosen])[-1].rpartition(".")[2]

    def close(self) -> None:
        """End it."""
        if self.there:
            self.kill_all()


def kill(pid: int) -> None:
    """Kill a process, unless it has gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def command(pid: int) -> str:
    """Return the command of a process, empty where it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    children: dict[int, list[int]] = {}
    for one in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(one.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(one.parent.name))
    found = children.get(pid, [])
    for one in found:  # it grows meanwhile
        found += children.get(one, [])
    return found


class Drivers:
    """Drivers that live from one round to the next, unless they are killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._drivers: dict[str, Driver] = {}
        self._numbers = itertools.count()

    def get(self, master: str) -> Driver:
        """Return one with this master."""
        if master not in self._drivers or not self._drivers[master].there:
            folder = self._folder / str(next(self._numbers))
            folder.mkdir()
            self._drivers[master] = Driver(master, folder)
        return self._drivers[master]

    def close(self) -> None:
        """End them."""
        for one in self._drivers.values():
            one.close()
        self._drivers.clear()


@contextmanager
def some_drivers() -> Iterator[Drivers]:
    """Give drivers, ended at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        drivers = Drivers(Path(folder))
        try:
            yield drivers
        finally:
            drivers.close()
