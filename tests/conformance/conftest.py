"""Scenarios that every server has to pass, named after the rows of the mission that they prove."""

from __future__ import annotations

import pytest

from tests.conformance.fixtures import connect, harness, queue
from tests.conformance.harness import Harness

__all__ = ["connect", "harness", "queue"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, by name of the capability, what the server can't do."""
    left_out = [item for item in items if lacks(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not lacks(item)]


def lacks(item: pytest.Item) -> bool:
    """Whether the test is marked `needs(capability)` for one that the server doesn't have."""
    needed = {name for marker in item.iter_markers("needs") for name in marker.args}
    return not needed <= Harness.capabilities


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", "needs(capability): runs where the harness has it")
