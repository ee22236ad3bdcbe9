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
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sdckit.data import pl
from sdckit.data.files import file_checks, workbook_checks
from sdckit.data.files.csv_shape import CsvShape, CsvText
from sdckit.data.files.read_csv import open_csv, quotes_apart, scan_text
from sdckit.data.frames import exactly
from sdckit.data.missing_values.missing import DEFAULT_CODES

# Of records.
TELLS_NUMBER = re.compile(r"\b[nN] ?[=:] ?\d|\b\d+ (?:persons?|people|cases?|records?|Personen|Fälle|Faelle)\b")
SPELT = ("", *DEFAULT_CODES)  # texts that are read as missing


def texts_for_missing(column: pl.Series) -> list[str]:
    """The texts of a column that are read as missing.

    >>> sorted(texts_for_missing(pl.Series(["N", "NA", "", None])))
    ['', 'NA']
    """
    return column.filter(column.is_in(SPELT)).unique().to_list()


def spellings_of_missing(
    paths: Sequence[Path], kind: str = "CSV", *, delimiter: str | None = None, encoding: str | None = None
) -> dict[str, set[str | None]]:
    """How missing values are written in the columns of CSV files that have one which is not a blank (None)."""
    files = [open_csv(path, kind, delimiter, encoding) for path in paths]
    if not any(_has(text, _MARKS, delimiter, b".") for text, _ in files):
        return {}  # as in most files: several times as fast
    ways: dict[str, set[str | None]] = {}
    spelled = [*SPELT]  # quotes with nothing between them are not the blank of a missing value
    for path, (text, shape) in zip(paths, files, strict=True):
        raw = scan_text(text, shape, None).select(exactly(name).alias(f"r{i}") for i, name in enumerate(shape.names))
        with file_checks.clear_errors(path, kind, partial(quotes_apart, text)):
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
_BEFORE = (b",", b";", b"\t", b"|", b'"', b"\n", b"\r")
_MARKS += tuple(before + b"." for before in _BEFORE)


def _has(text: CsvText, marks: Sequence[bytes], delimiter: str | None, ends: bytes) -> bool:
    """Whether one of the marks, or of these ends of one behind a delimiter, stands in a file."""
    marks = [*marks, *(f"{delimiter}".encode() + ends[at : at + 1] for at in range(len(ends) if delimiter else 0))]
    # a byte that is not there is found out at once
    return any(
        all(mark[at : at + 1] in block for at in range(len(mark))) and mark in block
        for block in _overlapping(text.blocks())
        for mark in marks
    )


def _overlapping(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of bytes, each with the end of the one before, so that no mark is cut in two."""
    end = b"\n"
    for block in blocks:
        yield (whole := end + block)
        end = whole[-4:]


# Numbers of CSV files: a writer goes by the value, so that other forms are those of other records.


_LOOKED_AT = 10_000  # records that say which columns hold numbers
_NUMBER_FORM = r"^[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
_FORMS = (  # whole numbers; as short as can be; with a point; of so many decimals
    r"^-?[0-9]+$", r"^-?[0-9]+([.,][0-9]*[1-9])?$", r"^-?[0-9]+[.,]([0-9]*[1-9]|0)$",
    *(rf"^-?[0-9]+[.,][0-9]{{{decimals}}}$" for decimals in range(1, 10)),
)  # fmt: skip
_NO_FORM = "^$"
_CODE_FORM = r"^[+-]?0[0-9]"  # a leading zero is part of a code
_PADDED = tuple(before + mark for before in _BEFORE for mark in (b"+", b" "))
_AS_IT_IS = 1e-3, 1e5  # R gives numbers beyond these an exponent where that is shorter


def spellings_of_numbers(
    path: Path, *, delimiter: str | None = None, encoding: str | None = None, missing: Sequence[str] = ()
) -> list[str]:
    """The columns of numbers of a CSV file that write them in several ways: 1200 and 1200.0, 5 and +5, 1000 and 1e3.

    A way goes by the value where all numbers have as many decimals, or none ends in a zero behind the point but whole
    ones, which then all do or none. An exponent is one where the number is large or small.
    """
    (text, shape), codes = open_csv(path, "CSV", delimiter, encoding), (*SPELT, *missing)
    with file_checks.clear_errors(path, "CSV", partial(quotes_apart, text)):
        columns = _of_numbers(scan_text(text, shape, _LOOKED_AT, codes=codes).collect())
        if columns and not _has(text, _PADDED, delimiter, b"+ "):
            held = codes if missing or _has(text, _MARKS, delimiter, b".") else ()  # to look for them takes a while
            types = {name: pl.Int64 for name, form in columns.items() if form == _FORMS[0]}
            typed = scan_text(text, shape, None, types=types, codes=held)
            seen = [
                exactly(name).is_null().all() if name in types else exactly(name).str.contains(form).all()
                for name, form in columns.items()
            ]
            with suppress(pl.exceptions.PolarsError):  # a whole number that is written otherwise
                alike = typed.select(seen).collect(engine="streaming").row(0, named=True)
                columns = {name: form for name, form in columns.items() if name not in types and not alike[name]}
        raw = scan_text(text, shape, None, codes=codes)
        return [name for name in columns if _are_several(raw.select(exactly(name).alias("x")))]


def _of_numbers(sample: pl.DataFrame) -> dict[str, str]:
    """The columns of a sample that hold numbers alone, and a form of all of them."""
    bare = sample.with_columns(pl.all().str.strip_chars(" "))
    numbers = bare.select((pl.all().str.contains(_NUMBER_FORM) & ~pl.all().str.contains(_CODE_FORM)).all())
    columns = [name for name, are in numbers.row(0, named=True).items() if are]
    if not columns:
        return {}
    forms = [sample.select(exactly(name).str.contains(form).all() for name in columns).row(0) for form in _FORMS]
    return {
        name: next((form for form, fits in zip(_FORMS, forms, strict=True) if fits[at]), _NO_FORM)
        for at, name in enumerate(columns)
    }


def _are_several(column: pl.LazyFrame) -> bool:
    """Whether the numbers of a column are written in several ways; texts tell what they say to everybody."""
    bare, field = pl.col("x").str.strip_chars(" "), pl.col("x")
    of = column.drop_nulls().select(
        field, bare=bare, number=bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False),
        exponent=bare.str.contains("[eE]"), minus=bare.str.starts_with("-"),
        zeros=bare.str.extract(r"[.,]([0-9]*)$").str.extract("(0*)$").str.len_bytes(),
        decimals=bare.str.extract(r"[.,]([0-9]*)$").str.len_bytes(),
    ).collect()  # fmt: skip
    if not _of_numbers(of.select("x")):
        return False
    plain = of.filter(~pl.col("exponent"))
    broken = plain.filter(pl.col("decimals").is_not_null())
    is_whole = pl.col("zeros") == pl.col("decimals")
    n_whole = broken.filter(is_whole).height
    equal = broken.height == of.height and broken["decimals"].n_unique() == 1
    short = (
        broken.filter(~is_whole & (pl.col("zeros") > 0)).is_empty()
        and n_whole == broken.filter(is_whole)["decimals"].eq(1).sum()
    )
    bare_and_zero = n_whole > 0 and broken.height < plain.height
    positive = of.filter(~pl.col("minus"))
    mixtures = [
        positive["x"].str.contains(r"^ *\+"),
        plain.filter(pl.col("number").abs() < 1)["bare"].str.contains(r"^[+-]?[.,]"),
        of.filter(pl.col("exponent"))["x"].str.contains("e"),
    ]
    padded = positive.filter(pl.col("x") != pl.col("bare")).height not in (0, positive.height)
    return (
        not (equal or (short and not bare_and_zero))
        or any(marks.any() and not marks.all() for marks in mixtures)
        or (padded and of["x"].str.len_bytes().n_unique() > 1)
        or _are_mixed(of.filter("exponent")["number"].abs(), plain["number"].abs())
    )


def _are_mixed(with_exponent: pl.Series, plain: pl.Series) -> bool:
    """Whether a number has an exponent and has none, or has one of a size that no program gives it, between others."""
    low, high = _AS_IT_IS
    usual = with_exponent.filter((with_exponent > low) & (with_exponent < high))
    others = plain.filter(plain > 0)
    if with_exponent.is_in(others.implode()).any():
        return True
    return usual.len() > 0 and others.len() > 0 and bool(((usual < others.max()) & (usual > others.min())).any())


# Ends of lines of CSV files: a writer ends all alike, and leaves none empty.


_IN_QUOTES = re.compile(rb'"[^"]*"')
_BLANK_LINE = re.compile(rb"\n\r?\n(?=[^\r\n])")  # those at the end of a file stand behind no record


def ends_apart(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> bool:
    """Whether some lines of a CSV file end otherwise than others, or a blank one stands between records.

    Ends of lines within quotes are those of a text; an empty line is a record where there is one column.
    """
    text, shape = open_csv(path, "CSV", delimiter, encoding)
    n, windows, old, blank, end = 0, 0, 0, False, b""
    for part in _whole_lines(text.blocks()):
        lines = _IN_QUOTES.sub(b"", part) if b'"' in part else part
        n, windows, old = n + lines.count(b"\n"), windows + lines.count(b"\r\n"), old + lines.count(b"\r")
        blank = blank or (len(shape.names) > 1 and _BLANK_LINE.search(end + lines) is not None)
        end = lines[-2:]
    return blank or 0 < windows < max(n, old)


# Quotes of CSV files: a writer puts them around all texts, or around those that need them.


_QUOTED = "\1"  # put behind a quote that begins a field, as the parser takes quotes away
_NEEDLESS = r"^\x01[A-Za-z0-9_.-]+$"  # no program needs quotes for these


def quoted_by_record(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> list[str]:
    """The columns of a CSV file with fields in quotes that need none beside others without.

    Numbers, other texts and codes for missing values of a column may differ in that.
    """
    text, shape = open_csv(path, "CSV", delimiter, encoding)
    if not shape.quoted or not any(b'"' in block for block in text.blocks()):
        return []
    with file_checks.clear_errors(path, "CSV", partial(quotes_apart, text)):
        all_of, marked = pl.all(), pl.all().str.starts_with(_QUOTED)
        bare = ~marked & (all_of != "") & ~all_of.str.contains(f'["\n\r{re.escape(shape.delimiter)}]')
        both = set.intersection(*_columns_with(text, shape, shape.names, [marked, ~marked]))
        inside = all_of.str.strip_prefix(_QUOTED)
        code, number = inside.is_in(SPELT), inside.str.contains(_NUMBER_FORM)
        kinds = code, number, ~code & ~number
        masks = [mask & kind for kind in kinds for mask in (marked & all_of.str.contains(_NEEDLESS), bare)]
        seen = _columns_with(text, shape, [name for name in shape.names if name in both], masks) if both else []
        apart = set[str]().union(*(quoted & others for quoted, others in zip(seen[::2], seen[1::2], strict=True)))
    return [name for name in shape.names if name in apart]


def _columns_with(text: CsvText, shape: CsvShape, names: Sequence[str], masks: Sequence[pl.Expr]) -> list[set[str]]:
    """For each kind of field the columns that hold one; fields in quotes begin with a mark."""
    held = [set[str]() for _ in masks]
    for at, part in enumerate(_whole_lines(text.blocks())):
        lines = replace(shape, skip_lines=0 if at else shape.skip_lines, blank=shape.blank[:0])
        scan = scan_text(CsvText(text.path, _marked(part, shape.delimiter.encode())), lines, None)
        fields = scan.select(exactly(name).alias(f"c{i}") for i, name in enumerate(names))
        held_of = (mask.any().name.prefix(f"m{i}") for i, mask in enumerate(masks))
        row = fields.select(held_of).collect().row(0, named=True)
        for i, columns in enumerate(held):
            columns.update(name for j, name in enumerate(names) if row[f"m{i}c{j}"])
    return held


def _marked(part: bytes, delimiter: bytes) -> bytes:
    """Lines with a mark behind each quote that begins a field, but for empty ones and quotes within a field."""
    lines = b"\n" + part
    for before in (delimiter, b"\n"):
        lines = lines.replace(before + b'"', before + b'"\1')
    for after in (b'"', delimiter, b"\n", b"\r"):
        lines = lines.replace(b'"\1' + after, b'"' + after)
    return lines[1:]


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks that end with a line, and not within quotes."""
    rest = b""
    for block in blocks:
        end = (rest := rest + block).rfind(b"\n") + 1
        while end and rest.count(b'"', 0, end) % 2:
            end = rest.rfind(b"\n", 0, end - 1) + 1
        if end:
            yield rest[:end]
        rest = rest[end:]
    if rest:
        yield rest


# Cells of a sheet: how those are written that are read as missing or as numbers, and how all look.


_PARTS = re.compile(r"xl/(worksheets/[^/]*|sharedStrings)\.xml")
_ROWS = re.compile(rb"<(?:\w+:)?row\b([^>]*[^/>])?>(.*?)</(?:\w+:)?row>", re.DOTALL)
_CELLS = re.compile(
    rb"<(?:\w+:)?c\b(?:\s+r=\"([A-Z]+)\d+\")?([^>]*?)(?:/>|>(<v>[^<]*</v>|.*?)</(?:\w+:)?c>)", re.DOTALL
)
_NUMBER_OF_ROW = re.compile(rb"\sr=[\"'](\d{1,9})[\"']")
_LOOK = re.compile(rb"\s(?:s|hidden|outlineLevel|customHeight)=[\"'][^\"']*")  # of a row, or of a cell its style
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
    texts = [b"".join(_CONTENT.findall(text)) for text in workbook_checks.STRING.split(shared)[1:]]
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
