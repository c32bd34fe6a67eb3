"""A long run with crashes: workers are killed, connections cut, and the history has to make sense.

PYQUEUE_HISTORY_MESSAGES sets the size; by default 10,000 messages, some 15 seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.concurrency import worker
from tests.concurrency.checker import Checker
from tests.concurrency.history import Recorder, read
from tests.sample import TIMES, chance_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import ForkServerProcess
    from pathlib import Path

    from tests.conformance.harness import Harness

MESSAGES = int(os.environ.get("PYQUEUE_HISTORY_MESSAGES", 4000 * TIMES))
RATE = 800
"""Messages pushed a second, so that the crashes meet work in every state."""
WORKERS = 8
KINDS = ("in", "out", "in.dead", "out.dead")


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.slow
def test_a_run_with_crashes_loses_nothing_and_gives_nothing_to_two(harness: Harness, tmp_path: Path) -> None:
    queue = harness.connect()
    queue.define("in", max_attempts=6)
    queue.define("out", max_attempts=6)
    with ThreadPoolExecutor(2) as producers:
        # half of them commits late, below places in line that others have passed
        pushed = [
            producers.submit(produce, harness, tmp_path / f"producer{late:d}.jsonl", f"{late:d}", late)
            for late in (False, True)
        ]
        crashes = Crew(harness.url, tmp_path).run_until(
            lambda: all(future.done() for future in pushed), harness
        )
        assert sum(future.result() for future in pushed) == MESSAGES
    drain(harness, tmp_path / "drain.jsonl")
    assert [queue.peek(kind) for kind in KINDS] == [[], [], [], []]
    calls = read(sorted(tmp_path.glob("*.jsonl")))
    assert Checker(calls).check() == []
    assert crashes > 5, "the run was too short to say anything"
    assert sum(call.answer is None for call in calls) > 0, "no crash met a call"


class Crew:
    """Eight working processes, some of which die all the time.

    Args:
        url: of the database.
        folder: for the histories.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self._stop = folder / "stop"
        self._started = 0
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([worker.__name__])

    def run_until(self, done: Callable[[], bool], harness: Harness) -> int:
        """Work and crash until `done` and a crash has met a call, then stop the workers.

        Returns:
            How many crashes there were.
        """
        chance = chance_of(1)
        crew = [self._start() for _ in range(WORKERS)]
        crashes, met = 0, False
        while not (done() and met):
            time.sleep(0.5)
            victim = chance.randrange(WORKERS)
            crew[victim].kill()
            crew[victim].join()
            met |= any(call.answer is None for call in read(self._folder.glob(f"{crew[victim].name}.jsonl")))
            crew[victim] = self._start()
            crashes += 1 + harness.terminate_one_of(worker.NAME)
        self._stop.touch()
        for process in crew:
            process.join(30)
            assert process.exitcode == 0, "a worker failed, see its traceback above"
        return crashes

    def _start(self) -> ForkServerProcess:
        self._started += 1
        name = f"worker{self._started}"
        process = self._context.Process(
            name=name,
            target=worker.work,
            args=(self._url, str(self._folder / f"{name}.jsonl"), str(self._stop), self._started),
            daemon=True,
        )
        process.start()
        return process


def produce(harness: Harness, path: Path, prefix: str, late: bool) -> int:
    """Push half of the messages, at half of the rate, and return how many came to be."""
    chance, recorder = chance_of(prefix), Recorder(path)
    queue = harness.connect(autocommit=not late)
    size, count, start = 50 if late else 20, 0, time.monotonic()
    for first in range(0, MESSAGES // 2, size):
        batch = [
            {
                "key": f"{prefix}-{number}",
                "payload": number,
                "priority": chance.choice((0, 0, 0, 1, -1)),
                "delay_seconds": chance.choice((0, 0, 0, 0.2, 1)),
            }
            for number in range(first, min(first + size, MESSAGES // 2))
        ]
        transaction = f"{first}" if late else None
        answers = recorder.record(
            "push",
            lambda batch=batch: queue.push_many("in", batch),
            lambda answers: [answer.key for answer in answers],
            kind="in",
            transaction=transaction,
        )
        if late:
            time.sleep(chance.choice((0, 0, 0.1, 0.5)))
            recorder.record("commit", queue.commit, lambda _: [], transaction=transaction)
        count += sum(answer.outcome == "created" for answer in answers)
        time.sleep(max(0.0, start + count / (RATE / 2) - time.monotonic()))
    return count


def drain(harness: Harness, path: Path) -> None:
    """Take and acknowledge everything that is left, wherever it is; holds end after a second at most."""
    last = worker.Worker(harness, Recorder(path), chance_of("last"))
    queue = harness.connect()
    deadline = time.monotonic() + 30
    while any(queue.peek(kind, 1) for kind in KINDS):
        assert time.monotonic() < deadline, "what is there can't be reserved"
        for kind in KINDS:
            while batch := last.reserve(queue, kind, 1000, 60):
                last.ack(queue, batch)
        time.sleep(0.05)
