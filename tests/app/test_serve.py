"""Starting and stopping: a port that is taken, a folder that cannot be made, the address, the clean end."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sdckit.app import serve as module
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


def test_a_port_in_use_is_one_line(state: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SdcError, match=f"port {port} is in use; give another one"):
            serve(Options(port=port, browser=False))
    assert not state.exists()


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
    def announce(address: str, *, browser: bool) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(module, "_announce", announce)
    serve(Options(browser=False))
    assert not list(state.glob("server-*"))


def test_only_what_is_written_into_the_page_may_run() -> None:
    html = "<script>a</script><script src='x.js'></script><script type='application/json'>{}</script><script>b</script>"
    assert len(scripts_of(html)) == 2
    assert len(set(scripts_of(html))) == 2
