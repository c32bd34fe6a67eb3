"""What calls answer, and the options that they take."""

import dataclasses
import json
import math
import pickle
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from pyqueue_sql import (
    UNSET,
    Ended,
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    Message,
    Outcome,
    QueueError,
    Refused,
    to_datetime,
    to_microseconds,
)
from pyqueue_sql.calls.options import plain, render, to_json
from pyqueue_sql.errors import from_errno, from_sqlstate
from pyqueue_sql.models import to_messages
from tests.rules import each


def test_models_are_frozen_and_have_no_dict():
    one = Outcome("1-a", "acked")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.outcome = "lost"  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(one, "__dict__")


def test_lost_is_said_by_the_outcome_alone():
    assert Outcome("1-a", "lost").lost
    assert not Outcome("1-a", "dead").lost


def test_messages_made_in_bulk_are_messages_as_any():
    row = ("a", "k", {"n": 1}, None, None, 0, 1, 2, 3, 4, 1, "me", "1-a")
    (message,) = to_messages([row])
    assert type(message) is Message
    assert message == Message(*row)
    assert (message.receipt, message.state, message.errors) == ("1-a", None, ())
    assert pickle.loads(pickle.dumps(message)) == dataclasses.replace(message)
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.key = "l"  # pyright: ignore[reportAttributeAccessIssue]


def test_what_ended_is_built_from_the_columns_of_the_history_in_their_order():
    names = [field.name for field in dataclasses.fields(Ended)]
    assert names == [
        *("kind", "key", "entry", "outcome", "to_kind", "payload", "payload_bytes", "headers", "priority"),
        *("scheduled_at_initially", "created_at", "reserved_at", "finished_at", "attempts", "reserved_by"),
        *("errors", "result"),
    ]


def test_a_message_is_built_from_the_columns_in_the_order_of_the_contract():
    names = [field.name for field in dataclasses.fields(Message)]
    assert names == [
        *("kind", "key", "payload", "payload_bytes", "headers", "priority", "scheduled_at"),
        *(
            "scheduled_at_initially",
            "created_at",
            "reserved_at",
            "attempts",
            "reserved_by",
            "receipt",
            "state",
            "errors",
        ),
    ]


@pytest.mark.parametrize("us", [0, 1, 1_767_225_600_000_001, 253_402_300_799_999_999])
def test_times_survive_the_way_there_and_back(us: int):
    assert to_microseconds(to_datetime(us)) == us


def test_a_time_is_converted_whatever_its_zone():
    time = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert to_microseconds(time) == 1_767_225_600_000_000
    assert to_datetime(1_767_225_600_000_000) == datetime(2026, 1, 1, tzinfo=UTC)


@each(
    ("sqlstate", "cause"),
    [
        ("PQ001", InvalidParameter),
        ("PQ002", InvalidOption),
        ("PQ003", InvalidPayload),
        ("PQ004", Refused),
        ("PQ005", InvalidReceipt),
        ("22P05", InvalidPayload),
        ("54000", InvalidPayload),
        ("54001", InvalidPayload),
        ("22003", InvalidParameter),
        ("22021", InvalidParameter),
        ("22P02", InvalidParameter),
        ("2201W", InvalidParameter),
    ],
)
def test_an_sqlstate_is_a_cause(sqlstate: str, cause: type[QueueError]):
    error = from_sqlstate(sqlstate, "kind: too long")
    assert type(error) is cause
    assert str(error) == "kind: too long"


@pytest.mark.parametrize(
    ("cause", "numbers"),
    [
        (InvalidParameter, (31001, 1264, 1265, 1292, 1366, 1406)),
        (InvalidOption, (31002,)),
        (InvalidPayload, (31003, 3140, 3141, 3157, 4037, 4038, 4040)),
        (Refused, (31004,)),
        (InvalidReceipt, (31005,)),
        (type(None), (None, 0, 1205, 1213, 1305, 31999)),
    ],
)
def test_a_number_is_a_cause(cause: type[QueueError] | type[None], numbers: tuple[int | None, ...]):
    assert [type(from_errno(number, "no")) for number in numbers] == [cause] * len(numbers)


def test_what_the_server_repeats_is_cut_and_what_the_queue_says_is_not():
    assert str(from_sqlstate("22003", "x" * 1000)) == "x" * 199 + "…"
    assert str(from_sqlstate("22003", "x" * 200)) == "x" * 200
    assert str(from_sqlstate("PQ001", "x" * 1000)) == "x" * 1000


@pytest.mark.parametrize("sqlstate", [None, "", "40001", "PQ999"])
def test_what_is_not_the_queues_is_left_alone(sqlstate: str | None):
    assert from_sqlstate(sqlstate, "x") is None


def test_errors_go_to_other_processes():
    error = pickle.loads(pickle.dumps(Refused("held")))
    assert isinstance(error, Refused)
    assert (str(error), error.sqlstate) == ("held", "PQ004")


def test_no_options_are_no_json():
    assert render({}) is None
    assert render({"priority": None, "headers": UNSET}) is None


def test_an_option_is_given_unless_it_is_none():
    assert json.loads(render({"priority": 0, "delay_seconds": None}) or "") == {"priority": 0}


def test_none_is_a_value_where_that_is_said_and_unset_never():
    options = {"payload": None, "headers": UNSET, "error": None}
    assert plain(options, ("payload", "headers")) == {"payload": None}


def test_a_datetime_becomes_microseconds():
    assert plain({"scheduled_at": datetime(2026, 1, 1, tzinfo=UTC)}) == {
        "scheduled_at": 1_767_225_600_000_000
    }


def test_a_datetime_without_a_zone_is_refused():
    with pytest.raises(InvalidOption, match=r"scheduled_at.*no time zone"):
        plain({"scheduled_at": datetime(2026, 1, 1)})


def test_a_number_that_is_none_is_refused_by_name():
    for value in (float("nan"), float("inf")):
        with pytest.raises(InvalidOption, match=f"option delay_seconds {value}: a finite number"):
            plain({"delay_seconds": value})
        with pytest.raises(InvalidOption, match=f"option jitter {value}: a finite number"):
            render({"jitter": value}, ["jitter"])


def test_json_is_short_and_not_escaped():
    assert to_json({"ä": [1, None]}) == '{"ä":[1,null]}'


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), object(), {1, 2}, "\ud800"])
def test_what_json_cannot_hold_is_refused_with_the_cause_of_its_place(value: object):
    with pytest.raises(InvalidPayload):
        to_json(value)
    with pytest.raises(InvalidOption):
        render({"priority": value})


@each(
    ("value", "said"),
    [
        ({"a": [1, {"b": {1, 2}}]}, r"payload\.a\[1\]\.b of type set: no JSON can be made of it; wanted is"),
        ({"a": ({(1, 2): 3},)}, r"payload\.a\[0\]: a key of type tuple: text is wanted"),
        ({"a": {"\ud800": 1}}, r"payload\.a: a key of type str: no JSON can be made of it, surrogates"),
        ({"a": "\ud800"}, r"payload\.a of type str: no JSON can be made of it, surrogates not allowed"),
        ({math.nan: 1}, r"payload: a key of type float: text is wanted"),
        ({"k" * 50: math.inf}, rf"payload\.{'k' * 40}… inf: a finite number is wanted"),
        ([10**5000], r"payload\[0\] of type int: no JSON can be made of it"),
        (Decimal(1), r"payload of type Decimal: no JSON can be made of it; wanted is"),
    ],
)
def test_what_json_cannot_hold_is_named_with_its_place(value: object, said: str):
    with pytest.raises(InvalidPayload, match=f"^{said}"):
        to_json(value)


def test_what_holds_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(InvalidPayload, match=r"^payload: no JSON can be made of it: Circular"):
        to_json(value)
