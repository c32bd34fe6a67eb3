"""How a worker ends: in order, in the middle of something, and without its database."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message, Outcome, Queue
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.worker import (
    AsyncContext,
    AsyncWorker,
    Context,
    Handlers,
    Reject,
    Snooze,
    Worker,
    engine,
    processes,
)
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.context import Connections
from tests.doctor.logins import Watched, kept, watched
from tests.faults.proxy import proxy
from tests.worker.helpers import (
    LONG_SECONDS,
    PATIENCE_SECONDS,
    WAITING,
    Running,
    end_others,
    others,
    until,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from pyqueue_sql.worker.delivery import Delivery
    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers

__all__ = ["kept", "watched"]

SOON_SECONDS = 15.0
"""Far above what an end takes on a busy machine."""


def test_it_leaves_no_thread_and_no_connection(queue: Session, workers: Workers) -> None:
    handlers, contexts, errors = Handlers(), list[Any](), list[Exception]()
    threads, connections = set(threading.enumerate()), set(others(queue))

    @handlers.on("functions")
    def function(_: Message, context: Context) -> None:
        contexts.append(context)
        with context.transaction():
            pass

    @handlers.on("coroutines")
    async def coroutine(_: Message, context: AsyncContext) -> None:
        contexts.append(context)
        async with context.transaction():
            pass

    @handlers.on("failures")
    def failure(_: Message, context: Context) -> None:
        try:
            with context.transaction() as own:
                raise LookupError(own)
        except LookupError as error:
            errors.append(error)

    @handlers.on("failures of coroutines")
    async def failure_of_coroutine(_: Message, context: AsyncContext) -> None:
        try:
            async with context.transaction() as own:
                raise LookupError(own)
        except LookupError as error:
            errors.append(error)

    for kind in handlers:
        queue.push(kind, "a")
    workers.drain(handlers)
    assert (len(contexts), len(errors)) == (2, 2)
    until(lambda: set(threading.enumerate()) <= threads, SOON_SECONDS)
    until(lambda: set(others(queue)) <= connections, SOON_SECONDS)


def test_a_transaction_that_ends_after_the_worker_leaves_no_connection(
    queue: Session, workers: Workers
) -> None:
    before, pool = set(others(queue)), Connections(workers.url, None)

    async def run() -> None:
        async with pool.async_transaction():
            with pool.transaction():
                until(lambda: len(set(others(queue)) - before) == 2)
                await pool.close()

    asyncio.run(run())
    until(lambda: set(others(queue)) <= before, SOON_SECONDS)
    assert pool is not None  # which keeps what is left in it open


def test_one_that_was_stopped_before_it_ran_takes_nothing(queue: Session, workers: Workers) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    queue.push("mail", "a")
    worker = AsyncWorker(workers.url, handlers, poll_seconds=LONG_SECONDS)
    worker.stop()
    Running(worker).join(SOON_SECONDS)
    assert [one.state for one in queue.peek("mail")] == ["ready"]
    assert queue.workers() == []


def test_one_that_is_stopped_as_it_registers_takes_that_back(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, begun, heartbeat = Handlers(), threading.Event(), Queue[Any].heartbeat
    handlers.on("mail")(lambda _: None)

    def beating(self: Queue[Any], worker: str, **options: Any) -> Any:
        if not options.get("stop"):
            begun.set()
            time.sleep(0.5)
        return heartbeat(self, worker, **options)

    monkeypatch.setattr(Queue, "heartbeat", beating)
    running = workers.start(handlers)
    assert begun.wait(PATIENCE_SECONDS)
    running.stop()
    running.join(SOON_SECONDS)
    assert queue.workers() == []


@pytest.mark.servers("mariadb", "mysql")
def test_a_login_that_may_not_end_what_waits_for_it_hangs_up(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    """What waits in the server runs as the owner of the queue."""
    handlers = Handlers()
    handlers.on("nothing")(lambda _: None)
    threads = set(threading.enumerate())
    running = Running(Worker(watched.logins["queue_consumer"], handlers, upkeep=False))
    until(lambda: watched.execute(WAITING))
    running.stop()
    running.join(SOON_SECONDS)
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []
    until(lambda: set(threading.enumerate()) <= threads, SOON_SECONDS)


def test_no_handler_begins_after_the_second_stop(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, seen, go = Handlers(), list[str](), threading.Event()
    acking, reserved = threading.Event(), threading.Event()
    reserve, ack_many = Queue[Any].reserve, Queue[Any].ack_many

    def reserving(self: Queue[Any], *given: Any, **options: Any) -> Sequence[Message]:
        found = reserve(self, *given, **options)
        if "b" in [one.key for one in found]:
            reserved.set()
            go.wait(PATIENCE_SECONDS)
        return found

    def settling(self: Queue[Any], receipts: Iterable[str]) -> list[Outcome]:
        acking.set()
        go.wait(PATIENCE_SECONDS)
        time.sleep(0.3)  # in which the message that comes now could begin
        return ack_many(self, receipts)

    monkeypatch.setattr(Queue, "reserve", reserving)
    monkeypatch.setattr(Queue, "ack_many", settling)

    @handlers.on("mail")
    def work(message: Message) -> None:
        seen.append(message.key)

    queue.push("mail", "a")
    running = workers.start(handlers, concurrency=2)
    assert acking.wait(PATIENCE_SECONDS)
    queue.push("mail", "b")
    assert reserved.wait(PATIENCE_SECONDS)
    running.stop()
    running.stop()
    time.sleep(0.1)
    go.set()
    running.join(SOON_SECONDS)
    assert seen == ["a"]
    assert [(one.key, one.state, one.attempts) for one in queue.peek("mail")] == [("b", "ready", 0)]


def test_what_it_gives_back_at_its_end_is_not_handled(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, held, seen = Handlers(), list[str](), list[str]()
    running, end = threading.Event(), threading.Event()
    add = Board.add

    def adding(self: Board, deliveries: list[Delivery]) -> None:
        held.extend(one.message.key for one in deliveries)
        add(self, deliveries)

    monkeypatch.setattr(Board, "add", adding)

    @handlers.on("mail")
    def work(message: Message) -> None:
        if message.key == "first":
            running.set()
            end.wait(PATIENCE_SECONDS)
        seen.append(message.key)

    threads = set(threading.enumerate())
    queue.push_many("mail", [{"key": f"quick {number}", "payload": None} for number in range(20)])
    worker = workers.start(handlers)
    until(lambda: len(seen) == 20)
    seen.clear()
    queue.push_many("mail", [{"key": key, "payload": None} for key in ("first", "second")])
    assert running.wait(PATIENCE_SECONDS)
    until(lambda: "second" in held)
    worker.stop()
    worker.stop()
    worker.join()
    assert [(one.state, one.attempts) for one in queue.peek("mail")] == [("ready", 0)] * 2
    end.set()
    until(lambda: set(threading.enumerate()) <= threads)
    assert seen == ["first"]


def test_a_coroutine_that_is_cancelled_holds_its_message_until_it_has_ended(
    queue: Session, workers: Workers
) -> None:
    handlers, began, found = Handlers(), threading.Event(), list[str | None]()

    @handlers.on("mail")
    async def work(_: Message) -> None:
        began.set()
        try:
            await asyncio.sleep(LONG_SECONDS)
        finally:
            await asyncio.sleep(0.05)
            found.extend(one.state for one in queue.peek("mail"))

    queue.push("mail", "a")
    worker = workers.start(handlers)
    assert began.wait(PATIENCE_SECONDS)
    worker.stop()
    worker.stop()
    worker.join()
    assert found == ["reserved"]
    assert [(one.state, one.attempts) for one in queue.peek("mail")] == [("ready", 0)]


@pytest.mark.parametrize("stops", [0, 1])
def test_one_whose_task_is_cancelled_leaves_no_other(queue: Session, workers: Workers, stops: int) -> None:
    handlers = Handlers()

    async def run() -> set[asyncio.Task[Any]]:
        began = asyncio.Event()

        @handlers.on("mail")
        async def work(_: Message) -> None:
            began.set()
            await asyncio.sleep(LONG_SECONDS)

        worker = AsyncWorker(workers.url, handlers, poll_seconds=LONG_SECONDS)
        task = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await began.wait()
        for _ in range(stops):
            worker.stop()
            await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_SECONDS)
        assert task.cancelled()
        return asyncio.all_tasks() - {asyncio.current_task()}  # pyright: ignore[reportOperatorIssue]

    queue.push("mail", "a")
    assert asyncio.run(run()) == set()
    assert queue.workers() == []
    assert [(one.state, one.attempts) for one in queue.peek("mail")] == [("ready", 0)]


def test_what_a_coroutine_left_open_is_closed(queue: Session, workers: Workers) -> None:
    handlers, kept, closed = Handlers(), list[Any](), list[bool]()

    async def lines() -> AsyncIterator[str]:
        try:
            yield "first"
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    @handlers.on("mail")
    async def work(_: Message) -> None:
        kept.append(lines())
        await anext(kept[-1])

    queue.push("mail", "a")
    workers.drain(handlers)
    assert closed == [True]


def test_it_says_at_its_end_what_became_of_its_messages(
    queue: Session, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    queue.define("mail", backoff_seconds=3000)
    handlers = Handlers()

    @handlers.on("mail")
    def work(message: Message) -> Reject | None:
        if message.key == "fails":
            raise LookupError
        return Reject("no") if message.key == "refuses" else None

    queue.push_many("mail", [{"key": key, "payload": None} for key in ("a", "b", "fails", "refuses")])
    with caplog.at_level(logging.INFO, "pyqueue_sql.worker"):
        workers.drain(handlers)
    last = vars(caplog.records[-1])
    assert caplog.messages[-1] == "stopped"
    assert {name: last.get(name) for name in ("acked", "retry", "dead")} == {
        "acked": 2,
        "retry": 1,
        "dead": 1,
    }


def test_it_does_not_wait_for_what_takes_no_notice_of_its_end(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it held is given back. Its loop has nothing more to wait for."""
    monkeypatch.setattr(processes, "CANCEL_SECONDS", LONG_SECONDS)
    handlers, go, began = Handlers(), threading.Event(), list[str]()
    left = list[weakref.ref[Any]]()

    @handlers.on("deaf")
    async def deaf(message: Message) -> None:
        left.append(weakref.ref(asyncio.current_task()))
        began.append(message.kind)
        while not go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(LONG_SECONDS)

    @handlers.on("in a thread")
    async def in_a_thread(message: Message) -> None:
        began.append(message.kind)
        await asyncio.to_thread(go.wait, PATIENCE_SECONDS)

    for kind in handlers:
        queue.push(kind, "a")
    running = Running(Worker(workers.url, handlers, concurrency=2, poll_seconds=LONG_SECONDS))
    try:
        until(lambda: len(began) == 2)
        running.stop()
        running.stop()
        running.join(SOON_SECONDS)
    finally:
        go.set()
    assert [(one.state, one.attempts) for kind in handlers for one in queue.peek(kind)] == [("ready", 0)] * 2
    del running
    gc.collect()
    assert [one() for one in left] == [None], "asyncio logs what is left where it is cleared away: here"


def test_an_end_in_the_middle_of_a_settlement_waits_for_it(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, acked, ended = Handlers(), list[Outcome](), threading.Event()
    settling = threading.Event()
    handlers.on("mail")(lambda _: None)
    ack_many, end = Queue[Any].ack_many, engine.Engine._end  # pyright: ignore[reportPrivateUsage]

    def acking(self: Queue[Any], receipts: Iterable[str]) -> list[Outcome]:
        found = ack_many(self, receipts)
        acked.extend(found)
        settling.set()
        assert ended.wait(PATIENCE_SECONDS)
        return found

    async def ending(self: engine.Engine, tasks: list[asyncio.Task[None]]) -> None:
        asyncio.get_running_loop().call_later(0.05, ended.set)
        await end(self, tasks)

    monkeypatch.setattr(Queue, "ack_many", acking)
    monkeypatch.setattr(engine.Engine, "_end", ending)
    queue.push("mail", "a")
    worker = workers.start(handlers)
    assert settling.wait(PATIENCE_SECONDS)
    worker.stop()
    worker.stop()
    worker.join()
    assert [one.outcome for one in acked] == ["acked"]


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Once it is set no worker gets a connection any more."""
    away, connect = threading.Event(), engine.connect

    def connecting(url: str, **settings: Any) -> Any:
        if away.is_set():
            raise ConnectionFailed("nobody is there", away=True)
        return connect(url, **settings)

    monkeypatch.setattr(engine, "connect", connecting)
    return away


def lose(queue: Session, away: threading.Event, said: Callable[[], str]) -> None:
    """Take the database away from a worker that polls, and wait until it has seen that."""
    away.set()
    end_others(queue)
    until(lambda: "reserve: nobody is there; trying again" in said())


def test_without_its_database_it_ends_at_once(
    queue: Session, workers: Workers, away: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    queue.push("mail", "a")
    with caplog.at_level(logging.DEBUG, "pyqueue_sql.worker"):
        running = workers.start(handlers, notify=False, poll_seconds=0.05)
        until(lambda: "acked" in caplog.messages)  # the answer has come: it holds nothing
        lose(queue, away, lambda: caplog.text)
        running.stop()
        running.join(SOON_SECONDS)


def test_what_it_can_not_give_back_it_leaves_to_the_end_of_the_hold(
    queue: Session,
    workers: Workers,
    away: threading.Event,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers, began, end = Handlers(), threading.Event(), threading.Event()
    monkeypatch.setattr(engine, "GIVE_UP_SECONDS", 0.1)

    @handlers.on("mail", timeout_seconds=LONG_SECONDS)
    def work(_: Message) -> None:
        began.set()
        end.wait(PATIENCE_SECONDS)

    queue.push("mail", "a")
    options: dict[str, Any] = {"notify": False, "poll_seconds": 0.05, "grace_seconds": LONG_SECONDS}
    with caplog.at_level(logging.WARNING):
        running = workers.start(handlers, concurrency=2, **options)
        assert began.wait(PATIENCE_SECONDS)
        lose(queue, away, lambda: caplog.text)
        running.stop()
        running.stop()
        running.join(SOON_SECONDS)
        assert "not given back: nobody is there" in caplog.text
    end.set()
    assert [one.state for one in queue.peek("mail")] == ["reserved"]


def ours() -> list[threading.Thread]:
    """Return the threads of workers."""
    return [one for one in threading.enumerate() if one.name.startswith("pyqueue-")]


def impatient(url: str) -> str:
    """Return the URL with the shortest time for a connection that both drivers take."""
    return f"{url}{'&' if '?' in url else '?'}connect_timeout=2"


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An end gives up soon what it can't get done."""
    monkeypatch.setattr(engine, "GIVE_UP_SECONDS", 0.5)


@pytest.mark.usefixtures("given_up")
@pytest.mark.parametrize("stops", [1, 2])
def test_it_ends_without_an_answer_of_its_database(
    queue: Session, workers: Workers, caplog: pytest.LogCaptureFixture, stops: int
) -> None:
    handlers, began, end = Handlers(), threading.Event(), threading.Event()
    threads = ours()

    @handlers.on("mail", timeout_seconds=LONG_SECONDS)
    def work(_: Message) -> None:
        began.set()
        end.wait(PATIENCE_SECONDS)

    queue.push("mail", "a")
    grace = LONG_SECONDS if stops == 2 else 0.5
    with proxy(workers.url) as way:
        options: dict[str, Any] = {"poll_seconds": 0.05, "heartbeat_seconds": 1, "grace_seconds": grace}
        running = Running(Worker(impatient(way.url), handlers, **options))
        assert began.wait(PATIENCE_SECONDS)
        way.fall_silent()
        end.set()
        time.sleep(0.3)  # for calls of each sort to be under way; without them it ends as well
        for _ in range(stops):
            running.stop()
        running.join(SOON_SECONDS)
        assert "the server doesn't answer" in caplog.text
        until(lambda: not [one for one in ours() if one not in threads])


@pytest.mark.usefixtures("given_up")
@pytest.mark.parametrize("notify", [True, False])
def test_one_that_is_not_up_yet_ends_soon(workers: Workers, notify: bool) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    with proxy(workers.url) as way:
        way.fall_silent()
        url = f"{way.url}{'&' if '?' in way.url else '?'}connect_timeout={PATIENCE_SECONDS:.0f}"
        running = Running(Worker(url, handlers, grace_seconds=LONG_SECONDS, notify=notify))
        time.sleep(0.3)
        running.stop()
        running.join(SOON_SECONDS)


def test_one_that_nobody_has_let_in_yet_has_nothing_to_wait_for(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GIVE_UP_SECONDS", LONG_SECONDS)
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    with proxy(workers.url) as way:
        way.fall_silent()
        url = f"{way.url}{'&' if '?' in way.url else '?'}connect_timeout={PATIENCE_SECONDS:.0f}"
        running = Running(Worker(url, handlers, notify=False))
        time.sleep(0.3)  # for the connection to be under way; without that it ends as well
        running.stop()
        running.join(SOON_SECONDS)


def test_what_is_given_back_is_no_retry_in_the_last_line(
    queue: Session, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    queue.define("work", backoff_seconds=LONG_SECONDS)
    handlers, began = Handlers(), threading.Event()

    @handlers.on("work")
    async def work(message: Message) -> Snooze:
        match message.key:
            case "failed":
                raise ValueError
            case "held":
                began.set()
                await asyncio.Future[None]()
        return Snooze(LONG_SECONDS)

    queue.push_many("work", [{"key": key, "payload": None} for key in ("failed", "held", "snoozed")])
    with (
        caplog.at_level(logging.INFO, "pyqueue_sql"),
        workers.running(handlers, concurrency=3, grace_seconds=0),
    ):
        assert began.wait(PATIENCE_SECONDS)
        until(lambda: queue.stats("work")[0].scheduled == 2)
    last = caplog.records[-1].__dict__
    assert (last["message"], last["retry"], last["given_back"]) == ("stopped", 1, 2)
    assert {one.key: one.attempts for one in queue.peek("work")} == {"failed": 1, "held": 0, "snoozed": 0}
