"""The short way of a batch whose keys are new on PostgreSQL: an INSERT that doesn't look for them first."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, LiteralString, TypeAlias

import psycopg
import pytest

from pyqueue_sql.testing.clock_postgresql import Clock
from tests.conformance.options import EITHER, LONG, SHORT
from tests.schema.walks import routines_called

LONG_WAY = {"_queue_push_batch", "_queue_put_inbox_rows"}
A_MINUTE_S = 60
PUT_IN = """
select p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
    created_at, attempts, max_attempts, ready_at, due_at, route
from delayed_queue order by entry"""

Message: TypeAlias = dict[str, Any]
Push: TypeAlias = Callable[[psycopg.Connection[Any], list[Message]], object]


def push_many(
    conn: psycopg.Connection[Any], messages: list[Message], options: Message | None = None
) -> list[tuple[str, str]]:
    text = "select p_key, outcome from queue_push_many('mail', %s, %s)"
    return conn.execute(
        text, [json.dumps(messages), None if options is None else json.dumps(options)]
    ).fetchall()


def insert(conn: psycopg.Connection[Any], messages: list[Message]) -> None:
    conn.execute(
        "insert into queue_inbox (p_kind, p_key, payload, headers, priority, delay_seconds, attempts,"
        " max_attempts)"
        " select 'mail', r.key, r.payload, r.headers, r.priority, r.delay_seconds, r.attempts, r.max_attempts"
        " from jsonb_to_recordset(%s) r (key text, payload text, headers text, priority integer,"
        " delay_seconds numeric, attempts integer, max_attempts integer)",
        [json.dumps(messages)],
    )


PUSHES = [push_many, insert]


def some(*keys: str) -> list[Message]:
    return [{"key": key, "payload": number} for number, key in enumerate(keys)]


def keys(conn: psycopg.Connection[Any]) -> list[str]:
    return [key for (key,) in conn.execute("select p_key from delayed_queue order by entry")]


def goes_the_long_way(conn: psycopg.Connection[Any], push: Push, messages: list[Message]) -> bool:
    with routines_called(conn) as called:
        push(conn, messages)
    return bool(called & LONG_WAY)


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("defined", [False, True])
def test_a_batch_of_new_keys_goes_the_short_way_and_one_with_a_taken_key_the_long_one(
    conn: psycopg.Connection[Any], clock: Clock, push: Push, defined: bool
) -> None:
    if defined:
        conn.execute("select queue_define('mail', '{}')")
    assert not goes_the_long_way(conn, push, some("c", "b", "a"))
    assert goes_the_long_way(conn, push, some("e", "b", "d"))
    assert keys(conn) == ["c", "b", "a", "e", "d"], "the taken one is ignored, the others keep their order"
    clock.advance(A_MINUTE_S - 1)
    assert goes_the_long_way(conn, push, some("g", "f")), "it isn't tried for a minute"
    clock.advance(2)
    assert not goes_the_long_way(conn, push, some("i", "h"))
    assert keys(conn) == ["c", "b", "a", "e", "d", "g", "f", "i", "h"]


@pytest.mark.parametrize("push", PUSHES)
def test_a_transaction_that_has_written_pushes_so_too(conn: psycopg.Connection[Any], push: Push) -> None:
    conn.execute("create table public.orders (id integer)")
    with conn.transaction():
        conn.execute("insert into public.orders values (1)")
        assert not goes_the_long_way(conn, push, some("b", "a"))
        assert not goes_the_long_way(conn, push, some("d", "c"))
        assert goes_the_long_way(conn, push, some("f", "a", "e"))
    conn.execute("drop table public.orders")
    assert keys(conn) == ["b", "a", "d", "c", "f", "e"]


@pytest.mark.parametrize("push", PUSHES)
def test_of_two_with_the_same_key_the_first_goes_in(conn: psycopg.Connection[Any], push: Push) -> None:
    push(conn, some("b", "a", "b"))
    assert conn.execute("select p_key, payload from delayed_queue order by entry").fetchall() == [
        ("b", 0),
        ("a", 1),
    ]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "options",
    [
        None,
        {},
        {"priority": 7, "attempts": 2, "max_attempts": 5},
        {"delay_seconds": 60},
        {"headers": {"a": 1}},
        {"headers": {}},
        {"route": ["next", "last"]},
    ],
    ids=str,
)
def test_a_batch_is_put_in_as_the_long_way_would(
    conn: psycopg.Connection[Any], options: Message | None
) -> None:
    messages = [*some("b", "a"), {"key": "null", "payload": None}]

    def push(conn: psycopg.Connection[Any], messages: list[Message]) -> None:
        assert push_many(conn, messages, options) == [(one["key"], "created") for one in messages]

    assert not goes_the_long_way(conn, push, messages)
    found = conn.execute(PUT_IN).fetchall()
    push_many(conn, some("b", "b"))  # so that it isn't tried
    conn.execute("truncate delayed_queue")
    assert goes_the_long_way(conn, push, messages)
    assert conn.execute(PUT_IN).fetchall() == found


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "shared", [None, {"priority": 7, "delay_seconds": 2.5, "headers": {"z": "y"}}], ids=str
)
def test_options_of_a_message_are_read_as_the_long_way_reads_them(
    conn: psycopg.Connection[Any], shared: Message | None
) -> None:
    conn.execute("select queue_semaphore('wide', 9), queue_semaphore('narrow', 1), queue_group('g', '{}')")
    columns = PUT_IN.replace("select p_kind,", "select semaphores, order_key, order_waits,")

    def pushed(options: str) -> object:
        batch = f'[{{"key": "z", "payload": 1}}, {{"key": "a", "payload": [2], {options}}}]'
        text = "select p_key, outcome from queue_push_many('mail', %s, %s)"
        with conn.transaction(force_rollback=True):
            try:
                answer = conn.execute(text, [batch, json.dumps(shared)]).fetchall()
            except psycopg.Error as error:
                return error.sqlstate, error.diag.message_primary
            return answer, conn.execute(columns).fetchall()

    for options in [*SHORT, *LONG, *EITHER]:
        conn.execute("set pyqueue.taken = ''")
        short = pushed(options)
        conn.execute("set pyqueue.taken = 'lately'")
        assert pushed(options) == short, options


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"headers": '{"a": 1}'},
        {"headers": "{}"},
        {"headers": "null"},
        {"priority": 7, "attempts": 2, "max_attempts": 5},
        {"delay_seconds": 60},
    ],
    ids=str,
)
def test_rows_of_the_inbox_are_put_in_as_the_long_way_would(
    conn: psycopg.Connection[Any], options: Message
) -> None:
    messages = [{**one, **options} for one in some("b", "a")]
    assert not goes_the_long_way(conn, insert, messages)
    found = conn.execute(PUT_IN).fetchall()
    conn.execute("truncate delayed_queue")
    push_many(conn, some("b", "b"))  # so that it isn't tried
    conn.execute("truncate delayed_queue")
    assert goes_the_long_way(conn, insert, messages)
    assert conn.execute(PUT_IN).fetchall() == found


@pytest.mark.parametrize(
    "row",
    [
        "'a', '1', null, '{\"a\": 1, \"b\": null}'",
        "'a', null, 'bytes'::bytea, null",
        "'a', null, null, '{}'",
        "null, '{}', null, null",
    ],
)
def test_most_rows_of_the_inbox_are_checked_at_once(
    conn: psycopg.Connection[Any], row: LiteralString
) -> None:
    with routines_called(conn) as called:
        conn.execute(
            "insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers) "
            + "select 'mail', "
            + row
        )
    assert "_queue_drain_inbox" in called
    assert "_queue_check_inbox_row" not in called
    assert len(keys(conn)) == 1


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("short", [True, False], ids=["short way", "long way"])
def test_messages_without_keys_get_some_one_behind_another(
    conn: psycopg.Connection[Any], push: Push, short: bool
) -> None:
    if not short:
        push(conn, some("taken", "taken"))
    messages = [{"payload": 1}, {"key": "own", "payload": 2}, {"key": None, "payload": 3}]
    assert goes_the_long_way(conn, push, messages) is not short
    [first, own, third] = keys(conn)[-3:]
    assert own == "own"
    assert first[:24] == third[:24]
    assert int(third[24:], 16) - int(first[24:], 16) == 2


@pytest.mark.parametrize(
    "option",
    [
        {"group": "g"},
        {"order_key": "o"},
        {"semaphores": ["s"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("all_of_them", [False, True], ids=["of the last", "of all"])
def test_what_follows_from_an_option_is_done(
    conn: psycopg.Connection[Any], option: Message, all_of_them: bool
) -> None:
    """Where something hangs on one message, all go the long way."""
    conn.execute("select queue_semaphore('s', 1), queue_group('g', '{}')")
    messages = some("a", "b", "c")
    if not all_of_them:
        messages[-1].update(option)

    def push(conn: psycopg.Connection[Any], messages: list[Message]) -> None:
        push_many(conn, messages, option if all_of_them else None)

    assert goes_the_long_way(conn, push, messages)
    assert keys(conn) == ["a", "b", "c"]


FEATURES: list[Message] = [{"dedup_seconds": 60}, {"log_seconds": 60}, {"filter_index": True}]


@pytest.mark.parametrize("settings", FEATURES, ids=str)
def test_rows_of_the_inbox_take_the_long_way_into_a_kind_that_keeps_more_and_keep_no_other_from_the_short_one(
    conn: psycopg.Connection[Any], settings: Message
) -> None:
    conn.execute("select queue_define('mail', %s)", [json.dumps(settings)])
    assert goes_the_long_way(conn, insert, some("a", "b"))
    text = "insert into queue_inbox (p_kind, p_key) values ('post', 'a'), ('post', 'b')"
    assert not goes_the_long_way(conn, lambda conn, _: conn.execute(text) and None, [])


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("settings", [*FEATURES, dict(kv for one in FEATURES for kv in one.items())], ids=str)
def test_a_batch_into_a_kind_that_keeps_more_is_kept_as_the_long_way_would(
    conn: psycopg.Connection[Any], settings: Message
) -> None:
    conn.execute("select queue_define('mail', %s)", [json.dumps(settings)])
    kept: list[LiteralString] = [
        "select q.p_key, t.term, t.place from queue_term t join delayed_queue q on q.entry = t.entry"
        " order by q.p_key, t.term",
        "select event, name, topic, p_key, payload, headers, created_at from queue_log order by position",
        PUT_IN,
    ]
    messages = [
        {"key": "b", "payload": {"n": [1, {"m": 2}]}, "headers": {"h": "x"}},
        {"key": "a", "payload": None},
        {"key": "c", "payload": {"n": 1}, "delay_seconds": 9},
    ]

    def all_of_it() -> list[Any]:
        return [conn.execute(text).fetchall() for text in kept]

    assert not goes_the_long_way(conn, push_many, messages)
    found = all_of_it()
    assert [len(rows) > 0 for rows in found] == ["filter_index" in settings, "log_seconds" in settings, True]
    push_many(conn, some("b", "b"))  # so that it isn't tried
    conn.execute("truncate delayed_queue, queue_term, queue_log")
    assert goes_the_long_way(conn, push_many, messages)
    assert all_of_it() == found


def test_a_key_that_is_remembered_is_taken(conn: psycopg.Connection[Any], clock: Clock) -> None:
    conn.execute("""select queue_define('mail', '{"dedup_seconds": 600, "log_seconds": 60}')""")
    assert not goes_the_long_way(conn, push_many, some("b", "a"))
    conn.execute("select queue_pop('mail', 1)")
    assert push_many(conn, some("c", "b", "d")) == [("c", "created"), ("b", "ignored"), ("d", "created")]
    assert keys(conn) == ["a", "c", "d"]
    logged = [("b",), ("a",), ("c",), ("d",)]
    text = "select p_key from queue_log where event = 'pushed' order by position"
    assert conn.execute(text).fetchall() == logged
    clock.advance(601)
    assert not goes_the_long_way(conn, push_many, some("e", "b"))
    assert keys(conn) == ["a", "c", "d", "e", "b"]


@pytest.mark.parametrize("on_duplicate", ["ignore", "replace", "keep_time", "push_back"])
def test_what_to_do_where_a_key_is_taken_changes_nothing_where_none_is(
    conn: psycopg.Connection[Any], on_duplicate: str
) -> None:
    def push(conn: psycopg.Connection[Any], messages: list[Message]) -> None:
        outcomes.append([outcome for _, outcome in push_many(conn, messages, {"on_duplicate": on_duplicate})])

    outcomes: list[list[str]] = []
    assert not goes_the_long_way(conn, push, some("b", "a"))
    assert goes_the_long_way(conn, push, some("c", "a"))
    known = "ignored" if on_duplicate == "ignore" else "replaced"
    assert outcomes == [["created"] * 2, ["created", known]]
    with pytest.raises(psycopg.Error, match=r"^on_duplicate"):
        push_many(conn, some("e", "d"), {"on_duplicate": "drop"})
    assert sorted(keys(conn)) == ["a", "b", "c"]


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("taken", [False, True], ids=["new", "taken"])
def test_it_leaves_the_settings_of_the_transaction(
    conn: psycopg.Connection[Any], push: Push, taken: bool
) -> None:
    if taken:
        conn.execute("select queue_push('mail', 'b', '0')")
    with conn.transaction():
        conn.execute("set local lock_timeout = '7min'")
        push(conn, some("a", "b"))
        assert conn.execute("show lock_timeout").fetchall() == [("7min",)]
    assert conn.execute("show lock_timeout").fetchall() == [("0",)]
    assert sorted(keys(conn)) == ["a", "b"]


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("setting", ["taken", "met", "savepoints"])
def test_garbage_in_a_setting_is_no_error(
    conn: psycopg.Connection[Any], push: Push, setting: LiteralString
) -> None:
    conn.execute("set pyqueue." + setting + " = 'never'")
    push(conn, some("b", "a"))
    assert sorted(keys(conn)) == ["a", "b"]


@pytest.mark.parametrize("push", PUSHES)
def test_what_is_wrong_with_one_message_is_said_as_ever(conn: psycopg.Connection[Any], push: Push) -> None:
    """The check of all at once must not let through, or raise, what the one of a single message names."""
    wrong: list[tuple[Message, str]] = [
        ({"key": "k" * 201, "payload": 1}, "PQ001"),
        ({"key": "", "payload": 1}, "PQ001"),
        ({"key": "k", "payload": json.loads("[" * 32 + "]" * 32)}, "PQ003"),
    ]
    for message, code in wrong:
        with pytest.raises(psycopg.Error) as caught:
            push(conn, [*some("a", "b"), message])
        assert caught.value.sqlstate == code
    assert keys(conn) == []


@pytest.mark.parametrize(
    "headers", ["[]", "1", "{", '{"a": []}', '{"a": {}}', '{"a": 1e400}', '{"a": "\\u0000"}']
)
def test_wrong_headers_of_a_row_are_refused(conn: psycopg.Connection[Any], headers: str) -> None:
    with pytest.raises(psycopg.Error, match=r'^row 2 \(key "b"\)') as caught:
        insert(conn, [*some("a"), {"key": "b", "payload": 1, "headers": headers}])
    assert caught.value.sqlstate == "PQ003"
    assert keys(conn) == []


@pytest.mark.parametrize("wrong", [17, "text", None, [], {"key": 5, "payload": 1}, {"key": "k"}], ids=str)
def test_what_is_no_message_is_left_to_the_long_way(conn: psycopg.Connection[Any], wrong: Any) -> None:
    text = "select outcome from queue_push_many('mail', %s)"
    batch = json.dumps([*some("a", "b"), wrong])
    if wrong == {"key": "k"}:
        assert conn.execute(text, [batch]).fetchall() == [("created",)] * 3, "its payload is null"
    else:
        with pytest.raises(psycopg.Error, match=r"messages\[2\]") as caught:
            conn.execute(text, [batch])
        assert caught.value.sqlstate == "PQ001"
        assert keys(conn) == []
