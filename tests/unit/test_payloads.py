"""Payloads as the types of handlers."""

from __future__ import annotations

import enum
import pickle
import sys
import types
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest

from pyqueue_sql import Message
from pyqueue_sql.worker import AsyncContext, Context, Handlers
from pyqueue_sql.worker.parsing import Misfit, parser


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


ORDER: dict[str, Any] = {
    "number": 7,
    "address": {"city": "Rome"},
    "total": "19.90",
    "placed_at": "2026-01-01T00:00:00Z",
}


def test_dataclass() -> None:
    given = ORDER | {"parts": [ORDER], "weight": 2, "colour": "red", "unknown": True}
    order = parser(Order)(given, "payload")
    assert (order.number, order.address, order.total) == (7, Address("Rome"), Decimal("19.90"))
    assert order.placed_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert (order.colour, order.weight, type(order.weight)) == (Colour.RED, 2.0, float)
    assert order.parts[0].number == 7


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"number": True}, "payload.number: an integer is wanted, not a boolean"),
        ({"number": 0}, "payload: number must be at least 1"),
        ({"number": 1.0}, "payload.number: an integer is wanted, not a number"),
        ({"address": {"city": None}}, "payload.address.city: a string is wanted, not null"),
        (
            {"address": {"city": "Rome", "lines": [1]}},
            "payload.address.lines[0]: a string is wanted, not a number",
        ),
        ({"placed_at": "yesterday"}, "payload.placed_at: it is not a time in ISO 8601"),
        ({"total": "much"}, "payload.total: it is not a decimal"),
        ({"parts": [{}]}, "payload.parts[0]: address, number, placed_at, total missing"),
        ({"colour": "blue"}, "payload.colour: it is not one of its values; or payload.colour: null is wanted,"
         " not a string"),
    ],
)  # fmt: skip
def test_what_does_not_fit(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Misfit) as refused:
        parser(Order)(ORDER | change, "payload")
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("wanted", "given", "found"),
    [
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (list[int] | None, None, None),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[str], ["a"], {"a"}),
        (Literal["a", 1], 1, 1),
        (Any, [1], [1]),
        (date, "2026-01-02", date(2026, 1, 2)),
        (UUID, "0198a0a0-0000-7000-8000-000000000000", UUID("0198a0a0-0000-7000-8000-000000000000")),
    ],
)
def test_other_types(wanted: Any, given: Any, found: Any) -> None:
    assert parser(wanted)(given, "payload") == found


@pytest.mark.parametrize("wanted", [complex, dict[int, str], tuple[int, str], Handlers])
def test_types_that_json_has_no_form_for_are_refused_where_the_handler_is_declared(wanted: Any) -> None:
    with pytest.raises(TypeError):
        Handlers().on("kind", payload=wanted)(lambda payload: None)  # noqa: ARG005


def test_a_model_of_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    # what is used of it, so that the tests don't need it
    class BaseModel:
        @classmethod
        def model_validate(cls, value: Any) -> Any:
            if value != 1:
                error = ValueError("one wanted")
                error.errors = lambda: [{"loc": ("a", 0), "msg": "must be one"}]  # type: ignore[attr-defined]
                raise error
            return cls()

    class Model(BaseModel):
        pass

    module = types.ModuleType("pydantic")
    module.BaseModel = BaseModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pydantic", module)
    assert isinstance(parser(Model)(1, "payload"), Model)
    with pytest.raises(Misfit, match=r"^payload\.a\.0: must be one$"):
        parser(Model)(2, "payload")


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
