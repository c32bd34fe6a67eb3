"""Several messages go in in the order of their kinds and keys, so that no two calls wait for one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.concurrency.waiting import PATIENCE_S, waiting
from tests.conformance import test_batches as batches
from tests.conformance.steps import keys, outcomes, receipts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

T = TypeVar("T")


class Places:
    """Kinds and keys into which a call puts messages.

    Args:
        queue: a session.
        connect: makes others.
        harness: of the server.
    """

    def __init__(self, queue: Session, connect: Connect, harness: Harness) -> None:
        self._queue = queue
        self._connect = connect
        self._harness = harness

    def waited_for(self, places: list[tuple[str, str]], call: Callable[[Session], T]) -> T:
        """See that a call that waits for the first place has put in nothing else, and return its answer."""
        first = self._connect(autocommit=False)
        (kind, key), *others = places
        first.push(kind, key, 0)
        with waiting(self._harness, self._connect(), call) as made:
            outcomes = [self._queue.push(kind, key, 0).outcome for kind, key in others]
            assert outcomes == ["created"] * len(others)
            first.rollback()
            return made.result(PATIENCE_S)


@pytest.fixture
def places(queue: Session, connect: Connect, harness: Harness) -> Places:
    """The places of a test."""
    return Places(queue, connect, harness)


def to_new_kinds(queue: Session) -> None:
    """Have a redrive go elsewhere: whoever puts in a key that InnoDB has deleted may wait for its purge."""
    queue.execute(
        "update delayed_queue set source_kind = concat(source_kind, '.to') where source_kind is not null"
    )


OF_ONE_KEY: dict[str, tuple[str, Callable[[Session, list[str]], object]]] = {
    "ack_many": ("{}.to", lambda s, r: s.ack_many(r)),
    "move_many": (
        "{}.to",
        lambda s, r: s.move_many(
            [{"receipt": one, "to_kind": to} for one, to in zip(r, ("b.to", "a.to", "c.to"), strict=True)]
        ),
    ),
    "nack_many": ("{}.dead", lambda s, r: s.nack_many(r, final=True)),
    "reap": ("{}.dead", lambda s, _: s.reap()),
    "redrive": ("{}.to", lambda s, _: s.redrive("died")),
}


@pytest.mark.parametrize("call", OF_ONE_KEY)
def test_what_has_one_key_goes_to_its_kinds_in_their_order(
    queue: Session, places: Places, clock: Clock, call: str
) -> None:
    to, make = OF_ONE_KEY[call]
    queue.heartbeat("w", timeout_seconds=10)
    held: list[str] = []
    for kind in "bac":
        queue.define(kind, dead_letter_kind="died" if call == "redrive" else None)
        queue.push(kind, "x", 0, route=[f"{kind}.to"], max_attempts=1)
        held += receipts(queue.reserve(kind, "w", timeout_seconds=60))
    clock.advance(11)
    for receipt in held if call == "redrive" else []:
        queue.nack(receipt, final=True)
    to_new_kinds(queue)
    places.waited_for([(to.format(kind), "x") for kind in "abc"], lambda session: make(session, held))


IN_ORDER: dict[str, tuple[str, Callable[[Session, list[str]], object]]] = {
    "ack_many": ("to", lambda s, r: s.ack_many(r)),
    "move_many": ("to", lambda s, r: s.move_many([{"receipt": one, "to_kind": "to"} for one in r])),
    "nack_many": ("k.dead", lambda s, r: s.nack_many(r, final=True)),
    "reap": ("k.dead", lambda s, _: s.reap()),
    "reserve": ("k.dead", lambda s, _: s.reserve("k", None, 5)),
    "redrive": ("k.to", lambda s, _: s.redrive("k.dead")),
}


@pytest.mark.parametrize("call", IN_ORDER)
def test_what_goes_elsewhere_is_put_in_in_the_order_of_its_keys(
    queue: Session, places: Places, clock: Clock, call: str
) -> None:
    to, make = IN_ORDER[call]
    for key in "cbdae":
        queue.push("k", key, 0, route=["to"], max_attempts=1)
    queue.heartbeat("w", timeout_seconds=10)
    held = receipts(queue.reserve("k", "w", 5, timeout_seconds=5 if call == "reserve" else 60))
    clock.advance(11)
    if call == "redrive":
        queue.nack_many(held, final=True)
        to_new_kinds(queue)
    places.waited_for([(to, key) for key in "abcde"], lambda session: make(session, held))


def test_moves_that_give_all_one_key_put_it_in_kind_by_kind(queue: Session, places: Places) -> None:
    for key in "abc":
        queue.push("k", key, 0)
    held = receipts(queue.reserve("k", None, 3))
    moves = [{"receipt": one, "to_kind": to} for one, to in zip(held, ("3.to", "1.to", "2.to"), strict=True)]
    to = [("1.to", "x"), ("2.to", "x"), ("3.to", "x")]
    places.waited_for(to, lambda session: session.move_many(moves, key="x"))


def test_a_redrive_goes_by_the_keys_that_the_letters_had(queue: Session, places: Places) -> None:
    queue.push("k.dead", "a", 0)
    for key in ("a", "a!"):
        queue.push("k", key, 0)
    queue.nack_many(receipts(queue.reserve("k", None, 2)), final=True)
    assert keys(queue.peek("k.dead", 3))[1] > "a!", "its key was taken there"
    to_new_kinds(queue)
    redriven = places.waited_for([("k.to", "a"), ("k.to", "a!")], lambda session: session.redrive("k.dead"))
    assert redriven.went == 1


PUTS: dict[str, Callable[[Session, dict[str, int]], object]] = {
    "plain": lambda s, _: s.push_many("mail", [{"key": key, "payload": 0} for key in "cbdae"]),
    "with options": lambda s, _: s.push_many(
        "mail", [{"key": key, "payload": 0} for key in "cbdae"], route=["to"]
    ),
    "staged": batches.publish,
    "staged for what remembers keys": batches.publish,
    "replay": lambda s, _: s.replay("old", to_kind="mail"),
}


@pytest.mark.parametrize("way", PUTS)
def test_many_keys_are_put_in_in_their_order(queue: Session, places: Places, way: str) -> None:
    if way == "replay":
        queue.define("old", history_seconds=60)
        for key in "cbdae":
            queue.push("old", key, 0)
        queue.pop("old", 5)
    elif way == "staged for what remembers keys":
        queue.define("mail", dedup_seconds=60)
    staged = batches.stage(queue, *(batches.row(key) for key in "cbdae"))
    places.waited_for([("mail", key) for key in "abcde"], lambda session: PUTS[way](session, staged))
    assert len(queue.pop("mail", 9)) == 5


@pytest.mark.parametrize("remembered", [False, True])
def test_what_is_staged_of_one_key_goes_to_its_kinds_in_their_order(
    queue: Session, places: Places, remembered: bool
) -> None:
    queue.define("e", dedup_seconds=60 if remembered else 0)
    staged = batches.stage(queue, *(batches.row("x", p_kind=kind) for kind in "cbdae"))
    published = places.waited_for(
        [(kind, "x") for kind in "abcde"], lambda session: batches.publish(session, staged)
    )
    assert published == ("published", "5")


def test_a_tick_that_waits_for_a_key_has_not_put_that_of_a_later_kind(
    queue: Session, places: Places, connect: Connect, clock: Clock
) -> None:
    for name, kind in (("y", "b"), ("z", "a")):
        queue.schedule(name, kind, 0, every_seconds=3600)
    clock.advance(3600)
    first = connect(autocommit=False)
    first.tick()
    [of_a], [of_b] = (keys(first.peek(kind)) for kind in "ab")
    first.rollback()
    assert places.waited_for([("a", of_a), ("b", of_b)], lambda session: session.tick()) == 1


def test_a_tick_that_waits_for_a_key_has_not_put_those_of_later_schedules(
    queue: Session, places: Places, connect: Connect, clock: Clock
) -> None:
    for name, hours in (("y", 1), ("x", 2), ("z", 3)):
        queue.schedule(name, "k", 0, every_seconds=hours * 3600)
    clock.advance(3 * 3600)
    first = connect(autocommit=False)
    first.tick()
    made = sorted(keys(first.peek("k", 3)))
    first.rollback()
    assert places.waited_for([("k", key) for key in made], lambda session: session.tick()) == 1


@pytest.mark.parametrize("kept", [0, 60], ids=["alone", "with a history"])
@pytest.mark.parametrize("places", ["kb ka", "bx ax"], ids=["of a kind", "of one name"])
def test_keys_are_remembered_in_their_order(
    queue: Session, connect: Connect, harness: Harness, places: str, kept: int
) -> None:
    remember = "insert into queue_dedup (p_kind, p_key, ended_at) values (%s, %s, 1)"
    held: list[str] = []
    for kind, key in places.split():
        queue.define(kind, dedup_seconds=60, history_seconds=kept)
        queue.push(kind, key, 0)
        held += receipts(queue.reserve(kind))
    first = connect(autocommit=False)
    later, earlier = places.split()
    first.execute(remember, [*earlier])
    with waiting(harness, connect(), lambda session: session.ack_many(held)) as acked:
        first.execute(remember, [*later])
        first.rollback()
        assert outcomes(acked.result(PATIENCE_S)) == ["acked"] * 2
    assert [queue.push(kind, key, 0).outcome for kind, key in places.split()] == ["ignored"] * 2
