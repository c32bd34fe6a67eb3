"""The handlers of the worker in packaging/docker: an application puts its own in their place."""

from __future__ import annotations

import logging
from typing import Any

from pyqueue_sql.worker import Handlers

handlers = Handlers()
log = logging.getLogger(__name__)


@handlers.on("mail")
def send(mail: dict[str, Any]) -> None:
    """Send a mail."""
    log.info("mail for %s", mail["to"])
