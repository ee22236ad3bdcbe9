"""Structure of a CSV file: encoding, delimiter, header, number of records; every line must have as many fields."""

import codecs
import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sdckit.data.files.file_checks import is_code, is_value, refuse_duplicates, unpacked
from sdckit.errors import DataError, FileFormatError, SdcWarning
from sdckit.numerics.array_types import Bools, Bytes, Ints

# Header detection: whether the first line holds column names, or is a record of a person.


_BELOW = 2_000  # records that the header is compared with


@dataclass(frozen=True)
class HeaderNames:
    """The column names of a header."""

    names: tuple[str, ...]
    # whether the records confirm the header: some numeric column has a name that is not a number
    certain: bool


def header_names(path: Path, header: Sequence[str], below: Iterable[Sequence[str]]) -> HeaderNames:
    """Column names from the header; an empty one becomes column_1, column_2, ... by position.

    `header`: the fields of the first line. `below`: the records after it. Raises `DataError`: the line looks
    like a record (its fields are withheld); `ColumnError`: a name is repeated.

    >>> header_names(Path("x.csv"), ["sex", "age"], [["f", "34"], ["m", "51"]])
    HeaderNames(names=('sex', 'age'), certain=True)
    """
    fields = [field.strip() for field in header]
    columns = _columns(islice(below, _BELOW), len(fields))
    certain = any(map(_named, fields, columns))
    if reason := _like_a_record(fields, columns, certain=certain):
        raise DataError(
            f"{path.name}: the first line does not look like a header (names of columns): {reason}. "
            "Put a line with the names first; if these are names, rename those that look like values"
        )
    names = [field or f"column_{i}" for i, field in enumerate(fields, start=1)]
    refuse_duplicates(path, names)
    return HeaderNames(tuple(names), certain)


def _columns(rows: Iterable[Sequence[str]], width: int) -> list[set[str]]:
    """Distinct values of each column; lines of another width are skipped, and reported elsewhere."""
    columns: list[set[str]] = [set() for _ in range(width)]
    for row in rows:
        if len(row) == width:
            for values, value in zip(columns, row, strict=True):
                values.add(value.strip())
    return columns


def _named(field: str, values: set[str]) -> bool:
    """Whether a column of numbers or dates has a textual header."""
    if is_code(field) or is_value(field):
        return False
    known = [value for value in values if not is_code(value)]
    return bool(known) and all(map(is_value, known))


def _like_a_record(fields: Sequence[str], columns: Sequence[set[str]], *, certain: bool) -> str:
    """Why the line looks like a record, or ""; never quotes a field."""
    if values := [str(i) for i, field in enumerate(fields, start=1) if is_value(field)]:
        return f"{_fields(values)} a number, a date or an address"
    if codes := [str(i) for i, field in enumerate(fields, start=1) if field and is_code(field)]:
        return f"{_fields(codes)} a code for missing"
    filled = [(field, below) for field, below in zip(fields, columns, strict=True) if field]
    if 2 * sum(field in below for field, below in filled) > len(filled):
        return "most of its fields stand again further down in their columns"
    names = [field for field, _ in filled]
    if len(set(names)) < len(names) and not certain:
        return "some of its fields are the same"
    return "" if filled else "all its fields are empty"


def _fields(positions: Sequence[str]) -> str:
    shown = ", ".join(f"'{position}'" for position in positions[:5])  # in quotes, as names: they count no records
    shown += f" and {len(positions) - 5} more" if len(positions) > 5 else ""
    return f"field {shown} is" if len(positions) == 1 else f"fields {shown} are each"


# Encoding of a CSV file: detected and verified before anything is parsed.


_BLOCK = 1 << 23
_MARKS = (  # the longer first: UTF-32's little-endian mark starts with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOR_EXCEL = re.compile(rb"sep=[^\w\r\n]\r?\n", re.IGNORECASE)  # a first line that says the delimiter
_HOW = 'name the encoding, such as encoding="cp1252" (on the command line --encoding cp1252)'
_ANOTHER = _HOW.replace("cp1252", "cp1250")  # where cp1252 was tried


@dataclass(frozen=True)
class CsvText:
    """UTF-8 text: the file itself if it is UTF-8 already, else `data` (unpacked, transcoded or generated)."""

    path: Path
    data: bytes | None = None

    @property
    def source(self) -> Path | bytes:
        """The input of the parser."""
        return self.path if self.data is None else self.data

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes in blocks, without a byte-order mark."""
        blocks = _blocks(self.path, self.data)
        yield next(blocks, b"").removeprefix(codecs.BOM_UTF8)
        yield from blocks

    def lines(self) -> Iterator[str]:
        """Yield the lines, split at line feeds only, for exact but slow parsing."""
        rest = b""
        for block in self.blocks():
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield line.decode("utf-8") + "\n"
        if rest:
            yield rest.decode("utf-8")


def open_text(path: Path, encoding: str | None) -> CsvText:
    """Detect and verify the encoding: byte-order mark, else UTF-8, else cp1252 with a warning.

    A compressed file is unpacked into memory. Raises `FileFormatError`: unpacking fails; the bytes are not valid in
    that encoding, or hold NUL: the message gives the line.
    """
    raw = unpacked(path)
    codec = _codec(path, encoding) or _marked(path, raw)
    if codec == "utf-8" or (codec is None and _is_utf8(path, raw)):
        text = CsvText(path, raw)
        if codec == "utf-8" and not _is_utf8(path, raw):
            raise _undecodable(path, _whole(path, raw), "utf-8")
    else:
        text = CsvText(path, _transcoded(path, _whole(path, raw), codec))
    return _with_line_feeds(text)


def _blocks(path: Path, data: bytes | None) -> Iterator[bytes]:
    """Yield bytes in memory, or of a file, in blocks."""
    if data is not None:
        for start in range(0, len(data), _BLOCK):
            yield data[start : start + _BLOCK]
        return
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _whole(path: Path, data: bytes | None) -> bytes:
    return path.read_bytes() if data is None else data


def _codec(path: Path, encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        b"a".decode(name, "ignore")  # refuses codecs that are not of text, or that cannot say where they failed
    except (LookupError, ValueError):
        raise FileFormatError(f"{path.name}: there is no encoding of the name given; {_HOW}") from None
    return "utf-8" if name == "utf-8-sig" else name


def _marked(path: Path, data: bytes | None) -> str | None:
    with io.BytesIO(data[:4]) if data is not None else path.open("rb") as file:
        head = file.read(4)
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def _is_utf8(path: Path, data: bytes | None) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(path, data):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _bad_line(raw: bytes, codec: str) -> int:
    """The first line (1-based) that the codec cannot decode, or of which it makes what is no text."""
    try:
        before = raw.decode(codec)
        before.encode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode(codec, "ignore")
    except UnicodeEncodeError as error:
        before = before[: error.start]
    return before.count("\n") + (before.count("\r") if "\n" not in before else 0) + 1


def _undecodable(path: Path, raw: bytes, codec: str) -> FileFormatError:
    how = _ANOTHER if codec == "cp1252" else _HOW
    return FileFormatError(f"{path.name}, line {_bad_line(raw, codec)}: the bytes are not {codec} text; {how}")


def _transcoded(path: Path, raw: bytes, codec: str | None) -> bytes:
    """Transcode the whole text to UTF-8; without a codec, cp1252 is assumed with a warning."""
    chosen = codec or "cp1252"
    if codec is None and b"\0" in raw:
        raise _nul(path, raw)
    try:
        data = raw.decode(chosen).removeprefix("\ufeff").encode("utf-8")
    except UnicodeError:
        if codec is None:
            line = _bad_line(raw, "utf-8")
            raise FileFormatError(
                f"{path.name}, line {line}: the bytes are neither UTF-8 nor cp1252 text; {_ANOTHER}"
            ) from None
        raise _undecodable(path, raw, chosen) from None
    if codec is None:
        warnings.warn(
            f"{path.name}, line {_bad_line(raw, 'utf-8')}: not UTF-8; the file was read as cp1252 "
            "(western Windows). If letters look wrong, " + _ANOTHER,
            SdcWarning,
            stacklevel=2,
        )
    return data


def _nul(path: Path, raw: bytes) -> FileFormatError:
    line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
    return FileFormatError(
        f"{path.name}, line {line}: holds a NUL byte, so it is not plain text; if it is UTF-16, "
        'say so: encoding="utf-16-le" (on the command line --encoding utf-16-le)'
    )


def decoded(path: Path, encoding: str) -> tuple[str | None, str | None, bool]:
    """The text of a file in an encoding, and in that of its byte-order mark or UTF-8; None where it is no such text.

    And whether its own is clearly meant where both are text: an encoding of single bytes decodes anything.
    """
    raw, codec = _whole(path, unpacked(path)), _codec(path, encoding) or ""
    mark = _marked(path, raw)
    switches = b"\0" in raw or b"\x1b" in raw  # text of two bytes a letter, or that switches between alphabets
    own = _text_in(raw, mark or "utf-8") if mark or not switches else None
    of_single_bytes = len(bytes(range(256)).decode(codec, "replace")) == 256
    extends_ascii = b"A".decode(codec, "replace") == "A"
    return _text_in(raw, codec), own, bool(mark) or (of_single_bytes and not (raw.isascii() and extends_ascii))


def _text_in(raw: bytes, codec: str) -> str | None:
    try:
        return raw.decode(codec).removeprefix("\ufeff")
    except UnicodeError:
        return None


def _with_line_feeds(text: CsvText) -> CsvText:
    """Refuse NUL bytes and empty text; convert line ends of carriage returns alone to line feeds.

    A first line that tells Excel the delimiter becomes a blank one.
    """
    if line := _FOR_EXCEL.match(next(text.blocks(), b"")):  # a blank line in its place keeps the numbers of lines
        text = CsvText(text.path, b"\n" + b"".join(text.blocks())[line.end() :])
    feed = returned = filled = False
    for block in text.blocks():
        if b"\0" in block:
            raise _nul(text.path, b"".join(text.blocks()))
        feed = feed or b"\n" in block
        returned = returned or b"\r" in block
        filled = filled or not block.isspace()
    if not filled:
        raise FileFormatError(f"{text.path.name} is empty: it holds only blank lines")
    if returned and not feed:
        return CsvText(text.path, b"".join(text.blocks()).replace(b"\r", b"\n"))
    return text


_HEAD = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")
_SPELT = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class CsvShape:
    """How to split a CSV file into records."""

    names: tuple[str, ...]
    delimiter: str  # one character
    quoted: bool  # whether double quotes enclose fields; else they are ordinary characters
    skip_lines: int  # lines before the first record
    n_rows: int  # number of records, blank lines not counted
    blank: Ints  # positions of blank lines among the rows that a parser yields
    certain: bool = True  # whether the records confirm that the first line is a header


def csv_shape(text: CsvText, delimiter: str | None) -> CsvShape:
    """Detect the structure and check every line.

    Raises `FileFormatError`: a line has more or fewer fields than the header (its number is given), or another
    delimiter than the given one fits; `ColumnError`: a column name is repeated; `DataError`: the first line looks
    like a record, or there are no records.
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
    heading = header_names(text.path, header, _readable(rows))
    names = heading.names
    if ragged:
        counted = _exact(text, mark, len(names), quoted=quoted)
    first = lead + 1
    blank = counted.blank[counted.blank >= first] - first
    total = counted.records - first
    if len(names) == 1:  # in a single column an empty line is a missing value, except at the end
        kept = np.flatnonzero((blank - np.arange(total - len(blank), total)) != 0)
        blank = blank[kept[-1] + 1 :] if len(kept) else blank
    else:  # parsers fail on empty lines between header and records: skip them with the header
        between = int(np.count_nonzero(blank == np.arange(len(blank))))
        blank, total, skip = blank[between:] - between, total - between, skip + between
    if total - len(blank) <= 0:
        raise DataError(f"{text.path.name} holds a header but no records")
    return CsvShape(names, mark, quoted, skip, total - len(blank), blank, heading.certain)


def _head(text: CsvText) -> str:
    """The first complete lines, up to a megabyte."""
    head = b""
    for block in text.blocks():
        head += block
        if len(head) > _HEAD:
            end = head.rfind(b"\n", 0, _HEAD)
            head = head[: end + 1] if end >= 0 else head
            break
    return head.decode("utf-8", "ignore")


def _reader(lines: Any, delimiter: str, *, quoted: bool) -> Any:
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)


def _first_row(path: Path, rows: Any) -> tuple[int, list[str]]:
    """Number of blank lines before the header, and the fields of the header."""
    with suppress(csv.Error):
        for lead, row in enumerate(rows):
            if row:
                return lead, list(row)
    raise FileFormatError(
        f"{path.name}: the header cannot be read; check its quotes and that no line ends in its middle"
    )


def _readable(rows: Any) -> Iterator[list[str]]:
    """Yield records up to the first quoting error, which the exact pass reports."""
    with suppress(csv.Error):
        yield from rows


def _given(path: Path, delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    mark = _SPELT.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        raise FileFormatError(
            f"{path.name}: the delimiter must be one character, such as ';' or 'tab'", argument="delimiter"
        )
    return mark


def _widths(head: str, mark: str, *, strict: bool = False) -> list[int]:
    """Number of fields of each of the first lines; empty if quotes are unbalanced; `strict`: or end within a field."""
    try:
        reader = csv.reader(io.StringIO(head, newline="\n"), delimiter=mark, strict=strict)
        return [len(row) for row in itertools.islice(reader, 200) if row]
    except csv.Error:
        return []


def _detected(head: str) -> str:
    """Detect the delimiter: the one under which most lines have as many fields as the header.

    Of several, one under which quotes enclose whole fields: under another they may make one line of all.
    """
    best, delimiter = (0.0, False, 0), ","
    for mark in _DELIMITERS:
        widths = _widths(head, mark)
        if not widths or widths[0] < 2:
            continue
        alike = sum(width == widths[0] for width in widths) / len(widths)
        score = (alike, bool(_widths(head, mark, strict=True)), widths[0])
        if score > best:
            best, delimiter = score, mark
    return delimiter


def _refuse_delimiter(path: Path, head: str, given: str) -> None:
    """Raise an error that names a fitting delimiter (equal widths), if the given one does not fit."""
    if marks := [mark for mark in _DELIMITERS if mark != given and _fits(head, mark, strict=True)]:
        raise FileFormatError(
            f"{path.name}: the delimiter given ({spelt_mark(given)}) does not fit; {spelt_mark(marks[0])} cuts the "
            f"lines into as many fields each: leave the delimiter out, or give {spelt_mark(marks[0])}"
        )


def _fits(head: str, mark: str, *, strict: bool = False) -> bool:
    """Whether a delimiter cuts the first lines into as many fields each, two at least."""
    widths = _widths(head, mark, strict=strict)
    return bool(widths) and widths[0] > 1 and len(set(widths)) == 1


def cut_alike(text: CsvText, given: str) -> tuple[list[str], bool]:
    """The usual delimiters, but the one given, that cut the first lines into as many fields each; whether that does."""
    head, own = _head(text), _given(text.path, given) or ""
    return [mark for mark in _DELIMITERS if mark != own and _fits(head, mark, strict=True)], _fits(head, own)


def spelt_mark(mark: str) -> str:
    """A delimiter as it is named in a message."""
    return "'tab'" if mark == "\t" else f"'{mark}'"


@dataclass(frozen=True)
class _Counted:
    """Number of records (blank lines included), positions of blank ones, and the field counts that occur."""

    records: int
    blank: Ints
    widths: frozenset[int]

    def ragged(self, width: int) -> bool:
        return bool(self.widths - {width})


def _count(text: CsvText, delimiter: str) -> tuple[_Counted, bool]:
    """Count fields per line in one vectorised pass; if no quote opens a field, quotes are ordinary characters."""
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
    """State of a pass carried from block to block."""

    def __init__(self, delimiter: int, quoted: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.inside = False  # within quotes
        self.fields = 0  # delimiters of the unfinished line
        self.length = 0  # bytes of the unfinished line
        self.last = 10  # the byte before the block
        self.records = 0
        self.blank: list[Ints] = []
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

    def _mask_quoted(self, data: Bytes, ends: Bools, marks: Bools) -> None:
        """Unset line ends and delimiters within quotes, that is after an odd number of quotes (in place)."""
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

    def _lines(self, data: Bytes, at: Ints, delimiters: Ints) -> None:
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
            self.widths.add(-1)  # an unclosed quote: the exact pass reports where
        blank = np.concatenate(self.blank) if self.blank else np.zeros(0, dtype=np.int64)
        return _Counted(self.records, blank.astype(np.int64), frozenset(self.widths))


def _exact(text: CsvText, delimiter: str, width: int, *, quoted: bool) -> _Counted:
    """Parse line by line, slowly, to report the number of the line that is wrong."""
    reader = _reader(text.lines(), delimiter, quoted=quoted)
    blank, records, line = [], 0, 1
    try:
        for row in reader:
            if not row:
                blank.append(records)
            elif len(row) != width:
                raise FileFormatError(
                    f"{text.path.name}, line {line}: {'more' if len(row) > width else 'fewer'} fields than the header "
                    "has; check the delimiter, the quotes and the decimal mark on that line"
                )
            records, line = records + 1, reader.line_num + 1
    except csv.Error:
        raise FileFormatError(
            f"{text.path.name}, line {line}: the quotes do not pair up, or a line ends in its middle"
        ) from None
    return _Counted(records, np.array(blank, dtype=np.int64), frozenset({width}))
