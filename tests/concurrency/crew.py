"""Processes that work on a queue while something befalls them or the server; what their history comes to."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tests.concurrency import worker
from tests.concurrency.checker import Checker
from tests.concurrency.history import Recorder, read
from tests.conformance.harness import open_harness
from tests.sample import chance_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from multiprocessing.context import ForkServerProcess


RATE = 800
"""Messages pushed a second, so that what befalls them meets work in every state."""
WORKERS: Final = 8
KINDS = ("in", "out", "in.dead", "out.dead")
PAUSE_SECONDS = 0.5
"""Between two strikes."""
PRELOADED = [worker.__name__, "tests.conformance.on_postgresql", "tests.conformance.on_mysql"]
"""What a process needn't load when it starts, so that it works before it dies."""
STOPPED_SECONDS = 1.5
"""How long a process stands still: longer than any of its holds."""

Target: TypeAlias = "Callable[[str, str, str, int], None]"
"""What a process does: the URL, the file of its history, one whose existence means stop, and a seed."""


@dataclass
class Outcome:
    """What a run came to."""

    faults: int
    calls: int
    unanswered: int
    """Calls of which nobody knows whether they took place."""
    pushed: int
    violations: list[str]
    refused: Counter[str] = field(default_factory=Counter[str])
    """Codes of errors by which the server refused calls, and how often."""
    notes: list[str] = field(default_factory=list[str])
    """What else is to be said."""


class Crew:
    """Working processes.

    Args:
        url: of the database, as they reach it.
        folder: for the histories.
        seed: of who is struck, and of what each does.
        target: what they do.
        workers: how many there are.
    """

    def __init__(
        self, url: str, folder: Path, seed: int = 1, target: Target = worker.work, workers: int = WORKERS
    ) -> None:
        self.chance = chance_of(seed)
        self._seed = seed
        self._target = target
        self._workers = workers
        self._url = url
        self._folder = folder
        self._stop = folder / "stop"
        self._started = 0
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._crew: list[ForkServerProcess] = []

    def run_until(
        self,
        done: Callable[[], bool],
        strike: Callable[[Crew], int],
        pause: float = PAUSE_SECONDS,
        *,
        least: int = 0,
        meets: bool = True,
    ) -> int:
        """Work, and be struck, until `done`; then stop the workers.

        Args:
            done: whether it is enough.
            strike: lets something happen, and returns how many faults that was.
            pause: seconds between two strikes.
            least: how many faults there have to be.
            meets: go on until a strike has met a call, which then has no answer.

        Returns:
            How many faults there were.
        """
        self._crew = [self._start() for _ in range(self._workers)]
        faults = 0
        while not (faults >= least and done() and (self._met() or not meets)):
            time.sleep(pause)
            faults += strike(self)
        self._stop.touch()
        for process in self._crew:
            process.join(60)
            assert process.exitcode == 0, "a worker failed, see its traceback above"
        return faults

    def kill_one(self) -> int:
        """Kill a process, and start another one."""
        place = self.chance.randrange(self._workers)
        self._crew[place].kill()
        self._crew[place].join()
        self._crew[place] = self._start()
        return 1

    def replace_dead(self) -> int:
        """Start another process for each that has died by itself; returns how many had."""
        dead = [place for place, process in enumerate(self._crew) if not process.is_alive()]
        for place in dead:
            self._crew[place] = self._start()
        return len(dead)

    def memory(self) -> int:
        """Return how many bytes of memory the processes have together, without what they share."""
        pages = 0
        for process in self._crew:
            _, resident, shared, *_rest = Path(f"/proc/{process.pid}/statm").read_text().split()
            pages += int(resident) - int(shared)
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop_some(self, count: int = 4) -> int:
        """Let processes stand still until what they hold has gone to others, and then go on."""
        numbers = [process.pid for process in self.chance.sample(self._crew, count)]
        for signal_, seconds in ((signal.SIGSTOP, STOPPED_SECONDS), (signal.SIGCONT, 0)):
            for number in numbers:
                assert number is not None
                os.kill(number, signal_)
            time.sleep(seconds)
        return count

    def _met(self) -> bool:
        living = {process.name for process in self._crew}
        for path in self._folder.glob("worker*.jsonl"):
            calls = read([path])
            ended = calls[:-1] if path.stem in living else calls  # the last one may be under way
            if any(call.answer is None for call in ended):
                return True
        return False

    def _start(self) -> ForkServerProcess:
        self._started += 1
        name = f"worker{self._started}"
        process = self._context.Process(
            name=name,
            target=self._target,
            args=(
                self._url,
                str(self._folder / f"{name}.jsonl"),
                str(self._stop),
                self._seed + self._started,
            ),
            daemon=True,
        )
        process.start()
        return process


def run(
    url: str,
    folder: Path,
    strike: Callable[[Crew], int],
    *,
    messages: int,
    seed: int = 1,
    least: int = 1,
    pause: float = PAUSE_SECONDS,
    rate: int = RATE,
    most: int = worker.MOST,
    through: str | None = None,
    meets: bool = True,
    prepared: bool = True,
    refusals: bool = False,
    settle: Callable[[], object] | None = None,
    timed: bool = True,
) -> Outcome:
    """Let a crew work through so many messages while it is struck, and check the history.

    Args:
        url: of a database with the queue, and nothing in it.
        folder: for the history.
        strike: as of Crew.run_until.
        messages: how many are pushed.
        seed: of all choices.
        least: how many faults there have to be.
        pause: seconds between two strikes.
        rate: how many messages are pushed a second.
        most: how many are pushed and taken at a time at the most; more where they are committed late.
        through: the URL by which the processes reach the database; None: `url`.
        meets: as of Crew.run_until.
        prepared: whether the processes prepare statements, where their driver does.
        refusals: whether the processes go on after errors of the server, which the history then has.
        settle: is called once nothing happens any more, before what is left is taken.
        timed: whether the server's clock goes as ours does.
    """
    harness = open_harness(url)
    for kind in ("in", "out"):
        harness.connect().define(kind, max_attempts=6)
    harness.close()
    with ThreadPoolExecutor(2) as producers:
        # half of them commits late, below places in line that others have passed
        pushed = [
            producers.submit(
                produce,
                through or url,
                folder / f"producer{late:d}.jsonl",
                messages // 2,
                rate // 2,
                late,
                prepared,
                refusals,
                most,
            )
            for late in (False, True)
        ]
        target = partial(worker.work, prepared=prepared, refusals=refusals, most=most)
        faults = Crew(through or url, folder, seed, target).run_until(
            lambda: all(future.done() for future in pushed), strike, pause, least=least, meets=meets
        )
        created = sum(future.result() for future in pushed)
    if settle is not None:
        settle()
    drain(url, folder / "drain.jsonl")
    calls = read(sorted(folder.glob("*.jsonl")))
    unanswered = sum(call.answer is None for call in calls)
    refused = Counter(call.refused for call in calls if call.refused)
    wrong = Checker(calls, timed=timed).check()
    return Outcome(faults, len(calls), unanswered, created, wrong, refused)


def produce(
    url: str,
    path: Path,
    messages: int,
    rate: int,
    late: bool,
    prepared: bool = True,
    refusals: bool = False,
    most: int = worker.MOST,
) -> int:
    """Push messages, and return how many surely came to be.

    What has no answer isn't pushed again: it may be there.

    Args:
        url: of the database.
        path: where the history goes.
        messages: how many.
        rate: how many a second at the most.
        late: whether several are in a transaction that is committed late.
        prepared: whether statements are prepared, where the driver does that.
        refusals: whether to go on after errors of the server, which the history then has.
        most: how many at a time; two and a half times as many where they are committed late.
    """
    harness, chance = open_harness(url), chance_of(late)
    recorder = Recorder(path, harness.refusal if refusals else None)
    harness.prepared = prepared
    size, tried, created, start = most * 5 // 2 if late else most, 0, 0, time.monotonic()
    while tried < messages:
        try:
            queue = harness.connect(autocommit=not late)
            while tried < messages:
                first, tried = tried, min(tried + size, messages)
                batch = [
                    {"key": f"{late:d}-{number}", "payload": number, **options(chance)}
                    for number in range(first, tried)
                ]
                transaction = f"{first}" if late else None
                answers = recorder.record(
                    "push",
                    lambda batch=batch, queue=queue: queue.push_many("in", batch),
                    lambda answers: [answer.key for answer in answers],
                    kind="in",
                    keys=[one["key"] for one in batch],
                    transaction=transaction,
                )
                if late:
                    time.sleep(chance.choice((0, 0, 0.1, 0.5)))
                    recorder.record("commit", queue.commit, lambda _: [], transaction=transaction)
                created += sum(answer.outcome == "created" for answer in answers)
                time.sleep(max(0.0, start + tried / rate - time.monotonic()))
        except Exception as error:
            if not worker.passes(harness, error) and not (refusals and harness.refusal(error)):
                raise
            worker.pause(harness)
    harness.close()
    return created


def options(chance: random.Random) -> dict[str, Any]:
    """Draw options of a push."""
    return {
        "priority": chance.choice((0, 0, 0, 1, -1)),
        "delay_seconds": chance.choice((0, 0, 0, 0.2, 1)),
    }


def drain(url: str, path: Path) -> None:
    """Take and acknowledge everything that is left, wherever it is; holds end after a second at most."""
    harness = open_harness(url)
    last = worker.Worker(harness, Recorder(path), chance_of("last"))
    queue = harness.connect()
    deadline = time.monotonic() + 60
    while any(queue.peek(kind, 1) for kind in KINDS):
        assert time.monotonic() < deadline, "what is there can't be reserved"
        for kind in KINDS:
            while batch := last.reserve(queue, kind, 1000, 60):
                last.ack(queue, batch)
        time.sleep(0.05)
    harness.close()
