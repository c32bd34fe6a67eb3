"""The table of docs/mission.md, with what passes on which server: `make mission`.

A scenario carries the names of its rows, test_C4_M8_…, or the mark `mission`. A row is there where at least
one scenario of it passed on each server, and none failed. Arguments are those of pytest.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers.plugin import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| ([A-Z]\d) \| (.*) \|$", re.MULTILINE)
NAMED = re.compile(r"^test_((?:[A-Z]\d_)+)")
MEASURED = {"K9": "measured by `make bench`, see bench/README.md"}
"""Rows that are a rate, not a behaviour."""
WHERE = ("conformance", "schema", "worker", "clients", "spark")
SIGNS = {None: "-", True: "yes", False: "FAILED"}


def rows_of(item: pytest.Item) -> set[str]:
    """Return the rows that a test is a scenario of."""
    found = NAMED.match(item.name)
    named = found[1].strip("_").split("_") if found else []
    return {*named, *(row for mark in item.iter_markers("mission") for row in mark.args)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of no row, and have the reports of the others say their rows and their server."""
    config.hook.pytest_deselected(items=[item for item in items if not rows_of(item)])
    items[:] = [item for item in items if rows_of(item)]
    for item in items:
        callspec = getattr(item, "callspec", None)
        server = callspec.params.get("server_name") if callspec else None
        item.user_properties += [("rows", sorted(rows_of(item))), ("server", server or "postgresql")]


class Table:
    """A plugin of pytest that keeps what came of the scenarios of rows."""

    def __init__(self) -> None:
        self.passed: dict[tuple[str, str], bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what came of it; what was skipped counts for nothing."""
        if report.failed or (report.when == "call" and report.passed):
            said: dict[str, Any] = dict(report.user_properties)
            for row in said["rows"]:
                key = row, said["server"]
                self.passed[key] = self.passed.get(key, True) and report.passed

    def lines(self, names: Iterable[str]) -> Iterable[str]:
        """Return the table, a line a row."""
        for row, text in ROW.findall((ROOT / "docs" / "mission.md").read_text()):
            if row in MEASURED:
                yield f"{row}  {MEASURED[row]}: {text}"
                continue
            found = "  ".join(f"{name} {SIGNS[self.passed.get((row, name))]:6}" for name in names)
            yield f"{row}  {found}  {text}"

    def missing(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the rows that don't pass, with the servers on which they don't."""
        found: dict[str, list[str]] = defaultdict(list)
        for row, _ in ROW.findall((ROOT / "docs" / "mission.md").read_text()):
            for name in names:
                if row not in MEASURED and not self.passed.get((row, name)):
                    found[row].append(name)
        return dict(found)


def main(arguments: list[str]) -> int:
    """Run the scenarios and print the table; returns 1 where a row doesn't pass on each server."""
    table = Table()
    folders = [f"{ROOT}/tests/{folder}" for folder in WHERE]
    # by its name, so that the processes of -n have it too
    pytest.main(
        ["-q", "-p", "no:cacheprovider", "-p", "tests.mission", *arguments, *folders], plugins=[table]
    )
    names = [name for name in NAMES if "--server" not in arguments or name in arguments]
    print()
    print("\n".join(table.lines(names)))
    missing = table.missing(names)
    for row, where in missing.items():
        print(f"missing: {row} on {', '.join(where)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
