"""Async connections from URLs, for the transactions of coroutines."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

import psycopg

from pyqueue_sql.calls.connect import (
    CONNECT_SECONDS,
    NO_LIMIT,
    READ_COMMITTED,
    ConnectionFailed,
    connect_postgresql,
    failed_mysql,
    failed_postgresql,
    is_mysql,
    mysql_settings,
    mysql_tls,
    postgresql_settings,
    settings_of_network,
    watch_network,
)

_SSL = 0x800
"""Of the capabilities that a server of MariaDB or MySQL says it has."""
LOOKS = 3
"""At the backends of two connections: another client may have the one that they would share."""
_TAKEN = ("host", "port", "user", "password", "unix_socket", "charset", "connect_timeout")
"""By aiomysql under the names that PyMySQL has for them."""


def shares_sessions(url: str) -> bool:
    """Whether a pooler between here and PostgreSQL gives the same session to several connections.

    Two connections that are open at once have a backend each, and keep it, unless there is one. False where
    no connection can be made: whoever needs one will say so.
    """
    try:
        with connect_postgresql(url) as one, connect_postgresql(url) as other:
            backends = [(_backend(one), _backend(other)) for _ in range(LOOKS)]
    except (ConnectionFailed, psycopg.Error):
        return False
    return len(set(backends)) > 1 or backends[0][0] == backends[0][1]


def _backend(connection: psycopg.Connection[Any]) -> int:
    # not info.backend_pid: that is what the pooler said at the beginning
    found = connection.execute("select pg_backend_pid()", prepare=False).fetchone()
    assert found is not None
    return found[0]


async def connect_async(url: str) -> Any:
    """Return a new connection of psycopg or aiomysql that isn't in autocommit, and whose transactions are in
    READ COMMITTED; else as `pyqueue_sql.calls.connect.connect`.

    Raises:
        ConnectionFailed: the server isn't there or doesn't let us in, or aiomysql is missing.
    """
    if is_mysql(url):
        return await _aiomysql(url)
    try:
        settings = settings_of_network(postgresql_settings(url, None))
        connection = await psycopg.AsyncConnection.connect(**settings)
    except psycopg.OperationalError as error:
        raise failed_postgresql(error, url) from None
    await connection.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
    return connection


async def _aiomysql(url: str) -> Any:
    try:
        driver = importlib.import_module("aiomysql")
    except ImportError:
        raise ConnectionFailed(
            "aiomysql is needed for transactions of coroutines: pip install 'pyqueue_sql[mysql-async]'"
        ) from None
    given = mysql_settings(url)
    tls = mysql_tls(given)
    settings = {name: given[name] for name in _TAKEN if name in given}

    class Connection(driver.Connection):
        async def _request_authentication(self) -> None:
            if tls is not None and not self.server_capabilities & _SSL:  # by itself it logs in in the clear
                raise driver.OperationalError(2026, "the server says that it can't encrypt")
            await super()._request_authentication()  # pyright: ignore[reportUnknownMemberType]

    first = f"set autocommit = 0, {NO_LIMIT}"
    connection = Connection(
        **settings, db=given.get("database"), ssl=tls, autocommit=False, init_command=first
    )
    patience = settings.get("connect_timeout", CONNECT_SECONDS)
    is_in = False
    try:
        async with asyncio.timeout(patience):
            await connection._connect()  # what connect of aiomysql does
            watch_network(connection._writer.get_extra_info("socket"))
            await connection.query(READ_COMMITTED)
        is_in = True
    except TimeoutError:
        raise ConnectionFailed(f"no answer within {patience} seconds", away=True) from None
    except (driver.Error, OSError, RuntimeError) as error:  # RuntimeError: a package of PyMySQL's is missing
        why = f" ({error.__cause__})" if error.__cause__ else ""  # PyMySQL says it by itself
        raise failed_mysql(error, url, why) from None
    finally:
        if not is_in:
            connection.close()
    return connection
