"""Clients of MariaDB and MySQL: processes that do the same thing over and over, all at the same time."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from threading import Barrier
from typing import Any, TypeAlias

from pyqueue_sql.calls.connect import connect_mysql

RETRY = (1205, 1213)
"""Lock wait timeout and deadlock, after which an application tries again."""

Work: TypeAlias = Callable[[Any], int]
"""Given a cursor does one piece of work; how many messages that were, 0 where there are none any more."""

_gate: list[Barrier] = []


@dataclass(frozen=True)
class Done:
    """What one client did."""

    messages: int
    seconds: float
    retries: dict[int, int]
    """By error number, how often it had to try again."""


def call(cursor: Any, text: str, *arguments: object) -> Any:
    """Run a statement and return its first result set."""
    cursor.execute(text, arguments or None)
    rows = cursor.fetchall()
    while cursor.nextset():
        pass
    return rows


def together(
    url: str, work: Work, clients: int, seconds: float, messages: int | None = None, warm_up: int = 20
) -> list[Done]:
    """Let clients work at the same time.

    Args:
        url: of the database.
        work: importable, since each client is a process of its own.
        clients: how many.
        seconds: for how long at the most.
        messages: how many each of them is to do at the most.
        warm_up: how often each does it before, because a session reads a routine when it first calls it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    barrier: Any = context.Barrier(clients)
    with ProcessPoolExecutor(clients, context, _keep, (barrier,)) as pool:
        found = [pool.submit(_client, url, work, seconds, messages, warm_up) for _ in range(clients)]
        return [one.result() for one in found]


def rate(done: list[Done]) -> float:
    """Return how many messages a second all of them did."""
    return sum(one.messages / one.seconds for one in done)


def _keep(barrier: Barrier) -> None:
    _gate.append(barrier)


def _client(url: str, work: Work, seconds: float, messages: int | None, warm_up: int) -> Done:
    [barrier] = _gate
    try:
        with closing(connect_mysql(url)) as connection, connection.cursor() as cursor:
            retries: dict[int, int] = {}
            for _ in range(warm_up):
                _again(connection, cursor, work, retries)
            retries.clear()
            barrier.wait()
            return _until(connection, cursor, work, seconds, messages, retries)
    except BaseException:
        barrier.abort()  # or the others wait for ever
        raise


def _until(
    connection: Any, cursor: Any, work: Work, seconds: float, messages: int | None, retries: dict[int, int]
) -> Done:
    total = 0
    began = now = time.perf_counter()
    while now < began + seconds and (messages is None or total < messages):
        got = _again(connection, cursor, work, retries)
        now = time.perf_counter()
        if not got:
            break
        total += got
    return Done(total, now - began, retries)


def _again(connection: Any, cursor: Any, work: Work, retries: dict[int, int]) -> int:
    while True:
        try:
            return work(cursor)
        except connection.OperationalError as error:
            if error.args[0] not in RETRY:
                raise
            connection.rollback()
            retries[error.args[0]] = retries.get(error.args[0], 0) + 1
