"""Payloads as the types of handlers."""

from __future__ import annotations

import enum
import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pyqueue_sql import Message
from pyqueue_sql.worker import AsyncContext, Context, Handlers
from pyqueue_sql.worker.parsing import Misfit, parser
from tests.rules import each


class Colour(enum.Enum):
    """A colour."""

    RED = "red"


@dataclass
class Address:
    """Where something goes."""

    city: str
    lines: list[str] = field(default_factory=list[str])


@dataclass
class Order:
    """A payload."""

    number: int
    address: Address
    total: Decimal
    placed_at: datetime
    colour: Colour | None = None
    parts: list[Order] = field(default_factory=list["Order"])
    weight: float = 0.0

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError("number must be at least 1")


@dataclass
class Unknown:
    """Of a type that nobody knows."""

    what: Nowhere  # type: ignore[name-defined]  # noqa: F821


ORDER: dict[str, Any] = {
    "number": 7,
    "address": {"city": "Rome"},
    "total": "19.90",
    "placed_at": "2026-01-01T00:00:00Z",
}


def test_dataclass() -> None:
    given = ORDER | {"parts": [ORDER], "weight": 2, "colour": "red", "unknown": True}
    order = parser(Order)(given)
    assert (order.number, order.address, order.total) == (7, Address("Rome"), Decimal("19.90"))
    assert order.placed_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert (order.colour, order.weight, type(order.weight)) == (Colour.RED, 2.0, float)
    assert order.parts[0].number == 7


@each(
    ("change", "reason"),
    [
        ({"number": True}, "payload.number: Input should be a valid integer"),
        ({"number": 0}, "payload: Value error, number must be at least 1"),
        ({"number": 1.0}, "payload.number: Input should be a valid integer"),
        ({"number": "7"}, "payload.number: Input should be a valid integer"),
        ({"address": {"city": None}}, "payload.address.city: Input should be a valid string"),
        ({"address": {"city": "Rome", "lines": [1]}},
         "payload.address.lines.0: Input should be a valid string"),
        ({"placed_at": "yesterday"},
         "payload.placed_at: Input should be a valid datetime, input is too short"),
        ({"placed_at": 1_700_000_000}, "payload.placed_at: Input should be a valid datetime"),
        ({"total": "much"}, "payload.total: Input should be a valid decimal"),
        ({"parts": [{**ORDER, "total": None, "address": {}}]}, "payload.parts.0.address.city: Field required;"
         " payload.parts.0.total: Decimal input should be an integer, float, string or Decimal object"),
        ({"colour": "blue"}, "payload.colour: Input should be 'red'"),
    ],
)  # fmt: skip
def test_what_does_not_fit(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Misfit) as refused:
        parser(Order)(ORDER | change)
    assert str(refused.value) == reason


@each(
    ("wanted", "given", "found"),
    [
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, Any], {"a": 1}, {"a": 1}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (list, [1, "a"], [1, "a"]),
        (str, "a", "a"),
        (float, 1, 1.0),
        (type(None), None, None),
        (list[int] | None, None, None),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[str], ["a"], {"a"}),
        (Literal["a", 1], 1, 1),
        (Any, [1], [1]),
        (Annotated[int, Field(gt=0)], 1, 1),
        (date, "2026-01-02", date(2026, 1, 2)),
        (UUID, "0198a0a0-0000-7000-8000-000000000000", UUID("0198a0a0-0000-7000-8000-000000000000")),
    ],
)
def test_other_types(wanted: Any, given: Any, found: Any) -> None:
    made = parser(wanted)(given)
    assert (made, type(made)) == (found, type(found))


@pytest.mark.parametrize(
    ("wanted", "given", "what"),
    [
        (dict, [1], "an object"),
        (list[Any], {}, "an array"),
        (str, 1, "a string"),
        (int, True, "an integer"),
        (int, 1.0, "an integer"),
        (float, "1", "a number"),
        (bool, 1, "a boolean"),
        (type(None), 0, "null"),
    ],
)
def test_plain_json_is_not_bent(wanted: Any, given: Any, what: str) -> None:
    with pytest.raises(Misfit, match=f"^payload: {what} is wanted$"):
        parser(wanted)(given)


@pytest.mark.parametrize("wanted", [Handlers, list[Handlers], Unknown])
def test_types_that_json_has_no_form_for_are_refused_where_the_handler_is_declared(wanted: Any) -> None:
    with pytest.raises(TypeError, match="a payload can't be parsed as"):
        Handlers().on("kind", payload=wanted)(lambda payload: None)  # noqa: ARG005


PLAIN = [Message, bytes, dict, dict[str, Any], list, list[Any], str, int, float, bool, None, Any, object]


def test_without_pydantic_plain_json_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)  # its import fails

    def handler(payload: Any) -> None: ...

    for wanted in PLAIN:
        handler.__annotations__["payload"] = wanted
        Handlers().on("kind")(handler)
    for wanted in (Order, dict[str, int], list[str], int | None, UUID):
        handler.__annotations__["payload"] = wanted
        with pytest.raises(TypeError, match=r"by pydantic: pip install 'pyqueue_sql\[worker\]'$"):
            Handlers().on("kind")(handler)


def test_pydantic_is_not_imported_for_plain_json() -> None:
    code = """
import sys
from pyqueue_sql.worker import Handlers
@Handlers().on("kind")
def handler(payload: dict) -> None: ...
print("pydantic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Strict(BaseModel):
    """A model that goes by settings of its own."""

    model_config = ConfigDict(strict=True, extra="forbid")

    number: int


class Lax(BaseModel):
    """One that takes what can be made to fit."""

    number: int


def test_a_model_of_pydantic_goes_by_its_own_settings() -> None:
    assert parser(Lax)({"number": "1", "unknown": True}) == Lax(number=1)
    with pytest.raises(Misfit, match=r"^payload\.number: Input should be a valid integer; payload\.more: "):
        parser(Strict)({"number": "1", "more": 1})


def test_what_does_not_fit_is_not_repeated() -> None:
    given = ORDER | dict.fromkeys(["total", "weight", "placed_at", "colour"], "secret")
    with pytest.raises(Misfit) as refused:
        parser(Order)(given)
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__


def send(order: Order, context: Context) -> None:
    """A handler that other processes can import."""


def test_handlers_go_to_other_processes() -> None:
    handlers = Handlers()
    handlers.on("orders", concurrency=3)(send)
    found = pickle.loads(pickle.dumps(handlers))["orders"]
    assert (found.function, found.concurrency, found.wants_context) == (send, 3, True)


def test_what_a_handler_takes() -> None:
    handlers = Handlers()

    @handlers.on("plain")
    def plain(message): ...  # type: ignore[no-untyped-def]

    @handlers.on("typed")
    async def typed(message: Message, context: AsyncContext) -> None: ...

    assert handlers["plain"].parse is None
    assert (handlers["typed"].is_async, handlers["typed"].wants_context) == (True, True)
    with pytest.raises(ValueError, match="has a handler"):
        handlers.on("plain")
    with pytest.raises(TypeError, match="is given a Context"):

        @handlers.on("wrong")
        def wrong(message: Message, context: AsyncContext) -> None: ...

    with pytest.raises(LookupError, match="kind other has no handler"):
        handlers.only(["other"])


def test_what_an_annotation_adds_to_its_type_counts() -> None:
    handlers = Handlers()

    @handlers.on("counts")
    def count(_: Annotated[int, Field(gt=0)]) -> None: ...

    parse = handlers["counts"].parse
    assert parse is not None and parse(1) == 1
    with pytest.raises(Misfit, match="greater than 0"):
        parse(0)
