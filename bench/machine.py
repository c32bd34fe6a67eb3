"""The machine that a run had."""

from __future__ import annotations

import os
import platform
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

SYNCS = 50


def describe() -> dict[str, Any]:
    """Return what a reader needs to judge the figures."""
    return {
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": f"{platform.system()} {platform.release()}",
        "disk_fdatasync_ms": fdatasync_ms(),
    }


def cpu() -> str:
    """Return the model of the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def fdatasync_ms() -> float:
    """Return what waiting for the disk takes where temporary files are, as throw-away servers."""
    sync = getattr(os, "fdatasync", os.fsync)
    taken: list[float] = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(SYNCS):
            os.write(file.fileno(), b"x" * 8192)
            began = time.perf_counter()
            sync(file.fileno())
            taken.append(time.perf_counter() - began)
    return round(statistics.median(taken) * 1000, 3)
