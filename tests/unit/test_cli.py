"""The command line on a real server, through its entry point."""

import base64
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from alembic.script import ScriptDirectory
from click.testing import CliRunner, Result

from pyqueue_sql import Ended, Queue, cli, to_datetime
from pyqueue_sql.calls.connect import connect, connect_mysql
from pyqueue_sql.cli import common, kinds, messages, rights, workers
from pyqueue_sql.cli.common import Failure
from pyqueue_sql.demo.cli import demo
from pyqueue_sql.schema.frozen import MIGRATIONS
from pyqueue_sql.schema.migrate_postgresql import UPGRADES
from tests.conformance.fixtures import harness
from tests.conformance.harness import Harness
from tests.rules import each

__all__ = ["harness"]

COMMANDS = {
    *(
        "upgrade",
        "downgrade",
        "current",
        "sql",
        "demo",
        "push",
        "reserve",
        "ack",
        "nack",
        "move",
        "peek",
        "remove",
    ),
    *("get", "next", "pop", "extend", "history", "purge", "pipeline", "wait", "worker", "workers", "reap"),
    *("define", "drop", "pause", "resume", "drain", "stats", "redrive", "replay", "prune"),
    *("publish", "subscribe", "unsubscribe", "subscriptions", "schedule", "unschedule", "schedules", "tick"),
    *("doctor", "top", "web", "metrics"),
    *("group", "groups", "semaphore", "semaphores", "read", "read-ack", "read-end", "readers"),
}


class Shell:
    """Runs commands on the test's database."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(
        self, *args: str, lines: str | bytes | None = None, env: dict[str, str] | None = None
    ) -> Result:
        environment = {"PYQUEUE_URL": self.url, **(env or {})}
        result = CliRunner().invoke(cli.main, args, input=lines, env=environment)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def rows(self, *args: str, lines: str | bytes | None = None, exit_code: int = 0) -> list[dict[str, Any]]:
        """What a command printed, a row a line."""
        result = self(*args, lines=lines)
        assert result.exit_code == exit_code, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def pyqueue(database_url: str) -> Shell:
    return Shell(database_url)


@pytest.fixture
def queue(conn: psycopg.Connection[Any]) -> Queue:
    return Queue(conn)


def test_every_command_teaches():
    result = CliRunner().invoke(cli.main, ["--help"])
    assert set(cli.main.commands) == COMMANDS
    for name in COMMANDS:
        assert f"\n  {name}" in result.output
    for title in ("Schema", "Producers", "Consumers", "Operators", "A first session"):
        assert f"\n{title}:\n" in result.output.replace("  A first", "A first")


def examples(name: str) -> list[list[str]]:
    """The words of each call of the command that its help shows."""
    shown = CliRunner().invoke(cli.main, [name, "--help"])
    assert shown.exit_code == 0
    calls = re.findall(rf"^  .*pyqueue {name}\b(.*)", shown.output, re.MULTILINE)
    return [shlex.split(re.split(r"[|<>]", call)[0], comments=True) for call in calls]


@each("name", sorted(COMMANDS))
def test_the_examples_of_every_command_are_right_usage(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYQUEUE_URL", "postgresql://127.0.0.1/app")
    Path("photo.jpg").write_bytes(b"")
    calls = examples(name)
    assert calls, "no example"
    command = demo if name == "demo" else cli.main.commands[name]
    for call in calls:
        with command.make_context(name, call):  # raises UsageError where an option isn't one
            pass


def test_a_message_goes_in_and_out(pyqueue: Shell):
    (pushed,) = pyqueue.rows(
        "push", "mail", '{"to": "ä"}', "--key", "k", "--priority", "3", "--headers", '{"h": 1}'
    )
    assert (pushed["kind"], pushed["key"], pushed["outcome"]) == ("mail", "k", "created")
    (message,) = pyqueue.rows("reserve", "mail", "--timeout", "60", "--worker", "me")
    assert (message["key"], message["payload"], message["priority"]) == ("k", {"to": "ä"}, 3)
    assert (message["headers"], message["reserved_by"]) == ({"h": 1}, "me")
    assert pyqueue.rows("ack", message["receipt"]) == [{"receipt": message["receipt"], "outcome": "acked"}]


def test_what_reserve_writes_is_what_ack_reads(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"payload": n} for n in range(5)])
    lines = pyqueue("reserve", "mail", "--max", "10").stdout
    assert [row["outcome"] for row in pyqueue.rows("ack", "-", lines=lines)] == ["acked"] * 5


def test_next_acks_what_reserve_wrote_and_writes_the_same(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"key": str(n), "payload": n} for n in range(5)])
    first = pyqueue("next", "mail", "--max", "2", "--worker", "me").stdout
    rows = pyqueue.rows("next", "mail", "-", "--max", "2", "--timeout", "60", lines=first)
    assert [(row["key"], row["payload"]) for row in rows] == [("2", 2), ("3", 3)]
    gone = json.loads(first.splitlines()[0])["receipt"]
    refused = pyqueue("next", "mail", gone, rows[0]["receipt"], "--lost", "error")
    assert (refused.exit_code, gone in refused.stderr) == (3, True)
    assert [row["key"] for row in pyqueue.rows("next", "mail", gone, rows[0]["receipt"])] == ["4"]
    assert pyqueue.rows("next", "mail", rows[1]["receipt"], exit_code=1) == []
    (stats,) = queue.stats("mail")
    assert (stats.acked_total, stats.lost_total, stats.reserved) == (4, 1, 1)


def test_bare_receipts_are_read_in_batches_too(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"payload": n} for n in range(5)])
    receipts = [message.receipt or "" for message in queue.reserve("mail", max_messages=5)]
    rows = pyqueue.rows("ack", "-", "--batch", "2", lines="\n\n".join(receipts) + "\n")
    assert [row["receipt"] for row in rows] == receipts


def test_a_lost_receipt_is_exit_code_1_and_the_others_count(pyqueue: Shell, queue: Queue):
    queue.push("mail", "k")
    (message,) = queue.reserve("mail")
    receipt = message.receipt or ""
    rows = pyqueue.rows("ack", "1-" + "0" * 32, receipt, exit_code=1)
    assert [row["outcome"] for row in rows] == ["lost", "acked"]


def test_nothing_reserved_is_exit_code_1(pyqueue: Shell):
    assert pyqueue.rows("reserve", "mail", exit_code=1) == []
    assert pyqueue.rows("peek", "mail", exit_code=1) == []


def test_many_are_pushed_from_lines(pyqueue: Shell, queue: Queue):
    lines = """
        {"key": "a", "payload": 1}
        {"key": "b", "payload": null, "priority": 1}
        {"key": "a", "payload": 2}
    """
    rows = pyqueue.rows("push", "mail", "-", "--priority", "7", "--batch", "2", lines=lines)
    assert [(row["key"], row["outcome"]) for row in rows] == [
        ("a", "created"),
        ("b", "created"),
        ("a", "ignored"),
    ]
    assert [(message.key, message.priority) for message in queue.peek("mail")] == [("a", 7), ("b", 1)]


def test_a_mark_of_utf_8_before_the_first_line_is_none_of_it(pyqueue: Shell, queue: Queue):
    (pushed,) = pyqueue.rows("push", "mail", "-", lines=b'\xef\xbb\xbf{"key": "\xc3\xa4"}\n')
    assert pushed["key"] == "ä"
    (held,) = queue.reserve("mail")
    (acked,) = pyqueue.rows("ack", "-", lines=f"\ufeff{held.receipt}\n")
    assert acked["outcome"] == "acked"


def test_bytes_come_from_a_file_and_go_out_as_base64(pyqueue: Shell, tmp_path: Path):
    file = tmp_path / "photo"
    file.write_bytes(b"\0\xff")
    pyqueue.rows("push", "photos", "--bytes", str(file))
    (message,) = pyqueue.rows("peek", "photos")
    assert base64.b64decode(message["payload_bytes"]) == b"\0\xff"
    assert "payload" not in message


@pytest.mark.parametrize("at", ["2100-01-01T01:00:00+01:00", "4102444800000000"])
def test_a_time_is_iso_or_microseconds(pyqueue: Shell, at: str):
    (pushed,) = pyqueue.rows("push", "mail", "1", "--at", at)
    assert pushed["scheduled_at"] == "2100-01-01T00:00:00+00:00"


def test_nack_takes_its_options(pyqueue: Shell, queue: Queue):
    queue.push("mail", "a")
    queue.push("mail", "b")
    first, second = (message.receipt or "" for message in queue.reserve("mail", max_messages=2))
    options = ("--error", "it broke", "--delay", "60", "--payload", "[1]", "--no-count")
    assert pyqueue.rows("nack", first, *options) == [{"receipt": first, "outcome": "retry"}]
    assert pyqueue.rows("nack", second, "--final") == [{"receipt": second, "outcome": "dead"}]
    (message,) = queue.peek("mail")
    assert (message.key, message.payload, message.attempts, message.state) == ("a", [1], 0, "scheduled")
    assert pyqueue.rows("redrive", "mail.dead") == [{"kind": "mail.dead", "went": 1, "stayed": 0}]


def test_move_can_take_the_payload_of_the_line(pyqueue: Shell, queue: Queue):
    queue.push("raw", "a", 1)
    queue.push("raw", "b", 2)
    one, two = pyqueue("reserve", "raw", "--max", "2").stdout.splitlines()
    changed = json.dumps({**json.loads(one), "payload": {"seen": True}})
    assert [
        row["outcome"] for row in pyqueue.rows("move", "clean", "-", "--take-payload", lines=changed)
    ] == ["moved"]
    assert [row["outcome"] for row in pyqueue.rows("move", "clean", "-", lines=two)] == ["moved"]
    assert {message.key: message.payload for message in queue.peek("clean")} == {"a": {"seen": True}, "b": 2}


def test_kinds_are_set_paused_counted_and_pruned(pyqueue: Shell, queue: Queue):
    settings = ("--timeout", "1.5", "--max-attempts", "4", "--options", '{"jitter": 0.5}')
    (kind,) = pyqueue.rows("define", "mail", *settings)
    assert (kind["timeout_seconds"], kind["max_attempts"], kind["jitter"]) == (1.5, 4, 0.5)
    (kind,) = pyqueue.rows("define", "mail", "--options", '{"max_attempts": null}')
    assert (kind["timeout_seconds"], kind["max_attempts"]) == (1.5, None)
    assert pyqueue.rows("pause", "mail") == [{"kind": "mail", "changed": True}]
    assert pyqueue.rows("resume", "mail") == [{"kind": "mail", "changed": True}]
    queue.push("mail", "k", delay_seconds=60)
    (counts,) = pyqueue.rows("stats", "mail")
    assert (counts["scheduled"], counts["total"], counts["next_at"][-6:]) == (1, 1, "+00:00")
    assert pyqueue.rows("remove", "mail", "k") == [{"kind": "mail", "key": "k", "outcome": "removed"}]
    assert pyqueue.rows("remove", "mail", "k", exit_code=1)[0]["outcome"] == "absent"
    assert pyqueue.rows("prune", "--max", "10")[0].keys() == {"pruned"}


def test_top_wants_a_terminal(pyqueue: Shell):
    result = pyqueue("top")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "a terminal is needed" in result.stderr


def test_a_terminal_gets_a_table(queue: Queue):
    queue.push("a-long-kind", "k")
    queue.push("b", "k")
    header, *rows = kinds.table(queue.stats()).splitlines()
    assert header.split()[:2] == ["kind", "ready"]
    assert [row.split()[:2] for row in rows] == [["a-long-kind", "1"], ["b", "1"]]
    assert len({len(line) for line in (header, *rows)}) == 1


@each(
    "args",
    [
        ("push", "mail"),
        ("push", "mail", "not json"),
        ("push", "mail", "1", "--bytes", "-"),
        ("push", "mail", "-", "--key", "k"),
        ("push", "mail", "1", "--on-duplicate", "perhaps"),
        ("ack",),
        ("define", "mail", "--options", "[1]"),
        ("define", "mail", "--shape", "null"),
        ("extend", "soon", "1-a"),
        ("history", "--max", "0"),
        ("semaphore", "s"),
        ("semaphore", "s", "5", "--remove"),
        ("nonsense",),
    ],
)
def test_wrong_usage_is_exit_code_2(pyqueue: Shell, args: tuple[str, ...]):
    assert pyqueue(*args).exit_code == 2


def test_pop_takes_and_get_looks(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"key": key, "payload": key} for key in "abc"])
    assert [(row["key"], row["state"]) for row in pyqueue.rows("get", "mail", "b")] == [("b", "ready")]
    assert [row["payload"] for row in pyqueue.rows("pop", "mail", "--max", "2")] == ["a", "b"]
    assert pyqueue.rows("get", "mail", "b", exit_code=1) == []
    pyqueue.rows("pop", "mail")
    assert pyqueue.rows("pop", "mail", exit_code=1) == []


def test_extend_keeps_the_hold(pyqueue: Shell, queue: Queue, clock: Any):
    queue.push_many("mail", [{"payload": n} for n in range(2)])
    held = pyqueue("reserve", "mail", "--max", "2", "--timeout", "10").stdout
    assert [row["outcome"] for row in pyqueue.rows("extend", "60.5", "-", lines=held)] == ["extended"] * 2
    clock.advance(60)
    assert queue.reserve("mail") == []
    clock.advance(1)
    assert len(queue.reserve("mail", max_messages=2)) == 2
    assert {row["outcome"] for row in pyqueue.rows("extend", "9", "-", lines=held, exit_code=1)} == {"lost"}


def test_times_are_in_iso_8601_and_raw_as_in_the_tables(pyqueue: Shell, queue: Queue, clock: Any):
    queue.push("mail", "a", {"scheduled_at": 5})
    (message,) = queue.reserve("mail", timeout_seconds=5)
    queue.nack(message.receipt, error="no", delay_seconds=60)
    (row,) = pyqueue.rows("get", "mail", "a")
    assert row["scheduled_at"] == to_datetime(clock.now + 60_000_000).isoformat()
    assert row["errors"][0]["at"] == row["created_at"] == to_datetime(clock.now).isoformat()
    assert row["payload"] == {"scheduled_at": 5}
    (row,) = pyqueue.rows("get", "mail", "a", "--raw")
    assert (row["scheduled_at"], row["errors"][0]["at"]) == (clock.now + 60_000_000, clock.now)
    (row,) = pyqueue.rows("stats", "mail", "--raw")
    assert row["next_at"] == clock.now + 60_000_000


def test_an_unknown_kind_is_said_with_what_is_near(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"payload": 1}])
    queue.push_many("mails.dead", [{"payload": 1}])
    assert pyqueue("stats", "mial").stderr == "Nothing is known of kind mial; did you mean mail?\n"
    assert pyqueue("peek", "x").stderr == "Nothing is known of kind x\n"
    queue.purge("mail")
    assert (pyqueue("peek", "mail").stderr, pyqueue("stats", "mail").stderr) == ("", "")


ABSENT = {
    "purge mial --yes": {"kind": "mial", "purged": 0},
    "redrive mial": {"kind": "mial", "went": 0, "stayed": 0},
    "replay mial": {"kind": "mial", "went": 0, "stayed": 0},
    "resume mial": {"kind": "mial", "changed": False},
    "drop mial --yes": None,
    "drop mial": None,
    "stats mial": None,
    "peek mial": None,
    "get mial k": None,
    "history mial": None,
    "history mial --key k": None,
    "remove mial k": {"kind": "mial", "key": "k", "outcome": "absent"},
    "unschedule repor": {"name": "repor", "changed": False},
    "unsubscribe order.payd mail": {"pattern": "order.payd", "kind": "mail", "changed": False},
    "read-end bilin": {"reader": "bilin", "changed": False},
    "semaphore smpt --remove": None,
}
"""Commands about a name that isn't there, and what they print."""
NEAR = {"mial": "mail", "repor": "report", "order.payd": "order.paid", "bilin": "billing", "smpt": "smtp"}


def there(queue: Queue[Any]) -> None:
    """Have a thing of each sort, with a name that is near."""
    queue.push("mail", "k")
    queue.schedule("report", "mail", None, every_seconds=60)
    queue.subscribe("order.paid", "mail")
    queue.define("mail", log_seconds=60)
    queue.read("mail", "billing")
    queue.semaphore("smtp", 1)


@each("command", ABSENT)
def test_a_name_that_is_not_there_is_exit_code_1_and_said_with_what_is_near(harness: Harness, command: str):
    queue = harness.connect()
    there(queue)
    result = Shell(harness.url)(*command.split())
    assert result.exit_code == 1
    assert result.stderr.endswith(f"; did you mean {NEAR[command.split()[1]]}?\n")
    printed = [json.loads(line) for line in result.stdout.splitlines()]
    assert printed == [line for line in [ABSENT[command]] if line]
    assert [one.kind for one in queue.stats()] == ["mail"]


def test_nothing_to_do_in_a_kind_that_is_known_is_exit_code_0(harness: Harness):
    pyqueue, queue = Shell(harness.url), harness.connect()
    queue.define("settled", timeout_seconds=9)
    queue.subscribe("t", "subscribed")
    queue.schedule("s", "scheduled", None, every_seconds=60)
    queue.push("past", "k")
    queue.pop("past")
    queue.push("held", "k")
    queue.reserve("held")
    for kind in ("settled", "subscribed", "scheduled", "past", "held", "past.dead"):
        for command in (("purge", kind, "--yes"), ("redrive", kind), ("replay", kind), ("resume", kind)):
            result = pyqueue(*command)
            assert (result.exit_code, result.stderr) == (0, ""), command
    assert pyqueue("drop", "subscribed", "--yes").exit_code == 0
    assert queue.subscriptions() == []


def test_who_may_not_look_is_told_no_more_than_the_answer_says(capsys: pytest.CaptureFixture[str]):
    class Closed:
        def __getattr__(self, name: str) -> Any:
            raise psycopg.errors.InsufficientPrivilege(f"permission denied for {name}")

    closed: Any = Closed()
    assert common.is_known(closed, "mial")
    common.say("There is no reader bilin", "bilin", lambda: closed.readers())
    assert capsys.readouterr().err == "There is no reader bilin\n"


@each("command", ["pause", "drain"])
def test_a_kind_that_is_new_is_said_to_be(harness: Harness, command: str):
    pyqueue, queue = Shell(harness.url), harness.connect()
    queue.push("mail", "k")
    assert (pyqueue(command, "mail").exit_code, pyqueue(command, "mail").stderr) == (0, "")
    result = pyqueue(command, "mial")
    assert (result.exit_code, result.stderr) == (0, "Kind mial is new; did you mean mail?\n")
    assert json.loads(result.stdout) == {"kind": "mial", "changed": True}
    assert pyqueue(command, "mial").stderr == ""
    pyqueue("resume", "mail")
    assert pyqueue("drop", "mial", "--yes").exit_code == 0


def test_names_of_others_are_printed_without_what_a_terminal_acts_upon(pyqueue: Shell, queue: Queue):
    queue.push("mail\x1b[2J", "k")
    assert pyqueue("stats", "mail[2J").stderr == (
        "Nothing is known of kind mail[2J; did you mean mail\\x1b[2J?\n"
    )


def test_wait_says_which_kind_has_something(pyqueue: Shell, queue: Queue):
    assert pyqueue.rows("wait", "mail", "sms", "--timeout", "0.1", exit_code=1) == []
    queue.push("sms", "a", 1)
    assert pyqueue.rows("wait", "mail", "sms") == [{"kind": "sms"}]


def test_workers_are_shown_and_reaped(pyqueue: Shell, queue: Queue, clock: Any):
    queue.heartbeat("w", timeout_seconds=10, kinds=["mail"], info={"pid": 7})
    queue.push("mail", "a", 1)
    queue.reserve("mail", "w")
    (worker,) = pyqueue.rows("workers")
    assert (worker["worker"], worker["alive"], worker["reserved"], worker["kinds"]) == (
        "w",
        True,
        1,
        ["mail"],
    )
    assert worker["started_at"].endswith("+00:00")
    assert pyqueue.rows("reap") == []
    clock.advance(11)
    assert workers.table(queue.workers()).splitlines()[1].split()[:4] == ["w", "no", "heartbeat", "1"]
    assert pyqueue.rows("reap") == [{"worker": "w", "freed": 1}]
    assert pyqueue.rows("workers") == []


def test_purge_and_drop_remove_what_nobody_holds(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"payload": n} for n in range(3)])
    (held,) = queue.reserve("mail")
    for answer, code in (("n\n", 1), ("", 2)):
        for command in (("purge", "mail"), ("purge", "mail", "--max", "1"), ("drop", "mail")):
            asked = pyqueue(*command, lines=answer)
            assert (asked.exit_code, asked.stdout) == (code, "")
            assert "mail" in asked.stderr
            assert ("--yes" in asked.stderr) == (code == 2)
            assert (asked.stderr.count("\n"), "Usage" in asked.stderr) == (2 if answer else 1, False)
    assert len(queue.peek("mail", 10)) == 3
    assert pyqueue.rows("purge", "mail", "--max", "1", lines="y\n") == [{"kind": "mail", "purged": 1}]
    assert pyqueue.rows("purge", "mail", "--yes") == [{"kind": "mail", "purged": 1}]
    refused = pyqueue("drop", "mail", "--yes")
    assert (refused.exit_code, refused.stdout) == (3, "")
    queue.ack(held.receipt or "")
    pyqueue.rows("define", "mail", "--timeout", "7")
    assert pyqueue.rows("drop", "mail", "--yes")[0]["timeout_seconds"] == 7


def test_history_tells_what_ended_the_newest_first(pyqueue: Shell, queue: Queue, clock: Any):
    settings = ("--history", "60", "--dedup", "30", "--shape", '{"n": "integer"}')
    (kind,) = pyqueue.rows("define", "mail", *settings)
    assert (kind["history_seconds"], kind["dedup_seconds"]) == (60, 30)
    assert kind["payload_shape"] == {"n": "integer"}
    assert pyqueue.rows("history", exit_code=1) == []
    queue.push_many("mail", [{"key": key, "payload": {"n": n}} for n, key in enumerate("abc")])
    first, second = queue.reserve("mail", "me", 2)
    queue.ack(first.receipt or "")
    clock.advance(1)
    queue.nack(second.receipt or "", final=True, error="it broke")
    rows = pyqueue.rows("history", "mail")
    assert [(row["key"], row["outcome"], row["reserved_by"]) for row in rows] == [
        ("b", "dead", "me"),
        ("a", "acked", "me"),
    ]
    assert (rows[0]["to_kind"], rows[0]["errors"][0]["error"]) == ("mail.dead", "it broke")
    assert rows[0]["finished_at"] == to_datetime(clock.now).isoformat()
    assert [row["key"] for row in pyqueue.rows("history", "mail", "--max", "1")] == ["b"]
    assert [row["payload"] for row in pyqueue.rows("history", "--key", "a")] == [{"n": 0}]
    assert pyqueue.rows("history", "mail", "--key", "c", exit_code=1) == []
    assert pyqueue("push", "mail", '{"n": "many"}').exit_code == 2
    (again,) = pyqueue.rows("push", "mail", '{"n": 1}', "--key", "a")
    assert (again["outcome"], again["scheduled_at"]) == ("ignored", None)


def test_a_terminal_gets_history_with_readable_times_and_without_control_characters():
    one = Ended(
        *("mail", "k\x1b[2J\n", 1, "dead", "mail.dead", None, None, None, 0, 0, 0, 0),
        *(1_767_225_600_123_000, 3, "me", ({"error": "first"}, {"error": "last"}), None),
    )
    header, row = messages.history_table([one]).splitlines()
    assert header.split()[:4] == ["finished", "kind", "key", "outcome"]
    finished, kind, key, outcome, to_kind, attempts, worker, error = row.split()
    assert finished == "2026-01-01T00:00:00.123+00:00"
    assert (kind, key, outcome, to_kind) == ("mail", r"k\x1b[2J\n", "dead", "mail.dead")
    assert (attempts, worker, error) == ("3", "me", "last")


def test_null_is_a_payload_here_too(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"key": key, "payload": key, "headers": {"h": 1}} for key in "ab"])
    first, second = (message.receipt or "" for message in queue.reserve("mail", max_messages=2))
    pyqueue.rows("nack", first, "--payload", "null")
    pyqueue.rows("move", "sent", second, "--payload", "null", "--headers", "null")
    assert [message.payload for message in queue.peek("mail")] == [None]
    assert [(message.payload, message.headers) for message in queue.peek("sent")] == [(None, None)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (b"{nonsense", "line 4: '{nonsense' is no JSON"),
        (b"[1]", "line 4: '[1]' is no JSON object"),
        (b'{"key": "\xff"}', "line 4 is not in UTF-8"),
        (b"[" * 100_000, "line 4: '[["),
    ],
)
def test_a_wrong_line_is_named_and_what_was_done_before_it(
    pyqueue: Shell, queue: Queue, wrong: bytes, said: str
):
    lines = (
        b'{"key": "a", "payload": 1}\n\n{"key": "b", "payload": 1}\n'
        + wrong
        + b'\n{"key": "c", "payload": 1}'
    )
    result = pyqueue("push", "mail", "-", "--batch", "1", lines=lines)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "the lines up to 3 are done" in result.stderr
    assert [message.key for message in queue.peek("mail")] == ["a", "b"]
    result = pyqueue("push", "other", "-", lines=lines)
    assert "no line is done" in result.stderr
    assert queue.peek("other") == []


def test_a_line_that_the_queue_refuses_is_named_too(pyqueue: Shell, queue: Queue):
    lines = '{"key": "a", "payload": 1}\n{"key": "b", "payload": 1}\n{"key": "", "payload": 1}\n'
    result = pyqueue("push", "mail", "-", "--batch", "2", lines=lines)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: line 3: ")
    assert result.stderr.endswith("; the lines up to 2 are done\n")
    assert [message.key for message in queue.peek("mail")] == ["a", "b"]
    (held,) = queue.reserve("mail")
    result = pyqueue("ack", "-", "--batch", "3", lines=f"{held.receipt}\nx\n")
    assert result.stderr.startswith("Error: lines 1 to 2: ")
    assert result.stderr.endswith("; no line is done\n")
    assert queue.get("mail", held.key) is not None


@pytest.mark.parametrize(
    ("arguments", "size", "said", "acked"),
    [
        (("good", "-"), 4, "receipt 1 and lines 1 to 2: .*; no line is done", 0),
        (("good", "good", "-"), 3, "receipts 1 to 2 and line 1: .*; no line is done", 0),
        (("good", "good", "good", "-"), 2, "receipt 3 and line 1: .*; the receipts up to 2 are done", 2),
        (("good", "-"), 1, "line 1: .*; the receipts up to 1 are done", 1),
        (("-", "good"), 4, "receipt 1 and lines 1 to 2: .*; no line is done", 0),
    ],
)
def test_where_receipts_and_lines_share_a_call_both_are_named(
    pyqueue: Shell, queue: Queue, arguments: tuple[str, ...], size: int, said: str, acked: int
):
    queue.push_many("mail", [{"key": str(number), "payload": 1} for number in range(4)])
    *given, last = (message.receipt or "" for message in queue.reserve("mail", max_messages=4))
    receipts = iter(given)
    named = [next(receipts) if one == "good" else one for one in arguments]
    result = pyqueue("ack", *named, "--batch", str(size), lines=f"x\n{last}\n")
    assert result.exit_code == 2
    assert re.fullmatch(f"Error: {said}", result.stderr.strip())
    assert queue.stats("mail")[0].acked_total == acked


def test_a_receipt_after_the_lines_does_not_hide_that_those_are_done(pyqueue: Shell, queue: Queue):
    queue.push("mail", "a")
    (held,) = queue.reserve("mail")
    result = pyqueue("ack", "-", "x", "--batch", "1", lines=f"{held.receipt}\n")
    assert re.fullmatch("Error: receipt 1: .*; the lines up to 1 are done", result.stderr.strip())
    result = pyqueue("ack", "-", held.receipt or "", "-", "x", lines=f"{held.receipt}\n")
    said = "Error: receipt 2: .*; the receipts up to 1 and the lines up to 1 are done"
    assert re.fullmatch(said, result.stderr.strip())


def test_no_lines_are_nothing_to_do(pyqueue: Shell):
    for command in (("push", "mail", "-"), ("ack", "-"), ("move", "mail", "-")):
        assert pyqueue.rows(*command, lines=" \n\n") == []


def program(*args: str) -> list[str]:
    """The command line as a process of its own, in a locale that can't write everything."""
    return [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", *args]


def test_a_pipe_goes_from_kind_to_kind(pyqueue: Shell, queue: Queue):
    queue.push_many("raw", [{"key": key, "payload": {"n": "ä"}} for key in "ab"])
    environment = {"PYQUEUE_URL": pyqueue.url, "PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)}
    out = subprocess.run(
        program("reserve", "raw", "--max", "9"), env=environment, capture_output=True, check=True
    ).stdout
    changed = out.replace("ä".encode(), b"o")
    moved = subprocess.run(
        program("move", "clean", "-", "--take-payload"), input=changed, env=environment, capture_output=True
    )
    assert (moved.returncode, moved.stderr) == (0, b"")
    assert [message.payload for message in queue.peek("clean")] == [{"n": "o"}] * 2


def test_answers_come_while_the_input_is_still_open(pyqueue: Shell):
    environment = {"PYQUEUE_URL": pyqueue.url, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        program("push", "mail", "-", "--batch", "1"),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout
        watchdog = threading.Timer(30, process.kill)  # else one that waits for the end of its input hangs
        watchdog.start()
        for key in "ab":
            process.stdin.write(json.dumps({"key": key, "payload": 1}).encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(b'{"kind":"mail","key":"%s"' % key.encode())
        process.stdin.close()
        assert process.wait() == 0
        watchdog.cancel()


def test_a_reader_that_leaves_is_no_traceback(pyqueue: Shell, queue: Queue):
    queue.push_many("mail", [{"payload": "x" * 1000} for _ in range(500)])
    environment = {"PYQUEUE_URL": pyqueue.url, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        program("peek", "mail", "--max", "500"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("line", ["{nonsense", '{"no": "receipt"}', "{}"])
def test_a_line_that_says_nothing_is_exit_code_2(pyqueue: Shell, line: str):
    assert pyqueue("ack", "-", lines=line).exit_code == 2


def test_what_the_queue_refuses_is_exit_code_3_and_says_why(pyqueue: Shell, queue: Queue):
    queue.drain("mail")
    result = pyqueue("push", "mail", "1")
    assert result.exit_code == 3
    assert result.stderr == 'Error: kind "mail": takes in nothing while it is drained\n'


NUMBERS = {
    "push mail 1 --delay N": "nan inf 1e400 -1 1e300",
    "push mail 1 --priority N": "nan 1.5 99999 99999999999999999999",
    "push mail 1 --max-attempts N": "nan 0 -1 99999999999999999999",
    "push mail 1 --at N": "nan 1e400 -1 0 99999999999999999999",
    "publish t 1 --delay N": "nan -1",
    "reserve mail --max N": "nan 0 10001",
    "reserve mail --timeout N": "nan inf 1e400 -1 0 1e300",
    "next mail --timeout N": "nan 0",
    "extend N 1-00000000000000000000000000000000": "nan inf 1e400 1e300",
    "nack 1-00000000000000000000000000000000 --delay N": "nan inf 1e400 -1 1e300",
    "move to 1-00000000000000000000000000000000 --delay N": "nan inf 1e400 -1 1e300",
    "define mail --timeout N": "nan 1e400 -1 0",
    "define mail --backoff N": "nan 1e400 -1",
    "define mail --backoff-factor N": "nan 1e400 0",
    "define mail --backoff-max N": "nan -1",
    "define mail --jitter N": "nan -1 2",
    "define mail --dedup N": "nan -1",
    "define mail --history N": "nan -1",
    "define mail --log N": "nan -1",
    "define mail --expires N": "nan 0",
    "define mail --rate N": "nan 0",
    "define mail --max-reserved N": "nan 0 99999",
    "define mail --max-attempts N": "nan 0",
    "schedule s mail --every N": "nan 1e400 0 1e300",
    "group g --then next --members N": "nan -1",
    "semaphore s N": "nan 1.5 99999999999999999999",
    "read mail me --max N": "nan 0 -1 99999999999999999999",
    "read-ack me N": "nan 99999999999999999999",
    "replay mail --limit N": "nan 0 -1",
    "wait mail --timeout N": "nan inf 1e400 -1",
    "top --interval N": "nan 0 -1",
    "metrics --port N": "nan -1 65536",
}
"""Commands, and numbers that are none for them."""


@each("command, number", [(command, one) for command, some in NUMBERS.items() for one in some.split()])
def test_a_number_that_is_not_allowed_is_exit_code_2_and_named(harness: Harness, command: str, number: str):
    result = Shell(harness.url)(*command.replace("N", number).split())
    assert (result.exit_code, result.stdout) == (2, "")
    option = next((word for word in command.split() if word.startswith("--") and word != "--then"), "--")
    said = result.stderr.splitlines()[-1]
    assert option[2:].split("-")[0] in said or "scheduled_at" in said
    allowed = "wanted|not in the range|is not a valid (integer|float)|must be "
    assert re.search(allowed, said), said


@each(
    "command",
    [
        "push '' 1",
        "push mail 1 --key ''",
        "semaphore '' --remove",
        "ack nonsense",
        "define mail --options '{\"x\": 1}'",
        "push mail 1 --headers '[1]'",
        f"push mail {'[' * 32}{']' * 32}",
    ],
)
def test_what_is_never_allowed_is_exit_code_2_too(harness: Harness, command: str):
    result = Shell(harness.url)(*shlex.split(command))
    assert result.exit_code == 2
    assert re.match("Error: (kind|key|name|receipts|options|headers|payload) .*(must|allowed)", result.stderr)


def test_an_address_where_metrics_cannot_be_served_is_exit_code_3():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        url = "postgresql://127.0.0.1:1/app"
        done = CliRunner().invoke(cli.main, ["metrics", "--url", url, "--port", port])
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == f"Error: 127.0.0.1:{port}: Address already in use\n"


def test_port_0_serves_the_metrics_too(monkeypatch: pytest.MonkeyPatch):
    asked = list[tuple[str, int]]()

    def serve(url: str, schema: str | None, host: str, port: int) -> None:  # noqa: ARG001
        asked.append((host, port))
        raise OSError("no port is free")

    monkeypatch.setattr("pyqueue_sql.metrics.asgi.serve", serve)
    done = CliRunner().invoke(cli.main, ["metrics", "--url", "postgresql://127.0.0.1:1/app", "--port", "0"])
    assert (done.exit_code, done.stderr) == (3, "Error: 127.0.0.1:0: no port is free\n")
    assert asked == [("127.0.0.1", 0)]


def test_metrics_that_are_served_end_with_sigterm_as_the_first_process_of_a_container_too():
    # the kernel gives that process no signal that it has no handler for, as here where it is ignored
    ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    text = f"{ignoring}; from pyqueue_sql.cli import main; main()"
    command = [sys.executable, "-c", text, "metrics", "--url", "postgresql://127.0.0.1:1/app", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("http://127.0.0.1:")
        running.send_signal(signal.SIGTERM)
        try:
            assert (running.wait(20), running.stderr.read()) == (0, "")
        finally:
            running.kill()


@each(
    "message, roles",
    [
        ("permission denied for function queue_reserve", ["queue_consumer"]),
        ("permission denied for view queue_stats", ["queue_observer", "queue_operator"]),
        ("execute command denied to user 'queue_x'@'%' for routine 'app.queue_push'", ["queue_producer"]),
        (
            "SELECT command denied to user 'x'@'h' for table `app`.`queue_stats`",
            ["queue_observer", "queue_operator"],
        ),
        ("permission denied for table queue_history", ["queue_operator"]),
        ("permission denied for table queue_version", []),
        ("permission denied for table customer", []),
    ],
)
def test_the_roles_that_have_a_right_are_those_of_the_grants(message: str, roles: list[str]):
    assert rights.roles(message) == roles


def test_a_login_without_a_right_is_told_which_role_has_it(pyqueue: Shell, conn: psycopg.Connection[Any]):
    conn.execute("create role cli_nobody login password 'x'")
    try:
        where = urlsplit(pyqueue.url)
        url = where._replace(netloc=f"cli_nobody:x@{where.hostname}:{where.port}").geturl()
        result = Shell(url)("reserve", "mail")
        said = "permission denied for function queue_reserve"
        how = "queue_consumer may: grant queue_consumer to this login"
        assert (result.exit_code, result.stderr) == (3, f"Error: {said} ({how})\n")
    finally:
        conn.execute("drop role cli_nobody")


def test_a_database_without_the_queue_says_how_to_get_it(pyqueue: Shell):
    result = pyqueue("reserve", "mail", "--schema", "nowhere")
    assert result.exit_code == 3
    assert "pyqueue upgrade" in result.stderr


@each(
    "url",
    [
        "postgresql://me:secret@127.0.0.1:1/app",
        "postgresql://me:secret@127.0.0.1:port/app",
        "postgresql://me:not@secret@127.0.0.1:1/app",
        "postgresql://me:not/secret@127.0.0.1:1/app",
        "postgresql://me:secret@[::1/app",
        "mysql://me:secret@127.0.0.1/app",
        "postgresql://me:secret@127.0.0.1/app?colour=red",
        "secret",
    ],
)
@each("command", [("stats",), ("upgrade",), ("current",)])
def test_no_connection_is_exit_code_4_without_the_password(url: str, command: tuple[str, ...]):
    result = Shell(url)(*command)
    assert result.exit_code == 4, result.output
    assert result.stderr.startswith("Error: ")
    assert "secret" not in result.output


def test_what_happens_by_itself(harness: Harness):
    pyqueue = Shell(harness.url)
    changed = [{"pattern": "order.*", "kind": "mail", "changed": True}]
    assert pyqueue.rows("subscribe", "order.*", "mail") == changed
    assert [row["pattern"] for row in pyqueue.rows("subscriptions")] == ["order.*"]
    (pushed,) = pyqueue.rows("publish", "order.paid", '{"id": 7}', "--key", "k", "--priority", "2")
    assert (pushed["kind"], pushed["key"], pushed["outcome"]) == ("mail", "k", "created")
    assert pyqueue.rows("unsubscribe", "order.*", "mail") == changed
    (scheduled,) = pyqueue.rows("schedule", "beat", "mail", "1", "--cron", "0 0 * * *", "--zone", "+01:00")
    assert scheduled["next_at"].endswith("+00:00")
    (schedule,) = pyqueue.rows("schedules")
    assert (schedule["name"], schedule["payload"], schedule["paused"]) == ("beat", 1, False)
    assert schedule["next_at"].endswith("23:00:00+00:00")
    assert pyqueue.rows("schedule", "beat", "mail", "--every", "60", "--paused")[0]["name"] == "beat"
    assert pyqueue.rows("tick") == [{"ticked": 0}]
    assert pyqueue.rows("unschedule", "beat") == [{"name": "beat", "changed": True}]
    pyqueue.rows("define", "mail", "--history", "60", "--expires", "3600")
    pyqueue.rows("pop", "mail")
    assert pyqueue.rows("replay", "mail", "--outcome", "popped") == [{"kind": "mail", "went": 1, "stayed": 0}]
    assert pyqueue.rows("drain", "mail") == [{"kind": "mail", "changed": True}]
    assert pyqueue.rows("stats", "mail")[0]["draining"]
    assert pyqueue("push", "mail", "1").exit_code == 3
    assert pyqueue.rows("resume", "mail") == [{"kind": "mail", "changed": True}]


@pytest.mark.servers("mariadb", "mysql")
def test_the_commands_work_on_the_other_dialect(harness: Harness, tmp_path: Path):
    pyqueue = Shell(harness.url)
    (tmp_path / "photo").write_bytes(b"\0\xff'")
    (kind,) = pyqueue.rows(
        "define", "mail", "--timeout", "1.5", "--history", "60", "--shape", '{"n": "integer"}'
    )
    assert (kind["timeout_seconds"], kind["paused"], kind["payload_shape"]) == (1.5, False, {"n": "integer"})
    lines = "".join(f'{{"key": "{key}", "payload": {{"n": {n}}}}}\n' for n, key in enumerate("abcd"))
    assert [row["outcome"] for row in pyqueue.rows("push", "mail", "-", lines=lines)] == ["created"] * 4
    assert [row["state"] for row in pyqueue.rows("get", "mail", "a")] == ["ready"]
    work = pyqueue("reserve", "mail", "--max", "3").stdout
    assert {row["outcome"] for row in pyqueue.rows("extend", "60", "-", lines=work)} == {"extended"}
    first, second, third = work.splitlines()
    assert pyqueue.rows("ack", "-", lines=first)[0]["outcome"] == "acked"
    assert pyqueue.rows("nack", "-", "--final", "--error", "ä", lines=second)[0]["outcome"] == "dead"
    assert pyqueue.rows("move", "sent", "-", "--take-payload", lines=third)[0]["outcome"] == "moved"
    assert [row["payload"] for row in pyqueue.rows("pop", "sent")] == [{"n": 2}]
    assert {row["outcome"] for row in pyqueue.rows("history", "mail")} == {"acked", "dead", "moved"}
    assert pyqueue.rows("redrive", "mail.dead") == [{"kind": "mail.dead", "went": 1, "stayed": 0}]
    assert pyqueue.rows("pause", "mail") == [{"kind": "mail", "changed": True}]
    assert pyqueue.rows("resume", "mail") == [{"kind": "mail", "changed": True}]
    (stats,) = pyqueue.rows("stats", "mail")
    assert (stats["paused"], stats["total"], stats["acked_total"]) == (False, 2, 1)
    assert pyqueue.rows("remove", "mail", "d") == [{"kind": "mail", "key": "d", "outcome": "removed"}]
    assert pyqueue.rows("purge", "mail", "--yes") == [{"kind": "mail", "purged": 1}]
    pyqueue.rows("push", "photos", "--bytes", str(tmp_path / "photo"))
    (message,) = pyqueue.rows("peek", "photos")
    assert base64.b64decode(message["payload_bytes"]) == b"\0\xff'"
    assert pyqueue("prune").exit_code == 0
    assert pyqueue("drop", "mail", "--yes").exit_code == 0
    refused = pyqueue("push", "mail", "1", "--delay", "-1")
    assert (refused.exit_code, refused.stderr.startswith("Error: delay_seconds")) == (2, True)
    for args in (("--schema", "no_such_database"), ("--schema", "mysql")):
        result = pyqueue("reserve", "mail", *args)
        assert (result.exit_code, "pyqueue upgrade" in result.stderr) == (3, True)


@pytest.mark.servers("mariadb", "mysql")
def test_a_connection_that_breaks_is_exit_code_4_on_the_other_dialect(innodb_url: str):
    with connect_mysql(innodb_url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "create procedure queue_resume(in in_kind text)"
            " signal sqlstate '08S01' set message_text = 'Lost', mysql_errno = 2013"
        )
    assert Shell(innodb_url)("resume", "a").exit_code == 4


def test_a_connection_that_breaks_is_exit_code_4(pyqueue: Shell, conn: psycopg.Connection[Any]):
    conn.execute(
        "drop function queue_prune(bigint); create function queue_prune(bigint) returns bigint language sql"
        " begin atomic select 1 from pg_terminate_backend(pg_backend_pid()); end"
    )
    result = pyqueue("prune")
    assert result.exit_code == 4, result.output


def test_the_url_of_sqlalchemy_does_as_well(pyqueue: Shell):
    parts = urlsplit(pyqueue.url)
    result = pyqueue("prune", "--url", parts._replace(scheme="postgresql+psycopg").geturl())
    assert result.exit_code == 0


def test_without_a_url_the_usage_is_wrong():
    for command in ("stats", "upgrade", "current"):
        result = CliRunner().invoke(cli.main, [command], env={"PYQUEUE_URL": None})
        assert result.exit_code == 2
        assert "PYQUEUE_URL" in result.output


@each("url", ["", " "])
@each("command", ["stats", "upgrade", "current", "worker nosuch", "doctor", "top", "web", "metrics"])
def test_an_empty_url_is_none(url: str, command: str):
    result = CliRunner().invoke(cli.main, [*command.split(), "--url", url], env={"PYQUEUE_URL": None})
    assert result.exit_code == 2
    said = f"Error: Invalid value for '--url' (env var: 'PYQUEUE_URL'): {url!r} is no URL of a database; "
    assert said in result.stderr


@each("command", ["stats", "upgrade", "downgrade base --yes", "current", "worker nosuch", "doctor", "top"])
def test_an_empty_schema_is_none(command: str):
    url = "postgresql://127.0.0.1:1/x"
    result = CliRunner().invoke(cli.main, [*command.split(), "--url", url, "--schema", ""])
    assert result.exit_code == 2
    said = "Error: Invalid value for '--schema' (env var: 'PYQUEUE_SCHEMA'): '' is no name of a schema\n"
    assert said in result.stderr
    # as of any option, a variable with nothing in it is none that is set
    result = CliRunner().invoke(cli.main, ["stats", "--url", url], env={"PYQUEUE_SCHEMA": ""})
    assert result.exit_code == 4


@each(
    "url, named",
    [
        ("postgresql://h/app?foo=1", "foo"),
        ("postgresql://me:secret@h/app?sslmode=require&colour=red", "colour"),
        ("mysql://h/app?foo=1", "foo"),
        ("mariadb://me:secret@h/app?ssl_ca=x&colour=", "colour"),
        ("postgresql://me:not/a?secret=1@h/app", None),
        ("mysql://me:not/a?secret=1@h/app", None),
    ],
)
def test_a_parameter_of_a_url_that_is_none_is_named(url: str, named: str | None):
    result = Shell(url)("stats")
    assert result.exit_code == 4
    assert ("is no parameter" in result.stderr) == (named is not None)
    assert named is None or f"no URL of a database, '{named}' is no parameter of one; its" in result.stderr
    assert "secret" not in result.stderr


@each(
    "url",
    [
        "postgresql://me:sec/ret@127.0.0.1:1/app",
        "postgresql://me:sec@ret@127.0.0.1:1/app",
        "postgresql://me@there:secret@127.0.0.1:1/app",
        "postgresql://me:sec%ret@127.0.0.1:1/app",
        "mysql://me:sec/ret@127.0.0.1:1/app",
        "mysql://me:sec#ret@127.0.0.1:1/app",
        "mysql://me:sec?ret@127.0.0.1:1/app",
        "mysql://:#secret@127.0.0.1:1/app",
    ],
)
def test_a_password_that_is_not_encoded_is_told_how_to_be(url: str):
    result = Shell(url)("stats")
    assert result.exit_code == 4
    assert "in a user or a password @ : / ? # % are written %40 %3A %2F %3F %23 %25" in result.stderr
    assert "sec" not in result.stderr


@each("url", ["postgresql://me:sec%2Fret@127.0.0.1:1/app?application_name=a@b", "mysql://127.0.0.1:1/app"])
def test_one_that_is_encoded_is_told_nothing(url: str):
    result = Shell(url)("stats")
    assert (result.exit_code, "%40" in result.stderr) == (4, False)


def test_a_failure_carries_its_exit_code():
    assert Failure("x", 3).exit_code == 3


def test_the_schema_is_upgraded_and_named(pyqueue: Shell, conn: psycopg.Connection[Any]):
    schema = ("--schema", 'it\'s "a\\ b"%')
    assert pyqueue("current", *schema).exit_code == 1
    newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    result = pyqueue("upgrade", *schema)
    assert json.loads(result.stdout) == {"revision": newest, "changed": []}
    assert "include_object=pyqueue_sql.alembic.include_object" in result.stderr
    result = pyqueue("upgrade", *schema)
    assert (json.loads(result.stdout), result.stderr) == ({"revision": newest, "changed": []}, "")
    conn.execute(b'drop function "it\'s ""a\\ b""%".queue_tick()')
    result = pyqueue("upgrade", *schema)
    assert (json.loads(result.stdout)["changed"] != [], result.stderr) == (True, "")
    assert pyqueue.rows("current", *schema) == [{"revision": newest}]
    pyqueue.rows("push", "mail", "1", "--key", "there", *schema)
    assert Queue(conn).peek("mail") == []
    assert [row["key"] for row in pyqueue.rows("peek", "mail", *schema)] == ["there"]
    for answer in ("n\n", ""):
        assert pyqueue("downgrade", "base", *schema, lines=answer).exit_code in (1, 2)
        assert pyqueue.rows("current", *schema) == [{"revision": newest}]
    assert pyqueue.rows("downgrade", "base", "--yes", *schema) == [{"revision": None}]
    again = pyqueue("downgrade", "base", *schema)
    assert (again.exit_code, json.loads(again.stdout)) == (0, {"revision": None})
    assert "Nothing was removed" in again.stderr


def test_a_schema_that_is_not_there_is_named_and_not_created(harness: Harness):
    there = "select count(*) from information_schema.schemata where schema_name = 'typo'"
    result = Shell(harness.url)("downgrade", "base", "--yes", "--schema", "typo")
    assert (result.exit_code in (3, 4), result.stdout) == (True, ""), result.stderr
    assert "typo" in result.stderr
    connection: Any = connect(harness.url)
    with connection, connection.cursor() as cursor:
        cursor.execute(there)
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("command", [("upgrade",), ("downgrade", "--yes"), ("upgrade", "--sql")])
def test_a_revision_that_is_none_is_named_with_what_is_allowed(pyqueue: Shell, command: tuple[str, ...]):
    result = pyqueue(*command, "9999")
    assert result.exit_code == 3
    assert "there is no '9999' to go to; allowed are " in result.stderr
    assert "0001_initial" in result.stderr
    assert pyqueue.rows("current")[0]["revision"] is not None


def test_an_interrupted_command_ends_with_130(pyqueue: Shell, conn: psycopg.Connection[Any]):
    with conn.transaction():
        # an upgrade waits its turn
        conn.execute("select pg_advisory_xact_lock(%s, %s)", [UPGRADES, zlib.crc32(b"public") >> 1])
        command = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", "upgrade"]
        environment = {**os.environ, "PYQUEUE_URL": pyqueue.url}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
            waiting = "select from pg_locks where locktype = 'advisory' and not granted"
            while not conn.execute(waiting).fetchall():
                assert running.poll() is None
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            assert running.stderr is not None
            assert running.stderr.read() == "Interrupted.\n"
    assert running.returncode == 130


def test_sql_is_printed_without_a_database():
    for command in (["upgrade", "--sql"], ["downgrade", "base", "--sql"]):
        result = CliRunner().invoke(cli.main, command, env={"PYQUEUE_URL": None})
        assert result.exit_code == 0
        assert result.stdout.startswith("set client_encoding = 'UTF8';\n\nBEGIN;")
        assert result.stdout.rstrip().endswith("COMMIT;")


def test_groups_and_routes(harness: Harness):
    pyqueue = Shell(harness.url)
    assert pyqueue.rows("group", "g", "--then", "report", "--payload", '{"x": 1}')[0]["state"] == "open"
    pyqueue.rows("push", "check", "1", "--key", "a", "--group", "g", "--route", "more")
    assert pyqueue.rows("group", "g", "--close")[0]["members"] == 1
    for kind, outcome in (("check", "moved"), ("more", "acked")):
        (held,) = pyqueue.rows("reserve", kind)
        (acked,) = pyqueue.rows("ack", held["receipt"], "--result", "null")
        assert acked["outcome"] == outcome
    (group,) = pyqueue.rows("groups")
    assert (group["name"], group["state"], group["done"]) == ("g", "done", 1)
    (report,) = pyqueue.rows("peek", "report")
    assert report["payload"]["results"][0]["result"] is None
    (held,) = pyqueue.rows("reserve", "report")
    assert pyqueue.rows("ack", held["receipt"], "--to", "aside", "--payload", "2")[0]["outcome"] == "moved"
    assert pyqueue.rows("peek", "aside")[0]["payload"] == 2


def test_readers(harness: Harness):
    pyqueue = Shell(harness.url)
    pyqueue("define", "orders", "--log", "60")
    pyqueue("push", "orders", '{"n": 1}', "--key", "a")
    (event,) = pyqueue.rows("read", "orders", "billing", "--max", "10")
    assert (event["event"], event["key"], event["payload"]) == ("pushed", "a", {"n": 1})
    assert None not in event.values(), "what an event hasn't got isn't there"
    (place,) = pyqueue.rows("read-ack", "billing", str(event["position"]))
    assert place == {"reader": "billing", "position": event["position"]}
    assert pyqueue.rows("read", "orders", "billing", exit_code=1) == []
    (reader,) = pyqueue.rows("readers")
    assert (reader["reader"], reader["name"], reader["behind"]) == ("billing", "orders", 0)
    assert pyqueue.rows("read-end", "billing") == [{"reader": "billing", "changed": True}]


def test_an_event_shows_a_payload_of_null_as_a_message_does(harness: Harness):
    pyqueue = Shell(harness.url)
    pyqueue("define", "orders", "--log", "60")
    pyqueue("push", "orders", "null", "--key", "a")
    pyqueue("push", "orders", "null", "--key", "a", "--on-duplicate", "replace")
    (held,) = pyqueue.rows("reserve", "orders")
    assert held["payload"] is None
    pyqueue("ack", held["receipt"])
    seen = [part for name in ("pushed", "replaced", "acked") for part in ("--event", name)]
    events = pyqueue.rows("read", "orders", "billing", "--max", "10", *seen)
    shown = [(one["event"], one.get("payload", "nothing")) for one in events]
    assert shown == [("pushed", None), ("replaced", None), ("acked", "nothing")]


def streams(
    url: str, command: str, redirections: str, *, before: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell, with its streams as they say there, and what comes before it."""
    environment = {"PYQUEUE_URL": url, "PYTHONPATH": ":".join(sys.path), **variables}
    return subprocess.run(
        ["/bin/sh", "-c", f"{before}{shlex.join(program(*command.split()))} {redirections}"],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("variables", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("command", ["reserve mail", "stats", "--help", "sql --dialect mysql"])
def test_an_answer_that_cannot_be_written_is_exit_code_3(
    pyqueue: Shell, queue: Queue, command: str, variables: dict[str, str]
):
    queue.push("mail", "a", 1)
    done = streams(pyqueue.url, command, ">/dev/full", **variables)
    assert done.stderr == "Error: the answer can't be written: No space left on device\n"
    assert done.returncode == 3


def test_so_is_one_that_is_too_long_for_a_file(tmp_path: Path):
    # what Python compiles would be cut, too
    limit = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1; "
    done = streams("", "sql --dialect mysql", f">{tmp_path}/queue.sql", before=limit)
    assert done.stderr == "Error: the answer can't be written: File too large\n"
    assert done.returncode == 3


@pytest.mark.parametrize("command", ["sql --dialect mysql", "--help"])
def test_a_reader_that_was_never_there_is_no_traceback(command: str):
    done = streams("", command, "| exec true")
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_done_where_the_answer_has_nowhere_to_go(pyqueue: Shell, queue: Queue):
    queue.push("mail", "a", 1)
    done = streams(pyqueue.url, "reserve mail", ">&-")
    assert done.stderr == "Error: the answer can't be written: standard output is closed\n"
    assert done.returncode == 3
    assert [one.reserved_by for one in queue.peek("mail")] == [None]


@pytest.mark.parametrize(("command", "code"), [("push mail -", 0), ("ack -", 0), ("purge mail", 2)])
def test_closed_input_is_empty_input(pyqueue: Shell, command: str, code: int):
    done = streams(pyqueue.url, command, "<&-")
    assert "Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.parametrize("redirections", ["2>&-", "2>&- <&-"])
def test_where_messages_have_nowhere_to_go_exit_codes_stay(redirections: str):
    done = streams("", "nosuch", redirections)
    assert (done.returncode, done.stderr) == (2, "")
