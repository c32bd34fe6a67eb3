"""How much of what could be tried a run of the tests tries; with PYQUEUE_TEST_LARGE=1 all, in some hours."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

LARGE = os.environ.get("PYQUEUE_TEST_LARGE") == "1"
ONE_IN = 3


def sample(items: Iterable[T], *names: str) -> list[T]:
    """Return every third of many combinations, or all of them where `LARGE`.

    Args:
        items: the combinations, in an order that doesn't change.
        names: of the test's other parameters: they say which third it is, the same in each run.
    """
    found = list(items)
    return found if LARGE else found[crc32(" ".join(names).encode()) % ONE_IN :: ONE_IN]
