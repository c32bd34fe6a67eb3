"""Where Java and the JDBC drivers are; `format("pyqueue")` wants no driver, plain JDBC does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pyqueue_sql.connect import is_mysql, mysql_settings

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
    jars = sorted(((repository or Path.home() / ".m2" / "repository") / folder).glob("*/*.jar"))
    if jars:
        return {"spark.jars": str(jars[-1])}
    raise NotFound(
        f"no JDBC driver for {'MariaDB and MySQL' if mysql else 'PostgreSQL'} found: name its jar"
        f" (--driver FILE, or spark.jars), install the package {_PACKAGES[mysql]} (Debian, Ubuntu), or let"
        f" Spark fetch it with Maven (--packages {coordinates}:VERSION, or spark.jars.packages)"
    )


def jdbc(url: str) -> tuple[str, dict[str, str]]:
    """Return a URL of JDBC without a password, and the properties with it, for `df.write.jdbc`.

    Args:
        url: of the database, postgresql://user:password@host:port/database or mysql://….
    """
    mysql = is_mysql(url)
    login: dict[str, Any]
    if mysql:
        login = mysql_settings(url)
        server = f"{login.get('host', 'localhost')}:{login.get('port', 3306)}"
        where = f"jdbc:mysql://{server}/{login.get('database', '')}"
    else:
        parts = urlsplit(url)
        login = {"user": unquote(parts.username or ""), "password": unquote(parts.password or "")}
        where = f"jdbc:postgresql://{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
    properties = {name: str(login[name]) for name in ("user", "password") if login.get(name)}
    return where, {**properties, **_BATCHING[mysql]}
