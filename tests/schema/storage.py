"""Sessions whose bounds a test writes itself (see _queue_take), as a slow scan would have left them.

The queue's clock stands still; the clock of the first three bounds is the real one.
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
LOOK, MARKS, ROTATE, TOOK, DUE, DUE_NEW, DUE_OLD, LANE, PLACE, SPAN, ROUND, HOLD = range(12)
"""The bounds before those of the lanes, counted from 0."""


class Session:
    """A session of the queue whose bounds a test can write.

    Args:
        conn: its connection, in autocommit.
        kind: the kind that it works on.
    """

    def __init__(self, conn: psycopg.Connection[Any], kind: str = "work") -> None:
        self.conn = conn
        self.kind = kind
        self.cursor: type[psycopg.Cursor[Any]] = psycopg.ClientCursor
        row = conn.execute("select _queue_bounds_name(%s)", [kind]).fetchone()
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
    def bounds(self) -> list[int]:
        """The bounds; none, or but a number of messages taken, is an empty list."""
        row = self.conn.execute("select current_setting(%s, true)", [self.setting]).fetchone()
        assert row is not None
        found = [int(one) for one in (row[0] or "{}").strip("{}").split(",") if one]
        return found if len(found) > 1 else []

    @bounds.setter
    def bounds(self, value: list[int]) -> None:
        self.write("{" + ",".join(map(str, value)) + "}")

    def slow(self, at: int, *ranks: int, mark: int | None = None) -> None:
        """Begin the regime: from now on only what lies behind a place is looked at.

        Args:
            at: the bounds of the timetable and of the lanes.
            ranks: the lanes: priorities, negated; none: one of priority 0.
            mark: where the marks are, if not 3 s before.
        """
        mark = at - 3 * SECOND if mark is None else mark
        now = self.real_now()
        lanes = [one for rank in ranks or (0,) for one in (rank, at, 0, mark, 0, mark, 0)]
        later, soon = now + LATER, now + ROTATION
        self.bounds = [later, later, soon, SLOW, at, mark, mark, 0, MOST, SECOND, 0, at, *lanes]

    def change(self, **values: int) -> None:
        """Change single bounds, by the names above in lower case; what is due for the marks is so for all."""
        bounds = self.bounds
        if "marks" in values:
            self.conn.execute("delete from queue_hint where p_kind = %s", [self.kind])
        for name, value in values.items():
            bounds[globals()[name.upper()]] = value
        self.bounds = bounds

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
        """Reserve so many times, each time when a look behind the bounds is due; return the keys in order."""
        found: list[str] = []
        for _ in range(calls):
            if self.bounds:
                # the round stays slow, or its end would bring a scan from the start
                self.change(look=0, took=SLOW, round=SLOW)
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
    """Return the receipt of a message that is held, and move the bounds and the marks past its place."""
    session.push("held")
    session.slow(clock.now)
    receipt = session.reserve(timeout_seconds=seconds)["held"]
    clock.advance(1)
    session.slow(clock.now, mark=clock.now)
    return receipt
