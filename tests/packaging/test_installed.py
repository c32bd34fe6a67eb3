"""The wheel, installed where there is nothing else, does its work."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests import pythons
from tests.packaging import environments
from tests.schema.catalogs import empty_database
from tests.servers.plugin import REQUIRE, required

pytestmark = pytest.mark.long

CASES = {"oldest": (min, environments.OLDEST), "newest": (max, environments.PINNED)}
"""Of interpreters, and of dependencies; the rest of them is for python -m tests.packaging."""


@pytest.mark.parametrize("case", CASES)
def test_the_wheel_alone_installs_works_and_upgrades(
    built: tuple[Path, Path], database_url: str, tmp_path: Path, case: str
):
    which, age = CASES[case]
    found = pythons.candidates([])
    place = tmp_path / "environment"
    environment = environments.Environment(place, found[which(found)], built[0], age)
    with empty_database(database_url, "pyqueue_packaging") as url:
        environments.use(environment, url)
    if age == environments.PINNED:
        environments.check_types(environment, checker())


def checker() -> str:
    """Return the command of pyright."""
    found = shutil.which("pyright", path=Path(sys.executable).parent)
    if found is None:
        if "types" in required():
            raise pytest.UsageError(f"{REQUIRE} names types: there is no pyright")
        pytest.skip("LEFT OUT, the types were read by nobody: pip install 'pyright[nodejs]', or make lint")
    return found
