"""A rule that many files keep is one test, which lists every file that breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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

        test.__name__, test.__qualname__, test.__doc__ = rule.__name__, rule.__qualname__, rule.__doc__
        test.__module__ = rule.__module__
        return test

    return decorate
