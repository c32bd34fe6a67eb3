"""Behind a pooler that shares the sessions of the server between connections."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from click.testing import CliRunner

from pyqueue_sql import AsyncQueue, Message, Queue
from pyqueue_sql.cli import main
from pyqueue_sql.schema import migrate
from pyqueue_sql.worker import Context, Handlers
from pyqueue_sql.worker.connecting import shares_sessions
from tests.servers.pooler import POOL_SIZE, pgbouncer
from tests.servers.starting import UnavailableError
from tests.worker.helpers import Workers, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Harness, Session

pytestmark = [pytest.mark.servers("postgresql"), pytest.mark.slow]
SCHEMA = 'another "100%s" one'
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
    assert shares_sessions(pooled)
    assert not shares_sessions(harness.url)
    with pgbouncer(harness.url, pool_mode="session") as url:
        assert not shares_sessions(url)


def test_a_worker_says_so_once_and_goes_on(
    queue: Session, pooled: str, caplog: pytest.LogCaptureFixture
) -> None:
    handlers, done = Handlers(), list[str]()

    @handlers.on("work")
    def _(message: Message, context: Context) -> None:
        with context.transaction():
            done.append(message.key)

    workers = Workers(pooled)
    with caplog.at_level(logging.WARNING, "pyqueue_sql"), durable(queue):
        running = workers.start(handlers, concurrency=2)
        for number in range(CALLS):
            queue.push("work", f"{number}", number)
        until(lambda: len(done) == CALLS)
        running.stop()
        running.join()
        assert settings_of_sessions(pooled, "synchronous_commit") == {"on"}, "the sessions are others', too"
    assert sorted(done) == sorted(map(str, range(CALLS)))
    [said] = [one.getMessage() for one in caplog.records]
    assert "a pooler shares the sessions" in said
    assert queue.stats("work")[0].acked_total == CALLS


@contextmanager
def durable(queue: Session) -> Iterator[None]:
    """Have new sessions of the database wait for the disk, as a server does by itself."""
    alter = "do $$ begin execute format('alter database %%I {}', current_database()); end $$"
    queue.execute(alter.format("set synchronous_commit = on"))
    try:
        yield
    finally:
        queue.execute(alter.format("reset synchronous_commit"))


def settings_of_sessions(url: str, name: str) -> set[str]:
    """Return what a setting is in the sessions that a pooler has, each in a transaction at the same time."""
    with ExitStack() as opened:
        found = list[str]()
        for _ in range(POOL_SIZE):
            connection = opened.enter_context(psycopg.connect(url))
            [value] = connection.execute("select current_setting(%s)", [name]).fetchone() or ("",)
            found.append(value)
        return set(found)


def test_a_look_leaves_nothing_in_a_session(queue: Session, pooled: str) -> None:
    for number in range(9):
        queue.push(f"mail{number}", "a", number)
    names = ("default_transaction_read_only", "statement_timeout", "lock_timeout", "enable_sort")
    before = [settings_of_sessions(pooled, name) for name in names]
    for args in (["doctor"], ["metrics"], ["metrics"]):
        done = CliRunner().invoke(main, [*args, "--url", pooled])
        assert done.exit_code in (0, 1), done.output
        assert "mail8" in done.output or args == ["doctor"], done.output
    assert [settings_of_sessions(pooled, name) for name in names] == before


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


@pytest.fixture
def elsewhere(harness: Harness) -> Iterator[str]:
    """A pooler that drops startup options, before a database with the queue in a schema of its own."""
    migrate.upgrade(harness.url, schema=SCHEMA)
    try:
        with pgbouncer(harness.url, ignore_startup_parameters="options") as url:
            yield url
    except UnavailableError as error:
        pytest.skip(str(error))


def test_calls_name_the_schema_and_so_does_the_command_line(queue: Session, elsewhere: str) -> None:
    queue.push("mail", "not this one", 1)
    for args in (["push", "mail", "2", "--key", "k"], ["reserve", "mail"]):
        done = CliRunner().invoke(main, [*args, "--url", elsewhere, "--schema", SCHEMA])
        assert (done.exit_code, json.loads(done.stdout)["key"]) == (0, "k"), done.output
    with psycopg.connect(elsewhere, autocommit=True) as connection:
        assert [one.key for one in Queue(connection, schema=SCHEMA).peek("mail", 9)] == ["k"]
        assert [one.key for one in Queue(connection).peek("mail", 9)] == ["not this one"]


def test_so_does_a_worker(queue: Session, elsewhere: str) -> None:
    queue.push("mail", "not this one", 1)
    handlers, done = Handlers(), list[str]()

    @handlers.on("mail")
    def _(message: Message, context: Context) -> None:
        with context.transaction() as own:
            own.push("next", message.key, 1)
            done.append(message.key)

    with psycopg.connect(elsewhere, autocommit=True) as connection:
        own = Queue(connection, schema=SCHEMA)
        own.push("mail", "k", 1)
        running = Workers(elsewhere).start(handlers, schema=SCHEMA)
        until(lambda: done == ["k"])
        running.stop()
        running.join()
        assert [one.key for one in own.peek("next", 9)] == ["k"]
        assert own.stats("mail")[0].acked_total == 1
    assert [one.key for one in queue.peek("mail", 9)] == ["not this one"]
