"""The contract on receipts, extensions, acks, nacks and the loss of a hold."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidReceipt
from tests.conformance.steps import SECOND, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Outcome
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

ENDS: dict[str, Callable[[Session, str], Outcome]] = {
    "ack": lambda queue, receipt: queue.ack(receipt),
    "nack": lambda queue, receipt: queue.nack(receipt),
    "final": lambda queue, receipt: queue.nack(receipt, final=True),
    "move": lambda queue, receipt: queue.move(receipt, "next"),
}
CALLS: dict[str, Callable[[Session, str], Outcome]] = {
    **ENDS,
    "extend": lambda queue, receipt: queue.extend(receipt, 1000),
    "snooze": lambda queue, receipt: queue.nack(receipt, count=False, delay_seconds=5),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))


def test_a_receipt_is_never_the_same_twice_though_the_clock_stands_still(
    queue: Session, clock: Clock
) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(50)])
    start = clock.now
    seen: list[str] = []
    for _ in range(4):
        batch = receipts(queue.reserve("mail", "w", 50))
        seen += batch
        queue.nack_many(batch)
    assert len(set(seen)) == 200
    assert clock.now == start


def test_a_receipt_cant_be_guessed_from_another(queue: Session) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(2)])
    mine, others = receipts(queue.reserve("mail", "w", 2))
    made_up = others[:-16] + mine[-16:]  # half of the secret: numbers before it may differ in length
    assert made_up not in (mine, others)
    assert queue.ack(made_up).outcome == "lost"
    assert outcomes(queue.ack_many([mine, others])) == ["acked", "acked"]


@pytest.mark.parametrize("feature", ["alone", "many"])
def test_the_secret_of_one_message_is_no_receipt_of_another(queue: Session, feature: str) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "ab"])
    (first, secret), (second, other) = (one.split("-") for one in receipts(queue.reserve("mail", "w", 2)))
    for made_up in (f"{first}-{other}", f"{second}-{secret}"):
        found = (
            [*(call(queue, made_up) for call in CALLS.values())]
            if feature == "alone"
            else [
                *queue.extend_many([made_up], 1000),
                *queue.ack_many([made_up]),
                *queue.nack_many([made_up]),
                *queue.nack_many([made_up], final=True),
                *queue.move_many([{"receipt": made_up, "to_kind": "next"}]),
            ]
        )
        assert set(outcomes(found)) == {"lost"}
    assert outcomes(queue.ack_many([f"{first}-{secret}", f"{second}-{other}"])) == ["acked"] * 2


def test_an_answer_names_the_receipt_it_is_for(queue: Session) -> None:
    for call in CALLS.values():
        queue.push("mail", None, 1)
        _, receipt = take(queue, "mail")
        assert call(queue, receipt).receipt == receipt
        queue.purge("mail")
        queue.ack(receipt)


def test_a_receipt_stays_good_through_extensions(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    for _ in range(20):
        clock.advance(9)
        assert queue.extend(receipt, 10).outcome == "extended"
        assert queue.reserve("mail") == []
    assert queue.ack(receipt).outcome == "acked"


@pytest.mark.parametrize("seconds", [0.5, 3, 60, 100_000])
def test_an_extension_counts_from_now(queue: Session, clock: Clock, seconds: float) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=20)
    clock.advance(10)
    queue.extend(receipt, seconds)
    found = queue.get("mail", "a")
    assert found
    assert found.scheduled_at == clock.now + round(seconds * SECOND)
    clock.advance(seconds - 0.001)
    assert queue.reserve("mail") == []
    clock.advance(0.001)
    take(queue, "mail")


@each_call
def test_late_but_before_the_next_delivery_a_receipt_still_counts(
    queue: Session, clock: Clock, call: Callable[[Session, str], Outcome]
) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    clock.advance(10_000)
    assert state(queue, "mail", "a") == "expired"
    assert call(queue, receipt).outcome != "lost"


@each_call
def test_once_another_has_the_message_a_receipt_is_lost_and_changes_nothing(
    queue: Session, connect: Connect, clock: Clock, call: Callable[[Session, str], Outcome]
) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    clock.advance(10)
    _, newer = take(connect(), "mail", timeout_seconds=60)
    before = queue.get("mail", "a")
    assert call(queue, receipt).outcome == "lost"
    assert queue.get("mail", "a") == before
    assert queue.ack(newer).outcome == "acked"


@pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))
def test_a_delivery_that_has_ended_is_lost(queue: Session, end: Callable[[Session, str], Outcome]) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    assert end(queue, receipt).outcome != "lost"
    places = ("mail", "mail.dead", "next")
    before = [queue.get(kind, "a") for kind in places]
    for call in CALLS.values():
        assert call(queue, receipt).outcome == "lost"
        assert [queue.get(kind, "a") for kind in places] == before


@pytest.mark.parametrize("end", ["ack", "move", "final"])
def test_a_receipt_is_lost_though_the_same_key_was_pushed_and_reserved_again(
    queue: Session, end: str
) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    ENDS[end](queue, receipt)
    queue.push("mail", "a", 2)
    assert [call(queue, receipt).outcome for call in CALLS.values()] == ["lost"] * len(CALLS)
    message, newer = take(queue, "mail")
    assert [call(queue, receipt).outcome for call in CALLS.values()] == ["lost"] * len(CALLS)
    assert message.payload == 2
    assert queue.ack(newer).outcome == "acked"


def test_a_receipt_is_lost_though_the_clock_was_set_back(queue: Session, clock: Clock) -> None:
    start = clock.now
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    queue.ack(receipt)
    clock.set(start)
    queue.push("mail", "a", 1)
    _, same_instant = take(queue, "mail", timeout_seconds=10)
    assert same_instant != receipt
    assert queue.ack(receipt).outcome == "lost"
    assert queue.ack(same_instant).outcome == "acked"


def test_a_clock_set_back_gives_nothing_away_that_is_held(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    clock.advance(-3600)
    assert connect().reserve("mail") == []
    assert queue.ack(receipt).outcome == "acked"


def test_a_removed_message_has_lost_its_receipt(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail", timeout_seconds=10)
    clock.advance(10)
    assert queue.remove("mail", "a") == "removed"
    assert queue.ack(receipt).outcome == "lost"


def test_many_answer_one_by_one_and_in_order(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abcd"])
    a, b, c, d = receipts(queue.reserve("mail", None, 4))
    queue.ack(b)
    many: list[tuple[list[Outcome], list[str]]] = [
        (queue.extend_many([d, b, a], 60), ["extended", "lost", "extended"]),
        (queue.ack_many([c, b, c]), ["acked", "lost", "lost"]),
        (queue.nack_many([d, c, d]), ["retry", "lost", "lost"]),
        (queue.move_many([{"receipt": r, "to_kind": "next"} for r in (b, a, a)]), ["lost", "moved", "lost"]),
    ]
    assert [outcomes(answers) for answers, _ in many] == [expected for _, expected in many]
    assert [answer.receipt for answer in many[0][0]] == [d, b, a]
    assert [answer.receipt for answer in many[1][0]] == [c, b, c]


def test_one_that_is_none_among_many_is_named_and_nothing_is_done(queue: Session) -> None:
    queue.push_many("other", [{"payload": n} for n in range(20)])  # an entry of several digits
    queue.push("mail", "a", 1)
    _, good = take(queue, "mail")
    _, _, secret = good.partition("-")
    for bad in (good[:-1], f"{good}0", f"{'9' * 19}-{secret}", f"1{secret}", good.replace("-", "--")):
        for call in (queue.ack_many, queue.nack_many, lambda some: queue.extend_many(some, 1)):
            with pytest.raises(InvalidReceipt, match=f'"{bad[:40]}'):
                call([good, bad])
    assert state(queue, "mail", "a") == "reserved"
    assert queue.ack(good).outcome == "acked"


@pytest.mark.servers("postgresql")
def test_more_than_ten_thousand_are_refused_though_all_are_held(queue: Session) -> None:
    for some in (range(10_000), range(10_000, 10_001)):
        queue.push_many("mail", [{"key": f"{n}"} for n in some])
    held = receipts([*queue.reserve("mail", None, 10_000), *queue.reserve("mail")])
    with pytest.raises(InvalidReceipt, match="at most 10000"):
        queue.ack_many(held)
    assert outcomes(queue.ack_many(held[1:])) == ["acked"] * 10_000


def test_none_at_all_is_no_error(queue: Session) -> None:
    assert queue.ack_many([]) + queue.nack_many([]) + queue.extend_many([], 1) + queue.move_many([]) == []
    assert queue.ack_many([], to="next", result=1) == []


def test_an_ack_in_a_transaction_that_is_rolled_back_wasnt(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    worker = connect(autocommit=False)
    assert worker.ack(receipt).outcome == "acked"
    worker.rollback()
    assert state(queue, "mail", "a") == "reserved"
    assert queue.ack(receipt).outcome == "acked"


def test_who_holds_a_message_is_known(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "ab"])
    named, unnamed = queue.reserve("mail", "worker 7")[0], queue.reserve("mail")[0]
    assert named.reserved_by == "worker 7"
    assert unnamed.reserved_by, "login and connection"
    assert named.attempts == unnamed.attempts == 1


def test_who_gives_no_name_is_known_by_its_connection(queue: Session, connect: Connect) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(8)])
    names = [
        [one.reserved_by for most in (1, 1, 2) for one in session.reserve("mail", None, most)]
        for session in (queue, connect())
    ]
    assert [len(set(of_one)) for of_one in names] == [1, 1]
    assert names[0] != names[1]


@pytest.mark.parametrize("seconds", [7, 31_536_000])
def test_a_nack_brings_back_at_once_or_after_its_delay(queue: Session, clock: Clock, seconds: int) -> None:
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "retry"
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt, delay_seconds=seconds).outcome == "retry"
    found = queue.get("mail", "a")
    assert found
    assert (found.state, found.scheduled_at) == ("scheduled", clock.now + seconds * SECOND)


def test_the_backoff_of_a_kind_grows_with_each_attempt_up_to_its_end(queue: Session, clock: Clock) -> None:
    queue.define("mail", backoff_seconds=10, backoff_factor=3, backoff_max_seconds=100, jitter=0)
    queue.push("mail", "a", 1)
    delays: list[float] = []
    for _ in range(5):
        message, receipt = take(queue, "mail")
        queue.nack(receipt, error="busy")
        found = queue.get("mail", "a")
        assert found
        assert found.attempts == message.attempts
        delays.append((found.scheduled_at - clock.now) / SECOND)
        clock.set(found.scheduled_at)
    assert delays == [10, 30, 90, 100, 100]
    _, receipt = take(queue, "mail")
    queue.nack(receipt, delay_seconds=1, error="busy")
    found = queue.get("mail", "a")
    assert found
    assert found.scheduled_at == clock.now + SECOND, "a delay that is given counts"
    clock.advance(1)
    _, receipt = take(queue, "mail")
    queue.nack(receipt)
    assert state(queue, "mail", "a") == "ready", "what didn't fail doesn't wait"
    _, receipt = take(queue, "mail")
    queue.nack(receipt, error="busy", count=False)
    assert state(queue, "mail", "a") == "ready", "what doesn't count doesn't wait"


@pytest.mark.parametrize("is_defined", [False, True], ids=["undefined", "defined"])
def test_what_failed_waits_a_second_and_then_longer_and_nothing_else_does(
    queue: Session, clock: Clock, is_defined: bool
) -> None:
    if is_defined:
        queue.define("mail", history_seconds=60)
    queue.push("mail", "a", 1)
    for longest in (1, 2, 4, 8):
        _, receipt = take(queue, "mail")
        assert queue.nack(receipt, error="busy").outcome == "retry"
        found = queue.get("mail", "a")
        assert found
        assert 0.8 * longest <= (found.scheduled_at - clock.now) / SECOND <= longest
        clock.set(found.scheduled_at)
    _, receipt = take(queue, "mail")
    queue.nack(receipt)
    assert state(queue, "mail", "a") == "ready"


def test_jitter_leaves_a_share_of_the_backoff_to_chance(queue: Session, clock: Clock) -> None:
    queue.define("mail", backoff_seconds=100, jitter=0.5)
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(40)])
    queue.nack_many(receipts(queue.reserve("mail", None, 40)), error="busy")
    delays = {(message.scheduled_at - clock.now) / SECOND for message in queue.peek("mail", 40)}
    assert len(delays) > 30
    assert min(delays) >= 50
    assert max(delays) <= 100


def test_an_attempt_that_doesnt_count_uses_up_none(queue: Session) -> None:
    queue.define("mail", max_attempts=1)
    queue.push("mail", "a", 1)
    for _ in range(5):
        message, receipt = take(queue, "mail")
        assert message.attempts == 1
        assert queue.nack(receipt, count=False).outcome == "retry"
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "dead"


def test_a_batch_is_nacked_with_the_same_options(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": key, "payload": key} for key in "abc"])
    answers = queue.nack_many(receipts(queue.reserve("mail", None, 3)), delay_seconds=9, payload="new")
    assert outcomes(answers) == ["retry"] * 3
    clock.advance(9)
    back: dict[str, Any] = {message.key: message.payload for message in queue.reserve("mail", None, 9)}
    assert back == {"a": "new", "b": "new", "c": "new"}


def test_a_nacked_message_stands_behind_what_was_due_before_the_nack(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1)
    clock.advance(1)
    queue.push("mail", "b", 1)
    clock.advance(1)
    (first,) = queue.reserve("mail")
    queue.nack(receipts([first])[0])
    assert keys(queue.reserve("mail", None, 2)) == ["b", "a"], "it is due now, b was due before"


@pytest.mark.parametrize("seconds", [0.5, 2, Decimal("0.25"), 1e-05, "0.5"])
def test_seconds_are_bound_as_whatever_number_a_client_has(
    queue: Session, clock: Clock, seconds: float | Decimal | str
) -> None:
    queue.push("mail", "a", 1)
    message = queue.reserve("mail")[0]
    until = clock.now + round(float(seconds) * SECOND)
    for routine, receipt in (
        ("queue_extend", message.receipt),
        ("queue_extend_many", json.dumps([message.receipt])),
    ):
        assert [tuple(row)[1] for row in queue.call(routine, receipt, seconds)] == ["extended"]
        found = queue.get("mail", "a")
        assert found
        assert found.scheduled_at == until
    assert list(queue.call("queue_wait", '"nothing"', 1e-05 if seconds == 2 else seconds)) == []
    queue.raw("queue_stream_reserve", "s", "1", "0", "mail", "1", None)
    assert [tuple(row) for row in queue.call("queue_stream_extend", "s/1", seconds, None)] == [(0, 0)]


FEATURES: dict[str, dict[str, Any]] = {
    "plain": {},
    "semaphores": {"semaphores": ["smtp"]},
    "order_key": {"order_key": "o"},
    "group": {"group": "g"},
    "route": {"route": ["next"]},
}


@pytest.mark.parametrize("feature", FEATURES)
def test_a_receipt_of_an_earlier_delivery_does_nothing_whatever_the_message_has(
    queue: Session, clock: Clock, feature: str
) -> None:
    queue.semaphore("smtp", 1)
    queue.group("g", "all done")
    queue.define("mail", timeout_seconds=5)
    queue.push("mail", "a", 1, **FEATURES[feature])
    _, old = take(queue, "mail")
    clock.advance(5)
    message, _ = take(queue, "mail")
    found = [queue.extend(old, 1000), queue.ack(old), queue.nack(old), queue.nack(old, final=True)]
    found += [queue.move(old, "other"), *queue.extend_many([old], 1000), *queue.ack_many([old])]
    found += [*queue.nack_many([old]), *queue.move_many([{"receipt": old, "to_kind": "other"}])]
    assert set(outcomes(found)) == {"lost"}
    held = queue.get("mail", "a")
    assert held is not None
    assert (held.state, held.scheduled_at, held.attempts) == ("reserved", message.scheduled_at, 2)
    clock.advance(5)
    assert take(queue, "mail")[0].attempts == 3


def test_a_receipt_that_lacks_a_digit_is_none(queue: Session) -> None:
    queue.push("mail", "a", 1)
    [receipt] = receipts(queue.reserve("mail"))
    entry, _ = receipt.split("-")
    given = json.dumps([f"{entry}0-{'a' * 31}"])
    for call in ("queue_ack_many", "queue_nack_many"):
        with pytest.raises(InvalidReceipt, match="receipts"):
            queue.answer(call, given, None)
