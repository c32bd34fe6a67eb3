"""queue_push_many of 1,000 keyed messages, beside pgmq.send_batch and beside INSERT into the table itself.

The messages are ready in a table, so that no side is charged for making them: as an array of JSON objects
with keys for us, as an array of payloads for pgmq, which has no keys, and, for `INSERT … ON CONFLICT DO
NOTHING` into delayed_queue, as the very rows that queue_push_many makes of them. Keys are in order, as those
of orders are, and again random, the worst for an index.
"""

from __future__ import annotations

from bench.postgresql.pgbench import pgbench
from bench.postgresql.sides import Pgmq, Pyqueue
from bench.run import Run

NAME = "push_many"
MANY = 1000
CLIENTS = (1, 4)
OF_SEND_BATCH = 0.4
OF_INSERT = 0.85
KEYS = {
    "keys in order": "'order/' || lpad((b * 1000 + i)::text, 12, '0')",
    "random keys": "gen_random_uuid()",
}

BATCHES = """
create table batch as
select b as id, jsonb_agg(jsonb_build_object('key', {key}, 'payload', common.payload(i))) as messages,
    array_agg(common.payload(i)) as payloads
from generate_series(0, {batches} - 1) b, generate_series(0, 999) i group by b;
alter table batch add primary key (id);
"""
WHICH = "\\set id :client_id * {calls} + :n\n\\set n :n + 1\n"
OURS = "select count(*) from queue_push_many('bench', (select messages from batch where id = :id));\n"
PGMQ = "select count(*) from pgmq.send_batch('bench', (select payloads from batch where id = :id));\n"


def run(run: Run) -> None:
    """Measure."""
    calls = max(4, round(run.seconds * 25))
    ours, pgmq = Pyqueue(run.url), Pgmq(run.url)
    for keys, key in KEYS.items():
        columns = prepare(ours, key, calls * max(CLIENTS))
        insert = (
            f"insert into delayed_queue ({columns}) select {columns} from landed where batch = :id"
            " on conflict do nothing;\n"
        )
        for clients in CLIENTS:

            def rate(side: Pyqueue | Pgmq, script: str, clients: int = clients) -> float:
                side.empty()
                text = WHICH.format(calls=calls) + script
                return pgbench(side.url, text, clients=clients, calls=calls, warm=1).tps * MANY

            values = run.turns(
                [lambda: rate(ours, OURS), lambda: rate(pgmq, PGMQ), lambda text=insert: rate(ours, text)]
            )
            for other, found, target in (
                ("pgmq.send_batch", values[1], OF_SEND_BATCH),
                ("INSERT into delayed_queue", values[2], OF_INSERT),
            ):
                run.keep(
                    f"push_many of 1,000, {keys}",
                    values[0],
                    found,
                    other_name=other,
                    unit="messages/s",
                    clients=clients,
                    target=target,
                )


def prepare(ours: Pyqueue, key: str, batches: int) -> str:
    """Make the batches and the rows that come of them, and return the names of the rows' columns."""
    ours.run("drop table if exists batch, landed")
    ours.run(BATCHES.format(key=key, batches=batches))
    ours.empty()
    ours.run("create table landed as select 0 as batch, q.* from delayed_queue q")
    for batch in range(batches):
        ours.run(
            "select count(*) from queue_push_many('bench', (select messages from batch where id = %s))", batch
        )
        ours.run("insert into landed select %s, q.* from delayed_queue q", batch)
        ours.run("truncate delayed_queue")
    ours.run("create index on landed (batch)")
    ours.run("vacuum analyze batch, landed")
    rows = ours.run(
        "select string_agg(quote_ident(a.attname), ', ') from pg_attribute a"
        " where a.attrelid = 'delayed_queue'::regclass and a.attnum > 0"
        " and not a.attisdropped and a.attidentity = ''"
    )
    return rows.fetchall()[0][0]
