"""What is one test for many: a rule that many files keep, a scenario with a table of values.

Such a test goes on after a failure and names all that fail.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


def every(
    items: Iterable[T], name: Callable[[T], str] = str
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Make a test of a rule, a function that asserts it of one item.

    Args:
        items: all that the rule is for; none at all is a fault.
        name: what to call one in the list of those that break it.
    """
    found = list(items)

    def decorate(rule: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            assert found, "the rule is for nothing"
            broken: list[str] = []
            for item in found:
                try:
                    rule(item)
                except AssertionError as error:
                    broken.append(f"{name(item)}: {error}")
            if broken:
                raise AssertionError("\n".join([f"broken {len(broken)} times:", *broken])) from None

        return _called(test, rule)

    return decorate


def each(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a scenario and a table of values, which all see what those before have left.

    It is for what is refused, or has a name of its own; what needs a clean database is parametrized instead.

    Args:
        names: the parameters that a row of the table gives.
        rows: as for `pytest.mark.parametrize`; none at all is a fault.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if isinstance(row, tuple) and len(keys) > 1 else (row,) for row in rows]

    def decorate(scenario: Callable[..., None]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            assert table, "the table is empty"
            failures: list[Exception] = []
            for row in table:
                values = dict(zip(keys, row, strict=True))
                try:
                    scenario(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    said = ", ".join(f"{key}={value!r:.200}" for key, value in values.items())
                    failure = AssertionError(f"with {said}")
                    failure.__cause__ = error
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        test.__dict__.update(scenario.__dict__)
        taken = inspect.signature(scenario)
        kept = [parameter for name, parameter in taken.parameters.items() if name not in keys]
        assert len(kept) + len(keys) == len(taken.parameters), f"{scenario.__name__} doesn't take {names}"
        test.__signature__ = taken.replace(parameters=kept)  # type: ignore[attr-defined]
        return _called(test, scenario)

    return decorate


def _called(test: Callable[..., None], after: Callable[..., None]) -> Callable[..., None]:
    """Return the test with the name and the place of what it tests."""
    test.__name__, test.__qualname__, test.__doc__ = after.__name__, after.__qualname__, after.__doc__
    test.__module__ = after.__module__
    return test
