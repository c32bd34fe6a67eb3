"""Real time, several sessions: races, and a long run with crashes whose history is checked."""

import pytest

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.sample import seed

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]


@pytest.fixture(autouse=True)
def chance(request: pytest.FixtureRequest) -> None:
    """Say, for where it fails, how the same chance comes again."""
    seed(request.node.name)
