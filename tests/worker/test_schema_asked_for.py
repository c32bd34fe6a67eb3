"""Whoever asks for a schema is in it, or isn't let in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pyqueue_sql.calls.connect import ConnectionFailed, connect

if TYPE_CHECKING:
    from tests.conformance.harness import Harness

pytestmark = pytest.mark.servers("postgresql")
SCHEMA = 'another "one'


def _without_options(monkeypatch: pytest.MonkeyPatch, of: Any) -> None:
    """Do as a pooler with `ignore_startup_parameters = options`."""
    real = of.connect

    def ignoring(**settings: Any) -> Any:
        return real(**{name: value for name, value in settings.items() if name != "options"})

    monkeypatch.setattr(of, "connect", ignoring)


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_connection_is_in_the_schema_and_in_no_transaction(harness: Harness, autocommit: bool) -> None:
    with connect(harness.url, schema=SCHEMA, autocommit=autocommit) as connection:
        assert isinstance(connection, psycopg.Connection)
        assert connection.autocommit == autocommit
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        found = connection.execute("show search_path").fetchone()
        assert found == ('"another ""one", pg_temp',)


def test_who_would_be_in_another_is_not_let_in(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_options(monkeypatch, psycopg)
    with pytest.raises(ConnectionFailed, match="ignores startup parameters") as raised:
        connect(harness.url, schema=SCHEMA)
    assert not raised.value.away
    connect(harness.url).close()
