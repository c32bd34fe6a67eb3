"""Fifty workers with batches in random order of their keys, and the deadlocks that they see."""

from __future__ import annotations

import json
import random
from typing import Any

from bench.innodb.clients import call, rate, together
from bench.innodb.lives import KIND, RECEIPT
from bench.innodb.tables import tables
from bench.run import Run

NAME = "workers"
ONCE = True
WORKERS = 50
KEYS = 5000
BATCH = 20


def batches(cursor: Any) -> int:
    """Push a batch of random keys, some of them taken; reserve one, give back a fifth and ack the rest."""
    keys = random.sample(range(KEYS), BATCH)
    pushed = [{"key": str(one), "payload": {"n": one}} for one in keys]
    call(cursor, f"call queue_push_many('{KIND}', %s, null)", json.dumps(pushed))
    rows = call(cursor, f"call queue_reserve('{KIND}', null, {BATCH}, null)")
    receipts = [row[RECEIPT] for row in rows]
    random.shuffle(receipts)
    if receipts:
        back = len(receipts) // 5
        call(cursor, "call queue_extend_many(%s, 600)", json.dumps(receipts))
        call(cursor, "call queue_nack_many(%s, %s)", json.dumps(receipts[:back]), '{"delay_seconds": 0}')
        call(cursor, "call queue_ack_many(%s, null)", json.dumps(receipts[back:]))
    return BATCH


def run(run: Run) -> None:
    """Count them."""
    seconds = 2 if run.quick else 20
    with tables(run.url):
        done = together(run.url, batches, WORKERS, seconds, warm_up=0)
    run.limit(
        "deadlocks and lock wait timeouts seen by workers",
        [float(sum(sum(one.retries.values()) for one in done))],
        0,
        unit="errors 1213, 1205",
        clients=WORKERS,
        note=f"in {seconds} s of batches of {BATCH} of {KEYS:,} keys, {rate(done):,.0f} pushes a second",
    )
