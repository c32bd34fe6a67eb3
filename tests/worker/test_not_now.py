"""Workers and a server that takes in nothing for a while, or whose transactions are of another level."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from pyqueue_sql import Message
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker import Context, Handlers, WorkerOptions
from tests.worker.helpers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers

MESSAGES = 200


@contextlib.contextmanager
def _administering(harness: Harness) -> Iterator[Callable[[str], Any]]:
    with connect(harness.url) as connection, connection.cursor() as cursor:

        def do(text: str) -> Any:
            cursor.execute(text)  # pyright: ignore[reportArgumentType, reportCallIssue]
            return cursor.fetchone() if cursor.description else None

        yield do


@contextlib.contextmanager
def _read_only(harness: Harness, server_name: str) -> Iterator[None]:
    """Have new connections find the server as a standby, or a replica, would be."""
    database = urlsplit(harness.url).path[1:]
    with _administering(harness) as do:
        (me,) = do("select current_user" if server_name == "postgresql" else "select current_user()")
        name = "'{}'@'{}'".format(*me.split("@")) if "@" in me else me
        on, off = {
            "postgresql": (
                [f'alter database "{database}" set default_transaction_read_only = on'],
                [f'alter database "{database}" reset default_transaction_read_only'],
            ),
            "mysql": (
                ["set global super_read_only = on"],
                ["set global super_read_only = off", "set global read_only = off"],
            ),
            # the routines' owner could write all the same there; this session keeps its rights
            "mariadb": (
                [f"revoke read only admin on *.* from {name}", "set global read_only = on"],
                ["set global read_only = off", f"grant read only admin on *.* to {name}"],
            ),
        }[server_name]
        for text in on:
            do(text)
        try:
            yield
        finally:
            for text in off:
                do(text)


@contextlib.contextmanager
def _serializable(harness: Harness, server_name: str) -> Iterator[None]:
    """Have new connections be in SERIALIZABLE."""
    with _administering(harness) as do:
        if server_name == "postgresql":  # the database is this test's alone
            name = urlsplit(harness.url).path[1:]
            do(f"alter database \"{name}\" set default_transaction_isolation = 'serializable'")
            yield
            return
        variable = "tx_isolation" if server_name == "mariadb" else "transaction_isolation"
        (before,) = do(f"select @@global.{variable}")
        do(f"set global {variable} = 'SERIALIZABLE'")
        try:
            yield
        finally:
            do(f"set global {variable} = '{before}'")


def test_a_worker_waits_for_a_server_that_is_read_only(
    queue: Session, harness: Harness, server_name: str, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = Handlers()
    done = list[str]()

    @handlers.on("work")
    def _(message: Message) -> None:
        done.append(message.key)

    queue.push("work", "a", 1)
    with _read_only(harness, server_name), caplog.at_level(logging.WARNING):
        running = workers.start(handlers)
        until(lambda: any("trying again" in one.getMessage() for one in caplog.records))
        time.sleep(0.5)
        assert done == []
    until(lambda: done == ["a"])
    running.stop()
    running.join()


@pytest.mark.parametrize("notify", [True, False])
def test_what_a_worker_does_is_in_read_committed(
    queue: Session,
    harness: Harness,
    server_name: str,
    workers: Workers,
    caplog: pytest.LogCaptureFixture,
    notify: bool,
) -> None:
    handlers = Handlers()
    done = list[str]()

    @handlers.on("work")
    def _(message: Message, context: Context) -> None:
        with context.transaction():
            done.append(message.key)

    queue.push_many("work", [{"key": f"{number}", "payload": number} for number in range(MESSAGES)])
    # they end in order: an end at once gives back what is done here and not committed yet, and says so
    with (
        _serializable(harness, server_name),
        caplog.at_level(logging.WARNING, "pyqueue_sql"),
        contextlib.ExitStack() as running,
    ):
        for number in range(3):
            options = WorkerOptions(name=f"w{number}", concurrency=2, notify=notify, poll_seconds=0.1)
            running.enter_context(workers.running(handlers, **options))
        until(lambda: len(done) >= MESSAGES)
    assert sorted(done) == sorted(f"{number}" for number in range(MESSAGES))
    assert [one.getMessage() for one in caplog.records] == []
