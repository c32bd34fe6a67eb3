"""The contract on kinds and on what an operator does: define, drop, pause, resume, remove, purge, prune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, Refused
from tests.conformance.steps import die, keys, receipts, state, take

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def test_the_defaults_of_a_kind_are_those_of_one_that_nobody_defined(queue: Session) -> None:
    for define in (lambda: queue.define("mail"), lambda: queue.drop("never defined")):
        kind = define()
        assert (kind.timeout_seconds, kind.max_attempts, kind.paused) == (300, 25, False)
        assert (kind.backoff_seconds, kind.backoff_factor) == (1, 2)
        assert (kind.backoff_max_seconds, kind.jitter) == (3600, 0.2)
    queue.pause("paused")
    paused = queue.define("paused")
    assert (paused.max_attempts, paused.backoff_seconds, paused.jitter) == (25, 1, 0.2)


def test_null_brings_the_default_back_and_no_end_of_attempts(queue: Session) -> None:
    queue.define("mail", backoff_seconds=7, jitter=0.5, max_attempts=3)
    kind = queue.define("mail", backoff_seconds=None, jitter=None, max_attempts=None)
    assert (kind.backoff_seconds, kind.jitter, kind.max_attempts) == (1, 0.2, None)
    assert queue.define("mail").max_attempts is None


def test_define_answers_the_settings_and_changes_only_what_is_given(queue: Session) -> None:
    settings: dict[str, Any] = {
        "timeout_seconds": 12.5,
        "max_attempts": 3,
        "backoff_seconds": 2,
        "backoff_factor": 1.5,
        "backoff_max_seconds": 60,
        "jitter": 0.25,
        "dead_letter_kind": "morgue",
    }
    first = queue.define("mail", **settings)
    assert {name: getattr(first, name) for name in settings} == settings
    second = queue.define("mail", max_attempts=4)
    assert {name: getattr(second, name) for name in settings} == {**settings, "max_attempts": 4}
    assert queue.define("mail", max_attempts=None, dead_letter_kind=None).max_attempts is None


def test_a_definition_counts_for_messages_that_are_there_already(queue: Session) -> None:
    queue.push("mail", "a", 1)
    queue.define("mail", max_attempts=1)
    _, receipt = take(queue, "mail")
    assert queue.nack(receipt).outcome == "dead"


def test_a_refused_definition_changes_nothing(queue: Session) -> None:
    queue.define("mail", max_attempts=3)
    with pytest.raises(InvalidOption):
        queue.define("mail", max_attempts=4, timeout_seconds=-1)
    assert queue.define("mail").max_attempts == 3


def test_drop_refuses_while_messages_are_held(queue: Session) -> None:
    queue.define("mail", max_attempts=7)
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "ab"])
    (message,) = queue.reserve("mail")
    with pytest.raises(Refused, match="mail"):
        queue.drop("mail")
    assert (keys(queue.peek("mail")), queue.define("mail").max_attempts) == (["a", "b"], 7)
    queue.ack(receipts([message])[0])
    dropped = queue.drop("mail")
    assert (dropped.kind, dropped.max_attempts) == ("mail", 7)
    assert queue.peek("mail") == []
    assert queue.define("mail").max_attempts == 25
    assert queue.push("mail", "a", 1).outcome == "created"


def test_drop_takes_what_was_pushed_onto_a_hold_that_has_expired(queue: Session, clock: Clock) -> None:
    queue.push("mail", "a", 1)
    take(queue, "mail", timeout_seconds=10)
    assert queue.push("mail", "a", 2, on_duplicate="replace").outcome == "held"
    clock.advance(10)
    queue.drop("mail")
    assert queue.peek("mail") == []


@pytest.mark.parametrize("way", ["drop", "expiry"])
def test_of_a_kind_that_has_gone_nothing_is_left_but_its_counters(
    queue: Session, harness: Harness, clock: Clock, way: str
) -> None:
    def left() -> dict[str, object]:
        tables = harness.everything().items()
        return {name: what for name, what in tables if not name.endswith(("_count", "_clock"))}

    queue.define("first")
    queue.push("first", "a", 1)
    queue.drop("first")
    before = left()
    queue.define("mail", max_reserved=3, rate_per_second=1000, expires_seconds=60, filter_index=False)
    queue.subscribe("t", "mail")
    queue.publish("t", "a", 1)
    queue.ack(take(queue, "mail")[1])
    queue.push("mail", "b", 1)
    if way == "drop":
        queue.drop("mail")
    else:
        clock.advance(61)
        queue.prune()
    assert left() == before


def test_a_drop_that_would_close_a_circle_of_dead_letters_is_refused(queue: Session) -> None:
    queue.define("mail", dead_letter_kind="graves")
    queue.define("mail.dead", dead_letter_kind="mail")
    with pytest.raises(Refused, match="dead_letter_kind"):
        queue.drop("mail")
    assert (queue.define("mail").dead_letter_kind or "").endswith("graves")


def test_pause_stops_deliveries_and_nothing_else(queue: Session) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abcde"])
    a, b, c, d = receipts(queue.reserve("mail", None, 4))
    assert (queue.pause("mail"), queue.pause("mail")) == (True, False)
    assert queue.stats("mail")[0].paused is True
    assert (queue.reserve("mail"), queue.pop("mail")) == ([], [])
    assert queue.push("mail", "new", 0).outcome == "created"
    assert queue.ack(a).outcome == "acked"
    assert queue.nack(b).outcome == "retry"
    assert queue.extend(c, 60).outcome == "extended"
    assert queue.move(c, "post").outcome == "moved"
    assert queue.nack(d, final=True).outcome == "dead"
    assert (queue.reserve("mail"), keys(queue.reserve("post"))) == ([], ["c"])
    assert (queue.resume("mail"), queue.resume("mail")) == (True, False)
    assert set(keys(queue.reserve("mail", None, 9))) == {"b", "e", "new"}


def test_in_a_paused_kind_nothing_dies_of_a_timeout(queue: Session, clock: Clock) -> None:
    queue.define("mail", max_attempts=1, timeout_seconds=10)
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    queue.pause("mail")
    clock.advance(1000)
    assert (queue.reserve("mail"), queue.pop("mail")) == ([], [])
    assert (state(queue, "mail", "a"), queue.peek("mail.dead")) == ("expired", [])
    assert queue.ack(receipt).outcome == "acked"


def test_resume_of_a_kind_that_was_never_paused_changes_nothing(queue: Session) -> None:
    assert queue.resume("mail") is False


def test_a_definition_leaves_a_pause_alone(queue: Session) -> None:
    queue.pause("mail")
    assert queue.define("mail", max_attempts=2).paused is True
    assert queue.resume("mail") is True
    assert queue.define("mail").max_attempts == 2


@pytest.mark.parametrize("last", [False, True])
def test_remove_takes_what_has_expired_since_nobody_holds_it(
    queue: Session, clock: Clock, last: bool
) -> None:
    queue.push("mail", "a", 1, max_attempts=1 if last else None)
    take(queue, "mail", timeout_seconds=10)
    assert queue.remove("mail", "a") == "held"
    clock.advance(10)
    assert queue.remove("mail", "a") == "removed"
    assert (queue.get("mail", "a"), queue.peek("mail.dead")) == (None, [])


@pytest.mark.parametrize("way", ["remove", "purge", "drop"])
def test_the_delivery_of_what_is_removed_counts(queue: Session, clock: Clock, way: str) -> None:
    queue.push("mail", "a", 1)
    take(queue, "mail", timeout_seconds=10)
    clock.advance(10)
    if way == "drop":
        queue.drop("mail")
    else:
        assert queue.purge("mail") == 1 if way == "purge" else queue.remove("mail", "a") == "removed"
    (stats,) = queue.stats("mail")
    assert (stats.pushed_total, stats.reserved_total, stats.total) == (1, 1, 0)


@pytest.mark.parametrize("most", [1, 2])
def test_a_hold_that_has_expired_counts_when_its_message_is_delivered_again(
    queue: Session, clock: Clock, most: int
) -> None:
    queue.define("mail", timeout_seconds=10)
    assert queue.reserve("mail") == []  # the first call of a session is another one
    queue.push("mail", "a", 1)
    for _ in range(2):
        clock.advance(10)
        assert len(queue.reserve("mail", None, most)) == 1
    (stats,) = queue.stats("mail")
    assert (stats.pushed_total, stats.reserved_total, stats.expired_total, stats.reserved) == (1, 2, 1, 1)


def test_remove_of_a_held_message_leaves_the_pushes_onto_it(queue: Session) -> None:
    queue.push("mail", "a", "old")
    _, receipt = take(queue, "mail")
    queue.push("mail", "a", "new", on_duplicate="replace")
    assert queue.remove("mail", "a") == "held"
    queue.ack(receipt)
    assert take(queue, "mail")[0].payload == "new"


def test_purge_removes_all_that_nobody_holds(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(5)])
    queue.push("mail", "later", 0, delay_seconds=100)
    queue.push("post", "other", 0)
    queue.reserve("mail", None, 1, timeout_seconds=10)
    (held,) = queue.reserve("mail", None, 1, timeout_seconds=1000)
    clock.advance(10)
    assert queue.purge("mail") == 5
    assert keys(queue.peek("mail")) == [held.key]
    assert queue.purge("mail") == 0
    assert queue.ack(receipts([held])[0]).outcome == "acked"
    assert keys(queue.peek("post")) == ["other"]


def test_purge_removes_so_many_and_no_more(queue: Session) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(10)])
    assert [queue.purge("mail", 4) for _ in range(4)] == [4, 4, 2, 0]


def test_a_purge_locks_what_it_removes_and_leaves_what_others_have_locked(
    queue: Session, connect: Connect
) -> None:
    queue.push_many("mail", [{"key": key, "payload": 0} for key in "abc"])
    other = connect(autocommit=False)
    assert other.purge("mail", 1) == 1
    assert keys(queue.peek("mail")) == ["a", "b", "c"]
    assert sorted(keys(queue.reserve("mail"))) == ["b"], "nobody has it"
    assert queue.purge("mail") == 1
    other.rollback()
    assert keys(queue.reserve("mail", None, 9)) == ["a"]


def test_a_purge_that_is_rolled_back_wasnt(queue: Session, connect: Connect) -> None:
    queue.push("mail", "a", 1)
    operator = connect(autocommit=False)
    assert operator.purge("mail") == 1
    operator.rollback()
    assert keys(queue.peek("mail")) == ["a"]


def test_prune_removes_no_message(queue: Session, clock: Clock) -> None:
    queue.push_many("mail", [{"key": f"{number}", "payload": 0} for number in range(3)])
    die(queue, "post", "a")
    queue.reserve("mail", None, 1, timeout_seconds=5)
    clock.advance(10 * 365 * 86_400)
    assert queue.prune() >= 0
    assert queue.prune(10) >= 0
    assert {stats.kind: stats.total for stats in queue.stats() if stats.total} == {"mail": 3, "post.dead": 1}


def test_a_prune_folds_what_was_counted_into_a_row_a_kind(queue: Session) -> None:
    for kind in ("mail", "sms"):
        for number in range(3):
            queue.push(kind, f"{number}", 1)
            queue.ack(take(queue, kind)[1])
    before = queue.stats("mail") + queue.stats("sms")
    assert [(one.pushed_total, one.acked_total) for one in before] == [(3, 3)] * 2
    queue.prune()
    assert queue.execute("select count(*) from queue_count") == [(2,)]
    assert queue.stats("mail") + queue.stats("sms") == before
