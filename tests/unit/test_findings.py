"""What the doctor says of a server, whatever it is like; without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pymysql
import pytest
from click.testing import CliRunner

from pyqueue_sql import doctor
from pyqueue_sql.cli import main
from pyqueue_sql.doctor import mysql, postgresql
from pyqueue_sql.doctor.examine import _attempt  # pyright: ignore[reportPrivateUsage]
from pyqueue_sql.doctor.findings import ROLES, Check, Finding, Level, lasting, listed
from pyqueue_sql.overview.look import NotSeen
from pyqueue_sql.overview.models import Blocker, Dead

if TYPE_CHECKING:
    from collections.abc import Callable

LEVELS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "track_counts": "on",
    "idle_in_transaction_session_timeout": "300000",
}


class Look:
    """A look at a server that answers each statement as the test says."""

    def __init__(self, answers: dict[str, Any], blockers: list[Blocker], dead: Dead | None) -> None:
        self._answers = answers
        self._blockers = blockers
        self._dead = dead

    def _answer(self, text: str) -> Any:
        [found] = [answer for part, answer in self._answers.items() if part in text]
        if isinstance(found, Exception):
            raise found
        return found

    def rows(self, text: str) -> list[Any]:
        return list(self._answer(text))

    def value(self, text: str) -> Any:
        return self._answer(text)

    def run(self, text: str) -> None:
        assert text.startswith("set timestamp")

    def blockers(self) -> list[Blocker]:
        return self._blockers

    def sees_sessions(self) -> bool:
        return self._answers["sees sessions"]

    def dead(self) -> Dead | None:
        return self._dead


def levels(
    check: Callable[[Any], Any], answers: dict[str, Any], *blockers: Blocker, dead: Dead | None = None
) -> list[str]:
    """The levels of what a check finds."""
    return [one.level for one in check(Look(answers, list(blockers), dead))]


@pytest.mark.parametrize(
    ("version", "standby", "read_only", "level"),
    [
        (140000, False, False, "ok"),
        (180001, False, False, "ok"),
        (139999, False, False, "error"),
        (180001, True, False, "error"),
        (180001, False, True, "error"),
    ],
)
def test_a_server_of_postgresql(version: int, standby: bool, read_only: bool, level: str) -> None:
    answers = {"server_version": [(version, "x", standby, read_only)]}
    assert levels(postgresql.server, answers) == [level]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ["ok"]),
        ({"fsync": "off"}, ["error"]),
        ({"full_page_writes": "off"}, ["error"]),
        ({"synchronous_commit": "off"}, ["warning"]),
        ({"synchronous_commit": "off", "fsync": "off"}, ["error", "warning"]),
        ({"idle_in_transaction_session_timeout": "0"}, ["ok", "note"]),
    ],
)
def test_settings_of_postgresql(changed: dict[str, str], expected: list[str]) -> None:
    assert levels(postgresql.settings, {"pg_settings": (LEVELS | changed).items()}) == expected


@pytest.mark.parametrize(
    ("changed", "table", "expected"),
    [
        ({}, (10, postgresql.DEAD_ROWS, False, None), ["ok"]),
        ({}, (10, postgresql.DEAD_ROWS + 1, False, 60), ["warning"]),
        ({}, (10, postgresql.DEAD_ROWS + 1, False, None), ["warning"]),
        ({}, (10**9, 10**9, False, None), ["ok"]),
        ({}, (10, 0, True, None), ["error"]),
        ({"autovacuum": "off"}, (10, 0, False, None), ["error"]),
        ({"track_counts": "off"}, (10, 0, False, None), ["error"]),
    ],
)
def test_autovacuum(changed: dict[str, str], table: tuple[Any, ...], expected: list[str]) -> None:
    answers = {"pg_settings": (LEVELS | changed).items(), "n_dead_tup": [("delayed_queue", *table)]}
    assert levels(postgresql.autovacuum, answers) == expected


def test_publications() -> None:
    def said(without: list[str], named: list[str]) -> list[str]:
        answers = {"relreplident": [(one,) for one in without], "pubname": [(one,) for one in named]}
        return levels(postgresql.publications, answers)

    assert [said([], []), said([], ["p"]), said(["queue_count"], ["p"])] == [["ok"], ["note"], ["error"]]


def test_roles() -> None:
    def said(roles: tuple[str, ...], open_: list[str]) -> list[str]:
        answers = {"prosecdef": [(one,) for one in open_], "pg_roles": [(one, True) for one in roles]}
        return levels(postgresql.grants, answers)

    assert [said(ROLES, []), said(ROLES[1:], []), said(ROLES, ["queue_ack"])] == [
        ["ok"],
        ["warning"],
        ["error"],
    ]
    for roles, level in ((ROLES, "ok"), (ROLES[:-1], "warning")):
        assert levels(mysql.grants, {"mysql.user": [(one,) for one in roles]}) == [level]


def blocker(what: str, seconds: float | None) -> Blocker:
    return Blocker(what, "1", None, None, None, seconds)


@pytest.mark.parametrize(
    ("what", "seconds", "expected"),
    [
        ("session", postgresql.OLD_S, ["ok"]),
        ("session", postgresql.OLD_S + 1, ["warning"]),
        ("prepared transaction", None, ["warning"]),
        ("replication slot", postgresql.OLD_S + 1, ["warning"]),
    ],
)
def test_old_snapshots_on_postgresql(what: str, seconds: float | None, expected: list[str]) -> None:
    assert levels(postgresql.snapshots, {"sees sessions": True}, blocker(what, seconds)) == expected
    unseen = [one for one in expected if one != "ok"] + ["unknown"]
    assert levels(postgresql.snapshots, {"sees sessions": False}, blocker(what, seconds)) == unseen


@pytest.mark.parametrize(
    ("seconds", "undo", "expected"),
    [
        (mysql.OLD_S, mysql.UNDO, ["ok"]),
        (mysql.OLD_S + 1, mysql.UNDO, ["warning"]),
        (None, mysql.UNDO + 1, ["warning"]),
        (mysql.OLD_S + 1, mysql.UNDO + 1, ["warning", "warning"]),
    ],
)
def test_old_snapshots_on_mariadb_and_mysql(seconds: float | None, undo: int, expected: list[str]) -> None:
    one = blocker("session", seconds)
    assert levels(mysql.snapshots, {"innodb_trx": 1}, one, dead=Dead(undo, None)) == expected


@pytest.mark.parametrize(
    ("version", "read_only", "level"),
    [
        ("8.0.21", 0, "ok"),
        ("8.0.20", 0, "error"),
        ("10.6.0-MariaDB", 0, "ok"),
        ("10.5.9-MariaDB", 0, "error"),
        ("9.7.4", 1, "error"),
    ],
)
def test_a_server_of_mariadb_and_mysql(version: str, read_only: int, level: str) -> None:
    answers = {"version()": version, "read_only": [(1, 1, 1, "ROW", read_only)]}
    assert levels(mysql.server, answers) == [level]


@pytest.mark.parametrize(
    ("flush", "sync", "log", "year", "expected"),
    [
        (1, 1, 1, 2026, ["ok"]),
        (1, 0, 0, 2026, ["ok"]),
        (1, 0, 1, 2026, ["warning"]),
        (2, 1, 1, 2026, ["warning"]),
        (1, 1, 1, 1970, ["error"]),
    ],
)
def test_settings_of_mariadb_and_mysql(
    flush: int, sync: int, log: int, year: int, expected: list[str]
) -> None:
    answers = {"innodb_flush_log_at_trx_commit": [(flush, sync, log, "ROW", 0)], "sysdate()": year}
    assert levels(mysql.settings, answers) == expected


@pytest.mark.parametrize(
    ("level", "expected"),
    [("READ-COMMITTED", "ok"), ("REPEATABLE-READ", "note"), ("SERIALIZABLE", "warning")],
)
@pytest.mark.parametrize(
    ("version", "variable"), [("9.7.4", "transaction_isolation"), ("10.6.0-MariaDB", "tx_isolation")]
)
def test_isolation_of_mariadb_and_mysql(version: str, variable: str, level: str, expected: str) -> None:
    assert levels(mysql.isolation, {"version()": version, f"global.{variable}": level}) == [expected]


@pytest.mark.parametrize(
    ("log", "form", "level"), [(0, "STATEMENT", "ok"), (1, "STATEMENT", "error"), (1, "MIXED", "ok")]
)
def test_the_binary_log(log: int, form: str, level: str) -> None:
    assert levels(mysql.binary_log, {"binlog_format": [(1, 1, log, form, 0)]}) == [level]


def test_zones() -> None:
    assert levels(mysql.zones, {"convert_tz": "2024-07-01 14:00:00"}) == ["ok"]
    assert levels(mysql.zones, {"convert_tz": None}) == ["warning"]
    assert levels(postgresql.zones, {"Europe/Berlin": "2024-07-01"}) == ["ok"]
    assert levels(postgresql.zones, {"Europe/Berlin": LookupError()}) == ["warning"]


def test_what_the_server_refuses_is_unknown_missing_or_the_end() -> None:
    def level(error: Exception) -> str:
        def find() -> list[Finding]:
            raise error

        [found] = _attempt(Check("grants", "why"), find)
        return found.level

    assert level(NotSeen("permission denied")) == "unknown"
    for right in (psycopg.errors.InsufficientPrivilege("no"), pymysql.OperationalError(1142, "denied")):
        assert level(right) == "unknown"
    for missing in (psycopg.errors.UndefinedTable("no"), pymysql.ProgrammingError(1146, "no such table")):
        assert level(missing) == "error"
    for lost in (psycopg.OperationalError("gone"), pymysql.OperationalError(2013, "gone")):
        with pytest.raises(type(lost)):
            level(lost)
    with pytest.raises(ValueError, match="ours"):
        level(ValueError("ours"))


def test_times_and_lists_for_people() -> None:
    seconds = (0, 119, 120, 7199, 7200, 172_799, 172_800)
    assert [lasting(one) for one in seconds] == ["0 s", "119 s", "2 min", "120 min", "2 h", "48 h", "2 days"]
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcdef"]) == "a, b, c, d, e and 1 more"


@pytest.mark.parametrize(
    ("variables", "level"),
    [
        ([], "ok"),
        ([("wsrep_on", "OFF"), ("wsrep_retry_autocommit", "1")], "ok"),
        ([("wsrep_on", "ON"), ("wsrep_retry_autocommit", "1")], "warning"),
        ([("wsrep_on", "ON"), ("wsrep_retry_autocommit", "0")], "ok"),
    ],
)
def test_a_node_of_a_cluster(variables: list[tuple[str, str]], level: str) -> None:
    assert levels(mysql.galera, {"wsrep": variables}) == [level]


def test_quiet_leaves_out_what_is_in_order_alone_and_a_warning_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told(*levels: Level) -> tuple[list[str], int]:
        found = [Finding("server", level, "so it is", "it matters", "do this") for level in levels]
        monkeypatch.setattr(doctor, "examine", lambda *_: found)
        done = CliRunner().invoke(main, ["doctor", "--quiet", "--json", "--url", "postgresql://h/d"])
        return [json.loads(line)["level"] for line in done.output.splitlines()], done.exit_code

    assert told("ok", "note", "unknown") == (["note", "unknown"], 0)
    assert told("ok", "warning") == (["warning"], 1)
    assert told("error", "ok") == (["error"], 1)
