"""The storage designs side by side, on PostgreSQL: the measurements behind docs/adr/0001-storage.md.

    python -m bench.storage [--designs floor,pgmq,a,…] [--scenarios fresh,…] [--rounds 3] [--out FILE]

Each design is a scratch schema of bench/storage/postgresql/, and `pyqueue` is the product; pgmq's SQL comes
from the PyPI package `pgmq`, the load from the server's pgbench. Designs take turns inside a scenario,
so that a drift of the machine hits all alike; the table shows medians. Keep the cores free of anything else.
"""

import argparse
import importlib.resources
import json
import re
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from pyqueue_sql.embedded import start_server
from pyqueue_sql.embedded.server import wheel_bin_dir
from pyqueue_sql.schema.migrate import upgrade

HERE = Path(__file__).parent / "storage" / "postgresql"
DESIGNS = ("floor", "pgmq", "a", "b", "c", "e", "pyqueue")
TABLES = {
    "floor": "floor.queue",
    "pgmq": "pgmq.q_storage",
    "b": "b.message, b.ready, b.hold",
    "pyqueue": "pyqueue.delayed_queue, pyqueue.queue_count, pyqueue.queue_cursor, pyqueue.queue_hold",
}
IDS = {"pgmq": "msg_id", "floor": "id"}


def table(design: str) -> str:
    return TABLES.get(design, f"{design}.queue")


def push_sql(design: str, count: int, priority: int = 0, delay: int = 0) -> str:
    schema = "peer_pgmq" if design == "pgmq" else design
    return f"select {schema}.push({count}, {priority}, {delay})"


def life(design: str, batch: int) -> tuple[str, str]:
    """What takes `batch` messages and answers ids, and what finishes those :ids."""
    if design == "pgmq":
        return (
            f"select array_agg(msg_id) as ids from pgmq.read('storage', 30, {batch})",
            "select count(*) from pgmq.delete('storage', :ids::bigint[])",
        )
    if design == "floor":
        return (
            "with u as (update floor.queue q set vt = common.now_us() + 30000000 where q.id = any (array("
            "select id from floor.queue where vt <= (select common.now_us()) order by vt "
            f"limit {batch} for update skip locked)) returning q.id, q.payload) "
            "select array_agg(id) as ids from u",
            "delete from floor.queue where id = any (:ids::bigint[])",
        )
    if design == "pyqueue" and batch == 1:
        return (
            "select receipt as ids from pyqueue.queue_reserve('k')",
            "select * from pyqueue.queue_ack(:ids)",
        )
    if design == "pyqueue":
        return (
            f"select jsonb_agg(receipt) as ids from pyqueue.queue_reserve('k', 'w', {batch})",
            "select count(*) from pyqueue.queue_ack_many(:ids::jsonb)",
        )
    return (
        f"select array_agg(entry) as ids from {design}.reserve({batch})",
        f"select {design}.ack(:ids::bigint[])",
    )


class Bench:
    def __init__(self, url: str, seconds: int) -> None:
        self.url, self.seconds = url, seconds
        self.admin = psycopg.connect(url, autocommit=True)

    def install(self) -> None:
        self.admin.execute((HERE / "common.sql").read_text())
        self.admin.execute(importlib.resources.files("pgmq").joinpath("sql/pgmq.sql").read_text())
        upgrade(self.url, schema="pyqueue")
        for design in DESIGNS:
            self.admin.execute((HERE / f"{design}.sql").read_text())

    def fill(self, design: str, count: int, priority: int = 0, delay: int = 0) -> None:
        for start in range(0, count, 10_000):
            self.admin.execute(push_sql(design, min(count - start, 10_000), priority, delay))

    def fresh(self, design: str) -> None:
        self.admin.execute(f"truncate {table(design)}")

    def rate(self, design: str, batch: int, clients: int, *, calls: int | None = None) -> float:
        """Messages a second through reserve and ack."""
        length = ["-t", str(calls)] if calls else ["-T", str(self.seconds)]
        who = ["-c", str(clients), "-j", str(min(clients, 2))]
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write("{} \\gset\n{};\n".format(*life(design, batch)))
            script.flush()
            done = subprocess.run(
                [wheel_bin_dir() / "pgbench", "-nM", "prepared", *who, *length, "-f", script.name, self.url],
                capture_output=True,
                text=True,
            )
        found = re.search(r"tps = ([\d.]+)", done.stdout)
        if done.returncode or not found:
            raise RuntimeError(f"pgbench on {design}: {done.stderr[-400:]}")
        return float(found[1]) * batch

    def stock(self, batch: int) -> int:
        """How many messages a run may need."""
        return self.seconds * (12_000 if batch == 1 else 140_000)


def fresh(bench: Bench, design: str, batch: int, clients: int) -> float:
    bench.fresh(design)
    bench.fill(design, bench.stock(batch))
    bench.admin.execute(f"vacuum analyze {table(design)}")
    return bench.rate(design, batch, clients)


def snapshot(bench: Bench, design: str, batch: int, clients: int, processed: int = 300_000) -> float:
    bench.fresh(design)
    with psycopg.connect(bench.url) as holder:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("select count(*) from pg_class")
        bench.fill(design, processed + bench.stock(batch))
        bench.admin.execute(f"analyze {table(design)}")
        bench.rate(design, 1000, 1, calls=processed // 1000)
        return bench.rate(design, batch, clients)


def delayed(bench: Bench, design: str, batch: int, clients: int) -> float:
    bench.fresh(design)
    for priority in (1, 2, 3, 4, 5):
        bench.fill(design, 200_000, priority, 3_600_000_000)
    bench.fill(design, bench.stock(batch))
    bench.admin.execute(f"vacuum analyze {table(design)}")
    return bench.rate(design, batch, clients)


def consume(bench: Bench, design: str, until: threading.Event) -> None:
    take, finish = life(design, 10)
    finish = re.sub(r":ids\b", "%s", finish)
    with psycopg.connect(bench.url, autocommit=True) as connection:
        while not until.is_set():
            row = connection.execute(take).fetchone()
            if row and row[0]:
                connection.execute(finish, (Jsonb(row[0]) if design == "pyqueue" else row[0],))
            else:
                time.sleep(0.005)


def late_commit(bench: Bench, design: str) -> float:
    """Seconds from the commit of a push that took one second to its delivery, others being at work."""
    heap, column = table(design).split(",")[0], IDS.get(design, "entry")
    bench.fresh(design)
    done = threading.Event()
    workers = [threading.Thread(target=consume, args=(bench, design, done)) for _ in range(2)]
    with psycopg.connect(bench.url) as holder, psycopg.connect(bench.url) as late:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("select count(*) from pg_class")
        bench.fill(design, 50_000)
        bench.rate(design, 1000, 1, calls=50)
        for worker in workers:
            worker.start()
        late.execute(push_sql(design, 1))
        row = late.execute(f"select max({column}) from {heap}").fetchone()
        committed, pushed = time.monotonic() + 1, False
        while time.monotonic() < committed + 5:
            bench.admin.execute(push_sql(design, 5))
            time.sleep(0.02)
            if not pushed and time.monotonic() >= committed:
                late.commit()
                pushed, committed = True, time.monotonic()
            if (
                pushed
                and not bench.admin.execute(f"select 1 from {heap} where {column} = %s", row).fetchone()
            ):
                break
        waited = time.monotonic() - committed
        done.set()
        for worker in workers:
            worker.join()
    return waited


def scenarios(bench: Bench, wanted: list[str]) -> list[tuple[str, Callable[[str], float]]]:
    found: list[tuple[str, Callable[[str], float]]] = []
    for name, run in (("fresh", fresh), ("snapshot", snapshot), ("delayed", delayed)):
        for batch, clients in ((1, 1), (1, 8), (100, 1), (100, 4)) if name == "fresh" else ((1, 8), (100, 1)):
            if name in wanted:
                found.append(
                    (
                        f"{name}, batch of {batch}, clients {clients}",
                        lambda design, r=run, b=batch, c=clients: r(bench, design, b, c),
                    )
                )
    if "late" in wanted:
        found.append(("late commit under a snapshot, seconds", lambda design: late_commit(bench, design)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--scenarios", default="fresh,snapshot,delayed,late")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a JSON file for every single figure")
    options = parser.parse_args()
    designs = options.designs.split(",")
    with start_server() as server:
        bench = Bench(server.url, options.seconds)
        bench.install()
        results: dict[str, dict[str, list[float]]] = {}
        print(f"{'':40}" + "".join(f"{design:>10}" for design in designs))
        for name, run in scenarios(bench, options.scenarios.split(",")):
            figures: dict[str, list[float]] = {design: [] for design in designs}
            for _ in range(options.rounds):
                for design in designs:
                    figures[design].append(run(design))
            results[name] = figures
            print(
                f"{name:40}" + "".join(f"{statistics.median(figures[d]):10.4g}" for d in designs), flush=True
            )
            if options.out:
                options.out.write_text(
                    json.dumps({"server": server.version, "figures": results}, indent=1) + "\n"
                )


if __name__ == "__main__":
    main()
