"""The options of a message, as they are spelt in JSON: right and wrong ones, and what lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.steps import SECOND, keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.harness import Session

NEW_YEAR = 1_767_225_600
"""When a test begins, in seconds."""
YEAR_10000 = 253_402_300_800


def own(**values: Iterable[object]) -> list[str]:
    """Return members of a JSON object, one of each value."""
    return [f'"{option}": {value}' for option, given in values.items() for value in given]


SHORT = [
    *own(
        priority=[-32768, -1, 0, 32767],
        delay_seconds=[
            *("0", "-0", "-0.0", "-1e-400", "1e-7", "5e-7", "0.0000004", "0.0000005"),
            *("0.00000049999999", "1.1234565", "0.30000000000000004", "123456789.1234565"),
            *("2.5", "1e3", "1E+2", "4294967296"),
            YEAR_10000 - 1 - NEW_YEAR,
        ],
        scheduled_at=[10**14, NEW_YEAR * SECOND, NEW_YEAR * SECOND + 1, YEAR_10000 * SECOND - 1],
        max_attempts=[1, 3, 10**9],
        headers=['{"a": 1}', '{ "a" :1 ,  "\\u0062":"é\\n\\"" }', '{"": null, "b": 1.50}'],
        group=['"g"', '"nobody made it"', f'"{"é" * 100}"'],
        order_key=['"x"', '" "', '"\\u00e9\\""', f'"{"é" * 200}"'],
        semaphores=['["wide"]', '[ "narrow" ]'],
    ),
    '"group": "g", "order_key": "x", "priority": 2, "delay_seconds": 1',
    '"semaphores": ["narrow"], "delay_seconds": 1, "group": "g"',
    '"delay_seconds": 1, "priority": 2, "headers": {"a": "b"}, "max_attempts": 7',
    f'"headers": {{"a": true}}, "scheduled_at": {NEW_YEAR * SECOND}',
]
"""Options of a message that are right, and that a batch of MariaDB and MySQL takes in its short way."""
OTHERS = ["null", "true", "false", '"1"', '" 1"', '"x"', '""', "[]", "[1]", "{}"]
LONG = [
    *own(
        priority=[-32769, 32768, "1.0", "1e0", "1e1", "1.5", "1e-7", "1e300", 2**64, *OTHERS],
        delay_seconds=[-1, "-0.0000001", YEAR_10000 - NEW_YEAR, "1e300", 2**64, *OTHERS],
        scheduled_at=[
            *(0, -1, 10**14 - 1, YEAR_10000 * SECOND, 2**64, "1.8e15", "1800000000000000.5"),
            *('"2030-01-01T00:00:00Z"', '"1800000000000000"', "[1800000000000000]", *OTHERS),
        ],
        max_attempts=[-1, 0, 10**9 + 1, "1.0", "1e1", "1.5", "1e300", 2**64, *OTHERS],
        headers=['{"a": []}', '{"a": {}}', '{"a": "["}', '{"a": "{"}', *OTHERS],
        group=["null", "1", '""', '["g"]', f'"{"é" * 101}"'],
        order_key=["null", "1", '""', '["x"]', f'"{"é" * 201}"'],
        semaphores=[
            *("null", '"wide"', "[]", "[1]", '[["wide"]]', '{"wide": 1}', '["nobody made it"]', '["WIDE"]'),
            *('["wide", "narrow"]', '["wide", "wide"]'),
        ],
        route=['["next"]'],
        Priority=[1],
        attempts=[1, '1, "priority": 1'],
        on_duplicate=['"ignore", "priority": 1', '"replace", "priority": 1'],
    ),
    '"delay_seconds": 1, "scheduled_at": 1800000000000000',
    '"delay_seconds": null, "scheduled_at": 1800000000000000',
    '"delay_seconds": 1, "scheduled_at": null',
    '"delay_seconds": 1, "priority": null',
    '"": 1, "priority": 1',
    '"order_key": "x", "semaphores": ["wide"]',
]
"""Options that are left to the long way, which says what is wrong with them, if anything is."""
EITHER = [
    *('"priority": -0', '"priority": 1, "priority": 2', '"prior\\u0069ty": 1', '"priority": 1, "key": "b"'),
    '"semaphores": ["n\\u0061rrow"]',
]
"""Options that MySQL reads as JSON is read, and MariaDB as it is spelt."""


def with_turns(queue: Session) -> None:
    """Make a semaphore with room and one without, and a group."""
    queue.semaphore("wide", 10**6)
    queue.semaphore("narrow", 1)
    queue.push("holder", "a", semaphores=["narrow"])
    assert keys(queue.reserve("holder", timeout_seconds=10**6)) == ["a"]
    queue.group("g", "next")
