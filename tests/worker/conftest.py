"""Workers on every server, with a database for each test alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.fixtures import connect, harness, packets, queue
from tests.worker.helpers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Harness

__all__ = ["connect", "harness", "packets", "queue"]


@pytest.fixture
def workers(harness: Harness) -> Iterator[Workers]:
    """Starts workers, which are stopped at the end of the test."""
    workers = Workers(harness.url)
    try:
        yield workers
    finally:
        workers.stop()
