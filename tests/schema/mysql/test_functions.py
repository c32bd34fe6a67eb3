"""The queue inside other statements: the short forms in a SELECT, and the outbox of an application's table.

On a server that refuses functions that write, MySQL as it comes, they are installed once it allows them.
"""

from __future__ import annotations

import base64
import json
import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql import Queue
from pyqueue_sql.schema import migrate
from tests.rules import each
from tests.schema.mysql.catalogs import catalog, run
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.databases import Databases

pytestmark = pytest.mark.servers("mariadb", "mysql")

NOT_ALLOWED = 1227
VICTIM = {1020, 1205, 1213}
"""Of others that wait for the same: the call was undone, and can be made again."""

TRUST = "log_bin_trust_function_creators"
SHORT_FORMS = {("FUNCTION", name) for name in ("queue_push", "queue_reserve", "queue_ack")}

APPLICATION = """
create table orders (
    id int auto_increment primary key,
    place varchar(300) not null,
    customer varchar(50) character set utf8mb4)
"""
OUTBOX = """
create trigger outbox after insert on orders for each row
    call queue_push_into('orders', new.place, json_object('id', new.id, 'customer', new.customer),
        '{"priority": 3}', @outcome)
"""


@contextmanager
def allowed(url: str) -> Iterator[None]:
    """Let the server allow functions and triggers that write, where it doesn't."""
    with open_connection(url) as connection:
        [(refuses,)] = run(connection, f"select @@global.log_bin and not @@global.{TRUST}")
        if not refuses:
            yield
            return
        try:
            run(connection, f"set global {TRUST} = 1")
        except pymysql.Error as error:
            if error.args[0] != NOT_ALLOWED:
                raise
            pytest.skip(f"{TRUST} is off, and this user may not set it")
        try:
            yield
        finally:
            run(connection, f"set global {TRUST} = 0")


@pytest.fixture(scope="module")
def installed() -> Iterator[Callable[[Databases], str]]:
    """Return the URL of a server's database that has the functions; it is made once."""
    made: dict[Databases, str] = {}
    with ExitStack() as stack:

        def url_of(databases: Databases) -> str:
            if databases not in made:
                url = stack.enter_context(databases.empty())
                migrate.upgrade(url)
                with allowed(url), open_connection(url) as connection:
                    migrate.upgrade(url)
                    run(connection, APPLICATION)
                    run(connection, OUTBOX)
                made[databases] = url
            return made[databases]

        yield url_of


@pytest.fixture
def url(installed: Callable[[Databases], str], databases: Databases) -> str:
    """The URL of a database that has the functions, and an application's table with an outbox."""
    return installed(databases)


@pytest.fixture
def connection(url: str) -> Iterator[pymysql.Connection[Any]]:
    """A connection in autocommit; nothing is in the queue and in the application's table."""
    with open_connection(url) as connection:
        for table in ("orders", "delayed_queue", "queue_kind"):
            run(connection, f"delete from {table}")
        yield connection


@pytest.fixture
def other(url: str, connection: pymysql.Connection[Any]) -> Iterator[pymysql.Connection[Any]]:
    """Another one, that waits for nobody for long."""
    assert connection.open
    with open_connection(url) as other:
        run(other, "set session innodb_lock_wait_timeout = 1")
        yield other


def value(connection: pymysql.Connection[Any], text: str, *values: object) -> Any:
    """Return the one value that a SELECT answers."""
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        [(found,)] = cursor.fetchall()
        return found


def answer(connection: pymysql.Connection[Any], text: str, *values: object) -> Any:
    """Return the one JSON value that a SELECT answers."""
    return json.loads(value(connection, text, *values))


def called(connection: pymysql.Connection[Any], text: str) -> dict[str, Any]:
    """Return the row that a CALL answers."""
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(text)
        [row] = cursor.fetchall()
        while cursor.nextset():
            pass
        return row


def keys(connection: pymysql.Connection[Any], kind: str = "orders") -> list[str]:
    return sorted(message.key for message in Queue(connection).peek(kind, 100))


def places(connection: pymysql.Connection[Any]) -> list[str]:
    return [place for (place,) in run(connection, "select o.place from orders o order by o.place")]


def order(connection: pymysql.Connection[Any], *places: str) -> None:
    """Insert rows into the application's table, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute("insert into orders (place) values " + ", ".join(["(%s)"] * len(places)), places)


def test_what_was_refused_comes_with_the_next_upgrade_and_stays(url: str, caplog: pytest.LogCaptureFixture):
    expected = {*SHORT_FORMS, ("TRIGGER", "queue_inbox")}
    assert catalog(url).keys() >= expected
    migrate.upgrade(url)
    assert catalog(url).keys() >= expected
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_push_in_a_select_answers_as_the_procedure(connection: pymysql.Connection[Any]):
    pushed = answer(connection, "select queue_push('k', 'a', '{\"to\": [1]}')")
    message = Queue(connection).get("k", "a")
    assert message and message.payload == {"to": [1]}
    at = message.scheduled_at
    assert pushed == {"p_kind": "k", "p_key": "a", "scheduled_at": at, "outcome": "created"}
    again = answer(connection, "select queue_push('k', 'a', '2')")
    assert again == called(connection, "call queue_push('k', 'a', '3', null)")
    assert again["outcome"] == "ignored"


@each("key", ['"', "\\", "é\u0301", "a ", "\U0001f600", "%s"])
def test_any_key_comes_back_as_it_was(connection: pymysql.Connection[Any], key: str):
    payload = {"text": key, "more": [None, True, 1.5]}
    pushed = answer(connection, "select queue_push('k', %s, %s)", key, json.dumps(payload))
    assert (pushed["p_key"], pushed["outcome"]) == (key, "created")
    reserved = answer(connection, "select queue_reserve('k')")
    assert (reserved["p_key"], reserved["payload"]) == (key, payload)


def test_a_push_without_a_key_gets_one(connection: pymysql.Connection[Any]):
    pushed = [answer(connection, "select queue_push('k', null, '1')") for _ in range(2)]
    assert sorted(one["p_key"] for one in pushed) == keys(connection, "k")


def test_a_reserve_in_a_select_has_the_columns_of_the_procedure(connection: pymysql.Connection[Any]):
    queue = Queue(connection)
    queue.push("k", "a", {"n": 1}, priority=5, headers={"h": "x"})
    queue.push_bytes("k", "b", bytes(range(256)))
    queue.push("k", "c", None)
    found = [answer(connection, "select queue_reserve('k')") for _ in range(2)]
    names = called(connection, "call queue_reserve('k', null, 1, null)").keys()
    assert value(connection, "select queue_reserve('k')") is None
    for one, key in zip(found, "ab", strict=True):
        held = called(connection, f"call queue_get('k', '{key}')")
        assert one.keys() == names
        assert held.pop("state") == "reserved"
        assert (one["payload"], one["headers"]) == (
            json.loads(held.pop("payload") or "null"),
            json.loads(held.pop("headers") or "null"),
        )
        content = held.pop("payload_bytes")
        assert one["payload_bytes"] == (content and base64.b64encode(content).decode())
        assert {name: one[name] for name in held} == held
        assert one["attempts"] == 1
        assert one["scheduled_at"] - one["reserved_at"] == 300 * 1_000_000
        assert queue.ack(one["receipt"]).outcome == "acked"


def test_nothing_is_reserved_of_a_paused_kind(connection: pymysql.Connection[Any]):
    queue = Queue(connection)
    queue.push("k", "a", 1)
    queue.pause("k")
    assert value(connection, "select queue_reserve('k')") is None
    queue.resume("k")
    assert answer(connection, "select queue_reserve('k')")["p_key"] == "a"


def test_an_ack_in_a_select(connection: pymysql.Connection[Any]):
    queue = Queue(connection)
    queue.push("k", "a", 1)
    receipt = answer(connection, "select queue_reserve('k')")["receipt"]
    assert answer(connection, "select queue_ack(%s)", receipt) == {"receipt": receipt, "outcome": "acked"}
    assert answer(connection, "select queue_ack(%s)", receipt) == {"receipt": receipt, "outcome": "lost"}
    assert queue.get("k", "a") is None


@each(
    ("text", "number"),
    [
        ("select queue_push('', 'a', '1')", 31001),
        ("select queue_push('k', '', '1')", 31001),
        ("select queue_push('k', 'a', repeat('[', 40))", 31003),
        ("select queue_reserve(null)", 31001),
        ("select queue_ack('never a receipt')", 31005),
    ],
)
def test_the_errors_of_the_short_forms(connection: pymysql.Connection[Any], text: str, number: int):
    with pytest.raises(pymysql.Error) as raised:
        run(connection, text)
    assert raised.value.args[0] == number
    assert keys(connection, "k") == []


def test_the_short_forms_ride_in_the_transaction(
    connection: pymysql.Connection[Any], other: pymysql.Connection[Any]
):
    run(connection, "begin")
    run(connection, "select queue_push('k', 'a', '1')")
    assert keys(other, "k") == []
    run(connection, "rollback")
    assert keys(connection, "k") == []
    Queue(connection).push("k", "b", 1)
    run(connection, "begin")
    receipt = answer(connection, "select queue_reserve('k')")["receipt"]
    assert answer(connection, "select queue_ack(%s)", receipt)["outcome"] == "acked"
    run(connection, "rollback")
    assert answer(connection, "select queue_reserve('k')")["attempts"] == 1


def test_a_select_of_many_pushes_is_all_or_nothing(connection: pymysql.Connection[Any]):
    text = "select queue_push('k', j.k, '1') from json_table(%s, '$[*]' columns (k varchar(300) path '$')) j"
    with connection.cursor() as cursor:
        cursor.execute(text, [json.dumps(["a", "b", "a"])])
        outcomes = [json.loads(one)["outcome"] for (one,) in cursor.fetchall()]
        assert outcomes == ["created", "created", "ignored"]
        with pytest.raises(pymysql.Error) as raised:
            cursor.execute(text, [json.dumps(["c", "d", "k" * 201])])
    assert raised.value.args[0] == 31001
    assert keys(connection, "k") == ["a", "b"]


def test_consumers_at_once_by_short_forms_get_each_message_once(
    url: str, connection: pymysql.Connection[Any]
):
    Queue(connection).push_many("k", [{"key": str(number), "payload": 1} for number in range(200)])

    def again(session: pymysql.Connection[Any], text: str, *values: object) -> Any:
        while True:
            try:
                return value(session, text, *values)
            except pymysql.OperationalError as error:
                # a function can't begin again, as the procedures do
                if error.args[0] not in VICTIM:
                    raise

    def consume() -> Iterator[str]:
        with open_connection(url) as session:
            while found := again(session, "select queue_reserve('k')"):
                message = json.loads(found)
                finished = json.loads(again(session, "select queue_ack(%s)", message["receipt"]))
                assert finished["outcome"] == "acked"
                yield message["p_key"]

    with ThreadPoolExecutor(4) as pool:
        finished = [pool.submit(lambda: list(consume())) for _ in range(4)]
    assert Counter(key for one in finished for key in one.result()) == Counter(map(str, range(200)))


@each(
    ("text", "us"),
    [
        ("1970-01-01 00:00:00", 0),
        ("2026-01-01 00:00:00.000001", 1_767_225_600_000_001),
        ("2026-03-29 02:30:00", 1_774_751_400_000_000),  # no such time in most of Europe
        ("2040-02-29 12:00:00.5", 2_214_129_600_500_000),
        ("1969-12-31 23:59:59.999999", -1),
    ],
)
def test_times_are_converted_both_ways_whatever_the_session(
    connection: pymysql.Connection[Any], text: str, us: int
):
    for setting in ("time_zone = '+00:00'", "time_zone = '-07:30'", "timestamp = 1"):
        run(connection, f"set {setting}")
        assert value(connection, "select queue_time(%s)", text) == us
        assert value(connection, "select queue_timestamp(%s)", us) == datetime.fromisoformat(text)
    assert value(connection, "select queue_time(null)") is None
    assert value(connection, "select queue_timestamp(null)") is None


def test_a_message_of_the_outbox_lives_and_dies_with_its_row(
    connection: pymysql.Connection[Any], other: pymysql.Connection[Any]
):
    run(connection, "begin")
    order(connection, "a")
    assert (places(other), keys(other)) == ([], [])
    run(connection, "commit")
    assert (places(other), keys(other)) == (["a"], ["a"])
    run(connection, "begin")
    order(connection, "b")
    run(connection, "savepoint here")
    order(connection, "c", "d")
    run(connection, "rollback to here")
    run(connection, "commit")
    assert (places(other), keys(other)) == (["a", "b"], ["a", "b"])
    run(connection, "begin")
    order(connection, "e")
    run(connection, "rollback")
    assert (places(other), keys(other)) == (["a", "b"], ["a", "b"])


def test_the_outbox_has_what_is_in_the_row(connection: pymysql.Connection[Any]):
    run(connection, "insert into orders (place, customer) values ('a', 'Zoë \"\U0001f600\"')")
    [(number,)] = run(connection, "select o.id from orders o")
    message = Queue(connection).get("orders", "a")
    assert message and message.payload == {"id": number, "customer": 'Zoë "\U0001f600"'}
    assert (message.priority, message.attempts, message.state) == (3, 0, "ready")


@pytest.mark.parametrize("wrong", ["", "k" * 201])
def test_what_the_queue_refuses_refuses_the_row(connection: pymysql.Connection[Any], wrong: str):
    with pytest.raises(pymysql.Error, match="key") as raised:
        order(connection, "a", wrong, "b")
    assert raised.value.args[0] == 31001
    assert (places(connection), keys(connection)) == ([], [])
    run(connection, "begin")
    order(connection, "a")
    with pytest.raises(pymysql.Error):
        order(connection, "b", wrong)
    order(connection, "c")
    run(connection, "commit")
    assert (places(connection), keys(connection)) == (["a", "c"], ["a", "c"])


def test_a_row_whose_key_waits_already_is_no_second_message(connection: pymysql.Connection[Any]):
    order(connection, "a")
    assert value(connection, "select @outcome") == "created"
    order(connection, "a")
    assert value(connection, "select @outcome") == "ignored"
    order(connection, "b", "b")
    assert (places(connection), keys(connection)) == (["a", "a", "b", "b"], ["a", "b"])


def test_the_application_gets_the_number_of_its_own_row(connection: pymysql.Connection[Any]):
    for place in "ab":
        with connection.cursor() as cursor:
            assert cursor.execute("insert into orders (place) values (%s)", [place]) == 1
            number = cursor.lastrowid
        assert run(connection, f"select o.place from orders o where o.id = {number}") == [(place,)]
        assert value(connection, "select last_insert_id()") == number


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
def test_an_open_outbox_blocks_nobody(
    connection: pymysql.Connection[Any], other: pymysql.Connection[Any], level: str
):
    # keys that were never there: InnoDB locks the gap before one that has just gone
    there, m, a, b, z, el, zero = (f"{level}/{place}" for place in ("there", *"mabzl0"))
    for one in (connection, other):
        run(one, f"set session transaction isolation level {level}")
    order(connection, there)
    run(connection, "begin")
    order(connection, m, a)
    for place in (b, z, el, zero):
        order(other, place)
    reserved = Queue(other).reserve("orders", "worker", 10)
    assert sorted(message.key for message in reserved) == sorted([zero, b, el, there, z])
    run(connection, "commit")
    assert keys(connection) == sorted([zero, a, b, el, m, there, z])


def test_an_open_outbox_with_the_key_of_what_has_just_gone_blocks_no_consumer(
    connection: pymysql.Connection[Any], other: pymysql.Connection[Any]
):
    queue = Queue(other)
    order(connection, "a", "m", "z")
    run(connection, "begin")
    for message in queue.reserve("orders", None, 10):
        queue.ack(str(message.receipt))
    order(other, "b", "y")
    order(connection, "m")
    assert sorted(message.key for message in queue.reserve("orders", None, 10)) == ["b", "y"]
    run(connection, "commit")
    assert [message.key for message in queue.reserve("orders", None, 10)] == ["m"]


def test_the_form_for_triggers_answers_by_its_parameter_alone(connection: pymysql.Connection[Any]):
    outcomes: list[str] = []
    for options in (None, None, '{"on_duplicate": "replace"}'):
        with connection.cursor() as cursor:
            cursor.execute("call queue_push_into('k', 'a', '1', %s, @outcome)", [options])
            assert cursor.description is None
            assert not cursor.nextset()
        outcomes.append(value(connection, "select @outcome"))
    assert outcomes == ["created", "ignored", "replaced"]
