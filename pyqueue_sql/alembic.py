"""For the env.py of an application: its Alembic leaves the queue's tables alone.

    context.configure(..., include_object=pyqueue_sql.alembic.include_object)

Without it `alembic revision --autogenerate` proposes to drop what the application's models don't have.
"""

from __future__ import annotations

import functools
from typing import Any

from pyqueue_sql.schema.frozen import DIALECTS, MIGRATIONS, SEPARATOR
from pyqueue_sql.schema.release import names
from pyqueue_sql.schema.revision import VERSION_TABLE

MARK = "(pyqueue_sql)"
"""The end of the comment of each of our tables."""


def include_object(
    object: Any,  # noqa: A002
    name: str | None,
    type_: str,
    reflected: bool,
    compare_to: Any,  # noqa: ARG001
) -> bool:
    """Tell autogenerate which tables are the application's: all but ours, told by their comments.

    A table of the application may have the name of one of ours, as long as the queue is elsewhere.
    """
    if type_ != "table" or not reflected:
        return True
    return name != VERSION_TABLE and not str(object.comment or "").endswith(MARK)


def include_name(name: str | None, type_: str, parent_names: Any) -> bool:  # noqa: ARG001
    """Tell autogenerate the same by the names of our tables, so that it needn't read them.

    It has nothing but the name to go by: an application with a table of such a name takes include_object.
    """
    return type_ != "table" or name not in tables()


@functools.cache
def tables() -> frozenset[str]:
    """Return the names of our tables, of both dialects."""
    files = [file for one in DIALECTS for file in (MIGRATIONS / "frozen" / one).glob("*.up.sql")]
    texts = [text for file in files for text in file.read_text(encoding="utf-8").split(SEPARATOR)]
    return names(texts, "table") | {VERSION_TABLE}
