"""From each frozen revision, for ever: messages stay, and the schema is that of a fresh installation."""

from __future__ import annotations

import pytest
from alembic.script import ScriptDirectory

from pyqueue_sql.schema import frozen, migrate
from tests.schema.catalogs import DEFINITIONS, HEAD, empty_database, rows
from tools import freeze

REVISIONS = [one.revision for one in ScriptDirectory(str(frozen.MIGRATIONS)).walk_revisions()][::-1]
"""All that there are, the oldest first."""


def test_each_release_has_a_revision_that_is_here():
    assert {one["revision"] for one in freeze.released().values()} <= set(REVISIONS)
    assert freeze.altered() == []
    assert REVISIONS[-1] == HEAD


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_upgrade_from_each_revision_keeps_the_messages(empty_url: str, revision: str):
    migrate.upgrade(empty_url, revision=revision)
    assert migrate.current(empty_url) == revision
    # calls as they were promised then, not those of today's client
    rows(empty_url, "select queue_define('mail', '{\"timeout_seconds\": 3600}')")
    rows(empty_url, "select queue_push('mail', 'held', '{\"n\": 1}')")
    [(receipt,)] = rows(empty_url, "select receipt from queue_reserve('mail', 'w', 1)")
    rows(empty_url, "select queue_push('mail', 'ready', '{\"n\": 2}')")
    migrate.upgrade(empty_url)
    with empty_database(empty_url, "pyqueue_fresh") as fresh:
        migrate.upgrade(fresh)
        assert rows(empty_url, DEFINITIONS) == rows(fresh, DEFINITIONS)
    assert migrate.differing(empty_url) == []
    assert rows(empty_url, f"select outcome from queue_ack('{receipt}')") == [("acked",)]
    assert rows(empty_url, "select p_key, payload from queue_pop('mail', 5)") == [("ready", {"n": 2})]
