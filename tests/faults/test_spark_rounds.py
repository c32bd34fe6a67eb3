"""Rounds of tests/faults/spark_rounds.py: each way in which messages go on, and each thing that is struck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.restarts import Restartable, restartable
from tests.faults.spark_drivers import Drivers, some_drivers
from tests.faults.spark_rounds import play

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def server() -> Iterator[Restartable]:
    """A server that may be struck."""
    with restartable("postgresql") as server:
        yield server


@pytest.fixture(scope="module")
def drivers() -> Iterator[Drivers]:
    """Drivers that live from one round to the next."""
    with some_drivers() as drivers:
        yield drivers


@pytest.mark.parametrize(
    ("mode", "strike", "seed"),
    [
        ("source", "restart", 1),
        ("stream", "crash", 2),
        pytest.param("distinct", "worker", 3, marks=pytest.mark.rare),
        ("unique", "machine", 7),
        pytest.param("foreach", "machine", 4, marks=pytest.mark.rare),
        ("groups", "driver", 5),
        ("station", "executor", 6),
    ],
)
def test_a_pipeline_that_is_struck_and_started_with_other_options_loses_nothing(
    server: Restartable, drivers: Drivers, mode: str, strike: str, seed: int
) -> None:
    one, wrong = play(server, drivers, seed, mode, [strike])
    assert wrong == [], one.done
