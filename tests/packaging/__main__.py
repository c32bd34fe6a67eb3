"""Installs the wheel on each Python with the oldest and the newest dependencies: python -m tests.packaging

Pythons are the oldest and the newest that there are (see tests.pythons), dependencies the oldest that
pyproject.toml allows and the newest of the registry. In each of the four it installs the queue, pushes,
works, examines and upgrades again, on a PostgreSQL of its own, and strict checkers read an application.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import tempfile
from pathlib import Path

from pyqueue_sql.embedded import start_server
from tests import pythons
from tests.packaging import building, environments
from tests.schema.catalogs import empty_database


def main() -> int:
    """Try each and print a line for each; returns the exit status."""
    found = pythons.candidates([])
    lines = pythons.missing(found)
    lines += [f"extra {name}: LEFT OUT, {why}" for name, why in environments.NOT_INSTALLED.items()]
    failed = False
    pyright = shutil.which("pyright", path=Path(sys.executable).parent)
    if pyright is None:
        lines.append("types: LEFT OUT, there is no pyright: make lint installs it")
    ages = (environments.OLDEST, environments.NEWEST)
    with tempfile.TemporaryDirectory(prefix="pyqueue-packaging-") as scratch, start_server() as server:
        [wheel] = building.build(building.ROOT, Path(scratch) / "dist", "wheel")
        for number, (version, age) in enumerate(
            itertools.product(sorted({min(found), max(found)}), ages), start=1
        ):
            said = f"Python {pythons.dotted(version)}, {age} dependencies"
            try:
                place = Path(scratch) / str(number)
                environment = environments.Environment(place, found[version], wheel, age)
                with empty_database(server.url, f"try_{number}") as url:
                    environments.use(environment, url)
                if pyright and age == environments.NEWEST:
                    environments.check_types(environment, pyright)
                    said += ", types"
                said += f": ok ({environment.versions()})"
            except AssertionError as error:
                failed = True
                print(error)
                said += ": FAILED"
            print(said, flush=True)
            lines.append(said)
    print("\n".join(["", "environments:", *lines]))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
