"""The caller's transaction stays the caller's, whatever is called in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql.calls.dialect import mysql_is_in_transaction
from tests.schema.mysql.catalogs import run
from tests.schema.mysql.waiting import wait_until_somebody_waits
from tests.schema.mysql.world import ALONE, CALLS, World, call, everything, prepare, push_keys
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection


pytestmark = pytest.mark.servers("mariadb", "mysql")

UNDONE = {1020, 1205, 1213}
"""What an old snapshot may come to: changed since, waited too long, deadlock."""

# the error number, and the call
REFUSED = [
    (31001, "call queue_push('', 'new', '1', null)"),
    (31003, "call queue_push('shaped', 'new', '1', null)"),
    (31003, "call queue_push_bytes('mail', 'new', null, null)"),
    (31001, "call queue_push_into('mail', '', '1', null, @outcome)"),
    # the first of them is in by then
    (31003, """call queue_push_many('shaped',"""
     """ '[{{"key": "1", "payload": {{"a": 1}}}}, {{"key": "2", "payload": 2}}]', null)"""),
    (31002, "call queue_reserve('mail', 'w', 1, '{{\"timeout_seconds\": -1}}')"),
    (31001, "call queue_pop('mail', 0, null)"),
    (1264, "call queue_pop('mail', 99999999999, null)"),
    (31001, "call queue_extend('{held}', -1)"),
    (31005, """call queue_extend_many('["{held}", "none"]', 5)"""),
    (31005, "call queue_ack('none', null)"),
    (31005, """call queue_ack_many('["{held}", "none"]', null)"""),
    (31002, "call queue_nack('{held}', '{{\"none\": 1}}')"),
    (31005, """call queue_next('["{held}", "none"]', 'mail', 'w', 1, null)"""),
    # what is held is acked by then
    (31001, """call queue_next('["{held}"]', 'mail', 'w', 0, null)"""),
    (31006, """call queue_next('["{held}", "{held}"]', 'mail', 'w', 1, '{{"lost": "error"}}')"""),
    (31005, """call queue_nack_many('["{held}", "none"]', null)"""),
    (31001, "call queue_move('{held}', '', null)"),
    # the first of them has moved by then
    (31003, """call queue_move_many('[{{"receipt": "{held}", "to_kind": "next"}},"""
     """ {{"receipt": "{other}", "to_kind": "shaped"}}]', null)"""),
    (31001, "call queue_get('mail', '')"),
    (31001, "call queue_peek('mail', 0, null)"),
    (31001, "call queue_remove('mail', '')"),
    (31001, "call queue_purge('mail', 0)"),
    (31002, """call queue_define('mail', '{{"timeout_seconds": 9, "jitter": 2}}')"""),
    (31004, """call queue_define('mail', '{{"dead_letter_kind": "mail"}}')"""),
    (31004, "call queue_drop('mail')"),
    (31001, "call queue_pause('')"),
    (31001, "call queue_redrive('mail.dead', 0)"),
    (31001, "call queue_prune(0)"),
    (31001, "call queue_heartbeat('', null)"),
    (31002, "call queue_heartbeat('w', '{{\"timeout_seconds\": 0}}')"),
    (31001, "call queue_heartbeat('w', '{{\"kinds\": []}}')"),
    (31001, "call queue_drain('')"),
    (31002, """call queue_replay('mail', '{{"limit": 0}}')"""),
    (31001, "call queue_subscribe('topic', '')"),
    (31001, "call queue_unsubscribe('', 'mail')"),
    (31002, "call queue_publish('topic', 'new', '1', '{{\"none\": 1}}')"),
    # the row is in by then
    (31002, """call queue_schedule('new', 'mail', '1', '{{"cron": "0 0 31 2 *"}}')"""),
]  # fmt: skip


def test_every_public_routine_has_a_call(connection: Connection[Any]) -> None:
    found = run(
        connection,
        "select r.routine_name from information_schema.routines r where r.routine_schema = database()"
        " and r.routine_type = 'PROCEDURE' and r.routine_name like 'queue\\_%'",
    )
    assert {name for (name,) in found} == CALLS.keys() | ALONE.keys()


def notes(connection: Connection[Any]) -> list[str]:
    """Return what is in the table `own`."""
    return [note for (note,) in run(connection, "select o.note from own o order by o.id")]


def write(connection: Connection[Any], note: str) -> None:
    """Put a row into the table `own`."""
    run(connection, f"insert into own (note) values ('{note}')")


def refusal(connection: Connection[Any], text: str) -> int:
    """Return the number of the error that a statement raises."""
    with pytest.raises(pymysql.Error) as caught:
        run(connection, text)
    return caught.value.args[0]


@pytest.mark.long
@pytest.mark.core("mariadb")
@pytest.mark.parametrize("begin", ["start transaction", "set autocommit = 0"])
@pytest.mark.usefixtures("own_table")
def test_no_call_commits_or_ends_the_callers_transaction(
    connection: Connection[Any], url: str, begin: str
) -> None:
    world = prepare(connection)
    before = everything(connection)
    with open_connection(url) as session:
        for name, text in CALLS.items():
            run(session, begin)
            write(session, "first")
            run(session, "savepoint mine")
            run(session, world.text(text))
            assert mysql_is_in_transaction(session), name
            write(session, "second")
            run(session, "rollback to savepoint mine")
            assert notes(session) == ["first"], name
            run(session, world.text(text))
            assert (notes(connection), everything(connection)) == ([], before), f"{name}: nobody sees it"
            run(session, "rollback")
            assert (notes(session), everything(session)) == ([], before), name
            run(session, world.text(text) if begin.startswith("set") else "do 1")
            run(session, "rollback")
            assert everything(connection) == before, f"{name} as the first of a transaction"


@pytest.mark.usefixtures("own_table")
def test_a_call_that_fails_undoes_itself_alone(connection: Connection[Any], url: str) -> None:
    world = prepare(connection)
    with open_connection(url) as session:
        run(session, "start transaction")
        write(session, "first")
        call(session, "queue_push", "mail", "mine", "1", None)
        run(session, "savepoint mine")
        write(session, "second")
        inside = everything(session)
        for number, text in REFUSED:
            assert refusal(session, world.text(text)) == number, text
            assert everything(session) == inside, text
        assert notes(session) == ["first", "second"]
        run(session, "rollback to savepoint mine")
        run(session, "commit")
    assert notes(connection) == ["first"]
    assert run(connection, "select q.p_key from delayed_queue q where q.p_key = 'mine'") == [("mine",)]


def test_a_call_that_fails_on_its_own_leaves_nothing(connection: Connection[Any]) -> None:
    world = prepare(connection)
    before = everything(connection)
    for number, text in REFUSED:
        assert refusal(connection, world.text(text)) == number, text
        assert everything(connection) == before, text
        assert not mysql_is_in_transaction(connection), text


def levels(connection: Connection[Any]) -> list[str]:
    """Return what to tell a session, for each level that the server has."""
    text = "set session transaction_isolation = '{}'"
    if not run(connection, "show variables like 'transaction_isolation'"):
        text = "set session tx_isolation = '{}'"
    found = [text.format(name) for name in ("READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE")]
    if run(connection, "show variables like 'innodb_snapshot_isolation'"):
        found = [f"{one}, innodb_snapshot_isolation = off" for one in found]
        found.append(found[1].replace("= off", "= on"))
    return found


def disturb(connection: Connection[Any], world: World) -> None:
    """Change whatever a call could be about."""
    push_keys(connection, "c", "b", on_duplicate="replace")
    call(connection, "queue_push", "mail", "1", "2", '{"on_duplicate": "replace"}')
    call(connection, "queue_extend", world.held, 100)
    call(connection, "queue_ack", world.other, None)
    call(connection, "queue_push", "old", "late", "1", None)
    call(connection, "queue_push", "next", "1", "1", None)
    call(connection, "queue_push", "mail", "dead", "1", None)
    call(connection, "queue_define", "mail", '{"timeout_seconds": 200}')


@pytest.mark.long
def test_every_call_works_in_every_isolation_level(connection: Connection[Any], url: str) -> None:
    for level in levels(connection):
        with open_connection(url) as session:
            run(session, level)
            world = prepare(connection)
            for text in CALLS.values():
                run(session, world.text(text))
            for text in CALLS.values():
                world = prepare(connection)
                run(session, "start transaction with consistent snapshot")
                disturb(connection, world)
                try:
                    run(session, world.text(text))
                except pymysql.Error as error:
                    assert error.args[0] in UNDONE, f"{level} {text}"
                    run(session, "rollback")
                    run(session, world.text(text))
                run(session, "commit")


@pytest.mark.usefixtures("own_table")
def test_locked_tables_are_released_by_a_call_with_autocommit_and_refuse_it_without(
    connection: Connection[Any],
) -> None:
    """As docs/sql.md says: to begin a transaction releases them, and a routine can't see them."""
    run(connection, "lock tables own write")
    assert call(connection, "queue_push", "mail", "a", "1", None)[0][3] == "created"
    run(connection, "select 1 from queue_kind")  # would be refused while tables are locked
    run(connection, "set autocommit = 0")
    run(connection, "lock tables own write")
    with pytest.raises(pymysql.Error, match="was not locked with LOCK TABLES"):
        call(connection, "queue_push", "mail", "b", "1", None)
    with pytest.raises(pymysql.Error, match="was not locked with LOCK TABLES"):
        run(connection, "select 1 from queue_kind")
    run(connection, "rollback")
    run(connection, "unlock tables")
    run(connection, "set autocommit = 1")


@pytest.mark.servers("mariadb")
def test_a_victim_that_waits_to_number_its_log_is_told_of_a_deadlock(
    connection: Connection[Any], url: str
) -> None:
    """MariaDB says 1467, of which nobody knows that it undoes the transaction."""
    run(connection, """call queue_define('mail', '{"log_seconds": 60}')""")
    push_keys(connection, "a", "b")
    with open_connection(url) as other, ThreadPoolExecutor(1) as pool:
        run(other, "set session transaction isolation level serializable")
        run(other, "begin")
        push_keys(other, *(f"{n:03}" for n in range(200)))  # whoever has changed less is the victim
        run(connection, "begin")
        run(connection, "select 1 from delayed_queue where p_kind = 'mail' and p_key = 'b' for update")
        waiting = pool.submit(
            run,
            other,
            "insert into queue_log (event, p_kind, p_key, entry, created_at)"
            " select 'pushed', q.p_kind, q.p_key, q.entry, 0"
            " from delayed_queue q force index (delayed_queue_key)"
            " where q.p_kind = 'mail' and q.p_key in ('a', 'b') order by q.p_key",
        )
        wait_until_somebody_waits(connection)
        with pytest.raises(pymysql.err.OperationalError) as caught:
            push_keys(connection, "new")
        assert caught.value.args[0] == 1213
        assert run(connection, "select @@in_transaction") == [(0,)]
        waiting.result(60)
        run(other, "rollback")
