"""The programs of MariaDB and MySQL: on PATH, or out of the packages of Debian and Ubuntu."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tarfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.servers.cache import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE = cache("servers")
PLACES = ("/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/mysql/bin", "/opt/homebrew/bin")
PROGRAMS = {"mariadb": ("mariadbd", "mysqld"), "mysql": ("mysqld",)}
PACKAGES = {
    "mariadb": "mariadb-server-core",
    "mariadb-11.8": "mariadb-server-core",
    "mysql": "mysql-server-core",
}
"""A package that isn't here has the name that it is asked for by."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITES = {"mysql": "sid", "mariadb-11.8": "trixie"}
"""Where a package is that the system's own sources don't have: a suite of the same archive."""

NEEDED = re.compile(
    r"\./(usr/)?(s?bin/(mariadbd|mysqld|pgbouncer)$|include/mariadb/|lib(64)?/|share/(mysql|mariadb|java)/)"
)
NOT_NEEDED = re.compile(r"/(perl\d?|perl-base|gconv|python\d?)/|mysqld-debug|\.a$")


class UnavailableError(Exception):
    """Why there is no server from there."""


class Binaries(NamedTuple):
    """A server's program."""

    command: list[str]
    """The program and where its files are, options that every call of it needs."""
    share: Path | None
    """Folder with the text of MariaDB's own tables; None for MySQL, which has it in the program."""
    source: str
    """Where it comes from, for people."""


def on_path(name: str) -> Binaries:
    """Return what is installed.

    Args:
        name: mariadb or mysql.

    Raises:
        UnavailableError: nothing is.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    for program in PROGRAMS[name]:
        # Debian's mysqld is a link to mariadbd: only the program itself knows which it is
        found = shutil.which(program, path=path)
        if found and ("MariaDB" in version([found])) == (name == "mariadb"):
            return Binaries([found, "--no-defaults"], share_of(Path(found), name), found)
    raise UnavailableError(f"no {PROGRAMS[name][0]} of it on PATH")


def unpacked(name: str) -> Binaries:
    """Return what Debian's packages hold, fetched and unpacked once, for which no right is needed.

    Args:
        name: a key of PACKAGES: mariadb or mysql, with a version where it isn't the system's own.

    Raises:
        UnavailableError: this is no Debian, or the package can't be fetched.
    """
    folder = filled(name)
    [loader] = [one for one in folder.rglob("ld-linux*.so.*") if one.is_file()][:1]
    libraries = sorted({str(one.parent) for one in folder.rglob("*.so.*") if one.parent.name != "plugin"})
    program = next(folder.glob("usr/sbin/m*d"))
    files = next(folder.glob("usr/share/m*"))
    command = [str(loader), "--library-path", ":".join(libraries), str(program), "--no-defaults"]
    command += [f"--basedir={folder / 'usr'}", f"--lc-messages-dir={files}"]
    command += [f"--character-sets-dir={files / 'charsets'}"]
    command += [f"--plugin-dir={plugins}" for plugins in folder.glob("usr/lib/**/plugin")]
    return Binaries(command, share_of(program, name.partition("-")[0]), f"package {PACKAGES[name]}")


def promised(name: str) -> str | None:
    """Say what `unpacked` is going to take, None where it can't."""
    if (CACHE / name / "complete").exists():
        return f"package {PACKAGES[name]}, unpacked in {CACHE}"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    if name in SUITES and not KEYRING.exists():
        return None
    return f"package {PACKAGES[name]}, which is fetched and unpacked in {CACHE}; nothing is installed"


def unpacked_jar(package: str) -> list[Path]:
    """Return the jars of a package of Debian's and of those that it depends on, fetched and unpacked once.

    Raises:
        UnavailableError: this is no Debian, or the package can't be fetched.
    """
    folder = filled(package, "*-java_*.deb")
    return sorted(one for one in (folder / "usr" / "share" / "java").glob("*.jar") if not one.is_symlink())


def filled(name: str, archives: str = "*.deb", needed: re.Pattern[str] = NEEDED) -> Path:
    """Return the folder of a package and of all that it depends on, filled where it isn't yet.

    Args:
        name: of the package, or the key of `PACKAGES`.
        archives: which of the packages to unpack.
        needed: which of their files, by how their names begin.

    Raises:
        UnavailableError: this is no Debian, or the package can't be fetched.
    """
    folder = CACHE / name
    if not (folder / "complete").exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            raise UnavailableError("this system has no apt-get to fetch it with")
        if name in SUITES and not KEYRING.exists():
            raise UnavailableError(f"its package is in Debian's sid, and {KEYRING} isn't there")
        with alone(name):
            if not (folder / "complete").exists():
                fill(folder, name, archives, needed)
    return folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Wait while another process fills the same folder."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fill(folder: Path, name: str, archives: str, needed: re.Pattern[str]) -> None:
    """Unpack the package and all that it depends on."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fetch(name, folder / "apt")
    for archive in sorted((folder / "apt" / "archives").glob(archives)):
        unpack(archive, folder, needed)
    shutil.rmtree(folder / "apt")
    (folder / "complete").touch()


def fetch(name: str, folder: Path) -> None:
    """Let apt fetch a package and all that it depends on; nothing of the system's is changed or locked."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    settings = [line for line in dump.splitlines() if line.startswith("Acquire::")]  # proxies, say
    settings += [
        'Acquire::Languages "none";',
        'APT::Install-Recommends "false";',
        'APT::Sandbox::User "";',
        'Dir::Etc::main "/dev/null";',
        'Dir::Etc::parts "/dev/null";',
        f'Dir::State "{folder}";',
        f'Dir::State::status "{folder / "status"}";',
        f'Dir::Cache "{folder}";',
    ]
    if name in SUITES:
        source = f"deb [signed-by={KEYRING}] {archive_uri()} {SUITES[name]} main\n"
        (folder / "sources.list").write_text(source)
        settings += [
            f'Dir::Etc::sourcelist "{folder / "sources.list"}";',
            'Dir::Etc::sourceparts "/dev/null";',
            'Acquire::Check-Valid-Until "false";',  # sid's may be past its date
        ]
    (folder / "apt.conf").write_text("\n".join(settings) + "\n")
    for command in (["update"], ["-y", "--download-only", "install", *PACKAGES.get(name, name).split()]):
        done = subprocess.run(
            ["apt-get", "-q", *command],
            env=os.environ | {"APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip()[-300:]
            raise UnavailableError(f"apt-get {' '.join(command)}: {reason}")


def archive_uri() -> str:
    """Return where the system has Debian's packages from.

    Raises:
        UnavailableError: it names no archive of Debian.
    """
    listing = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    found = subprocess.run(listing, capture_output=True, text=True).stdout.split()
    uris = [uri for uri in found if uri.rstrip("/").endswith("/debian")]
    if not uris:
        raise UnavailableError("the system's sources name no archive of Debian")
    return uris[0]


def unpack(archive: Path, folder: Path, needed: re.Pattern[str]) -> None:
    """Unpack of a package what is needed."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
            # not an argument: Python 3.11.0 to 3.11.3 have no filters, and need none for these archives
            tar.extraction_filter = getattr(tarfile, "tar_filter", None)
            for member in tar:
                not_needed = needed is NEEDED and NOT_NEEDED.search(member.name)
                if needed.match(member.name) and not not_needed and not member.isdir():
                    tar.extract(member, folder)


def share_of(program: Path, name: str) -> Path | None:
    """Return the folder of MariaDB's text of its own tables, None for MySQL.

    Raises:
        UnavailableError: it isn't where it belongs.
    """
    if name == "mysql":
        return None
    for folder in program.resolve().parents[:4]:
        for found in sorted(folder.glob("share/m*/*_system_tables.sql")):
            return found.parent
    raise UnavailableError(f"{program} is there, the text of its tables isn't")


def version(command: list[str]) -> str:
    """Return what the program says of its version, "" where it doesn't run."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout
