"""Whoever waits in MariaDB and MySQL: one looks for all, and whatever happens to it, the others wake."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.calls.dialect import mysql_is_in_transaction
from tests.schema.mysql.catalogs import run
from tests.schema.mysql.waiting import AT_ONCE_S, PATIENCE_S, Waiter, holder, line_up, until
from tests.schema.mysql.world import call, everything
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection

    from tests.servers.databases import Databases

pytestmark = pytest.mark.servers("mariadb", "mysql")

INTERRUPTED = 1317
LOST = 2013
REFUSED = 31004
WAITERS = 50
LOOKS_IN_A_SECOND = 1000 // 30
CALLS_OF_A_LOOK = 9


def push(connection: Connection[Any], key: str = "a") -> None:
    """Push to `mail`."""
    call(connection, "queue_push", "mail", key, "1", None)


def pop(connection: Connection[Any]) -> None:
    """Take all of `mail`."""
    call(connection, "queue_pop", "mail", 100, None)


@pytest.mark.parametrize("begin", ["start transaction", "set autocommit = 0"])
@pytest.mark.usefixtures("own_table")
def test_a_wait_inside_of_a_transaction_is_refused_and_leaves_it_alone(
    connection: Connection[Any], url: str, begin: str
) -> None:
    with open_connection(url) as session:
        run(session, begin)
        run(session, "insert into own (note) values ('mine')")
        waiter = Waiter(url)  # whose line it would join
        with pytest.raises(Exception, match="transaction") as caught:
            call(session, "queue_wait", '"mail"', 60)
        assert caught.value.args[0] == REFUSED
        assert mysql_is_in_transaction(session)
        run(session, "commit")
    assert run(connection, "select o.note from own o") == [("mine",)]
    push(connection)
    assert waiter.answer() == "mail"


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
@pytest.mark.parametrize("autocommit", [0, 1])
def test_between_transactions_a_wait_sees_what_comes_in_every_isolation_level(
    connection: Connection[Any], url: str, level: str, autocommit: int
) -> None:
    settings = (
        f"set session transaction isolation level {level}",
        f"set autocommit = {autocommit}",
        "select count(*) from delayed_queue q",
        "commit",
    )
    waiter = Waiter(url, settings=settings)
    until(lambda: holder(connection) == waiter.number)
    push(connection)
    assert waiter.answer() == "mail"
    assert not mysql_is_in_transaction(waiter.session)
    assert run(waiter.session, "select @@autocommit") == [(autocommit,)]
    assert len(call(waiter.session, "queue_reserve", "mail", "w", 1, None)) == 1
    run(waiter.session, "rollback")
    assert (len(call(connection, "queue_pop", "mail", 1, None)) == 1) == (autocommit == 0)


def test_a_wait_writes_nothing_and_leaves_no_lock(connection: Connection[Any], url: str) -> None:
    before = everything(connection)
    assert call(connection, "queue_wait", '"mail"', 0.2) == []
    assert holder(connection) is None
    for kinds, seconds in (("no JSON", 1), ('"mail"', -1)):
        with pytest.raises(Exception, match=r"kinds|seconds"):
            call(connection, "queue_wait", kinds, seconds)
        assert holder(connection) is None
    assert everything(connection) == before
    waiter = Waiter(url)
    push(connection)
    assert waiter.answer() == "mail"
    assert holder(connection) is None


def test_the_order_of_the_kinds_makes_no_other_line_but_another_database_does(
    connection: Connection[Any], url: str, databases: Databases
) -> None:
    waiter = Waiter(url, "mail", "sms", "mail")
    until(lambda: holder(connection, "sms", "mail") == waiter.number)
    assert holder(connection, "mail") is None
    with open_connection(databases.clean(clocked=True)) as other:
        assert holder(other, "mail", "sms") is None
    push(connection)
    assert waiter.answer() == "mail"


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_one_looks_for_all_who_wait_for_the_same(connection: Connection[Any], url: str) -> None:
    def count(name: str) -> int:
        return int(run(connection, f"show global status like '{name}'")[0][1])

    waiters = line_up(connection, url, WAITERS)
    questions, calls, begun = count("Questions"), count("Com_call_procedure"), time.monotonic()
    time.sleep(2)
    took = time.monotonic() - begun
    # the statements of clients, and what one of them looks: each for itself would make fifty times as many
    assert count("Questions") - questions < 10
    assert count("Com_call_procedure") - calls < 3 * CALLS_OF_A_LOOK * LOOKS_IN_A_SECOND * took
    for number in range(WAITERS):
        push(connection, f"k{number}")
    assert [waiter.answer(PATIENCE_S) for waiter in waiters] == ["mail"] * WAITERS, "the news is passed on"
    pop(connection)


@pytest.mark.parametrize("whom", ["the one that looks", "one in line"])
@pytest.mark.parametrize(("how", "error"), [("kill query", INTERRUPTED), ("kill", LOST)])
def test_a_wait_that_is_killed_says_so_and_the_others_wake(
    connection: Connection[Any], url: str, how: str, error: int, whom: str
) -> None:
    waiters = line_up(connection, url, 3)
    killed = waiters.pop(0 if whom == "the one that looks" else 1)
    run(connection, f"{how} {killed.number}")
    if not killed.ends(within=1):  # MariaDB loses a KILL QUERY that comes while a statement of the call ends
        run(connection, f"{how} {killed.number}")
    assert killed.answer() == error
    if error == INTERRUPTED and holder(connection) == killed.number:
        # it was stopped in a look, where no handler runs: its next wait gives the lock back
        assert call(killed.session, "queue_wait", '"mail"', 0) == []
    until(lambda: holder(connection) in {one.number for one in waiters}, AT_ONCE_S)
    push(connection)
    until(lambda: not all(one.waits for one in waiters), AT_ONCE_S)
    assert [waiter.answer() for waiter in waiters] == ["mail"] * 2
    assert holder(connection) is None


def test_a_client_that_vanishes_takes_no_news_with_it(connection: Connection[Any], url: str) -> None:
    gone, other = line_up(connection, url, 2)
    theirs: Any = gone.session
    theirs._sock.shutdown(socket.SHUT_RDWR)
    assert gone.answer() == LOST
    push(connection)
    assert other.answer() == "mail"


@pytest.mark.long
def test_where_the_lock_stays_behind_the_others_wake_all_the_same(
    connection: Connection[Any], url: str
) -> None:
    with open_connection(url) as stopped:
        assert holder(stopped) is None
        # as a look leaves it that is stopped in the middle
        run(stopped, "do get_lock(@pyqueue_lock, 0)")
        run(stopped, "set @pyqueue_wait = @pyqueue_lock")
        other = Waiter(url)
        time.sleep(0.2)
        push(connection)
        assert other.answer(PATIENCE_S) == "mail"
        pop(connection)
        assert call(stopped, "queue_wait", '"mail"', 0) == []
        assert holder(connection) is None, "its next wait gives it back"


def test_what_another_transaction_has_in_hand_ends_no_wait(connection: Connection[Any], url: str) -> None:
    push(connection)
    with open_connection(url) as consumer:
        run(consumer, "start transaction")
        assert len(call(consumer, "queue_reserve", "mail", "w", 1, None)) == 1
        assert call(connection, "queue_wait", '"mail"', 0) == []
        waiter = Waiter(url)
        time.sleep(0.3)
        assert waiter.waits
        run(consumer, "rollback")
        assert waiter.answer() == "mail"


def test_what_has_landed_ends_a_wait(connection: Connection[Any], url: str) -> None:
    waiter = Waiter(url, "other", "mail")
    until(lambda: holder(connection, "other", "mail") == waiter.number)
    call(connection, "queue_pause", "other")
    run(connection, "insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'a', '1')")
    assert waiter.answer() == "mail"
    assert len(call(waiter.session, "queue_reserve", "mail", "w", 1, None)) == 1
    assert call(waiter.session, "queue_wait", '["other", "mail"]', 0) == [], "it has been taken in"


def test_a_wait_keeps_no_upgrade_waiting_and_waits_for_it(connection: Connection[Any], url: str) -> None:
    waiter = Waiter(url)
    until(lambda: holder(connection) == waiter.number)
    with open_connection(url) as upgrade:
        run(upgrade, "set session lock_wait_timeout = 1")
        run(upgrade, "lock tables queue_gate write")
        with contextlib.suppress(AssertionError):
            waiter.answer(0.3)
        assert waiter.waits
        run(upgrade, "unlock tables")
    push(connection)
    assert waiter.answer() == "mail"


def test_a_hundred_kinds_are_no_more_than_a_wait(connection: Connection[Any], url: str) -> None:
    kinds = [f"k{number:093}é" for number in range(99)]
    waiter = Waiter(url, *kinds, "mail")
    until(lambda: holder(connection, *kinds, "mail") == waiter.number)
    push(connection)
    assert waiter.answer(PATIENCE_S) == "mail"
    call(connection, "queue_push", kinds[-1], "a", "1", None)
    assert call(connection, "queue_wait", json.dumps(kinds), 0) == [(kinds[-1],)]
