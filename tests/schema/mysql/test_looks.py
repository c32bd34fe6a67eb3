"""A look of somebody who waits reads a range of an index, and next to nothing where nothing is ready."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pymysql.cursors import DictCursor

from tests.schema.mysql.catalogs import run
from tests.schema.mysql.world import call, now, push_keys
from tests.schema.sources_mysql import files

if TYPE_CHECKING:
    from pymysql import Connection

pytestmark = pytest.mark.servers("mariadb", "mysql")

MANY = 1000
RANGES = {"range", "const", "system", "index_subquery"}
AWAY = "Select tables optimized away", "no matching row in const table", "No matching min/max row"
READS = {"delayed_queue_ready": RANGES | {"ref"}, "delayed_queue_due": RANGES}
"""What of an index is little: in that of the ready line a kind has what is in the line alone."""
PLACES = [
    ("_queue_ready", "delayed_queue_ready", 2),
    ("_queue_ready", "delayed_queue_due", 2),
    ("_queue_release_worker", "delayed_queue_ready", 1),
]
"""Routines, the indexes that they read, and in how many places."""


@pytest.fixture
def filled(connection: Connection[Any]) -> Connection[Any]:
    """A connection to a database in which many messages wait, and many of another kind are ready."""
    push_keys(connection, *(f"later{number}" for number in range(MANY)), delay_seconds=3600)
    for number in range(MANY // 100):
        batch = [f'{{"key": "{number}-{one}", "payload": 1}}' for one in range(100)]
        call(connection, "queue_push_many", "other", f"[{','.join(batch)}]", None)
    push_keys(connection, "held")
    call(connection, "queue_reserve", "mail", "w", 1, None)
    return connection


def selects(routine: str, index: str, values: dict[str, str]) -> list[str]:
    """Return the reads of a routine that force an index, as statements of their own."""
    body = files()[f"routine/{routine}"].routine.body
    found = re.findall(rf"select [^;]*?force index \({index}\).*?(?=;|\) [hj]\b)", body, re.DOTALL)
    texts = [text[text.rindex("select") :] for text in found]
    texts = [re.sub(r"\binto v_\w+", "", text) for text in texts]
    return [re.sub(r"\b(?:in|v)_\w+", lambda name: values[name[0]], text) for text in texts]


@pytest.mark.parametrize(("routine", "index", "places"), PLACES)
def test_a_look_reads_a_range_of_an_index_and_sorts_nothing(
    filled: Connection[Any], routine: str, index: str, places: int
) -> None:
    literals = {"in_kind": "'mail'", "v_kind": "'mail'", "in_now": str(now(filled)), "in_worker": "'w'"}
    texts = selects(routine, index, literals | {"v_left": "10"})
    assert len(texts) == places
    for text in texts:
        with filled.cursor(DictCursor) as cursor:
            cursor.execute(f"explain format=traditional {text}")
            [plan] = cursor.fetchall()
        extra = plan["Extra"] or ""
        assert (plan["type"] in READS[index] and plan["key"] == index) or extra.startswith(AWAY), (text, plan)
        assert "filesort" not in extra
        assert "temporary" not in extra


def test_a_look_reads_next_to_nothing_where_nothing_is_ready(filled: Connection[Any]) -> None:
    run(filled, "flush status")
    run(filled, f"call _queue_ready('mail', {now(filled)}, @ready)")
    read = {
        name: int(count) for name, count in run(filled, "show session status like 'Handler\\_read%'") if count
    }
    assert run(filled, "select @ready") == [(0,)]
    assert sum(read.values()) < 40, read
