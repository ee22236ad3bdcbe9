"""Atomic writing of files: written to a private temporary file beside the target, and moved into place.

A process that is stopped removes its temporary files if it can handle the signal (SIGINT, SIGTERM, SIGHUP); after
SIGKILL or a power cut, the next process that writes into the same folder removes them.
"""

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

from sdckit import operating_system
from sdckit.errors import FileFormatError

PRIVATE = 0o600
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# .sdckit-HOST-PROCESS-RANDOM.part is an unfinished file, the same without dot and suffix a spill folder.
OURS = re.compile(r"\.?sdckit-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{16}(\.part)?")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # as messages of Rust libraries end
_under_way: set[Path] = set()
_before: dict[int, Any] = {}
_lock = threading.RLock()  # reentrant: a signal handler runs in the thread that may hold it


@contextlib.contextmanager
def replacing(target: Path, *, what: str, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to, and move it to `target` when the block succeeds.

    Until then only the owner can read it; a `private` file stays so.

    Raises
    ------
    FileFormatError
        It cannot be written; an older file is unchanged, and nothing is left behind. `what` names it in the message.
    """
    part = target.parent / f".{_own_name()}.part"
    remove_left(target.parent)
    try:
        with _removed_at_the_end(part):
            _make(part)
            yield part
            operating_system.to_disk(part)
            if not private:
                part.chmod(operating_system.default_mode())
            part.replace(target)
            operating_system.names_to_disk(target.parent)
    except OSError as error:
        raise FileFormatError(f"could not write {what}: {reason_of(error)}; nothing was left behind") from None


@contextlib.contextmanager
def replacing_folder(target: Path, *, what: str) -> Iterator[Path]:
    """Yield a temporary path to create a folder at, and move it to `target` when the block succeeds.

    Until then only the owner can read it. An older folder or file is kept until then, and replaced as a whole.

    Raises
    ------
    FileFormatError
        It cannot be written; an older one is unchanged, and nothing is left behind. `what` names it in the message.
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
                    operating_system.to_disk(file)
            if target.exists():
                target.replace(old)
            try:
                made.replace(target)
            except OSError:
                if old.exists():
                    old.replace(target)
                raise
            operating_system.names_to_disk(target.parent)
    except OSError as error:
        raise FileFormatError(f"could not write {what}: {reason_of(error)}; nothing was left behind") from None


@contextlib.contextmanager
def spill_folder() -> Iterator[Path]:
    """Yield a private folder for data that does not fit into memory; it is removed at the end."""
    place = Path(tempfile.gettempdir())
    remove_left(place)
    folder = place / _own_name()
    with _removed_at_the_end(folder):
        folder.mkdir(mode=0o700)
        yield folder


def remove_left(folder: Path) -> None:
    """Remove temporary files that dead processes of this user and machine left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = OURS.fullmatch(entry.name)
            if match and match["host"] == _host() and operating_system.lives(int(match["process"])) is False:
                with contextlib.suppress(OSError):
                    if operating_system.is_own(entry.stat(follow_symlinks=False)):
                        remove(Path(entry.path))


def reason_of(error: BaseException) -> str:
    """The reason for a system error, without paths and values.

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
    """The errno of an error, also where a library only mentions it in the message."""
    number = getattr(error, "errno", None)
    match = _OS_ERROR.search(str(error)) if number is None else None
    return int(match[1]) if match else number


def _make(part: Path) -> None:
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))


def _own_name() -> str:
    return f"sdckit-{_host()}-{os.getpid()}-{secrets.token_hex(8)}"


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with its contents; no error if it does not exist."""
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextlib.contextmanager
def _removed_at_the_end(path: Path) -> Iterator[None]:
    """Remove a path when the block ends, however it ends.

    Meanwhile, signals that would end the process remove it first.
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
        return  # only the main thread may set handlers; the next process removes what is left
    for number in operating_system.ending_signals():
        if signal.getsignal(number) is signal.SIG_DFL:
            _before[number] = signal.signal(number, _removing_first())


def _removing_first() -> Callable[[int, FrameType | None], None]:
    own = os.getpid()  # a forked process inherits the handler, but must not remove the files

    def answer(number: int, _: FrameType | None) -> None:
        if os.getpid() == own:
            for path in list(_under_way):
                remove(path)
        operating_system.end_by(number)

    return answer


def _leave_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        for number, before in _before.items():
            signal.signal(number, before)
        _before.clear()


def real_target(path: str | os.PathLike[str]) -> Path:
    """Resolve links to the file to be written; refuse devices, pipes, folders and dangling links.

    A link is kept, its target is replaced.

    Examples
    --------
    >>> real_target("new-report.html").name
    'new-report.html'
    """
    given = Path(path)
    target = Path(os.path.realpath(given))
    # Check both: a link to an open pipe resolves to a name that does not exist.
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
    """Write a file atomically (links are followed); `what` names it in messages.

    If it cannot be written, an older file is unchanged and nothing is left. Only the owner can read a `private` file.
    """
    with replacing(real_target(path), what=f"the {what}", private=private) as part:
        part.write_bytes(text if isinstance(text, bytes) else text.encode())
