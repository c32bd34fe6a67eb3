"""The decisions say whether they hold, the index says the same, and one that holds names what is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rules import every

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "adr"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))
STATUS = re.compile(r"Status: (holds|superseded by \[\d+\]\(\d{4}-[\w-]+\.md\))\.( .*)?")
LINE = re.compile(r"^\| (\d+) \| \[(.*?)\]\(([\w-]+\.md)\) \| .+ \| (.*) \|$", re.MULTILINE)
ROLES = re.findall(
    r"create role (\w+)", (ROOT / "sql" / "postgresql" / "grants.sql").read_text(encoding="utf-8")
)
OURS = {path.name.partition(".")[0] for path in (ROOT / "sql").rglob("*.sql")} | set(ROLES)


def status(page: Path) -> str:
    """Return what the third line of a decision says of it."""
    found = STATUS.fullmatch(page.read_text(encoding="utf-8").splitlines()[2])
    assert found, "its third line is no status"
    return found[1]


@every(DECISIONS, name=lambda page: page.name)
def test_a_decision_says_whether_it_holds(page: Path) -> None:
    said = status(page)
    if said != "holds":
        assert (FOLDER / said.partition("(")[2].rstrip(")")).exists()


@every(DECISIONS, name=lambda page: page.name)
def test_a_decision_that_holds_names_what_is_there(page: Path) -> None:
    if status(page) == "holds":
        named = set(re.findall(r"\b_?queue_[a-z_]*[a-z]\b", page.read_text(encoding="utf-8")))
        assert sorted(named - OURS) == []


def test_the_index_has_each_decision_its_title_and_its_status() -> None:
    expected = [
        (
            str(int(page.name[:4])),
            title(page).removeprefix(f"# {int(page.name[:4])}. "),
            page.name,
            status(page),
        )
        for page in DECISIONS
    ]
    assert LINE.findall((FOLDER / "README.md").read_text(encoding="utf-8")) == expected


def title(page: Path) -> str:
    """Return the first line of a page."""
    return page.read_text(encoding="utf-8").splitlines()[0]
