"""A disk that is full, while processes work on the queue that is on it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyqueue_sql.calls.connect import ConnectionFailed
from tests.concurrency import crew
from tests.concurrency.crew import Crew, Outcome
from tests.conformance.harness import open_harness
from tests.faults.alone import said, undocumented
from tests.faults.promise import Size
from tests.faults.restarts import Restartable, database_of, name_of, restartable
from tests.servers.starting import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

MEGABYTE: Final = 1 << 20
SIZE_MB: Final = 768
LEFT_BYTES: Final = 24 * MEGABYTE
"""What pushes are to fill by themselves."""
BALLAST_BYTES: Final = 1 << 18
HUNG_SECONDS: Final = 10.0
"""After so long without an answer a push waits for room: MariaDB and MySQL look for it once a minute."""
FULL_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 120.0
SETTINGS: Final = {
    "postgresql": ("max_wal_size=64MB", "min_wal_size=32MB"),
    "mariadb": ("--innodb-log-file-size=16M",),
    "mysql": (
        "--innodb-redo-log-capacity=16M",
        "--max-binlog-size=1M",
        "--binlog-expire-logs-seconds=1",
    ),
}
"""All that takes room, so that it doesn't take all of it by itself."""
LOST: Final = "connection lost"
FATES: Final = ("went on by itself", "ended by itself, and went on after its start")


class Disk:
    """A small file system.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fill(self, left: int = 0) -> None:
        """Leave so many bytes, or none."""
        block = bytes(MEGABYTE)
        with open(self._folder / "taken", "ab", buffering=0) as taken, contextlib.suppress(OSError):
            while (free := shutil.disk_usage(self._folder).free - left) > 0:
                if not taken.write(block[: min(free, MEGABYTE)]):
                    raise OSError(errno.ENOSPC, "full")

    def free(self) -> None:
        """Give back what was taken."""
        (self._folder / "taken").unlink(missing_ok=True)


@contextmanager
def small_disk() -> Iterator[Path]:
    """Give the folder of a file system of our own, in memory.

    Raises:
        UnavailableError: this user may not mount one.
    """
    folder = Path(tempfile.mkdtemp(prefix="pyqueue-disk-"))
    try:
        options = f"size={SIZE_MB}m,mode=1777"
        command = ["mount", "-t", "tmpfs", "-o", options, "pyqueue", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            done = subprocess.CompletedProcess(command, 1, "", f"mount: {error.strerror}")
        if done.returncode != 0:
            refused = (done.stderr.strip().splitlines() or ["no reason given"])[-1].strip()
            raise UnavailableError(
                f"it needs a small file system of its own, which only root can mount ({refused}):"
                " sudo .venv/bin/python -m tests.faults --only 'disk full'"
            )
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
    finally:
        folder.rmdir()


class Ballast:
    """Pushes that fill the disk, until one of them has no success.

    Args:
        url: of the database.
    """

    def __init__(self, url: str) -> None:
        self.created, self.unsure, self.codes = 0, 0, Counter[str]()
        self.enough = False
        self._url = url

    def push(self) -> None:
        """Push until one is refused, or its connection is lost, or it is enough."""
        harness = open_harness(self._url)
        try:
            session = harness.connect()
            while not self.enough:
                session.push_bytes("ballast", None, os.urandom(BALLAST_BYTES))
                self.created += 1
        except Exception as error:
            code = harness.refusal(error)
            self.codes[code or LOST] += 1
            self.unsure += not code
        finally:
            harness.close()

    def purge(self) -> int:
        """Remove all of it, and return how many there were; raises what the server says of it."""
        harness = open_harness(self._url)
        try:
            return harness.connect().purge("ballast")
        finally:
            harness.close()


def disk_full(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """The disk with data and logs is filled by pushes under load and freed, half the time after a kill."""
    name = name_of(url)
    wrong, went_on = Counter[str](), Counter[str]()
    codes = Counter[str]()

    with small_disk() as place, restartable(name, place, SETTINGS[name]) as server:
        disk, own = Disk(place), database_of(server, "faults_disk_full")

        def strike(_: Crew) -> int:
            ballast = Ballast(own)
            server.guard()
            disk.fill(LEFT_BYTES)
            pushing = threading.Thread(target=ballast.push)
            pushing.start()
            pushing.join(HUNG_SECONDS)
            disk.fill()
            # MySQL is the first to be killed: left alone it takes a minute
            killed = went_on.total() % 2 == (name != "mysql")
            if killed:
                server.kill()
            time.sleep(FULL_SECONDS)
            disk.free()
            ended = server.revive()
            ballast.enough = True
            pushing.join(PATIENCE_SECONDS)
            there = until_it_goes_on(ballast)
            went_on["killed, and started again" if killed else FATES[ended]] += 1
            codes.update(ballast.codes)
            if not ballast.created <= there <= ballast.created + ballast.unsure:
                wrong[f"{ballast.created} pushes, {ballast.unsure} of unknown end, and {there} there"] += 1
            return 1

        found = crew.run(
            own,
            folder,
            strike,
            messages=size.messages,
            seed=seed,
            least=size.faults,
            meets=False,
            refusals=True,
        )
    codes += found.refused
    wrong += undocumented(codes, LOST)
    notes = [f"{how}: {often}" for how, often in went_on.items()]
    notes += [f"refused, {code}: {often}" for code, often in sorted(codes.items())]
    return replace(found, violations=found.violations + said(wrong), notes=notes)


def until_it_goes_on(ballast: Ballast) -> int:
    """Wait until what filled the disk can be removed; returns how much that was."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ballast.purge()
        except Exception as error:
            if time.monotonic() > deadline:
                raise
            if not isinstance(error, ConnectionFailed):
                time.sleep(0.1)
        time.sleep(0.1)
