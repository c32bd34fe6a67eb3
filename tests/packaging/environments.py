"""An environment with the built wheel and dependencies of a certain age, and what has to work in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import reference_python

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements" / "constraints.txt"
APPLICATION = Path(__file__).with_name("application.py")
OLDEST, NEWEST, PINNED = AGES = ("oldest", "newest", "pinned")
"""Of dependencies: the oldest that pyproject.toml allows, the newest, those that `make` installs."""
NOT_INSTALLED = {
    "spark": "400 MB; make test-long runs it",
    "embedded": "one exact version, of which the server of this run is",
    **dict.fromkeys(
        ("bench", "demo", "docs", "lint", "release", "spark-demo", "test"), "for those who work on it"
    ),
}
"""Extras that no environment gets, and why; all others are in each."""
PATIENCE_SECONDS = 300
PUBLIC = {f"{module}.{name}" for module, found in reference_python.MODULES for name in found.__all__}
"""What applications import by name."""
IMPORTS = ("alembic", "doctor", "metrics", "overview", "schema.migrate", "testing", "top", "web", "worker")
"""Modules of the package that need what the extras bring, or that applications import."""


def requirements(wheel: Path) -> tuple[list[Requirement], list[str]]:
    """Return what the wheel asks for, and the extras that an environment gets.

    Args:
        wheel: the file.
    """
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        said = Parser().parsestr(archive.read(name).decode())
    left_out = {canonicalize_name(name) for name in NOT_INSTALLED}
    extras = [name for name in said.get_all("Provides-Extra", []) if canonicalize_name(name) not in left_out]
    asked = [Requirement(text) for text in said.get_all("Requires-Dist", [])]
    return [
        one for one in asked if not one.marker or any(one.marker.evaluate({"extra": x}) for x in extras)
    ], extras


def floor(requirement: Requirement) -> str:
    """Return the requirement with the oldest version that it allows, as pip reads it.

    Raises:
        ValueError: it allows any.
    """
    found = [one.version for one in requirement.specifier if one.operator in (">=", "==", "~=")]
    if len(found) != 1:
        raise ValueError(f"{requirement}: which is the oldest version that does?")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}=={found[0]}"


class Environment:
    """A virtual environment of its own; nothing of this one, or of the tree, is seen in it."""

    def __init__(self, place: Path, program: str, wheel: Path, age: str) -> None:
        """Make it and install.

        Args:
            place: its folder, empty or not there.
            program: the Python.
            wheel: the file.
            age: one of AGES.
        """
        self.place = place
        asked, extras = requirements(wheel)
        self.environment = {
            name: value for name, value in os.environ.items() if not re.match("PYTHON|PYQUEUE|VIRTUAL", name)
        }
        self.environment["PATH"] = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.environment["VIRTUAL_ENV"] = str(place)
        pins = [f"--constraint={PINS}"] if age == PINNED else []
        oldest = [floor(one) for one in asked] if age == OLDEST else []
        self.run(program, "-m", "venv", "--without-pip", place, cwd=place.parent)
        pip = [sys.executable, "-m", "pip", f"--python={place / 'bin' / 'python'}", "install", "--quiet"]
        options = ["--disable-pip-version-check", "--no-compile", "--only-binary=:all:", *pins]
        self.run(*pip, *options, f"{wheel}[{','.join(extras)}]", *oldest, cwd=wheel.parent)

    def run(self, *command: object, cwd: Path | None = None, good: tuple[int, ...] = (0,)) -> str:
        """Run a command and return what it prints; one that ends with another status is a failure."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode in good, f"{' '.join(map(str, command))}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def pyqueue(self, *arguments: str, good: tuple[int, ...] = (0,)) -> list[dict[str, Any]]:
        """Run our command and return its lines of JSON."""
        printed = self.run(self.place / "bin" / "pyqueue", *arguments, good=good)
        return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]

    def versions(self) -> str:
        """Return what is installed of what the package itself needs."""
        code = (
            "import importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in"
            " ('alembic', 'click', 'psycopg', 'sqlalchemy')), sep=', ')"
        )
        return self.run(self.place / "bin" / "python", "-c", code).strip()


def use(environment: Environment, url: str) -> None:
    """Install, push, work, examine and upgrade again, as somebody does who has only the wheel.

    Args:
        environment: with the wheel in it.
        url: of a database of PostgreSQL without the queue.
    """
    environment.environment["PYQUEUE_URL"] = url
    (environment.place / "application.py").write_text(APPLICATION.read_text(encoding="utf-8"))
    python = environment.place / "bin" / "python"
    imports = "; ".join(f"import pyqueue_sql.{name}" for name in IMPORTS)
    where = environment.run(python, "-c", f"{imports}; print(pyqueue_sql.__file__)")
    assert where.startswith(str(environment.place)), where
    [installed] = environment.pyqueue("upgrade")
    assert installed == {"revision": installed["revision"], "changed": []}
    [pushed] = environment.pyqueue("push", "mail", '{"to": "ada@example.org"}', "--key", "welcome")
    assert pushed["outcome"] == "created"
    printed = environment.run(environment.place / "bin" / "pyqueue", "worker", "application", "--drain")
    assert printed == "sent to ada@example.org\n"
    [stats] = [one for one in environment.pyqueue("stats") if one["kind"] == "mail"]
    assert (stats["pushed_total"], stats["acked_total"], stats["total"]) == (1, 1, 0)
    findings = environment.pyqueue("doctor", "--json", good=(0, 1))
    assert findings
    # the server of a test run doesn't wait for its disk
    wrong = [one for one in findings if one["level"] == "error" and one["check"] != "settings"]
    assert wrong == [], wrong
    assert environment.run(environment.place / "bin" / "pyqueue", "metrics").startswith("# HELP pyqueue_")
    assert environment.pyqueue("upgrade") == [installed]
    assert environment.pyqueue("current") == [{"revision": installed["revision"]}]


def check_types(environment: Environment, pyright: str) -> None:
    """Have strict checkers read an application, and see that no public name has an unknown type.

    Args:
        environment: with the wheel in it.
        pyright: the command.
    """
    python = environment.place / "bin" / "python"
    text = environment.place / "application.py"
    text.write_text(APPLICATION.read_text(encoding="utf-8"))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", f"--python-executable={python}"]
    environment.run(*mypy, text)
    (environment.place / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    environment.run(pyright, text)
    printed = environment.run(
        pyright, "--verifytypes", "pyqueue_sql", "--ignoreexternal", "--outputjson", good=(0, 1)
    )
    symbols = json.loads(printed)["typeCompleteness"]["symbols"]
    ours = [one for one in symbols if _public(one["name"])]
    assert {one["name"] for one in ours} >= PUBLIC, PUBLIC - {one["name"] for one in ours}
    assert [one["name"] for one in ours if not one["isTypeKnown"]] == []


def _public(name: str) -> bool:
    """Return whether it is what applications import, or a part of that."""
    parts = name.split(".")
    return any(".".join(parts[:count]) in PUBLIC for count in range(1, len(parts) + 1))
