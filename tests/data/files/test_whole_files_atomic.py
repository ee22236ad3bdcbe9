from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from full_disk import DISK_FULL, fill_disk
from sdckit.data.files.whole_files import real_target, write_whole
from sdckit.errors import FileFormatError


def test_a_new_file(tmp_path: Path) -> None:
    write_whole("text\n", tmp_path / "new.txt")
    assert (tmp_path / "new.txt").read_bytes() == b"text\n"
    assert [one.name for one in tmp_path.iterdir()] == ["new.txt"]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link, second = tmp_path / "far" / "a.txt", tmp_path / "link", tmp_path / "second"
    target.write_text("old")
    link.symlink_to(Path("far") / "a.txt")
    second.symlink_to(link)
    write_whole("new", second)
    assert target.read_text() == "new"
    assert not target.is_symlink()
    assert link.is_symlink()
    assert second.is_symlink()
    assert [one.name for one in target.parent.iterdir()] == ["a.txt"]


def test_a_link_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "later.txt")
    write_whole("new", tmp_path / "link")
    assert (tmp_path / "later.txt").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_is_refused_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        with pytest.raises(FileFormatError, match=f"cannot write {path.name}: it is not a regular file; use - to"):
            write_whole("text", path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "pipe"]


def test_an_open_pipe_is_refused_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    try:
        path = Path(f"/dev/fd/{writing}")
        if path.exists():  # where the system shows open files so
            with pytest.raises(FileFormatError, match="not a regular file"):
                real_target(path)
    finally:
        os.close(reading)
        os.close(writing)


def test_a_device_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "device"
    path.write_text("stands for a device")
    monkeypatch.setattr(stat, "S_ISREG", lambda _: False)
    monkeypatch.setattr(Path, "replace", _never)
    with pytest.raises(FileFormatError, match="not a regular file"):
        write_whole("text", path)


def test_the_full_device_is_only_looked_at() -> None:
    """Nothing is written: were the rule broken, a new node would stand in the place of the device."""
    if Path("/dev/full").exists():
        with pytest.raises(FileFormatError, match="cannot write full: it is not a regular file"):
            real_target("/dev/full")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="not a regular file"):
        real_target(tmp_path)


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(FileFormatError, match="cannot write a: ") as error:
        real_target(tmp_path / "a")
    assert str(tmp_path) not in str(error.value)


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("nothing may be replaced")


def test_a_disk_that_fills_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("older")
    fill_disk(monkeypatch)
    with pytest.raises(FileFormatError, match=f"could not write the JSON: {DISK_FULL}") as error:
        write_whole("text " * 1000, path, what="JSON")
    assert str(tmp_path) not in str(error.value)
    assert error.value.__cause__ is None
    assert path.read_text() == "older"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("private", [True, False])
def test_who_may_read_it(private: bool, tmp_path: Path) -> None:
    write_whole("text", tmp_path / "a", private=private)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == (0o600 if private else 0o666 & ~mask)
