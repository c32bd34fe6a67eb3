"""A look at the queue counts what the views count, and reads no table whole."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pymysql
import pytest

from pyqueue_sql import to_microseconds
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.overview import look, open_look
from tests.faults.proxy import proxy
from tests.worker.helpers import until

if TYPE_CHECKING:
    from tests.conformance.harness import Clock, Harness, Session

MANY = 3000
AT_MOST = 40


def test_it_counts_what_the_view_counts(harness: Harness, clock: Clock, queue: Session) -> None:
    queue.semaphore("smtp", 1)
    for number in range(4):
        queue.push("mail", f"s{number}", semaphores=["smtp"])
        queue.push("mail", f"o{number}", order_key="ann")
        queue.push("mail", f"p{number}", delay_seconds=60 * number)
    queue.reserve("mail", max_messages=3)
    queue.define("mail", timeout_seconds=5)
    queue.reserve("mail")
    clock.advance(30)
    queue.push("bills", "a")
    [message] = queue.reserve("bills")
    queue.nack(message.receipt, error="no", final=True)
    queue.pause("paused")
    with open_look(harness.url) as look:
        seen = look.overview()
    for row in queue.stats():
        found = seen.kind(row.kind)
        assert found is not None
        assert (found.ready, found.scheduled, found.reserved, found.expired, found.waiting, found.total) == (
            row.ready, row.scheduled, row.reserved, row.expired, row.waiting, row.total,
        )  # fmt: skip
        next_at = None if row.next_at is None else to_microseconds(row.next_at)
        assert (found.paused, found.next_at, found.is_more) == (row.paused, next_at, False)
        age = None if found.oldest_ready_at is None else (seen.at - found.oldest_ready_at) / 1_000_000
        assert age == row.oldest_ready_seconds
        assert (found.totals.acked, found.totals.nacked, found.totals.dead) == (
            row.acked_total, row.nacked_total, row.dead_total,
        )  # fmt: skip
    assert [one.kind for one in seen.kinds] == ["bills", "bills.dead", "mail", "paused"]
    [line] = seen.lines
    assert (line.name, line.capacity, line.held + line.waiting) == ("smtp", 1, 4)


def test_it_says_of_each_message_what_the_view_says(harness: Harness, clock: Clock, queue: Session) -> None:
    queue.push("mail", "expired")
    queue.reserve("mail", timeout_seconds=10)
    queue.push("mail", "reserved")
    queue.reserve("mail", timeout_seconds=11)
    queue.push("mail", "due", delay_seconds=10)
    queue.push("mail", "scheduled", delay_seconds=11)
    for key in ("first", "in line"):
        queue.push("mail", key, order_key="ann")
    clock.advance(10)
    expected = {one.key: one.state for one in queue.peek("mail", 10)}
    assert set(expected.values()) == {"ready", "scheduled", "reserved", "expired", "waiting"}
    with open_look(harness.url) as look:
        now = look.now()
        for found in (look.messages("mail", 10, now), look.by_key("mail", 10, now)):
            assert {one.key: one.state for one in found} == expected


def test_it_says_whether_there_are_more_kinds(
    harness: Harness, queue: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "KINDS", 3)
    for number, is_more in ((3, False), (4, True)):
        for kind in range(number):
            queue.push(f"k{kind}", "a")
        with open_look(harness.url) as there:
            seen = there.overview(details=False)
        assert ([one.kind for one in seen.kinds], seen.is_more) == (["k0", "k1", "k2"], is_more)


@pytest.mark.servers("mariadb", "mysql")
def test_it_says_who_has_a_transaction_open_whatever_that_is_about(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a")
    with connect(harness.url, autocommit=False) as other, open_look(harness.url) as there:
        with other.cursor() as cursor:
            cursor.execute("select count(*), connection_id() from delayed_queue")
            number = str(next(iter(cursor))[1])

        def states() -> list[str | None]:
            return [one.state for one in there.blockers() if one.name == number and one.user is not None]

        time.sleep(0.2)  # the servers look at transactions anew where nobody has asked for them for 0.1 s
        assert states() == ["Sleep"]
        with ThreadPoolExecutor(1) as pool, other.cursor() as cursor:
            busy = pool.submit(cursor.execute, "do sleep(60), '\N{GRINNING FACE}'")
            try:
                until(lambda: states() == ["Query"])
            finally:
                queue.execute(f"kill query {number}")
            with contextlib.suppress(pymysql.OperationalError):
                busy.result(60)


@pytest.mark.long
@pytest.mark.core("postgresql", "mariadb")
def test_it_reads_no_more_than_it_is_told_to(harness: Harness, queue: Session, server_name: str) -> None:
    queue.push_many("mail", [{"key": str(number)} for number in range(MANY)])
    queue.push_many("later", [{"key": str(number), "delay_seconds": 60} for number in range(MANY)])
    queue.push_many("mail.dead", [{"key": str(number)} for number in range(MANY)])
    with open_look(harness.url, at_most=AT_MOST) as look:
        if server_name == "postgresql":
            look.run("begin")
        seen = look.overview()
        assert look.dead_letters("mail.dead", 0) == (AT_MOST, AT_MOST)
        if server_name == "postgresql":
            read = look.value(
                "select coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0)"
                " from pg_stat_xact_user_tables s where s.relname = 'delayed_queue'"
            )
        else:
            read = sum(
                int(count)
                for name, count in look.rows("show session status like 'Handler_read%'")
                if name in ("Handler_read_next", "Handler_read_rnd_next", "Handler_read_prev")
            )
    mail, later = seen.kind("mail"), seen.kind("later")
    assert mail is not None
    assert later is not None
    assert (mail.ready, mail.is_more) == (AT_MOST, True)
    assert (later.scheduled, later.is_more) == (AT_MOST, True)
    assert 0 < read < MANY


def test_it_can_write_nothing(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a")
    with open_look(harness.url) as look:
        refused = False
        try:
            look.run("delete from delayed_queue")
        except Exception:
            refused = True
    assert refused
    assert len(queue.peek("mail")) == 1


def test_a_server_that_falls_silent_is_not_waited_for(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "PATIENCE_S", 0.5)
    with proxy(harness.url) as way, open_look(way.url) as seen:
        assert seen.value("select 1") == 1
        way.fall_silent()
        with pytest.raises((psycopg.OperationalError, pymysql.OperationalError)):
            seen.value("select 1")
