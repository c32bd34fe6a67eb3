"""What the modules of the package import of one another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.rules import every

ROOT = Path(__file__).parents[2]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "pyqueue_sql").rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that one imports: anywhere in its text, and for its types alone too."""
    texts = (path, path.with_suffix(".pyi"))
    for node in (node for one in texts if one.exists() for node in ast.walk(ast.parse(one.read_bytes()))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            names = [f"{node.module}.{one.name}" for one in node.names]
            yield from (name if name in FILES else node.module for name in names)


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports; read by the tests, for to read it takes longer than to collect them."""
    return {name: set(imported(path)) for name, path in FILES.items()}


def circle_of(name: str, graph: dict[str, set[str]]) -> list[str]:
    """The shortest way from a name back to itself; none: there is no way."""
    ways, seen = [[name]], {name}
    while ways:
        found = ways.pop(0)
        for other in sorted(graph[found[-1]]):
            if other == name:
                return [*found, name]
            if other not in seen:
                seen.add(other)
                ways.append([*found, other])
    return []


@every(sorted(FILES))
def test_no_module_imports_itself_by_way_of_others(name: str) -> None:
    circle = circle_of(name, imports())
    if circle:
        raise AssertionError(" -> ".join(circle))


def folder(name: str) -> str:
    """The folder that a module is in, or itself where it is in the root of the package."""
    return ".".join(name.split(".")[:2])


@cache
def folders() -> dict[str, set[str]]:
    """The folders that the modules of each import."""
    found: dict[str, set[str]] = {folder(name): set() for name in FILES}
    for name, others in imports().items():
        found[folder(name)] |= {folder(one) for one in others} - {folder(name)}
    return found


@every(sorted({folder(name) for name in FILES}))
def test_no_folder_imports_itself_by_way_of_others(name: str) -> None:
    circle = circle_of(name, folders())
    if circle:
        raise AssertionError(" -> ".join(circle))


def test_the_root_of_the_package_is_its_plan() -> None:
    modules = {path.stem for path in (ROOT / "pyqueue_sql").glob("*.py")}
    assert modules == {"__init__", "alembic", "errors", "models"}
