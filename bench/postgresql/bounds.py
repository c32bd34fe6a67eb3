"""What bounds features in batches: the plainest statements that change what features change.

A batch of a hundred is reserved and ended on the queue's own tables, in a kind that uses the feature and in
one that doesn't, in turns in one session. The statements check nothing, and two sessions with them would be
in each other's way; so with these tables there isn't more to be had. Beside it stands what the queue has.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg

from bench import servers
from bench.run import Run

NAME = "bounds"
ONCE = True
BATCH = 100
TURNS = 60
QUICK_TURNS = 20
LINES = 2 * BATCH
"""Order keys: each message that ends has one behind it."""
CAPACITY = 1_000_000
"""Of the semaphore: there is room."""
SLOTS = 10_000

RESERVE: LiteralString = """
update delayed_queue q
set scheduled_at = 9000000000000000, reserved_at = 1, attempts = q.attempts + 1, secret = %(secret)s
from (
    select n.entry from delayed_queue n where n.p_kind = %(kind)s and n.ready_at is not null
        and n.scheduled_at < 9000000000000000
    order by n.p_kind, -n.priority::integer, n.ready_at, n.entry limit %(max)s for update skip locked) f
where q.entry = f.entry
returning q.entry, q.p_key, q.payload
"""
END: LiteralString = "delete from delayed_queue q where q.entry = any (%(entries)s)"


@dataclass(frozen=True)
class Feature:
    """What has a bound of its own."""

    name: str
    setup: LiteralString
    """What the kind wants first."""
    message: Callable[[int], dict[str, Any]]
    """What a message has besides, by its number."""
    reserve: LiteralString
    end: LiteralString


WITHOUT = Feature("without", "select queue_define('without', '{}')", lambda _: {}, RESERVE, END)
FEATURES = (
    Feature(
        "order keys, one behind each",
        "select queue_define('with', '{}')",
        lambda number: {"order_key": f"o{number % LINES}"},
        RESERVE,
        """
with gone as (delete from delayed_queue q where q.entry = any (%(entries)s) returning q.p_kind, q.order_key),
next as (
    select n.entry from gone g, lateral (
        select w.entry from delayed_queue w
        where w.p_kind = g.p_kind and w.order_key between g.order_key and g.order_key and w.order_waits
        order by w.p_kind, w.order_key, w.entry limit 1) n)
update delayed_queue q set order_waits = null, ready_at = 8000000000000000 from next n where q.entry = n.entry
""",
    ),
    Feature(
        "a semaphore with room",
        f"select queue_semaphore('bounds', {CAPACITY})",
        lambda _: {"semaphores": ["bounds"]},
        f"""
with held as ({RESERVE}), told as (
    update queue_semaphore_permit p set until = 9000000000000000 from held h where p.entry = h.entry)
select h.* from held h
""",
        """
with gone as (delete from delayed_queue q where q.entry = any (%(entries)s) returning q.entry)
delete from queue_semaphore_permit p using gone g where p.entry = g.entry
""",
    ),
    Feature(
        "max_reserved",
        f"""select queue_define('with', '{{"max_reserved": {SLOTS}}}')""",
        lambda _: {},
        f"""
with held as ({RESERVE}), slots as (
    select s.slot from queue_slot s where s.p_kind = %(kind)s order by s.p_kind, s.slot limit %(max)s
    for update skip locked),
noted as (
    insert into queue_claim (p_kind, slot, number, entry, secret)
    select %(kind)s, u.slot, %(turn)s, u.entry, %(secret)s
    from unnest((select array_agg(slot) from slots), (select array_agg(entry) from held)) u (slot, entry))
select h.* from held h
""",
        END,
    ),
)

Life = Callable[[psycopg.Connection[Any], Feature, str, int], None]
"""Takes and ends a batch: the connection, what the kind has, the kind, and which turn it is."""


def run(run: Run) -> None:
    """Measure."""
    turns = QUICK_TURNS if run.quick else TURNS
    for _ in run.each_setting():
        if run.settings["synchronous_commit"] == "on" and not run.quick:
            continue  # the disk would hide the work
        for feature in FEATURES:
            for who, life in (("plain statements", statements), ("pyqueue", routines)):
                with servers.database(run.url, run.settings) as url:
                    mine, other = in_turns(url, feature, life, turns)
                run.keep(
                    f"bounds: {feature.name}, in batches of {BATCH}, a message",
                    mine,
                    other,
                    our_name=f"{who}, {feature.name}",
                    other_name=f"{who} without",
                    unit="\u00b5s",
                    target=0.8 if life is routines else None,
                    less_is_better=True,
                )


def in_turns(url: str, feature: Feature, life: Life, turns: int) -> tuple[list[float], list[float]]:
    """Return microseconds a message, of the kind `with` and of the kind `without`.

    Args:
        url: of a new database.
        feature: of the kind `with`.
        life: takes and ends a batch.
        turns: how often each.
    """
    kinds = {"with": feature, "without": WITHOUT}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        for kind, has in kinds.items():
            connection.execute(has.setup)
            fill(connection, kind, has, turns + 10)
        connection.execute("vacuum analyze delayed_queue")
        # as the routines' plans are pinned
        connection.execute("set enable_seqscan = off")
        connection.execute("set enable_hashjoin = off")
        connection.execute("set enable_mergejoin = off")
        for turn in range(turns + 5):
            for kind, has in kinds.items():
                began = time.perf_counter()
                life(connection, has, kind, turn)
                times[kind].append((time.perf_counter() - began) / BATCH * 1e6)
    return times["with"][5:], times["without"][5:]  # the first ones read and plan


def fill(connection: psycopg.Connection[Any], kind: str, has: Feature, batches: int) -> None:
    """Push so many batches into a kind."""
    for batch in range(batches):
        messages = [
            {"key": str(uuid.uuid4()), "payload": {}, **has.message(batch * BATCH + number)}
            for number in range(BATCH)
        ]
        connection.execute("select from queue_push_many(%s, %s::jsonb)", (kind, json.dumps(messages)))


def statements(connection: psycopg.Connection[Any], has: Feature, kind: str, turn: int) -> None:
    """Take and end a batch by plain statements."""
    values = {"kind": kind, "max": BATCH, "secret": uuid.uuid4().bytes, "turn": turn}
    held = connection.execute(has.reserve, values).fetchall()
    assert len(held) == BATCH
    connection.execute(has.end, {"entries": [entry for entry, *_ in held]})


def routines(connection: psycopg.Connection[Any], _: Feature, kind: str, __: int) -> None:
    """Take and end a batch by the queue's own routines."""
    held = connection.execute(
        "select receipt, p_key, payload from queue_reserve(%s, null, %s)", (kind, BATCH)
    ).fetchall()
    assert len(held) == BATCH
    connection.execute(
        "select from queue_ack_many(%s::jsonb)", (json.dumps([receipt for receipt, *_ in held]),)
    )
