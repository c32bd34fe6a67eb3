"""The client on each server: arguments get there, rows come back as models, errors as the queue's own."""

import ast
import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiomysql  # pyright: ignore[reportMissingTypeStubs]
import psycopg
import pymysql
import pytest
from psycopg.rows import dict_row
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import conversions

import pyqueue_sql
from pyqueue_sql import (
    AsyncQueue,
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Kind,
    Outcome,
    Queue,
    QueueError,
    Redriven,
    Refused,
)
from pyqueue_sql.calls.connect import mysql_settings
from pyqueue_sql.models import to_datetime
from tests.conformance.fixtures import Connect, clock, connect, harness, queue
from tests.conformance.harness import Clock, Harness
from tests.rules import each

__all__ = ["clock", "connect", "harness", "queue"]

NO_SUCH = "1-" + "0" * 32


def test_a_payload_comes_back_as_it_went(queue: Queue):
    payload = {"ä": [1, 2.5, None, True, "x'\"%s:y"], "": {}}
    queue.push("a", "k", payload, headers={"h": 1}, priority=-3)
    (message,) = queue.reserve("a", "me")
    assert (message.kind, message.key, message.payload, message.payload_bytes) == ("a", "k", payload, None)
    assert (message.headers, message.priority, message.attempts, message.reserved_by) == (
        {"h": 1},
        -3,
        1,
        "me",
    )


def test_null_is_a_payload(queue: Queue):
    queue.push("a", "k")
    (message,) = queue.reserve("a")
    assert (message.payload, message.payload_bytes) == (None, None)


def test_bytes_come_back_byte_for_byte(queue: Queue):
    payload = bytes(range(256))
    queue.push_bytes("a", "k", payload, delay_seconds=0)
    (message,) = queue.pop("a")
    assert (message.payload, message.payload_bytes) == (None, payload)


def test_a_datetime_is_the_time_of_delivery(queue: Queue):
    at = datetime(2100, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    expected = 4_102_542_245_678_901
    assert queue.push("a", "k", scheduled_at=at).scheduled_at == expected
    queue.push_many("a", [{"key": "l", "payload": 1, "scheduled_at": at}])
    assert [message.scheduled_at_initially for message in queue.peek("a")] == [expected, expected]


def test_push_many_takes_options_for_all_and_for_each(queue: Queue):
    pushed = queue.push_many("a", ({"key": key, "payload": key} for key in "ab"), priority=5)
    assert [(one.kind, one.key, one.outcome) for one in pushed] == [
        ("a", "a", "created"),
        ("a", "b", "created"),
    ]
    queue.push_many("a", [{"key": "c", "payload": None, "priority": 6}], priority=5)
    assert [(message.key, message.priority) for message in queue.peek("a")] == [("c", 6), ("a", 5), ("b", 5)]


def test_every_routine_answers_with_its_model(queue: Queue, server_name: str):
    queue.push_many("a", [{"key": str(n), "payload": n} for n in range(6)])
    held = [message.receipt or "" for message in queue.reserve("a", max_messages=6, timeout_seconds=60)]
    assert queue.extend(held[0], 0.5) == Outcome(held[0], "extended")
    assert queue.extend_many(held[:2], 90) == [Outcome(held[0], "extended"), Outcome(held[1], "extended")]
    assert queue.ack(held[0]) == Outcome(held[0], "acked")
    assert queue.ack_many([held[1], held[0]]) == [Outcome(held[1], "acked"), Outcome(held[0], "lost")]
    assert queue.next([held[0]], "a", "w", 2, timeout_seconds=60, where={"n": 1}, lost=None) == []
    assert queue.nack(held[2], error="no", delay_seconds=60) == Outcome(held[2], "retry")
    assert queue.nack_many([held[3]], final=True) == [Outcome(held[3], "dead")]
    assert queue.move(held[4], "b") == Outcome(held[4], "moved")
    assert queue.move_many([{"receipt": held[5], "to_kind": "b", "key": "z"}]) == [Outcome(held[5], "moved")]
    assert [(message.key, message.state) for message in queue.peek("b")] == [("4", "ready"), ("z", "ready")]
    assert (found := queue.get("a", "2")) and (found.state, found.receipt) == ("scheduled", None)
    assert queue.get("a", "0") is None
    assert queue.redrive("a.dead", 10) == Redriven(1, 0)
    assert (queue.remove("b", "z"), queue.remove("b", "z")) == ("removed", "absent")
    assert (queue.purge("b"), queue.purge("b", 5)) == (1, 0)
    kind = queue.define("a", timeout_seconds=1.5, max_attempts=4, dead_letter_kind="bin")
    assert kind == Kind(
        "a",
        1.5,
        4,
        1.0,
        2.0,
        3600.0,
        0.2,
        "bin",
        False,
        0.0,
        0.0,
        None,
        False,
        None,
        None,
        None,
        False,
        0.0,
        None,
    )
    assert queue.define("a", max_attempts=None).max_attempts is None
    assert (queue.pause("a"), queue.pause("a"), queue.resume("a"), queue.resume("a")) == (
        True,
        False,
        True,
        False,
    )
    (stats,) = queue.stats("a")
    assert (stats.kind, stats.ready, stats.scheduled, stats.total, stats.acked_total) == ("a", 1, 1, 2, 2)
    assert {row.kind for row in queue.stats()} >= {"a", "b"}
    assert queue.drop("a").dead_letter_kind == "bin"
    assert queue.prune() >= 0
    assert queue.wait(["a", "b"], 0) is None
    if server_name == "postgresql":
        assert not queue.listen("b")[0].ready
    beat = queue.heartbeat("w", info={"pid": 7}, kinds=["b"])
    assert (beat.worker, beat.alive, beat.reaps) == ("w", True, True)
    assert [(one.worker, one.info, one.kinds) for one in queue.workers()] == [("w", {"pid": 7}, ["b"])]
    assert (queue.reap(), queue.heartbeat("w", stop=True).alive) == ([], False)


def test_every_routine_of_topics_and_schedules_answers_with_its_model(queue: Queue):
    assert (queue.subscribe("t.*", "a"), queue.subscribe("t.*", "a")) == (True, False)
    assert [(one.pattern, one.kind) for one in queue.subscriptions()] == [("t.*", "a")]
    (pushed,) = queue.publish("t.x", "k", 1)
    assert (pushed.kind, pushed.key, pushed.outcome) == ("a", "k", "created")
    assert (queue.unsubscribe("t.*", "a"), queue.unsubscribe("t.*", "a")) == (True, False)
    scheduled = queue.schedule("s", "a", 1, cron="0 0 * * *", until=datetime(2100, 1, 1, tzinfo=UTC))
    assert (scheduled.name, scheduled.kind) == ("s", "a")
    (schedule,) = queue.schedules()
    assert schedule.rule == {"cron": "0 0 * * *", "time_zone": "UTC"}
    assert schedule.until == datetime(2100, 1, 1, tzinfo=UTC)
    assert queue.tick() == 0
    assert (queue.unschedule("s"), queue.unschedule("s")) == (True, False)
    queue.define("a", history_seconds=60)
    queue.pop("a")
    assert queue.replay("a", outcome="popped", end=datetime(2100, 1, 1, tzinfo=UTC)) == Redriven(1, 0)
    assert (queue.drain("a"), queue.stats("a")[0].draining, queue.resume("a")) == (True, True, True)


def test_none_and_unset_as_a_new_payload_differ(queue: Queue):
    queue.push("a", "k", 1, headers={"h": 1})
    (message,) = queue.reserve("a")
    queue.nack(message.receipt or "", payload=pyqueue_sql.UNSET, delay_seconds=0)
    (message,) = queue.reserve("a")
    assert (message.payload, message.headers) == (1, {"h": 1})
    queue.move(message.receipt or "", "b", payload=None, headers=None)
    (message,) = queue.reserve("b")
    assert (message.payload, message.headers) == (None, None)


@each(
    ("cause", "call"),
    [
        (InvalidParameter, lambda q: q.push("", "k")),
        (InvalidParameter, lambda q: q.push("a\0", "k")),
        (InvalidParameter, lambda q: q.push("a", "\ud800")),
        (InvalidParameter, lambda q: q.reserve("a", max_messages=0)),
        (InvalidParameter, lambda q: q.reserve("a", max_messages=10**30)),
        (InvalidParameter, lambda q: q.reserve("a", max_messages="many")),
        (InvalidParameter, lambda q: q.history(max_messages=-1)),
        (InvalidParameter, lambda q: q.extend(NO_SUCH, float("nan"))),
        (InvalidParameter, lambda q: q.semaphore("s", 1.5)),
        (InvalidOption, lambda q: q.read("a", "r", events="pushed")),
        (InvalidParameter, lambda q: Queue(q.connection, schema="")),
        (InvalidParameter, lambda q: q.wait(["\ud800"], 0)),
        (InvalidReceipt, lambda q: q.ack_many(["\ud800"])),
        (InvalidPayload, lambda q: q.push_many("a", [{"payload": float("nan")}])),
        (InvalidOption, lambda q: q.push("a", "k", colour="red")),
        (InvalidOption, lambda q: q.push("a", "k", delay_seconds="soon")),
        (InvalidOption, lambda q: q.define("a", jitter=7)),
        (InvalidOption, lambda q: q.define("a", payload_shape={"n": "complex"})),
        (InvalidPayload, lambda q: q.push("a", "k", "\0")),
        (InvalidPayload, lambda q: q.push("a", "k", "\ud800")),
        (InvalidPayload, lambda q: q.push("a", "k", json.loads("[" * 40 + "]" * 40))),
        (InvalidPayload, lambda q: q.push_many("a", [{"key": "k", "payload": "\0"}])),
        (Refused, lambda q: q.define("a", dead_letter_kind="a")),
        (InvalidReceipt, lambda q: q.ack("x")),
        (InvalidReceipt, lambda q: q.nack_many([NO_SUCH, "x"])),
    ],
)
def test_one_exception_a_cause_and_nothing_changes(
    queue: Queue, cause: type[QueueError], call: Callable[[Any], object]
):
    with pytest.raises(cause) as caught:
        call(queue)
    assert type(caught.value) is cause
    assert queue.stats() == []


def test_what_is_too_deep_for_the_server_to_read_is_an_invalid_payload(database_url: str):
    payload: list[object] = []
    for _ in range(900):
        payload = [payload]
    with psycopg.connect(database_url, autocommit=True, options="-c max_stack_depth=100kB") as connection:
        with pytest.raises(InvalidPayload) as caught:
            Queue(connection).push("a", "k", payload)
        assert isinstance(caught.value.__cause__, psycopg.errors.StatementTooComplex)


def test_a_kind_remembers_keys_and_keeps_history(queue: Queue, clock: Clock):
    kind = queue.define("a", dedup_seconds=1.5, history_seconds=60, payload_shape={"n": "integer"})
    assert (kind.dedup_seconds, kind.history_seconds, kind.payload_shape) == (1.5, 60, {"n": "integer"})
    with pytest.raises(InvalidPayload):
        queue.push("a", "k", {"n": "many"})
    created = queue.push("a", "k", {"n": 1}, headers={"h": 1}, priority=2).scheduled_at
    clock.advance(1)
    (message,) = queue.reserve("a", "me")
    reserved = clock.now
    queue.move(message.receipt or "", "b")
    remembered = queue.push("a", "k", {"n": 2})
    assert (remembered.key, remembered.scheduled_at, remembered.outcome) == ("k", None, "ignored")
    (ended,) = queue.history("a")
    assert (ended.kind, ended.key, ended.outcome, ended.to_kind) == ("a", "k", "moved", "b")
    assert (ended.payload, ended.payload_bytes, ended.headers, ended.priority) == (
        {"n": 1},
        None,
        {"h": 1},
        2,
    )
    assert (ended.created_at, ended.scheduled_at_initially) == (created, created)
    assert (ended.reserved_at, ended.finished_at) == (reserved, reserved)
    assert (ended.attempts, ended.reserved_by, ended.errors) == (1, "me", ())


def test_history_is_the_newest_first_of_a_kind_or_a_key(queue: Queue, clock: Clock):
    for kind, key in (("a", "k"), ("a", "l"), ("b", "k")):
        queue.define(kind, history_seconds=60)
        queue.push(kind, key)
        queue.pop(kind)
        clock.advance(1)

    def found(*args: Any, **options: Any) -> list[tuple[str, str]]:
        return [(ended.kind, ended.key) for ended in queue.history(*args, **options)]

    assert found() == [("b", "k"), ("a", "l"), ("a", "k")]
    assert found(max_messages=2) == [("b", "k"), ("a", "l")]
    assert found("a") == [("a", "l"), ("a", "k")]
    assert found(key="k") == [("b", "k"), ("a", "k")]
    assert found("a", "k") == [("a", "k")]
    assert found("c") == []


def test_the_drivers_exception_is_the_cause(queue: Queue):
    with pytest.raises(InvalidReceipt) as caught:
        queue.ack("x")
    cause = caught.value.__cause__
    if isinstance(cause, psycopg.Error):
        assert cause.sqlstate == caught.value.sqlstate == "PQ005"
    else:
        assert isinstance(cause, pymysql.Error)
        assert cause.args[0] == caught.value.errno == 31005


def test_other_exceptions_of_the_driver_stay(harness: Harness, connect: Connect):
    queue = connect()
    harness.terminate(queue)
    with pytest.raises((psycopg.OperationalError, pymysql.OperationalError)):
        queue.push("a")


def test_the_transaction_is_the_callers(queue: Queue, connect: Connect):
    other = connect(autocommit=False)
    other.push("a", "k")
    assert queue.get("a", "k") is None
    other.rollback()
    other.push("a", "l")
    other.commit()
    assert [message.key for message in queue.peek("a")] == ["l"]


@pytest.mark.parametrize("cursors", [psycopg.ClientCursor, psycopg.RawCursor])
def test_the_callers_rows_and_cursors_of_psycopg_do_not_matter(
    database_url: str, cursors: type[psycopg.Cursor[Any]]
):
    with psycopg.connect(database_url, autocommit=True, cursor_factory=cursors) as connection:
        connection.row_factory = dict_row  # pyright: ignore[reportAttributeAccessIssue]
        queue = Queue(connection)
        queue.push("a", "k%s", {"%": 1}, delay_seconds=0)
        (message,) = queue.reserve("a", "w", 2, timeout_seconds=1.5)
        assert (message.key, message.payload) == ("k%s", {"%": 1})
        assert queue.extend(message.receipt or "", 2).outcome == "extended"


def test_nor_do_the_cursors_of_coroutines(database_url: str):
    async def push() -> str:
        async with await psycopg.AsyncConnection.connect(
            database_url, autocommit=True, cursor_factory=psycopg.AsyncRawCursor
        ) as connection:
            return (await AsyncQueue(connection).push("a", "k", {"%": 1})).outcome

    assert asyncio.run(push()) == "created"


def test_a_statement_that_a_pooler_has_lost_is_made_again_unless_a_transaction_was_open(database_url: str):
    lose = "do $$ begin execute 'deallocate all'; end $$"  # unlike the command, psycopg doesn't notice it
    with psycopg.connect(database_url, prepare_threshold=0) as connection:
        queue = Queue(connection)
        queue.push("a", "k")
        connection.commit()
        connection.execute(lose)
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            queue.push("a", "l")
        connection.rollback()
        assert queue.push("a", "l").outcome == "created"
    with psycopg.connect(database_url, prepare_threshold=0, autocommit=True) as connection:
        queue = Queue(connection)
        queue.push("b", "k")
        connection.execute(lose)
        assert queue.push("b", "l").outcome == "created"


@pytest.mark.servers("mariadb", "mysql")
def test_what_the_caller_makes_of_times_and_decimals_does_not_matter(harness: Harness):
    made = dict.fromkeys((FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP, FIELD_TYPE.NEWDECIMAL), str)
    settings = {**mysql_settings(harness.url), "conv": {**conversions, **made}}
    with pymysql.connect(**settings, autocommit=True) as connection:
        queue = Queue(connection)
        due = queue.push("a", "k", delay_seconds=60).scheduled_at
        (stats,) = queue.stats()
        assert (stats.next_at, stats.scheduled, stats.paused) == (to_datetime(due or 0), 1, False)


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("found_rows", [False, True])
@pytest.mark.parametrize("sql_mode", ["", "ansi_quotes,no_backslash_escapes"])
def test_the_callers_rows_cursors_flags_and_sql_mode_do_not_matter(
    harness: Harness, found_rows: bool, sql_mode: str
):
    with pymysql.connect(
        **mysql_settings(harness.url),
        autocommit=True,
        cursorclass=pymysql.cursors.SSDictCursor,
        client_flag=CLIENT.FOUND_ROWS if found_rows else 0,
        sql_mode=sql_mode,
    ) as connection:
        queue = Queue(connection)
        payload = {"%s": "\\ ' \" \n"}
        assert [queue.push("a", "k%s'\\", payload).outcome for _ in range(2)] == ["created", "ignored"]
        (message,) = queue.reserve("a", "w", 2, timeout_seconds=1.5)
        assert (message.key, message.payload) == ("k%s'\\", payload)
        assert queue.extend(message.receipt or "", 2).outcome == "extended"
        queue.push_bytes("b", "k", bytes(range(256)))
        assert [message.payload_bytes for message in queue.pop("b")] == [bytes(range(256))]
        with pytest.raises(InvalidParameter):
            queue.reserve("a", max_messages="many")  # pyright: ignore[reportArgumentType]


@pytest.mark.servers("mariadb", "mysql")
def test_a_connection_that_cannot_carry_every_character_is_refused(harness: Harness):
    settings = {**mysql_settings(harness.url), "charset": "latin1"}
    with pymysql.connect(**settings) as connection, pytest.raises(TypeError, match="utf8mb4 is wanted"):
        Queue(connection).peek("a")


@pytest.mark.servers("mariadb", "mysql")
def test_a_victim_is_tried_again_where_the_call_is_its_own_transaction(innodb_url: str):
    victim = (
        "create procedure queue_prune(in in_max_rows bigint) begin insert into tries values (1);"
        " if (select count(*) from tries) < in_max_rows then"
        " signal sqlstate '40001' set message_text = 'victim', mysql_errno = 1213; end if;"
        " select count(*) as pruned from tries; delete from tries; end"
    )
    with pymysql.connect(**mysql_settings(innodb_url), autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute("create table tries (n int) engine = myisam")
            cursor.execute(victim)
        queue = Queue(connection)
        assert queue.prune(6) == 6
        with pytest.raises(pymysql.OperationalError, match="victim"):
            queue.prune(7)
        connection.begin()
        with connection.cursor() as cursor:
            cursor.execute("delete from tries")
        with pytest.raises(pymysql.OperationalError, match="victim"):
            queue.prune(2)


@pytest.mark.servers("mariadb", "mysql")
def test_what_a_victim_has_done_is_rolled_back_before_it_is_tried_again(innodb_url: str):
    made = (
        "create table tries (n int) engine = myisam",
        "create table done (n int) engine = innodb",
        "create procedure queue_prune(in in_max_rows bigint) begin start transaction;"
        " insert into tries values (1); insert into done values (1);"
        " if (select count(*) from tries) < in_max_rows then"
        " signal sqlstate '40001' set message_text = 'victim', mysql_errno = 1213; end if;"
        " commit; select count(*) as pruned from done; end",
    )
    with pymysql.connect(**mysql_settings(innodb_url), autocommit=True) as connection:
        with connection.cursor() as cursor:
            for text in made:
                cursor.execute(text)
        assert Queue(connection).prune(3) == 1


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize(
    "number", [1317, 1969, 1038, 1114], ids=["KILL QUERY", "max_statement_time", "sort", "table"]
)
def test_a_call_that_the_server_has_broken_off_leaves_no_transaction_open(innodb_url: str, number: int):
    made = (
        "create table done (n int) engine = innodb",
        "create procedure queue_prune(in in_max_rows bigint) begin start transaction;"
        " insert into done values (1);"
        f" signal sqlstate '70100' set message_text = 'killed', mysql_errno = {number}; end",
    )
    with (
        pymysql.connect(**mysql_settings(innodb_url), autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        for text in made:
            cursor.execute(text)
        with pytest.raises(pymysql.OperationalError, match="killed"):
            Queue(connection).prune()
        cursor.execute("select count(*) from done")
        assert cursor.fetchall() == ((0,),)


@pytest.mark.servers("mariadb", "mysql")
def test_the_error_to_be_seen_is_that_of_the_call_and_not_that_of_its_rollback(
    innodb_url: str, monkeypatch: pytest.MonkeyPatch
):
    killed = (
        "create procedure queue_prune(in in_max_rows bigint)"
        " begin signal sqlstate '70100' set message_text = 'killed', mysql_errno = 1317; end"
    )

    def fail() -> None:
        raise pymysql.err.InterfaceError(0, "the connection is gone")

    async def afail() -> None:
        fail()

    async def scenario() -> None:
        settings = mysql_settings(innodb_url)
        connection = await aiomysql.connect(db=settings.pop("database"), **settings, autocommit=True)
        monkeypatch.setattr(connection, "rollback", afail)
        with pytest.raises(pymysql.OperationalError, match="killed"):
            await AsyncQueue(connection).prune()
        await connection.ensure_closed()

    with pymysql.connect(**mysql_settings(innodb_url), autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(killed)
        monkeypatch.setattr(connection, "rollback", fail)
        with pytest.raises(pymysql.OperationalError, match="killed"):
            Queue(connection).prune()
    asyncio.run(scenario())


@pytest.mark.servers("mariadb", "mysql")
def test_an_error_after_the_rows_is_an_error(innodb_url: str):
    late = (
        "create procedure queue_ack(in in_receipt text, in in_options text)"
        " begin select in_receipt as receipt, 'acked' as outcome; select 1;"
        " signal sqlstate 'PQ005' set message_text = 'late', mysql_errno = 31005; end"
    )
    with pymysql.connect(**mysql_settings(innodb_url), autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(late)
        for _ in range(2):
            with pytest.raises(InvalidReceipt, match="late"):
                Queue(connection).ack("x")


@pytest.mark.servers("mariadb", "mysql")
def test_so_are_a_victim_and_a_late_error_of_coroutines(innodb_url: str):
    made = (
        "create table tries (n int) engine = myisam",
        "create procedure queue_prune(in in_max_rows bigint) begin insert into tries values (1);"
        " if (select count(*) from tries) < in_max_rows then"
        " signal sqlstate '40001' set message_text = 'victim', mysql_errno = 1213; end if;"
        " select count(*) as pruned from tries; delete from tries; end",
        "create procedure queue_ack(in in_receipt text, in in_options text)"
        " begin select in_receipt as receipt, 'acked' as outcome; select 1;"
        " signal sqlstate 'PQ005' set message_text = 'late', mysql_errno = 31005; end",
    )

    async def scenario() -> None:
        settings = mysql_settings(innodb_url)
        connection = await aiomysql.connect(db=settings.pop("database"), **settings, autocommit=True)
        async with connection.cursor() as cursor:
            for text in made:
                await cursor.execute(text)
        queue = AsyncQueue(connection)
        assert await queue.prune(6) == 6
        with pytest.raises(pymysql.OperationalError, match="victim"):
            await queue.prune(7)
        for _ in range(2):
            with pytest.raises(InvalidReceipt, match="late"):
                await queue.ack("x")
        async with connection.cursor() as cursor:
            await cursor.execute("delete from tries")
        await connection.begin()
        with pytest.raises(pymysql.OperationalError, match="victim"):
            await queue.prune(2)
        await connection.ensure_closed()

    asyncio.run(scenario())


@contextlib.asynccontextmanager
async def async_connection(url: str) -> AsyncIterator[Any]:
    """A connection of a driver for coroutines, in autocommit."""
    if url.startswith("postgresql"):
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
        close = connection.close
    else:
        settings = mysql_settings(url)
        connection = await aiomysql.connect(db=settings.pop("database"), **settings, autocommit=True)
        close = connection.ensure_closed
    yield connection
    await close()


def test_async_awaits_the_same(harness: Harness):
    async def scenario() -> None:
        async with async_connection(harness.url) as connection:
            queue = AsyncQueue(connection)
            assert (await queue.push("a", "k", [1])).outcome == "created"
            await queue.push_bytes("b", "k", bytes(range(256)))
            assert [message.payload_bytes for message in await queue.peek("b")] == [bytes(range(256))]
            (message,) = await queue.reserve("a")
            assert message.payload == [1]
            assert (await queue.ack(message.receipt or "")).outcome == "acked"
            assert await queue.get("a", "k") is None
            with pytest.raises(InvalidReceipt):
                await queue.ack("x")

    asyncio.run(scenario())


def signatures(source: Path, name: str) -> dict[str, str]:
    """The public methods of a class as its text has them, by name."""
    (found,) = (
        node
        for node in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    return {
        node.name: f"({ast.unparse(node.args)}) -> {node.returns and ast.unparse(node.returns)}"
        for node in found.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and node.name != "connection"
    }


def test_calls_of_threads_over_one_connection_wait_for_each_other(queue: Queue):
    def push(thread: int) -> list[str]:
        return [queue.push("a", f"{thread}/{number}").key for number in range(50)]

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(push, range(4)))
    assert answers == [[f"{thread}/{number}" for number in range(50)] for thread in range(4)]


def test_so_do_calls_of_coroutines(harness: Harness):
    async def scenario() -> None:
        async with async_connection(harness.url) as connection:
            queue = AsyncQueue(connection)
            pushed = await asyncio.gather(*(queue.push("a", str(number)) for number in range(20)))
            assert [one.key for one in pushed] == [str(number) for number in range(20)]

    asyncio.run(scenario())


def test_the_types_of_the_async_queue_are_those_of_the_queue():
    calls = Path(inspect.getfile(pyqueue_sql)).with_name("calls")
    assert signatures(calls / "aio.pyi", "AsyncQueue") == signatures(calls / "client.py", "Queue")
