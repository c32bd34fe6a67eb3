"""The SQL of the README does what its comments say, pasted once and pasted again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from pyqueue_sql.calls.connect import connect as connect_to

if TYPE_CHECKING:
    from tests.conformance.harness import Harness

README = Path(__file__).parents[2] / "README.md"


def session(dialect: str) -> list[tuple[str, str]]:
    """Return the statements of the README's session for a dialect, each with its comment's first word."""
    text = README.read_text(encoding="utf-8").partition("## Five lines of SQL")[2]
    postgresql, mysql, *_ = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    lines = (mysql if dialect == "mysql" else postgresql).splitlines()
    found = [re.match(r"(.*;)(?:\s+-- (\w+))?", line) for line in lines]
    return [(one[1], one[2] or "") for one in found if one]


def answer(connection: Any, text: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_the_session_of_the_readme_can_be_pasted_twice(harness: Harness, server_name: str) -> None:
    statements = session("postgresql" if server_name == "postgresql" else "mysql")
    assert len(statements) == 5
    with connect_to(harness.url) as connection:
        assert isinstance(connection, psycopg.Connection) == (server_name == "postgresql")
        for scheduled in (1, 2):
            first, second, later, taken, sizes = (answer(connection, text) for text, _ in statements)
            assert [first[0]["outcome"], second[0]["outcome"]] == [said for _, said in statements[:2]]
            assert later[0]["outcome"] == "created"
            assert [row["p_key"] for row in taken] == ["welcome/42"]
            assert sizes == [{"p_kind": "mail", "ready": 0, "scheduled": scheduled, "reserved": 0}]
