"""What is compared on PostgreSQL: the queue, pgmq and plain statements, each with its own load."""

from __future__ import annotations

import importlib.resources
import time
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg

from bench.postgresql.pgbench import length, pgbench
from bench.run import Run

STORAGE = Path(__file__).parents[1] / "storage" / "postgresql"
CHUNK = 10_000
GUESS = {1: 6_000, 100: 80_000}
"""Messages a second that there are for a measurement at least, by batch."""
SPARE = 1.4
"""How much more is there than the last measurement took."""


PATIENCE_SECONDS = 60

_speed: dict[tuple[str, int, int], float] = {}
"""What the last measurements found, by side, batch and clients."""


class Side:
    """One of the things that are compared, in a database with the schema installed.

    Args:
        url: the database.
    """

    name = ""
    table = ""
    """The table that a message is deleted from at the end of its life."""
    push = ""
    """Script: one message."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.admin = psycopg.connect(url, autocommit=True)
        self.stock = 0
        """Ready messages that nobody has taken yet."""
        self.run((STORAGE / "common.sql").read_text())
        self.install()

    def run(self, text: str, *values: object) -> psycopg.Cursor[Any]:
        """Run a statement of the bench's own."""
        return self.admin.execute(cast(LiteralString, text), values or None)

    def install(self) -> None:
        """Make what isn't there yet."""

    def life(self, batch: int) -> str:
        """Return the script that takes a batch and finishes it."""
        raise NotImplementedError

    def tables(self) -> list[str]:
        """Return all tables that hold something of the messages."""
        return [self.table]

    def put(self, count: int, delay_seconds: int) -> None:
        """Put up to a chunk of messages in."""
        raise NotImplementedError

    def empty(self) -> None:
        """Throw everything away."""
        self.run(f"truncate {', '.join(self.tables())}")
        self.stock = 0

    def fill(self, count: int, delay_seconds: int = 0) -> None:
        """Put messages in, by chunks."""
        for first in range(0, count, CHUNK):
            self.put(min(CHUNK, count - first), delay_seconds)
        self.stock += 0 if delay_seconds else count

    def settle(self) -> None:
        """Leave the tables as autovacuum would."""
        self.run(f"vacuum analyze {', '.join(self.tables())}")

    def size(self) -> int:
        """Return the bytes of the tables with their indexes."""
        return sum(
            self.run("select pg_total_relation_size(%s::regclass)", table).fetchall()[0][0]
            for table in self.tables()
        )

    def ended(self) -> int:
        """Return how many messages have ended, once the sessions of the load are gone and counted."""
        while self.run(
            "select from pg_stat_activity where application_name = 'pgbench' and datname = current_database()"
        ).rowcount:
            time.sleep(0.005)
        self.run("select pg_stat_clear_snapshot()")
        return self.run("select pg_stat_get_tuples_deleted(%s::regclass)", self.table).fetchall()[0][0]

    def process(self, count: int, batch: int = 1000) -> None:
        """Take and finish messages, in batches from one client."""
        pgbench(self.url, self.life(batch), clients=1, calls=count // batch)
        self.stock -= count

    def drain(self) -> None:
        """Take and finish all that is left."""
        until = time.monotonic() + PATIENCE_SECONDS
        while left := self.run(f"select count(*) from {self.table}").fetchall()[0][0]:
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name}: {left} messages are left that no call delivers")
            self.process(left + 1000)
        self.stock = 0

    def rate(self, run: Run, batch: int, clients: int, *, fresh: bool = True) -> float:
        """Return messages a second through take and finish; `fresh`: on tables that were just filled."""
        which = (self.name, batch, clients)
        while True:
            wanted = round(max(_speed.get(which, 0), GUESS[batch]) * length(run.seconds, clients) * SPARE)
            if fresh:
                self.empty()
            if self.stock < wanted:
                self.fill(wanted - self.stock)
            if fresh:
                self.settle()
            before = self.ended()
            load = pgbench(self.url, self.life(batch), clients=clients, seconds=run.seconds)
            done = self.ended() - before
            # a batch may have been a short one
            rate = load.tps * done / load.transactions if load.transactions else 0.0
            _speed[which] = rate
            self.stock -= done
            if self.stock > clients * batch:
                return rate
            _speed[which] *= 2  # it ran dry: what it did in the time isn't all that it can


class Pyqueue(Side):
    """The queue itself."""

    name = "pyqueue"
    table = "delayed_queue"
    push = """\\set n random(1, 9000000000000000000)
select * from queue_push('bench', 'order/' || :n, :payload);
"""

    def tables(self) -> list[str]:
        rows = self.run(
            "select c.relname from pg_class c where c.relnamespace = current_schema()::regnamespace"
            " and c.relkind = 'r' and (c.relname = 'delayed_queue' or c.relname like 'queue\\_%')"
            " and c.relname not in ('queue_version', 'queue_kind')"
        )
        return [name for (name,) in rows]

    def put(self, count: int, delay_seconds: int) -> None:
        self.put_into("bench", count, 0, delay_seconds)

    def message(self) -> str:
        """Return the members of the i-th message of a chunk, in SQL for a query with parameters."""
        return "'key', gen_random_uuid(), 'payload', common.payload(i)"

    def options(self) -> str:
        """Return the options of a push, as JSON."""
        return "{}"

    def put_into(
        self,
        kind: str,
        count: int,
        priority: int,
        delay_seconds: int,
        over: psycopg.Connection[Any] | None = None,
    ) -> None:
        """Put up to a chunk of messages into a kind, over another connection if need be."""
        (over or self.admin).execute(
            "select count(*) from queue_push_many(%s,"
            f" (select jsonb_agg(jsonb_build_object({self.message()})) from generate_series(1, %s) i),"
            " jsonb_build_object('priority', %s::int, 'delay_seconds', %s::int))",
            (kind, count, priority, delay_seconds),
        )

    def life(self, batch: int) -> str:
        if batch == 1:
            return """select receipt, payload, 1 as got from queue_reserve('bench') \\aset
\\if :got
    select * from queue_ack(:receipt);
\\endif
"""
        return f"""select jsonb_agg(receipt) as receipts, count(*) as got
    from queue_reserve('bench', 'bench', {batch}) \\gset
\\if :got
    select count(*) from queue_ack_many(:receipts::jsonb);
\\endif
"""


class Pgmq(Side):
    """pgmq, from the SQL in the PyPI package of that name."""

    name = "pgmq"
    table = "pgmq.q_bench"
    push = "select * from pgmq.send('bench', :payload::jsonb);\n"

    def install(self) -> None:
        if not self.run("select to_regclass('pgmq.meta')").fetchall()[0][0]:
            self.run(importlib.resources.files("pgmq").joinpath("sql/pgmq.sql").read_text())
        self.run("select pgmq.create('bench')")

    def put(self, count: int, delay_seconds: int) -> None:
        self.run(
            "select count(*) from pgmq.send_batch('bench', array("
            "select common.payload(i) from generate_series(1, %s) i), %s::int)",
            count,
            delay_seconds,
        )

    def life(self, batch: int) -> str:
        if batch == 1:
            return """select msg_id, message, 1 as got from pgmq.read('bench', 30, 1) \\aset
\\if :got
    select pgmq.delete('bench', :msg_id::bigint);
\\endif
"""
        return f"""select array_agg(msg_id) as ids, count(*) as got
    from pgmq.read('bench', 30, {batch}) \\gset
\\if :got
    select count(*) from pgmq.delete('bench', :ids::bigint[]);
\\endif
"""


class Floor(Side):
    """What an application would write itself, on a table with nothing but id, time and payload."""

    name = "plain statements"
    table = "floor.queue"

    def install(self) -> None:
        self.run((STORAGE / "floor.sql").read_text())

    def put(self, count: int, delay_seconds: int) -> None:
        self.run("select floor.push(%s, 0, %s)", count, delay_seconds * 1_000_000)

    def life(self, batch: int) -> str:
        take = f"""update floor.queue q set vt = common.now_us() + 30000000
    where q.id = any (array(select id from floor.queue where vt <= (select common.now_us()) order by vt
        limit {batch} for update skip locked))
    returning q.id, q.payload, 1 as got"""
        if batch == 1:
            return f"""{take} \\aset
\\if :got
    delete from floor.queue where id = :id;
\\endif
"""
        return f"""with u as ({take})
select array_agg(id) as ids, count(*) as got from u \\gset
\\if :got
    delete from floor.queue where id = any (:ids::bigint[]);
\\endif
"""
