"""Sessions whose cursor a test writes itself (see queue_cursor), as a slow scan would have left it.

The queue's clock stands still; start_at, marks_at and turn_at are of the real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pyqueue_sql.testing.clock_postgresql import Clock

SECOND = 1_000_000
SLOW = 6_000
"""What the last scan from the start took, in microseconds: from 5000 on there is no other."""
LATER = 300 * SECOND
ROTATION = 3_900_000
"""Marks that would move on later than that are those of a clock that was set back."""
MOST = 2**63 - 1


class Session:
    """A session of the queue whose cursor a test can write.

    Args:
        conn: its connection, in autocommit.
        kind: the kind that it works on.
    """

    def __init__(self, conn: psycopg.Connection[Any], kind: str = "work") -> None:
        self.conn = conn
        self.kind = kind
        self.cursor: type[psycopg.Cursor[Any]] = psycopg.ClientCursor
        row = conn.execute("select _queue_setting('cursor ' || %s)", [kind]).fetchone()
        assert row is not None
        self.setting: str = row[0]

    def real_now(self) -> int:
        """The real clock, in microseconds since 1970."""
        row = self.conn.execute("select (extract(epoch from clock_timestamp()) * 1000000)::bigint").fetchone()
        assert row is not None
        return row[0]

    def write(self, text: str) -> None:
        """Write the setting as it stands."""
        self.conn.execute("select set_config(%s, %s, false)", [self.setting, text])

    @property
    def kept(self) -> dict[str, Any]:
        """The columns of its cursor; none where it has none, or has but counted messages taken."""
        row = self.conn.execute(
            "select to_jsonb(nullif(current_setting(%s, true), '')::queue_cursor)", [self.setting]
        ).fetchone()
        assert row is not None
        return row[0] if row[0] and row[0]["ranks"] is not None else {}

    @kept.setter
    def kept(self, columns: dict[str, Any]) -> None:
        self.conn.execute(
            "select set_config(%s, jsonb_populate_record(null::queue_cursor, %s)::text, false)",
            [self.setting, Jsonb(columns)],
        )

    def slow(self, at: int, *ranks: int, mark: int | None = None) -> None:
        """Begin the regime: from now on only what lies behind a place is looked at.

        Args:
            at: where the timetable and the lanes begin.
            ranks: the lanes: priorities, negated; none: one of priority 0.
            mark: where the marks are, if not 3 s before.
        """
        mark = at - 3 * SECOND if mark is None else mark
        ranks = ranks or (0,)
        now = self.real_now()
        self.kept = {
            "p_kind": self.kind,
            "slow_taken": 64,
            "start_at": now + LATER,
            "marks_at": now + LATER,
            "turn_at": now + ROTATION,
            "took": SLOW,
            "due": at,
            "due_newer": mark,
            "due_older": mark,
            "back_lane": 0,
            "back_place": MOST,
            "back_span": SECOND,
            "back_took": 0,
            "hold_from": at,
            "ranks": ranks,
            "places": [at] * len(ranks),
            "entries": [0] * len(ranks),
            "newer_places": [mark] * len(ranks),
            "newer_entries": [0] * len(ranks),
            "older_places": [mark] * len(ranks),
            "older_entries": [0] * len(ranks),
        }

    def change(self, **values: int) -> None:
        """Change single columns of the cursor; where the marks are due, they are so for all."""
        if "marks_at" in values:
            self.conn.execute("delete from queue_cursor where p_kind = %s", [self.kind])
        self.kept = self.kept | values

    def share(self) -> None:
        """Leave the cursor for sessions that have none."""
        self.conn.execute(
            "insert into queue_cursor overriding user value"
            " select (jsonb_populate_record(null::queue_cursor, %s)).*",
            [Jsonb(self.kept)],
        )

    def push(self, key: str, **options: Any) -> None:
        self.conn.execute("select queue_push(%s, %s, '1', %s)", [self.kind, key, Jsonb(options)])

    def reserve(self, number: int = 1, **options: Any) -> dict[str, str]:
        """Return the receipts of what is taken, by key."""
        with self.cursor(self.conn) as cursor:
            rows = cursor.execute(
                "select p_key, receipt from queue_reserve(%s, 'w', %s, %s)",
                [self.kind, number, Jsonb(options)],
            ).fetchall()
        assert len({key for key, _ in rows}) == len(rows)
        return dict(rows)

    def look_back(self, calls: int, number: int = 1) -> list[str]:
        """Reserve so many times, each time when a look behind the cursor is due; return the keys in order."""
        found: list[str] = []
        for _ in range(calls):
            if self.kept:
                # the round stays slow, or its end would bring a scan from the start
                self.change(start_at=0, took=SLOW, back_took=SLOW)
            found += self.reserve(number)
        return found


@contextmanager
def another(session: Session, url: str, *, autocommit: bool = True) -> Iterator[Session]:
    """Open one more session."""
    with psycopg.connect(url, autocommit=autocommit) as conn:
        yield Session(conn, session.kind)


def place(session: Session, key: str) -> tuple[int | None, int | None]:
    """Return where a message stands in the line and in the timetable."""
    row = session.conn.execute(
        "select ready_at, due_at from delayed_queue where p_key = %s", [key]
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def hold(session: Session, clock: Clock, seconds: int) -> str:
    """Return the receipt of a message that is held, and move the cursor and its marks past its place."""
    session.push("held")
    session.slow(clock.now)
    receipt = session.reserve(timeout_seconds=seconds)["held"]
    clock.advance(1)
    session.slow(clock.now, mark=clock.now)
    return receipt
