"""What keeps messages a worker's own: when holds are renewed, and what happens where a session is lost."""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message, Outcome, Queue
from pyqueue_sql.worker import AsyncContext, Context, Handlers, WorkerOptions, engine, keeping, taking
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.delivery import Delivery
from tests.worker.helpers import LONG_SECONDS, PATIENCE_SECONDS, end_others, until
from tests.worker.test_pooler import durable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers

SOON_SECONDS = 10.0
"""Far below a heartbeat here, and far above what it takes on a busy machine."""


class Later:
    """The clock of what keeps a worker up, which is ahead."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._asked = 0

    def monotonic(self) -> float:
        self._asked += 1
        return time.monotonic() + self.ahead

    def pass_by(self) -> None:
        """Wait until all that is due has been done."""
        before = self._asked
        until(lambda: self._asked > before + 10)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    later = Later()
    monkeypatch.setattr(keeping, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=later.monotonic))
    return later


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The outcomes of renewals, as they come."""
    found, extend_many = list[str](), Queue[Any].extend_many

    def extending(self: Queue[Any], receipts: Iterable[str], seconds: float) -> list[Outcome]:
        outcomes = extend_many(self, receipts, seconds)
        found.extend(one.outcome for one in outcomes)
        return outcomes

    monkeypatch.setattr(Queue, "extend_many", extending)
    return found


def test_a_hold_is_renewed_once_it_is_half_over_and_lost_once(
    queue: Session, workers: Workers, later: Later, extended: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    handlers, held, end = Handlers(), list[str](), threading.Event()

    @handlers.on("mail", timeout_seconds=1000)
    def work(message: Message) -> None:
        held.append(message.receipt or "")
        end.wait(PATIENCE_SECONDS)

    queue.push("mail", "a")
    options = WorkerOptions(heartbeat_seconds=LONG_SECONDS, grace_seconds=LONG_SECONDS)
    with caplog.at_level(logging.WARNING), workers.running(handlers, **options):
        until(lambda: held)
        later.ahead = 450
        later.pass_by()
        assert extended == []
        later.ahead = 550
        until(lambda: extended)
        later.pass_by()
        assert extended == ["extended"]
        queue.ack(held[0])
        later.ahead = 1100
        until(lambda: "lost while its handler ran" in caplog.text)
        later.ahead = 1700
        later.pass_by()
        assert extended == ["extended", "lost"]
        end.set()
    assert len(caplog.messages) == 1, "nor is it settled as if it were still held"


def test_the_shorter_a_hold_is_the_sooner_it_is_looked_after(
    queue: Session, workers: Workers, extended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "TICK_SECONDS", LONG_SECONDS)
    handlers, end = Handlers(), threading.Event()
    handlers.on("mail", timeout_seconds=4)(lambda _: end.wait(PATIENCE_SECONDS))
    queue.push("mail", "a")
    with workers.running(handlers, heartbeat_seconds=LONG_SECONDS):
        until(lambda: extended or any(one.expired for one in queue.stats("mail")))
        end.set()
    assert extended == ["extended"]


def test_a_hold_is_taken_to_end_rather_too_early_than_too_late(
    queue: Session, workers: Workers, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, held, asked_at, end = Handlers(), list[Delivery](), list[float](), threading.Event()
    handlers.on("mail", timeout_seconds=1000)(lambda _: end.wait(PATIENCE_SECONDS))
    add = Board.add

    def slow(name: str) -> None:
        call = getattr(Queue, name)

        def late(self: Queue[Any], *args: Any, **options: Any) -> Any:
            asked_at.append(later.monotonic() if held else time.monotonic())
            found = call(self, *args, **options)
            time.sleep(0.2)
            return found

        monkeypatch.setattr(Queue, name, late)

    def adding(self: Board, deliveries: Sequence[Delivery]) -> None:
        held.extend(deliveries)
        add(self, deliveries)

    slow("reserve")
    slow("extend_many")
    monkeypatch.setattr(Board, "add", adding)
    queue.push("mail", "a")
    with workers.running(handlers, heartbeat_seconds=LONG_SECONDS, max_messages=1):
        [one] = until(lambda: held)
        first, taken = one.held_until, len(asked_at)
        assert first - one.hold_seconds <= asked_at[-1]
        later.ahead = 550
        until(lambda: one.held_until > first)
        assert len(asked_at) == taken + 1
        assert one.held_until - one.hold_seconds <= asked_at[-1]
        end.set()


def test_a_worker_says_for_how_long_it_may_be_silent_and_what_it_takes(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, given, heartbeat = Handlers(), list[dict[str, Any]](), Queue[Any].heartbeat
    kinds = sorted(f"kind {number}" for number in range(keeping.KINDS_A_CALL))
    for kind in kinds:
        handlers.on(kind)(lambda _: None)

    def beating(self: Queue[Any], worker: str, **options: Any) -> Any:
        given.append(options)
        return heartbeat(self, worker, **options)

    monkeypatch.setattr(Queue, "heartbeat", beating)
    with workers.running(handlers, heartbeat_seconds=77, name="mine"):
        [one] = until(queue.workers)
        assert (sorted(one.kinds or []), one.timeout_seconds) == (kinds, 77)
        assert one.info == {
            "host": platform.node(), "pid": os.getpid(), "version": version("pyqueue_sql"),
        }  # fmt: skip
    assert given[0]["reconnect_seconds"] == 0.5


def test_what_is_settled_just_now_is_not_lost(
    queue: Session,
    workers: Workers,
    later: Later,
    extended: list[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers, acked, ack_many = Handlers(), threading.Event(), Queue[Any].ack_many
    handlers.on("mail", timeout_seconds=1000)(lambda _: None)

    def acking(self: Queue[Any], receipts: Iterable[str]) -> list[Outcome]:
        found = ack_many(self, receipts)
        acked.set()
        until(lambda: extended)
        return found

    monkeypatch.setattr(Queue, "ack_many", acking)
    queue.push("mail", "a")
    with caplog.at_level(logging.WARNING), workers.running(handlers, heartbeat_seconds=LONG_SECONDS):
        assert acked.wait(PATIENCE_SECONDS)
        later.ahead = 550
        until(lambda: extended)
    assert extended == ["lost"]
    assert caplog.text == ""


def test_nor_is_what_was_acked_in_a_transaction_while_its_handler_goes_on(
    queue: Session, workers: Workers, later: Later, extended: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    handlers, acked, end = Handlers(), threading.Event(), threading.Event()

    @handlers.on("mail", timeout_seconds=1000)
    def work(_: Message, context: Context) -> None:
        with context.transaction():
            pass
        acked.set()
        end.wait(PATIENCE_SECONDS)

    queue.push("mail", "a")
    with (
        caplog.at_level(logging.DEBUG, "pyqueue_sql.worker"),
        workers.running(handlers, heartbeat_seconds=LONG_SECONDS),
    ):
        assert acked.wait(PATIENCE_SECONDS)
        later.ahead = 550
        later.pass_by()
        end.set()
        until(lambda: {"acked", "lost while its handler ran, or before"} & {*caplog.messages})
    assert extended == []
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_one_that_has_lost_its_connections_is_registered_again_at_once(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "TICK_SECONDS", 0.02)
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    # one that isn't asked for upkeep has no other reason to look
    with workers.running(handlers, heartbeat_seconds=LONG_SECONDS, upkeep=False) as running:
        queue.push("mail", "a")
        until(lambda: queue.stats("mail")[0].acked_total == 1)
        [first] = queue.workers()
        assert end_others(queue) >= 2
        until(lambda: [one.heartbeat_at for one in queue.workers()] > [first.heartbeat_at], SOON_SECONDS)
        until(lambda: [one.alive for one in queue.workers()] == [True], SOON_SECONDS)
        assert running.error is None


@pytest.mark.servers("postgresql")
def test_a_session_that_listens_and_is_lost_listens_again(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "LOOKS_SECONDS", (0.0,))
    handlers, seen = Handlers(), list[str]()
    handlers.on("mail")(lambda message: seen.append(message.key))

    def listening() -> set[int]:
        found = queue.execute(
            "select a.pid from pg_stat_activity a where a.datname = current_database()"
            " and a.pid <> pg_backend_pid() and a.state = 'idle' and a.query like %s"
            " and a.state_change < clock_timestamp() - interval '0.1 s'",  # it asks twice
            ["%queue_listen%"],
        )
        return {number for (number,) in found}

    with workers.running(handlers, heartbeat_seconds=LONG_SECONDS, upkeep=False):
        [first] = until(listening)
        queue.execute("select pg_terminate_backend(%s)", [first])
        # a push that is under way as a session begins to listen is left to a later look, and here is none
        until(lambda: listening() - {first}, SOON_SECONDS)
        queue.push("mail", "a")
        until(lambda: seen, SOON_SECONDS)


@pytest.mark.servers("postgresql")
def test_what_is_acked_is_on_the_disk(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, found = Handlers(), dict[str, str]()
    handlers.on("mail")(lambda _: None)

    def noting(name: str) -> None:
        call = getattr(Queue, name)

        def noted(self: Queue[Any], *args: Any, **options: Any) -> Any:
            [(found[name],)] = self.connection.execute("show synchronous_commit").fetchall()
            return call(self, *args, **options)

        monkeypatch.setattr(Queue, name, noted)

    noting("reserve")
    noting("ack_many")
    queue.push("mail", "a")
    with durable(queue):
        workers.drain(handlers)
    assert found == {"reserve": "off", "ack_many": "on"}


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("notify", [True, False])
def test_nothing_is_prepared_in_a_session_that_others_may_have(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch, notify: bool
) -> None:
    handlers, opened, connect = Handlers(), list[Any](), engine.connect

    @handlers.on("functions")
    def function(_: Message, context: Context) -> None:
        with context.transaction() as own:
            opened.append(own.connection)

    @handlers.on("coroutines")
    async def coroutine(_: Message, context: AsyncContext) -> None:
        async with context.transaction() as own:
            opened.append(own.connection)

    def connecting(*args: Any, **settings: Any) -> Any:
        opened.append(connect(*args, **settings))
        return opened[-1]

    monkeypatch.setattr(engine, "connect", connecting)
    for kind in handlers:
        queue.push(kind, "a")
    workers.drain(handlers, notify=notify)
    assert {type(one).__name__ for one in opened} == {"Connection", "AsyncConnection"}
    assert {one.prepare_threshold is None for one in opened} == {not notify}
