"""Throw-away MariaDB and MySQL servers for a run of the tests; PostgreSQL has `pyqueue_sql.embedded`.

A server comes from the URL that the user gives, else from binaries on PATH, else from the packages of Debian,
unpacked in the user's cache and not installed (neither needs root), else from a container where Docker runs.
"""

from tests.servers.starting import Running, UnavailableError, start

__all__ = ["Running", "UnavailableError", "start"]

import pytest

POSTGRESQL = pytest.StashKey[list[str]]()
"""Which PostgreSQL there was, for the report."""
