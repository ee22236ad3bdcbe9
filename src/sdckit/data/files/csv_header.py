"""Whether the first line of a CSV file holds names of columns, or is a person's record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sdckit.data.files.file_checks import is_code, is_value, refuse_duplicates
from sdckit.errors import DataError

_BELOW = 2_000  # records the header is held against


@dataclass(frozen=True)
class HeaderNames:
    """The names in a header."""

    names: tuple[str, ...]
    # whether the records below tell the header apart: some column of numbers has a name that is none
    certain: bool


def header_names(path: Path, header: Sequence[str], below: Iterable[Sequence[str]]) -> HeaderNames:
    """Give the column names; an empty one becomes column_1, column_2, ... by position.

    `header`: the fields of the first line. `below`: the records after it. Raises `DataError`: the line looks
    like a record (no field of it is told); `ColumnError`: a name is repeated.

    >>> header_names(Path("x.csv"), ["sex", "age"], [["f", "34"], ["m", "51"]])
    HeaderNames(names=('sex', 'age'), certain=True)
    """
    fields = [field.strip() for field in header]
    columns = _columns(islice(below, _BELOW), len(fields))
    certain = any(map(_named, fields, columns))
    reason = _like_a_record(fields, columns, certain=certain)
    if reason:
        raise DataError(
            f"{path.name}: the first line does not look like a header (names of columns): {reason}. "
            "Put a line with the names first; if these are names, rename those that look like values"
        )
    names = [field or f"column_{i}" for i, field in enumerate(fields, start=1)]
    refuse_duplicates(path, names)
    return HeaderNames(tuple(names), certain)


def _columns(rows: Iterable[Sequence[str]], width: int) -> list[set[str]]:
    """Give the distinct values below each field; lines of another width are judged elsewhere."""
    columns: list[set[str]] = [set() for _ in range(width)]
    for row in rows:
        if len(row) == width:
            for values, value in zip(columns, row, strict=True):
                values.add(value.strip())
    return columns


def _named(field: str, values: set[str]) -> bool:
    """Whether a column of numbers or dates has a text on top."""
    if is_code(field) or is_value(field):
        return False
    known = [value for value in values if not is_code(value)]
    return bool(known) and all(map(is_value, known))


def _like_a_record(fields: Sequence[str], columns: Sequence[set[str]], *, certain: bool) -> str:
    """Say why the line looks like a record, or nothing; never a field."""
    values = [str(i) for i, field in enumerate(fields, start=1) if is_value(field)]
    if values:
        return f"{_fields(values)} a number, a date or an address"
    codes = [str(i) for i, field in enumerate(fields, start=1) if field and is_code(field)]
    if codes:
        return f"{_fields(codes)} a code for missing"
    filled = [(field, below) for field, below in zip(fields, columns, strict=True) if field]
    if 2 * sum(field in below for field, below in filled) > len(filled):
        return "most of its fields stand again further down in their columns"
    names = [field for field, _ in filled]
    if len(set(names)) < len(names) and not certain:
        return "some of its fields are the same"
    return "" if filled else "all its fields are empty"


def _fields(positions: Sequence[str]) -> str:
    shown = ", ".join(positions[:5]) + (f" and {len(positions) - 5} more" if len(positions) > 5 else "")
    return f"field {shown} is" if len(positions) == 1 else f"fields {shown} are each"
