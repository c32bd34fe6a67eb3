"""A run of steps by a seed; where it fails, the fewest of its steps that fail too, and their calls."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING, Any

from tests.model.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyqueue_sql import Queue
    from tests.conformance.fixtures import Clock
    from tests.model.pairs import Pairs


class Recorder:
    """A queue that writes down its calls and their answers."""

    def __init__(self, queue: Queue) -> None:
        self._queue, self.calls = queue, list[str]()

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if name in ("peek", "get", "stats", "history"):
                return getattr(self._queue, name)(*arguments, **options)
            said = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in options.items())]
            self.calls.append(f"queue.{name}({', '.join(said)})")
            answer = getattr(self._queue, name)(*arguments, **options)
            self.calls.append(f"    # {answer!r:.300}")
            return answer

        return call


def take_steps(queue: Queue, clock: Clock, pairs: Pairs, seed: str, steps: Sequence[int]) -> list[str] | None:
    """Take some steps of a seed; returns None, or why they failed."""
    recorder = Recorder(queue)
    machine = Machine(recorder, clock, pairs)  # pyright: ignore[reportArgumentType]
    try:
        machine.begin(seed)
        for step in steps:
            recorder.calls.append(f"# step {step}, {machine.model.now}")
            machine.step(f"{seed}.{step}")
        machine.everything()
    except Exception:  # whatever the server or the model says
        return [*recorder.calls, traceback.format_exc()]
    finally:
        machine.end()
    return None


def shortened(
    queue: Queue, clock: Clock, pairs: Pairs, seed: str, steps: Sequence[int], why: list[str]
) -> list[str]:
    """Leave out steps as long as it still fails, for a minute; returns the calls of those that are left."""
    left, size, end = list(steps), len(steps) // 2, time.monotonic() + 60
    while size:
        for first in range(len(left) - size, -1, -size):
            if time.monotonic() > end:
                return why
            fewer = left[:first] + left[first + size :]
            if failed := take_steps(queue, clock, pairs, seed, fewer):
                left, why = fewer, failed
        size //= 2
    return why
