"""Interrupts that wait for the end of a call.

In the middle of one an interrupt would cost PyMySQL its connection, with which everything is cleaned up, and
the server would go on with the call.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from pyqueue_sql import Queue
from pyqueue_sql.calls.call import Call

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupts:
    """The handler of the signals."""

    def __init__(self) -> None:
        self._waiting = False
        self._came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Raise KeyboardInterrupt, or take note of it for the end of the call."""
        if self._waiting:
            self._came = True
        else:
            raise KeyboardInterrupt

    @contextmanager
    def later(self) -> Generator[None]:
        """Let an interrupt wait until the end of this block, and of the one around it."""
        if self._waiting:
            yield
            return
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False
            if self._came:
                self._came = False
                raise KeyboardInterrupt


_interrupts = _Interrupts()
later = _interrupts.later


@contextmanager
def terminating() -> Generator[None]:
    """Let the signals that end a process raise KeyboardInterrupt, so that all is cleaned up."""
    before = {number: signal.signal(number, _interrupts) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class WholeCalls(Queue[Any]):
    """A queue whose calls an interrupt waits for."""

    def _run(self, what: Call[T]) -> T:
        with later():
            return super()._run(what)
