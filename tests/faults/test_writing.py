"""A fault while anything is written: the older file stays as it was or there is none, and nothing else is left."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from faults.survey import WRITING, command, make_folder
from full_disk import DISK_FULL, fill_disk
from sdckit.cli.app import run
from sdckit.data.files import whole_files

GIVEN = {"a.csv", "recipe.toml", "s.toml"}
OLDER = "of yesterday"
NEVER_REPLACED = {"key", "training file"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def test_the_kinds_are_written_and_the_confidential_ones_for_the_owner(folder: Path) -> None:
    """Also the proof that the commands of the faults below do write."""
    before = os.umask(0o022)
    try:
        for kind, (out, _, private) in WRITING.items():
            assert run(command(kind)[1]) == 0, kind
            assert stat.S_IMODE((folder / out).stat().st_mode) == (0o600 if private else 0o644), kind
            for name in names(folder) - GIVEN:
                (folder / name).unlink()
    finally:
        os.umask(before)


@pytest.mark.parametrize("older", [True, False])
def test_a_full_disk(
    older: bool, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first file that a command writes finds the disk full."""
    fill_disk(monkeypatch)
    for kind, (out, _, _) in WRITING.items():
        there = older and kind not in NEVER_REPLACED
        if there:
            (folder / out).write_text(OLDER)
        assert run(command(kind)[1]) == 2, kind
        said = capsys.readouterr().err
        assert DISK_FULL in said, kind
        assert said.rstrip().endswith("nothing was left behind"), kind
        assert names(folder) == GIVEN | ({out} if there else set()), kind
        if there:
            assert (folder / out).read_text() == OLDER
            (folder / out).unlink()


STOPPED = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
from faults.survey import command
from sdckit.cli.app import run
from sdckit.data.files import whole_files
out, arguments = command(sys.argv[1])

def stop(part):
    print("whole", flush=True)
    for _ in range(1000):  # a signal just before a sleep begins is answered when it ends
        time.sleep(0.1)

whole_files.operating_system.to_disk = stop
sys.exit(run(arguments))
"""
# A document, a file in the hands of Polars, and a confidential file written before another: every writer of ours.
STOPPING = ["figures as JSON", "released Parquet", "key"]


@pytest.mark.parametrize("kind", STOPPING)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_stopped_process(name: str, kind: str, folder: Path) -> None:
    out = command(kind)[0]
    if kind != "key":
        (folder / out).write_text(OLDER)
    tests = Path(__file__).resolve().parents[1]
    path = os.pathsep.join([str(tests), str(tests.parent / "src"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, kind], cwd=folder, env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "whole\n"
    left = names(folder) - GIVEN - {out}
    assert len(left) == 1
    assert stat.S_IMODE((folder / left.pop()).stat().st_mode) == 0o600
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == {"SIGINT": 130, "SIGTERM": -15, "SIGKILL": -9}[name]
    assert (folder / out).exists() == (kind != "key")
    assert kind == "key" or (folder / out).read_text() == OLDER
    left = names(folder) - GIVEN - {out}
    assert bool(left) == (name == "SIGKILL")
    assert all(whole_files.OURS.fullmatch(one) for one in left)
    if left:
        with whole_files.replacing(folder / "next.txt", what="it"):
            pass
        assert names(folder) - {out} == {*GIVEN, "next.txt"}
