from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from full_disk import DISK_FULL, fill_disk
from report.fakes import FULL, FakeAssessment, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, FileFormatError
from sdckit.report.formats import write as module
from sdckit.report.formats.write import plain_document, write_json, write_report


@pytest.fixture(scope="module")
def assessment() -> FakeAssessment:
    return assess_fake(survey(200), FULL)


def test_the_ending_chooses_the_format(assessment: FakeAssessment, tmp_path: Path) -> None:
    assert write_report(assessment, tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")
    assert write_report(assessment, str(tmp_path / "a.md")).read_text(encoding="utf-8").startswith("# ")
    with pytest.raises(FileFormatError, match=r"\.docx or \.md"):
        write_report(assessment, tmp_path / "a.odt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]


def test_json_goes_to_a_file_or_to_standard_output(
    assessment: FakeAssessment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_json(assessment, tmp_path / "a.json")
    assert path is not None
    assert write_json(assessment, "-") is None
    assert json.loads(capsys.readouterr().out) == json.loads(path.read_text(encoding="utf-8"))


def test_a_confidential_file_is_the_owners_alone(assessment: FakeAssessment, tmp_path: Path) -> None:
    private = write_report(assessment, tmp_path / "a.html", internal=True)
    write_json(assessment, tmp_path / "a.json", internal=True)
    public = write_report(assessment, tmp_path / "b.html")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(public.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_nothing_behind(
    where: str, assessment: FakeAssessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "disk full at a path that must not be told")

    if where == "write":
        fill_disk(monkeypatch)
    elif where == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileFormatError, match=f"could not write the report: {DISK_FULL}") as error:
        write_report(assessment, tmp_path / "a.html")
    assert "path" not in str(error.value)
    assert error.value.__cause__ is None
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_older_report(
    assessment: FakeAssessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("older", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFormatError, match="could not write the JSON"):
        write_json(assessment, path)
    assert path.read_text(encoding="utf-8") == "older"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_is_not_there(assessment: FakeAssessment, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="No such file or directory"):
        write_report(assessment, tmp_path / "nowhere" / "a.html")


def test_a_broken_pipe_is_a_clear_error(assessment: FakeAssessment, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, _: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "closed")

        def flush(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "closed")

    monkeypatch.setattr("sys.stdout", Closed())
    with pytest.raises(FileFormatError, match="could not write the JSON"):
        write_json(assessment, "-")


def test_a_small_file_gives_no_document(tmp_path: Path) -> None:
    small = assess_fake(survey(20), Scenario(keys=["sex"]))
    with pytest.raises(DataError, match="fewer than 50"):
        write_report(small, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []
    assert write_report(small, tmp_path / "a.html", internal=True).exists()


def test_a_pipe_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: Any, **__: Any) -> Any:
        raise AssertionError("work began")

    monkeypatch.setattr("sdckit.report.formats.write.plain_document", work)
    unread: Any = None
    for name, write in (("a.html", write_report), ("a.json", write_json)):
        os.mkfifo(tmp_path / name)
        with pytest.raises(FileFormatError, match="not a regular file"):
            write(unread, tmp_path / name)
        assert stat.S_ISFIFO((tmp_path / name).stat().st_mode)


def test_a_report_behind_a_link(assessment: FakeAssessment, tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    assert write_report(assessment, tmp_path / "link.html") == tmp_path / "link.html"
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")


def test_an_assessment_is_protected_once_for_all_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, times = assess_fake(survey(60), FULL), []

    def counted(*given: Any, **options: Any) -> Any:
        times.append(options)
        return protect(*given, **options)

    protect = module.protect
    monkeypatch.setattr(module, "protect", counted)
    write_report(found, tmp_path / "a.html")
    write_json(found, tmp_path / "a.json")
    first = plain_document(found)
    assert times == [{"internal": False}]
    first["n"]["text"] = "somebody wrote into it"
    assert plain_document(found)["n"]["text"] == "60"
    write_json(found, tmp_path / "exact.json", internal=True)
    assert times == [{"internal": False}, {"internal": True}]
