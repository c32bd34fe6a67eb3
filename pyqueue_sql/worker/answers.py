"""What a handler says of its message where it is neither done nor failed: returned, or raised from deep
inside."""

# ruff: noqa: N818 -- they are answers, not errors
from __future__ import annotations

from typing import Any, Unpack

from pyqueue_sql.calls.options import MoveOptions


class Answer(Exception):
    """An answer of a handler."""


class Retry(Answer):
    """The attempt failed: try again later.

    Args:
        error: why; kept with the message.
        delay_seconds: when; None: by the backoff of the kind.
    """

    def __init__(self, error: str | None = None, *, delay_seconds: float | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.delay_seconds = delay_seconds


class Reject(Answer):
    """No other attempt will do: to the dead letters, at once.

    Args:
        reason: why; kept with the message.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Snooze(Answer):
    """Not now: deliver it again later, as if it hadn't been delivered.

    Args:
        delay_seconds: how much later.

    Raises:
        TypeError: it is None, which the queue would take for at once, again and again.
    """

    def __init__(self, delay_seconds: float) -> None:
        if delay_seconds is None:  # pyright: ignore[reportUnnecessaryComparison] -- as of a setting without one
            raise TypeError("delay_seconds of a Snooze is None: a number of seconds is wanted; 0: at once")
        super().__init__(delay_seconds)
        self.delay_seconds = delay_seconds


class Move(Answer):
    """This step is done: on to the next kind, atomically.

    Args:
        to_kind: where it goes.
        **options: see `MoveOptions`.

    Raises:
        TypeError: it isn't a string, which could be made the name of a kind that nobody reads.
    """

    def __init__(self, to_kind: str, **options: Unpack[MoveOptions]) -> None:
        if not isinstance(to_kind, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- as of a lookup
            raise TypeError(f"to_kind of a Move is {to_kind!r}: the name of a kind is wanted")
        super().__init__(to_kind)
        self.to_kind = to_kind
        self.options: dict[str, Any] = {**options}
