"""Connections of a worker: who doesn't answer isn't waited for, and who is gone is noticed."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pymysql
import pytest
from click.testing import CliRunner

from pyqueue_sql import AsyncQueue, Queue
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.cli import main
from pyqueue_sql.spark.batches import connected
from pyqueue_sql.spark.options import Options
from pyqueue_sql.spark.reading import batches
from pyqueue_sql.worker.connecting import connect_async
from tests.worker.helpers import PATIENCE_SECONDS, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.harness import Harness

MUTE_SECONDS = 2
"""The least that libpq takes."""


def number_of(connection: Any) -> int:
    """Return the file number of the socket of a connection, of whichever driver."""
    if isinstance(connection, psycopg.Connection | psycopg.AsyncConnection):
        return connection.fileno()
    found = getattr(connection, "_sock", None) or connection._writer.get_extra_info("socket")
    return found.fileno()


def options_of(connection: Any) -> list[int]:
    """Return when the system gives up who is at the other end."""
    with socket.socket(fileno=os.dup(number_of(connection))) as own:
        asked = [
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            *((socket.IPPROTO_TCP, getattr(socket, name)) for name in NAMES),
        ]
        return [own.getsockopt(*one) for one in asked]


NAMES = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")


def of_threads(url: str) -> list[int]:
    with connect(url) as connection:
        return options_of(connection)


def of_coroutines(url: str) -> list[int]:
    async def run() -> list[int]:
        connection = await connect_async(url)
        found = options_of(connection)
        closing = connection.close()
        if closing is not None:
            await closing
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("options", [of_threads, of_coroutines])
def test_a_server_that_is_gone_without_a_word_is_noticed_within_a_minute(
    harness: Harness, options: Callable[[str], list[int]]
) -> None:
    keepalive, idle, interval, count, user_milliseconds = options(harness.url)
    assert keepalive == 1
    assert idle + interval * count <= 60
    assert user_milliseconds <= 60_000


@pytest.mark.parametrize("connecting", [connect, lambda url: asyncio.run(connect_async(url))])
def test_a_server_that_says_nothing_is_not_waited_for(
    harness: Harness, connecting: Callable[[str], object]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        scheme = harness.url.partition("://")[0]
        url = f"{scheme}://me:secret@127.0.0.1:{mute.getsockname()[1]}/app?connect_timeout={MUTE_SECONDS}"
        check_patience(lambda: connecting(url))


@pytest.mark.servers("mariadb", "mysql")
def test_nor_is_one_that_says_nothing_after_its_greeting(harness: Harness) -> None:
    there = urlsplit(harness.url)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            client, _ = listener.accept()
            with client, socket.create_connection((there.hostname or "", there.port or 0)) as server:
                client.sendall(server.recv(65536))
                over.wait(PATIENCE_SECONDS)

        over = threading.Event()
        threading.Thread(target=greet, daemon=True).start()
        port = listener.getsockname()[1]
        url = f"{there.scheme}://me:secret@127.0.0.1:{port}/app?connect_timeout={MUTE_SECONDS}"
        check_patience(lambda: connect(url))
        over.set()


def check_patience(connecting: Callable[[], object]) -> None:
    """See that no connection is made, in the time that the URL gives for it, and not at once."""
    began = time.monotonic()
    with pytest.raises(ConnectionFailed) as failed:
        connecting()
    assert MUTE_SECONDS - 0.5 < time.monotonic() - began < 4 * MUTE_SECONDS
    assert "secret" not in str(failed.value)


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize(("asked", "is_kept"), [("connect_timeout=1", True), ("read_timeout=1", False)])
def test_what_is_said_of_reading_holds_once_somebody_is_in(
    harness: Harness, asked: str, is_kept: bool
) -> None:
    connection: Any = connect(f"{harness.url}?{asked}")
    with connection, connection.cursor() as cursor:
        if is_kept:
            cursor.execute("select sleep(1.5)")
            assert cursor.fetchone() == (0,)
        else:
            with pytest.raises(pymysql.OperationalError):
                cursor.execute("select sleep(3)")


@pytest.mark.servers("mariadb", "mysql")
def test_who_asks_for_a_database_that_is_not_there_leaves_no_connection_open(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = pymysql.connect, list[Any]()

    def noting(**settings: Any) -> Any:
        made.append(real(**settings))
        return made[-1]

    monkeypatch.setattr(pymysql, "connect", noting)
    with pytest.raises(ConnectionFailed, match="no_such_database"):
        connect(harness.url, schema="no_such_database")
    assert [one.open for one in made] == [False]


@pytest.mark.parametrize("connecting", [connect, lambda url: asyncio.run(connect_async(url))])
def test_who_gets_no_connection_is_told_whether_the_server_may_be_away(
    harness: Harness, connecting: Callable[[str], object]
) -> None:
    there = urlsplit(harness.url)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()[1]
    for port, away in ((nobody, True), (there.port, False)):
        with pytest.raises(ConnectionFailed) as failed:
            connecting(f"{there.scheme}://no_such_login:x@127.0.0.1:{port}{there.path}")
        assert failed.value.away == away


PASSWORD = "Pw-1-secret"
BLOCKED = "failed_login_attempts 1 password_lock_time 1"
"""After a login that fails."""
SHUT_OUT = {"mariadb": ["account lock"], "mysql": ["account lock", "password expire", BLOCKED]}
"""MariaDB lets in whose password has expired, and then refuses each call."""


def refusal(url: str) -> ConnectionFailed:
    with pytest.raises(ConnectionFailed) as failed:
        connect(url)
    return failed.value


@pytest.mark.servers("mariadb", "mysql")
def test_who_may_not_log_in_is_not_told_that_the_server_is_away(harness: Harness) -> None:
    there = urlsplit(harness.url)
    with closing(connect(harness.url)) as owner, owner.cursor() as cursor:
        for why in SHUT_OUT[there.scheme.partition("+")[0]]:
            name = f"shut_out_{secrets.token_hex(4)}"
            cursor.execute(f"create user {name} identified by '{PASSWORD}' {why}".encode())
            try:
                told = [
                    refusal(f"{there.scheme}://{name}:{password}@{there.hostname}:{there.port}/")
                    for password in ["wrong"] * (why == BLOCKED) + [PASSWORD]
                ]
                assert not told[-1].away, told
            finally:
                cursor.execute(f"drop user {name}".encode())


def test_transactions_are_read_committed_for_whoever_asks_for_that(harness: Harness) -> None:
    if harness.url.startswith("postgresql"):
        url = f"{harness.url}?options=-c%20default_transaction_isolation%3Dserializable"
        ask = "select 'level', replace(current_setting('transaction_isolation'), ' ', '-')"
        unasked = "serializable"
    else:
        url, unasked = harness.url, "repeatable-read"
        ask = "show session variables where variable_name in ('tx_isolation', 'transaction_isolation')"
    found = list[set[str]]()
    for asked in (True, False):
        connection: Any = connect(url, autocommit=False, read_committed=asked)
        with connection, connection.cursor() as cursor:
            cursor.execute(ask)
            found.append({value.lower() for _, value in cursor.fetchall()})
    assert found == [{"read-committed"}, {unasked}]

    async def of_coroutines() -> set[str]:
        connection = await connect_async(url)
        async with connection.cursor() as cursor:
            await cursor.execute(ask)
            level = {value.lower() for _, value in await cursor.fetchall()}
        if (closing := connection.close()) is not None:
            await closing
        return level

    assert asyncio.run(of_coroutines()) == {"read-committed"}


def of_queue(url: str) -> str:
    with connect(url, read_committed=True) as connection:
        return Queue(connection).push("mail", "k", 1).outcome


def of_async_queue(url: str) -> str:
    async def run() -> str:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
        async with connection:
            await connection.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
            return (await AsyncQueue(connection).push("mail", "k", 1)).outcome

    return asyncio.run(run())


def of_command(url: str) -> str:
    found = CliRunner().invoke(main, ["push", "mail", "1", "--key", "k", "--url", url])
    assert found.exit_code == 0, found.output
    return json.loads(found.output)["outcome"]


def of_spark(url: str) -> str:
    with connected(Options(url)) as database:
        return database.push("mail", "k", 1).outcome


def of_copy(url: str) -> str:
    text = "select outcome as p_key from queue_push(%s, %s, %s)"
    with connected(Options(url)) as database:
        [rows] = batches(database.connection, text, ["mail", "k", "1"], "p_key text")
    return rows["p_key"][0].as_py()


@pytest.mark.servers("postgresql")
@pytest.mark.parametrize("push", [of_queue, of_async_queue, of_command, of_spark, of_copy])
def test_what_waits_for_another_goes_on_though_the_default_is_stricter(
    harness: Harness, push: Callable[[str], str]
) -> None:
    """In SERIALIZABLE it would fail as soon as the other one commits."""
    url = f"{harness.url}?options=-c%20default_transaction_isolation%3Dserializable"
    with connect(harness.url, autocommit=False) as other, ThreadPoolExecutor() as pool:
        assert Queue(other).push("mail", "k", 0).outcome == "created"
        outcome = pool.submit(push, url)
        with psycopg.connect(harness.url, autocommit=True) as looking:
            waits = "select from pg_stat_activity where wait_event_type = 'Lock'"
            until(lambda: outcome.done() or looking.execute(waits).fetchall() != [])
        other.commit()
        assert outcome.result() == "ignored"
