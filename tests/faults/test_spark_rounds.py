"""Three rounds of tests/faults/spark_rounds.py, one for each way in which a transaction ends a batch."""

from __future__ import annotations

import pytest

from tests.faults.spark_rounds import play

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize(("mode", "seed"), [("foreach", 1), ("stream", 2), ("station", 3)])
def test_a_driver_that_is_killed_and_started_with_other_options_loses_nothing(
    database_url: str, mode: str, seed: int
) -> None:
    done, wrong = play(database_url, seed, mode)
    assert wrong == [], done
