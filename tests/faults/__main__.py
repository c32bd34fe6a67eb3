"""Breaks things under load and says whether the promises held: python -m tests.faults --help."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.promise import Promise, Size
from tests.faults.promises import ELSEWHERE, PROMISES, keep
from tests.faults.restarts import NAMES, Restartable, restartable
from tests.servers.memory import in_memory
from tests.servers.starting import UnavailableError

ROW = "{:<46} {:<10} {:>7} {:>9} {:>8} {:>10} {:>7}  {}"


def main() -> int:
    """Try the promises, print a line for each and server, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description="Break things under load, and check by the histories of all clients what was promised.",
    )
    parser.add_argument(
        "--server", choices=NAMES, action="append", help="instead of all three; may be given again"
    )
    parser.add_argument(
        "--only", choices=PROMISES, action="append", help="instead of all; may be given again"
    )
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--short", action="store_true", help="as few faults as CI has time for")
    much.add_argument("--long", action="store_true", help="as many faults as a night has room for")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of all that is drawn")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the histories go")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what is mounted doesn't stay
    folder = given.keep or Path(tempfile.mkdtemp(prefix="pyqueue-faults-"))
    print(ROW.format("promise", "server", "faults", "checked", "unknown", "violations", "seconds", "history"))
    failed = False
    for name in given.server or NAMES:
        try:
            with in_memory(), restartable(name) as server:
                for promise in (PROMISES[one] for one in given.only or PROMISES):
                    size = promise.long if given.long else promise.least if given.short else promise.short
                    if name in promise.servers:
                        failed |= not _try(server, name, promise, size, given.seed, folder)
        except UnavailableError as error:
            print(f"{name}: LEFT OUT, {error}")
            failed |= name in (given.server or ())
    for text, tests in ELSEWHERE:
        print(f"{text}: PYQUEUE_TEST_LONG=1 .venv/bin/python -m pytest {tests}")
    print("the tests can fail: make mutants")
    print(f"again: python -m tests.faults --seed {given.seed}")
    return 1 if failed else 0


def _try(server: Restartable, name: str, promise: Promise, size: Size, seed: int, folder: Path) -> bool:
    began = time.monotonic()
    history = folder / name / promise.name.replace(" ", "_")
    history.mkdir(parents=True, exist_ok=True)
    try:
        found = keep(promise, server, history, size, seed)
    except UnavailableError as error:
        print(f"{promise.text}: {name}: LEFT OUT, {error}", flush=True)
        return True
    seconds = time.monotonic() - began
    row = (promise.text, name, found.faults, found.calls, found.unanswered, len(found.violations))
    print(ROW.format(*row, f"{seconds:.0f}", history), flush=True)
    for line in (*found.notes, *(f"VIOLATION: {one}" for one in found.violations[:20])):
        print(f"    {line}", flush=True)
    return not found.violations


if __name__ == "__main__":
    sys.exit(main())
