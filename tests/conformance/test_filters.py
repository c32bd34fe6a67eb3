"""Filters (row M4): a receiver takes only what its filter matches, with an index and without."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption
from tests.conformance.steps import SECOND, drain, keys, receipts, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

INDEXED = pytest.mark.parametrize("indexed", [False, True], ids=["scanned", "indexed"])

DEEP: Any = 1
for _ in range(30):
    DEEP = {"a": DEEP}

MATCHES: list[tuple[Any, Any, bool]] = [
    # what is pushed, the filter, whether that matches
    ({"a": 1, "b": 2}, {}, True),
    ({"a": 1, "b": 2}, {"a": 1}, True),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ({"a": 1}, {"a": 1, "b": 2}, False),
    ({"a": 1}, {"a": 2}, False),
    ({"a": 1}, {"b": 1}, False),
    ({"a": 1}, {"a": 1.0}, True),
    ({"a": 1.0}, {"a": 1}, True),
    ({"a": 100}, {"a": 1e2}, True),
    ({"a": 1.5}, {"a": 1.5}, True),
    ({"a": 1.5}, {"a": 1}, False),
    ({"a": 0.1}, {"a": 0.1}, True),
    ({"a": 1e-7}, {"a": 0.0000001}, True),
    ({"a": 1e300}, {"a": 1e300}, True),
    ({"a": -5}, {"a": -5.0}, True),
    ({"a": -5}, {"a": 5}, False),
    ({"a": 0}, {"a": -0.0}, True),
    ({"a": 9007199254740993}, {"a": 9007199254740993}, True),
    ({"a": 9007199254740993}, {"a": 9007199254740992}, False),
    ({"a": 9223372036854775807}, {"a": 9223372036854775806}, False),
    ({"a": 1}, {"a": "1"}, False),
    ({"a": "1"}, {"a": 1}, False),
    ({"a": "1.0"}, {"a": "1"}, False),
    ({"a": True}, {"a": True}, True),
    ({"a": True}, {"a": False}, False),
    ({"a": True}, {"a": "true"}, False),
    ({"a": "true"}, {"a": True}, False),
    ({"a": True}, {"a": 1}, False),
    ({"a": 1}, {"a": True}, False),
    ({"a": None}, {"a": None}, True),
    ({"a": "null"}, {"a": None}, False),
    ({"a": None}, {"a": "null"}, False),
    ({"b": 1}, {"a": None}, False),
    ({"a": 0}, {"a": None}, False),
    ({"a": 0}, {"a": False}, False),
    ({"a": "x"}, {"a": "x"}, True),
    ({"a": "x"}, {"a": "X"}, False),
    ({"a": "x"}, {"a": "x "}, False),
    ({"a": "x "}, {"a": "x "}, True),
    ({"a": "é"}, {"a": "e"}, False),
    ({"a": "é"}, {"a": "é"}, True),
    ({"a": "e\u0301"}, {"a": "é"}, False),
    ({"ä": "漢字 🎉"}, {"ä": "漢字 🎉"}, True),
    ({"A": 1}, {"a": 1}, False),
    ({"a ": 1}, {"a": 1}, False),
    ({"a.b": 1}, {"a.b": 1}, True),
    ({"a": {"b": 1}}, {"a.b": 1}, False),
    ({"a.b": 1}, {"a": {"b": 1}}, False),
    ({'q"q': 'v"v'}, {'q"q': 'v"v'}, True),
    ({"o": {'a"b': 1, "$": 2, " ": 3, "c": 4}}, {"o": {" ": 3, "c": 4}}, True),
    ({"o": {'a"b': 1, "$": 2, " ": 3, "c": 4}}, {"o": {"c": 3}}, False),
    ({'a\\"b\\': 1, "$": 2, " ": 3, "c": 4}, {'a\\"b\\': 1, "c": 4}, True),
    ({"s\\s": "t\\t\n/"}, {"s\\s": "t\\t\n/"}, True),
    ({"s\\s": "t\\t"}, {"s\\s": "tt"}, False),
    ({"%": "_%"}, {"%": "_%"}, True),
    ({"%": "ab"}, {"%": "_%"}, False),
    ({"$": 1, "*": 2, "": 3}, {"$": 1, "*": 2, "": 3}, True),
    ({"x": 2}, {"*": 2}, False),
    ({"-": 1}, {"-": 1}, True),
    ({"-": 1}, {"-": 2}, False),
    ({"-a": {"-": "x"}, "b": 1}, {"-a": {"-": "x"}}, True),
    ({"-a": {"-": "x"}, "b": 1}, {"-a": {"-": "x"}, "b": 2}, False),
    ({"a": ""}, {"a": ""}, True),
    ({"a": {"b": {"c": 1, "d": 2}, "e": 3}}, {"a": {"b": {"c": 1}}}, True),
    ({"a": {"b": {"c": 1, "d": 2}, "e": 3}}, {"a": {"b": {"c": 1}, "e": 3}}, True),
    ({"a": {"b": {"c": 1}}}, {"a": {"c": 1}}, False),
    ({"a": {"b": {"c": 1}}}, {"b": {"c": 1}}, False),
    ({"a": {"b": 1}}, {"a": {}}, True),
    ({"a": {}}, {"a": {}}, True),
    ({"a": 1}, {"a": {}}, False),
    ({"a": []}, {"a": {}}, False),
    ({"a": None}, {"a": {}}, False),
    ({"a": [1, "x", None, True]}, {"a": []}, True),
    ({"a": []}, {"a": []}, True),
    ({"a": {}}, {"a": []}, False),
    ({"a": 1}, {"a": []}, False),
    ({"a": [1, "x", None, True]}, {"a": ["x"]}, True),
    ({"a": [1, "x", None, True]}, {"a": [True, 1.0, "x", None]}, True),
    ({"a": [1, "x", None, True]}, {"a": [1, 1, 1]}, True),
    ({"a": [1, "x"]}, {"a": [1, 2]}, False),
    ({"a": [1, "x"]}, {"a": ["1"]}, False),
    ({"a": [1, 2]}, {"a": 1}, False),
    ({"a": 1}, {"a": [1]}, False),
    ({"a": [[1]]}, {"a": [1]}, False),
    ({"a": [{"b": 1}]}, {"a": {"b": 1}}, False),
    ({"a": [{"b": 1}, 5]}, {"a": [5]}, True),
    ({"a": {"b": [1, 2]}}, {"a": {"b": [2]}}, True),
    ([{"a": 1}], {"a": 1}, False),
    ([1], {"a": 1}, False),
    ("a", {"a": 1}, False),
    (None, {"a": None}, False),
    (5, {}, True),
    (DEEP, DEEP, True),
    ({"a": DEEP["a"], "b": 1}, DEEP, True),
    ({chr(97 + n): n for n in range(20)}, {chr(97 + n): n for n in range(16)}, True),
    ({"long": "x" * 5000}, {"long": "x" * 5000}, True),
    ({"long": "x" * 5000}, {"long": "x" * 4999}, False),
    ({"many": list(range(500))}, {"many": [499]}, True),
    ({f"k{n}": n for n in range(300)}, {"k299": 299}, True),
    ({f"k{n}": n for n in range(300)}, {"k299": 300}, False),
]


@INDEXED
def test_M4_what_matches_is_the_same_on_every_server(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    wrong: list[str] = []
    for number, (payload, where, expected) in enumerate(MATCHES):
        queue.push("job", f"{number}", payload)
        seen = keys(queue.peek("job", 10, where=where))
        held = queue.reserve("job", None, 10, where=where)
        if [seen, keys(held)] != ([[f"{number}"]] * 2 if expected else [[], []]):
            wrong.append(f"{payload!r:.60} where {where!r:.60}: {seen} {keys(held)}")
        queue.ack_many(receipts(held))
        assert len(queue.pop("job", 10)) == 1 - len(held)
    assert not wrong


@INDEXED
def test_M4_headers_match_as_payloads_do(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    queue.push("job", "payload", {"lang": "fr"}, headers={"size": 1})
    queue.push("job", "headers", {"to": "ann"}, headers={"lang": "fr", "size": 2})
    queue.push("job", "other", {"lang": "de"}, headers={"lang": "it"})
    queue.push_bytes("job", "bytes", b"\x00", headers={"lang": "fr"})
    assert keys(queue.peek("job", 10, where={"lang": "fr"})) == ["payload", "headers", "bytes"]
    assert keys(queue.peek("job", 10, where={"lang": "fr", "size": 1})) == [], "not half of it in each"
    assert keys(queue.reserve("job", None, 10, where={"lang": "fr", "size": 2})) == ["headers"]
    assert keys(queue.pop("job", 10, where={"lang": "fr"})) == ["payload", "bytes"]
    assert keys(queue.reserve("job", None, 10)) == ["other"]


@INDEXED
def test_M4_numbers_of_any_form_in_headers_match(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    sizes = [0.5, 7, -1.25e10, 2**63 - 1]
    for number, size in enumerate(sizes):
        queue.push("job", f"{number}", {}, headers={"size": size})
    for number, size in enumerate(sizes):
        assert keys(queue.reserve("job", None, 10, where={"size": size})) == [f"{number}"]


@INDEXED
def test_M4_escapes_in_the_text_are_what_they_stand_for(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    queue.raw("queue_push", "job", "a", '{"\\u00e4":"\\u00e9\\/x", "n":1e0}', None)
    queue.raw("queue_push", "job", "b", '{"ä":"é/x", "n":10}', None)
    assert keys(queue.peek("job", 10, where={"ä": "é/x"})) == ["a", "b"]
    assert queue.raw("queue_reserve", "job", None, "5", '{"where":{"\\u00e4":"é\\/x", "n":1.00}}') == 1
    assert keys(queue.pop("job", 10, where={"ä": "é/x", "n": 10.0})) == ["b"]


@INDEXED
@pytest.mark.parametrize("call", ["reserve", "pop"])
def test_M4_what_was_pushed_onto_a_hold_is_found_once_that_has_expired(
    queue: Session, clock: Clock, indexed: bool, call: str
) -> None:
    queue.define("job", filter_index=indexed, timeout_seconds=10)
    queue.push("job", "a", {"t": 1})
    queue.push("job", "b", {"t": 1}, headers={"h": 1})
    assert len(queue.reserve("job", None, 2)) == 2
    assert queue.push("job", "a", {"t": 2}, on_duplicate="replace").outcome == "held"
    assert queue.push("job", "b", {"t": 3}, headers={"h": 2}, on_duplicate="keep_time").outcome == "held"
    assert queue.reserve("job", None, 9, where={"t": 2}) == []
    clock.advance(11)
    for where, key in (({"t": 2}, "a"), ({"h": 2}, "b")):
        taken = queue.reserve("job", where=where) if call == "reserve" else queue.pop("job", where=where)
        assert keys(taken) == [key]
    assert queue.reserve("job", None, 9, where={"t": 1}) == []


@INDEXED
@pytest.mark.parametrize("call", ["reserve", "pop"])
def test_M4_a_hold_that_has_expired_is_left_where_neither_it_nor_what_was_pushed_onto_it_matches(
    queue: Session, clock: Clock, indexed: bool, call: str
) -> None:
    queue.define("job", filter_index=indexed, timeout_seconds=10)
    pushes: dict[str, dict[str, Any]] = {
        "content": {"payload": {"t": 2}, "on_duplicate": "replace"},
        "time": {"on_duplicate": "push_back"},
    }
    for key in (*pushes, "bytes"):
        queue.push("job", key, {"t": 1}, headers={"h": 1})
    receipts = {one.key: one.receipt or "" for one in queue.reserve("job", None, 3)}
    for key, options in pushes.items():
        assert queue.push("job", key, **options).outcome == "held"
    assert queue.push_bytes("job", "bytes", b"x", on_duplicate="replace").outcome == "held"
    clock.advance(11)

    def taken(where: dict[str, Any]) -> list[str]:
        return keys(
            queue.reserve("job", None, 9, where=where)
            if call == "reserve"
            else queue.pop("job", 9, where=where)
        )

    assert taken({"t": 3}) == []
    assert queue.ack(receipts["bytes"]).outcome == "acked", "nobody else has got it"
    assert taken({"t": 1}) == ["time"], "of the newest content"
    assert queue.ack(receipts["content"]).outcome == "acked"
    assert taken({"t": 2}) == ["content"]
    assert queue.ack(receipts["time"]).outcome == "lost"


def test_M4_an_index_has_what_was_pushed_onto_a_hold_before_it_was_made(queue: Session, clock: Clock) -> None:
    queue.push("job", "a", {"t": 1})
    assert len(queue.reserve("job", timeout_seconds=10)) == 1
    assert queue.push("job", "a", {"t": 2}, on_duplicate="replace").outcome == "held"
    queue.define("job", filter_index=True)
    clock.advance(11)
    assert keys(queue.reserve("job", where={"t": 2})) == ["a"]


@pytest.mark.servers("postgresql")
def test_M4_a_look_shows_what_waits_and_matches(queue: Session) -> None:
    """MariaDB and MySQL don't show what waits in lines."""
    queue.semaphore("s", 1)
    for number, key in enumerate("abcd"):
        queue.push("job", f"o{key}", {"n": number % 2}, headers={"h": key}, order_key="line")
        queue.push("job", f"s{key}", {"n": number % 2}, headers={"h": key}, semaphores=["s"])
    assert sorted(keys(queue.peek("job", 9, where={"n": 1}))) == ["ob", "od", "sb", "sd"]
    assert sorted(keys(queue.peek("job", 9, where={"h": "c"}))) == ["oc", "sc"]
    assert keys(queue.peek("job", 9, where={"h": "e"})) == []


@INDEXED
def test_M4_of_a_name_that_stands_twice_the_last_value_counts(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    texts = {
        "flat": '{"a":1,"n":[{"k":":,"}],"a":2,"a":3,"b":"x","ab":{}}',
        "deep": '{"o":{"a":3},"o":{"p":{"a":3,"a":{}},"c":[1],"c":[4,5]},"e":"\\u0022a","s":5}',
    }
    for key, text in texts.items():
        queue.raw("queue_push", "job", key, text, None)
    found: list[tuple[str, dict[str, Any]]] = [
        *(("flat", {"a": 3}), ("flat", {"b": "x"}), ("flat", {"a": 3, "ab": {}}), ("flat", {"n": []})),
        *(("deep", {"o": {"p": {"a": {}}}}), ("deep", {"o": {"c": [5]}}), ("deep", {"e": '"a', "s": 5})),
    ]
    for key, where in found:
        assert keys(queue.peek("job", 9, where=where)) == [key]
        [message] = queue.reserve("job", None, 9, where=where)
        assert message.key == key
        assert queue.nack(message.receipt).outcome == "retry"
    lost: list[dict[str, Any]] = [{"a": 1}, {"a": 2}, {"b": 3}, {"b": 2}, {"o": {"a": 3}}, {"o": {"c": [1]}}]
    for where in lost:
        assert queue.peek("job", 9, where=where) == queue.reserve("job", None, 9, where=where) == []


@INDEXED
def test_M4_those_that_match_come_in_the_order_of_the_kind(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)
    for number, priority in enumerate([0, 5, -3, 5, 0, 9, -3, 5, 0, 0]):
        queue.push("job", f"{number}", {"even": number % 2 == 0}, priority=priority)
        clock.advance(1)
    queue.push("job", "late", {"even": True}, delay_seconds=5)
    clock.advance(10)
    queue.push("job", "last", {"even": True})
    assert keys(queue.peek("job", 20, where={"even": True})) == ["0", "4", "8", "late", "last", "2", "6"]
    assert [keys(queue.reserve("job", None, 1, where={"even": True})) for _ in range(8)] == [
        ["0"], ["4"], ["8"], ["late"], ["last"], ["2"], ["6"], [],
    ]  # fmt: skip
    assert keys(queue.reserve("job", None, 2, where={"even": False})) == ["5", "1"]
    assert keys(queue.reserve("job", None, 20)) == ["3", "7", "9"]


@INDEXED
def test_M4_what_waits_is_found_once_it_is_due(queue: Session, clock: Clock, indexed: bool) -> None:
    queue.define("job", filter_index=indexed, timeout_seconds=30)
    queue.push("job", "delayed", {"t": 1}, delay_seconds=60)
    queue.push("job", "urgent", {"t": 1}, delay_seconds=60, priority=7)
    queue.push("job", "other", {"t": 2}, delay_seconds=60)
    assert queue.reserve("job", None, 5, where={"t": 1}) == []
    assert [(m.key, m.state) for m in queue.peek("job", 5, where={"t": 1})] == [
        ("delayed", "scheduled"),
        ("urgent", "scheduled"),
    ]
    clock.advance(60)
    assert keys(queue.reserve("job", None, 1, where={"t": 1})) == ["urgent"]
    (held,) = queue.reserve("job", None, 5, where={"t": 1})
    assert held.key == "delayed"
    assert queue.reserve("job", None, 5, where={"t": 1}) == []
    clock.advance(30)
    assert keys(queue.reserve("job", None, 5, where={"t": 1})) == ["urgent", "delayed"], "expired holds"
    assert queue.ack(receipts([held])[0]).outcome == "lost"
    assert keys(queue.reserve("job", None, 5)) == ["other"]


@INDEXED
def test_M4_a_change_of_the_content_is_a_change_of_what_matches(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)

    def found(where: dict[str, Any]) -> list[str]:
        return keys(queue.peek("job", 9, where=where))

    queue.push("job", "a", {"v": 1}, delay_seconds=50)
    assert queue.push("job", "a", {"v": 2}, on_duplicate="keep_time").outcome == "replaced"
    assert (found({"v": 1}), found({"v": 2})) == ([], ["a"])
    assert queue.push("job", "a", {"v": 3}, headers={"h": 1}, on_duplicate="replace").outcome == "replaced"
    assert keys(queue.reserve("job", None, 1, where={"h": 1})) == ["a"], "now: earlier than before"
    assert queue.push("job", "a", {"v": 4}, on_duplicate="replace").outcome == "held"
    assert queue.pop("job", 1, where={"v": 4}) == []
    clock.advance(301)
    assert queue.pop("job", 1, where={"v": 3}) == []
    assert keys(queue.pop("job", 1, where={"v": 4})) == ["a"]

    queue.push("job", "b", {"v": 1})
    _, receipt = take(queue, "job", where={"v": 1})
    queue.nack(receipt, payload={"v": 2}, delay_seconds=5)
    clock.advance(6)
    assert queue.reserve("job", None, 1, where={"v": 1}) == []
    _, receipt = take(queue, "job", where={"v": 2})
    assert queue.push("job", "b", {"v": 9}, on_duplicate="replace").outcome == "held"
    queue.ack(receipt)
    assert keys(queue.pop("job", 5, where={"v": 9})) == ["b"], "what was pushed onto it"


@INDEXED
def test_M4_wherever_messages_come_from_a_filter_finds_them(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    for kind in ("job", "job.dead", "next", "follows", "ticks"):
        queue.define(kind, filter_index=indexed, history_seconds=1000)

    def pop(kind: str = "job") -> list[str]:
        return keys(queue.pop(kind, 20, where={"t": 1}))

    queue.push_many("job", [{"key": f"m{n}", "payload": {"t": 1 + n % 2}} for n in range(4)])
    assert pop() == ["m0", "m2"]
    queue.push_many("job", [{"key": "n1", "payload": {"t": 1}, "delay_seconds": 0, "headers": {"x": 1}}])
    queue.push_many(
        "job",
        [{"key": "n1", "payload": {"t": 1}}, {"key": "n2", "payload": {"t": 1}}],
        on_duplicate="replace",
    )
    assert pop() == ["n1", "n2"]
    twice = [{"key": "n3", "payload": {"t": 2}}, {"key": "n3", "payload": {"t": 1}}]
    queue.push_many("job", twice, on_duplicate="replace")
    assert pop() == ["n3"], "twice in one batch"
    queue.subscribe("a.*", "job")
    queue.publish("a.b", "p", {"t": 1})
    queue.publish("a.b", "q", {"t": 2})
    queue.publish("a.b", "q", {"t": 1}, on_duplicate="replace")
    assert pop() == ["p", "q"]
    queue.push("job", "moved", {"t": 1})
    _, receipt = take(queue, "job", where={"t": 1})
    queue.move(receipt, "next")
    assert pop("next") == ["moved"]
    queue.push("job", "dead", {"t": 1})
    _, receipt = take(queue, "job", where={"t": 1})
    queue.nack(receipt, final=True)
    assert keys(queue.peek("job.dead", where={"t": 1})) == ["dead"]
    assert queue.redrive("job.dead").went == 1
    assert pop() == ["dead"]
    assert queue.replay("job", outcome="popped", key="m2").went == 1
    assert pop() == ["m2"]
    queue.group("g", "follows", {"t": 1}, members=1)
    queue.push("job", "member", {"t": 0}, group="g")
    _, receipt = take(queue, "job", where={"t": 0})
    queue.ack(receipt)
    assert len(pop("follows")) == 1
    queue.push("job", "routed", {"t": 1}, route=["next"])
    _, receipt = take(queue, "job", where={"t": 1})
    queue.ack(receipt)
    assert pop("next") == ["routed"]
    queue.schedule("s", "ticks", {"t": 1}, every_seconds=60)
    clock.advance(61)
    assert queue.tick() >= 1
    assert len(pop("ticks")) >= 1


@INDEXED
def test_M4_a_message_that_ends_any_way_is_found_no_more(queue: Session, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    where = {"t": 1}
    for key in "abcde":
        queue.push("job", key, {"t": 1, "key": key})
    assert queue.remove("job", "a") == "removed"
    assert keys(queue.pop("job", 1, where=where)) == ["b"]
    _, receipt = take(queue, "job", where={"key": "c"})
    assert queue.ack(receipt).outcome == "acked"
    assert keys(queue.pop("job")) == ["d"]
    assert keys(queue.peek("job", 9, where=where)) == ["e"]
    assert queue.purge("job") == 1
    assert queue.reserve("job", None, 9, where=where) == []
    queue.push("job", "e", {"t": 1})
    queue.drop("job")
    queue.define("job", filter_index=indexed)
    assert queue.reserve("job", None, 9, where=where) == []
    queue.push("job", "e", {"t": 1})
    queue.prune()
    assert keys(queue.reserve("job", None, 9, where=where)) == ["e"]


@INDEXED
def test_M4_pausing_draining_and_the_last_delivery_are_as_without_a_filter(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed, max_attempts=1, timeout_seconds=10)
    queue.push("job", "a", {"t": 1})
    queue.push("job", "b", {"t": 1})
    queue.pause("job")
    assert queue.reserve("job", None, 9, where={"t": 1}) == queue.pop("job", 9, where={"t": 1}) == []
    queue.resume("job")
    queue.drain("job")
    assert keys(queue.reserve("job", None, 1, where={"t": 1})) == ["a"]
    clock.advance(11)
    assert keys(queue.reserve("job", None, 9, where={"t": 1})) == ["b"], "a has had its last delivery"
    assert keys(queue.peek("job.dead")) == ["a"]


@INDEXED
def test_M4_a_hold_that_has_expired_is_counted_by_the_filter_that_takes_it(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("k", filter_index=indexed)
    for key, n in zip("abc", (1, 2, 1), strict=True):
        queue.push("k", key, {"n": n})
    assert keys(queue.reserve("k", None, 3, timeout_seconds=1)) == ["a", "b", "c"]
    clock.advance(2)
    assert keys(queue.reserve("k", None, 3, where={"n": 1})) == ["a", "c"]
    [stats] = queue.stats("k")
    assert (stats.expired_total, stats.expired, stats.reserved) == (2, 1, 2)


@INDEXED
def test_M4_a_payload_that_is_not_of_its_kind_is_dead_at_a_filtered_reserve(
    queue: Session, indexed: bool
) -> None:
    queue.push("job", "a", {"t": 1})
    queue.push("job", "b", {"t": 1, "n": 5})
    queue.push("job", "c", {"t": 2})
    queue.define("job", filter_index=indexed, payload_shape={"n": "integer"})
    assert keys(queue.reserve("job", None, 9, where={"t": 1})) == ["b"]
    assert keys(queue.peek("job.dead")) == ["a"]
    assert keys(queue.peek("job", 9, where={"t": 2})) == ["c"], "nobody asked for it"


def test_M4_an_index_that_comes_has_what_is_held_and_what_waits_in_it(queue: Session, clock: Clock) -> None:
    for key, options in {"held": {}, "later": {"delay_seconds": 5}, "first": {"order_key": "o"}}.items():
        queue.push("job", key, {"t": 1}, **options)
    queue.push("job", "second", {"t": 1}, order_key="o")
    for message in queue.reserve("job", None, 2):
        held = message.receipt or ""
        queue.define("job", filter_index=True)
        queue.nack(held)
    clock.advance(5)
    assert sorted(keys(queue.pop("job", 9, where={"t": 1}))) == ["first", "held", "later"]
    assert keys(queue.pop("job", 9, where={"t": 1})) == ["second"]


TEXTS = [
    *(json.dumps(payload) for payload, _, _ in MATCHES if json.dumps(payload).count("{") < 30),
    '{"a":1,"a":{"b":[1,1,1.0]},"c":{"c":2,"c":3}}',
    '[{"a":1,"a":2}]',
    json.dumps({"long": '\\"é\u0001' * 9000, "n": {"m": [1, "x"]}}),
    json.dumps({"none": [{}] * 300, "some": []}),
    json.dumps({f"k{n}": {} for n in range(257)}),
    json.dumps({f"k{n}": n for n in range(256)}),
    json.dumps({f"k{n}": n for n in range(257)}),
]


def test_M4_the_index_is_the_same_however_messages_come_into_it(queue: Session) -> None:
    def index() -> list[Any]:
        return queue.execute(
            "select q.p_key, t.term, t.place - q.ready_at from queue_term t"
            " join delayed_queue q on q.entry = t.entry order by 1, 2"
        )

    headers = ["null", '{"a": 2, "b": "x"}', '{"a": "\\u0022", "k": 1.0}']
    messages = [
        f'{{"key": "{n}", "payload": {text}, "headers": {headers[n % 3] if n < 60 else "null"}}}'
        for n, text in enumerate(TEXTS)
    ]
    queue.define("job", filter_index=True)
    for message in messages:
        queue.raw("queue_push_many", "job", f"[{message}]", None)
    singly = index()
    terms = Counter(key for key, _, _ in singly)
    assert [terms[f"{len(TEXTS) - n}"] for n in range(7, 0, -1)] == [2, 0, 3, 0, 0, 256, 1]
    queue.define("job", filter_index=False)
    assert index() == []
    queue.define("job", filter_index=True)
    assert index() == singly
    queue.purge("job")
    queue.raw("queue_push_many", "job", f"[{', '.join(messages)}]", None)
    assert index() == singly


def test_M4_messages_of_two_kinds_come_into_the_index_at_once(queue: Session) -> None:
    for kind in ("one", "two", "none"):
        queue.subscribe("t", kind)
        queue.define(kind, filter_index=kind != "none")
    queue.publish("t", "a", {"n": 1}, headers={"h": "x"})
    for kind in ("one", "two"):
        assert keys(queue.peek(kind, where={"n": 1})) == keys(queue.pop(kind, where={"h": "x"})) == ["a"]


def test_M4_an_index_can_come_and_go(queue: Session) -> None:
    for number in range(30):
        queue.push("job", f"{number:02}", {"n": number, "t": number % 3}, delay_seconds=0)
    assert queue.define("job", filter_index=True).filter_index
    queue.push("job", "30", {"n": 30, "t": 0})
    assert keys(queue.reserve("job", None, 3, where={"t": 0})) == ["00", "03", "06"]
    assert not queue.define("job", filter_index=False).filter_index
    queue.push("job", "31", {"n": 31, "t": 0})
    assert keys(queue.reserve("job", None, 2, where={"t": 0})) == ["09", "12"]
    queue.define("job", filter_index=True, timeout_seconds=5)
    queue.define("job", timeout_seconds=6)
    assert keys(queue.reserve("job", None, 9, where={"t": 0})) == ["15", "18", "21", "24", "27", "30", "31"]
    assert not queue.define("job", filter_index=None).filter_index


def test_M4_who_prunes_a_little_of_the_index_begins_where_chance_says(
    queue: Session, connect: Connect
) -> None:
    queue.push_many("other", [{"key": f"{n}", "payload": 0} for n in range(900)])
    queue.define("job", filter_index=True)
    queue.push_many("job", [{"key": f"{n:02}", "payload": {"n": n}} for n in range(60)])
    left = "select distinct t.entry from queue_term t order by t.entry"
    entries = queue.execute(left)
    assert len(queue.pop("job", 60)) == 60
    assert queue.execute(left) == entries
    for _ in range(8):
        assert connect().prune(1) == 1
    gone = sorted(set(entries) - set(queue.execute(left)))
    assert len(gone) == 8
    assert gone != entries[:8], "not all at the beginning"


def test_M4_who_prunes_the_index_bit_by_bit_goes_on_where_it_was(queue: Session) -> None:
    queue.define("job", filter_index=True)
    queue.push_many("job", [{"key": f"{n}", "payload": {"n": n}} for n in range(300)])
    for n in range(0, 300, 10):
        queue.remove("job", f"{n}")
    for _ in range(7):  # from where chance begins, all once, and the rest of the last bite
        queue.prune(50)
    assert queue.execute("select count(distinct t.entry) from queue_term t") == [(270,)]


def test_M4_who_prunes_less_than_one_message_has_in_the_index_goes_on_all_the_same(queue: Session) -> None:
    queue.define("job", filter_index=True)
    queue.push_many("job", [{"key": f"{n:02}", "payload": {"n": n, "m": n}} for n in range(20)])
    queue.remove("job", "10")
    for _ in range(20):
        queue.prune(2)
    assert queue.execute("select count(distinct t.entry) from queue_term t") == [(19,)]


@pytest.mark.long
@pytest.mark.core("postgresql")
@INDEXED
def test_M4_many_more_than_one_look_sees(queue: Session, clock: Clock, indexed: bool) -> None:
    queue.define("job", filter_index=indexed)
    queue.push_many("job", [{"key": f"{n:04}", "payload": {"all": 1, "n": n}} for n in range(2500)])
    assert len(queue.reserve("job", None, 2200, where={"all": 1})) == 2200
    assert keys(queue.reserve("job", None, 1, where={"all": 1})) == ["2200"]
    assert keys(queue.reserve("job", None, 5, where={"all": 1, "n": 2499})) == ["2499"]
    assert len(queue.pop("job", 9999, where={"all": 1})) == 298
    clock.advance(301)
    assert len(queue.reserve("job", None, 9999, where={"all": 1})) == 2201 + 1


@pytest.mark.long
@pytest.mark.core("postgresql", "mariadb")
@INDEXED
def test_M4_consumers_with_filters_get_each_message_once(
    queue: Session, connect: Connect, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)
    queue.push_many("job", [{"key": f"{n}", "payload": {"two": n % 2, "three": n % 3}} for n in range(60)])
    filters: list[dict[str, int]] = [{"two": 0}, {"three": 0}, {"two": 0, "three": 0}, {"three": 1}, {}]
    sessions = [(connect(autocommit=False), where) for where in filters]
    got: list[str] = []
    for _ in range(20):
        for session, where in sessions:
            # the transactions stay open: nobody waits, what another has locked is passed over
            got += keys(session.reserve("job", None, 1, where=where))
    assert len(got) == len(set(got))
    assert len(got) == 60
    for session, _ in sessions:
        session.commit()
    assert queue.reserve("job", None, 99) == []


@INDEXED
def test_M4_what_has_come_due_and_another_has_taken_is_passed_over(
    queue: Session, connect: Connect, clock: Clock, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)
    queue.push_many("job", [{"key": key, "payload": {"t": 1}, "delay_seconds": 9} for key in "abc"])
    clock.advance(9)
    other = connect(autocommit=False)
    assert keys(other.reserve("job", None, 1, where={"t": 1})) == ["a"]
    assert keys(queue.reserve("job", None, 1, where={"t": 1})) == ["b"]
    assert keys(queue.reserve("job", None, 9, where={"t": 1})) == ["c"]
    other.commit()


@INDEXED
def test_M4_many_that_have_come_due_and_do_not_match_hide_nothing(
    queue: Session, clock: Clock, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)
    slow = [{"key": f"{n:04}", "payload": {"tags": ["slow"]}, "delay_seconds": 1} for n in range(1000)]
    urgent = [
        {"key": key, "payload": {"tags": ["urgent"]}, "delay_seconds": delay}
        for key, delay in (("as early", 1), ("later", 2))
    ]
    queue.push_many("job", [*slow, *urgent])
    assert keys(queue.peek("job", 5, where={"tags": ["urgent"]})) == ["as early", "later"]
    clock.advance(3)
    assert keys(queue.reserve("job", None, 5, where={"tags": ["urgent"]})) == ["as early", "later"]


def test_M4_what_was_pushed_first_and_is_due_last_is_found_behind_many(queue: Session, clock: Clock) -> None:
    """Many match the first value of the filter, and stand before the one that matches both."""
    for n in range(25):
        queue.push("job", f"{n}", {"a": 1, "b": n}, scheduled_at=clock.now - n * SECOND)
    assert keys(queue.reserve("job", where={"a": 1, "b": 0})) == ["0"]


def test_M4_a_filter_leaves_what_others_find_alone(queue: Session, clock: Clock) -> None:
    """Filtered and plain reserves of one session, one after another."""
    queue.push_many("job", [{"key": f"{n:03}", "payload": {"t": n % 4}} for n in range(200)])
    seen: list[str] = []
    for _ in range(50):
        seen += keys(queue.reserve("job", None, 1, where={"t": 3}))
        seen += keys(queue.reserve("job", None, 3))
    assert sorted(seen) == [f"{n:03}" for n in range(200)]
    clock.advance(301)
    assert len(drain(queue, "job")) == 200


BAD = [
    "5", '"x"', "[]", "[1]", "true",
    '{"a":[{"b":1}]}', '{"a":[[1]]}', '{"a":[[]]}', '{"a":[1,{}]}', '{"x":{"a":[{}]}}',
    json.dumps({f"k{n}": n for n in range(17)}), json.dumps({"a": list(range(17))}),
    json.dumps({"a": DEEP, "b": 1}),
]  # fmt: skip


@each("where", BAD)
@each("routine", ["queue_reserve", "queue_pop", "queue_peek"])
def test_M4_what_can_be_no_filter_is_refused(queue: Session, routine: str, where: str) -> None:
    kind = f"{routine} {BAD.index(where)}"
    queue.push(kind, "a", {"a": 1})
    arguments = [kind, None, "1"] if routine == "queue_reserve" else [kind, "1"]
    with pytest.raises(InvalidOption, match="where"):
        queue.raw(routine, *arguments, f'{{"where": {where}}}')
    assert queue.raw(routine, *arguments, '{"where": null}') == 1


def test_M4_filter_index_is_true_or_false(queue: Session) -> None:
    with pytest.raises(InvalidOption, match="filter_index"):
        queue.raw("queue_define", "job", '{"filter_index": 1}')
    assert queue.define("job", timeout_seconds=SECOND / SECOND).filter_index is False
