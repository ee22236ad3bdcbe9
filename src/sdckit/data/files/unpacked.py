"""Compressed CSV files, unpacked into memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import Any

from sdckit.errors import FileFormatError

PACKED: dict[str, str] = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
_BLOCK = 1 << 23
# A file that unpacks to more than so many times its size, and to more than so many bytes, is a trap.
_MOST_TIMES, _MOST_ANYWAY = 200, 1 << 30


def bare_name(path: Path) -> Path:
    """The name without what says that a file is compressed.

    >>> str(bare_name(Path("survey.csv.gz"))), str(bare_name(Path("survey.csv")))
    ('survey.csv', 'survey.csv')
    """
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def unpacked(path: Path) -> bytes | None:
    """Give the bytes of a compressed file; None for any other, which is read where it lies.

    Raises `FileFormatError`: it is damaged, or becomes more than 200 times as large, and more than a gigabyte.
    """
    kind = PACKED.get(path.suffix.lower())
    if kind is None:
        return None
    most = max(_MOST_ANYWAY, _MOST_TIMES * path.stat().st_size)
    blocks, size = [], 0
    try:
        with _opened(path, kind) as file:
            while block := file.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > most:
                    raise FileFormatError(
                        f"{path.name} becomes more than {_MOST_TIMES} times as large when it is unpacked; "
                        "unpack it yourself if that is right"
                    )
    except FileFormatError:
        raise
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        raise FileFormatError(
            f"{path.name} cannot be unpacked as {kind}: it is damaged or cut off; copy it anew"
        ) from None
    return b"".join(blocks)


def _opened(path: Path, kind: str) -> Any:
    if kind == "gzip":
        return gzip.open(path, "rb")
    if kind == "bzip2":
        return bz2.open(path, "rb")
    if kind == "xz":
        return lzma.open(path, "rb")
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
