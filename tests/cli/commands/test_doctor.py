"""What the installation has, in lines that tell nothing of a person or a machine."""

from __future__ import annotations

import getpass
import platform
import shutil
import tempfile
from importlib import metadata
from pathlib import Path

import pytest

from sdckit.cli.app import run
from sdckit.cli.commands import doctor
from sdckit.numerics import compiling


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert run(["doctor"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return dict(line.split(": ", 1) for line in captured.out.splitlines() if ": " in line)


def test_a_line_each_and_nothing_of_the_machine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SDCKIT_DEBUG", raising=False)
    assert run(["doctor"]) == 0
    text = capsys.readouterr().out
    for secret in (str(Path.home()), tempfile.gettempdir(), platform.node(), getpass.getuser(), "/", "\\"):
        assert secret not in text
    assert "With a bug report send these lines" in text
    names = [line.partition(":")[0] for line in text.splitlines()[:-2]]
    assert len(set(names)) == len(names)
    assert {"sdckit", "Python", "system", "polars", "free memory", "compiled kernels", "Chromium", "Java"} <= set(names)
    assert "SDCKIT_DEBUG" not in names


def test_what_is_missing_is_told_with_what_it_adds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = metadata.version

    def version(name: str) -> str:
        if name == "fastexcel":
            raise metadata.PackageNotFoundError(name)
        return plain(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(compiling, "cache_folder", lambda: None)
    monkeypatch.setattr("sdckit.operating_system.free_memory", lambda: None)
    monkeypatch.setenv("SDCKIT_DEBUG", "1")
    told = lines(capsys)
    assert told["extra files"] == 'not installed; adds Excel, SPSS, Stata and SAS files: pip install "sdckit[files]"'
    assert told["Chromium"].startswith("not there")
    assert told["Java"] == "not there; Spark needs Java 17"
    assert told["free memory"] == "this system does not say"
    assert told["compiled kernels"].startswith("not kept")
    assert "may hold data" in told["SDCKIT_DEBUG"]


def test_an_empty_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    assert "sdckit warm-up" in lines(capsys)["compiled kernels"]
    (tmp_path / "a").write_bytes(b"0" * 2_000_000)
    assert lines(capsys)["compiled kernels"] == "1 file kept, 2 MB"


def test_every_extra_is_told() -> None:
    declared = set(metadata.metadata("sdckit").get_all("Provides-Extra") or ())
    assert declared <= set(doctor.EXTRAS)
