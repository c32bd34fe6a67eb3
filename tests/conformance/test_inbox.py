"""Messages as plain rows, from writers that know nothing of routines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, QueueError
from tests.conformance.hostile import LAST_US
from tests.conformance.steps import SECOND, keys, take
from tests.rules import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Capabilities, Clock, Connect
    from tests.conformance.harness import Session

    Land: TypeAlias = Callable[[list[dict[str, Any]]], None]

NAN = float("nan")


def row(key: str | None, payload: str | None = "1", **more: Any) -> dict[str, Any]:
    return {"p_kind": "mail", "p_key": key, "payload": payload, **more}


@pytest.fixture
def land(queue: Session, capabilities: Capabilities) -> Callable[[list[dict[str, Any]]], None]:
    """Insert rows, and let somebody come by who takes them in where that isn't done at once."""

    def land(rows: list[dict[str, Any]]) -> None:
        queue.land(rows)
        if "inbox_at_once" not in capabilities:
            queue.prune()

    return land


def test_a_row_is_a_push(queue: Session, land: Land, clock: Clock) -> None:
    at = clock.now + 3 * SECOND
    land(
        [
            row("plain", '{"to": "x"}'),
            row("late", "2", delay_seconds=2.5, priority=7, headers='{"h": 1}', attempts=3, max_attempts=9),
            row("at", "3", scheduled_at=at),
            row("bytes", None, payload_bytes=b"\x00\xff"),
        ]
    )
    plain, late, there, binary = (queue.get("mail", key) for key in ("plain", "late", "at", "bytes"))
    assert plain and late and there and binary
    assert (plain.payload, plain.scheduled_at, plain.created_at) == ({"to": "x"}, clock.now, clock.now)
    assert (plain.priority, plain.headers, plain.attempts) == (0, None, 0)
    assert (late.payload, late.priority, late.headers, late.attempts) == (2, 7, {"h": 1}, 3)
    assert (late.scheduled_at, late.state) == (clock.now + 2_500_000, "scheduled")
    assert there.scheduled_at == at
    assert (binary.payload, binary.payload_bytes) == (None, b"\x00\xff")
    assert queue.stats("mail")[0].pushed_total == 4


def test_a_row_without_a_key_gets_one(queue: Session, land: Land) -> None:
    land([row(None, "1"), row(None, "2")])
    assert sorted(m.payload for m in queue.peek("mail")) == [1, 2]


def test_rows_are_delivered_in_their_order(queue: Session) -> None:
    names = ["c", "a", "d", "b", None, "0"]
    queue.land([row(name, str(i), priority=0 if i % 2 else None) for i, name in enumerate(names)])
    assert [m.payload for m in queue.reserve("mail", None, 10)] == [0, 1, 2, 3, 4, 5]


def test_duplicates_are_ignored_and_a_batch_can_be_repeated(queue: Session, land: Land) -> None:
    batch = [row("a", "1"), row("b", "2"), row("a", "3")]
    queue.push("mail", "b", "there")
    land(batch)
    land(batch)
    assert {m.key: m.payload for m in queue.peek("mail")} == {"a": 1, "b": "there"}
    assert queue.stats("mail")[0].pushed_total == 2


def test_a_remembered_key_is_ignored(queue: Session, land: Land, clock: Clock) -> None:
    queue.define("mail", dedup_seconds=60)
    land([row("a"), row("b")])
    queue.pop("mail")
    land([row("a", "2"), row("b", "2"), {**row("a", "2"), "p_kind": "other"}])
    assert [(m.key, m.payload) for m in queue.peek("mail")] == [("b", 1)]
    assert keys(queue.peek("other")) == ["a"]
    clock.advance(60)
    land([row("a", "3")])
    assert {m.key: m.payload for m in queue.peek("mail")} == {"a": 3, "b": 1}


@each(
    ("wrong", "error", "says"),
    [
        (row("x", "{"), InvalidPayload, 'payload "{": must be JSON'),
        (row("x", "[" * 32 + "]" * 32), InvalidPayload, "31 levels|too deep"),
        (row("x", '"\\u0000"'), InvalidPayload, r'payload ""\\u0000"": must not contain \\u0000'),
        (row("x", headers='{"a": "\\u0000"}'), InvalidPayload, r'headers "\{.*: must not contain \\u0000'),
        (row("x", "1e400"), InvalidPayload, "1.8e308"),
        (row("x", '{"a": ' + "9" * 5_000 + "}"), InvalidPayload, "1.8e308"),
        (row("x", headers='{"a": 1e400}'), InvalidPayload, "1.8e308"),
        (row("x", payload_bytes=b"x"), InvalidPayload, "payload_bytes"),
        (row("x", headers="[1]"), InvalidPayload, "headers"),
        (row("x", headers="{"), InvalidPayload, 'headers "{": must be JSON'),
        (row("x", priority=32768), InvalidOption, "priority"),
        (row("x", delay_seconds=-1), InvalidOption, "delay_seconds"),
        (row("x", delay_seconds=NAN), InvalidOption, "delay_seconds"),
        (row("x", scheduled_at=10**14 - 1), InvalidOption, "scheduled_at"),
        (row("x", scheduled_at=LAST_US + 1), InvalidOption, "scheduled_at"),
        (row("x", max_attempts=0), InvalidOption, "max_attempts"),
        (row("x" * 201), InvalidParameter, "key"),
        (row(""), InvalidParameter, "key"),
        ({**row("x"), "p_kind": None}, InvalidParameter, "kind"),
        ({**row("x"), "p_kind": "k" * 96}, InvalidParameter, "kind"),
    ],
)
@pytest.mark.needs("inbox_at_once")
def test_a_wrong_row_names_itself_and_nothing_is_kept(
    queue: Session, capabilities: Capabilities, wrong: dict[str, Any], error: type[QueueError], says: str
) -> None:
    if wrong.get("delay_seconds") is NAN and "not_a_number" not in capabilities:
        return
    # what isn't of the column's type or length the server itself refuses
    number = "row 3" if "numbered_rows" in capabilities else "row"
    queue.land([{**row("before"), "p_kind": "other"}])  # so that no row's number is its id
    with pytest.raises(error, match=rf"(?si)^{number} \(key .*({says})|^Data too long .*{says}.* row 3"):
        queue.land([row("a"), row("b", priority=1), wrong, row("c")])
    assert queue.peek("mail") == []
    queue.land([row("a")])
    assert keys(queue.peek("mail")) == ["a"]
    queue.purge("mail")


@pytest.mark.needs("inbox_at_once")
def test_A4_a_payload_that_is_not_of_its_kind_is_refused(queue: Session) -> None:
    queue.define("mail", payload_shape={"to": "string"})
    with pytest.raises(InvalidPayload, match=r"^row (2 )?\(key \"b\"\): .*payload_shape"):
        queue.land([row("a", '{"to": ""}'), row("b", '{"to": 1}')])
    queue.land([row("a", '{"to": ""}'), {**row("b"), "p_kind": "other"}])
    assert take(queue, "mail")[0].key == "a"


def test_rows_live_and_die_with_the_transaction(queue: Session, connect: Connect) -> None:
    writer = connect(autocommit=False)
    writer.land([row("a")])
    assert queue.reserve("mail") == []
    writer.rollback()
    writer.land([row("b")])
    assert queue.reserve("mail") == []
    writer.commit()
    assert keys(queue.reserve("mail")) == ["b"]


def test_rows_that_are_not_committed_keep_no_others_waiting(queue: Session, connect: Connect) -> None:
    writer = connect(autocommit=False)
    writer.land([row("late")])
    queue.land([row("a")])
    assert keys(queue.reserve("mail", None, 10)) == ["a"]
    writer.commit()
    assert keys(queue.reserve("mail", None, 10)) == ["late"]


@pytest.mark.needs("inbox_later")
def test_a_wrong_row_that_nobody_hears_of_is_a_dead_letter(queue: Session) -> None:
    queue.land([row("a"), row("wrong", priority=32768), row("b", priority=1)])
    assert keys(queue.reserve("mail", None, 10)) == ["b", "a"]
    assert keys(queue.peek("mail.dead")) == ["wrong"]
    assert queue.reserve("mail") == [], "it doesn't come again"
