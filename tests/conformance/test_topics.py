"""Topics: rows M2 and D7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, Refused, Subscription, to_datetime
from tests.conformance.steps import keys, outcomes, receipts, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def kinds(queue: Session, topic: str) -> list[str]:
    """Return who gets what is published to a topic."""
    return [pushed.kind for pushed in queue.publish(topic, None, 0)]


def test_M2_what_is_published_is_copied_to_each_consumer_and_what_is_pushed_goes_to_one(
    queue: Session, connect: Connect
) -> None:
    for kind in ("audit", "billing", "mail"):
        assert queue.subscribe("order.created", kind)
    published = queue.publish("order.created", "o1", {"n": 1}, priority=3, headers={"h": 1})
    assert [(one.kind, one.key, one.outcome) for one in published] == [
        ("audit", "o1", "created"),
        ("billing", "o1", "created"),
        ("mail", "o1", "created"),
    ]
    other = connect()
    for kind in ("audit", "billing", "mail"):
        message, receipt = take(queue, kind)
        assert (message.key, message.payload) == ("o1", {"n": 1})
        assert (message.priority, message.headers) == (3, {"h": 1})
        assert message.scheduled_at_initially == published[0].scheduled_at
        assert other.reserve(kind) == [], "of the copies of one kind one consumer gets it"
        assert queue.ack(receipt).outcome == "acked"


def test_D7_a_worker_that_subscribes_gets_what_is_published_from_then_on(
    queue: Session, clock: Clock
) -> None:
    assert queue.publish("job.done", "early", 1) == []
    assert queue.subscribe("job.*", "watch")
    assert not queue.subscribe("job.*", "watch"), "it is already"
    assert queue.subscriptions() == [Subscription("job.*", "watch", to_datetime(clock.now))]
    assert kinds(queue, "job.done") == ["watch"]
    assert queue.unsubscribe("job.*", "watch")
    assert not queue.unsubscribe("job.*", "watch")
    assert kinds(queue, "job.done") == []
    assert len(queue.reserve("watch", None, 10)) == 1, "what it has got stays"


PATTERNS: dict[str, tuple[list[str], list[str]]] = {
    "a": (["a"], ["b", "a.a", "A", "a "]),
    "a.b": (["a.b"], ["a", "a.b.c", "aXb", "a.B"]),
    "*": (["a", "é"], ["a.b"]),
    "#": (["a", "a.b.c"], []),
    "a.*": (["a.b"], ["a", "a.b.c", "b.b"]),
    "a.#": (["a", "a.b", "a.b.c"], ["b", "ab", "b.a"]),
    "#.a": (["a", "b.a", "b.c.a"], ["a.b", "ba"]),
    "*.a": (["b.a"], ["a", "b.c.a"]),
    "a.*.b": (["a.x.b"], ["a.b", "a.x.y.b"]),
    "a.#.b": (["a.b", "a.x.b", "a.x.y.b", "a.b.b"], ["a", "b", "a.b.c"]),
    "#.a.#": (["a", "x.a", "a.x", "x.a.y.z"], ["x", "b.c"]),
    "*.#": (["a", "a.b.c"], []),
    "*.*.#.x": (["a.b.x", "a.b.c.x"], ["a.x", "a.b.c"]),
    "#.#.#": (["a", "a.b.c"], []),
    "a+b.(c|d)": (["a+b.(c|d)"], ["ab.c", "aab.d", "a+b.c"]),
    "[x]\\Q.^$\\E{2}": (["[x]\\Q.^$\\E{2}"], ["x.a"]),
    "a\nb.*": (["a\nb.c"], ["ab.c", "a.b"]),
    "*.%|_": (["a.%|_"], ["a.b", "a.x|_", "a.%|y"]),
    "#.a_b.#": (["a_b", "x.a_b.y"], ["axb", "x.axb.y"]),
    "größe.*": (["größe.ü"], ["grosse.ü", "GRÖSSE.ü"]),
}


def test_M2_patterns_match_as_in_amqp(queue: Session) -> None:
    for pattern in PATTERNS:
        queue.subscribe(pattern, pattern)
    topics = sorted({topic for fits, others in PATTERNS.values() for topic in (*fits, *others)})
    found = {topic: set(kinds(queue, topic)) for topic in topics}
    for pattern, (fits, others) in PATTERNS.items():
        assert [topic for topic in fits if pattern not in found[topic]] == [], pattern
        assert [topic for topic in others if pattern in found[topic]] == [], pattern


def test_M2_a_kind_with_several_matching_patterns_gets_one_copy(queue: Session) -> None:
    for pattern in ("a.*", "a.#", "#", "a.b"):
        queue.subscribe(pattern, "k")
    assert kinds(queue, "a.b") == ["k"]
    assert len(queue.peek("k")) == 1


def test_M2_without_a_key_all_copies_have_the_same_new_one(queue: Session) -> None:
    for kind in ("a", "b"):
        queue.subscribe("t", kind)
    first, second = queue.publish("t", None, 1)
    assert first.key == second.key
    assert len(first.key) == 36
    assert queue.publish("t", None, 1)[0].key > first.key


def test_M2_in_each_kind_the_key_promises_what_it_does_in_a_push(queue: Session, clock: Clock) -> None:
    queue.define("remembers", dedup_seconds=60)
    for kind in ("fresh", "held", "remembers", "there"):
        queue.subscribe("t", kind)
    queue.push("there", "k", "old")
    queue.push("remembers", "k", "old")
    queue.ack(take(queue, "remembers")[1])
    queue.push("held", "k", "old")
    _, receipt = take(queue, "held")
    clock.advance(1)
    assert outcomes(queue.publish("t", "k", "new")) == ["created", "ignored", "ignored", "ignored"]
    queue.remove("fresh", "k")
    published = queue.publish("t", "k", "newer", on_duplicate="replace")
    assert outcomes(published) == ["created", "held", "ignored", "replaced"]
    assert published[2].scheduled_at is None, "a key that is only remembered has no message"
    assert [m.payload for kind in ("fresh", "there") for m in queue.reserve(kind)] == ["newer", "newer"]
    queue.ack(receipt)
    assert take(queue, "held")[0].payload == "newer"


def test_M2_a_kind_that_remembers_nothing_and_has_the_key_says_so_and_keeps_what_it_has(
    queue: Session, clock: Clock
) -> None:
    for kind in ("fresh", "there"):
        queue.subscribe("t", kind)
    there = queue.push("there", "k", "old").scheduled_at
    clock.advance(1)
    published = queue.publish("t", "k", "new")
    assert [(one.outcome, one.scheduled_at) for one in published] == [
        ("created", clock.now),
        ("ignored", there),
    ]
    assert [m.payload for kind in ("fresh", "there") for m in queue.reserve(kind)] == ["new", "old"]


@pytest.mark.parametrize("on_duplicate", ["replace", "keep_time", "push_back"])
def test_a_publish_ignores_a_key_that_is_remembered_as_a_push_does_also_where_it_came_back(
    queue: Session, clock: Clock, on_duplicate: Any
) -> None:
    queue.define("mail", dedup_seconds=60)
    queue.subscribe("t", "mail")
    queue.push("mail", "a", 1)
    queue.ack(take(queue, "mail")[1])
    queue.push("other", "a", 2)
    assert queue.move(take(queue, "other")[1], "mail").outcome == "moved"
    there = queue.peek("mail")[0].scheduled_at
    pushed = queue.push("mail", "a", 3, on_duplicate=on_duplicate)
    assert (pushed.outcome, pushed.scheduled_at) == ("ignored", there)
    [published] = queue.publish("t", "a", 3, on_duplicate=on_duplicate)
    assert (published.outcome, published.scheduled_at) == ("ignored", there)
    assert outcomes(queue.publish("t", "a", 4, on_duplicate=on_duplicate)) == ["ignored"]
    clock.advance(60)
    assert outcomes(queue.publish("t", "a", 5, on_duplicate=on_duplicate)) == ["replaced"]
    assert take(queue, "mail")[0].payload == (2 if on_duplicate == "push_back" else 5)


def test_M2_a_misfit_for_one_kind_refuses_the_publish_as_a_whole(queue: Session) -> None:
    queue.define("strict", payload_shape={"to": "string"})
    for kind in ("a", "strict", "z"):
        queue.subscribe("t", kind)
    with pytest.raises(InvalidPayload, match='payload for "strict"'):
        queue.publish("t", "k", {"to": 1})
    assert [queue.peek(kind) for kind in ("a", "strict", "z")] == [[], [], []]
    assert outcomes(queue.publish("t", "k", {"to": "x"})) == ["created"] * 3


def test_M2_what_one_kind_wants_of_a_copy_is_done_whatever_the_next_one_wants(queue: Session) -> None:
    queue.define("a", log_seconds=60, filter_index=True)
    queue.define("b", payload_shape={"n": "number"})
    for kind in "ab":
        queue.subscribe("t", kind)
    queue.publish("t", "k", {"n": 1})
    assert [event.key for event in queue.read("a", "r", 2)] == ["k"]
    assert [one.key for one in queue.reserve("a", where={"n": 1})] == ["k"]


def test_M2_a_copy_that_is_replaced_is_logged_and_found_by_what_it_has_now(queue: Session) -> None:
    queue.define("a", log_seconds=60, filter_index=True)
    queue.subscribe("t", "a")
    queue.publish("t", "k", {"n": 1})
    queue.publish("t", "k", {"n": 2}, on_duplicate="replace")
    queue.publish("t", "k", {"n": 3}, on_duplicate="push_back")
    assert [event.event for event in queue.read("a", "r", 9)] == ["pushed", "replaced"]
    assert queue.reserve("a", where={"n": 1}) == []
    assert [one.payload for one in queue.reserve("a", where={"n": 2})] == [{"n": 2}]


def test_D7_who_unsubscribes_does_so_from_one_pattern_for_one_kind(queue: Session) -> None:
    for pattern, kind in (("job.*", "watch"), ("job.*", "other"), ("job.#", "watch")):
        queue.subscribe(pattern, kind)
    assert queue.unsubscribe("job.*", "watch")
    found = [(one.pattern, one.kind) for one in queue.subscriptions()]
    assert sorted(found) == [("job.#", "watch"), ("job.*", "other")]


def test_M2_a_publish_that_is_rolled_back_wasnt(connect: Connect) -> None:
    queue = connect(autocommit=False)
    queue.subscribe("t", "a")
    queue.commit()
    queue.publish("t", "k", 1)
    queue.rollback()
    assert queue.peek("a") == []
    queue.publish("t", "k", 1)
    queue.commit()
    assert keys(queue.peek("a")) == ["k"]


def test_M2_a_copy_can_be_delayed(queue: Session, clock: Clock) -> None:
    queue.subscribe("t", "a")
    queue.publish("t", "k", 1, delay_seconds=60)
    assert queue.reserve("a") == []
    clock.advance(60)
    assert keys(queue.reserve("a")) == ["k"]


def test_M2_a_publish_to_a_hundred_kinds(queue: Session) -> None:
    for number in range(100):
        queue.subscribe("t.#", f"k{number:03}")
    published = queue.publish("t.x", "k", {"text": "x" * 1000})
    assert [one.kind for one in published] == [f"k{number:03}" for number in range(100)]
    assert set(outcomes(published)) == {"created"}
    assert len(receipts(queue.reserve("k099"))) == 1


def test_dropping_a_kind_ends_its_subscriptions(queue: Session) -> None:
    queue.subscribe("t", "gone")
    queue.subscribe("t", "stays")
    queue.drop("gone")
    assert kinds(queue, "t") == ["stays"]


@each(
    ("topic", "why"),
    [
        ("", "1 to 255"),
        ("x" * 256, "1 to 255"),
        ("a..b", "words"),
        (".a", "words"),
        ("a.", "words"),
        ("a.*", r"\* or #"),
        ("#", r"\* or #"),
    ],
)
def test_what_is_no_topic_is_refused_by_name(queue: Session, topic: str, why: str) -> None:
    with pytest.raises(InvalidParameter, match=f"topic.*{why}"):
        queue.publish(topic, "k", 1)


@each("pattern", ["", "a..b", "a*", "#b", "a.b*c", "**", "#.a.#.b.#.c.#", "x" * 256])
def test_what_is_no_pattern_is_refused_by_name(queue: Session, pattern: str) -> None:
    with pytest.raises(InvalidParameter, match="pattern"):
        queue.subscribe(pattern, "k")
    with pytest.raises(InvalidParameter, match="pattern"):
        queue.unsubscribe(pattern, "k")
    assert queue.subscriptions() == []


def test_the_options_of_a_publish_are_those_of_a_push(queue: Session) -> None:
    queue.subscribe("t", "a")
    wrong: list[dict[str, Any]] = [{"priority": 40000}, {"on_duplicate": "explode"}, {"colour": "red"}]
    for options in wrong:
        with pytest.raises(InvalidOption, match=next(iter(options))):
            queue.publish("t", "k", 1, **options)
    with pytest.raises(InvalidParameter, match="key"):
        queue.publish("t", "x" * 201, 1)
    with pytest.raises(InvalidParameter, match="kind"):
        queue.subscribe("t", "k" * 96)


def test_a_publish_to_a_kind_that_is_drained_is_refused(queue: Session) -> None:
    queue.subscribe("t", "a")
    queue.subscribe("t", "full")
    queue.drain("full")
    with pytest.raises(Refused, match="full"):
        queue.publish("t", "k", 1)
    assert queue.peek("a") == []
