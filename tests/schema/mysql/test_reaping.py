"""What dead workers held is freed once, and by their session's end at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import SECOND, keys
from tests.schema.mysql.catalogs import RECEIPT, run
from tests.schema.mysql.test_cursor import keep_cursor
from tests.schema.mysql.waiting import until
from tests.schema.mysql.world import call, push_keys
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql import Connection

    from tests.conformance.harness import Clock, Session

pytestmark = pytest.mark.servers("mariadb", "mysql")

LONG_AGO = "update queue_worker w set w.heartbeat_at = 0"
HELD = 200


def hold(connection: Connection[Any], worker: str, number: int, **options: Any) -> None:
    """Register a worker that holds so many messages."""
    push_keys(connection, *(f"{worker}{one:03}" for one in range(number)))
    call(connection, "queue_heartbeat", worker, json.dumps({"kinds": ["mail"]} | options))
    assert len(call(connection, "queue_reserve", "mail", worker, number, None)) == number


def test_many_who_reap_at_once_free_once(connection: Connection[Any], url: str) -> None:
    for worker in ("a", "b", "c"):
        hold(connection, worker, HELD)
    run(connection, LONG_AGO)

    def reap(_: int) -> list[tuple[str, int]]:
        with open_connection(url) as session:
            return [row for _ in range(3) for row in call(session, "queue_reap")]

    with ThreadPoolExecutor(4) as pool:
        found = [row for rows in pool.map(reap, range(4)) for row in rows]
    assert sorted(found) == [("a", HELD), ("b", HELD), ("c", HELD)]
    assert run(connection, "select distinct json_length(q.errors), q.attempts from delayed_queue q") == [
        (1, 1)
    ]
    assert run(connection, "select s.ready, s.expired_total from queue_stats s where s.p_kind = 'mail'") == [
        (3 * HELD, 3 * HELD)
    ]


def test_a_call_frees_a_thousand_and_the_next_the_rest(connection: Connection[Any]) -> None:
    hold(connection, "w", 1100)
    run(connection, LONG_AGO)
    assert [call(connection, "queue_reap") for _ in range(3)] == [[("w", 1000)], [("w", 100)], []]


def test_what_somebody_is_just_finishing_is_left_for_the_next_time(
    connection: Connection[Any], url: str
) -> None:
    push_keys(connection, "a", "b")
    call(connection, "queue_heartbeat", "w", None)
    first, second = call(connection, "queue_reserve", "mail", "w", 2, None)
    run(connection, LONG_AGO)
    with open_connection(url) as worker:
        run(worker, "start transaction")
        assert call(worker, "queue_ack", first[RECEIPT], None)[0][1] == "acked"
        assert call(connection, "queue_reap") == [("w", 1)]
        run(worker, "rollback")
    assert call(connection, "queue_reap") == [("w", 1)]
    assert call(connection, "queue_reap") == []
    assert [call(connection, "queue_ack", one[RECEIPT], None)[0][1] for one in (first, second)] == [
        "lost"
    ] * 2


def test_a_worker_is_dead_when_its_connection_is_gone(connection: Connection[Any], url: str) -> None:
    with open_connection(url) as worker:
        hold(worker, "w", 3, session=True)
        run(connection, LONG_AGO)
        assert call(connection, "queue_reap") == [], "silent, but there"
        run(connection, f"kill {worker.thread_id()}")
        alive = "select w.alive from queue_workers w"
        until(lambda: run(connection, alive) == [(0,)])
    assert call(connection, "queue_reap") == [("w", 3)]


def test_who_beats_at_another_node_is_left_alone(connection: Connection[Any]) -> None:
    """In a Galera cluster to write its row would be in the way of its next heartbeat there."""
    hold(connection, "w", 1, timeout_seconds=60)
    run(connection, "update queue_worker w set w.server_run = w.server_run + 1")
    before = run(connection, "select * from queue_worker")
    assert call(connection, "queue_reap") == []
    assert run(connection, "select * from queue_worker") == before


def test_who_was_there_before_the_server_was_away_has_its_timeout_to_come_back(
    connection: Connection[Any],
) -> None:
    hold(connection, "w", 1, timeout_seconds=60)
    run(connection, LONG_AGO)
    run(connection, "update queue_worker w set w.server_run = w.server_run + 1")
    for _ in range(2):
        assert call(connection, "queue_reap") == []
    run(connection, LONG_AGO)
    assert call(connection, "queue_reap") == [("w", 1)]


def test_a_session_has_one_lock_for_the_workers_that_live_by_it(
    connection: Connection[Any], url: str
) -> None:
    with open_connection(url) as worker:
        for name in ("v", "w"):
            for options in ('{"session": true}', '{"stop": true}', '{"session": true}', None):
                call(worker, "queue_heartbeat", name, options)
            call(worker, "queue_heartbeat", name, '{"session": true}')
        [(lock, number)] = run(connection, "select distinct w.session_lock, w.session_id from queue_worker w")
        used = f"select is_used_lock('{lock}')"
        assert run(connection, used) == [(number,)] == [(worker.thread_id(),)]
        call(worker, "queue_heartbeat", "w", '{"stop": true}')
        assert run(connection, used) == [(number,)], "the other one lives"


def test_another_session_of_that_name_takes_over(connection: Connection[Any], url: str) -> None:
    with open_connection(url) as before, open_connection(url) as now:
        for session in (before, now):
            call(session, "queue_heartbeat", "w", '{"session": true}')
        run(connection, f"kill {before.thread_id()}")
        assert run(connection, "select w.alive from queue_workers w") == [(1,)]
        assert call(connection, "queue_reap") == []


def test_a_reserve_reaps_by_the_way(connection: Connection[Any]) -> None:
    hold(connection, "w", 3)
    run(connection, LONG_AGO)

    def reserve() -> list[Any]:
        """Reserve until something comes; one call in twenty reaps: of 500, none does once in 10^11."""
        return next(
            filter(None, (call(connection, "queue_reserve", "mail", "other", 1, None) for _ in range(500))),
            [],
        )

    assert reserve() == [], "a new session waits for the worker's timeout first"
    run(connection, "set @pyqueue_reap = 0")
    assert [row[1] for row in reserve()] == ["w000"]


@pytest.mark.parametrize("most", [1, 10])
def test_a_session_that_keeps_a_cursor_sees_what_was_freed(queue: Session, clock: Clock, most: int) -> None:
    queue.push("mail", "a", 1, scheduled_at=clock.now - 60 * SECOND)
    queue.heartbeat("w", timeout_seconds=5, kinds=["mail"])
    queue.reserve("mail", "w")
    queue.push("mail", "b", 1)
    keep_cursor(queue, (0, clock.now))
    assert keys(queue.reserve("mail", "other")) == ["b"]
    clock.advance(6)
    assert [one.freed for one in queue.reap()] == [1]
    keep_cursor(queue, (0, clock.now - SECOND))
    assert keys(queue.reserve("mail", "other", most)) == ["a"]
