"""The same answers, errors and transactions over every driver that applications have."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from pyqueue_sql import (
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Outcome,
    QueueError,
    Redriven,
    Refused,
)
from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.call import Call, Routine, columns
from tests.clients import building
from tests.clients.drivers import DRIVERS, Driver, Opened
from tests.conformance.fixtures import Connect, connect, harness
from tests.conformance.harness import Harness
from tests.servers.binaries import UnavailableError
from tests.servers.plugin import REQUIRE, required

__all__ = ["connect", "harness"]

PAYLOADS = (
    None,
    True,
    0,
    -1.5,
    2**40,
    "",
    "null",
    '"text"',
    "ä☃😀 %s %% $1 ? :x \\ ' \" \n",
    [1, [2, {"a": None}]],
    {"ä": [1, 2.5, None, True], "": {}},
)
LATER = datetime(2100, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ERRORS: tuple[tuple[type[QueueError], str, Callable[[Any], object]], ...] = (
    (InvalidParameter, "PQ001", lambda q: q.push("", "k")),
    (InvalidParameter, "PQ001", lambda q: q.reserve("a", max_messages=0)),
    (InvalidOption, "PQ002", lambda q: q.push("a", "k", colour="red")),
    (InvalidOption, "PQ002", lambda q: q.define("a", jitter=7)),
    (InvalidPayload, "PQ003", lambda q: q.push("a", "k", json.loads("[" * 32 + "]" * 32))),
    (Refused, "PQ004", lambda q: q.define("a", dead_letter_kind="a")),
    (InvalidReceipt, "PQ005", lambda q: q.ack("x")),
    (InvalidReceipt, "PQ005", lambda q: q.nack_many(["1-" + "0" * 32, "x"])),
)
WAITING = (
    "select t.processlist_id from performance_schema.data_lock_waits w"
    " join performance_schema.threads t on t.thread_id = w.requesting_thread_id"
)
"""Who waits for a row in MySQL."""
PATIENCE_S = 60
UNTOLD = ("SQLAlchemy, mysqlclient", "SQLAlchemy, MySQL Connector")
"""Who doesn't tell whether a transaction is open."""
MISSING = Call(Routine("queue_nothing", columns("kind text"), columns("receipt")), ("a",), list)


EACH = [
    pytest.param(
        driver, server, id=f"{driver.name}-{server}", marks=[pytest.mark.long] if driver.built else ()
    )
    for driver in DRIVERS
    for server in driver.servers
]


@pytest.mark.parametrize(("driver", "server_name"), EACH)
def test_every_driver_gives_the_same_answers_errors_and_transactions(
    driver: Driver, harness: Harness, connect: Connect
):
    need(driver)
    with driver.open(harness.url) as opened:
        for name, queue in (opened.joining | opened.alone).items():
            if name not in ("session", "autocommit"):
                answers(queue, f"{name} ", opened.commit)
                opened.commit()
        for name, queue in opened.alone.items():
            errors(queue)
            assert queue.wait(["nothing", "there"], 0) is None
            assert queue.push("seen", name).outcome == "created"
            assert connect().get("seen", name) is not None
        transactions(opened, connect)


@pytest.mark.parametrize(("driver", "server_name"), [one for one in EACH if one.values[1] == "mysql"])
def test_a_call_that_is_killed_ends_its_own_transaction_over_every_driver(
    driver: Driver, harness: Harness, connect: Connect
):
    """MySQL doesn't, so the client does, wherever it is told that the transaction is the call's own."""
    need(driver)
    other, holder = connect(), connect(autocommit=False)

    def kill() -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not (waiting := other.execute(WAITING)):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        other.execute("kill query %s", waiting[0])

    def killed(queue: Any) -> None:
        holder.push("mail", "taken")
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(kill)
            with pytest.raises(Exception, match="interrupted") as caught:
                queue.push("mail", "taken")
            killing.result()
        said = dialect.failure(caught.value)
        assert said is not None
        assert said.killed
        holder.rollback()

    with driver.open(harness.url) as opened:
        for name, queue in opened.alone.items():
            killed(queue)
            if name == "autocommit" and driver.name in UNTOLD:
                with pytest.raises(Refused, match="killed"):
                    queue.push("mail", name)
            assert queue.push("mail", name).outcome == "created"
            assert other.get("mail", name) is not None
        for name, queue in opened.joining.items():
            queue.push("mail", f"joined by {name}")
            killed(queue)
            opened.commit()
            assert other.get("mail", f"joined by {name}") is not None, (
                "the caller's transaction is the caller's"
            )


def need(driver: Driver) -> None:
    """Skip the test where the driver can't be built."""
    if driver.built:
        try:
            building.importable(driver.built)
        except UnavailableError as error:
            if "drivers" in required():
                raise pytest.UsageError(f"{REQUIRE} names drivers: {error}") from None
            pytest.skip(f"LEFT OUT, nothing was tested over {driver.name}: {error}")


def answers(queue: Any, name: str, commit: Callable[[], object]) -> None:
    """Call everything once, in kinds of its own."""
    a, b = f"{name}a", f"{name}b"
    queue.define(a, history_seconds=60, log_seconds=60)
    for payload in PAYLOADS:
        queue.push(a, "k", payload, headers={"h": 1.5, "ä": None}, priority=-3, delay_seconds=0)
        (message,) = queue.reserve(a, "me", timeout_seconds=60.5)
        assert (message.payload, type(message.payload)) == (payload, type(payload))
        assert (message.payload_bytes, message.headers, message.priority) == (None, {"h": 1.5, "ä": None}, -3)
        assert (message.attempts, message.reserved_by) == (1, "me")
        assert queue.ack(message.receipt, result=payload) == Outcome(message.receipt, "acked")
        assert queue.history(a, "k", max_messages=1)[0].result == payload
    for binary in (b"", bytes(range(256)), bytearray(b"\0'\\")):
        queue.push_bytes(b, "k", binary)
        (message,) = queue.pop(b)
        assert (message.payload, message.payload_bytes, type(message.payload_bytes)) == (None, binary, bytes)

    at = 4_102_542_245_678_901
    assert queue.push(a, "later", scheduled_at=LATER).scheduled_at == at
    (stats,) = queue.stats(a)
    assert (stats.next_at, stats.scheduled, stats.paused) == (LATER, 1, False)
    assert all(type(value) is int for value in (stats.total, stats.acked_total, stats.pushed_total))
    assert (queue.remove(a, "later"), queue.remove(a, "later")) == ("removed", "absent")

    made = queue.push(a).key
    assert len(made) == 36
    assert [
        one.outcome for one in queue.push_many(a, [{"key": made, "payload": 0}, {"key": "x", "payload": 1}])
    ] == [
        "ignored",
        "created",
    ]
    assert [one.key for one in queue.peek(a, where={})] == [made, "x"]
    held = [one.receipt for one in queue.reserve(a, max_messages=2)]
    assert [one.outcome for one in queue.extend_many(held, 0.5)] == ["extended", "extended"]
    assert queue.extend(held[0], 60).outcome == "extended"
    assert queue.nack(held[0], error="ä", final=True).outcome == "dead"
    assert queue.move(held[1], b, payload=[2], headers=None).outcome == "moved"
    assert queue.peek(f"{a}.dead")[0].errors[-1]["error"] == "ä"
    assert queue.redrive(f"{a}.dead", 10) == Redriven(1, 0)
    assert (queue.get(a, made).state, queue.get(b, "x").payload, queue.get(b, "y")) == ("ready", [2], None)
    assert queue.replay(a, outcome="acked", limit=1).went == 1
    assert (queue.purge(a), queue.purge(b, 5)) == (2, 1)

    kind = queue.define(
        b, timeout_seconds=1.5, max_attempts=None, jitter=0.25, payload_shape={"n": "integer"}
    )
    assert (kind.timeout_seconds, kind.max_attempts, kind.jitter, kind.paused) == (1.5, None, 0.25, False)
    assert kind.payload_shape == {"n": "integer"}
    assert (queue.pause(b), queue.pause(b), queue.resume(b), queue.drain(b), queue.resume(b)) == (
        True,
        False,
        True,
        True,
        True,
    )
    beat = queue.heartbeat(name, info={"pid": 7}, kinds=[b])
    assert (beat.alive, type(beat.expires_at)) == (True, int)
    (worker,) = [one for one in queue.workers() if one.worker == name]
    assert (worker.info, worker.kinds, worker.alive, worker.reserved) == ({"pid": 7}, [b], True, 0)
    assert abs((datetime.now(UTC) - worker.started_at).total_seconds()) < 600
    assert (queue.heartbeat(name, stop=True).alive, queue.reap()) == (False, [])

    topics(queue, name, a, commit)
    assert queue.prune() >= 0
    assert queue.drop(b).timeout_seconds == 1.5


def topics(queue: Any, name: str, kind: str, commit: Callable[[], object]) -> None:
    """What is told of by views with times and JSON in them."""
    topic = name.replace(" ", "")
    assert queue.subscribe(f"{topic}.*", kind)
    (subscription,) = [one for one in queue.subscriptions() if one.kind == kind]
    assert subscription.subscribed_at.tzinfo == UTC
    (pushed,) = queue.publish(f"{topic}.x", "k", {"n": 1})
    assert (pushed.kind, pushed.outcome) == (kind, "created")
    commit()  # a reader sees what is committed
    (event,) = queue.read(f"{topic}.*", name, 10, start="oldest")
    assert (event.topic, event.payload, event.event) == (f"{topic}.x", {"n": 1}, "pushed")
    assert queue.read_ack(name, event.position).position == event.position
    assert [one.behind for one in queue.readers() if one.reader == name] == [0]
    assert (queue.read_end(name), queue.unsubscribe(f"{topic}.*", kind)) == (True, True)
    queue.schedule(name, kind, {"n": 1}, cron="0 0 * * *", until=LATER)
    (schedule,) = [one for one in queue.schedules() if one.name == name]
    assert (schedule.payload, schedule.until, schedule.last_at) == ({"n": 1}, LATER, None)
    assert (queue.tick(), queue.unschedule(name)) == (0, True)
    queue.semaphore(name, 2)
    assert [one.capacity for one in queue.semaphores() if one.name == name] == [2]
    queue.group(name, kind, {"n": 1}, members=2)
    (group,) = [one for one in queue.groups() if one.name == name]
    assert (group.state, group.members, group.created_at.tzinfo) == ("open", 0, UTC)
    queue.purge(kind)


def errors(queue: Any) -> None:
    """Each cause is one exception with one SQLSTATE, and the connection goes on."""
    for cause, sqlstate, call in ERRORS:
        with pytest.raises(cause) as caught:
            call(queue)
        assert (type(caught.value), caught.value.sqlstate) == (cause, sqlstate)
        told = caught.value.__cause__
        assert told is not None
        said = dialect.failure(told)
        assert said is not None
        assert (said.message, type(said.refusal)) == (str(caught.value), cause)
    with pytest.raises(Exception, match="queue_nothing") as other:
        run = getattr(queue, "_run")  # noqa: B009 -- of either class
        run(MISSING)
    assert not isinstance(other.value, QueueError)
    said = dialect.failure(other.value)
    assert said is not None
    assert said.missing
    assert queue.push("after", "k").outcome in ("created", "ignored")


def transactions(opened: Opened, connect: Connect) -> None:
    """What the application's transaction does, its pushes do."""
    other = connect()
    for name, queue in opened.joining.items():
        kind = f"joined by {name}"
        queue.push(kind, "undone")
        assert (queue.get(kind, "undone") is None, other.get(kind, "undone")) == (False, None)
        opened.rollback()
        assert queue.get(kind, "undone") is None
        queue.push(kind, "kept")
        assert other.get(kind, "kept") is None
        opened.commit()
        assert [one.key for one in other.peek(kind)] == ["kept"]
