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

_BLOCK = 80
_MEMBER = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8) ")
_NAMES = re.compile(rb"HEADER RECORD\*{7}NAM(?:ESTR|STV8) ")
_RECORDS = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? ")
_SIZE, _COUNT = slice(74, 78), slice(48, 58)  # where headers say how long a description is, and how many there are
_TYPE, _LENGTH = slice(0, 2), slice(4, 6)  # of a description
_NUMBER = 1
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
    content = path.read_bytes()
    described, names, records = (_starts(part, content)[0] for part in (_MEMBER, _NAMES, _RECORDS))
    size = int(content[described:][_SIZE])
    first = names + _BLOCK
    columns = [content[first + at * size :][:size] for at in range(int(content[names:][_COUNT]))]
    lengths = [int.from_bytes(column[_LENGTH], "big") for column in columns]
    values = np.frombuffer(content, dtype=np.uint8, offset=records + _BLOCK)
    width = sum(lengths)
    rows = values[: len(values) // width * width].reshape(-1, width)
    starts = np.cumsum([0, *lengths])
    several = []
    for place, column in enumerate(columns):
        if int.from_bytes(column[_TYPE], "big") != _NUMBER:
            continue
        held = rows[:, starts[place] : starts[place + 1]]
        missing = ~held[:, 1:].any(axis=1) & np.isin(held[:, 0], _FORMS)
        if len(np.unique(held[missing, 0])) > 1:
            several.append(place)
    return several


def _starts(part: re.Pattern[bytes], content: bytes | mmap) -> list[int]:
    """Where headers of a kind begin: texts of records that look like one do not begin with a block."""
    return [match.start() for match in part.finditer(content) if match.start() % _BLOCK == 0]
