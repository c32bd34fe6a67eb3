"""The short ways of the calls that are made most often: they do what the long ones do.

A session's first reserve of a kind goes the long way, and so does one in a transaction of the caller's. A
batch of a kind that remembers keys is put in one by one.
"""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import QueueError
from tests.conformance.options import EITHER, LONG, NEW_YEAR, SHORT, with_turns
from tests.conformance.steps import SECOND, keys, outcomes, receipts
from tests.rules import each
from tests.sample import sample, whole
from tests.schema.mysql.test_cursor import keep_cursor, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Reserved
    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Clock, Session

pytestmark = pytest.mark.servers("mariadb", "mysql")

MOST = 10_000
"""Messages of a call."""


@dataclass(frozen=True)
class Consumer:
    """A session that reserves in one of the ways there are."""

    session: Session
    in_transaction: bool

    def reserve(self, kind: str = "mail", worker: str | None = None) -> list[Reserved]:
        """Reserve one message, and commit."""
        with self.session.savepoint() if self.in_transaction else contextlib.nullcontext():
            return self.session.reserve(kind, worker)


@pytest.fixture(params=["long", "short", "cursor", "transaction"])
def consumer(request: pytest.FixtureRequest, connect: Connect, clock: Clock) -> Consumer:
    clock.nothing_takes_time()
    session = connect()
    if request.param != "long":
        session.reserve("mail")
    if request.param == "cursor":
        keep_cursor(session, (0, clock.now - 60 * SECOND))
    return Consumer(session, in_transaction=request.param == "transaction")


def test_the_order_is_that_of_priority_and_time(consumer: Consumer, queue: Session, clock: Clock) -> None:
    for key, priority, ago in (("low", -1, 9), ("new", 0, 1), ("old", 0, 2), ("high", 1, 0)):
        queue.push("mail", key, priority=priority, scheduled_at=clock.now - ago * SECOND)
    assert [keys(consumer.reserve()) for _ in range(5)] == [["high"], ["old"], ["new"], ["low"], []]


def test_what_has_come_due_or_landed_is_taken(consumer: Consumer, queue: Session, clock: Clock) -> None:
    queue.push("mail", "due", delay_seconds=5)
    assert keys(consumer.reserve()) == []
    clock.advance(5)
    assert keys(consumer.reserve()) == ["due"]
    queue.land([{"p_kind": "mail", "p_key": "landed", "payload": "1"}])
    assert keys(consumer.reserve()) == ["landed"]


def test_who_plans_a_batch_knows_of_what_has_landed(queue: Session) -> None:
    queue.land([{"p_kind": "other", "p_key": "landed", "payload": "1"}])
    queue.execute("update queue_inbox set taken = false")  # as where there is no trigger
    assert queue.answer("queue_stream_ready", "mail")[0]["ready"] == "1"
    queue.prune()
    assert queue.answer("queue_stream_ready", "mail")[0]["ready"] == "0", "it was of another kind"


def test_a_hold_that_expires_is_counted_and_delivered_again(
    consumer: Consumer, queue: Session, clock: Clock
) -> None:
    queue.define("mail", timeout_seconds=5)
    queue.push("mail", "a")
    first = consumer.reserve(worker="wörker")[0]
    assert (first.reserved_by, first.scheduled_at, first.attempts) == ("wörker", clock.now + 5 * SECOND, 1)
    assert keys(consumer.reserve()) == []
    clock.advance(5)
    second = consumer.reserve(worker="worker")[0]
    assert (second.key, second.reserved_by, second.attempts) == ("a", "worker", 2)
    assert outcomes(map(queue.ack, receipts([first, second]))) == ["lost", "acked"]
    stats = queue.stats("mail")[0]
    assert (stats.pushed_total, stats.reserved_total, stats.expired_total, stats.acked_total) == (1, 2, 1, 1)


def test_the_last_delivery_that_expires_is_a_dead_letter(
    consumer: Consumer, queue: Session, clock: Clock
) -> None:
    queue.define("mail", timeout_seconds=5)
    queue.push("mail", "a", max_attempts=1)
    consumer.reserve()
    clock.advance(5)
    assert keys(consumer.reserve()) == []
    assert keys(consumer.reserve("mail.dead")) == ["a"]


def test_what_was_pushed_onto_an_expired_hold_is_delivered(
    consumer: Consumer, queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push("mail", "a", 1)
    connect().reserve("mail", timeout_seconds=5)
    assert queue.push("mail", "a", 2, on_duplicate="replace").outcome == "held"
    clock.advance(5)
    assert [message.payload for message in consumer.reserve()] == [2]


def test_a_paused_kind_gives_nothing(consumer: Consumer, queue: Session) -> None:
    queue.push("mail", "a")
    queue.pause("mail")
    assert keys(consumer.reserve()) == []


@each("worker", ["", "w" * 201, "\0"])
def test_a_name_that_is_none_is_refused(consumer: Consumer, worker: str) -> None:
    with pytest.raises(QueueError):
        consumer.session.raw("queue_reserve", "mail", worker, "1", None)


def test_counters_are_those_of_all_that_ever_was(consumer: Consumer, queue: Session) -> None:
    for key in ("popped", "acked", "moved", "dead", "removed", "purged"):
        queue.push("mail", key)
    queue.pop("mail")
    queue.ack(receipts(consumer.reserve())[0])
    queue.move(receipts(consumer.reserve())[0], "next")
    queue.nack(receipts(consumer.reserve())[0], final=True)
    queue.remove("mail", "removed")
    queue.purge("mail")
    consumer.reserve("mail.dead")
    stats = queue.stats("mail")[0]
    assert (stats.total, stats.pushed_total, stats.reserved_total) == (0, 6, 3)
    assert (stats.popped_total, stats.acked_total, stats.moved_total, stats.dead_total) == (1, 1, 1, 1)
    dead = queue.stats("mail.dead")[0]
    assert (dead.total, dead.pushed_total, dead.reserved_total) == (1, 0, 1)


def test_a_batch_that_is_reserved_writes_no_count(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abc"])
    [before] = queue.execute("select count(*) from queue_count")
    assert len(queue.reserve("mail", None, 2)) == 2
    assert len(queue.reserve("mail", None, 9)) == 1
    [after] = queue.execute("select count(*) from queue_count")
    assert after <= before, "by chance they are folded"


@dataclass
class Batch:
    """What is held of a kind and perhaps others, whose names begin alike."""

    queue: Session
    name: str
    kind: str
    receipts: list[str] = field(default_factory=list[str])

    def hold(self, count: int = 2, kind: str | None = None, **options: Any) -> None:
        """Push messages, and hold them."""
        kind = f"{self.name}.{kind or self.kind}"
        for number in range(count):
            self.queue.push(kind, f"{len(self.receipts) + number}", number, **options)
        self.receipts += receipts(self.queue.reserve(kind, "w", count))

    def pend(self) -> None:
        """Push onto the first message, which is held."""
        pushed = self.queue.push(f"{self.name}.{self.kind}", "0", "new", on_duplicate="replace")
        assert pushed.outcome == "held"

    def ended(self) -> object:
        """Return what is counted and kept of the kinds, without the beginning of their names."""
        counters = "total", "pushed_total", "reserved_total", "acked_total", "moved_total"
        return [
            (one.kind.removeprefix(self.name), *(getattr(one, counter) for counter in counters))
            for one in self.queue.stats()
            if one.kind.startswith(self.name)
        ], [
            (one.kind.removeprefix(self.name), one.key, one.payload)
            for one in self.queue.history()
            if one.kind.startswith(self.name)
        ]


BESIDE: dict[str, Callable[[Batch], object]] = {
    "nothing": lambda _: None,
    "another kind": lambda batch: batch.hold(kind="other"),
    "history": lambda batch: batch.hold(kind="kept"),
    "order key": lambda batch: batch.hold(1, order_key="o"),
    "semaphore": lambda batch: batch.hold(semaphores=["s"]),
    "route": lambda batch: batch.hold(route=[f"{batch.name}.next"]),
    "pending": Batch.pend,
    "twice": lambda batch: batch.receipts.append(batch.receipts[0]),
    "lost": lambda batch: batch.queue.ack(batch.receipts[1]),
    "all lost": lambda batch: batch.queue.ack_many(batch.receipts),
    "another secret": lambda batch: batch.receipts.append(f"{batch.receipts[0][:-32]}{'0' * 32}"),
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("kind", ["plain", "kept"])
@pytest.mark.parametrize("autocommit", [True, False], ids=["autocommit", "transaction"])
def test_a_batch_of_acks_does_what_each_does(
    connect: Connect, queue: Session, beside: str, kind: str, autocommit: bool
) -> None:
    queue.semaphore("s", 9)
    consumer = connect(autocommit=autocommit)
    found = []
    for name in ("batch", "each"):
        queue.define(f"{name}.kept", history_seconds=60)
        batch = Batch(queue, name, kind)
        batch.hold(3)
        BESIDE[beside](batch)
        answers = consumer.ack_many(batch.receipts) if name == "batch" else map(consumer.ack, batch.receipts)
        found.append([outcomes(answers)])
        if not autocommit:
            consumer.commit()
        found[-1].append(batch.ended())
    assert found[0] == found[1]
    assert ("acked" in found[0][0]) == (beside != "all lost")


@pytest.mark.parametrize("none", ["none", "1-2", "9223372036854775808-0123456789abcdef0123456789abcdef"])
def test_what_is_no_receipt_is_named_beside_those_that_are(queue: Session, none: str) -> None:
    batch = Batch(queue, "batch", "plain")
    batch.hold()
    with pytest.raises(QueueError, match=f'receipts "{none[:9]}'):
        queue.ack_many([*batch.receipts, none])
    with pytest.raises(QueueError, match="must be a JSON array"):
        queue.raw("queue_ack_many", json.dumps(batch.receipts[0]), None)
    assert outcomes(queue.ack_many(batch.receipts, result=[1])) == ["acked", "acked"]


@pytest.mark.parametrize("settings", [{}, {"history_seconds": 60}], ids=["plain", "kept"])
def test_a_batch_of_acks_may_be_as_large_as_any(queue: Session, settings: dict[str, Any]) -> None:
    queue.define("mail", **settings)
    queue.push_many("mail", [{"payload": number} for number in range(MOST)])
    held = receipts(queue.reserve("mail", None, MOST))
    assert outcomes(queue.ack_many(held)) == ["acked"] * MOST
    assert queue.stats("mail")[0].total == 0


def test_who_waits_for_an_ack_of_the_same_has_lost(connect: Connect, queue: Session) -> None:
    batch = Batch(queue, "batch", "plain")
    batch.hold()
    first = connect(autocommit=False)
    assert outcomes(first.ack_many(batch.receipts)) == ["acked", "acked"]
    with ThreadPoolExecutor() as pool:
        second = pool.submit(queue.ack_many, batch.receipts)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        first.commit()
        assert outcomes(second.result(timeout=20)) == ["lost", "lost"]
    assert batch.ended() == ([(".plain", 0, 2, 2, 2, 0)], [])


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("routine", "payload"),
    [("queue_push", '{"a": 1}'), ("queue_push", None), ("queue_push_bytes", "bytes")],
)
def test_one_message_is_pushed_alike_in_all_ways(
    connect: Connect, queue: Session, routine: str, payload: str | None
) -> None:
    columns = all_but(queue, "entry", "p_kind", "ready_kind")
    in_transaction = connect(autocommit=False)
    found = []
    for kind, session, options in (
        ("short", queue, None),
        ("long", queue, '{"on_duplicate": "ignore"}'),
        ("transaction", in_transaction, None),
    ):
        answers = [session.answer(routine, kind, "k", payload, options) for _ in range(2)]
        assert [answer[0].pop("p_kind") for answer in answers] == [kind, kind]
        rows = session.execute(f"select {columns} from delayed_queue q where q.p_kind = %s", (kind,))
        found.append((answers, rows))
    assert found[0][0][0][0]["outcome"] == "created"
    assert found[0][0][1][0]["outcome"] == "ignored"
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("autocommit", [True, False], ids=["autocommit", "transaction"])
@pytest.mark.parametrize("options", [{}, {"on_duplicate": "ignore"}], ids=["plain", "options"])
def test_a_batch_is_pushed_alike_in_both_ways(
    connect: Connect, queue: Session, autocommit: bool, options: dict[str, Any]
) -> None:
    queue.push("mail", "taken", 0)
    producer = connect(autocommit=autocommit)
    names = ["z", "taken", "a", "z", "Z", "a "]
    batch = [{"key": key, "payload": place, **options} for place, key in enumerate(names)]
    answers = producer.push_many("mail", batch, priority=3, headers={"h": "1"})
    assert [answer.key for answer in answers] == names
    assert outcomes(answers) == ["created", "ignored", "created", "ignored", "created", "created"]
    found = producer.peek("mail", 9)
    assert keys(found) == ["z", "a", "Z", "a ", "taken"]
    assert [(message.payload, message.priority) for message in found] == [
        (0, 3),
        (2, 3),
        (4, 3),
        (5, 3),
        (0, 0),
    ]
    assert found[0].headers == {"h": "1"}
    assert producer.stats("mail")[0].pushed_total == 5


@pytest.mark.long
@pytest.mark.core("mariadb")
@pytest.mark.parametrize(
    "shared",
    [
        None,
        '{"priority": 7, "delay_seconds": 2.5, "headers": {"z": "y"}}',
        '{"scheduled_at": 1767225600000000, "attempts": 1, "max_attempts": 3}',
        '{"order_key": "shared", "group": "g", "route": ["next"]}',
        '{"semaphores": ["narrow", "wide"]}',
    ],
    ids=["none", "waiting", "ready", "order key", "semaphores"],
)
def test_messages_with_options_are_pushed_alike_in_all_ways(
    connect: Connect, queue: Session, clock: Clock, server_name: str, shared: str | None
) -> None:
    assert clock.now == NEW_YEAR * SECOND
    with_turns(queue)
    in_transaction = connect(autocommit=False)
    columns = all_but(queue, "entry", "p_kind", "ready_kind", "member")
    for number, options in sample(enumerate([*SHORT, *LONG, *EITHER]), f"{shared}", whole=whole(server_name)):
        batch = f"""[{{"key": "z", "payload": 1}}, {{"key": "a", "payload": [2], {options}}},
            {{"key": "a", "payload": 3, "priority": 5}}, {{"key": "taken", "payload": 4, "priority": 6}}]"""
        short = pushed(queue, f"short{number}", batch, shared, columns)
        assert short == pushed(in_transaction, f"transaction{number}", batch, shared, columns), options
        queue.define(f"memory{number}", dedup_seconds=1)
        assert short == pushed(queue, f"memory{number}", batch, shared, columns), options
        long = batch.replace('"payload": 1}', '"payload": 1, "on_duplicate": "ignore"}', 1)
        assert short == pushed(queue, f"long{number}", long, shared, columns), options


def all_but(session: Session, *names: str) -> str:
    """Return the columns of the messages, without some."""
    [(columns,)] = session.execute(
        "select group_concat('q.', c.column_name) from information_schema.columns c"
        " where c.table_schema = database() and c.table_name = 'delayed_queue'"
        f" and c.column_name not in ({', '.join(map(repr, names))})"
    )
    return columns


HANGS_ON_IT = """q.member <=> q.entry,
    (select m.group_name from queue_group_member m where m.entry = q.entry),
    (select o.order_key from queue_order o where o.first = q.entry),
    (select w.order_key from queue_order_waiting w where w.entry = q.entry),
    (select l.name from queue_semaphore_wait l where l.entry = q.entry),
    (select group_concat(h.name order by h.name) from queue_semaphore_permit h where h.entry = q.entry)"""
"""What is noted of a message elsewhere."""


def pushed(
    session: Session, kind: str, batch: str, options: str | None, columns: str
) -> tuple[object, list[Any]]:
    """Push a batch to a kind that has one message, and return the answer or the error, and what is there."""
    session.push(kind, "taken", 0)
    try:
        answer: object = session.answer("queue_push_many", kind, batch, options)
    except QueueError as error:
        answer = type(error), str(error)
    rows = session.execute(
        f"select {columns}, {HANGS_ON_IT} from delayed_queue q where q.p_kind = %s order by q.entry", (kind,)
    )
    if not session.autocommit:
        session.commit()
    return answer, rows


def test_the_short_way_takes_what_is_plainly_right_and_nothing_else(queue: Session, clock: Clock) -> None:
    with_turns(queue)
    for takes, given in (True, SHORT), (False, LONG):
        for number, options in enumerate(given):
            batch = f'[{{"key": "z", "payload": 1}}, {{"key": "{number}", "payload": 2, {options}}}]'
            queue.execute(
                "call _queue_push_plain(%s, %s, %s, %s, 0, null, 0, null, null, null, null, null, @follows,"
                " @entries, @outcomes)",
                (f"{takes}{number}", batch, clock.now, clock.now),
            )
            assert queue.execute("select left(@outcomes, 2)") == [("cc" if takes else None,)], options
            if takes:
                follows = any(f'"{name}"' in options for name in ("group", "order_key", "semaphores"))
                assert queue.execute("select @follows") == [(follows,)], options


@pytest.mark.parametrize("what", ["payload", "headers"])
def test_what_is_large_beside_what_is_sorted_in_goes_in(queue: Session, what: str) -> None:
    queue.execute("set session sort_buffer_size = 32768")
    batch = [{"key": key, "payload": 1} | {what: {"large": key * 40_000}} for key in "bac"]
    assert outcomes(queue.push_many("mail", batch)) == ["created"] * 3
    assert [getattr(message, what) for message in queue.peek("mail", 9)] == [one[what] for one in batch]


def test_a_batch_that_is_delayed_waits(queue: Session, clock: Clock) -> None:
    batch = [{"key": "b", "payload": "text"}, {"key": "a", "payload": [1]}]
    queue.push_many("mail", batch, delay_seconds=5)
    assert keys(queue.reserve("mail")) == []
    clock.advance(5)
    assert [message.payload for message in queue.reserve("mail", None, 9)] == ["text", [1]]


def test_a_bound_that_serves_is_moved(queue: Session, clock: Clock) -> None:
    queue.reserve("mail")
    for second in range(3):
        queue.push("mail", f"k{second}", scheduled_at=clock.now - (10 - second) * SECOND)
    keep_cursor(queue, (0, clock.now - 9 * SECOND))
    assert keys(queue.reserve("mail")) == ["k1"]
    assert place(queue) == clock.now - 9 * SECOND
    assert keys(queue.reserve("mail")) == ["k2"]
    assert place(queue) == clock.now - 8 * SECOND
