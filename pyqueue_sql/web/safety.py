"""Who may do what on the page, and what a browser may do with it."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.datastructures import Headers

LEAST = 16
"""Characters of a token."""
SESSION_S = 12 * 3600
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # not no-referrer: with that a browser says of its own forms, too, that they come from null
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""On each answer."""


class Token:
    """The token, and the sessions of those who gave it. A session is a signed time, so none is kept.

    Args:
        secret: the token.

    Raises:
        ValueError: it is too short.
    """

    def __init__(self, secret: str) -> None:
        if len(secret) < LEAST:
            raise ValueError(f"token: it has {len(secret)} characters, and at least {LEAST} are needed")
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return "Token(…)"

    def opens(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(self._secret, given.encode(errors="surrogatepass"))

    def session(self) -> str:
        """Return a new session."""
        until = str(int(time.time()) + SESSION_S)
        return f"{until}.{self._signed('session', until)}"

    def holds(self, session: str | None) -> bool:
        """Whether this is a session that was given out and hasn't ended."""
        until, _, signature = (session or "").partition(".")
        signed = _same(self._signed("session", until), signature)
        return signed and until.isdigit() and int(until) > time.time()

    def form(self, session: str) -> str:
        """Return what a form of this session carries, which no other site can know."""
        return self._signed("form", session)

    def owns(self, form: str, session: str) -> bool:
        """Whether a form is of this session."""
        return _same(self.form(session), form)

    def _signed(self, what: str, text: str) -> str:
        found = f"{what} {text}".encode(errors="surrogatepass")
        return hmac.new(self._secret, found, hashlib.sha256).hexdigest()


def _same(expected: str, given: str) -> bool:
    """Whether two texts are the same, in a time that says nothing of where they differ."""
    return hmac.compare_digest(expected.encode(), given.encode(errors="surrogatepass"))


def is_own(headers: Headers) -> bool:
    """Whether a request that changes something comes from a page of ours, as far as a browser says."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
