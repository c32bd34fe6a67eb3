"""The commands for the schema, on MariaDB and MySQL."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import catalog

COMMAND = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()"]


def pyqueue(*args: str) -> tuple[int, str, str]:
    """Run our command; returns its exit code, and what it prints on both ways."""
    done = subprocess.run(
        [*COMMAND, *args], cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.long
@pytest.mark.servers("mariadb", "mysql")
def test_upgrade_current_downgrade(innodb_url: str):
    code, printed, said = pyqueue("upgrade", "--url", innodb_url)
    assert (code, json.loads(printed)) == (0, {"revision": HEAD, "changed": []})
    # what the server refuses is a line on standard error, and no more
    functions = ("FUNCTION", "queue_push") in catalog(innodb_url)
    assert ("left out: function queue_ack, " in said) == (not functions)
    assert pyqueue("current", "--url", innodb_url) == (0, f'{{"revision":"{HEAD}"}}\n', "")
    assert pyqueue("downgrade", "base", "--yes", "--url", innodb_url) == (0, '{"revision":null}\n', "")
    assert pyqueue("current", "--url", innodb_url) == (1, '{"revision":null}\n', "")
    assert catalog(innodb_url) == {}


def test_what_is_printed_wants_no_database():
    code, printed, said = pyqueue("upgrade", "--sql", "--dialect", "mysql", "--schema", "a`b")
    assert (code, said) == (0, "")
    assert "use `a``b`;" in printed
    assert "create procedure queue_push(" in printed
    assert pyqueue("upgrade", "--sql")[1].count("create procedure") == 0
