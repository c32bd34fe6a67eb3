"""What becomes of a message by what its handler takes, returns and raises."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import AsyncQueue, Message, Queue, Refused
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.worker import AsyncContext, Context, Handlers, Lost, Move, Reject, Retry, Snooze
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.context import Connections, Stopping
from pyqueue_sql.worker.delivery import ACK, Delivery, Settlement
from pyqueue_sql.worker.finishing import Finisher
from pyqueue_sql.worker.running import run_async
from pyqueue_sql.worker.settling import settle
from tests.worker.helpers import PATIENCE_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers


@dataclass
class Email:
    """A payload."""

    to: str
    copies: int = 1


def test_what_returns_is_acknowledged(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[str]()

    @handlers.on("mail")
    def send(message: Message) -> object:
        seen.append(message.key)
        return {"no JSON"}

    queue.push_many("mail", [{"key": key, "payload": 1} for key in "abc"])
    workers.drain(handlers)
    assert sorted(seen) == ["a", "b", "c"]
    assert queue.stats("mail")[0].acked_total == 3
    assert not queue.history("mail"), "nobody asked for its result"


def test_functions_and_coroutines_in_one_worker(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[str]()

    @handlers.on("plain")
    def plain(message: Message) -> None:
        seen.append(message.key)

    @handlers.on("coroutine")
    async def coroutine(message: Message) -> None:
        await asyncio.sleep(0)
        seen.append(message.key)

    queue.push("plain", "p")
    queue.push("coroutine", "c")
    workers.drain(handlers, concurrency=2)
    assert sorted(seen) == ["c", "p"]


def test_what_raises_is_tried_again_and_says_why(queue: Session, workers: Workers) -> None:
    queue.define("mail", max_attempts=2, backoff_seconds=0, history_seconds=3600)
    handlers = Handlers()

    @handlers.on("mail")
    def send(message: Message) -> None:
        raise ConnectionError(f"the server is down, attempt {message.attempts} \0 \ud800")

    queue.push("mail", "a")
    workers.drain(handlers)
    (dead,) = queue.history("mail")
    assert dead.outcome == "dead"
    first, second = (one["error"] for one in dead.errors)
    line = send.__code__.co_firstlineno + 2
    assert first == (
        f"ConnectionError: the server is down, attempt 1 \\0 \\ud800 ({__file__}:{line} in send)"
    )
    assert "attempt 2" in second


def test_coroutine_that_raises_is_tried_again(queue: Session, workers: Workers) -> None:
    queue.define("mail", backoff_seconds=0)
    handlers, attempts = Handlers(), list[int]()

    @handlers.on("mail")
    async def send(message: Message) -> None:
        attempts.append(message.attempts)
        if message.attempts == 1:
            raise asyncio.CancelledError  # of something that it waited for

    queue.push("mail", "a")
    workers.drain(handlers)
    assert attempts == [1, 2]


def test_a_coroutine_that_is_cancelled_by_itself_is_a_failed_attempt(
    queue: Session, workers: Workers
) -> None:
    """And the worker goes on: it has one place for a handler."""
    queue.define("work", history_seconds=3600, max_attempts=1)
    handlers, late = Handlers(), threading.Event()

    @handlers.on("work", max_seconds=60)
    async def work(message: Message) -> None:
        task = asyncio.current_task()
        assert task is not None
        match message.key:
            case "cancel":
                task.cancel()
            case "cancel and return":
                task.cancel()
                return
            case "cancel later":
                asyncio.get_running_loop().call_later(0.05, lambda: (task.cancel(), late.set()))
                return
            case "interrupt":
                raise KeyboardInterrupt
            case "exit":
                raise GeneratorExit
            case _:
                assert not task.cancelling()
        await asyncio.sleep(0)

    failing = {"cancel": "CancelledError", "interrupt": "KeyboardInterrupt", "exit": "GeneratorExit"}
    with workers.running(handlers, concurrency=1):
        for number, key in enumerate((*failing, "cancel and return", "after that", "cancel later")):
            queue.push("work", key, priority=-number)
        assert late.wait(PATIENCE_SECONDS)
        queue.push("work", "after all")
        until(lambda: queue.stats("work")[0].total == 0)
    ended = {one.key: one for one in queue.history("work")}
    assert {key for key, one in ended.items() if one.outcome == "dead"} == failing.keys()
    assert {key for key in failing if failing[key] not in ended[key].errors[0]["error"]} == set()
    assert len(ended) == 7


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own way of taking it: in a process that has had a SparkContext there is another one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_what_ends_a_loop_from_outside_is_no_answer_of_a_coroutine(queue: Session) -> None:
    handlers, connections = Handlers(), Connections("", None, shared=False)

    @handlers.on("work")
    async def work(message: Message) -> None:
        if message.key == "interrupt":
            signal.raise_signal(signal.SIGINT)  # as Ctrl-C does
        await asyncio.Future[None]()

    queue.push_many("work", [{"key": key, "payload": None} for key in ("interrupt", "close")])
    interrupted, closed = (
        Delivery(one, handlers["work"], one.receipt, 0.0, 0.0) for one in queue.reserve("work", "me", 2)
    )
    loop = asyncio.new_event_loop()
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(run_async(interrupted, connections, Stopping()))
    running = run_async(closed, connections, Stopping())
    task = loop.create_task(running)
    loop.run_until_complete(asyncio.sleep(0))
    running.close()
    task.cancel()  # or it would wait for ever
    loop.run_until_complete(asyncio.wait([task]))
    assert task.cancelled() or task.exception() is not None
    loop.close()
    assert (interrupted.settlement, closed.settlement) == (None, None)


def test_answers(queue: Session, workers: Workers) -> None:
    queue.define("work", history_seconds=3600)
    handlers = Handlers()
    answers = {
        "retry": Retry("not yet", delay_seconds=3000),
        "reject": Reject("never"),
        "snooze": Snooze(3000),
        "move": Move("next", payload={"moved": True}, priority=3),
    }

    @handlers.on("work")
    def work(message: Message) -> object:
        if message.headers and message.headers["raised"]:
            raise answers[message.key]
        return answers[message.key]

    for raised in (True, False):
        for key in answers:
            queue.push("work", key, headers={"raised": raised})
        workers.drain(handlers)
        retry, snooze = queue.get("work", "retry"), queue.get("work", "snooze")
        assert retry is not None and snooze is not None
        assert (retry.state, retry.attempts) == ("scheduled", 1)
        assert (snooze.state, snooze.attempts) == ("scheduled", 0)
        for one in (retry, snooze):  # far beyond what the kind would have it wait
            assert one.scheduled_at - one.scheduled_at_initially >= 3000 * 1_000_000
        dead = queue.get("work.dead", "reject")
        assert dead is not None
        assert [[error["error"] for error in one.errors] for one in (retry, snooze, dead)] == [
            ["not yet"], [], ["never"],
        ]  # fmt: skip
        moved = queue.get("next", "move")
        assert moved is not None
        assert (moved.payload, moved.priority) == ({"moved": True}, 3)
        for kind in ("work", "work.dead", "next"):
            queue.purge(kind)


@pytest.mark.parametrize("raised", [False, True])
def test_an_answer_is_no_failure_in_the_log(
    queue: Session, workers: Workers, raised: bool, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = Handlers()

    @handlers.on("work")
    def work(_: Message) -> Snooze:
        if raised:
            raise Snooze(3000)
        return Snooze(3000)

    queue.push("work", "a")
    with caplog.at_level(logging.WARNING, "pyqueue_sql"):
        workers.drain(handlers)
    assert caplog.text == ""


@pytest.mark.parametrize("answer", [Retry(), Retry])
def test_a_retry_without_a_reason_says_that_it_was_one(
    queue: Session, workers: Workers, answer: object
) -> None:
    queue.define("work", backoff_seconds=3000, jitter=0)
    handlers = Handlers()
    handlers.on("work")(lambda _: answer)
    queue.push("work", "a")
    workers.drain(handlers)
    [message] = queue.peek("work")
    assert [one["error"] for one in message.errors] == ["Retry"]
    assert message.scheduled_at - message.scheduled_at_initially >= 3000 * 1_000_000, "by the backoff"


def test_an_answer_that_was_not_made_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    queue.define("work", backoff_seconds=3000)
    handlers = Handlers()
    handlers.on("work")(lambda _: Reject)
    queue.push("work", "a")
    workers.drain(handlers)
    [message] = queue.peek("work")
    assert "missing 1 required positional argument: 'reason'" in str(message.errors)


def test_a_snooze_without_a_time_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    """It would come at once, again and again, and no attempt would count."""
    queue.define("work", backoff_seconds=3000)
    handlers, attempts = Handlers(), list[int]()

    @handlers.on("work")
    def work(message: Message) -> object:
        attempts.append(message.attempts)
        return Snooze(None) if len(attempts) < 5 else Reject("again")  # pyright: ignore[reportArgumentType]

    queue.push("work", "a")
    workers.drain(handlers)
    assert attempts == [1]
    [message] = queue.peek("work")
    [error] = message.errors
    assert "a number of seconds is wanted" in error["error"]
    assert f"{__file__}:{work.__code__.co_firstlineno + 3} in work" in error["error"]


def test_a_move_to_what_is_no_name_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    queue.define("work", backoff_seconds=3000)
    handlers = Handlers()

    @handlers.on("work")
    def work(message: Message) -> object:  # noqa: ARG001
        return Move(5)  # pyright: ignore[reportArgumentType]

    queue.push("work", "a")
    workers.drain(handlers)
    [message] = queue.peek("work")
    [error] = message.errors
    assert "to_kind of a Move is 5: the name of a kind is wanted" in error["error"]
    assert f"{__file__}:{work.__code__.co_firstlineno + 2} in work" in error["error"]


async def coroutine() -> None:
    """Await nothing."""


def generator() -> Iterator[None]:
    """Yield nothing."""
    yield


async def async_generator() -> AsyncIterator[None]:
    """Yield nothing."""
    yield


@pytest.mark.parametrize("function", [coroutine, generator, async_generator])
def test_what_a_handler_did_not_run_is_not_done(
    queue: Session, workers: Workers, function: Callable[[], object]
) -> None:
    """As a decorator returns that calls a coroutine function and doesn't await it."""
    queue.define("work", backoff_seconds=3000)
    queue.define("coroutines", backoff_seconds=3000)
    handlers = Handlers()
    handlers.on("work")(lambda _: function())

    @handlers.on("coroutines")
    async def work(_: Message) -> object:
        return function()

    for kind in handlers:
        queue.push(kind, "a")
    workers.drain(handlers)
    for kind in handlers:
        [message] = queue.peek(kind)
        assert f"TypeError: {function.__name__} was not run" in message.errors[0]["error"]


def test_where_a_failure_was_is_the_line_of_the_handler(queue: Session, workers: Workers) -> None:
    """Not the one of this package that it called, wherever that is installed."""
    queue.define("work", backoff_seconds=3000)
    handlers = Handlers()

    @handlers.on("work")
    def work(_: Message, context: Context) -> None:
        with context.transaction() as own:
            own.push("x" * 200)

    queue.push("work", "a")
    workers.drain(handlers)
    [message] = queue.peek("work")
    assert f"({__file__}:{work.__code__.co_firstlineno + 3} in work)" in message.errors[0]["error"]


def test_a_move_that_the_queue_refuses_takes_none_along(queue: Session) -> None:
    handlers = Handlers()
    handlers.on("work")(lambda _: None)
    queue.push_many("work", [{"key": key, "payload": None} for key in ("a", "wrong", "b")])
    deliveries = [
        Delivery(one, handlers["work"], one.receipt, 0.0, 0.0) for one in queue.reserve("work", "me", 3)
    ]
    for one in deliveries:
        to_kind = "x" * 200 if one.message.key == "wrong" else "next"
        one.settlement = Settlement("move", {"to_kind": to_kind})
    found = {one.message.key: outcome for one, outcome in settle(queue, deliveries)}
    assert found == {"a": "moved", "wrong": "retry", "b": "moved"}


def test_a_transaction_has_the_connection_of_the_one_before(queue: Session, workers: Workers) -> None:
    handlers, found = Handlers(), dict[str, list[Any]]()

    @handlers.on("functions")
    def function(message: Message, context: Context) -> None:
        with context.transaction() as own:
            found.setdefault(message.kind, []).append(own.connection)

    @handlers.on("coroutines")
    async def coroutine(message: Message, context: AsyncContext) -> None:
        async with context.transaction() as own:
            found.setdefault(message.kind, []).append(own.connection)

    for kind in handlers:
        queue.push_many(kind, [{"key": key, "payload": None} for key in "ab"])
    workers.drain(handlers)
    for first, second in found.values():
        assert first is second


def test_of_what_is_long_as_much_is_kept_as_says_why(queue: Session, workers: Workers) -> None:
    queue.define("work", history_seconds=3600, max_attempts=1)
    handlers = Handlers()

    @handlers.on("work")
    def work(message: Message) -> Reject:
        if message.key == "raised":
            raise ValueError("x" * 5000)
        return Reject("y" * 5000)

    for key in ("raised", "answered"):
        queue.push("work", key)
    workers.drain(handlers)
    kept = {one.key: one.errors[0]["error"] for one in queue.history("work")}
    where = f"{__file__}:{work.__code__.co_firstlineno + 3} in work"
    assert kept == {"raised": f"ValueError: {'x' * 2000}… ({where})", "answered": f"{'y' * 4000}…"}


def test_an_answer_that_the_queue_refuses_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    queue.define("work", history_seconds=3600, max_attempts=1)
    handlers = Handlers()

    @handlers.on("work")
    def work(message: Message) -> Move | None:
        return Move("x" * 200) if message.key == "wrong" else None

    queue.push("work", "wrong")
    queue.push("work", "right")
    workers.drain(handlers)
    ended = {one.key: one for one in queue.history("work")}
    assert ended["right"].outcome == "acked"
    assert ended["wrong"].errors[0]["error"].startswith("InvalidParameter: ")


def test_what_cannot_be_kept_of_an_answer_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    """And the worker goes on: it has one place for a handler."""
    queue.define("work", history_seconds=3600, max_attempts=1)
    handlers = Handlers()
    circle: list[Any] = []
    circle.append(circle)
    answers: dict[str, Any] = {
        "circle": circle,
        "long": 10**5_000,
        "move": Move("next", payload=circle),
        "reject": Reject(ValueError("no")),  # pyright: ignore[reportArgumentType]
        "retry": Retry(ValueError("later")),  # pyright: ignore[reportArgumentType]
        "snooze": Snooze(circle),  # pyright: ignore[reportArgumentType]
        "right": [1],
    }

    class MuteError(Exception):
        def __str__(self) -> str:
            raise SystemExit

    raised: dict[str, type[BaseException]] = {
        "interrupt": KeyboardInterrupt,
        "exit": GeneratorExit,
        "mute": MuteError,
    }

    def answer(message: Message) -> Any:
        if message.key in raised:
            raise raised[message.key]
        return answers[message.key]

    handlers.on("work", keep_result=True)(answer)

    @handlers.on("coroutines", keep_result=True)
    async def coroutine(message: Message) -> Any:
        return answer(message)

    queue.define("coroutines", history_seconds=3600, max_attempts=1)
    for key in (*answers, *raised):
        queue.push("coroutines", key)
        queue.push("work", key)
    workers.drain(handlers, concurrency=1)
    says = {
        "circle": "ValueError: Circular reference",
        "long": "ValueError: Exceeds the limit",
        "move": "InvalidPayload: moves: no JSON can be made of it",
        "reject": "no",
        "retry": "later",
        "snooze": "ValueError: Circular reference",
        "mute": f"{__name__}.{MuteError.__qualname__}",
        "interrupt": "KeyboardInterrupt",
        "exit": "GeneratorExit",
    }
    for kind in ("work", "coroutines"):
        ended = {one.key: one for one in queue.history(kind)}
        assert ended.pop("right").result == [1]
        why = {key: one.errors[0]["error"] for key, one in ended.items()}
        assert why.keys() == says.keys()
        assert {key for key in says if not why[key].startswith(says[key])} == set()


def status(child: int) -> int:
    """Return the status of a process that ends soon, and kill one that doesn't."""
    try:
        _, found = until(lambda: ended if (ended := os.waitpid(child, os.WNOHANG))[0] else None, 10)
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    return os.waitstatus_to_exitcode(found)


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("is_async", [False, True])
def test_a_process_that_a_handler_forks_is_no_other_worker(
    queue: Session, workers: Workers, is_async: bool
) -> None:
    handlers, statuses = Handlers(), dict[str, int]()

    def work(message: Message) -> None:
        if child := os.fork():
            statuses[message.key] = status(child)
        elif message.key == "exit":
            sys.exit(3)  # not os._exit: it comes to where handlers are run

    async def coroutine(message: Message) -> None:
        work(message)

    handlers.on("work")(coroutine if is_async else work)
    for key in ("exit", "return"):
        queue.push("work", key)
    workers.drain(handlers, concurrency=1)
    assert statuses == {"exit": 3, "return": 0}


def test_a_payload_that_does_not_fit_is_refused_at_once(queue: Session, workers: Workers) -> None:
    queue.define("mail", history_seconds=3600)
    handlers, seen = Handlers(), list[Email]()

    @handlers.on("mail")
    def send(email: Email) -> None:
        seen.append(email)

    queue.push("mail", "good", {"to": "ann@example.org", "more": 1})
    queue.push("mail", "missing", {"copies": 2})
    queue.push("mail", "wrong", {"to": "ann@example.org", "copies": "2"})
    queue.push_bytes("mail", "bytes", b"\x00")
    workers.drain(handlers)
    assert seen == [Email("ann@example.org")]
    ended = {one.key: one for one in queue.history("mail") if one.errors}
    assert {key: one.errors[0]["error"] for key, one in ended.items()} == {
        "missing": "payload.to: Field required",
        "wrong": "payload.copies: Input should be a valid integer",
        "bytes": "payload: JSON is wanted, not bytes",
    }
    assert {one.outcome for one in ended.values()} == {"dead"}


def test_bytes(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[bytes]()

    @handlers.on("files")
    def store(content: bytes) -> None:
        seen.append(content)

    queue.push_bytes("files", "a", b"\x00\xff")
    queue.push("files", "b", "no bytes")
    workers.drain(handlers)
    assert seen == [b"\x00\xff"]
    [dead] = queue.peek("files.dead")
    assert [one["error"] for one in dead.errors] == ["payload: bytes are wanted, not JSON"]


def test_what_is_pushed_in_a_transaction_is_pushed_once(queue: Session, workers: Workers) -> None:
    queue.define("work", backoff_seconds=0)
    handlers = Handlers()

    @handlers.on("work")
    def work(message: Message, context: Context) -> None:
        with context.transaction() as own:
            assert isinstance(own, Queue)
            own.push("next", f"{message.key}/{message.attempts}")
            if message.attempts == 1:
                raise RuntimeError("before the end")
        raise RuntimeError("after the end: it is done")

    queue.push("work", "a")
    workers.drain(handlers)
    assert [one.key for one in queue.peek("next")] == ["a/2"]
    assert queue.stats("work")[0].acked_total == 1


def test_what_is_pushed_in_a_transaction_of_a_coroutine_is_pushed_once(
    queue: Session, workers: Workers
) -> None:
    queue.define("work", backoff_seconds=0)
    handlers = Handlers()

    @handlers.on("work")
    async def work(message: Message, context: AsyncContext) -> None:
        async with context.transaction() as own:
            assert isinstance(own, AsyncQueue)
            await own.push("next", f"{message.key}/{message.attempts}")
            if message.attempts == 1:
                raise RuntimeError("before the end")

    queue.push("work", "a")
    workers.drain(handlers)
    assert [one.key for one in queue.peek("next")] == ["a/2"]
    assert queue.stats("work")[0].acked_total == 1


def test_a_transaction_is_undone_where_the_message_was_lost(queue: Session, workers: Workers) -> None:
    handlers, lost = Handlers(), list[bool]()

    @handlers.on("work")
    def work(message: Message, context: Context) -> None:
        assert message.receipt is not None
        queue.ack(message.receipt)
        with pytest.raises(Lost), context.transaction() as own:
            own.push("next", "a")
        lost.append(True)

    queue.push("work", "a")
    workers.drain(handlers)
    assert lost == [True]
    assert queue.peek("next") == []


def test_so_is_that_of_a_coroutine(queue: Session, workers: Workers) -> None:
    handlers, lost = Handlers(), list[bool]()

    @handlers.on("work")
    async def work(message: Message, context: AsyncContext) -> None:
        assert message.receipt is not None
        queue.ack(message.receipt)
        with pytest.raises(Lost):
            async with context.transaction() as own:
                await own.push("next", "a")
        lost.append(True)

    queue.push("work", "a")
    workers.drain(handlers)
    assert lost == [True]
    assert queue.peek("next") == []


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("is_async", [False, True])
def test_a_transaction_that_fails_as_it_commits_is_a_failed_attempt(
    queue: Session, workers: Workers, is_async: bool
) -> None:
    queue.execute("create table once (number int unique deferrable initially deferred)")
    queue.define("work", backoff_seconds=3000)
    handlers, insert = Handlers(), "insert into once values (1), (1)"

    def function(_: Message, context: Context) -> None:
        with context.transaction() as own:
            own.connection.execute(insert)

    async def coroutine(_: Message, context: AsyncContext) -> None:
        async with context.transaction() as own:
            await own.connection.execute(insert)

    handlers.on("work")(coroutine if is_async else function)
    queue.push("work", "a")
    workers.drain(handlers)
    [message] = queue.peek("work")
    assert (message.state, message.attempts) == ("scheduled", 1)
    assert "UniqueViolation" in message.errors[0]["error"]


@pytest.mark.parametrize("is_async", [False, True], ids=["functions", "coroutines"])
@pytest.mark.parametrize("away", [True, False])
def test_a_database_that_is_away_as_a_transaction_begins_is_no_fault_of_the_message(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch, is_async: bool, away: bool
) -> None:
    handlers = Handlers()

    def refuse(*_: object, **__: object) -> Any:
        raise ConnectionFailed("nobody is let in", away=away)

    async def refuse_async(*_: object) -> Any:
        refuse()

    monkeypatch.setattr("pyqueue_sql.worker.context.connect", refuse)
    monkeypatch.setattr("pyqueue_sql.worker.context.connect_async", refuse_async)

    def function(_: Message, context: Context) -> None:
        with context.transaction():
            pass

    async def coroutine(_: Message, context: AsyncContext) -> None:
        async with context.transaction():
            pass

    handlers.on("work")(coroutine if is_async else function)
    queue.define("work", backoff_seconds=3000)
    queue.push("work", "a", max_attempts=1)
    workers.drain(handlers)
    [message] = queue.peek("work" if away else "work.dead")
    assert message.attempts == 0
    assert "nobody is let in" in message.errors[0]["error"]
    if away:
        assert message.state == "scheduled"
        assert message.scheduled_at < message.created_at + 60_000_000


def test_what_the_queue_refuses_in_any_case_is_held_no_longer(caplog: pytest.LogCaptureFixture) -> None:
    """Its hold ends by itself; to ask again and again would be of no use."""
    handlers, calls = Handlers(), list[str]()
    handlers.on("work")(lambda _: None)

    class Refusing:
        def ack_many(self, *_: object, **__: object) -> None:
            calls.append("ack")
            assert len(calls) < 10
            raise Refused("not you")

        def nack_many(self, *_: object, **__: object) -> None:
            calls.append("nack")
            assert len(calls) < 10
            raise Refused("not you")

    async def call(work: Any) -> Any:
        return work(Refusing())

    def deliveries() -> list[Delivery]:
        message: Any = SimpleNamespace(kind="work", key="a", attempts=1)
        return [Delivery(message, handlers["work"], key, 0.0, 0.0, settlement=ACK) for key in "ab"]

    link: Any = SimpleNamespace(call=call)
    queue: Any = Refusing()
    board, held = Board(handlers, 1, lambda: None), deliveries()
    board.add(held)
    finisher = Finisher(board, link, lambda: None)
    asyncio.run(finisher.settle(held))
    assert (board.held, finisher.counts) == ({}, {"refused": 2})
    assert [message.startswith("refused: ") for message in caplog.messages] == [True, True]
    calls.clear()
    assert settle(queue, deliveries()) == []


@pytest.mark.parametrize("is_async", [False, True], ids=["functions", "coroutines"])
def test_autocommit_that_a_handler_leaves_on_is_not_the_next_ones(
    queue: Session, workers: Workers, is_async: bool
) -> None:
    handlers = Handlers()

    def switch(connection: Any) -> Any:
        """Return what is to be awaited, if anything."""
        if not callable(connection.autocommit):
            return connection.set_autocommit(True)
        return connection.autocommit(True)

    def plain(message: Message, context: Context) -> None:
        with context.transaction() as found:
            if message.key == "first":
                switch(found.connection)
                return
            found.push("out", "a", 1)
            raise Reject("undone")

    async def coroutine(message: Message, context: AsyncContext) -> None:
        async with context.transaction() as found:
            if message.key == "first":
                await switch(found.connection)
                return
            await found.push("out", "a", 1)
            raise Reject("undone")

    handlers.on("work")(coroutine if is_async else plain)
    queue.push_many("work", [{"key": "first", "payload": 1}, {"key": "second", "payload": 2}])
    workers.drain(handlers)
    assert queue.peek("out") == []
    assert [one.key for one in queue.peek("work.dead")] == ["second"]
