"""`pyqueue sql` prints what psql takes as it is: the same schema as an upgrade makes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyqueue_sql import cli
from pyqueue_sql.schema import frozen, migrate
from tests.schema.catalogs import DEFINITIONS, HEAD, rows
from tests.schema.programs import feed


def printed(*options: str) -> str:
    """Return what the command prints."""
    done = CliRunner().invoke(cli.main, ["sql", *options])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("schema", "encoding"), [(None, "UTF8"), ("queue", "UTF8"), (None, "LATIN1")])
def test_psql_takes_what_is_printed(
    empty_url: str, schema: str | None, encoding: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    feed(empty_url, printed("--dialect", "postgresql", *(("--schema", schema) if schema else ())))
    found = rows(empty_url, DEFINITIONS, schema)
    assert migrate.current(empty_url, schema=schema) == HEAD
    assert migrate.differing(empty_url, schema=schema) == []
    migrate.downgrade(empty_url, schema=schema)
    migrate.upgrade(empty_url, schema=schema)
    assert found == rows(empty_url, DEFINITIONS, schema)
    assert len(found) > 50


def test_the_package_may_lie_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    expected = printed("--dialect", "postgresql")
    home = tmp_path / "100%(here)s of: it"
    shutil.copytree(frozen.MIGRATIONS, home)
    monkeypatch.setattr(frozen, "MIGRATIONS", home)
    assert printed("--dialect", "postgresql") == expected


@pytest.mark.parametrize("command", ["upgrade", "downgrade"])
def test_a_revision_that_nobody_knows_is_refused_before_anything_is_printed(command: str):
    done = CliRunner().invoke(cli.main, [command, "0000_nowhere", "--sql"])
    assert (done.exit_code, done.stdout) == (3, "")
    assert "there is no '0000_nowhere' to go to; allowed are head, " in done.stderr


def test_it_is_in_utf_8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch):
    code = "from pyqueue_sql.cli import main; main(['sql', '--dialect', 'postgresql'])"
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode() == printed("--dialect", "postgresql")


def test_the_dialect_has_to_be_said():
    done = CliRunner().invoke(cli.main, ["sql"])
    assert done.exit_code == 2
    assert "--dialect" in done.stderr
