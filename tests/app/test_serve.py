"""Starting and stopping: a port that is taken, a folder that cannot be made, the address, the clean end."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sdckit.app import serve as module
from sdckit.app.browser_sessions import DOOR, Folders, doors
from sdckit.app.serve import Options, scripts_of, serve
from sdckit.errors import SdcError


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    names = [signal.SIGTERM, signal.SIGHUP]
    before = [signal.getsignal(one) for one in names]
    yield
    for one, handler in zip(names, before, strict=True):
        signal.signal(one, handler)


@pytest.fixture(autouse=True)
def own_folder(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture(autouse=True)
def without_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody works here: what workers are forked of would load all they need, and live as long as these tests."""
    monkeypatch.setattr(module, "start_template", lambda: None)


def test_a_port_in_use_is_one_line(state: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SdcError, match=f"port {port} is in use; give another one"):
            serve(Options(port=port, browser=False))
    assert not state.exists()


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Hand a socket over, as systemd does; its port."""

    def hand(where: str) -> int:
        made = socket.socket()
        made.bind((where, 0))
        made.listen()
        port: int = made.getsockname()[1]
        monkeypatch.setattr(module, "HANDED", made.detach())
        monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
        monkeypatch.setenv("LISTEN_FDS", "1")
        return port

    return hand


def test_it_serves_on_the_socket_that_it_is_handed(
    state: Path, handed: Callable[[str], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def served(server: Any, listening: socket.socket, seats: Any) -> None:
        assert "LISTEN_FDS" not in os.environ
        with socket.create_connection(listening.getsockname()):
            listening.accept()[0].close()

    monkeypatch.setattr(module, "_served", served)
    port = handed("127.0.0.1")
    serve(Options(browser=False))
    assert f"http://127.0.0.1:{port}/?token=" in capsys.readouterr().out
    port = handed("127.0.0.1")
    with pytest.raises(SdcError, match=f"port {port - 1} is not that of the socket"):
        serve(Options(browser=False, port=port - 1))
    handed("0.0.0.0")
    with pytest.raises(SdcError, match=r"not one of 127\.0\.0\.1; hand over one"):
        serve(Options(browser=False))


def test_a_folder_that_cannot_be_made_is_one_line(state: Path) -> None:
    state.write_text("a file")
    with pytest.raises(SdcError, match="set SDCKIT_APP_STATE"):
        serve(Options(browser=False))


def test_it_listens_on_this_machine_alone_says_where_and_cleans_up(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: dict[str, Any] = {}

    async def served(server: Any, listening: socket.socket, seats: Any) -> None:
        seen["where"] = listening.getsockname()
        seen["config"] = server.config
        (own,) = state.glob("server-*")
        seen["modes"] = {one.stat().st_mode & 0o777 for one in (state, own, *own.glob("*/"))}
        seen["first"] = seats.take("", reloaded=False).work
        await asyncio.sleep(0)

    opened: list[str] = []
    monkeypatch.setattr(module, "_served", served)
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    serve(Options(file="/data/a.csv", scenario={"keys": ["sex"]}))
    host, port = seen["where"]
    assert host == "127.0.0.1"
    assert seen["modes"] == {0o700}
    assert not seen["config"].access_log
    assert (seen["first"].name, seen["first"].scenario) == ("a.csv", {"keys": ["sex"]})
    address = re.findall(r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]{43}", capsys.readouterr().out)
    assert address == [str(port)]
    assert not list(state.glob("server-*"))


def test_a_signal_before_the_server_runs_ends_it_cleanly(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def announce(address: str, more: str, *, browser: bool) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(module, "_announce", announce)
    serve(Options(browser=False))
    assert not list(state.glob("server-*"))


class Door(http.server.BaseHTTPRequestHandler):
    """A server that runs already, and what it is asked."""

    seen: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        told = json.loads(body) if body else {}
        self.seen.append((self.path, self.headers["authorization"], self.headers["host"], told))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"t" * 43)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def runs(state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Folders, int]]:
    monkeypatch.setattr(Door, "seen", [])
    folders = Folders(state)
    with http.server.HTTPServer(("127.0.0.1", 0), Door) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folders.open_door(server.server_port, "the-secret")
        yield folders, server.server_port
        server.shutdown()
    folders.close()


def test_another_start_opens_a_fresh_address_of_the_one_that_runs(
    state: Path, runs: tuple[Folders, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders, port = runs
    opened: list[str] = []
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    serve(Options())
    address = f"http://127.0.0.1:{port}/?token={'t' * 43}"
    assert opened == [address]
    assert capsys.readouterr().out.splitlines() == [f"sdckit app: {address}", module.RUNS]
    serve(Options(file="/data/a.csv", scenario={"keys": ["sex"]}, port=port, browser=False))
    asked = ("/again", "Bearer the-secret", f"127.0.0.1:{port}")
    serve(Options(scenario={"keys": ["age"]}, browser=False))
    assert Door.seen == [
        (*asked, {}), (*asked, {"file": "/data/a.csv", "scenario": {"keys": ["sex"]}, "project": ""}),
        (*asked, {"file": "", "scenario": {"keys": ["age"]}, "project": ""}),
    ]  # fmt: skip
    assert len(opened) == 1
    assert list(state.glob("server-*")) == [folders.own]


@pytest.mark.parametrize(
    "case", ["--new", "another port", "open to others", "a link", "ended", "no answer", "nonsense"]
)
def test_else_it_starts_its_own(
    state: Path, runs: tuple[Folders, int], monkeypatch: pytest.MonkeyPatch, case: str, tmp_path: Path
) -> None:
    folders, _ = runs
    door = folders.own / DOOR
    options = Options(browser=False, new=case == "--new")
    if case == "another port":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            options = Options(browser=False, port=free.getsockname()[1])
    elif case == "open to others":
        door.chmod(0o644)
    elif case == "a link":
        door.rename(tmp_path / "elsewhere")
        door.symlink_to(tmp_path / "elsewhere")
    elif case == "ended":
        folders._lock.close()
    elif case == "no answer":
        monkeypatch.setattr(Door, "do_POST", lambda self: self.send_error(403))
    elif case == "nonsense":
        door.write_text("{")
    started: list[str] = []

    async def served(server: Any, listening: socket.socket, seats: Any) -> None:
        started.append(case)

    monkeypatch.setattr(module, "_served", served)
    serve(options)
    assert started == [case]
    assert Door.seen == []


def test_only_the_owner_may_read_the_secret(runs: tuple[Folders, int]) -> None:
    folders, port = runs
    assert (folders.own / DOOR).stat().st_mode & 0o777 == 0o600
    assert doors(folders.state) == [(port, "the-secret")]


def test_only_what_is_written_into_the_page_may_run() -> None:
    html = "<script>a</script><script src='x.js'></script><script type='application/json'>{}</script><script>b</script>"
    assert len(scripts_of(html)) == 2
    assert len(set(scripts_of(html))) == 2
