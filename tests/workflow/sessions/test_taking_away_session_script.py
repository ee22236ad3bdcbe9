"""The texts of script and command lines; what they make is tried in tests/workflow/sessions/test_taking_away.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sdckit.workflow.sessions.taking_away import Session, command_lines, python_script

READ = {"missing": ["-9", "NA"], "delimiter": ";", "user_missing": True, "join": "/room/homes.csv", "join_key": "home"}


def test_options_of_reading_are_those_of_the_session() -> None:
    one = Session("a.csv", "release.csv", READ, unread=("name",), missing=("-9", "NA"))
    protect = command_lines(one).splitlines()[-2]
    for part in (
        "--missing=-9",
        "--missing=NA",
        "--delimiter ';'",
        "--user-missing",
        "--join homes.csv",
        "--join-key home",
    ):
        assert part in protect
    script = python_script(one)
    for part in ("identifiers=['name']", "missing=['-9', 'NA']", "delimiter=';'", "join=here / 'homes.csv'"):
        assert part in script
    assert "/room" not in script + protect


def test_an_option_that_the_session_did_not_use_is_not_written() -> None:
    session = Session("a.csv", "release.csv", {"missing": ["-9"]})
    protect = command_lines(session)
    assert "--missing=-9" in protect
    assert not any(option in protect for option in ("--user-missing", "--delimiter", "--join"))


@pytest.mark.parametrize("several", [False, True])
def test_a_script_compiles(several: bool) -> None:
    one = Session("a.sav", "release.sav", labelled=True, several=several)
    compile(python_script(one), "repeat.py", "exec")
    assert ("release-again_1.sav" in command_lines(one)) is several
    assert "labels=labels" in python_script(one)


def test_what_is_beyond_a_limit_is_marked() -> None:
    inside, beyond = (Session("a.csv", "release.csv", passed=passed) for passed in (True, False))
    for write in (python_script, command_lines):
        assert "exceeded or not judged" in write(beyond)
        assert "exceeded or not judged" not in write(inside)


@pytest.mark.parametrize("name", ["a\ntouch fell.csv", "-x.csv", "a; touch fell.csv", "$(touch fell).csv"])
def test_the_name_of_a_file_is_no_command(name: str, tmp_path: Path) -> None:
    """A shell runs the lines with a program of no effect: nothing but it is run, and the name reaches it whole."""
    called = tmp_path / "sdckit"
    called.write_text('#!/bin/sh\nfor one in "$@"; do printf "%s\\0" "$one" >> called; done\n', encoding="utf-8")
    called.chmod(0o700)
    lines = command_lines(Session(name, "release.csv"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(["/bin/sh", "-c", lines], cwd=tmp_path, env={"PATH": path}, check=True, timeout=60)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["called", "sdckit"]
    told = (tmp_path / "called").read_text(encoding="utf-8").split("\0")
    assert [one for one in told if one.removeprefix("./") == name] == [name if name[0] != "-" else f"./{name}"] * 2
