"""A place in memory for what throw-away servers keep: most of a short test is files that come and go."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path("/dev/shm")
MEMORY = Path("/proc/meminfo")
ROOM = 8 * 2**30
"""Bytes; all servers of two processes have been seen to keep 3 GB."""


@contextmanager
def in_memory() -> Iterator[None]:
    """Have the servers that are started within it keep their data in memory, where there is room (Linux).

    Where TMPDIR names a folder it is that one.
    """
    if "TMPDIR" in os.environ or room() < ROOM:
        yield
        return
    os.environ["TMPDIR"] = str(FOLDER)
    tempfile.tempdir = None  # it is looked for once
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        tempfile.tempdir = None


def room() -> int:
    """Return how many bytes may be written there."""
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        available = int(lines["MemAvailable"].split()[0]) * 1024
        return min(available, shutil.disk_usage(FOLDER).free)
    except (OSError, KeyError):
        return 0
