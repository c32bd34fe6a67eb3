"""How much of what could be tried a run of the tests tries; with PYQUEUE_TEST_LARGE=1 all, with new seeds."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar
from zlib import crc32

import pytest

T = TypeVar("T")

LARGE = os.environ.get("PYQUEUE_TEST_LARGE") == "1"
WITH_LONG = LARGE or os.environ.get("PYQUEUE_TEST_LONG") == "1"
"""Whether what takes long is tried at all."""
QUICK = [pytest.mark.long, pytest.mark.core("postgresql")]
"""Marks of what is long and has a small form: that is tried on PostgreSQL always."""
ONE_IN = 12
TIMES = 10 if LARGE else 1
"""How many times as much of what is left to chance."""
SEED = int(os.environ.get("PYQUEUE_TEST_SEED", random.randrange(1, 10**9) if LARGE else 0))
"""What all chance in the tests starts from: a fixed one, or where `LARGE` a new one."""


os.environ["PYQUEUE_TEST_SEED"] = str(SEED)  # for the processes that tests start


def size(small: int, large: int) -> int:
    """Return how much a test does: `large` where what takes long is tried, ten times that where `LARGE`."""
    return large * TIMES if WITH_LONG else small


def whole(server_name: str) -> bool:
    """Return whether all combinations of something are tried where what takes long is.

    On MySQL only where `LARGE`, for its routines are those of MariaDB.
    """
    return LARGE or (WITH_LONG and server_name != "mysql")


def seed(name: str) -> int:
    """Return what a test's own chance starts from, and print the command that repeats it, for where it fails.

    Args:
        name: of the test, with its parameters.
    """
    test = name.partition("[")[0]
    print(f"again: PYQUEUE_TEST_LARGE={LARGE:d} PYQUEUE_TEST_SEED={SEED} make test TEST_ARGS='-k {test}'")
    return crc32(f"{SEED} {name}".encode())


def chance_of(what: object) -> random.Random:
    """Return the chance of a part of a test: the same for the same seed of the run."""
    return random.Random(f"{SEED} {what}")


def sample(items: Iterable[T], name: str, whole: bool = LARGE) -> list[T]:
    """Return every twelfth of many combinations, or all of them.

    Args:
        items: the combinations, in an order that doesn't change.
        name: of the test, with its parameters: it says which twelfth, the same in each run.
        whole: whether it is to be all of them.
    """
    found = list(items)
    return found if whole else found[crc32(name.encode()) % ONE_IN :: ONE_IN]
