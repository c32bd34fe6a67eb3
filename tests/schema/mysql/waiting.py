"""Sessions that wait, and the named locks of MariaDB and MySQL."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pymysql

from tests.schema.mysql.catalogs import run
from tests.schema.mysql.world import call
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection

AT_ONCE_S = 4.0
"""However busy the machine is: shorter than for how long anybody stands in line."""
PATIENCE_S = 18.0


class Waiter:
    """A session of its own that waits for kinds in a thread.

    Args:
        url: the database.
        kinds: what it waits for.
        seconds: for how long.
        settings: statements that come before.
    """

    def __init__(self, url: str, *kinds: str, seconds: float = 60, settings: tuple[str, ...] = ()) -> None:
        self.session = open_connection(url)
        for text in settings:
            run(self.session, text)
        self.number = self.session.thread_id()
        self._answer: list[Any] = []
        self._thread = threading.Thread(target=self._wait, args=(json.dumps(kinds or ["mail"]), seconds))
        self._thread.daemon = True
        self._thread.start()

    def _wait(self, kinds: str, seconds: float) -> None:
        try:
            self._answer += call(self.session, "queue_wait", kinds, seconds) or [None]
        except pymysql.Error as error:
            self._answer.append(error.args[0])

    def answer(self, within: float = AT_ONCE_S) -> Any:
        """Return the kind, None, or the number of the error."""
        self._thread.join(within)
        assert self._answer, "it waits still"
        return self._answer[0][0] if isinstance(self._answer[0], tuple) else self._answer[0]

    def ends(self, within: float) -> bool:
        """Return whether it waits no more after so many seconds."""
        self._thread.join(within)
        return not self.waits

    @property
    def waits(self) -> bool:
        """Whether it still does."""
        return self._thread.is_alive()


def holder(connection: Connection[Any], *kinds: str) -> int | None:
    """Return the number of the session that looks for all who wait for the kinds."""
    variables = "@pyqueue_kinds, @pyqueue_number, @pyqueue_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"call _queue_wait_kinds(%s, {variables})", [json.dumps(kinds or ["mail"])])
    return run(connection, "select is_used_lock(@pyqueue_lock)")[0][0]


def line_up(connection: Connection[Any], url: str, number: int) -> list[Waiter]:
    """Return sessions that wait for the kind `mail`, the one that looks for all first."""
    waiters = [Waiter(url)]
    until(lambda: holder(connection) == waiters[0].number)
    waiters += [Waiter(url) for _ in range(number - 1)]
    until(lambda: standing(connection) == number - 1)
    return waiters


def standing(connection: Connection[Any]) -> int:
    """Return how many sessions stand in line for a named lock."""
    text = "select count(*) from information_schema.processlist p where p.state like 'User%lock'"
    return run(connection, text)[0][0]


def until(true: Any, within: float = PATIENCE_S) -> None:
    """Wait until something is so."""
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end, "it never came to be so"
        time.sleep(0.02)


def wait_until_somebody_waits(connection: Connection[Any]) -> None:
    """Return once a session waits for the lock of another."""
    deadline = time.monotonic() + 60
    text = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
    while run(connection, text) == [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.2)  # what the server shows is made anew once nobody has looked for 0.1 s
