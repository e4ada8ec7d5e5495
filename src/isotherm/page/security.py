"""Who may ask: only those who know the token, from this page, by a name of this machine.

Another site, open in the same browser, can send requests here. It does not know the token; the
cookie does not travel with its requests (SameSite), and would not help: what changes something must
say that it comes from this page (Origin). A name that an attacker points at this machine (DNS
rebinding) is not among those that are answered (Host).
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse

from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
RATE, BURST = 200.0, 600.0  # requests a second, and at once
SHORTEST_TOKEN = 16
LET_IN = "isotherm.let_in"  # in the scope of a request that was not refused


def check_host(host: str, token: str | None) -> None:
    """Refuse to be reached from other machines without a token that was chosen for it.

    Raises
    ------
    ParameterError
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ParameterError(
            f"--token needs at least {SHORTEST_TOKEN} characters, got {len(token)}"
        )
    if token is not None and not re.fullmatch("[A-Za-z0-9_.~-]+", token):
        raise ParameterError("--token may only have letters, digits and - . _ ~")
    if host not in LOOPBACK and token is None:
        raise ParameterError(
            f"--host {host} lets other machines connect: choose a token for them with --token, of "
            f"at least {SHORTEST_TOKEN} characters"
        )


@dataclass
class Bucket:
    """Lets so many through a second, and some more at once.

    Examples
    --------
    >>> bucket = Bucket(rate=1.0, burst=2.0)
    >>> [bucket.take(now) for now in (0.0, 0.0, 0.0, 1.5)]
    [True, True, False, True]
    """

    rate: float = RATE
    burst: float = BURST
    _left: float = field(init=False)
    _then: float = field(init=False, default=-1.0)

    def __post_init__(self) -> None:
        self._left = self.burst

    def take(self, now: float) -> bool:
        """Whether one more may pass."""
        if self._then >= 0:
            self._left = min(self.burst, self._left + (now - self._then) * self.rate)
        self._then = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Guard:
    """Everything that comes in goes through here first.

    Parameters
    ----------
    app : ASGIApp
    token : str
    host : str
        What the server listens on.
    port : int
    """

    def __init__(self, app: ASGIApp, token: str, host: str, port: int) -> None:
        self._app, self._token, self._port = app, token, port
        self._is_local = host in LOOPBACK
        self._names = {*LOOPBACK, host.lower()}
        if not self._is_local:
            self._names.add(socket.gethostname().lower())
        self._bucket = Bucket()
        self.cookie = f"isotherm-{port}"  # cookies do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no WebSockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        refusal = self._refusal(scope, headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, guarded)
        elif scope["path"] == "/" and scope["query_string"]:
            await self._enter(scope, receive, guarded)
        elif not self._is_known(headers):
            text = "open the address that `isotherm label` has printed: it includes the token"
            await PlainTextResponse(text, 401)(scope, receive, guarded)
        elif not self._bucket.take(time.monotonic()):  # nobody else uses up what the user may ask
            text = "too many requests at once: wait a second"
            await PlainTextResponse(text, 429)(scope, receive, guarded)
        else:
            scope[LET_IN] = True
            await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Why a request is not even looked at."""
        if not self._is_own_name(headers.get("host", "")):
            return 421, "the labelling page does not answer to this host name"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "only GET, HEAD and POST are allowed"
        site = headers.get("sec-fetch-site", "none")
        is_link = scope["path"] == "/" and headers.get("sec-fetch-dest", "document") == "document"
        if not is_link and site not in ("same-origin", "none"):
            return 403, "requests from other sites are refused"
        own = f"http://{headers['host']}"
        if headers.get("origin", own) != own:
            return 403, "requests from other sites are refused"
        if scope["method"] == "POST" and "origin" not in headers and not self._has_bearer(headers):
            return 403, "a request that changes something must name its origin or carry the token"
        return None

    def _is_own_name(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        if port != str(self._port):
            return False
        name = name.strip("[]").lower()
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not self._is_local  # a number cannot be pointed elsewhere, a name can

    def _is_known(self, headers: dict[str, str]) -> bool:
        if self._has_bearer(headers):
            return True
        # By hand: SimpleCookie takes a minute for a hostile one, and reads none after an odd one.
        given = (part.partition("=") for part in headers.get("cookie", "").split(";"))
        own = (value.strip() for name, _, value in given if name.strip() == self.cookie)
        return any(map(self._is_token, own))

    def _has_bearer(self, headers: dict[str, str]) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self._is_token(token.strip())

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._token.encode())

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The token of the address becomes a cookie, and leaves the address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if not self._is_token(given[0]):
            text = "the token is wrong; open the address that `isotherm label` has printed"
            await PlainTextResponse(text, 401)(scope, receive, send)
            return
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie, self._token, httponly=True, samesite="strict", path="/")
        await answer(scope, receive, send)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers of a request; of one that comes twice all, so that no check sees only one."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        joined = "; " if name == "cookie" else ", "
        found[name] = f"{found[name]}{joined}{text}" if name in found else text
    return found
