"""Hierarchies of values: each value, and what it becomes at every coarser level."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit.data import arguments
from sdckit.data.files.csv_text import open_text
from sdckit.errors import DataError, FileFormatError

DELIMITERS = (";", ",", "\t", "|")
SPELT = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "upright strokes"}


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """Values and their names at coarser and coarser levels; values that meet at one level never part again.

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
        """How large it is; its values are those of records."""
        return f"Hierarchy({len(self.leaves)} values, {len(self.levels)} coarser levels)"

    def at(self, level: int | str | None) -> dict[Any, Any]:
        """Name of each leaf at a level, counted from 1 for the first above the values, or given by name.

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
                says = f"level: the hierarchy has no level of that name; it has {there}"
                raise DataError(says, argument="level")
            return names.index(level)
        whole = 1 if level is None else level
        if not arguments.is_whole(whole) or not 1 <= whole <= len(self.levels):
            raise DataError(f"level: there is no such level; the hierarchy has {there}", argument="level")
        return whole - 1


def read_hierarchy(
    path: str | Path, *, header: bool = False, delimiter: str | None = None, encoding: str | None = None
) -> Hierarchy:
    r"""Read a hierarchy from a CSV file: a line for each value, the value first, then its coarser names.

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
    lines = list(open_text(file, encoding).lines())
    rows = _cut(file.name, lines, delimiter)
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
    """The lines as fields, with their numbers; blank lines are left out."""
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
        found = " and ".join(SPELT[mark] for mark in fits)
        raise FileFormatError(f"{name}: {found} cut the lines alike; say which with delimiter=")
    return _cut(name, lines, fits[0] if fits else used[0])


def _fits(name: str, lines: Sequence[str], mark: str) -> bool:
    """Whether a delimiter cuts all lines into as many fields, two or more."""
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
    """Take a hierarchy as it is, read one from a path, or make one of ``{value: [coarser names]}``.

    Raises `DataError`: it is none of these, or a dictionary whose values have different numbers of levels, or
    part again; `FileFormatError`: as `read_hierarchy`.

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
    if not all(isinstance(name, Hashable) for row in rows for name in row):
        raise DataError("hierarchy: a coarser name is a list itself; give plain texts", argument="hierarchy")
    if any(name is None or name == "" for row in rows for name in row):
        raise DataError("hierarchy: a value or a name is empty; none may be", argument="hierarchy")
    return _checked(rows, [f"hierarchy, entry {i}" for i in range(1, len(rows) + 1)], None)


def _checked(
    rows: Sequence[Sequence[Hashable]], places: Sequence[str], names: tuple[str, ...] | None
) -> Hierarchy:
    """A hierarchy whose every value stands once, and whose values part nowhere after they met."""
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
