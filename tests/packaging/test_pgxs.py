"""The archive of the extension, installed by PGXS into a copy of Debian's server, which isn't changed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.embedded import start_server
from tests.conftest import SETTINGS
from tests.schema.catalogs import connect, rows
from tests.servers.cache import cache
from tests.servers.memory import in_memory
from tests.servers.plugin import REQUIRE, required
from tools import extension, surface

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARIES = Path("/usr/lib/postgresql")
MAKEFILES = "lib/pgxs/src/makefiles/pgxs.mk"


def left_out(how: str) -> None:
    """Leave the test out by name, or fail where it is required."""
    if "pgxs" in required():
        raise pytest.UsageError(f"{REQUIRE} names pgxs: {how}")
    pytest.skip(f"LEFT OUT, nothing was installed by PGXS: {how}")


def makefiles(version: str) -> Path:
    """Return the package with PGXS, fetched once."""
    name = f"postgresql-server-dev-{version}"
    folder = cache("pgxs")
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{name}_*.deb")):
        done = subprocess.run(["apt-get", "download", name], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            left_out(f"apt-get download {name}: {done.stderr.strip()[-200:]}")
    return sorted(folder.glob(f"{name}_*.deb"))[-1]


@pytest.fixture
def programs() -> Iterator[Path]:
    """The folder of the programs of a copy of Debian's server, with PGXS."""
    found = sorted(LIBRARIES.glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if not found or not all(map(shutil.which, ("make", "dpkg-deb", "apt-get"))):
        left_out("it wants Debian's postgresql, make and apt-get")
    version = found[-1].parts[4]
    with tempfile.TemporaryDirectory(prefix="pyqueue-pgxs-") as scratch:
        root = Path(scratch)
        root.chmod(0o755)  # the account of the server has to get there
        for name in ("lib", "share"):
            place = root / "usr" / name / "postgresql" / version
            shutil.copytree(Path("/usr") / name / "postgresql" / version, place, symlinks=True)
        home = root / "usr" / "lib" / "postgresql" / version
        if not (home / MAKEFILES).exists():
            unpack = ["dpkg-deb", "--extract", makefiles(version), root]
            subprocess.run(unpack, check=True)
        yield home / "bin"


@pytest.mark.long
def test_the_archive_is_installed_by_pgxs(programs: Path, tmp_path: Path):
    archive = extension.archive(tmp_path, extension.versions())
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    source = archive.with_suffix("")
    command = ["make", "install", f"PG_CONFIG={programs / 'pg_config'}"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # as Debian's tools do it: from another folder, into another root
    (source / "elsewhere").mkdir()
    command += ["-f", f"{source}/Makefile", f"VPATH={source}", f"DESTDIR={tmp_path / 'root'}"]
    done = subprocess.run(command, cwd=source / "elsewhere", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    placed = {path.name for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert {path.name for path in (source / "sql").iterdir()} | {"pyqueue_sql.control"} <= placed
    with in_memory():
        server = start_server(bin_dir=programs, settings=SETTINGS)
    with server:
        rows(server.url, "create schema queue; create extension pyqueue_sql schema queue")
        with connect(server.url, schema="queue") as connection:
            queue = Queue(connection)
            queue.push("mail", "k", {"n": 1})
            [message] = queue.reserve("mail")
            assert queue.ack(message.receipt).outcome == "acked"


def test_what_the_archive_says_of_itself_agrees(tmp_path: Path):
    version = surface.version()
    archive = extension.archive(tmp_path, extension.versions())
    root = archive.stem
    with zipfile.ZipFile(archive) as packed:
        names = set(packed.namelist())
        texts = {name: packed.read(name).decode() for name in names}
        mode = packed.getinfo(f"{root}/debian/rules").external_attr >> 16
    meta = json.loads(texts[f"{root}/META.json"])
    assert (meta["name"], meta["version"]) == ("pyqueue_sql", version)
    assert meta["provides"]["pyqueue_sql"]["version"] == version
    assert f"{root}/{meta['provides']['pyqueue_sql']['file']}" in names
    assert f"{root}/{meta['provides']['pyqueue_sql']['docfile']}" in names
    assert f"default_version = '{version}'" in texts[f"{root}/pyqueue_sql.control"]
    assert texts[f"{root}/debian/changelog"].startswith(f"pyqueue-sql ({version}-1) ")
    assert mode == 0o755
    assert [name for name, text in texts.items() if re.search("@[A-Z]+@", text)] == []


def test_the_same_sources_make_the_same_archive(tmp_path: Path):
    made = [extension.archive(tmp_path / name, extension.versions()).read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]


def test_debians_control_is_that_of_its_template():
    template = (extension.DEBIAN / "control.in").read_text()
    text = (extension.DEBIAN / "control").read_text()
    [version] = set(re.findall(r"postgresql-(\d+)-pyqueue-sql", text))
    assert text == template.replace("PGVERSION", version)


def test_the_command_writes_both(tmp_path: Path):
    command = [sys.executable, "-m", "tools.extension", "--to", str(tmp_path)]
    done = subprocess.run(command, cwd=extension.ROOT, capture_output=True, text=True, check=True)
    folder, archive = map(Path, done.stdout.split())
    assert (folder / "pyqueue_sql.control").exists()
    with zipfile.ZipFile(archive) as packed:
        written = {str(path.relative_to(tmp_path)) for path in folder.rglob("*") if path.is_file()}
        assert written == set(packed.namelist())
