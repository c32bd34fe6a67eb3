"""The walk of a message on PostgreSQL: at how many routines a call stops, with nothing and with everything.

A stop is a routine that is called, however often.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest

from tests.schema.walks import routines_called

KIND = {
    "history_seconds": 60,
    "dedup_seconds": 60,
    "log_seconds": 60,
    "filter_index": True,
    "payload_shape": {"a": "number"},
    "max_reserved": 5,
    "rate_per_second": 1000,
    "max_attempts": 3,
}
OPTIONS = {
    "group": "g",
    "priority": 3,
    "headers": {"h": 1},
    "delay_seconds": 0,
    "on_duplicate": "replace",
    "max_attempts": 3,
    "attempts": 0,
}
TURNS = {"semaphores": {"semaphores": ["s"], "route": ["x", "y"]}, "order key": {"order_key": "o"}}


def stops(conn: psycopg.Connection[Any], text: str, *values: object) -> tuple[set[str], str]:
    """Return the routines that a statement calls, and the receipt that it answers, if any."""
    with routines_called(conn) as called:
        found = conn.execute(text.encode(), values).fetchone()
    return called, found[0] if found else ""


def shortest(walks: list[list[set[str]]]) -> list[set[str]]:
    """Return the shortest of several walks, step by step: one reserve in twenty also tidies up."""
    return [min(steps, key=len) for steps in zip(*walks, strict=True)]


def test_a_plain_message_stops_at_the_public_routines_alone(conn: psycopg.Connection[Any]) -> None:
    kind = f"mail {uuid.uuid4()}"  # a scan would walk over what tests before this one left in the index
    walks: list[list[set[str]]] = []
    for _ in range(8):  # the first reserve of a session looks whether others share a cursor
        pushed, _ = stops(conn, "select p.p_key from queue_push(%s, null, '{}') p", kind)
        reserved, receipt = stops(conn, "select r.receipt from queue_reserve(%s) r", kind)
        acked, _ = stops(conn, "select a.outcome from queue_ack(%s) a", receipt)
        walks.append([pushed, reserved, acked])
    assert shortest(walks) == [{"queue_push"}, {"queue_reserve"}, {"queue_ack"}]


@pytest.mark.parametrize(("turn", "most"), [("semaphores", (29, 16, 19)), ("order key", (22, 14, 19))])
def test_a_message_with_everything_stops_no_more_often_than_it_did(
    conn: psycopg.Connection[Any], turn: str, most: tuple[int, int, int]
) -> None:
    conn.execute("select queue_define('mail', %s)", [json.dumps(KIND)])
    conn.execute("select queue_semaphore('s', 100)")
    conn.execute("select queue_group('g', 'done')")
    options = json.dumps(OPTIONS | TURNS[turn])
    push = "select p.p_key from queue_push('mail', %s, '{\"a\": 1}', %s) p"
    where = '{"where": {"a": 1}, "timeout_seconds": 30}'
    walks: list[list[set[str]]] = []
    for key in "abcdefgh":
        pushed, _ = stops(conn, push, key, options)
        reserved, receipt = stops(conn, "select r.receipt from queue_reserve('mail', 'w', 1, %s) r", where)
        acked, _ = stops(conn, "select a.outcome from queue_ack(%s, '{\"result\": 1}') a", receipt)
        walks.append([pushed, reserved, acked])
    for walk, number in zip(shortest(walks), most, strict=True):
        assert len(walk) <= number, walk
