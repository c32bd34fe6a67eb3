"""The fixtures of the scenarios, for this folder, tests/model and tests/concurrency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import pytest

from pyqueue_sql.calls.connect import connect as by_url
from tests.conformance.harness import Clock, Harness, Session, open_harness
from tests.servers.plugin import POOL

if TYPE_CHECKING:
    from collections.abc import Iterator


Capabilities: TypeAlias = frozenset[str]

PACKET = 1024 * 1024
"""Bytes of a small packet."""


class Connect(Protocol):
    """Opens another session."""

    def __call__(self, autocommit: bool = True) -> Session: ...


@pytest.fixture
def capabilities(request: pytest.FixtureRequest, server_name: str) -> Capabilities:
    """What the server under test can do and another can't, for a scenario that differs by it."""
    return request.config.stash[POOL].capabilities(server_name)


@pytest.fixture
def harness(request: pytest.FixtureRequest, server_name: str) -> Iterator[Harness]:
    """The server under test, with a database for this test alone."""
    if server_name == "postgresql":
        url = request.getfixturevalue("database_url")
    else:
        url = request.getfixturevalue("databases").clean("clock" in request.fixturenames, keep=True)
    harness = open_harness(url, keeps=True)
    try:
        yield harness
    finally:
        harness.close()


@pytest.fixture
def clock(harness: Harness) -> Clock:
    """The database's time."""
    return harness.clock()


@pytest.fixture
def connect(harness: Harness) -> Connect:
    """Open another session, closed at the end of the test."""
    return harness.connect


@pytest.fixture
def queue(harness: Harness) -> Session:
    """A session in which each call is a transaction of its own."""
    return harness.connect()


@pytest.fixture
def packets(harness: Harness) -> Iterator[None]:
    """Have packets of new connections to MariaDB and MySQL be small."""
    harness.share_none()
    with by_url(harness.url) as connection, connection.cursor() as cursor:
        cursor.execute("select @@global.max_allowed_packet")
        [(usual,)] = cursor.fetchall()
        cursor.execute(f"set global max_allowed_packet = {PACKET}")  # pyright: ignore[reportArgumentType, reportCallIssue]
        try:
            yield
        finally:
            cursor.execute(f"set global max_allowed_packet = {usual}")  # pyright: ignore[reportArgumentType, reportCallIssue]
