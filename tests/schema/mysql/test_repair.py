"""Every upgrade ends in what the release has, whatever was there before: on MariaDB and MySQL."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
import sqlalchemy
from alembic import command
from alembic.config import Config

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.schema import frozen, migrate
from tests.schema import next_release
from tests.schema.catalogs import HEAD
from tests.schema.mysql.catalogs import ROUTINES, Catalog, catalog, open_connection, rows, run
from tests.schema.mysql.test_migrate_mysql import LIVE, printed, run_all, takes_all
from tests.schema.test_repair import ENV
from tools import freeze_mysql

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.servers("mariadb", "mysql")

DAMAGE = {
    "procedure queue_pause": ["drop procedure queue_pause"],
    "procedure queue_now": [
        "drop procedure queue_now",
        "create procedure queue_now(out out_now bigint) begin set out_now = 1; end",
    ],
    "view queue_stats": ["drop view queue_stats"],
    "view queue_readers": ["create or replace view queue_readers as select 1 as one"],
}


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_is_missing_or_differs_is_made_again_and_named(innodb_url: str):
    migrate.upgrade(innodb_url)
    before = catalog(innodb_url)
    assert migrate.upgrade(innodb_url) == []
    with open_connection(innodb_url) as connection:
        for text in [text for texts in DAMAGE.values() for text in texts]:
            run(connection, text)
    found = migrate.upgrade(innodb_url)
    assert {one for one in found if not one.startswith("rights: ")} == set(DAMAGE)
    assert catalog(innodb_url) == before
    assert migrate.upgrade(innodb_url) == []


def test_what_was_made_under_another_sql_mode_is_made_again(innodb_url: str):
    migrate.upgrade(innodb_url)
    before = catalog(innodb_url)
    with open_connection(innodb_url) as connection:
        [(_, mode, text, *_)] = run(connection, "show create procedure queue_pause")
        run(connection, "drop procedure queue_pause")
        run(connection, "set session sql_mode = ''")
        run(connection, text)
        [(_, other, *_)] = run(connection, "show create procedure queue_pause")
        assert other != mode
    assert migrate.differing(innodb_url) == ["procedure queue_pause"]
    assert migrate.upgrade(innodb_url)[0] == "procedure queue_pause"
    assert rows(innodb_url, "show create procedure queue_pause")[0][1] == mode
    assert catalog(innodb_url) == before


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_a_restore_without_routines_is_put_right(innodb_url: str):
    migrate.upgrade(innodb_url)
    before = catalog(innodb_url)
    with open_connection(innodb_url) as connection:
        Queue(connection).push("mail", "k", 1)
        for kind, name in run(connection, ROUTINES):
            run(connection, f"drop {kind} {name}")
    assert len(migrate.upgrade(innodb_url)) > 200
    assert catalog(innodb_url) == before
    with open_connection(innodb_url) as connection:
        assert [message.key for message in Queue(connection).reserve("mail")] == ["k"]


def test_blanks_that_a_client_puts_behind_comments_are_no_difference(innodb_url: str):
    migrate.upgrade(innodb_url)
    with open_connection(innodb_url) as connection:
        [(_, mode, text, *_)] = run(connection, "show create procedure queue_get")
        run(connection, "drop procedure queue_get")
        run(connection, f"set session sql_mode = '{mode}'")
        run(connection, text.replace("begin", "begin /* one */", 1).replace("*/", "*/ "))
    assert migrate.differing(innodb_url) == ["procedure queue_get"]
    with open_connection(innodb_url) as connection:
        run(connection, "drop procedure queue_get")
        run(connection, f"set session sql_mode = '{mode}'")
        run(connection, text.replace("*/", "*/ "))
        [(_, _, now, *_)] = run(connection, "show create procedure queue_get")
    assert (now != text) == ("*/" in text)
    assert migrate.differing(innodb_url) == []


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_is_run_by_a_user_who_is_gone_is_made_again(innodb_url: str, owner: tuple[str, str]):
    url, name = owner
    migrate.upgrade(url)
    # by another user who may do the same, what works is left to its owner
    definer = f"select distinct definer from ({ROUTINES.replace('r.routine_name', 'r.definer')}) r"
    migrate.upgrade(innodb_url)
    assert (name.replace("'", ""),) in rows(innodb_url, definer)
    rows(innodb_url, f"drop user {name}")
    with open_connection(innodb_url) as connection:
        with pytest.raises(pymysql.Error, match="definer"):
            Queue(connection).push("mail", "k", 1)
        migrate.upgrade(innodb_url)
        assert Queue(connection).push("mail", "k", 1).outcome == "created"
        assert run(connection, "select total from queue_stats") == [(1,)]
    assert migrate.upgrade(innodb_url) == []


def test_rights_are_what_the_release_gives(innodb_url: str):
    migrate.upgrade(innodb_url)
    database = innodb_url.rpartition("/")[2]
    name = f"app_{database[-20:]}"
    text = "select table_name, user, host, lower(table_priv) from mysql.tables_priv where db = database()"
    text += " union all select routine_name, user, host, lower(proc_priv) from mysql.procs_priv"
    text += " where db = database()"
    with open_connection(innodb_url) as connection:
        before = sorted(run(connection, text))
        assert len(before) > 50
        run(connection, f"create user {name}@'%' identified by 'Pw-1-secret'")
        run(connection, f"grant execute on procedure queue_push to {name}@'%'")
        run(connection, f"grant select, insert on delayed_queue to {name}@'%' with grant option")
        run(connection, f"grant update (payload) on delayed_queue to {name}@'%'")
        run(connection, "grant execute on procedure queue_drop to queue_producer")
        run(connection, "revoke execute on procedure queue_ack from queue_consumer")
        run(connection, "create table queue_position (id int)")
        run(connection, f"grant select on queue_position to {name}@'%'")
    found = migrate.upgrade(innodb_url)
    assert found == [
        f"rights: grant on table delayed_queue for {name}",
        f"rights: insert on table delayed_queue for {name}",
        f"rights: select on table delayed_queue for {name}",
        f"rights: update (`payload`) on table delayed_queue for {name}",
        "rights: execute on procedure queue_ack for queue_consumer",
        "rights: execute on procedure queue_drop for queue_producer",
        f"rights: execute on procedure queue_push for {name}",
    ]
    after = rows(innodb_url, text)
    assert {row for row in after if row[1] == name} == {("queue_position", name, "%", "select")}
    assert sorted(row for row in after if row[1] != name) == before
    rows(innodb_url, f"drop user {name}@'%'")


def test_who_may_not_see_the_texts_is_told_so(innodb_url: str, owner: tuple[str, str]):
    migrate.upgrade(innodb_url)
    url, name = owner
    database = innodb_url.rpartition("/")[2]
    with open_connection(innodb_url) as connection:
        run(connection, f"revoke all on {database}.* from {name}")
        run(connection, f"grant select, execute on {database}.* to {name}")
        with pytest.raises(MigrationError, match="may not see the texts of the routines"):
            migrate.differing(url)


def test_nobody_replaces_what_it_may_not_see(innodb_url: str, owner: tuple[str, str]):
    migrate.upgrade(innodb_url)
    url, name = owner
    definers = "select distinct definer from information_schema.routines where routine_schema = database()"
    before = rows(innodb_url, definers)
    with open_connection(innodb_url) as connection:
        database = innodb_url.rpartition("/")[2]
        with contextlib.suppress(pymysql.ProgrammingError):  # not known to a server where ALL doesn't have it
            run(connection, f"revoke show create routine on {database}.* from {name}")
        for change in migrate.upgrade, migrate.differing:
            with pytest.raises(MigrationError, match=f"which run as {before[0][0]}: upgrade as that user"):
                change(url)
        assert rows(innodb_url, definers) == before


def test_who_may_not_create_routines_is_told_so_also_where_nothing_differs(
    innodb_url: str, owner: tuple[str, str]
):
    migrate.upgrade(innodb_url)
    url, name = owner
    with open_connection(innodb_url) as connection:
        run(connection, f"revoke create routine on {innodb_url.rpartition('/')[2]}.* from {name}")
        with pytest.raises(MigrationError, match="right to create routines and tables"):
            migrate.upgrade(url)


def test_what_the_server_has_left_out_is_named_and_nothing_else(innodb_url: str):
    migrate.upgrade(innodb_url)
    functions = {"function queue_ack", "function queue_push", "function queue_reserve"}
    before = set(migrate.left_out(innodb_url))
    there = {f"{kind.lower()} {name}" for kind, name in rows(innodb_url, ROUTINES)}
    assert before & functions == functions - there
    rows(innodb_url, "drop function if exists queue_push")
    assert set(migrate.left_out(innodb_url)) == before | {"function queue_push"}


def test_the_owner_keeps_what_it_was_granted(innodb_url: str, owner: tuple[str, str]):
    url, name = owner
    migrate.upgrade(url)
    migrate.upgrade(innodb_url)
    with open_connection(innodb_url) as connection:
        run(connection, f"grant execute on procedure queue_push to {name}")
        run(connection, f"grant select on delayed_queue to {name}")
        granted = sorted(run(connection, f"show grants for {name}"))
        assert migrate.upgrade(innodb_url) == []
        assert sorted(run(connection, f"show grants for {name}")) == granted


@pytest.mark.servers("mariadb")  # on MySQL such a user doesn't see the texts of another's routines
def test_so_does_whoever_upgrades(innodb_url: str, owner: tuple[str, str]):
    migrate.upgrade(innodb_url)
    url, name = owner
    with open_connection(innodb_url) as connection:
        run(connection, f"grant select on mysql.* to {name}")
        run(connection, f"grant select on delayed_queue to {name}")
        granted = sorted(run(connection, f"show grants for {name}"))
        assert migrate.upgrade(url) == []
        assert sorted(run(connection, f"show grants for {name}")) == granted


def test_whoever_was_granted_all_of_it_loses_that_but_for_the_roles(innodb_url: str):
    migrate.upgrade(innodb_url)
    users = [f"`we``i'rd{innodb_url[-9:]}`@`%`", "`queue_producer`@`localhost`"]
    text = "select t.user, t.host from mysql.tables_priv t where t.db = database()"
    text += " union all select c.user, c.host from mysql.columns_priv c where c.db = database()"
    text += " union all select p.user, p.host from mysql.procs_priv p where p.db = database()"
    before = sorted(rows(innodb_url, text))
    with open_connection(innodb_url) as connection:
        try:
            for user in users:
                run(connection, f"create user {user} identified by 'Pw-1-secret'")
                run(connection, f"grant all on delayed_queue to {user} with grant option")
                run(connection, f"grant select (payload), references (payload) on delayed_queue to {user}")
                run(connection, f"grant all on procedure queue_push to {user} with grant option")
            assert len(migrate.upgrade(innodb_url)) > 30
            assert sorted(rows(innodb_url, text)) == before
            assert migrate.upgrade(innodb_url) == []
        finally:
            for user in users:
                run(connection, f"drop user if exists {user}")


@pytest.mark.servers("mariadb")
def test_what_everybody_was_granted_is_taken_back(innodb_url: str):
    migrate.upgrade(innodb_url)
    rows(innodb_url, "grant select on delayed_queue to public")
    assert migrate.upgrade(innodb_url) == ["rights: select on table delayed_queue for PUBLIC"]
    assert migrate.upgrade(innodb_url) == []


def manifest(connection: pymysql.Connection[Any], *names: str) -> None:
    """Install what the manifests name."""
    for name in names:
        text = (LIVE / name).read_text(encoding="utf-8")
        text = freeze_mysql.SOURCE.sub(lambda found: freeze_mysql.read(LIVE / found[1]), text)
        run_all(connection, text)


@pytest.mark.long
def test_what_the_manifest_installed_is_taken_over(innodb_url: str, fresh: Catalog):
    names = ["install.sql", "optional.sql"] if takes_all(fresh) else ["install.sql"]
    for step in ("with its version", "without"):
        migrate.downgrade(innodb_url)
        with open_connection(innodb_url) as connection:
            manifest(connection, *names)
            Queue(connection).push("mail", "k", 1)
            if step == "without":
                run(connection, "drop table queue_version")
        found = migrate.upgrade(innodb_url)
        assert (f"taken over as {HEAD}" in found) == (step == "without")
        assert migrate.current(innodb_url) == HEAD
        there = catalog(innodb_url)
        assert {one: text for one, text in there.items() if one[1] != "queue_version"} == {
            one: text for one, text in fresh.items() if one[1] != "queue_version"
        }
        assert rows(innodb_url, "select p_key from delayed_queue") == [("k",)]


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_a_branch_of_the_application_installed_is_taken_over(
    innodb_url: str, tmp_path: Path, request: pytest.FixtureRequest
):
    (tmp_path / "env.py").write_text(ENV)
    config = Config()
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", str(frozen.MIGRATIONS / "versions"))
    engine = sqlalchemy.create_engine(
        "mysql+pymysql://", creator=lambda: connect(innodb_url, autocommit=False)
    )
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "pyqueue_sql@head")
        rows(innodb_url, "drop procedure queue_pause")
        found = migrate.upgrade(innodb_url)
        assert found[:2] == [f"taken over as {HEAD}", "procedure queue_pause"]
        released: Path = request.getfixturevalue("released")
        config.set_main_option("version_locations", str(released / "versions"))
        connection.rollback()
        with pytest.raises(MigrationError, match=f"{HEAD} and looked after by pyqueue upgrade"):
            command.upgrade(config, "pyqueue_sql@head")
        connection.rollback()
        migrate.upgrade(innodb_url)
        after = catalog(innodb_url)
        command.upgrade(config, "pyqueue_sql@head")
        command.downgrade(config, "pyqueue_sql@base")
    engine.dispose()
    assert catalog(innodb_url) == after
    assert migrate.current(innodb_url) == next_release.HEAD


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_what_is_printed_is_stopped_by_nothing_that_a_user_may_not_do(
    innodb_url: str, owner: tuple[str, str]
):
    """Functions need a right that the owner of a database hasn't got, and roles another."""
    url, _ = owner
    with open_connection(url) as connection:
        run_all(connection, printed(migrate.upgrade))
        assert Queue(connection).push("mail", "k", 1).outcome == "created"
    assert migrate.current(innodb_url) == HEAD
    assert not re.search("_queue_give_rights|_queue_probe", str(sorted(catalog(innodb_url))))
    # an upgrade by who may adds the rest
    migrate.upgrade(innodb_url)
    there = catalog(innodb_url)
    migrate.downgrade(innodb_url)
    migrate.upgrade(innodb_url)
    assert set(catalog(innodb_url)) == set(there)


def test_a_server_whose_tables_have_short_indexes_by_default(innodb_url: str):
    rows(innodb_url, "set global innodb_default_row_format = compact")
    try:
        migrate.upgrade(innodb_url)
    finally:
        rows(innodb_url, "set global innodb_default_row_format = dynamic")
    with connect(innodb_url) as connection:
        assert Queue(connection).push("k" * 95, "y" * 200, 1).outcome == "created"
