"""Routines are replaced while they are called: calls wait, and none of them fails."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
import sqlalchemy
import sqlalchemy.exc

from pyqueue_sql import MigrationError
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.schema import migrate, reload_mysql
from pyqueue_sql.schema.frozen import statements
from pyqueue_sql.schema.routine_mysql import parse
from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import RECEIPT, Killer, catalog, open_connection, rows, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.databases import Databases

pytestmark = pytest.mark.servers("mariadb", "mysql")

ROUNDS = 3
CALLS_BETWEEN = 100
MET_BEFORE_THE_GATE = {"_queue_begin", "_queue_undo"}


@pytest.fixture
def url(innodb_url: str) -> str:
    """The URL of a database with the queue in it."""
    migrate.upgrade(innodb_url)
    return innodb_url


@pytest.fixture
def engine(url: str) -> Iterator[sqlalchemy.Engine]:
    """An engine whose connections are in autocommit."""
    made = sqlalchemy.create_engine(
        "mysql+pymysql://", creator=lambda: connect(url), isolation_level="AUTOCOMMIT"
    )
    yield made
    made.dispose()


def changed(text: str, what: str) -> str:
    """Return the text of a procedure with something else in its comment."""
    return re.sub(r"(?m)^(\s+comment ')", rf"\g<1>{what} ", text, count=1)


def inner(what: str) -> list[str]:
    """Return the internal procedures that no call meets before the gate, each with a change."""
    found: list[str] = []
    for text in statements(HEAD, "routines", "mysql"):
        one = parse(text)
        if one and one.name.startswith("_") and one.name not in MET_BEFORE_THE_GATE:
            found.append(changed(text, what))
    return found


class Traffic:
    """Producers and consumers, each a thread whose every call is a transaction of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._calls = 0
        self._lock = threading.Lock()
        self.pushed: list[str] = []
        self.finished: list[str] = []
        self.failures: Counter[str] = Counter()

    def __enter__(self) -> Traffic:
        self._pool = ThreadPoolExecutor(8)
        self._done = [self._pool.submit(self._work, one) for one in [self._produce, self._consume] * 3]
        self.go_on()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown()
        for one in self._done:
            one.result()
        self._stop.clear()
        with open_connection(self._url) as connection:
            while self._consume_once(connection):
                pass

    def go_on(self) -> None:
        """Wait until some more calls were made."""
        until, deadline = self._calls + CALLS_BETWEEN, time.monotonic() + 60
        while self._calls < until:
            assert time.monotonic() < deadline, f"the workers stand still: {self.failures}"
            time.sleep(0.01)

    def _work(self, what: Callable[[pymysql.Connection[Any]], object]) -> None:
        with open_connection(self._url) as connection:
            while not self._stop.is_set():
                what(connection)

    def _call(self, connection: pymysql.Connection[Any], text: str) -> list[tuple[Any, ...]]:
        try:
            return run(connection, text)
        except pymysql.Error as error:
            self.failures[repr(error)] += 1
            return []
        finally:
            with self._lock:
                self._calls += 1

    def _produce(self, connection: pymysql.Connection[Any]) -> None:
        for row in self._call(connection, "call queue_push('mail', null, '1', null)"):
            self.pushed.append(row[1])
        while len(self.pushed) - len(self.finished) > 200 and not self._stop.is_set():
            time.sleep(0.01)

    def _consume(self, connection: pymysql.Connection[Any]) -> None:
        if not self._consume_once(connection):
            self._call(connection, "call queue_wait('\"mail\"', 1)")

    def _consume_once(self, connection: pymysql.Connection[Any]) -> bool:
        found = self._call(connection, "call queue_reserve('mail', 'w', 3, null)")
        for row in found:
            acked = self._call(connection, f"call queue_ack('{row[RECEIPT]}', null)")
            [(_, outcome)] = acked or [("", "failed")]
            if outcome == "acked":
                self.finished.append(row[1])
            else:
                self.failures[outcome] += 1
        return bool(found)


def check(traffic: Traffic) -> None:
    """Nothing failed, nothing was lost, nothing came twice."""
    assert traffic.failures == {}
    assert len(traffic.pushed) > ROUNDS * 10
    assert Counter(traffic.finished) == Counter(traffic.pushed)


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_no_call_fails_while_all_inner_routines_are_replaced(url: str, engine: sqlalchemy.Engine):
    with Traffic(url) as traffic, engine.connect() as connection:
        for number in range(ROUNDS):
            reload_mysql.run(connection, {"routines": inner(f"({number})")})
            traffic.go_on()
    check(traffic)
    texts = {name: text for (_, name), text in catalog(url).items() if name.startswith("_queue")}
    assert len(texts) > 20
    assert {
        name for name, text in texts.items() if f"COMMENT '({ROUNDS - 1}) " not in text
    } == MET_BEFORE_THE_GATE


@pytest.mark.long
def test_what_a_client_sees_of_a_public_routine_that_is_replaced(
    url: str, engine: sqlalchemy.Engine, server_name: str
):
    texts = [text for text in statements(HEAD, "routines", "mysql") if parse(text)]
    with Traffic(url) as traffic, engine.connect() as connection:
        for number in range(ROUNDS):
            reload_mysql.run(connection, {"routines": [changed(text, f"({number})") for text in texts]})
            traffic.go_on()
    if server_name == "mariadb":
        check(traffic)
    assert all(
        failure.startswith("OperationalError(1305") or "failed" in failure for failure in traffic.failures
    )


def test_what_is_as_it_should_be_is_left_alone(url: str, engine: sqlalchemy.Engine):
    text = (
        "select r.routine_name, r.created from information_schema.routines r"
        " where r.routine_schema = database() order by 1, 2"
    )
    before = rows(url, text)
    time.sleep(1.1)
    parts = statements(HEAD, "routines", "mysql")
    parts = [changed(one, "new") if "procedure _queue_settings(" in one else one for one in parts]
    parts = [changed(one, "new") if "procedure _queue_fail(" in one else one for one in parts]
    with engine.connect() as connection:
        reload_mysql.run(connection, {"routines": parts, "optional": statements(HEAD, "optional", "mysql")})
    after = rows(url, text)
    assert {name for name, _ in set(after) - set(before)} <= {"_queue_fail", "_queue_settings"}
    assert len(after) == len(before)


def test_every_difference_is_seen(url: str, engine: sqlalchemy.Engine):
    [text] = [one for one in statements(HEAD, "routines", "mysql") if "create procedure _queue_fail(" in one]
    before = catalog(url)
    for was, becomes in (
        ("in in_code char(5)", "in in_code char(6)"),
        ("\nbegin", "\n    sql security invoker\nbegin"),
        ("end case;", "end case; do 1;"),
        ("Raises the error", "Raises an error"),
    ):
        assert was in text
        with engine.connect() as connection:
            reload_mysql.run(connection, {"routines": [text.replace(was, becomes, 1)]})
            changes = {name for name, found in catalog(url).items() if before[name] != found}
            assert changes == {("PROCEDURE", "_queue_fail")}, becomes
            reload_mysql.run(connection, {"routines": [text]})
        assert catalog(url) == before, becomes


@pytest.mark.long
def test_a_transaction_that_stays_open_is_waited_for_and_given_up(
    url: str, engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reload_mysql, "TRIES", 2)
    before = catalog(url)
    with open_connection(url) as application, engine.connect() as connection:
        run(application, "start transaction")
        run(application, "call queue_push('mail', 'k', '1', null)")
        with pytest.raises(MigrationError, match="queue_gate"):
            reload_mysql.run(connection, {"routines": inner("new")})
        assert catalog(url) == before
        # and others could go on in between
        run(application, "commit")
        reload_mysql.run(connection, {"routines": inner("new")})
    assert catalog(url) != before


@pytest.mark.long
def test_what_is_killed_between_drop_and_create_is_done_by_the_next_run(url: str, engine: sqlalchemy.Engine):
    def replace(what: str) -> None:
        with engine.connect() as connection:
            reload_mysql.run(connection, {"routines": inner(what)})

    killer = Killer(url)
    total = killer.count(lambda: replace("first"))
    expected = catalog(url)
    missing: set[int] = set()
    for at in range(total - 40, total, 13):
        replace("other")
        with pytest.raises((sqlalchemy.exc.DBAPIError, MigrationError)):
            killer.kill(lambda: replace("first"), at)
        missing.add(len(expected) - len(catalog(url)))
        replace("first")
        assert catalog(url) == expected, at
    assert missing <= {0, 1}


def test_what_a_statement_wants_may_be_gone_on_the_way_down_alone(url: str, engine: sqlalchemy.Engine):
    texts = ["alter table mine modify column a bigint", "alter table mine drop column a"]
    rows(url, "create table mine (a int, b int)")
    with engine.connect() as connection:
        for _ in range(2):  # one that was broken off is run again from its beginning
            reload_mysql.run(connection, {"down": texts})
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="1054"):
            reload_mysql.run(connection, {"up": texts})
        rows(url, "drop table mine")
        reload_mysql.run(connection, {"down": texts})
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="1146"):
            reload_mysql.run(connection, {"up": texts})


def test_the_settings_of_the_connection_are_as_they_were(engine: sqlalchemy.Engine):
    text = (
        "select @@session.sql_mode, @@session.lock_wait_timeout, @@session.collation_connection, @@autocommit"
    )
    with engine.connect() as connection:
        connection.exec_driver_sql("set session sql_mode = 'ANSI_QUOTES', lock_wait_timeout = 7")
        connection.exec_driver_sql("set session collation_connection = 'utf8mb4_bin'")
        before = connection.exec_driver_sql(text).one()
        reload_mysql.run(connection, {"routines": inner("new")})
        assert connection.exec_driver_sql(text).one() == before


def test_a_connection_in_another_character_set_is_refused(databases: Databases):
    url = databases.clean(clocked=False)  # nothing of it is changed
    engine = sqlalchemy.create_engine("mysql+pymysql://", creator=lambda: connect(url))
    with engine.connect() as connection:
        connection.exec_driver_sql("set names latin1")
        with pytest.raises(MigrationError, match="utf8mb4"):
            reload_mysql.run(connection, {"routines": inner("new")})
    engine.dispose()


def test_one_connection_is_not_enough(databases: Databases):
    url = databases.clean(clocked=False)
    engine = sqlalchemy.create_engine(
        "mysql+pymysql://", creator=lambda: connect(url), poolclass=sqlalchemy.StaticPool
    )
    with engine.connect() as connection, pytest.raises(MigrationError, match="second connection"):
        reload_mysql.run(connection, {"routines": inner("new")})
    engine.dispose()
