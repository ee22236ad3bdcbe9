"""Checks of a workbook before it is read: what its parts unpack to, and how far apart its cells are.

The library that reads workbooks takes memory for every cell from the first to the farthest, and for every text as often
as cells name it. Here the parts are unpacked in blocks, and nothing of them is kept.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from sdckit.data.files.file_limits import CELLS, PARTS, TEXT, most
from sdckit.errors import FileFormatError
from sdckit.numerics.array_types import Ints

_BLOCK = 1 << 20
_ANY = 1 << 62
_STRINGS = "sharedstrings.xml"
_CELL = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_CELLS = tuple(b"<c" + mark for mark in (b" ", b">", b"/", b"\n", b"\r", b"\t"))
_ROW = re.compile(rb"<(?:\w+:)?row(?=[\s/>])")
_PLACE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{0,9})(\d{1,18})[\"']")  # of a row, or of a cell
TEXT_OF_CELL = re.compile(rb"\st\s*=\s*[\"']s[\"'].*?<(?:\w+:)?v[^>]*>\s*(\d{1,9})", re.DOTALL)
STRING = re.compile(rb"<(?:\w+:)?si(?=[\s/>])")
_SHEET = re.compile(rb"<(?:\w+:)?sheet(?=\s)")


def check_workbook(path: Path) -> None:
    """Check the parts of a workbook.

    Raises
    ------
    FileFormatError
        Its parts become too large, cells are too far apart, texts are named too often, or a part declares entities.
    ValueError
        It is damaged.
    """
    try:
        with zipfile.ZipFile(path) as book:
            parts = book.infolist()
            _check_size(path, most(PARTS, path) - sum(part.file_size for part in parts))
            for part in parts:
                part.file_size = _ANY  # it may be wrong: what a part really becomes is counted
            _check_parts(path, book, sorted(parts, key=lambda part: not part.filename.lower().endswith(_STRINGS)))
    except (zipfile.BadZipFile, zlib.error, RuntimeError):
        raise ValueError from None


def _check_parts(path: Path, book: zipfile.ZipFile, parts: list[zipfile.ZipInfo]) -> None:
    left = most(PARTS, path)
    lengths: Ints = np.zeros(0, dtype=np.int64)
    for part in parts:
        seen, strings = _Sheet(lengths), b""
        is_strings = part.filename.lower().endswith(_STRINGS)
        with book.open(part) as file:
            for block in _blocks(file):
                left -= len(block)
                _check_size(path, left)
                if b"<!DOCTYPE" in block:
                    raise FileFormatError(
                        f"{path.name} declares entities (DOCTYPE), which no spreadsheet writes; save it anew"
                    )
                if is_strings:
                    strings += block
                else:
                    seen.add(block)
                    _check_sheet(path, seen, len(parts))
        if is_strings:
            lengths = _lengths(strings)
            _check_cells(path, len(lengths))


def _check_size(path: Path, left: int) -> None:
    if left < 0:
        raise FileFormatError(
            f"{path.name} becomes more than {PARTS[0]} times as large when it is unpacked; save the sheet as CSV if "
            "that is right"
        )


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a part in blocks that end before a cell, or at least before a tag; a part without tags as it is."""
    rest = b""
    while block := file.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b"<c"), block.rfind(b":c"))
        cut = block.rfind(b"<", 0, cut + 1) if cut >= 0 else block.rfind(b"<")
        if len(block) - cut > _BLOCK:  # no tag is so long: what may stand across the end is looked at twice
            yield block
            rest = block[-_BLOCK // 16 :]
            continue
        rest = block[cut:]
        yield block[:cut]
    yield rest


def _lengths(strings: bytes) -> Ints:
    """Bytes of each shared text, its marks included."""
    starts = [match.start() for match in STRING.finditer(strings)]
    ends = np.array([*starts, len(strings)], dtype=np.int64)
    return ends[1:] - ends[:-1]


class _Sheet:
    """What the blocks of a part say of the cells of a sheet."""

    def __init__(self, lengths: Ints) -> None:
        self.lengths = lengths  # of the shared texts
        self.row = self.column = self.unplaced_rows = self.unplaced_in_row = self.most_unplaced = 0
        self.text = self.sheets = 0

    @property
    def cells(self) -> int:
        """Cells from the first to the farthest, at most."""
        return (self.row + self.unplaced_rows) * (self.column + self.most_unplaced)

    def add(self, block: bytes) -> None:
        places = _PLACE.findall(block)
        letters, numbers = zip(*places, strict=True) if places else ((), ())
        cells, placed = _cells(block), len(letters) - letters.count(b"")
        self.row = max(self.row, *map(int, numbers), 0)
        self.column = max(self.column, *map(_column, set(letters)), 0)
        rows = len(_ROW.findall(block)) if b"row" in block else 0
        self.unplaced_rows += max(0, rows - (len(places) - placed))
        if cells > placed:
            for i, part in enumerate(_ROW.split(block)):
                self.unplaced_in_row = _cells(part) + (0 if i else self.unplaced_in_row)
                self.most_unplaced = max(self.most_unplaced, self.unplaced_in_row)
        elif rows:
            self.unplaced_in_row = 0
        self.sheets += len(_SHEET.findall(block))
        if len(self.lengths) and cells * int(self.lengths.max()) > TEXT[1] // 100:
            named = np.array(TEXT_OF_CELL.findall(block), dtype="S9").astype(np.int64)
            self.text += int(self.lengths[named[named < len(self.lengths)]].sum())


def _cells(block: bytes) -> int:
    """How many cells begin in a block; the names of tags rarely have a prefix."""
    return len(_CELL.findall(block)) if b":c" in block else sum(map(block.count, _CELLS))


def _column(letters: bytes) -> int:
    """The number of a column by its letters.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _check_cells(path: Path, cells: int) -> None:
    if cells > most(CELLS, path):
        raise FileFormatError(
            f"{path.name}: a sheet reaches over {cells:,} cells, far more than a file of its size fills; delete what "
            "stands far right or far below, or save the sheet as CSV"
        )


def _check_sheet(path: Path, seen: _Sheet, parts: int) -> None:
    _check_cells(path, seen.cells)
    if seen.text > most(TEXT, path):
        raise FileFormatError(
            f"{path.name}: the cells of a sheet name long texts so often that they do not fit into memory; save the "
            "sheet as CSV if that is right"
        )
    if seen.sheets > parts:
        raise FileFormatError(f"{path.name} names more sheets than it has; save it anew")
