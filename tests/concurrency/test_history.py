"""A long run with crashes: workers are killed, connections cut, and the history has to make sense.

PYQUEUE_HISTORY_MESSAGES sets the size; by default 4,000 messages, some 10 seconds.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.concurrency import worker
from tests.concurrency.crew import Crew, run
from tests.sample import TIMES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.harness import Harness

MESSAGES = int(os.environ.get("PYQUEUE_HISTORY_MESSAGES", 4000 * TIMES))


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.slow
def test_a_run_with_crashes_loses_nothing_and_gives_nothing_to_two(harness: Harness, tmp_path: Path) -> None:
    def strike(crew: Crew) -> int:
        return crew.kill_one() + harness.terminate_one_of(worker.NAME)

    found = run(harness.url, tmp_path, strike, messages=MESSAGES, least=6)
    assert found.violations == []
    assert found.pushed == MESSAGES, "producers aren't struck"
    assert found.faults > 5
    assert found.unanswered > 0, "no crash met a call"
