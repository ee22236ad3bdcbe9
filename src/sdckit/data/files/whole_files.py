"""Files that are there whole or not at all: written beside their place, for the owner's eyes, and moved.

What a stopped process leaves is removed by itself where a signal can be answered (SIGINT, SIGTERM, SIGHUP),
else (SIGKILL, a power cut) by the next one that writes into the same folder.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sdckit.errors import FileFormatError

PRIVATE = 0o600
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# .sdckit-HOST-PROCESS-RANDOM.part is a file under way, the same without dot and ending a spill folder.
OURS = re.compile(r"\.?sdckit-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{16}(\.part)?")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # as libraries in Rust end their words
_under_way: set[Path] = set()
_before: dict[int, Any] = {}
_lock = threading.RLock()  # a signal is answered in the thread that may hold it


@contextlib.contextmanager
def replacing(target: Path, *, what: str, private: bool = False) -> Iterator[Path]:
    """Give a path to write to, and move what is there to `target` once the block has ended well.

    Until then the owner alone can read it; a `private` one stays so.

    Raises
    ------
    FileFormatError
        It cannot be written; an older file stays as it was, and nothing is left. `what` it is, in words.
    """
    part = target.parent / f".{_own_name()}.part"
    remove_left(target.parent)
    try:
        with _removed_at_the_end(part):
            _make(part)
            yield part
            _to_disk(part)
            if not private:
                part.chmod(0o666 & ~_umask())
            part.replace(target)
    except OSError as error:
        raise FileFormatError(f"could not write {what}: {reason_of(error)}; nothing was left behind") from None


@contextlib.contextmanager
def replacing_folder(target: Path, *, what: str) -> Iterator[Path]:
    """Give a path to make a folder at, and move what is there to `target` once the block has ended well.

    Until then the owner alone can read it. An older folder, or file, stays as long, and is moved away whole.

    Raises
    ------
    FileFormatError
        It cannot be written; an older one stays as it was, and nothing is left. `what` it is, in words.
    """
    part, old = (target.parent / f".{_own_name()}.part" for _ in range(2))
    remove_left(target.parent)
    try:
        with _removed_at_the_end(part), _removed_at_the_end(old):
            part.mkdir(mode=0o700)
            made = part / "made"
            yield made
            for file in made.rglob("*"):
                if file.is_file():
                    _to_disk(file)
            if target.exists():
                target.replace(old)
            try:
                made.replace(target)
            except OSError:
                if old.exists():
                    old.replace(target)
                raise
    except OSError as error:
        raise FileFormatError(f"could not write {what}: {reason_of(error)}; nothing was left behind") from None


@contextlib.contextmanager
def spill_folder() -> Iterator[Path]:
    """Give a folder for what does not fit into memory, for the owner alone, removed at the end."""
    place = Path(tempfile.gettempdir())
    remove_left(place)
    folder = place / _own_name()
    with _removed_at_the_end(folder):
        folder.mkdir(mode=0o700)
        yield folder


def remove_left(folder: Path) -> None:
    """Remove what processes of this machine and user that are no more have left in a folder."""
    if os.name != "posix":
        return  # elsewhere nobody can be asked whether a process lives without ending it
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = OURS.fullmatch(entry.name)
            if match and match["host"] == _host() and not _lives(int(match["process"])):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                        remove(Path(entry.path))


def reason_of(error: BaseException) -> str:
    """Why the system refused, in words without paths and values.

    Examples
    --------
    >>> reason_of(OSError(errno.EACCES, "", "secret-name"))
    'Permission denied'
    >>> reason_of(OSError("write failed (os error 28)"))
    'the disk is full, or your share of it; free some space or name another folder'
    """
    number = number_of(error)
    if number in FULL:
        return "the disk is full, or your share of it; free some space or name another folder"
    if number == errno.EFBIG:
        return "the file would be larger than this disk or your account allows"
    return os.strerror(number) if number else "unknown reason"


def number_of(error: BaseException) -> int | None:
    """The system's number of an error, also where a library has only put it into words."""
    number = getattr(error, "errno", None)
    match = _OS_ERROR.search(str(error)) if number is None else None
    return int(match[1]) if match else number


def _make(part: Path) -> None:
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))


def _own_name() -> str:
    return f"sdckit-{_host()}-{os.getpid()}-{secrets.token_hex(8)}"


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # another user's
    return True


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with what is in it; nothing there is fine."""
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextlib.contextmanager
def _removed_at_the_end(path: Path) -> Iterator[None]:
    """Remove a path when the block ends, however it ends.

    While anything is under way, signals that would end the process at once remove it first.
    """
    with _lock:
        _under_way.add(path)
        if not _before:
            _answer_signals()
    try:
        yield
    finally:
        remove(path)
        with _lock:
            _under_way.discard(path)
            if not _under_way:
                _leave_signals()


def _answer_signals() -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may; the next process removes what is left
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            _before[number] = signal.signal(number, _removing_first())


def _removing_first() -> Callable[[int, FrameType | None], None]:
    own = os.getpid()  # a forked process inherits the answer, not the files

    def answer(number: int, _: FrameType | None) -> None:
        if os.getpid() == own:
            for path in list(_under_way):
                remove(path)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return answer


def _leave_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        for number, before in _before.items():
            signal.signal(number, before)
        _before.clear()


def _to_disk(path: Path) -> None:
    """Wait until the system holds it all: some tell of a full disk only then."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)  # what another thread makes meanwhile is for the owner alone
    os.umask(mask)
    return mask


def real_target(path: str | os.PathLike[str]) -> Path:
    """Follow links to the file that is to be written; refuse devices, pipes, folders and links that lead nowhere.

    A link stays a link, what it leads to is replaced.

    Examples
    --------
    >>> real_target("new-report.html").name
    'new-report.html'
    """
    given = Path(path)
    target = Path(os.path.realpath(given))
    # Both: a link to an open pipe leads to a name under which nothing can be found.
    for place in (given, target):
        try:
            mode = place.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise FileFormatError(f"cannot write {given.name}: {reason_of(error)}") from None
        if not stat.S_ISREG(mode):
            raise FileFormatError(
                f"cannot write {given.name}: it is not a regular file; use - to print (JSON, scenarios)"
            )
    return target


def write_whole(text: str | bytes, path: str | os.PathLike[str], *, what: str = "file", private: bool = False) -> None:
    """Write beside the target (a link is followed) and move it into place when it is complete; `what` it is, in words.

    When it cannot be written, an older file stays as it was, and nothing is left. A `private` one is for its owner.
    """
    with replacing(real_target(path), what=f"the {what}", private=private) as part:
        part.write_bytes(text if isinstance(text, bytes) else text.encode())
