"""Folders that only their owner may enter, and that are gone at the end, whoever ends the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sdckit.app.folders import Folders, state_folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_session_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "a" / "state")
    first, second = folders.make(), folders.make()
    assert first != second
    assert {mode(one) for one in (folders.state, folders.own, folders.uploads, first, second)} == {0o700}
    (first / "data.csv").write_text("x")
    folders.remove(first)
    assert not first.exists()
    assert second.is_dir()
    folders.close()
    assert not folders.own.exists()
    assert folders.state.is_dir()


def test_an_open_folder_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert mode(Folders(tmp_path).state) == 0o700


def test_the_next_start_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from sdckit.app.folders import Folders\n"
        "made = Folders(Path(sys.argv[1])).make(); (made / 'data.csv').write_text('x'); os._exit(9)"
    )
    running = Folders(tmp_path)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    kept = running.make()
    (tmp_path / "last-work.json").write_text("{}")
    assert len(list(tmp_path.glob("server-*"))) == 2
    second = Folders(tmp_path)
    assert set(tmp_path.glob("server-*")) == {running.own, second.own}
    assert kept.is_dir()
    assert (tmp_path / "last-work.json").exists()
    running.close()
    second.close()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SDCKIT_APP_STATE", str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv("SDCKIT_APP_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("sys.platform", "linux")
    assert state_folder() == tmp_path / "state" / "sdckit" / "app"
    for platform in ("win32", "darwin"):
        monkeypatch.setattr("sys.platform", platform)
        assert state_folder().parts[-2:] == ("sdckit", "app")
