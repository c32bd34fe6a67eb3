"""The PostgreSQL of a test run, a clean database for each test, and a clock that tests move.

MariaDB and MySQL are in tests/servers. The PostgreSQL is an embedded one, of the folder of programs that
PYQUEUE_TEST_BINARIES names, or the one that PYQUEUE_TEST_URL names: the URL of a superuser, or of a role that
may create databases and owns what it creates.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from pyqueue_sql.embedded import start_server
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.sample import LARGE, WITH_LONG
from tests.servers import POSTGRESQL
from tests.servers.databases_postgresql import Databases, Server
from tests.servers.memory import in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

URL_VARIABLE = "PYQUEUE_TEST_URL"
BINARIES_VARIABLE = "PYQUEUE_TEST_BINARIES"
# nothing is kept: waiting for the disk would be most of what a test costs
SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "wal_level": "logical"}

pytest_plugins = ["tests.servers.plugin", "tests.servers.progress"]

# a test that hangs fails; one that may take longer says so by its mark
os.environ.setdefault("PYTEST_TIMEOUT", "1800" if LARGE else "900" if WITH_LONG else "300")

# A background job of a shell ignores these, and so would the programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The running server of this session."""
    given = os.environ.get(URL_VARIABLE)
    if given:
        yield describe(request, given, "given")
    else:
        binaries = os.environ.get(BINARIES_VARIABLE)
        with in_memory():
            embedded = start_server(bin_dir=Path(binaries) if binaries else None, settings=SETTINGS)
        with embedded:
            yield describe(request, embedded.url, "embedded")


def describe(request: pytest.FixtureRequest, url: str, kind: str) -> Server:
    """Return the server behind the URL, and remember what it is for the summary."""
    with psycopg.connect(url) as conn:
        info, version = conn.info, conn.info.parameter_status("server_version")
        about = f"server: PostgreSQL {version} on port {info.port} ({kind})"
        request.config.stash[POSTGRESQL] = [about]
        return Server(
            host=info.host,
            port=info.port,
            user=info.user,
            password=info.password or None,
            maintenance=info.dbname,
        )


def pytest_report_header() -> str:
    """Say before the tests which PostgreSQL they are going to use."""
    given = f"the one of {URL_VARIABLE}" if os.environ.get(URL_VARIABLE) else "embedded"
    return f"PostgreSQL: {given}"


@pytest.fixture(scope="session")
def databases_postgresql(server: Server) -> Iterator[Databases]:
    """The databases of this session."""
    databases = Databases(server)
    yield databases
    databases.close()


@pytest.fixture
def database_url(request: pytest.FixtureRequest, databases_postgresql: Databases) -> str:
    """The URL of a database with our schema and nothing in it, for this test alone.

    It is that of the test before, emptied; a test may change all of it, for the next one then gets another.
    """
    return databases_postgresql.clean("clock" in request.fixturenames, keep="harness" in request.fixturenames)


@pytest.fixture
def conn(database_url: str) -> Iterator[psycopg.Connection]:
    """A connection of the owner to the test's database, in autocommit."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def clock(database_url: str) -> Iterator[Clock]:
    """The clock of the test's database."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Clock(connection)
