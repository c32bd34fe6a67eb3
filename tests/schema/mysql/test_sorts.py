"""Lists of a batch are sorted in memory: MariaDB makes room for 40 rows of one, and goes through files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Queue
from tests.conformance.steps import receipts
from tests.schema.mysql.catalogs import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pymysql import Connection

    from pyqueue_sql import Reserved

pytestmark = pytest.mark.servers("mariadb", "mysql")

MANY = 200

CALLS: dict[str, Callable[[Queue[Any], Sequence[Reserved]], object]] = {
    "reserve": lambda queue, _: queue.reserve("mail", "w", MANY),
    "pop": lambda queue, _: queue.pop("mail", MANY),
    "next": lambda queue, held: queue.next(receipts(held), "mail", "w", MANY),
    "ack_many": lambda queue, held: queue.ack_many(receipts(held)),
    "nack_many": lambda queue, held: queue.nack_many(receipts(held)),
    "extend_many": lambda queue, held: queue.extend_many(receipts(held), 60),
}


def sorted_through_files(connection: Connection[Any]) -> int:
    """How often the session has put together what it had sorted in parts."""
    [(_, number)] = run(connection, "show session status like 'Sort_merge_passes'")
    return int(number)


@pytest.mark.parametrize("call", CALLS)
def test_a_batch_is_sorted_in_memory(connection: Connection[Any], call: str) -> None:
    queue = Queue(connection)
    queue.push_many("mail", [{"key": f"{n}", "payload": n} for n in range(2 * MANY)])
    held = queue.reserve("mail", "w", MANY)
    before = sorted_through_files(connection)
    assert len(CALLS[call](queue, held)) == MANY  # pyright: ignore[reportArgumentType]
    assert sorted_through_files(connection) == before
