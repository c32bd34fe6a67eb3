"""A server that has a limit on the rows of each answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import AsyncQueue, Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.doctor import examine
from pyqueue_sql.schema import migrate
from pyqueue_sql.worker.connecting import connect_async
from tests.doctor.logins import Watched

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.usefixtures("limited")]


@pytest.fixture
def limited(watched: Watched) -> Iterator[None]:
    """Sessions that begin now have it."""
    watched.execute("set global sql_select_limit = 2")
    try:
        yield
    finally:
        watched.execute("set global sql_select_limit = default")


def test_answers_are_whole(watched: Watched) -> None:
    with connect(watched.admin) as connection:
        queue = Queue(connection)
        for kind in ("one", "two", "three"):
            queue.push(kind, "a", 1)
        assert {one.kind for one in queue.stats()} >= {"one", "two", "three"}


def test_so_are_those_of_coroutines(watched: Watched) -> None:
    async def run() -> list[str]:
        connection = await connect_async(watched.admin)
        try:
            return [one.kind for one in await AsyncQueue(connection).stats()]
        finally:
            connection.close()

    for kind in ("one", "two", "three"):
        watched.queue.push(kind, "a", 1)
    # from then on MySQL knows the password, and takes it without the key for which aiomysql needs a package
    connect(watched.admin).close()
    assert {"one", "two", "three"} <= set(asyncio.run(run()))


def test_the_schema_is_seen_whole(watched: Watched) -> None:
    assert migrate.differing(watched.url) == []
    assert migrate.upgrade(watched.url) == []
    [found] = examine(watched.url, only=["routines"])
    assert found.level == "ok"
