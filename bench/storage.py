"""The storage designs side by side, on PostgreSQL: the measurements behind docs/adr/0001-storage.md.

    python -m bench.storage --url postgresql://… --pgbench PATH [--designs floor,pgmq,a,b,c,e] [--seconds 3] [--rounds 3]

Each design is a scratch schema of bench/storage/postgresql/; pgmq's SQL comes from the PyPI package `pgmq`. Designs take
turns inside a scenario, so that a drift of the machine hits all alike; the table shows medians and the ratio to pgmq.
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

from pyqueue_sql.migrate import upgrade

HERE = Path(__file__).parent / "storage" / "postgresql"
DESIGNS = ("floor", "pgmq", "a", "b", "c", "e", "pyqueue")
TABLES = {
    "floor": "floor.queue",
    "pgmq": "pgmq.q_storage",
    "b": "b.message, b.ready, b.hold",
    "pyqueue": "pyqueue.delayed_queue, pyqueue.queue_count, pyqueue.queue_hint",
}


def table(design: str) -> str:
    return TABLES.get(design, f"{design}.queue")


def push_sql(design: str, count: int, priority: int = 0, delay: int = 0) -> str:
    schema = "peer_pgmq" if design == "pgmq" else design
    return f"select {schema}.push({count}, {priority}, {delay})"


def life(design: str, batch: int) -> tuple[str, str]:
    """The two statements of a message's life: what takes `batch` messages and answers ids, and what finishes :ids."""
    if design == "pgmq":
        return (
            f"select array_agg(msg_id) as ids from pgmq.read('storage', 30, {batch})",
            "select count(*) from pgmq.delete('storage', :ids::bigint[])",
        )
    if design == "floor":
        return (
            "with u as (update floor.queue q set vt = common.now_us() + 30000000 where q.id = any (array("
            "select id from floor.queue where vt <= (select common.now_us()) order by vt "
            f"limit {batch} for update skip locked)) returning q.id, q.payload) select array_agg(id) as ids from u",
            "delete from floor.queue where id = any (:ids::bigint[])",
        )
    if design == "pyqueue" and batch == 1:
        return "select receipt as ids from pyqueue.queue_reserve('k')", "select * from pyqueue.queue_ack(:ids)"
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
    def __init__(self, url: str, pgbench: str, seconds: int) -> None:
        self.url, self.pgbench, self.seconds = url, pgbench, seconds
        self.admin = psycopg.connect(url, autocommit=True)

    def install(self) -> None:
        self.admin.execute((HERE / "common.sql").read_text())
        if not self.admin.execute("select 1 from pg_namespace where nspname = 'pgmq'").fetchone():
            self.admin.execute(importlib.resources.files("pgmq").joinpath("sql/pgmq.sql").read_text())
        for design in DESIGNS:
            if design == "pyqueue":
                upgrade(self.url, schema="pyqueue")
            self.admin.execute((HERE / f"{design}.sql").read_text())

    def fill(self, design: str, count: int, priority: int = 0, delay: int = 0) -> None:
        for _ in range(max(1, count // 10000)):
            self.admin.execute(push_sql(design, min(count, 10000), priority, delay))

    def fresh(self, design: str) -> None:
        self.admin.execute(f"truncate {table(design)}")

    def rate(self, design: str, batch: int, clients: int, seconds: int | None = None, calls: int | None = None) -> float:
        """Messages a second through reserve and ack."""
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
            script.write("{} \\gset\n{};\n".format(*life(design, batch)))
            script.flush()
            length = ["-t", str(calls)] if calls else ["-T", str(seconds or self.seconds)]
            done = subprocess.run(
                [self.pgbench, "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), *length,
                 "-f", script.name, self.url],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        found = re.search(r"tps = ([\d.]+)", done.stdout)
        assert found, done.stdout + done.stderr
        return float(found[1]) * batch


def fresh(bench: Bench, design: str, batch: int, clients: int) -> float:
    bench.fresh(design)
    bench.fill(design, 60_000 if batch == 1 else 130_000 * bench.seconds)
    bench.admin.execute(f"vacuum analyze {table(design)}")
    return bench.rate(design, batch, clients)


def snapshot(bench: Bench, design: str, batch: int, clients: int) -> float:
    bench.fresh(design)
    with psycopg.connect(bench.url) as holder:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("select count(*) from pg_class")
        bench.fill(design, 300_000 + (40_000 if batch == 1 else 130_000 * bench.seconds))
        bench.admin.execute(f"analyze {table(design)}")
        bench.rate(design, 100, 1, calls=3000)
        return bench.rate(design, batch, clients)


def delayed(bench: Bench, design: str, batch: int, clients: int) -> float:
    bench.fresh(design)
    for priority in (1, 2, 3, 4, 5):
        bench.fill(design, 200_000, priority, 3_600_000_000)
    bench.fill(design, 60_000 if batch == 1 else 130_000 * bench.seconds)
    bench.admin.execute(f"vacuum analyze {table(design)}")
    return bench.rate(design, batch, clients)


def consume(bench: Bench, design: str, until: threading.Event) -> None:
    take, finish = life(design, 10)
    finish = finish.replace(":ids::bigint[]", "%s::bigint[]").replace(":ids::jsonb", "%s::jsonb")
    with psycopg.connect(bench.url, autocommit=True) as connection:
        while not until.is_set():
            row = connection.execute(take).fetchone()
            if row and row[0]:
                connection.execute(finish, (Jsonb(row[0]) if design == "pyqueue" else row[0],))
            else:
                time.sleep(0.005)


def late_commit(bench: Bench, design: str) -> float:
    """Seconds from the commit of a push that took one second to its delivery, with a snapshot open and others at work."""
    heap = table(design).split(",")[0]
    column = {"pgmq": "msg_id", "floor": "id"}.get(design, "entry")
    bench.fresh(design)
    done = threading.Event()
    workers = [threading.Thread(target=consume, args=(bench, design, done)) for _ in range(2)]
    with psycopg.connect(bench.url) as holder, psycopg.connect(bench.url) as late:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("select count(*) from pg_class")
        bench.fill(design, 50_000)
        bench.rate(design, 100, 1, calls=500)
        for worker in workers:
            worker.start()
        late.execute(push_sql(design, 1))
        row = late.execute(f"select max({column}) from {heap}").fetchone()
        committed = time.monotonic() + 1
        pushed = False
        while time.monotonic() < committed + 5:
            bench.admin.execute(push_sql(design, 5))
            time.sleep(0.02)
            if not pushed and time.monotonic() >= committed:
                late.commit()
                pushed, committed = True, time.monotonic()
            if pushed and not bench.admin.execute(f"select 1 from {heap} where {column} = %s", row).fetchone():
                break
        waited = time.monotonic() - committed
        done.set()
        for worker in workers:
            worker.join()
    return waited


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--pgbench", default="pgbench")
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--scenarios", default="fresh,snapshot,delayed,late")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    designs, wanted = options.designs.split(","), options.scenarios.split(",")
    bench = Bench(options.url, options.pgbench, options.seconds)
    bench.install()
    scenarios: list[tuple[str, Callable[[str], float]]] = []
    for name, run in (("fresh", fresh), ("snapshot", snapshot), ("delayed", delayed)):
        if name in wanted:
            for batch, clients in ((1, 1), (1, 8), (100, 1), (100, 4)):
                scenarios.append((f"{name}, batch of {batch}, {clients} clients",
                                  lambda d, r=run, b=batch, c=clients: r(bench, d, b, c)))  # fmt: skip
    if "late" in wanted:
        scenarios.append(("late commit under a snapshot, seconds", lambda d: late_commit(bench, d)))
    results: dict[str, dict[str, list[float]]] = {}
    print(f"{'':44}" + "".join(f"{d:>12}" for d in designs))
    for name, run in scenarios:
        figures: dict[str, list[float]] = {d: [] for d in designs}
        for _ in range(options.rounds):
            for design in designs:
                figures[design].append(run(design))
        results[name] = figures
        print(f"{name:44}" + "".join(f"{statistics.median(figures[d]):12.4g}" for d in designs), flush=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
