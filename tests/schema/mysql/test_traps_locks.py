"""Producers and consumers never wait for each other."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.schema.mysql.catalogs import RECEIPT, run
from tests.schema.mysql.world import call, now, push_keys
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pymysql import Connection


pytestmark = pytest.mark.servers("mariadb", "mysql")

WORKERS = 50
WORK_SECONDS = 3
PATIENCE_SECONDS = 10
ENOUGH_CALLS = 11
DEADLOCK = 1213


@pytest.fixture
def impatient(url: str) -> Iterator[Callable[[], Connection[Any]]]:
    """Open sessions in which a call that waits for another is an error, 1205, after a second."""
    with contextlib.ExitStack() as stack:

        def open_session() -> Connection[Any]:
            session = stack.enter_context(open_connection(url))
            run(session, "set session innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")
            return session

        yield open_session


def take(connection: Connection[Any], number: int) -> list[str]:
    """Take so many messages; what was committed late may be found after a while only."""
    keys: list[str] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(keys) < number and time.monotonic() < deadline:
        keys += [row[1] for row in call(connection, "queue_pop", "mail", 99, None)]
    return keys


def test_a_push_that_is_not_committed_blocks_nobody(impatient: Callable[[], Connection[Any]]) -> None:
    producer, other = impatient(), impatient()
    push_keys(other, "a", "b", "c", "d", "e")
    run(producer, "start transaction")
    push_keys(producer, "0", "bb", "z")
    for options in ('{"priority": 5}', '{"delay_seconds": 60}', '{"scheduled_at": 1700000000000000}'):
        call(producer, "queue_push", "mail", None, "1", options)
    taken = [call(other, "queue_reserve", "mail", "w", 1, None)[0]]
    taken += call(other, "queue_reserve", "mail", "w", 3, None)
    assert [row[1] for row in taken] == ["a", "b", "c", "d"]
    assert [row[1] for row in call(other, "queue_pop", "mail", 9, None)] == ["e"]
    assert call(other, "queue_ack", taken[0][RECEIPT], None)[0][1] == "acked"
    assert call(other, "queue_nack", taken[1][RECEIPT], None)[0][1] == "retry"
    assert call(other, "queue_move", taken[2][RECEIPT], "next", None)[0][1] == "moved"
    assert call(other, "queue_push", "mail", "f", "1", None)[0][3] == "created"
    assert call(other, "queue_prune", None)
    run(producer, "commit")
    assert len(take(other, 7)) == 7


@pytest.mark.parametrize("routine", ["queue_reserve", "queue_pop"])
def test_a_reserve_that_is_not_committed_blocks_nobody(
    impatient: Callable[[], Connection[Any]], routine: str
) -> None:
    consumer, other = impatient(), impatient()
    push_keys(other, "a", "c", "e", "g")
    run(consumer, "set session transaction isolation level read committed")
    run(consumer, "start transaction")
    worker = ["w"] if routine == "queue_reserve" else []
    assert len(call(consumer, routine, "mail", *worker, 2, None)) == 2
    for options in (None, '{"priority": 5}', '{"delay_seconds": 60}', '{"scheduled_at": 1700000000000000}'):
        assert call(other, "queue_push", "mail", None, "1", options)[0][3] == "created"
    batch = json.dumps([{"key": key, "payload": 1} for key in "0bdfhz"])
    assert {row[1] for row in call(other, "queue_push_many", "mail", batch, None)} == {"created"}
    assert len(take(other, 2 + 3 + 6)) == 2 + 3 + 6
    run(consumer, "rollback")
    assert sorted(take(other, 2)) == ["a", "c"]


def test_settings_that_are_not_committed_keep_no_upkeep_waiting(
    impatient: Callable[[], Connection[Any]],
) -> None:
    owner, other = impatient(), impatient()
    call(other, "queue_define", "mail", '{"history_seconds": 1}')
    run(owner, "start transaction")
    call(owner, "queue_define", "mail", '{"filter_index": true}')
    call(other, "_queue_upkeep", "mail", True, now(other), 40, None)  # what one reserve in twenty does


class Worker:
    """A session of 50, whose every call is a transaction of its own, made as `Queue` makes it."""

    def __init__(self, url: str, seed: int, until: threading.Event) -> None:
        self.messages = 0
        """How many more there are in `counted` and `next` by the answers."""
        self.kept: set[str] = set()
        """The keys that were put into `kept`, out of which nothing goes."""
        self.calls: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._url, self._chance, self._until = url, random.Random(seed), until

    def run(self) -> None:
        """Work until it is time."""
        with open_connection(self._url) as self._connection:
            self._is_mariadb = "MariaDB" in run(self._connection, "select version()")[0][0]
            while not self._until.is_set():
                self._chance.choice((self._push, self._push, self._consume))()

    def _call(self, routine: str, *arguments: object) -> list[tuple[Any, ...]]:
        self.calls[routine] += 1
        while True:
            try:
                return call(self._connection, routine, *arguments)
            except Exception as error:  # in a thread, where nobody else sees it
                if routine == "queue_nack_many" and error.args[0] == DEADLOCK and self._is_mariadb:
                    self._connection.rollback()  # MariaDB runs none of its handlers: ADR 3
                    continue
                self.errors[f"{routine}: {error!r}"] += 1
                return []

    def _push(self) -> None:
        kind = self._chance.choice(("counted", "kept", "mixed"))
        modes = ["ignore"] if kind == "counted" else ["ignore", "replace", "keep_time", "push_back"]
        keys = [f"k{self._chance.randrange(60):02}" for _ in range(self._chance.choice((1, 5, 20)))]
        batch = json.dumps([{"key": key, "payload": 1} for key in keys])
        mode = json.dumps({"on_duplicate": self._chance.choice(modes)})
        answers = self._call("queue_push_many", kind, batch, mode)
        if kind == "counted":
            self.messages += sum(outcome == "created" for _, outcome in answers)
        elif kind == "kept":
            self.kept |= {key for key, _ in answers}

    def _consume(self) -> None:
        kind = self._chance.choice(("counted", "kept", "mixed", "next"))
        seconds = json.dumps({"timeout_seconds": self._chance.choice((0.005, 5))})
        rows = self._call("queue_reserve", kind, "w", self._chance.choice((1, 10)), seconds)
        receipts = [row[RECEIPT] for row in rows]
        self._chance.shuffle(receipts)
        ending = "nack" if kind == "kept" else self._chance.choice(("ack", "nack", "move"))
        if not receipts:
            return
        if ending == "move":
            for receipt in receipts:
                to_kind = "next" if kind in ("counted", "next") else "mixed"
                options = json.dumps({"key": f"k{self._chance.randrange(60):02}"})
                answers = self._call("queue_move", receipt, to_kind, options)
                self.messages -= kind != "mixed" and [one for _, one in answers] == ["duplicate"]
        else:
            answers = self._call(f"queue_{ending}_many", json.dumps(receipts), None)
            if kind in ("counted", "next"):
                self.messages -= sum(outcome == "acked" for _, outcome in answers)


def rarest_calls(workers: list[Worker]) -> int:
    """How often the routine was called that was called least."""
    routines = ("push_many", "reserve", "ack_many", "nack_many", "move")
    return min(sum(worker.calls[f"queue_{name}"] for worker in workers) for name in routines)


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_50_workers_with_batches_in_any_order_see_no_deadlock_and_lose_nothing(
    connection: Connection[Any], url: str
) -> None:
    enough = threading.Event()
    workers = [Worker(url, seed, enough) for seed in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        done = [pool.submit(worker.run) for worker in workers]
        time.sleep(WORK_SECONDS)
        deadline = time.monotonic() + 6 * PATIENCE_SECONDS
        while rarest_calls(workers) < ENOUGH_CALLS and time.monotonic() < deadline:
            time.sleep(0.1)
        enough.set()
        for one in done:
            one.result()
    assert sum((worker.errors for worker in workers), Counter()) == Counter()
    assert rarest_calls(workers) >= ENOUGH_CALLS
    there = dict(run(connection, "select q.p_kind, count(*) from delayed_queue q group by q.p_kind"))
    assert there.get("counted", 0) + there.get("next", 0) == sum(worker.messages for worker in workers)
    kept = run(connection, "select q.p_key from delayed_queue q where q.p_kind = 'kept'")
    assert {key for (key,) in kept} == set[str]().union(*(worker.kept for worker in workers))
