"""What the page of backups says of dumps on MySQL: nothing is lost on the way into another database."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from pyqueue_sql.calls.connect import connect
from tests.clients.languages import run_by
from tests.servers.starting import UnavailableError

if TYPE_CHECKING:
    from tests.conformance.harness import Harness

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "backup.md"
COPY = "a_copy_of_a_backup"
BYTES = bytes(range(256))
MESSAGES = "select * from delayed_queue order by entry"
ROUTINES = "select count(*) from information_schema.routines where routine_schema = database()"


def rows(url: str, text: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement of its own."""
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(text.encode())
        return list(cursor.fetchall())


@pytest.mark.servers("mysql")
@pytest.mark.core("mysql")
def test_a_dump_goes_into_another_database_of_the_same_server(harness: Harness, tmp_path: Path) -> None:
    """Where the server has GTIDs, too: a dump that sets them is refused by a server that has them."""
    try:
        programs = {name: run_by("mysql-client", f"usr/bin/{name}")[0] for name in ("mysqldump", "mysql")}
    except UnavailableError as error:
        pytest.skip(f"LEFT OUT, nothing was dumped: {error}")
    found = re.search(r"MySQL \| `mysqldump (.+) app`", PAGE.read_text())
    assert found is not None
    part = urlsplit(harness.url)
    given = tmp_path / "options.cnf"
    given.touch(0o600)
    given.write_text(
        f"[client]\nhost={part.hostname}\nport={part.port}\nuser={part.username}\npassword={part.password}\n"
    )
    queue = harness.connect()
    queue.push_bytes("mail", "bytes", BYTES)
    queue.push("mail", "held", {"text": "é😀'\\"}, priority=1)
    assert len(queue.reserve("mail", "w")) == 1

    def run(program: str, *arguments: str, dump: bytes = b"") -> bytes:
        command = [*programs[program], f"--defaults-extra-file={given}", *arguments]
        done = subprocess.run(command, input=dump, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    dump = run("mysqldump", *found[1].split(), part.path.removeprefix("/"))
    # else replicas of the server that it is read into have nothing of it
    assert b"SQL_LOG_BIN" not in dump
    copy = part._replace(path=f"/{COPY}").geturl()
    rows(harness.url, f"create database {COPY}")
    try:
        run("mysql", "--comments", COPY, dump=dump)
        assert rows(copy, MESSAGES) == rows(harness.url, MESSAGES)
        assert rows(copy, ROUTINES) == rows(harness.url, ROUTINES)
    finally:
        rows(harness.url, f"drop database {COPY}")
