"""A message's life through the queue and through the plain statements of an application, on MariaDB or MySQL.

    python -m bench.lifecycle --url mysql://root@127.0.0.1:3306/ [--clients 1 8] [--rounds 5] [--messages 500]

Ours are two CALLs, queue_reserve and queue_ack, in autocommit. Theirs are the five statements that an
application sends on a table with nothing but id, time and payload: START TRANSACTION, SELECT … FOR UPDATE
SKIP LOCKED, UPDATE, COMMIT, DELETE. Rounds of the two take turns on one server; the table has the medians, in
lives a second. The database `pyqueue_lifecycle` is made for it and dropped at the end.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pyqueue_sql import migrate
from pyqueue_sql.connect import connect_mysql

if TYPE_CHECKING:
    from collections.abc import Callable

DATABASE = "pyqueue_lifecycle"
LATER = 10**18


def call(cursor: Any, text: str, *arguments: object) -> Any:
    cursor.execute(text, arguments or None)
    rows = cursor.fetchall()
    while cursor.nextset():
        pass
    return rows


def ours(cursor: Any) -> None:
    row = call(cursor, "call queue_reserve('bench', 'worker', 1, null)")[0]
    call(cursor, "call queue_ack(%s, null)", row[-1])


def theirs(cursor: Any) -> None:
    call(cursor, "start transaction")
    text = "select id, payload from plain where vt <= %s order by vt limit 1 for update skip locked"
    number = call(cursor, text, time.time_ns() // 1000)[0][0]
    call(cursor, "update plain set vt = %s where id = %s", LATER, number)
    call(cursor, "commit")
    call(cursor, "delete from plain where id = %s", number)


def work(url: str, live: Callable[[Any], None], count: int, barrier: Any, took: Any) -> None:
    with closing(connect_mysql(url, schema=DATABASE)) as connection, connection.cursor() as cursor:
        for _ in range(20):
            live(cursor)
        barrier.wait()
        began = time.perf_counter()
        for _ in range(count):
            live(cursor)
        took.put(time.perf_counter() - began)


def measure(url: str, live: Callable[[Any], None], clients: int, count: int) -> float:
    """Lives a second, of so many clients together."""
    context = multiprocessing.get_context("spawn")
    barrier, took = context.Barrier(clients), context.Queue()
    arguments = (url, live, count // clients, barrier, took)
    workers = [context.Process(target=work, args=arguments) for _ in range(clients)]
    for worker in workers:
        worker.start()
    slowest = max(took.get() for _ in workers)
    for worker in workers:
        worker.join()
    return clients * (count // clients) / slowest


def fill(cursor: Any, count: int) -> None:
    call(cursor, "delete from plain")
    call(cursor, "call queue_purge('bench', null)")
    for begin in range(0, count, 1000):
        batch = [{"key": f"{time.time_ns()}/{n}", "payload": {"n": n}} for n in range(begin, begin + 1000)]
        call(cursor, "call queue_push_many('bench', %s, null)", json.dumps(batch))
        values = ", ".join(f"(1, '{{\"n\": {one['payload']['n']}}}')" for one in batch)
        call(cursor, f"insert into plain (vt, payload) values {values}")
    time.sleep(1)  # what was deleted is cleaned away


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=500, help="a round")
    given = parser.parse_args()
    migrate.upgrade(given.url, schema=DATABASE)
    with closing(connect_mysql(given.url, schema=DATABASE)) as connection, connection.cursor() as cursor:
        call(
            cursor,
            "create table plain (id bigint auto_increment primary key, vt bigint, payload json, key (vt))",
        )
        print(f"{call(cursor, 'select version()')[0][0]}: lives a second, medians of {given.rounds} rounds")
        for clients in given.clients:
            rates: list[tuple[float, float]] = []
            for _ in range(given.rounds):
                fill(cursor, given.messages + 20 * clients + 1000)
                rates.append(
                    (
                        measure(given.url, ours, clients, given.messages),
                        measure(given.url, theirs, clients, given.messages),
                    )
                )
            ratio = statistics.median(one / other for one, other in rates)
            mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
            print(
                f"{clients:3} clients: two CALLs {mine:7.0f}, five statements {other:7.0f}, ratio {ratio:.2f}"
            )
        call(cursor, f"drop database {DATABASE}")


if __name__ == "__main__":
    main()
