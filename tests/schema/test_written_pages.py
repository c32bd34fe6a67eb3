"""What there is to call stands in a page that somebody has written, not in the reference alone.

An option of a command isn't asked for: it is the option of a routine by the same name, and `--help` has it.
"""

from __future__ import annotations

import re
from pathlib import Path

from pyqueue_sql import cli
from tests.rules import every
from tests.schema.sources import SQL, routines
from tools import comments, house

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page.name != "mission.md")]
PAGES += [*(ROOT / "docs/howto").glob("*.md"), *(ROOT / "docs/clients").glob("*.md")]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
WORDS = set(re.findall(r"\w+", TEXT))
ONE_PAGE = (ROOT / "docs" / "one-page.md").read_text(encoding="utf-8")
PUBLIC = [name for name in routines() if not name.startswith("_")]
ERRORS = sorted(set(re.findall(r"PQ\d{3}", (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8"))))


@every(PUBLIC)
def test_a_page_names_each_routine(name: str) -> None:
    assert name in WORDS


@every(PUBLIC)
def test_a_page_names_each_option(name: str) -> None:
    options = comments.parse(routines()[name].statements[1].comment).options
    assert [one.name for one in options if one.name not in WORDS] == []


@every(house.files(SQL, "view"), name=house.name)
def test_a_page_names_each_view(path: Path) -> None:
    assert house.name(path) in WORDS


@every(list(cli.main.commands))
def test_a_page_names_each_command(name: str) -> None:
    assert re.search(rf"pyqueue {name}\b(?!-)", TEXT)


@every(ERRORS)
def test_a_page_names_each_error(code: str) -> None:
    assert code in WORDS


@every(re.findall(r"`(queue_\w+)\(([^`]*)\)`", ONE_PAGE), name=lambda found: found[0])
def test_the_one_page_has_the_parameters_of_each_routine(found: tuple[str, str]) -> None:
    name, said = found
    if name not in routines():  # MariaDB and MySQL alone have it
        assert name == "queue_push_into"
        return
    given = [word for word in said.split(", ") if word]
    assert given == [one.removeprefix("in_") for one, result in routines()[name].parameters if not result]
