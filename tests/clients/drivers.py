"""The drivers that applications have, below SQLAlchemy and Django and by themselves, one row each.

What a queue answers is the same over each of them, so the rows only say how to open a connection.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import aiomysql  # pyright: ignore[reportMissingTypeStubs]
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import django
import django.db  # pyright: ignore[reportMissingTypeStubs]
import django.utils.connection  # pyright: ignore[reportMissingTypeStubs]
import psycopg
import pymysql
import sqlalchemy
from django.conf import settings  # pyright: ignore[reportMissingTypeStubs]
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from pyqueue_sql import AsyncQueue, Queue
from pyqueue_sql.calls.connect import mysql_settings

POSTGRESQL, MARIADB, BOTH = ("postgresql",), ("mariadb",), ("mariadb", "mysql")


@dataclass
class Opened:
    """What an application has."""

    joining: dict[str, Any]
    """Queues whose calls are part of one transaction."""
    commit: Callable[[], object]
    rollback: Callable[[], object]
    alone: dict[str, Any]
    """Queues of which each call is a transaction."""


@dataclass(frozen=True)
class Driver:
    """One way to the database."""

    name: str
    servers: tuple[str, ...]
    open: Callable[[str], AbstractContextManager[Opened]]
    built: str | None = None
    """The package that is built from its source, because it has no wheel."""


class Blocking:
    """An asynchronous object whose methods wait for their end.

    Args:
        run: runs what is to be awaited.
        inner: the object.
    """

    def __init__(self, run: Callable[[Any], Any], inner: Any) -> None:
        self._wait = run
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*args: Any, **options: Any) -> Any:
            answer = method(*args, **options)
            return self._wait(answer) if inspect.isawaitable(answer) else answer

        return call


@contextmanager
def running() -> Iterator[Callable[[Any], Any]]:
    """Give an event loop as what runs an awaitable."""
    with asyncio.Runner() as runner:

        async def awaited(what: Any) -> Any:
            return await what

        yield lambda what: runner.run(awaited(what))


def sqlalchemy_url(url: str, scheme: str, query: dict[str, str]) -> sqlalchemy.URL:
    return sqlalchemy.make_url(url).set(drivername=scheme).update_query_dict(query)


def below_sqlalchemy(scheme: str, **query: str) -> Callable[[str], AbstractContextManager[Opened]]:
    @contextmanager
    def opened(url: str) -> Iterator[Opened]:
        engine = sqlalchemy.create_engine(sqlalchemy_url(url, scheme, query))
        own = engine.execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection, Session(engine) as session, own.connect() as autocommit:
            yield Opened(
                {"connection": Queue(connection), "session": Queue(session)},
                lambda: (connection.commit(), session.commit()),
                lambda: (connection.rollback(), session.rollback()),
                {"engine": Queue(engine), "autocommit": Queue(autocommit)},
            )
        engine.dispose()

    return opened


def below_async_sqlalchemy(scheme: str, **query: str) -> Callable[[str], AbstractContextManager[Opened]]:
    @contextmanager
    def opened(url: str) -> Iterator[Opened]:
        with running() as run:
            engine = create_async_engine(sqlalchemy_url(url, scheme, query))
            connection = run(engine.connect().start())
            session = AsyncSession(engine)
            own = run(engine.execution_options(isolation_level="AUTOCOMMIT").connect().start())
            try:
                yield Opened(
                    {
                        "connection": Blocking(run, AsyncQueue(connection)),
                        "session": Blocking(run, AsyncQueue(session)),
                    },
                    lambda: (run(connection.commit()), run(session.commit())),
                    lambda: (run(connection.rollback()), run(session.rollback())),
                    {
                        "engine": Blocking(run, AsyncQueue(engine)),
                        "autocommit": Blocking(run, AsyncQueue(own)),
                    },
                )
            finally:
                for one in (session, own, connection):
                    run(one.close())
                run(engine.dispose())

    return opened


@contextmanager
def raw_psycopg(url: str) -> Iterator[Opened]:
    with psycopg.connect(url) as one, psycopg.connect(url, autocommit=True) as own:
        yield Opened({"connection": Queue(one)}, one.commit, one.rollback, {"autocommit": Queue(own)})


@contextmanager
def raw_pymysql(url: str) -> Iterator[Opened]:
    given = mysql_settings(url)
    with pymysql.connect(**given) as one, pymysql.connect(**given, autocommit=True) as own:
        yield Opened({"connection": Queue(one)}, one.commit, one.rollback, {"autocommit": Queue(own)})


def opened_by(run: Callable[[Any], Any], one: Any, own: Any) -> Opened:
    """What two connections of a driver for asyncio have opened, of which the second commits by itself."""
    return Opened(
        {"connection": Blocking(run, AsyncQueue(one))},
        Blocking(run, one).commit,
        Blocking(run, one).rollback,
        {"autocommit": Blocking(run, AsyncQueue(own))},
    )


@contextmanager
def raw_async_psycopg(url: str) -> Iterator[Opened]:
    with running() as run:
        one = run(psycopg.AsyncConnection.connect(url))
        own = run(psycopg.AsyncConnection.connect(url, autocommit=True))
        try:
            yield opened_by(run, one, own)
        finally:
            run(one.close())
            run(own.close())


@contextmanager
def raw_aiomysql(url: str) -> Iterator[Opened]:
    given = mysql_settings(url)
    given["db"] = given.pop("database")
    with running() as run:
        one, own = run(aiomysql.connect(**given)), run(aiomysql.connect(**given, autocommit=True))
        try:
            yield opened_by(run, one, own)
        finally:
            for connection in (one, own):
                run(connection.ensure_closed())


@contextmanager
def raw_asyncpg(url: str) -> Iterator[Opened]:
    """As the driver is by default, and with JSON as Python's values, which a user may ask it for."""
    with running() as run:
        one: Any = run(asyncpg.connect(url))
        run(one.execute("begin"))

        def end(how: str) -> None:
            run(one.execute(how))
            run(one.execute("begin"))

        own: Any = run(asyncpg.connect(url))
        own_codec: Any = run(asyncpg.connect(url))
        encode, decode = (lambda value: f"{value!r}!"), (lambda text: f"{text}?")
        run(own_codec.set_type_codec("jsonb", encoder=encode, decoder=decode, schema="pg_catalog"))
        pool: Any = run(asyncpg.create_pool(url, min_size=1, max_size=2))
        of_pool: Any = run(pool.acquire())
        alone = {"connection": own, "codec": own_codec, "pool": pool, "of the pool": of_pool}
        try:
            yield Opened(
                {"connection": Blocking(run, AsyncQueue(one))},
                lambda: end("commit"),
                lambda: end("rollback"),
                {name: Blocking(run, AsyncQueue(connection)) for name, connection in alone.items()},
            )
        finally:
            run(pool.release(of_pool))
            for connection in (one, own, own_codec, pool):
                run(connection.close())


@contextmanager
def below_django(url: str) -> Iterator[Opened]:
    """Django's connections as an application has them, with and without time zones."""
    if url.startswith("postgresql"):
        parts: dict[str, Any] = dict(conninfo_to_dict(url))
        given = {"NAME": parts["dbname"], "ENGINE": "django.db.backends.postgresql"}
    else:
        parts = mysql_settings(url)
        given = {"NAME": parts["database"], "ENGINE": "django.db.backends.mysql"}
    names = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    given |= {name: str(parts.get(key) or "") for name, key in names.items()}
    if not settings.configured:
        settings.configure(USE_TZ=False)
        django.setup()
    handler: Any = django.db.ConnectionHandler(
        {"default": given, "transaction": {**given, "AUTOCOMMIT": False}}
    )
    proxy = django.utils.connection.ConnectionProxy(handler, "default")
    joining = handler["transaction"]
    try:
        yield Opened(
            {"connection": Queue(joining)},
            joining.commit,
            joining.rollback,
            {"proxy": Queue(proxy), "connection": Queue(handler["default"])},
        )
    finally:
        handler.close_all()


DRIVERS = (
    Driver("psycopg", POSTGRESQL, raw_psycopg),
    Driver("psycopg, async", POSTGRESQL, raw_async_psycopg),
    Driver("asyncpg", POSTGRESQL, raw_asyncpg),
    Driver("PyMySQL", BOTH, raw_pymysql),
    Driver("aiomysql", BOTH, raw_aiomysql),
    Driver("SQLAlchemy, psycopg", POSTGRESQL, below_sqlalchemy("postgresql+psycopg")),
    Driver("SQLAlchemy, psycopg2", POSTGRESQL, below_sqlalchemy("postgresql+psycopg2")),
    Driver("SQLAlchemy, pg8000", POSTGRESQL, below_sqlalchemy("postgresql+pg8000")),
    Driver("SQLAlchemy, psycopg, async", POSTGRESQL, below_async_sqlalchemy("postgresql+psycopg")),
    Driver("SQLAlchemy, asyncpg", POSTGRESQL, below_async_sqlalchemy("postgresql+asyncpg")),
    Driver("SQLAlchemy, PyMySQL", BOTH, below_sqlalchemy("mysql+pymysql")),
    Driver(
        "SQLAlchemy, mysqlclient", BOTH, below_sqlalchemy("mysql+mysqldb", charset="utf8mb4"), "mysqlclient"
    ),
    Driver("SQLAlchemy, MySQL Connector", BOTH, below_sqlalchemy("mysql+mysqlconnector")),
    Driver("SQLAlchemy, MariaDB Connector", MARIADB, below_sqlalchemy("mariadb+mariadbconnector"), "mariadb"),
    Driver("SQLAlchemy, aiomysql", BOTH, below_async_sqlalchemy("mysql+aiomysql")),
    Driver("SQLAlchemy, asyncmy", BOTH, below_async_sqlalchemy("mysql+asyncmy")),
    Driver("Django, psycopg", POSTGRESQL, below_django),
    Driver("Django, mysqlclient", BOTH, below_django, "mysqlclient"),
)
