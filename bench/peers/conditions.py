"""Each queue's no-op jobs a second: fresh, under an open snapshot, and behind many delayed jobs.

Each queue's worker does nothing with a job, as in the case `peers`. pgmq has no worker: it reads and
deletes 100 messages a call, beside which ours reserves and acks as many. For each condition each has a
database of its own on the same server. Under the snapshot, which stays open, it works off many jobs
before those that are timed. Where it is slow, these and those that are delayed are a tenth.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg

from bench import servers
from bench.figure import Bars
from bench.peers import jobs, processes
from bench.postgresql.snapshot import held
from bench.run import Run

NAME = "conditions"
ONCE = True

TIMED = 5_000
SLOW_TIMED = 1_000
PROCESSED = 50_000
QUICK_PROCESSED = 10_000
DELAYED = 1_000_000
QUICK_DELAYED = 50_000
STEP = 10_000
SLOW = {"Procrastinate"}
"""Those that work off some hundred jobs a second when nothing is wrong."""
WORKER, CALLS = "pyqueue, worker", "pyqueue, calls"
"""What ours are called."""


@dataclass(frozen=True)
class Queue:
    """How a queue is filled and worked off."""

    name: str
    filler: processes.Program
    push: str
    """What its filler calls a push."""
    worker: processes.Program
    rest: tuple[int, ...]
    """What its worker is told beside the number of jobs."""
    work: str = "work"
    """What its worker calls that."""
    beside: str = WORKER
    """Which of ours it is compared with; empty: it is one of them."""

    def fill(self, url: str, count: int) -> None:
        """Put so many jobs in."""
        processes.seconds(self.filler, url, self.push, [count], jobs.ENQUEUED)

    def rate(self, url: str, count: int) -> float:
        """Put so many jobs in, and return how many of them a second are worked off."""
        self.fill(url, count)
        return count / processes.seconds(self.worker, url, self.work, [count], *self.rest)

    def process(self, url: str, count: int) -> None:
        """Put so many jobs in and work them off."""
        for start in range(0, count, STEP):
            self.rate(url, min(STEP, count - start))

    def timed(self) -> int:
        """Return how many jobs are timed."""
        return SLOW_TIMED if self.name in SLOW else TIMED


def queues(run: Run) -> Iterator[Queue]:
    """Give the queues that are there, ours first."""
    ours = processes.python("pyqueue")
    yield Queue(WORKER, ours, "push", processes.python("worker"), (), beside="")
    yield Queue(CALLS, ours, "push", ours, (100,), "reserve", beside="")
    if importlib.util.find_spec("pgmq"):
        pgmq = processes.python("with_pgmq")
        yield Queue("pgmq", pgmq, "enqueue", pgmq, (100,), beside=CALLS)
    else:
        run.leave_out("pgmq", "pip install pgmq")
    for peer, program in jobs.there(run):
        yield Queue(peer.name, program, "enqueue", program, (peer.at_once,))


def run(run: Run) -> None:
    """Measure all of them, one after the other in each round, and draw the medians."""
    delayed = QUICK_DELAYED if run.quick else DELAYED
    processed = QUICK_PROCESSED if run.quick else PROCESSED
    conditions: dict[str, Callable[[Queue, str], float]] = {
        "fresh": lambda queue, url: queue.rate(url, queue.timed()),
        f"a snapshot open, {processed:,} done": lambda queue, url: under_a_snapshot(queue, url, processed),
        f"{delayed:,} delayed": lambda queue, url: behind_delayed(queue, url, delayed),
    }
    there = list(queues(run))
    bars: dict[str, dict[str, float]] = {}
    for name, measure in conditions.items():
        turns = run.turns([_measured(run, queue, measure) for queue in there])
        values = dict(zip((queue.name for queue in there), turns, strict=True))
        bars[name] = {side: statistics.median(found) for side, found in values.items()}
        for queue in there:
            if queue.beside:
                run.keep(
                    f"no-op jobs, {name}",
                    values[queue.beside],
                    values[queue.name],
                    our_name=queue.beside,
                    other_name=queue.name,
                    unit="jobs/s",
                )
    run.draw(Bars("No-op jobs a second, one worker", "jobs/s", bars))


def _measured(run: Run, queue: Queue, measure: Callable[[Queue, str], float]) -> Callable[[], float]:
    def once() -> float:
        with servers.database(run.url, run.settings) as url:
            processes.seconds(queue.filler, url, "install", [0])
            queue.rate(url, 1000)  # what is made at the first call is made
            return measure(queue, url)

    return once


def under_a_snapshot(queue: Queue, url: str, processed: int) -> float:
    """Return the rate after so many jobs under a snapshot that stays open."""
    with held(url):
        queue.process(url, processed // 10 if queue.name in SLOW else processed)
        return queue.rate(url, queue.timed())


def behind_delayed(queue: Queue, url: str, delayed: int) -> float:
    """Return the rate while so many jobs wait for their time."""
    many = delayed // 10 if queue.name in SLOW else delayed
    processes.seconds(queue.filler, url, "delay", [many], jobs.ENQUEUED)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    return queue.rate(url, queue.timed())
