"""The guard, called as a server calls it: nothing reaches the app but what comes from its own page."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from sdckit.app.guard import AGAIN, Guard

PORT = 4321
HOST, ORIGIN = f"127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}"


class Behind:
    """An application that takes what is sent, and says how much it was."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        headers = [(b"Cache-Control", b"public"), (b"x-own", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": str(size).encode()})


class Asked:
    """A guard with an application behind it, and the cookie once it was entered."""

    def __init__(self, limit: int = 100) -> None:
        self.behind = Behind()
        self.guard = Guard(port=PORT, limit=limit)
        self.guard.stand_before(self.behind, scripts=["sha256-abc"])

    def ask(
        self, path: str = "/", headers: dict[str, str] | None = None, *, method: str = "GET", kind: str = "http",
        body: tuple[bytes, ...] = (b"",),
    ) -> list[Any]:  # fmt: skip
        """The messages that are sent back."""
        name, _, query = path.partition("?")
        given = {"host": HOST, **(headers or {})}
        scope = {
            "type": kind, "method": method, "path": name, "query_string": query.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in given.items()],
        }  # fmt: skip
        sent: list[Any] = []
        parts = iter(body)
        left = len(body)

        async def receive() -> Any:
            nonlocal left
            left -= 1
            return {"type": "http.request", "body": next(parts), "more_body": left > 0}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.guard(scope, receive, send))
        return sent

    def status(self, *given: Any, **how: Any) -> int:
        return int(self.ask(*given, **how)[0]["status"])

    def enter(self) -> dict[str, str]:
        """The header with the cookie, for the token."""
        answer = self.ask(f"/?token={self.guard.token}")
        cookies = [value.decode() for name, value in answer[0]["headers"] if name == b"set-cookie"]
        return {"cookie": cookies[0].partition(";")[0]}


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_the_token_is_exchanged_once_and_does_not_stay_in_the_address(asked: Asked) -> None:
    answer = asked.ask(f"/?token={asked.guard.token}")
    headers = dict(answer[0]["headers"])
    assert answer[0]["status"] == 200
    assert b"token" not in answer[1]["body"]
    cookie = headers[b"set-cookie"].decode()
    assert cookie.endswith("; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000")
    assert asked.guard.token not in cookie
    assert asked.status(f"/?token={asked.guard.token}") == 403
    own = {"cookie": cookie.partition(";")[0]}
    again = asked.ask(f"/?token={asked.guard.token}", own)
    assert again[0]["status"] == 200
    assert b"set-cookie" not in dict(again[0]["headers"])
    assert asked.status("/", own) == 200
    assert asked.guard.address == f"{ORIGIN}/?token={asked.guard.token}"


def test_a_wrong_token_uses_nothing_up(asked: Asked) -> None:
    assert asked.status("/?token=guess") == 403
    assert asked.status("/app.js?token=" + asked.guard.token) == 403
    assert asked.status("/?token=" + asked.guard.token, method="POST") == 403
    assert asked.status("/", asked.enter()) == 200
    assert len(asked.behind.seen) == 1


def fresh(asked: Asked, told: bytes = b"", **headers: str) -> list[Any]:
    """What is answered to a program that asks for a fresh address."""
    given = {"authorization": f"Bearer {asked.guard.secret}", **headers}
    return asked.ask(AGAIN, {name: value for name, value in given.items() if value}, method="POST", body=(told,))


def test_who_has_the_secret_of_the_file_gets_a_fresh_address_that_is_good_once(asked: Asked) -> None:
    seen: list[bytes] = []
    asked.guard.entered = seen.append
    own = asked.enter()
    answer = fresh(asked, b'{"file": "a.csv"}')
    token = answer[1]["body"].decode()
    assert (answer[0]["status"], len(token)) == (200, 43)
    assert asked.guard.secret not in token
    assert b"set-cookie" not in dict(answer[0]["headers"])
    assert seen == []
    assert dict(asked.ask(f"/?token={token}")[0]["headers"])[b"set-cookie"].decode().startswith(own["cookie"])
    assert seen == [b'{"file": "a.csv"}']
    assert b'url=/"' in asked.ask("/?token=any", own)[1]["body"]
    other = fresh(asked, b"{}")[1]["body"].decode()
    assert b'url=/?new"' in asked.ask(f"/?token={other}", own)[1]["body"]  # in a tab of its own
    seen.pop()
    assert asked.status(f"/?token={token}") == 403
    assert asked.status(f"/?token={token}", own) == 200  # the tab it was opened in comes back to it
    assert seen == [b'{"file": "a.csv"}']
    first, second = (fresh(asked)[1]["body"].decode() for _ in range(2))
    assert asked.status(f"/?token={second}") == 200
    assert asked.status(f"/?token={first}") == 200
    assert asked.status(f"/?token={asked.guard.secret}") == 403
    assert asked.behind.seen == []


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": ""}, {"authorization": "Bearer guess"}, {"authorization": "Bearer "},
        {"host": "evil.example"}, {"host": "localhost:4321"}, {"origin": ORIGIN}, {"origin": "http://evil.example"},
        {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {"sec-fetch-site": "cross-site"},
    ],
)  # fmt: skip
def test_nobody_else_gets_a_fresh_address(asked: Asked, headers: dict[str, str]) -> None:
    own = asked.enter()
    for cookie in ({}, own):
        answer = fresh(asked, **cookie, **headers)
        assert answer[0]["status"] == 403
        assert len(answer[1]["body"]) != 43
    assert asked.ask(f"{AGAIN}?secret={asked.guard.secret}", own, method="POST")[0]["status"] == 403
    assert asked.status(AGAIN, {"authorization": f"Bearer {asked.guard.secret}"}) == 403  # it is no page
    assert asked.guard._tokens == {}


def test_what_is_said_with_it_is_bounded_and_so_are_the_addresses(asked: Asked) -> None:
    assert fresh(asked, b"x" * (2**20 + 1))[0]["status"] == 413
    tokens = [fresh(asked)[1]["body"].decode() for _ in range(12)]
    assert [asked.status(f"/?token={token}") for token in tokens] == [403] * 4 + [200] * 8


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": ""}, {"cookie": "sdckit-4321=guess"}, {"cookie": "sdckit-4321="}, {"cookie": "\x00;=;"},
        {"host": "evil.example"}, {"host": "localhost:4321"}, {"host": "127.0.0.1:99"}, {"host": ""},
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:99"},
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_what_comes_from_elsewhere_is_refused(asked: Asked, headers: dict[str, str], kind: str) -> None:
    own = {**asked.enter(), "origin": ORIGIN, "sec-fetch-site": "same-origin"}
    assert asked.ask("/", own, kind=kind)[0] != asked.ask("/", {**own, **headers}, kind=kind)[0]
    assert len(asked.behind.seen) == 1
    (refused,) = [one for one in asked.ask("/", {**own, **headers}, kind=kind) if one["type"] != "http.response.body"]
    assert refused.get("status", refused.get("code")) in (403, 1008)


def test_a_websocket_and_a_change_say_their_origin(asked: Asked) -> None:
    own = asked.enter()
    assert asked.ask("/websocket/", own, kind="websocket")[0]["type"] == "websocket.close"
    assert asked.status("/session/1/upload/2", own, method="POST") == 403
    assert asked.status("/session/1/upload/2", {**own, "origin": ORIGIN}, method="POST") == 200


def test_a_header_that_comes_twice_is_not_believed() -> None:
    asked = Asked()
    cookie = asked.enter()["cookie"].encode()
    scope = {
        "type": "http", "method": "GET", "path": "/", "query_string": b"",
        "headers": [(b"host", HOST.encode()), (b"host", b"evil.example"), (b"cookie", cookie)],
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(asked.guard(scope, receive, send))
    assert sent[0]["status"] == 403


@pytest.mark.parametrize(
    ("body", "said", "status"),
    [
        ((b"x" * 100,), "100", 200),
        ((b"x" * 50, b"x" * 50), None, 200),
        ((b"x" * 60, b"x" * 60), None, 413),  # counted while it comes
        ((b"x" * 101,), "5", 413),  # whatever it is said to be
        ((b"",), "101", 413),  # refused before it comes
        ((b"",), "-1", 413),
    ],
)
def test_an_upload_is_counted(asked: Asked, body: tuple[bytes, ...], said: str | None, status: int) -> None:
    headers = {**asked.enter(), "origin": ORIGIN} | ({"content-length": said} if said else {})
    answer = asked.ask("/upload", headers, method="POST", body=body)
    assert answer[0]["status"] == status
    if status == 200:
        assert answer[1]["body"] == str(sum(map(len, body))).encode()
    else:
        assert b"at most 0 MB" in answer[1]["body"]


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (OSError(errno.ENOSPC, "", "a path"), 507, b"the disk is full"),
        (OSError(errno.EACCES, "", "a path"), 500, b"Permission denied"),
        (None, 500, b"went wrong"),
    ],
)
def test_why_an_upload_broke_off_is_said(asked: Asked, error: OSError | None, status: int, text: bytes) -> None:
    async def behind(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})  # as Starlette does before it raises
        await send({"type": "http.response.body", "body": b"Internal Server Error"})
        if error is not None:
            raise error

    asked.guard.stand_before(behind)
    first, last = asked.ask("/upload", {**asked.enter(), "origin": ORIGIN}, method="POST")
    assert (first["status"], text in last["body"]) == (status, True)
    assert b"a path" not in last["body"]


def test_every_answer_has_the_headers(asked: Asked) -> None:
    for answer in (asked.ask("/"), asked.ask("/", asked.enter())):
        headers = dict(answer[0]["headers"])
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'none'; script-src 'self' 'sha256-abc';" in policy
        assert "unsafe-eval" not in policy
        assert "frame-ancestors 'none'" in policy
        assert {one for one in policy.replace(";", "").split() if "//" in one} == {f"ws://{HOST}"}
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"x-frame-options"] == b"DENY"
        assert headers[b"referrer-policy"] == b"no-referrer"
    names = [name.lower() for name, _ in answer[0]["headers"]]
    assert len(set(names)) == len(names)
    assert b"x-own" in names


def test_starting_and_ending_pass() -> None:
    asked = Asked()
    seen: list[str] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asked.guard.stand_before(behind)
    asyncio.run(asked.guard({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]
