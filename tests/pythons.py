"""Runs the unit tests and scenarios on the oldest and the newest Python: python -m tests.pythons [PYTHON…]

Interpreters are those named, else the oldest and the newest of PATH, /usr/bin and ~/.pyenv; with --quick the
oldest alone, unless it is the one that runs this. Each has a virtual environment of its own below
.venv/pythons. That the promised version, or a newer one, isn't there is said loudly, and fails the run where
PYQUEUE_TEST_REQUIRE names it ("3.11 3.14").
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.servers.plugin import REQUIRE

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".venv" / "pythons"
PROMISED, NEWEST = (3, 11, 0), (3, 14)
SUITES = ("tests/unit", "tests/conformance/test_a_nedelcu.py")
EXTRAS = "embedded,demo,test"
PROCESSES = ("-n", "auto", "--dist=loadgroup", "--no-loadscope-reorder")
PINS = "requirements/constraints.txt"

QUICK = "--quick"

Version = tuple[int, ...]


def main(arguments: list[str]) -> int:
    """Run the tests on each and print a line for each; returns the exit status."""
    named = [one for one in arguments if one != QUICK]
    found = candidates(named)
    lines = missing(found) if not named else []
    failed = False
    for version in chosen(found, named, QUICK in arguments):
        good, line = run(version, found[version])
        failed |= not good
        lines.append(line)
        print(line, flush=True)
    print("\n".join(["", "interpreters:", *lines]))
    required = os.environ.get(REQUIRE, "")
    left_out = [line for line in lines if "LEFT OUT" in line]
    return int(failed or any(re.search(rf"\b{line.split()[1][:4]}\b", required) for line in left_out))


def chosen(found: dict[Version, str], named: list[str], quick: bool) -> list[Version]:
    """Return on which of those that were found the tests are to run."""
    if quick and found:
        return [version for version in (min(found),) if version != sys.version_info[:3]]
    return list(found) if named else sorted({min(found), max(found)}) if found else []


def candidates(named: list[str]) -> dict[Version, str]:
    """Return the interpreters that are promised to do, by their exact versions."""
    if named:
        programs = [Path(name) for name in named]
    else:
        folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin"]
        folders += map(str, Path.home().glob(".pyenv/versions/*/bin"))
        programs = [program for folder in folders for program in sorted(Path(folder).glob("python3*"))]
    found: dict[Version, str] = {}
    for program in programs:
        version = exact(program) if named or re.fullmatch(r"python3(\.\d+)?", program.name) else None
        if version and version >= PROMISED:
            found.setdefault(version, str(program))
    return found


def exact(program: Path) -> Version | None:
    """Return what a program says of its version, None where it is no Python of its own."""
    code = "import sys; print(*sys.version_info[:3], sys.prefix == sys.base_prefix)"
    try:
        done = subprocess.run([program, "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return None
    said = done.stdout.split()
    return tuple(map(int, said[:3])) if done.returncode == 0 and said[3:] == ["True"] else None


def missing(found: dict[Version, str]) -> list[str]:
    """Return what of the promise nobody could look at."""
    lines: list[str] = []
    if PROMISED not in found:
        instead = f"; the oldest is {dotted(min(found))}" if found else ""
        lines.append(f"Python {dotted(PROMISED)}: LEFT OUT, it is not on this machine{instead}")
    if not any(version >= NEWEST for version in found):
        instead = f"; the newest is {dotted(max(found))}" if found else ""
        lines.append(f"Python {dotted(NEWEST)}: LEFT OUT, it is not on this machine{instead}")
    return lines


def dotted(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def run(version: Version, program: str) -> tuple[bool, str]:
    """Run the tests with an interpreter; returns whether all passed, and a line."""
    began = time.monotonic()
    place = PLACE / dotted(version)
    python = place / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        f"--python={python}",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    steps = [
        [program, "-m", "venv", "--without-pip", str(place)],
        [*pip, f"--editable=.[{EXTRAS}]"],
        [
            str(python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--color=no",
            "--server=postgresql",
            *PROCESSES,
            *SUITES,
        ],
    ]
    pins = {"PIP_CONSTRAINT": PINS, "PIP_BUILD_CONSTRAINT": PINS}
    line = f"Python {dotted(version)} ({program})"
    summary = ""
    for step in steps:
        done = subprocess.run(
            step, cwd=ROOT, env=os.environ | pins, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode != 0:
            print(done.stdout[-20_000:])
            return False, f"{line}: FAILED, {Path(step[0]).name} {' '.join(step[1:3])}"
        counts = re.findall(r"^.*\bpassed\b.* in .*$", done.stdout, re.MULTILINE)
        summary = counts[-1].strip("= ") if counts else ""
    return True, f"{line}: ok, {summary}, {time.monotonic() - began:.0f} s with what was installed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
