"""The servers' own clients, on PATH or out of Debian's packages, and a text given to one of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url

from tests.servers.binaries import UnavailableError, filled
from tests.servers.plugin import REQUIRE, required

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "mariadb-client-core"
NEEDED = re.compile(r"\./(usr/)?(bin/mariadb$|lib(64)?/)")


def feed(url: str, text: str) -> None:
    """Give a text to the client of the server, and see that it ends well and quietly.

    A client that can't be had is left out by name.

    Args:
        url: of the database.
        text: what the client reads.
    """
    command, environment = psql(url) if url.startswith("postgres") else mariadb(url)
    done = subprocess.run(
        command, input=text, env={**os.environ, **environment}, capture_output=True, text=True
    )
    said = [line for line in done.stderr.splitlines() if "NOTICE" not in line]
    assert (done.returncode, said) == (0, [])


def psql(url: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of psql, and its environment."""
    if shutil.which("psql") is None:
        left_out("psql", "install postgresql-client")
    return ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", url], {}


def mariadb(url: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of MariaDB's client, which MySQL knows too, and its environment."""
    command, environment = ["mariadb"], dict[str, str]()
    if shutil.which("mariadb") is None:
        try:
            command, environment = unpacked(filled(PACKAGE, needed=NEEDED))
        except UnavailableError as error:
            left_out("mariadb", str(error))
    there = make_url(url)
    command += [f"--host={there.host}", f"--port={there.port}", f"--user={there.username}"]
    command += [f"--password={there.password or ''}", "--skip-ssl", "--protocol=tcp"]
    command += ["--comments", there.database or ""]
    return command, environment


def unpacked(folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command out of unpacked packages, and its environment."""
    [loader] = [one for one in folder.rglob("ld-linux*.so.*") if one.is_file()][:1]
    libraries = sorted({str(one.parent) for one in folder.rglob("*.so.*")})
    command = [str(loader), "--library-path", ":".join(libraries), str(folder / "usr/bin/mariadb")]
    plugins = {one.parent for one in folder.rglob("caching_sha2_password.so")}
    return [*command, *(f"--plugin-dir={one}" for one in plugins)], {}


def left_out(program: str, how: str) -> None:
    """Leave the test out by name, or fail where it is required."""
    if program in required():
        raise pytest.UsageError(f"{REQUIRE} names {program}: {how}")
    pytest.skip(f"LEFT OUT, {program} read nothing: {how}")
