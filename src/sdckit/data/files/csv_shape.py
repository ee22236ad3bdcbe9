"""The shape of a CSV file: delimiter, header, number of records, and that every line has as many fields."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.files.csv_header import header_names
from sdckit.data.files.csv_text import CsvText
from sdckit.errors import DataError, FileFormatError

_HEAD = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")
_SPELT = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class CsvShape:
    """How to cut a CSV file into records."""

    names: tuple[str, ...]
    delimiter: str  # one character
    quoted: bool  # whether double quotes enclose fields; else they are characters like others
    skip_lines: int  # lines before the first record
    n_rows: int  # number of records, blank lines not counted
    blank: NDArray[np.int64]  # positions of blank lines among the records a parser gives
    certain: bool = True  # whether the records below the header tell it apart from them


def csv_shape(text: CsvText, delimiter: str | None) -> CsvShape:
    """Find the shape and check every line.

    Raises `FileFormatError`: a line has more or fewer fields than the header; the message gives its number.
    Or another delimiter than the one given cuts the lines alike; `ColumnError`: a column name is repeated;
    `DataError`: the first line looks like a record, or there are no records.
    """
    head = _head(text)
    mark = _given(text.path, delimiter) or _detected(head)
    counted, quoted = _count(text, mark)
    rows = _reader(io.StringIO(head, newline="\n"), mark, quoted=quoted)
    lead, header = _first_row(text.path, rows)
    skip = rows.line_num
    ragged = counted.ragged(len(header))
    if delimiter is not None and (len(header) == 1 or ragged):
        _refuse_delimiter(text.path, head, mark)
    found = header_names(text.path, header, _readable(rows))
    names = found.names
    if ragged:
        counted = _exact(text, mark, len(names), quoted=quoted)
    first = lead + 1
    blank = counted.blank[counted.blank >= first] - first
    total = counted.records - first
    if len(names) == 1:  # an empty line is a missing value here, except at the end
        trailing = np.arange(total - len(blank), total)
        kept = np.flatnonzero((blank - trailing) != 0)
        blank = blank[kept[-1] + 1 :] if len(kept) else blank
    else:  # a parser stumbles over empty lines between header and records: skip them with the header
        between = int(np.count_nonzero(blank == np.arange(len(blank))))
        blank, total, skip = blank[between:] - between, total - between, skip + between
    if total - len(blank) <= 0:
        raise DataError(f"{text.path.name} holds a header but no records")
    return CsvShape(names, mark, quoted, skip, total - len(blank), blank, found.certain)


def _head(text: CsvText) -> str:
    """Give the first whole lines."""
    head = b""
    for block in text.blocks():
        head += block
        if len(head) > _HEAD:
            end = head.rfind(b"\n", 0, _HEAD)
            head = head[: end + 1] if end >= 0 else head
            break
    return head.decode("utf-8", "ignore")


def _reader(lines: Any, delimiter: str, *, quoted: bool) -> Any:
    if quoted:
        return csv.reader(lines, delimiter=delimiter)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)


def _first_row(path: Path, rows: Any) -> tuple[int, list[str]]:
    """Give the number of blank lines before the header, and the header's fields."""
    try:
        for lead, row in enumerate(rows):
            if row:
                return lead, list(row)
    except csv.Error:
        pass
    raise FileFormatError(
        f"{path.name}: the header cannot be read; check its quotes and that no line ends in its middle"
    )


def _readable(rows: Any) -> Iterator[list[str]]:
    """Give the records up to where quotes go wrong, which the exact reading tells."""
    try:
        yield from rows
    except csv.Error:
        return


def _given(path: Path, delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    mark = _SPELT.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        raise FileFormatError(
            f"{path.name}: the delimiter must be one character, such as ';' or 'tab'", argument="delimiter"
        )
    return mark


def _widths(head: str, mark: str) -> list[int]:
    """Count the fields of the first lines; none where quotes do not pair up."""
    try:
        reader = csv.reader(io.StringIO(head, newline="\n"), delimiter=mark)
        return [len(row) for row in itertools.islice(reader, 200) if row]
    except csv.Error:
        return []


def _detected(head: str) -> str:
    """Choose the delimiter under which most lines have as many fields as the header."""
    best, found = (0.0, 0), ","
    for mark in _DELIMITERS:
        widths = _widths(head, mark)
        if not widths or widths[0] < 2:
            continue
        score = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
        if score > best:
            best, found = score, mark
    return found


def _refuse_delimiter(path: Path, head: str, given: str) -> None:
    """Name the delimiter under which all lines are alike, where the one given cuts them badly."""
    for mark in _DELIMITERS:
        widths = _widths(head, mark)
        if mark != given and widths and widths[0] > 1 and len(set(widths)) == 1:
            raise FileFormatError(
                f"{path.name}: the delimiter given ({_spelt(given)}) does not fit; {_spelt(mark)} cuts the "
                f"lines into {widths[0]} fields each: leave the delimiter out, or give {_spelt(mark)}"
            )


def _spelt(mark: str) -> str:
    return "'tab'" if mark == "\t" else f"'{mark}'"


@dataclass(frozen=True)
class _Counted:
    """Number of records (blank lines included), the blank ones, and the numbers of fields seen."""

    records: int
    blank: NDArray[np.int64]
    widths: frozenset[int]

    def ragged(self, width: int) -> bool:
        return bool(self.widths - {width})


def _count(text: CsvText, delimiter: str) -> tuple[_Counted, bool]:
    """Count fields per line in one vectorised pass; quotes that open no field are plain characters."""
    counted, quotes, opening = _pass(text, delimiter, quoted=True)
    if quotes and not opening:
        return _pass(text, delimiter, quoted=False)[0], False
    return counted, True


def _pass(text: CsvText, delimiter: str, *, quoted: bool) -> tuple[_Counted, bool, bool]:
    state = _Pass(ord(delimiter), quoted)
    for block in text.blocks():
        state.feed(block)
    return state.end(), state.quotes, state.opening


class _Pass:
    """The running state of a pass: what one block leaves to the next."""

    def __init__(self, delimiter: int, quoted: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.inside = False  # within quotes
        self.fields = 0  # delimiters of the unfinished line
        self.length = 0  # bytes of the unfinished line
        self.last = 10  # the byte before the block
        self.records = 0
        self.blank: list[NDArray[np.int64]] = []
        self.widths: set[int] = set()
        self.quotes = False
        self.opening = False

    def feed(self, block: bytes) -> None:
        data = np.frombuffer(block, dtype=np.uint8)
        if not len(data):
            return
        ends, marks = data == 10, data == self.delimiter
        if self.quoted and (b'"' in block or self.inside):
            self._mask_quoted(data, ends, marks)
        at, delimiters = np.flatnonzero(ends), np.flatnonzero(marks)
        if len(at):
            self._lines(data, at, delimiters)
            self.fields = len(delimiters) - int(np.searchsorted(delimiters, at[-1]))
            self.length = len(data) - 1 - int(at[-1])
        else:
            self.fields += len(delimiters)
            self.length += len(data)
        self.last = int(data[-1])

    def _mask_quoted(
        self, data: NDArray[np.uint8], ends: NDArray[np.bool_], marks: NDArray[np.bool_]
    ) -> None:
        """Take out line ends and delimiters within quotes: after an odd number of quotes."""
        quote = data == 34
        before = np.empty_like(data)
        before[0], before[1:] = self.last, data[:-1]
        self.quotes = True
        self.opening = self.opening or bool(np.any(quote & ((before == 10) | (before == self.delimiter))))
        inside = np.bitwise_xor.accumulate(quote.view(np.uint8))
        if self.inside:
            inside ^= 1
        outside = inside == 0
        self.inside = bool(inside[-1])
        ends &= outside
        marks &= outside

    def _lines(self, data: NDArray[np.uint8], at: NDArray[np.int64], delimiters: NDArray[np.int64]) -> None:
        counts = np.diff(np.searchsorted(delimiters, at), prepend=0)
        counts[0] += self.fields
        lengths = np.diff(at, prepend=-1) - 1
        lengths[0] += self.length
        before = data[at - 1] if at[0] else np.concatenate(([self.last], data[at[1:] - 1]))
        blank = (lengths == 0) | ((lengths == 1) & (before == 13))
        self.widths.update((np.flatnonzero(np.bincount(counts[~blank])) + 1).tolist())
        self.blank.append(np.flatnonzero(blank) + self.records)
        self.records += len(at)

    def end(self) -> _Counted:
        if self.length:  # the last line without a line end
            self.records += 1
            self.widths.add(self.fields + 1)
        if self.inside:
            self.widths.add(-1)  # a quote that never closes: let the exact reading say where
        blank = np.concatenate(self.blank) if self.blank else np.zeros(0, dtype=np.int64)
        return _Counted(self.records, blank.astype(np.int64), frozenset(self.widths))


def _exact(text: CsvText, delimiter: str, width: int, *, quoted: bool) -> _Counted:
    """Read line by line, as slowly as needed to name the line that is wrong."""
    reader = _reader(text.lines(), delimiter, quoted=quoted)
    blank, records, line = [], 0, 1
    try:
        for row in reader:
            if not row:
                blank.append(records)
            elif len(row) != width:
                raise FileFormatError(_ragged(text.path, line, len(row), width))
            records, line = records + 1, reader.line_num + 1
    except csv.Error:
        raise FileFormatError(
            f"{text.path.name}, line {line}: the quotes do not pair up, or a line ends in its middle"
        ) from None
    return _Counted(records, np.array(blank, dtype=np.int64), frozenset({width}))


def _ragged(path: Path, line: int, found: int, width: int) -> str:
    return (
        f"{path.name}, line {line}: {found} fields where the header has {width}; "
        "check the delimiter, the quotes and the decimal mark on that line"
    )
