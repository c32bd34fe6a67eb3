"""What the dialects make of a call, of rows, of errors and of URLs; no server is needed."""

import math
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pymysql
import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, InvalidReceipt, Reserved
from pyqueue_sql.calls import call, dialect
from pyqueue_sql.calls.connect import (
    ConnectionFailed,
    connect,
    is_mysql,
    mysql_settings,
    postgresql_settings,
    without_password,
)
from pyqueue_sql.cli.common import failure as cli_failure
from pyqueue_sql.errors import QueueError
from tests.rules import each


@pytest.mark.parametrize(
    ("made", "postgresql", "mysql"),
    [
        (
            call.push("a", "k", 1, {}),
            "select p_kind, p_key, scheduled_at, outcome"
            " from queue_push(%s, %s, %s::text::jsonb, %s::text::jsonb)",
            "call queue_push(%s, %s, %s, %s)",
        ),
        (
            call.push_bytes("a", "k", b"x", {}),
            "select p_kind, p_key, scheduled_at, outcome from queue_push_bytes(%s, %s, %s, %s::text::jsonb)",
            "call queue_push_bytes(%s, %s, from_base64(%s), %s)",
        ),
        (
            call.extend("r", 1.5),
            "select receipt, outcome from queue_extend(%s, %s::float8)",
            "call queue_extend(%s, %s)",
        ),
        (call.ack("r", {}), "select receipt, outcome from queue_ack(%s)", "call queue_ack(%s, null)"),
        (call.purge("a", 1), "select * from queue_purge(%s, %s::bigint)", "call queue_purge(%s, %s)"),
    ],
)
def test_a_routine_is_a_function_or_a_procedure(made: call.Call[Any], postgresql: str, mysql: str):
    assert dialect.postgresql_text(made.what) == postgresql
    assert dialect.mysql_text(made.what) == mysql


def test_parameters_stand_as_the_driver_wants_them():
    what = call.extend("r", 1).what
    assert dialect.postgresql_text(what, "pyformat") == dialect.postgresql_text(what)
    assert dialect.postgresql_text(what, "numeric_dollar").endswith("queue_extend($1, $2::float8)")
    assert dialect.mysql_text(what, "qmark") == "call queue_extend(?, ?)"
    assert " p_kind = $1 and p_key = $2 " in dialect.postgresql_text(
        call.history("a", "k", 1).what, "numeric_dollar"
    )


def test_what_drivers_differ_in_is_said_by_the_server_as_text_and_numbers():
    text = dialect.postgresql_text(call.schedules().what)
    assert "payload::text as payload" in text
    assert "(extract(epoch from next_at) * 1000000)::bigint as next_at" in text
    rows = [("a", "k", '{"n": [1]}', None, None, 0, 1, 1, 1, None, 0, None, None, "ready", "[]")]
    (found,) = call.peek("a", 1, {}).result(dialect.postgresql_rows(call.peek("a", 1, {}).what, rows))
    assert (found.payload, found.headers) == ({"n": [1]}, None)
    what = call.push_bytes("a", "k", b"", {}).what
    assert dialect.postgresql_rows(what, [("a", "k", 1, "created")]) == [("a", "k", 1, "created")]


def test_a_view_is_selected_from_in_both():
    text = dialect.postgresql_text(call.stats(None).what)
    assert text.endswith(" from queue_stats order by p_kind")
    made = call.history("a", "k", 5)
    where = (
        " from queue_history where p_kind = %s and p_key = %s order by finished_at desc, entry desc limit %s"
    )
    assert dialect.postgresql_text(made.what).endswith(f"{where}::bigint")
    assert dialect.mysql_text(made.what).endswith(where)
    assert dialect.mysql_params(made) == ("a", "k", 5)


def test_each_text_is_made_once():
    first, second = call.push("a", "k", 1, {}), call.push("b", "l", 2, {"priority": 1})
    assert dialect.postgresql_text(first.what) is dialect.postgresql_text(second.what)
    assert call.history("a", None, 1).what is call.history("b", None, 2).what


def test_parameters_go_as_text_and_numbers():
    assert dialect.mysql_params(call.push("ä", None, {"n": 1}, {})) == ("ä", None, '{"n":1}', None)
    assert dialect.mysql_params(call.push_bytes("a", "k", b"\0'\\", {})) == ("a", "k", "ACdc", None)
    assert dialect.mysql_params(call.stats("a")) == ("a",)
    assert dialect.mysql_params(call.stats(None)) == ()
    assert dialect.mysql_params(call.history(None, None, None)) == (2**64 - 1,)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "made",
    [
        call.reserve("a", None, 2**31, {}),
        call.reserve("a", None, "many", {}),  # pyright: ignore[reportArgumentType]
        call.purge("a", -(2**63) - 1),
        call.extend("r", float("nan")),
        call.extend("r", float("inf")),
        call.extend("r", "1"),  # pyright: ignore[reportArgumentType]
        call.history(None, None, -1),
    ],
)
def test_what_a_lax_server_would_take_for_another_number_is_refused(made: call.Call[Any]):
    for params in (dialect.postgresql_params, dialect.mysql_params):
        with pytest.raises(InvalidParameter):
            params(made)


@pytest.mark.parametrize("text", ["\ud800", "\udc80", "a\0b"])
def test_what_is_no_text_for_a_database_is_refused(text: str):
    for params in (dialect.postgresql_params, dialect.mysql_params):
        with pytest.raises(InvalidParameter, match=r"^kind '"):
            params(call.push(text, "k", 1, {}))


MESSAGE = Reserved("a", "k", {"secret": 1}, None, None, 0, 1, 1, 1, 1, 1, "w", "1-2")


@each(
    ("cause", "said", "make"),
    [
        (
            InvalidParameter,
            r"^key \{'to': 'ada'\}: text is wanted, or None .* the payload comes after it, or as payload=…$",
            lambda: call.push("mail", {"to": "ada"}, None, {}),  # type: ignore[arg-type]
        ),
        (InvalidParameter, r"^key 42: text is wanted$", lambda: call.get("mail", 42)),  # type: ignore[arg-type]
        (InvalidParameter, r"^kind b'mail': text is", lambda: call.pause(b"mail")),  # type: ignore[arg-type]
        (
            InvalidParameter,
            r"^worker 10: text is wanted; how many messages is max_messages=…$",
            lambda: call.reserve("mail", 10, 1, {}),  # type: ignore[arg-type]
        ),
        *(
            (InvalidParameter, rf"^{said}: a whole number is wanted$", made)
            for said, made in (
                ("max_messages '10'", lambda: call.reserve("mail", "w", "10", {})),  # type: ignore[arg-type]
                (r"max_messages 1\.5", lambda: call.pop("mail", 1.5, {})),  # type: ignore[arg-type]
                ("max_messages True", lambda: call.peek("mail", True, {})),
                ("max_messages nan", lambda: call.history("mail", None, math.nan)),  # type: ignore[arg-type]
                (r"capacity Decimal\('0\.5'\)", lambda: call.semaphore("s", Decimal("0.5"))),  # type: ignore[arg-type]
            )
        ),
        (
            InvalidParameter,
            "^max_messages of type int: must be",
            lambda: call.reserve("a", "w", 10**5000, {}),
        ),
        *(
            (
                InvalidParameter,
                rf"^seconds {said}: a finite number is wanted$",
                lambda given=given: call.extend("1-2", given),  # pyright: ignore[reportArgumentType]
            )
            for said, given in (
                ("nan", math.nan),
                (r"Decimal\('sNaN'\)", Decimal("sNaN")),
                (r"Decimal\('1E\+400'\)", Decimal("1e400")),
                ("10{38}…", 10**400),
                ("True", True),
                (r"datetime\.timedelta\(seconds=5\)", timedelta(seconds=5)),
            )
        ),
        (
            InvalidParameter,
            r"^payload_bytes 'text': bytes are wanted$",
            lambda: call.push_bytes("mail", "k", "text", {}),  # type: ignore[arg-type]
        ),
        (
            InvalidReceipt,
            r"^receipt of type Message: text is wanted, such as its receipt$",
            lambda: call.ack(MESSAGE, {}),  # type: ignore[arg-type]
        ),
        (
            InvalidParameter,
            r"^receipts '1-2': a list is wanted$",
            lambda: call.ack_many("1-2", {}),
        ),
        (
            InvalidReceipt,
            r"^receipts\[1\] of type Message: the text of a receipt is wanted$",
            lambda: call.extend_many(["1-2", MESSAGE], 5),  # type: ignore[list-item]
        ),
        (
            InvalidParameter,
            r"^messages \{'key': 'k'\}: a list is wanted$",
            lambda: call.push_many("mail", {"key": "k"}, {}),  # type: ignore[arg-type]
        ),
        (
            InvalidParameter,
            r"^messages\[0\] 'k': a mapping, such as \{'key': …\}, is wanted$",
            lambda: call.push_many("mail", ["k"], {}),  # type: ignore[list-item]
        ),
        (InvalidParameter, r"^moves None: a list", lambda: call.move_many(None, {})),  # type: ignore[arg-type]
        (
            InvalidParameter,
            r"^moves\[0\] '1-2': a mapping, such as \{'receipt': …, 'to_kind': …\}, is wanted$",
            lambda: call.move_many(["1-2"], {}),  # type: ignore[list-item]
        ),
        (
            InvalidReceipt,
            r"^receipts\[1\] of type str: no JSON can be made of it, surrogates not allowed$",
            lambda: call.ack_many(["1-2", "\ud800"], {}),
        ),
        (InvalidParameter, r"^kinds\[0\] of type str: no JSON", lambda: call.wait(["\ud800"], 1)),
        (
            InvalidPayload,
            r"^messages\[1\]\.payload\.sum of type Decimal: no JSON can be made of it",
            lambda: call.push_many("mail", [{"payload": 1}, {"payload": {"sum": Decimal(1)}}], {}),
        ),
        (
            InvalidPayload,
            r"^messages\[0\]\.payload nan: a finite number is wanted$",
            lambda: call.push_many("mail", [{"payload": math.nan}], {}),
        ),
        (
            InvalidOption,
            r"^messages\[0\]\.delay_seconds nan: a finite number is wanted$",
            lambda: call.push_many("mail", [{"delay_seconds": math.nan}], {}),
        ),
        (
            InvalidOption,
            r"^messages\[0\]\.scheduled_at: 2026-01-01T00:00:00 has no time zone$",
            lambda: call.push_many("mail", [{"scheduled_at": datetime(2026, 1, 1)}], {}),
        ),
        (
            InvalidPayload,
            r"^payload of type bytes: no JSON can be made of it; bytes go by push_bytes$",
            lambda: call.push("mail", None, b"x", {}),
        ),
        (
            InvalidOption,
            r"^option delay_seconds of type timedelta: no JSON can be made of it; wanted is",
            lambda: call.push("mail", None, 1, {"delay_seconds": timedelta(seconds=5)}),
        ),
        (InvalidParameter, r"^kinds 5: a list", lambda: call.wait(5, 1)),  # type: ignore[arg-type]
        (
            InvalidParameter,
            r"^key '" + "x" * 38 + "…: text without",
            lambda: call.get("mail", "x" * 500 + "\0"),
        ),
    ],
)
def test_what_is_given_in_a_wrong_place_is_said_in_our_words(
    cause: type[QueueError], said: str, make: Callable[[], call.Call[Any]]
):
    for params in (dialect.postgresql_params, dialect.mysql_params):
        with pytest.raises(cause, match=said):
            params(make())


def described(*names: str) -> list[tuple[str, int]]:
    """A cursor's description."""
    return [(name, 0) for name in names]


def test_rows_become_what_postgresql_answers():
    what = call.stats(None).what
    names = [column.name for column in what.columns]
    given = dict.fromkeys(names, Decimal(3))
    row = {**given, "p_kind": "a", "paused": 1, "next_at": 1_767_323_045_000_006}
    (found,) = call.stats(None).result(dialect.mysql_rows(what, described(*names), [tuple(row.values())]))
    assert (found.kind, found.paused, found.ready, found.oldest_ready_seconds) == ("a", True, 3, 3.0)
    assert (type(found.ready), type(found.oldest_ready_seconds)) == (int, float)
    assert found.next_at == datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_columns_are_found_by_name_and_more_of_them_do_no_harm():
    made = call.get("a", "k")
    names = [column.name for column in made.what.columns if column.type != "absent"]
    row = {**dict.fromkeys(names), "payload": '{"ä": [1.5, null]}', "headers": None, "state": "ready"}
    backwards = list(reversed(row.items()))
    columns = described("new", *(name for name, _ in backwards))
    found = made.result(dialect.mysql_rows(made.what, columns, [(7, *(value for _, value in backwards))]))
    assert found is not None
    assert (found.payload, found.headers, found.receipt, found.state) == (
        {"ä": [1.5, None]},
        None,
        None,
        "ready",
    )
    with pytest.raises(LookupError, match="no column receipt"):
        dialect.mysql_rows(call.ack("r", {}).what, described("outcome"), [("acked",)])


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (pymysql.err.OperationalError(31001, "no"), InvalidParameter),
        (pymysql.err.OperationalError(31005, "no"), InvalidReceipt),
        (pymysql.err.DataError(1264, "no"), InvalidParameter),
        (pymysql.err.OperationalError(3141, "no"), InvalidPayload),
        (pymysql.err.OperationalError(1213, "no"), None),
        (pymysql.err.InterfaceError("no"), None),
    ],
)
def test_a_number_of_the_server_is_a_cause(error: Exception, cause: type[QueueError] | None):
    failure = dialect.failure(error)
    assert failure is not None
    assert (failure.message, failure.refusal and type(failure.refusal)) == ("no", cause)


SAYS = ("missing", "lost", "victim", "passes", "killed")


def test_what_else_an_error_says():
    def said(number: int) -> list[str]:
        failure = dialect.failure(pymysql.err.OperationalError(number, "no"))
        assert failure is not None
        return [name for name in SAYS if getattr(failure, name)]

    assert all(said(number) == ["missing"] for number in (1049, 1146, 1305))
    gone = (0, 1053, 1077, 1078, 1079, 1153, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2014, 2055)
    assert all(said(number) == ["lost", "passes"] for number in (*gone, 3169, 4031))
    assert all(said(number) == ["victim", "passes"] for number in (1020, 1205, 1213))
    closed = (1040, 1047, 1203, 1226, 1290, 1792, 1836, 3100, 3101)
    assert all(said(number) == ["passes"] for number in closed)
    assert all(said(number) == ["passes", "killed"] for number in (1317, 1969))
    assert all(said(number) == [] for number in (1044, 1045, 1064, 1142, 1370))
    assert dialect.failure(ValueError("no")) is None
    lost = dialect.failure(psycopg.OperationalError("gone"))
    assert lost is not None
    assert (lost.message, lost.lost, lost.passes) == ("gone", True, True)


@each(
    ("error", "said"),
    [
        (psycopg.errors.ReadOnlySqlTransaction, ["passes"]),
        (psycopg.errors.SerializationFailure, ["passes"]),
        (psycopg.errors.DeadlockDetected, ["passes"]),
        (psycopg.errors.LockNotAvailable, ["passes", "killed"]),
        (psycopg.errors.TooManyConnections, ["passes"]),
        (psycopg.errors.DiskFull, ["passes"]),
        (psycopg.errors.CannotConnectNow, ["lost", "passes"]),
        (psycopg.errors.AdminShutdown, ["lost", "passes"]),
        (psycopg.errors.ConnectionFailure, ["lost", "passes"]),
        (psycopg.errors.QueryCanceled, ["passes", "killed"]),
        (psycopg.errors.UndefinedFunction, ["missing"]),
        (psycopg.errors.UndefinedTable, ["missing"]),
        (psycopg.errors.InvalidSchemaName, ["missing"]),
        (psycopg.errors.InsufficientPrivilege, []),
        (psycopg.errors.InvalidPassword, []),
        (psycopg.errors.IoError, []),
    ],
)
def test_what_an_error_of_postgresql_says(error: type[psycopg.Error], said: list[str]):
    failure = dialect.failure(error("no"))
    assert failure is not None
    assert [name for name in SAYS if getattr(failure, name)] == said


FATAL = 'connection to server at "h", port 5432 failed: FATAL:  '


@each(
    ("url", "error", "away", "busy"),
    [
        ("postgresql://h/d", psycopg.OperationalError(text), away, busy)
        for text, away, busy in [
            (f"{FATAL}the database system is starting up", True, True),
            (f"{FATAL}the database system is shutting down", True, True),
            (f"{FATAL}the database system is in recovery mode", True, True),
            (f"{FATAL}the database system is not yet accepting connections", True, True),
            (f"{FATAL}sorry, too many clients already", True, True),
            (f"{FATAL}remaining connection slots are reserved", True, True),
            (f'{FATAL}password authentication failed for user "a"', False, False),
            (f'{FATAL}database "d" does not exist', False, False),
            ("connection failed: Connection refused", True, False),
            ("connection to a server that is too many hops away timed out", True, False),
        ]
    ]
    + [
        ("mysql://h/d", error, away, busy)
        for numbers, away, busy in [
            ((1044, 1045, 1049, 1130, 1227, 1698), False, False),
            ((1040, 1203, 1226), True, True),
            ((1053, 2003, 2013), True, False),
        ]
        for error in (pymysql.err.OperationalError(number, "no") for number in numbers)
    ]
    + [("mysql://h/d", RuntimeError("'cryptography' package is required"), False, False)],
)
def test_no_connection_says_whether_to_try_again(
    url: str, error: Exception, away: bool, busy: bool, monkeypatch: pytest.MonkeyPatch
):
    def refusing(**_: object) -> None:
        raise error

    monkeypatch.setattr(pymysql if is_mysql(url) else psycopg, "connect", refusing)
    with pytest.raises(ConnectionFailed) as caught:
        connect(url)
    assert (caught.value.away, caught.value.busy) == (away, busy)


def test_every_cause_has_a_number_of_its_own():
    causes = [cause for cause in QueueError.__subclasses__() if cause.sqlstate]
    assert {cause.errno for cause in causes} == {31000 + int(cause.sqlstate[2:]) for cause in causes}


@pytest.mark.parametrize("scheme", ["mysql", "mysql+pymysql", "mariadb", "mariadb+pymysql"])
def test_a_url_becomes_the_drivers_settings(scheme: str):
    url = f"{scheme}://a%40b:p%3Aw%2F@db.example.org:3307/my%20app"
    query = "?charset=utf8mb4&ssl_ca=/ca.pem&ssl_verify_identity=true&connect_timeout=5&unix_socket=/tmp/s"
    assert is_mysql(url)
    assert mysql_settings(url + query) == {
        "host": "db.example.org",
        "port": 3307,
        "user": "a@b",
        "password": "p:w/",
        "database": "my app",
        "charset": "utf8mb4",
        "ssl_ca": "/ca.pem",
        "ssl_verify_identity": True,
        "connect_timeout": 5,
        "unix_socket": "/tmp/s",
    }
    assert mysql_settings(f"{scheme}://[::1]") == {"host": "::1", "charset": "utf8mb4"}


@pytest.mark.parametrize("name", ["connect_timeout", "read_timeout", "write_timeout"])
@pytest.mark.parametrize("seconds", [0, -1, 99999999999])
def test_a_timeout_out_of_range_is_named_with_what_is_allowed(name: str, seconds: int):
    with pytest.raises(ConnectionFailed, match=f"^{name}: must be from 1 to 31536000 seconds$"):
        connect(f"mysql://127.0.0.1:1/app?{name}={seconds}")


def test_other_urls_are_not_of_mysql():
    for url in ("postgresql://h/d", "host=h dbname=mysql", "mysql", "mysql+mysqldb://h/d"):
        assert not is_mysql(url)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:secret@127.0.0.1:1/app",
        "mysql://me:secret@127.0.0.1:port/app",
        "mysql://me:not@secret@127.0.0.1:1/app",
        "mysql://me:not/secret@127.0.0.1:1/app",
        "mysql://me:1/secret@127.0.0.1/app",
        "mysql://me:secret@[::1/app",
        "mysql://me:secret@127.0.0.1/app?colour=red",
        "mysql://me:secret@127.0.0.1/app?charset=latin1",
        "mysql://me:secret@127.0.0.1:1/app?ssl_disabled=perhaps",
        "mysql://me:secret@127.0.0.1:1/app?ssl_ca=/no/such/file",
        "mariadb+pymysql://me:secret@127.0.0.1:1/app?unix_socket=/no/such/socket",
    ],
)
def test_no_connection_says_why_without_the_password(url: str):
    with pytest.raises(ConnectionFailed) as caught:
        connect(url)
    assert str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_password_is_hidden_as_it_is_written_and_as_it_is_meant():
    url = "postgresql://me:se%20c%3Fret@db.example.org/app"
    for said in ("se%20c%3Fret", "se c?ret"):
        assert without_password(f"no host {said} there", url) == "no host *** there"


def test_without_the_driver_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(ConnectionFailed, match=r"pip install 'pyqueue_sql\[mysql\]'"):
        connect("mysql://me:secret@127.0.0.1:1/app")


def test_who_has_no_connection_of_theirs_imports_neither_driver():
    code = "import sys, pyqueue_sql.calls.connect; print({'pymysql', 'aiomysql'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_what_a_url_says_stays_beside_the_schema_and_the_name():
    url = "postgresql://h/d?options=-cwork_mem%3D7MB&application_name=mine&client_encoding=LATIN1"
    found = postgresql_settings(url, "app")
    assert found["options"].split(maxsplit=1) == ["-cwork_mem=7MB", r'-c search_path="app",\ pg_temp']
    assert (found["application_name"], found["client_encoding"]) == ("mine", "UTF8")
    assert postgresql_settings("postgresql://h/d", None)["application_name"] == "pyqueue"


def test_a_url_without_a_database_is_told():
    failure = cli_failure(pymysql.OperationalError(1046, "No database selected"))
    assert failure is not None
    assert (failure.exit_code, failure.message) == (3, "No database selected: the URL names none; name one")
