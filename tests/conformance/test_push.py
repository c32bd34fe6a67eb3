"""The contract on pushing: keys, payloads, batches; what on_duplicate does is in test_on_duplicate.py."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, QueueError, to_microseconds
from tests.conformance.options import LONG, NEW_YEAR, SHORT, YEAR_10000, with_turns
from tests.conformance.steps import SECOND, keys, outcomes, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session


def test_a_push_answers_what_it_made(queue: Session, clock: Clock) -> None:
    pushed = queue.push("mail", "a", 1, delay_seconds=2)
    assert (pushed.kind, pushed.key) == ("mail", "a")
    assert (pushed.scheduled_at, pushed.outcome) == (clock.now + 2 * SECOND, "created")


def test_a_delay_ends_before_the_year_10000(queue: Session, clock: Clock) -> None:
    left = YEAR_10000 - clock.now / SECOND
    assert queue.push("mail", "a", 1, delay_seconds=left - 1).outcome == "created"
    with pytest.raises(InvalidOption, match=r"delay_seconds.*year 10000"):
        queue.push("mail", "b", 1, delay_seconds=left + 1)


@each(
    ("text", "microseconds"),
    [
        ("2030-06-01T12:01Z", 0),
        ("2030-06-01 12:01:00Z", 0),
        ("2030-06-01T14:01+02", 0),
        ("2030-06-01T10:31-0130", 0),
        ("2030-06-01T14:01:00.5+02:00", 500_000),
        ("2030-06-01T12:01:07.000001Z", 7_000_001),
    ],
)
def test_a_time_needs_no_seconds_and_has_an_offset_in_any_form(
    queue: Session, text: str, microseconds: int
) -> None:
    at = to_microseconds(datetime(2030, 6, 1, 12, 1, tzinfo=UTC)) + microseconds
    assert queue.push("mail", text, 1, scheduled_at=text).scheduled_at == at


def test_a_day_ends_at_24_hours_and_no_later(queue: Session) -> None:
    ends = datetime(2030, 1, 2, tzinfo=UTC)
    queue.push("mail", "a", 1, scheduled_at=ends)
    queue.push("mail", "b", 1, scheduled_at="2030-01-01T24:00:00.000000Z")
    assert len({message.scheduled_at for message in queue.peek("mail", 9)}) == 1
    for later in ("01:00", "00:01", "00:00.000001", "00:01.000001"):
        with pytest.raises(InvalidOption, match="scheduled_at"):
            queue.push("mail", "c", 1, scheduled_at=f"2030-01-01T24:{later}Z")


HUGE = {"exponent": "1e400", "below": '{"n": [-1E+5000]}', "digits": '{"a": ["1e", ' + "9" * 5_000 + "]}"}


@pytest.mark.parametrize("number", HUGE.values(), ids=HUGE)
def test_a_number_beyond_double_precision_is_refused_everywhere(queue: Session, number: str) -> None:
    """A worker could not read it."""
    queue.push("mail", "a", 1)
    _, receipt = take(queue, "mail")
    headers = f'{{"n": {number}}}' if number[0] == "1" else None
    calls: list[tuple[str, *tuple[str | None, ...]]] = [
        ("queue_push", "mail", "k", number, None),
        ("queue_push", "mail", "k", number, '{"priority": 1}'),
        ("queue_push_many", "mail", f'[{{"key": "k", "payload": {number}}}]', None),
        ("queue_push_many", "mail", f'[{{"key": "k", "payload": {number}, "priority": 1}}]', None),
        ("queue_publish", "topic", "k", number, None),
        ("queue_ack", receipt, f'{{"result": {number}}}'),
        ("queue_nack", receipt, f'{{"payload": {number}}}'),
        ("queue_move", receipt, "next", f'{{"payload": {number}}}'),
        ("queue_schedule", "daily", "mail", number, '{"cron": "0 0 * * *"}'),
    ]
    if headers:
        calls += [("queue_push", "mail", "k", "1", f'{{"headers": {headers}}}')]
        calls += [("queue_push_many", "mail", f'[{{"key": "k", "payload": 1, "headers": {headers}}}]', None)]
    for call in calls:
        # MariaDB and MySQL are given options as a text, which is no JSON with such a number in it
        with pytest.raises((InvalidPayload, InvalidOption), match=r"1\.8e308"):
            queue.answer(*call)
    staged = queue.answer("queue_stage_begin", "job", None)[0]["part"]
    queue.land([{"part": staged, "p_kind": "mail", "p_key": "k", "payload": number}], "queue_stage")
    with pytest.raises(InvalidPayload):
        queue.answer("queue_stage_publish", f'[{{"part": {staged}, "messages": 1}}]', None)
    assert [message.state for message in queue.peek("mail")] == ["reserved"]


STRINGS = ["1e999", "9.", "9" * 400, '" 1e999', "1e999 \\", '\\" 9.', '\\\\"1E+999"\\']


def test_what_looks_like_such_a_number_in_a_string_is_a_string(queue: Session) -> None:
    for number, string in enumerate(STRINGS):
        payload, key = {string: [string, 1.5, {"": string}]}, f"{string[:9]}{number}"
        text = json.dumps(payload)
        queue.push("push", key, payload, headers={"h": string})
        queue.push_many("many", [{"key": key, "payload": payload, "headers": {"h": string}}])
        queue.land(
            [{"p_kind": "landed", "p_key": key, "payload": text, "headers": json.dumps({"h": string})}]
        )
        staged = queue.answer("queue_stage_begin", "job", None)[0]["part"]
        queue.land([{"part": staged, "p_kind": "staged", "p_key": key, "payload": text}], "queue_stage")
        queue.answer("queue_stage_publish", f'[{{"part": {staged}, "messages": 1}}]', None)
        for kind in ("push", "many", "landed", "staged"):
            message, receipt = take(queue, kind)
            assert (message.key, message.payload) == (key, payload), kind
            assert message.headers == (None if kind == "staged" else {"h": string}), kind
            queue.ack(receipt)
        for huge in (f'{{"a": {text}, "b": 1e999}}', f'{{"b": -1E+400, "a": {text}}}'):
            with pytest.raises(InvalidPayload, match=r"1\.8e308"):
                queue.raw("queue_push", "mail", "k", huge, None)
            with pytest.raises(InvalidPayload, match=r"1\.8e308"):
                queue.raw("queue_push_many", "mail", f'[{{"key": "k", "payload": {huge}}}]', None)


def test_without_a_key_each_push_gets_one_of_its_own_in_order_of_time(queue: Session, clock: Clock) -> None:
    made: list[str] = []
    for _ in range(20):
        made.append(queue.push("mail", None, 0).key)
        clock.advance(0.001)
    made += [pushed.key for pushed in queue.push_many("mail", [{"payload": 0}, {"key": None, "payload": 0}])]
    assert len(set(made)) == 22
    assert made[:20] == sorted(made[:20])
    assert keys(queue.reserve("mail", None, 30))[:20] == made[:20]


def test_a_batch_without_keys_has_keys_in_its_order_and_leaves_the_others(queue: Session) -> None:
    batch: list[dict[str, Any]] = [{"payload": place} for place in range(300)]
    batch[7]["key"], batch[8]["key"], batch[9] = "seven", None, {"payload": {"key": None}}
    answers = queue.push_many("mail", batch)
    made = [answer.key for answer in answers if answer.key != "seven"]
    assert made == sorted(set(made))
    assert len(made) == 299
    assert all(str(UUID(key)) == key and UUID(key).version == 7 for key in made)
    assert answers[7].key == "seven"
    found = {message.key: message.payload for message in queue.peek("mail", 400)}
    assert [found[answer.key] for answer in answers] == [message["payload"] for message in batch]


@each("batch", [["x"], [{"payload": 1}, None], [[{"payload": 1}]], [{"payload": 1}, {"key": 5}]])
def test_what_is_no_message_of_a_batch_is_refused_by_its_place(queue: Session, batch: list[Any]) -> None:
    with pytest.raises(InvalidParameter, match=rf"messages\[{len(batch) - 1}\]"):
        queue.push_many("mail", batch)
    assert queue.peek("mail") == []


def test_a_batch_of_one_is_what_a_push_with_its_options_is(queue: Session, clock: Clock) -> None:
    assert clock.now == NEW_YEAR * SECOND
    with_turns(queue)
    for number, options in enumerate([*SHORT, *LONG]):
        many, one = f"many{number}", f"one{number}"
        answers = [
            answered(queue, "queue_push_many", many, f'[{{"key": "a", "payload": [1], {options}}}]', None),
            answered(queue, "queue_push", one, "a", "[1]", f"{{{options}}}"),
        ]
        assert answers[0] == answers[1], options
        found = [[replace(message, kind="") for message in queue.peek(kind)] for kind in (many, one)]
        assert found[0] == found[1], options
        found = [
            [replace(message, kind="", receipt=None) for message in queue.reserve(kind, "me", 9)]
            for kind in (many, one)
        ]
        assert found[0] == found[1], options


@each("options", [None, "null", "{}"])
def test_a_batch_without_options_leaves_those_of_its_messages(queue: Session, options: str | None) -> None:
    queue.semaphore("s", 0)
    tried, waits = '{"key": "a", "attempts": 2}', '{"key": "b", "semaphores": ["s"]}'
    assert queue.raw("queue_push_many", "k", f"[{tried}, {waits}]", options) == 2
    found = [(message.attempts, message.state) for message in queue.peek("k", 2)]
    assert found == [(2, "ready"), (0, "waiting")]


def answered(queue: Session, routine: str, *arguments: str | None) -> tuple[str, str]:
    """Return the outcome of a push, or its error."""
    try:
        return str(queue.answer(routine, *arguments)[0]["outcome"]), ""
    except QueueError as error:
        return type(error).__name__, str(error)


@each(
    "payload",
    [
        None,
        True,
        0,
        -1.5,
        "",
        'text ✓ 😀 \n\t"\\',
        [],
        {},
        {"a": [1, {"b": None}], "é": "ü"},
        2**53,
        1.5e-7,
        123456789.125,
    ],
)
def test_a_json_payload_comes_back_as_it_was(queue: Session, payload: Any) -> None:
    queue.push("mail", "a", payload)
    message, receipt = take(queue, "mail")
    assert message.payload == payload
    assert type(message.payload) is type(payload)
    assert message.payload_bytes is None
    queue.ack(receipt)


def test_a_push_without_a_payload_is_a_message_whose_payload_is_null(queue: Session, clock: Clock) -> None:
    queue.raw("queue_push", "mail", "push", None, None)
    queue.raw("queue_push", "mail", "options", None, '{"priority": 1}')
    queue.raw(
        "queue_push_many", "mail", '[{"key": "many"}, {"key": "each", "on_duplicate": "replace"}]', None
    )
    queue.push_many("mail", [{"key": "python"}, {"key": "python 2", "priority": 2}])
    queue.subscribe("news", "mail")
    queue.raw("queue_publish", "news", "publish", None, None)
    queue.raw("queue_schedule", "s", "mail", None, '{"every_seconds": 60}')
    queue.land([{"p_kind": "mail", "p_key": "landed"}, {"p_kind": "mail", "p_key": "both", "priority": 3}])
    queue.push("mail")
    queue.publish("news")
    clock.advance(60)
    assert queue.tick() == 1
    queue.prune()  # takes in what has landed, where no trigger does
    found = queue.reserve("mail", None, 20)
    assert len(found) == 12
    assert {(message.payload, message.payload_bytes) for message in found} == {(None, None)}
    states = queue.answer("queue_peek", "mail", "20", None)
    assert {row["payload"] for row in states} == {"null"}, "JSON's, not SQL's"
    queue.define("shaped", payload_shape={"to": "string"})
    with pytest.raises(InvalidPayload, match="must be an object"):
        queue.raw("queue_push", "shaped", "a", None, None)


@pytest.mark.needs("exact_numbers")
def test_numbers_beyond_a_double_come_back_exactly(queue: Session) -> None:
    queue.push("mail", "a", 12345678901234567890123)
    assert take(queue, "mail")[0].payload == 12345678901234567890123


@each("payload", [b"", b"\x00", bytes(range(256)), "é".encode("latin-1")])
def test_a_binary_payload_comes_back_byte_for_byte(queue: Session, payload: bytes) -> None:
    assert queue.push_bytes("mail", "a", payload).outcome == "created"
    message, receipt = take(queue, "mail")
    assert (message.payload, message.payload_bytes) == (None, payload)
    queue.ack(receipt)


def test_kinds_of_95_and_keys_of_200_characters_work(queue: Session) -> None:
    kind, key = "ü" * 95, "😀" * 200
    assert queue.push(kind, key, 1).outcome == "created"
    message, receipt = take(queue, kind)
    assert (message.kind, message.key) == (kind, key)
    assert queue.ack(receipt).outcome == "acked"


def test_a_push_that_is_rolled_back_never_was(queue: Session, connect: Connect) -> None:
    producer = connect(autocommit=False)
    producer.push("mail", "a", 1)
    assert queue.reserve("mail") == []
    producer.rollback()
    assert queue.get("mail", "a") is None
    assert queue.push("mail", "a", 2).outcome == "created"


def test_attempts_that_are_given_are_behind_it_already(queue: Session) -> None:
    queue.push("mail", "a", 1, attempts=4, max_attempts=5)
    message, receipt = take(queue, "mail")
    assert message.attempts == 5
    assert queue.nack(receipt).outcome == "dead"


def test_duplicates_inside_a_batch_are_as_if_pushed_one_after_another(queue: Session, clock: Clock) -> None:
    batch = [
        {"key": "b", "payload": 1},
        {"key": "a", "payload": 2},
        {"key": "b", "payload": 3, "on_duplicate": "replace", "delay_seconds": 5},
        {"key": "a", "payload": 4},
        {"key": "b", "payload": 5, "on_duplicate": "keep_time"},
    ]
    answers = queue.push_many("mail", batch)
    assert [answer.key for answer in answers] == ["b", "a", "b", "a", "b"]
    assert outcomes(answers) == ["created", "created", "replaced", "ignored", "replaced"]
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 9)] == [("a", 2)]
    clock.advance(5)
    assert [(m.key, m.payload) for m in queue.reserve("mail", None, 9)] == [("b", 5)]


def test_the_time_of_a_message_wins_over_that_of_its_batch(queue: Session, clock: Clock) -> None:
    at = clock.now + 5 * SECOND
    queue.push_many(
        "mail",
        [{"key": "a"}, {"key": "b", "scheduled_at": at}, {"key": "c", "delay_seconds": 7}],
        delay_seconds=60,
    )
    queue.push_many("mail", [{"key": "d", "delay_seconds": 8}], scheduled_at=at)
    found = {one.key: (one.scheduled_at - clock.now) / SECOND for one in queue.peek("mail", 9)}
    assert found == {"a": 60, "b": 5, "c": 7, "d": 8}


def test_the_options_of_a_message_are_not_those_of_the_next(queue: Session) -> None:
    own = {"attempts": 2, "max_attempts": 7, "priority": 9, "headers": {"h": 1}}
    batch = [{"key": "a", **own}, {"key": "b", "payload": 1}, {"key": "c", **own}, {"key": "d", "payload": 2}]
    queue.push_many("mail", batch, priority=1)
    found = {one.key: (one.attempts, one.priority, one.headers) for one in queue.peek("mail", 9)}
    assert found == {"a": (2, 9, {"h": 1}), "b": (0, 1, None), "c": (2, 9, {"h": 1}), "d": (0, 1, None)}


def test_a_batch_with_an_error_pushes_nothing(queue: Session) -> None:
    with pytest.raises(Exception, match=r"messages\[1\]"):
        queue.push_many("mail", [{"key": "a", "payload": 1}, {"key": "b" * 201, "payload": 2}])
    assert queue.peek("mail") == []


def test_an_empty_batch_is_no_error(queue: Session) -> None:
    assert queue.push_many("mail", []) == []


@pytest.mark.long
def test_a_binary_payload_of_100_MB_comes_back_byte_for_byte(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    payload = bytes(range(256)) * 409_600
    assert len(payload) == 104_857_600
    queue.push_bytes("mail", "a", payload)
    message, receipt = take(queue, "mail")
    assert message.payload_bytes == payload
    assert queue.ack(receipt).outcome == "acked"
    (ended,) = queue.history("mail")
    assert ended.payload_bytes == payload


@pytest.mark.parametrize("options", [{}, {"on_duplicate": "replace"}], ids=["plain", "options"])
def test_a_payload_of_a_batch_is_no_deeper_than_another(queue: Session, options: Any) -> None:
    deep: list[Any] = []
    for _ in range(31):
        deep = [deep]
    batch = [{"key": "a", "payload": 1}, {"key": "b", "payload": deep}]
    with pytest.raises(InvalidPayload, match="messages"):
        queue.push_many("mail", batch, **options)
    assert queue.peek("mail", 9) == []
