"""What is to go before others on a busy machine."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FAVOUR = 5
"""By how much the nice value is less."""


@contextlib.contextmanager
def favoured() -> Iterator[None]:
    """Let what is started here go before others, where that is allowed: Spark gives a Python that it starts
    ten seconds to answer, whatever else the machine does."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, usual - FAVOUR)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, usual)
