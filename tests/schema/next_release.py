"""A release after this one, made up: two tables change, and routines that calls are in use what is new.

Three revisions lead to it, as from one release to the next: a transaction for each table that calls lock in
different orders, and the routines once the calls that were going on have ended.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from pyqueue_sql.schema.frozen import DIALECTS, MIGRATIONS, SEPARATOR, statements

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "0001_initial"
KINDS, TABLES, HEAD = STEPS = ("0002_more_kinds", "0002_more_tables", "0002_more")
"""The revisions of the release, the oldest first; its name is that of the last."""
RELEASES = (FIRST, HEAD)

POINTER = """from pyqueue_sql.schema.revision import run
revision, down_revision = "{revision}", "{before}"
def upgrade():
    {up}
def downgrade():
    {down}
"""
CHANGES = {
    "postgresql": {
        f"{KINDS}.up": ["alter table queue_kind add column more integer;"],
        f"{KINDS}.down": ["alter table queue_kind drop column more;"],
        f"{TABLES}.up": [
            "alter table delayed_queue add column more integer;",
            "create table queue_more (id bigint primary key);",
            "comment on table queue_more is 'What is new.';",
        ],
        f"{TABLES}.down": ["drop table queue_more;", "alter table delayed_queue drop column more;"],
        f"{HEAD}.down": ["drop function queue_more();"],
    },
    "mysql": {
        f"{KINDS}.up": ["alter table queue_kind add column more int, algorithm = instant;"],
        f"{KINDS}.down": ["alter table queue_kind drop column more;"],
        f"{TABLES}.up": [
            "alter table delayed_queue add column more int, algorithm = instant;",
            "create table if not exists queue_more (id bigint primary key) engine = innodb;",
        ],
        f"{TABLES}.down": [
            "drop table if exists queue_more;",
            "alter table delayed_queue drop column more;",
        ],
        f"{HEAD}.down": ["drop procedure if exists queue_more;"],
    },
}
NEW = {
    "postgresql": [
        "create or replace function queue_more() returns bigint language sql"
        " as 'select count(*) from queue_more';",
    ],
    "mysql": [
        "drop procedure if exists queue_more;",
        "create procedure queue_more() begin select count(*) from queue_more; end;",
    ],
}
USED = {
    "postgresql": (
        r"create or replace function queue_push\(",
        "perform from queue_more m, queue_kind k where k.more = m.id;",
    ),
    "mysql": (
        r"create procedure _queue_push\(",
        "set @more = (select count(*) from queue_more m join queue_kind k on k.more = m.id);",
    ),
}
"""A routine that every push calls, and the statement that it begins with in the release."""


def make(folder: Path) -> Path:
    """Return the folder of migrations that this release and the made up one have.

    Args:
        folder: where it is made.
    """
    made = folder / "migrations"
    shutil.copytree(MIGRATIONS, made, ignore=shutil.ignore_patterns("__pycache__"))
    before = FIRST
    for revision in STEPS:
        up, down = f'run("{revision}", "up")', f'run("{revision}", "down")'
        if revision == HEAD:
            up = f'run("{revision}", "routines", "optional")'
            down = f'run("{FIRST}", "routines", "optional"); {down}'
        text = POINTER.format(revision=revision, before=before, up=up, down=down)
        (made / "versions" / f"{revision}.py").write_text(text, encoding="utf-8")
        before = revision
    for dialect in DIALECTS:
        frozen = made / "frozen" / dialect
        for name, texts in CHANGES[dialect].items():
            (frozen / f"{name}.sql").write_text(SEPARATOR.join(texts), encoding="utf-8")
        where, first = USED[dialect]
        routines = [
            text if not re.search(where, text) else _begun_with(first, text)
            for text in statements(FIRST, "routines", dialect)
        ]
        assert routines != statements(FIRST, "routines", dialect)
        (frozen / f"{HEAD}.routines.sql").write_text(
            SEPARATOR.join([f"{text};" for text in routines] + NEW[dialect]), encoding="utf-8"
        )
        if optional := statements(FIRST, "optional", dialect):
            text = SEPARATOR.join(f"{text};" for text in optional)
            (frozen / f"{HEAD}.optional.sql").write_text(text, encoding="utf-8")
    return made


def _begun_with(statement: str, text: str) -> str:
    """Return the text of a routine with a statement before the first one that is no declaration."""
    start = re.search(r"(?m)^(?:\w+: )?begin\n", text)
    assert start is not None
    first = re.compile(r"(?m)^    (?!declare\b| )").search(text, start.end())
    assert first is not None
    return f"{text[: first.start()]}    {statement}\n{text[first.start() :]}"
