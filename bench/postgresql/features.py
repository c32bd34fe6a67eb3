"""What features cost: order keys, semaphores and limits.

A kind that uses the feature beside one that doesn't, in two databases of one server.
Limits and capacities are never reached, so that what is seen is their bookkeeping, also with a snapshot held
open. Then a session a side calls a hundred times in turn: a machine whose speed changes by the minute changes
both.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from typing import Any

import psycopg

from bench import servers
from bench.postgresql.sides import Pyqueue
from bench.postgresql.snapshot import churn, held
from bench.run import Run

NAME = "features"
ONCE = True
WITHOUT = ("pyqueue without", 0.8)
"""What the other side is called, and the least ratio to it."""
ORDER_KEYS = 100_000
PROCESSED = 100_000
QUICK_PROCESSED = 20_000
LIMITS = {"max_reserved": 10_000, "rate_per_second": 1_000_000}
CAPACITY = 10_000
LOADS = ((1, 1), (1, 8), (100, 1))
CALLS = 100
TURNS = 60
QUICK_TURNS = 30
PUSH = "select * from queue_push('bench', %s, '{}', %s::jsonb)"


class Ordered(Pyqueue):
    """The queue with messages of 100,000 order keys."""

    name = "pyqueue, order keys"

    def message(self) -> str:
        start = random.randrange(10 * ORDER_KEYS)
        return f"{super().message()}, 'order_key', 'o' || (i + {start}) %% {ORDER_KEYS}"

    def options(self) -> str:
        return f'{{"order_key": "o{random.randrange(ORDER_KEYS)}"}}'


class Guarded(Pyqueue):
    """The queue with messages that all name one semaphore."""

    name = "pyqueue, a semaphore"

    def empty(self) -> None:
        super().empty()
        self.run("select queue_semaphore('bench', %s)", CAPACITY)

    def message(self) -> str:
        return f"{super().message()}, 'semaphores', array['bench']"

    def options(self) -> str:
        return '{"semaphores": ["bench"]}'


class Limited(Pyqueue):
    """The queue with a limit that the load doesn't reach.

    Args:
        url: the database.
        limit: the option of queue_define.
    """

    def __init__(self, url: str, limit: str) -> None:
        self.limit = limit
        self.name = f"pyqueue, {limit}"
        super().__init__(url)

    def empty(self) -> None:
        super().empty()
        for one in (
            dict.fromkeys(LIMITS),
            {self.limit: LIMITS[self.limit]},
        ):
            self.run("select queue_define('bench', %s::jsonb)", json.dumps(one))


def run(run: Run) -> None:
    """Measure."""
    with servers.database(run.url, run.settings) as beside:
        plain = Pyqueue(beside)
        for name, side in (("order keys", Ordered(run.url)), ("semaphores", Guarded(run.url))):
            for _ in run.each_setting(beside):
                for batch, clients in LOADS:
                    compare(run, name, side, plain, batch, clients, WITHOUT)
                in_turns(run, name, side, plain, WITHOUT)
            side.empty()
        for limit in LIMITS:
            limits(run, limit, beside, plain)


def limits(run: Run, limit: str, beside: str, plain: Pyqueue) -> None:
    """Compare a kind with a limit and one without, fresh and with a snapshot held open in both."""
    limited = Limited(run.url, limit)
    for _ in run.each_setting(beside):
        for batch, clients in ((1, 1), (1, 32), (100, 1)):
            compare(run, limit, limited, plain, batch, clients, WITHOUT)
        in_turns(run, limit, limited, plain, WITHOUT)
    count = QUICK_PROCESSED if run.quick else PROCESSED
    limited.empty()
    plain.empty()
    with held(limited.url), held(plain.url):
        for side in (limited, plain):
            churn(side, count)
        for _ in run.each_setting(beside):
            name = f"{limit}, a snapshot held open"
            for clients in (1, 32):
                compare(run, name, limited, plain, 1, clients, WITHOUT, fresh=False)
            in_turns(run, name, limited, plain, WITHOUT, fresh=False)
    limited.empty()


def compare(
    run: Run,
    name: str,
    ours: Pyqueue,
    other: Pyqueue,
    batch: int,
    clients: int,
    beside: tuple[str, float],
    *,
    fresh: bool = True,
) -> None:
    """Compare the rates of messages of two sides."""
    run.compare(
        f"{name}: reserve + ack {'one by one' if batch == 1 else f'in batches of {batch}'}",
        lambda: ours.rate(run, batch, clients, fresh=fresh),
        lambda: other.rate(run, batch, clients, fresh=fresh),
        our_name=ours.name,
        other_name=beside[0],
        unit="messages/s",
        clients=clients,
        target=beside[1],
    )


def in_turns(
    run: Run, name: str, ours: Pyqueue, other: Pyqueue, beside: tuple[str, float], *, fresh: bool = True
) -> None:
    """Compare a push, a reserve with its ack, and a batch of these, in one session a side.

    Where there is another setting to come the disk would hide the work, and nothing is done.
    """
    if run.settings["synchronous_commit"] == "on" and not run.quick:
        return
    turns = QUICK_TURNS if run.quick else TURNS
    sides = (ours, other)
    connections = [psycopg.connect(side.url, autocommit=True, prepare_threshold=0) for side in sides]
    values: list[list[list[float]]] = [[[], [], []], [[], [], []]]
    for side, connection in zip(sides, connections, strict=True):
        if fresh:
            side.empty()
        hundred(side, connection)  # the first calls of a session read the routines
    for _ in range(turns):
        for n, (side, connection) in enumerate(zip(sides, connections, strict=True)):
            for kept, took in zip(values[n], hundred(side, connection), strict=True):
                kept.append(took)
    for connection in connections:
        connection.close()
    whats = ("a push", "reserve + ack one by one", "reserve + ack in batches of 100, a message")
    for what, mine, theirs in zip(whats, *values, strict=True):
        run.keep(
            f"{name}, in turns: {what}",
            mine,
            theirs,
            our_name=ours.name,
            other_name=beside[0],
            unit="\u00b5s",
            target=beside[1],
            less_is_better=True,
        )


def hundred(side: Pyqueue, connection: psycopg.Connection[Any]) -> tuple[float, float, float]:
    """Push a hundred messages and take them, one by one and in a batch; return microseconds a message."""
    times: list[float] = []
    for batch in (1, CALLS):
        began = time.perf_counter()
        for _ in range(CALLS):
            connection.execute(PUSH, (str(uuid.uuid4()), side.options()))
        times.append((time.perf_counter() - began) / CALLS * 1e6)
        began = time.perf_counter()
        for _ in range(CALLS // batch):
            receipts = [
                receipt
                for (receipt,) in connection.execute(
                    "select receipt from queue_reserve('bench', 'bench', %s)", (batch,)
                )
            ]
            if batch == 1:
                connection.execute("select * from queue_ack(%s)", receipts)
            else:
                connection.execute("select * from queue_ack_many(%s::jsonb)", (json.dumps(receipts),))
        times.append((time.perf_counter() - began) / CALLS * 1e6)
    return times[0], times[1], times[3]
