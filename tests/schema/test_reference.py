"""The reference says what the sources say, and the sources say all of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pglast import parse_sql

from tests.rules import every
from tests.schema.sources import SQL, routines
from tools import comments, house, reference

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = re.compile(r"'\{([a-z_,\s]+)\}'(?:::text\[\]|;)")
CHECKED_BY = {
    "queue_push": "_queue_push_options",
    "queue_nack": "_queue_check_nack",
    "queue_ack": "_queue_check_ack",
    "queue_move": "_queue_check_move",
    "queue_read": "_queue_reader",
}
"""What checks the options of a routine that doesn't do so itself."""
AS_IN = {
    *("queue_push_bytes", "queue_push_many", "queue_ack_many", "queue_nack_many", "queue_move_many"),
    "queue_stream_reserve",
}
"""Those whose comments leave options to another routine, or that hand theirs on to one."""


def options(name: str) -> set[str]:
    """Return the options that a routine knows, by the code that refuses others."""
    code = routines()[CHECKED_BY.get(name, name)].code
    checks = re.findall(
        r"(?:_queue_check_options\(|v_(?:rules|pushes) constant).*?(?:;|options'|filter')", code, re.DOTALL
    )
    found = [names for check in checks for names in ALLOWED.findall(check)]
    return {word.strip() for names in found for word in names.split(",")}


def test_the_pages_of_the_reference_are_up_to_date() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in reference.DOCS.glob("*.md")}
    assert texts == reference.pages(), "run python -m tools.reference"


@every([name for name in routines() if not name.startswith("_") and name not in AS_IN])
def test_a_comment_names_each_option_its_limits_and_its_default(name: str) -> None:
    said = comments.parse(routines()[name].statements[1].comment).options
    assert {one.name for one in said} == options(name)
    assert [one.name for one in said if not (one.allowed and one.default)] == []


@every(house.files(SQL, "view"), name=house.name)
def test_the_comment_of_a_view_names_each_column(path: Path) -> None:
    statements: list[Any] = [one.stmt for one in parse_sql(path.read_text(encoding="utf-8"))]
    created, comment = statements
    columns = [column(one) for one in created.query.targetList]
    assert [one.name for one in comments.parse(comment.comment).options] == columns


def column(target: Any) -> str:
    """Return the name of a column of a select."""
    return target.name or target.val.fields[-1].sval


def test_every_public_routine_stands_in_the_reference() -> None:
    text = reference.routines()
    assert [name for name in routines() if not name.startswith("_") and f"\n### {name}\n" not in text] == []
