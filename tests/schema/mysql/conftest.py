"""The fixtures of the scenarios, here too, and a database of MariaDB or MySQL by its driver alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from alembic.script import ScriptDirectory

from pyqueue_sql.schema import frozen, migrate
from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.schema.mysql.catalogs import Catalog, catalog, run
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymysql import Connection

    from tests.servers.databases import Databases

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]


@pytest.fixture
def url(databases: Databases) -> str:
    """The URL of a database with the queue and no message in it."""
    return databases.clean(clocked=False)


@pytest.fixture
def connection(url: str) -> Iterator[Connection[Any]]:
    """A connection in autocommit."""
    with open_connection(url) as connection:
        yield connection


@pytest.fixture(scope="session")
def catalogs() -> dict[tuple[str, str], Catalog]:
    """What a fresh install has, by server and revision, once somebody has made one."""
    return {}


@pytest.fixture
def fresh(databases: Databases, server_name: str, catalogs: dict[tuple[str, str], Catalog]) -> Catalog:
    """What a fresh install of the newest revision that there is has."""
    newest = ScriptDirectory(str(frozen.MIGRATIONS)).get_current_head() or ""
    if (server_name, newest) not in catalogs:
        with databases.empty() as url:
            migrate.upgrade(url)
            assert migrate.current(url) == newest
            catalogs[server_name, newest] = catalog(url)
    return dict(catalogs[server_name, newest])


@pytest.fixture
def own_table(connection: Connection[Any]) -> Iterator[None]:
    """The table `own` of the application."""
    run(connection, "create table own (id int auto_increment primary key, note text) engine = innodb")
    yield
    if connection.open:
        run(connection, "rollback")
        run(connection, "drop table own")
