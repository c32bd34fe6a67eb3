"""Our worker.

arguments: work, COUNT | latency, COUNT | idle, SECONDS, workers
"""

import asyncio
import threading
import time
from typing import Any

from bench.peers.clients import protocol
from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker import AsyncWorker, Handlers, Worker

KIND = "bench"


def work(count: int) -> None:
    """Work off what is there, by a handler that does nothing."""
    worked = 0
    handlers = Handlers()

    @handlers.on(KIND)
    async def noop(_: dict[str, Any]) -> None:
        nonlocal worked
        worked += 1

    worker = Worker(protocol.URL, handlers, concurrency=1, max_messages=count)
    protocol.ready()
    worker.run()
    if worked != count:
        raise RuntimeError(f"{worked} of {count} messages were worked off")


def latency(count: int) -> None:
    """Push to an idle worker again and again."""
    handlers = Handlers()
    began: list[float] = []
    came = threading.Event()

    @handlers.on(KIND)
    async def noop(_: dict[str, Any]) -> None:
        began.append(time.monotonic())
        came.set()

    worker = Worker(protocol.URL, handlers)
    thread = threading.Thread(target=worker.run)
    thread.start()
    with connect(protocol.URL) as connection:
        queue = Queue(connection)

        def push(number: int) -> float:
            came.clear()
            pushed = time.monotonic()
            queue.push(KIND, str(number), {"n": number})
            came.wait(60)
            return began[-1] - pushed

        push(-1)
        protocol.ready()
        protocol.tell(protocol.measured(push, count))
    worker.stop()
    thread.join()


async def idle(seconds: int, workers: int) -> None:
    """Have workers wait for nothing; ready once they do."""
    handlers = Handlers()

    @handlers.on(KIND)
    async def noop(_: dict[str, Any]) -> None: ...

    running = [AsyncWorker(protocol.URL, handlers) for _ in range(workers)]
    tasks = [asyncio.create_task(worker.run()) for worker in running]
    await asyncio.sleep(10)  # the looks that follow the last message are over
    await asyncio.to_thread(protocol.ready)
    await asyncio.sleep(seconds)
    protocol.done()
    for worker in running:
        worker.stop()
    await asyncio.gather(*tasks)


def main() -> None:
    count = int(protocol.COUNT)
    if protocol.OPERATION == "idle":
        asyncio.run(idle(count, int(protocol.REST[0])))
        return
    {"work": work, "latency": latency}[protocol.OPERATION](count)
    protocol.done()


if __name__ == "__main__":
    main()
