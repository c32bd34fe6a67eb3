"""Kills drivers of Spark, changes something, starts them again and counts.

    python -m tests.faults.spark_rounds --server mysql --rounds 20

What is drawn in a round: how the messages go on, when the driver is killed, what other consumers do before it
is started again, and with how many cores and options it is. The count is by the numbers in the payloads:
where a transaction ends a batch nothing may be missing and nothing there twice, else nothing may be missing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyqueue_sql import Queue, migrate
from pyqueue_sql.connect import connect
from pyqueue_sql.embedded import start_server
from tests.servers import start

ROOT: Final = Path(__file__).parents[2]
MODES: Final = ("foreach", "stream", "station", "source")
COUNT: Final = 2_000
RUNS: Final = 5
"""Starts after the kill until all has to be done; others may hold something at the end of the first."""
PATIENCE_SECONDS: Final = 300.0


class Round:
    """One kill and what follows.

    Args:
        url: of a database with the queue and nothing in it.
        chance: what is drawn comes from it.
        mode: one of MODES.
    """

    def __init__(self, url: str, chance: random.Random, mode: str) -> None:
        self.url, self.chance, self.mode = url, chance, mode
        self.kinds = ("mail", "post") if mode == "foreach" else ("mail",)
        self.taken: list[int] = []
        self.done: list[str] = []

    def run(self, queue: Queue[Any], folder: str) -> list[str]:
        """Play it, and return what is wrong."""
        for number, kind in enumerate(self.kinds):
            numbers = range(number * COUNT, (number + 1) * COUNT)
            queue.push_many(kind, [{"key": f"k{n}", "payload": {"n": n}} for n in numbers])
        process = self.start(folder, slow=self.chance.choice((0.0, 3.0)))
        try:
            self.until_held(queue, process)
            time.sleep(self.chance.uniform(0.0, 4.0))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.chance.random() < 0.7:
            self.disturb(queue)
        for _ in range(RUNS):
            assert self.start(folder, slow=0.0).wait(PATIENCE_SECONDS) == 0, "the driver failed"
            if not any(one.total for kind in self.kinds for one in queue.stats(kind)):
                break
            time.sleep(1.0)
        return list(self.wrong(queue, folder))

    def start(self, folder: str, *, slow: float) -> subprocess.Popen[bytes]:
        """Start a driver with options that are drawn, in a process group of its own."""
        given: dict[str, Any] = {
            "partitions": self.chance.choice((1, 2, 4)),
            "max_messages": self.chance.choice((100, 500, 12_000)),
            "timeout_seconds": self.chance.choice((5, 60)),
            "cores": self.chance.choice((1, 2)),
            "slow": slow,
        }
        self.done.append(" ".join(f"{name} {value}" for name, value in given.items()))
        given |= {"mode": self.mode, "folder": folder}
        with Path(folder, "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.faults.spark_driver", json.dumps(given)],
                cwd=ROOT,
                env=os.environ | {"PYQUEUE_URL": self.url},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def until_held(self, queue: Queue[Any], process: subprocess.Popen[bytes]) -> None:
        """Wait until the driver's first batch holds something, or it has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while process.poll() is None and not any(
            one.reserved or one.acked_total for kind in self.kinds for one in queue.stats(kind)
        ):
            assert time.monotonic() < deadline, "the driver takes nothing"
            time.sleep(0.1)

    def disturb(self, queue: Queue[Any]) -> None:
        """Be another consumer for a moment: take, acknowledge, give back and let holds expire."""
        for _ in range(self.chance.randrange(1, 30)):
            many = self.chance.choice((1, 1, 10))
            for one in queue.reserve(self.chance.choice(self.kinds), "other", many, timeout_seconds=1):
                assert one.receipt is not None
                match self.chance.randrange(3):
                    case 0:
                        if queue.ack(one.receipt).outcome == "acked":
                            self.taken.append(one.payload["n"])
                    case 1:
                        queue.nack(one.receipt)
                    case _:  # it expires
                        pass
            time.sleep(self.chance.choice((0.0, 0.2)))
        self.done.append(f"others took {len(self.taken)}")

    def wrong(self, queue: Queue[Any], folder: str) -> Iterator[str]:
        """Yield what the count says."""
        seen = Counter(self.taken)
        if self.mode == "source":
            seen.update(int(line) for line in Path(folder, "seen").read_text().split())
        else:
            while messages := queue.pop("next", 1000):
                seen.update(one.payload["n"] for one in messages)
        wanted = range(COUNT * len(self.kinds))
        if missing := [n for n in wanted if not seen[n]]:
            yield f"{len(missing)} missing: {missing[:10]}"
        if self.mode != "source" and (twice := [n for n in wanted if seen[n] > 1]):
            yield f"{len(twice)} twice: {twice[:10]}"
        if strange := sorted(set(seen) - set(wanted)):
            yield f"{len(strange)} that nobody pushed: {strange[:10]}"
        if left := sum(one.total for kind in self.kinds for one in queue.stats(kind)):
            yield f"{left} left"


def play(url: str, seed: int, mode: str | None = None) -> tuple[list[str], list[str]]:
    """Play a round, and return what was done and what is wrong.

    Args:
        url: of a database with the queue and nothing in it.
        seed: what is drawn follows from it.
        mode: one of MODES; None: that is drawn, too.
    """
    chance = random.Random(seed)
    drawn = chance.choice(MODES)
    one = Round(url, chance, mode or drawn)
    with tempfile.TemporaryDirectory() as folder, connect(url, read_committed=True) as connection:
        wrong = one.run(Queue(connection), folder)
        if wrong:
            wrong.append(Path(folder, "log").read_text(errors="replace")[-2000:])
    return [one.mode, *one.done], wrong


@contextmanager
def database(server: str) -> Iterator[str]:
    """Give the URL of an empty database on a server of its own."""
    if server == "postgresql":
        with start_server() as embedded:
            yield embedded.url
        return
    running = start(server, None)
    try:
        with connect(running.url) as connection, connection.cursor() as cursor:
            cursor.execute("create database faults")
        yield f"{running.url}/faults"
    finally:
        running.stop()


def main() -> int:
    """Play rounds, print a line for each, and return the exit status."""
    parser = argparse.ArgumentParser(
        description="Kill drivers of Spark, change something, start again, and count."
    )
    parser.add_argument("--server", choices=("postgresql", "mariadb", "mysql"), default="postgresql")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the first round")
    given = parser.parse_args()
    violations = 0
    for seed in range(given.seed, given.seed + given.rounds):
        with database(given.server) as url:
            migrate.upgrade(url)
            done, wrong = play(url, seed)
        violations += bool(wrong)
        verdict = f"WRONG {'; '.join(wrong)}" if wrong else "right"
        print(f"{given.server} seed {seed}: {verdict} ({'; '.join(done)})", flush=True)
    print(f"{given.rounds} rounds, {violations} with violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
