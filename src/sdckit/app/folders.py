"""Where a session's files lie: one folder each that only its owner may enter, gone at the end.

A server's folders stand below one that it holds a lock on. A server that was killed holds none any more: the next one
to start removes what it left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

PRIVATE = 0o700
LOCK = "lock"
SERVER = "server-"


def state_folder() -> Path:
    """The folder of the user in which the app keeps its own; ``SDCKIT_APP_STATE`` wins."""
    if named := os.environ.get("SDCKIT_APP_STATE"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "sdckit" / "app"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "sdckit" / "app"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "sdckit" / "app"


class Folders:
    """The folders of one server.

    Parameters
    ----------
    state
        The user's folder, `state_folder()`; made where it is not there.
    """

    def __init__(self, state: Path) -> None:
        self.state = state
        state.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        state.chmod(PRIVATE)
        remove_stale(state)
        self.own = Path(tempfile.mkdtemp(prefix=SERVER, dir=state))
        self._lock = _locked(self.own / LOCK)
        self.uploads = self.own / "uploads"
        self.uploads.mkdir(mode=PRIVATE)

    def make(self) -> Path:
        """A new folder for a session; `mkdtemp` lets nobody else in."""
        return Path(tempfile.mkdtemp(prefix="session-", dir=self.own))

    def remove(self, folder: Path) -> None:
        """Remove a session's folder with all in it."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove everything of this server."""
        if self._lock is not None:
            self._lock.close()
        shutil.rmtree(self.own, ignore_errors=True)


def remove_stale(state: Path) -> None:
    """Remove what servers left that no longer run."""
    for folder in state.glob(f"{SERVER}*"):
        with contextlib.suppress(OSError):
            lock = _locked(folder / LOCK)
            if lock is not None:
                lock.close()
                shutil.rmtree(folder, ignore_errors=True)


def _locked(path: Path) -> IO[bytes] | None:
    """The file with a lock on it that ends with this process; None where another holds it."""
    file = path.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
