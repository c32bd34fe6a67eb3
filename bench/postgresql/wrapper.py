"""What the Python client costs: a call of it beside the driver's own call of the same SQL, in pairs.

The driver's call has its parameters ready, and its rows are tuples. Each call is rolled back, outside of the
time that is taken, so that all meet the same rows. The client and the driver take turns at each call, and at
going first; a value is the median of a round.
"""

from __future__ import annotations

import asyncio
import inspect
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import sqlalchemy
from psycopg.rows import tuple_row
from sqlalchemy.ext.asyncio import create_async_engine

from bench.run import Run
from pyqueue_sql import AsyncQueue, Queue
from pyqueue_sql.calls import call
from pyqueue_sql.calls.dialect import postgresql_text

NAME = "wrapper"
ONCE = True
PAYLOAD = {"to": "ann@example.org", "subject": "Welcome", "tries": [1, 2, 3]}
MESSAGES = 2000
CALLS = 200
QUICK_CALLS = 50
TARGET = 0.9

Case = tuple[str, call.Call[Any], Callable[[Any], Any]]
Timed = Callable[[], Awaitable[Any]]


def run(run: Run) -> None:
    """Measure."""
    with psycopg.connect(run.url, autocommit=True) as connection:
        queue = Queue(connection)
        queue.push_many("full", [{"payload": PAYLOAD} for _ in range(MESSAGES)])
        queue.push("held", "k")
        (held,) = queue.reserve("held", timeout_seconds=86400)
        connection.execute("vacuum analyze")
    asyncio.run(measure(run, held.receipt or ""))


def cases(receipt: str) -> list[Case]:
    """Each with its name, what the driver executes, and how the client is called for the same."""
    return [
        ("push", call.push("new", "k", PAYLOAD, {}), lambda q: q.push("new", "k", PAYLOAD)),
        ("reserve 1", call.reserve("full", "me", 1, {}), lambda q: q.reserve("full", "me", 1)),
        ("reserve 100", call.reserve("full", "me", 100, {}), lambda q: q.reserve("full", "me", 100)),
        ("ack", call.ack(receipt, {}), lambda q: q.ack(receipt)),
    ]


async def settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


async def compare(driver: Callable[[], Any], client: Callable[[], Any], undo: Callable[[], Any], calls: int):
    """Return the medians of the driver and of the client, in seconds."""
    taken: dict[int, list[float]] = {0: [], 1: []}
    for number in range(calls * 2):
        which = (number + number // 2) % 2
        run = (driver, client)[which]
        start = time.perf_counter()
        result = run()
        if inspect.isawaitable(result):
            await result
        taken[which].append(time.perf_counter() - start)
        await settled(undo())
    return statistics.median(taken[0]), statistics.median(taken[1])


def over_psycopg(connection: psycopg.Connection[Any], what: call.Call[Any]) -> Callable[[], Any]:
    text = postgresql_text(what.what)
    return lambda: connection.cursor(row_factory=tuple_row).execute(text, what.params).fetchall()


def over_sqlalchemy(connection: sqlalchemy.Connection, what: call.Call[Any]) -> Callable[[], Any]:
    text = postgresql_text(what.what)
    return lambda: connection.exec_driver_sql(text, what.params).fetchall()


def over_async_psycopg(connection: psycopg.AsyncConnection[Any], what: call.Call[Any]) -> Timed:
    text = postgresql_text(what.what)

    async def run() -> Any:
        cursor = connection.cursor(row_factory=tuple_row)
        await cursor.execute(text, what.params)
        return await cursor.fetchall()

    return run


def over_async_sqlalchemy(connection: Any, what: call.Call[Any]) -> Timed:
    text = postgresql_text(what.what)

    async def run() -> Any:
        return (await connection.exec_driver_sql(text, what.params)).fetchall()

    return run


async def measure(run: Run, receipt: str) -> None:
    """Keep a figure for each way to connect and each call."""
    url = run.url.replace("postgresql://", "postgresql+psycopg://")
    engine, async_engine = sqlalchemy.create_engine(url), create_async_engine(url)
    with psycopg.connect(run.url) as connection, engine.connect() as through:
        asynchronous = await psycopg.AsyncConnection.connect(run.url)
        async_through = await async_engine.connect()
        ways: list[tuple[str, Any, Any, Any]] = [
            ("psycopg", connection, Queue(connection), over_psycopg),
            ("psycopg async", asynchronous, AsyncQueue(asynchronous), over_async_psycopg),
            ("SQLAlchemy", through, Queue(through), over_sqlalchemy),
            ("SQLAlchemy async", async_through, AsyncQueue(async_through), over_async_sqlalchemy),
        ]
        for way, given, queue, driver in ways:
            for name, what, client in cases(receipt):
                rounds = [
                    await compare(
                        driver(given, what),
                        lambda client=client, queue=queue: client(queue),
                        given.rollback,
                        QUICK_CALLS if run.quick else CALLS,
                    )
                    for _ in range(run.repetitions)
                ]
                base, ours = ([seconds * 1e6 for seconds in side] for side in zip(*rounds, strict=True))
                run.keep(
                    f"the Python client: {name}",
                    ours,
                    base,
                    our_name="Queue",
                    other_name=way,
                    unit="µs/call",
                    target=TARGET,
                    less_is_better=True,
                )
        for close in (asynchronous.close, async_through.close, async_engine.dispose):
            await close()
    engine.dispose()
