"""Generalisation hierarchies: each value with its generalisation at every level."""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import contains
from pathlib import Path
from typing import Any, NamedTuple

from sdckit.data import arguments
from sdckit.data.files.csv_shape import open_text
from sdckit.errors import DataError, FileFormatError

# Parsing labels of bands ("30-39", "65+") as ranges of numbers: our own and the usual spellings.


# Lower and upper bound of the numbers that a label covers; equal for a single number.
Range = tuple[float, float]
NUMBER = r"(-?\d+(?:\.\d+)?)"
UNIT = re.compile(r"\s*(?:years?|yrs?|jahren?|ans|años)(?: old)?$")
DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})
INTERVAL = re.compile(rf"([\[(\]])\s*(?:{NUMBER}|-?(?:inf|∞))\s*[,;]\s*(?:{NUMBER}|\+?(?:inf|∞))\s*([\])\[])")
RANGE = re.compile(rf"{NUMBER}\s*(?:-|to|bis|\.\.)\s*{NUMBER}")
SINGLE = re.compile(NUMBER)
FROM = re.compile(
    rf"(?:>=|from|at least|ab)\s*{NUMBER}|"
    rf"{NUMBER}\s*(?:\+|plus|(?:and|or) (?:over|more|above|older)|und (?:mehr|älter|darüber)|oder mehr)"
)
ABOVE = re.compile(rf"(?:>|over|above|more than|über|mehr als)\s*{NUMBER}")
UP_TO = re.compile(
    rf"(?:<=|up to|at most|bis zu|bis)\s*{NUMBER}|"
    rf"{NUMBER}\s*(?:and|or) (?:under|less|below|younger)|{NUMBER}\s*und (?:weniger|jünger|darunter)"
)
BELOW = re.compile(rf"(?:<|under|below|less than|unter|weniger als)\s*{NUMBER}")


class Band(NamedTuple):
    """A range; `has_low` and `has_high`: whether each end is included; `dashed`: written "a-b", so not explicit."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True
    dashed: bool = False

    @property
    def single(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high


def read_band(label: str) -> Band | None:
    """Parse one label; None if it is not a range of numbers.

    Examples
    --------
    >>> read_band("30-39")[:2], read_band("65+")[:2], read_band("at most 17")[:2]
    ((30.0, 39.0), (65.0, inf), (-inf, 17.0))
    >>> read_band("under 18").has_high, read_band("(0, 1.5]").has_low, read_band("unknown")
    (False, False, None)
    """
    text = label.strip().translate(DASHES).replace("≤", "<=").replace("≥", ">=").casefold()
    text = UNIT.sub("", text)
    if text == "any":
        return Band(-math.inf, math.inf)
    if match := INTERVAL.fullmatch(text):
        opened, low, high, closed = match.groups()
        return _ordered(Band(float(low or "-inf"), float(high or "inf"), opened == "[", closed == "]"))
    if (match := RANGE.fullmatch(text)) and not _is_code(match[1], match[2]):
        return _ordered(Band(float(match[1]), float(match[2]), dashed=True))
    if match := SINGLE.fullmatch(text):
        return Band(float(match[1]), float(match[1]))
    for pattern, above, has in ((FROM, True, True), (ABOVE, True, False), (UP_TO, False, True), (BELOW, False, False)):
        if match := pattern.fullmatch(text):
            edge = float(next(part for part in match.groups() if part is not None))
            return Band(edge, math.inf, has_low=has) if above else Band(-math.inf, edge, has_high=has)
    return None


def _is_code(low: str, high: str) -> bool:
    """Whether "a-b" is a code such as 25-00703: the second number has leading zeros and another length."""
    return len(high) > 1 and high[0] == "0" and high[1] != "." and len(low) != len(high)


def _ordered(band: Band) -> Band | None:
    return band if band.low <= band.high else None


def range_of_label(label: str, *, whole: bool = True) -> Range | None:
    """Lower and upper bound of the numbers that a label covers; None if it is not a range.

    `whole`: whether the variable is integer, so that an excluded end is moved inwards by one.

    Examples
    --------
    >>> [range_of_label(text) for text in ("7", "30-39", "5+", "up to 17", "[20, 30)", "north")]
    [(7.0, 7.0), (30.0, 39.0), (5.0, inf), (-inf, 17.0), (20.0, 29.0), None]
    """
    band = read_band(label)
    if band is None:
        return None
    low, high = band.low + (whole and not band.has_low), band.high - (whole and not band.has_high)
    return (low, high) if low <= high else None


DELIMITERS = (";", ",", "\t", "|")
SPELT = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "upright strokes"}


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A generalisation hierarchy: values and their names at coarser and coarser levels, which are nested.

    Attributes
    ----------
    leaves : tuple
        The values of the data, each once.
    levels : tuple of tuple
        For each coarser level, the name of every leaf there.
    names : tuple of str or None
        Names of the coarser levels, where the file has a header.
    """

    leaves: tuple[Any, ...]
    levels: tuple[tuple[Any, ...], ...]
    names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        """Only its size: its values are values of records."""
        return f"Hierarchy({len(self.leaves)} values, {len(self.levels)} coarser levels)"

    def at(self, level: int | str | None) -> dict[Any, Any]:
        """Map each leaf to its name at a level, given by name or number (1: the first above the values).

        Raises
        ------
        DataError
            There is no such level, or none is named and there are several.
        """
        return dict(zip(self.leaves, self.levels[self._place(level)], strict=True))

    def _place(self, level: object) -> int:
        names = self.names or ()
        there = f"levels 1 to {len(self.levels)}" if len(self.levels) > 1 else "level 1 only"
        there += f" ({', '.join(names)})" if names else ""
        if level is None and len(self.levels) > 1:
            raise DataError(f"level= says how far up to go; the hierarchy has {there}", argument="level")
        if isinstance(level, str):
            if level not in names:
                raise DataError(f"level: the hierarchy has no level of that name; it has {there}", argument="level")
            return names.index(level)
        whole = 1 if level is None else level
        if not arguments.is_whole(whole) or not 1 <= whole <= len(self.levels):
            raise DataError(f"level: there is no such level; the hierarchy has {there}", argument="level")
        return whole - 1


def read_hierarchy(
    path: str | Path, *, header: bool = False, delimiter: str | None = None, encoding: str | None = None
) -> Hierarchy:
    r"""Read a generalisation hierarchy from a CSV file: one line per value, then its coarser names.

    Parameters
    ----------
    path : str or Path
        The file, as ARX and others write it.
    header : bool
        Whether the first line names the levels.
    delimiter : str, optional
        The character between fields; found by itself where only one cuts all lines alike.
    encoding : str, optional
        Found by itself where not given.

    Returns
    -------
    Hierarchy

    Raises
    ------
    FileFormatError
        The file is absent or empty, its lines have different numbers of fields, a field is empty, a value
        stands on two lines, or values that share a name are apart at a coarser level. The line is told.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "region.csv"
    ...     _ = file.write_text("Graz;Styria;Austria\nLinz;Upper Austria;Austria\n")
    ...     read_hierarchy(file).at(1)
    {'Graz': 'Styria', 'Linz': 'Upper Austria'}
    """
    file = Path(path)
    arguments.flag(header, "header")
    for name, value in (("delimiter", delimiter), ("encoding", encoding)):
        if value is not None:
            arguments.text(value, name)
    if not file.is_file():
        raise FileFormatError(f"{file.name}: there is no such file")
    if delimiter is not None and len(delimiter) != 1:
        raise FileFormatError("delimiter= is one character", argument="delimiter")
    rows = _cut(file.name, list(open_text(file, encoding).lines()), delimiter)
    for number, row in rows:
        if "" in row:
            raise FileFormatError(f"{file.name}, line {number}: an empty field; every value needs all levels")
    names = tuple(rows.pop(0)[1][1:]) if header else None
    if not rows:
        raise FileFormatError(f"{file.name}: a header, and no value below it")
    if names is not None and len(set(names)) < len(names):
        raise FileFormatError(f"{file.name}: two levels have the same name")
    return _checked([row for _, row in rows], [f"{file.name}, line {number}" for number, _ in rows], names)


def _cut(name: str, lines: Sequence[str], delimiter: str | None) -> list[tuple[int, list[str]]]:
    """Split lines into fields, each row with its line number; blank lines are dropped."""
    if delimiter is not None:
        rows = _rows(name, lines, delimiter)
        if short := next((number for number, row in rows if len(row) < 2), None):
            raise FileFormatError(f"{name}, line {short}: a value without a coarser name; wrong delimiter?")
        if uneven := next((number for number, row in rows if len(row) != len(rows[0][1])), None):
            raise FileFormatError(
                f"{name}, line {uneven}: another number of fields than the first line has; "
                "every value needs a name at every level"
            )
        return rows
    used = [mark for mark in DELIMITERS if mark in "".join(lines)]
    if not used:
        raise FileFormatError(f"{name}: each line needs a value and its coarser names; name the delimiter")
    fits = [mark for mark in used if _fits(name, lines, mark)]
    if len(fits) > 1:
        spelt = " and ".join(SPELT[mark] for mark in fits)
        raise FileFormatError(f"{name}: {spelt} cut the lines alike; say which with delimiter=")
    return _cut(name, lines, fits[0] if fits else used[0])


def _fits(name: str, lines: Sequence[str], mark: str) -> bool:
    """Whether a delimiter splits all lines into the same number of fields, at least two."""
    try:
        widths = {len(row) for _, row in _rows(name, lines, mark)}
    except FileFormatError:  # quotes that pair up only with another delimiter
        return False
    return len(widths) == 1 and widths.pop() > 1


def _rows(name: str, lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, [field.strip() for field in row]) for row in reader]
    except csv.Error:
        raise FileFormatError(f"{name}, line {reader.line_num}: the quotes do not pair up") from None
    return [(number, row) for number, row in rows if any(row)]


def as_hierarchy(given: Any) -> Hierarchy:
    """A hierarchy given as such, as the path of a file, or as ``{value: [coarser names]}``.

    Raises `DataError`: none of these, or a dictionary whose values have different numbers of levels, or whose
    levels are not nested; `FileFormatError`: as `read_hierarchy`.

    >>> as_hierarchy({1101: ["11", "1"], 1102: ["11", "1"]}).levels
    (('11', '11'), ('1', '1'))
    """
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, Path)):
        return read_hierarchy(given)
    if not isinstance(given, Mapping) or not given:
        raise DataError("hierarchy= is the path of a CSV file, or {value: [names]}", argument="hierarchy")
    rows = []
    for leaf, above in given.items():
        several = isinstance(above, Iterable) and not isinstance(above, (str, bytes))
        rows.append([leaf, *(above if several else [above])])
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or lengths == {1}:
        raise DataError(
            "hierarchy: its values have different numbers of levels; give each a name at every level"
            if len(lengths) > 1
            else "hierarchy: its values have no coarser names"
        )
    tables = any(isinstance(above, Mapping) for above in given.values())
    if tables or not all(isinstance(name, Hashable) for row in rows for name in row):
        says = "hierarchy: a coarser name is a list itself, or a table; give plain texts"
        raise DataError(says, argument="hierarchy")
    if any(name is None or name == "" for row in rows for name in row):
        raise DataError("hierarchy: a value or a name is empty; none may be", argument="hierarchy")
    return _checked(rows, [f"hierarchy, entry {i}" for i in range(1, len(rows) + 1)], None)


def _checked(rows: Sequence[Sequence[Hashable]], places: Sequence[str], names: tuple[str, ...] | None) -> Hierarchy:
    """Build a hierarchy, checking that values are distinct and levels nested (merged values stay merged)."""
    columns = list(zip(*rows, strict=True))
    seen: set[Hashable] = set()
    for leaf, place in zip(columns[0], places, strict=True):
        if leaf in seen:
            raise FileFormatError(f"{place}: this value stands further up already; each has one line")
        seen.add(leaf)
    for level in range(1, len(columns) - 1):
        above: dict[Hashable, Hashable] = {}
        for name, next_name, place in zip(columns[level], columns[level + 1], places, strict=True):
            if above.setdefault(name, next_name) != next_name:
                raise FileFormatError(
                    f"{place}: its name at level {level} stands further up too, under another name at level "
                    f"{level + 1}; values that have met may not part again"
                )
    return Hierarchy(columns[0], tuple(columns[1:]), names)


# Values of a file beside those of a hierarchy, which are texts where it was read from a file.


def _value_as(value: Any, kind: str) -> Any:
    """A value of a hierarchy, or a label of a column, as a column of a kind has it.

    >>> _value_as("022", "number"), _value_as("22.0", "number") == 22, _value_as("022", "text"), _value_as(22, "text")
    (22, True, '022', '22')
    """
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if kind == "text" and not isinstance(value, str):
        return str(value)
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.casefold(), value)
    for number in (int, float) if kind == "number" and isinstance(value, str) else ():
        try:
            return number(value)
        except ValueError:
            continue
    return value


def values_as(values: Sequence[Any], kind: str) -> list[Any]:
    """Values as `_value_as` gives them; those of a text once, as there may be one for each record.

    >>> values_as(["022", "1.5", "low", "low"], "number"), values_as(["0.50", "2.0"], "number")
    ([22, 1.5, 'low', 'low'], [0.5, 2.0])
    """
    if {*map(type, values)} != {str}:
        return [_value_as(value, kind) for value in values]
    if kind == "number":
        with contextlib.suppress(ValueError):  # with a point in all of them none is a whole number
            return [*map(float if all(map(contains, values, repeat("."))) else int, values)]
    known = {value: _value_as(value, kind) for value in {*values}}
    return [known[value] for value in values]


def leaves_as(hierarchy: Hierarchy, kind: str) -> list[Any]:
    """The leaves of a hierarchy as a column of a kind has them; `DataError` where two are one value there.

    >>> leaves_as(as_hierarchy({"01": "a", "2.5": "b"}), "number")
    [1, 2.5]
    """
    leaves = values_as(hierarchy.leaves, kind)
    if len(set(leaves)) < len(leaves):
        raise DataError("hierarchy: two of its values are the same number; each has one line", argument="hierarchy")
    return leaves


def hierarchy_map(hierarchy: Hierarchy, level: int | str | None, kind: str) -> dict[Any, Any]:
    """The new value of each leaf of a hierarchy, as a column of a kind has it.

    Raises `DataError`: no such level, or two leaves that are one value there.
    """
    return dict(zip(leaves_as(hierarchy, kind), hierarchy.at(level).values(), strict=True))
