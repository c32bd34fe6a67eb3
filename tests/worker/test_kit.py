"""The fixtures for the tests of applications, run as docs/testing.md has them, and what they stand on."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Message
from pyqueue_sql.testing import clock_of, drain, places, rolled_back
from pyqueue_sql.worker import Context, Handlers, Snooze

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str) -> dict[str, str]:
    """Return the blocks of a page that are files, by their names."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return dict(re.findall(r'```python title="(\S+\.py)"\n(.*?)```', text, re.DOTALL))


def test_the_example_of_the_documentation(harness: Harness, tmp_path: Path) -> None:
    files = blocks("testing.md")
    for name in ("conftest.py", "test_emails.py"):
        (tmp_path / name).write_text(files[name])
    environment = {name: value for name, value in os.environ.items() if name != "PYQUEUE_TEST_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--pyqueue-url={harness.url}"],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_handlers_of_the_documentation_can_be_declared(queue: Session) -> None:
    names: dict[str, object] = {"__name__": "app.handlers"}
    # not postponed, as the page has them
    exec(compile(blocks("worker.md")["app/handlers.py"], "app/handlers.py", "exec", dont_inherit=True), names)
    handlers = names["handlers"]
    assert isinstance(handlers, Handlers)
    queue.push("orders", "1", {"to": "ann@example.org"})
    found = drain(queue, handlers)
    assert [(one.kind, one.outcome) for one in found] == [("orders", "acked"), ("emails", "acked")]


def test_drain_follows_what_handlers_push(queue: Session) -> None:
    handlers = Handlers()

    @handlers.on("a")
    def first(_: Message, context: Context) -> None:
        with context.transaction() as own:
            own.push("b", "made")

    @handlers.on("b")
    async def second(message: Message) -> Snooze | None:
        await asyncio.sleep(0)
        return Snooze(60) if message.headers is None else None

    queue.push("a", "x")
    found = drain(queue, handlers)
    assert [(one.kind, one.key, one.outcome) for one in found] == [
        ("a", "x", "acked"),
        ("b", "made", "retry"),
    ]
    queue.push("b", "other", headers={"done": True})
    assert drain(queue, handlers, "a") == []
    assert [one.outcome for one in drain(queue, handlers, "b")] == ["acked"]


def test_drain_of_no_kind_handles_nothing_and_of_one_without_a_handler_is_refused(queue: Session) -> None:
    handlers = Handlers()
    handlers.on("a")(lambda _: None)
    queue.push("a", "x")
    assert drain(queue, handlers, []) == []
    with pytest.raises(LookupError, match="kind  has no handler"):
        drain(queue, handlers, "")
    assert len(drain(queue, handlers)) == 1


def test_drain_in_an_event_loop(queue: Session) -> None:
    handlers = Handlers()

    @handlers.on("a")
    async def fail(_: Message) -> None:
        raise LookupError("no such thing")

    queue.push("a", "x")

    async def inside() -> list[str]:
        return [type(one.error).__name__ for one in drain(queue, handlers)]

    queue.define("a", max_attempts=1)
    assert asyncio.run(inside()) == ["LookupError"]


def test_drain_can_be_interrupted(queue: Session) -> None:
    handlers = Handlers()

    @handlers.on("a")
    def interrupted(_: Message) -> None:
        raise KeyboardInterrupt

    queue.push("a", "x")
    with pytest.raises(KeyboardInterrupt):
        drain(queue, handlers)


def test_drain_of_what_never_ends_ends(queue: Session) -> None:
    handlers = Handlers()

    @handlers.on("a")
    def again(_: Message) -> Snooze:
        return Snooze(0)

    queue.push("a", "x")
    with pytest.raises(RuntimeError, match="50 messages were handled"):
        drain(queue, handlers, max_messages=50)


def test_drain_of_as_many_as_may_be_is_no_error(queue: Session) -> None:
    handlers, handled = Handlers(), list[str]()

    @handlers.on("a")
    def work(message: Message) -> None:
        handled.append(message.key)

    queue.push_many("a", [{"key": key} for key in "xyz"])
    with pytest.raises(RuntimeError, match="2 messages were handled"):
        drain(queue, handlers, max_messages=2)
    assert handled == ["x", "y"]
    queue.push_many("a", [{"key": key} for key in "vw"])
    assert len(drain(queue, handlers, max_messages=2)) == 2


@pytest.mark.servers("postgresql")
def test_databases_of_processes_with_the_same_number_are_others(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_: str) -> None: ...

    monkeypatch.setattr(places.migrate, "upgrade", nothing)
    with places.database(harness.url) as one:
        monkeypatch.setattr(places, "_numbers", itertools.count(1))
        with places.database(harness.url) as other:
            monkeypatch.setattr(places, "_numbers", itertools.count(1))
            with places.database(harness.url) as third:
                assert len({one, other, third}) == 3


def test_what_is_rolled_back_was_never_there(harness: Harness, queue: Session) -> None:
    handlers = Handlers()

    @handlers.on("a")
    def work(_: Message) -> None: ...

    with rolled_back(harness.url) as own:
        own.push("a", "x")
        own.push("a", "y")
        assert len(drain(own, handlers)) == 2
        own.push("a", "z")
    assert queue.peek("a") == []
    assert queue.stats("a") == []


@pytest.mark.servers("postgresql")
def test_clock(queue: Session) -> None:
    clock = clock_of(queue.connection)
    queue.push("a", "x", delay_seconds=3600)
    assert queue.reserve("a") == []
    clock.advance(3600)
    assert [one.key for one in queue.reserve("a")] == ["x"]
    assert clock_of(queue.connection).now == 1_767_225_600_000_000, "of the next test"
