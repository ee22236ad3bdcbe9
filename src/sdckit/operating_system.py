"""What differs between Linux, macOS and Windows: files, locks, processes, signals, memory. Nothing else names a system.

What a system lacks is left out, and never ends a program: on Windows a private file has the rights of its folder, and
what a killed process left is not looked for.
"""

import contextlib
import ctypes
import gc
import os
import platform
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


SYSTEM = sys.platform
STANDARD_ERROR = 2
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MEMORY = Path("/proc/meminfo")
TEMPORARY = ("TMPDIR", "TEMP", "TMP")  # what may name the folder of temporary files in the environment
NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # of os.open: links are not followed


def is_posix() -> bool:
    """Whether users, modes of files, process groups and signals are those of POSIX."""
    return SYSTEM != "win32"


@contextlib.contextmanager
def no_collecting() -> Iterator[None]:
    """What is loaded once and for all is no garbage: looking for some meanwhile takes a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


# What libraries write to standard error themselves.


PANIC = b"panicked at"  # a library in Rust that gives up prints where and why, which may be a value
_withholding = threading.Lock()


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """Hold back what is written to standard error, and write it after the block unless a library gave up.

    Of several threads one at a time holds back, what the others write meanwhile, too.
    """
    with contextlib.ExitStack() as stack:
        if _withholding.acquire(blocking=False):
            stack.callback(_withholding.release)
            with contextlib.suppress(OSError):  # a process may have no standard error
                stack.enter_context(_panics_withheld())
        yield


@contextlib.contextmanager
def _panics_withheld() -> Iterator[None]:
    with open_standard_error() as real, tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), STANDARD_ERROR)
        try:
            yield
        finally:
            os.dup2(real.fileno(), STANDARD_ERROR)
            held.seek(0)
            written = held.read()
            with contextlib.suppress(OSError):  # nobody listens any more, or the disk is full
                while written and PANIC not in written:
                    written = written[os.write(real.fileno(), written) :]


def open_standard_error() -> TextIOWrapper:
    """Standard error once more: what is written here is not held back."""
    return os.fdopen(os.dup(STANDARD_ERROR), "w", encoding="utf-8", errors="backslashreplace")


# Folders and files.


def cache_base() -> Path:
    """Where programs of this user keep what they can make anew."""
    return _base("Caches", "XDG_CACHE_HOME", ".cache")


def state_base() -> Path:
    """Where programs of this user keep their own."""
    return _base("Application Support", "XDG_STATE_HOME", ".local/state")


def _base(of_mac: str, variable: str, otherwise: str) -> Path:
    if SYSTEM == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if SYSTEM == "darwin":
        return Path.home() / "Library" / of_mac
    return Path(os.environ.get(variable) or Path.home() / otherwise)


def is_own(state: os.stat_result) -> bool:
    """Whether a file is this user's; where files have no such owner, every one is."""
    return not is_posix() or state.st_uid == os.getuid()


def is_private(state: os.stat_result) -> bool:
    """Whether its owner alone has rights on a file; where modes do not tell, it is taken for granted."""
    return not is_posix() or not state.st_mode & OTHERS


def default_mode() -> int:
    """The mode that a new file has."""
    mask = os.umask(OTHERS)  # files that another thread creates meanwhile are private
    os.umask(mask)
    return 0o666 & ~mask


def to_disk(path: Path) -> None:
    """Flush a file to disk: some systems report a full disk only then."""
    handle = os.open(path, os.O_RDONLY if is_posix() else os.O_RDWR)  # Windows flushes only what may be written
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def names_to_disk(folder: Path) -> None:
    """Flush the names of a folder to disk, so that a power cut brings back no older file; where that is possible."""
    if is_posix():
        with contextlib.suppress(OSError):  # folders that may not be read, and disks that know no such thing
            to_disk(folder)


def take_lock(handle: int) -> bool:
    """Lock an open file for this process if no other holds it; the system lets go when the file is closed."""
    try:
        _lock(handle)
    except OSError:
        return False
    return True


# Processes and their signals.


def ending_signals() -> tuple[int, ...]:
    """The signals that end a program which does not answer them, but for Ctrl-C."""
    named = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP", "SIGBREAK"))
    return tuple(number for number in named if number is not None)


def end_by(number: int) -> None:
    """End this process by a signal, as if it had not been answered."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def lives(process: int) -> bool | None:
    """Whether a process runs; None where asking would end it (Windows)."""
    if not is_posix():
        return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # another user's
    return True


def end_tree(process: int) -> None:
    """End a process that was started as the first of its own group, with its children."""
    with contextlib.suppress(OSError):
        if is_posix():
            os.killpg(process, signal.SIGKILL)
        else:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process)], capture_output=True, check=False)


def end_own_tree() -> None:
    """End this process at once, with its children where it is the first of its group."""
    if is_posix() and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def end_with_parent() -> None:
    """Ask Linux to end this process with its parent, also while a kernel holds the interpreter."""
    if SYSTEM == "linux":
        parent = os.getppid()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(0)


def can_fork() -> bool:
    """Whether a process that has loaded libraries may go on as two: those of macOS are not made for it."""
    return SYSTEM == "linux"


def fork() -> bool:
    """Go on as two processes; True in the second, which leads a session of its own. Nobody asks how it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if os.fork():
        return False
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    return True


def step_back(by: int) -> None:
    """Let other processes go first, where the system has such an order."""
    if hasattr(os, "nice"):
        os.nice(by)


def become(command: list[str]) -> int:
    """Become another program; where a process cannot, start it and wait for its exit code."""
    sys.stdout.flush()
    if is_posix():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(sys.stdout.fileno(), 1)  # where the program was told to print
        os.execv(command[0], command)
    try:
        return subprocess.run(command, stdout=sys.stdout, check=False).returncode
    except KeyboardInterrupt:
        return 0


def reuse_port(listening: socket.socket) -> None:
    """Take a port again that a program just left; on Windows that would take it from a running one."""
    if is_posix():
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


# The machine.


def interpreter() -> str:
    """Which Python this is."""
    return f"{platform.python_version()} ({platform.python_implementation()})"


def kind() -> str:
    """The system and its processor, without its name among machines.

    >>> platform.node() in kind()
    False
    """
    return f"{platform.system()}, {platform.machine()}"


def n_processors() -> int:
    """Processors that this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes of available memory, reclaimable file caches included; None where the system does not say."""
    try:
        match = re.search(r"^MemAvailable:\s*(\d+) kB", MEMORY.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        match = None
    if match is not None:
        return 1024 * int(match[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def is_root() -> bool:
    """Whether this is the user of the system who may do anything, for whom browsers refuse to start."""
    return is_posix() and os.geteuid() == 0
