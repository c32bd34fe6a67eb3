"""Whoever asks for a schema is in it, or isn't let in."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pyqueue_sql.calls import connect as connecting
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.calls.dialect import failure

if TYPE_CHECKING:
    from tests.conformance.harness import Harness

pytestmark = pytest.mark.servers("postgresql")
SCHEMA = 'another "one'


def _without_options(monkeypatch: pytest.MonkeyPatch, of: Any) -> list[Any]:
    """Do as a pooler with `ignore_startup_parameters = options`; returns where connections are noted."""
    real, made = of.connect, list[Any]()

    def ignoring(**settings: Any) -> Any:
        made.append(real(**{name: value for name, value in settings.items() if name != "options"}))
        return made[-1]

    monkeypatch.setattr(of, "connect", ignoring)
    return made


def test_what_the_url_sets_for_its_session_is_kept(harness: Harness) -> None:
    with connect(f"{harness.url}?options=-c%20work_mem%3D7MB", schema=SCHEMA) as connection:
        assert isinstance(connection, psycopg.Connection)
        found = connection.execute("select current_setting('work_mem'), current_setting('search_path')")
        assert found.fetchone() == ("7MB", '"another ""one", pg_temp')


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_connection_is_in_the_schema_and_in_no_transaction(harness: Harness, autocommit: bool) -> None:
    with connect(harness.url, schema=SCHEMA, autocommit=autocommit) as connection:
        assert isinstance(connection, psycopg.Connection)
        assert connection.autocommit == autocommit
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        found = connection.execute("show search_path").fetchone()
        assert found == ('"another ""one", pg_temp',)


def test_who_would_be_in_another_is_not_let_in(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _without_options(monkeypatch, psycopg)
    with pytest.raises(ConnectionFailed, match="ignores startup parameters") as raised:
        connect(harness.url, schema=SCHEMA)
    assert not raised.value.away
    assert [one.closed for one in made] == [True]
    connect(harness.url).close()


LET_IN = b"R" + (8).to_bytes(4, "big") + bytes(4) + b"Z" + (5).to_bytes(4, "big") + b"I"
"""What a server of PostgreSQL says at the end of a login: nothing is wanted any more, and it is ready."""


def test_a_server_that_lets_in_and_then_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def let_in() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65536)
                client.sendall(LET_IN)
                while client.recv(65536):
                    pass

        threading.Thread(target=let_in, daemon=True).start()
        port = listener.getsockname()[1]
        url = f"postgresql://me@127.0.0.1:{port}/app?sslmode=disable&gssencmode=disable&connect_timeout=60"
        with pytest.raises(psycopg.OperationalError) as raised:
            connect(url, schema=SCHEMA)
    said = failure(raised.value)
    assert said is not None
    assert said.lost
