"""PgBouncer, from Debian's package, in front of a PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyqueue_sql.embedded.supervisor import free_port
from tests.servers.binaries import filled
from tests.servers.starting import UnavailableError

PATIENCE_SECONDS = 60.0
POOL_SIZE = 5
"""Sessions of the server that it shares."""


@contextmanager
def pgbouncer(url: str, **settings: str) -> Iterator[str]:
    """Give the URL of a pooler in transaction mode before a database.

    Args:
        url: of the database.
        **settings: of PgBouncer.

    Raises:
        UnavailableError: this is no Debian, or the package can't be fetched.
    """
    folder = filled("pgbouncer")
    [loader] = [one for one in folder.rglob("ld-linux*.so.*") if one.is_file()][:1]
    libraries = sorted({str(one.parent) for one in folder.rglob("*.so.*")})
    command = [str(loader), "--library-path", ":".join(libraries), str(folder / "usr/sbin/pgbouncer")]
    there, port = urlsplit(url), free_port()
    target = {
        "host": there.hostname,
        "port": there.port,
        "dbname": there.path[1:],
        "user": there.username,
        "password": unquote(there.password or ""),
    }
    given = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": f"{POOL_SIZE}",
        **settings,
    }
    home = Path(tempfile.mkdtemp(prefix="pyqueue-pooler-"))
    try:
        pairs = " ".join(f"{name}='{value}'" for name, value in target.items() if value)
        lines = ["[databases]", f"app = {pairs}", "[pgbouncer]", *(f"{k} = {v}" for k, v in given.items())]
        (home / "ini").write_text("\n".join(lines) + "\n")
        home.chmod(0o755)
        (home / "ini").chmod(0o644)
        user = ["--user=nobody"] if os.getuid() == 0 else []
        with open(home / "log", "wb") as log:
            process = subprocess.Popen([*command, *user, str(home / "ini")], stdout=log, stderr=log)
        try:
            wait_for(port, process, home / "log")
            yield f"postgresql://app@127.0.0.1:{port}/app"
        finally:
            process.terminate()
            process.wait()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until somebody answers.

    Raises:
        UnavailableError: it has ended, or never does.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise UnavailableError(f"PgBouncer doesn't answer: {log.read_text(errors='replace')[-500:]}")
