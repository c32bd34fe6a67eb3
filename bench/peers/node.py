"""The peers from npm: their packages below the virtual environment, and their clients."""

from __future__ import annotations

from pathlib import Path

from bench.peers.processes import Program
from tests.clients import npm

HERE = Path(__file__).parent / "node"


def program(name: str) -> Program:
    """Return the program of a client in Node.js, its packages installed.

    Raises:
        tests.clients.npm.MissingError: that isn't possible here.
    """
    node, place = npm.install(HERE, "bench-node")
    return Program((node, str(HERE / f"{name}.mjs")), place)
