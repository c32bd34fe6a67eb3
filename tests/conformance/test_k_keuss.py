"""Keuss, the product, rows K1 to K5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyqueue_sql import to_datetime
from tests.conformance.steps import SECOND, drain, keys, outcomes, receipts, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

COUNTED = [
    *("ready", "scheduled", "reserved", "expired", "waiting", "total", "pushed_total", "reserved_total"),
    *(
        "popped_total",
        "acked_total",
        "nacked_total",
        "moved_total",
        "dead_total",
        "expired_total",
        "lost_total",
    ),
]
"""What is a number in the stats of a kind."""


def test_K1_remove_by_key_but_not_what_somebody_holds(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    queue.push("mail", "later", 1, delay_seconds=60)
    other = connect()
    _, receipt = take(other, "mail")
    assert [queue.remove("mail", key) for key in ("a", "later", "never")] == ["held", "removed", "absent"]
    assert keys(queue.peek("mail")) == ["a"]
    assert other.ack(receipt).outcome == "acked"
    assert queue.remove("mail", "a") == "absent"


def test_K2_headers_stand_beside_the_payload(queue: Session) -> None:
    headers = {"trace": "1-2", "retries": 3, "ratio": 0.5, "urgent": True, "reply-to": None, "é": "ü"}
    queue.push("mail", "a", {"to": "x"}, headers=headers)
    queue.push("mail", "none", {"to": "y"})
    queue.push_bytes("mail", "bytes", b"\x00", headers={"type": "image/png"})
    found = {message.key: message.headers for message in queue.reserve("mail", None, 10)}
    assert found == {"a": headers, "none": None, "bytes": {"type": "image/png"}}


def test_K3_sizes_and_the_time_of_the_next(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": f"r{number}", "payload": 0} for number in range(5)])
    queue.push_many("mail", [{"key": f"s{n}", "payload": 0, "delay_seconds": 100 + n} for n in range(3)])
    queue.push("post", "other", 0)
    queue.reserve("mail", None, 1, timeout_seconds=5)
    clock.advance(10)
    queue.pause("post")
    queue.push("mail", "young", 0)
    _ = [queue.reserve("post"), queue.get("mail", "r1"), queue.remove("mail", "r1")]
    (mail,) = queue.stats("mail")
    assert (mail.kind, mail.paused) == ("mail", False)
    assert (mail.ready, mail.scheduled, mail.reserved, mail.expired, mail.waiting) == (4, 3, 0, 1, 0)
    assert mail.total == 8
    assert mail.next_at == to_datetime(clock.now + 90 * SECOND)
    assert mail.oldest_ready_seconds == 10
    assert {stats.kind: (stats.paused, stats.total) for stats in queue.stats()} == {
        "mail": (False, 8),
        "post": (True, 1),
    }


def test_K3_what_is_held_counts_as_reserved(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": f"r{number}", "payload": 0} for number in range(5)])
    queue.reserve("mail", None, 2, timeout_seconds=60)
    (mail,) = queue.stats("mail")
    assert (mail.ready, mail.scheduled, mail.reserved, mail.expired, mail.total) == (3, 0, 2, 0, 5)
    clock.advance(60)
    (mail,) = queue.stats("mail")
    assert (mail.ready, mail.scheduled, mail.reserved, mail.expired, mail.total) == (3, 0, 0, 2, 5)


def test_K3_a_kind_that_has_nothing_counts_nothing(queue: Session) -> None:
    queue.define("settings")
    queue.push("past", "a", 0)
    queue.remove("past", "a")
    queue.push("fresh", "a", 0)
    found = {stats.kind: {name: getattr(stats, name) for name in COUNTED} for stats in queue.stats()}
    nothing = dict.fromkeys(COUNTED, 0)
    assert found == {
        "settings": nothing,
        "past": nothing | {"pushed_total": 1},
        "fresh": nothing | {"pushed_total": 1, "ready": 1, "total": 1},
    }


def test_K4_counters_of_everything_that_happened(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": f"m{number:02}", "payload": 0} for number in range(10)])
    queue.push("mail", "m00", 0)
    queue.pop("mail", 2)
    held = receipts(queue.reserve("mail", None, 6))
    queue.ack_many(held[:2])
    queue.ack(held[0])
    queue.nack(held[2], delay_seconds=1000)
    queue.nack(held[3], final=True)
    queue.move(held[4], "next")
    clock.advance(1000)
    drain(queue, "mail")
    (mail,) = queue.stats("mail")
    assert (mail.pushed_total, mail.popped_total, mail.acked_total) == (10, 2, 2)
    assert mail.reserved_total == 6 + 4
    assert (mail.nacked_total, mail.moved_total, mail.dead_total, mail.expired_total) == (2, 1, 1, 1)


def test_K4_counters_stay_when_they_are_folded(queue: Session) -> None:
    for number in range(20):
        queue.push("mail", f"m{number}", 0)
        queue.pop("mail")
    queue.prune()
    (mail,) = queue.stats("mail")
    assert (mail.pushed_total, mail.popped_total, mail.total) == (20, 20, 0)


def test_K5_batches_keep_the_guarantees_of_each_message(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    pushed = queue.push_many("mail", [{"key": f"m{number:02}", "payload": number} for number in range(50)])
    assert outcomes(pushed) == ["created"] * 50
    batch = queue.reserve("mail", "w", 40, timeout_seconds=30)
    held = receipts(batch)
    assert keys(batch) == [f"m{number:02}" for number in range(40)]
    assert len(set(held)) == 40
    clock.advance(20)
    extended = queue.extend_many(held[:20], 30)
    assert [(answer.receipt, answer.outcome) for answer in extended] == [(r, "extended") for r in held[:20]]
    clock.advance(10)
    taken = connect().reserve("mail", None, 25)
    assert set(keys(taken)) <= {f"m{number:02}" for number in range(20, 50)}, "not one that was extended"
    stolen = set(keys(taken))
    expected = ["lost" if message.key in stolen else "acked" for message in batch]
    assert outcomes(queue.ack_many(held)) == expected


def test_K5_each_message_of_a_batch_has_its_own_options(queue: Session, clock: Clock) -> None:
    messages = [
        {"key": "plain", "payload": {"n": 1}},
        {"key": "late", "payload": [2], "delay_seconds": 5},
        {"key": "first", "payload": "3", "priority": 9, "headers": {"h": 1}},
        {"key": "plain", "payload": 4},
    ]
    answers = queue.push_many("mail", messages, priority=1)
    assert [(a.key, a.outcome) for a in answers] == [
        ("plain", "created"),
        ("late", "created"),
        ("first", "created"),
        ("plain", "ignored"),
    ]
    found = queue.reserve("mail", None, 10)
    assert [(m.key, m.payload, m.priority, m.headers) for m in found] == [
        ("first", "3", 9, {"h": 1}),
        ("plain", {"n": 1}, 1, None),
    ]
    clock.advance(5)
    assert [(m.key, m.payload, m.priority) for m in queue.reserve("mail")] == [("late", [2], 1)]
