"""SAS transport files: whether one holds a single data set, and the letters of its missing numbers.

The layout is that of SAS Technical Support (TS-140): blocks of 80 bytes, a header before each part.
"""

from __future__ import annotations

import re
from contextlib import closing
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from sdckit.errors import FileFormatError
from sdckit.numerics.array_types import Bytes

_BLOCK = 80
_MEMBER = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8) ")
_NAMES = re.compile(rb"HEADER RECORD\*{7}NAM(?:ESTR|STV8) ")
_RECORDS = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? ")
_SIZE, _COUNT = slice(74, 78), slice(48, 58)  # where headers say how long a description is, and how many there are
_TYPE, _LENGTH = slice(0, 2), slice(4, 6)  # of a description
_NUMBER = (1).to_bytes(2, "big")
_LATER, _DECLARED = b"HEADER RECORD*******OBSV8", slice(48, None)  # version 8 says how many records there are
_FORMS = np.frombuffer(b"._ABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)  # first bytes of missing numbers


def check_single(path: Path) -> None:
    """Refuse a file of several data sets: the reader would take the bytes of the second for records of the first.

    Raises FileFormatError: it holds several.
    """
    with path.open("rb") as file, closing(mmap(file.fileno(), 0, access=ACCESS_READ)) as content:
        members = len(_starts(_MEMBER, content))
    if members > 1:
        raise FileFormatError(
            f"{path.name} holds {members} data sets; one is read from a file: write each to a file of its own"
        )


def several_missing(path: Path) -> list[int]:
    """The places of the columns whose missing numbers have several forms: the point, `.A` to `.Z`, `._`.

    Readers of SAS tell them apart, and `read_file` does not.
    """
    columns, records, _ = _parts(path)
    ends = np.cumsum([int.from_bytes(column[_LENGTH], "big") for column in columns])
    several = []
    for place, (column, held) in enumerate(zip(columns, np.split(records, ends, axis=1), strict=False)):
        missing = ~held[:, 1:].any(axis=1) & np.isin(held[:, 0], _FORMS) if column[_TYPE] == _NUMBER else slice(0)
        if len(np.unique(held[missing, :1])) > 1:
            several.append(place)
    return several


def holds_more(path: Path) -> bool:
    """Whether more than the blanks that fill the last block follow the last record."""
    *_, rest = _parts(path)
    return bool(rest.strip(b" "))


def _parts(path: Path) -> tuple[list[bytes], Bytes, bytes]:
    """The descriptions of the columns, the bytes of the records (records, width), and what follows these."""
    content = path.read_bytes()
    described, names, header = (_starts(part, content)[0] for part in (_MEMBER, _NAMES, _RECORDS))
    size, first = int(content[described:][_SIZE]), names + _BLOCK
    columns = [content[first + at * size :][:size] for at in range(int(content[names:][_COUNT]))]
    width = max(sum(int.from_bytes(column[_LENGTH], "big") for column in columns), 1)
    start = header + _BLOCK
    declared = content[header:start][_DECLARED].split() if content[header:].startswith(_LATER) else []
    n = int(declared[0]) if declared else (len(content) - start) // width
    records = np.frombuffer(content, dtype=np.uint8, count=n * width, offset=start)
    return columns, records.reshape(-1, width), content[start + n * width :]


def _starts(part: re.Pattern[bytes], content: bytes | mmap) -> list[int]:
    """Where headers of a kind begin: texts of records that look like one do not begin with a block."""
    return [match.start() for match in part.finditer(content) if match.start() % _BLOCK == 0]
