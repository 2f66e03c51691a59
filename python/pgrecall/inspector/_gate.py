"""The checks before every request, and the headers of every answer.

- The header Host must name this server; another one is a DNS rebinding.
- A request needs the token, since other local accounts reach the port: as `?token=` in the address
  that the command prints, which becomes a cookie at once, or as a bearer token.
- A request that may write comes from a page of this server: it has the page's CSRF token, and a
  browser names no other origin. A bearer token replaces both, because no browser adds it by itself.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrecall.integrations._http import same_token

__all__ = ["MAX_BODY", "Gate", "form_of"]

MAX_BODY = 1 << 20  # bytes of a request

# With no-referrer a browser would send "Origin: null" with the forms of our own pages.
_HEADERS = {
    b"content-security-policy": b"default-src 'none'; style-src 'self'; form-action 'self'; "
    b"base-uri 'none'; frame-ancestors 'none'",
    b"cache-control": b"no-store",
    b"referrer-policy": b"same-origin",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_READS = ("GET", "HEAD")
_CLOSED = (
    "This inspector needs its token. Open the address that `pgrecall inspect` printed, or send the "
    "token as a bearer token."
)


class Gate:
    """An ASGI application that lets requests with the token through to another.

    Args:
        app: the application behind it.
        token: what `?token=` or a bearer token must be.
        hosts: the values of the header Host that mean this server.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: Sequence[str]) -> None:
        if not token.strip():
            raise ValueError("the token is empty")
        self._app = app
        self._token = token
        self._hosts = {host.lower() for host in hosts}
        self._session = secrets.token_urlsafe(32)
        # Browsers send a cookie to every port of a host: each server has a name of its own.
        self._cookie = f"pgrecall_inspect_{secrets.token_hex(4)}"
        self.csrf = hmac.digest(self._session.encode(), b"csrf", hashlib.sha256).hex()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                added = [item for item in _HEADERS.items() if item[0] not in own]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        request = Request(scope, receive)
        refused = self._refused(request)
        if refused is None and request.method not in _READS:
            body = await _body(request)
            if body is None:
                refused = _problem(413, f"The request has more than {MAX_BODY} bytes.")
            else:
                refused = self._forged(request, body)
                receive = _replayed(body, receive)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
            return
        scope.setdefault("state", {})["csrf"] = self.csrf
        await self._app(scope, receive, send_with_headers)

    def _refused(self, request: Request) -> Response | None:
        """Return the answer to a request without the right host or token, else None."""
        if request.headers.get("host", "").lower() not in self._hosts:
            return _problem(
                400,
                "The header Host names another server.",
                "Start pgrecall inspect with --allow-host for a reverse proxy.",
            )
        if "token" in request.query_params and request.method in _READS:
            return self._entered(request)
        if self._has_bearer(request):
            return None
        if _is_foreign(request):
            return _problem(403, "A page of another server has sent this request.")
        if not same_token(request.cookies.get(self._cookie, ""), self._session):
            return _problem(401, _CLOSED)
        return None

    def _entered(self, request: Request) -> Response:
        """Exchange the token in an address for a cookie, and take it out of the address."""
        if not same_token(request.query_params["token"], self._token):
            return _problem(401, "The token is wrong. " + _CLOSED)
        rest = [item for item in request.query_params.multi_items() if item[0] != "token"]
        # one slash: //name would lead to another server
        path = "/" + quote(request.url.path.lstrip("/\\"), safe="/:@-._~")
        path += "?" + urlencode(rest) if rest else ""
        response: Response = RedirectResponse(path, 303)
        if _is_foreign(request):
            # A redirect still counts as a request of the page or file with the link, to which the
            # browser adds no strict cookie. A refresh counts as a request of this server.
            response = PlainTextResponse("Opening the inspector.\n")
            response.headers["refresh"] = f"0; url={path}"
        response.set_cookie(self._cookie, self._session, path="/", httponly=True, samesite="strict")
        return response

    def _has_bearer(self, request: Request) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and same_token(given.strip(), self._token)

    def _forged(self, request: Request, body: bytes) -> Response | None:
        """Return the answer to a request that no page of this server has sent, else None."""
        if self._has_bearer(request):
            return None
        origin = request.headers.get("origin")
        own = request.headers["host"].lower()
        if origin is not None and origin.partition("://")[2].lower() != own:
            return _problem(403, "A page of another server has sent this form.")
        given = request.headers.get("x-csrf-token") or form_of(request, body).get("csrf", "")
        if not same_token(given, self.csrf):
            return _problem(
                403,
                "The form has no valid CSRF token.",
                "Load the page again; the server may have been restarted.",
            )
        return None


def _is_foreign(request: Request) -> bool:
    """Return whether a page of another origin, or a file, has sent a request.

    Another port of the same host is the same site, which SameSite does not tell apart.
    """
    return request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def form_of(request: Request, body: bytes) -> dict[str, str]:
    """Return the fields of a form; none for a body of another type, or one that is no UTF-8."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def _problem(status: int, message: str, hint: str = "") -> Response:
    return PlainTextResponse(f"{message} {hint}".strip() + "\n", status)


async def _body(request: Request) -> bytes | None:
    """Return the body, None when it is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read before."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
