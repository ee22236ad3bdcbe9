"""Joint coding of a column of several files: equal values have equal codes in each of them; quantile classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import group_codes
from sdckit.data.columns import Coded, in_order, joint_categories, nanoseconds, numbers_as_arrow
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Codes, Floats, Ints
from sdckit.numerics.grouping import places_among

if TYPE_CHECKING:
    from sdckit.cells.table import Cells


# Numbers cut into quantile classes, the same in every file.


@dataclass(frozen=True, eq=False)
class QuantileBins:
    """Classes ``[a, b)`` between ascending edges, the last one closed.

    There is one edge more than there are classes; a single edge where all values are equal, none without a value.
    """

    edges: Floats

    @property
    def n_bins(self) -> int:
        """Classes."""
        return max(len(self.edges) - 1, min(len(self.edges), 1))

    def codes(self, values: Floats) -> Codes:
        """Class of each value from 1 on; 0 where it is missing."""
        place = np.searchsorted(self.edges, values, side="right")
        return np.where(~np.isnan(values), np.clip(place, 1, self.n_bins), 0).astype(np.int32)

    def labels(self) -> list[str]:
        """Printed form of the codes, from 0 (a missing value) on."""
        if len(self.edges) == 1:
            return ["(missing)", f"{self.edges[0]:g}"]
        closing = [")"] * (self.n_bins - 1) + ["]"]
        sides = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), closing, strict=False)
        return ["(missing)", *(f"[{low:g}, {high:g}{end}" for low, high, end in sides)]


def quantile_bins(values: Sequence[Floats], bins: int, times: Sequence[Ints] | None = None) -> QuantileBins:
    """Cut the pooled values of several files at their type-7 quantiles (0, 1/bins, ..., 1).

    Missing values (NaN) are left out; equal quantiles are one edge, so that there may be fewer classes. `times`:
    records with each value, where a value is not one record.

    >>> cut = quantile_bins([np.array([1.0, 2.0, 3.0]), np.array([4.0, np.nan, 5.0])], 2)
    >>> cut.edges.tolist(), cut.codes(np.array([1.0, 3.0, 5.0, np.nan])).tolist()
    ([1.0, 3.0, 5.0], [1, 2, 2, 0])
    """
    pooled = np.concatenate(values)
    records = None if times is None else np.concatenate(times)[~np.isnan(pooled)]
    pooled = pooled[~np.isnan(pooled)]
    if len(pooled) == 0:
        return QuantileBins(np.empty(0))
    n = len(pooled) if records is None else int(records.sum())
    # positions (n - 1) j / bins in integers: rounding could move an edge off a value that it is equal to
    place, rest = np.divmod((n - 1) * np.arange(bins + 1), bins)
    low, high = values_at(pooled, records, [place, np.minimum(place + 1, n - 1)])
    return QuantileBins(np.unique(np.where(rest == 0, low, low + (high - low) * (rest / bins))))


def values_at(values: Floats, sizes: Ints | None, places: Sequence[Ints]) -> list[Floats]:
    """The values at some places, from 0, of all records in ascending order.

    `sizes`: records with each of the values; one each unless given.

    >>> values_at(np.array([5.0, 1.0]), np.array([2, 3]), [np.array([0, 2, 3])])[0].tolist()
    [1.0, 1.0, 5.0]
    """
    if sizes is None:
        values = np.partition(values, np.unique(np.concatenate(places)))
        return [values[place] for place in places]
    order = np.argsort(values)
    ends = np.cumsum(sizes[order])
    return [values[order[np.searchsorted(ends, place, side="right")]] for place in places]


Printer: TypeAlias = "tuple[Coded, Ints, Codes]"  # of one file: codes, their shared codes
Values = list[Any] | NDArray[Any]

FAMILIES = {"integer": "numbers", "number": "numbers", "boolean": "true and false"}
EXACT = 2**53  # whole numbers up to here are exact as floats
DAY = re.compile(r"\d{4}-\d\d-\d\d")
SPARSE = 8  # code ranges wider than this times the records are sorted, narrower ones looked up in a table


@dataclass(frozen=True, eq=False)
class SharedCoding:
    """One column of several files with a joint coding of its values, or of the classes of its numbers.

    `codes`: codes of each file, the original first; 0 is a missing value, 1 to `n_levels` are the values in the
    order of `data/columns.py`: as categories declare it, else ascending. `n_levels`: different values over all
    files. `kind`: "numbers", "text", "true and false", "dates", ...; "nothing" where every value is missing;
    "classes" of numbers. `labels`: printed form of the levels, from code 0 (a missing value) on.
    `times`: records of each row of each file, where equal records are one row; None where each is a record. `cut`: the
    classes.
    """

    name: str
    codes: tuple[Codes, ...]
    n_levels: int
    kind: str
    labels: Callable[[], list[str]]
    printers: tuple[Printer, ...] = ()
    times: tuple[Ints, ...] | None = None
    cut: QuantileBins | None = None

    @cached_property
    def counts(self) -> Ints:
        """Records of each file with each code, shape (files, n_levels + 1)."""
        times = [None] * len(self.codes) if self.times is None else self.times
        files = zip(self.codes, times, strict=True)
        return np.array([np.bincount(codes, records, self.n_levels + 1) for codes, records in files], np.int64)

    def label(self, code: int) -> str:
        """Printed form of one level, without printing all of them, which may be as many as the records."""
        for coded, levels, numbers in self.printers:
            if len(at := np.flatnonzero(numbers == code)):
                return coded.labels(levels[at])[0]
        return self.labels()[code] if code else "(missing)"

    def with_file(self, coded: Coded, files: Sequence[str]) -> SharedCoding:
        """The same column with one more file at the end; the others are not coded again.

        Raises ColumnError: as `share_coding`.
        """
        codes = coded.codes()
        own = [(earlier, levels) for earlier, levels, _ in self.printers]
        joint = _Numbering.of(self.name, [*own, (coded.without_rows(), _levels(coded, codes))], files)
        table = np.zeros(self.n_levels + 1, np.int32)
        for (_, _, before), (_, _, now) in zip(self.printers, joint.printers, strict=False):
            table[before] = now
        kept = self.codes
        if not np.array_equal(table, np.arange(len(table))):
            kept = tuple(table[file_codes] for file_codes in kept)
        return joint.coding((*kept, _translated(codes, *joint.printers[-1])))


def matching_cells(left: Cells, right: Cells) -> Ints:
    """For each cell of `left` the cell of `right` with the same key values, -1 if there is none.

    A missing key value is a level of its own. Values are compared, not their storage types: an integer matches a float
    of the same value, a category its text.

    Raises ColumnError: a key holds text in one file and numbers in the other, say; names the key and both types.

    >>> import polars as pl
    >>> from sdckit.cells.as_cells import as_cells
    >>> a, b = (as_cells(pl.DataFrame({"x": x}), keys=["x"]) for x in ([1, 2, 2], [2.0, 3.0, 3.0]))
    >>> cell = matching_cells(a, b)
    >>> sorted(b.columns["cell_size"][cell[cell >= 0]].tolist()), int((cell < 0).sum())
    ([1], 1)
    """
    k = left.n_cells
    both = [
        np.concatenate(share_coding(key, [(a, x), (b, y)]).codes)
        for key, a, x, b, y in zip(
            left.keys, left.levels, left.table.codes, right.levels, right.table.codes, strict=True
        )
    ]
    group_of = group_codes(both, k + right.n_cells).of_row
    return places_among(group_of[k:], int(group_of.max()) + 1)[group_of[:k]]


def share_coding(name: str, sides: Sequence[tuple[Coded, Ints]], files: Sequence[str] = ()) -> SharedCoding:
    """Renumber the codes of a column so that equal values have equal codes in every file.

    `name`: name of the column, for messages. `sides`: for each file how its codes print, and the codes. `files`:
    names of the files, for messages. Raises ColumnError: the files hold values that cannot be compared; names the
    column, the files and both types.
    """
    joint = _Numbering.of(name, [(coded.without_rows(), _levels(coded, codes)) for coded, codes in sides], files)
    return joint.coding(tuple(_translated(codes, *how) for (_, codes), how in zip(sides, joint.printers, strict=True)))


def classes_of(name: str, values: Sequence[Floats], bins: int, times: tuple[Ints, ...] | None = None) -> SharedCoding:
    """Numbers of several files cut into classes at the quantiles of all files pooled; `times` as in `SharedCoding`."""
    cut = quantile_bins(values, bins, times)
    return SharedCoding(name, tuple(map(cut.codes, values)), cut.n_bins, "classes", cut.labels, times=times, cut=cut)


@dataclass(frozen=True, eq=False)
class _Numbering:
    """One numbering of the values of all files."""

    name: str
    n_levels: int
    kind: str
    printers: tuple[Printer, ...]

    @classmethod
    def of(cls, name: str, used: Sequence[tuple[Coded, Ints]], files: Sequence[str]) -> _Numbering:
        """Number the values behind the codes in use of each file."""
        values = [_values(coded, levels) for coded, levels in used]
        families = [_family(coded, own) for (coded, _), own in zip(used, values, strict=True)]
        if _dates_in_words(used, values, families):
            values = [
                coded.labels(levels) if family == "dates" else own
                for (coded, levels), own, family in zip(used, values, families, strict=True)
            ]
            families = ["text" if family == "dates" else family for family in families]
        _check_types(name, families, files)
        n_levels, numbers = _numbered(values, joint_categories([coded for coded, _ in used]))
        kind = next((family for family in families if family != "nothing"), "nothing")
        return cls(name, n_levels, kind, tuple((*side, own) for side, own in zip(used, numbers, strict=True)))

    def coding(self, codes: tuple[Codes, ...]) -> SharedCoding:
        """The column in this numbering."""
        return SharedCoding(self.name, codes, self.n_levels, self.kind, self.labels, self.printers)

    def labels(self) -> list[str]:
        """Printed form of the levels, each as in the first file that has it."""
        labels = ["(missing)"] * (self.n_levels + 1)
        for coded, levels, numbers in reversed(self.printers):
            for number, label in zip(numbers.tolist(), coded.labels(levels), strict=True):
                labels[number] = label
        return labels


def _levels(coded: Coded, codes: Ints) -> Ints:
    """The codes in use, except that of missing values."""
    if coded.span > SPARSE * len(codes):
        levels = np.unique(codes)
        return levels[levels < coded.span]
    present = np.zeros(coded.span + 1, np.bool_)
    present[codes] = True
    return np.flatnonzero(present[:-1])


def _values(coded: Coded, levels: Ints) -> Values:
    """The values of codes in a form that is comparable across storage types."""
    if len(levels) == 0:
        return []
    if coded.kind == "date":
        return _instants(coded, levels)
    if coded.levels is None:
        if abs(coded.low) + coded.span < 2**63:
            return levels + coded.low
        return [code + coded.low for code in levels.tolist()]
    listed = _listed(coded).take(numbers_as_arrow(levels))
    if coded.kind == "number" and str(listed.type) == "double":
        return np.from_dlpack(listed)  # `to_numpy` imports pandas (.25 s)
    return [_plain(value) for value in listed.to_pylist()]


def _numbered(sides: Sequence[Values], declared: Sequence[str]) -> tuple[int, list[Codes]]:
    """Number the values of all files jointly from 1: in the declared order, others ascending."""
    if all(isinstance(values, np.ndarray) or not values for values in sides):
        arrays = [np.asarray(values, None if len(values) else np.int64) for values in sides]
        if len({array.dtype.kind for array in arrays if len(array)}) <= 1 or all(
            array.dtype.kind == "f" or len(array) == 0 or np.abs(array).max() < EXACT for array in arrays
        ):
            first = arrays[0]
            if all(np.array_equal(first, other) for other in arrays) and (first[1:] > first[:-1]).all():  # such as ids
                return len(first), [np.arange(1, len(first) + 1, dtype=np.int32)] * len(arrays)
            union = np.unique(np.concatenate(arrays))
            return len(union), [(np.searchsorted(union, array) + 1).astype(np.int32) for array in arrays]
    together = in_order({value for values in sides for value in _as_list(values)}, declared)
    number = {value: i for i, value in enumerate(together, 1)}
    return len(together), [np.array([number[v] for v in _as_list(values)], np.int32) for values in sides]


def _as_list(values: Values) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _translated(codes: Ints, coded: Coded, levels: Ints, number: Codes) -> Codes:
    """The joint code of each record; 0 if the value is missing."""
    if coded.span > SPARSE * len(codes):
        out = np.zeros(len(codes), np.int32)
        known = codes < coded.span
        out[known] = number[np.searchsorted(levels, codes[known])]
        return out
    table = np.zeros(coded.span + 1, np.int32)
    table[levels] = number
    return table[codes]


def _listed(coded: Coded) -> Any:
    return coded.levels() if callable(coded.levels) else coded.levels


def _instants(coded: Coded, levels: Ints) -> list[int]:
    """Dates and times as nanoseconds, whatever their unit in the file."""
    if coded.levels is None:
        stored = [code + coded.low for code in levels.tolist()]
    else:
        stored = _listed(coded).take(levels).view("int64").to_pylist()
    unit = nanoseconds(coded.arrow_type)
    return [value * unit for value in stored]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _family(coded: Coded, values: Values) -> str:
    """What the values can be compared with: numbers with numbers, text with text, dates with dates."""
    if len(values) == 0:
        return "nothing"
    if coded.kind in FAMILIES:
        return FAMILIES[coded.kind]
    if coded.kind == "date":
        zone = " with a time zone" if getattr(coded.arrow_type, "tz", None) else ""
        kind = str(coded.arrow_type).partition("[")[0].rstrip("0123456789")
        return ("dates" if kind in ("date", "timestamp") else f"{kind}s") + zone
    value = values[0]  # a category or text: what its levels are
    if isinstance(value, bool):
        return "true and false"
    if isinstance(value, (int, float)):
        return "numbers"
    return "text" if isinstance(value, str) else type(value).__name__


def _dates_in_words(used: Sequence[tuple[Coded, Ints]], values: Sequence[Values], families: Sequence[str]) -> bool:
    """Whether dates of one file are text in another, for instance because a release masks some of them."""
    if not {"dates", "text"} <= set(families) <= {"dates", "text", "nothing"}:
        return False
    if any(
        family == "dates" and not str(coded.arrow_type).startswith("date")
        for (coded, _), family in zip(used, families, strict=True)
    ):
        return False
    texts = [own for own, family in zip(values, families, strict=True) if family == "text"]
    return all(any(DAY.fullmatch(value) for value in own) for own in texts)


def _check_types(name: str, families: Sequence[str], files: Sequence[str]) -> None:
    first = next((i for i, family in enumerate(families) if family != "nothing"), 0)
    for i, family in enumerate(families):
        if family not in (families[first], "nothing"):
            here, there = (files[first], files[i]) if files else ("one file", "the other")
            raise ColumnError(
                f"column {name!r} holds {families[first]} in {here} and {family} in {there}; give both the same type "
                "(where the release was recoded, recode the other files alike; assess, check and attack do it, given "
                "the recipe or its log: --recipe, --log)"
            )
