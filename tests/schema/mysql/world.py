"""Messages in every state, calls of every routine that they are for, and calls without our client."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.schema.mysql.catalogs import RECEIPT, run

if TYPE_CHECKING:
    from pymysql import Connection


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# each in the world that `prepare` makes; {held} and {other} are receipts
CALLS = {
    "queue_push": "call queue_push('mail', 'new', '1', null)",
    "queue_push_bytes": "call queue_push_bytes('mail', 'new', '1', null)",
    "queue_push_into": "call queue_push_into('mail', 'new', '1', null, @outcome)",
    "queue_push_many": """call queue_push_many('mail', '[{{"key": "new", "payload": 1}}]', null)""",
    "queue_reserve": "call queue_reserve('mail', 'w', 1, null)",
    "queue_next": """call queue_next('["{held}"]', 'mail', 'w', 1, null)""",
    "queue_pop": "call queue_pop('mail', 1, null)",
    "queue_extend": "call queue_extend('{held}', 5)",
    "queue_extend_many": """call queue_extend_many('["{held}"]', 5)""",
    "queue_ack": "call queue_ack('{held}', null)",
    "queue_ack_many": """call queue_ack_many('["{held}"]', null)""",
    "queue_nack": "call queue_nack('{held}', null)",
    "queue_nack_many": """call queue_nack_many('["{held}"]', '{{"final": true}}')""",
    "queue_move": "call queue_move('{held}', 'next', null)",
    "queue_move_many": """call queue_move_many('[{{"receipt": "{held}", "to_kind": "next"}}]', null)""",
    "queue_get": "call queue_get('mail', 'a')",
    "queue_peek": "call queue_peek('mail', 5, null)",
    "queue_remove": "call queue_remove('mail', 'a')",
    "queue_purge": "call queue_purge('mail', null)",
    "queue_define": """call queue_define('mail', '{{"timeout_seconds": 7}}')""",
    "queue_drop": "call queue_drop('old')",
    "queue_pause": "call queue_pause('mail')",
    "queue_resume": "call queue_resume('still')",
    "queue_redrive": "call queue_redrive('mail.dead', null)",
    "queue_prune": "call queue_prune(null)",
    "queue_heartbeat": "call queue_heartbeat('w', null)",
    "queue_reap": "call queue_reap()",
    "queue_drain": "call queue_drain('still')",
    "queue_replay": "call queue_replay('mail', null)",
    "queue_subscribe": "call queue_subscribe('topic.#', 'copies')",
    "queue_unsubscribe": "call queue_unsubscribe('topic', 'mail')",
    "queue_publish": "call queue_publish('topic', 'new', '1', null)",
    "queue_schedule": """call queue_schedule('new', 'mail', '1', '{{"every_seconds": 60}}')""",
    "queue_unschedule": "call queue_unschedule('due')",
    "queue_tick": "call queue_tick()",
    "queue_group": "call queue_group('crew', 'next', null, null)",
    "queue_semaphore": "call queue_semaphore('slots', 1)",
    "queue_read": "call queue_read('mail', 'reader', 10, null)",
    "queue_read_ack": "call queue_read_ack('reader', 0)",
    "queue_read_end": "call queue_read_end('reader')",
    "queue_now": "call queue_now(@now)",
    "queue_stage_begin": "call queue_stage_begin('job', null)",
    "queue_stage_publish": "call queue_stage_publish('[]', null)",
    "queue_stage_abort": "call queue_stage_abort('job')",
    "queue_stream_ready": "call queue_stream_ready('mail')",
    "queue_stream_reserve": "call queue_stream_reserve('stream', 0, 0, 'mail', 1, null)",
    "queue_stream_plan": "call queue_stream_plan('stream/0')",
    "queue_stream_renew": "call queue_stream_renew('stream', 0)",
    "queue_stream_extend": "call queue_stream_extend('stream/0', 60, null)",
    "queue_stream_forget": "call queue_stream_forget('stream/0')",
    "queue_stream_done": "call queue_stream_done('stream', 0)",
    "queue_stream_commit": "call queue_stream_commit('stream', 0, null)",
}
ALONE = {"queue_wait": "call queue_wait('\"mail\"', 0)"}
"""What can't be called inside of a transaction."""


class World(NamedTuple):
    """What `prepare` has made."""

    held: str
    """The receipt of a message of `mail`."""
    other: str
    """The receipt of another one."""

    def text(self, call: str) -> str:
        """Return the call with receipts of this world."""
        return call.format(held=self.held, other=self.other)


def call(connection: Connection[Any], routine: str, *arguments: object) -> list[tuple[Any, ...]]:
    """Call a routine with nothing of our client in between, and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(f"call {routine}({', '.join(['%s'] * len(arguments))})", arguments)
        found = list(cursor.fetchall())
        while cursor.nextset():
            pass
        return found


def push_keys(connection: Connection[Any], *keys: str, **options: Any) -> list[str]:
    """Push these keys to `mail`, and return the outcomes."""
    batch = json.dumps([{"key": key, "payload": 1} for key in keys])
    answers = call(connection, "queue_push_many", "mail", batch, json.dumps(options))
    return [outcome for _, outcome in answers]


def prepare(connection: Connection[Any]) -> World:
    """Make a world of messages in every state, out of whatever there was."""
    for (kind,) in run(connection, "select distinct q.p_kind from delayed_queue q"):
        run(connection, f"delete from delayed_queue where p_kind = '{kind}'")
    call(connection, "queue_resume", "mail")
    call(connection, "queue_define", "mail", '{"history_seconds": 1000, "timeout_seconds": 300}')
    call(connection, "queue_define", "shaped", '{"payload_shape": {"a": "number"}}')
    call(connection, "queue_push", "mail", "dead", "1", None)
    [dead] = call(connection, "queue_reserve", "mail", "w", 1, None)
    call(connection, "queue_nack", dead[RECEIPT], '{"final": true}')
    push_keys(connection, "1", "2")
    held, other = (row[RECEIPT] for row in call(connection, "queue_reserve", "mail", "w", 2, None))
    push_keys(connection, "a", "b")
    call(connection, "queue_push", "old", "o", "1", None)
    call(connection, "queue_pause", "still")
    call(connection, "queue_subscribe", "topic", "mail")
    call(connection, "queue_read", "mail", "reader", 1, None)
    call(connection, "queue_schedule", "due", "mail", "1", '{"every_seconds": 60}')
    run(connection, "update queue_recurring set next_at = 60000000 where name = 'due'")
    return World(held, other)


def everything(connection: Connection[Any]) -> dict[str, list[str]]:
    """Return all rows of all tables of the queue, as the connection sees them."""
    tables = ("delayed_queue", "queue_kind", "queue_history", "queue_dedup", "queue_count", "queue_inbox")
    tables += ("queue_worker", "queue_subscription", "queue_recurring")
    return {table: sorted(map(repr, run(connection, f"select * from {table}"))) for table in tables}


def now(connection: Connection[Any]) -> int:
    """Return the queue's time."""
    run(connection, "call queue_now(@now)")
    return run(connection, "select @now")[0][0]


def microseconds(moment: datetime) -> int:
    """Return a time as the queue's integer."""
    return (moment - EPOCH) // timedelta(microseconds=1)
