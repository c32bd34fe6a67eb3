"""The code of a page of the documentation, run block by block as a reader would run it.

- `shell`: the commands, in a folder of the page's own, a line each. What installs packages, and where the
  database is, the test has settled already.
- `sql`: the statements, each committed.
- `python`: run in one interpreter for the page; with a file's name as its title it is written to that file.

A title that names servers leaves the block to these. A comment `=> text` says what is in the answer of its
line. What is in another language, such as `text`, `ini` and `yaml`, isn't run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from pyqueue_sql import cli
from pyqueue_sql.calls.connect import connect as connect_to

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
EXPECTED = re.compile(r"^(?P<code>.*?)\s*(?:--|#) => (?P<text>.*)$")
SETTLED = ("pip install", "export PYQUEUE_URL=")
SERVERS = {"postgresql": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL"}


@dataclass
class Block:
    """A block of code."""

    language: str
    title: str
    code: str

    def is_for(self, server: str) -> bool:
        """Return whether a server runs it: those that it names, or all."""
        named = [name for name, shown in SERVERS.items() if shown in self.title]
        return not named or server in named


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page."""
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def expectations(code: str) -> list[tuple[str, str]]:
    """Return the lines of a code, each with what is to be in its answer, or nothing."""
    found = [(line, EXPECTED.match(line)) for line in code.splitlines()]
    return [(one["code"], one["text"]) if one else (line, "") for line, one in found]


def statements(code: str) -> list[tuple[str, str]]:
    """Return the statements of a code in SQL, each with what is to be in its answer, or nothing."""
    found: list[tuple[str, str]] = []
    lines: list[str] = []
    for line, expected in expectations(code):
        lines.append(line)
        text = "\n".join(lines)
        if re.search(r";\s*(--.*)?$", line) and text.count("$$") % 2 == 0:
            found.append((text.strip(), expected))
            lines = []
    assert not "".join(lines).strip(), f"no end of a statement: {lines}"
    return found


@dataclass
class Reader:
    """Somebody who does what a page says."""

    url: str
    server: str
    folder: Path
    names: dict[str, Any] = field(default_factory=dict[str, Any])

    def do(self, block: Block) -> None:
        """Run a block, or write it down."""
        if not block.is_for(self.server):
            return
        if block.language == "python" and block.title.endswith(".py"):
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            compile(block.code, block.title, "exec")
            path.write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            self._python(block.code)
        elif block.language == "sql":
            self._sql(block.code)
        elif block.language == "shell":
            for line, expected in expectations(block.code):
                if line and not line.startswith(SETTLED):
                    answer = self._shell(line)
                    assert expected in answer, f"{line}\nanswers\n{answer}"

    def _shell(self, line: str) -> str:
        """Run a command; ours in this process, which is faster by ten times."""
        words = shlex.split(line)
        if words[0] != "pyqueue":
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
            return subprocess.check_output(
                ["sh", "-c", line], cwd=self.folder, env=environment, text=True, timeout=60
            )
        given = None
        if words[-2] == "<":
            given = (self.folder / words[-1]).read_text(encoding="utf-8")
            del words[-2:]
        into = self.folder / words[-1] if words[-2] == ">" else None
        if into is not None:
            del words[-2:]
        with contextlib.chdir(self.folder):
            done = CliRunner().invoke(cli.main, words[1:], input=given, env={"PYQUEUE_URL": self.url})
        assert done.exit_code == 0, f"{line}\n{done.output}"
        if into is not None:
            into.write_text(done.stdout, encoding="utf-8")
        return done.stdout

    def _python(self, code: str) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.chdir(self.folder):
            exec(compile(code, "page", "exec"), self.names)
        answers = said.getvalue().splitlines()
        wanted = [text for _, text in expectations(code) if text]
        assert answers == wanted or not wanted, answers

    def _sql(self, code: str) -> None:
        cursor: Any
        with connect_to(self.url) as connection, connection.cursor() as cursor:
            for statement, expected in statements(code):
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else ()
                assert expected in str(rows), f"{statement}\nanswers\n{rows}"
                while self.server != "postgresql" and cursor.nextset():
                    pass
