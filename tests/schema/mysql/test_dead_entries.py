"""A reserve passes over the entries of messages that have ended; it goes from none of them to its row.

InnoDB leaves them in its indexes until it cleans up: a second later, or once no read view needs them. MariaDB
reads the row behind each of them in a scan that locks under READ COMMITTED, and not in one that doesn't lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Queue
from tests.schema.mysql.catalogs import open_connection, run

if TYPE_CHECKING:
    from pymysql import Connection

pytestmark = pytest.mark.servers("mariadb", "mysql")

DEAD = 2000
TRIES = 5
"""The least of so many counts: the server has other things to do, and a call may tidy up."""


@pytest.fixture
def dead(connection: Connection[Any], url: str) -> Iterator[Queue]:
    """A queue whose line begins with entries that a read view keeps from being cleaned away."""
    queue = Queue(connection)
    queue.push_many("mail", [{"payload": n} for n in range(DEAD + 500)])
    with open_connection(url) as other:
        run(other, "start transaction with consistent snapshot")
        run(other, "select count(*) from delayed_queue")
        for _ in range(DEAD // 500):
            queue.pop("mail", 500)
        yield queue
        run(other, "rollback")


@pytest.mark.parametrize("size", [1, 10])
def test_a_reserve_reads_no_row_that_has_ended(dead: Queue, connection: Connection[Any], size: int) -> None:
    counts = []
    for _ in range(TRIES):
        run(connection, "set @pyqueue_cursors = '{}'")
        before = pages_read(connection)
        assert len(dead.reserve("mail", "w", size)) == size
        counts.append(pages_read(connection) - before)
    assert min(counts) < DEAD  # hundreds of entries are a page; to find a row takes two or more


def pages_read(connection: Connection[Any]) -> int:
    """How many pages the server has read by now, from memory or the disk."""
    [(_, number)] = run(connection, "show global status like 'Innodb_buffer_pool_read_requests'")
    return int(number)
