"""Fixtures for pytest. In the conftest.py of the tests: `pytest_plugins = ["pyqueue_sql.testing.plugin"]`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.testing.places import Clock, clock_of, copy_of, database

VARIABLE = "PYQUEUE_TEST_URL"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names a server."""
    parser.addoption(
        "--pyqueue-url",
        default=os.environ.get(VARIABLE),
        help=f"The server for the queues of tests, by a user who may create databases; or {VARIABLE}."
        " Default: an embedded PostgreSQL.",
    )


@pytest.fixture(scope="session")
def pyqueue_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server on which databases may be created."""
    given = request.config.getoption("--pyqueue-url")
    if given:
        yield given
        return
    from pyqueue_sql.embedded import start_server

    # nothing is kept: waiting for the disk would be most of what a test costs
    with start_server(settings={"fsync": "off", "synchronous_commit": "off"}) as server:
        yield server.url


@pytest.fixture(scope="session")
def _pyqueue_template(pyqueue_server: str) -> Iterator[str]:
    """The URL of a database with the queue, which each test gets a copy of."""
    with database(pyqueue_server) as url:
        yield url


@pytest.fixture
def pyqueue_url(request: pytest.FixtureRequest, pyqueue_server: str) -> Iterator[str]:
    """The URL of a database with an empty queue, for this test alone."""
    with ExitStack() as stack:
        if is_mysql(pyqueue_server):
            yield stack.enter_context(database(pyqueue_server))
        else:
            yield stack.enter_context(copy_of(request.getfixturevalue("_pyqueue_template"), pyqueue_server))


@pytest.fixture
def pyqueue(pyqueue_url: str) -> Iterator[Queue[Any]]:
    """A queue for this test alone, in which each call is a transaction of its own."""
    with connect(pyqueue_url) as connection:
        yield Queue(connection)


@pytest.fixture
def pyqueue_clock(pyqueue_url: str) -> Iterator[Clock]:
    """The time of this test's queue: 2026-01-01T00:00:00Z, until the test moves it."""
    with connect(pyqueue_url) as connection:
        yield clock_of(connection)
