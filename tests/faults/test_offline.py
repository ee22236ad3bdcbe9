"""Nothing of sdckit ever opens a socket: neither in this process nor where sockets do not exist at all."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import offline

# In such a process there is no socket: neither the class of Python, nor the one below it, nor a look-up.
SITE = """
import os, sys

def refuse(event, _):
    if event.startswith("socket."):
        sys.stderr.write(f"forbidden: {event}\\n")
        sys.stderr.flush()
        os._exit(77)

sys.addaudithook(refuse)
"""


@pytest.fixture(scope="module")
def without_sockets(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(SITE)

    def call(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
        source = str(Path(__file__).resolve().parents[2] / "src")
        path = os.pathsep.join([str(site), source, os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
            text=True, timeout=600, check=False,
        )  # fmt: skip

    return call


def test_the_process_without_sockets_has_none(without_sockets, tmp_path: Path) -> None:
    for code in ("import socket; socket.socket()", "import socket; socket.getaddrinfo('localhost', 1)"):
        assert without_sockets(code, tmp_path).returncode == 77


def test_commands_and_charts_need_none(without_sockets, tmp_path: Path) -> None:
    """One process for all: starting one costs seconds."""
    done = without_sockets(WORK, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    written = {one.name for one in tmp_path.iterdir()}
    assert {"demo-report.html", "r.html", "r.md", "r.json", "out.csv", "log.json", "map.html", "map.svg"} <= written


WORK = """
import warnings
warnings.simplefilter("ignore")
from pathlib import Path
import numpy as np
import polars as pl
import sdckit as sdc
from sdckit.cli.app import run

def must(*arguments):
    code = run([str(one) for one in arguments])
    assert code == 0, (arguments, code)

rng = np.random.default_rng(1)
frame = pl.DataFrame({
    "age": rng.integers(1, 7, 300), "sex": rng.choice(["f", "m"], 300), "region": rng.choice(["n", "s", "e"], 300),
    "w": rng.integers(2, 9, 300) + 0.5,
})
frame.write_csv("a.csv")
Path("recipe.toml").write_text('[[steps]]\\nmethod = "local_suppression"\\nkeys = ["age", "sex"]\\nk = 3\\n')
Path("s.toml").write_text('weight = "w"\\n[intruders.a]\\nkeys = ["age", "sex", "region"]\\n')
must("demo", "--report", "demo-report.html")
must("assess", "a.csv", "--scenario", "s.toml", "--report", "r.html", "--json", "r.json")
must("assess", "a.csv", "--scenario", "s.toml", "--report", "r.md")
must("protect", "recipe.toml", "a.csv", "-o", "out.csv", "--log", "log.json", "--scenario", "s.toml")
must("assess", "a.csv", "--released", "out.csv", "--scenario", "s.toml")
for name in ("map.html", "map.svg"):
    must("explore", "recipe.toml", "a.csv", "--grid", "1.k=2,3", "--scenario", "s.toml", "--plot", name)
chart = sdc.assess(frame, keys=["age", "sex"], weight="w").plot()
chart._repr_mimebundle_()
sdc.k_anonymity(frame, keys=["age", "sex"]).plot()
sdc.k_anonymity(frame, keys=["age", "sex"])._repr_html_()
"""


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), (b"::1", True), (None, True),
     ("0.0.0.0", True), ("192.0.2.1", False), ("::ffff:192.0.2.1", False), ("example.org", False),
     ("127.0.0.1.example.org", False), ("10.0.0.1", False)],
)  # fmt: skip
def test_what_is_this_machine(host: object, local: bool) -> None:
    assert offline.is_local(host) == local


def test_the_guard_of_the_suite_refuses_what_leads_out() -> None:
    try:
        for out in (
            lambda: socket.create_connection(("192.0.2.1", 9), timeout=0.1),
            lambda: socket.getaddrinfo("example.org", 80),
            lambda: socket.gethostbyname("example.org"),
            lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9)),
        ):
            with pytest.raises(offline.GoneOutError):
                out()
        assert len(offline.WENT_OUT) == 4
    finally:
        offline.WENT_OUT.clear()  # or the guard would fail this test


def test_the_guard_fails_a_test_that_swallows_the_error() -> None:
    code = "import sys; sys.path.insert(0, 'tests'); import offline; offline.watch()\n"
    code += "import socket\ntry:\n    socket.getaddrinfo('example.org', 80)\nexcept Exception: pass\n"
    code += "assert offline.WENT_OUT == ['socket.getaddrinfo example.org']"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_sockets_of_this_machine_are_left_alone() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        client.connect(server.getsockname())
    one, other = socket.socketpair()
    one.close()
    other.close()
