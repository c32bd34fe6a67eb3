"""Procrastinate with its psycopg connector, asynchronous tasks.

arguments: install, 0 | enqueue | delay, COUNT, jobs a call | work, COUNT, jobs at the same time |
latency, COUNT
"""

import asyncio
import contextlib
import time

from procrastinate import App, PsycopgConnector
from procrastinate.types import JSONDict

from bench.peers.clients import protocol

app = App(connector=PsycopgConnector(conninfo=protocol.URL))
worked = 0


@app.task(name="noop")
async def noop(n: int) -> None:  # noqa: ARG001
    global worked
    worked += 1


async def install(_: int, __: int) -> None:
    await app.schema_manager.apply_schema_async()
    protocol.ready()


async def delay(count: int, batch: int) -> None:
    await enqueue(count, batch, 3600)


async def enqueue(count: int, batch: int, after: int = 0) -> None:
    protocol.ready()
    for start in range(0, count, batch):
        jobs: list[JSONDict] = [{"n": number} for number in range(start, min(start + batch, count))]
        task = noop.configure(schedule_in={"seconds": after}) if after else noop
        await task.batch_defer_async(*jobs)


async def work(count: int, concurrency: int) -> None:
    protocol.ready()
    await app.run_worker_async(
        wait=False,
        concurrency=concurrency,
        delete_jobs="always",
        listen_notify=False,
        install_signal_handlers=False,
    )
    if worked != count:
        raise RuntimeError(f"{worked} of {count} jobs were worked off")


async def latency(count: int, _: int) -> None:
    """Push to an idle worker again and again."""
    await app.schema_manager.apply_schema_async()
    began: asyncio.Queue[float] = asyncio.Queue()

    @app.task(name="timed")
    async def timed(n: int) -> None:  # noqa: ARG001
        began.put_nowait(time.monotonic())

    async def push(number: int) -> float:
        pushed = time.monotonic()
        await timed.defer_async(n=number)
        return await began.get() - pushed

    running = asyncio.create_task(app.run_worker_async(install_signal_handlers=False))
    await push(-1)
    protocol.ready()
    protocol.tell(await protocol.measured_async(push, count))
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def main() -> None:
    async with app.open_async():
        operations = {
            "install": install,
            "enqueue": enqueue,
            "delay": delay,
            "work": work,
            "latency": latency,
        }
        do = operations[protocol.OPERATION]
        await do(int(protocol.COUNT), int([*protocol.REST, 0][0]))
        protocol.done()


if __name__ == "__main__":
    asyncio.run(main())
