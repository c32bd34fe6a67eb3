"""What a client of any driver sees is the same on every server: the columns of each answer, and SQLSTATEs."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pyqueue_sql import (
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Lost,
    Queue,
    QueueError,
    Refused,
)
from tests.conformance.steps import die, receipts
from tests.rules import each
from tools import house

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.fixtures import Capabilities, Connect
    from tests.conformance.harness import Harness, Session

    Arguments: TypeAlias = tuple[str | None, ...]

WITHOUT_COLUMNS = {"queue_now", "queue_time", "queue_timestamp"}
"""Answer a value, which has no name of its own."""

MESSAGE = [
    *("p_kind", "p_key", "payload", "payload_bytes", "headers", "priority"),
    *("scheduled_at", "scheduled_at_initially", "created_at", "reserved_at", "attempts", "reserved_by"),
]
PUSHED = ["p_kind", "p_key", "scheduled_at", "outcome"]
SEEN = [*MESSAGE, "state", "errors"]
RESERVED = [*MESSAGE, "receipt", "errors"]
FINISHED = ["receipt", "outcome"]
SETTINGS = [
    *("p_kind", "timeout_seconds", "max_attempts", "backoff_seconds", "backoff_factor"),
    *("backoff_max_seconds", "jitter", "dead_letter_kind", "paused", "dedup_seconds", "history_seconds"),
    *("payload_shape", "draining", "expires_seconds", "semaphores", "max_reserved", "rate_per_second"),
    *("filter_index", "log_seconds", "roles"),
]

COLUMNS = {
    "queue_push": PUSHED,
    "queue_push_bytes": PUSHED,
    "queue_push_many": ["p_key", "outcome"],
    "queue_reserve": RESERVED,
    "queue_next": RESERVED,
    "queue_pop": [*MESSAGE, "errors"],
    "queue_extend": FINISHED,
    "queue_extend_many": FINISHED,
    "queue_ack": FINISHED,
    "queue_ack_many": FINISHED,
    "queue_nack": FINISHED,
    "queue_nack_many": FINISHED,
    "queue_move": FINISHED,
    "queue_move_many": FINISHED,
    "queue_get": SEEN,
    "queue_peek": SEEN,
    "queue_remove": ["outcome"],
    "queue_purge": ["purged"],
    "queue_define": SETTINGS,
    "queue_drop": SETTINGS,
    "queue_pause": ["changed"],
    "queue_resume": ["changed"],
    "queue_redrive": ["went", "stayed"],
    "queue_prune": ["pruned"],
    "queue_wait": ["p_kind"],
    "queue_listen": ["p_kind", "channel", "ready", "next_at", "next_seconds"],
    "queue_heartbeat": ["worker", "alive", "started_at", "heartbeat_at", "expires_at", "reaps"],
    "queue_reap": ["worker", "freed"],
    "queue_drain": ["changed"],
    "queue_replay": ["went", "stayed"],
    "queue_subscribe": ["changed"],
    "queue_unsubscribe": ["changed"],
    "queue_publish": PUSHED,
    "queue_schedule": ["name", "p_kind", "next_at"],
    "queue_unschedule": ["changed"],
    "queue_tick": ["ticked"],
    "queue_stage_begin": ["part"],
    "queue_stage_publish": ["outcome", "messages", "pushed", "differing"],
    "queue_stage_abort": ["removed"],
    "queue_stream_plan": ["plan", "parts"],
    "queue_stream_renew": ["lost"],
    "queue_stream_ready": ["ready"],
    "queue_stream_reserve": RESERVED,
    "queue_stream_extend": ["extended", "lost"],
    "queue_stream_forget": ["forgotten"],
    "queue_stream_done": ["done"],
    "queue_stream_commit": [
        *("outcome", "acked", "failed", "lost", "published"),
        *("pushed", "differing"),
    ],
    "queue_semaphore": ["name", "capacity"],
    "queue_group": ["group_name", "state", "members", "done"],
    "queue_read": [
        *("position", "event", "topic", "p_kind", "p_key", "entry", "payload", "payload_bytes", "headers"),
        *("to_kind", "created_at"),
    ],
    "queue_read_ack": ["reader", "position"],
    "queue_read_end": ["changed"],
}


def test_every_public_routine_has_its_columns_here() -> None:
    files = house.files(house.LIVE / "postgresql", "routine")
    names = {house.name(path) for path in files if not path.name.startswith("_")}
    assert names == COLUMNS.keys() | WITHOUT_COLUMNS


def calls(queue: Session) -> Iterator[tuple[str, Arguments]]:
    """Yield calls that answer with no row, with one and with many; each is made before the next."""
    for _ in range(2):
        yield "queue_push", ("k", "a", "1", None)
        yield "queue_push_bytes", ("k", "b", "bytes", None)
    for batch in ([], [{"payload": 1}], [{"key": "c", "payload": 1}, {"key": "a", "payload": 1}]):
        yield "queue_push_many", ("k", json.dumps(batch), None)
    for kind, key in (("k", "a"), ("k", "not there"), ("nothing", "a")):
        yield "queue_get", (kind, key)
    for kind in ("nothing", "k"):
        yield "queue_peek", (kind, "10", None)
    for number in ("1", "2", "10", "1"):
        yield "queue_reserve", ("k", "worker", number, None)
    yield from of_receipts(queue)
    queue.push_many("popped", [{"payload": number} for number in range(4)])
    for number in ("1", "10", "10"):
        yield "queue_pop", ("popped", number, None)
    for key in ("f", "g"):
        die(queue, "sick", key)
    for number in ("1", None, None):
        yield "queue_redrive", ("sick.dead", number)
    for key in ("f", "f"):
        yield "queue_remove", ("sick", key)
    for _ in range(2):
        yield "queue_purge", ("sick", None)
        yield "queue_define", ("sick", None)
        yield "queue_pause", ("sick",)
        yield "queue_resume", ("sick",)
        yield "queue_drain", ("sick",)
        yield "queue_drop", ("sick",)
        yield "queue_subscribe", ("t", "k")
        yield "queue_publish", ("t", "copy", "1", None)
        yield "queue_publish", ("nobody", None, "1", None)
        yield "queue_replay", ("k", None)
        yield "queue_schedule", ("s", "k", "1", '{"every_seconds": 60}')
        yield "queue_tick", ()
        yield "queue_semaphore", ("s", "1")
        yield "queue_group", ("g", "k", None, '{"close": true}')
        yield "queue_read", ("logged", "r", "10", '{"from": "oldest"}')
        queue.define("logged", log_seconds=60)
        queue.push("logged", "a", 1)
    yield "queue_read", ("#", "p", "10", None)
    yield "queue_read_ack", ("r", "1")
    for _ in range(2):
        yield "queue_read_end", ("r",)
    for _ in range(2):
        yield "queue_unsubscribe", ("t", "k")
        yield "queue_unschedule", ("s",)
    yield "queue_define", ("sick", '{"timeout_seconds": 5, "payload_shape": {"to": "string"}}')
    yield "queue_prune", (None,)
    for kinds in ('["k", "nothing"]', '"nothing"'):
        yield "queue_wait", (kinds, "0")
    for options in (None, '{"session": true}', '{"stop": true}', '{"stop": true}'):
        yield "queue_heartbeat", ("worker", options)
    yield "queue_reap", ()
    for _ in range(2):
        yield "queue_stage_begin", ("job", None)
        yield "queue_stage_publish", ("[]", None)
        yield "queue_stage_abort", ("job",)
        yield "queue_stream_plan", ("stream/0",)
        yield "queue_stream_ready", ("k",)
        yield "queue_stream_reserve", ("stream", "0", "0", "k", "10", None)
        yield "queue_stream_renew", ("stream", "0")
        yield "queue_stream_extend", ("stream/0", "5", None)
        yield "queue_stream_commit", ("stream", "0", None)
        yield "queue_stream_done", ("stream", "0")
        yield "queue_stream_forget", ("stream/0",)


def of_receipts(queue: Session) -> Iterator[tuple[str, Arguments]]:
    """Yield the calls for what somebody holds, each also for what is lost."""
    queue.push_many("held", [{"payload": number} for number in range(20)])
    held = iter(receipts(queue.reserve("held", None, 20)))
    used: list[str] = []
    ends: list[tuple[str, Arguments]] = [
        ("queue_ack", (None,)),
        ("queue_nack", ('{"delay_seconds": 1}',)),
        ("queue_move", ("next", None)),
    ]
    for name, rest in ends:
        receipt = next(held)
        yield "queue_extend", (receipt, "5")
        yield name, (receipt, *rest)
        yield name, (receipt, *rest)
        used.append(receipt)
    for rest in ([], [next(held)], [next(held), *used]):
        given = json.dumps(rest)
        yield "queue_extend_many", (given, "5")
        yield "queue_ack_many", (given, None)
    for rest in ([], [next(held)], [next(held), *used]):
        yield "queue_nack_many", (json.dumps(rest), None)
    for rest in ([], [next(held)], [next(held), *used]):
        moves = [{"receipt": receipt, "to_kind": "next"} for receipt in rest]
        yield "queue_move_many", (json.dumps(moves), None)
    queue.push_many("k", [{"payload": 1}] * 3)
    for number in ("1", "10", "10"):
        yield "queue_next", (json.dumps([next(held), *used]), "k", "worker", number, None)


def test_the_columns_of_every_answer(queue: Session, capabilities: Capabilities) -> None:
    called: set[str] = set()
    listening: list[tuple[str, Arguments]] = [("queue_listen", ('["k", "nothing"]',))]
    for name, arguments in itertools.chain(calls(queue), listening if "listen" in capabilities else ()):
        assert queue.columns(name, *arguments) == COLUMNS[name], (name, arguments)
        called.add(name)
    assert called | {"queue_listen"} == COLUMNS.keys()


def drop_while_held(queue: Queue) -> None:
    queue.push("busy", "a", 1)
    queue.reserve("busy")
    queue.drop("busy")


CAUSES: list[tuple[str, type[QueueError], Callable[[Queue], object]]] = [
    ("PQ001", InvalidParameter, lambda q: q.push("", "a", 1)),
    ("PQ001", InvalidParameter, lambda q: q.reserve("k", None, 0)),
    ("PQ001", InvalidParameter, lambda q: q.push_many("k", [{"key": "k" * 201, "payload": 1}])),
    ("PQ002", InvalidOption, lambda q: q.push("k", "a", 1, priority=32768)),
    ("PQ002", InvalidOption, lambda q: q.define("k", jitter=2)),
    ("PQ003", InvalidPayload, lambda q: q.push("k", "a", 1, headers={"a": {"b": 1}})),
    ("PQ003", InvalidPayload, lambda q: q.push_many("k", [{"key": "a", "headers": {"a": []}}])),
    ("PQ004", Refused, drop_while_held),
    ("PQ004", Refused, lambda q: q.define("k", dead_letter_kind="k")),
    ("PQ006", Lost, lambda q: q.next(["1-" + "0" * 32], "k", lost="error")),
    ("PQ005", InvalidReceipt, lambda q: q.ack("never a receipt")),
    ("PQ005", InvalidReceipt, lambda q: q.move_many([{"receipt": "never one", "to_kind": "next"}])),
]


@pytest.mark.parametrize("autocommit", [True, False], ids=["autocommit", "transaction"])
def test_a_cause_has_one_sqlstate(harness: Harness, connect: Connect, autocommit: bool) -> None:
    queue = connect(autocommit=autocommit)
    for sqlstate, cause, refused in CAUSES:
        with pytest.raises(cause) as raised:
            refused(queue)
        assert harness.sqlstate(raised.value) == cause.sqlstate == sqlstate, raised.value
        queue.rollback()


@pytest.mark.needs("inbox_at_once")
@each(
    ("sqlstate", "wrong"),
    [
        ("PQ001", {"p_key": ""}),
        ("PQ002", {"attempts": -1}),
        ("PQ003", {"payload": "no JSON"}),
    ],
)
def test_a_wrong_row_has_the_sqlstate_of_its_cause(
    harness: Harness, queue: Session, sqlstate: str, wrong: dict[str, object]
) -> None:
    with pytest.raises(QueueError) as raised:
        queue.land([{"p_kind": "k", "p_key": "a", "payload": "1", **wrong}])
    assert harness.sqlstate(raised.value) == sqlstate, raised.value
