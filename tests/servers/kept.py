"""Sessions that go on from one test to the next: a new one has to compile each routine that it calls anew."""

from __future__ import annotations

import contextlib
from typing import Any

AT_ONCE = 3
"""How many are kept of a database: most tests have no more, with that of the clock."""

_kept: dict[str, list[tuple[int, Any]]] = {}


def keep(url: str, number: int, connection: Any) -> bool:
    """Keep a connection that is as a new one would be.

    Args:
        url: of its database.
        number: what the server calls the session.
        connection: it.

    Returns:
        Whether it is kept; where not, the caller closes it.
    """
    kept = _kept.setdefault(url, [])
    if len(kept) == AT_ONCE:
        return False
    kept.append((number, connection))
    return True


def take(url: str) -> Any | None:
    """Return a kept connection of a database, from now on its caller's; None: there is none."""
    kept = _kept.get(url)
    return kept.pop()[1] if kept else None


def numbers(url: str) -> list[int]:
    """Return what the server calls the sessions that are kept of a database."""
    return [number for number, _ in _kept.get(url, [])]


def leave(url: str) -> None:
    """Close all of a database that are kept."""
    for _, connection in _kept.pop(url, []):
        with contextlib.suppress(Exception):  # the server has ended it
            connection.close()
