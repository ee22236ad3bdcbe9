"""``sdckit demo``: the main job on a real survey."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_it_prints_the_answer_and_writes_the_report(sdckit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = sdckit("demo")
    assert (done.code, done.err) == (0, "")
    assert "affairs survey\nDisclosure risk of 6,366 records" in done.out
    assert "Report written: demo-report.html" in done.out
    assert "assumed for the demonstration" in " ".join(done.out.split())
    assert (tmp_path / "demo-report.html").stat().st_size > 10_000


def test_quiet(sdckit, tmp_path: Path) -> None:
    done = sdckit("demo", "--report", tmp_path / "d.html", "--language", "de", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert '<html lang="de">' in (tmp_path / "d.html").read_text(encoding="utf-8")


def test_an_unknown_language_is_refused_before_any_work(sdckit, tmp_path: Path) -> None:
    done = sdckit("demo", "--report", tmp_path / "d.html", "--language", "xx")
    assert done.code == 2
    assert "--language 'xx' is unknown; there are: en, de" in " ".join(done.err.split())
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist(sdckit, tmp_path: Path) -> None:
    done = sdckit("demo", "--report", tmp_path / "nowhere" / "d.html")
    assert done.code == 2
    assert not list(tmp_path.iterdir())
