"""The storage designs side by side on InnoDB, for MariaDB and MySQL: see docs/adr/0001-storage.md.

    python -m bench.storage_innodb --url mysql+pymysql://root@127.0.0.1:3306/ [--rounds 3] [--seconds 3]

Each design is a database `storage_…` of its own, written by bench/storage/mysql/. Designs take turns inside a
scenario, so that a drift of the machine hits all alike; the table shows medians, in messages a second through
reserve and ack. Sessions are READ COMMITTED under autocommit.
"""

import argparse
import functools
import json
import multiprocessing
import statistics
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pymysql

HERE = Path(__file__).parent / "storage" / "mysql"
DESIGNS = ("floor", "a", "a_bound", "e")
SHAPES = ((1, 1), (1, 8), (100, 1))  # messages a call, clients
RETRY = (1205, 1213)  # lock wait timeout, deadlock
HOUR = 3_600_000_000


def connect(url: str) -> "pymysql.Connection[Any]":
    """A session without TLS, which only one of the two servers would negotiate by itself."""
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname, port=parts.port or 3306, user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""), autocommit=True, ssl_disabled=True,
        init_command="set session transaction isolation level read committed",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("set time_zone = '+00:00'")
    return connection


def life(cursor: Any, design: str, batch: int) -> int:
    """One reserve and one ack of up to `batch` messages; how many there were."""
    if design != "floor":
        cursor.execute(f"call storage_{design}.reserve({batch})")
        entries = [row[0] for row in cursor.fetchall()]
        if entries:
            cursor.execute(f"call storage_{design}.ack('{entries}')")
        return len(entries)
    now = time.time_ns() // 1000
    cursor.execute("start transaction")
    cursor.execute(
        f"select entry, payload from storage_floor.queue where vt <= {now} order by vt limit {batch}"
        " for update skip locked"
    )
    found = ", ".join(str(row[0]) for row in cursor.fetchall())
    if found:
        cursor.execute(f"update storage_floor.queue set vt = {now + 30_000_000} where entry in ({found})")
    cursor.execute("commit")
    if found:
        cursor.execute(f"delete from storage_floor.queue where entry in ({found})")
    return found.count(",") + bool(found)


def work(
    url: str, design: str, batch: int, start: float, end: float, calls: int, idle: bool
) -> tuple[float, int]:
    """One client from `start` until `end` or for `calls` calls: messages a second, and calls tried again."""
    done = retries = 0
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        time.sleep(max(0, start - time.time()))
        while time.time() < end and calls > 0:
            try:
                got = life(cursor, design, batch)
            except pymysql.err.OperationalError as error:
                if error.args[0] not in RETRY:
                    raise
                connection.rollback()
                retries += 1
                continue
            if not got and not idle:
                raise RuntimeError(f"{design} ran dry after {done} messages")
            done += got
            calls -= 1
    return done / (time.time() - start), retries


class Bench:
    """The designs on one server, a pool of clients, and how many calls had to be tried again."""

    def __init__(self, url: str, seconds: int) -> None:
        self.url, self.seconds, self.retries = url, seconds, 0
        self.with_delayed: set[str] = set()  # designs that have them from an earlier round
        self.pool = ProcessPoolExecutor(8, multiprocessing.get_context("spawn"))
        list(self.pool.map(time.sleep, [2] * 8))  # all eight are up before the first figure
        self.connection = connect(url)
        self.cursor = self.connection.cursor()

    def install(self) -> None:
        for name in ("common", *DESIGNS):
            for statement in (HERE / f"{name}.sql").read_text().split(" $$\n"):
                if statement.strip():
                    self.cursor.execute(statement)

    def fill(self, design: str, count: int, priority: int = 0, delay: int = 0) -> None:
        for _ in range(max(1, count // 10_000)):
            self.cursor.execute(f"call storage_{design}.push({min(count, 10_000)}, {priority}, {delay})")

    def empty(self, design: str) -> None:
        self.cursor.execute(f"truncate storage_{design}.queue")
        self.wait_for_purge()

    def wait_for_purge(self) -> None:
        """Waits until what earlier runs left is purged; an idle MySQL may rest at a few thousand."""
        length, fell, limit = 1 << 60, time.monotonic(), time.monotonic() + 60
        while time.monotonic() < min(limit, fell + 2):
            self.cursor.execute(
                "select count from information_schema.innodb_metrics where name = 'trx_rseg_history_len'"
            )
            left = self.cursor.fetchone()[0]
            if left < 1000:
                return
            if left < length:
                length, fell = left, time.monotonic()
            time.sleep(0.1)
        if length > 10_000:
            raise TimeoutError("purge doesn't come to an end: does somebody hold a read view?")

    def rate(
        self, design: str, batch: int, clients: int, seconds: float, calls: int = 1 << 60, idle: bool = False
    ) -> float:
        """Messages a second; `idle` clients may find nothing."""
        start = time.time() + 0.3
        one = functools.partial(work, self.url, design, batch, start, start + seconds, calls, idle)
        futures = [self.pool.submit(one) for _ in range(clients)]
        results = [future.result() for future in futures]
        self.retries += sum(retries for _, retries in results)
        return sum(done for done, _ in results)

    def shapes(self, design: str) -> list[float]:
        return [self.rate(design, batch, clients, self.seconds) for batch, clients in SHAPES]

    @property
    def enough(self) -> int:
        """Messages that no client gets through in one round of the shapes."""
        return 60_000 * self.seconds

    def read_view(self) -> "pymysql.Connection[Any]":
        """A session whose REPEATABLE READ view keeps purge away, without a lock on any table."""
        holder = connect(self.url)
        with holder.cursor() as cursor:
            cursor.execute("set transaction isolation level repeatable read")
            cursor.execute("start transaction with consistent snapshot")
        return holder


def fresh(bench: Bench, design: str) -> list[float]:
    bench.empty(design)
    bench.fill(design, bench.enough)
    return bench.shapes(design)


def snapshot(bench: Bench, design: str) -> list[float]:
    bench.empty(design)
    bench.fill(design, 50_000 + bench.enough)
    with closing(bench.read_view()):
        bench.rate(design, 100, 1, 600, calls=500)
        return bench.shapes(design)


def delayed(bench: Bench, design: str) -> list[float]:
    if design not in bench.with_delayed:
        bench.empty(design)
        for priority in (1, 2, 3, 4, 5):
            bench.fill(design, 60_000, priority, HOUR)
        bench.with_delayed.add(design)
    bench.wait_for_purge()
    bench.fill(design, bench.enough)
    return bench.shapes(design)


def late(bench: Bench, design: str) -> list[float]:
    """Seconds from the commit of a push that commits one second late to its delivery, under a read view.

    Two clients work through newer messages all the while, and are past its place when it commits.
    """
    bench.empty(design)
    bench.fill(design, 10_000)
    with closing(bench.read_view()), closing(connect(bench.url)) as pusher, pusher.cursor() as cursor:
        bench.rate(design, 100, 1, 600, calls=100)
        pusher.begin()
        cursor.execute(f"call storage_{design}.push(1, 0, 0)")
        cursor.execute(f"select max(q.entry) from storage_{design}.queue q")
        entry = cursor.fetchone()[0]
        bench.fill(design, 50_000)
        worker = threading.Thread(target=bench.rate, args=(design, 1, 2, 6), kwargs={"idle": True})
        worker.start()
        time.sleep(1.3)
        pusher.commit()
        committed, left = time.monotonic(), True
        while left and time.monotonic() < committed + 4.5:
            time.sleep(0.005)
            left = bench.cursor.execute(f"select 1 from storage_{design}.queue where entry = {entry}")
        waited = time.monotonic() - committed
        worker.join()
    return [float("inf") if left else waited]


SCENARIOS = {"fresh": fresh, "snapshot": snapshot, "delayed": delayed, "late": late}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True)
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    designs = options.designs.split(",")
    bench = Bench(options.url, options.seconds)
    bench.install()
    results: dict[str, dict[str, list[float]]] = {}
    print(f"{'':36}" + "".join(f"{d:>11}" for d in designs))
    for scenario in options.scenarios.split(","):
        names = [f"{scenario}, batch of {b}, {c} clients" for b, c in SHAPES]
        if scenario == "late":
            names = ["late commit, seconds to delivery"]
        for _ in range(options.rounds):
            for design in designs:
                for name, figure in zip(names, SCENARIOS[scenario](bench, design), strict=True):
                    results.setdefault(name, {}).setdefault(design, []).append(round(figure, 4))
        for name in names:
            medians = [statistics.median(results[name][design]) for design in designs]
            print(f"{name:36}" + "".join(f"{median:11.4g}" for median in medians), flush=True)
        if options.out:
            bench.cursor.execute("select version()")
            about: dict[str, Any] = {"server": bench.cursor.fetchone()[0], "figures": results}
            about |= {"rounds": options.rounds, "seconds": options.seconds, "retries": bench.retries}
            options.out.write_text(json.dumps(about, indent=1) + "\n")
    print(f"calls tried again after a deadlock or a lock wait timeout: {bench.retries}")
    bench.pool.shutdown()


if __name__ == "__main__":
    main()
