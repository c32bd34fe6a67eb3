"""Payloads as what a handler's annotation says they are: a dataclass, a pydantic model, or plain JSON of a
type.

A value is never bent to fit, but for an integer where a float is wanted, and for what JSON has no type for:
times, UUIDs, decimals and members of an enum are strings (or, of an enum, its values). Fields that nobody
asked for are ignored, so that a producer may be newer than its consumers. Pydantic goes by the model's own
settings.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeAlias, Union
from uuid import UUID

Parse: TypeAlias = Callable[[Any, str], Any]
"""Takes a value and where it stands; raises `Misfit`."""


class Misfit(Exception):  # noqa: N818 -- the payload's, not ours
    """A payload isn't what its handler takes; the message says where and why, and repeats none of it."""


_dataclasses: dict[type, Parse] = {}


def parser(wanted: Any) -> Parse:
    """Return what makes a value of a type from JSON.

    Args:
        wanted: a type, or one made of types by typing.

    Raises:
        TypeError: payloads can't be parsed as that.
    """
    if wanted is Any or wanted is object:
        return _anything
    if wanted is None or wanted is type(None):
        return _exactly("null", type(None))
    if wanted in _PLAIN:
        return _PLAIN[wanted]
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is typing.Annotated:
        return parser(arguments[0])
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is Literal:
        return _literal(arguments)
    if wanted in (list, tuple, set, frozenset) or origin in (list, tuple, set, frozenset):
        return _array(origin or wanted, arguments)
    if wanted is dict or origin is dict:
        return _object(arguments)
    if isinstance(wanted, type):
        if _is_model(wanted):
            return _model(wanted)
        if dataclasses.is_dataclass(wanted):
            return _dataclasses.get(wanted) or _dataclass(wanted)
        if issubclass(wanted, enum.Enum):
            return _made("one of its values", wanted, (str, int))
    raise TypeError(f"a payload can't be parsed as {wanted!r}")


def _anything(value: Any, where: str) -> Any:  # noqa: ARG001
    return value


def _fail(where: str, what: str, value: Any) -> typing.NoReturn:
    raise Misfit(f"{where}: {what} is wanted, not {_name(value)}")


def _name(value: Any) -> str:
    names = {str: "a string", bool: "a boolean", int: "a number", float: "a number", dict: "an object"}
    return "null" if value is None else names.get(type(value), "an array")  # pyright: ignore[reportUnknownArgumentType]


def _exactly(what: str, *classes: type) -> Parse:
    def parse(value: Any, where: str) -> Any:
        if type(value) not in classes:  # not isinstance: True is no number
            _fail(where, what, value)
        return value

    return parse


def _made(what: str, make: Callable[[Any], Any], classes: tuple[type, ...] = (str,)) -> Parse:
    def parse(value: Any, where: str) -> Any:
        if type(value) not in classes:
            _fail(where, what, value)
        try:
            return make(value)
        except (ValueError, InvalidOperation):
            raise Misfit(f"{where}: it is not {what}") from None

    return parse


def _float(value: Any, where: str) -> float:
    if type(value) not in (int, float):
        _fail(where, "a number", value)
    return float(value)


_PLAIN: dict[Any, Parse] = {
    str: _exactly("a string", str),
    int: _exactly("an integer", int),
    bool: _exactly("a boolean", bool),
    float: _float,
    datetime: _made("a time in ISO 8601", datetime.fromisoformat),
    date: _made("a date in ISO 8601", date.fromisoformat),
    time: _made("a time of day in ISO 8601", time.fromisoformat),
    UUID: _made("a UUID", UUID),
    Decimal: _made("a decimal", lambda value: Decimal(str(value)), (str, int, float)),
}


def _union(arguments: tuple[Any, ...]) -> Parse:
    parsers = [parser(one) for one in arguments]

    def parse(value: Any, where: str) -> Any:
        reasons: list[str] = []
        for one in parsers:
            try:
                return one(value, where)
            except Misfit as misfit:
                reasons.append(str(misfit))
        raise Misfit("; or ".join(reasons))

    return parse


def _literal(allowed: tuple[Any, ...]) -> Parse:
    def parse(value: Any, where: str) -> Any:
        if not any(type(value) is type(one) and value == one for one in allowed):
            raise Misfit(f"{where}: one of {', '.join(map(repr, allowed))} is wanted")
        return value

    return parse


def _array(make: Any, arguments: tuple[Any, ...]) -> Parse:
    if make is tuple and arguments and arguments[-1] is not Ellipsis:
        raise TypeError("a tuple of fixed length can't be a payload, or a part of one")
    item = parser(arguments[0]) if arguments else _anything

    def parse(value: Any, where: str) -> Any:
        if type(value) is not list:
            _fail(where, "an array", value)
        found: Any = [item(one, f"{where}[{place}]") for place, one in enumerate(value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return found if make is list else make(found)  # pyright: ignore[reportUnknownVariableType]

    return parse


def _object(arguments: tuple[Any, ...]) -> Parse:
    if arguments and arguments[0] is not str:
        raise TypeError("the keys of JSON are strings")
    item = parser(arguments[1]) if arguments else None

    def parse(value: Any, where: str) -> Any:
        if type(value) is not dict:
            _fail(where, "an object", value)
        if item is None:
            return value  # pyright: ignore[reportUnknownVariableType]
        return {name: item(one, f"{where}.{name}") for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]

    return parse


def _dataclass(wanted: Any) -> Parse:
    hints = typing.get_type_hints(wanted, include_extras=True)
    fields = [one for one in dataclasses.fields(wanted) if one.init]
    required = {
        one.name
        for one in fields
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    parsers: dict[str, Parse] = {}

    def parse(value: Any, where: str) -> Any:
        if type(value) is not dict:
            _fail(where, "an object", value)
        given: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        if missing := required - given.keys():
            raise Misfit(f"{where}: {', '.join(sorted(missing))} missing")
        known = {name: one(given[name], f"{where}.{name}") for name, one in parsers.items() if name in given}
        try:
            return wanted(**known)
        except (ValueError, TypeError) as error:  # of its __post_init__
            raise Misfit(f"{where}: {error}") from error

    _dataclasses[wanted] = parse  # before its fields are looked at, which may be of this class
    parsers.update({one.name: parser(hints[one.name]) for one in fields})
    return parse


def _is_model(wanted: type) -> bool:
    pydantic = sys.modules.get("pydantic")  # who has a model has imported it
    return pydantic is not None and issubclass(wanted, pydantic.BaseModel)


def _model(wanted: Any) -> Parse:
    def parse(value: Any, where: str) -> Any:
        try:
            return wanted.model_validate(value)
        except ValueError as error:  # pydantic's ValidationError is one
            details: list[dict[str, Any]] = getattr(error, "errors", list[dict[str, Any]])()
            reasons = [f"{'.'.join([where, *map(str, one['loc'])])}: {one['msg']}" for one in details]
            raise Misfit("; ".join(reasons) or str(error)) from None

    return parse
