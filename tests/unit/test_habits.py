"""What runs before a commit is what `make lint` runs, and the files that strangers look for are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def recipe(target: str) -> list[str]:
    """Return the commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert found
    return [line.lstrip("\t@") for line in found[1].splitlines()]


def test_a_hook_is_a_step_of_make_lint_with_the_tools_that_it_has() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    repositories: list[dict[str, Any]] = yaml.safe_load(text)["repos"]
    assert {one["repo"] for one in repositories} == {"local"}
    hooks = [hook for one in repositories for hook in one["hooks"]]
    assert hooks
    assert {hook["language"] for hook in hooks} == {"system"}
    entries = [hook["entry"].removeprefix("sh -c '").removesuffix("'") for hook in hooks]
    assert [entry for entry in entries if entry not in recipe("lint")] == []


def test_a_template_names_a_file_that_is_there() -> None:
    templates = [*(ROOT / ".github").rglob("*.md")]
    assert len(templates) == 3
    named = {name for page in templates for name in re.findall(r"\b[A-Z]+\.md\b", page.read_text("utf-8"))}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_first_change_names_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.partition("## A good first change")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w./]+/[\w.]+)`", part)
    assert len(named) >= 6
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_each_example_of_a_client_stands_in_a_page() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "clients").glob("*.md")]
    shown = {path for page in pages for path in re.findall(r'^--8<-- "(.+)"$', page, re.MULTILINE)}
    linked = {path for page in pages for path in re.findall(r"\]\(\.\./\.\./(examples/.+?)\)", page)}
    folder = ROOT / "examples" / "clients"
    programs = {
        str(path.relative_to(ROOT))
        for path in folder.rglob("*")
        if path.is_file() and path.stem.lower() in ("example", "main")
    }
    assert len(programs) >= 8
    assert shown == programs
    assert linked == programs
