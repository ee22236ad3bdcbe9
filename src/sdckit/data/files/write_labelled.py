"""SPSS and Stata files out: categories as labelled codes, labels of variables, user-missing codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.files.coded_columns import SPSS_DISCRETE, CodedColumn, coded_column
from sdckit.data.files.file_labels import ColumnLabels, FileLabels
from sdckit.errors import ColumnError, DataError, FileFormatError

if TYPE_CHECKING:
    import polars as pl


LABELLED = ("SPSS", "Stata")
# The longest label of a variable and of a value: SPSS counts bytes, Stata letters.
LONGEST = {"SPSS": (256, 120), "Stata": (80, 4_000)}
EXACT = 2**53  # numbers are stored as doubles
RESERVED = {
    "SPSS": frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"]),
    "Stata": frozenset(
        ["_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_N", "_pi",
         "_pred", "_rc", "_skip", "strL", "using", "with"]
    ),
}  # fmt: skip
NAMES = {"SPSS": re.compile(r"(?![\d_])[\w@][\w.$#@]*(?<!\.)"), "Stata": re.compile(r"(?!\d)\w+")}
# Where the time of writing stands: the same release is the same bytes whenever it is written.
TIME = {
    "SPSS": (re.compile(rb"(?s)(?<=\A.{92})\d\d \w{3} \d\d\d\d:\d\d:\d\d"), b"01 Jan 7000:00:00"),
    "Stata": (re.compile(rb"(?<=<timestamp>\x11)\d\d \w{3} \d{4} \d\d:\d\d"), b"01 Jan 1970 00:00"),
}


def check_writer(path: Path, kind: str) -> None:
    """Refuse the format where what writes it is not installed."""
    if kind in LABELLED and find_spec("pyreadstat") is None:
        raise FileFormatError(
            f'{path.name}: writing {kind} files needs pyreadstat; install it: pip install "sdckit[files]"'
        )


def check_names(columns: Iterable[str], kind: str) -> None:
    """Refuse names of columns that the format cannot hold.

    Raises `ColumnError`: the first of them is named.
    """
    seen: dict[str, str] = {}
    for name in columns:
        if why := _why_not(name, kind):
            raise ColumnError(f"column {name!r} cannot be written as {kind}: {why}; rename it")
        other = seen.setdefault(name.casefold() if kind == "SPSS" else name, name)
        if other != name:
            raise ColumnError(
                f"columns {other!r} and {name!r} are one name in SPSS, which reads capital and small letters "
                "alike; rename one"
            )


def _why_not(name: str, kind: str) -> str:
    longest, length = (64, len(name.encode())) if kind == "SPSS" else (32, len(name))
    if length > longest:
        return f"names have at most {longest} {'bytes' if kind == 'SPSS' else 'letters'} there"
    if not NAMES[kind].fullmatch(name):
        return "names are letters, digits and underscores there, and start with a letter"
    if (name.upper() if kind == "SPSS" else name) in RESERVED[kind]:
        return "the word is reserved there"
    return ""


def write_labelled(frame: pl.DataFrame, path: Path, kind: str, labels: FileLabels, *, compress: bool) -> None:
    """Write a frame that holds nothing but its records; `compress` makes a .zsav."""
    import polars as pl
    import pyreadstat

    check_names(frame.columns, kind)
    coded = {
        name: coded_column(_storable(frame[name], kind), labels.get(name), kind) for name in frame.columns
    }
    data = pl.DataFrame({name: one.values for name, one in coded.items()})
    told: dict[str, Any] = {
        "column_labels": {
            name: _cut(text, kind, 0) for name, text in labels.variables.items() if name in coded
        },
        "variable_value_labels": {
            name: {code: _cut(text, kind, 1) for code, text in one.labels.items()}
            for name, one in coded.items()
            if one.labels
        },
    }
    try:
        if kind == "SPSS":
            pyreadstat.write_sav(data, str(path), compress=compress, **told, **_of_spss(coded, labels))
        else:
            letters = {name: found for name, one in coded.items() if (found := _letters(one))}
            pyreadstat.write_dta(data, str(path), missing_user_values=letters or None, **told)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError):
        _tell_system(path)
        raise DataError(f"a column cannot be written as {kind}; make it text or numbers first") from None
    _without_time(path, kind)


def _tell_system(path: Path) -> None:
    """Raise the system's own error where no more can be written: the library has only one for all."""
    with path.open("ab") as file:
        file.write(b"\0" * 4096)


def _letters(one: CodedColumn) -> list[str]:
    return [code for code in one.missing if isinstance(code, str)]


def _of_spss(coded: Mapping[str, CodedColumn], labels: FileLabels) -> dict[str, Any]:
    shown = {name: form for name, one in coded.items() if (form := _display(one, labels.get(name)))}
    return {
        "missing_ranges": {
            name: _ranges(one, labels.get(name)) for name, one in coded.items() if one.missing
        },
        "variable_measure": {name: one.measure for name, one in coded.items() if one.measure},
        "variable_format": shown,
    }


def _ranges(one: CodedColumn, known: ColumnLabels) -> list[Any]:
    """User-missing codes one by one; more than SPSS can name so by the ranges of the file that hold them."""
    if len(one.missing) <= SPSS_DISCRETE:
        return list(one.missing)
    held = [
        {"lo": low, "hi": high}
        for low, high in known.missing
        if not isinstance(low, str) and any(low <= code <= high for code in one.missing)
    ]
    return held or [{"lo": min(one.missing), "hi": max(one.missing)}]


def _display(one: CodedColumn, known: ColumnLabels) -> str:
    """How SPSS shows numbers: as the file had it, whole numbers without decimals."""
    if not one.values.dtype.is_numeric():
        return ""
    if one.values.dtype.is_float():
        return known.display if re.fullmatch(r"F\d+\.\d+", known.display) else ""
    longest = max(len(str(value)) for value in (0, one.values.min(), one.values.max()))
    return f"F{longest}.0"


def _storable(series: pl.Series, kind: str) -> pl.Series:
    """A column of a kind that the format knows; refuse others, and numbers that it would change."""
    import polars as pl

    dtype, name = series.dtype, series.name
    if dtype in (pl.Null, pl.String):
        return series.cast(pl.String).fill_null("")  # what both formats have for a missing text
    if isinstance(dtype, pl.Decimal):
        return series.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        return series.dt.replace_time_zone(None)
    if dtype.is_float():
        known = series.fill_nan(None)
        if known.is_infinite().any():
            raise DataError(
                f"column {name!r} holds infinite numbers, which {kind} cannot hold; make them missing"
            )
        return known
    if dtype.is_integer() and series.len() > series.null_count():
        if not series.cast(pl.Float64).abs().le(EXACT).all():
            raise DataError(
                f"column {name!r} holds whole numbers over 2^53, which {kind} rounds; make it text"
            )
        return series.cast(pl.Int64)
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration):
        raise DataError(
            f"a column cannot be written as {kind} (lists, structures or Python objects); make it text first"
        )
    return series


def _cut(text: str, kind: str, which: int) -> str:
    longest = LONGEST[kind][which]
    if kind == "Stata":
        return text[:longest]
    return text.encode()[:longest].decode("utf-8", "ignore")


def _without_time(path: Path, kind: str) -> None:
    pattern, instead = TIME[kind]
    with path.open("r+b") as file:
        head = file.read(512)
        file.seek(0)
        file.write(pattern.sub(instead, head, count=1))
