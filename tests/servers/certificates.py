"""The system's certificates, read once: PyMySQL reads them for each connection and checks none by them.

That was nine tenths of what a connection to MariaDB or MySQL took, and a test opens several. The connections
are still encrypted where the server can do that.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymysql.connections import Connection

if TYPE_CHECKING:
    import ssl

MAKES = "_create_ssl_ctx"


def read_once() -> None:
    """Have all connections of this process that say nothing about certificates share one context."""
    make: Any = getattr(Connection, MAKES)

    @functools.cache
    def shared() -> ssl.SSLContext:
        return make(None, {})

    def context(connection: Connection[Any], given: Any) -> ssl.SSLContext:
        return make(connection, given) if given else shared()

    setattr(Connection, MAKES, context)
