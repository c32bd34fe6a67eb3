"""Upgrades and downgrades under load: no call fails, nothing is lost, nothing comes twice."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pyqueue_sql import Queue
from pyqueue_sql.schema import migrate, migrate_postgresql
from tests.schema.next_release import FIRST, HEAD, STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyqueue_sql import Message

pytestmark = pytest.mark.usefixtures("released")

CALLS_BETWEEN = 200
ROUNDS = 2
SHORTEST_PAUSE_S = 0.2

EXCLUSIVE = """
select l.relation::regclass::text, l.granted
from pg_locks l join pg_stat_activity a on a.pid = l.pid and a.backend_type = 'client backend'
where l.database = (select d.oid from pg_database d where d.datname = current_database())
and l.locktype = 'relation' and l.mode = 'AccessExclusiveLock'
"""
"""Tables that a client locks against all others, or waits to. Calls lock rows so, and autovacuum tables."""


class Traffic:
    """Producers, consumers and an operator, each a thread whose every call is a transaction of its own."""

    def __init__(self, url: str) -> None:
        # a call that waits for so long fails: a lock isn't let go
        self._url = f"{url}?options=-clock_timeout%3D10s"
        self._stop = threading.Event()
        self._calls = itertools.count()
        self._reached = 0
        self._progress = threading.Condition()
        self._numbers = itertools.count()
        self.pushed: list[str] = []
        self.finished: list[str] = []
        self.failures: list[str] = []

    @contextlib.contextmanager
    def running(self) -> Generator[None]:
        """Work, and at the end of the block work off what is left."""
        workers = [self.produce] * 4 + [self.consume] * 4 + [self.operate]
        with ThreadPoolExecutor(len(workers)) as pool:
            done = [pool.submit(self._work, worker) for worker in workers]
            try:
                self.go_on()
                yield
                self.go_on()
            finally:
                self._stop.set()
        for future in done:
            future.result()
        self._work(self.finish)

    def go_on(self) -> None:
        """Wait until some more calls were made."""
        with self._progress:
            until = self._reached + CALLS_BETWEEN
            assert self._progress.wait_for(lambda: self._reached >= until, 30), "the workers stand still"

    def _work(self, worker: Callable[[Queue], None]) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            worker(Queue(connection))

    def call(self, what: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Make a call, and note where it fails."""
        try:
            return what(*args, **options)
        except Exception as error:
            self.failures.append(f"{what.__name__}: {type(error).__name__}: {error}")
            return None
        finally:
            with self._progress:
                self._reached += 1
                self._progress.notify_all()

    def produce(self, queue: Queue) -> None:
        """Push, one by one and many at once, in JSON and in bytes."""
        while not self._stop.is_set():
            keys = [f"{next(self._numbers)}" for _ in range(5)]
            done = [
                self.call(queue.push, "mail", keys[0], {"n": 1}),
                self.call(queue.push, "mail", keys[1], {"n": 1}, priority=1, headers={"a": "b"}),
                self.call(queue.push_bytes, "mail", keys[2], b"1"),
                *(self.call(queue.push_many, "mail", [{"key": key, "payload": 0} for key in keys[3:]]) or []),
            ]
            self.pushed += [pushed.key for pushed in done if pushed]
            # no more than the consumers can keep up with
            while len(self.pushed) - len(self.finished) > 500 and not self._stop.is_set():
                self._stop.wait(0.01)

    def consume(self, queue: Queue) -> None:
        """Reserve, and acknowledge, move and give back; pop what was moved."""
        while not self._stop.is_set():
            batch: list[Message] = self.call(queue.reserve, "mail", None, 5) or []
            receipts = [message.receipt for message in batch if message.receipt]
            for message, receipt in zip(batch[:1], receipts[:1], strict=True):
                self._finish(message, self.call(queue.ack, receipt))
            for receipt in receipts[1:2]:
                self.call(queue.move, receipt, "next")
            for receipt in receipts[2:3]:
                self.call(queue.nack, receipt)
            for message, answer in zip(
                batch[3:], self.call(queue.ack_many, receipts[3:]) or [], strict=False
            ):
                self._finish(message, answer)
            self.finished += [message.key for message in self.call(queue.pop, "next", 5) or []]

    def _finish(self, message: Message, answer: Any) -> None:
        if answer and answer.outcome == "acked":
            self.finished.append(message.key)
        elif answer:
            self.failures.append(f"{answer.outcome}: {message.key}")

    def operate(self, queue: Queue) -> None:
        """Look, and clean up."""
        while not self._stop.is_set():
            self.call(queue.connection.execute, "select total from queue_stats")
            self.call(queue.peek, "mail")
            self.call(queue.prune, 1000)

    def finish(self, queue: Queue) -> None:
        """Work off what is left."""
        for kind in ("mail", "next"):
            while found := self.call(queue.pop, kind, 100):
                self.finished += [message.key for message in found]


def check(traffic: Traffic) -> None:
    assert Counter(traffic.failures) == {}
    assert len(traffic.pushed) > ROUNDS * 10
    twice = {key: count for key, count in Counter(traffic.finished).items() if count > 1}
    assert twice == {}
    assert set(traffic.finished) == set(traffic.pushed)


@pytest.mark.long
def test_the_queue_goes_on_through_upgrades_and_downgrades(database_url: str):
    traffic = Traffic(database_url)
    with traffic.running():
        for _ in range(ROUNDS):
            migrate.upgrade(database_url)
            traffic.go_on()
            migrate.downgrade(database_url, revision=FIRST)
            traffic.go_on()
    check(traffic)


@pytest.mark.long
def test_an_upgrade_that_waits_for_an_open_transaction_lets_others_go_on(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    paused, sleep = threading.Semaphore(0), time.sleep
    kept: list[tuple[Any, ...]] = []

    def note(seconds: float) -> None:
        if seconds >= SHORTEST_PAUSE_S and threading.current_thread().name.startswith("upgrade"):
            with psycopg.connect(database_url) as connection:
                kept.extend(connection.execute(EXCLUSIVE).fetchall())
            paused.release()
        sleep(seconds)

    monkeypatch.setattr(migrate_postgresql.time, "sleep", note)  # of all threads of this process
    traffic = Traffic(database_url)
    with psycopg.connect(database_url) as application, ThreadPoolExecutor(1, "upgrade") as pool:
        own = Queue(application)
        own.push("mail", "of the application", 0)
        own.reserve("orders")
        with traffic.running():
            upgrade = pool.submit(migrate.upgrade, database_url)
            # each pause comes after a try that had others wait
            for _ in range(3):
                assert paused.acquire(timeout=10)
            traffic.go_on()
            application.commit()
            traffic.pushed.append("of the application")
            upgrade.result(30)
    assert kept == []
    assert migrate.current(database_url) == HEAD
    check(traffic)


def test_between_two_steps_the_calls_that_are_going_on_end(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    polled, sleep = threading.Semaphore(0), time.sleep

    def note(seconds: float) -> None:
        if threading.current_thread().name.startswith("downgrade"):
            polled.release()
        sleep(seconds)

    monkeypatch.setattr(migrate_postgresql.time, "sleep", note)
    migrate.upgrade(database_url)
    with psycopg.connect(database_url) as application, ThreadPoolExecutor(1, "downgrade") as pool:
        # a call that has no lock on a table yet looks like this
        application.execute("select 1")
        downgrade = pool.submit(migrate.downgrade, database_url, revision=FIRST)
        for _ in range(3):
            assert polled.acquire(timeout=10)
        assert migrate.current(database_url) == STEPS[-2]
        application.commit()
        downgrade.result(30)
        assert migrate.current(database_url) == FIRST


def test_a_transaction_that_never_ends_holds_no_upgrade_up(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(migrate_postgresql, "CALLS_END_S", 0.1)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(database_url) as application:
        application.execute("select 1")
        pool.submit(migrate.upgrade, database_url).result(30)
    assert migrate.current(database_url) == HEAD
