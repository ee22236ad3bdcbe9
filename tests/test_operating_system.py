"""What differs between systems, imitated where this is another one."""

from __future__ import annotations

import os
import runpy
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sdckit import operating_system

SYSTEMS = ("linux", "darwin", "win32")


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each system in turn, by its name."""
    monkeypatch.setattr(operating_system, "SYSTEM", request.param)
    return str(request.param)


def test_folders(system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    expected = {
        "linux": (".cache", ".local/state"), "darwin": ("Library/Caches", "Library/Application Support"),
        "win32": ("AppData/Local", "AppData/Local"),
    }  # fmt: skip
    made = operating_system.cache_base(), operating_system.state_base()
    assert tuple(path.relative_to(tmp_path).as_posix() for path in made) == expected[system]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "l"))
    assert operating_system.cache_base().name == {"linux": "c", "darwin": "Caches", "win32": "l"}[system]


def test_owners_and_modes(system: str) -> None:
    anyone: Any = SimpleNamespace(st_uid=os.getuid() + 1, st_mode=0o100644)
    mine: Any = SimpleNamespace(st_uid=os.getuid(), st_mode=0o100600)
    assert operating_system.is_own(mine)
    assert operating_system.is_private(mine)
    assert operating_system.is_own(anyone) == operating_system.is_private(anyone) == (system == "win32")


def test_windows_has_no_users_to_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    state = Path().stat()
    monkeypatch.setattr(operating_system, "SYSTEM", "win32")
    for name in ("getuid", "geteuid", "killpg", "getpgrp", "sysconf", "sched_getaffinity", "nice"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(operating_system, "MEMORY", Path("nowhere"))
    assert operating_system.is_own(state)
    assert operating_system.is_private(state)
    assert not operating_system.is_root()
    assert operating_system.lives(1) is None
    assert operating_system.free_memory() is None
    assert operating_system.n_processors() == os.cpu_count()
    operating_system.step_back(5)
    operating_system.end_with_parent()


def test_a_file_is_flushed(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"x")
    opened: list[int] = []
    plain = os.open

    def seen(path: Path, flags: int) -> int:
        opened.append(flags)
        return plain(path, flags)

    monkeypatch.setattr(os, "open", seen)
    operating_system.to_disk(tmp_path / "a")
    assert opened == [os.O_RDWR if system == "win32" else os.O_RDONLY]


def test_the_names_of_a_folder_are_flushed_where_that_is_possible(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr(operating_system, "to_disk", flushed.append)
    operating_system.names_to_disk(tmp_path)
    assert flushed == [] if system == "win32" else [tmp_path]
    monkeypatch.undo()
    operating_system.names_to_disk(tmp_path / "none")


def test_a_lock_is_held_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "lock").open("ab") as mine, (tmp_path / "lock").open("ab") as other:
        assert operating_system.take_lock(mine.fileno())
        assert not operating_system.take_lock(other.fileno())

    held: set[int] = set()

    def locking(handle: int, *_: int) -> None:
        if handle in held:
            raise PermissionError(13, "Permission denied")
        held.add(handle)

    windows: Any = ModuleType("msvcrt")
    windows.LK_NBLCK, windows.locking = 2, locking
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr(sys, "platform", "win32")
    there = runpy.run_path(operating_system.__file__)  # as it is loaded on Windows
    assert there["take_lock"](7)
    assert not there["take_lock"](7)
    assert not there["is_posix"]()


def test_signals_that_a_system_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    assert operating_system.ending_signals() == (signal.SIGTERM, 21)


def test_processes() -> None:
    assert operating_system.lives(os.getpid())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert operating_system.lives(ended.pid) is False
    assert operating_system.lives(1 << 80)  # no such number: not ours to judge


def test_a_tree_is_ended(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(os, "killpg", lambda *given: done.append(given))
    monkeypatch.setattr(subprocess, "run", lambda command, **_: done.append(command))
    operating_system.end_tree(12)
    assert done == [["taskkill", "/F", "/T", "/PID", "12"] if system == "win32" else (12, signal.SIGKILL)]


def test_a_process_ends_with_its_group(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(os, "killpg", lambda *given: done.append(given))
    monkeypatch.setattr(os, "_exit", done.append)
    monkeypatch.setattr(os, "getpgrp", os.getpid)
    operating_system.end_own_tree()
    assert done == ([0] if system == "win32" else [(0, signal.SIGKILL), 0])


def test_another_program_takes_over(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(os, "execv", lambda *given: done.append(given))
    monkeypatch.setattr(os, "dup2", lambda *_: None)

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        done.append(command)
        return SimpleNamespace(returncode=3)

    monkeypatch.setattr(subprocess, "run", run)
    assert operating_system.become(["a", "b"]) == 3  # where it was not replaced, as here
    assert done[0] == (["a", "b"] if system == "win32" else ("a", ["a", "b"]))


def test_processes_are_forked_where_libraries_are_made_for_it(system: str) -> None:
    assert operating_system.can_fork() == (system == "linux")


def test_a_port_is_taken_again(system: str) -> None:
    with socket.socket() as listening:
        operating_system.reuse_port(listening)
        again = listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
    assert bool(again) == (system != "win32")


def test_memory_is_read_from_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "meminfo"
    said.write_text("MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    monkeypatch.setattr(operating_system, "MEMORY", said)
    assert operating_system.free_memory() == 50 * 1024
    monkeypatch.setattr(operating_system, "MEMORY", tmp_path / "nothing")
    monkeypatch.setattr(os, "sysconf", {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert operating_system.free_memory() == 40_960

    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)  # as on macOS
    assert operating_system.free_memory() is None


def test_a_process_without_standard_error_reads_all_the_same() -> None:
    code = (
        "import os; os.close(2); from sdckit import operating_system as system\n"
        "with system.without_panics(): print('read')"
    )
    ran = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert ran.stdout == "read\n"


def test_what_cannot_be_written_to_standard_error_is_no_error_of_a_file() -> None:
    code = (
        "import os; from sdckit import operating_system as system\n"
        "with system.without_panics(): os.write(2, b'read slowly')\n"
        "print('read')"
    )
    read, write = os.pipe()
    os.close(read)  # nobody listens
    ran = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=write, text=True, check=True)
    os.close(write)
    assert ran.stdout == "read\n"
