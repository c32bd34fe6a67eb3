"""`pyqueue sql` prints what the client takes as it is: the same schema as an upgrade makes."""

from __future__ import annotations

import pytest

from pyqueue_sql.schema import migrate
from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import Catalog, catalog
from tests.schema.mysql.test_migrate_mysql import takes_all, without_optional
from tests.schema.programs import feed
from tests.schema.test_printed import printed

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.long]


def test_the_client_takes_what_is_printed(innodb_url: str, fresh: Catalog, server_name: str):
    everything = takes_all(fresh)
    feed(innodb_url, printed("--dialect", server_name, *(["--optional"] if everything else [])))
    assert catalog(innodb_url) == (fresh if everything else without_optional(fresh))
    assert migrate.current(innodb_url) == HEAD
    assert migrate.differing(innodb_url) == []
