"""The first reserve of a message finds room in its page: the row grows, and a full page would be split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Queue
from tests.schema.mysql.catalogs import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymysql import Connection

pytestmark = pytest.mark.servers("mariadb", "mysql")

MANY = 2000
"""Messages, in some 60 pages."""
WORKER = "a-host-with-a-long-name-27.example-12345"


@pytest.fixture
def splits(connection: Connection[Any]) -> Iterator[Connection[Any]]:
    """A connection to a server that counts how often it splits a page."""
    run(connection, "set global innodb_monitor_enable = 'index_page_splits'")
    yield connection
    run(connection, "set global innodb_monitor_disable = 'index_page_splits'")


def split(connection: Connection[Any]) -> int:
    """How often the server has split a page."""
    [(number,)] = run(
        connection, "select count from information_schema.innodb_metrics where name = 'index_page_splits'"
    )
    return int(number)


@pytest.mark.parametrize("size", [1, 100])
def test_a_reserve_splits_no_page(splits: Connection[Any], size: int) -> None:
    queue = Queue(splits)
    queue.push_many("mail", [{"key": f"{n}", "payload": {"text": "x" * 100}} for n in range(MANY)])
    before = split(splits)
    took = 0
    while took < MANY // 2:
        took += len(queue.reserve("mail", WORKER, size, timeout_seconds=600))
    assert split(splits) - before < 5  # where a page of another table has become full


def test_a_message_gives_its_room_up_once(connection: Connection[Any]) -> None:
    queue = Queue(connection)
    queue.push_many("mail", [{"key": f"{n}", "payload": n} for n in range(4)])
    held = [*queue.reserve("mail", "w", 1), *queue.reserve("mail", "w", 2)]
    queue.nack(held[0].receipt, delay_seconds=60)
    assert run(connection, "select p_key, room is null, length(room) from delayed_queue order by entry") == [
        ("0", 1, None),
        ("1", 1, None),
        ("2", 1, None),
        ("3", 0, 64),
    ]
