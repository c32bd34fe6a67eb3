"""Every way in which a message ends does all that an end has to, with every feature of a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import keys, outcomes, receipts, state, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session

HOLD_SECONDS = 10
UNUSED_SECONDS = 1000

FEATURES = (
    "order",
    "order marked",  # a kind in which a message has named a semaphore
    "semaphore",
    "group",
    "route",
    "log",
    "history",
    "dedup",
    "filter",
    "order marked group route log history dedup filter",
    "semaphore group route log history dedup filter",
    "",
)


@dataclass
class Case:
    """A message `a` with features, the first of its kind."""

    queue: Session
    clock: Clock
    kind: str
    features: frozenset[str] = field(default_factory=frozenset)
    popped: int = 0
    others: int = 0
    """Messages of its kind beside it that were acked."""

    def name(self, what: str) -> str:
        """A name of its own."""
        return f"{self.kind}-{what}"

    def settings(self) -> dict[str, Any]:
        """What a kind has to keep of its messages."""
        wanted = {"log": "log_seconds", "history": "history_seconds", "dedup": "dedup_seconds"}
        return {
            **{setting: 3600 for name, setting in wanted.items() if name in self.features},
            **({"filter_index": True} if "filter" in self.features else {}),
        }

    def put(self, **settings: Any) -> None:
        """Push it, and what waits for it."""
        queue = self.queue
        queue.define(self.kind, max_attempts=1, timeout_seconds=HOLD_SECONDS, **self.settings(), **settings)
        options: dict[str, Any] = {}
        queue.semaphore(self.name("slot"), 1)
        if "marked" in self.features:
            queue.push(self.kind, "mark", 0, semaphores=[self.name("slot")])
            queue.ack(take(queue, self.kind)[1])
            self.others += 1
        if "order" in self.features:
            options["order_key"] = "o"
        if "semaphore" in self.features:
            options["semaphores"] = [self.name("slot")]
        if "route" in self.features:
            options["route"] = [self.name("next")]
        if "group" in self.features:
            queue.group(self.name("group"), self.name("then"), on_dead="report", members=1)
            options["group"] = self.name("group")
        assert queue.push(self.kind, "a", {"n": 1}, **options).outcome == "created"
        if "order" in self.features:
            queue.push(self.kind, "b", {"n": 2}, order_key="o")
            assert state(queue, self.kind, "b") == "waiting"
        if "semaphore" in self.features:
            queue.push(self.name("other"), "w", 0, semaphores=[self.name("slot")])
            assert state(queue, self.name("other"), "w") == "waiting"

    def hold(self, worker: str = "someone") -> str:
        """Reserve it; returns its receipt."""
        (message,) = self.queue.reserve(self.kind, worker, 10)
        assert message.key == "a"
        return receipts([message])[0]


@dataclass(frozen=True)
class Way:
    """How a message ends, and what has to be seen of that."""

    end: Callable[[Case], object]
    outcome: str | None
    """What is kept of it; None: nothing, since the settings go too."""
    whole: bool = False
    """Whether all of the kind ends."""


def is_final(case: Case, many: bool) -> None:
    """Nack it for good."""
    receipt = case.hold()
    answers = (
        [case.queue.nack(receipt, final=True)] if not many else case.queue.nack_many([receipt], final=True)
    )
    assert [answer.outcome for answer in answers] == ["dead"]


def expire(case: Case) -> None:
    """Let the hold of its last delivery pass, and have a reserve find that."""
    case.hold()
    case.clock.advance(HOLD_SECONDS + 1)
    found = case.queue.reserve(case.kind, "next", 1)
    assert [message.key for message in found] in ([], ["b"])
    case.queue.nack_many(receipts(found), count=False)


def reap(case: Case) -> None:
    """Let the worker die that has its last delivery."""
    case.queue.heartbeat("dead", timeout_seconds=1)
    case.hold("dead")
    case.clock.advance(2)
    assert [one.freed for one in case.queue.reap()] == [1]


def unused(case: Case) -> None:
    """Let the kind go that nobody uses."""
    case.queue.define(case.kind, expires_seconds=UNUSED_SECONDS)
    case.clock.advance(UNUSED_SECONDS + 1)
    assert case.queue.prune() > 0


def popped(case: Case, most: int) -> None:
    """Pop; what comes behind it may be its turn in the same call."""
    found = keys(case.queue.pop(case.kind, most))
    assert found in (["a"], ["a", "b"])
    case.popped = len(found)


def behind_a_plain_one(case: Case) -> None:
    """Ack it in a batch whose first message has nothing that hangs on it."""
    case.queue.push(case.kind, "plain", 0, priority=1)
    held = case.queue.reserve(case.kind, "someone", 10)
    assert keys(held) == ["plain", "a"]
    assert "lost" not in outcomes(case.queue.ack_many(receipts(held)))
    case.others += 1


WAYS = {
    "ack": Way(lambda case: case.queue.ack(case.hold()), "acked"),
    "ack_many": Way(lambda case: case.queue.ack_many([case.hold()]), "acked"),
    "ack_many_behind_a_plain_one": Way(behind_a_plain_one, "acked"),
    "pop": Way(lambda case: popped(case, 1), "popped"),
    "pop_many": Way(lambda case: popped(case, 10), "popped"),
    "nack_final": Way(lambda case: is_final(case, many=False), "dead"),
    "nack_many_final": Way(lambda case: is_final(case, many=True), "dead"),
    "last_attempt_expires": Way(expire, "dead"),
    "reap": Way(reap, "dead"),
    "move": Way(lambda case: case.queue.move(case.hold(), case.name("to")), "moved"),
    "move_many": Way(
        lambda case: case.queue.move_many([{"receipt": case.hold(), "to_kind": case.name("to")}]),
        "moved",
    ),
    "remove": Way(lambda case: case.queue.remove(case.kind, "a"), "removed"),
    "purge": Way(lambda case: case.queue.purge(case.kind), "removed", whole=True),
    "drop": Way(lambda case: case.queue.drop(case.kind), None, whole=True),
    "kind_expires_at_prune": Way(unused, None, whole=True),
}


@pytest.mark.long
@pytest.mark.core("postgresql")
@each("name", WAYS)
def test_an_end_does_all_that_an_end_has_to_do(queue: Session, clock: Clock, name: str) -> None:
    for number, features in enumerate(FEATURES):
        way = WAYS[name]
        case = Case(queue, clock, f"{name}{number}", frozenset(features.split()))
        case.put()
        way.end(case)
        assert queue.get(case.kind, "a") is None, features
        look(case, way)


def look(case: Case, way: Way) -> None:
    """Check all that the end of the first message has to have done."""
    outcome = "moved" if way.outcome == "acked" and "route" in case.features else way.outcome
    goes_on = outcome == "moved"
    counted(case, outcome)
    if "history" in case.features and outcome:
        (one,) = (one for one in case.queue.history(case.kind) if one.key == "a")
        assert one.outcome == outcome
        assert one.to_kind == target(case, outcome)
    if "log" in case.features and outcome:
        events = case.queue.read(case.kind, case.name("reader"), 100, events=["pushed", outcome])  # pyright: ignore[reportArgumentType]
        assert [one.event for one in events if one.key == "a"] == ["pushed", outcome]
    if "semaphore" in case.features:
        follow(case, goes_on)
    elif goes_on:
        case.queue.ack(take(case.queue, str(target(case, outcome)))[1])
    if goes_on and "route" in case.features and way.outcome == "moved":
        case.queue.ack(take(case.queue, case.name("next"))[1])
    if "group" in case.features:
        case.queue.prune()
        done = "dead" if outcome == "dead" else "acked" if way.outcome in ("acked", "moved") else "gone"
        (message,) = case.queue.peek(case.name("then"), 10)
        assert [result["outcome"] for result in message.payload["results"]] == [done]
    if "order" in case.features:
        case.queue.push(case.kind, "c", {"n": 3}, order_key="o")
        wanted = ["c"] if way.whole or case.popped > 1 else ["b", "c"]
        if "filter" in case.features:
            assert case.queue.reserve(case.kind, "x", 10, where={"n": 1}) == []
            assert [taken(case.queue, case.kind, where={"n": n}) for n in (2, 3)] == [wanted[:-1], ["c"]]
        else:
            assert taken(case.queue, case.kind) == wanted
    elif "filter" in case.features:
        assert case.queue.reserve(case.kind, "x", 10, where={"n": 1}) == []
        case.queue.push(case.kind, "f", {"n": 1})
        assert keys(case.queue.pop(case.kind, 10, where={"n": 1})) == ["f"]
    remembered = "dedup" in case.features and outcome in ("acked", "moved", "popped")
    assert case.queue.push(case.kind, "a", 1).outcome == ("ignored" if remembered else "created")
    assert [one.waiting for one in case.queue.semaphores() if one.name == case.name("slot")] == [0]


def target(case: Case, outcome: str | None) -> str | None:
    """Where the message went."""
    if outcome == "dead":
        return f"{case.kind}.dead"
    if outcome != "moved":
        return None
    return case.name("to") if case.queue.get(case.name("to"), "a") else case.name("next")


def counted(case: Case, outcome: str | None) -> None:
    """Check what is counted of the message: it came in, and ended once."""
    found = case.queue.stats(case.kind)
    if not found:
        return  # it went with its kind
    (stats,) = found
    assert stats.popped_total == case.popped
    ends = {
        "acked": stats.acked_total - case.others,
        "popped": min(stats.popped_total, 1),
        "moved": stats.moved_total,
        "dead": stats.dead_total,
    }
    assert ends == {name: int(name == outcome) for name in ends}
    assert stats.pushed_total == 1 + case.others + ("order" in case.features)


def follow(case: Case, goes_on: bool) -> None:
    """Check that the slot is free for who waited for it, and goes round."""
    assert taken(case.queue, case.name("other")) == ["w"]
    if goes_on:
        where = case.name("to") if case.queue.get(case.name("to"), "a") else case.name("next")
        assert taken(case.queue, where) == ["a"]
    (slot,) = (one for one in case.queue.semaphores() if one.name == case.name("slot"))
    assert slot.held == 0


def taken(queue: Session, kind: str, where: dict[str, Any] | None = None) -> list[str]:
    """Reserve what matches and ack it until nothing is ready; returns the keys."""
    found: list[str] = []
    while held := queue.reserve(kind, "x", 10, where=where):
        found += keys(held)
        queue.ack_many(receipts(held))
    return found


def test_a_redrive_ends_the_dead_letter_and_takes_all_of_it_back(queue: Session, clock: Clock) -> None:
    for number, features in enumerate(FEATURES):
        case = Case(queue, clock, f"k{number}", frozenset(features.split()))
        case.put()
        queue.define(f"{case.kind}.dead", **case.settings())
        if "group" in case.features:
            queue.group(case.name("group"), on_dead="wait")
        is_final(case, many=False)
        assert queue.redrive(f"{case.kind}.dead").went == 1
        (stats,) = queue.stats(f"{case.kind}.dead")
        assert (stats.moved_total, stats.total) == (1, 0)
        if "history" in case.features:
            (one,) = queue.history(f"{case.kind}.dead")
            assert (one.key, one.outcome, one.to_kind) == ("a", "moved", case.kind)
        if "log" in case.features:
            events = queue.read(f"{case.kind}.dead", case.name("reader"), 100, events=["pushed", "moved"])
            assert [one.event for one in events] == ["pushed", "moved"]
        if "filter" in case.features:
            assert queue.peek(f"{case.kind}.dead", 10, where={"n": 1}) == []
        if "semaphore" in case.features:
            assert state(queue, case.kind, "a") == "waiting"
            assert taken(queue, case.name("other")) == ["w"]
        if "order" in case.features:
            assert taken(queue, case.kind, where={"n": 2}) == ["b"]
        assert taken(queue, case.kind, where={"n": 1}) == ["a"]
        if "route" in case.features:
            assert taken(queue, case.name("next")) == ["a"]
        if "group" in case.features:
            (message,) = queue.peek(case.name("then"), 10)
            assert [result["outcome"] for result in message.payload["results"]] == ["acked"]
        remembered = "dedup" in case.features
        assert queue.push(case.kind, "a", 1).outcome == ("ignored" if remembered else "created")
