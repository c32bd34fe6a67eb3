"""Java and the drivers are found, or a message says how to get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
