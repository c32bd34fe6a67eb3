"""What is built is built once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.packaging import building

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    if not shutil.which("git") or not (building.ROOT / ".git").exists():
        pytest.skip("LEFT OUT: what is tracked can't be told without git and a clone")
    folder = tmp_path_factory.mktemp("built")
    wheel, sdist = building.build(building.ROOT, folder, "wheel", "sdist")
    return wheel, sdist
