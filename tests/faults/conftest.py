"""A server of our own on each of the three, for tests that end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.restarts import restartable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.restarts import Restartable


@pytest.fixture
def restarted(server_name: str) -> Iterator[Restartable]:
    """A server that may be ended and started again."""
    with restartable(server_name) as server:
        yield server
