"""A running worker is all the upkeep there is, unless it is told not to."""

from __future__ import annotations

import io
import json
import logging
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from pyqueue_sql import Message
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker import Handlers, Worker, keeping, upkeep
from pyqueue_sql.worker.logs import JsonFormatter, TextFormatter
from tests.sample import QUICK
from tests.worker.helpers import Running, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers

pytestmark = QUICK


def listening(seen: list[str], *kinds: str) -> Handlers:
    """Handlers that note the keys of what they get."""
    handlers = Handlers()
    for kind in kinds:

        @handlers.on(kind)
        def note(message: Message) -> None:
            seen.append(message.key)

    return handlers


@contextmanager
def logged(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """What workers log meanwhile, as it looks."""
    found = io.StringIO()
    handler = logging.StreamHandler(found)
    handler.setFormatter(formatter)
    logger = logging.getLogger("pyqueue_sql.worker")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def old_history(queue: Session) -> None:
    """Let something be in the history that is past its time, of a kind that nobody takes."""
    queue.define("old", history_seconds=3600)
    queue.push("old", "a")
    queue.ack_many([str(one.receipt) for one in queue.reserve("old")])
    queue.define("old", history_seconds=0)


def in_history(queue: Session) -> int:
    """How many rows the history has, past their time or not."""
    return len(queue.history("old"))


def test_a_worker_ticks_and_prunes(queue: Session, workers: Workers) -> None:
    old_history(queue)
    assert in_history(queue) == 1
    seen: list[str] = []
    with workers.running(listening(seen, "reports")):
        until(lambda: in_history(queue) == 0)
        queue.schedule("every second", "reports", every_seconds=1)  # it comes after the worker's start
        until(lambda: len(seen) >= 2)
    assert all(key.startswith("every second@") for key in seen)


def test_one_that_is_told_not_to_leaves_it_to_others(queue: Session, workers: Workers) -> None:
    old_history(queue)
    queue.schedule("s", "reports", every_seconds=1)
    queue.push("mail", "a")
    seen: list[str] = []
    with logged(TextFormatter()) as log, workers.running(listening(seen, "mail", "reports"), upkeep=False):
        until(lambda: seen == ["a"])
        assert "schedules and pruning are up to others" in log.getvalue()
        assert "upkeep=False" in log.getvalue()
        (schedule,) = queue.schedules()
        assert (schedule.last_at, in_history(queue)) == (None, 1)
        with workers.running(listening(seen, "mail")):  # stands in the second place of those that are there
            until(lambda: len(seen) > 2 and in_history(queue) == 0)


def test_what_is_due_is_there_for_one_that_drains(queue: Session, workers: Workers) -> None:
    queue.schedule("s", "reports", every_seconds=1)
    (schedule,) = queue.schedules()

    def is_due() -> bool:
        queue.heartbeat("clock", upkeep=False)
        return schedule.next_at is not None and schedule.next_at <= queue.workers()[0].heartbeat_at

    until(is_due)
    seen: list[str] = []
    workers.drain(listening(seen, "reports"))
    assert seen


def test_what_breaks_inside_a_worker_ends_it_with_that_error(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(_: upkeep.Upkeep) -> None:
        until(lambda: queue.stats("mail"))
        raise RuntimeError("on purpose")

    monkeypatch.setattr(upkeep.Upkeep, "run", breaks)
    queue.push("mail", "a")
    with pytest.raises(RuntimeError, match="on purpose"):
        Running(Worker(workers.url, listening([], "mail"))).join()
    assert queue.workers() == [], "it has left"


@pytest.mark.servers("postgresql")
def test_warnings_of_the_database_and_what_it_refuses_are_in_the_log(
    queue: Session, workers: Workers
) -> None:
    queue.execute("drop function queue_prune")
    queue.execute(
        "create function queue_prune(in_max_rows bigint default null, out pruned bigint) language plpgsql as "
        "$$ begin raise warning 'anybody may create here' using hint = 'revoke it'; raise 'not you'; end $$"
    )
    queue.push("mail", "a")
    seen: list[str] = []
    with logged(TextFormatter()) as log, workers.running(listening(seen, "mail")):
        until(lambda: "prune: not you" in log.getvalue())
        assert "the database warns: anybody may create here (revoke it)" in log.getvalue()
        until(lambda: seen == ["a"])


@pytest.mark.servers("postgresql")
def test_what_the_server_gives_up_keeps_nothing_else_from_being_done(
    harness: Harness, queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "GIVEN_UP_SECONDS", 0.1)
    queue.execute("drop function queue_prune")
    queue.execute(
        "create function queue_prune(in_max_rows bigint default null, out pruned bigint) language plpgsql"
        " as $$ begin perform pg_sleep(60); end $$"
    )
    queue.execute(f"alter database {urlsplit(harness.url).path[1:]} set statement_timeout = '1s'")
    queue.schedule("each second", "mail", None, every_seconds=1)
    seen: list[str] = []
    with logged(TextFormatter()) as log, workers.running(listening(seen, "mail")):
        until(lambda: "prune: " in log.getvalue())
        until(lambda: len(seen) > 3)
    assert log.getvalue().count("prune: ") == 2, "as it starts, and once more"
    assert "trying again" not in log.getvalue()


def test_what_a_driver_says_in_several_lines_is_one() -> None:
    said = "Connection refused\n\tIs the server running there?"
    record = logging.LogRecord("pyqueue_sql.worker", logging.WARNING, "", 0, said, None, None)
    record.link = "control"
    assert (
        TextFormatter("%(message)s").format(record)
        == "Connection refused Is the server running there? link=control"
    )


@pytest.mark.parametrize("name", ["worker", "kind", "key"])
def test_a_name_of_several_lines_makes_no_line_of_the_log(name: str) -> None:
    record = logging.LogRecord("pyqueue_sql.worker", logging.WARNING, "", 0, "failed: no", None, None)
    setattr(record, name, "a\n2026-11-27 INFO stopped\rb\u2028c")
    assert TextFormatter("%(message)s").format(record) == f"failed: no {name}=a 2026-11-27 INFO stopped b c"


@pytest.mark.servers("postgresql")
def test_what_the_database_only_notes_is_not_in_the_log(harness: Harness) -> None:
    with connect(harness.url) as connection, logged(TextFormatter()) as log:
        upkeep.hear_warnings(connection)
        with connection.cursor() as cursor:
            for level in ("notice", "warning"):
                cursor.execute(f"do $$ begin raise {level} 'a {level}'; end $$")
    assert log.getvalue() == "the database warns: a warning\n"


def test_the_traceback_of_a_failure_is_logged_once_an_attempt(queue: Session, workers: Workers) -> None:
    queue.define("mail", max_attempts=2, backoff_seconds=0)
    handlers = Handlers()

    @handlers.on("mail")
    def send(_: Message) -> None:
        json.loads("{")

    queue.push("mail", "a")
    with logged(JsonFormatter()) as log:
        workers.drain(handlers)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    failed = [line for line in lines if line["level"] == "warning"]
    assert [(line["attempt"], line["outcome"]) for line in failed] == [(1, "retry"), (2, "dead")]
    for line in failed:
        assert line["exception"].startswith("Traceback (most recent call last):\n")
        assert line["exception"].splitlines()[1].endswith("in send"), "it begins in the handler"
        assert "in raw_decode" in line["exception"]
        assert line["error"] == "json.decoder.JSONDecodeError"
        assert line["where"] == f"{__file__}:{send.__code__.co_firstlineno + 2} in send"
        assert line["message"].startswith("failed: json.decoder.JSONDecodeError: Expecting")
    dead = queue.get("mail.dead", "a")
    assert dead is not None
    assert [f"failed: {one['error']}" for one in dead.errors] == [line["message"] for line in failed]
    queue.redrive("mail.dead")
    with logged(TextFormatter()) as log:
        workers.drain(handlers)
    assert log.getvalue().count("Traceback") == 2


def test_a_worker_is_heard_of_three_times_a_timeout(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # time goes on by hand, so that nothing but a heartbeat that is due makes one
    passed, asked = 0.0, 0

    def monotonic() -> float:
        nonlocal asked
        asked += 1
        return 1000 + passed

    monkeypatch.setattr(keeping, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=monotonic))

    def heard_at() -> list[datetime]:
        return [worker.heartbeat_at for worker in queue.workers()]

    queue.push("mail", "first")
    with workers.running(listening([], "mail"), heartbeat_seconds=3000, notify=False):
        # a connection that is opened later would make it doubt the one that beats
        until(lambda: queue.stats("mail")[0].acked_total == 1)
        # it is asked for upkeep, makes sure of that once, and then waits for its time
        for seconds in (keeping.DOUBT_SECONDS + 1, 1010, 1010, 1010):
            before, since = heard_at(), asked
            passed += keeping.DOUBT_SECONDS + 1
            if seconds > 1000:
                passed += 980
                until(lambda since=since: asked > since + 20)
                assert heard_at() == before
            passed += 30 if seconds > 1000 else seconds
            until(lambda before=before: heard_at() > before)
