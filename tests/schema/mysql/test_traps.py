"""What MariaDB and MySQL trip over: the clock, packets, and lists that are too long."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql import Queue
from pyqueue_sql.schema import migrate
from pyqueue_sql.testing.clock_mysql import Clock
from tests.schema.mysql.catalogs import RECEIPT, run
from tests.schema.mysql.world import call, microseconds, now
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pymysql import Connection

    from tests.servers.databases import Databases

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.core("mysql")]

TIMES = (
    "timestamp = 1",
    "timestamp = 2147483647",
    "time_zone = '+13:00'",
    "time_zone = '-12:00'",
    "time_zone = 'SYSTEM'",
)
CHANGES = ((3, 29), (10, 25))
"""Month and day when the clocks are changed in 2037, at 1:00 UTC."""
YEAR_2040 = datetime(2040, 6, 15, 12, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
def zone(databases: Databases) -> Iterator[str]:
    """A zone whose summer ends in about two seconds: the last hour is about to come again."""
    name = f"Pyqueue/{secrets.token_hex(4)}"
    with open_connection(databases.server.url) as admin:
        try:
            run(admin, "insert into mysql.time_zone (use_leap_seconds) values ('N')")
        except pymysql.Error as error:
            pytest.skip(f"the user of this server may not add a time zone: {error}")
        [(number,)] = run(admin, "select last_insert_id()")
        [(change,)] = run(admin, "select floor(unix_timestamp(sysdate(6))) + 2")
        of_2037 = [datetime(2037, *date, 1, tzinfo=UTC) for date in CHANGES]
        changes = [(change, 0), *((moment.timestamp(), 1 - n) for n, moment in enumerate(of_2037))]
        run(admin, f"insert into mysql.time_zone_name (name, time_zone_id) values ('{name}', {number})")
        run(
            admin,
            "insert into mysql.time_zone_transition_type"
            " (time_zone_id, transition_type_id, `offset`, is_dst, abbreviation)"
            f" values ({number}, 0, 3600, 0, 'CET'), ({number}, 1, 7200, 1, 'CEST')",
        )
        for at, kind in [(-(2**31), 1), *changes]:
            run(
                admin,
                "insert into mysql.time_zone_transition (time_zone_id, transition_time, transition_type_id)"
                f" values ({number}, {at}, {kind})",
            )
        yield name
        for table in ("time_zone", "time_zone_name", "time_zone_transition_type", "time_zone_transition"):
            run(admin, f"delete from mysql.{table} where time_zone_id = {number}")


def test_the_clock_goes_on_while_an_hour_comes_again(
    connection: Connection[Any], url: str, zone: str
) -> None:
    with open_connection(url) as elsewhere:
        run(elsewhere, f"set time_zone = '{zone}'")
        [(local,)] = run(elsewhere, "select sysdate(6)")
        deadline = time.monotonic() + 10
        came_again, times = False, [now(connection)]
        while not came_again:
            assert time.monotonic() < deadline, "summer doesn't end"
            times += [now(elsewhere), now(connection)]
            [pushed] = call(elsewhere, "queue_push", "mail", None, "1", None)
            times += [pushed[2], now(connection)]
            [(later,)] = run(elsewhere, "select sysdate(6)")
            came_again = later < local
            time.sleep(0.01)
        times += [now(elsewhere), now(connection)]
    assert times == sorted(times)
    assert times[-1] - times[0] < 60_000_000


def test_times_around_a_change_of_the_clocks_are_what_their_offset_says(
    connection: Connection[Any], zone: str
) -> None:
    run(connection, f"set time_zone = '{zone}'")
    for date in CHANGES:
        for half_hours in range(-3, 6):
            moment = datetime(2037, *date, 1, tzinfo=UTC) + timedelta(minutes=30 * half_hours)
            for hours in (0, 1, 2):
                given = moment.astimezone(timezone(timedelta(hours=hours))).isoformat()
                options = json.dumps({"scheduled_at": given})
                [pushed] = call(connection, "queue_push", "mail", given, "1", options)
                assert pushed[2] == microseconds(moment)
                text = f"select m.scheduled_at from queue_messages m where m.p_key = '{given}'"
                assert run(connection, text) == [(moment.replace(tzinfo=None),)]


@pytest.mark.parametrize("setting", TIMES)
def test_no_session_moves_the_clock(url: str, connection: Connection[Any], setting: str) -> None:
    with open_connection(url) as session:
        run(session, f"set {setting}")
        start = now(connection)
        assert start <= now(session) <= now(connection)
        [pushed] = call(session, "queue_push", "mail", "a", "1", None)
        [late] = call(session, "queue_push", "mail", "b", "1", '{"delay_seconds": 60}')
        [taken] = call(session, "queue_reserve", "mail", "w", 2, None)
        found = [call(session, "queue_get", "mail", key)[0][-2] for key in "ab"]
        end = now(connection)
        assert start <= pushed[2] <= end
        assert start + 60_000_000 <= late[2] <= end + 60_000_000
        created_at, reserved_at = taken[8:10]
        assert start <= created_at <= reserved_at <= end
        assert found == ["reserved", "scheduled"]
        [(shown,)] = run(session, "select m.created_at from queue_messages m where m.p_key = 'a'")
        assert microseconds(shown.replace(tzinfo=UTC)) == created_at
        name, _, value = setting.partition(" = ")
        left = run(session, "select unix_timestamp(now())" if name == "timestamp" else "select @@time_zone")
        assert str(left[0][0]) == value.strip("'"), "and the session is left as it was"


def test_what_is_for_2040_comes_in_2040(databases: Databases) -> None:
    url, due = databases.clean(clocked=True), microseconds(YEAR_2040)
    with open_connection(url) as connection, open_connection(url) as other:
        clock = Clock(other, due - 60_000_000)
        for number, given in enumerate((due, YEAR_2040.isoformat(), "2040-06-15T10:00:00Z")):
            options = json.dumps({"scheduled_at": given})
            run(connection, f"set timestamp = {2**31 - 1}, time_zone = '+0{number}:00'")
            assert call(connection, "queue_push", "mail", str(number), "1", options)[0][2] == due
        assert call(connection, "queue_reserve", "mail", "w", 9, None) == []
        clock.set(due)
        taken = call(connection, "queue_reserve", "mail", "w", 9, None)
        assert [(row[1], row[6], row[7], row[9]) for row in taken] == [
            (str(number), due + 300_000_000, due, due) for number in range(3)
        ]


@pytest.fixture
def small_packets(databases: Databases) -> Iterator[int]:
    """Packets of new connections are small; how many bytes there are in one."""
    size = 1024 * 1024
    with open_connection(databases.server.url) as admin:
        [(usual,)] = run(admin, "select @@global.max_allowed_packet")
        try:
            run(admin, f"set global max_allowed_packet = {size}")
        except pymysql.Error as error:
            pytest.skip(f"the user of this server may not change its packets: {error}")
        yield size
        run(admin, f"set global max_allowed_packet = {usual}")


def test_a_payload_larger_than_a_packet_is_an_error_and_the_queue_goes_on(
    url: str, small_packets: int
) -> None:
    payload = json.dumps("x" * 2 * small_packets)
    for routine, arguments in (
        ("queue_push", ("mail", "big", payload, None)),
        (
            "queue_push_many",
            ("mail", f'[{{"key": "small", "payload": 1}}, {{"key": "big", "payload": {payload}}}]', None),
        ),
        ("queue_push_bytes", ("mail", "big", payload, None)),
    ):
        with open_connection(url) as session, pytest.raises((pymysql.Error, OSError)) as caught:
            call(session, routine, *arguments)
        assert caught.value.args[0] in {1153, 2006, 2013} or isinstance(caught.value, OSError)
    with open_connection(url) as session:
        assert call(session, "queue_peek", "mail", 10, None) == []
        call(session, "queue_push", "mail", "small", "1", None)
        [taken] = call(session, "queue_reserve", "mail", "w", 1, None)
        assert call(session, "queue_ack", taken[RECEIPT], None)[0][1] == "acked"


@pytest.mark.parametrize("piece", ["x", '"', "\x01", "é", "😀"])
def test_a_payload_that_just_fits_in_a_packet_comes_back_or_is_an_error(
    url: str, small_packets: int, piece: str
) -> None:
    def attempt(
        connection: Connection[Any], routine: str, *arguments: object
    ) -> list[tuple[Any, ...]] | None:
        try:
            return call(connection, routine, *arguments)
        except (pymysql.Error, OSError):
            return None

    wanted = piece * (small_packets * 3 // 8 // len(piece.encode()))
    payload = json.dumps(wanted, ensure_ascii=False)
    big: dict[str, Any] = {"key": "many", "payload": wanted}
    for routine, arguments in (
        ("queue_push", ("mail", "one", payload, None)),
        ("queue_push_many", ("mail", json.dumps([big], ensure_ascii=False), None)),
        ("queue_push_bytes", ("mail", "bytes", payload, None)),
    ):
        with open_connection(url) as session:
            pushed = attempt(session, routine, *arguments)
        with open_connection(url) as session:
            found = attempt(session, "queue_reserve", "mail", "w", 1, None)
        assert (pushed is None) == (found == []), routine
        for row in found or []:
            assert (json.loads(row[2]) if row[2] else json.loads(row[3])) == wanted, routine
            options = json.dumps({"payload": wanted}, ensure_ascii=False)
            with open_connection(url) as session:
                nacked = attempt(session, "queue_nack", row[RECEIPT], options)
            with open_connection(url) as session:
                again = attempt(session, "queue_pop", "mail", 1, None)
            assert (nacked is None) == (again == []), routine
            assert again is None or [json.loads(one[2]) for one in again] == [wanted] * len(again)
            with open_connection(url) as session:
                call(session, "queue_purge", "mail", None)


def test_more_can_be_pruned_in_a_call_than_a_list_of_the_server_holds(connection: Connection[Any]) -> None:
    # MariaDB's default holds 26,000 rows of the history
    run(connection, "set group_concat_max_len = 10000")
    call(connection, "queue_define", "mail", '{"history_seconds": 1}')
    first, ended, rows = 300_000_000_000_000_000, 1_700_000_000_000_000, 1000
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into queue_history (entry, p_kind, p_key, outcome, priority, scheduled_at_initially,"
            " created_at, finished_at, attempts) values (%s, 'mail', 'k', 'acked', 0, 0, 0, %s, 1)",
            [(first + number, ended + number) for number in range(rows)],
        )
    assert call(connection, "queue_prune", 1_000_000)[0][0] >= rows
    assert run(connection, "select count(*) from queue_history") == [(0,)]


@pytest.mark.parametrize("mode", ["STRICT_ALL_TABLES", ""], ids=["strict", "not strict"])
def test_a_key_in_the_inbox_is_never_cut(connection: Connection[Any], mode: str) -> None:
    run(connection, f"set sql_mode = '{mode}'")
    for last in "12":
        with contextlib.suppress(pymysql.Error):
            key = "k" * 200 + last
            run(connection, f"insert into queue_inbox (p_kind, p_key, payload) values ('mail', '{key}', '1')")
    run(connection, "call queue_prune(null)")
    there = run(connection, "select q.p_key from delayed_queue q where q.p_kind = 'mail'")
    assert there == [], "the key of another message"


def test_what_is_no_json_to_all_can_be_read_as_a_dead_letter(innodb_url: str) -> None:
    """Where the server allows no trigger: what has landed is taken in by the next reserve."""
    migrate.upgrade(innodb_url)
    texts = ['"\\x"', "[1.]", "[01]", "{", '"\\u0000"', "[" * 32 + "]" * 32]
    landed: dict[str, str] = {}
    with open_connection(innodb_url) as connection, connection.cursor() as cursor:
        run(connection, "drop trigger if exists queue_inbox")
        for number, text in enumerate(texts):
            row = "insert into queue_inbox (p_kind, p_key, payload) values ('mail', %s, %s)"
            with contextlib.suppress(pymysql.Error):  # a server may refuse it at once
                cursor.execute(row, [f"k{number}", text])
                landed[f"k{number}"] = text
        queue = Queue(connection)
        assert landed
        assert queue.reserve("mail") == []
        dead = {letter.key: letter for letter in queue.peek("mail.dead", len(texts))}
    assert dead.keys() == landed.keys()
    for key, letter in dead.items():
        assert letter.errors
        assert letter.payload_bytes == landed[key].encode() or letter.payload == json.loads(landed[key])
