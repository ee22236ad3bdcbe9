"""Files, written whole or not at all, and never in the place of something that is no file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sdckit.data.files.whole_files import reason_of, replacing
from sdckit.errors import FileFormatError


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
            raise FileFormatError(f"cannot write {given.name}: {reason_of(error)}") from None
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
    with replacing(real_target(path), what=f"the {what}", private=private) as part:
        part.write_bytes(text if isinstance(text, bytes) else text.encode())
