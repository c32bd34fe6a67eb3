"""examples/shop, run as its README says, with the package laid out as a wheel has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.schema.catalogs import CATALOGS, DEFINITIONS, HEAD, rows

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
VERSIONS = "select version_num from alembic_version order by 1"
SHOP = "0002_sent"
TABLES = (
    "select tablename::text from pg_tables"
    " where schemaname = 'public' and tablename !~ '^(alembic|queue)_version$' order by 1"
)
SHOP_TABLES = [("customer",), ("customer_order",)]
BRANCH = ("--name", "branch")
UP = {"own": ((), "head"), "branch": (BRANCH, "heads")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with the package in it."""
    site = tmp_path_factory.mktemp("site")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pyqueue_sql", site / "pyqueue_sql", ignore=ignore)
    shutil.copytree(ROOT / "migrations", site / "pyqueue_sql" / "migrations", ignore=ignore)
    return site


class Shop:
    """A copy of the example and a database for it."""

    def __init__(self, url: str, site: Path, folder: Path) -> None:
        self.url = url
        self.folder = folder
        shutil.copytree(ROOT / "examples" / "shop", folder, ignore=shutil.ignore_patterns("__pycache__"))
        self._environment = {
            **os.environ,
            "DATABASE_URL": url,
            "PYQUEUE_URL": url,
            "PYTHONPATH": str(site),
        }
        # each of the commands would compile the package anew
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def python(self, *args: str) -> str:
        """Run Python in the folder of the shop, and return what it prints."""
        done = subprocess.run(
            [sys.executable, *args], cwd=self.folder, env=self._environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def alembic(self, *args: str) -> str:
        """Run the command of Alembic."""
        return self.python("-m", "alembic", *args)

    def pyqueue(self, *args: str) -> str:
        """Run our command."""
        return self.python("-c", "from pyqueue_sql.cli import main; main()", *args)

    def install(self, way: str) -> None:
        """Install the shop and the queue, as the README says."""
        if way == "own":
            self.pyqueue("upgrade")
        options, target = UP[way]
        self.alembic(*options, "upgrade", target)

    def run(self, sql: str) -> None:
        """Run printed statements as psql does: statement after statement, on one connection."""
        rows(self.url, sql)


@pytest.fixture
def shop(empty_url: str, installed: Path, tmp_path: Path) -> Shop:
    """The shop, with nothing in its database."""
    return Shop(empty_url, installed, tmp_path / "shop")


@pytest.mark.long
@pytest.mark.parametrize("way", ["own", "branch"])
def test_autogenerate_sees_the_shop_alone_and_an_order_and_its_message_go_together(shop: Shop, way: str):
    shop.install(way)
    options, _ = UP[way]
    assert "No new upgrade operations" in shop.alembic(*options, "check")
    where = ("--head", "shop@head", "--version-path", "migrations/versions") if way == "branch" else ()
    shop.alembic(*options, "revision", "--autogenerate", "-m", "nothing", "--rev-id", "0003", *where)
    text = (shop.folder / "migrations" / "versions" / "0003_nothing.py").read_text()
    assert text.count("pass\n") == 2
    assert "op." not in text

    shop.python(
        "-c",
        "import os, sqlalchemy; from sqlalchemy.orm import Session; import orders\n"
        "url = sqlalchemy.make_url(os.environ['DATABASE_URL']).set(drivername='postgresql+psycopg')\n"
        "with Session(sqlalchemy.create_engine(url)) as session:\n"
        "    orders.place(session, 'ada@example.org', 'a book')\n"
        "    session.rollback()",
    )
    for table in ("customer_order", "delayed_queue"):
        assert rows(shop.url, f"select count(*) from {table}") == [(0,)]

    said = shop.python("orders.py", "place", "ada@example.org", "a book")
    number = said.split()[-1]
    assert said == f"placed {number}\n"
    sent = [(f"order-{number}", {"order": int(number)})]
    assert rows(shop.url, "select p_key, payload from delayed_queue") == sent
    assert shop.python("orders.py", "send") == f"sent {number}: a book to ada@example.org\n"
    assert rows(shop.url, "select sent_at is not null from customer_order") == [(True,)]
    assert shop.python("orders.py", "send") == "nothing to send\n"


@pytest.mark.parametrize(
    ("way", "shop_goes", "queue_goes"),
    [
        (
            "own",
            lambda shop: shop.alembic("downgrade", "base"),
            lambda shop: shop.pyqueue("downgrade", "base", "--yes"),
        ),
        (
            "branch",
            lambda shop: shop.alembic(*BRANCH, "downgrade", "shop@base"),
            lambda shop: shop.alembic(*BRANCH, "downgrade", "pyqueue_sql@base"),
        ),
    ],
)
@pytest.mark.long
def test_each_goes_without_the_other(
    shop: Shop, way: str, shop_goes: Callable[[Shop], str], queue_goes: Callable[[Shop], str]
):
    before = rows(shop.url, CATALOGS)
    shop.install(way)
    both = rows(shop.url, TABLES)
    queue_goes(shop)
    assert rows(shop.url, TABLES) == SHOP_TABLES
    assert rows(shop.url, VERSIONS) == [(SHOP,)]
    shop.install(way)
    assert rows(shop.url, TABLES) == both
    shop_goes(shop)
    assert rows(shop.url, TABLES) == [table for table in both if table not in SHOP_TABLES]
    queue_goes(shop)
    shop.run("drop table alembic_version")
    assert rows(shop.url, CATALOGS) == before


@pytest.mark.long
def test_both_ways_make_the_same(shop: Shop):
    shop.install("own")
    own = rows(shop.url, DEFINITIONS)
    shop.alembic("downgrade", "base")
    shop.pyqueue("downgrade", "base", "--yes")
    shop.install("branch")
    assert rows(shop.url, DEFINITIONS) == own
    assert rows(shop.url, VERSIONS) == sorted([(HEAD,), (SHOP,)])


@pytest.mark.parametrize("way", UP)
@pytest.mark.long
def test_what_is_printed_does_the_same(shop: Shop, way: str):
    options, target = UP[way]
    before = rows(shop.url, CATALOGS)
    shop.install(way)
    expected = rows(shop.url, DEFINITIONS)
    printed = shop.alembic(*options, "upgrade", target, "--sql")
    if way == "own":
        back = shop.alembic("downgrade", f"{SHOP}:base", "--sql") + shop.pyqueue("downgrade", "base", "--sql")
        printed = shop.pyqueue("upgrade", "--sql") + printed
    else:
        heads = [
            shop.alembic(*BRANCH, "downgrade", f"{head}:{label}@base", "--sql")
            for head, label in ((SHOP, "shop"), (HEAD, "pyqueue_sql"))
        ]
        back = "".join(heads)
    shop.run(back)
    shop.run("drop table if exists alembic_version")
    assert rows(shop.url, CATALOGS) == before
    shop.run(printed)
    assert rows(shop.url, DEFINITIONS) == expected


@pytest.mark.long
def test_the_queue_can_have_a_schema_of_its_own_and_another_beside_it(shop: Shop):
    shop.alembic("upgrade", "head")
    before = rows(shop.url, CATALOGS)
    for schema in ("one", "two"):
        shop.pyqueue("upgrade", "--schema", schema)
        shop.pyqueue("push", "--schema", schema, "--key", schema, "mail", "1")
    assert "No new upgrade operations" in shop.alembic("check")
    shop.pyqueue("downgrade", "base", "--yes", "--schema", "one")
    assert rows(shop.url, "select p_key from two.delayed_queue") == [("two",)]
    assert '"two"' in shop.pyqueue("reserve", "--schema", "two", "mail")
    shop.pyqueue("downgrade", "base", "--yes", "--schema", "two")
    shop.run("drop schema one; drop schema two")
    assert rows(shop.url, CATALOGS) == before
