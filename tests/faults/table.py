"""The rows of the table of one server, in a process of its own."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.promise import Promise
from tests.faults.promises import PROMISES, keep
from tests.faults.restarts import Restartable, restartable
from tests.servers.memory import in_memory
from tests.servers.starting import UnavailableError

ROW = "{:<46} {:<10} {:>7} {:>9} {:>8} {:>10} {:>7}  {}"


@dataclass(frozen=True)
class Given:
    """What was asked for."""

    promises: list[str]
    size: str
    """least, short or long, as a promise has them."""
    seed: int
    folder: Path
    required: bool
    """Whether a server that isn't there is an error."""


def end_at_sigterm() -> None:
    """Leave by the way of an exception: what is mounted doesn't stay, and no server."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def try_all(name: str, given: Given) -> None:
    """Try the promises on a server, print a row each, and exit with the status.

    Args:
        name: of the server.
        given: what was asked for.
    """
    end_at_sigterm()
    failed = False
    try:
        with in_memory(), restartable(name) as server:
            for promise in (PROMISES[one] for one in given.promises):
                if name in promise.servers:
                    failed |= not _try(server, name, promise, given)
    except UnavailableError as error:
        print(f"{name}: LEFT OUT, {error}", flush=True)
        failed |= given.required
    sys.exit(failed)


def _try(server: Restartable, name: str, promise: Promise, given: Given) -> bool:
    began = time.monotonic()
    history = given.folder / name / promise.name.replace(" ", "_")
    history.mkdir(parents=True, exist_ok=True)
    try:
        found = keep(promise, server, history, getattr(promise, given.size), given.seed)
    except UnavailableError as error:
        print(f"{promise.text}: {name}: LEFT OUT, {error}", flush=True)
        return True
    seconds = time.monotonic() - began
    row = (promise.text, name, found.faults, found.calls, found.unanswered, len(found.violations))
    lines = [ROW.format(*row, f"{seconds:.0f}", history), *(f"    {note}" for note in found.notes)]
    lines += [f"    VIOLATION: {one}" for one in found.violations[:20]]
    sys.stdout.write("\n".join(lines) + "\n")  # at once: other servers write, too
    sys.stdout.flush()
    return not found.violations
