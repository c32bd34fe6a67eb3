"""A Galera cluster of MariaDB on this machine: nodes that begin with copies of one data folder.

So a node that joins lacks only what the others wrote meanwhile, which they send it themselves: no program
that copies a running server is needed, no right and no port that is known before.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.embedded.supervisor import free_port
from tests.servers import keeper
from tests.servers.binaries import UnavailableError, filled, on_path, unpacked
from tests.servers.starting import (
    SETTINGS,
    START_TIMEOUT_SECONDS,
    USER,
    Running,
    first_step,
    kept,
    last_step,
    started_in,
    write_users,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.binaries import Binaries

METHOD = "pyqueue"
"""The name of our own way to hand a data folder over: there is nothing to be done."""
HANDED_OVER = """\
#!/bin/sh
# the node that joins has a copy already, and says up to where; the other one says that it has sent it
while [ $# -gt 0 ]; do
    case "$1" in
        --role) role=$2 ;;
        --gtid) position=$2 ;;
    esac
    shift
done
if [ "$role" = joiner ]; then
    echo "ready 127.0.0.1"
    echo "{position}"
else
    echo "done $position"
fi
"""


class Node:
    """A place for a node: its folder and its ports.

    Args:
        home: its folder, which is there.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port, self.group_port, self.transfer_port = free_port(), free_port(), free_port()

    def step(self, binaries: Binaries, library: Path, number: int, others: list[Node]) -> dict[str, Any]:
        """Return the step that is the server.

        Args:
            binaries: MariaDB's.
            library: Galera.
            number: of the node, from 1 on.
            others: those that it joins; none: it begins a cluster.
        """
        address = f"127.0.0.1:{self.group_port}"
        provider = {
            "base_host": "127.0.0.1",
            "base_port": self.group_port,
            "gmcast.listen_addr": f"tcp://{address}",
            "ist.recv_addr": f"127.0.0.1:{self.transfer_port}",
            "gcache.size": "32M",
        }
        settings = (
            *SETTINGS,
            f"--server-id={number}",
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            f"--wsrep-provider={library}",
            f"--wsrep-sst-method={METHOD}",
            f"--wsrep-node-address={address}",
            f"--wsrep-provider-options={';'.join(f'{name}={value}' for name, value in provider.items())}",
            f"--wsrep-cluster-address=gcomm://{','.join(f'127.0.0.1:{one.group_port}' for one in others)}",
            *(() if others else ("--wsrep-new-cluster",)),
        )
        step = last_step("mariadb", started_in(self.home, binaries), self.home, self.port, settings)
        return step | {"command": ["env", f"PATH={self.home}:/usr/bin:/bin", *step["command"]]}


@contextmanager
def cluster(count: int) -> Iterator[list[Running]]:
    """Give the nodes of a cluster, which all may be written to.

    Args:
        count: how many.

    Raises:
        UnavailableError: a package can't be fetched, or a node doesn't start.
    """
    library = filled("galera-4") / "usr" / "lib" / "libgalera_smm.so"
    try:
        binaries = on_path("mariadb")
    except UnavailableError:
        binaries = unpacked("mariadb")
    password = secrets.token_urlsafe(16)
    nodes = [Node(Path(tempfile.mkdtemp(prefix="pyqueue-galera-"))) for _ in range(count)]
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(shutil.rmtree, node.home, ignore_errors=True)
        first = nodes[0]
        # each node does it for itself
        write_users(first.home, password, "set session wsrep_on = off;")
        where = f"mariadb+pymysql://{USER}:{password}@127.0.0.1:"
        run_once(first, f"{where}{first.port}", binaries, library)
        saved = (first.home / "data" / "grastate.dat").read_text()
        position = ":".join(re.findall(r"^(?:uuid|seqno): *(\S+)", saved, re.MULTILINE))
        (first.home / f"wsrep_sst_{METHOD}").write_text(HANDED_OVER.format(position=position))
        (first.home / f"wsrep_sst_{METHOD}").chmod(0o755)
        for node in nodes[1:]:
            shutil.copytree(first.home, node.home, dirs_exist_ok=True)
        running = list[Running]()
        for number, node in enumerate(nodes, 1):
            step = node.step(binaries, library, number, nodes[: number - 1])
            url = f"{where}{node.port}"
            running.append(kept("mariadb", binaries.source, node.home, url, [step]))
            stack.callback(running[-1].stop)
            wait_for_members(url, number)
        yield running


def run_once(node: Node, url: str, binaries: Binaries, library: Path) -> None:
    """Make the data folder, and begin and end a cluster in it, so that it has a name and a position.

    Raises:
        UnavailableError: it doesn't start.
    """
    made = first_step(started_in(node.home, binaries), binaries, node.home)
    with open(made["input"], "rb") as given, open(node.home / "log", "ab") as log:
        subprocess.run(made["command"], stdin=given, stdout=log, stderr=log, cwd=node.home, check=True)
        process = subprocess.Popen(
            node.step(binaries, library, 1, [])["command"],
            stdout=log,
            stderr=log,
            cwd=node.home,
            preexec_fn=keeper.die_with_keeper,
        )
    try:
        wait_for_members(url, 1, process)
        process.terminate()
        process.wait(START_TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.wait()


def wait_for_members(url: str, count: int, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a node is one of so many.

    Raises:
        UnavailableError: it never is.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and (process is None or process.poll() is None):
        with contextlib.suppress(ConnectionFailed), connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(
                "select s.variable_value from information_schema.global_status s"
                " where s.variable_name in ('wsrep_ready', 'wsrep_cluster_size') order by s.variable_name"
            )
            if cursor.fetchall() == ((f"{count}",), ("ON",)):
                return
        time.sleep(0.05)
    raise UnavailableError(f"a node of Galera doesn't become one of {count}")
