"""The plans that the server really used inside a routine, by auto_explain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

SETTINGS = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "client_min_messages": "log",
}


@dataclass(frozen=True)
class Node:
    """A node of a plan.

    Attributes:
        fields: what EXPLAIN says about it.
        query: the statement that it belongs to.
    """

    fields: dict[str, Any]
    query: str

    @property
    def kind(self) -> str:
        return self.fields["Node Type"]

    @property
    def relation(self) -> str | None:
        return self.fields.get("Relation Name")

    @property
    def index(self) -> str | None:
        return self.fields.get("Index Name")

    @property
    def rows(self) -> int:
        """Rows that came out, in all loops."""
        return round(self.fields["Actual Rows"] * self.fields["Actual Loops"])

    @property
    def touched(self) -> int:
        """Rows that came out and rows that a filter took away."""
        return self.rows + round(self.fields.get("Rows Removed by Filter", 0) * self.fields["Actual Loops"])

    @property
    def below(self) -> list[Node]:
        """The nodes below it, at any depth."""
        return [node for one in self.fields.get("Plans", ()) for node in walk(one, self.query)]

    def __str__(self) -> str:
        where = f"{self.relation or ''} {self.index or ''}"
        return f"{self.kind} {where} rows={self.touched} in {self.query.strip()[:300]}"


def walk(plan: dict[str, Any], query: str) -> Iterator[Node]:
    """Yield a node and those below it."""
    node = Node(plan, query)
    yield node
    yield from node.below


class Plans:
    """Runs statements and keeps the plans of everything inside them.

    Args:
        conn: a connection of a superuser, in autocommit.
    """

    def __init__(self, conn: psycopg.Connection) -> None:
        self.conn = conn
        self._nodes: list[Node] = []
        conn.execute("load 'auto_explain'")
        for name, value in SETTINGS.items():
            conn.execute("select set_config(%s, %s, false)", [name, value])
        conn.add_notice_handler(self._note)

    def _note(self, notice: psycopg.errors.Diagnostic) -> None:
        _, found, text = (notice.message_primary or "").partition("plan:\n")
        if found:
            said = json.loads(text)
            self._nodes += walk(said["Plan"], said["Query Text"])

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Have no plans of what is done meanwhile: they would take most of its time."""
        self.conn.execute("set auto_explain.log_min_duration = -1")
        yield
        self.conn.execute("set auto_explain.log_min_duration = 0")

    def run(self, query: str, *parameters: Any) -> tuple[list[Any], list[Node]]:
        """Run a statement; return its rows and the nodes of all plans in it."""
        self._nodes = []
        rows = self.conn.execute(query, parameters).fetchall()  # pyright: ignore[reportArgumentType]
        return rows, self._nodes
