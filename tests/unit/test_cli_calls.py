"""Every option of a command gets to the call that it is for, under its name; without a database."""

from __future__ import annotations

import contextlib
import json
import shlex
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner

from pyqueue_sql import Queue
from pyqueue_sql.cli import common, main, workers
from pyqueue_sql.cli import worker as worker_command
from pyqueue_sql.worker import Handlers, WorkerOptions
from tests.rules import each

if TYPE_CHECKING:
    from pathlib import Path

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class CalledError(Exception):
    """What a command has called."""


class Recorder:
    """In place of a queue: the first call ends the command, but for a look whether a name is there."""

    def __getattr__(self, name: str) -> Any:
        assert hasattr(Queue, name)
        if name in ("peek", "semaphores") and name != click.get_current_context().command.name:
            return lambda *_: [SimpleNamespace(name="s")]

        def called(*args: Any, **options: Any) -> None:
            raise CalledError(name, args, options)

        return called


def called(*args: str, lines: str = "") -> Call:
    """Return what a command calls first."""
    url = ["--url", "postgresql://127.0.0.1:1/none"]
    found = CliRunner().invoke(main, [*args, *url], input=lines).exception
    assert isinstance(found, CalledError), found
    return found.args


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "connect", lambda url, **_: contextlib.nullcontext(url))
    monkeypatch.setattr(common, "Queue", lambda *_, **__: Recorder())


CALLS: dict[str, Call] = {
    "push mail 7 --key k --delay 1.5 --priority 3 --headers '{\"h\": 1}' --max-attempts 4 --route a --route b"
    " --group g --order-key o --semaphore s --semaphore t --on-duplicate replace": (
        "push",
        ("mail", "k", 7),
        {
            "delay_seconds": 1.5, "priority": 3, "headers": {"h": 1}, "max_attempts": 4, "route": ["a", "b"],
            "group": "g", "order_key": "o", "semaphores": ["s", "t"], "on_duplicate": "replace",
        },
    ),
    "push mail null --headers null --at 1000000": (
        "push", ("mail", None, None), {"headers": None, "scheduled_at": 1_000_000},
    ),
    "push mail 7 --at 2030-01-01T09:00:00+01:00": (
        "push", ("mail", None, 7), {"scheduled_at": "2030-01-01T09:00:00+01:00"},
    ),
    "publish t.x 7 --key k --delay 1 --priority 3 --headers '{}' --max-attempts 4 --on-duplicate push_back": (
        "publish",
        ("t.x", "k", 7),
        {
            "delay_seconds": 1, "priority": 3, "headers": {}, "max_attempts": 4, "on_duplicate": "push_back",
        },
    ),
    "reserve mail --max 7 --timeout 2.5 --worker me --where '{\"n\": 1}'": (
        "reserve", ("mail", "me", 7), {"timeout_seconds": 2.5, "where": {"n": 1}},
    ),
    "reserve mail": ("reserve", ("mail", None, 1), {"timeout_seconds": None, "where": None}),
    "next mail a b --max 7 --timeout 2.5 --worker me --where '{\"n\": 1}' --lost error": (
        "next",
        (["a", "b"], "mail", "me", 7),
        {"timeout_seconds": 2.5, "where": {"n": 1}, "lost": "error"},
    ),
    "pop mail --max 7 --where '{\"n\": 1}'": ("pop", ("mail", 7), {"where": {"n": 1}}),
    "extend 2.5 a": ("extend_many", (["a"], 2.5), {}),
    "ack a --result null --to next --payload 7": (
        "ack_many", (["a"],), {"result": None, "to": "next", "payload": 7},
    ),
    "nack a --delay 1.5 --error no --payload null --final --no-count": (
        "nack_many",
        (["a"],),
        {"delay_seconds": 1.5, "error": "no", "payload": None, "final": True, "count": False},
    ),
    "nack a": ("nack_many", (["a"],), {}),
    "move next a --payload 7 --headers '{}' --key k --delay 1 --priority 3 --on-duplicate keep_time": (
        "move_many",
        ([{"to_kind": "next", "receipt": "a"}],),
        {
            "payload": 7, "headers": {}, "key": "k", "delay_seconds": 1, "priority": 3,
            "on_duplicate": "keep_time",
        },
    ),
    "get mail k": ("get", ("mail", "k"), {}),
    "peek mail --max 7 --where '{\"n\": 1}'": ("peek", ("mail",), {"max_messages": 7, "where": {"n": 1}}),
    "peek mail": ("peek", ("mail",), {}),
    "remove mail k": ("remove", ("mail", "k"), {}),
    "purge mail --max 7 --yes": ("purge", ("mail", 7), {}),
    "history mail --key k --max 7": ("history", ("mail", "k"), {"max_messages": 7}),
    "define mail --timeout 1 --max-attempts 2 --backoff 3 --backoff-factor 4 --backoff-max 5 --jitter 0.6"
    " --dead-letter-kind dead --dedup 7 --history 8 --log 9 --expires 10 --max-reserved 11 --rate 12"
    " --filter-index --shape '{\"n\": \"string\"}' --options '{\"jitter\": null, \"roles\": [\"r\"]}'": (
        "define",
        ("mail",),
        {
            "timeout_seconds": 1, "max_attempts": 2, "backoff_seconds": 3, "backoff_factor": 4,
            "backoff_max_seconds": 5, "jitter": None, "dead_letter_kind": "dead", "dedup_seconds": 7,
            "history_seconds": 8, "log_seconds": 9, "expires_seconds": 10, "max_reserved": 11,
            "rate_per_second": 12, "filter_index": True, "payload_shape": {"n": "string"}, "roles": ["r"],
        },
    ),
    "define mail --no-filter-index": ("define", ("mail",), {"filter_index": False}),
    "drop mail --yes": ("drop", ("mail",), {}),
    "pause mail": ("pause", ("mail",), {}),
    "resume mail": ("resume", ("mail",), {}),
    "drain mail": ("drain", ("mail",), {}),
    "stats mail": ("stats", ("mail",), {}),
    "redrive mail --max 7": ("redrive", ("mail", 7), {}),
    "replay mail --outcome dead --key k --from 1000000 --to 2030-01-01 --limit 7 --to-kind next": (
        "replay",
        ("mail",),
        {
            "outcome": "dead", "key": "k", "start": 1_000_000, "end": "2030-01-01", "limit": 7,
            "to_kind": "next",
        },
    ),
    "prune --max 7": ("prune", (7,), {}),
    "group g --then next --payload '{\"n\": 1}' --close --members 7 --on-dead fail --fail-kind bad": (
        "group",
        ("g", "next", {"n": 1}),
        {"close": True, "members": 7, "on_dead": "fail", "fail_kind": "bad"},
    ),
    "group g --close": ("group", ("g", None, None), {"close": True}),
    "groups": ("groups", (), {}),
    "subscribe t.* mail": ("subscribe", ("t.*", "mail"), {}),
    "unsubscribe t.* mail": ("unsubscribe", ("t.*", "mail"), {}),
    "subscriptions": ("subscriptions", (), {}),
    "schedule s mail 7 --every 1.5 --daily-at 09:30 --cron '* * * * *' --zone +02:00 --catch-up skip"
    " --until 2030-01-01 --paused --delay 2 --priority 3 --headers '{\"h\": 1}' --max-attempts 4": (
        "schedule",
        ("s", "mail", 7),
        {
            "every_seconds": 1.5, "daily_at": "09:30", "cron": "* * * * *", "time_zone": "+02:00",
            "catch_up": "skip", "until": "2030-01-01", "paused": True, "delay_seconds": 2, "priority": 3,
            "headers": {"h": 1}, "max_attempts": 4,
        },
    ),
    "schedule s mail --every 1": ("schedule", ("s", "mail", None), {"every_seconds": 1}),
    "unschedule s": ("unschedule", ("s",), {}),
    "schedules": ("schedules", (), {}),
    "tick": ("tick", (), {}),
    "semaphore s 7": ("semaphore", ("s", 7), {}),
    "semaphore s --remove": ("semaphore", ("s", None), {}),
    "semaphores": ("semaphores", (), {}),
    "read mail me --max 7 --from now --event pushed --event dead": (
        "read", ("mail", "me", 7), {"start": "now", "events": ("pushed", "dead")},
    ),
    "read mail me": ("read", ("mail", "me", 1), {"start": None, "events": None}),
    "read-ack me 7": ("read_ack", ("me", 7), {}),
    "read-end me": ("read_end", ("me",), {}),
    "readers": ("readers", (), {}),
    "workers": ("workers", (), {}),
    "reap": ("reap", (), {}),
}  # fmt: skip


@each("command", CALLS)
def test_a_command_calls_what_it_says(command: str) -> None:
    assert called(*shlex.split(command)) == CALLS[command]


def test_every_option_is_tried_here() -> None:
    tried = {(shlex.split(command)[0], word) for command in CALLS for word in shlex.split(command)}
    own = {"--url", "--schema", "--raw", "--json", "--batch", "--bytes", "--take-payload"}
    for name in {name for name, _ in tried}:
        for option in main.commands[name].params:
            for text in (*option.opts, *option.secondary_opts):
                assert not text.startswith("--") or text in own or (name, text) in tried, f"{name} {text}"


def test_bytes_and_lines(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x00\xff")
    file = f"{tmp_path / 'file'}"
    assert called("push", "mail", "--bytes", file, "--key", "k", "--priority", "3") == (
        "push_bytes", ("mail", "k", b"\x00\xff"), {"priority": 3},
    )  # fmt: skip
    lines = "".join(json.dumps({"key": str(number), "payload": number}) + "\n" for number in range(3))
    assert called("push", "mail", "-", "--batch", "2", "--priority", "3", lines=lines) == (
        "push_many", ("mail", [{"key": str(number), "payload": number} for number in range(2)]),
        {"priority": 3},
    )  # fmt: skip
    taken = called(
        "move", "next", "-", "--take-payload", "--batch", "9", lines='{"receipt": "a", "payload": 7}\nb'
    )
    moves = [{"to_kind": "next", "receipt": "a", "payload": 7}, {"to_kind": "next", "receipt": "b"}]
    assert taken == ("move_many", (moves,), {})


def test_a_long_wait_is_made_of_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waits = 1000.0, list[float]()

    def wait(kinds: tuple[str, ...], seconds: float) -> None:
        nonlocal now
        assert kinds == ("mail", "sms")
        waits.append(seconds)
        now += seconds

    monkeypatch.setattr(common, "Queue", lambda *_, **__: SimpleNamespace(wait=wait))
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=lambda: now))
    url = ["--url", "postgresql://127.0.0.1:1/none"]
    done = CliRunner().invoke(main, ["wait", "mail", "sms", "--timeout", "12", *url])
    assert (done.exit_code, waits) == (1, [5, 5, 2])


def test_a_worker_is_what_its_options_say(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers, made = Handlers(), list[Any]()
    for kind in ("mail", "sms"):
        handlers.on(kind)(lambda _: None)

    class Made:
        def __init__(self, url: str, handlers: Handlers, **options: Any) -> None:
            made.extend((url, list(handlers), options))

        def run(self) -> None: ...

    monkeypatch.setattr(worker_command, "Worker", Made)
    monkeypatch.setattr(worker_command, "find_handlers", lambda _: handlers)
    monkeypatch.setattr(worker_command.logs, "configure", lambda *_: None)
    text = (
        "worker app --url u --schema s --kind sms --concurrency 2 --processes 3 --poll 4 --no-notify"
        " --grace 5 --name n --drain --max-messages 6 --no-upkeep --health 8080"
    )
    done = CliRunner().invoke(main, shlex.split(text))
    assert done.exit_code == 0, done.output
    url, kinds, options = made
    initialize, processes = options.pop("initialize"), options.pop("processes")
    assert (url, kinds, processes, callable(initialize)) == ("u", ["sms"], 3, True)
    assert options == {
        "schema": "s", "concurrency": 2, "poll_seconds": 4.0, "notify": False, "grace_seconds": 5.0,
        "name": "n", "drain": True, "max_messages": 6, "upkeep": False, "health": "8080",
    }  # fmt: skip
    assert options.keys() | {"heartbeat_seconds"} == WorkerOptions.__annotations__.keys()
