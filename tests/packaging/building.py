"""The wheel and the sdist, built of what is tracked; and what has to be in them, as a rule."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from tools import release

ROOT = Path(__file__).parents[2]
EPOCH = "1700000000"
"""The time of every file in what is built, so that the same sources make the same bytes."""
PLACE_ONLY = (".ci/",)
"""What of the tree only the place needs where it is kept."""


def tracked(root: Path = ROOT) -> list[str]:
    """Return the paths of what is tracked, and of what is new and not ignored, relative to the root.

    Raises:
        FileNotFoundError, subprocess.CalledProcessError: there is no git, or the root is no clone.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)
    return sorted(name for name in set(done.stdout.split("\0")) if name and (root / name).is_file())


def copied(to: Path) -> Path:
    """Return a folder with what is tracked and nothing else.

    Args:
        to: where it is made.
    """
    for name in tracked():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    return to


def build(source: Path, to: Path, *targets: str) -> list[Path]:
    """Build what is named, and return the files.

    Args:
        source: the folder of pyproject.toml.
        to: where they are put.
        *targets: wheel, sdist.
    """
    return release.build(source, to, *targets, epoch=EPOCH)


def of_wheel(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel, but those that say what it is (dist-info), with their content."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        return {name: archive.read(name) for name in names}


def of_sdist(path: Path) -> dict[str, bytes]:
    """Return the files of an sdist, named from its one folder on, with their content."""
    found: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            if member.isfile():
                text = archive.extractfile(member)
                assert text is not None
                found[member.name.partition("/")[2]] = text.read()
    return found


def belongs_in_wheel(name: str) -> str | None:
    """Return where a file of the tree stands in the wheel, None where it has no place in it.

    The package, and the revisions inside of it: what an application runs, and no tool, text or test.
    """
    if name.startswith("pyqueue_sql/"):
        return name
    return f"pyqueue_sql/{name}" if name.startswith("migrations/") else None


def belongs_in_sdist(name: str) -> bool:
    """Return whether a file of the tree is in the sdist: all that somebody who packages it works with."""
    return not name.startswith(PLACE_ONLY)
