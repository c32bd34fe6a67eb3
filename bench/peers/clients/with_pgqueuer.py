"""PgQueuer with asyncpg and uvloop, its faster driver.

arguments: enqueue | work, COUNT, jobs a call | latency, COUNT
"""

import asyncio
import time

import asyncpg
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from bench.peers.clients import protocol


async def enqueue(queries: Queries, count: int, batch: int) -> None:
    await queries.install()
    await queries.optimize_autovacuum()
    protocol.ready()
    for start in range(0, count, batch):
        payloads: list[bytes | None] = [
            b'{"n": %d}' % number for number in range(start, min(start + batch, count))
        ]
        await queries.enqueue(["noop"] * len(payloads), payloads, [0] * len(payloads))


async def work(queries: Queries, count: int, batch: int) -> None:
    manager = QueueManager(queries)
    worked = 0

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:  # noqa: ARG001
        nonlocal worked
        worked += 1

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
    do = {"enqueue": enqueue, "work": work, "latency": latency}[protocol.OPERATION]
    await do(Queries(AsyncpgDriver(connection)), int(protocol.COUNT), int([*protocol.REST, 0][0]))
    protocol.done()
    await connection.close()


if __name__ == "__main__":
    uvloop.run(main())
