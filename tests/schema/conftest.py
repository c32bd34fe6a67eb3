"""What the tests of the storage share."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.conftest import Clock
from tests.schema.storage import Session


@pytest.fixture
def session(conn: psycopg.Connection[Any], clock: Clock) -> Session:
    """A session that has called once, with the clock standing still."""
    session = Session(conn)
    session.reserve()
    assert clock.now
    return session
