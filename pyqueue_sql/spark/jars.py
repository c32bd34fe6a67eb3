"""Where Java and the JDBC drivers are; `format("pyqueue")` wants no driver, plain JDBC does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL

from pyqueue_sql.calls.connect import is_mysql, mysql_settings, postgresql_settings
from pyqueue_sql.errors import InvalidOption

OLDEST_JAVA: Final = 17
DEBIAN: Final = Path("/usr/share/java")
_POSTGRESQL: Final = ("postgresql.jar", "org/postgresql/postgresql", "org.postgresql:postgresql")
_MARIADB: Final = (
    "mariadb-java-client.jar",
    "org/mariadb/jdbc/mariadb-java-client",
    "org.mariadb.jdbc:mariadb-java-client",
)
_PACKAGES: Final = {False: "libpostgresql-jdbc-java", True: "libmariadb-java"}
# the settings that make one statement of many rows
_BATCHING: Final = {
    False: {"driver": "org.postgresql.Driver", "reWriteBatchedInserts": "true", "stringtype": "unspecified"},
    True: {
        "driver": "org.mariadb.jdbc.Driver",
        "rewriteBatchedStatements": "true",
        "permitMysqlScheme": "true",
    },
}
# what the drivers call what the URLs of psycopg and PyMySQL may have
_OF_LIBPQ: Final = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "connect_timeout": "connectTimeout",
    "application_name": "ApplicationName",
    "options": "options",
    "target_session_attrs": "targetServerType",
}
_OF_PYMYSQL: Final = {
    "user": "user",
    "password": "password",
    "ssl_ca": "serverSslCert",
    "connect_timeout": "connectTimeout",
    "read_timeout": "socketTimeout",
}
_ROLES: Final = {
    "any": "any",
    "read-write": "primary",
    "primary": "primary",
    "read-only": "secondary",
    "standby": "secondary",
    "prefer-standby": "preferSecondary",
}


class NotFound(Exception):  # noqa: N818 -- named after what happened
    """Java or a driver isn't there; the message says how to get it."""


def check_java() -> Path:
    """Return the Java that Spark will take: that of JAVA_HOME, else the first on PATH.

    Raises:
        NotFound: there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    wanted = f"Spark wants Java {OLDEST_JAVA} or later"
    how = "install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless), or set JAVA_HOME to one"
    if found is None:
        raise NotFound(f"{wanted}, and there is none {'in JAVA_HOME' if home else 'on PATH'}: {how}")
    said = subprocess.run([found, "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < OLDEST_JAVA:
        raise NotFound(
            f"{wanted}, and {found} is {version[1] if version else 'none that tells its version'}: {how}"
        )
    return Path(found)


def driver(
    url: str, *, given: str | None = None, packages: str | None = None, repository: Path | None = None
) -> dict[str, str]:
    """Return the setting with which Spark has the JDBC driver for a database.

    Args:
        url: of the database, postgresql://… or mysql://….
        given: the driver's jar, where the user says it.
        packages: what Spark shall fetch with Maven, where the user says that.
        repository: the local one of Maven; None: ~/.m2/repository.

    Raises:
        NotFound: there is none; the message says the three ways to one.
    """
    if given is not None:
        if not Path(given).is_file():
            raise NotFound(f"there is no file {given}")
        return {"spark.jars": given}
    if packages is not None:
        return {"spark.jars.packages": packages}
    mysql = is_mysql(url)
    name, folder, coordinates = _MARIADB if mysql else _POSTGRESQL
    if (DEBIAN / name).is_file():
        return {"spark.jars": str(DEBIAN / name)}
    jars = ((repository or Path.home() / ".m2" / "repository") / folder).glob("*/*.jar")
    found = [one for one in jars if one.stem == f"{one.parents[1].name}-{one.parent.name}"]
    if found:
        return {"spark.jars": str(max(found, key=lambda one: _version(one.parent.name)))}
    raise NotFound(
        f"no JDBC driver for {'MariaDB and MySQL' if mysql else 'PostgreSQL'} found: name its jar"
        f" (--driver FILE, or spark.jars), install the package {_PACKAGES[mysql]} (Debian, Ubuntu), or let"
        f" Spark fetch it with Maven (--packages {coordinates}:VERSION, or spark.jars.packages)"
    )


def _version(text: str) -> tuple[list[int], bool]:
    """Return what orders versions: 42.7.9 is older than 42.7.13, and 3.5.0-rc1 older than 3.5.0."""
    numbers, _, more = text.partition("-")
    return [int(one) for one in re.findall(r"\d+", numbers)], not more


def jdbc(url: str | URL) -> tuple[str, dict[str, str]]:
    """Return a URL of JDBC without a password, and the properties with it, for `df.write.jdbc`.

    Args:
        url: of the database, as for the command line: a URL, also one of SQLAlchemy, or a text of libpq.

    Raises:
        InvalidOption: something in it can't be said to the driver.
    """
    text = url if isinstance(url, str) else url.render_as_string(hide_password=False)
    mysql = is_mysql(text)
    where, properties = (_mysql if mysql else _postgresql)(text)
    return where, {**{name: value for name, value in properties.items() if value}, **_BATCHING[mysql]}


def _postgresql(url: str) -> tuple[str, dict[str, str]]:
    given = {name: str(value) for name, value in postgresql_settings(url, None).items()}
    del given["client_encoding"]  # the driver's own, always
    hosts = given.pop("host", "localhost").split(",")
    ports = given.pop("port", "5432").split(",")
    if any(one.startswith(("/", "@")) for one in hosts):
        raise InvalidOption("the URL names a socket, and JDBC wants a host: postgresql://localhost:5432/…")
    if len(ports) not in (1, len(hosts)):
        raise InvalidOption(
            f"the URL has {len(hosts)} hosts and {len(ports)} ports: one port, or one for each"
        )
    ports = ports * len(hosts) if len(ports) == 1 else ports
    servers = ",".join(_server(*one) for one in zip(hosts, ports, strict=True))
    where = f"jdbc:postgresql://{servers}/{quote(given.pop('dbname', ''), safe='')}"
    if "target_session_attrs" in given:
        given["target_session_attrs"] = _ROLES[given["target_session_attrs"]]
    if given.get("sslrootcert") == "system":
        raise InvalidOption('"sslrootcert" of the URL is system, and JDBC wants the file of a certificate')
    return where, _translated(given, _OF_LIBPQ)


def _mysql(url: str) -> tuple[str, dict[str, str]]:
    given = {name: value for name, value in mysql_settings(url).items() if name != "charset"}
    if "unix_socket" in given:
        raise InvalidOption("the URL names a socket, and JDBC wants a host: mysql://localhost:3306/…")
    server = _server(given.pop("host", "localhost"), given.pop("port", 3306))
    where = f"jdbc:mysql://{server}/{quote(given.pop('database', ''), safe='')}"
    disabled, verified = given.pop("ssl_disabled", False), given.pop("ssl_verify_cert", None)
    identity = given.pop("ssl_verify_identity", False)
    ssl = not disabled and ("ssl_ca" in given or verified is not None or identity)
    for name in {"connect_timeout", "read_timeout"} & given.keys():
        given[name] *= 1000
    properties = _translated({name: str(value) for name, value in given.items()}, _OF_PYMYSQL)
    if ssl:
        properties["useSsl"] = "true"
        properties["trustServerCertificate"] = "true" if verified is False else ""
        properties["disableSslHostnameVerification"] = "" if identity else "true"
    return where, properties


def _server(host: str, port: object) -> str:
    return f"[{host.strip('[]')}]:{port}" if ":" in host else f"{host or 'localhost'}:{port}"


def _translated(given: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    for name in given:
        if name not in names:
            raise InvalidOption(f'"{name}" of the URL: the driver of JDBC has nothing like it; leave it out')
    return {names[name]: value for name, value in given.items()}
