"""The async client over SQLAlchemy: the same promises, awaited."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pymysql
import pytest

# before SQLAlchemy's asyncio, which can't even be imported without
pytest.importorskip("greenlet", reason="SQLAlchemy's asyncio needs greenlet, which isn't installed")

from sqlalchemy import Connection, String
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_scoped_session,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from pyqueue_sql import AsyncQueue, InvalidParameter, InvalidPayload, InvalidReceipt, Queue
from tests.conformance.fixtures import Connect, connect, harness
from tests.conformance.harness import Harness

__all__ = ["connect", "harness"]


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(100), unique=True)


Run = Callable[[Callable[[AsyncEngine], Awaitable[None]]], None]


@pytest.fixture
def run(harness: Harness) -> Run:
    """Runs a scenario on an engine of an application that has a table of its own."""
    url = harness.url.replace("postgresql://", "postgresql+psycopg://").replace("+pymysql", "+aiomysql")

    async def on_engine(scenario: Callable[[AsyncEngine], Awaitable[None]]) -> None:
        engine = create_async_engine(url)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        try:
            await scenario(engine)
        finally:
            async with engine.begin() as connection:
                await connection.run_sync(Base.metadata.drop_all)
            await engine.dispose()

    return lambda scenario: asyncio.run(on_engine(scenario))


@pytest.fixture
def keys(connect: Connect) -> Callable[[], list[str]]:
    """The keys that everybody sees."""
    queue = connect()
    return lambda: [message.key for message in queue.peek("mail")]


def test_a_commit_brings_the_message_and_a_rollback_takes_it_along(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        async with AsyncSession(engine) as session:
            queue = AsyncQueue(session)
            session.add(Customer(id=1, email="x"))
            assert (await queue.push("mail", "a", {"to": "ä"})).outcome == "created"
            assert keys() == []
            await session.commit()
            await queue.push("mail", "b")
            await session.rollback()
            await queue.push("mail", "c")
            await session.commit()
        assert keys() == ["a", "c"]

    run(scenario)


def test_a_constraint_takes_the_message_along(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        async with AsyncSession(engine) as session:
            session.add_all([Customer(id=1, email="x"), Customer(id=2, email="x")])
            await AsyncQueue(session).push("mail", "a")
            with pytest.raises(IntegrityError):
                await session.commit()
        assert keys() == []

    run(scenario)


def test_a_savepoint_takes_its_message_along_and_no_other(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        async with AsyncSession(engine) as session:
            queue = AsyncQueue(session)
            await queue.push("mail", "a")
            with pytest.raises(InvalidPayload):
                async with session.begin_nested():
                    await queue.push("mail", "b")
                    await queue.push("mail", "c", "\0")
            await session.commit()
        assert keys() == ["a"]

    run(scenario)


def test_a_connection_joins_its_transaction(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        async with engine.connect() as connection:
            connection = await connection.execution_options(stream_results=True)
            queue = AsyncQueue(connection)
            await queue.push("mail", "a")
            await connection.rollback()
            await queue.push("mail", "b")
            await connection.commit()
        assert keys() == ["b"]

    run(scenario)


def test_over_an_engine_each_call_is_a_transaction(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        queue = AsyncQueue(engine)
        await queue.push("mail", "a", [1])
        assert keys() == ["a"]
        (message,) = await queue.reserve("mail")
        assert message.payload == [1]
        assert (await queue.ack(message.receipt or "")).outcome == "acked"
        assert engine.pool.checkedout() == 0  # pyright: ignore[reportAttributeAccessIssue]

    run(scenario)


def test_a_scoped_session_is_asked_at_each_call(run: Run, keys: Callable[[], list[str]]):
    async def scenario(engine: AsyncEngine) -> None:
        sessions = async_scoped_session(async_sessionmaker(engine), asyncio.current_task)
        queue = AsyncQueue(sessions)
        for key in "ab":
            await queue.push("mail", key)
            await sessions.commit()
            await sessions.remove()
        assert keys() == ["a", "b"]

    run(scenario)


def test_the_sync_queue_works_where_sqlalchemy_runs_sync_code(run: Run, keys: Callable[[], list[str]]):
    def sync(session: Session) -> None:
        Queue(session).push("mail", "a")

    async def scenario(engine: AsyncEngine) -> None:
        async with AsyncSession(engine) as session:
            await session.run_sync(sync)
            await session.commit()
        assert keys() == ["a"]

    run(scenario)


def end_connection(connection: Connection, connect: Connect) -> None:
    """End a connection as an administrator does."""
    driver: Any = connection.connection.driver_connection
    if isinstance(driver, psycopg.AsyncConnection):
        connect().execute("select pg_terminate_backend(%s, 5000)", [driver.info.backend_pid])
    else:
        connect().execute("kill %s", [driver.thread_id()])


def test_errors_are_the_queues_own_or_those_of_sqlalchemy(run: Run, connect: Connect):
    async def scenario(engine: AsyncEngine) -> None:
        queue = AsyncQueue(engine)
        with pytest.raises(InvalidReceipt) as caught:
            await queue.ack("x")
        assert isinstance(caught.value.__cause__, psycopg.Error | pymysql.Error)
        with pytest.raises(InvalidParameter):
            await queue.push("mail", "\ud800")
        async with engine.connect() as connection:
            await AsyncQueue(connection).stats()
            await connection.run_sync(end_connection, connect)
            with pytest.raises(OperationalError):
                await AsyncQueue(connection).stats()

    run(scenario)


@pytest.mark.servers("mariadb", "mysql")
def test_a_victim_is_tried_again_and_a_late_error_is_one(innodb_url: str):
    async def scenario() -> None:
        engine = create_async_engine(innodb_url.replace("+pymysql", "+aiomysql"))
        async with engine.connect() as connection:
            await connection.exec_driver_sql("create table tries (n int) engine = myisam")
            await connection.exec_driver_sql(
                "create procedure queue_prune(in in_max_rows bigint) begin insert into tries values (1);"
                " if (select count(*) from tries) < in_max_rows then"
                " signal sqlstate '40001' set message_text = 'victim', mysql_errno = 1213; end if;"
                " select count(*) as pruned from tries; delete from tries; end"
            )
            await connection.exec_driver_sql(
                "create procedure queue_ack(in in_receipt text, in in_options text)"
                " begin select in_receipt as receipt, 'acked' as outcome; select 1;"
                " signal sqlstate 'PQ005' set message_text = 'late', mysql_errno = 31005; end"
            )
        queue = AsyncQueue(engine)
        assert await queue.prune(6) == 6
        with pytest.raises(OperationalError, match="victim"):
            await queue.prune(7)
        for _ in range(2):
            with pytest.raises(InvalidReceipt, match="late"):
                await queue.ack("x")
        async with engine.connect() as connection:
            with pytest.raises(OperationalError, match="victim"):
                await AsyncQueue(connection).prune(9)
            await connection.rollback()
            connection = await connection.execution_options(isolation_level="AUTOCOMMIT")
            assert await AsyncQueue(connection).prune(12) == 12
        await engine.dispose()

    asyncio.run(scenario())


def test_sync_and_async_are_not_taken_for_one_another(run: Run):
    async def scenario(engine: AsyncEngine) -> None:
        for connection in (engine, engine.connect(), AsyncSession(engine)):
            with pytest.raises(TypeError, match="that is for AsyncQueue"):
                Queue(connection)  # pyright: ignore[reportArgumentType]
        with pytest.raises(TypeError, match="that is for Queue"):
            AsyncQueue(engine.sync_engine)  # pyright: ignore[reportArgumentType]

    run(scenario)
