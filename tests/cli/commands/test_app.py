"""``sdckit app`` checks what it is given before a server starts, and hands the rest on."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from sdckit.cli.commands import app as command


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that would have been started."""
    found: list[list[str]] = []

    def run(line: list[str]) -> int:
        found.append(line)
        return 0

    monkeypatch.setattr(command, "become", run)
    return found


def test_it_starts_the_server_with_its_options(sdckit, begun: list[list[str]], tmp_path: Path) -> None:
    file, scenario = tmp_path / "a.csv", tmp_path / "s.toml"
    file.write_text("sex,age\nf,3\nm,4\n", encoding="utf-8")
    scenario.write_text('keys = ["sex"]', encoding="utf-8")
    assert sdckit("app").code == 0
    assert sdckit("app", file, "--scenario", scenario, "--port", 4000, "--no-browser", "--new").code == 0
    start = [sys.executable, "-m", "sdckit.app"]
    assert begun[0] == [*start, "--port", "0"]
    assert begun[1] == [*start, str(file), "--scenario", str(scenario), "--port", "4000", "--no-browser", "--new"]


def test_what_is_bad_is_one_line_and_starts_nothing(sdckit, begun: list[list[str]], tmp_path: Path) -> None:
    odd, empty, wrong = tmp_path / "a.doc", tmp_path / "a.csv", tmp_path / "s.toml"
    odd.write_text("x")
    empty.write_text("")
    wrong.write_text("keyz = ['sex']")
    bad = [(tmp_path / "none.csv",), (odd,), (empty,), (tmp_path,), ("--scenario", wrong), ("--port", 70_000)]
    for given in (*bad, ("--scenario", tmp_path / "none.toml")):
        done = sdckit("app", *given)
        assert (done.code, len(done.lines), done.out) == (2, 1, ""), given
        assert done.err.startswith("error: ")
    assert "--port is from 0 to 65535" in sdckit("app", "--port", 70_000).err
    assert begun == []


def test_a_missing_extra_says_how_to_get_it(sdckit, begun: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None if name == "shiny" else find(name))
    done = sdckit("app")
    assert done.err == 'error: the app needs shiny; install it: pip install "sdckit[app]"\n'
    assert (done.code, begun) == (2, [])
