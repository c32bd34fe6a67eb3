"""What a server on this machine has used of the processor: the work of others doesn't show in it."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg

TICKS = os.sysconf("SC_CLK_TCK")


def postmaster(url: str) -> int | None:
    """Return the process id of PostgreSQL's first process; None where the server isn't on this machine."""
    with psycopg.connect(url) as connection:
        backend = connection.info.backend_pid
        found = _stat(backend) if connection.info.hostaddr.startswith("127.") else None
        return found[1] if found and found[0] == "postgres" else None


def used(postmaster: int) -> float:
    """Return the seconds of PostgreSQL's processes, those that have ended included."""
    own = _stat(postmaster)
    ticks = sum(own[2]) if own else 0
    for entry in Path("/proc").iterdir():
        found = _stat(int(entry.name)) if entry.name.isdigit() else None
        if found and found[1] == postmaster:
            ticks += sum(found[2][:2])
    return ticks / TICKS


def of_process(process: int) -> float:
    """Return the seconds of one process, its threads included."""
    found = _stat(process)
    return sum(found[2][:2]) / TICKS if found else 0.0


def _stat(process: int) -> tuple[str, int, list[int]] | None:
    """Return a process's name, its parent, and its ticks: user, system, both of children that have ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    before, _, after = text.rpartition(")")
    fields = after.split()
    return before.partition("(")[2], int(fields[1]), [int(field) for field in fields[11:15]]
