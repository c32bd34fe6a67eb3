"""Bulk enqueue and no-op jobs end to end: PgQueuer, Procrastinate, graphile-worker, pg-boss.

A repetition is a fresh database: jobs are enqueued by the bulk call, 1,000 a call, which is one figure, and
then worked off by one worker process, which is the other. Timed from when the processes are connected until
everything is committed. Ours reserves and acks, 100 a call and again 1,000, and is our worker; a push of ours
checks a key for each message, which no peer does.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import servers
from bench.peers import node, processes
from bench.run import Run
from tests.clients import npm

NAME = "peers"

ENQUEUED = 1000
OURS = (100, 1000)
TARGETS = {"pg-boss": 1.0, "PgQueuer": 2.5}
"""Of our worker beside the fastest, and the fastest in Python."""


@dataclass(frozen=True)
class Peer:
    """How a peer is run."""

    name: str
    package: str
    """In Python what has to be importable; empty: it comes from npm."""
    program: Callable[[], processes.Program]
    at_once: int
    """The clients' last argument."""
    jobs: tuple[int, int]
    """How many: quick, else."""
    note: str


MANY = (20_000, 100_000)
PEERS = (
    Peer(
        "PgQueuer",
        "pgqueuer",
        lambda: processes.python("with_pgqueuer"),
        500,
        MANY,
        "asyncpg, uvloop, its autovacuum settings, batch_size 500: the fastest of 10, 50, 100, 500 and 1,000",
    ),
    Peer(
        "Procrastinate",
        "procrastinate",
        lambda: processes.python("with_procrastinate"),
        10,
        (1000, 5000),
        "asynchronous tasks, jobs deleted, concurrency 10: more wasn't faster",
    ),
    Peer(
        "graphile-worker",
        "",
        lambda: node.program("graphile-worker"),
        500,
        MANY,
        "as its page on performance: 24 jobs at once, local queue of 500, completions in batches",
    ),
    Peer(
        "pg-boss",
        "",
        lambda: node.program("pg-boss"),
        1000,
        MANY,
        "4 workers, burstWhenBatchFull, batchSize 1,000: the fastest of 100, 500, 1,000 and 2,000",
    ),
)


def there(run: Run) -> Iterator[tuple[Peer, processes.Program]]:
    """Give the peers that are there, with their programs."""
    for peer in PEERS:
        if peer.package and importlib.util.find_spec(peer.package) is None:
            run.leave_out(peer.name, f"pip install {peer.package}")
            continue
        try:
            yield peer, peer.program()
        except npm.MissingError as error:
            run.leave_out(peer.name, str(error))


def run(run: Run) -> None:
    """Measure each peer that is there."""
    for peer, program in there(run):
        compare(run, peer, program)


def compare(run: Run, peer: Peer, program: processes.Program) -> None:
    """Measure ours with both sizes, our worker, and the peer, in turns."""
    jobs = peer.jobs[0 if run.quick else 1]
    ours, worker = processes.python("pyqueue"), processes.python("worker")
    enqueued: tuple[list[float], list[float]] = ([], [])
    worked: dict[int, list[float]] = {size: [] for size in (*OURS, 0)}
    by_worker: list[float] = []
    for _ in range(run.repetitions):
        for size in OURS:
            with servers.database(run.url, run.settings) as url:
                enqueued[0].append(jobs / processes.seconds(ours, url, "push", [jobs], ENQUEUED))
                worked[size].append(jobs / processes.seconds(ours, url, "reserve", [jobs], size))
        with servers.database(run.url, run.settings) as url:
            processes.seconds(ours, url, "push", [jobs], ENQUEUED)
            by_worker.append(jobs / processes.seconds(worker, url, "work", [jobs]))
        with servers.database(run.url, run.settings) as url:
            processes.seconds(program, url, "install", [0])
            enqueued[1].append(jobs / processes.seconds(program, url, "enqueue", [jobs], ENQUEUED))
            worked[0].append(jobs / processes.seconds(program, url, "work", [jobs], peer.at_once))
    keep(run, peer, "bulk enqueue, 1,000 a call", *enqueued)
    for size in OURS:
        keep(run, peer, f"no-op jobs, {size:,} a call", worked[size], worked[0])
    keep(run, peer, "no-op jobs, our worker", by_worker, worked[0], TARGETS.get(peer.name))


def keep(
    run: Run, peer: Peer, name: str, ours: list[float], theirs: list[float], target: float | None = None
) -> None:
    """Keep a figure."""
    run.keep(name, ours, theirs, other_name=peer.name, unit="jobs/s", note=peer.note, target=target)
