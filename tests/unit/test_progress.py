"""What `--progress` says of each sort of result, and that it breaks none of pytest's own summary."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EACH_SORT = """
import pytest

def test_passes(): pass
def test_fails(): assert 1 == 2
def test_is_skipped(): pytest.skip("not here")
@pytest.mark.xfail(reason="known")
def test_is_known_to_fail(): assert 1 == 2
@pytest.mark.xfail(reason="known")
def test_is_said_to_fail(): pass
@pytest.fixture
def broken(): raise RuntimeError("of the fixture")
def test_has_an_error(broken): pass
"""


def test_each_sort_of_result_is_counted_and_summed_up(tmp_path: Path) -> None:
    (tmp_path / "test_each.py").write_text(EACH_SORT)
    options = ["-p", "tests.servers.progress", "--progress", "-ra", "-p", "no:cacheprovider", "-n", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-c /dev/null"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    last = ran.stdout.strip().splitlines()[-1]
    counts = "1 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error"
    assert counts in last, ran.stdout + ran.stderr
    assert "FAILED test_each.py::test_fails: assert 1 == 2" in ran.stdout
    assert ran.returncode == 1
