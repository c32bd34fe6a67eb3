"""What sessions planned while the tables were drained, vacuumed and analyzed is right once they are full.

The server knows of no page then, each index looks as good as the next, and routines keep their plans until
the next ANALYZE: an idle consumer has such plans (ADR 13).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.schema.plans import Node, Plans
from tests.schema.test_plans import TABLES

MANY = 3_000
BATCH = 5
MOST = 2_000
"""Rows of one table that a call may touch: now and then it tidies so many."""
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "remembered": {"dedup_seconds": 3600, "log_seconds": 3600},
    "kept": {"history_seconds": 3600, "log_seconds": 3600},
    "picked": {"filter_index": True},
    "limited": {"max_reserved": 1_000, "rate_per_second": 1_000_000},
    "lined": {},
    "permitted": {},
    "grouped": {},
}
"""The kinds, and how each is defined."""
OPTIONS = {
    "lined": {"order_key": "line"},
    "permitted": {"semaphores": ["permit"]},
    "grouped": {"group": "members"},
}
"""What a message of a kind is pushed with."""
CONTENTS = (
    "delayed_queue",
    "queue_dedup",
    "queue_history",
    "queue_hold",
    "queue_log",
    "queue_term",
    "queue_semaphore_wait",
    "queue_semaphore_permit",
    "queue_claim",
    "queue_group_member",
    "queue_count",
)
"""Tables that a queue which is empty has nothing in."""

Run = Callable[..., list[Any]]


def fill(conn: psycopg.Connection) -> None:
    """Put many messages into each kind; half of them have ended, so that there is something to remember."""
    for kind in KINDS:
        messages = [{"key": f"{n}", "payload": {"n": n}, **OPTIONS.get(kind, {})} for n in range(MANY)]
        conn.execute("select count(*) from queue_push_many(%s, %s)", [kind, Jsonb(messages)])
        if kind in ("kept", "remembered"):
            conn.execute("select count(*) from queue_pop(%s, %s)", [kind, MANY // 2])
    conn.execute("select count(*) from queue_push_many('dead', %s)", [Jsonb([{}] * MANY)])
    conn.execute(
        "update delayed_queue set source_kind = 'gone', source_key = p_key, source_priority = 0"
        " where p_kind = 'dead'"
    )


def walk(run: Run, tag: str) -> None:
    """Make each call that a queue lives of; what looks for messages comes first, where there are none yet."""
    for kind in KINDS:
        options = Jsonb(OPTIONS.get(kind, {}))
        run("select _queue_prune_kind(%s, queue_now(), 100)", kind)  # calls do so by the way, by chance
        run("select * from queue_wait(%s, 0.01)", Jsonb([kind]))
        run("select * from queue_peek(%s, %s)", kind, BATCH)
        run("select * from queue_pop(%s)", kind)
        run("select * from queue_pop(%s, %s)", kind, BATCH)
        run("select * from queue_purge(%s, %s)", kind, BATCH)
        held = run("select receipt from queue_reserve(%s)", kind)
        held += run("select receipt from queue_reserve(%s, 'w', %s)", kind, BATCH)
        held = run("select receipt from queue_next(%s, %s, 'w', %s)", receipts(held), kind, BATCH)
        run("select * from queue_next(%s, %s)", receipts(held), kind)
        run("select * from queue_push(%s, %s, '1', %s)", kind, f"{tag} one", options)
        run("select * from queue_push_many(%s, %s, %s)", kind, Jsonb([{"key": f"{tag} two"}]), options)
        run("select * from queue_get(%s, '1')", kind)
        run("select * from queue_remove(%s, %s)", kind, f"{tag} one")
        for call in ("ack(%s)", "extend(%s, 60)", "nack(%s)", "move(%s, 'plain')"):
            for (receipt,) in run("select receipt from queue_reserve(%s)", kind):
                run(f"select * from queue_{call}", receipt)
        for call in ("ack_many(%s)", "extend_many(%s, 60)", "nack_many(%s)"):
            held = run("select receipt from queue_reserve(%s, 'w', %s)", kind, BATCH)
            run(f"select * from queue_{call}", receipts(held))
        held = run("select receipt from queue_reserve(%s, 'w', %s)", kind, BATCH)
        moves = [{"receipt": receipt, "to_kind": "plain", "key": receipt} for (receipt,) in held]
        run("select * from queue_move_many(%s)", Jsonb(moves))
    run("select * from queue_reserve('picked', 'w', 1, %s)", Jsonb({"where": {"n": 5}}))
    run("select * from queue_publish('news', %s, '1')", tag)
    run("select * from queue_read('kept', 'reader', %s)", BATCH)
    run("select * from queue_redrive('dead', %s)", BATCH)
    run("select queue_tick()")
    run("select queue_reap()")
    run("select queue_prune(100)")


def receipts(held: list[Any]) -> Jsonb:
    """Return the receipts of rows as a routine takes them."""
    return Jsonb([receipt for (receipt,) in held])


@pytest.fixture
def drained(conn: psycopg.Connection) -> psycopg.Connection:
    """A database whose tables are empty, vacuumed and analyzed, and were full."""
    for kind, options in KINDS.items():
        conn.execute("select queue_define(%s, %s)", [kind, Jsonb(options)])
    conn.execute("select queue_semaphore('permit', 1), queue_group('members', 'then')")
    conn.execute("select queue_subscribe('news', 'plain'), queue_subscribe('news', 'remembered')")
    fill(conn)
    conn.execute(f"vacuum analyze {', '.join(TABLES)}".encode())
    for table in CONTENTS:
        conn.execute(f"alter table {table} set (autovacuum_enabled = off)".encode())
        conn.execute(f"delete from {table}".encode())
    conn.execute(f"vacuum analyze {', '.join(TABLES)}".encode())
    return conn


def test_plans_made_on_drained_tables_read_no_more_than_the_call_is_about(
    drained: psycopg.Connection, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        plans, wrong = Plans(conn), list[Node]()

        def run(text: str, *parameters: Any) -> list[Any]:
            rows, nodes = plans.run(text, *parameters)
            wrong.extend(
                node
                for node in nodes
                if node.relation in TABLES and node.kind.endswith("Scan") and node.touched > MOST
            )
            return rows

        conn.execute("set plan_cache_mode = force_generic_plan")
        with plans.unseen():
            walk(lambda text, *given: plans.run(text, *given)[0], "early")
        fill(drained)
        walk(run, "late")
    assert not wrong, "\n".join(map(str, wrong))
