"""The public surface, docs/reference/surface.txt: what a version promises, a line each.

`python -m tools.surface` writes it. Before a version is released the file is what the sources have. From then
on it stays as it was released, and a test says which number of the version has to rise for what has changed;
`--release` writes the one of the next release.

A line is a name and, behind `: `, what is promised of it: `postgresql queue_ack parameter 1: in_receipt text,
required`. What is gone or changed breaks those who use it, and so does something new that has to be given.
Anything else that is new breaks nobody. What goes was deprecated in the release before.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass
from typing import Final

from tools import house, surface_python, surface_sql

ROOT: Final = house.LIVE.parent
FILE: Final = ROOT / "docs" / "reference" / "surface.txt"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
HEAD: Final = "# written by python -m tools.surface; never edited\nversion: {}\n"
REQUIRED: Final = ", required"
DEPRECATED: Final = "deprecated"
PARTS: Final = re.compile(r" (?:parameter|option|answers|column|field|bases)\b")
"""What stands between the name of a thing and the name of a part of it."""

Items = dict[str, str]
"""What is promised, by its name."""


@dataclass(frozen=True)
class Surface:
    """What a version promises."""

    version: str
    items: Items

    def text(self) -> str:
        """Return the file."""
        lines = (f"{name}: {value}" if value else name for name, value in self.items.items())
        return HEAD.format(self.version) + "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Changes:
    """What differs from an older surface, in sentences."""

    breaks: list[str]
    adds: list[str]
    sudden: list[str]
    """What went without having been deprecated."""


def parse(text: str) -> Surface:
    """Return the surface that a file has."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {name: value for name, _, value in (line.partition(": ") for line in lines)}
    return Surface(found.pop("version"), found)


def kept() -> Surface:
    """Return the surface that is kept in the tree."""
    return parse(FILE.read_text(encoding="utf-8"))


def version() -> str:
    """Return the version that pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def present() -> Surface:
    """Return the surface that the sources have."""
    return Surface(version(), {**surface_sql.items(), **surface_python.items()})


def is_released(number: str, changelog: str) -> bool:
    """Return whether the section of a version in CHANGELOG.md says that it is out.

    Args:
        number: of the version.
        changelog: the text.
    """
    found = re.search(rf"(?m)^## {re.escape(number)}(?: \((.*)\))?$", changelog)
    return found is not None and found[1] != "unreleased"


def owner(name: str, items: Items) -> str:
    """Return the thing among items that an item is a part of, or its own name."""
    found = PARTS.split(name)[0]
    return found if found in items else name


def changes(before: Items, after: Items) -> Changes:
    """Return what differs.

    Args:
        before: of the release.
        after: of today.
    """
    found = Changes([], [], [])
    for name, value in before.items():
        whose = owner(name, before)
        if name not in after:
            if whose == name or whose in after:  # else the thing itself is gone, and named
                found.breaks.append(f"{name} is gone")
                if DEPRECATED not in value and DEPRECATED not in before.get(whose, ""):
                    found.sudden.append(name)
        elif after[name] == f"{value}, {DEPRECATED}".removeprefix(", "):
            found.adds.append(f"{name} is deprecated")
        elif after[name] != value:
            found.breaks.append(f"{name} was {value or 'plain'} and is {after[name] or 'plain'}")
            found.sudden.append(name)
    for name, value in after.items():
        if name not in before:
            whose = owner(name, after)
            if value.endswith(REQUIRED) and whose in before:
                found.breaks.append(f"{name} is new and has to be given")
            elif whose == name or whose in before:
                found.adds.append(f"{name} is new")
    return found


def least(number: str, found: Changes) -> str:
    """Return the least version that may have these changes.

    Before 1.0 the second number stands for the first, and the third for the second.

    Args:
        number: of the release before, three numbers.
        found: what has changed since.
    """
    first, second, third = (int(part) for part in number.split("."))
    if first == 0:
        return f"0.{second + 1}.0" if found.breaks else f"0.{second}.{third + 1}"
    return f"{first + 1}.0.0" if found.breaks else f"{first}.{second + 1}.0"


def verdict(before: Surface, after: Surface) -> str | None:
    """Return which number has to rise, in a sentence with the reasons; None where the version is right.

    Args:
        before: what was released.
        after: what is to be released.
    """
    found = changes(before.items, after.items)
    if not found.breaks and not found.adds:
        return None
    wanted = least(before.version, found)
    reasons = "; ".join(found.breaks or found.adds)
    if _numbers(after.version) < _numbers(wanted):
        places = zip(_numbers(before.version), _numbers(wanted), ("first", "second", "third"), strict=True)
        which = next(name for old, new, name in places if old != new)
        return (
            f"the {which} number of the version must rise, to {wanted} at least (it is {after.version}), "
            f"because since {before.version}: {reasons}"
        )
    if found.sudden and not before.version.startswith("0."):
        return f"deprecate it for a release before it changes or goes: {'; '.join(found.sudden)}"
    return None


def _numbers(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", number)[:3])


def complaint() -> str | None:
    """Return what is wrong with the surface of the tree, in a sentence; None where nothing is."""
    before, after = kept(), present()
    if is_released(before.version, CHANGELOG.read_text(encoding="utf-8")):
        return verdict(before, after)
    if before == after:
        return None
    found = changes(before.items, after.items)
    said = "; ".join(found.breaks + found.adds) or "the order or the version"
    return f"run python -m tools.surface, for docs/reference/surface.txt is behind: {said}"


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Write the public surface.")
    parser.add_argument("--release", action="store_true", help="of the version that is about to be released")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is wrong")
    args = parser.parse_args()
    if args.check:
        found = complaint()
        print(found or "surface: nothing to say")
        return int(found is not None)
    changelog = CHANGELOG.read_text(encoding="utf-8")
    if FILE.exists() and is_released(kept().version, changelog) and not args.release:
        print(f"the surface of {kept().version} stays until the next release: --release", file=sys.stderr)
        return 1
    FILE.write_text(present().text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
