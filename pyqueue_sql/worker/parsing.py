"""Payloads as what a handler's annotation says they are: plain JSON of a type, or what pydantic makes of it.

A value is never bent to fit: pydantic is strict, but for its own models, which go by their settings. Plain
JSON is looked at here, so that pydantic needn't be there for it.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable
from typing import Any, TypeAlias

Parse: TypeAlias = Callable[[Any], Any]
"""Takes a payload; raises `Misfit`."""


class Misfit(Exception):  # noqa: N818 -- the payload's, not ours
    """A payload isn't what its handler takes; the message says where and why, and repeats none of it."""


PLAIN: tuple[tuple[Any, str, tuple[type, ...]], ...] = (
    (dict, "an object", (dict,)),
    (dict[str, Any], "an object", (dict,)),
    (list, "an array", (list,)),
    (list[Any], "an array", (list,)),
    (str, "a string", (str,)),
    (int, "an integer", (int,)),
    (float, "a number", (int, float)),
    (bool, "a boolean", (bool,)),
    (type(None), "null", (type(None),)),
)
"""Annotations, what they are called, and the classes of what fits."""


def parser(wanted: Any) -> Parse:
    """Return what makes a value of a type from a payload.

    Args:
        wanted: a type, or one made of types by typing.

    Raises:
        TypeError: payloads can't be parsed as that, or not without pydantic, which isn't installed.
    """
    if wanted is Any or wanted is object:
        return lambda value: value
    for annotation, what, classes in PLAIN:
        if wanted == annotation:
            return _plain(what, classes, float if wanted is float else None)
    return _by_pydantic(wanted)


def _plain(what: str, classes: tuple[type, ...], make: type | None) -> Parse:
    def parse(value: Any) -> Any:
        if type(value) not in classes:  # not isinstance: True is no number
            raise Misfit(f"payload: {what} is wanted")
        return value if make is None else make(value)

    return parse


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; with pydantic dataclasses, models, times and the like, too.

    Raises:
        TypeError: it can't become JSON.
        ValueError: it refers to itself.
    """
    try:
        from pydantic_core import PydanticSerializationError, to_jsonable_python
    except ImportError:
        found = dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
        json.dumps(found)
        return found  # pyright: ignore[reportUnknownVariableType]
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError as error:
        raise TypeError(f"{type(value).__name__} can't become JSON: {error}") from None


def _by_pydantic(wanted: Any) -> Parse:
    try:
        import pydantic
    except ImportError:
        raise TypeError(
            f"a payload is made {wanted!r} by pydantic: pip install 'pyqueue_sql[worker]'"
        ) from None
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(wanted)
        adapter.rebuild()  # a name in it that can't be looked up is an error now
    except (pydantic.PydanticUserError, NameError) as error:
        raise TypeError(f"a payload can't be parsed as {wanted!r}: {error}") from error
    strict = None if inspect.isclass(wanted) and issubclass(wanted, pydantic.BaseModel) else True

    def parse(value: Any) -> Any:
        try:
            # of JSON, of which times, UUIDs, decimals and members of an enum are strings
            return adapter.validate_json(json.dumps(value), strict=strict)
        except pydantic.ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            reasons = [f"{'.'.join(['payload', *map(str, one['loc'])])}: {one['msg']}" for one in found]
            raise Misfit("; ".join(reasons)) from None

    return parse
