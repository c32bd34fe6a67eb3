"""Breaks things under load and says whether the promises held: python -m tests.faults --help."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.faults.promises import ELSEWHERE, PROMISES
from tests.faults.restarts import NAMES
from tests.faults.table import ROW, Given, end_at_sigterm, try_all


def main() -> int:
    """Try the promises, on all servers at once, print a line for each, and return the exit status."""
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
    much.add_argument(
        "--short",
        dest="size",
        action="store_const",
        const="least",
        default="short",
        help="as few faults as CI has time for",
    )
    much.add_argument(
        "--long",
        dest="size",
        action="store_const",
        const="long",
        help="as many faults as a night has room for",
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of all that is drawn")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the histories go")
    asked = parser.parse_args()
    given = Given(
        asked.only or list(PROMISES),
        asked.size,
        asked.seed,
        asked.keep or Path(tempfile.mkdtemp(prefix="pyqueue-faults-")),
        bool(asked.server),
    )
    end_at_sigterm()
    print(
        ROW.format("promise", "server", "faults", "checked", "unknown", "violations", "seconds", "history"),
        flush=True,
    )
    context = multiprocessing.get_context("spawn")
    running = [
        context.Process(target=try_all, args=(name, replace(given, promises=promises)))
        for name in asked.server or NAMES
        for promises in (
            [one for one in given.promises if PROMISES[one].beside == beside] for beside in (False, True)
        )
        if promises
    ]
    try:
        for one in running:
            one.start()
        for one in running:
            one.join()
    finally:
        for one in running:
            one.terminate()
    for text, tests in ELSEWHERE:
        print(f"{text}: PYQUEUE_TEST_LONG=1 .venv/bin/python -m pytest {tests}")
    print("the tests can fail: make mutants")
    print(f"again: python -m tests.faults --seed {given.seed}")
    return int(any(one.exitcode for one in running))


if __name__ == "__main__":
    sys.exit(main())
