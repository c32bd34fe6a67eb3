"""The database is away for a while: workers that live keep what they hold; who died is found later."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Message, Queue, Refused
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.spark.batches import Batches
from pyqueue_sql.worker import Handlers, Worker
from tests.faults.pairs import Pair
from tests.worker.helpers import Running, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.restarts import Restartable

WORKERS = 4
EACH = 2
HEARTBEAT_SECONDS = 3.0
AWAY_SECONDS = 5.0
"""Longer than the heartbeat's timeout."""
BACK_SECONDS = 60.0
FLUSHED_SECONDS = 2.0
"""A worker doesn't wait for the disk when it reserves; until then a crash of the server undoes that."""

pytestmark = pytest.mark.long


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("notify", [True, False], ids=["by session", "by heartbeat"])
def test_living_workers_lose_nothing_while_the_database_is_away(
    restarted: Restartable, notify: bool, crash: bool
) -> None:
    url = restarted.database("outage")
    strike_at_workers(url, lambda: restarted.restart(crash=crash, away=AWAY_SECONDS), notify=notify)


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("notify", [True, False], ids=["by session", "by heartbeat"])
def test_nor_while_a_standby_takes_over(notify: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="pyqueue-pair-") as folder, Pair(Path(folder)) as pair:
        strike_at_workers(pair.database("outage"), lambda: pair.fail_over(AWAY_SECONDS), notify=notify)


@pytest.mark.parametrize("notify", [True, False], ids=["by session", "by heartbeat"])
def test_nor_when_all_sessions_end_while_it_runs(restarted: Restartable, notify: bool) -> None:
    url = restarted.database("outage")
    strike_at_workers(url, lambda: restarted.cut(AWAY_SECONDS), notify=notify, asked=False)


def test_what_is_staged_after_a_crash_is_for_who_staged_it(restarted: Restartable) -> None:
    url = restarted.database("staged")
    begun = {"before": stage(url, "before")}
    restarted.restart(crash=True, away=0)
    begun["after"] = stage(url, "after")
    with connect(url) as connection:
        queue = Batches(connection)
        with contextlib.suppress(Refused):  # a crash of PostgreSQL loses what is staged
            queue.publish_parts([{"part": begun["before"], "messages": 1}])
        assert [one.key for one in queue.peek("mail")] in ([], ["before"])
        assert queue.publish_parts([{"part": begun["after"], "messages": 1}]).pushed == 1
        assert queue.get("mail", "after") is not None


def stage(url: str, key: str) -> int:
    """Stage a message as a writer does, and return its part."""
    with connect(url) as connection, connection.cursor() as cursor:
        part = Batches(connection).begin(f"job of {key}")
        cursor.execute(
            "insert into queue_stage (part, p_kind, p_key, payload) values (%s, 'mail', %s, '1')", [part, key]
        )
    return part


def strike_at_workers(url: str, strike: Callable[[], None], *, notify: bool, asked: bool = True) -> None:
    """Let workers hold messages while something befalls the server, and see that they end each, once.

    Args:
        url: of the database.
        strike: what befalls it.
        notify: whether the workers are alive by their sessions.
        asked: whether somebody asks outright who is dead, before the workers are back.
    """
    handlers, lock, go_on = Handlers(), threading.Lock(), threading.Event()
    began, ended = list[str](), list[str]()

    @handlers.on("mail")
    def send(message: Message) -> None:
        with lock:
            began.append(message.key)
        assert go_on.wait(2 * BACK_SECONDS)
        with lock:
            ended.append(message.key)

    with connect(url) as connection:
        queue = Queue(connection)
        queue.define("mail", timeout_seconds=300, max_attempts=1)
        queue.push_many("mail", [{"key": f"{n}", "payload": n} for n in range(WORKERS * EACH)])
    running = [
        Running(
            Worker(
                url,
                handlers,
                notify=notify,
                concurrency=EACH,
                heartbeat_seconds=HEARTBEAT_SECONDS,
                poll_seconds=1,
            )
        )
        for _ in range(WORKERS)
    ]
    try:
        until(lambda: len(began) == WORKERS * EACH)
        time.sleep(FLUSHED_SECONDS)
        strike()
        with connect(url) as connection:
            queue = Queue(connection)
            # one that takes nothing is there before the others, and asks who is dead
            for _ in range(200):
                assert queue.reserve("other") == []
                assert not asked or not any(dead.freed for dead in queue.reap())
            until(lambda: sum(one.alive for one in queue.workers()) == WORKERS, BACK_SECONDS)
            go_on.set()
            until(lambda: queue.stats("mail")[0].acked_total == WORKERS * EACH, BACK_SECONDS)
            stats = queue.stats("mail")[0]
            assert (stats.total, stats.dead_total, stats.expired_total) == (0, 0, 0)
    finally:
        go_on.set()
        for one in running:
            one.stop()
        for one in running:
            one.join()
    assert sorted(began) == sorted(ended) == sorted(f"{n}" for n in range(WORKERS * EACH))


def test_who_does_not_come_back_is_found_after_its_timeout(restarted: Restartable) -> None:
    url = restarted.database("outage")
    with connect(url) as connection:
        gone = Queue(connection)
        gone.push("mail", "a", 1)
        gone.heartbeat("gone", timeout_seconds=5, session=True)
        assert [one.key for one in gone.reserve("mail", "gone", timeout_seconds=300)] == ["a"]
        restarted.restart(crash=False, away=0)
    with connect(url) as connection:
        queue = Queue(connection)
        assert queue.reap() == []
        until(lambda: [dead.worker for dead in queue.reap()] == ["gone"], BACK_SECONDS)
        assert [one.key for one in queue.reserve("mail", "another")] == ["a"]
