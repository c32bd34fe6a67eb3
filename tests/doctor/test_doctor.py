"""Something is broken on purpose, and the doctor says what it is and what to do."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from pyqueue_sql import cli
from pyqueue_sql.doctor import Finding, examine, mysql, postgresql
from pyqueue_sql.schema import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Harness, Session

HOUR_S = 3600


def findings(harness: Harness, check: str) -> list[Finding]:
    return examine(harness.url, only=[check])


def finding(harness: Harness, check: str) -> Finding:
    [found] = findings(harness, check)
    return found


def run(harness: Harness, *arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, ["doctor", *arguments, "--url", harness.url])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@contextlib.contextmanager
def put_right(harness: Harness) -> Iterator[None]:
    """What a test changes of the installation is made again for the next one."""
    try:
        yield
    finally:
        migrate.upgrade(harness.url)


def test_a_fresh_installation_with_a_worker_has_no_error_of_the_queue(
    harness: Harness, queue: Session
) -> None:
    queue.heartbeat("w", timeout_seconds=HOUR_S)
    found = {one.check: one for one in examine(harness.url)}
    fine = {
        "server",
        "installation",
        "routines",
        "clock",
        "upkeep",
        "workers",
        "held",
        "backlog",
        "dead_letters",
    }
    assert {check: one for check, one in found.items() if check in fine and one.level != "ok"} == {}
    assert [one for one in found.values() if one.level == "unknown"] == []
    assert all(one.remedy and one.why for one in found.values() if one.level in ("warning", "error"))


def test_the_command_says_it_for_people_and_for_programs_by_its_exit_code(
    harness: Harness, queue: Session
) -> None:
    queue.nack(queue_one(queue), error="no such order", final=True)
    told = run(harness)
    assert told.exit_code == 1
    assert "WARNING dead_letters: new in the last 60 min: mail.dead (1 new, 1 in all)" in told.output
    assert "pyqueue redrive" in told.output.replace("\n", " ")
    lines = [json.loads(line) for line in run(harness, "--json", "--quiet").output.splitlines()]
    assert {"ok"} & {line["level"] for line in lines} == set()
    [dead] = [line for line in lines if line["check"] == "dead_letters"]
    assert set(dead) == {"check", "level", "found", "why", "remedy"}
    assert dead["level"] == "warning"


def queue_one(queue: Session) -> str:
    """Push and reserve a message, and return its receipt."""
    queue.push("mail", "a")
    [message] = queue.reserve("mail")
    return message.receipt


def test_a_routine_that_is_missing_or_changed(harness: Harness, queue: Session, server_name: str) -> None:
    change = (
        "create or replace function _queue_boolean(in_options jsonb, in_name text) returns boolean"
        " language sql immutable as $$ select true $$"
        if server_name == "postgresql"
        else "create procedure _queue_check_count(in in_count bigint) begin end"
    )
    name = "_queue_boolean" if server_name == "postgresql" else "_queue_check_count"
    with put_right(harness):
        if server_name == "postgresql":
            queue.execute("drop function queue_purge")
            queue.execute("drop function _queue_boolean")
        else:
            queue.execute("drop procedure queue_purge")
            queue.execute("drop procedure _queue_check_count")
        queue.execute(change)
        found = finding(harness, "routines")
    assert found.level == "error"
    assert "queue_purge" in found.found
    assert name in found.found
    assert "pyqueue upgrade" in found.remedy
    assert finding(harness, "routines").level == "ok"


def test_no_queue_here(harness: Harness, queue: Session) -> None:
    name = f"nothing_{secrets.token_hex(4)}"
    queue.execute(f"create schema {name}")
    try:
        found = examine(harness.url, name)
        assert run(harness, "--schema", name).exit_code == 1
    finally:
        queue.execute(f"drop schema {name}")
    assert [one.level for one in found if one.check == "installation"] == ["error"]
    assert not [one for one in found if one.check == "upkeep"]


def test_a_queue_that_is_newer_than_the_package_wants_a_newer_package(
    harness: Harness, queue: Session
) -> None:
    queue.execute("update queue_version set version_num = '9999_newer'")
    try:
        for check in ("installation", "routines"):
            found = finding(harness, check)
            assert found.remedy == "install the version of pyqueue_sql that it comes from, or a newer one"
    finally:
        queue.execute(f"update queue_version set version_num = '{migrate.newest()}'")


def test_clocks_that_differ(harness: Harness, clock: Clock) -> None:
    here = time.time_ns() // 1000
    for hours, way in ((3, "3 h ahead of"), (-3, "3 h behind")):
        clock.set(here + hours * HOUR_S * 1_000_000)
        found = finding(harness, "clock")
        assert (found.level, way in found.found) == ("warning", True)


def test_one_check_alone(harness: Harness, queue: Session) -> None:
    queue.heartbeat("w")
    told = run(harness, "--only", "clock", "--only", "workers")
    assert [line.split(":")[0].split()[-1] for line in told.output.splitlines()[:-1]] == ["clock", "workers"]
    assert told.exit_code == 0
    refused = run(harness, "--only", "clocks")
    assert (refused.exit_code, "--only 'clocks': must be one of server, " in refused.output) == (2, True)


def test_a_worker_that_is_gone_and_nobody_does_the_upkeep(
    harness: Harness, clock: Clock, queue: Session
) -> None:
    queue.heartbeat("first", timeout_seconds=10)
    assert (finding(harness, "upkeep").level, finding(harness, "workers").level) == ("ok", "ok")
    clock.advance(60)
    queue.heartbeat("second", timeout_seconds=10, upkeep=False)
    found = finding(harness, "workers")
    assert (found.level, "first" in found.found, "second" in found.found) == ("warning", True, False)
    assert finding(harness, "upkeep").level == "warning"


def test_dead_letters_that_grow_and_old_ones(harness: Harness, clock: Clock, queue: Session) -> None:
    queue.define("bills", dead_letter_kind="morgue")
    queue.push("bills", "a")
    [message] = queue.reserve("bills")
    queue.nack(message.receipt, error="no", final=True)
    found = finding(harness, "dead_letters")
    assert (found.level, "morgue (1 new, 1 in all)" in found.found) == ("warning", True)
    clock.advance(2 * HOUR_S)
    assert finding(harness, "dead_letters").level == "note"
    queue.purge("morgue")
    assert finding(harness, "dead_letters").level == "ok"


def test_messages_that_nobody_takes_and_one_that_is_held_for_hours(
    harness: Harness, clock: Clock, queue: Session
) -> None:
    queue.push("mail", "a")
    queue.push("sms", "a")
    queue.define("sms", timeout_seconds=10 * HOUR_S)
    queue.reserve("sms")
    assert (finding(harness, "backlog").level, finding(harness, "held").level) == ("ok", "ok")
    clock.advance(2 * HOUR_S)
    backlog, held = finding(harness, "backlog"), finding(harness, "held")
    assert (backlog.level, held.level) == ("warning", "warning")
    assert "mail (for 2 h, and no living worker takes it)" in backlog.found
    assert "sms" in held.found
    assert "sms" not in backlog.found
    queue.heartbeat("w", kinds=["mail"], timeout_seconds=60)
    assert "nobody" not in finding(harness, "backlog").found
    assert "no living worker" not in finding(harness, "backlog").found
    queue.pause("mail")
    [paused] = findings(harness, "backlog")[1:]
    assert (paused.level, "mail (1 ready)" in paused.found) == ("note", True)


def test_a_transaction_that_stays_open(
    harness: Harness, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "OLD_S", -1)
    monkeypatch.setattr(mysql, "OLD_S", -1)
    assert finding(harness, "snapshots").level == "ok"
    time.sleep(0.2)  # INNODB_TRX is made anew ten times a second at the most
    open_ = connect(autocommit=False)
    open_.push("mail", "a")
    [(number,)] = open_.execute(
        "select pg_backend_pid()" if "postgresql" in harness.url else "select connection_id()"
    )
    found = finding(harness, "snapshots")
    assert (found.level, f"session {number} " in found.found, str(number) in found.remedy) == (
        "warning",
        True,
        True,
    )


def test_a_login_that_may_see_nothing_is_told_so(harness: Harness, queue: Session, server_name: str) -> None:
    name, password = f"seen_{secrets.token_hex(4)}", secrets.token_hex(8)
    parts = urlsplit(harness.url)
    where = parts.netloc.rpartition("@")[2]
    url = f"{parts.scheme}://{name}:{password}@{where}{parts.path}"
    if server_name == "postgresql":
        queue.execute(f"create role {name} login password '{password}'")
    else:
        queue.execute(f"create user {name} identified by '{password}'")
        queue.execute(f"grant select on {parts.path[1:]}.queue_inbox to {name}")
    try:
        found = {one.check: one for one in examine(url)}
    finally:
        queue.execute(f"drop role {name}" if server_name == "postgresql" else f"drop user {name}")
    assert found["backlog"].level == "unknown"
    assert "grant" in found["backlog"].remedy
    assert password not in str(found)


SPOILED: list[tuple[str, str, str, str]] = [
    (
        "isolation",
        "warning",
        "alter database {} set default_transaction_isolation = 'serializable'",
        "serializable",
    ),
    (
        "server",
        "error",
        "alter database {} set default_transaction_read_only = on",
        "default_transaction_read_only",
    ),
    ("schema", "error", "grant create on schema public to public", "public"),
    ("grants", "error", "grant execute on function queue_ack(text, jsonb) to public", "queue_ack"),
    ("autovacuum", "error", "alter table delayed_queue set (autovacuum_enabled = false)", "delayed_queue"),
    (
        "publications",
        "error",
        "alter table queue_count replica identity nothing; create publication p for table queue_count",
        "queue_count",
    ),
]


@pytest.mark.servers("postgresql")
def test_what_can_be_wrong_with_a_server_of_postgresql(harness: Harness, queue: Session) -> None:
    missed: list[str] = []
    name = urlsplit(harness.url).path[1:]
    for check, level, text, word in SPOILED:
        before = [one.level for one in findings(harness, check)]
        queue.execute(text.format(name))
        found = [one for one in findings(harness, check) if one.level == level]
        if level in before or not any(word in one.found + one.remedy for one in found):
            missed.append(f"{check}: {before}, then {found}")
        for undo in UNDO:
            queue.execute(undo.format(name))
    assert not missed


UNDO = (
    "alter database {} reset all",
    "revoke create on schema public from public",
    "revoke execute on function queue_ack(text, jsonb) from public",
    "alter table delayed_queue reset (autovacuum_enabled)",
    "alter table queue_count replica identity full",
    "drop publication if exists p",
)


def test_settings_by_which_a_crash_loses_messages(harness: Harness, queue: Session, server_name: str) -> None:
    if server_name == "postgresql":
        [(fsync,)] = queue.execute("show fsync")
        risky = fsync == "off"
    else:
        [(flush,)] = queue.execute("select @@global.innodb_flush_log_at_trx_commit")
        risky = flush != 1
    levels = {one.level for one in findings(harness, "settings")}
    assert bool(levels & {"error", "warning"}) == risky


@pytest.mark.servers("mariadb", "mysql")
def test_what_can_be_wrong_with_a_server_of_mariadb_and_mysql(harness: Harness, queue: Session) -> None:
    database = urlsplit(harness.url).path[1:]
    assert finding(harness, "isolation").level == "note"
    assert finding(harness, "galera").level == "ok"
    assert finding(harness, "schema").level == "ok"
    name = f"other_{secrets.token_hex(4)}"
    queue.execute(f"create user {name}")
    try:
        queue.execute(f"grant create routine on {database}.* to {name}")
        found = finding(harness, "schema")
    finally:
        queue.execute(f"drop user {name}")
    assert (found.level, name in found.found) == ("warning", True)
