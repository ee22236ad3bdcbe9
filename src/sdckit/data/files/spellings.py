"""What tells records apart that are read alike: spellings of missing values and of numbers, and styles of cells.

A blank and `NA` are one missing value to every measure, and 1200 and 1200.0 one number. Whoever has the file sees which
records were changed, where only theirs are written by another program.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sdckit.data import pl
from sdckit.data.files.csv_shape import csv_shape, open_text
from sdckit.data.files.file_checks import clear_errors
from sdckit.data.files.read_csv import quotes_apart, scan_text
from sdckit.data.files.workbook_checks import STRING
from sdckit.data.frames import exactly
from sdckit.data.missing_values.missing import DEFAULT_CODES

SPELT = ("", *DEFAULT_CODES)  # texts that are read as missing


def spellings_of_missing(
    paths: Sequence[Path], kind: str = "CSV", *, delimiter: str | None = None, encoding: str | None = None
) -> dict[str, set[str | None]]:
    """How missing values are written in the columns of CSV files that have one which is not a blank (None)."""
    texts = [open_text(path, encoding) for path in paths]
    marks = (*_MARKS, f"{delimiter}.".encode()) if delimiter else _MARKS
    if not any(mark in block for text in texts for block in _overlapping(text.blocks()) for mark in marks):
        return {}  # as in most files: several times as fast
    ways: dict[str, set[str | None]] = {}
    spelled = [*SPELT]  # quotes with nothing between them are not the blank of a missing value
    for path, text in zip(paths, texts, strict=True):
        shape = csv_shape(text, delimiter)
        raw = scan_text(text, shape, None).select(exactly(name).alias(f"r{i}") for i, name in enumerate(shape.names))
        with clear_errors(path, kind, partial(quotes_apart, text)):
            held = pl.all().is_in(spelled).any().name.prefix("h"), pl.all().null_count().name.prefix("n")
            some = raw.select(*held).collect(engine="streaming").row(0, named=True)
            columns = {i: pl.col(f"r{i}") for i in range(len(shape.names)) if some[f"hr{i}"]}
            frames = pl.collect_all(
                [raw.select(column.filter(column.is_in(spelled)).unique()) for column in columns.values()],
                engine="streaming",
            )
        for i, name in enumerate(shape.names):
            ways.setdefault(name, set()).update([None] if some[f"nr{i}"] else [])
        for i, frame in zip(columns, frames, strict=True):
            ways[shape.names[i]].update(frame.to_series())
    return {name: found for name, found in ways.items() if found - {None}}


# What a file with such a field has somewhere: a code, quotes with nothing between them, or a point that begins one.
_MARKS = (b'""', *(code.encode() for code in DEFAULT_CODES if code != "."))
_MARKS += tuple(before + b"." for before in (b",", b";", b"\t", b"|", b'"', b"\n", b"\r"))


def _overlapping(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of bytes, each with the end of the one before, so that no mark is cut in two."""
    end = b"\n"
    for block in blocks:
        yield (whole := end + block)
        end = whole[-4:]


# Cells of a sheet: how those are written that are read as missing or as numbers, and how all look.


_PARTS = re.compile(r"xl/(worksheets/[^/]*|sharedStrings)\.xml")
_ROWS = re.compile(rb"<(?:\w+:)?row\b([^>]*[^/>])?>(.*?)</(?:\w+:)?row>", re.DOTALL)
_CELLS = re.compile(
    rb"<(?:\w+:)?c\b(?:\s+r=\"([A-Z]+)\d+\")?([^>]*?)(?:/>|>(<v>[^<]*</v>|.*?)</(?:\w+:)?c>)", re.DOTALL
)
_NUMBER_OF_ROW = re.compile(rb"\sr=[\"'](\d{1,9})[\"']")
_LOOK = re.compile(rb"\s(?:s|hidden|outlineLevel)=[\"'][^\"']*")  # of a row, or of a cell its style
_TYPE = re.compile(rb"\st=[\"'](\w*)")
_CONTENT = re.compile(rb"<(?:\w+:)?[vt](?:\s[^>]*)?>([^<]*)<")
_BY_VALUE = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?")  # texts of which a writer that goes by the value makes a number
_OF_PARTS = re.compile(rb"<(?:\w+:)?rPr[\s>/]")
_NUMBER, _NUMBER_AS_TEXT, _TEXT, _BLANK = b"number", b"number as text", b"text", b"blank"
_VALUES = {_NUMBER, _NUMBER_AS_TEXT, _TEXT}


def spellings_of_cells(path: Path, header_row: int | None, *, codes: bool) -> tuple[list[str], bool]:
    """The columns of a workbook that write missing values or numbers in several ways; whether styles differ by record.

    A cell without a value may be absent, blank, an error or, with `codes`, a text that is read as missing; a number may
    be a text. Styles are those of the cells of a column that are written in one way, of rows, and of parts of a text.
    """
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist() if _PARTS.fullmatch(name)}
    shared = parts.pop("xl/sharedStrings.xml", b"")
    texts = [b"".join(_CONTENT.findall(text)) for text in STRING.split(shared)[1:]]
    several, styled = dict[str, None](), any(map(_OF_PARTS.search, [shared, *parts.values()]))
    for sheet in parts.values():
        names, cells, looks = _cells_of(sheet, texts, header_row, codes=codes)
        for column, seen in cells.items():
            ways = {way for _, way in seen}
            missing = len(ways - _VALUES) + (sum(seen.values()) < sum(looks.values()))
            if missing > 1 or {_NUMBER, _NUMBER_AS_TEXT} <= ways:
                several[names.get(column, column.decode())] = None
            styled |= len(seen) > len(ways)  # of one way: programs give dates a style, and none where they are missing
        styled |= len(looks) > 1
    return list(several), styled


_Cells: TypeAlias = dict[bytes, Counter[tuple[bytes, bytes]]]  # by column: looks and ways, with the cells of each


def _cells_of(
    sheet: bytes, texts: Sequence[bytes], header_row: int | None, *, codes: bool
) -> tuple[dict[bytes, str], _Cells, Counter[bytes]]:
    """Names of columns, their cells, and looks of rows; rows without a value are none."""
    names: dict[bytes, str] = {}
    cells: _Cells = defaultdict(Counter)
    looks: Counter[bytes] = Counter()
    missing = {text.encode() for text in (SPELT if codes else ("",))}
    ways = [_way_of_text(text, missing) for text in texts]
    kinds: dict[bytes, tuple[bytes, bytes]] = {}  # what is said of a cell is said of many
    for number, row in enumerate(_ROWS.finditer(sheet), 1):
        about, content = row.groups(b"")
        place, held = _NUMBER_OF_ROW.search(about), _CELLS.findall(content)
        if (int(place[1]) if place else number) < (header_row or 1) or not any(inside for _, _, inside in held):
            continue
        if not names:
            names = {column or b"%d" % at: _name(more, inside, texts) for at, (column, more, inside) in enumerate(held)}
            continue
        looks[b"".join(_LOOK.findall(about))] += 1
        for at, (column, more, inside) in enumerate(held):  # which column it is few files do not say
            if more not in kinds:
                kinds[more] = b"".join(_LOOK.findall(more)), b"".join(_TYPE.findall(more))
            look, kind = kinds[more]
            if kind == b"s":
                way = ways[_number(inside)]
            elif kind in (b"str", b"inlineStr"):
                way = _way_of_text(b"".join(_CONTENT.findall(inside)), missing)
            elif kind == b"e":
                way = inside
            else:
                way = _NUMBER if len(inside) > len(b"<v></v>") else _BLANK
            cells[column or b"%d" % at][look, way] += 1
    return names, cells, looks


def _number(inside: bytes) -> int:
    """The place of the text of a cell among the shared ones."""
    plain = inside[3:-4]
    return int(plain if plain.isdigit() else _CONTENT.findall(inside)[0])


def _name(more: bytes, inside: bytes, texts: Sequence[bytes]) -> str:
    text = texts[_number(inside)] if b"s" in _TYPE.findall(more) else b"".join(_CONTENT.findall(inside))
    return html.unescape(text.decode("utf-8", "replace"))


def _way_of_text(text: bytes, missing: Set[bytes]) -> bytes:
    return text if text in missing else _NUMBER_AS_TEXT if _BY_VALUE.fullmatch(text) else _TEXT
