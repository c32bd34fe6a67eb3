"""However a session is set up, calls answer the same."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from pymysql.constants import CLIENT

from pyqueue_sql.calls.connect import mysql_settings
from pyqueue_sql.calls.dialect import mysql_is_in_transaction
from tests.schema.mysql.catalogs import RECEIPT, run
from tests.schema.mysql.world import CALLS, call, prepare, push_keys
from tests.servers.databases import LIMITS, open_connection

if TYPE_CHECKING:
    from pymysql import Connection

    from tests.servers.databases import Databases

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.core("mysql")]

# what a session may have been told before it calls
SESSIONS = {
    "not strict": "set sql_mode = ''",
    "ANSI_QUOTES": "set sql_mode = 'ANSI_QUOTES'",
    "NO_BACKSLASH_ESCAPES": "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "PAD_CHAR_TO_FULL_LENGTH": "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
    "PIPES_AS_CONCAT": "set sql_mode = 'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION'",
    "TRADITIONAL": "set sql_mode = 'TRADITIONAL,IGNORE_SPACE,REAL_AS_FLOAT,ONLY_FULL_GROUP_BY'",
    "latin1": "set names latin1",
    "latin1_german1_ci": "set names latin1 collate latin1_german1_ci",
    "utf8mb4_general_ci": "set names utf8mb4 collate utf8mb4_general_ci",
    "utf8mb4_unicode_ci": "set collation_connection = utf8mb4_unicode_ci",
    "read committed": "set session transaction isolation level read committed",
    "serializable": "set session transaction isolation level serializable",
    "another time": "set timestamp = 86400",
    "another zone": "set time_zone = '-11:30'",
    "short lists": "set group_concat_max_len = 4",
    "few rows": "set sql_select_limit = 1",
    "safe updates": "set sql_safe_updates = 1",
    "auto is null": "set sql_auto_is_null = 1",
    "short quotients": "set div_precision_increment = 0",
    "steps of 7": "set auto_increment_increment = 7, auto_increment_offset = 3",
    "unchecked": "set unique_checks = 0, foreign_key_checks = 0",
    "chained commits": "set completion_type = 1",
}


HINTS = ("cursors", "slots", "seed", "prune", "reap", "terms", "ahead_at", "ahead_of", "own", "wait")
HOSTILE = ("'garbage'", "'[1]'", "5", "'{}'", "null", "-1", "1.5", "_binary 0xff", "_binary '{}'")


OPTIONS = {
    "priority": [("queue_push", "nothing", "a", "1")],
    "delay_seconds": [("queue_push", "nothing", "b", "1"), ("queue_nack", "1-" + "0" * 32)],
    "timeout_seconds": [("queue_define", "nothing"), ("queue_reserve", "nobody", "w", 1)],
    "max_attempts": [("queue_define", "nothing")],
}
"""Options that are numbers, and calls that end with them."""
NUMBERED = [
    "call queue_peek('mail', '{wrong}', null)",
    "call queue_pop('mail', '{wrong}', null)",
    "call queue_reserve('mail', 'w', '{wrong}', null)",
    "call queue_purge('mail', '{wrong}')",
    "call queue_redrive('mail.dead', '{wrong}')",
    "call queue_prune('{wrong}')",
    "call queue_extend('{held}', '{wrong}')",
    """call queue_extend_many('["{held}"]', '{wrong}')""",
]
"""Calls with a number among their arguments."""


def script(session: Connection[Any]) -> list[object]:
    """Make calls with awkward texts and bad numbers; returns what they answer, but for what is by chance."""
    awkward = "a\"b'c\\d`e%_|| \\n\\0$"
    payload = json.dumps({"text": awkward, "list": [1, 1.5, None, True, "  "]})
    receipt = "1-" + "0" * 32
    headers = {"headers": {"h": awkward}, "priority": 3}
    said: list[object] = []

    def say(routine: str, *arguments: object) -> list[tuple[Any, ...]]:
        try:
            answer: Any = call(session, routine, *arguments)
        except pymysql.Error as error:
            answer = error.args
        # times, receipts, and the mark of a text that was cut, which latin1 has as another byte
        text = re.sub(r"\b\d+-[0-9a-f]{32}", "R", repr(answer)).replace("…", "\ufffd")
        said.append((routine, re.sub(r"\d{16,}", "N", text)))
        return answer if isinstance(answer, list) else []

    for key in ("a", "A", "a ", " a", awkward):
        say("queue_push", "mail", key, payload, json.dumps(headers))
        say("queue_push", "mail", key, payload, None)
        say("queue_get", "mail", key)
    for mode in ("replace", "keep_time", "push_back"):
        say("queue_push", "mail", "a", payload, json.dumps({"on_duplicate": mode}))
    say("queue_push", "mail", None, payload, '{"delay_seconds": 1e300}')
    say("queue_push_bytes", "mail", "bytes", "\\'\"", None)
    say("queue_wait", json.dumps([awkward, "nothing"]), 0)
    say("queue_wait", json.dumps(["nothing", "mail", "shaped", "mail"]), 0)
    for kinds in ("mail", "[]", '["mail", 1]', json.dumps(["k" * 101])):
        say("queue_wait", kinds, 0)
    say(
        "queue_heartbeat",
        awkward,
        json.dumps({"kinds": ["mail", awkward], "info": {"of": awkward}, "session": True}),
    )
    say("queue_heartbeat", awkward, '{"timeout_seconds": 5}')
    say("queue_reap")
    say("queue_heartbeat", awkward, '{"stop": true}')
    batch = [{"key": f"{awkward}{number}", "payload": number, **headers} for number in range(9)]
    say("queue_push_many", "mail", json.dumps(batch + batch), None)
    for kind in ("", "k" * 96, "k" * 101, "k" * 300):
        say("queue_push", kind, "a", payload, None)
    for key in ("", "k" * 201, "k" * 300):
        say("queue_push", "mail", key, payload, None)
        say("queue_remove", "mail", key)
    for number in (-1, 0, 0.4, 10_001, 2**31 - 1):
        say("queue_peek", "nothing", number, None)
        say("queue_purge", "nothing", number)
        say("queue_prune", number)
        say("queue_extend", receipt, number)
    for number in (-1, 2.5, 2**31, 10**30, 1e300, "abc", "", "1", True):
        for option, calls in OPTIONS.items():
            for routine, *arguments in calls:
                say(routine, *arguments, json.dumps({option: number}))
    for wrong in ("", "{", "'", '"', "01", awkward):
        say("queue_push", "mail", "wrong", wrong, None)
        say("queue_push", "mail", "wrong", "1", wrong)
        say("queue_ack", wrong, None)
    held = say("queue_reserve", "mail", awkward, 6, None)
    held += say("queue_reserve", "mail", "w", 8, '{"timeout_seconds": 0.5}')
    receipts = [row[RECEIPT] for row in held]
    assert len(held) == 14, said
    say("queue_push", "mail", held[0][1], "2", '{"on_duplicate": "replace"}')
    say("queue_nack", receipts[0], json.dumps({"error": awkward, "payload": {"again": awkward}}))
    say("queue_nack_many", json.dumps(receipts[1:3]), json.dumps({"error": awkward, "final": True}))
    say("queue_extend_many", json.dumps(receipts), 1.0005)
    say("queue_move", receipts[3], "next", json.dumps({"key": awkward, "payload": awkward}))
    moves = [{"receipt": one, "to_kind": "next", "priority": 1} for one in receipts[4:7]]
    say("queue_move_many", json.dumps(moves), None)
    say("queue_ack", receipts[7], None)
    say("queue_ack_many", json.dumps(receipts), None)
    for kind in ("mail", "mail.dead", "next"):
        say("queue_peek", kind, 50, None)
    say("queue_redrive", "mail.dead", None)
    say(
        "queue_define",
        "mail",
        json.dumps({"jitter": 0.1, "backoff_factor": 1.0001, "timeout_seconds": 1 / 3}),
    )
    say("queue_pop", "next", 50, None)
    say("queue_pause", "mail")
    say("queue_drop", "next")
    say("queue_purge", "mail", None)
    return said


@pytest.fixture(scope="module")
def usual() -> dict[str, list[object]]:
    """What the script says on a server in a session as it comes."""
    return {}


@pytest.mark.parametrize("setting", SESSIONS.values(), ids=SESSIONS.keys())
def test_how_a_session_is_set_up_changes_no_answer(
    databases: Databases, server_name: str, usual: dict[str, list[object]], setting: str
) -> None:
    if server_name not in usual:
        with open_connection(databases.clean(clocked=False)) as session:
            usual[server_name] = script(session)
    with open_connection(databases.clean(clocked=False)) as session:
        run(session, setting)
        said = script(session)
        pairs = zip(said, usual[server_name], strict=True)
        assert [(one, other) for one, other in pairs if one != other] == []
        assert not mysql_is_in_transaction(session)


@pytest.mark.parametrize(
    "mode",
    [
        "STRICT_ALL_TABLES",
        "STRICT_TRANS_TABLES",
        pytest.param(
            "", marks=pytest.mark.xfail(strict=True, reason="the server makes a number of it first")
        ),
    ],
)
def test_an_argument_that_is_no_number_of_the_type_is_refused(
    connection: Connection[Any], url: str, mode: str
) -> None:
    world = prepare(connection)
    accepted: list[str] = []
    with open_connection(url) as session:
        run(session, f"set sql_mode = '{mode}'")
        for text, wrong in itertools.product(NUMBERED, ("abc", "", "1x", str(2**70), "-1")):
            run(session, "start transaction")
            try:
                run(session, text.format(held=world.held, wrong=wrong))
                accepted.append(text)
            except pymysql.Error as error:
                assert error.args[0] in {31001, 1264, 1265, 1366}, text
            run(session, "rollback")
    assert accepted == []


def connect_with(url: str, flags: int) -> Connection[Any]:
    """Return a connection in autocommit with flags of the client's."""
    return pymysql.connect(**mysql_settings(url), client_flag=flags, autocommit=True, init_command=LIMITS)


def test_the_flags_of_a_client_change_no_answer(
    url: str, server_name: str, usual: dict[str, list[object]]
) -> None:
    with connect_with(url, CLIENT.FOUND_ROWS | CLIENT.IGNORE_SPACE) as session:
        said = script(session)
    assert usual.setdefault(server_name, said) == said


@pytest.mark.parametrize("flags", [0, CLIENT.FOUND_ROWS], ids=["changed", "found"])
@pytest.mark.parametrize("taken", ["", "a", "c", "abc"], ids=["none", "first", "last", "all"])
def test_a_taken_key_is_not_counted_among_the_new_ones(
    connection: Connection[Any], url: str, flags: int, taken: str
) -> None:
    with connect_with(url, flags) as session:
        run(session, "start transaction")  # in which the INSERT finds taken keys, and not the look before it
        push_keys(session, *taken)
        batch = json.dumps([{"key": key, "payload": 1} for key in "abc"])
        found = call(session, "queue_push_many", "mail", batch, None)
        assert list(found) == [(key, "ignored" if key in taken else "created") for key in "abc"]
        run(session, "commit")
    assert run(connection, "select count(*) from delayed_queue") == [(3,)]


@pytest.mark.usefixtures("own_table")
def test_the_callers_last_insert_id_stays(connection: Connection[Any], url: str) -> None:
    world = prepare(connection)
    for flags in (0, CLIENT.FOUND_ROWS):
        with connect_with(url, flags) as session:
            for name, text in CALLS.items():
                run(session, "start transaction")
                run(session, f"insert into own (note) values ('{name}')")
                [before] = run(session, "select last_insert_id()")
                run(session, world.text(text))
                assert run(session, "select last_insert_id()") == [before], name
                run(session, "rollback")


@pytest.mark.parametrize("new", [False, True], ids=["one session", "new sessions"])
def test_what_a_session_writes_into_a_hint_fails_no_call(
    connection: Connection[Any], url: str, new: bool
) -> None:
    wrong: list[object] = []
    for number, (hint, value) in enumerate(itertools.product(HINTS, HOSTILE)):
        key = f"k{number:03}"
        with open_connection(url) if new else contextlib.nullcontext(connection) as session:
            try:
                for routine, *arguments in (
                    ("queue_push", "mail", key, "1", None),
                    ("queue_reserve", "mail", "w", 1, None),
                ):
                    run(session, f"set @pyqueue_{hint} = {value}")
                    answer = call(session, routine, *arguments)
                found = [(row[1], *call(session, "queue_ack", row[RECEIPT], None)[0][1:]) for row in answer]
            except pymysql.Error as error:
                found = error.args
        if found != [(key, "acked")]:
            wrong.append((hint, value, found))
    assert wrong == []


def test_a_session_that_writes_tokens_for_itself_gets_none(connection: Connection[Any]) -> None:
    call(connection, "queue_define", "mail", json.dumps({"rate_per_second": 2, "max_reserved": 100}))
    push_keys(connection, *(f"k{n}" for n in range(50)))
    [(name,)] = run(connection, "select concat('k', hex(concat(database(), '.mail')))")
    [(began,)] = run(connection, "select sysdate(6)")
    got = 0
    for _ in range(10):
        run(connection, f"set @pyqueue_slots = '{json.dumps({name: [0, 1000, 10**17, 0]})}'")
        got += len(call(connection, "queue_reserve", "mail", "w", 10, None))
    [(ended,)] = run(connection, "select sysdate(6)")
    assert got <= 2 * (1 + (ended - began).total_seconds()) + 1
