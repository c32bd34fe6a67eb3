"""The queue as a branch of an application's own migrations, on MariaDB and MySQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from pyqueue_sql.alembic import include_name, include_object
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.schema import frozen, migrate, reload_mysql
from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import catalog, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.servers("mariadb", "mysql")

ENV = """
from alembic import context
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None)
with context.begin_transaction():
    context.run_migrations()
"""
OWN = """
import sqlalchemy
from alembic import op
revision, down_revision = "own", None
def upgrade():
    op.create_table("account", sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))
def downgrade():
    op.drop_table("account")
"""
APPLICATION = sqlalchemy.MetaData()
sqlalchemy.Table("account", APPLICATION, sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True))


@pytest.fixture
def engine(innodb_url: str) -> Iterator[sqlalchemy.Engine]:
    """An engine as an application has it."""
    # the connection is the driver's own, the URL only says which
    made = sqlalchemy.create_engine("mysql+pymysql://", creator=lambda: connect(innodb_url, autocommit=False))
    yield made
    made.dispose()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """The configuration of an application with one revision of its own."""
    (tmp_path / "env.py").write_text(ENV)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "own.py").write_text(OWN)
    made = Config()
    made.set_main_option("script_location", str(tmp_path))
    made.set_main_option("path_separator", "newline")
    made.set_main_option("version_locations", f"{tmp_path / 'own'}\n{frozen.MIGRATIONS / 'versions'}")
    return made


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_it_can_be_a_branch_of_the_applications_migrations(
    innodb_url: str, engine: sqlalchemy.Engine, config: Config
):
    migrate.upgrade(innodb_url)
    alone = catalog(innodb_url)
    migrate.downgrade(innodb_url)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "heads")
    assert rows(innodb_url, "select version_num from alembic_version order by 1") == [(HEAD,), ("own",)]
    ours = {("TABLE", "account"), ("TABLE", "alembic_version")}
    found = catalog(innodb_url)
    assert {name: text for name, text in found.items() if name not in ours} == {
        name: text for name, text in alone.items() if name != ("TABLE", "queue_version")
    }
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "pyqueue_sql@base")
        command.downgrade(config, "base")
    assert set(catalog(innodb_url)) == {("TABLE", "alembic_version")}


def test_routines_are_replaced_behind_the_gate_there_too(innodb_url: str, engine: sqlalchemy.Engine):
    migrate.upgrade(innodb_url)
    texts = [
        text.replace("comment '", "comment 'new ", 1)
        for text in frozen.statements(HEAD, "routines", "mysql")
        if "create procedure _queue_fail(" in text
    ]
    with engine.connect() as connection:
        # a migration before ours may have called the queue, in what is still one transaction
        connection.exec_driver_sql("select count(*) from queue_gate")
        reload_mysql.run(connection, {"routines": texts})
    assert "COMMENT 'new " in catalog(innodb_url)["PROCEDURE", "_queue_fail"]


def test_autogenerate_finds_nothing_of_ours(innodb_url: str, engine: sqlalchemy.Engine):
    migrate.upgrade(innodb_url)
    with engine.begin() as connection:
        APPLICATION.create_all(connection)
        for options in ({"include_name": include_name}, {"include_object": include_object}):
            assert compare_metadata(MigrationContext.configure(connection, opts=options), APPLICATION) == []
        assert compare_metadata(MigrationContext.configure(connection), APPLICATION) != []
