"""From each frozen revision, for ever: messages stay, and the schema is that of a fresh installation."""

from __future__ import annotations

import json

import pytest

from pyqueue_sql.schema import migrate
from tests.schema.mysql.catalogs import RECEIPT, Catalog, catalog, rows
from tests.schema.test_releases import REVISIONS

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.long]


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_upgrade_from_each_revision_keeps_the_messages(innodb_url: str, fresh: Catalog, revision: str):
    migrate.upgrade(innodb_url, revision=revision)
    assert migrate.current(innodb_url) == revision
    # calls as they were promised then, not those of today's client
    rows(innodb_url, "call queue_define('mail', '{\"timeout_seconds\": 3600}')")
    rows(innodb_url, "call queue_push('mail', 'held', '{\"n\": 1}', null)")
    [held] = rows(innodb_url, "call queue_reserve('mail', 'w', 1, null)")
    rows(innodb_url, "call queue_push('mail', 'ready', '{\"n\": 2}', null)")
    migrate.upgrade(innodb_url)
    assert catalog(innodb_url) == fresh
    assert migrate.differing(innodb_url) == []
    assert rows(innodb_url, f"call queue_ack('{held[RECEIPT]}', null)")[0][1] == "acked"
    [left] = rows(innodb_url, "call queue_pop('mail', 5, null)")
    assert (left[1], json.loads(left[2])) == ("ready", {"n": 2})
