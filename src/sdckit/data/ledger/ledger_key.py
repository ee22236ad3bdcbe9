"""The key of a ledger: made up, kept apart from it, readable by its owner only."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from sdckit.data.files.whole_files import PRIVATE, reason_of
from sdckit.errors import DataError, FileFormatError

BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO
LOST = (
    "the ledger answers nothing without its key, and nobody can make it again: look for a copy, or start a new ledger "
    "and add the earlier files"
)


def make_key(path: Path) -> bytes:
    """Make up a key and write it, for its owner only; never in the place of another file.

    Raises FileFormatError: the file exists, or cannot be written.
    """
    key = secrets.token_bytes(BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
    except FileExistsError:
        raise FileFormatError(
            f"{path.name} exists, and may be the key of another ledger; name another file for the key"
        ) from None
    except OSError as error:
        raise FileFormatError(f"could not write the key {path.name}: {reason_of(error)}") from None
    return key


def read_key(path: Path) -> bytes:
    """Read a key.

    Raises FileFormatError: it is not there, or no key; DataError: others than its owner can read it.
    """
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & OTHERS:
                raise DataError(
                    f"others can read the key {path.name}, and with it the ledger; take their rights away "
                    f"(chmod 600), and if they may have read it start a new ledger"
                )
            text = file.read(4 * BYTES).decode("ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise FileFormatError(f"there is no key {path.name}; {LOST}") from None
    except OSError as error:
        raise FileFormatError(f"cannot read the key {path.name}: {reason_of(error)}") from None
    except DataError:
        raise
    except ValueError:
        raise FileFormatError(f"{path.name} is no key of a ledger; {LOST}") from None
    if len(key) != BYTES:
        raise FileFormatError(f"{path.name} is no key of a ledger; {LOST}")
    return key
