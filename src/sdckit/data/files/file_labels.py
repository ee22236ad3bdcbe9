"""Column metadata of a file: labels, codes, user-missing codes, level of measurement; and codes for output."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sdckit.data import pl
from sdckit.display import Displayed, table_html
from sdckit.errors import DataError

Code = int | float | str
Range = tuple[Any, Any]


@dataclass(frozen=True)
class ColumnLabels(Displayed):
    """Metadata of one column.

    Attributes
    ----------
    label : str
        The variable label: what the column is, in words.
    codes : mapping of str to int, float or str
        The code of each category, by its text as `read_file` gives it.
    missing : tuple of pairs
        User-missing codes: the lowest and the highest of each range. A letter is one of Stata's missing values.
    measure : str
        The level of measurement: "nominal", "ordinal", "scale" or "".
    display : str
        How SPSS shows numbers, such as "F8.2"; "" otherwise.
    """

    label: str = ""
    codes: Mapping[str, Code] = field(default_factory=dict)
    missing: tuple[Range, ...] = ()
    measure: str = ""
    display: str = ""

    def _repr_html_(self) -> str:
        rows = [[str(code), text, "yes" if self.is_missing(code) else ""] for text, code in self.codes.items()]
        return table_html(["code", "label", "user-missing"], rows, title=self.label)

    def is_missing(self, code: Code) -> bool:
        """Whether a code is user-missing."""
        return any(isinstance(code, str) == isinstance(low, str) and low <= code <= high for low, high in self.missing)


@dataclass(frozen=True)
class FileLabels(Displayed):
    """Metadata of the columns of a file; columns without any are not in it.

    Attributes
    ----------
    columns : mapping of str to ColumnLabels
        By the name of the column.

    Examples
    --------
    >>> FileLabels.of({"educ": "Years of schooling"}).variables
    {'educ': 'Years of schooling'}
    """

    columns: Mapping[str, ColumnLabels] = field(default_factory=dict)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> FileLabels:
        """Metadata that consists of variable labels only."""
        return cls({name: ColumnLabels(label) for name, label in variables.items()})

    @property
    def variables(self) -> dict[str, str]:
        """Variable labels by column, for columns that have one."""
        return {name: column.label for name, column in self.columns.items() if column.label}

    def _repr_html_(self) -> str:
        rows = [[name, column.label, str(len(column.codes) or "")] for name, column in self.columns.items()]
        return table_html(["column", "label", "codes"], rows)

    def get(self, column: str) -> ColumnLabels:
        """Metadata of a column, possibly empty."""
        return self.columns.get(column, ColumnLabels())


def as_labels(labels: object) -> FileLabels:
    """Labels as `write_file` takes them: those of a file, or variable labels by column.

    Raises `DataError`: anything else.
    """
    if labels is None:
        return FileLabels()
    if isinstance(labels, FileLabels):
        return labels
    if isinstance(labels, Mapping) and all(isinstance(entry, str) for pair in labels.items() for entry in pair):
        return FileLabels.of(labels)
    raise DataError("labels= is what read_labels gives, or {column: label}, all of text", argument="labels")


# Codes of categories in SPSS and Stata: the original ones, and new ones for new categories.


LETTERS = "abcdefghijklmnopqrstuvwxyz"  # Stata's missing values .a to .z
NO_LABEL = " (no label)"  # appended by `read_labelled` to a code that equals the label of another
STATA_LEAST, STATA_MOST = -2_147_483_647, 2_147_483_620  # range of a Stata long; the highest values mean missing
FAR = 1_000_000_000  # new codes continue from the highest one, unless it is as high as this
SPSS_DISCRETE = 3  # user-missing codes that a variable can name one by one


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column in the form in which it is written."""

    values: pl.Series
    labels: Mapping[Code, str] = field(default_factory=dict)  # value labels, of codes that some record has
    missing: tuple[Code, ...] = ()  # codes in use that are user-missing
    measure: str = ""


def coded_column(series: pl.Series, known: ColumnLabels, kind: str) -> CodedColumn:
    """Convert a column to numbers, dates or text, with labels of the values that occur."""
    if series.dtype == pl.Boolean:
        flags = series.cast(pl.Int64)
        return CodedColumn(flags, _used(flags, {0: "false", 1: "true"}), (), "nominal")
    if _is_text(series.dtype):
        if series.dtype == pl.String and not known.codes:
            return CodedColumn(series, measure="nominal" if kind == "SPSS" else "")
        return _coded(series, _levels(series, known), known, kind)
    if not series.dtype.is_numeric():
        return CodedColumn(series, measure="scale")
    # User-missing codes were removed when the file was read: an equal number is a real number.
    labels = {code: text for text, code in known.codes.items() if not known.is_missing(code)}
    return CodedColumn(series, _used(series, labels, kind), (), known.measure or "scale")


def shared_codes(frames: Sequence[pl.DataFrame], labels: FileLabels, kind: str) -> FileLabels:
    """Extend the labels so that all files of one release use the same code for the same category."""
    columns = dict(labels.columns)
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames if name in frame.columns]
        known = labels.get(name)
        if not _is_text(parts[0].dtype) or not (known.codes or isinstance(parts[0].dtype, pl.Categorical | pl.Enum)):
            continue
        levels = list(dict.fromkeys(level for part in parts for level in _levels(part, known)))
        codes = codes_of_levels([level for level in levels if not _was_missing(level, known)], known, kind)
        columns[name] = replace(known, codes={**known.codes, **codes})
    return FileLabels(columns)


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def _levels(series: pl.Series, known: ColumnLabels) -> list[str]:
    """Texts that occur: in the order of an Enum, else of their original codes, then alphabetically."""
    used = set(series.drop_nulls().unique().cast(pl.String).to_list())
    kind: Any = series.dtype
    order = kind.categories if kind == pl.Enum else [*known.codes, *sorted(used - {*known.codes})]
    return [text for text in order if text in used]


def _used(series: pl.Series, labels: Mapping[Code, str], kind: str = "SPSS") -> dict[Code, str]:
    """Labels of the numbers that occur; Stata labels integers only."""
    numbers = {code: text for code, text in labels.items() if not isinstance(code, str)}
    fit = {code: text for code, text in numbers.items() if kind == "SPSS" or _fits_stata(code)}
    present = set(series.filter(series.is_in(list(fit))).to_list()) if fit else set()
    return {code: text for code, text in fit.items() if code in present}


def _coded(series: pl.Series, levels: Sequence[str], known: ColumnLabels, kind: str) -> CodedColumn:
    codes = codes_of_levels(levels, known, kind)
    missing = tuple(codes[level] for level in levels if _was_missing(level, known))
    labels = {codes[level]: level for level in levels}
    measure = known.measure if known.measure != "scale" else ""
    return CodedColumn(_replaced(series.cast(pl.String), codes), labels, missing, measure or "nominal")


def _replaced(texts: pl.Series, codes: Mapping[str, Code]) -> pl.Series:
    dtype = _dtype(codes)
    if dtype == pl.Object:  # Stata's letters among numbers
        return pl.Series(texts.name, [codes.get(text) for text in texts.to_list()], dtype)
    new = pl.Series(list(codes.values()), dtype=dtype, strict=False)
    return texts.replace_strict(pl.Series(list(codes), dtype=pl.String), new, default=None, return_dtype=dtype)


def _dtype(codes: Mapping[str, Code]) -> Any:
    kinds = {type(code) for code in codes.values()}
    if kinds <= {int}:
        return pl.Int64
    if kinds <= {str}:
        return pl.String
    return pl.Object if str in kinds else pl.Float64


def codes_of_levels(levels: Sequence[str], known: ColumnLabels, kind: str) -> dict[str, Code]:
    """Assign each category its original code; new categories get unused ones.

    Stata takes integers, and letters for user-missing values; if a category had another kind of code, all are
    numbered from 1.

    >>> size = ColumnLabels(codes={"small": 1, "large": 2, "refused": 9}, missing=((9, 9),))
    >>> codes_of_levels(["small", "medium", "refused"], size, "SPSS")
    {'small': 1, 'medium': 10, 'refused': 9}
    >>> codes_of_levels(["small", "medium", "refused"], size, "Stata")
    {'small': 1, 'medium': 10, 'refused': 'a'}
    """
    absent = [level for level in levels if _was_missing(level, known)]
    real = [level for level in levels if level not in absent]
    had = {level: code for level in real if (code := _code_of(level, known)) is not None}
    if kind == "Stata":
        if not all(map(_fits_stata, had.values())):
            known, had = ColumnLabels(), {}
        letters = _letters(absent, known)
        return {**_with_new(real, had, known), **letters} if letters else _with_new(levels, had, known)
    if any(isinstance(code, str) for code in had.values()):  # a text variable: a new category is its own code
        taken = set(known.codes.values())
        return {level: known.codes.get(level, f"{level}{NO_LABEL}" if level in taken else level) for level in levels}
    had |= {level: code for level in absent if not isinstance(code := known.codes[level], str)}
    return _with_new(levels, had, known)


def _was_missing(level: str, known: ColumnLabels) -> bool:
    return level in known.codes and known.is_missing(known.codes[level])


def code_text(code: object) -> str:
    """A code as text: 3, not 3.0."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _code_of(level: str, known: ColumnLabels) -> Code | None:
    """The code of a category; for one without a label, the number it spells."""
    if level in known.codes or not known.codes:
        return known.codes.get(level)
    text = level.removesuffix(NO_LABEL)
    try:
        number = float(text)
    except ValueError:
        return None
    if code_text(number) != text:  # 01 is a text
        return None
    code = int(number) if number.is_integer() else number
    return None if code in known.codes.values() or known.is_missing(code) else code


def _fits_stata(code: Code) -> bool:
    return isinstance(code, int) and STATA_LEAST <= code <= STATA_MOST


def _letters(levels: Sequence[str], known: ColumnLabels) -> dict[str, Code]:
    """Stata's letters of user-missing categories: original ones, or unused ones; empty if there are too many."""
    had: dict[str, Code] = {level: code for level in levels if (code := known.codes.get(level)) in set(LETTERS)}
    free = (letter for letter in LETTERS if letter not in known.codes.values())
    rest = [level for level in levels if level not in had]
    given = dict(zip(rest, free, strict=False))
    return {**had, **given} if len(given) == len(rest) else {}


def _with_new(levels: Sequence[str], had: Mapping[str, Code], known: ColumnLabels) -> dict[str, Code]:
    free = _free_codes([*known.codes.values(), *had.values()], known)
    return {level: had[level] if level in had else next(free) for level in levels}


def _free_codes(taken: Sequence[Code], known: ColumnLabels) -> Iterator[int]:
    """Yield integers that are neither used nor user-missing, continuing from the highest."""
    numbers = {code for code in taken if not isinstance(code, str)}
    above = int(max(numbers, default=0)) + 1
    # where all high numbers mean missing, downwards
    candidates = itertools.count(-1, -1) if known.is_missing(FAR) else itertools.count(above if 0 < above < FAR else 1)
    return (code for code in candidates if code not in numbers and not known.is_missing(code))
