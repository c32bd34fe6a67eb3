"""Processes of a worker: when one that died is started again, and when one that doesn't end is killed."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
from types import SimpleNamespace
from typing import Any, Unpack

import pytest

from pyqueue_sql.worker import AsyncWorker, Handlers, Worker, WorkerOptions, processes
from pyqueue_sql.worker import worker as blocking
from pyqueue_sql.worker.processes import KILL_SECONDS, SOUND_SECONDS, Start

GRACE_SECONDS = 7.0


class Child:
    """A process that does as it is told by the test."""

    def __init__(self, **_: Any) -> None:
        self.exitcode: int | None = None
        self.killed = False
        self.sentinel = 0

    def start(self) -> None:
        pass

    def join(self) -> None:
        pass

    def is_alive(self) -> bool:
        return self.exitcode is None

    def kill(self) -> None:
        self.killed = True


class Place:
    """The place of a process, at a time that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: Unpack[WorkerOptions]) -> None:
        self.now = 1000.0
        self.place = processes._Place(1)  # pyright: ignore[reportPrivateUsage]
        self._start = Start("", Handlers(), {"grace_seconds": GRACE_SECONDS, **options}, None)
        monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: self.now))
        context = SimpleNamespace(Process=Child)
        monkeypatch.setattr(multiprocessing, "get_context", lambda _: context)

    def look(self, stopped_at: float | None = None) -> Any:
        """Look after it; returns the process that is there now, None: none is."""
        processes._look_after(self.place, self._start, stopped_at)  # pyright: ignore[reportPrivateUsage]
        return self.place.process

    def dies(self, status: int = 1) -> float:
        """Have the process end; returns after how long there is another one."""
        self.look().exitcode = status
        died, found = self.now, self.look()
        while found is None and self.now < died + 60:
            self.now += 0.01
            found = self.look()
        return self.now - died


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(monkeypatch)


def test_one_that_dies_again_and_again_is_started_later_each_time(place: Place) -> None:
    pauses = [place.dies() for _ in range(12)]
    assert 0.1 <= pauses[0] <= 1.01
    assert all(3 <= pause <= 30.01 for pause in pauses[6:])
    place.now += SOUND_SECONDS + 1
    assert 0.1 <= place.dies() <= 1.01, "it was sound for a while"


@pytest.mark.parametrize("options", [{"drain": True}, {"max_messages": 1}])
def test_one_that_is_done_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, options: WorkerOptions
) -> None:
    place = Place(monkeypatch, **options)
    assert place.dies(0) > 59
    assert place.place.is_done


def test_one_that_a_handler_has_ended_is_not_done(place: Place) -> None:
    assert 0.1 <= place.dies(0) <= 1.01


@pytest.mark.parametrize("options", [{"drain": True}, {"max_messages": 1}])
def test_one_that_died_before_it_was_done_is_started_again(
    monkeypatch: pytest.MonkeyPatch, options: WorkerOptions
) -> None:
    assert 0.1 <= Place(monkeypatch, **options).dies(1) <= 1.01


def test_one_that_died_while_all_end_is_not_started_again(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.look().exitcode = processes.STOPPED
    assert place.look(stopped_at=place.now) is None
    assert place.place.is_done
    assert caplog.messages == [], "it did as it was told"


def test_where_no_process_can_be_started_that_is_tried_again_later(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_: Child) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    with monkeypatch.context() as now:
        now.setattr(Child, "start", refused)
        assert place.look() is None
        place.now += 0.05
        assert place.look() is None
    assert caplog.messages == ["no process can be started: Resource temporarily unavailable; trying again"]
    place.now += 1.0
    assert place.look() is not None


def test_one_that_does_not_end_is_killed(place: Place) -> None:
    child, stopped_at = place.look(), place.now
    place.now += GRACE_SECONDS + KILL_SECONDS
    place.look(stopped_at)
    assert not child.killed
    place.now += 0.1
    place.look(stopped_at)
    assert child.killed


def test_the_end_of_the_one_that_started_it_is_one_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one would give back at once what its handlers have."""
    ours, theirs = os.pipe()
    stops = list[None]()

    async def working() -> None:
        os.close(theirs)
        while not stops:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)

    worker: Any = SimpleNamespace(run=working, stop=lambda: stops.append(None), is_stopped=False)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: SimpleNamespace(sentinel=ours))
    try:
        asyncio.run(processes.until_stopped(worker))
    finally:
        os.close(ours)
    assert len(stops) == 1


set_up = list[None]()


def send(_: object) -> None:
    """A handler that other processes can import."""


def set_it_up() -> None:
    set_up.append(None)


def sending() -> Handlers:
    handlers = Handlers()
    handlers.on("mail")(send)
    return handlers


@pytest.mark.parametrize("stopped", [False, True])
def test_a_process_is_set_up_first_and_has_its_number_in_its_name(
    monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    ran, ignored = list[tuple[int, str]](), list[int]()

    def run(worker: AsyncWorker) -> None:
        ran.append((len(set_up), worker.name.rpartition("-")[0]))
        if stopped:
            worker.stop()

    set_up.clear()
    monkeypatch.setattr(processes, "run", run)
    monkeypatch.setattr(signal, "signal", lambda number, _: ignored.append(number))
    start = Start("postgresql://127.0.0.1:1/none", sending(), {"name": "mine"}, set_it_up)
    with pytest.raises(SystemExit, match="143") if stopped else contextlib.nullcontext():
        processes._child(start, 2)  # pyright: ignore[reportPrivateUsage]
    assert ran == [(1, "mine-2")]
    assert ignored == [signal.SIGINT, signal.SIGHUP], "the one that started it gets these, too"


def test_stop_reaches_what_looks_after_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list[tuple[int, threading.Semaphore]]()
    monkeypatch.setattr(blocking, "supervise", lambda count, _, stops: found.append((count, stops)))
    worker = Worker("postgresql://127.0.0.1:1/none", sending(), processes=3)
    worker.run()
    [(count, stops)] = found
    for _ in range(2):
        worker.stop()
    assert (count, [stops.acquire(blocking=False) for _ in range(3)]) == (3, [True, True, False])


def test_when_all_have_ended_signals_mean_what_they_meant_before() -> None:
    before = {number: signal.getsignal(number) for number in (*processes.SIGNALS, signal.SIGHUP)}
    processes.supervise(0, Start("", Handlers(), {}, None), threading.Semaphore(0))
    assert {number: signal.getsignal(number) for number in before} == before
