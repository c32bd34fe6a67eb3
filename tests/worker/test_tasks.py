"""Tasks: what a decorator says of its kind, pushes by a handler's own name, results, and cron."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pyqueue_sql import AsyncQueue, EndedBadly, Message, NotKept, wait_for_result, wait_for_result_async
from pyqueue_sql.calls import results
from pyqueue_sql.worker import Handlers, Move, Reject
from tests.worker.helpers import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers

imported = Handlers()


@dataclass
class Order:
    number: int
    due: date


@imported.task("imported", max_attempts=3)
def place(order: Order) -> None:
    """Of a module, so that another process can import it."""


def test_settings_of_the_decorator_are_those_of_the_kind(queue: Session, workers: Workers) -> None:
    handlers = Handlers()

    @handlers.task("mail", max_attempts=2, backoff_seconds=0, timeout_seconds=77, dead_letter_kind="morgue")
    def send(text: str) -> None:
        raise LookupError(text)

    queue.define("mail", rate_per_second=1000)
    send.push(queue, "hello", "a")
    workers.drain(handlers)
    kind = queue.define("mail")
    assert (kind.max_attempts, kind.backoff_seconds, kind.timeout_seconds) == (2, 0, 77)
    assert kind.rate_per_second == 1000, "what the decorator doesn't name stays"
    until(lambda: not queue.peek("mail") or workers.drain(handlers))
    [dead] = queue.peek("morgue")
    assert [error["attempt"] for error in dead.errors] == [1, 2]


def test_a_push_by_the_handlers_own_name(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[Order | bytes]()

    @handlers.task("orders", order_key=lambda order: str(order.number))
    def place_it(order: Order) -> None:
        seen.append(order)

    @handlers.task("scans")
    def scan(page: bytes) -> None:
        seen.append(page)

    first, second = Order(1, date(2026, 2, 3)), Order(1, date(2026, 2, 4))
    assert place_it.push(queue, first, "a").outcome == "created"
    assert place_it.push(queue, first, "a").outcome == "ignored"
    place_it.push(queue, second, "b", priority=5)
    assert [one.state for one in queue.peek("orders")] == ["ready", "waiting"]
    place_it.push(queue, first, "c", order_key="of its own")
    found = queue.get("orders", "c")
    assert found is not None and found.state == "ready"
    queue.remove("orders", "c")
    scan.push(queue, b"\x00\xff")
    workers.drain(handlers)
    assert sorted(seen, key=str) == sorted([first, second, b"\x00\xff"], key=str)
    place_it(first)
    assert seen[-1] is first
    with pytest.raises(TypeError, match="object can't become JSON"):
        place.push(queue, object())  # pyright: ignore -- that is what the types are for


def test_what_a_handler_returns_is_the_result(queue: Session, workers: Workers) -> None:
    handlers = Handlers()

    @handlers.task("sums", keep_result=True)
    def add(numbers: list[int]) -> int | None:
        return sum(numbers) or None

    @handlers.task("dates", keep_result=True)
    async def tomorrow(order: Order) -> Order:
        return Order(order.number + 1, order.due)

    @handlers.on("first")
    def move(_: Message) -> Move:
        return Move("sums")

    @handlers.task("odd", keep_result=True, max_attempts=1)
    def odd(_: int) -> object:
        return object()

    @handlers.on("bad")
    def refuse(_: Message) -> None:
        raise Reject("no such account")

    queue.define("bad", history_seconds=60)
    queue.define("first", history_seconds=60)
    for key, numbers in (("a", [1, 2]), ("b", [1, 2]), ("c", [])):
        add.push(queue, numbers, key)
    tomorrow.push(queue, Order(7, date(2026, 2, 3)), "a")
    queue.push("first", "m", [20, 22])
    queue.push("bad", "a")
    queue.push("unkept", "a")
    odd.push(queue, 1, "a")
    with workers.running(handlers):
        assert [add.result(queue, key) for key in ("a", "b", "c")] == [3, 3, None]
        assert tomorrow.result(queue, "a") == {"number": 8, "due": "2026-02-03"}
        assert wait_for_result(queue, "first", "m") == 42
        with pytest.raises(EndedBadly, match="bad a: dead, no such account"):
            wait_for_result(queue, "bad", "a")
        with pytest.raises(EndedBadly, match="odd a: dead, TypeError: object can't become JSON"):
            odd.result(queue, "a")
    queue.push("sums", "late", [1])
    with pytest.raises(TimeoutError, match=r"sums late: not done within 0\.05 s"):
        add.result(queue, "late", 0.05)
    with pytest.raises(NotKept, match="history_seconds"):
        wait_for_result(queue, "sums", "never")


def test_what_was_popped_or_removed_has_no_result(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    queue.push("mail", "popped")
    queue.pop("mail")
    queue.push("mail", "removed")
    queue.remove("mail", "removed")
    for key in ("popped", "removed"):
        with pytest.raises(EndedBadly, match=f"^mail {key}: {key}$"):
            wait_for_result(queue, "mail", key)


@pytest.mark.parametrize("coroutines", [False, True])
def test_who_waits_for_a_result_looks_often_at_first_and_later_every_second(
    coroutines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, pauses = 0.0, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        pauses.append(seconds)
        now += seconds

    async def nothing(*_: object) -> bool:
        return True

    async def asleep(seconds: float) -> None:
        sleep(seconds)

    monkeypatch.setattr(results, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    monkeypatch.setattr(results, "asyncio", SimpleNamespace(sleep=asleep))
    there: Any = SimpleNamespace(get=nothing if coroutines else lambda *_: True)
    with pytest.raises(TimeoutError, match="mail a: not done within 30 s"):
        if coroutines:
            asyncio.run(wait_for_result_async(there, "mail", "a"))
        else:
            wait_for_result(there, "mail", "a")
    assert (pauses[0], pauses[-1], pauses) == (0.02, 1.0, sorted(pauses))
    assert 30 <= now < 31


@pytest.mark.servers("postgresql")
def test_results_over_an_async_queue(harness: Harness, queue: Session, workers: Workers) -> None:
    handlers = Handlers()

    @handlers.task("sums", keep_result=True)
    def add(numbers: list[int]) -> int:
        return sum(numbers)

    @handlers.on("first")
    def move(_: Message) -> Move:
        return Move("sums")

    queue.define("first", history_seconds=60)
    queue.push("first", "m", [20, 22])
    queue.push("later", "a", delay_seconds=60)

    async def ask() -> Any:
        async with await psycopg.AsyncConnection.connect(harness.url, autocommit=True) as connection:
            async_queue = AsyncQueue(connection)
            assert await wait_for_result_async(async_queue, "first", "m") == 42
            with pytest.raises(TimeoutError, match=r"later a: not done within 0\.05 s"):
                await wait_for_result_async(async_queue, "later", "a", 0.05)
            with pytest.raises(NotKept, match="sums never"):
                await wait_for_result_async(async_queue, "sums", "never")
            pushed = await add.push(async_queue, [1, 2])
            return await add.result_async(async_queue, pushed.key)

    with workers.running(handlers):
        assert asyncio.run(ask()) == 3
    assert queue.peek("sums") == []


def test_cron_of_the_decorator_is_a_schedule_that_a_start_leaves_alone(
    queue: Session, workers: Workers
) -> None:
    def started(cron: str, seen: list[None]) -> None:
        handlers = Handlers()

        @handlers.task("nightly", cron=cron, time_zone="+02:00")
        def report(nothing: None) -> None:
            seen.append(nothing)

        assert report.kind == "nightly"
        workers.drain(handlers)

    seen: list[None] = []
    started("0 3 * * *", seen)
    [first] = queue.schedules()
    assert (first.name, first.kind, first.rule["cron"], first.rule["time_zone"]) == (
        "nightly", "nightly", "0 3 * * *", "+02:00",
    )  # fmt: skip
    queue.schedule("nightly", "nightly", None, cron="0 3 * * *", time_zone="+02:00", catch_up="skip")
    started("0 3 * * *", seen)
    assert queue.schedules()[0].catch_up == "skip", "what is there as it should be is left alone"
    started("0 4 * * *", seen)
    assert [one.rule["cron"] for one in queue.schedules()] == ["0 4 * * *"]
    queue.schedule(
        "nightly",
        "nightly",
        None,
        cron="0 4 * * *",
        time_zone="+02:00",
        catch_up="skip",
        paused=True,
        priority=7,
        until="2099-01-01T00:00:00Z",
    )
    started("0 5 * * *", [])
    [last] = queue.schedules()
    assert last.until == datetime(2099, 1, 1, tzinfo=UTC)
    assert (last.rule["cron"], last.catch_up, last.paused) == ("0 5 * * *", "skip", True), "the rest stays"
    assert last.push_options == {"priority": 7}
    queue.push("nightly", "now")
    started("0 4 * * *", seen)
    assert seen == [None]
    queue.schedule("nightly", "another", None, cron="0 4 * * *", time_zone="+02:00")
    started("0 4 * * *", [])
    assert [one.kind for one in queue.schedules()] == ["nightly"]


def test_what_the_database_refuses_of_it_is_in_the_log(
    queue: Session, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    handlers, seen = Handlers(), list[int]()

    @handlers.task("mail", cron="at noon")
    def send(number: int) -> None:
        seen.append(number)

    send.push(queue, 1)
    workers.drain(handlers)
    assert seen == [1]
    assert "mail is left as it is: " in caplog.text
    assert "at noon" in caplog.text


EVERY: dict[str, Any] = {
    "payload": dict, "concurrency": 2, "max_messages": 3, "timeout_seconds": 4.0, "max_seconds": 5.0,
    "keep_result": True, "cron": "0 3 * * *", "time_zone": "+02:00", "settings": {"max_attempts": 6},
}  # fmt: skip
"""Each option of a handler."""
OF_TASK = {name: value for name, value in EVERY.items() if name != "settings"} | EVERY["settings"]


@imported.on("by on", **EVERY)
def by_on(_: object) -> None:
    pass


@imported.task("by task", **OF_TASK)
def by_task(_: object) -> None:
    pass


def test_another_process_has_each_option_and_a_task_has_those_of_on() -> None:
    assert [*EVERY] == [*inspect.signature(Handlers.on).parameters][2:]
    copy: Handlers = pickle.loads(pickle.dumps(imported))
    for kind in ("by on", "by task"):
        assert replace(copy[kind], parse=None) == replace(imported[kind], parse=None)
    by_hand = replace(imported["by on"], parse=None)
    settings: Any = {**by_hand.settings, "timeout_seconds": 4.0}
    assert replace(imported["by task"], parse=None) == replace(
        by_hand, kind="by task", function=by_task.function, timeout_seconds=None, settings=settings
    )


def test_another_process_imports_a_task() -> None:
    copy: Handlers = pickle.loads(pickle.dumps(imported))
    assert copy["imported"].function is place.function
    assert copy["imported"].settings == {"max_attempts": 3}
    assert pickle.loads(pickle.dumps(place)) is place


def test_what_a_decorator_refuses() -> None:
    handlers = Handlers()
    refused: list[Callable[[], Any]] = [
        lambda: handlers.task("mail", time_zone="UTC")(place.function),
        lambda: handlers.task("mail", concurrency=0)(place.function),
    ]
    for one in refused:
        with pytest.raises(ValueError, match=r"time_zone UTC|concurrency 0"):
            one()
