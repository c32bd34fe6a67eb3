"""The numbers of entries rise whichever server gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.rules import each
from tests.schema.mysql.catalogs import run
from tests.schema.mysql.world import CALLS, World, call, prepare, push_keys
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection

pytestmark = pytest.mark.servers("mariadb", "mysql")

EPOCH = 1000
WIDE = 1 << 32
"""How far the numbers of two epochs are apart."""
LONG_AGO = "0"
NOW = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))"


def another_server(connection: Connection[Any], began_at: str = LONG_AGO, epoch: int = EPOCH) -> None:
    """Leave what a server leaves that gave the last number."""
    run(connection, f"insert into queue_epoch values ({epoch}, 1, 4711, {began_at})")


def entries(connection: Connection[Any]) -> list[int]:
    return [entry for (entry,) in run(connection, "select entry from delayed_queue order by entry")]


def lines(connection: Connection[Any]) -> list[str]:
    return [key for (key,) in run(connection, "select p_key from delayed_queue order by entry")]


@pytest.fixture
def world(connection: Connection[Any]) -> World:
    """A world in which each routine has something to do."""
    return prepare(connection)


@each("routine", sorted(CALLS))
def test_whatever_makes_an_entry_numbers_it_behind_those_of_another_server(
    connection: Connection[Any], world: World, routine: str
) -> None:
    run(connection, "start transaction")
    before = set(entries(connection))
    another_server(connection)
    run(connection, CALLS[routine].format(held=world.held))
    new = set(entries(connection)) - before
    run(connection, "rollback")
    assert all(entry > EPOCH * WIDE for entry in new)
    if routine.startswith("queue_push"):
        assert len(new) == 1


def test_a_row_of_the_inbox_and_a_stage_are_numbered_so_too(connection: Connection[Any]) -> None:
    push_keys(connection, "first")
    another_server(connection)
    run(connection, "insert into queue_inbox (p_kind, p_key, payload) values ('mail', 'second', '1')")
    ((part,),) = call(connection, "queue_stage_begin", "job", None)
    run(
        connection,
        f"insert into queue_stage (part, p_kind, p_key, payload) values ({part}, 'mail', 'third', '1')",
    )
    another_server(connection, epoch=2 * EPOCH)
    staged = f'[{{"part": {part}, "messages": 1}}]'
    call(connection, "queue_stage_publish", staged, None)
    call(connection, "queue_prune", None)  # takes the inbox in where there is no trigger
    found = dict(run(connection, "select p_key, entry from delayed_queue"))
    assert found["first"] < EPOCH * WIDE < found["second"]
    assert found["third"] > 2 * EPOCH * WIDE


def test_a_line_goes_on_after_another_server_gave_numbers_and_after_the_first_is_back(
    connection: Connection[Any],
) -> None:
    for epoch, key in enumerate("abcd"):
        call(
            connection, "queue_push", "mail", key, "1", '{"order_key": "o", "scheduled_at": 1700000000000000}'
        )
        another_server(connection, epoch=EPOCH * (epoch + 1))
    popped = [call(connection, "queue_pop", "mail", 1, None)[0][1] for _ in "abcd"]
    assert popped == list("abcd")


def test_a_batch_has_numbers_in_its_order(connection: Connection[Any]) -> None:
    another_server(connection)
    push_keys(connection, "z", "y", "x")
    assert lines(connection) == ["z", "y", "x"]


def test_two_servers_at_once_take_turns_once_a_second(connection: Connection[Any]) -> None:
    """Epochs would be used up by two that are written to all the time."""
    push_keys(connection, "a")
    another_server(connection, NOW)
    push_keys(connection, "b", "c")
    assert entries(connection)[-1] < EPOCH * WIDE
    run(connection, f"update queue_epoch set began_at = {NOW} - 1000000 where origin = 4711")
    push_keys(connection, "d")
    assert lines(connection) == ["a", "b", "c", "d"]
    assert entries(connection)[-1] > EPOCH * WIDE
    assert run(connection, "select count(*) from queue_epoch") == [(3,)]


def test_who_begins_an_epoch_holds_nobody_up(connection: Connection[Any], url: str) -> None:
    another_server(connection)
    with open_connection(url) as other:
        run(other, "set innodb_lock_wait_timeout = 1")
        for one in (connection, other):
            run(one, "begin")
            push_keys(one, f"key {one.thread_id()}")
        run(connection, "rollback")
        run(other, "commit")
        push_keys(connection, "last")
        assert lines(other) == [f"key {other.thread_id()}", "last"]
    assert run(connection, f"select distinct epoch from queue_epoch where epoch > {EPOCH}") == [(EPOCH + 1,)]


def test_a_push_leaves_the_id_that_was_inserted_last(connection: Connection[Any], own_table: None) -> None:  # noqa: ARG001
    run(connection, "insert into own (note) values ('x')")
    before = run(connection, "select last_insert_id()")
    another_server(connection)
    push_keys(connection, "a", "b")
    assert run(connection, "select last_insert_id()") == before


def test_epochs_are_folded_and_who_folds_them_holds_nobody_up(connection: Connection[Any], url: str) -> None:
    for epoch in range(1, 300):
        another_server(connection, epoch=epoch)
    push_keys(connection, "a")
    with open_connection(url) as other:
        run(other, "begin")
        call(other, "queue_prune", None)
        run(connection, "set innodb_lock_wait_timeout = 1")
        call(connection, "queue_prune", None)
        run(other, "rollback")
    call(connection, "queue_prune", None)
    assert run(connection, "select count(*), min(epoch), max(epoch) from queue_epoch") == [(100, 201, 300)]
