"""Where MariaDB refuses rows that changed since a statement began, calls don't: innodb_snapshot_isolation."""

from __future__ import annotations

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from tests.schema.mysql.catalogs import RECEIPT, run
from tests.schema.mysql.waiting import wait_until_somebody_waits
from tests.schema.mysql.world import call, push_keys
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection

pytestmark = pytest.mark.servers("mariadb")

CHANGED = 1020
SECONDS = 3.0
KEYS = 12


def isolated(url: str) -> Connection[Any]:
    connection = open_connection(url)
    if not run(connection, "show variables like 'innodb_snapshot_isolation'"):
        connection.close()
        pytest.skip("a server that doesn't know innodb_snapshot_isolation")
    run(connection, "set innodb_snapshot_isolation = 1")
    run(connection, "set session transaction isolation level read committed")
    return connection


def test_a_push_that_waited_for_the_same_key_is_made_again(connection: Connection[Any], url: str) -> None:
    with isolated(url) as other, ThreadPoolExecutor(1) as pool:
        run(connection, "begin")
        push_keys(connection, "k")
        waiting = pool.submit(push_keys, other, "j", "k")
        wait_until_somebody_waits(connection)
        run(connection, "commit")
        assert waiting.result(60) == ["created", "ignored"]


@pytest.mark.parametrize("routine", ["queue_nack_many", "queue_ack_many"])
def test_who_waited_for_a_message_that_was_acked_is_told_that_it_is_lost(
    connection: Connection[Any], url: str, routine: str
) -> None:
    push_keys(connection, "a", "b")
    held = [row[RECEIPT] for row in call(connection, "queue_reserve", "mail", "w", 2, None)]
    with isolated(url) as other, ThreadPoolExecutor(1) as pool:
        run(connection, "begin")
        call(connection, "queue_ack", held[0], None)
        waiting = pool.submit(call, other, routine, json.dumps(held), None)
        wait_until_somebody_waits(connection)
        run(connection, "commit")
        outcomes = dict(row[:2] for row in waiting.result(60))
    assert outcomes == {held[0]: "lost", held[1]: "retry" if routine == "queue_nack_many" else "acked"}


def test_eight_threads_on_few_keys_never_see_it(url: str) -> None:
    deadline = time.monotonic() + SECONDS

    def work(number: int) -> list[int]:
        chance, seen = random.Random(number), []
        with isolated(url) as connection:
            while time.monotonic() < deadline:
                try:
                    keys = [str(chance.randrange(KEYS)) for _ in range(4)]
                    push_keys(connection, *keys, **chance.choice([{}, {"on_duplicate": "replace"}]))
                    call(connection, "queue_pop", "mail", 1, None)
                    rows = call(connection, "queue_reserve", "mail", "w", 4, None)
                    receipts = [row[RECEIPT] for row in rows]
                    if receipts:
                        name = chance.choice(["queue_ack_many", "queue_nack_many", "queue_extend_many"])
                        call(
                            connection, name, json.dumps(receipts), 5 if name == "queue_extend_many" else None
                        )
                except pymysql.err.MySQLError as error:
                    seen.append(error.args[0])
        return seen

    with ThreadPoolExecutor(8) as pool:
        seen = [number for found in pool.map(work, range(8)) for number in found]
    assert CHANGED not in seen
