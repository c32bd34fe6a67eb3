"""An idle worker: how it learns that there is work, and what it costs while there is none."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message, Queue
from pyqueue_sql.worker import AsyncContext, AsyncWorker, Context, Handlers, Lost, taking, watching
from pyqueue_sql.worker.watching import Listener
from tests.worker.helpers import PATIENCE_SECONDS, WAITING, end_others, until

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.conformance.harness import Session
    from tests.worker.helpers import Running, Workers

SOON_SECONDS = 6.0
"""Far below any poll here, and far above what it takes on a busy machine."""


@pytest.fixture
def seen() -> list[str]:
    """The keys that handlers saw."""
    return []


@pytest.fixture
def handlers(seen: list[str]) -> Handlers:
    handlers = Handlers()

    @handlers.on("mail")
    def note(message: Message) -> None:
        seen.append(message.key)

    return handlers


def until_idle(queue: Session, running: Running, seen: list[str], kind: str = "mail") -> None:
    """Wait until a worker has nothing to do, and waits for a while already."""
    queue.push(kind, "first")
    until(lambda: seen == ["first"] or running.error)
    time.sleep(1.5)
    seen.clear()


@pytest.mark.servers("mariadb")
def test_a_wait_is_no_statement_that_takes_too_long(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    queue.execute("set global max_statement_time = 1")
    try:
        with workers.running(handlers):
            until(lambda: queue.execute(f"{WAITING} and time_ms > 1500"))
            queue.push("mail", "a")
            until(lambda: seen, SOON_SECONDS)
    finally:
        queue.execute("set global max_statement_time = default")
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []


@pytest.mark.servers("mariadb", "mysql")
def test_a_wait_that_somebody_kills_is_followed_by_another(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        ((number,),) = until(lambda: queue.execute(WAITING.replace("1", "id", 1)))
        queue.execute("kill query %s", [number])
        until(lambda: running.error or not queue.execute(f"{WAITING} and id = %s", [number]))
        until(lambda: running.error or queue.execute(WAITING))
        queue.push("mail", "a")
        until(lambda: running.error or seen == ["a"], SOON_SECONDS)
    assert seen == ["a"]


def test_a_push_wakes_an_idle_worker(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        until_idle(queue, running, seen)
        for number in range(5):
            queue.push("mail", str(number))
            until(lambda number=number: seen[number:], SOON_SECONDS)


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_a_push_to_any_of_many_kinds_wakes_an_idle_worker(queue: Session, workers: Workers) -> None:
    seen, handlers = list[str](), Handlers()
    kinds = [f"kind{number:03}" for number in range(230)]
    for kind in kinds:
        handlers.on(kind)(lambda message: seen.append(message.key))
    with workers.running(handlers) as running:
        until_idle(queue, running, seen, kinds[0])
        for kind in (kinds[229], kinds[150], kinds[0], kinds[100]):
            queue.push(kind, kind)
            until(lambda kind=kind: kind in seen or running.error, SOON_SECONDS)


def test_what_is_pushed_within_the_window_of_an_event_is_found(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        until_idle(queue, running, seen)
        for number in range(20):
            queue.push("mail", str(number))
            time.sleep(0.01)
        until(lambda: len(seen) == 20, SOON_SECONDS)


def test_a_delayed_message_wakes_an_idle_worker(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        until_idle(queue, running, seen)
        queue.push("mail", "later", delay_seconds=1)
        time.sleep(0.5)
        assert seen == []
        until(lambda: seen, SOON_SECONDS)


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_pause_and_resume_reach_an_idle_worker(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        until_idle(queue, running, seen)
        queue.pause("mail")
        queue.push("mail", "a")
        time.sleep(0.7)
        assert seen == []
        queue.resume("mail")
        until(lambda: seen, SOON_SECONDS)


def test_what_was_not_notified_is_found_by_the_poll(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Listener, "heard", lambda *_: None)
    with workers.running(handlers, poll_seconds=2) as running:
        until_idle(queue, running, seen)
        queue.push("mail", "a")
        until(lambda: seen, 2 + SOON_SECONDS)


@pytest.mark.servers("postgresql")
def test_what_the_poll_found_is_followed_by_looks(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, listen = 0, Queue[Any].listen

    def listening(self: Queue[Any], kinds: Any) -> Any:
        nonlocal looks
        looks += 1
        return listen(self, kinds)

    monkeypatch.setattr(Queue, "listen", listening)
    monkeypatch.setattr(Listener, "heard", lambda *_: None)
    monkeypatch.setattr(watching, "POLLS", 10**9)
    monkeypatch.setattr(taking, "LOOKS_SECONDS", (0.0,))
    with workers.running(handlers, poll_seconds=0.05):
        for number, key in enumerate("abc", 1):
            before = looks
            queue.push("mail", key)
            until(lambda number=number: len(seen) == number)
            until(lambda before=before: looks > before, SOON_SECONDS)


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_a_worker_that_wants_no_notifications_polls_and_listens_to_nothing(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listened, listen = list[Any](), Queue[Any].listen

    def listening(self: Queue[Any], kinds: Any) -> Any:
        listened.append(kinds)
        return listen(self, kinds)

    monkeypatch.setattr(Queue, "listen", listening)
    with workers.running(handlers, notify=False, poll_seconds=0.5) as running:
        until_idle(queue, running, seen)
        queue.push("mail", "a")
        until(lambda: seen, SOON_SECONDS)
        # behind a pooler a session is everybody's
        assert [one.by_session for one in queue.workers()] == [False]
    assert listened == []


def test_a_wait_that_is_under_way_does_not_delay_the_end(
    queue: Session, workers: Workers, handlers: Handlers, seen: list[str]
) -> None:
    with workers.running(handlers) as running:
        until_idle(queue, running, seen)
        began = time.monotonic()
    assert time.monotonic() - began < SOON_SECONDS


@pytest.mark.long
def test_fifty_idle_workers_cost_less_than_ten_statements_a_second(
    workers: Workers, handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # five times as often as by default, to see it in seconds
    count, scale, window = 0, 5, 6.0
    run = Queue[Any]._run  # pyright: ignore[reportPrivateUsage]

    def counting(self: Queue[Any], what: Any) -> Any:
        nonlocal count
        count += 1
        return run(self, what)

    monkeypatch.setattr(Queue, "_run", counting)
    fleet = [
        AsyncWorker(workers.url, handlers, poll_seconds=15 / scale, heartbeat_seconds=30 / scale)
        for _ in range(50)
    ]

    async def run_all() -> int:
        tasks = [asyncio.create_task(one.run()) for one in fleet]
        await asyncio.sleep(8)
        before = count
        await asyncio.sleep(window)
        found = count - before
        for one in fleet:
            one.stop()
        await asyncio.gather(*tasks)
        return found

    assert asyncio.run(run_all()) < 10 * scale * window


def test_a_worker_whose_connections_are_ended_goes_on(
    queue: Session, workers: Workers, seen: list[str]
) -> None:
    handlers, running, end = Handlers(), threading.Event(), threading.Event()

    failures: list[Exception] = []

    @contextmanager
    def noted() -> Generator[None]:
        try:
            yield
        except Lost:  # who has lost its session counts as dead, and another delivery may be the one
            raise
        except Exception as error:
            failures.append(error)
            raise

    @handlers.on("mail")
    def note(message: Message) -> None:
        if message.key == "held":
            running.set()
            assert end.wait(PATIENCE_SECONDS)
        seen.append(message.key)

    @handlers.on("plain")
    def plain(message: Message, context: Context) -> None:
        with noted(), context.transaction() as own:
            own.push("next", message.key)

    @handlers.on("coroutine")
    async def coroutine(message: Message, context: AsyncContext) -> None:
        with noted():
            async with context.transaction() as own:
                await own.push("next", message.key)

    with workers.running(handlers) as worker:
        until_idle(queue, worker, seen)
        for name in ("first", "second"):
            queue.push("plain", f"plain/{name}")
            queue.push("coroutine", f"coroutine/{name}")
            expected = {f"{kind}/{name}" for kind in ("plain", "coroutine")}
            until(lambda expected=expected: expected <= {one.key for one in queue.peek("next")})
            if name == "first":
                queue.push("mail", "held")
                assert running.wait(PATIENCE_SECONDS)
                assert end_others(queue) >= 5
                end.set()
                until(lambda: seen)
        queue.push("mail", "last")
        until(lambda: "last" in seen)
    assert failures == []
    assert queue.stats("mail")[0].total == 0
