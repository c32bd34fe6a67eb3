"""What `make faults` tries, in small: every promise on every server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.promises import PROMISES, Size, keep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.restarts import Restartable

FAULTS = {"server killed": 3, "consumers stopped": 12}
"""Of the others so many as take about as long."""

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.mark.parametrize("name", PROMISES)
def test_it_is_kept_whatever_breaks(restarted: Restartable, tmp_path: Path, name: str) -> None:
    size = Size(FAULTS.get(name, 25), 3_000)
    found = keep(PROMISES[name], restarted, tmp_path, size, seed=1)
    assert found.violations == []
    assert (found.faults >= size.faults, found.calls > 0) == (True, True)
    assert found.unanswered > 0 or name == "consumers stopped"
