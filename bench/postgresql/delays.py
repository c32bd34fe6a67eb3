"""How long messages wait that a scan can't see: those committed late, and those whose hold has expired."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.postgresql.sides import Pyqueue

PATIENCE_SECONDS = 20
HOLD_SECONDS = 1
CONSUMERS = 2
AT_ONCE = 10


class Consumers:
    """Threads that take and finish all there is, and remember when each message came to them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.came: dict[str, float] = {}
        self.done = threading.Event()
        self.threads = [threading.Thread(target=self.consume) for _ in range(CONSUMERS)]

    def consume(self) -> None:
        """Take and finish until it's over."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self.done.is_set():
                rows = connection.execute(
                    "select p_key, receipt from queue_reserve('bench', 'consumer', %s)", (AT_ONCE,)
                ).fetchall()
                now = time.monotonic()
                self.came |= {key: now for key, _ in rows}
                receipts = json.dumps([receipt for _, receipt in rows])
                connection.execute("select count(*) from queue_ack_many(%s)", (receipts,))
                if not rows:
                    time.sleep(0.005)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let them work."""
        for thread in self.threads:
            thread.start()
        try:
            yield
        finally:
            self.done.set()
            for thread in self.threads:
                thread.join()

    def waited(self, side: Pyqueue, key: str, since: float) -> float:
        """Return the seconds from then until the message came, while others are pushed."""
        while key not in self.came:
            side.put(5, 0)
            time.sleep(0.01)
            if time.monotonic() > since + PATIENCE_SECONDS:
                return float(PATIENCE_SECONDS)
        return self.came[key] - since


def late_commit(side: Pyqueue) -> float:
    """Return the seconds from the commit of a push that took one second to its delivery."""
    consumers, key = Consumers(side.url), f"late/{time.time_ns()}"
    with psycopg.connect(side.url) as late, consumers.working():
        late.execute("select queue_push('bench', %s, '{}')", (key,))
        until = time.monotonic() + 1
        while time.monotonic() < until:
            side.put(5, 0)
            time.sleep(0.01)
        late.commit()
        return consumers.waited(side, key, time.monotonic())


def expired_hold(side: Pyqueue) -> float:
    """Return the seconds from the end of a hold whose consumer has died to the next delivery."""
    side.put(5, 0)
    options = json.dumps({"timeout_seconds": HOLD_SECONDS})
    ((key,),) = side.run("select p_key from queue_reserve('bench', 'dies', 1, %s)", options).fetchall()
    ends = time.monotonic() + HOLD_SECONDS
    consumers = Consumers(side.url)
    with consumers.working():
        return max(0.0, consumers.waited(side, key, ends))
