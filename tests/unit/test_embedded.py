"""The embedded server: it starts, keeps to itself, and never outlives the program that started it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from pyqueue_sql.embedded import EmbeddedServer, EmbeddedServerError, start_server, supervisor
from pyqueue_sql.embedded.server import launch, wheel_bin_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
GONE_SECONDS = 60.0
NOTICE_SECONDS = 1.0

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has another user to drop to")

# A program that starts a server, says where, and then ends in the way that its last line says.
PROGRAM = """
import multiprocessing, os, pathlib, signal, sys, time
from pyqueue_sql.embedded import start_server
server = start_server(*map(pathlib.Path, sys.argv[1:]))
print(server.pid, server._process.pid, server.data_dir, flush=True)
"""


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    """A temporary server for the tests that leave it as it is."""
    with start_server() as server:
        yield server


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for data that the user of the server can reach; pytest's own folders are closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="pyqueue-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    shutil.rmtree(folder)


def ask(url: str, question: str) -> object:
    """Return the first column of the first row."""
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def do(url: str, statement: str) -> None:
    """Run a statement that answers nothing."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(statement.encode())


def process_info(column: str, *pids: int) -> str:
    """Return a column of ps for the processes, empty where there are none."""
    command = ["ps", "-ww", "-o", f"{column}=", "-p", ",".join(map(str, pids))]
    return subprocess.run(command, capture_output=True, text=True).stdout


def alive(pid: int) -> bool:
    """Return whether the process runs; one that waits to be reaped does not."""
    state = process_info("stat", pid)
    return bool(state) and not state.startswith("Z")


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for a condition; fail after GONE_SECONDS."""
    deadline = time.monotonic() + GONE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def run_program(ending: str, home: Path | None = None) -> tuple[subprocess.Popen[str], int, int, Path]:
    """Start PROGRAM; return it, the pids of postmaster and supervisor, and the folder of the data."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM + ending, *([] if home is None else [str(home)])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert program.stdout is not None
    pid, supervisor, folder = program.stdout.readline().split()
    return program, int(pid), int(supervisor), Path(folder)


def test_answers_on_loopback_with_the_version_it_says(running: EmbeddedServer) -> None:
    assert ask(running.url, "show server_version") == running.version
    assert ask(running.url, "show listen_addresses") == "127.0.0.1"
    assert ask(running.url, "show fsync") == ask(running.url, "show synchronous_commit") == "on"


@pytest.mark.parametrize("way", ["tcp", "socket"])
@pytest.mark.parametrize("password", [None, "guess"])
def test_nobody_gets_in_without_the_password(running: EmbeddedServer, way: str, password: str | None) -> None:
    host = "127.0.0.1" if way == "tcp" else str(running.socket_dir)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(host=host, port=running.port, user="postgres", dbname="postgres", password=password)


def test_nobody_changes_the_folder_that_socket_and_data_are_in(running: EmbeddedServer) -> None:
    assert stat.S_IMODE(running.data_dir.parent.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)
    assert stat.S_IMODE(running.data_dir.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux shows the environment of a process")
def test_environment_of_the_program_does_not_reach_the_server(running: EmbeddedServer) -> None:
    environment = Path(f"/proc/{running.pid}/environ").read_bytes().split(b"\0")
    names = {one.partition(b"=")[0].decode() for one in environment if one}
    assert "LC_ALL" in names
    assert names <= {"PATH", "LD_LIBRARY_PATH", "LC_ALL", "PGDATA", "PG_GRANDPARENT_PID"}


def test_where_a_path_is_too_long_for_a_socket_there_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = home.parent / ("d" * 90)
    deep.mkdir(mode=0o755)
    monkeypatch.setenv("TMPDIR", str(deep))
    with start_server() as server:
        assert server.socket_dir is None
        assert server.data_dir.is_relative_to(deep)
        assert ask(server.url, "select 1") == 1


def test_socket_lets_in_with_the_password(running: EmbeddedServer) -> None:
    assert ask(running.url.replace("@127.0.0.1", "@") + f"?host={running.socket_dir}", "select 1") == 1


def test_password_is_in_no_repr_log_or_command_line(running: EmbeddedServer) -> None:
    password = running.url.split(":")[2].split("@")[0]
    commands = process_info("args", running.pid, running._process.pid)
    assert "unix_socket_permissions" in commands
    assert len(password) >= 24
    assert password not in repr(running) + repr(vars(running)) + commands
    assert password not in (running.data_dir / "server.log").read_text()
    assert stat.S_IMODE((running.data_dir / "password").stat().st_mode) == 0o600


def test_temporary_data_goes_with_the_server() -> None:
    with start_server() as server:
        folder, pid = server.data_dir, server.pid
        assert folder.exists()
    assert not folder.exists()
    assert not folder.parent.exists()
    assert not alive(pid)
    server.stop()


def test_named_folder_keeps_data_and_password(home: Path) -> None:
    with start_server(home) as first:
        url = first.url
        do(url, "create table kept as select 7 as n")
    with start_server(home, port=first.port) as second:
        assert second.url == url
        assert second.data_dir == home
        assert ask(second.url, "select n from kept") == 7
    assert home.exists()
    assert "was not properly shut down" not in (home / "server.log").read_text()


@pytest.mark.long
def test_second_start_on_a_running_folder_is_refused(home: Path) -> None:
    with start_server(home) as server:
        with pytest.raises(EmbeddedServerError, match="already running"):
            start_server(home)
        assert ask(server.url, "select 1") == 1


def test_start_after_the_server_was_killed(home: Path) -> None:
    server = start_server(home)
    do(server.url, "create table kept as select 7 as n")
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    assert (home / "pgdata" / "postmaster.pid").exists()
    with start_server(home) as again:
        assert ask(again.url, "select n from kept") == 7


# What lies there from a server that was killed, with the number that the next one gets, as in a container.
SLOW_START = """#!/bin/sh
if [ "$1" = -D ]; then
    printf '%s\\n' $$ "$2" 1767225600 5432 "" 127.0.0.1 "" "ready   " > "$2/postmaster.pid"
    sleep 1
fi
exec {0}/postgres "$@"
"""


def test_what_a_killed_server_left_is_not_taken_for_a_server_that_is_ready(
    running: EmbeddedServer, home: Path
) -> None:
    # where a server of ours runs from, its user can run it
    real = Path(process_info("args", running.pid).split()[0]).parent
    programs = home.parent / "bin"
    programs.mkdir()
    for name, text in (("postgres", SLOW_START), ("initdb", '#!/bin/sh\nexec {0}/initdb "$@"\n')):
        (programs / name).write_text(text.format(real))
        (programs / name).chmod(0o755)
    programs.chmod(0o755)
    with start_server(home, bin_dir=programs) as server:
        assert ask(server.url, "select 1") == 1


def killed_program(home: Path, *halted: str) -> tuple[int, int]:
    """Kill a program with a server on a folder; return the pids of its postmaster and its supervisor.

    Args:
        home: the folder.
        halted: which of `server` and `supervisor` doesn't get on meanwhile.
    """
    program, pid, supervisor, _ = run_program("time.sleep(600)", home)
    for name in halted:
        os.kill({"server": pid, "supervisor": supervisor}[name], signal.SIGSTOP)
    program.kill()
    program.wait(GONE_SECONDS)
    return pid, supervisor


@contextlib.contextmanager
def starting(home: Path) -> Iterator[Future[EmbeddedServer]]:
    """Start a server on a folder while the block runs; it has to start, and is stopped."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(start_server, home)
        yield future
        with future.result(GONE_SECONDS) as server:
            assert ask(server.url, "select 1") == 1


@pytest.mark.long
def test_start_right_after_the_program_was_killed_waits_for_what_is_going(home: Path) -> None:
    _, supervisor = killed_program(home, "supervisor")
    with starting(home) as start:
        done, _ = wait([start], 0.3)
        os.kill(supervisor, signal.SIGCONT)
        assert not done


@pytest.mark.long
def test_start_waits_for_a_server_that_takes_its_time_to_stop(home: Path) -> None:
    pid, _ = killed_program(home, "server")
    with starting(home) as start:
        done, _ = wait([start], NOTICE_SECONDS + 0.5)
        os.kill(pid, signal.SIGCONT)
        assert not done


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal of a parent is Linux's")
def test_start_waits_for_a_server_whose_supervisor_was_killed(home: Path) -> None:
    pid, supervisor = killed_program(home, "server", "supervisor")
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: not alive(supervisor))
    with starting(home) as start:
        done, _ = wait([start], 1)
        os.kill(pid, signal.SIGCONT)
        assert not done


def test_password_is_on_the_disk_before_the_cluster_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, programs = tmp_path / "data", tmp_path / "bin"
    for folder in (home, programs):
        folder.mkdir()
    (programs / "initdb").write_text('#!/bin/sh\nmkdir "$2"\n')
    (programs / "initdb").chmod(0o755)
    synced: list[tuple[str, bool]] = []
    names = {"password": home / "password", "folder": home}

    def fsync(number: int) -> None:
        [name] = [name for name, path in names.items() if os.path.samestat(os.fstat(number), path.stat())]
        written = name != "password" or names[name].read_text().strip() != ""
        assert written
        synced.append((name, (home / "pgdata").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    read, write = os.pipe()
    with open(read) as stdin, open(write, "w"):
        monkeypatch.setattr(sys, "stdin", stdin)
        config = {"data_dir": str(home), "ports": [0], "settings": {}, "owner_pid": os.getppid()}
        supervisor.Server(config, programs, "18", home, tmp_path).make_cluster()
    assert synced == [("password", False), ("folder", False), ("folder", True)]


def test_a_folder_with_an_empty_password_is_refused(home: Path) -> None:
    start_server(home).stop()
    (home / "password").write_text("")
    with pytest.raises(EmbeddedServerError, match="the file 'password' of this data folder is empty"):
        start_server(home)


@pytest.mark.long
def test_half_made_cluster_is_made_anew(home: Path) -> None:
    (home / "pgdata.new").mkdir(parents=True)
    (home / "pgdata.new" / "PG_VERSION").write_text("18\n")
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for path in (home, home / "pgdata.new", home / "pgdata.new" / "PG_VERSION"):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
    with start_server(home) as server:
        assert ask(server.url, "select 1") == 1


def test_folder_with_other_things_is_refused(home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)
    (home / "thesis.tex").write_text("mine")
    with pytest.raises(EmbeddedServerError, match="not empty"):
        start_server(home)
    assert [path.name for path in home.iterdir()] == ["thesis.tex"]
    assert home.stat().st_uid == os.geteuid()


def test_taken_port_is_named_where_it_was_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedServerError, match="could not bind"):
            start_server(port=port)


def test_taken_port_is_passed_over_where_any_will_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with launch(None, ports=[port, 0], settings=None, bin_dir=None) as server:
            assert server.port != port
            assert ask(server.url, "select 1") == 1


def test_settings_reach_the_server() -> None:
    with start_server(settings={"work_mem": "7MB", "max_connections": "17"}) as server:
        assert ask(server.url, "show work_mem") == "7MB"
        assert ask(server.url, "show max_connections") == "17"


def test_wrong_setting_shows_the_log() -> None:
    with pytest.raises(EmbeddedServerError, match='unrecognized configuration parameter "wrk_mem"'):
        start_server(settings={"wrk_mem": "7MB"})


def test_an_error_shows_the_log_of_this_start_alone(home: Path) -> None:
    for name in ("first_fault", "second_fault"):
        with pytest.raises(EmbeddedServerError, match=name) as caught:
            start_server(home, settings={name: "on"})
    assert "first_fault" not in str(caught.value)


@pytest.mark.parametrize("name", ["port", "unix_socket_permissions"])
def test_setting_of_ours_is_refused(name: str) -> None:
    with pytest.raises(EmbeddedServerError, match=f"makes itself: {name}$"):
        start_server(settings={name: "0777"})


def test_folder_without_binaries_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedServerError, match=r"initdb: No such file"):
        start_server(bin_dir=tmp_path)


def test_missing_wheel_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(EmbeddedServerError, match=r"pip install 'pyqueue_sql\[embedded\]'"):
        start_server()


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        ("sys.exit(3)", None),
        pytest.param("raise RuntimeError", None, marks=pytest.mark.long),
        pytest.param("os._exit(1)", None, marks=pytest.mark.long),
        pytest.param("time.sleep(600)", signal.SIGINT, marks=pytest.mark.long),
        pytest.param("time.sleep(600)", signal.SIGTERM, marks=pytest.mark.long),
        pytest.param("time.sleep(600)", signal.SIGHUP, marks=pytest.mark.long),
        ("time.sleep(600)", signal.SIGKILL),
    ],
)
def test_no_server_outlives_its_program(ending: str, number: signal.Signals | None) -> None:
    program, pid, supervisor, folder = run_program(ending)
    if number is not None:
        # to the whole group, as a terminal does it
        os.killpg(program.pid, number)
    program.wait(GONE_SECONDS)
    wait_until(lambda: not alive(supervisor))
    assert not alive(pid)
    assert not folder.parent.exists()


@pytest.mark.long
def test_no_server_outlives_its_program_for_a_child_that_holds_the_pipe() -> None:
    fork = "child = multiprocessing.get_context('fork').Process(target=time.sleep, args=[300])\n"
    ending = fork + "child.start(); print(child.pid, flush=True); time.sleep(600)"
    program, pid, supervisor, folder = run_program(ending)
    assert program.stdout is not None
    child = int(program.stdout.readline())
    program.kill()
    program.wait(GONE_SECONDS)
    try:
        wait_until(lambda: not alive(supervisor))
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)
    assert not alive(pid)
    assert not folder.parent.exists()


def test_forked_child_does_not_stop_the_server(running: EmbeddedServer) -> None:
    child = os.fork()
    if child == 0:
        running.stop()
        os._exit(0)
    os.waitpid(child, 0)
    assert ask(running.url, "select 1") == 1


def test_program_killed_while_the_cluster_is_made_leaves_nothing(home: Path) -> None:
    begin = "from pyqueue_sql.embedded import start_server; start_server()"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(home.parent)}
    program = subprocess.Popen([sys.executable, "-c", begin], env=environment)
    wait_until(lambda: any(home.parent.glob("pyqueue-*/data/pgdata.new")))
    program.kill()
    program.wait(GONE_SECONDS)
    wait_until(lambda: not any(home.parent.iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal of a parent is Linux's")
def test_no_server_outlives_its_supervisor() -> None:
    program, pid, supervisor, folder = run_program("time.sleep(600)")
    os.kill(supervisor, signal.SIGKILL)
    try:
        wait_until(lambda: not alive(pid))
    finally:
        program.kill()
        program.wait(GONE_SECONDS)
        shutil.rmtree(folder.parent)


@as_root
def test_root_runs_it_as_nobody(running: EmbeddedServer) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    assert running.data_dir.stat().st_uid == nobody
    assert process_info("uid", running.pid).split() == [str(nobody)]
    assert process_info("gid", running.pid).split() == [str(pwd.getpwnam("nobody").pw_gid)]
    groups = Path(f"/proc/{running.pid}/status").read_text().split("Groups:")[1].splitlines()[0].split()
    assert groups == []


@pytest.mark.long
@as_root
def test_root_runs_a_folder_as_its_owner(home: Path) -> None:
    home.mkdir(mode=0o700)
    owner = pwd.getpwnam("daemon")
    os.chown(home, owner.pw_uid, owner.pw_gid)
    with start_server(home) as server:
        assert process_info("uid", server.pid).split() == [str(owner.pw_uid)]
        assert process_info("gid", server.pid).split() == [str(owner.pw_gid)]


@pytest.mark.long
@as_root
def test_root_makes_a_folder_below_missing_ones(home: Path) -> None:
    with start_server(home / "a" / "b") as server:
        assert ask(server.url, "select 1") == 1


@as_root
def test_closed_parent_is_named_and_stays_closed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedServerError, match=r"closed/data: the user 'nobody'.* can't get there"):
        start_server(closed / "data")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@pytest.mark.long
@as_root
def test_binaries_below_a_closed_folder_are_copied_for_the_run(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    package = wheel_bin_dir().parents[1]
    for folder in (package, package.with_name(package.name + ".libs")):
        if folder.is_dir():
            shutil.copytree(folder, closed / "site-packages" / folder.name, symlinks=True)
    closed.chmod(0o700)
    bin_dir = closed / "site-packages" / wheel_bin_dir().relative_to(package.parent)
    with start_server(bin_dir=bin_dir) as server:
        copy = server.data_dir.parent / "server"
        assert ask(server.url, "show server_version") == server.version
        files = [copy.parent, copy, *copy.rglob("*")]
        assert len(files) > 100
        assert {path.lstat().st_uid for path in files} == {0}
        assert not [path for path in files if not path.is_symlink() and path.stat().st_mode & 0o022]
    assert not copy.exists()
