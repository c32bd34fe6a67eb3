"""What fifty workers cost that wait for nothing: statements a second, and the server's share of a core.

All are in one process, each with the connections of a worker of its own.
"""

from __future__ import annotations

import time
from pathlib import Path

from bench import servers
from bench.peers import cpu, processes
from bench.run import Run

NAME = "idle"
ONCE = True
WORKERS = 50
SECONDS = (20, 120)
MOST_STATEMENTS = 10
"""A second, of all together."""
MOST_PERCENT = {"postgresql": 2, "mariadb": 4, "mysql": 4}
STATUS = "select s.variable_value from {}.global_status s where s.variable_name = 'Questions'"
STATEMENTS = {
    "postgresql": "select d.xact_commit + d.xact_rollback from pg_stat_database d"
    " where d.datname = current_database()",
    "mariadb": STATUS.format("information_schema"),
    "mysql": STATUS.format("performance_schema"),
}


def run(run: Run) -> None:
    """Measure once: what is counted is long enough to be even."""
    seconds = SECONDS[0 if run.quick else 1]
    server = servers.name_of(run.url)
    program = processes.python("worker")
    with processes.released(program, run.url, "idle", [seconds], WORKERS) as (_, expect):
        before = statements(run.url, server), used(run.url, server)
        began = time.monotonic()
        expect(b"done")
        took = time.monotonic() - began
        after = statements(run.url, server), used(run.url, server)
    name = f"{WORKERS} idle workers"
    rate, percent = ((now - then) / took for then, now in zip(before, after, strict=True))
    run.limit(name, [rate], MOST_STATEMENTS, unit="statements/s", clients=WORKERS)
    run.limit(
        f"{name}: the server",
        [percent * 100],
        MOST_PERCENT[server],
        unit="% of a core",
        clients=WORKERS,
    )


def statements(url: str, server: str) -> float:
    """Return how many statements were run: on PostgreSQL transactions of this database, each of one.

    There autovacuum makes three or four a second in all databases of an idle server.
    """
    return float(servers.ask(url, STATEMENTS[server]))


def used(url: str, server: str) -> float:
    """Return the seconds of processor time that the server has used."""
    if server != "postgresql":
        return cpu.of_process(int(Path(servers.ask(url, "select @@pid_file")).read_text()))
    postmaster = cpu.postmaster(url)
    assert postmaster is not None
    return cpu.used(postmaster)
