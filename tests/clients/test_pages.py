"""What the pages of the documentation tell their readers to do works, on each server that they name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.clients import pages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.harness import Harness

PAGES = [*(pages.ROOT / "docs").glob("*.md"), *(pages.ROOT / "docs/howto").glob("*.md")]
NOT_RUN = {"spark.md"}
"""Its code needs Spark."""


@pytest.mark.parametrize(
    "page",
    sorted(path for path in PAGES if path.name not in NOT_RUN and pages.blocks(path)),
    ids=lambda page: page.stem,
)
def test_the_code_of_a_page_does_what_it_says(
    page: Path, harness: Harness, server_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYQUEUE_URL", harness.url)
    monkeypatch.setenv("DATABASE_URL", harness.url)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    reader = pages.Reader(harness.url, server_name, tmp_path)
    try:
        for block in pages.blocks(page):
            reader.do(block)
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]  # the next page has a module of that name, too
