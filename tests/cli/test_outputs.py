"""Targets are looked at before the work, and written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from full_disk import DISK_FULL
from sdckit.cli.outputs import (
    CHART_ENDINGS,
    REPORT_ENDINGS,
    check_enough_records,
    check_report_name,
    check_targets,
    write_text,
)
from sdckit.errors import DataError, FileFormatError, SdcError


def test_a_new_file_in_a_folder_that_exists_is_fine(tmp_path: Path) -> None:
    check_targets(tmp_path / "out.html", "-", None)
    assert not list(tmp_path.iterdir())


def test_the_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="its folder 'nowhere' does not exist"):
        check_targets(tmp_path / "nowhere" / "out.html")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="it is a folder"):
        check_targets(tmp_path)


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    with pytest.raises(SdcError, match="reads this file"):
        check_targets(tmp_path / "." / "data.csv", inputs=(data, None))


def test_the_input_is_not_overwritten_through_a_link(tmp_path: Path) -> None:
    data, link = tmp_path / "data.csv", tmp_path / "link.json"
    data.write_text("a\n1\n")
    link.symlink_to(data)
    with pytest.raises(SdcError, match="reads this file"):
        check_targets(link, inputs=(data,))
    with pytest.raises(SdcError, match="same name"):
        check_targets(link, data)


def test_the_folder_a_link_leads_to_must_exist(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere" / "out.json")
    with pytest.raises(SdcError, match=r"cannot write link\.json: its folder 'nowhere' does not exist"):
        check_targets(tmp_path / "link.json")


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="cannot write pipe: it is not a regular file; use - to print"):
        check_targets(None, str(tmp_path / "pipe"))


def test_two_outputs_need_two_names(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="same name"):
        check_targets(tmp_path / "out", str(tmp_path / "out"))


def test_no_permission_is_seen_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(SdcError, match="no permission"):
        check_targets(tmp_path / "out.html")


@pytest.mark.parametrize("name", ["r.html", "r.HTM", "r.md", "r.docx", None])
def test_a_report_has_an_ending_we_write(name: str | None) -> None:
    check_report_name(None if name is None else Path(name))


@pytest.mark.parametrize("name", ["r.odt", "r", "report.html.txt"])
def test_another_ending_is_refused(name: str) -> None:
    with pytest.raises(SdcError, match=r"ends in \.html"):
        check_report_name(Path(name))


def test_the_endings_are_those_of_the_writer() -> None:
    from sdckit.report.formats.write import RENDERERS
    from sdckit.report.offline import ENDINGS

    assert set(REPORT_ENDINGS) == set(RENDERERS)
    assert set(CHART_ENDINGS) == set(ENDINGS)


def test_few_records_give_no_document_but_an_internal_one() -> None:
    check_enough_records(50, internal=False)
    check_enough_records(3, internal=True)
    with pytest.raises(DataError, match="fewer than 50 records") as caught:
        check_enough_records(49, internal=False)
    assert "49" not in str(caught.value)


def test_text_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.toml"
    target.write_text("old")
    write_text(target, "new ü\n")
    assert target.read_text(encoding="utf-8") == "new ü\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.toml"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileFormatError, match=f"could not write the file: {DISK_FULL}"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
