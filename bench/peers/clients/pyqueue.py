"""Our client: a Queue over one connection of psycopg, each call a transaction.

arguments: install, 0 | push | delay | pop | reserve, COUNT, messages a call
"""

import os
import time
from collections.abc import Callable
from typing import Unpack

import psycopg

from bench.peers.clients import protocol
from pyqueue_sql import Queue
from pyqueue_sql.calls.options import PushOptions

KIND = "bench"
PATIENCE_SECONDS = 30.0


def push(queue: Queue, count: int, batch: int, **options: Unpack[PushOptions]) -> None:
    """Push messages with keys of their own."""
    prefix = os.getpid()
    if batch == 1:
        for number in range(count):
            queue.push(KIND, f"{prefix}-{number}", {"n": number}, **options)
        return
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        messages = [{"key": f"{prefix}-{n}", "payload": {"n": n}} for n in numbers]
        queue.push_many(KIND, messages, **options)


def pop(queue: Queue, most: int) -> int:
    """Take and remove up to `most`, and return how many there were."""
    return len(queue.pop(KIND, most))


def reserve(queue: Queue, most: int) -> int:
    """Take up to `most`, do nothing with each, ack them, and return how many there were."""
    messages = queue.reserve(KIND, max_messages=most)
    receipts = [message.receipt for message in messages if message.receipt]
    if len(receipts) == 1:
        queue.ack(receipts[0])
    elif receipts:
        queue.ack_many(receipts)
    return len(receipts)


def consume(queue: Queue, take: Callable[[Queue, int], int], count: int, batch: int) -> None:
    """Take `count` messages."""
    waited = 0.0
    while count > 0:
        taken = take(queue, min(batch, count))
        count -= taken
        if not taken:
            time.sleep(0.001)
            waited += 0.001
            if waited > PATIENCE_SECONDS:
                raise TimeoutError(f"{count} messages didn't come")


def main() -> None:
    count, batch = int(protocol.COUNT), int([*protocol.REST, 0][0])
    with psycopg.connect(protocol.URL, autocommit=True) as connection:
        queue = Queue(connection)
        protocol.ready()
        if protocol.OPERATION == "push":
            push(queue, count, batch)
        elif protocol.OPERATION == "delay":
            push(queue, count, batch, delay_seconds=3600)
        elif protocol.OPERATION != "install":  # the database has the schema already
            consume(queue, {"pop": pop, "reserve": reserve}[protocol.OPERATION], count, batch)
        protocol.done()


if __name__ == "__main__":
    main()
