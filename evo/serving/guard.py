"""Who may ask the server for what: methods, hosts, origins, and the token."""

import hmac
import re
from contextlib import suppress
from urllib.parse import quote, urlencode, urlsplit

from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "manaforge_token"
"""Begins the name of the cookie with the token; the port follows, since cookies know no ports."""

LONGEST_POST = 4_000
"""Bytes of what is posted."""

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._-]+))(?::[0-9]{1,5})?")
"""A host as requests name it: an address of IPv6 in brackets or a name, then perhaps a port; nothing else."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # charts place their parts by style
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy of every response: no script but files of the server."""

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none, browsers do not say from which page a form is posted
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Refuses what a stranger's page or machine may ask for, before anything is read.

    Args:
        app: what answers the others.
        token: that every request must bring, in the address once and then as a cookie.
        hosts: names by which the server may be called, without ports; empty for any.
        posts: the beginning of addresses that may be posted to; "" for none.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str], posts: str = "") -> None:
        self._app, self._hosts, self._token, self._posts = app, hosts, token, posts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            with suppress(LocalProtocolError):  # its request broke off: nobody reads an answer
                await send(message)

        status, why = self._refusal(scope)
        if status:
            await PlainTextResponse(f"{why}\n", status)(scope, receive, with_headers)
        elif self._asked(scope):
            await self._without_token(scope)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _without_token(self, scope: Scope) -> Response:
        """The same address without the token, which is a cookie from now on; addresses are shared.

        It begins with one stroke: after two, browsers read the name of another server.
        """
        asked = QueryParams(scope["query_string"]).multi_items()
        rest = [(name, text) for name, text in asked if name != "token"]
        query = f"?{urlencode(rest)}" if rest else ""
        path = quote(str(scope["path"]).lstrip("/\\"))
        answer = RedirectResponse(f"/{path}{query}", 303)
        answer.set_cookie(_cookie_name(scope), self._token, httponly=True, samesite="strict")
        return answer

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        """The status and the reason for which a request is refused; 0 for none."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if self._hosts and _name_of(host) not in self._hosts:
            return 403, "this server is not called that"
        posted = method == "POST" and bool(self._posts) and str(scope["path"]).startswith(self._posts)
        if method not in ("GET", "HEAD") and not posted:
            return 405, "this server only shows"
        origin = headers.get("origin")
        if origin is not None and _place_of(origin) != host:
            return 403, "another page may not ask this server"
        if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site") and (
            posted or headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, "another page may not ask this server"
        if posted and origin is None:
            return 403, "what is posted must say from which page"
        if posted and ("transfer-encoding" in headers or not _is_short(headers.get("content-length", ""))):
            return 413, "that is too long"
        if not any(
            hmac.compare_digest(known.encode(), self._token.encode())
            for known in (self._asked(scope), _cookie(headers.get("cookie", ""), _cookie_name(scope)))
        ):
            return 403, "the address needs ?token=..., which the server printed when it started"
        return 0, ""

    @staticmethod
    def _asked(scope: Scope) -> str:
        """The token in the address."""
        return QueryParams(scope["query_string"]).get("token", "")


def _is_short(length: str) -> bool:
    """Whether a body of this length is read."""
    return length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= LONGEST_POST


def _name_of(host: str) -> str:
    """A host's name without its port; "" for what is none."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


def _place_of(origin: str) -> str:
    """Host and port of an origin; "" for what is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _cookie_name(scope: Scope) -> str:
    """The name of the cookie of this server, whose port is in it."""
    server = scope.get("server")
    return f"{COOKIE}_{server[1]}" if server else COOKIE


def _cookie(text: str, name: str) -> str:
    """The token in the cookies."""
    return cookie_parser(text).get(name, "")
