"""The contract on dead letters: when a message dies, where it goes, and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import InvalidParameter, Redriven, Refused
from tests.conformance.steps import die, drain, keys, outcomes, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_max_attempts_counts_deliveries_however_they_end(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=3, timeout_seconds=10)
    queue.push("mail", "a", 1)
    take(queue, "mail")
    clock.advance(10)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "retry"
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "dead"


def test_without_max_attempts_a_message_is_tried_for_ever(queue: Session) -> None:
    queue.define("mail", max_attempts=None)
    queue.push("mail", "a", 1)
    for attempt in range(1, 51):
        message, receipt = take(queue, "mail")
        assert message.attempts == attempt
        assert queue.nack(receipt).outcome == "retry"


@pytest.mark.parametrize("is_defined", [False, True], ids=["undefined", "defined"])
@pytest.mark.parametrize("end", ["nack", "expiry", "pop"])
def test_a_message_that_nobody_can_process_is_dead_after_25_deliveries(
    queue: Session, clock: Clock, is_defined: bool, end: str
) -> None:
    if is_defined:
        queue.define("mail", history_seconds=60)
    queue.push("mail", "a", 1, attempts=23)
    for attempt in (24, 25):
        message, receipt = take(queue, "mail")
        assert message.attempts == attempt
        if end == "nack":
            queue.nack(receipt)
        else:
            clock.advance(301)
    assert (queue.pop("mail") if end == "pop" else queue.reserve("mail")) == []
    assert queue.get("mail.dead", "a") is not None


def test_what_stands_behind_one_that_dies_is_delivered_whatever_its_payload(
    queue: Session, clock: Clock
) -> None:
    queue.push("mail", "last", 1, max_attempts=1)
    queue.reserve("mail", timeout_seconds=5)
    queue.push("mail", "text", "x")
    queue.push_bytes("mail", "bytes", b"x")
    clock.advance(5)
    assert keys(queue.reserve("mail", None, 3)) == ["text", "bytes"]
    assert keys(queue.peek("mail.dead", 3)) == ["last"]


def test_max_attempts_of_the_message_counts_over_that_of_its_kind(queue: Session) -> None:
    queue.define("mail", max_attempts=2)
    queue.push("mail", "once", 1, max_attempts=1)
    queue.push("mail", "thrice", 1, max_attempts=3)
    queue.push("mail", "twice", 1)
    answers: dict[str, list[str]] = {"once": [], "twice": [], "thrice": []}
    for _ in range(3):
        for message in queue.reserve("mail", None, 9):
            answers[message.key] += outcomes(queue.nack_many(receipts([message])))
    assert answers == {"once": ["dead"], "twice": ["retry", "dead"], "thrice": ["retry", "retry", "dead"]}


def test_the_expiry_of_the_last_attempt_kills_at_the_next_reserve(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=1, timeout_seconds=10)
    queue.push("mail", "a", {"n": 1})
    queue.push("mail", "b", {"n": 2}, delay_seconds=10)
    take(queue, "mail")
    clock.advance(10)
    assert state(queue, "mail", "a") == "expired"
    assert queue.peek("mail.dead") == []
    assert keys(queue.reserve("mail", None, 5)) == ["b"], "a dead one takes nobody's place"
    assert queue.get("mail", "a") is None
    assert [(letter.key, letter.payload) for letter in queue.peek("mail.dead")] == [("a", {"n": 1})]
    stats = queue.stats("mail")[0]
    assert (stats.dead_total, stats.expired_total, stats.reserved_total) == (1, 1, 2)


def test_after_the_last_attempt_a_late_ack_counts_until_then(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=1, timeout_seconds=10)
    queue.push_many("mail", [{"key": key, "payload": 1} for key in "ab"])
    in_time, too_late = receipts(queue.reserve("mail", None, 2))
    clock.advance(10)
    assert queue.ack(in_time).outcome == "acked"
    assert queue.reserve("mail") == []
    assert queue.ack(too_late).outcome == "lost"
    assert keys(queue.peek("mail.dead")) == ["b"]


def test_pop_gives_nobody_a_message_that_has_had_its_last_attempt(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=1, timeout_seconds=10)
    queue.push("mail", "a", 1)
    take(queue, "mail")
    clock.advance(10)
    assert queue.pop("mail") == []
    assert keys(queue.peek("mail.dead")) == ["a"]


def test_many_that_expired_die_a_bounded_number_a_call_and_hide_nothing(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=1, timeout_seconds=10)
    queue.push_many("mail", [{"key": f"d{number:03}", "payload": 0} for number in range(300)])
    queue.reserve("mail", None, 300)
    queue.push("mail", "alive", 1)
    clock.advance(10)
    for _ in range(400):
        if keys(queue.reserve("mail")) == ["alive"]:
            break
    else:
        pytest.fail("400 calls found only what was dead")
    drain(queue, "mail", 100)
    assert queue.stats("mail.dead")[0].total == 300


def test_final_kills_at_once(queue: Session) -> None:
    queue.define("mail", max_attempts=100)
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt, final=True).outcome == "dead"
    assert queue.get("mail", "a") is None


def test_the_dead_go_where_the_kind_says(queue: Session) -> None:
    queue.define("mail", dead_letter_kind="morgue")
    queue.define("post", dead_letter_kind="morgue")
    die(queue, "mail", "a", 1)
    die(queue, "post", "b", 2)
    assert keys(queue.peek("morgue")) == ["a", "b"]
    assert queue.peek("mail.dead") == []
    assert queue.redrive("morgue") == Redriven(2, 0)
    assert (keys(queue.peek("mail")), keys(queue.peek("post"))) == (["a"], ["b"])


def test_cycles_of_dead_letter_kinds_are_refused(queue: Session) -> None:
    with pytest.raises(InvalidParameter, match="dead_letter_kind"):
        queue.define("a", dead_letter_kind="")
    with pytest.raises(Refused, match="dead_letter_kind"):
        queue.define("a", dead_letter_kind="a")
    queue.define("a", dead_letter_kind="b")
    queue.define("b", dead_letter_kind="c")
    with pytest.raises(Refused, match='dead_letter_kind "a"'):
        queue.define("c", dead_letter_kind="a")
    assert queue.define("c", dead_letter_kind="d").dead_letter_kind == "d"


def test_two_dead_letters_never_overwrite_each_other(queue: Session) -> None:
    for number in range(5):
        die(queue, "mail", "a", number)
    letters = queue.peek("mail.dead")
    assert sorted(letter.payload for letter in letters) == [0, 1, 2, 3, 4]
    assert len(set(keys(letters))) == 5
    assert [letter.key for letter in letters if letter.payload == 0] == ["a"], "it keeps its key where it can"


def test_a_suffix_fits_behind_the_longest_key_and_kind(queue: Session) -> None:
    kind, key = "k" * 95, "ü" * 200
    for number in range(3):
        die(queue, kind, key, number)
    assert sorted(letter.payload for letter in queue.peek(f"{kind}.dead")) == [0, 1, 2]
    assert queue.redrive(f"{kind}.dead") == Redriven(1, 2)
    message, _ = take(queue, kind)
    assert message.key == key


def test_a_dead_letter_that_dies_again_is_not_lost(queue: Session) -> None:
    kind = "k" * 95
    die(queue, kind, "a", 1)
    _, receipt = take(queue, f"{kind}.dead")
    queue.nack(receipt, final=True)
    everywhere = [stats for stats in queue.stats() if stats.total]
    assert [stats.total for stats in everywhere] == [1]


def test_redrive_restores_kind_key_and_priority(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=2)
    die(queue, "mail", "a", "first", priority=7)
    die(queue, "mail", "a", "second", priority=-2)
    assert queue.redrive("mail.dead", 1) == Redriven(1, 0)
    message, receipt = take(queue, "mail")
    assert (message.key, message.payload, message.priority, message.attempts) == ("a", "first", 7, 1)
    queue.ack(receipt)
    clock.advance(1)
    assert queue.redrive("mail.dead", 1) == Redriven(1, 0)
    message, _ = take(queue, "mail")
    assert (message.key, message.payload, message.priority, message.attempts) == ("a", "second", -2, 1)


def test_a_dead_letter_whose_key_is_taken_stays(queue: Session) -> None:
    die(queue, "mail", "a", "dead")
    die(queue, "mail", "b", "dead")
    queue.push("mail", "a", "alive")
    assert queue.redrive("mail.dead") == Redriven(1, 1)
    assert {(m.key, m.payload) for m in queue.peek("mail")} == {("a", "alive"), ("b", "dead")}
    assert [(m.key, m.payload) for m in queue.peek("mail.dead")] == [("a", "dead")]
    queue.remove("mail", "a")
    assert queue.redrive("mail.dead") == Redriven(1, 0)


def test_of_dead_letters_from_one_key_redrive_sends_the_first_by_their_own_keys(queue: Session) -> None:
    for number in range(5):
        die(queue, "mail", "a", number, priority=number)
    letters = sorted((message.key, message.payload) for message in queue.peek("mail.dead", 10))
    while letters:
        assert queue.redrive("mail.dead") == Redriven(1, len(letters) - 1)
        message, receipt = take(queue, "mail")
        assert message.payload == letters.pop(0)[1]
        assert queue.ack(receipt).outcome == "acked"


def test_redrive_leaves_alone_what_somebody_holds(queue: Session) -> None:
    die(queue, "mail", "a", 1)
    _, receipt = take(queue, "mail.dead")
    assert queue.redrive("mail.dead").went == 0
    assert queue.ack(receipt).outcome == "acked"
    assert queue.get("mail", "a") is None


def test_redrive_takes_what_has_expired_but_not_what_was_pushed_onto_it(queue: Session, clock: Clock) -> None:
    for key in "ab":
        die(queue, "mail", key, 1)
    assert keys(queue.reserve("mail.dead", None, 2, timeout_seconds=1)) == ["a", "b"]
    assert queue.push("mail.dead", "b", "new", on_duplicate="replace").outcome == "held"
    clock.advance(2)
    assert queue.redrive("mail.dead") == Redriven(1, 0)
    assert state(queue, "mail", "a") == "ready"
    [left] = queue.reserve("mail.dead")
    assert (left.key, left.payload) == ("b", "new")


def test_redrive_leaves_alone_what_came_from_nowhere(queue: Session) -> None:
    queue.push("mail.dead", "pushed", 1)
    assert queue.redrive("mail.dead").went == 0
    assert keys(queue.peek("mail.dead")) == ["pushed"]


def test_redrive_does_so_many_and_no_more(queue: Session) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(10)])
    queue.nack_many(receipts(queue.reserve("mail", None, 10)), final=True)
    assert queue.redrive("mail.dead", 4) == Redriven(4, 0)
    assert len(queue.peek("mail", 20)) == 4
    assert queue.redrive("mail.dead") == Redriven(6, 0)


def test_redrive_in_portions_goes_past_what_cannot_go(queue: Session) -> None:
    queue.define("gone", dead_letter_kind="mail.dead")
    die(queue, "gone", "b2", "dead")
    queue.push_many("mail", [{"key": key, "payload": "dead"} for key in "abcde"])
    queue.nack_many(receipts(queue.reserve("mail", None, 5)), final=True)
    queue.push_many("mail", [{"key": key, "payload": "alive"} for key in "ac"])
    queue.drain("gone")
    assert queue.redrive("mail.dead", 1) == Redriven(1, 1)
    assert queue.redrive("mail.dead", 1) == Redriven(1, 3)
    assert queue.redrive("mail.dead", 9) == Redriven(1, 3)
    assert sorted(keys(queue.peek("mail", 9))) == ["a", "b", "c", "d", "e"]
    assert sorted(keys(queue.peek("mail.dead", 9))) == ["a", "b2", "c"]


def test_redrive_in_portions_goes_past_others_that_came_from_one_key(queue: Session) -> None:
    for payload in range(5):
        die(queue, "mail", "a", payload)
    for key in "bcd":
        die(queue, "mail", key)
    assert queue.redrive("mail.dead", 3) == Redriven(3, 4)
    assert sorted((message.key, message.payload) for message in queue.peek("mail", 9)) == [
        ("a", 0),
        ("b", None),
        ("c", None),
    ]
    assert queue.redrive("mail.dead", 3) == Redriven(1, 4)
    assert queue.redrive("mail.dead", 3) == Redriven(0, 4)


def test_a_redrive_that_is_rolled_back_wasnt(queue: Session, connect: Connect) -> None:
    die(queue, "mail", "a", 1)
    operator = connect(autocommit=False)
    assert operator.redrive("mail.dead") == Redriven(1, 0)
    operator.rollback()
    assert (keys(queue.peek("mail.dead")), queue.peek("mail")) == (["a"], [])


@pytest.mark.parametrize("end", ["pop", "ack_many"])
def test_dead_letters_that_end_were_never_pushed(queue: Session, end: str) -> None:
    for key in "ab":
        die(queue, "k", key)
    if end == "pop":
        assert len(queue.pop("k.dead", 2)) == 2
    else:
        queue.ack_many(receipts(queue.reserve("k.dead", None, 2)))
    [of_dead] = queue.stats("k.dead")
    assert (of_dead.total, of_dead.pushed_total) == (0, 0)
