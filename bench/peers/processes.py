"""Client processes: started, released together, and timed from there until the last one is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 1800.0
"""After that long clients are taken to hang, and killed."""


class ClientError(Exception):
    """A client process failed; the message ends with what it said."""


@dataclass(frozen=True)
class Program:
    """What runs a client: the command, to which its arguments are added, and the folder it runs in."""

    command: tuple[str, ...]
    folder: Path = ROOT


def python(module: str) -> Program:
    """Return the program of a client in Python, by the name of its module in `bench.peers.clients`."""
    return Program((sys.executable, "-m", f"bench.peers.clients.{module}"))


def seconds(program: Program, url: str, operation: str, counts: Sequence[int], *rest: object) -> float:
    """Return how long the clients took, one a count, all at the same time.

    What a client does before it is ready (interpreter, imports, connection, schema) isn't counted.

    Args:
        program: what runs a client.
        url: the database; handed on in the environment, since everyone sees the arguments of a process.
        operation: what each does.
        counts: of messages, for each of the clients.
        rest: further arguments.
    """
    with released(program, url, operation, counts, *rest) as (clients, expect):
        began = time.perf_counter()
        expect(b"done")
        taken = time.perf_counter() - began
        for client in clients:
            client.wait(60)
        return taken


def numbers(program: Program, url: str, operation: str, count: int, *rest: object) -> list[float]:
    """Return the numbers that one client found: its line before `done`, JSON."""
    with released(program, url, operation, [count], *rest) as ([client], expect):
        assert client.stdout is not None
        line = client.stdout.readline()
        expect(b"done")
        return json.loads(line)


@contextmanager
def released(
    program: Program, url: str, operation: str, counts: Sequence[int], *rest: object
) -> Iterator[tuple[list[subprocess.Popen[bytes]], Callable[[bytes], None]]]:
    """Start clients and let them go together; gives them, and what waits for a word from each.

    Args:
        program, url, operation, counts, rest: as for `seconds`.
    """
    with tempfile.TemporaryFile() as errors:
        clients = [
            subprocess.Popen(
                [*program.command, operation, str(count), *map(str, rest)],
                cwd=program.folder,
                env={**os.environ, "PYQUEUE_URL": url},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            for count in counts
        ]
        limit = threading.Timer(LIMIT_SECONDS, lambda: [client.kill() for client in clients])
        limit.start()
        try:
            _expect(clients, b"ready", errors, url)
            for client in clients:
                assert client.stdin is not None
                client.stdin.write(b"go\n")
                client.stdin.flush()
            yield clients, lambda word: _expect(clients, word, errors, url)
        finally:
            limit.cancel()
            for client in clients:
                client.kill()
                client.communicate()


def _expect(clients: Sequence[subprocess.Popen[bytes]], word: bytes, errors: IO[bytes], url: str) -> None:
    for client in clients:
        assert client.stdout is not None
        said = client.stdout.readline()
        if said.strip() != word:
            errors.seek(0)
            told = (said + errors.read()).decode(errors="replace").replace(url, "the database")
            password = urlsplit(url).password
            raise ClientError(told.replace(password, "***")[-800:] if password else told[-800:])
