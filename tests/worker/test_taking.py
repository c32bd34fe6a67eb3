"""What a worker takes: from which kind, how many kinds there may be, and what it does where it can't."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message, Queue, Restricted
from pyqueue_sql.worker import Handlers, Worker, keeping, pace, running
from pyqueue_sql.worker.board import Board
from tests.worker.helpers import LONG_SECONDS, PATIENCE_SECONDS, Running, until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyqueue_sql import Reserved
    from pyqueue_sql.worker.delivery import Delivery
    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers


def test_an_error_of_the_driver_in_a_reserve_ends_it(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(self: Queue[Any], *_: object, **__: object) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("select no_such_column from no_such_table")

    monkeypatch.setattr(Queue, "reserve", wrong)
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    with pytest.raises(Exception, match="no_such_table"):
        Running(Worker(workers.url, handlers)).join()
    assert queue.workers() == [], "it has left"


def test_one_that_drains_looks_again_for_what_was_pushed_while_it_looked(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, seen = Handlers(), list[str]()
    looked, settled = threading.Event(), threading.Event()
    reserve, forget = Queue[Any].reserve, Board.forget

    @handlers.on("mail")
    def work(message: Message) -> None:
        if message.key == "first":
            assert looked.wait(PATIENCE_SECONDS)
            queue.push("mail", "second")
        seen.append(message.key)

    def reserving(self: Queue[Any], *args: Any, **options: Any) -> list[Reserved]:
        found = reserve(self, *args, **options)
        if not found and not looked.is_set():
            looked.set()
            assert settled.wait(PATIENCE_SECONDS)
        return found

    def forgetting(self: Board, deliveries: Iterable[Delivery]) -> None:
        given = list(deliveries)
        forget(self, given)
        if given:
            settled.set()

    queue.push("mail", "first")
    monkeypatch.setattr(Queue, "reserve", reserving)
    monkeypatch.setattr(Board, "forget", forgetting)
    workers.drain(handlers, concurrency=2)
    assert seen == ["first", "second"]


def test_one_that_is_stopped_in_the_middle_of_a_round_takes_of_no_other_kind(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, asked, reserve = Handlers(), list[str](), Queue[Any].reserve
    for kind in ("one", "other"):
        handlers.on(kind)(lambda _: None)
        queue.push(kind, "a")
    worker = Worker(workers.url, handlers, concurrency=2)

    def reserving(self: Queue[Any], kind: str, *args: Any, **options: Any) -> list[Reserved]:
        asked.append(kind)
        worker.stop()
        return reserve(self, kind, *args, **options)

    monkeypatch.setattr(Queue, "reserve", reserving)
    Running(worker).join()
    assert asked == ["one"]
    assert [queue.stats(kind)[0].acked_total for kind in handlers] == [1, 0]


def test_a_kind_that_is_for_others_is_asked_for_at_each_poll_and_that_is_said_once_each_time(
    queue: Session, workers: Workers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, seen, reserve = Handlers(), list[str](), Queue[Any].reserve
    closed, asked_at = {"one"}, list[float]()
    for kind in ("one", "other"):
        handlers.on(kind)(lambda message: seen.append(message.kind))

    def reserving(self: Queue[Any], kind: str, *args: Any, **options: Any) -> list[Reserved]:
        if kind == "one":
            asked_at.append(time.monotonic())
        if kind in closed:
            raise Restricted(f"{kind} is for others")
        return reserve(self, kind, *args, **options)

    monkeypatch.setattr(Queue, "reserve", reserving)
    with caplog.at_level(logging.WARNING), workers.running(handlers, poll_seconds=0.3):
        until(lambda: len(asked_at) > 2)
        assert asked_at[2] - asked_at[0] >= 0.5
        assert caplog.messages == ["one is for others; trying again"]
        for let_in, kept_out in (("one", "other"), ("other", "one")):
            closed.remove(let_in)
            queue.push(let_in, "a")
            until(lambda kind=let_in: kind in seen)
            closed.add(kept_out)
            until(lambda kind=kept_out: caplog.messages[-1] == f"{kind} is for others; trying again")
    assert len(caplog.messages) == 3


def test_what_breaks_where_coroutines_run_ends_it_with_that_error(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(running, "run_async", breaks)
    handlers = Handlers()

    @handlers.on("mail")
    async def work(_: Message) -> None: ...

    queue.push("mail", "a")
    with pytest.raises(RuntimeError, match="on purpose"):
        Running(Worker(workers.url, handlers)).join()
    assert [(one.state, one.attempts) for one in queue.peek("mail")] == [("ready", 0)]


def test_kinds_take_turns_where_nothing_is_taken_ahead(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "HORIZON_SECONDS", 0.0)
    handlers, order = Handlers(), list[str]()
    for kind in ("one", "other"):
        handlers.on(kind)(lambda message: order.append(message.kind))
        queue.push_many(kind, [{"key": str(number), "payload": None} for number in range(20)])
    workers.drain(handlers)
    assert order == ["one", "other"] * 20


def test_what_waits_goes_back_where_its_handler_turns_out_to_be_slow(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(pace, "HORIZON_SECONDS", LONG_SECONDS)
    handlers, began, end = Handlers(), threading.Event(), threading.Event()

    @handlers.on("mail")
    def work(message: Message) -> None:
        if message.key.startswith("slow"):
            began.set()
            end.wait(PATIENCE_SECONDS)

    queue.push_many("mail", [{"key": f"quick {number}", "payload": None} for number in range(20)])
    with workers.running(handlers):
        until(lambda: queue.stats("mail")[0].acked_total == 20)
        queue.push_many("mail", [{"key": f"slow {number}", "payload": None} for number in range(20)])
        until(lambda: began.is_set() and queue.stats("mail")[0].reserved > 2)
        monkeypatch.setattr(pace, "HORIZON_SECONDS", 0.0)
        until(lambda: queue.stats("mail")[0].reserved == 2)  # one runs, and one is next
        assert {one.attempts for one in queue.peek("mail", 20) if one.state == "ready"} == {0}
        end.set()


def test_coroutines_that_never_wait_let_the_event_loop_go_on(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "TURN_SECONDS", -1.0)
    handlers, turns, found = Handlers(), list[None](), list[int]()

    @handlers.on("mail")
    async def work(_: Message) -> None:
        found.append(len(turns))
        asyncio.get_running_loop().call_soon(turns.append, None)

    queue.push_many("mail", [{"key": str(number), "payload": None} for number in range(10)])
    workers.drain(handlers)
    assert found == [*range(10)]


def test_more_kinds_than_a_call_takes(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, seen, looked, reserve = Handlers(), list[str](), set[str](), Queue[Any].reserve
    kinds = [f"kind {number}" for number in range(keeping.KINDS_A_CALL + 1)]
    for kind in kinds:
        handlers.on(kind)(lambda message: seen.append(message.kind))

    def reserving(self: Queue[Any], kind: str, *args: Any, **options: Any) -> list[Reserved]:
        looked.add(kind)
        return reserve(self, kind, *args, **options)

    monkeypatch.setattr(Queue, "reserve", reserving)
    with workers.running(handlers, poll_seconds=0.1) as worker:
        until(lambda: looked == {*kinds} or worker.error)  # then it asks for all of them at once
        assert [one.kinds for one in queue.workers()] == [None]
        for kind in (kinds[0], kinds[-1]):
            queue.push(kind, "a")
            until(lambda kind=kind: seen[-1:] == [kind])
