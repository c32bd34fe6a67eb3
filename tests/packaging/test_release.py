"""A release from its first check to its tag, in a clone that is thrown away."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.packaging import building
from tools import freeze, release, surface

pytestmark = pytest.mark.long

WHO = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "somebody"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@localhost"),
}


class Clone:
    """A repository with what is tracked in this one, and one commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = building.copied(folder)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words: str) -> str:
        """Run git, and return what it prints."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=os.environ | WHO,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    def commit(self) -> None:
        """Commit all that there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "as it is")

    def edit(self, name: str, before: str, after: str) -> None:
        """Replace a text in a file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), encoding="utf-8")

    def release(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        return subprocess.run(
            [sys.executable, "-m", "tools.release", *options],
            cwd=self.folder,
            env=os.environ | WHO,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    (tmp_path / "clone").mkdir()
    return Clone(tmp_path / "clone")


def test_a_release_goes_from_its_first_check_to_its_tag(clone: Clone, tmp_path: Path):
    to = tmp_path / "published"
    clone.edit("pyproject.toml", f'version = "{surface.version()}"', 'version = "1.0.0"')
    clone.edit("CHANGELOG.md", f"## {surface.version()} (unreleased)", "## 1.0.0 (unreleased)")
    stopped = clone.release("--to", str(to))
    assert stopped.returncode == 1
    for said in ("tree isn't clean: ", "begins with '1.0.0 (unreleased)'", "surface.txt", "releases.json"):
        assert said in stopped.stderr
    assert not to.exists()
    clone.edit("CHANGELOG.md", "## 1.0.0 (unreleased)", "## 1.0.0 (2027-01-31)")
    assert clone.release("--prepare").returncode == 0
    clone.commit()
    dry = clone.release("--dry-run", "--tag", "--to", str(to))
    assert (dry.returncode, dry.stderr, clone.git("tag", "--list")) == (0, "", "")
    look_at(to, "1.0.0")
    done = clone.release("--tag", "--to", str(to))
    assert (done.returncode, done.stderr, clone.git("tag", "--list")) == (0, "", "v1.0.0\n")
    # from now on the frozen SQL stays, and so does the surface unless the version rises
    [frozen, *_] = sorted((clone.folder / "migrations" / "frozen" / "postgresql").glob("*.routines.sql"))
    frozen.write_text(frozen.read_text() + "\n")
    clone.edit("pyqueue_sql/cli/schema.py", '"--dialect", type=', '"--for", "dialect", type=')
    stopped = clone.release("--to", str(to))
    assert stopped.returncode == 1
    assert f"stopped: frozen SQL of a release was edited: postgresql/{frozen.name}" in stopped.stderr
    assert "stopped: there is a tag v1.0.0 already" in stopped.stderr
    check = [sys.executable, "-m", "tools.surface", "--check"]
    said = subprocess.run(check, cwd=clone.folder, capture_output=True, text=True)
    assert said.returncode == 1
    assert "the first number of the version must rise, to 2.0.0 at least" in said.stdout
    assert "command sql option --dialect is gone" in said.stdout


def look_at(folder: Path, version: str) -> None:
    """See that all that is published is there and fits together."""
    names = {path.name for path in folder.iterdir()}
    published = {
        f"pyqueue_sql-{version}{end}" for end in ("-py3-none-any.whl", ".tar.gz", ".zip", ".cdx.json")
    }
    assert names == {*published, "SHA256SUMS"}
    lines = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    sums = {name: found for found, name in lines}
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in published}
    with zipfile.ZipFile(folder / f"pyqueue_sql-{version}.zip") as packed:
        assert f"pyqueue_sql-{version}/sql/pyqueue_sql--{version}.sql" in packed.namelist()
        changelog = packed.read(f"pyqueue_sql-{version}/debian/changelog").decode()
    assert "Sun, 31 Jan 2027 00:00:00 +0000" in changelog
    with tarfile.open(folder / f"pyqueue_sql-{version}.tar.gz") as packed:
        assert f"pyqueue_sql-{version}/pyproject.toml" in packed.getnames()
    # imported here alone: what it imports is compiled for a second, in each process that collects the tests
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = (folder / f"pyqueue_sql-{version}.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill: dict[str, Any] = json.loads(text)
    parts = {one["name"].lower().replace("_", "-") for one in bill["components"]}
    with zipfile.ZipFile(folder / f"pyqueue_sql-{version}-py3-none-any.whl") as packed:
        [metadata] = [name for name in packed.namelist() if name.endswith("METADATA")]
        said = packed.read(metadata).decode()
    wanted = {
        found.lower() for found in re.findall(r"(?m)^Requires-Dist: ([\w-]+)(?:\[\w+\])?[^;\n]*$", said)
    }
    assert {"alembic", "psycopg", "sqlalchemy", "click"} <= wanted
    assert {*wanted, "htmx.org"} <= parts
    assert bill["metadata"]["component"]["name"] == "pyqueue_sql"


def test_what_is_released_is_frozen_for_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert freeze.altered() == []
    noted = tmp_path / "releases.json"
    revision = freeze.newest(freeze.FROZEN / "postgresql")
    found = freeze.sums(revision)
    assert {name.split("/")[0] for name in found} == {"postgresql", "mysql"}
    noted.write_text(json.dumps({"1.0.0": {"revision": revision, "sha256": found}}))
    monkeypatch.setattr(freeze, "RELEASES", noted)
    assert freeze.altered() == []
    with pytest.raises(ValueError, match="is released: a change is a new revision"):
        freeze.write(revision)
    name = next(iter(found))
    noted.write_text(json.dumps({"1.0.0": {"revision": revision, "sha256": {**found, name: "another"}}}))
    assert freeze.altered() == [name]


def test_a_step_that_fails_says_what_it_said():
    with pytest.raises(release.ReleaseError, match=r"-c import sys.*: out of order"):
        release.run(sys.executable, "-c", "import sys; sys.exit('out of order')")
