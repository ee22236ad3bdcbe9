from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest

from full_disk import DISK_FULL, fill_disk
from sdckit.data.files import whole_files
from sdckit.data.files.whole_files import number_of, reason_of, remove_left, replacing, replacing_folder, spill_folder
from sdckit.data.files.write_file import WRITTEN, write_file
from sdckit.errors import FileFormatError

FRAME = pl.DataFrame({"a": ["x"] * 50_000})
# What stands between these two lines happens in a process of its own, half-way through a file and a folder.
HALF_WAY = """
import os, signal, sys, threading, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests themselves run behind nohup
signal.signal(signal.SIGINT, signal.default_int_handler)  # and where a shell began them beside others
from pathlib import Path
from sdckit.data.files.whole_files import replacing, spill_folder
with spill_folder() as folder, replacing(Path(sys.argv[1]), what="it", private=True) as part:
    (folder / "spilled").write_text("half")
    part.write_text("half")
    print(part.name, folder.name, flush=True)
    {then}
"""
# In short spells: a signal that arrives just before the system is asked to sleep is answered when the sleep ends.
SLEEP = "[time.sleep(0.1) for _ in range(600)]"


@pytest.fixture(autouse=True)
def nothing_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what other tests keep for as long as they have a connection: a spill folder each."""
    whole_files._leave_signals()
    monkeypatch.setattr(whole_files, "_under_way", set())
    monkeypatch.setattr(whole_files, "_before", {})


def half_way(target: Path, then: str) -> subprocess.Popen[str]:
    """A process that is half-way through a file; what it is doing has been told."""
    environment = {**os.environ, "TMPDIR": str(target.parent)}
    process = subprocess.Popen(
        [sys.executable, "-c", HALF_WAY.format(then=then), str(target)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    assert len(process.stdout.readline().split()) == 2
    return process


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", -15), ("SIGHUP", -1), ("SIGINT", -2)])
@pytest.mark.parametrize("by", ["from outside", "by itself"])
def test_a_signal_that_can_be_answered_leaves_nothing(name: str, code: int, by: str, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("older")
    if by == "by itself":
        process = half_way(target, f"os.kill(os.getpid(), signal.{name}); {SLEEP}")
    else:
        process = half_way(target, SLEEP)
        assert len(names(tmp_path)) == 3
        process.send_signal(getattr(signal, name))
    assert ended(process) == code  # it ends as it would have ended
    assert names(tmp_path) == ["out.txt"]
    assert target.read_text() == "older"


def test_what_a_killed_process_leaves_goes_with_the_next_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    process = half_way(target, SLEEP)
    process.kill()
    assert ended(process) == -9
    left = names(tmp_path)
    assert len(left) == 2
    assert all(whole_files.OURS.fullmatch(name) for name in left)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in left} == {0o600, 0o700}
    with replacing(target, what="it") as part:
        assert names(tmp_path) == [part.name]
    assert names(tmp_path) == ["out.txt"]


def test_only_what_is_left_by_processes_that_are_gone_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    host, gone, end = whole_files._host(), process.pid, "0123456789abcdef"
    other = "0" * 8 if host != "0" * 8 else "1" * 8
    theirs = [
        f".sdckit-{host}-{os.getpid()}-{end}.part", f".sdckit-{host}-1-{end}.part",
        f".sdckit-{other}-{gone}-{end}.part",
        ".sdckit-old.part", f".sdckit-{host}-{gone}.part", f"a.sdckit-{host}-{gone}-{end}.part", "sdckit-report.html",
    ]  # fmt: skip
    for name in [*theirs, f".sdckit-{host}-{gone}-{end}.part"]:
        (tmp_path / name).write_text("")
    (tmp_path / f"sdckit-{host}-{gone}-{end}").mkdir()
    (tmp_path / f"sdckit-{host}-{gone}-{end}" / "spilled").write_text("")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("")
    (tmp_path / f"sdckit-{host}-{gone}-{'f' * 16}").symlink_to(kept)  # a link goes, not what it leads to
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    remove_left(tmp_path)
    assert len(names(tmp_path)) == len(theirs) + 4  # another user's
    monkeypatch.undo()
    remove_left(tmp_path)
    assert names(tmp_path) == sorted([*theirs, "kept"])
    assert (kept / "file").exists()
    remove_left(tmp_path / "no folder")


def test_signals_are_as_before_when_nothing_is_under_way(tmp_path: Path) -> None:
    def own(number: int, _: object) -> None:
        raise AssertionError

    before = signal.getsignal(signal.SIGTERM)
    try:
        for standing in (signal.SIG_DFL, signal.SIG_IGN, own):
            signal.signal(signal.SIGTERM, standing)
            with replacing(tmp_path / "a", what="it"), spill_folder():
                answered = signal.getsignal(signal.SIGTERM)
                assert (answered is standing) == (standing is not signal.SIG_DFL)  # who has an answer keeps it
            assert signal.getsignal(signal.SIGTERM) is standing
    finally:
        signal.signal(signal.SIGTERM, before)


def test_another_thread_writes_and_cleans_up_too(tmp_path: Path) -> None:
    def write() -> None:
        with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a", what="it"):
            raise ZeroDivisionError

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    with replacing(tmp_path / "b", what="it"):
        pass
    assert names(tmp_path) == ["b"]
    assert not whole_files._before


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("ending", sorted(WRITTEN))
def test_it_is_for_its_owner_from_the_first_byte_on(
    private: bool, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()

    def look(path: Path) -> None:
        if path != tmp_path:
            seen.add(stat.S_IMODE(path.stat().st_mode))

    monkeypatch.setattr(whole_files.operating_system, "to_disk", look)  # after the last byte, before it is moved
    made = whole_files._make

    def make(path: Path) -> None:
        made(path)
        look(path)

    monkeypatch.setattr(whole_files, "_make", make)
    before = os.umask(0)
    try:
        write_file(FRAME, tmp_path / f"a{ending}", private=private)
    finally:
        os.umask(before)
    assert seen == {0o600}
    assert stat.S_IMODE((tmp_path / f"a{ending}").stat().st_mode) == (0o600 if private else 0o666)


@pytest.mark.parametrize("ending", sorted(WRITTEN))
def test_a_full_disk_is_told_as_one_in_every_format(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / f"out{ending}"
    target.write_text("older")
    fill_disk(monkeypatch)
    with pytest.raises(FileFormatError) as caught:
        write_file(FRAME, target)
    assert str(caught.value) == f"could not write out{ending}: {DISK_FULL}; nothing was left behind"
    assert names(tmp_path) == [target.name]
    assert target.read_text() == "older"


def test_a_disk_that_is_full_only_when_the_system_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.EDQUOT, "")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFormatError, match=f"could not write out.csv: {DISK_FULL}"):
        write_file(FRAME, tmp_path / "out.csv")
    assert not names(tmp_path)


@pytest.mark.parametrize(
    ("error", "number", "words"),
    [
        (OSError(errno.EACCES, "", "place"), errno.EACCES, "Permission denied"),
        (OSError("failed (os error 122)"), 122, DISK_FULL),
        (RuntimeError("place"), None, "unknown reason"),
        (OSError(errno.EFBIG, ""), errno.EFBIG, "the file would be larger than this disk or your account allows"),
    ],
)  # fmt: skip
def test_why(error: Exception, number: int | None, words: str) -> None:
    assert (number_of(error), reason_of(error)) == (number, words)


def test_names_differ(tmp_path: Path) -> None:
    with replacing(tmp_path / "a", what="it") as one, replacing(tmp_path / "a", what="it") as other:
        assert one != other
    assert names(tmp_path) == ["a"]
    assert time.time() - (tmp_path / "a").stat().st_mtime < 60


def fail_in_a_folder(target: Path) -> None:
    """Make a folder, and go wrong half-way."""
    with replacing_folder(target, what="it") as made:
        made.mkdir()
        _ = 1 / 0


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out"
    for text in ("one", "two"):
        with replacing_folder(target, what="it") as made:
            made.mkdir()
            assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
            (made / "part").write_text(text)
            assert not target.exists() or (target / "part").read_text() == "one"
        assert (target / "part").read_text() == text
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
    with pytest.raises(ZeroDivisionError):
        fail_in_a_folder(target)
    with pytest.raises(FileFormatError, match="could not write it"), replacing_folder(target, what="it"):
        pass  # nothing was made
    assert (target / "part").read_text() == "two"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_a_name_is_flushed_after_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        whole_files.operating_system, "to_disk", lambda path: order.append((path.name, (tmp_path / "a").exists()))
    )
    with replacing(tmp_path / "a", what="it") as part:
        part.write_bytes(b"x")
    assert order == [(part.name, False), (tmp_path.name, True)]
    (tmp_path / "a").unlink()
    with whole_files.replacing_folder(tmp_path / "a", what="it") as made:
        made.mkdir()
    assert order[2:] == [(tmp_path.name, True)]
