"""How much of what could be tried a run of the tests tries; with PYQUEUE_TEST_LARGE=1 all, in some hours."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

LARGE = os.environ.get("PYQUEUE_TEST_LARGE") == "1"
ONE_IN = 3


def sample(items: Iterable[T], name: str) -> list[T]:
    """Return every third of many combinations, or all of them where `LARGE`.

    Args:
        items: the combinations, in an order that doesn't change.
        name: of the test, with its parameters: it says which third, the same in each run.
    """
    found = list(items)
    return found if LARGE else found[crc32(name.encode()) % ONE_IN :: ONE_IN]
