"""The application: routes, answers as HTML or JSON, and errors as pages."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import psycopg
from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pgrecall._plain import plain_text
from pgrecall.inspector import _actions, _context, _memories, _operation, _rpc, _sessions, _shown
from pgrecall.inspector._errors import describe, embedding_failures, status_of
from pgrecall.inspector._gate import Gate
from pgrecall.inspector._source import Source
from pgrecall.inspector._view import Inspector, Page, PageRoute, shortened

__all__ = ["inspector_app"]

_PAGES: tuple[PageRoute, ...] = (
    *_operation.PAGES, *_memories.PAGES, *_sessions.PAGES, *_context.PAGES, *_actions.PAGES,
    *_rpc.PAGES,
)  # fmt: skip


def inspector_app(
    source: Source, *, token: str, hosts: Sequence[str], where: str = "the database"
) -> ASGIApp:
    """Return the ASGI application of an inspector, behind its checks.

    Args:
        source: the database; the lifespan of the application opens and closes it.
        token: what a browser or a program must present.
        hosts: the values of the header Host that mean this server.
        where: a description of the database, for the pages.

    Raises:
        ValueError: the token is empty.
    """
    answers = _Answers(source, where)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with source:
            yield

    inspector = Inspector(source)
    routes = [Route("/style.css", answers.stylesheet)]
    routes += [
        Route(page.path, answers.of(inspector, page.handler), methods=[page.method])
        for page in _PAGES
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: answers.http_error,
            psycopg.Error: answers.database_error,
        },
    )
    return Gate(app, token=token, hosts=hosts)


@dataclass
class _Answers:
    """Makes answers, as HTML or, for `Accept: application/json`, as JSON."""

    source: Source
    where: str
    _templates: Environment = field(init=False)

    def __post_init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("pgrecall.inspector"),
            autoescape=True,
            finalize=_shown.inert,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        for name in ("cost", "duration", "hides", "moment", "origin", "pretty", "visible"):
            self._templates.filters[name] = getattr(_shown, name)
        style = resources.files("pgrecall.inspector") / "static" / "inspect.css"
        self._style = style.read_bytes()
        self._templates.globals["m"] = self._templates.get_template("macros.html").module
        self._templates.globals["style_hash"] = hashlib.sha256(self._style).hexdigest()[:16]

    def of(
        self, inspector: Inspector, handler: Callable[[Inspector, Request], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a page."""

        async def endpoint(request: Request) -> Response:
            try:
                found = await handler(inspector, request)
            except embedding_failures() as error:
                hint = "Nothing was changed. Try again when the embedding model answers."
                return self._error(request, 502, shortened(error), None, hint)
            return found if isinstance(found, Response) else self.page(request, found)

        return endpoint

    def page(self, request: Request, page: Page) -> Response:
        """Return a page in the form that the request asks for."""
        if wants_json(request):
            return _shown.json_response(page.data, page.status)
        html = self._templates.get_template(page.template).render(
            **page.data,
            base=f"/users/{page.data['user']['user_id']}" if "user" in page.data else "",
            page_title=plain_text(page.title),
            path=request.url.path,
            query=request.query_params,
            csrf=request.state.csrf,
            can_write=self.source.can_write,
            where=self.where,
        )
        return HTMLResponse(html, page.status)

    async def stylesheet(self, request: Request) -> Response:  # noqa: ARG002
        """Return the stylesheet."""
        return Response(self._style, media_type="text/css")

    def _error(
        self, request: Request, status: int, message: str, code: str | None, hint: str | None
    ) -> Response:
        error = {"message": message, "code": code, "hint": hint}
        page = Page("error.html", {"error": error}, title=message, status=status)
        return self.page(request, page)

    async def http_error(self, request: Request, error: Exception) -> Response:
        """Return the page of an address that there is not, or of a wrong method."""
        assert isinstance(error, HTTPException)  # noqa: S101
        return self._error(request, error.status_code, error.detail, None, None)

    async def database_error(self, request: Request, error: Exception) -> Response:
        """Return the page of a refused or failed call."""
        assert isinstance(error, psycopg.Error)  # noqa: S101
        described = describe(error)
        return self._error(
            request,
            status_of(error),
            described["message"] or "The call failed.",
            described["code"],
            described["hint"],
        )


def wants_json(request: Request) -> bool:
    """Return whether a request asks for JSON rather than a page."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted
