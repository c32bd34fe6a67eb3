"""Behind a pooler that shares the sessions of the server between connections."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pyqueue_sql import AsyncQueue, Message, Queue
from pyqueue_sql.worker import Context, Handlers
from pyqueue_sql.worker.connecting import shares_sessions
from tests.servers.pooler import pgbouncer
from tests.servers.starting import UnavailableError
from tests.worker.helpers import Workers, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Harness, Session

pytestmark = [pytest.mark.servers("postgresql"), pytest.mark.slow]
CALLS = 60
CLIENTS = 6


@pytest.fixture
def pooled(harness: Harness) -> Iterator[str]:
    try:
        with pgbouncer(harness.url) as url:
            yield url
    except UnavailableError as error:
        pytest.skip(str(error))


def test_a_pooler_is_told_from_the_server(harness: Harness, pooled: str) -> None:
    assert shares_sessions(pooled, None)
    assert not shares_sessions(harness.url, None)
    with pgbouncer(harness.url, pool_mode="session") as url:
        assert not shares_sessions(url, None)


def test_a_worker_says_so_once_and_goes_on(
    queue: Session, pooled: str, caplog: pytest.LogCaptureFixture
) -> None:
    handlers, done = Handlers(), list[str]()

    @handlers.on("work")
    def _(message: Message, context: Context) -> None:
        with context.transaction():
            done.append(message.key)

    workers = Workers(pooled)
    with caplog.at_level(logging.WARNING, "pyqueue_sql"):
        running = workers.start(handlers, concurrency=2)
        for number in range(CALLS):
            queue.push("work", f"{number}", number)
        until(lambda: len(done) == CALLS)
        running.stop()
        running.join()
    assert sorted(done) == sorted(map(str, range(CALLS)))
    [said] = [one.getMessage() for one in caplog.records]
    assert "a pooler shares the sessions" in said
    assert queue.stats("work")[0].acked_total == CALLS


def _calls(queue: Queue[Any], name: str) -> None:
    for number in range(CALLS):
        queue.push(name, f"{number}", number)
        [message] = queue.reserve(name)
        assert message.receipt is not None
        assert queue.ack(message.receipt).outcome == "acked"


def test_calls_go_on_without_prepared_statements(queue: Session, pooled: str) -> None:
    queue.define("c0")

    def run(number: int) -> None:
        with psycopg.connect(pooled, autocommit=True) as connection:
            _calls(Queue(connection), f"c{number}")

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(run, range(CLIENTS)))
    assert {one.acked_total for one in queue.stats() if one.kind.startswith("c")} == {CALLS}


def test_so_do_those_of_coroutines(queue: Session, pooled: str) -> None:
    async def run(number: int) -> None:
        connection = await psycopg.AsyncConnection.connect(pooled, autocommit=True)
        async with connection:
            one = AsyncQueue(connection)
            for key in range(CALLS):
                await one.push(f"a{number}", f"{key}", key)
                [message] = await one.pop(f"a{number}")
                assert message.key == f"{key}"

    async def all_() -> None:
        await asyncio.gather(*(run(number) for number in range(CLIENTS)))

    asyncio.run(all_())
    assert {one.popped_total for one in queue.stats() if one.kind.startswith("a")} == {CALLS}
