"""What the tests of the storage share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pyqueue_sql.schema import frozen
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema import next_release
from tests.schema.catalogs import empty_database
from tests.schema.storage import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def session(conn: psycopg.Connection[Any], clock: Clock) -> Session:
    """A session that has called once, with the clock standing still."""
    session = Session(conn)
    session.reserve()
    assert clock.now
    return session


@pytest.fixture
def empty_url(database_url: str) -> Iterator[str]:
    """A database without the queue."""
    with empty_database(database_url, f"{conninfo_to_dict(database_url)['dbname']}_empty") as url:
        yield url


@pytest.fixture
def released(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of migrations once there is a release after this one, which everything then runs."""
    # what other tests get a copy of is of this release
    if "database_url" in request.fixturenames:
        assert request.getfixturevalue("databases_postgresql").template
    elif "databases" in request.fixturenames:
        for clocked in (False, True):
            request.getfixturevalue("databases").clean(clocked)
    made = next_release.make(tmp_path)
    monkeypatch.setattr(frozen, "MIGRATIONS", made)
    return made
