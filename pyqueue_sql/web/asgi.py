"""The ASGI application: its routes, who may come in, and what is said where something fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pyqueue_sql import QueueError
from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.overview import ACTIONS, Gone, NotSeen, act
from pyqueue_sql.web.pages import PAGES, Site
from pyqueue_sql.web.safety import HEADERS, SESSION_S, Token, is_own

COOKIE = "pyqueue_session"
SAID = "pyqueue_said"
MOST = 64 * 1024
"""Bytes of a form."""
SAID_MOST = 300
HERE = Path(__file__).parent


def web_app(
    url: str,
    schema: str | None = None,
    *,
    actions: bool = False,
    token: str | None = None,
    private: bool = False,
    hosts: Sequence[str] | None = None,
) -> Starlette:
    """Return an ASGI application that shows a queue.

    Mount it: `app.mount("/queue", web_app(url))` in Starlette and FastAPI. It reads only, unless `actions` is
    set. What it shows is what the login in the URL may see: with the role `queue_observer` nothing that is in
    messages.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        schema: where the queue is; None: the current schema.
        actions: whether who gives the token may retry, remove, redrive, pause and resume.
        token: the token, of at least 16 characters.
        private: whether who doesn't give the token sees nothing, either.
        hosts: by which names it may be called, as `queue.example.org` or `*.example.org`; None: by any. Name
            them where it is served without a token, or another site could come to have a name for it.

    Raises:
        ValueError: the token is missing or too short.
    """
    if token is None and (actions or private):
        raise ValueError(f"token: None, and {'actions' if actions else 'private'} needs one")
    guard = _Guard(url, schema, actions, None if token is None else Token(token), private)
    routes = [
        Mount("/static", StaticFiles(directory=HERE / "static")),
        Route("/login", guard.login, methods=["GET", "POST"]),
        Route("/logout", guard.logout, methods=["POST"]),
        Route("/act", guard.act, methods=["POST"]),
        *(Route(path, guard.page(page), methods=["GET"]) for path, page in PAGES.items()),
    ]
    middleware = [Middleware(_Headers)]
    if hosts is not None:
        middleware.append(Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False))
    return Starlette(
        routes=routes,
        middleware=middleware,
        exception_handlers={HTTPException: guard.refused, Exception: guard.failed},
    )


class _Headers:
    """Puts our headers on each answer, those of errors and files too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        await self._app(scope, receive, with_headers)


class _Guard:
    """Lets in who may come in, and answers."""

    def __init__(
        self, url: str, schema: str | None, actions: bool, token: Token | None, private: bool
    ) -> None:
        self._site = Site(url, schema)
        self._url, self._schema, self._actions, self._token = url, schema, actions, token
        self._private = private

    def page(
        self, show: Callable[[Site, Request], tuple[str, dict[str, Any]]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a page."""

        async def endpoint(request: Request) -> Response:
            if self._private and not self._session(request):
                return self._to(request, f"/login?back={quote(self._path(request), safe='')}")
            try:
                name, values = await run_in_threadpool(show, self._site, request)
            except Exception as error:
                return self._failure(request, error)
            return self._answer(request, name, **values)

        return endpoint

    async def login(self, request: Request) -> Response:
        """Take the token, and give a session for it."""
        if self._token is None:
            raise HTTPException(404)
        back = _local(request.query_params.get("back", "/"))
        wrong = False
        if request.method == "POST":
            form = await self._form(request)
            back = _local(form.get("back", "/"))
            wrong = not self._token.opens(form.get("token", ""))
            if not wrong:
                found = self._to(request, back)
                found.set_cookie(
                    COOKIE,
                    self._token.session(),
                    max_age=SESSION_S,
                    path=_root(request) or "/",
                    secure=request.url.scheme == "https",
                    httponly=True,
                    samesite="strict",
                )
                return found
        return self._answer(request, "login.html", 403 if wrong else 200, back=back, wrong=wrong)

    async def logout(self, request: Request) -> Response:
        """End a session, in this browser."""
        await self._form(request)
        found = self._to(request, "/")
        found.delete_cookie(COOKIE, path=_root(request) or "/")
        return found

    async def act(self, request: Request) -> Response:
        """Do something, after a question."""
        if not self._actions or self._token is None:
            raise HTTPException(403, "This page only reads: nothing can be changed from here.")
        session = self._session(request)
        form = await self._form(request)
        back = _local(form.get("back", "/"))
        if not session:
            return self._to(request, f"/login?back={quote(back, safe='')}")
        if not self._token.owns(form.get("form", ""), session):
            raise HTTPException(403, "This form isn't of this session: go back and load its page again.")
        action, kind, key = form.get("action", ""), form.get("kind", ""), form.get("key", "")
        if action not in ACTIONS:
            raise HTTPException(400, f"action: {action[:40]!r} is none of {', '.join(ACTIONS)}")
        if form.get("sure") != "yes":
            return self._answer(request, "sure.html", action=action, kind=kind, key=key, back=back)
        try:
            said = await run_in_threadpool(act, self._url, self._schema, action, kind, key)
        except Exception as error:
            return self._failure(request, error)
        self._site.watch.forget()
        found = self._to(request, back)
        found.set_cookie(
            SAID,
            quote(said[:SAID_MOST]),
            max_age=30,
            path=_root(request) or "/",
            httponly=True,
            samesite="strict",
        )
        return found

    async def refused(self, request: Request, error: Exception) -> Response:
        """Say why a request isn't answered."""
        assert isinstance(error, HTTPException)
        return self._answer(request, "error.html", error.status_code, said=error.detail)

    async def failed(self, request: Request, error: Exception) -> Response:  # noqa: ARG002 -- it is logged, and raised
        """Say that something failed, and not what: that is in the log."""
        return self._answer(
            request, "error.html", 500, said="Something failed; the log of the server says what."
        )

    def _failure(self, request: Request, error: Exception) -> Response:
        """Say what the database says; what isn't of it goes on."""
        if isinstance(error, ConnectionFailed):
            return self._answer(request, "error.html", 503, said=str(error))
        if isinstance(error, NotSeen):
            said = f"{error}. The role queue_observer may look."
            return self._answer(request, "error.html", 403, said=said)
        if isinstance(error, Gone | QueueError):
            return self._answer(request, "error.html", 409, said=str(error))
        found = dialect.failure(error)
        if found is None:
            raise error
        return self._answer(request, "error.html", 503 if found.lost else 409, said=found.message)

    def _answer(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        session = self._session(request)
        said = unquote(request.cookies.get(SAID, ""))
        text = self._site.render(
            template,
            root=_root(request),
            path=self._path(request),
            here=request.url.path.removeprefix(_root(request)),
            may_act=self._actions and bool(session),
            has_token=self._token is not None,
            session=session,
            form=self._token.form(session) if self._token and session else "",
            said_before=said,
            **values,
        )
        found = HTMLResponse(text, status)
        if said:
            found.delete_cookie(SAID, path=_root(request) or "/")
        return found

    def _session(self, request: Request) -> str:
        found = request.cookies.get(COOKIE, "")
        return found if self._token is not None and self._token.holds(found) else ""

    def _to(self, request: Request, path: str) -> RedirectResponse:
        return RedirectResponse(_root(request) + path, 303)

    def _path(self, request: Request) -> str:
        path = request.url.path.removeprefix(_root(request)) or "/"
        return path + (f"?{request.url.query}" if request.url.query else "")

    async def _form(self, request: Request) -> dict[str, str]:
        if not is_own(request.headers):
            raise HTTPException(403, "This form comes from another site.")
        found = bytearray()
        async for part in request.stream():
            found += part
            if len(found) > MOST:
                raise HTTPException(413, f"The form is longer than {MOST} bytes.")
        return {name: values[0] for name, values in parse_qs(found.decode(errors="replace"), True).items()}


def _root(request: Request) -> str:
    """Return where this application is mounted, without a slash at the end; empty: at the root."""
    return request.scope.get("root_path", "")


def _local(path: str) -> str:
    """Return a path of this application, whatever was given for one."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_ours and path.isprintable() else "/"
