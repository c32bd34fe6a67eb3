"""The same where semaphores and limits are taken and given: see test_who_waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.concurrency.waiting import PATIENCE_S, begun, lock, waiting
from tests.conformance.steps import keys, outcomes, receipts, state

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session


def line_up(queue: Session, keys_: str = "b") -> None:
    """Have messages of kind k wait behind one of kind elsewhere for the only permit of s."""
    queue.semaphore("s", 1)
    for kind, key in [("elsewhere", "a"), *(("k", key) for key in keys_)]:
        queue.push(kind, key, 0, semaphores=["s"])


def expired_hold(queue: Session, clock: Clock, keys_: str) -> None:
    """Have the hold of the only permit of s expire while messages of kind k wait for it."""
    line_up(queue, keys_)
    assert queue.reserve("elsewhere", timeout_seconds=1)
    clock.advance(2)


def test_who_finds_no_room_at_a_semaphore_keeps_nobody_waiting_there(
    queue: Session, connect: Connect
) -> None:
    line_up(queue)
    [receipt] = receipts(queue.reserve("elsewhere"))
    other = connect(autocommit=False)
    assert other.reserve("k") == []
    assert queue.ack(receipt).outcome == "acked"
    assert state(queue, "k", "b") == "ready"


def test_nor_does_who_finds_room_that_another_was_told_of(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    line_up(queue)
    clock.advance(0.5)
    other = connect(autocommit=False)
    assert other.reserve("k") == []
    queue.semaphore("s", 2)
    assert state(queue, "k", "b") == "ready"


@pytest.mark.parametrize("upkeep", ["prune", "reap"])
def test_upkeep_waits_for_nobody_who_has_a_semaphore(
    queue: Session, connect: Connect, clock: Clock, upkeep: str
) -> None:
    expired_hold(queue, clock, "b")
    other = connect(autocommit=False)
    other.semaphore("s", 1)
    getattr(queue, upkeep)()
    assert state(queue, "k", "b") == "waiting"
    other.rollback()
    getattr(queue, upkeep)()
    assert state(queue, "k", "b") == "ready"


def test_a_look_for_room_goes_past_what_another_has_locked(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    expired_hold(queue, clock, "bc")
    lock(connect(autocommit=False), "b", waits=True)
    assert keys(queue.reserve("k")) == ["c"]


@pytest.mark.parametrize("waits", [False, True], ids=["", "that it waits, too"])
@pytest.mark.parametrize("way", ["one", "many", "several"])
def test_a_permit_goes_past_what_another_has_locked(
    queue: Session, connect: Connect, way: str, waits: bool
) -> None:
    queue.semaphore("s", 1)
    queue.semaphore("t", 9)
    names = ["s", "t"] if way == "several" else ["s"]
    for key in "abcd":
        queue.push("k", key, 0, semaphores=names)
    queue.push("k", "plain", 0)
    held = dict(zip("ap", receipts(queue.reserve("k", None, 2)), strict=True))
    other = connect(autocommit=False)
    lock(other, "b", waits=waits)
    if way == "many":
        assert outcomes(queue.ack_many(held.values())) == ["acked"] * 2
    else:
        assert queue.ack(held["a"]).outcome == "acked"
    assert [state(queue, "k", key) for key in "bcd"] == ["waiting", "ready", "waiting"]
    other.rollback()
    last = queue.reserve("k", None, 3)
    assert keys(last) == ["c"]
    queue.ack_many(receipts(last))
    assert state(queue, "k", "b") == "ready"


def test_a_permit_that_is_given_on_while_the_capacity_is_lowered_is_nobody_s(
    queue: Session, connect: Connect
) -> None:
    """Whether or not who gives it on waits for who lowers it."""
    queue.semaphore("s", 1)
    for key in "ab":
        queue.push("k", key, 0, semaphores=["s"])
    [receipt] = receipts(queue.reserve("k"))
    other = connect(autocommit=False)
    other.semaphore("s", 0)
    with begun(connect(), lambda session: session.ack(receipt)) as acked:
        other.commit()
        assert acked.result(PATIENCE_S).outcome == "acked"
    assert queue.reserve("k") == []
    assert state(queue, "k", "b") == "waiting"
    queue.semaphore("s", 1)
    assert keys(queue.reserve("k")) == ["b"]


@pytest.mark.servers("mariadb", "mysql")
def test_who_gives_a_permit_on_waits_for_nobody_who_does(queue: Session, connect: Connect) -> None:
    """It shares the lock of the semaphore; on PostgreSQL it takes none."""
    queue.semaphore("s", 1)
    for key in "ab":
        queue.push("k", key, 0, semaphores=["s"])
    [receipt] = receipts(queue.reserve("k"))
    other = connect(autocommit=False)
    other.execute("select s.capacity from queue_semaphore s where s.name = 's' lock in share mode")
    queue.execute("set session innodb_lock_wait_timeout = 1")
    assert queue.ack(receipt).outcome == "acked"
    assert state(queue, "k", "b") == "ready"


def test_who_waits_for_a_semaphore_has_not_locked_the_next(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    for name in "st":
        queue.semaphore(name, 1)
    queue.push("k", "a", 0, semaphores=["t", "s"])
    [receipt] = receipts(queue.reserve("k"))
    other = connect(autocommit=False)
    other.semaphore("s", 2)
    with waiting(harness, connect(), lambda session: session.ack(receipt)) as acked:
        queue.semaphore("t", 2)
        other.commit()
        assert acked.result(PATIENCE_S).outcome == "acked"


def test_who_goes_on_past_one_that_lacks_a_permit_waits_for_no_other_semaphore(
    queue: Session, connect: Connect
) -> None:
    for name in "st":
        queue.semaphore(name, 2)
    for key, names in (("a", "s"), ("b", "st")):
        queue.push("k", key, 0, semaphores=[*names])
    queue.semaphore("s", 0)
    other = connect(autocommit=False)
    # alone: who counts its permits has locked them, too, on MariaDB and MySQL
    other.execute("select s.capacity from queue_semaphore s where s.name = 't' for update")
    assert queue.reserve("k") == []
    assert [state(queue, "k", key) for key in "ab"] == ["waiting"] * 2


def test_who_ends_waits_for_no_semaphore_of_those_far_behind(queue: Session, connect: Connect) -> None:
    for name in "stu":
        queue.semaphore(name, 1)
    for key, names in (("a", "su"), ("b", "s"), ("c", "s"), ("d", "s"), ("e", "st")):
        queue.push("k", key, 0, semaphores=[*names])
    [receipt] = receipts(queue.reserve("k"))
    other = connect(autocommit=False)
    other.semaphore("t", 2)
    assert queue.ack(receipt).outcome == "acked"
    assert [state(queue, "k", key) for key in "bcde"] == ["ready", *["waiting"] * 3]


def test_who_ends_a_group_locks_the_semaphores_of_what_follows_in_order(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    for name in "st":
        queue.semaphore(name, 5)
    queue.push("k", "follows", 0, semaphores=["t"], delay_seconds=1000)
    queue.group("g", "k", key="follows", members=1)
    queue.push("members", "a", 0, group="g", semaphores=["s"])
    queue.push("both", "b", 0, semaphores=["s", "t"], delay_seconds=1)
    [receipt] = receipts(queue.reserve("members"))
    clock.advance(2)  # what comes due has no permit yet
    other = connect(autocommit=False)
    other.semaphore("s", 6)
    with (
        waiting(harness, connect(), lambda session: keys(session.reserve("both"))) as taken,
        waiting(harness, connect(), lambda session: session.ack(receipt)) as acked,
    ):
        other.commit()
        assert taken.result(PATIENCE_S) == ["b"]
        assert acked.result(PATIENCE_S).outcome == "acked"
    assert state(queue, "k", "follows") == "ready"


def test_who_looks_for_room_at_a_semaphore_waits_for_nobody(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    expired_hold(queue, clock, "b")
    other = connect(autocommit=False)
    other.semaphore("s", 1)
    assert queue.reserve("k") == []
    other.rollback()
    assert keys(queue.reserve("k")) == ["b"]


def test_a_permit_that_another_is_taking_is_not_taken_back(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    line_up(queue)
    clock.advance(2)
    other = connect(autocommit=False)
    assert keys(other.reserve("elsewhere")) == ["a"]
    assert queue.reserve("k") == []
    other.commit()
    assert queue.reserve("k") == []


@pytest.mark.servers("postgresql")
def test_who_gives_a_permit_on_takes_one_that_is_promised_or_lowers_them_waits_for_nobody(
    queue: Session, connect: Connect
) -> None:
    """On MariaDB and MySQL who does so in a transaction of its own locks the semaphore."""
    queue.semaphore("s", 3)
    for key in "abcdef":
        queue.push("k", key, 0, semaphores=["s"])
    first, second, third = receipts(queue.reserve("k", None, 3))
    one, other = connect(autocommit=False), connect(autocommit=False)
    assert one.ack(first).outcome == "acked"
    assert outcomes(other.ack_many([second, third])) == ["acked", "acked"]
    other.commit()
    one.commit()
    assert keys(one.reserve("k")) == ["d"]
    assert keys(other.reserve("k", None, 5)) == ["e", "f"]
    queue.semaphore("s", 2)
    queue.push("k", "g", 0, semaphores=["s"])
    assert state(queue, "k", "g") == "waiting"


@pytest.mark.servers("postgresql")
def test_who_lowered_the_capacity_keeps_nobody_waiting_once_all_is_given_back(
    queue: Session, connect: Connect
) -> None:
    queue.semaphore("s", 3)
    for key in "abcdef":
        queue.push("k", key, 0, semaphores=["s"])
    first, *others = receipts(queue.reserve("k", None, 3))
    queue.semaphore("s", 2)
    assert queue.ack(first).outcome == "acked"
    assert [state(queue, "k", key) for key in "def"] == ["waiting"] * 3
    one, other = connect(autocommit=False), connect(autocommit=False)
    for session, receipt in zip((one, other), others, strict=True):
        assert session.ack(receipt).outcome == "acked"
    one.commit()
    other.commit()
    assert keys(queue.reserve("k", None, 5)) == ["d", "e"]


@pytest.mark.servers("postgresql")
def test_who_extends_a_hold_that_has_its_permits_waits_for_nobody_who_has_the_semaphore(
    queue: Session, connect: Connect
) -> None:
    """On MariaDB and MySQL who counts permits in a transaction locks them."""
    queue.semaphore("s", 2)
    for key in "ab":
        queue.push("k", key, 0, semaphores=["s"])
    [receipt] = receipts(queue.reserve("k"))
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["b"]
    assert queue.extend(receipt, 60).outcome == "extended"


def test_a_place_whose_hold_another_is_extending_is_waited_for_by_nobody(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    queue.define("k", max_reserved=1)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"])
    [late] = receipts(queue.reserve("k", timeout_seconds=10))
    clock.advance(11)
    other = connect(autocommit=False)
    assert other.extend(late, 60).outcome == "extended"
    assert queue.reserve("k") == []
    other.commit()
    assert queue.reserve("k") == []


def test_tokens_that_another_transaction_takes_are_waited_for_by_nobody(
    queue: Session, connect: Connect
) -> None:
    queue.define("k", rate_per_second=1)
    queue.push_many("k", [{"key": key, "payload": 0} for key in "ab"])
    other = connect(autocommit=False)
    assert keys(other.reserve("k")) == ["a"]
    assert queue.reserve("k") == []


def test_semaphores_that_have_nothing_in_common_wait_for_nobody(queue: Session, connect: Connect) -> None:
    for name in "stu":
        queue.semaphore(name, 1)
    queue.push("k", "t", 0, semaphores=["t"])
    queue.push("k", "both", 0, semaphores=["t", "u"])
    queue.push("k", "s", 0, semaphores=["s"])
    of_t, of_s = receipts(queue.reserve("k", None, 3))
    other = connect(autocommit=False)
    other.ack(of_t)
    assert queue.ack(of_s).outcome == "acked"
    other.commit()
    assert keys(queue.reserve("k", None, 3)) == ["both"]


def test_a_permit_that_is_given_on_and_taken_back_leaves_room_for_who_waits(
    queue: Session, connect: Connect
) -> None:
    """Whether or not who gives another one on waits for that."""
    queue.semaphore("s", 2)
    for key in "abc":
        queue.push("k", key, 0, semaphores=["s"])
    first, second = receipts(queue.reserve("k", None, 2))
    other = connect(autocommit=False)
    assert other.ack(first).outcome == "acked"
    with begun(connect(), lambda session: session.ack(second)) as acked:
        other.rollback()
        assert acked.result(PATIENCE_S).outcome == "acked"
    assert keys(queue.reserve("k", None, 5)) == ["c"]


def test_who_was_told_of_room_gets_it_while_the_semaphore_is_changed(
    queue: Session, connect: Connect
) -> None:
    """Whether or not it waits for who changes it."""
    queue.semaphore("s", 1)
    queue.push("k", "a", 0, semaphores=["s"])
    first = connect(autocommit=False)
    first.semaphore("s", 2)
    with begun(connect(), lambda session: session.reserve("k")) as taken:
        first.commit()
        assert keys(taken.result(PATIENCE_S)) == ["a"]


def test_the_first_permit_of_a_call_is_waited_for(
    queue: Session, connect: Connect, harness: Harness, clock: Clock
) -> None:
    """Only who has locked a semaphore leaves the next one to others, lest two wait for one another."""
    queue.semaphore("s", 1)
    queue.push("k", "a", 0, semaphores=["s"], delay_seconds=1)
    clock.advance(2)
    first = connect(autocommit=False)
    first.semaphore("s", 2)
    with waiting(harness, connect(), lambda session: keys(session.reserve("k"))) as taken:
        first.commit()
        assert taken.result(PATIENCE_S) == ["a"]


def test_who_pushes_into_a_kind_that_has_semaphores_keeps_no_other_waiting(
    queue: Session, connect: Connect
) -> None:
    for name in "ab":
        queue.semaphore(name, 1)
        queue.push("k", name, 0, semaphores=[name])
    first = connect(autocommit=False)
    assert first.push("k", "x", 0, semaphores=["a"]).outcome == "created"
    assert queue.push("k", "y", 0, semaphores=["b"]).outcome == "created"
