"""The async client over SQLAlchemy: the same promises, awaited."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

# before SQLAlchemy's asyncio, which can't even be imported without
pytest.importorskip("greenlet", reason="SQLAlchemy's asyncio needs greenlet, which isn't installed")

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


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)


Run = Callable[[Callable[[AsyncEngine], Awaitable[None]]], None]


@pytest.fixture
def run(database_url: str) -> Run:
    """Runs a scenario on an engine of an application that has a table of its own."""

    async def on_engine(scenario: Callable[[AsyncEngine], Awaitable[None]]) -> None:
        engine = create_async_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        await scenario(engine)
        await engine.dispose()

    return lambda scenario: asyncio.run(on_engine(scenario))


@pytest.fixture
def keys(conn: psycopg.Connection[Any]) -> Callable[[], list[str]]:
    """The keys that everybody sees."""
    return lambda: [message.key for message in Queue(conn).peek("mail")]


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


def test_errors_are_the_queues_own_or_those_of_sqlalchemy(run: Run, conn: psycopg.Connection[Any]):
    async def scenario(engine: AsyncEngine) -> None:
        queue = AsyncQueue(engine)
        with pytest.raises(InvalidReceipt) as caught:
            await queue.ack("x")
        assert isinstance(caught.value.__cause__, psycopg.Error)
        with pytest.raises(InvalidParameter):
            await queue.push("mail", "\ud800")
        async with engine.connect() as connection:
            await AsyncQueue(connection).stats()
            conn.execute(
                "select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a"
                " where a.datname = current_database() and a.pid <> pg_backend_pid()"
            )
            with pytest.raises(OperationalError):
                await AsyncQueue(connection).stats()

    run(scenario)


def test_sync_and_async_are_not_taken_for_one_another(run: Run):
    async def scenario(engine: AsyncEngine) -> None:
        for connection in (engine, engine.connect(), AsyncSession(engine)):
            with pytest.raises(TypeError, match="that is for AsyncQueue"):
                Queue(connection)  # pyright: ignore[reportArgumentType]
        with pytest.raises(TypeError, match="that is for Queue"):
            AsyncQueue(engine.sync_engine)  # pyright: ignore[reportArgumentType]

    run(scenario)
