"""Strikes at Spark or the server, changes something, starts again and counts.

    python -m tests.faults.spark_rounds --server mysql --rounds 20

What is drawn in a round: how the messages go on; once or twice what is struck, and when; what other consumers
do before it goes on; and with which master and options. The count is by the numbers in the payloads: nothing
may be missing, and where a transaction ends a batch nothing may be there twice. Where state is in between
and the source ends the batch, what others have held meanwhile may be there twice.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from tests.faults.restarts import NAMES, Restartable, restartable
from tests.faults.spark_drivers import PATIENCE_SECONDS, Driver, Drivers, some_drivers

MODES: Final = ("foreach", "stream", "station", "source", "distinct", "unique", "groups")
"""How messages go on: foreachBatch that ends the batch, of two sources; writeStream that does; a station;
foreachBatch that only looks; and with state in between: those whose payload is new, then writeStream, where
the source ends the batch, or the write does; what is gathered in groups, then foreachBatch that ends it."""
OF_PAIRS: Final = ("distinct", "unique")
STRIKES: Final = ("driver", "machine", "executor", "worker", "reader", "crash", "restart")
"""What is killed: the driver, without or with those who give back its holds; an executor; a Python that it
has started; the Python of the source; the server. And restart: the server is stopped as its operator does."""
LOCAL: Final = (*["local[2,4]"] * 3, "local[1,4]")
CLUSTER: Final = "local-cluster[2,1,1024]"
COUNT: Final = 400
RUNS: Final = 5
"""Starts after the strikes until all has to be done; others may hold something at the end of the first."""


class Round:
    """One or two strikes, and what follows.

    Args:
        server: the server.
        url: of a database on it with the queue and nothing in it.
        drivers: of Spark.
        chance: what is drawn comes from it.
        mode: one of MODES.
        strikes: of STRIKES.
    """

    def __init__(
        self,
        server: Restartable,
        url: str,
        drivers: Drivers,
        chance: random.Random,
        mode: str,
        strikes: Sequence[str],
    ) -> None:
        self.server, self.url, self.drivers, self.chance = server, url, drivers, chance
        self.mode, self.strikes = mode, strikes
        self.kinds = ("mail", "post") if mode == "foreach" else ("mail",)
        self.taken: list[int] = []
        self.touched: set[int] = set()
        self.done: list[str] = []

    def run(self, folder: str) -> list[str]:
        """Play it, and return what is wrong."""
        self.push(0, COUNT // 2)
        for number, strike in enumerate(self.strikes):
            driver = self.start(
                folder, slow=self.chance.choice((0.0, 2.0, 2.0)), cluster=strike == "executor"
            )
            self.until_held(driver)
            time.sleep(self.chance.uniform(0.0, 3.0))
            struck = self.strike(strike, driver)
            if self.chance.random() < 0.7:
                self.disturb()
            self.done.append(struck + self.outlived(strike, driver))
            if not number:
                self.push(COUNT // 2, COUNT)
        for _ in range(RUNS):
            driver = self.start(folder, slow=0.0)
            if (said := driver.wait()) != "ended":
                return [f"the last query {said}", *tail(driver)]
            if not self.left():
                break
            time.sleep(1.0)
        return list(self.wrong(folder))

    def push(self, first: int, last: int) -> None:
        """Push the messages of some numbers; where equal ones are to be left out, each twice."""
        with self.queue() as queue:
            for number, kind in enumerate(self.kinds):
                numbers = range(number * COUNT + first, number * COUNT + last)
                for copy in range(2 if self.mode in OF_PAIRS else 1):
                    queue.push_many(kind, [{"key": f"{copy}/{n}", "payload": {"n": n}} for n in numbers])

    @contextmanager
    def queue(self) -> Iterator[Queue[Any]]:
        """Give the queue over a connection of its own: those of before may be lost."""
        with connect(self.url, read_committed=True) as connection:
            yield Queue(connection)

    def left(self) -> int:
        """Return how many messages have not gone on."""
        with self.queue() as queue:
            return sum(one.total for kind in self.kinds for one in queue.stats(kind))

    def start(self, folder: str, *, slow: float, cluster: bool = False) -> Driver:
        """Start the query with options that are drawn."""
        given: dict[str, Any] = {
            "partitions": self.chance.choice((1, 2, 4)),
            "max_messages": self.chance.choice((100, 150, 12_000)),
            "timeout_seconds": self.chance.choice((5, 60)),
            "slow": slow,
        }
        master = self.chance.choice(LOCAL)
        master = CLUSTER if cluster else master
        self.done.append(" ".join([master, *(f"{name} {value}" for name, value in given.items())]))
        driver = self.drivers.get(master)
        driver.begin(given | {"mode": self.mode, "folder": folder, "url": self.url, "kinds": self.kinds})
        return driver

    def until_held(self, driver: Driver) -> None:
        """Wait until the query's first batch holds something, or it has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self.queue() as queue:
            before = sum(one.acked_total for kind in self.kinds for one in queue.stats(kind))
            while driver.said() is None:
                stats = [one for kind in self.kinds for one in queue.stats(kind)]
                if any(one.reserved for one in stats) or sum(one.acked_total for one in stats) > before:
                    return
                assert time.monotonic() < deadline, "the query takes nothing"
                time.sleep(0.1)

    def strike(self, strike: str, driver: Driver) -> str:
        """Strike, and say what was struck."""
        if strike == "driver":
            driver.kill()
        elif strike == "machine":
            driver.kill_all()
        elif strike == "executor":
            return f"executor {driver.kill_one(self.chance, 'CoarseGrainedExecutorBackend')}"
        elif strike == "worker":
            return f"worker {driver.kill_one(self.chance, '-m pyspark.daemon')}"
        elif strike == "reader":
            return f"reader {driver.kill_one(self.chance, 'streaming_source_runner')}"
        else:
            self.server.restart(crash=strike == "crash", away=self.chance.uniform(0.0, 3.0))
        return strike

    def outlived(self, strike: str, driver: Driver) -> str:
        """Wait until a query whose driver is still there has ended, and say how."""
        if not driver.there:
            return ""
        said = driver.wait()
        # a server that crashes may lose what is staged, and then a write fails
        goes_on = strike == "restart" or (strike == "crash" and self.mode in ("station", "source"))
        if said != "ended" and goes_on:
            raise AssertionError("\n".join([f"{strike}: it {said}", *tail(driver)]))
        return f": it {said}"

    def disturb(self) -> None:
        """Be another consumer for a moment: take, acknowledge, give back and let holds expire."""
        with self.queue() as queue:
            for _ in range(self.chance.randrange(1, 30)):
                many = self.chance.choice((1, 1, 10))
                for one in queue.reserve(self.chance.choice(self.kinds), "other", many, timeout_seconds=1):
                    assert one.receipt is not None
                    self.touched.add(one.payload["n"])
                    match self.chance.randrange(3):
                        case 0:
                            if queue.ack(one.receipt).outcome == "acked":
                                self.taken.append(one.payload["n"])
                        case 1:
                            queue.nack(one.receipt)
                        case _:  # it expires
                            pass
                time.sleep(self.chance.choice((0.0, 0.1)))
        self.done.append(f"others took {len(self.taken)}")

    def wrong(self, folder: str) -> Iterator[str]:
        """Yield what the count says."""
        # of two that are equal others may have had one
        seen = Counter[int]() if self.mode in OF_PAIRS else Counter(self.taken)
        if self.mode == "source":
            seen.update(int(line) for line in Path(folder, "seen").read_text().split())
        else:
            came: list[Any] = []
            with self.queue() as queue:
                while messages := queue.pop("next", 1000):
                    came += [one.payload for one in messages]
            if self.mode == "groups":
                yield from self.gathered(came, seen)
            else:
                seen.update(one["n"] for one in came)
        wanted = range(COUNT * len(self.kinds))
        if missing := [n for n in wanted if not seen[n] and n not in self.taken]:
            yield f"{len(missing)} missing: {missing[:10]}"
        shared = self.touched if self.mode == "distinct" else set[int]()
        if self.mode != "source" and (twice := [n for n in wanted if seen[n] > 1 and n not in shared]):
            yield f"{len(twice)} twice: {twice[:10]}"
        if strange := sorted(set(seen) - set(wanted)):
            yield f"{len(strange)} that nobody pushed: {strange[:10]}"
        if left := self.left():
            yield f"{left} left"

    def gathered(self, came: list[dict[str, Any]], seen: Counter[int]) -> Iterator[str]:
        """Count the numbers that the state has at the end, and yield what it had twice."""
        states: dict[int, list[int]] = {}
        lengths: Counter[tuple[int, int]] = Counter()
        for one in came:
            lengths[one["group"], len(one["numbers"])] += 1
            if len(one["numbers"]) > len(states.get(one["group"], [])):
                states[one["group"]] = one["numbers"]
        for numbers in states.values():
            seen.update(numbers)
        again = [key for key, times in lengths.items() if times > 1]
        if again:
            yield f"{len(again)} states came twice: {again[:10]}"


def tail(driver: Driver) -> list[str]:
    """Return the end of what a driver has said."""
    return [driver.log.read_text(errors="replace")[-3000:]]


def play(
    server: Restartable,
    drivers: Drivers,
    seed: int,
    mode: str | None = None,
    strikes: Sequence[str] | None = None,
) -> tuple[Round, list[str]]:
    """Play a round, and return it and what is wrong.

    Args:
        server: the server.
        drivers: of Spark.
        seed: what is drawn follows from it.
        mode: one of MODES; None: that is drawn, too.
        strikes: of STRIKES; None: they are drawn, too.
    """
    chance = random.Random(seed)
    drawn = chance.choice(MODES), chance.choices(STRIKES, k=chance.choice((1, 1, 2)))
    url = server.database(f"faults_{seed}")
    one = Round(server, url, drivers, chance, mode or drawn[0], strikes or drawn[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            wrong = one.run(folder)
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
    if wrong:
        drivers.close()  # what is still running there is not to meet the next round
    return one, wrong


def main() -> int:
    """Play rounds, print a line for each, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults.spark_rounds",
        description="Strike at Spark or the server, change something, start again, and count.",
    )
    parser.add_argument("--server", choices=NAMES, default="postgresql")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the first round")
    parser.add_argument("--mode", choices=MODES, help="instead of one that is drawn")
    parser.add_argument("--strike", choices=STRIKES, action="append", help="instead of what is drawn")
    given = parser.parse_args()
    violations = 0
    tally: Counter[str] = Counter()
    with restartable(given.server) as server, some_drivers() as drivers:
        for seed in range(given.seed, given.seed + given.rounds):
            began = time.monotonic()
            one, wrong = play(server, drivers, seed, given.mode, given.strike)
            verdict = "WRONG" if wrong else "right"
            what = "; ".join([one.mode, *one.done])
            seconds = time.monotonic() - began
            print(f"{given.server} seed {seed}: {verdict} in {seconds:.0f} s ({what})", flush=True)
            if wrong:
                violations += 1
                print("\n".join(wrong))
                named = [f"--{name} {value}" for name, value in (("mode", given.mode),) if value]
                named += [f"--strike {value}" for value in given.strike or []]
                again = " ".join([f"--server {given.server} --rounds 1 --seed {seed}", *named])
                print(f"again: python -m tests.faults.spark_rounds {again}", flush=True)
            tally.update([one.mode, *one.strikes])
    print(", ".join(f"{name} {count}" for name, count in sorted(tally.items())))
    print(f"{given.rounds} rounds, {violations} with violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
