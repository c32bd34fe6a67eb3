"""The PostgreSQL of a test run, a database of its own for each test, and a clock that tests move.

MariaDB and MySQL are in tests/servers. The PostgreSQL is an embedded one, of the folder of programs that
PYQUEUE_TEST_BINARIES names, or the one that PYQUEUE_TEST_URL names: the URL of a superuser, or of a role that
may create databases and owns what it creates.
"""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
import pytest
from pytest_postgresql import factories
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.janitor import DatabaseJanitor

from pyqueue_sql import migrate
from pyqueue_sql.embedded import start_server
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.servers import POSTGRESQL
from tests.servers.memory import in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

URL_VARIABLE = "PYQUEUE_TEST_URL"
BINARIES_VARIABLE = "PYQUEUE_TEST_BINARIES"
# nothing is kept, and each test copies a database: waiting for the disk would be most of what it costs
SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}

pytest_plugins = ["tests.servers.plugin"]

# A background job of a shell ignores these, and so would the programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_numbers = itertools.count(1)


class Server(NoopExecutor):
    """The running server as pytest-postgresql wants it, with URLs."""

    @property
    def template_dbname(self) -> str:
        """What our own template database is a copy of."""
        return "template1"

    def url(self, dbname: str) -> str:
        """Return the URL of a database of this server, with the password in it."""
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        return f"postgresql://{login}@{quote(self.host, safe='')}:{self.port}/{quote(dbname, safe='')}"


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
            options=info.options,
            dbname="pyqueue",
            maintenance_dbname=info.dbname,
        )


def pytest_report_header() -> str:
    """Say before the tests which PostgreSQL they are going to use."""
    given = f"the one of {URL_VARIABLE}" if os.environ.get(URL_VARIABLE) else "embedded"
    return f"PostgreSQL: {given}"


def install_schema(host: str, port: int, user: str, dbname: str, password: str | None, **_: object) -> None:
    """Install our schema in the template database; pytest-postgresql gives the parameters by name."""
    template = Server(host=host, port=port, user=user, password=password, options="", dbname=dbname)
    migrate.upgrade(template.url(dbname))


# the process id keeps two runs on one server apart
template_database = factories.postgresql_noproc(
    depends_on="server", dbname=f"pyqueue_test_{os.getpid()}", load=[install_schema]
)


@pytest.fixture
def database_url(server: Server, template_database: NoopExecutor) -> Iterator[str]:
    """The URL of a database with our schema, for this test alone."""
    janitor = DatabaseJanitor(
        user=server.user,
        host=server.host,
        port=server.port,
        password=server.password,
        dbname=f"{template_database.dbname}_{next(_numbers)}",
        template_dbname=template_database.template_dbname,
        maintenance_dbname=server.maintenance_dbname,
    )
    with janitor:
        yield server.url(janitor.dbname)


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
