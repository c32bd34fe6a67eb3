"""NOTIFY on PostgreSQL: who pays for it, how seldom it comes, and what is left out is found all the same."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
import pytest
from psycopg import sql

from pyqueue_sql import Queue
from tests.schema.listening import PATIENCE_S, listening, same_channel

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_S = 30
"""A message that comes so late has waited for the poll."""
SOON_S = 5
OFFSETS_MS = range(0, 65, 5)
ADVISORY = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"


def push_at(queue: Queue, started: float, seconds: float, key: str, pushed: dict[str, float]) -> None:
    """Push a message at a time, and note when it was committed."""
    time.sleep(max(started + seconds - time.monotonic(), 0))
    queue.push("mail", key, 1)
    pushed[key] = time.monotonic()


def late(taken: dict[str, float], pushed: dict[str, float], most_s: float = SOON_S) -> dict[str, float]:
    """Return how long messages took that took too long."""
    return {key: taken[key] - at for key, at in pushed.items() if taken[key] - at > most_s}


def test_a_push_at_any_offset_inside_the_window_is_found_long_before_the_poll(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    pushed: dict[str, float] = {}
    with listening(database_url, "mail") as listener, ThreadPoolExecutor(1) as pool:
        found = pool.submit(listener.take, 2 * len(OFFSETS_MS), POLL_S)
        for offset in OFFSETS_MS:
            time.sleep(0.1)
            started = time.monotonic()
            push_at(queue, started, 0, f"first of {offset}", pushed)
            push_at(queue, started, offset / 1000, f"second of {offset}", pushed)
        assert late(found.result(), pushed) == {}


def test_an_event_that_was_left_out_for_another_kind_of_the_channel_is_found(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    other = same_channel(conn, "mail")
    pushed: dict[str, float] = {}
    with (
        listening(database_url, "mail") as listener,
        listening(database_url, other) as busy,
        ThreadPoolExecutor(2) as pool,
    ):
        found = pool.submit(listener.take, len(OFFSETS_MS), POLL_S)
        taken = pool.submit(busy.take, len(OFFSETS_MS), POLL_S)
        for offset in OFFSETS_MS:
            time.sleep(0.1)
            started = time.monotonic()
            queue.push(other, f"{offset}", 1)
            push_at(queue, started, offset / 1000, f"{offset}", pushed)
        taken.result()
        assert late(found.result(), pushed) == {}


@pytest.mark.parametrize("open_s", [0.2, pytest.param(2.5, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "at_once",
    [pytest.param(False, marks=pytest.mark.long), True],
    ids=["", "at the transaction's beginning"],
)
def test_a_push_that_commits_late_is_found_soon_after(
    conn: psycopg.Connection[Any], database_url: str, open_s: float, at_once: bool
) -> None:
    pushed: dict[str, float] = {}
    with (
        listening(database_url, "mail") as listener,
        psycopg.connect(database_url, autocommit=True) as slow,
        ThreadPoolExecutor(1) as pool,
    ):
        push = "select queue_push('mail', 'slow', '1')"
        slow.execute("select 1")
        found = pool.submit(listener.take, 2, POLL_S)
        time.sleep(2)
        push_at(Queue(conn), time.monotonic(), 0, "event", pushed)
        time.sleep(0.005)
        if at_once:
            # in one message, so that it looks like a transaction of its own
            slow.execute(f"begin; {push}")  # pyright: ignore[reportArgumentType]
        else:
            slow.execute("begin")
            time.sleep(0.01)
            slow.execute(push)
        time.sleep(open_s)
        slow.execute("commit")
        pushed["slow"] = time.monotonic()
        assert late(found.result(), pushed) == {}


def test_a_push_before_a_session_listens_that_commits_later_is_found(
    database_url: str,
) -> None:
    with psycopg.connect(database_url) as slow:
        slow.execute("select 1")
        time.sleep(0.01)
        slow.execute("select queue_push('mail', 'slow', '1')")
        with listening(database_url, "mail") as listener, ThreadPoolExecutor(1) as pool:
            found = pool.submit(listener.take, 1, POLL_S)
            time.sleep(2.5)
            slow.commit()
            pushed = {"slow": time.monotonic()}
            assert late(found.result(), pushed) == {}


FAILS = """
do $$
begin
    perform queue_push('mail', 'undone', '1');
    raise exception 'no';
exception when others then
    perform queue_push('elsewhere', 'a', '1');
end $$
"""


def test_an_event_that_was_undone_silences_nobody(conn: psycopg.Connection[Any], database_url: str) -> None:
    with listening(database_url, "mail") as listener:
        conn.execute(FAILS)
        Queue(conn).push("mail", "a", 1)
        assert [event.kind for event in listener.events(awaited=1)] == ["mail"]


def test_an_event_of_a_transaction_that_is_still_open_silences_nobody(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as slow, listening(database_url, "mail") as listener:
        slow.execute("begin; select queue_push('mail', 'slow', '1')")
        Queue(conn).push("mail", "a", 1)
        assert [event.kind for event in listener.events(awaited=1)] == ["mail"]
        slow.execute("rollback")


def test_events_of_a_kind_are_thinned(conn: psycopg.Connection[Any], database_url: str) -> None:
    queue = Queue(conn)
    with listening(database_url, "mail") as listener:
        started = time.monotonic()
        for number in range(200):
            queue.push("mail", f"{number}", 1)
        most = (time.monotonic() - started) / 0.05 + 2
        assert 1 <= len(listener.events(awaited=1)) <= most


def test_without_a_session_that_listens_no_event_is_sent(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    with listening(database_url, "elsewhere") as listener:
        channel = listener.queue.listen("mail")[0].channel
        listener.conn.execute("select pg_advisory_unlock_all()")
        assert channel not in {one.channel for one in listener.queue.listen("elsewhere")}
        listener.conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
        Queue(conn).push("mail", "a", 1)
        assert listener.events() == []


def test_every_notification_dropped_the_poll_finds_it(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    with listening(database_url, "mail", listens=False) as listener, ThreadPoolExecutor(1) as pool:
        found = pool.submit(listener.take, 1, 3)
        time.sleep(1.5)
        pushed: dict[str, float] = {}
        push_at(Queue(conn), time.monotonic(), 0, "a", pushed)
        assert late(found.result(), pushed, POLL_S) == {}


@pytest.mark.parametrize("waits_already", [True, False], ids=["pushed meanwhile", "pushed before"])
def test_a_delayed_message_is_found_when_it_falls_due(
    conn: psycopg.Connection[Any], database_url: str, waits_already: bool
) -> None:
    def push() -> dict[str, float]:
        Queue(conn).push("mail", "a", 1, delay_seconds=2)
        return {"a": time.monotonic() + 2}

    due = {} if waits_already else push()
    with listening(database_url, "mail") as listener, ThreadPoolExecutor(1) as pool:
        found = pool.submit(listener.take, 1, POLL_S)
        time.sleep(0.3)
        due = due or push()
        taken = found.result()
    assert (late(taken, due), taken["a"] > due["a"] - 0.1) == ({}, True)


def hold(queue: Queue, kind: str = "source") -> str:
    """Push a message and hold it; return the receipt."""
    queue.push(kind, "a", {"a": 1})
    [message] = queue.reserve(kind, "w")
    assert message.receipt
    return message.receipt


def nothing(queue: Queue) -> str:
    """Prepare nothing."""
    return str(queue.connection.info.backend_pid)


def die(queue: Queue) -> str:
    """Make a dead letter; return the receipt that it had."""
    receipt = hold(queue)
    assert queue.nack(receipt, final=True).outcome == "dead"
    return receipt


def push_onto(queue: Queue) -> str:
    """Push a message onto one that is held; return the receipt of that."""
    receipt = hold(queue)
    assert queue.push("source", "a", 2, on_duplicate="replace").outcome == "held"
    return receipt


def leave_dead(queue: Queue) -> str:
    """Hold a message as a worker that has not been heard of since."""
    queue.heartbeat("w")
    receipt = hold(queue)
    queue.connection.execute("update queue_worker set heartbeat_at = 0")
    return receipt


def end(queue: Queue) -> str:
    """Have a message in the history; return its kind."""
    queue.define("source", history_seconds=60)
    queue.ack(hold(queue))
    return "source"


def subscribe(queue: Queue) -> str:
    """Subscribe a kind to a topic; return that."""
    assert queue.subscribe("topic", "source")
    return "topic"


def fall_due(queue: Queue) -> str:
    """Make a schedule that is due."""
    queue.schedule("tick", "source", every_seconds=1)
    queue.connection.execute("update queue_recurring set next_at = queue_now() - 1")
    return "tick"


def pause(queue: Queue) -> str:
    """Pause a kind; return its name."""
    assert queue.pause("source")
    return "source"


def read(queue: Queue) -> str:
    """Have a batch hold a message; return the name of the read."""
    queue.push("source", "a", 1)
    assert queue.connection.execute("select queue_stream_reserve('reader', 1, 0, 'source')").fetchall()
    return "reader/1"


def read_with_permits(queue: Queue) -> str:
    """Have a batch hold a message that has a semaphore; return the name of the read."""
    queue.semaphore("s", 1)
    queue.push("source", "a", 1, semaphores=["s"])
    assert queue.connection.execute("select queue_stream_reserve('reader', 1, 0, 'source')").fetchall()
    return "reader/1"


def line_up(queue: Queue) -> str:
    """Hold the first of a line in which another stands; return its receipt."""
    for key in "ab":
        queue.push("source", key, 1, order_key="o")
    [message] = queue.reserve("source")
    return str(message.receipt)


def wait_for_permits(queue: Queue) -> str:
    """Hold what another of another kind waits for; return its receipt."""
    queue.semaphore("s", 1)
    queue.push("elsewhere", "a", 1, semaphores=["s"])
    [message] = queue.reserve("elsewhere")
    queue.push("source", "b", 1, semaphores=["s"])
    assert queue.reserve("source") == []
    return str(message.receipt)


def last_of_group(queue: Queue) -> str:
    """Hold the last member of a group; return its receipt."""
    queue.group("g", "source", members=1)
    queue.push("elsewhere", "a", 1, group="g")
    [message] = queue.reserve("elsewhere")
    return str(message.receipt)


def land(queue: Queue, key: str) -> None:
    """Insert a row into the inbox."""
    text = "insert into queue_inbox (p_kind, p_key, payload) values ('source', %s, '1')"
    queue.connection.execute(text, [key])


def give_back(queue: Queue, name: str) -> None:
    """Give back what a read holds."""
    queue.connection.execute("select queue_stream_extend(%s, 0)", [name])


Case: TypeAlias = tuple[str, "Callable[[Queue], str]", "Callable[[Queue, str], object]"]
WAKES: dict[str, Case] = {
    "push": ("source", nothing, lambda queue, key: queue.push("source", key, 1)),
    "delayed push": ("source", nothing, lambda queue, key: queue.push("source", key, 1, delay_seconds=60)),
    "bytes": ("source", nothing, lambda queue, key: queue.push_bytes("source", key, b"1")),
    "replace": ("source", hold, lambda queue, _: queue.push("source", "b", 1, on_duplicate="replace")),
    "push_many": (
        "source",
        nothing,
        lambda queue, key: queue.push_many("source", [{"key": key, "payload": 1}]),
    ),
    "inbox": ("source", nothing, land),
    "nack": ("source", hold, lambda queue, receipt: queue.nack(receipt)),
    "delayed nack": ("source", hold, lambda queue, receipt: queue.nack(receipt, delay_seconds=60)),
    "extend": ("source", hold, lambda queue, receipt: queue.extend(receipt, 0)),
    "extend_many": ("source", hold, lambda queue, receipt: queue.extend_many([receipt], 0)),
    "move": ("target", hold, lambda queue, receipt: queue.move(receipt, "target")),
    "dead letter": ("source.dead", hold, lambda queue, receipt: queue.nack(receipt, final=True)),
    "redrive": ("source", die, lambda queue, _: queue.redrive("source.dead")),
    "pending": ("source", push_onto, lambda queue, receipt: queue.ack(receipt)),
    "replay": ("source", end, lambda queue, kind: queue.replay(kind)),
    "publish": ("source", subscribe, lambda queue, topic: queue.publish(topic, "b", 1)),
    "tick": ("source", fall_due, lambda queue, _: queue.tick()),
    "resume": ("source", pause, lambda queue, kind: queue.resume(kind)),
    "pause": ("source", nothing, lambda queue, _: queue.pause("source")),
    "reap": ("source", leave_dead, lambda queue, _: queue.reap()),
    "nack_many": ("source", hold, lambda queue, receipt: queue.nack_many([receipt])),
    "move_many": (
        "target",
        hold,
        lambda queue, receipt: queue.move_many([{"receipt": receipt, "to_kind": "target"}]),
    ),
    "read given back": ("source", read, lambda queue, name: give_back(queue, name)),
    "read with permits given back": (
        "source",
        read_with_permits,
        lambda queue, name: give_back(queue, name),
    ),
    "line": ("source", line_up, lambda queue, receipt: queue.ack(receipt)),
    "permits": ("source", wait_for_permits, lambda queue, receipt: queue.ack(receipt)),
    "capacity": ("source", wait_for_permits, lambda queue, _: queue.semaphore("s", 2)),
    "group": ("source", last_of_group, lambda queue, receipt: queue.ack(receipt)),
}


@pytest.mark.parametrize("what", WAKES)
def test_everything_that_makes_something_takeable_wakes(
    conn: psycopg.Connection[Any], database_url: str, what: str
) -> None:
    kind, prepare, act = WAKES[what]
    queue = Queue(conn)
    with listening(database_url, kind) as listener:
        given = prepare(queue)
        listener.events(0.1)  # past the window of what led there
        act(queue, given)
        assert [event.kind for event in listener.events(0.1, awaited=1)] == [kind]


def test_a_push_leaves_no_lock(conn: psycopg.Connection[Any], database_url: str) -> None:
    queue = Queue(conn)
    with listening(database_url, "mail"):
        for kind in ("mail", "elsewhere"):
            for number in range(20):
                queue.push(kind, f"{number}", 1)
        assert conn.execute(ADVISORY).fetchone() == (0,)


def test_a_session_has_one_lock_for_the_workers_that_live_by_it(conn: psycopg.Connection[Any]) -> None:
    queue = Queue(conn)
    ways: list[dict[str, Any]] = [{"session": True}, {"session": True}, {}, {"session": True}, {"stop": True}]
    for worker in ("w", "v"):
        for options in ways:
            queue.heartbeat(worker, **options)
            assert conn.execute(ADVISORY).fetchone() == (1,)


def test_a_listener_has_a_lock_for_each_channel_until_its_session_ends(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    held = "select count(*) from pg_locks where locktype = 'advisory'"
    with listening(database_url, *(f"{number}" for number in range(100))) as listener:
        for _ in range(3):
            listener.queue.listen([f"{number}" for number in range(100)])
        assert conn.execute(held).fetchone() == (16,)
    deadline = time.monotonic() + PATIENCE_S
    while conn.execute(held).fetchone() != (0,):
        assert time.monotonic() < deadline


def test_pushes_and_listeners_never_wait_for_each_other(database_url: str) -> None:
    stop = threading.Event()

    def work(number: int) -> None:
        with psycopg.connect(database_url, autocommit=True, options="-c lock_timeout=5s") as conn:
            queue = Queue(conn)
            for turn in range(150):
                if number % 2:
                    queue.push("mail", f"{number}/{turn}", 1)
                else:
                    assert queue.listen("mail")[0].channel
                    if turn % 10 == 0:
                        conn.execute("select pg_advisory_unlock_all()")
            stop.set()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert stop.is_set()


def test_listen_says_what_is_ready_and_when_to_look_again(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    queue.push("ready", "a", 1)
    queue.push("later", "a", 1, delay_seconds=60)
    hold(queue, "held")
    queue.push("paused", "a", 1)
    queue.pause("paused")
    wait_for_permits(queue)
    queue.define("full", max_reserved=1)
    hold(queue, "full")
    queue.push("full", "b", 1)
    kinds = ["ready", "later", "held", "paused", "source", "full", "nothing"]
    with listening(database_url, "nothing") as listener:
        seen = {one.kind: one for one in listener.queue.listen(kinds)}
    assert [kind for kind, one in seen.items() if one.ready] == ["ready"]
    assert {kind: round(one.next_seconds) for kind, one in seen.items() if one.next_seconds} == {
        "later": 60,
        "held": 300,
        "source": 300,
        "full": 1,
    }


def test_who_ends_a_member_isnt_told_by_its_own_note_that_all_may_be_done(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    queue.group("g", "next", members=2)
    queue.push_many("check", [{"payload": 0}, {"payload": 0}], group="g")
    one, other = (str(message.receipt) for message in queue.reserve("check", None, 2))
    with psycopg.connect(database_url) as old:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        assert Queue(old).ack(one).outcome == "acked"
        assert Queue(old).wait("next", 0) is None
    assert queue.wait("next", 0) == "next", "somebody has to look"
    assert queue.reserve("next") == []
    assert queue.ack(other).outcome == "acked"
    assert len(queue.pop("next", 10)) == 1


def test_a_wait_under_one_snapshot_sees_nothing_new(conn: psycopg.Connection[Any], database_url: str) -> None:
    with psycopg.connect(database_url) as old:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        old.execute("select 1")
        Queue(conn).push("mail", "a", 1)
        assert Queue(old).wait("mail", 0.2) is None
        old.rollback()
        assert Queue(old).wait("mail", 0.2) == "mail"


@pytest.mark.long
def test_a_statement_waits_five_seconds_at_the_most(conn: psycopg.Connection[Any]) -> None:
    before = time.monotonic()
    assert Queue(conn).wait("mail", 300) is None
    assert 5 <= time.monotonic() - before < 60


def test_an_ack_that_makes_room_under_a_limit_is_an_event_and_others_are_not(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    queue.define("mail", max_reserved=1)
    queue.define("free", max_attempts=9)
    for kind in ("mail", "free"):
        queue.push_many(kind, [{"payload": n} for n in range(4)])
    with listening(database_url, "mail") as listener, listening(database_url, "free") as other:
        for many in (False, True):
            (message,) = queue.reserve("mail")
            assert message.receipt
            listener.events()
            (look,) = listener.queue.listen("mail")
            assert not look.ready
            assert look.next_seconds is not None
            assert 0 < look.next_seconds <= 1
            if many:
                queue.ack_many([message.receipt])
            else:
                queue.ack(message.receipt)
            assert "mail" in [one.kind for one in listener.events(awaited=1)]
            assert listener.queue.listen("mail")[0].ready
        other.events()
        (message,) = queue.reserve("free")
        assert queue.ack(message.receipt or "").outcome == "acked"
        assert "free" not in [one.kind for one in other.events()]


def test_acks_under_a_limit_send_few_events_and_one_that_is_undone_silences_none(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue = Queue(conn)
    queue.define("mail", max_reserved=20)
    queue.push_many("mail", [{"payload": n} for n in range(20)])
    receipts = [one.receipt or "" for one in queue.reserve("mail", None, 20)]
    with listening(database_url, "mail") as listener:
        with conn.transaction(force_rollback=True):
            queue.ack(receipts[0])
        with conn.transaction():
            for receipt in receipts:
                queue.ack(receipt)
        assert [one.kind for one in listener.events(awaited=1)] == ["mail"]


def test_an_ack_that_makes_room_is_an_event_though_one_of_another_channel_was_just_sent(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    queue, kinds = Queue(conn), ["mail", "sms"]
    for kind in kinds:
        queue.define(kind, max_reserved=1)
        queue.push(kind, "a", 1)
    receipts = [one.receipt or "" for kind in kinds for one in queue.reserve(kind)]
    with listening(database_url, *kinds) as listener:
        assert len({one.channel for one in listener.queue.listen(kinds)}) == 2
        with conn.transaction():
            for receipt in receipts:
                queue.ack(receipt)
        assert [one.kind for one in listener.events(0, awaited=2)] == kinds
