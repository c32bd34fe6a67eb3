"""The JDBC drivers for the tests: those of the system, else out of Debian's packages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql.spark import jars
from tests.servers.binaries import UnavailableError, unpacked_jar
from tests.servers.plugin import REQUIRE, required

if TYPE_CHECKING:
    from collections.abc import Iterator

URLS = {
    "postgresql": "postgresql://localhost/app",
    "mariadb": "mysql://localhost/app",
    "mysql": "mysql://localhost/app",
}
MISSING = pytest.StashKey[dict[str, str]]()


@dataclass
class Drivers:
    """What was found."""

    jars: list[str] = field(default_factory=list[str])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Why there is none for a server."""


def find_drivers(config: pytest.Config) -> Drivers:
    """Return the drivers, and have the end of the report say which are missing; else as `look`."""
    found = look()
    config.stash[MISSING] = found.missing
    return found


def look() -> Drivers:
    """Return the drivers.

    Raises:
        pytest.UsageError: one isn't there, and JDBC is required.
    """
    found = Drivers()
    for name, url in URLS.items():
        try:
            found.jars += [jar for jar in _jars(name, url) if jar not in found.jars]
        except (jars.NotFound, UnavailableError) as error:
            found.missing[name] = str(error)
            if "jdbc" in required():
                raise pytest.UsageError(f"{REQUIRE} names jdbc: {error}") from None
    return found


def _jars(name: str, url: str) -> Iterator[str]:
    try:
        yield from jars.driver(url).values()
    except jars.NotFound:
        package = "libpostgresql-jdbc-java" if name == "postgresql" else "libmariadb-java"
        yield from map(str, unpacked_jar(package))
