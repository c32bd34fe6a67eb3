"""A queue as a page: an ASGI application to mount, and `pyqueue web`. See docs/web.md."""

from pyqueue_sql.web.asgi import web_app

__all__ = ["web_app"]
