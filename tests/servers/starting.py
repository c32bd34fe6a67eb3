"""Starting a server and saying what it is."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.embedded.supervisor import free_port
from tests.servers import containers, keeper
from tests.servers.binaries import Binaries, UnavailableError, on_path, promised, unpacked

START_TIMEOUT_SECONDS = 60
USER = "pyqueue"

# What is waited for is the disk, and what a crash of the machine would lose is thrown away anyhow. All that a
# statement can notice is as the server has it by default, the binary log of MySQL too.
VERSION = "PYQUEUE_TEST_MARIADB_VERSION"
"""Of MariaDB, where it is to be another than the system's: 11.8."""
SETTINGS = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--max-connections=300",
    "--max-allowed-packet=512M",  # for a payload of 100 MB
    "--innodb-buffer-pool-size=256M",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--skip-innodb-doublewrite",
    "--sync-binlog=0",
)
OF_MYSQL = ("--mysqlx=0", "--secure-file-priv=NULL")


@dataclass(frozen=True)
class Running:
    """A server that accepts connections until `stop`, or the end of this process."""

    url: str
    """Of a superuser, without a database, with the password in it."""
    about: str
    """What it is, for people."""
    stop: Callable[[], None]
    restart: Callable[[signal.Signals, float, tuple[str, ...]], None] | None = None
    """Ends it by a signal, and after so many seconds starts it again, with settings added to its own; None
    where it isn't ours."""
    home: Path | None = None
    """Its folder; None where it isn't ours."""


def start(name: str, given: str | None, settings: tuple[str, ...] = SETTINGS) -> Running:
    """Start a server, or take the one that is given.

    Args:
        name: mariadb or mysql.
        given: the URL of a server of that name, of a user who may create databases and users, or None.
        settings: of a server that is started here.

    Raises:
        UnavailableError: it is nowhere to be had; says why for each place.
    """
    if given:
        try:
            return running(name, given.rstrip("/"), "given", lambda: None)
        except ConnectionFailed as error:
            raise UnavailableError(f"the one that was given: {error}") from None
    reasons: list[str] = []
    version = os.environ.get(VERSION) if name == "mariadb" else None
    if version:
        return throw_away(name, unpacked(f"{name}-{version}"), settings)
    for find in (on_path, unpacked):
        try:
            return throw_away(name, find(name), settings)
        except UnavailableError as error:
            reasons.append(str(error))
    try:
        url, image, stop = containers.start(name)
        return running(name, url, image, stop)
    except (UnavailableError, ConnectionFailed) as error:
        reasons.append(str(error))
    raise UnavailableError("; ".join(reasons))


def place(name: str, given: str | None) -> str | None:
    """Say where a server is going to be from, without starting it; None where there is none.

    Args:
        name: mariadb or mysql.
        given: as in `start`.
    """
    if given:
        return "the one that was given"
    try:
        return on_path(name).source
    except UnavailableError:
        container = f"a container of {containers.IMAGES[name]}" if shutil.which("docker") else None
        return promised(name) or container


def throw_away(
    name: str,
    binaries: Binaries,
    settings: tuple[str, ...] = SETTINGS,
    base: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Running:
    """Start a server of our own, in a temporary folder, on a free port of 127.0.0.1.

    Args:
        name: mariadb or mysql.
        binaries: its program.
        settings: its options.
        base: where its folder is to be; None: where temporary ones are.
        environment: what the server is started with besides.

    Raises:
        UnavailableError: it doesn't start; says what it says.
    """
    home = Path(tempfile.mkdtemp(prefix=f"pyqueue-{name}-", dir=base))
    port, password = free_port(), secrets.token_urlsafe(16)
    write_users(home, password)
    command = started_in(home, binaries)
    steps = [first_step(command, binaries, home), last_step(name, command, home, port, settings)]
    if environment:
        given = (f"{name}={value}" for name, value in environment.items())
        steps[-1]["command"] = ["env", *given, *steps[-1]["command"]]
    url = f"{name}+pymysql://{USER}:{password}@127.0.0.1:{port}"
    return kept(name, binaries.source, home, url, steps)


def write_users(home: Path, password: str, first: str = "") -> None:
    """Write what a server reads at its start, so that it has one user and no other.

    Args:
        home: the server's folder.
        password: of the user.
        first: a statement before those.
    """
    (home / "users.sql").write_text(
        f"{first}\n"
        f"create user if not exists {USER}@'%' identified by '{password}';\n"
        f"grant all on *.* to {USER}@'%' with grant option;\n"
        "drop user if exists ''@localhost, root@localhost, root@'127.0.0.1', root@'::1';\n"
    )
    (home / "users.sql").chmod(0o600)


def started_in(home: Path, binaries: Binaries) -> list[str]:
    """Return the command of every step of a server in its folder."""
    command = [*binaries.command, f"--datadir={home / 'data'}", f"--log-error={home / 'log'}"]
    # at its start a MariaDB removes the temporary tables of others from a folder that they share
    return [*command, f"--tmpdir={home}", *(["--user=root"] if os.getuid() == 0 else [])]


def last_step(
    name: str, command: list[str], home: Path, port: int, settings: tuple[str, ...]
) -> dict[str, Any]:
    """Return the step that is the server."""
    serve = [*command, *settings, f"--port={port}", f"--socket={home / 's'}", f"--pid-file={home / 'pid'}"]
    serve += [f"--init-file={home / 'users.sql'}", *(OF_MYSQL if name == "mysql" else ())]
    return {"command": serve, "input": None}


def kept(name: str, source: str, home: Path, url: str, steps: list[dict[str, Any]]) -> Running:
    """Have a keeper do the steps of a server, and return it once it answers.

    Args:
        name: mariadb or mysql.
        source: where its program comes from, for people.
        home: its folder, removed at the end.
        url: of the user that it is to have.
        steps: see tests/servers/keeper.py.

    Raises:
        UnavailableError: it doesn't start; says what it says.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", keeper.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the tests, which are to clean up with a server
    )
    assert process.stdin is not None
    config = {"home": str(home), "owner_pid": os.getpid(), "steps": steps}
    process.stdin.write(json.dumps(config).encode() + b"\n")
    process.stdin.flush()

    def stop() -> None:
        atexit.unregister(stop)
        with contextlib.suppress(BrokenPipeError):
            process.communicate()

    def restart(number: signal.Signals, away: float, more: tuple[str, ...]) -> None:
        (home / "again").write_text("\n".join((str(away), *more)))
        os.kill(int((home / "pid").read_text()), number)
        while (home / "again").exists():  # the keeper takes it as the server ends
            time.sleep(0.01)
        answer()

    def answer() -> Running | None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(ConnectionFailed):
                return running(name, url, source, stop)
            time.sleep(0.05)
        return None

    atexit.register(stop)
    if (found := answer()) is not None:
        return dataclasses.replace(found, restart=restart, home=home)
    assert process.stdout is not None
    said = "it doesn't answer"
    if process.poll() is not None:
        said = process.stdout.read().decode().strip()[-2000:] or f"nothing said, status {process.returncode}"
    stop()
    raise UnavailableError(f"{source} doesn't start: {said}")


def first_step(command: list[str], binaries: Binaries, home: Path) -> dict[str, Any]:
    """Return the step that makes the data folder."""
    if binaries.share is None:
        return {"command": [*command, "--initialize-insecure"], "input": None}
    (home / "data").mkdir()
    # what mariadb-install-db does, without its help texts; a script that looks for the programs by itself
    texts = [b"create database mysql;\nuse mysql;\nset @auth_root_socket = null;\n"]
    for pattern in (
        "*_system_tables.sql",
        "*_performance_tables.sql",
        "*_system_tables_data.sql",
        "maria_add_gis_sp_bootstrap.sql",
        "*_sys_schema.sql",
    ):
        texts += [path.read_bytes() for path in sorted(binaries.share.glob(pattern))[:1]]
    (home / "bootstrap.sql").write_bytes(b"\n".join(texts))
    options = ["--bootstrap", "--log-warnings=0", "--max-allowed-packet=8M"]
    return {"command": [*command, *options], "input": str(home / "bootstrap.sql")}


def running(name: str, url: str, source: str, stop: Callable[[], None]) -> Running:
    """Return the server behind the URL.

    Raises:
        ConnectionFailed: it doesn't answer, or not yet.
        UnavailableError: it is another one.
    """
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("select version(), @@port")
        row = cursor.fetchone()
    assert row is not None
    version, port = row
    if ("MariaDB" in version) != (name == "mariadb"):
        raise UnavailableError(f"the server of {source} is no {name}: {version}")
    label = "MariaDB" if name == "mariadb" else "MySQL"
    return Running(url, f"{label} {version.partition('-')[0]} on port {port} ({source})", stop)
