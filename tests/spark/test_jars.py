"""Java and the drivers are found, or a message says how to get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark import jars

if TYPE_CHECKING:
    from pathlib import Path

POSTGRESQL, MYSQL = "postgresql://localhost/app", "mariadb://localhost/app"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system without drivers."""
    monkeypatch.setattr(jars, "DEBIAN", tmp_path / "share")
    return tmp_path


@pytest.mark.parametrize(
    ("url", "package"), [(POSTGRESQL, "libpostgresql-jdbc-java"), (MYSQL, "libmariadb-java")]
)
def test_without_a_driver_the_message_names_three_ways(nowhere: Path, url: str, package: str) -> None:
    with pytest.raises(jars.NotFound) as raised:
        jars.driver(url, repository=nowhere)
    for way in ("--driver FILE", package, "spark.jars.packages"):
        assert way in str(raised.value)


def test_a_driver_is_that_of_the_option_then_debians_then_the_repositorys(nowhere: Path) -> None:
    local = nowhere / "org/postgresql/postgresql/42.7.7/postgresql-42.7.7.jar"
    local.parent.mkdir(parents=True)
    local.touch()
    assert jars.driver(POSTGRESQL, repository=nowhere) == {"spark.jars": str(local)}
    debian = nowhere / "share" / "postgresql.jar"
    debian.parent.mkdir()
    debian.touch()
    assert jars.driver(POSTGRESQL, repository=nowhere) == {"spark.jars": str(debian)}
    assert jars.driver(POSTGRESQL, given=str(local)) == {"spark.jars": str(local)}
    assert jars.driver(POSTGRESQL, packages="a:b:1") == {"spark.jars.packages": "a:b:1"}
    with pytest.raises(jars.NotFound, match="no file"):
        jars.driver(POSTGRESQL, given=str(nowhere / "none.jar"))


def test_no_java_or_an_old_one_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(jars.NotFound, match=r"Java 17 or later, and there is none in JAVA_HOME: install it"):
        jars.check_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(jars.NotFound, match="is 11: install it"):
        jars.check_java()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    assert jars.check_java() == java


def test_the_url_of_jdbc_has_no_password() -> None:
    url, properties = jars.jdbc("postgresql://ann:p%40ss@db.example:5433/app")
    assert url == "jdbc:postgresql://db.example:5433/app"
    assert (properties["user"], properties["password"]) == ("ann", "p@ss")
    assert properties["reWriteBatchedInserts"] == "true"
    url, properties = jars.jdbc("mariadb://ann:p%40ss@db.example/app")
    assert url == "jdbc:mysql://db.example:3306/app"
    assert (properties["user"], properties["password"]) == ("ann", "p@ss")
    assert properties["rewriteBatchedStatements"] == "true"


JDBC: list[tuple[str, str, dict[str, str]]] = [
    ("postgresql+psycopg://db/app?sslmode=verify-full&sslrootcert=/ca.pem", "db:5432/app",
     {"sslmode": "verify-full", "sslrootcert": "/ca.pem"}),
    ("postgresql://[::1]:5433/a%20b", "[::1]:5433/a%20b", {}),
    ("postgresql://one:1,two:2/app?target_session_attrs=read-write", "one:1,two:2/app",
     {"targetServerType": "primary"}),
    ("host=one,two port=5433 dbname=app connect_timeout=3", "one:5433,two:5433/app", {"connectTimeout": "3"}),
    ("mysql://[fe80::1]/app", "[fe80::1]:3306/app", {}),
    ("mysql+pymysql://db/app?ssl_ca=/ca.pem&ssl_verify_identity=true&connect_timeout=3", "db:3306/app",
     {"serverSslCert": "/ca.pem", "useSsl": "true", "connectTimeout": "3000"}),
    ("mysql://db/app?ssl_ca=/ca.pem&ssl_verify_cert=false", "db:3306/app",
     {"trustServerCertificate": "true", "disableSslHostnameVerification": "true"}),
]  # fmt: skip


@pytest.mark.parametrize(("url", "where", "properties"), JDBC)
def test_what_a_url_says_is_said_to_the_driver(url: str, where: str, properties: dict[str, str]) -> None:
    found, given = jars.jdbc(url)
    assert found == f"jdbc:{'mysql' if url.startswith('mysql') else 'postgresql'}://{where}"
    assert properties.items() <= given.items()


def test_a_url_of_sqlalchemy_is_one() -> None:
    url, properties = jars.jdbc(make_url("postgresql+psycopg://ann:p%40ss@db/app"))
    assert (url, properties["password"]) == ("jdbc:postgresql://db:5432/app", "p@ss")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql:///app?host=/var/run/postgresql", "names a socket"),
        ("host=/tmp dbname=app password=s3cr3t", "names a socket"),
        ("service=shop", '"service" of the URL'),
        ("postgresql://db/app?sslkey=/key.pem", '"sslkey" of the URL'),
        ("postgresql://db/app?sslrootcert=system", "wants the file of a certificate"),
        ("postgresql://a:1,b:2,c/app?port=1,2", "3 hosts and 2 ports"),
        ("mysql://db/app?unix_socket=/tmp/my.sock", "names a socket"),
        ("mysql://ann:s3cr3t@db/app?ssl_key=/key.pem", '"ssl_key" of the URL'),
    ],
)
def test_what_the_driver_cannot_be_told_is_refused(url: str, why: str) -> None:
    with pytest.raises(InvalidOption) as raised:
        jars.jdbc(url)
    assert why in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


def test_versions_are_compared_as_versions(nowhere: Path) -> None:
    for version in ("42.7.9", "42.7.13", "42.7.14-rc1", "42.7.2"):
        folder = nowhere / "org/postgresql/postgresql" / version
        folder.mkdir(parents=True)
        for jar in (f"postgresql-{version}.jar", f"postgresql-{version}-sources.jar"):
            (folder / jar).touch()
    (nowhere / "org/postgresql/postgresql/42.7.14-rc1/postgresql-42.7.14-rc1.jar").unlink()
    assert jars.driver(POSTGRESQL, repository=nowhere)["spark.jars"].endswith("/postgresql-42.7.13.jar")
