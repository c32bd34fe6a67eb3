"""The load: pgbench with prepared statements, so that it is the server that is measured."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import servers
from pyqueue_sql.embedded.server import wheel_bin_dir

PAYLOAD = '{"i": 1, "n": 42, "to": "someone@example.org", "subject": "A message of ordinary size"}'
WARM = 3
"""Transactions of each session that don't count: a session's first calls make its plans."""
WARM_SECONDS, WARM_SECONDS_EACH = 0.2, 0.025
"""Seconds that don't count, and for each session: what is done once in twenty calls has plans of its own, and
128 sessions were seen to make theirs for 3 s on two cores."""


@dataclass(frozen=True)
class Load:
    """What pgbench did."""

    transactions: int
    """All of them."""
    tps: float
    """From when each session was warm until the first one ended."""
    latencies_ms: list[float]
    """Of the transactions in that time."""


def length(seconds: float, clients: int) -> int:
    """Return the seconds of a run that measures for so long: the rest is for the sessions to warm up."""
    return math.ceil(seconds + warming(clients))


def warming(clients: int) -> float:
    """Return the seconds in which so many sessions warm up."""
    return WARM_SECONDS + WARM_SECONDS_EACH * clients


def pgbench(
    url: str, script: str, *, clients: int, seconds: float = 1.0, calls: int | None = None, warm: int = WARM
) -> Load:
    """Run a script for so long once the sessions are warm, or so many times a client.

    `:payload` is a message's, `:client_id` the number of the client, from 0; `:n` and `:got` are 0 at first.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.sql").write_text(script)
        command = [str(wheel_bin_dir() / "pgbench"), "-n", "-M", "prepared", "-f", f"{folder}/script.sql"]
        command += ["-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1))]
        command += [
            "-D",
            f"payload={PAYLOAD}",
            "-D",
            "n=0",
            "-D",
            "got=0",
            "-l",
            "--log-prefix",
            f"{folder}/log",
        ]
        command += ["-t", str(calls)] if calls else ["-T", str(length(seconds, clients))]
        environment = {**os.environ, **servers.libpq(url)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            raise RuntimeError(f"pgbench: {done.stderr.strip()[-600:]}")
        lines = [line.split() for log in Path(folder).glob("log*") for line in log.read_text().splitlines()]
    return load(lines, min(warm, calls - 1)) if calls else load(lines, warm, warming(clients))


def load(lines: Sequence[Sequence[str]], warm: int, warm_seconds: float = 0.0) -> Load:
    """Return what the log says: client, number, µs that it took, script, second, µs of its end."""
    if not lines:
        return Load(0, 0.0, [])
    ends: dict[str, list[float]] = {}
    timed: list[tuple[float, float]] = []
    for client, _, took, _, second, us, *_ in lines:
        end = int(second) + int(us) / 1e6
        ends.setdefault(client, []).append(end)
        timed.append((end, int(took) / 1000))
    begin = max(sorted(of)[min(warm, len(of)) - 1] if warm else min(of) for of in ends.values())
    begin = max(begin, min(map(min, ends.values())) + warm_seconds)
    until = min(max(of) for of in ends.values())
    counted = [took for end, took in timed if begin < end <= until]
    if not counted:  # too few calls to leave any out
        begin, until = min(end - took / 1000 for end, took in timed), max(end for end, _ in timed)
        counted = [took for _, took in timed]
    return Load(len(timed), len(counted) / (until - begin), counted)
