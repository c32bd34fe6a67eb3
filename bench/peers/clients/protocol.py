"""The words that a client says, and what all are given."""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

URL = os.environ["PYQUEUE_URL"]
OPERATION, COUNT, *REST = sys.argv[1:]


def ready() -> None:
    """Say that the work can begin, and wait until it may."""
    print("ready", flush=True)
    sys.stdin.readline()


def done() -> None:
    """Say that everything is done and committed."""
    print("done", flush=True)


def tell(numbers: list[float]) -> None:
    """Say what was found."""
    print(json.dumps(numbers), flush=True)


def pauses(count: int) -> Iterator[float]:
    """Give so many pauses between pushes to an idle worker: long enough that it is idle again, in no step."""
    rng = random.Random(1)
    return (rng.uniform(0.1, 0.2) for _ in range(count))


def measured(push: Callable[[int], float], count: int) -> list[float]:
    """Push so often, each time after a pause, and return what each push returned."""
    found: list[float] = []
    for number, pause in enumerate(pauses(count)):
        time.sleep(pause)
        found.append(push(number))
    return found


async def measured_async(push: Callable[[int], Awaitable[float]], count: int) -> list[float]:
    """Do the same in an event loop."""
    found: list[float] = []
    for number, pause in enumerate(pauses(count)):
        await asyncio.sleep(pause)
        found.append(await push(number))
    return found
