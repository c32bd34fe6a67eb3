"""What the tests of the storage share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pyqueue_sql.testing.clock_postgresql import Clock
from tests.schema.catalogs import connect
from tests.schema.storage import Session

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    name = f"{conninfo_to_dict(database_url)['dbname']}_empty"
    with connect(database_url) as connection:
        connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
    yield database_url.rpartition("/")[0] + "/" + name
    with connect(database_url) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
