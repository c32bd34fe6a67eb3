"""PgQueuer with asyncpg and uvloop, its faster driver.

arguments: install, 0 | enqueue | delay | work, COUNT, jobs a call | latency, COUNT
"""

import asyncio
import time
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from bench.peers.clients import protocol


async def install(queries: Queries, _: int, __: int) -> None:
    await queries.install()
    await queries.optimize_autovacuum()
    protocol.ready()


async def delay(queries: Queries, count: int, batch: int) -> None:
    await enqueue(queries, count, batch, timedelta(hours=1))


async def enqueue(queries: Queries, count: int, batch: int, after: timedelta | None = None) -> None:
    protocol.ready()
    for start in range(0, count, batch):
        payloads: list[bytes | None] = [
            b'{"n": %d}' % number for number in range(start, min(start + batch, count))
        ]
        many = len(payloads)
        await queries.enqueue(["noop"] * many, payloads, [0] * many, [after] * many)


async def work(queries: Queries, count: int, batch: int) -> None:
    manager = QueueManager(queries)
    worked = 0

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:  # noqa: ARG001
        nonlocal worked
        worked += 1
        if worked == count:  # to drain is to wait for what is delayed, too
            manager.shutdown.set()

    protocol.ready()
    await manager.run(batch_size=batch, mode=QueueExecutionMode.drain)
    if worked != count:
        raise RuntimeError(f"{worked} of {count} jobs were worked off")


async def latency(queries: Queries, count: int, _: int) -> None:
    """Push to an idle worker again and again."""
    await queries.install()
    manager = QueueManager(Queries(AsyncpgDriver(await asyncpg.connect(protocol.URL))))
    began: asyncio.Queue[float] = asyncio.Queue()

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:  # noqa: ARG001
        began.put_nowait(time.monotonic())

    async def push(number: int) -> float:
        pushed = time.monotonic()
        await queries.enqueue("noop", b'{"n": %d}' % number, 0)
        return await began.get() - pushed

    running = asyncio.create_task(manager.run())
    await push(-1)
    protocol.ready()
    protocol.tell(await protocol.measured_async(push, count))
    manager.shutdown.set()
    await running


async def main() -> None:
    connection = await asyncpg.connect(protocol.URL)
    operations = {"install": install, "enqueue": enqueue, "delay": delay, "work": work, "latency": latency}
    do = operations[protocol.OPERATION]
    await do(Queries(AsyncpgDriver(connection)), int(protocol.COUNT), int([*protocol.REST, 0][0]))
    protocol.done()
    await connection.close()


if __name__ == "__main__":
    uvloop.run(main())
