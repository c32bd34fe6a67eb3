"""Servers of our own that are ended, by force or not, and come back as they were, on the same port."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import pymysql

from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.embedded import EmbeddedServer, EmbeddedServerError, start_server
from pyqueue_sql.embedded.server import wheel_bin_dir
from pyqueue_sql.schema import migrate
from tests.servers import Running
from tests.servers.binaries import Binaries, on_path, unpacked
from tests.servers.databases import SESSIONS
from tests.servers.starting import SETTINGS, UnavailableError, throw_away

NAMES: Final = ("postgresql", "mariadb", "mysql")
PATIENCE_SECONDS: Final = 60.0
SAFE: Final = tuple(one for one in SETTINGS if "doublewrite" not in one)
"""A page that was written by half is found again."""


class Restartable(Protocol):
    """A server that can be ended."""

    def restart(self, *, crash: bool, away: float) -> None:
        """End it, by kill -9 or as its operator does, and start it again.

        Args:
            crash: whether by kill -9.
            away: seconds in between.
        """

    def cut(self, away: float) -> None:
        """End all sessions of clients while it runs, as a network does, or a proxy that is started again.

        Args:
            away: for how many seconds; new ones are ended, too.
        """
        ...

    def guard(self) -> None:
        """Have it keep its data though it ends by itself, until `revive`."""
        ...

    def kill(self) -> None:
        """Kill it after a `guard`, for `revive` to start it again."""
        ...

    def revive(self) -> bool:
        """Start it again where it has ended since `guard`; returns whether it had."""
        ...

    def database(self, name: str) -> str:
        """Make a database with the queue, and return its URL."""
        ...


def again_and_again(seconds: float) -> Iterator[None]:
    """Yield for so long, twenty times a second."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield
        time.sleep(0.05)


def make_database(server: str, name: str) -> str:
    """Make a database with the queue, and return its URL.

    Args:
        server: a URL of it.
        name: of the database.
    """
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"create database {name}".encode())
    url = urlsplit(server)._replace(path=f"/{name}").geturl()
    migrate.upgrade(url)
    return url


def name_of(url: str) -> str:
    """Return the name of the server of a URL: postgresql, mariadb or mysql."""
    return url.partition(":")[0].partition("+")[0]


def database_of(server: Restartable, name: str) -> str:
    """Make a database with the queue and what a harness needs, and return its URL.

    Args:
        server: which it is to be on.
        name: of the database.
    """
    url = server.database(name)
    if is_mysql(url):
        with connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(f"create table {SESSIONS} (name varchar(100), id bigint)".encode())
    return url


def wrapped(folder: Path, environment: dict[str, str], limit_kb: int | None) -> Path:
    """Make a folder of programs that start those of PostgreSQL with more in their environment, or less room.

    Args:
        folder: a new one.
        environment: what they are started with besides.
        limit_kb: of the address space of a process; None: there is none.
    """
    folder.mkdir()
    given = " ".join(shlex.quote(f"{name}={value}") for name, value in environment.items())
    for name in ("postgres", "initdb"):
        program = shlex.quote(str(wheel_bin_dir() / name))
        limit = "" if limit_kb is None else f"ulimit -v {limit_kb}\n"
        (folder / name).write_text(f'#!/bin/sh\n{limit}exec env {given} {program} "$@"\n')
        (folder / name).chmod(0o755)
    folder.chmod(0o755)
    return folder


class Postgresql:
    """An embedded server whose data stays between its starts.

    Args:
        folder: of its data.
        settings: over those that it has.
        environment: what it is started with besides.
        limit_kb: see `wrapped`.
    """

    def __init__(
        self,
        folder: Path,
        settings: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        limit_kb: int | None = None,
    ) -> None:
        self._folder = folder
        self._binaries = None
        if environment or limit_kb:
            self._binaries = wrapped(folder.with_name("bin"), environment or {}, limit_kb)
        # the disk isn't waited for: it is the program that ends, never the machine
        self._settings = {"fsync": "off", **(settings or {})}
        self._server = self._start(None)

    def _start(self, port: int | None) -> EmbeddedServer:
        return start_server(self._folder, port=port, settings=self._settings, bin_dir=self._binaries)

    def restart(self, *, crash: bool, away: float) -> None:
        """End it and start it again; see Restartable."""
        port = self._server.port
        if crash:
            os.kill(self._server.pid, signal.SIGKILL)
        self._server.stop()
        time.sleep(away)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._server = self._start(port)
                return
            except EmbeddedServerError:  # processes of the one before are still at their end
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def cut(self, away: float) -> None:
        """End all sessions; see Restartable."""
        with connect(self._server.url) as connection, connection.cursor() as cursor:
            for _ in again_and_again(away):
                cursor.execute(
                    "select pg_terminate_backend(a.pid) from pg_stat_activity a"
                    " where a.backend_type = 'client backend' and a.pid <> pg_backend_pid()"
                )

    def guard(self) -> None:
        """Do nothing: its data stays anyhow; see Restartable."""

    def kill(self) -> None:
        """Kill it; see Restartable."""
        os.kill(self._server.pid, signal.SIGKILL)

    def revive(self) -> bool:
        """Start it again where it has ended; see Restartable."""
        try:
            os.kill(self._server.pid, 0)
        except ProcessLookupError:
            self.restart(crash=False, away=0)
            return True
        return False

    def database(self, name: str) -> str:
        """Make a database; see Restartable."""
        return make_database(self._server.url, name)

    def stop(self) -> None:
        """Stop it for good."""
        self._server.stop()


class Mysql:
    """A MariaDB or MySQL.

    Args:
        name: which of them.
        base: where its folder is to be; None: where temporary ones are.
        settings: over those that it has.
        environment: what it is started with besides.
    """

    def __init__(
        self,
        name: str,
        base: Path | None = None,
        settings: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        start = partial(throw_away, name, settings=(*SAFE, *settings), base=base, environment=environment)
        self._server = self._start(name, start)

    def _start(self, name: str, start: Callable[[Binaries], Running]) -> Running:
        with contextlib.suppress(UnavailableError):
            return start(on_path(name))
        return start(unpacked(name))

    def restart(self, *, crash: bool, away: float) -> None:
        """End it and start it again; see Restartable."""
        self.change((), crash=crash, away=away)

    def change(self, settings: tuple[str, ...], *, crash: bool = False, away: float = 0.0) -> None:
        """End it and start it again with other settings.

        Args:
            settings: options of the server, which it has from then on.
            crash: whether by kill -9.
            away: seconds in between.
        """
        assert self._server.restart is not None
        self._server.restart(signal.SIGKILL if crash else signal.SIGTERM, away, settings)

    def cut(self, away: float) -> None:
        """End all sessions; see Restartable."""
        with connect(self._server.url) as connection, connection.cursor() as cursor:
            for _ in again_and_again(away):
                cursor.execute(
                    "select id from information_schema.processlist"
                    " where id <> connection_id() and user = substring_index(current_user(), '@', 1)"
                )
                for (session,) in cursor.fetchall():
                    with contextlib.suppress(pymysql.err.OperationalError):  # it has ended meanwhile
                        cursor.execute("kill %s", [session])

    def guard(self) -> None:
        """Have its keeper start it again where it ends; see Restartable."""
        assert self._server.home is not None
        (self._server.home / "wait").touch()
        (self._server.home / "again").write_text("0")

    def kill(self) -> None:
        """Kill it; see Restartable."""
        assert self._server.home is not None
        os.kill(int((self._server.home / "pid").read_text()), signal.SIGKILL)

    def revive(self) -> bool:
        """Let its keeper start it again where it has ended; see Restartable."""
        assert self._server.home is not None
        again, wait = self._server.home / "again", self._server.home / "wait"
        if not wait.exists():
            return False
        ended = not again.exists()  # the keeper takes it as the server ends
        again.unlink(missing_ok=True)
        wait.unlink()
        return ended

    def database(self, name: str) -> str:
        """Make a database; see Restartable."""
        return make_database(self._server.url, name)

    def stop(self) -> None:
        """Stop it for good."""
        self._server.stop()


@contextmanager
def restartable(
    name: str,
    base: Path | None = None,
    settings: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    limit_kb: int | None = None,
) -> Iterator[Restartable]:
    """Give a server of our own.

    Args:
        name: one of NAMES.
        base: where its folder is to be; None: where temporary ones are.
        settings: over those that it has: name=value on PostgreSQL, options on the others.
        environment: what it is started with besides.
        limit_kb: of the address space of each process of a PostgreSQL; None: there is none.

    Raises:
        UnavailableError: there is none.
    """
    if name != "postgresql":
        server = Mysql(name, base, settings, environment)
        try:
            yield server
        finally:
            server.stop()
        return
    folder = Path(tempfile.mkdtemp(prefix="pyqueue-test-", dir=base))
    folder.chmod(0o755)  # whoever runs PostgreSQL gets there
    try:
        given = dict(one.split("=", 1) for one in settings)
        server = Postgresql(folder / "data", given, environment, limit_kb)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
