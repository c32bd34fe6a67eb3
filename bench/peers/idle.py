"""What fifty workers cost that wait for nothing: statements a second, and the server's share of a core.

All are in one process, each with the connections of a worker of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from bench import servers
from bench.peers import cpu, processes
from bench.run import Run

NAME = "idle"
ONCE = True
WORKERS = 50
SECONDS = (20, 120)
WARM_SECONDS = 30
"""Until the sessions have told the server what they did as they began."""
MARGIN_SECONDS = 10
"""Until they end, which isn't counted either."""
MOST_STATEMENTS = 10
"""A second, of all together."""
MOST_PERCENT = {"postgresql": 2, "mariadb": 4, "mysql": 4}
STATUS = "select s.variable_value from {}.global_status s where s.variable_name = 'Questions'"
STATEMENTS = {
    "postgresql": "select coalesce(sum(f.calls), 0) from pg_stat_user_functions f"
    r" where f.funcname like 'queue\_%' and f.funcname <> 'queue_now'",
    "mariadb": STATUS.format("information_schema"),
    "mysql": STATUS.format("performance_schema"),
}


def run(run: Run) -> None:
    """Measure once: what is counted is long enough to be even. What the server does alone is taken off."""
    seconds = SECONDS[0 if run.quick else 1]
    server = servers.name_of(run.url)
    if server == "postgresql":
        servers.apply(run.url, {"track_functions": "pl"})
    alone = spent(run.url, server, lambda: time.sleep(seconds / 2))
    arguments = [WARM_SECONDS + seconds + MARGIN_SECONDS]
    with processes.released(processes.python("worker"), run.url, "idle", arguments, WORKERS) as (_, expect):
        time.sleep(WARM_SECONDS)
        busy = spent(run.url, server, lambda: time.sleep(seconds))
        expect(b"done")
    name = f"{WORKERS} idle workers"
    for what, most, unit, own, found in (
        (name, MOST_STATEMENTS, "statements/s", alone[0], busy[0]),
        (f"{name}: the server", MOST_PERCENT[server], "% of a core", alone[1] * 100, busy[1] * 100),
    ):
        note = f"{found:.2f}, of which the server without workers {own:.2f}"
        run.limit(what, [found - own], most, unit=unit, clients=WORKERS, note=note)


def spent(url: str, server: str, wait: Callable[[], object]) -> tuple[float, float]:
    """Return the statements and the seconds of the processor in each second of a wait."""
    before = statements(url, server), used(url, server)
    began = time.monotonic()
    wait()
    took = time.monotonic() - began
    return (statements(url, server) - before[0]) / took, (used(url, server) - before[1]) / took


def statements(url: str, server: str) -> float:
    """Return how many statements were run; on PostgreSQL calls of routines, which autovacuum has none of."""
    return float(servers.ask(url, STATEMENTS[server]))


def used(url: str, server: str) -> float:
    """Return the seconds of processor time that the server has used."""
    if server != "postgresql":
        return cpu.of_process(int(Path(servers.ask(url, "select @@pid_file")).read_text()))
    postmaster = cpu.postmaster(url)
    assert postmaster is not None
    return cpu.used(postmaster)
