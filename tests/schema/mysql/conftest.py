"""The fixtures of the scenarios, here too, and a database of MariaDB or MySQL by its driver alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.schema.mysql.catalogs import run
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


@pytest.fixture
def own_table(connection: Connection[Any]) -> Iterator[None]:
    """The table `own` of the application."""
    run(connection, "create table own (id int auto_increment primary key, note text) engine = innodb")
    yield
    if connection.open:
        run(connection, "rollback")
        run(connection, "drop table own")
