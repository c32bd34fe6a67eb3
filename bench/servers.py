"""The servers of a run: starting one, a database of its own for each case, settings and versions."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict

from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.embedded import start_server
from pyqueue_sql.schema import migrate
from tests.servers.starting import start

NAMES = ("postgresql", "mariadb", "mysql")

DURABILITY: dict[str, tuple[dict[str, str], ...]] = {
    "postgresql": ({"synchronous_commit": "on"}, {"synchronous_commit": "off"}),
    "mariadb": ({"innodb_flush_log_at_trx_commit": "1"}, {"innodb_flush_log_at_trx_commit": "2"}),
    "mysql": ({"innodb_flush_log_at_trx_commit": "1"}, {"innodb_flush_log_at_trx_commit": "2"}),
}
"""What every comparison is made with: the default, and again so that the disk doesn't hide the work."""


def durabilities(name: str, quick: bool) -> tuple[dict[str, str], ...]:
    """Return what a run measures with: a quick one has the default alone."""
    return DURABILITY[name][: 1 if quick else None]


# What a server has by default, but for what the bench needs: connections, LOAD DATA LOCAL, large statements.
# The binary log is off on both, as it is by default on MariaDB alone.
INNODB = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--local-infile=1",
    "--max-connections=300",
    "--max-allowed-packet=512M",
    "--innodb-buffer-pool-size=1G",
)

MATTER = {
    "shared_buffers",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "wal_sync_method",
    "max_wal_size",
    "max_connections",
    "autovacuum",
    "autovacuum_naptime",
    "jit",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "sync_binlog",
    "transaction_isolation",
    "tx_isolation",
}
"""Settings that decide what a server can do in a second."""
PEERS = ("psycopg", "PyMySQL", "pgmq", "pgqueuer", "procrastinate")
LOCK = Path(__file__).parent / "peers" / "node" / "package.json"

_numbers = itertools.count(1)


def wanted(text: str) -> list[str]:
    """Return the servers that an option names: names, or one URL."""
    names = list(NAMES) if text == "all" else text.split(",")
    return names if set(names) <= set(NAMES) else [text]


@contextmanager
def server(name: str) -> Iterator[str]:
    """Give the URL of a superuser: of a throw-away server of this name, or the URL that is given instead.

    Raises:
        tests.servers.binaries.UnavailableError: there is no such server; says why.
    """
    if name == "postgresql":
        with start_server() as running:
            yield running.url
    elif name in NAMES:
        running = start(name, None, INNODB)
        try:
            yield f"{running.url}/?ssl_disabled=true"  # MySQL negotiates TLS by default, MariaDB doesn't
        finally:
            running.stop()
    else:
        yield name


def name_of(url: str) -> str:
    """Return which server is behind a URL."""
    if not is_mysql(url):
        return "postgresql"
    return "mariadb" if "MariaDB" in ask(url, "select version()") else "mysql"


@contextmanager
def database(url: str, settings: dict[str, str]) -> Iterator[str]:
    """Give the URL of a new database with the schema installed and the settings made, dropped afterwards."""
    name = f"pyqueue_bench_{os.getpid()}_{next(_numbers)}"
    before = {key: ask(url, f"select @@global.{key}") for key in settings} if is_mysql(url) else {}
    tell(url, f"create database {name}")
    found = with_database(url, name)
    try:
        migrate.upgrade(found)
        apply(found, settings)
        yield found
    finally:
        apply(url, before)
        tell(url, f"drop database {name}" if is_mysql(url) else f"drop database {name} with (force)")


def apply(url: str, settings: dict[str, str]) -> None:
    """Set what every new connection finds: of the database, on MariaDB and MySQL of the server."""
    name = urlsplit(url).path.removeprefix("/")
    for key, value in settings.items():
        place = "set global" if is_mysql(url) else f"alter database {name} set"
        tell(url, f"{place} {key} = {value}")


def with_database(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def ask(url: str, text: str) -> Any:
    """Return the one value that a statement answers."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(text.encode() if not is_mysql(url) else text)
        row = cursor.fetchone()
        return row[0] if row else None


def tell(url: str, text: str) -> None:
    """Run a statement."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(text.encode() if not is_mysql(url) else text)


def settings(url: str) -> dict[str, str]:
    """Return the server's settings that matter."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("show global variables" if is_mysql(url) else "show all")
        return {str(name): str(value) for name, value, *_ in cursor.fetchall() if name in MATTER}


def versions(url: str) -> dict[str, str]:
    """Return the versions of the server, of us, of the driver and of the peers that are there."""
    text = "select version()" if is_mysql(url) else "select current_setting('server_version')"
    label = {"postgresql": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL"}[name_of(url)]
    found = {"server": f"{label} {ask(url, text)}", "pyqueue_sql": metadata.version("pyqueue_sql")}
    for name in PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if LOCK.exists() and not is_mysql(url):
        found |= json.loads(LOCK.read_text()).get("dependencies", {})
    return found


def libpq(url: str) -> dict[str, str]:
    """Return the environment that tells libpq of the database: a password in arguments is seen by all."""
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "password": "PGPASSWORD",
        "dbname": "PGDATABASE",
    }
    return {names[key]: str(value) for key, value in conninfo_to_dict(url).items() if key in names}
