"""A PostgreSQL and its standby, which takes over when the first is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import psycopg

from pyqueue_sql.embedded import start_server
from pyqueue_sql.embedded.server import wheel_bin_dir
from tests.faults.restarts import make_database
from tests.worker.helpers import until

if TYPE_CHECKING:
    from types import TracebackType

SETTINGS = {"fsync": "off"}


class Pair:
    """Two servers, of which one is written to; as a context manager both are stopped at the end.

    Args:
        folder: of their data.
    """

    def __init__(self, folder: Path) -> None:
        self._stack = ExitStack()
        folder.chmod(0o755)
        self._first = self._stack.enter_context(start_server(folder / "first", settings=SETTINGS))
        copy = folder / "second"
        copy.mkdir(mode=0o700)
        shutil.copy(folder / "first" / "password", copy / "password")
        backup = [
            wheel_bin_dir() / "pg_basebackup",
            "-D",
            copy / "pgdata",
            "-d",
            self._first.url,
            "-R",
            "-c",
            "fast",
        ]
        subprocess.run(backup, check=True, capture_output=True)
        owner = (folder / "first" / "pgdata").stat()
        for one in (copy, *copy.rglob("*")):
            os.chown(one, owner.st_uid, owner.st_gid)
        self._second = self._stack.enter_context(start_server(copy, settings=SETTINGS))

    def database(self, name: str) -> str:
        """Make a database with the queue, and return the URL that leads to whichever server is written to."""
        one = urlsplit(make_database(self._first.url, name))
        hosts = f"127.0.0.1:{self._first.port},127.0.0.1:{self._second.port}"
        return (
            f"postgresql://{one.username}:{one.password}@{hosts}/{name}"
            "?target_session_attrs=read-write&connect_timeout=5"
        )

    def fail_over(self, away: float) -> None:
        """Kill the first once the second has all of it, and promote that after some seconds."""
        with psycopg.connect(self._first.url, autocommit=True) as connection:
            text = "select replay_lsn >= pg_current_wal_lsn() from pg_stat_replication"
            until(lambda: connection.execute(text).fetchone() == (True,))
        os.kill(self._first.pid, signal.SIGKILL)
        self._first.stop()
        time.sleep(away)
        with psycopg.connect(self._second.url, autocommit=True) as connection:
            assert connection.execute("select pg_promote()").fetchone() == (True,)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
