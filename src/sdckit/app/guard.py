"""The guard in front of the app: who comes without the cookie of this start, or from elsewhere, gets nothing.

Every request passes here first, pages, files, uploads and the websocket alike. Shiny itself takes any host, any origin
and uploads of any size.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from sdckit.data.files.whole_files import FULL, number_of, reason_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE = ("GET", "HEAD")
AGAIN = "/again"  # where the program of the same user asks for a fresh address
KEPT = 30 * 24 * 3600  # seconds that a browser keeps the cookie; it is worth nothing once the program has ended
LONGEST = 2**20  # bytes of what the program says
MOST = 8  # fresh addresses that nobody has visited yet
FAILED, FULL_DISK = 500, 507
REFUSED = 1008  # of a websocket: against the policy
OWN_SITE = ("", "same-origin", "none")  # what a browser says of a page that may ask

HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class _TooLargeError(Exception):
    """An upload passed the limit."""


class Guard:
    """An ASGI application around another.

    Parameters
    ----------
    port
        Where it listens, on 127.0.0.1; no other name of a host is taken.
    limit
        The most bytes that one upload may have.

    Attributes
    ----------
    secret
        Who says it is given a fresh address; it stands in a file that only this user may read.
    entered
        Is called when a fresh address is visited, with what was said as it was asked for.
    """

    def __init__(self, *, port: int, limit: int) -> None:
        self._app: App = _nobody
        self.limit = limit
        self.secret = secrets.token_urlsafe(32)
        self.entered: Callable[[bytes], None] = _unheard
        self.host = f"127.0.0.1:{port}"
        self.origin = f"http://{self.host}"
        self.token = secrets.token_urlsafe(32)
        self._tokens = {self.token: b""}  # those that are left, with what was said as they were asked for
        self._cookie = f"sdckit-{port}"
        self._pass = secrets.token_urlsafe(32)
        self._headers = [(b"content-security-policy", _policy(self.host, ()).encode()), *HEADERS]

    def stand_before(self, app: App, *, scripts: Iterable[str] = ()) -> None:
        """Guard this application; its pages may run the inline scripts of these hashes ("sha256-…"), and no others."""
        self._app = app
        self._headers = [(b"content-security-policy", _policy(self.host, scripts).encode()), *HEADERS]

    @property
    def address(self) -> str:
        """Where the first visit goes; the token is good for one."""
        return f"{self.origin}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers_of(scope)
        if scope["type"] == "websocket":
            if self._comes_from_here(headers) and headers.get("origin") == self.origin and self._known(headers):
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": REFUSED})
            return
        await self._http(scope, headers, receive, self._with_headers(send))

    async def _http(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        if headers.get("host") != self.host:
            return await _answer(send, 403, "This address is not the app's own.")
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and token and scope["method"] == "GET":
            return await self._enter(token, headers, send)
        if scope["path"] == AGAIN and scope["method"] == "POST":
            return await self._again(headers, receive, send)
        if not self._comes_from_here(headers) or (scope["method"] not in SAFE and headers.get("origin") != self.origin):
            return await _answer(send, 403, "Another page may not ask this one.")
        if not self._known(headers):
            return await _answer(send, 403, "Open the address that the program printed when it started.")
        return await self._counted(scope, headers, receive, send)

    async def _enter(self, token: str, headers: dict[str, str], send: Send) -> None:
        """Exchange the token for the cookie, once, and go on without it.

        The page goes on by itself instead of being redirected: after a redirect from elsewhere a browser keeps a
        strict cookie back.
        """
        token = next((left for left in self._tokens if compare_digest(token.encode(), left.encode())), "")
        known = self._known(headers)
        if not token and not known:
            return await _answer(
                send, 403,
                "This address is wrong, or it was used before. Start sdckit app again; if it was not you who used it, "
                "somebody else on this machine did.",
            )  # fmt: skip
        if told := self._tokens.pop(token, b""):
            self.entered(told)
        cookie = f"{self._cookie}={self._pass}; HttpOnly; SameSite=Strict; Path=/; Max-Age={KEPT}"
        return await _onward(send, [] if known else [(b"set-cookie", cookie.encode())], "/?new" if told else "/")

    async def _again(self, headers: dict[str, str], receive: Receive, send: Send) -> None:
        """Give the program of the same user a token, for the secret; no page of a browser may ask."""
        said = headers.get("authorization", "").encode()
        if {"origin", "sec-fetch-site"} & set(headers) or not compare_digest(said, f"Bearer {self.secret}".encode()):
            return await _answer(send, 403, "Only the program itself may ask this.")
        told, more = b"", True
        while more and len(told) <= LONGEST:
            message = await receive()
            told += message.get("body", b"")
            more = message.get("more_body", False)
        if len(told) > LONGEST:
            return await _answer(send, 413, "That is too long.")
        token = secrets.token_urlsafe(32)
        self._tokens = dict([*self._tokens.items(), (token, told)][-MOST:])
        return await _answer(send, 200, token)

    def _known(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and compare_digest(cookie.value.encode(), self._pass.encode())

    def _comes_from_here(self, headers: dict[str, str]) -> bool:
        return (
            headers.get("host") == self.host
            and headers.get("origin", self.origin) == self.origin
            and headers.get("sec-fetch-site", "") in OWN_SITE
        )

    async def _counted(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        """Count what is sent while it comes, whatever its length is said to be."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limit:
            return await self._too_large(send)
        taken, answered, failed = 0, False, False

        async def counting() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.limit:
                raise _TooLargeError
            return message

        async def sending(message: Message) -> None:
            nonlocal answered, failed
            failed = failed or (not answered and message.get("status") == FAILED)
            if not failed:  # else what was raised says more than the answer of Shiny
                answered = True
                await send(message)

        try:
            await self._app(scope, counting, sending)
        except _TooLargeError:
            if not answered:
                await self._too_large(send)
        except OSError as error:
            if not answered:
                await _answer(send, FULL_DISK if number_of(error) in FULL else FAILED, reason_of(error))
        else:
            if failed:
                await _answer(send, FAILED, "This went wrong; please report it.")

    async def _too_large(self, send: Send) -> None:
        await _answer(send, 413, f"A file may have at most {self.limit // 2**20} MB here.")

    def _with_headers(self, send: Send) -> Send:
        own = {name for name, _ in self._headers}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [header for header in message.get("headers", []) if bytes(header[0]).lower() not in own]
                message = {**message, "headers": [*kept, *self._headers]}
            await send(message)

        return sending


def _policy(host: str, scripts: Iterable[str]) -> str:
    """What a page may load: of this server, and nothing else. Drawings carry their styles with them."""
    allowed = " ".join(["'self'", *(f"'{script}'" for script in scripts)])
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        f"font-src 'self' data:; connect-src 'self' ws://{host}; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def _headers_of(scope: Scope) -> dict[str, str]:
    """Headers by name; of one that comes twice nothing is believed."""
    headers: dict[str, str] = {}
    for raw, value in scope.get("headers", []):
        name = raw.decode("latin-1").lower()
        headers[name] = "\0" if name in headers else value.decode("latin-1")
    return headers


async def _nobody(*_: object) -> None:
    """Stands where no application is yet."""
    raise RuntimeError("the guard has nothing to guard")


def _unheard(_: bytes) -> None:
    """Nobody listens to what was said."""


async def _onward(send: Send, headers: list[tuple[bytes, bytes]], where: str) -> None:
    page = (
        f'<!doctype html><meta http-equiv="refresh" content="0; url={where}"><link rel="icon" href="data:,">'
        "<title>sdckit</title>"
    )
    await _answer(send, 200, page, [*headers, (b"content-type", b"text/html; charset=utf-8")])


async def _answer(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    answer_headers = headers or [(b"content-type", b"text/plain; charset=utf-8")]
    body = text.encode()
    answer_headers = [*answer_headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": answer_headers})
    await send({"type": "http.response.body", "body": body})
