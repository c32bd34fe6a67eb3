"""What the server leaves of a call that it breaks off.

Of one that KILL QUERY ends while it waits MariaDB runs the handlers, MySQL none of them. Of one for which
there is no room neither runs any.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql import Queue
from pyqueue_sql.calls.dialect import mysql_is_in_transaction
from tests.schema.mysql.catalogs import run
from tests.schema.mysql.waiting import until
from tests.schema.mysql.world import call, everything, prepare
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from pymysql import Connection

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.usefixtures("own_table")]

KILLED, REFUSED = 1317, 31004
TAKEN = "call queue_push('mail', 'taken', '1', null)"
SECOND = "select q.entry from delayed_queue q where q.p_kind = 'mail' and q.p_key = '2' for update"
MANY = json.dumps([{"key": f"{n:05}", "payload": n} for n in range(400)])
WAIT = "call queue_wait('\"mail\"', 0)"
# what somebody else has, and the call that waits for it
WAITING = {
    "a push": (TAKEN, TAKEN),
    "a push that is half done": (
        TAKEN,
        """call queue_push_many('mail', '[{{"key": "0", "payload": 1, "order_key": "o"}},"""
        """ {{"key": "taken", "payload": 1, "order_key": "p"}}]', null)""",
    ),
    "an ack": (SECOND, "call queue_ack('{other}', null)"),
}


def kill(connection: Connection[Any], url: str, session: Connection[Any], has: str, text: str) -> None:
    """Kill a call that waits for what somebody else has, until that one gives it up."""
    with open_connection(url) as other, ThreadPoolExecutor(1) as pool:
        run(other, "start transaction")
        run(other, has)
        waiting = pool.submit(run, session, text)

        def has_ended() -> bool:
            if waits(connection, session):  # it may be about to, and then it misses that it is killed
                run(connection, f"kill query {session.thread_id()}")
            return waiting.done()

        until(has_ended)
        with pytest.raises(pymysql.Error) as caught:
            waiting.result()
        assert caught.value.args[0] == KILLED


def waits(connection: Connection[Any], session: Connection[Any]) -> bool:
    """Whether the session waits for a row, or for the gate."""
    [(_, rows)] = run(connection, "show global status like 'innodb_row_lock_current_waits'")
    text = f"select p.state from information_schema.processlist p where p.id = {session.thread_id()}"
    [(state,)] = run(connection, text)
    return int(rows) > 0 or "metadata lock" in (state or "")


def refusal(session: Connection[Any], text: str) -> tuple[int, bool]:
    """Return the number of a call's error, and whether it tells of a call that was killed."""
    with pytest.raises(pymysql.Error) as caught:
        run(session, text)
    number, message = caught.value.args
    return number, message.startswith('transaction "open": is of a call that was killed (1317)')


@pytest.mark.parametrize("following", ["call queue_push('mail', 'next', '1', null)", WAIT])
@pytest.mark.parametrize("which", WAITING)
def test_what_follows_a_killed_call_is_refused_once_and_nothing_of_it_is_kept(
    connection: Connection[Any], url: str, server_name: str, which: str, following: str
) -> None:
    world = prepare(connection)
    has, text = WAITING[which]
    before = everything(connection)
    with open_connection(url) as session:
        kill(connection, url, session, has, world.text(text))
        if server_name.startswith("mysql"):
            run(session, "insert into own (note) values ('since')")
            assert refusal(session, following) == (REFUSED, True)
        assert (everything(connection), run(connection, "select o.note from own o")) == (before, [])
        assert run(session, following)[0][0] == "mail"
        assert not mysql_is_in_transaction(session)
        call(session, "queue_push", "mail", "kept", "1", None)
    assert call(connection, "queue_get", "mail", "kept") != []


@pytest.mark.parametrize("begin", ["start transaction", "set autocommit = 0"])
@pytest.mark.parametrize("which", ["a push", "an ack"])
def test_a_transaction_of_the_callers_in_which_a_call_was_killed_is_the_callers_still(
    connection: Connection[Any], url: str, begin: str, which: str
) -> None:
    world = prepare(connection)
    has, text = WAITING[which]
    with open_connection(url) as session:
        run(session, begin)
        run(session, "insert into own (note) values ('before')")
        call(session, "queue_push", "mail", "before", "1", None)
        kill(connection, url, session, has, world.text(text))
        assert call(session, "queue_push", "mail", "since", "1", None)[0][3] == "created"
        assert refusal(session, WAIT) == (REFUSED, False)
        run(session, "commit")
    assert run(connection, "select o.note from own o") == [("before",)]
    assert {"before", "since"} <= {row[1] for row in call(connection, "queue_peek", "mail", 10, None)}


@pytest.mark.parametrize("begin", ["do 1", "start transaction", "set autocommit = 0"])
def test_who_rolls_back_after_a_killed_call_goes_on(
    connection: Connection[Any], url: str, begin: str
) -> None:
    with open_connection(url) as session:
        kill(connection, url, session, TAKEN, TAKEN)
        run(session, "rollback")
        run(session, begin)
        for key in ("a", "b"):
            assert call(session, "queue_push", "mail", key, "1", None)[0][3] == "created"
        run(session, "commit")
    assert len(call(connection, "queue_pop", "mail", 9, None)) == 2


@pytest.mark.parametrize("text", [TAKEN, WAIT])
def test_a_call_that_was_killed_at_the_gate_has_ended(
    connection: Connection[Any], url: str, text: str
) -> None:
    with open_connection(url) as session:
        kill(connection, url, session, "lock tables queue_gate write", text)
        run(session, "insert into own (note) values ('since')")
        run(session, text)
    assert run(connection, "select o.note from own o") == [("since",)]


@pytest.mark.parametrize("following", [TAKEN, WAIT])
def test_what_a_wait_has_begun_is_known_for_its_own(url: str, following: str) -> None:
    with open_connection(url) as session:
        run(session, "call _queue_begin_alone()")  # as a wait leaves it that was killed while it looked
        assert refusal(session, following) == (REFUSED, True)
        run(session, following)
        assert not mysql_is_in_transaction(session)


def test_turning_autocommit_off_hides_no_killed_call(
    connection: Connection[Any], url: str, server_name: str
) -> None:
    with open_connection(url) as session:
        kill(connection, url, session, TAKEN, TAKEN)
        run(session, "set autocommit = 0")
        if server_name.startswith("mysql"):
            assert refusal(session, TAKEN) == (REFUSED, True)
        assert run(session, TAKEN)[0][3] == "created"
        run(session, "commit")
    assert len(call(connection, "queue_pop", "mail", 9, None)) == 1


# on MySQL no call of ours gets there with the least that may be set
NO_ROOM = {"a sort": ("sort_buffer_size", 1038), "a temporary table": ("tmp_disk_table_size", 1114)}


def has_no_room(session: Connection[Any], what: str, push: Callable[[], object]) -> None:
    """Push without room for something, which the server has to break off."""
    setting, number = NO_ROOM[what]
    run(session, f"set {setting} = 1024")
    with pytest.raises(pymysql.Error) as caught:
        push()
    assert caught.value.args[0] == number
    run(session, f"set {setting} = default")


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("what", NO_ROOM)
def test_a_call_without_room_is_undone_by_the_next_one_which_is_refused_once(
    connection: Connection[Any], url: str, what: str
) -> None:
    before = everything(connection)
    with open_connection(url) as session:
        has_no_room(session, what, lambda: call(session, "queue_push_many", "mail", MANY, None))
        run(session, "insert into own (note) values ('since')")
        assert refusal(session, TAKEN) == (REFUSED, True)
        assert (everything(connection), run(connection, "select o.note from own o")) == (before, [])
        assert len(call(session, "queue_push_many", "mail", MANY, None)) == 400
    assert len(call(connection, "queue_pop", "mail", 1000, None)) == 400


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("what", NO_ROOM)
def test_the_python_client_goes_on_after_a_call_without_room(
    connection: Connection[Any], url: str, what: str
) -> None:
    with open_connection(url) as session:
        queue = Queue(session)
        has_no_room(session, what, lambda: queue.push_many("mail", json.loads(MANY)))
        run(session, "insert into own (note) values ('since')")
        assert queue.push("mail", "next", 1).outcome == "created"
    assert run(connection, "select o.note from own o") == [("since",)]
    assert [row[1] for row in call(connection, "queue_pop", "mail", 9, None)] == ["next"]


@pytest.mark.long
@pytest.mark.servers("mariadb")
def test_a_batch_that_answers_has_done_all_that_hangs_on_it(connection: Connection[Any], url: str) -> None:
    """Now and then MariaDB goes on with a call that is killed, without the value that it was working out."""
    call(connection, "queue_define", "logged", '{"log_seconds": 1000}')
    draw = random.Random(1)
    answered = 0
    with open_connection(url) as session, ThreadPoolExecutor(1) as pool:
        for batch in range(1500):
            messages = [{"key": f"{batch}-{n}", "payload": 0, "route": ["next"]} for n in range(12)]
            killed = pool.submit(kill_after, draw.uniform(0, 0.02), connection, session)
            with contextlib.suppress(pymysql.Error):
                call(session, "queue_push_many", "logged", json.dumps(messages), None)
                answered += 1
            killed.result()
            with contextlib.suppress(pymysql.Error):
                run(session, "do 1")  # the kill may be of this one
            run(session, "rollback")
    pushed = "select count(*) from delayed_queue where p_kind = 'logged'"
    logged = "select count(*) from queue_log where p_kind = 'logged'"
    assert run(connection, pushed) == run(connection, logged)
    assert 0 < answered < 1500


def kill_after(seconds: float, connection: Connection[Any], session: Connection[Any]) -> None:
    """Kill what a session does, a little later."""
    time.sleep(seconds)
    run(connection, f"kill query {session.thread_id()}")
