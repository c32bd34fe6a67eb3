"""Which routines a session of PostgreSQL calls."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

CALLS: LiteralString = "select funcname, sum(calls)::integer from pg_stat_xact_user_functions group by 1"


@contextmanager
def routines_called(conn: psycopg.Connection[Any]) -> Iterator[set[str]]:
    """Give a set that has the routines that were called within, once that is over: in one transaction.

    What the server writes into its caller, a routine in SQL, isn't called.
    """
    found: set[str] = set()
    with conn.transaction():
        conn.execute("set local track_functions = 'all'")
        before = dict(conn.execute(CALLS).fetchall())
        yield found
        found |= {name for name, count in conn.execute(CALLS) if count > before.get(name, 0)}
