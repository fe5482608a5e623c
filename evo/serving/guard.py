"""Access control of the web server: HTTP methods, hosts, origins and the access token."""

import hmac
import re
from contextlib import suppress
from urllib.parse import quote, urlencode, urlsplit

from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE_PREFIX = "manaforge_token"
"""Prefix of the token cookie's name; the port follows, since cookies are shared between ports."""

MAX_POST_BYTES = 4_000
"""Maximum size of a POST body, in bytes."""

TOO_LONG = f"the request is too long: at most {MAX_POST_BYTES:,} bytes, with Content-Length"
"""Response to a longer body, and to one without a declared size."""

OTHER_SITE = "requests from pages of other sites are not allowed"
"""Response to a request that another site's page makes."""

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._-]+))(?::[0-9]{1,5})?")
"""A Host header: a name, or an IPv6 address in brackets, and an optional port."""

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # charts position their parts by inline styles
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy of every response: only scripts from the server's own files."""

SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with `no-referrer`, browsers send no origin with a posted form
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class AccessControl:
    """ASGI middleware that rejects requests without the token, from other origins or to other hosts.

    Args:
        app: the application behind it.
        token: access token of every request: in the URL once, then as a cookie.
        hosts: accepted host names, without ports; empty for any.
        posts: prefix of the paths that accept POST; "" for none.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str], posts: str = "") -> None:
        self._app, self._hosts, self._token, self._posts = app, hosts, token, posts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or reject it."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
            with suppress(LocalProtocolError):  # the client closed the connection: no response is read
                await send(message)

        status, why = self._rejection(scope)
        if status:
            await PlainTextResponse(f"{why}\n", status)(scope, receive, with_headers)
        elif self._url_token(scope):
            await self._redirect_without_token(scope)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _redirect_without_token(self, scope: Scope) -> Response:
        """Redirect to the URL without the token, and set the token as a cookie, since users share URLs.

        The path starts with a single slash: after two, browsers read a host name.
        """
        items = QueryParams(scope["query_string"]).multi_items()
        rest = [(name, text) for name, text in items if name != "token"]
        query = f"?{urlencode(rest)}" if rest else ""
        path = quote(str(scope["path"]).lstrip("/\\"))
        answer = RedirectResponse(f"/{path}{query}", 303)
        answer.set_cookie(_cookie_name(scope), self._token, httponly=True, samesite="strict")
        return answer

    def _rejection(self, scope: Scope) -> tuple[int, str]:
        """HTTP status and reason for rejecting a request; status 0 to accept it."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if self._hosts and _host_name(host) not in self._hosts:
            return 403, "unknown host name: use the address that the server printed when it started"
        posted = method == "POST" and bool(self._posts) and str(scope["path"]).startswith(self._posts)
        if method not in ("GET", "HEAD") and not posted:
            return 405, "method not allowed: use GET or HEAD"
        origin = headers.get("origin")
        if origin is not None and _host_of_origin(origin) != host:
            return 403, OTHER_SITE
        if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site") and (
            posted or headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, OTHER_SITE
        if posted and origin is None:
            return 403, "a POST request needs an Origin header"
        if posted and ("transfer-encoding" in headers or not _is_short(headers.get("content-length", ""))):
            return 413, TOO_LONG
        if not any(
            hmac.compare_digest(token.encode(), self._token.encode())
            for token in (self._url_token(scope), _cookie(headers.get("cookie", ""), _cookie_name(scope)))
        ):
            return 403, "missing or wrong token: open the address with ?token=... that the server printed"
        return 0, ""

    @staticmethod
    def _url_token(scope: Scope) -> str:
        """Access token in the URL; "" if missing."""
        return QueryParams(scope["query_string"]).get("token", "")


def _is_short(length: str) -> bool:
    """Whether a Content-Length is a valid number of at most `MAX_POST_BYTES` bytes."""
    return length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= MAX_POST_BYTES


def _host_name(host: str) -> str:
    """Host name without the port, in lower case; "" if the header is malformed."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


def _host_of_origin(origin: str) -> str:
    """Host and port of an Origin header; "" if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _cookie_name(scope: Scope) -> str:
    """Name of this server's token cookie, which contains the port."""
    server = scope.get("server")
    return f"{COOKIE_PREFIX}_{server[1]}" if server else COOKIE_PREFIX


def _cookie(text: str, name: str) -> str:
    """Access token in a Cookie header; "" if missing."""
    return cookie_parser(text).get(name, "")
