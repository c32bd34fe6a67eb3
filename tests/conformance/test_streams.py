"""Streams and the event log: rows K6, M2 and D8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, Reader, ReadUpTo, Refused, to_datetime
from tests.conformance.steps import die, receipts, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyqueue_sql import Event
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Harness, Session

EVERYTHING = ("pushed", "replaced", "acked", "popped", "moved", "dead", "removed")


def logged(queue: Session, *kinds: str, seconds: float = 3600) -> None:
    """Give kinds a log."""
    for kind in kinds:
        assert queue.define(kind, log_seconds=seconds).log_seconds == seconds


def on(queue: Session, name: str, reader: str, most: int = 1000, **options: Any) -> list[Event]:
    """Read on, and be done with it."""
    events = queue.read(name, reader, most, **options)
    if events:
        queue.read_ack(reader, events[-1].position)
    return events


def short(events: Iterable[Event]) -> list[str]:
    """Return what happened to which key."""
    return [f"{event.event} {event.key}" for event in events]


def test_K6_each_reader_sees_every_message_from_the_place_that_it_remembers(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    logged(queue, "orders")
    for n in range(3):
        queue.push("orders", f"o{n}", {"n": n}, headers={"h": n})
    first = queue.read("orders", "billing", 2)
    assert [(one.key, one.payload, one.headers) for one in first] == [
        ("o0", {"n": 0}, {"h": 0}),
        ("o1", {"n": 1}, {"h": 1}),
    ]
    assert {(one.kind, one.topic, one.event, one.created_at) for one in first} == {
        ("orders", None, "pushed", clock.now)
    }
    assert queue.read("orders", "billing", 2) == first, "the same, until it is done with them"
    assert queue.read_ack("billing", first[0].position) == ReadUpTo("billing", first[0].position)
    assert short(connect().read("orders", "billing", 10)) == ["pushed o1", "pushed o2"]
    assert short(queue.read("orders", "audit", 10)) == ["pushed o0", "pushed o1", "pushed o2"]
    assert [message.key for message in queue.pop("orders", 10)] == ["o0", "o1", "o2"], (
        "of which a pop takes none"
    )
    assert short(queue.read("orders", "audit", 10)) == ["pushed o0", "pushed o1", "pushed o2"]
    assert short(queue.read("orders", "late", 10, start="now")) == []
    queue.push("orders", "o3", 3)
    assert short(queue.read("orders", "late", 10, start="now")) == ["pushed o3"]


@pytest.mark.parametrize("name", ["orders", "order.created", "order.*"])
def test_K6_a_reader_that_reads_one_at_a_time_comes_to_all(queue: Session, name: str) -> None:
    logged(queue, "orders")
    queue.subscribe("order.created", "orders")
    for key in "abc":
        queue.publish("order.created", key, 0)
    found = [short(on(queue, name, "r", 1)) for _ in range(4)]
    assert found == [["pushed a"], ["pushed b"], ["pushed c"], []]


def test_K6_a_place_never_goes_back(queue: Session) -> None:
    logged(queue, "k")
    for n in range(3):
        queue.push("k", f"{n}", n)
    positions = [one.position for one in queue.read("k", "r", 10)]
    assert positions == sorted(set(positions))
    assert queue.read_ack("r", positions[1]).position == positions[1]
    for behind in (positions[0], positions[1], 0):
        assert queue.read_ack("r", behind).position == positions[1]
    assert short(queue.read("k", "r", 10)) == ["pushed 2"]
    with pytest.raises(InvalidParameter, match="position"):
        queue.read_ack("r", positions[2] + 1000)


def test_K6_nobody_is_done_with_what_was_never_in_the_log(queue: Session) -> None:
    queue.define("k", log_seconds=60)
    assert queue.read("k", "r", 1) == []
    with pytest.raises(InvalidParameter, match="position"):
        queue.read_ack("r", 1_000_000_000_000)
    queue.push("k", "a", 0)
    assert [one.key for one in queue.read("k", "r", 2)] == ["a"]


def test_K6_what_comes_in_by_any_way_is_logged(queue: Session, clock: Clock) -> None:
    logged(queue, "in")
    queue.define("plain", dead_letter_kind="in")
    queue.push("in", "push", 1)
    queue.push("in", "options", 1, delay_seconds=60, priority=3)
    queue.push_bytes("in", "bytes", b"\0\1")
    queue.push_many("in", [{"key": "z many", "payload": 1}, {"key": "a many", "payload": 2}])
    queue.push_many("in", [{"key": "each", "payload": 1, "on_duplicate": "replace"}])
    queue.land([{"p_kind": "in", "p_key": "landed", "payload": "1"}])
    queue.land([{"p_kind": "in", "p_key": "landed late", "payload": "1", "delay_seconds": 5}])
    queue.prune()  # takes in what has landed, where no trigger does
    queue.subscribe("t", "in")
    queue.publish("t", "published", 1)
    queue.push("plain", "moved", 1)
    queue.move(take(queue, "plain")[1], "in")
    queue.push("plain", "routed", 1, route=["in"])
    queue.ack(take(queue, "plain")[1])
    die(queue, "plain", "buried", 1)
    queue.schedule("s", "in", 1, every_seconds=10)
    clock.advance(20)
    queue.tick()
    events = on(queue, "in", "r")
    assert [one.key for one in events[:-1]] == [
        "push",
        "options",
        "bytes",
        "z many",
        "a many",
        "each",
        "landed",
        "landed late",
        "published",
        "moved",
        "routed",
        "buried",
    ]
    assert len({one.entry for one in events}) == len(events) == 13
    assert {one.event for one in events} == {"pushed"}
    assert events[2].payload_bytes == b"\0\1"
    assert events[8].topic == "t"


def test_K6_redrive_and_replay_are_logged(queue: Session) -> None:
    queue.define("work", log_seconds=3600, history_seconds=3600)
    die(queue, "work", "a", 1)
    assert queue.redrive("work.dead").went == 1
    queue.pop("work", 1)
    assert queue.replay("work", outcome="popped").went == 1
    assert short(on(queue, "work", "r", events=EVERYTHING)) == [
        "pushed a",
        "dead a",
        "pushed a",
        "popped a",
        "pushed a",
    ]


def test_K6_a_push_that_changes_nothing_is_not_logged(queue: Session) -> None:
    queue.define("k", log_seconds=3600, dedup_seconds=3600)
    queue.push("k", "a", 1)
    assert queue.push("k", "a", 2).outcome == "ignored"
    queue.push_many("k", [{"key": "a", "payload": 2}, {"key": "b", "payload": 1}, {"key": "b", "payload": 2}])
    queue.land([{"p_kind": "k", "p_key": "a", "payload": "2"}])
    assert queue.push("k", "a", None, on_duplicate="push_back", delay_seconds=1).outcome == "replaced"
    assert queue.push("k", "a", 3, on_duplicate="replace").outcome == "replaced"
    assert (
        queue.push_many("k", [{"key": "a", "payload": 4}], on_duplicate="keep_time")[0].outcome == "replaced"
    )
    batch = [{"key": "a", "payload": 5, "on_duplicate": "push_back"}]
    assert queue.push_many("k", batch, on_duplicate="replace")[0].outcome == "replaced"
    batch = [{"key": "a", "payload": 6, "on_duplicate": "replace"}]
    assert queue.push_many("k", batch, on_duplicate="push_back")[0].outcome == "replaced"
    queue.pop("k", 10)
    assert queue.push("k", "a", 5).outcome == "ignored", "remembered"
    events = on(queue, "k", "r")
    assert [(one.event, one.key, one.payload) for one in events] == [
        ("pushed", "a", 1),
        ("pushed", "b", 1),
        ("replaced", "a", 3),
        ("replaced", "a", 4),
        ("replaced", "a", 6),
    ]
    assert events[0].entry == events[2].entry


def test_K6_a_push_onto_a_held_message_is_logged_when_it_is_put_in(queue: Session) -> None:
    logged(queue, "k")
    queue.push("k", "a", 1)
    _, receipt = take(queue, "k")
    assert queue.push("k", "a", 2, on_duplicate="replace").outcome == "held"
    assert [one.payload for one in on(queue, "k", "r", events=EVERYTHING)] == [1]
    queue.ack(receipt)
    assert [(one.event, one.payload) for one in on(queue, "k", "r")] == [("acked", None), ("pushed", 2)]


def test_D8_the_log_has_every_end(queue: Session, clock: Clock) -> None:
    queue.define("k", log_seconds=3600, max_attempts=1, timeout_seconds=10)
    queue.push("k", "acked", 1)
    queue.ack(take(queue, "k")[1])
    queue.push_many("k", [{"key": "many1", "payload": 1}, {"key": "many2", "payload": 1}])
    queue.ack_many(receipts(queue.reserve("k", None, 10)))
    queue.push("k", "popped", 1)
    queue.pop("k")
    queue.push_many("k", [{"key": "pops1", "payload": 1}, {"key": "pops2", "payload": 1}])
    queue.pop("k", 10)
    queue.push("k", "moved", 1)
    queue.move(take(queue, "k")[1], "next")
    queue.push("k", "chosen", 1)
    queue.ack(take(queue, "k")[1], to="next")
    die(queue, "k", "dead", 1)
    queue.push("k", "expired", 1)
    take(queue, "k")
    clock.advance(20)
    assert queue.reserve("k") == []
    queue.push("k", "removed", 1)
    queue.remove("k", "removed")
    queue.push("k", "purged", 1)
    queue.purge("k")
    queue.push("k", "nacked", 1, max_attempts=5)
    queue.nack(take(queue, "k")[1])
    events = on(queue, "k", "r", events=set(EVERYTHING) - {"pushed"})
    assert short(events) == [
        "acked acked",
        "acked many1",
        "acked many2",
        "popped popped",
        "popped pops1",
        "popped pops2",
        "moved moved",
        "moved chosen",
        "dead dead",
        "dead expired",
        "removed removed",
        "removed purged",
    ]
    assert {(one.payload, one.payload_bytes, one.headers) for one in events} == {(None, None, None)}
    assert [one.to_kind for one in events[6:10]] == ["next", "next", "k.dead", "k.dead"]
    pushed = {one.key: one.entry for one in on(queue, "k", "s")}
    assert {one.key: one.entry for one in events} == {key: pushed[key] for key in pushed if key != "nacked"}


def test_D8_a_reader_follows_a_topic(queue: Session) -> None:
    for kind in ("audit", "billing", "mail"):
        queue.subscribe("order.*", kind)
    logged(queue, "audit", "mail")
    queue.publish("order.created", "1", 1)
    queue.publish("order.paid", "2", 2)
    queue.push("audit", "3", 3)
    queue.push("billing", "4", 4)
    for name, keys in {
        "order.created": ["1"],
        "order.*": ["1", "2"],
        "#.paid": ["2"],
        "#": ["1", "2", "3"],
        "audit": ["1", "2", "3"],
        "mail": ["1", "2"],
        "billing": [],
        "*": ["3"],
    }.items():
        assert [one.key for one in on(queue, name, f"of {name}")] == keys, name
    (created,) = queue.read("order.created", "again", 10)
    assert (created.topic, created.kind, created.payload) == ("order.created", "audit", 1)


def test_D8_a_kind_of_the_name_of_its_topic_shows_each_message_once(queue: Session) -> None:
    logged(queue, "news")
    queue.subscribe("news", "news")
    for key in "abc":
        queue.publish("news", key, 1)
    assert short(queue.read("news", "r", 2)) == ["pushed a", "pushed b"]
    assert [reader.behind for reader in queue.readers()] == [3]


def test_D8_a_publish_onto_what_is_there_comes_once_to_who_follows_the_topic(queue: Session) -> None:
    for kind in ("a", "b"):
        queue.subscribe("t", kind)
    logged(queue, "a", "b")
    queue.push("b", "1", 0)
    queue.publish("t", "1", 1, on_duplicate="replace")
    assert [(one.event, one.kind, one.payload) for one in on(queue, "t", "r")] == [("pushed", "a", 1)]
    assert [(one.event, one.payload) for one in on(queue, "b", "s")] == [("pushed", 0), ("replaced", 1)]
    queue.publish("t", "1", 2, on_duplicate="keep_time")
    assert [(one.event, one.kind, one.payload) for one in on(queue, "t", "r")] == [("replaced", "a", 2)]
    assert [(one.event, one.payload) for one in on(queue, "b", "s")] == [("replaced", 2)]
    queue.publish("t", "1", 2)
    assert on(queue, "t", "r") == on(queue, "b", "s") == [], "ignored"
    queue.publish("t", "1", 3, on_duplicate="push_back")
    assert on(queue, "t", "r") == on(queue, "b", "s") == [], "the payload is the same"


def test_D8_who_reads_rarely_does_not_read_again_what_is_not_for_it(queue: Session) -> None:
    logged(queue, "busy", "quiet")
    assert queue.read("quiet", "r") == queue.read("#.quiet", "p") == []
    for _ in range(3):
        queue.push_many("busy", [{"payload": 0}] * 500)
    assert queue.read("quiet", "r") == queue.read("#.quiet", "p") == []
    assert {reader.behind for reader in queue.readers()} == {0}
    queue.push("quiet", "a", 0)
    assert short(on(queue, "quiet", "r")) == short(on(queue, "#.quiet", "p")) == ["pushed a"]


def test_K6_readers_of_the_same_events_show_the_same(queue: Session) -> None:
    logged(queue, "k")
    queue.read("k", "one", 10, events=["replaced", "acked", "pushed"])
    queue.read("k", "other", 10, events=["pushed", "acked", "replaced", "acked"])
    assert {reader.events for reader in queue.readers()} == {"acked,pushed,replaced"}


def test_K6_the_log_is_kept_by_age_and_who_falls_behind_is_told(queue: Session, clock: Clock) -> None:
    logged(queue, "k", seconds=100)
    logged(queue, "longer", seconds=1000)
    for kind in ("k", "longer"):
        queue.push(kind, "old", 1)
    (old,) = queue.read("k", "r", 10)
    assert short(on(queue, "k", "quick")) == ["pushed old"]
    clock.advance(60)
    queue.push("k", "new", 1)
    clock.advance(50)
    assert queue.prune() > 0
    with pytest.raises(Refused, match=f'reader "r".* ack {old.position} to go on'):
        queue.read("k", "r", 10)
    states = {reader.reader: reader for reader in queue.readers()}
    assert (states["r"].missed, states["quick"].missed) == (old.position, None)
    queue.read_ack("r", old.position)
    for reader in ("r", "quick", "one that is new"):
        assert short(queue.read("k", reader, 10)) == ["pushed new"]
    assert short(queue.read("longer", "l", 10)) == ["pushed old"]
    assert short(queue.read("#", "all", 10)) == ["pushed old", "pushed new"], "of what is kept now"
    clock.advance(100)
    while queue.prune():
        pass
    assert on(queue, "k", "quick", events=["acked"]) == [], "it has missed what it doesn't want to see"
    with pytest.raises(Refused):
        queue.read("#", "all", 10)


def test_K6_who_reads_one_kind_or_topic_misses_nothing_of_what_another_has_no_longer(
    queue: Session, clock: Clock
) -> None:
    logged(queue, "k", seconds=100)
    logged(queue, "longer", seconds=1000)
    for topic, kind in (("short.lived", "k"), ("long.lived", "longer")):
        queue.subscribe(topic, kind)
    queue.publish("long.lived", "first", 1)
    for name in ("longer", "long.lived"):
        assert short(on(queue, name, f"of {name}")) == ["pushed first"]
    queue.publish("short.lived", "old", 1)
    queue.push("k", "older", 1)
    clock.advance(110)
    assert queue.prune() > 0
    assert {reader.missed for reader in queue.readers()} == {None}
    queue.publish("long.lived", "second", 1)
    for name in ("longer", "long.lived"):
        assert short(on(queue, name, f"of {name}")) == ["pushed second"]


@pytest.mark.parametrize("name", ["t", "*", "#"])
def test_K6_a_topic_is_read_for_as_long_as_any_of_its_kinds_keeps_a_log(
    queue: Session, clock: Clock, name: str
) -> None:
    for kind, seconds in (("a", 100), ("b", 200)):
        logged(queue, kind, seconds=seconds)
        queue.subscribe("t", kind)
    queue.publish("t", "1", 1)
    for _ in range(2):
        assert short(queue.read(name, "r", 9)) == ["pushed 1"]
        assert short(queue.read("b", "of b", 9)) == ["pushed 1"], "once"
        assert {reader.behind for reader in queue.readers()} == {1}
        clock.advance(100)
        queue.prune()
    with pytest.raises(Refused, match="missed"):
        queue.read(name, "r", 9)


def test_K6_who_begins_now_has_missed_nothing_also_where_all_of_the_log_is_pruned(
    queue: Session, clock: Clock
) -> None:
    logged(queue, "k", seconds=100)
    queue.push("k", "old", 1)
    queue.ack(take(queue, "k")[1])
    clock.advance(100)
    while queue.prune():
        pass
    assert queue.read("k", "r", 10, start="now") == []
    assert queue.read("#", "all", 10, start="now", events=EVERYTHING) == []
    assert queue.read("k", "acks", 10, events=["acked"]) == [], "nor who begins with the oldest that is kept"
    queue.push("k", "new", 1)
    for name, reader in (("k", "r"), ("#", "all")):
        assert short(queue.read(name, reader, 10)) == ["pushed new"]
    assert short(queue.read("k", "r", 10, events=EVERYTHING)) == ["pushed new"]


def test_K6_without_a_log_there_is_nothing_to_read(queue: Session) -> None:
    assert queue.define("k").log_seconds == 0
    queue.push("k", "a", 1)
    queue.ack(take(queue, "k")[1])
    assert queue.read("k", "r", 10, events=EVERYTHING) == []
    logged(queue, "k")
    queue.push("k", "b", 1)
    (last,) = queue.read("k", "r", 10)
    assert last.key == "b"
    assert queue.define("k", log_seconds=None).log_seconds == 0
    queue.push("k", "c", 1)
    queue.prune()  # so do one in a hundred reads
    with pytest.raises(Refused):
        queue.read("k", "r", 10)
    queue.read_ack("r", last.position)
    assert queue.read("k", "r", 10) == []


def test_K6_what_is_undone_is_not_in_the_log(queue: Session, connect: Connect) -> None:
    logged(queue, "k")
    other = connect(autocommit=False)
    other.push("k", "undone", 1)
    other.rollback()
    other.push("k", "done", 1)
    other.commit()
    assert short(queue.read("k", "r", 10)) == ["pushed done"]


def test_K6_one_that_commits_late_is_not_jumped_over(queue: Session, connect: Connect) -> None:
    logged(queue, "k")
    slow, slower = connect(autocommit=False), connect(autocommit=False)
    slow.push("k", "1", 1)
    slower.push("k", "2", 1)
    queue.push("k", "3", 1)
    assert on(queue, "k", "r") == []
    slow.commit()
    slow.push("k", "4", 1)
    assert short(on(queue, "k", "r")) in ([], ["pushed 1"])
    slower.commit()
    read = short(on(queue, "k", "r"))
    queue.push("k", "5", 1)
    read += short(on(queue, "k", "r"))
    slow.rollback()
    read += short(on(queue, "k", "r"))
    assert read[-3:] == ["pushed 2", "pushed 3", "pushed 5"]
    assert short(queue.read("k", "from the start", 10)) == [f"pushed {n}" for n in (1, 2, 3, 5)]


def test_K6_who_began_before_others_were_seen_at_work_can_append(
    harness: Harness, queue: Session, connect: Connect
) -> None:
    logged(queue, "k")
    queue.push("k", "1", 1)
    old, slow = harness.open_snapshot(), connect(autocommit=False)
    slow.push("k", "2", 1)
    read = short(on(queue, "k", "r"))
    slow.commit()
    assert read + short(on(queue, "k", "r")) == ["pushed 1", "pushed 2"]
    old.push("k", "3", 1)
    old.commit()
    assert short(on(queue, "k", "r")) == ["pushed 3"]


def test_K6_a_read_rides_in_the_callers_transaction(queue: Session, connect: Connect) -> None:
    logged(queue, "k")
    for n in range(3):
        queue.push("k", f"{n}", n)
    other = connect(autocommit=False)
    assert short(other.read("k", "r", 2)) == ["pushed 0", "pushed 1"]
    other.commit()
    assert short(on(other, "k", "r", 2)) == ["pushed 0", "pushed 1"]
    other.rollback()
    assert short(on(other, "k", "r", 2)) == ["pushed 0", "pushed 1"]
    other.commit()
    assert short(on(other, "k", "r", 2)) == ["pushed 2"]
    other.commit()
    slow = connect(autocommit=False)
    slow.push("k", "late", 1)
    queue.push("k", "3", 1)
    assert on(other, "k", "r") == []
    other.commit()
    slow.commit()
    assert short(queue.read("k", "r", 10)) == ["pushed late", "pushed 3"]
    assert short(on(other, "k", "r")) == ["pushed late", "pushed 3"]
    other.commit()


def test_K6_a_reader_in_transactions_passes_what_was_undone(
    queue: Session, connect: Connect, clock: Clock
) -> None:
    logged(queue, "k")
    other, reader = connect(autocommit=False), connect(autocommit=False)
    queue.push("k", "1", 1)
    other.push("k", "undone", 1)
    other.rollback()
    queue.push("k", "2", 1)
    read: list[str] = []
    for _ in range(4):
        read += short(on(reader, "k", "r"))
        reader.commit()
        clock.advance(2)
        queue.prune()  # says that it is safe, where the reader can't know
    assert read == ["pushed 1", "pushed 2"]


def test_D8_readers_can_be_looked_at_and_forgotten(queue: Session, clock: Clock) -> None:
    logged(queue, "k")
    queue.push("k", "a", 1)
    (event,) = queue.read("k", "r", 10)
    assert (
        queue.readers()
        == [Reader("r", "k", "pushed,replaced", event.position - 1, 1, None, to_datetime(clock.now))]
        or queue.readers()[0].position < event.position
    )
    queue.read_ack("r", event.position)
    assert (queue.readers()[0].position, queue.readers()[0].behind) == (event.position, 0)
    with pytest.raises(Refused, match='reads "k"'):
        queue.read("other", "r")
    assert queue.read_end("r")
    assert not queue.read_end("r")
    assert queue.readers() == []
    assert queue.read("other", "r") == []
    with pytest.raises(Refused, match="has read nothing"):
        queue.read_ack("nobody", 1)


def test_K6_what_ends_is_seen_by_kind_and_refused_to_who_reads_a_topic(queue: Session) -> None:
    logged(queue, "shop.orders")
    queue.subscribe("news.*", "shop.orders")
    queue.publish("news.today", "a", 1)
    queue.ack(take(queue, "shop.orders")[1])
    for name in ("shop.orders", "shop.*", "#"):
        assert short(on(queue, name, f"r {name}", events=["acked"])) == ["acked a"]
    for name in ("news.today", "news.*", "#.today"):
        with pytest.raises(InvalidOption, match='events "acked": must be pushed or replaced'):
            queue.read(name, f"r {name}", events=["pushed", "acked"])
        assert short(on(queue, name, f"r {name}", events=["pushed"])) == ["pushed a"]


def test_D8_a_reader_is_behind_by_the_events_that_it_will_see(queue: Session) -> None:
    logged(queue, "k", "other", "copy", "news.#")
    queue.subscribe("news.*", "other")
    queue.subscribe("news.*", "copy")
    wanted: dict[str, tuple[str, list[Any]]] = {
        "k": ("k", ["pushed"]),
        "ends of k": ("k", ["acked", "popped"]),
        "topic": ("news.a", ["pushed", "replaced"]),
        "pattern": ("news.#", ["pushed"]),
        "of kinds": ("#", ["pushed", "acked"]),
        "other": ("other", ["pushed"]),
    }
    for reader, (name, events) in wanted.items():
        assert queue.read(name, reader, events=events) == []
    for key in "abc":
        queue.push("k", key, 1)
    queue.push("k", "c", 2, on_duplicate="replace")
    queue.ack(receipts(queue.reserve("k"))[0])
    queue.publish("news.a", "n", 1)
    queue.publish("news.b", "n2", 1)
    queue.push("news.#", "of a kind whose name is a pattern", 1)
    expected = {"k": 3, "ends of k": 1, "topic": 1, "pattern": 3, "of kinds": 7, "other": 2}
    assert {reader.reader: reader.behind for reader in queue.readers()} == expected
    for reader, (name, events) in wanted.items():
        assert len(on(queue, name, reader, 100, events=events)) == expected[reader]
    assert {reader.behind for reader in queue.readers()} == {0}


def test_D8_a_dropped_kind_leaves_its_log_to_age(queue: Session, clock: Clock) -> None:
    logged(queue, "k")
    queue.push("k", "a", 1)
    queue.drop("k")
    # a read prunes by the way, now and then, and without log_seconds all is past its time
    logged(queue, "k")
    assert short(queue.read("k", "r", 10, events=EVERYTHING)) == ["pushed a"]
    queue.drop("k")
    clock.advance(1)
    queue.prune()
    assert short(queue.read("k", "late", 10, events=EVERYTHING)) == []


def test_K6_pausing_and_draining_do_not_touch_the_readers(queue: Session) -> None:
    logged(queue, "k")
    queue.push("k", "a", 1)
    queue.pause("k")
    queue.push("k", "b", 1)
    assert short(on(queue, "k", "r")) == ["pushed a", "pushed b"]
    queue.resume("k")
    queue.drain("k")
    queue.ack(receipts(queue.reserve("k"))[0])
    assert short(on(queue, "k", "s", events=["acked"])) == ["acked a"]


@each(
    "options",
    [{"events": ["nonsense"]}, {"events": []}, {"events": [1]}, {"events": "acked"}, {"start": "never"}],
)
def test_bad_options_of_a_read(queue: Session, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        queue.read("k", "r", 1, **options)


@each("name", ["", "x" * 256, "a.#.*#", "#.#.#.#", None])
def test_bad_names_of_a_read(queue: Session, name: Any) -> None:
    with pytest.raises(InvalidParameter):
        queue.read(name, "r")


def test_what_was_shown_and_not_acked_comes_again_whatever_was_read_in_between(queue: Session) -> None:
    for kind in ("k", "busy"):
        queue.define(kind, log_seconds=10_000_000)
    queue.push("k", "shown")
    assert [one.key for one in queue.read("k", "r", 9, events=["pushed"])] == ["shown"]
    for _ in range(2):
        queue.push_many("busy", [{"payload": number} for number in range(1100)])
        assert queue.read("k", "r", 9, events=["moved"]) == []
    assert queue.readers()[0].behind == 0
    queue.push_many("busy", [{"payload": number} for number in range(1100)])
    assert queue.read("k", "r", 9) == []
    [shown] = queue.read("k", "r", 9, events=["pushed"])
    assert shown.key == "shown"
    queue.read_ack("r", shown.position)
    assert queue.read("k", "r", 9) == []
