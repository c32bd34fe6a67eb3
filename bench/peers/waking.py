"""From the push to the start of the handler, in a worker that waits: median and p99, beside the peers.

One message after another, each when the worker is idle again, 100 to 200 ms after the one before. Worker and
producer are one process with connections of their own, as each queue's users run them: with LISTEN where
there is one.
"""

from __future__ import annotations

import statistics

from bench import servers
from bench.peers import processes
from bench.peers.jobs import there
from bench.run import Run

NAME = "waking"
PUSHES = (40, 300)
LONGEST_MS = 60
"""On MariaDB and MySQL, p99."""


def run(run: Run) -> None:
    """Measure ours, and on PostgreSQL each peer beside it."""
    ours = processes.python("worker")
    if servers.name_of(run.url) != "postgresql":
        found = [measure(run, ours) for _ in range(run.repetitions)]
        name = "push to start of the handler"
        run.limit(f"{name}, p99", [p99(one) for one in found], LONGEST_MS, unit="ms")
        run.limit(f"{name}, median", [statistics.median(one) for one in found], LONGEST_MS, unit="ms")
        return
    for peer, program in there(run):
        turns = [(measure(run, ours), measure(run, program)) for _ in range(run.repetitions)]
        for what, of in (("median", statistics.median), ("p99", p99)):
            run.keep(
                f"push to start of the handler, {what}",
                [of(one) for one, _ in turns],
                [of(other) for _, other in turns],
                other_name=peer.name,
                unit="ms",
                target=1.0,
                less_is_better=True,
            )


def measure(run: Run, program: processes.Program) -> list[float]:
    """Return the milliseconds of each push, in a database of its own."""
    with servers.database(run.url, run.settings) as url:
        found = processes.numbers(program, url, "latency", PUSHES[0 if run.quick else 1])
    return [seconds * 1000 for seconds in found]


def p99(values: list[float]) -> float:
    """Return what one in a hundred is above."""
    return statistics.quantiles(values, n=100)[98]
