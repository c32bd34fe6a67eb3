"""The fixtures of the scenarios, here too, and a database of MariaDB or MySQL by its driver alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy
from alembic.script import ScriptDirectory

from pyqueue_sql.schema import frozen, migrate
from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.schema.mysql.catalogs import Catalog, catalog, rows, run
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


@pytest.fixture
def visitor(innodb_url: str) -> Iterator[tuple[str, str]]:
    """The URL of a user with no rights yet, and its name in SQL."""
    database = innodb_url.rpartition("/")[2]
    name = f"u{database[-20:]}"
    with open_connection(innodb_url) as connection:
        run(connection, f"create user '{name}'@'%' identified by 'Pw-1-secret'")
        run(connection, f"grant select on {database}.* to '{name}'@'%'")
        url = sqlalchemy.make_url(innodb_url).set(username=name, password="Pw-1-secret")
        yield url.render_as_string(hide_password=False), f"'{name}'@'%'"
        run(connection, f"drop user if exists '{name}'@'%'")


@pytest.fixture
def owner(innodb_url: str, visitor: tuple[str, str]) -> tuple[str, str]:
    """The URL of a user who may do all in the database and nothing else, and its name in SQL."""
    url, name = visitor
    rows(innodb_url, f"grant all on {innodb_url.rpartition('/')[2]}.* to {name}")
    return url, name
