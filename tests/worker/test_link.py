"""A link's connection: what is heard on it, and how it comes back."""

from __future__ import annotations

import asyncio
import gc
import logging
import select
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidParameter, Queue
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.worker import link as link_module
from pyqueue_sql.worker.link import Ending, Link
from pyqueue_sql.worker.watching import Waiter
from tests.faults.proxy import proxy
from tests.worker.helpers import PATIENCE_SECONDS, others, until

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from tests.conformance.harness import Harness, Session


class Away:
    """Opens connections to a database that isn't there for so many times."""

    def __init__(self, url: str, failures: int, *, busy: bool = False) -> None:
        self.url = url
        self.failures = failures
        self.busy = busy

    def __call__(self) -> Any:
        self.failures -= 1
        if self.failures >= 0:
            raise ConnectionFailed("nobody is there", busy=self.busy)
        return Queue(connect(self.url))


def failing(failures: list[bool]) -> Callable[[Queue[Any]], list[Any]]:
    """Return a call that takes the next of these, and has an error of the server's where that is true."""

    def work(queue: Queue[Any]) -> list[Any]:
        if failures.pop(0):
            with queue.connection.cursor() as cursor:
                cursor.execute("select no_such_column from no_such_table")
        return queue.reserve("mail")

    return work


@pytest.mark.servers("postgresql")
def test_what_comes_with_an_answer_is_heard_as_well(harness: Harness, queue: Session) -> None:
    async def run() -> tuple[str | None, str]:
        heard: asyncio.Queue[tuple[str | None, str]] = asyncio.Queue()
        link = Link(
            "test",
            lambda: Queue(connect(harness.url)),
            Ending(),
            on_notify=lambda channel, payload: heard.put_nowait((channel, payload)),
        )

        def take_in(own: Queue[psycopg.Connection[Any]]) -> None:
            own.connection.execute("listen test_channel")
            queue.execute("select pg_notify('test_channel', 'hello')")
            assert select.select([own.connection], [], [], PATIENCE_SECONDS)[0]
            own.connection.pgconn.consume_input()  # from now on the socket has nothing more to say

        await link.call(take_in)
        found = await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)
        await link.close()
        return found

    assert asyncio.run(run()) == ("test_channel", "hello")


@pytest.mark.servers("postgresql")
def test_a_listening_connection_that_is_lost_says_so(harness: Harness, queue: Session) -> None:
    async def run() -> str | None:
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        link = Link(
            "test",
            lambda: Queue(connect(harness.url)),
            Ending(),
            on_notify=lambda channel, _: heard.put_nowait(channel),
        )
        pid = await link.call(lambda queue: queue.connection.info.backend_pid)
        queue.execute("select pg_terminate_backend(%s)", [pid])
        found = await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)
        others = [await link.call(lambda queue: queue.connection.info.backend_pid) for _ in range(2)]
        assert pid not in others and others[0] == others[1]
        await link.close()
        return found

    assert asyncio.run(run()) is None


def test_what_the_queue_refuses_is_not_tried_again(harness: Harness) -> None:
    async def run() -> None:
        link = Link("test", lambda: Queue(connect(harness.url)), Ending())
        with pytest.raises(InvalidParameter):
            await link.call(lambda queue: queue.reserve(""))
        assert await link.call(lambda queue: queue.reserve("mail")) == []
        await link.close()

    asyncio.run(run())


def test_a_link_waits_for_a_database_until_it_is_time_to_end(harness: Harness) -> None:
    async def run() -> None:
        ending, database = Ending(), Away(harness.url, 2)
        link = Link("test", database, ending)
        assert await link.call(lambda queue: queue.reserve("mail")) == []
        database.failures = 10**9
        await link.call(lambda queue: queue.connection.close())
        ending.deadline = time.monotonic() + 0.5
        began = time.monotonic()
        with pytest.raises(ConnectionFailed):
            await link.call(lambda queue: queue.reserve("mail"))
        assert time.monotonic() - began >= 0.4
        await link.close()
        other = Link("test", database, Ending())
        with pytest.raises(ConnectionFailed):
            await other.call(lambda queue: queue.reserve("mail"), patient=False)
        await other.close()

    asyncio.run(run())


def test_a_pause_ends_with_the_deadline_that_comes_meanwhile() -> None:
    async def run() -> float:
        ending, began = Ending(), time.monotonic()
        pause = asyncio.create_task(ending.pause(PATIENCE_SECONDS))
        await asyncio.sleep(0)
        ending.deadline = time.monotonic() + 0.05
        await pause
        return time.monotonic() - began

    assert 0.05 <= asyncio.run(run()) < PATIENCE_SECONDS / 2


class Even(Ending):
    """Its pauses are over at once, and the time of links goes on by so many seconds in each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        super().__init__()
        self._now, self._each = 1000.0, seconds
        monkeypatch.setattr(link_module, "time", SimpleNamespace(monotonic=lambda: self._now))

    async def pause(self, seconds: float) -> None:  # noqa: ARG002
        self._now += self._each


def test_that_the_database_is_back_stands_in_the_log(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        link = Link("test", Away(harness.url, 2), Even(monkeypatch, 100))
        for _ in range(2):
            await link.call(lambda queue: queue.reserve("mail"))
        await link.close()

    with caplog.at_level(logging.INFO, "pyqueue_sql.worker"):
        asyncio.run(run())
    said = [(one.levelname, one.getMessage()) for one in caplog.records]
    assert [level for level, _ in said] == ["WARNING", "WARNING", "INFO"]
    assert said[2][1] == "test: back after 200.0 s", "since it was lost, not since it was last missed"
    assert vars(caplog.records[2])["seconds"] == 200


def test_what_is_wrong_is_said_once_and_again_after_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [*["nobody is there"] * 200, *["who are you?"] * 200]

    def refuse() -> Queue[Any]:
        raise ConnectionFailed(left.pop(0))

    async def run() -> None:
        link = Link("test", refuse, Even(monkeypatch, 1))
        with pytest.raises(IndexError):
            await link.call(lambda queue: queue.reserve("mail"))
        await link.close()

    with caplog.at_level(logging.INFO, "pyqueue_sql.worker"):
        asyncio.run(run())
    first, second = "test: nobody is there; trying again", "test: who are you?; trying again"
    assert caplog.messages == [*[first] * 4, *[second] * 4], "at once, and once a minute"


def test_what_fails_as_the_loop_ends_is_nothing_to_report(caplog: pytest.LogCaptureFixture) -> None:
    go = threading.Event()

    def fail() -> None:
        assert go.wait(PATIENCE_SECONDS)
        raise ValueError("on purpose")

    async def begin() -> asyncio.Future[None]:
        return link_module.in_thread("fails", fail)

    loop = asyncio.new_event_loop()
    future = loop.run_until_complete(begin())
    go.set()
    until(lambda: not [one for one in threading.enumerate() if one.name == "pyqueue-fails"])
    loop.call_soon(loop.stop)
    loop.run_forever()  # what comes of the job, and no more than that
    loop.close()
    assert future.done()
    del future
    gc.collect()
    assert caplog.messages == []


def test_a_server_that_says_that_it_is_starting_is_waited_for_in_any_case(harness: Harness) -> None:
    async def run() -> None:
        link = Link("test", Away(harness.url, 1, busy=True), Ending())
        assert await link.call(lambda queue: queue.reserve("mail"), patient=False) == []
        assert link.reopened_at == float("-inf"), "it is the first connection"
        await link.call(lambda queue: queue.connection.close())
        assert await link.call(lambda queue: queue.reserve("mail"), patient=False) == []
        assert link.reopened_at <= time.monotonic() < link.reopened_at + PATIENCE_SECONDS
        await link.close()

    asyncio.run(run())


def test_what_worked_before_is_tried_again_whatever_the_reason(harness: Harness) -> None:
    failures = [False, True, False]

    async def run() -> None:
        link = Link("test", lambda: Queue(connect(harness.url)), Ending())
        for _ in range(2):
            assert await link.call(failing(failures)) == []
        await link.close()

    asyncio.run(run())
    assert failures == []


def test_what_comes_behind_a_link_that_has_worked_is_tried_again_at_once(harness: Harness) -> None:
    failures = [True, False]

    async def run() -> None:
        first = Link("first", lambda: Queue(connect(harness.url)), Ending())
        link = Link("test", lambda: Queue(connect(harness.url)), Ending(), behind=first)
        assert (await first.call(lambda queue: queue.reserve("mail")), link.is_proven) == ([], True)
        assert await link.call(failing(failures)) == []
        await link.close()
        await first.close()

    asyncio.run(run())
    assert failures == []


def test_a_connection_that_could_not_be_made_ready_is_closed(harness: Harness, queue: Session) -> None:
    before, opened = set(others(queue)), list[Any]()

    def connect_and_note() -> Any:
        opened.append(Queue(connect(harness.url)))
        return opened[-1]

    def refuse(_: object) -> None:
        raise ValueError("not this one")

    async def run() -> None:
        link = Link("test", connect_and_note, Ending(), refuse)
        with pytest.raises(ValueError, match="not this one"):
            await link.call(lambda queue: queue.reserve("mail"))
        await link.close()

    asyncio.run(run())
    assert len(opened) == 1
    until(lambda: set(others(queue)) <= before)


def test_what_never_worked_is_not_tried_for_ever(harness: Harness) -> None:
    def wrong(queue: Queue[Any]) -> None:
        with queue.connection.cursor() as cursor:
            cursor.execute("select no_such_column from no_such_table")

    async def run() -> None:
        link = Link("test", lambda: Queue(connect(harness.url)), Ending())
        with pytest.raises(Exception, match="no_such_table"):
            await link.call(wrong)
        await link.close()

    asyncio.run(run())


@pytest.mark.servers("mariadb", "mysql")
def test_a_wait_ends_that_was_stopped_while_its_connection_was_being_opened(
    harness: Harness, queue: Session
) -> None:
    opening, opened = threading.Event(), threading.Event()

    def connect_slowly() -> Any:
        opening.set()
        assert opened.wait(PATIENCE_SECONDS)
        return Queue(connect(harness.url))

    async def run() -> None:
        ending = Ending()
        link, other = (
            Link("wait", connect_slowly, ending),
            Link("other", lambda: Queue(connect(harness.url)), ending),
        )
        waiter = Waiter(link, ["mail"], 300, lambda *_: None)
        waiter.want(["mail"], lambda _: None)
        await asyncio.to_thread(opening.wait, PATIENCE_SECONDS)
        await waiter.stop(other)
        opened.set()
        while link.thread_id() is None:
            await asyncio.sleep(0.01)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await link.close()
        await other.close()

    asyncio.run(run())
    assert queue.peek("mail") == []


def test_pauses_begin_again_once_it_has_worked(harness: Harness) -> None:
    pauses: list[float] = []

    class Hasty(Ending):
        async def pause(self, seconds: float) -> None:
            pauses.append(seconds)

    async def run() -> None:
        database = Away(harness.url, 0)
        link = Link("test", database, Hasty())
        for count in (8, 1):
            database.failures = count
            assert await link.call(lambda queue: queue.reserve("mail")) == []
            await link.call(lambda queue: queue.connection.close())
        await link.close()

    asyncio.run(run())
    assert max(pauses[:8]) > 1
    assert all(pause < 1 for pause in pauses[8:]), pauses


def test_what_is_abandoned_while_its_connection_opens_leaves_no_thread(harness: Harness) -> None:
    def opened(queue: Queue[Any]) -> None:
        way.fall_silent()
        queue.workers()

    async def run() -> None:
        link = Link("silent", lambda: Queue(connect(way.url)), Ending(), opened)
        task = asyncio.create_task(link.call(lambda queue: queue.workers()))
        await asyncio.sleep(0.5)
        link.abandon()
        with pytest.raises(ConnectionFailed, match="doesn't answer"):
            await task
        await link.close()

    with proxy(harness.url) as way:
        asyncio.run(run())
        until(lambda: not [one for one in threading.enumerate() if one.name == "pyqueue-silent"])


def test_what_was_abandoned_is_not_done_later(harness: Harness, queue: Session) -> None:
    opening, go, done = threading.Event(), threading.Event(), list[object]()

    def slow() -> Queue[Any]:
        opening.set()
        go.wait(PATIENCE_SECONDS)
        return Queue(connect(harness.url))

    async def run() -> None:
        link = Link("slow", slow, Ending())
        task = asyncio.create_task(link.call(lambda own: done.append(own.reserve("mail"))))
        await asyncio.to_thread(opening.wait, PATIENCE_SECONDS)
        link.abandon()
        with pytest.raises(ConnectionFailed):
            await task
        await link.close()

    queue.push("mail", "a")
    asyncio.run(run())
    go.set()
    until(lambda: not [one for one in threading.enumerate() if one.name == "pyqueue-slow"])
    assert done == []
    assert [(one.state, one.attempts) for one in queue.peek("mail")] == [("ready", 0)]
