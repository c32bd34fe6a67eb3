"""The fixtures of the scenarios, for this folder and for tests/concurrency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tests.conformance.harness import Harness, Session

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock(Protocol):
    """The database's time, which stands still until a scenario moves it; tests/conftest.py has it."""

    @property
    def now(self) -> int: ...

    def set(self, us: int) -> None: ...

    def advance(self, seconds: float) -> None: ...

    def nothing_takes_time(self) -> None: ...


class Connect(Protocol):
    """Opens another session."""

    def __call__(self, autocommit: bool = True) -> Session: ...


@pytest.fixture
def harness(database_url: str) -> Iterator[Harness]:
    """The server under test, with a database for this test alone."""
    harness = Harness(database_url)
    try:
        yield harness
    finally:
        harness.close()


@pytest.fixture
def connect(harness: Harness) -> Connect:
    """Open another session, closed at the end of the test."""
    return harness.connect


@pytest.fixture
def queue(harness: Harness) -> Session:
    """A session in which each call is a transaction of its own."""
    return harness.connect()
