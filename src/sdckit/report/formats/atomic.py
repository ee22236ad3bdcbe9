"""Files, written whole or not at all, and never in the place of something that is no file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from sdckit.errors import FileFormatError

__all__ = ["real_target", "write_whole"]

PRIVATE = 0o600


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
    for one in (given, target):
        try:
            mode = one.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise FileFormatError(f"cannot write {given.name}: {_reason(error)}") from None
        if not stat.S_ISREG(mode):
            raise FileFormatError(
                f"cannot write {given.name}: it is not a regular file; use - to print (JSON, scenarios)"
            )
    return target


def write_whole(
    text: str | bytes, path: str | os.PathLike[str], *, what: str = "file", private: bool = False
) -> None:
    """Write beside the target (a link is followed) and move it into place when it is complete; `what` it is, in words.

    When it cannot be written, an older file stays as it was, and nothing is left. A `private` one is for its owner.
    """
    target = real_target(path)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=".sdckit-", suffix=".part", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(PRIVATE if private else 0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise FileFormatError(
            f"could not write the {what}: {_reason(error)}; nothing was left behind"
        ) from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    """The system's words without its path."""
    return os.strerror(error.errno) if error.errno else "unknown reason"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
