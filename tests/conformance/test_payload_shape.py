"""Row A4: a payload that is not of its kind is refused before it is stored or handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidPayload
from tests.conformance.steps import keys, take
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.harness import Session

SHAPE = {
    "to": "string",
    "n": "integer",
    "share": "number",
    "yes": "boolean",
    "some": "array",
    "more": "object",
}
GOOD: dict[str, Any] = {"to": "", "n": -7, "share": 0.5, "yes": False, "some": [], "more": {}}
BAD = [
    *({name: value for name, value in GOOD.items() if name != missing} for missing in GOOD),
    *({**GOOD, name: None} for name in GOOD),
    {**GOOD, "to": 1},
    {**GOOD, "n": 1.5},
    {**GOOD, "n": "1"},
    {**GOOD, "share": True},
    {**GOOD, "yes": 0},
    {**GOOD, "some": {}},
    {**GOOD, "more": []},
    [],
    None,
    "text",
]


@pytest.fixture(autouse=True)
def shape(queue: Session) -> None:
    assert queue.define("mail", payload_shape=SHAPE).payload_shape == SHAPE


def test_A4_what_fits_is_taken(queue: Session) -> None:
    for i, payload in enumerate([GOOD, {**GOOD, "n": 1e3, "share": 2, "beside": None}]):
        assert queue.push("mail", f"k{i}", payload).outcome == "created"
    assert len(queue.reserve("mail", None, 9)) == 2


@each("payload", BAD)
def test_A4_what_does_not_fit_is_refused_at_every_door(queue: Session, payload: Any) -> None:
    with pytest.raises(InvalidPayload, match="payload_shape"):
        queue.push("mail", "a", payload)
    batch = [{"key": "good", "payload": GOOD}, {"key": "bad", "payload": payload}]
    with pytest.raises(InvalidPayload, match=r"messages\[1\].*payload_shape"):
        queue.push_many("mail", batch)
    with pytest.raises(InvalidPayload, match=r"messages\[1\].*payload_shape"):
        queue.push_many("mail", batch, on_duplicate="replace")
    assert queue.peek("mail") == []
    queue.push("before", "a", payload)
    _, receipt = take(queue, "before")
    with pytest.raises(InvalidPayload, match="payload_shape"):
        queue.move(receipt, "mail")
    assert queue.move(receipt, "mail", payload=GOOD).outcome == "moved"
    _, receipt = take(queue, "mail")
    with pytest.raises(InvalidPayload, match="payload_shape"):
        queue.nack(receipt, payload=payload)
    assert queue.ack(receipt).outcome == "acked"


def test_A4_of_several_fields_that_do_not_fit_the_first_by_name_is_told(queue: Session) -> None:
    queue.define("mail", payload_shape={"b": "string", "c": "string", "aa": "string"})
    with pytest.raises(InvalidPayload, match=r"must have \W*aa\W* as string"):
        queue.push("mail", "a", {"c": "there"})


def test_A4_a_field_is_found_however_its_name_is_spelt(queue: Session) -> None:
    queue.define("mail", payload_shape={"é": "string", 'a"b': "integer"})
    spelt = '{"other": "\\n", "\\u00e9": "x", "a\\u0022b": %s}'
    queue.answer("queue_push", "mail", "a", spelt % 1, None)
    with pytest.raises(InvalidPayload, match=r"as integer"):
        queue.answer("queue_push", "mail", "b", spelt % '"1"', None)
    assert keys(queue.reserve("mail", None, 9)) == ["a"]


@each("name", ["-", "-a", "--", "", "a.b", "*", "$", "[0]", "last", "'"])
def test_A4_a_field_may_have_a_name_that_means_something_in_a_path(queue: Session, name: str) -> None:
    kind = f"of {name}"
    queue.define(kind, payload_shape={name: "integer", "b": "string"})
    queue.push(kind, "a", {"b": "x", "c": [2], name: 1})
    with pytest.raises(InvalidPayload, match=r"as integer"):
        queue.push(kind, "b", {"b": "x", "c": [2], name: "1"})
    assert keys(queue.reserve(kind, None, 9)) == ["a"]


def test_A4_a_field_is_found_behind_a_name_with_a_quote_in_it(queue: Session) -> None:
    queue.define("mail", payload_shape={"b": "integer", " ": "string"})
    queue.push("mail", "a", {'a"b': 1, "$": 2, " ": "x", 'c\\"d\\': 3, "b": 2, "e": '"'})
    with pytest.raises(InvalidPayload, match=r"must have \W*b\W* as integer"):
        queue.push("mail", "b", {'a"b': 1, "$": 2, " ": "x", 'c\\"d\\': 3, "b": "2", "e": '"'})
    assert keys(queue.reserve("mail", None, 9)) == ["a"]


def test_A4_bytes_have_no_shape(queue: Session) -> None:
    with pytest.raises(InvalidPayload, match="payload_shape"):
        queue.push_bytes("mail", "a", b"{}")


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("way", ["reserve", "pop"])
def test_A4_what_was_there_before_its_shape_is_never_handed_out(queue: Session, way: str, most: int) -> None:
    queue.reserve("mail")  # the first call of a session is another one
    queue.define("mail", payload_shape=None)
    queue.push("mail", "a", {"to": 5})
    queue.push_bytes("mail", "b", b"5")
    queue.push("mail", "c", {"to": "x"})
    queue.define("mail", payload_shape={"to": "string"})
    taken = queue.reserve("mail", None, most) if way == "reserve" else queue.pop("mail", most)
    assert keys(taken) == ["c"]
    dead = queue.reserve("mail.dead", None, 9)
    assert [(m.key, m.payload, m.payload_bytes) for m in dead] == [("a", {"to": 5}, None), ("b", None, b"5")]
    assert [error["error"] for message in dead for error in message.errors] == [
        'payload must have "to" as string, as payload_shape of its kind says',
        "payload must be JSON, as payload_shape of its kind says",
    ]


def test_A4_it_can_be_taken_away(queue: Session) -> None:
    assert queue.define("mail", payload_shape=None).payload_shape is None
    assert queue.push("mail", "a", 1).outcome == "created"


@each("shape", [[], "string", 1, {"a": "text"}, {"a": 1}, {"a": None}, {"a": {"b": "string"}}])
def test_a_shape_is_an_object_of_fields_and_types(queue: Session, shape: Any) -> None:
    with pytest.raises(InvalidOption, match="payload_shape"):
        queue.define("mail", payload_shape=shape)
