"""What a worker holds: for how long, how much, of which kind, and what it gives back."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message, Queue
from pyqueue_sql.worker import AsyncWorker, Context, Handlers, Snooze, taking
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.delivery import Delivery
from tests.conformance.steps import keys
from tests.worker.helpers import LONG_SECONDS, PATIENCE_SECONDS, Running, one_slow, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers


def test_a_hold_is_renewed_while_its_handler_runs(queue: Session, workers: Workers) -> None:
    handlers, attempts = Handlers(), list[int]()

    @handlers.on("slow", timeout_seconds=1.5)
    def slow(message: Message) -> None:
        attempts.append(message.attempts)
        time.sleep(2.5)

    queue.push("slow", "a")
    with workers.running(handlers, drain=True) as worker:
        until(lambda: attempts)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            assert queue.reserve("slow") == []
            time.sleep(0.05)
        worker.join()
    assert attempts == [1]
    assert queue.stats("slow")[0].acked_total == 1


def test_a_coroutine_that_takes_too_long_is_cancelled(queue: Session, workers: Workers) -> None:
    queue.define("slow", max_attempts=1, history_seconds=3600)
    handlers = Handlers()

    @handlers.on("slow", max_seconds=0.1)
    async def slow(_: Message) -> None:
        await asyncio.sleep(LONG_SECONDS)

    queue.push("slow", "a")
    workers.drain(handlers)
    (dead,) = queue.history("slow")
    assert dead.errors[0]["error"].startswith("TimeoutError")


def test_a_function_that_takes_too_long_loses_its_message(queue: Session, workers: Workers) -> None:
    handlers, end = Handlers(), threading.Event()

    @handlers.on("slow", timeout_seconds=0.3, max_seconds=0.3)
    def slow(_: Message) -> None:
        end.wait(PATIENCE_SECONDS)

    queue.push("slow", "a")
    with workers.running(handlers):
        until(lambda: queue.stats("slow")[0].reserved_total == 1)
        assert until(lambda: queue.reserve("slow", "another"))[0].attempts == 2
        end.set()
    message = queue.get("slow", "a")
    assert message is not None and message.reserved_by == "another"


def test_what_is_lost_while_it_waits_for_its_handler_is_not_handled(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, held, seen = Handlers(), list[Delivery](), list[str]()
    running, end = threading.Event(), threading.Event()
    add = Board.add

    def adding(self: Board, deliveries: Sequence[Delivery]) -> None:
        held.extend(deliveries)
        add(self, deliveries)

    monkeypatch.setattr(Board, "add", adding)

    @handlers.on("mail", timeout_seconds=0.5)
    def work(message: Message) -> None:
        if message.key == "first":
            running.set()
            end.wait(PATIENCE_SECONDS)
        seen.append(message.key)

    queue.push_many("mail", [{"key": f"quick {number}"} for number in range(20)])
    with workers.running(handlers):
        until(lambda: len(seen) == 20)
        del seen[:], held[:]
        queue.push_many("mail", [{"key": key} for key in ("first", "second")])
        assert running.wait(PATIENCE_SECONDS)
        second = until(lambda: [one for one in held if one.message.key == "second"])[0]
        queue.extend(second.receipt, 0)
        until(lambda: keys(queue.reserve("mail", "another", timeout_seconds=60)) == ["second"])
        until(lambda: second.is_given_up)
        end.set()
        queue.push("mail", "third")
        until(lambda: "third" in seen)
    assert seen == ["first", "third"]
    stats = queue.stats("mail")[0]
    assert (stats.acked_total, stats.reserved) == (22, 1)


def test_many_messages_are_taken_and_settled_in_few_calls(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, seen = Handlers(), list[str]()
    calls = 0

    @handlers.on("many")
    def quick(message: Message) -> None:
        seen.append(message.key)

    queue.push_many("many", [{"key": str(number), "payload": None} for number in range(3000)])
    run = Queue[Any]._run  # pyright: ignore[reportPrivateUsage]

    def counting(self: Queue[Any], what: Any) -> Any:
        nonlocal calls
        calls += 1
        return run(self, what)

    monkeypatch.setattr(Queue, "_run", counting)
    workers.drain(handlers)
    assert sorted(seen, key=int) == [str(number) for number in range(3000)]
    assert calls < 100


def test_a_worker_that_holds_as_much_as_it_may_waits_for_what_is_settled(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "MOST_HELD", 3)
    handlers = Handlers()

    @handlers.on("many")
    def work(_: Message) -> None:
        pass

    queue.push_many("many", [{"key": str(number), "payload": None} for number in range(50)])
    with workers.running(handlers):
        until(lambda: queue.stats("many")[0].acked_total == 50)


def test_a_busy_kind_does_not_starve_another(queue: Session, workers: Workers) -> None:
    handlers, order = Handlers(), list[str]()

    @handlers.on("busy")
    def busy(_: Message) -> None:
        order.append("busy")
        time.sleep(0.002)

    @handlers.on("rare")
    def rare(_: Message) -> None:
        order.append("rare")

    queue.push_many("busy", [{"key": str(number), "payload": None} for number in range(1500)])
    with workers.running(handlers, poll_seconds=0.2):
        until(lambda: len(order) > 300)
        queue.push("rare", "a")
        until(lambda: "rare" in order)
        assert order.index("rare") < 1400
        until(lambda: len(order) == 1501)


def test_no_more_of_a_kind_at_once_than_it_says(queue: Session, workers: Workers) -> None:
    handlers, lock = Handlers(), threading.Lock()
    running: dict[str, int] = {"few": 0, "many": 0}
    most = dict(running)

    def work(message: Message) -> None:
        with lock:
            running[message.kind] += 1
            most[message.kind] = max(most[message.kind], running[message.kind])
        time.sleep(0.05)
        with lock:
            running[message.kind] -= 1

    handlers.on("few", concurrency=2)(work)
    handlers.on("many")(work)
    for kind in running:
        queue.push_many(kind, [{"key": str(number), "payload": None} for number in range(12)])
    workers.drain(handlers, concurrency=6)
    assert most["few"] == 2
    assert most["many"] > 2


def test_no_more_messages_than_it_was_told(queue: Session, workers: Workers) -> None:
    handlers = Handlers()

    @handlers.on("many")
    def work(_: Message) -> None:
        pass

    queue.push_many("many", [{"key": str(number), "payload": None} for number in range(10)])
    with workers.running(handlers, max_messages=7) as worker:
        worker.join()
    stats = queue.stats("many")[0]
    assert (stats.acked_total, stats.ready, stats.reserved) == (7, 3, 0)


@pytest.mark.parametrize("stops", [0, 1])
def test_the_last_of_as_many_as_it_was_told_has_a_grace_only_once_it_is_stopped(
    queue: Session, workers: Workers, stops: int
) -> None:
    handlers, began, end = one_slow(queue)
    running = workers.start(handlers, max_messages=1, grace_seconds=0.1)
    assert began.wait(PATIENCE_SECONDS)
    if stops:
        running.stop()
        running.join()
    else:
        time.sleep(0.4)
    end.set()
    running.join()
    stats = queue.stats("slow")[0]
    assert (stats.ready, stats.acked_total) == (stops, 1 - stops)


def test_slow_messages_are_not_taken_ahead(queue: Session, workers: Workers) -> None:
    handlers, end = Handlers(), threading.Event()

    @handlers.on("slow")
    def slow(_: Message) -> None:
        end.wait(PATIENCE_SECONDS)

    queue.push_many("slow", [{"key": str(number), "payload": None} for number in range(10)])
    with workers.running(handlers, concurrency=3):
        until(lambda: queue.stats("slow")[0].reserved == 3)
        time.sleep(0.3)
        assert queue.stats("slow")[0].reserved == 3
        end.set()


def test_a_worker_that_stops_ends_what_it_began(queue: Session, workers: Workers) -> None:
    handlers, began, told = Handlers(), threading.Event(), list[bool]()

    @handlers.on("slow")
    def slow(_: Message, context: Context) -> Snooze | None:
        began.set()
        until(lambda: context.shutting_down)
        told.append(True)

    queue.push("slow", "a")
    queue.push("slow", "b")
    with workers.running(handlers):
        assert began.wait(PATIENCE_SECONDS)
    stats = queue.stats("slow")[0]
    assert (told, stats.acked_total, stats.ready, stats.reserved) == ([True], 1, 1, 0)
    assert queue.workers() == []


def test_a_worker_that_stops_at_once_gives_back_what_it_holds(queue: Session, workers: Workers) -> None:
    handlers, began, end = Handlers(), list[str](), threading.Event()

    @handlers.on("function")
    def function(message: Message) -> None:
        began.append(message.key)
        end.wait(PATIENCE_SECONDS)

    @handlers.on("coroutine")
    async def coroutine(message: Message) -> None:
        began.append(message.key)
        await asyncio.sleep(LONG_SECONDS)

    queue.push("function", "f")
    queue.push("coroutine", "c")
    worker = workers.start(handlers)
    until(lambda: len(began) == 2)
    worker.stop()
    worker.stop()
    worker.join()
    for kind, key in (("function", "f"), ("coroutine", "c")):
        message = queue.get(kind, key)
        assert message is not None
        assert (message.state, message.attempts) == ("ready", 0)
    end.set()


def test_what_runs_after_the_grace_is_given_back(queue: Session, workers: Workers) -> None:
    handlers, began, end = one_slow(queue)
    with workers.running(handlers, grace_seconds=0.2):
        assert began.wait(PATIENCE_SECONDS)
    message = queue.get("slow", "a")
    assert message is not None
    assert (message.state, message.attempts) == ("ready", 0)
    end.set()


def test_a_worker_in_an_event_loop(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[int]()
    running = most = 0

    @handlers.on("numbers")
    async def note(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        seen.append(number)

    queue.push_many("numbers", [{"key": str(number), "payload": number} for number in range(40)])
    Running(AsyncWorker(workers.url, handlers, concurrency=20, drain=True)).join()
    assert sorted(seen) == list(range(40))
    assert 1 < most <= 20
