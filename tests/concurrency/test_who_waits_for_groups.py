"""The same of groups, and of what is staged, published and read by batches: see test_who_waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Refused
from tests.concurrency.waiting import PATIENCE_S, begun, waiting
from tests.conformance import test_batches as batches
from tests.conformance.steps import keys, outcomes, receipts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

    Way = Callable[[Session, Clock], Callable[[Session], Any]]


STRIPES = 32
"""Of a group: who ends a member locks one of them."""


def test_who_changes_a_group_that_is_finishing_finds_it_finished(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next", members=1)
    queue.push("check", None, 0, group="g")
    last = connect(autocommit=False)
    assert last.ack(receipts(queue.reserve("check"))[0]).outcome == "acked"
    with waiting(harness, connect(), lambda session: session.group("g", keep_seconds=1)) as changed:
        last.commit()
        assert changed.result(PATIENCE_S).state == "done"
    [(kept,)] = queue.execute("select keep_seconds from queue_group where group_name = 'g'")
    assert kept == 86_400, "a day, which is the default"


def test_who_closes_a_group_waits_for_who_is_adding_to_it(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next")
    other = connect(autocommit=False)
    other.push("check", None, 0, group="g")
    with waiting(harness, connect(), lambda session: session.group("g", close=True)) as closed:
        other.commit()
        assert (closed.result(PATIENCE_S).state, closed.result().members) == ("closed", 1)


@pytest.mark.parametrize("dies_first", [True, False])
def test_a_member_that_dies_while_it_is_said_what_that_means_is_done(
    queue: Session, connect: Connect, harness: Harness, dies_first: bool
) -> None:
    queue.group("g", "next", members=1)
    queue.push("check", None, 0, group="g")
    [held] = receipts(queue.reserve("check"))
    calls: list[Callable[[Session], Any]] = [
        lambda session: session.nack(held, final=True),
        lambda session: session.group("g", on_dead="report"),
    ]
    first, second = calls if dies_first else reversed(calls)
    other = connect(autocommit=False)
    first(other)
    with waiting(harness, connect(), second) as called:
        other.commit()
        called.result(PATIENCE_S)
    assert queue.group("g").state == "done"


def test_who_says_what_dead_members_do_locks_them_before_their_group(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next")
    queue.push_many("check", [{"key": key, "payload": 0} for key in "ab"], group="g")
    for receipt in receipts(queue.reserve("check", None, 2)):
        queue.nack(receipt, final=True)
    held = receipts(queue.reserve("check.dead", None, 2))
    other = connect(autocommit=False)
    other.push("check", "c", 0, group="g")
    with (
        waiting(harness, connect(), lambda session: session.group("g", on_dead="report")) as changed,
        waiting(harness, connect(), lambda session: session.ack(held[0])) as acked,
    ):
        other.commit()
        assert (changed.result(PATIENCE_S).members, changed.result().done) == (3, 2)
        assert acked.result(PATIENCE_S).outcome == "acked"


def test_who_adds_to_a_group_that_is_finishing_is_refused(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next")
    other = connect(autocommit=False)
    assert other.group("g", close=True).state == "done"
    with waiting(harness, connect(), lambda session: session.push("check", None, 0, group="g")) as pushed:
        other.commit()
        with pytest.raises(Refused, match="finished"):
            pushed.result(PATIENCE_S)


def test_a_prune_waits_for_nobody_who_has_a_group(queue: Session, connect: Connect, clock: Clock) -> None:
    for group in ("added to", "changed"):
        queue.group(group, "next")
        queue.push("check", group, 0, group=group)
        queue.pop("check")
    queue.prune()
    other = connect(autocommit=False)
    other.push("check", None, 0, group="added to")
    other.group("changed", keep_seconds=1)
    clock.advance(60)
    assert queue.prune() == 0
    other.commit()
    assert queue.group("changed", close=True).state == "done"


def test_a_batch_that_waits_for_a_group_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for name in "abcde":
        queue.group(name, "next")
    first = connect(autocommit=False)
    first.group("a", keep_seconds=60)
    batch = [{"key": name, "payload": 0, "group": name} for name in "cbdae"]
    with waiting(harness, connect(), lambda session: session.push_many("k", batch)) as pushed:
        for name in "bcde":
            assert queue.group(name, keep_seconds=60).state == "open"
        first.commit()
        assert outcomes(pushed.result(PATIENCE_S)) == ["created"] * 5


def test_acks_that_wait_for_a_group_have_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for name in "cbdae":
        queue.group(name, "next", members=1)
        queue.push("check", name, 0, group=name)
    held = receipts(queue.reserve("check", None, 5))
    first = connect(autocommit=False)
    first.group("a", keep_seconds=60)
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        for name in "bcde":
            assert queue.group(name, keep_seconds=60).state == "open"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 5
    assert sorted(keys(queue.pop("next", 6))) == [*"abcde"]


def test_acks_that_wait_for_a_stripe_of_a_group_have_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next")
    assert queue.group("other", "next", members=0).state == "done"
    queue.push_many("check", [{"key": f"{n:02}", "payload": 0} for n in range(STRIPES + 2)], group="g")
    held = receipts(queue.reserve("check", None, STRIPES + 2))
    stripes = [n for (n,) in queue.execute("select stripe from queue_group_member order by member")]
    low, high = sorted((0, 1), key=stripes.__getitem__)
    assert stripes[STRIPES:] == stripes[:2]
    first = connect(autocommit=False)
    first.ack(held[low])
    both = [held[STRIPES + high], held[STRIPES + low]]
    with waiting(harness, connect(), lambda session: session.ack_many(both)) as acked:
        assert queue.ack(held[high]).outcome == "acked"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2


def nacked(queue: Session, _: Clock) -> Callable[[Session], Any]:
    """Hold what a nack of many makes dead letters."""
    held = receipts(queue.reserve("check", None, 2))
    return lambda session: session.nack_many(held, final=True)


def expired(queue: Session, clock: Clock) -> Callable[[Session], Any]:
    """Let the last deliveries expire, which a reserve finds."""
    queue.reserve("check", None, 2)
    clock.advance(301)
    return lambda session: session.reserve("check")


def expired_with_permits(queue: Session, clock: Clock) -> Callable[[Session], Any]:
    """Let them expire in two looks of a reserve: it looks again for what names semaphores."""
    queue.reserve("check", None, 2)
    clock.advance(301)
    queue.push("check", "with a permit", 0, semaphores=["s"])
    return lambda session: session.reserve("check")


def of_dead_workers(queue: Session, clock: Clock) -> Callable[[Session], Any]:
    """Hold one each for two workers, who are silent for too long."""
    for name in ("first", "second"):
        queue.heartbeat(name, timeout_seconds=10)
        queue.reserve("check", name, timeout_seconds=60)
    clock.advance(11)
    return lambda session: session.reap()


def of_a_batch(queue: Session, _: Clock) -> Callable[[Session], Any]:
    """Read both in a batch of which one fails."""
    text = queue.answer("queue_stream_reserve", "reader", "1", "0", "check", "2", None)
    fails = [{"receipt": one["receipt"], "final": True} for one in text if one["p_key"] == "a"]
    return lambda session: batches.commit(session, 1, failed=fails)


def moved_onto_others(queue: Session, _: Clock) -> Callable[[Session], Any]:
    """Hold both while their keys are taken where they go."""
    for key in "ab":
        queue.push("store", key, 0)
    held = receipts(queue.reserve("check", None, 2))
    return lambda session: session.move_many([{"receipt": one, "to_kind": "store"} for one in held])


def test_who_goes_on_to_the_next_buries_nothing_once_it_has_a_group(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.push("check", "dies", 0, max_attempts=1)
    queue.reserve("check")
    clock.advance(301)
    queue.group("a", "next", members=1)
    queue.push("other", "a", 0, group="a")
    done = receipts(queue.reserve("other"))
    queue.push("check", "b", 0)
    first = connect(autocommit=False)
    first.push("check.dead", "dies", 0)
    assert keys(queue.next(done, "check")) == ["b"]
    first.rollback()
    assert queue.reserve("check") == []
    assert keys(queue.pop("check.dead", 2)) == ["dies"]


@pytest.mark.parametrize(
    "way", [nacked, expired, expired_with_permits, of_dead_workers, of_a_batch, moved_onto_others]
)
def test_what_a_call_ends_waits_for_a_stripe_before_it_has_locked_a_group(
    queue: Session, connect: Connect, harness: Harness, clock: Clock, way: Way
) -> None:
    queue.semaphore("s", 1)
    for name in "ab":
        queue.group(name, "next", members=1, on_dead="report")
        queue.push("check", name, 0, group=name, max_attempts=1)
    call = way(queue, clock)
    first = connect(autocommit=False)
    first.execute("select stripe from queue_group_stripe where group_name = 'b' for update")
    with waiting(harness, connect(), call) as ended:
        assert queue.group("a", keep_seconds=60).state == "open"
        first.commit()
        ended.result(PATIENCE_S)
    assert sorted(keys(queue.pop("next", 3))) == ["a", "b"]


def test_who_buries_members_of_groups_locks_these_as_who_acks_others_does(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for name in "ab":
        queue.group(name, "next", on_dead="report")
        batch = [{"key": f"{name}{n:02}", "payload": 0} for n in range(STRIPES + 1)]
        queue.push_many("check", batch, group=name)
    held = {one.key: str(one.receipt) for one in queue.reserve("check", None, 2 * (STRIPES + 1))}
    other, first, second = (connect(autocommit=False) for _ in range(3))

    def bury(session: Session) -> None:
        session.nack_many([held["a00"], held["b00"]], final=True)
        session.commit()

    def ack(session: Session) -> None:
        session.ack_many([held["a01"], held["b32"]])
        session.commit()

    other.push("check.dead", "b00", 0)
    with waiting(harness, first, bury) as buried, begun(second, ack) as acked:
        other.rollback()
        buried.result(PATIENCE_S)
        acked.result(PATIENCE_S)
    assert [group.done for group in queue.groups()] == [2, 2]


def failing(queue: Session, connect: Connect) -> tuple[Session, list[str]]:
    """Hold both members of a group that fails with the first that dies, which somebody has locked."""
    queue.group("g", "next", on_dead="fail", fail_kind="failed", keep_seconds=0)
    for key in "ab":
        queue.push("check", key, 0, group="g")
    held = receipts(queue.reserve("check", None, 2))
    somebody = connect(autocommit=False)
    somebody.execute("select group_name from queue_group where group_name = 'g' for update")
    return somebody, held


def failed(queue: Session, connect: Connect, clock: Clock) -> tuple[Session, str]:
    """Have the first of these die, and let the time of the group be over; who had it locked is free again."""
    somebody, [dies, other] = failing(queue, connect)
    somebody.commit()
    assert queue.nack(dies, final=True).outcome == "dead"
    clock.advance(1)
    return somebody, other


@pytest.mark.servers("postgresql")  # on InnoDB one of the two is told of the deadlock
def test_a_group_that_fails_waits_for_nobody_who_ends_another_member(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    somebody, [dies, ends] = failing(queue, connect)
    first, second = connect(autocommit=False), connect(autocommit=False)
    with (
        waiting(harness, first, lambda session: session.nack(dies, final=True)) as dead,
        waiting(harness, second, lambda session: session.ack(ends)) as acked,
    ):
        somebody.commit()
        assert dead.result(PATIENCE_S).outcome == "dead"
        first.commit()
        assert acked.result(PATIENCE_S).outcome == "acked"
        second.commit()
    assert [group.state for group in queue.groups()] == ["failed"]
    assert keys(queue.pop("failed", 2)) == ["g"]


def test_a_prune_that_waits_for_a_stripe_of_a_group_has_locked_no_group(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for name in "ab":
        queue.group(name, "next")
    batch = [{"key": f"{n}", "group": "ab"[n // STRIPES]} for n in range(2 * STRIPES)]
    queue.push_many("check", [*batch, {"key": "gone", "group": "b"}])
    of_a, of_b, *_, gone = receipts(queue.reserve("check", None, 2 * STRIPES + 1))[::STRIPES]
    first, second = connect(autocommit=False), connect(autocommit=False)
    text = "select stripe from queue_group_member where p_key in ('0', '32', 'gone')"
    assert len({stripe for (stripe,) in queue.execute(text)}) == 1
    queue.nack(gone)
    assert queue.remove("check", "gone") == "removed"
    first.execute("select stripe from queue_group_stripe where group_name = 'b' for update")
    with (
        waiting(harness, second, lambda session: session.ack_many([of_a, of_b])) as acked,
        waiting(harness, connect(), lambda session: session.prune()) as pruned,
    ):
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2
        second.commit()
        pruned.result(PATIENCE_S)
    assert [group.done for group in queue.groups()] == [1, 2]


def test_of_two_who_prune_the_second_leaves_a_member_that_has_gone_to_the_first(
    queue: Session, connect: Connect
) -> None:
    queue.group("g", "next", members=1)
    queue.push("check", None, 0, group="g")
    queue.pop("check")
    first = connect(autocommit=False)
    first.prune()
    queue.prune()
    first.commit()
    assert [group.state for group in queue.groups()] == ["done"]


def test_a_prune_that_waits_for_a_stripe_has_forgotten_no_group_yet(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    failed(queue, connect, clock)
    queue.group("other", "next")
    queue.push("goes", None, 0, group="other")
    queue.pop("goes")
    first = connect(autocommit=False)
    first.execute("select stripe from queue_group_stripe where group_name = 'other' for update")
    with waiting(harness, connect(), lambda session: session.prune()) as pruned:
        free = "select stripe from queue_group_stripe where group_name = 'g' for update skip locked"
        assert len(queue.execute(free)) == STRIPES
        first.commit()
        pruned.result(PATIENCE_S)
    assert [group.done for group in queue.groups()] == [1]


def test_a_prune_that_can_not_have_a_group_locks_nothing_of_it(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    somebody, _ = failed(queue, connect, clock)
    somebody.execute("select group_name from queue_group where group_name = 'g' for update")
    connect(autocommit=False).prune()
    free = "select stripe from queue_group_stripe where group_name = 'g' for update skip locked"
    assert len(queue.execute(free)) == STRIPES


def test_a_prune_leaves_a_group_that_has_failed_to_who_ends_a_member_late(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    somebody, ends = failed(queue, connect, clock)
    assert somebody.ack(ends).outcome == "acked"
    queue.prune()
    somebody.commit()
    queue.prune()
    assert queue.groups() == []
    assert queue.execute("select stripe from queue_group_stripe") == []


def test_acks_that_wait_for_a_stripe_have_not_locked_the_same_one_of_the_next_group(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    names = "cbdae" * 2
    for name in "abcde":
        queue.group(name, "next")
    batch = [{"key": f"{n}", "group": names[n // STRIPES]} for n in range(len(names) * STRIPES)]
    queue.push_many("check", batch)
    held = receipts(queue.reserve("check", None, len(batch)))[::STRIPES]
    stripes = queue.execute("select distinct stripe from queue_group_member where p_key in ('0', '160')")
    assert len(stripes) == 1
    first = connect(autocommit=False)
    first.ack(held[names.index("a")])
    with waiting(harness, connect(), lambda session: session.ack_many(held[5:])) as acked:
        for name in "bcde":
            assert queue.ack(held[names.index(name)]).outcome == "acked"
        first.commit()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 5


def test_pushes_into_one_group_wait_for_none_of_them(queue: Session, connect: Connect) -> None:
    queue.group("g", "next")
    other = connect(autocommit=False)
    other.push("k", "a", 0, group="g")
    assert queue.push("k", "b", 0, group="g").outcome == "created"
    assert outcomes(queue.push_many("k", [{"payload": 0}], group="g")) == ["created"]


def test_what_is_pushed_into_a_group_that_is_finishing_waits_and_is_refused(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.group("g", "next", members=1)
    queue.push("check", None, 0, group="g")
    last = connect(autocommit=False)
    last.ack(receipts(queue.reserve("check"))[0])
    with waiting(harness, connect(), lambda session: session.push("check", "x", 0, group="g")) as late:
        last.commit()
        with pytest.raises(Refused, match="finished"):
            late.result(PATIENCE_S)
    assert keys(queue.pop("next", 2)) == ["g"]


def test_a_prune_leaves_a_group_that_somebody_has(queue: Session, connect: Connect) -> None:
    queue.group("g", "next")
    queue.push("check", "a", 0, group="g")
    other = connect(autocommit=False)
    other.group("g", keep_seconds=60)
    assert queue.prune() == 0


@pytest.mark.parametrize("kinds", ["m", "cbdae"], ids=["one kind", "one key"])
def test_what_fails_of_a_batch_dies_in_the_order_of_its_keys_and_kinds(
    queue: Session, connect: Connect, harness: Harness, kinds: str
) -> None:
    names = [(kind, key) for kind in kinds for key in ("cbdae" if kinds == "m" else "x")]
    failed: list[dict[str, object]] = []
    for part, (kind, key) in enumerate(names):
        queue.push(kind, key, 0)
        [one] = queue.answer("queue_stream_reserve", "reader", "1", str(part), kind, "1", None)
        failed.append({"receipt": one["receipt"], "final": True})
    (kind, key), *others = sorted(names)
    first = connect(autocommit=False)
    first.push(f"{kind}.dead", key, 0)
    with waiting(harness, connect(), lambda session: batches.commit(session, 1, failed=failed)) as committed:
        for kind, key in others:
            assert queue.push(f"{kind}.dead", key, 0).outcome == "created"
        first.rollback()
        assert committed.result(PATIENCE_S)["failed"] == "5"


def test_what_is_staged_for_a_batch_that_is_done_goes_with_one_prune(
    queue: Session, connect: Connect
) -> None:
    for key in "ab":
        batches.stage(queue, batches.row(key), query="q", batch=1)
    assert batches.publish(queue, query="q", batch=1) == ("published", "0")
    other = connect(autocommit=False)
    assert other.prune(1) == 1
    assert queue.prune() == 1
    other.rollback()
    assert queue.prune() == 1


def test_the_end_of_a_batch_waits_for_nobody_who_has_a_message_of_the_next(
    queue: Session, connect: Connect
) -> None:
    batches.push(queue, "a", "b")
    assert [batches.of(batches.reserve(queue, batch, most=1)) for batch in (1, 2)] == [["a"], ["b"]]
    other = connect(autocommit=False)
    other.execute("select entry from delayed_queue where p_kind = 'mail' and p_key = 'b' for update")
    assert batches.commit(queue, 1)["acked"] == "1"


def test_a_publish_that_waits_for_a_part_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    parts = [batches.stage(queue, batches.row(None), job=job) for job in "ab"]
    first = connect(autocommit=False)
    assert batches.publish(first, parts[0]) == ("published", "1")
    with waiting(harness, connect(), lambda session: batches.publish(session, *parts[::-1])) as second:
        assert batches.publish(queue, parts[1]) == ("published", "1")
        first.commit()
        with pytest.raises(Refused, match="published once"):
            second.result(PATIENCE_S)
    assert len(queue.pop("mail", 3)) == 2


def test_who_aborts_a_job_that_is_being_published_waits_and_locks_nothing_first(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    parts = [batches.stage(queue, batches.row(key)) for key in "ab"]
    first = connect(autocommit=False)
    first.execute("select 1 from queue_stage_part where part = %s for update", [parts[0]["part"]])
    with waiting(harness, connect(), lambda session: session.answer("queue_stage_abort", "job")) as aborted:
        assert batches.publish(first, parts[0]) == ("published", "1")
        assert batches.publish(queue, parts[1]) == ("published", "1")
        first.commit()
        assert aborted.result(PATIENCE_S) == [{"removed": "0"}]


def test_a_new_run_leaves_what_an_earlier_one_is_publishing(queue: Session, connect: Connect) -> None:
    old = batches.stage(queue, batches.row("a"), query="q", batch=1, run="r1")
    other = connect(autocommit=False)
    assert batches.publish(other, old) == ("published", "1")
    batches.stage(queue, batches.row("b"), query="q", batch=1, run="r2")


def test_a_batch_that_waits_for_a_message_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for priority, key in enumerate("ab"):
        queue.push("mail", key, 0, priority=priority)
    held = [batches.reserve(queue, 1, part, 1)[0] for part in (0, 1)]
    assert batches.of(held) == ["b", "a"]
    later, sooner = (str(one["receipt"]) for one in held)
    first = connect(autocommit=False)
    first.extend(sooner, 60)
    with waiting(harness, connect(), lambda session: batches.commit(session, 1)) as committed:
        assert queue.extend(later, 60).outcome == "extended"
        first.commit()
        assert committed.result(PATIENCE_S)["acked"] == "2"


def test_a_read_is_planned_anew_once_nobody_hands_it_out_any_more(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    batches.push(queue, "a", "b")
    assert batches.plan(queue) == (1, None)
    first = connect(autocommit=False)
    assert batches.of(batches.reserve(first, 1, 0, 1, plan=1)) == ["a"]
    assert batches.of(batches.reserve(queue, 1, 1, 1, plan=1)) == ["b"], "parts don't wait for one another"
    with waiting(harness, connect(), batches.plan) as planned:
        first.commit()
        assert planned.result(PATIENCE_S) == (2, [0, 1])
