"""What `make faults` tries, in small: every promise on every server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.promises import PROMISES, keep
from tests.servers.starting import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.restarts import Restartable

ALONE = (
    *("server killed", "consumers killed", "consumers stopped", "sessions ended", "answers lost"),
    *("all or nothing", "popped once"),
)
"""Each takes some seconds; the others are quick and share a server."""
COSTLY = {
    "disk full": ("postgresql",),
    "no memory": ("postgresql", "mariadb"),
    "server clock": ("postgresql",),
}
"""Each has a server of its own, which takes its time: here on these alone, in `make faults` on all."""
ROUNDS = {**{name: [name] for name in ALONE}, "others": [name for name in PROMISES if name not in ALONE]}

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.mark.parametrize("name", ROUNDS)
def test_it_is_kept_whatever_breaks(
    restarted: Restartable, server_name: str, tmp_path: Path, name: str
) -> None:
    left_out: list[str] = []
    for promise in (PROMISES[one] for one in ROUNDS[name]):
        if server_name not in COSTLY.get(promise.name, promise.servers):
            continue
        folder = tmp_path / promise.name
        folder.mkdir()
        try:
            found = keep(promise, restarted, folder, promise.least, seed=1)
        except UnavailableError as error:
            left_out.append(f"{promise.name} LEFT OUT, {error}")
            continue
        assert found.violations == [], promise.name
        assert (found.faults >= promise.least.faults, found.calls > 0) == (True, True), promise.name
        assert found.unanswered > 0 or not promise.meets, promise.name
    if left_out:
        pytest.skip("; ".join(left_out))
