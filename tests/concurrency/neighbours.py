"""Three neighbours, a before b and c behind it in every index, and whose rows a session can lock.

The neighbours a and c have something of everything. What b has differs from world to world, and is older.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tests.conformance.steps import receipts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conformance.harness import Session

There: TypeAlias = Literal["nothing", "some", "all taken", "locked"]
"""What b has; the last is that another transaction has it."""
Rows: TypeAlias = "Mapping[str, set[tuple[Any, ...]]]"
"""Keys of rows, by the table and the index in which they were seen."""

YEAR = 31_536_000
OLDER_US = 2 * YEAR * 1_000_000
SEMAPHORES = {"free": 3, "full": 1, "early": 2}
"""With their capacity. Of the last nothing is taken, so that its permits are promises."""
KINDS = ["plain", "limited", "rated", "brief", "dead", "then", *SEMAPHORES]
NAMED = {
    "p_kind", "p_key", "order_key", "name", "group_name", "worker", "reader", "pattern", "job", "source",
    "query",
}  # fmt: skip
"""Columns that say whose a row is."""
SINCE = {
    "queue_history": "finished_at",
    "queue_dedup": "ended_at",
    "queue_log": "created_at",
    "queue_use": "used_at",
    "queue_stage_part": "begun_at",
    "queue_stage_done": "done_at",
    "queue_stream_plan": "begun_at",
    "queue_stream_part": "begun_at",
    "queue_stream_kept": "kept_at",
    "queue_write": "written_at",
    "queue_worker": "heartbeat_at",
    "queue_recurring": "next_at",
    "queue_group": "forget_at",
}
"""The column by which something is old, or due."""
LEFT_OUT = {
    # whose rows nobody changes: who adds them up leaves what another has locked
    "queue_count PRIMARY",
    # in which a push looks for a duplicate: where its key has just ended InnoDB locks the one behind it as
    # well (docs/adr/0003-mariadb-and-mysql.md); whatever else locks an entry locks the row, too
    "delayed_queue delayed_queue_key",
}
"""Indexes at which nobody looks."""


@dataclass
class Found:
    """What the calls of b need."""

    held: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Receipts, by what they are of."""
    part: int = 0
    """Of the stage, with a message."""


def build(queue: Session, there: There) -> Found:
    """Make all of it."""
    found = Found()
    has = "ac" if there == "nothing" else "abc"
    for one in "abc":
        settle(queue, one)
    for one in has:
        past(queue, one, found)
    for number in range(4):
        for one in has:
            push(queue, one, number)
    for one in has:
        for kind in ("plain", "limited", "rated", "full", "free", "then"):
            name = f"{kind}.{one}"
            for _ in range(4 if one == "b" and there == "all taken" else 1):
                held = queue.reserve(name, one, timeout_seconds=YEAR)
                found.held.setdefault(name, []).extend(receipts(held))
    for message in queue.reserve("shared", None, 50):
        kind, _, key = message.key.partition(".")
        found.held.setdefault(f"{kind}.{key[0]}", []).extend(receipts([message]))
    make_older(queue)
    return found


def settle(queue: Session, one: str) -> None:
    """Define the kinds and what they use."""
    seconds = 60 if one == "b" else YEAR
    queue.define(
        f"plain.{one}",
        dead_letter_kind=f"dead.{one}",
        history_seconds=seconds,
        dedup_seconds=seconds,
        log_seconds=seconds,
        filter_index=True,
    )
    queue.define(f"limited.{one}", max_reserved=2, rate_per_second=2)
    queue.define(f"rated.{one}", rate_per_second=2)
    queue.define(f"brief.{one}", expires_seconds=seconds)
    for name, capacity in SEMAPHORES.items():
        queue.semaphore(f"{name}.{one}", capacity)
    queue.group(one, f"then.{one}", {})
    queue.subscribe(f"topic.{one}", f"brief.{one}")


def past(queue: Session, one: str, found: Found) -> None:
    """Have something end, be staged and be read in batches, and whatever is there once."""
    for number in (8, 9):
        queue.push(f"plain.{one}", f"{one}{number}", {"n": 1})
    queue.pop(f"plain.{one}", 5)
    for step in ("done", "open"):
        options = json.dumps({"query": f"{step}.{one}", "batch": 1, "run": "r"})
        (answer,) = queue.answer("queue_stage_begin", f"{step}.{one}", options)
        part = int(str(answer["part"]))
        row = {"part": part, "p_kind": f"brief.{one}", "p_key": f"{one}7", "payload": "1"}
        queue.land([row], "queue_stage")
        if step == "done":
            queue.answer("queue_stage_publish", json.dumps([{"part": part, "messages": 1}]), options)
        elif one == "b":
            found.part = part
    for batch in ("1", "2"):
        options = json.dumps({"source": f"{batch}.{one}"})
        queue.push(f"brief.{one}", f"{one}{batch}", 0)
        queue.answer("queue_stream_plan", f"{batch}.{one}")
        queue.answer("queue_stream_reserve", one, batch, "0", f"brief.{one}", "1", options)
    queue.answer("queue_stream_commit", one, "1", json.dumps({"keep": True}))
    queue.read(f"plain.{one}", one)
    queue.schedule(one, f"plain.{one}", every_seconds=YEAR)
    queue.heartbeat(one, timeout_seconds=86_400, kinds=[f"plain.{one}"])
    queue.group(f"old.{one}", f"then.{one}", {}, close=True)
    for text in (
        # of the future, so that nobody takes it over
        "insert into queue_cursor (id, p_kind, fields)"
        " values (uuid_short(), 'plain.{0}', '{{\"lanes\": [{{\"place\": 9000000000000000000}}]}}')",
        "insert into queue_log_gone (p_kind, name, event, position)"
        " values ('plain.{0}', 'topic.{0}', 'acked', 1)",
    ):
        queue.execute(text.format(one))


def push(queue: Session, one: str, number: int) -> None:
    """Push a message of each sort."""
    key = f"{one}{number}"
    queue.push(f"plain.{one}", key, {"n": 1}, priority=number % 2)
    queue.push(f"plain.{one}", f"{one}1{number}", {"n": 1}, delay_seconds=100 + number)
    for kind in ("limited", "rated", "then"):
        queue.push(f"{kind}.{one}", key, 0)
    for name in SEMAPHORES:
        queue.push(f"{name}.{one}", key, 0, semaphores=[f"{name}.{one}"])
    queue.push("shared", f"order.{key}", 0, order_key=one)
    queue.push("shared", f"group.{key}", 0, group=one)
    queue.push("shared", f"full.{key}", 0, semaphores=[f"full.{one}"])
    if number == 0:
        queue.push(f"dead.{one}", key, 0)


def make_older(queue: Session) -> None:
    """Make what b has older: what has ended or was staged, what waits for its time, promises and a hold."""
    for table, column in SINCE.items():
        whose = " or ".join(f"{name} in ('b', 'old.b')" for name in sorted(columns(queue, table) & NAMED))
        whose += "".join(f" or {name} like '%%.b'" for name in sorted(columns(queue, table) & NAMED))
        queue.execute(f"update {table} set {column} = {column} - %s where {whose}", [OLDER_US])
    for text in (
        "update delayed_queue set due_at = due_at - {0}, scheduled_at = scheduled_at - {0}"
        " where p_key = 'b10'",
        "update delayed_queue set created_at = created_at - {0}, reserved_at = reserved_at - {0},"
        " scheduled_at = scheduled_at - {0} where p_kind = 'brief.b'",
        "update queue_semaphore_permit set until = until + {0} where until < 0 and name like '%%.b'",
    ):
        queue.execute(text.format(OLDER_US))


def columns(session: Session, table: str) -> set[str]:
    """The names of the columns of a table."""
    found = session.execute(
        "select column_name from information_schema.columns"
        " where table_schema = database() and table_name = %s",
        [table],
    )
    return {name for (name,) in found}


class Look:
    """Which rows a session can lock, in each index of each table.

    Args:
        observer: a session that isn't in autocommit.
        whose: letters.
    """

    def __init__(self, observer: Session, whose: str = "ac") -> None:
        self._observer = observer
        self._whose = re.compile(rf"(^|\.)[{whose}]\d*$")
        self._queries: dict[str, str] = {}
        found = observer.execute(
            "select table_name, index_name, group_concat(column_name order by seq_in_index)"
            " from information_schema.statistics where table_schema = database()"
            " group by table_name, index_name order by table_name, index_name"
        )
        self._keys = {table: of.split(",") for table, index, of in found if index == "PRIMARY"}
        for table, index, of in found:
            key = self._keys.get(table, [])
            named = sorted(columns(observer, table) & NAMED - set(key))
            where = f"{table} {index}"
            if ("entry" in key or NAMED & {*key, *named}) and where not in LEFT_OUT:
                self._queries[where] = (
                    f"select {', '.join([*key, *named])} from {table} force index (`{index}`)"
                    f" order by {of} for update skip locked"
                )
        self._entries: set[object] = set()
        self._entries = {entry for (entry,) in self.rows()["delayed_queue PRIMARY"]}

    def rows(self) -> Rows:
        """Return those that it can lock."""
        found: dict[str, set[tuple[Any, ...]]] = {}
        for where, text in self._queries.items():
            width = len(self._keys[where.partition(" ")[0]])
            found[where] = {
                row[:width]
                for row in self._observer.execute(text)
                if row[0] in self._entries
                or any(self._whose.search(value) for value in row if isinstance(value, str))
            }
            self._observer.rollback()
        return found

    def lock(self, holder: Session) -> None:
        """Have another session lock them all."""
        for where, rows in self.rows().items():
            table, _, index = where.partition(" ")
            if rows and index == "PRIMARY":
                key = self._keys[table]
                one = f"({', '.join(['%s'] * len(key))})"
                holder.execute(
                    f"select 1 from {table} force index (primary)"
                    f" where ({', '.join(key)}) in ({', '.join([one] * len(rows))}) for update",
                    [value for row in rows for value in row],
                )
