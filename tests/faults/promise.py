"""What a row of the table is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.concurrency.crew import Outcome
from tests.faults.restarts import NAMES, Restartable


@dataclass(frozen=True)
class Size:
    """How much of it."""

    faults: int
    messages: int = 0


Run: TypeAlias = Callable[[Restartable, str, Path, Size, int], Outcome]
"""What puts a promise to the test: a server, the URL of a database of it, a folder for the histories,
how much, and the seed of all that is drawn."""


@dataclass(frozen=True)
class Promise:
    """A promise, and what puts it to the test."""

    name: str
    text: str
    run: Run
    least: Size
    """What CI has time for."""
    short: Size
    long: Size
    servers: tuple[str, ...] = NAMES
    meets: bool = True
    """Whether what befalls the callers leaves some of them without an answer."""
    beside: bool = False
    """Whether it takes long and leaves room for others, which are tried meanwhile, on another server."""
