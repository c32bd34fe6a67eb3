"""What the Python client costs: a call of it beside the driver's own call of the same SQL, in pairs.

    python -m bench.wrapper [--rounds 5] [--calls 200]

The driver's call has its parameters ready, and its rows are tuples. Each call is rolled back, outside of the
time that is taken, so that all meet the same rows. The client and the driver take turns at each call, and at
going first; a figure is the median of the rounds' medians. Keep the cores free of anything else.
"""

import argparse
import asyncio
import importlib.util
import inspect
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import sqlalchemy
from psycopg.rows import tuple_row

from pyqueue_sql import AsyncQueue, Queue, call, migrate
from pyqueue_sql.dialect import postgresql_text
from pyqueue_sql.embedded import start_server

PAYLOAD = {"to": "ann@example.org", "subject": "Welcome", "tries": [1, 2, 3]}
MESSAGES = 2000

Case = tuple[str, call.Call[Any], Callable[[Any], Any]]
Timed = Callable[[], Awaitable[Any]]


def cases(receipt: str) -> list[Case]:
    """Each with its name, what the driver executes, and how the client is called for the same."""
    return [
        ("push", call.push("new", "k", PAYLOAD, {}), lambda q: q.push("new", "k", PAYLOAD)),
        ("reserve 1", call.reserve("full", "me", 1, {}), lambda q: q.reserve("full", "me", 1)),
        ("reserve 100", call.reserve("full", "me", 100, {}), lambda q: q.reserve("full", "me", 100)),
        ("ack", call.ack(receipt), lambda q: q.ack(receipt)),
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


async def measure(url: str, receipt: str, rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Print and return a ratio a case and way."""
    theirs = url.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(theirs)
    with psycopg.connect(url) as connection, engine.connect() as through:
        asynchronous = await psycopg.AsyncConnection.connect(url)
        ways: list[tuple[str, Any, Any, Any]] = [
            ("psycopg", connection, Queue(connection), over_psycopg),
            ("psycopg async", asynchronous, AsyncQueue(asynchronous), over_async_psycopg),
            ("SQLAlchemy", through, Queue(through), over_sqlalchemy),
        ]
        closing = [asynchronous.close]
        if importlib.util.find_spec("greenlet"):
            from sqlalchemy.ext.asyncio import create_async_engine

            async_engine = create_async_engine(theirs)
            async_through = await async_engine.connect()
            ways.append(("SQLAlchemy async", async_through, AsyncQueue(async_through), over_async_sqlalchemy))
            closing += [async_through.close, async_engine.dispose]
        found: dict[str, dict[str, float]] = {}
        print(f"{'':20}{'':14}{'driver µs':>10}{'client µs':>10}{'ratio':>8}")
        for way, given, queue, driver in ways:
            for name, what, client in cases(receipt):
                figures = [
                    await compare(driver(given, what), lambda: client(queue), given.rollback, calls)  # noqa: B023
                    for _ in range(rounds)
                ]
                base, ours = (statistics.median(one) for one in zip(*figures, strict=True))
                found.setdefault(way, {})[name] = round(ours / base, 3)
                print(f"{way:20}{name:14}{base * 1e6:10.0f}{ours * 1e6:10.0f}{ours / base:8.3f}", flush=True)
        for close in closing:
            await close()
    engine.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    with start_server() as server:
        migrate.upgrade(server.url)
        with psycopg.connect(server.url, autocommit=True) as connection:
            queue = Queue(connection)
            queue.push_many("full", [{"payload": PAYLOAD} for _ in range(MESSAGES)])
            queue.push("held", "k")
            (held,) = queue.reserve("held", timeout_seconds=86400)
            connection.execute("vacuum analyze")
        ratios = asyncio.run(measure(server.url, held.receipt or "", options.rounds, options.calls))
        print(json.dumps({"server": server.version, "ratios": ratios}))


if __name__ == "__main__":
    main()
