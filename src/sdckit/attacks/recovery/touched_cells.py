"""Changed values of a release, and the bounds that each still shows: none, a coding limit, or a range."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from sdckit.attacks.recovery.code_tables import Starts, starts_of
from sdckit.attacks.recovery.group_agreement import tally_cells, tally_groups
from sdckit.data import hierarchy, methods, pa, pc, pt
from sdckit.data.columns import Coded, code_column, days_values, float_values, numbers_as_arrow, plain_series
from sdckit.errors import DataError, SdcError, sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values, Words
from sdckit.numerics.grouping import group, row_of_values
from sdckit.numerics.threads import run

# Columns of a release as an intruder reads them: category codes, and the range of numbers of each value.


FURTHEST = 1e100  # products of three numbers up to here are finite
LARGEST = 2.0**53  # integers from here on are not exact as floats and are read as ids
TEXTS = ("text", "category")  # kinds of columns whose values may be ranges
MOST_LABELS = 2_000  # of a column of texts that may be ranges of numbers
MOST_KEPT = 2_000_000  # records of which numbers are kept once they are made; of more they are made again
FEWEST_APART = 50_000  # records from which on threads pay

T = TypeVar("T")
R = TypeVar("R")


def apart(work: Callable[[T], R], items: Iterable[T], n: int) -> list[R]:
    """What work that has nothing to do with each other gives, in its order: on threads where `n` records are worth it.

    Where numbers are not kept there is no room for what several threads make of them.
    """
    return run(work, items) if FEWEST_APART <= n <= MOST_KEPT else [work(item) for item in items]


def made_again(memo: dict[str, Callable[[], Values | None]], name: str, make: Callable[[], Values]) -> Values:
    """An array that is made unless somebody still has it: columns of many records would not fit beside each other."""
    values = memo[name]() if name in memo else None
    if values is None:
        values = make()
        memo[name] = weakref.ref(values) if len(values) > MOST_KEPT else lambda: values
    return values


def of_levels(codes: Codes, n_levels: int, *values: Floats) -> Floats:
    """The values of each level (levels + 1, values), where records with the same code have the same ones.

    >>> of_levels(np.array([2, 1, 2], np.int32), 2, np.array([7.0, 5.0, 7.0])).tolist()
    [[nan], [5.0], [7.0]]
    """
    table = np.full((n_levels + 1, len(values)), np.nan)
    for i, own in enumerate(values):
        table[codes, i] = own
    return table


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A coded column: `codes` (n,) from 1 on, 0 where missing; `ends` (levels + 1, 2) the bounds of each if numeric.

    The bounds are equal for a single number and NaN where missing; None for a column without numbers. What records have
    of them is made when it is asked for, and kept as long as somebody has it (always, of few records).
    """

    name: str
    codes: Codes
    n_levels: int
    ends: Floats | None
    coded: Coded
    words: Words  # the code of `coded` behind each of ours
    within: str = ""  # the column of structures or lists that it is part of
    memo: dict[str, Callable[[], Values | None]] = field(init=False, default_factory=dict, repr=False)

    @property
    def missing(self) -> Bools:
        """(n,) whether the value is missing."""
        return np.asarray(self.codes == 0)

    @property
    def numeric(self) -> bool:
        """Whether it has numbers, or ranges of them."""
        return self.ends is not None

    @property
    def low(self) -> Floats | None:
        """Lower bounds (n,); None for a column without numbers."""
        ends = self.ends
        return None if ends is None else made_again(self.memo, "low", lambda: ends[:, 0][self.codes])

    @property
    def high(self) -> Floats | None:
        """Upper bounds (n,); None for a column without numbers."""
        ends = self.ends
        if ends is None or not self.has_ranges:
            return self.low
        return made_again(self.memo, "high", lambda: ends[:, 1][self.codes])

    @property
    def numbers(self) -> Floats | None:
        """Single numbers (n,), NaN for missing values and ranges; None for a column without numbers."""
        single = self.single
        if single is None or not self.has_ranges:
            return self.low
        return made_again(self.memo, "numbers", lambda: single[self.codes])

    @property
    def single(self) -> Floats | None:
        """The same of each level (levels + 1,)."""
        ends = self.ends
        if ends is None or not self.has_ranges:
            return None if ends is None else ends[:, 0]
        return np.where(ends[:, 0] == ends[:, 1], ends[:, 0], np.nan)

    @cached_property
    def distinct(self) -> Floats:
        """The single numbers that occur, ascending."""
        single = self.single
        used = np.zeros(0) if single is None else single[self.sizes > 0]
        return np.unique(used[~np.isnan(used)])

    @cached_property
    def has_ranges(self) -> bool:
        """Whether some of its values are ranges."""
        return self.ends is not None and not np.array_equal(self.ends[:, 0], self.ends[:, 1], equal_nan=True)

    @cached_property
    def whole(self) -> bool:
        """Whether all numbers and bounds are integers."""
        if self.ends is None:
            return False
        ends = self.ends[self.sizes > 0]
        return bool((ends == np.round(ends))[np.isfinite(ends)].all())

    @property
    def from_labels(self) -> bool:
        """Whether its numbers are read from labels ("30-39")."""
        return self.numeric and self.coded.kind in ("text", "category")

    @cached_property
    def sizes(self) -> Ints:
        """Records of each code, with those of missing values at index 0."""
        return np.bincount(self.codes, minlength=self.n_levels + 1)

    def labels(self) -> list[str]:
        """Printed label of each level, in the order of the codes."""
        return self.coded.labels(self.words.astype(np.int64))

    def in_order(self, missing: float) -> Floats:
        """Numbers (n,), or in a column without them the places of the labels in their order and `missing`."""
        own = self.numbers
        return np.append(missing, np.argsort(np.argsort(np.array(self.labels()))))[self.codes] if own is None else own

    @property
    def order(self) -> Ints:
        """Rows (n,) in the order of its values; those without one last among numbers, else first."""
        return made_again(self.memo, "order", lambda: np.argsort(self.in_order(-1.0), kind="stable"))

    @cached_property
    def printed(self) -> pa.Array:
        """The labels in Arrow, without an object for each of many ids."""
        levels, whole = self.coded.levels, self._whole_labels
        if whole is not None:
            return numbers_as_arrow(whole).cast(pa.large_string())
        places = self.words.astype(np.int64)
        if isinstance(levels, pa.Array) and (pt.is_string(levels.type) or pt.is_large_string(levels.type)):
            return levels.take(numbers_as_arrow(places)).cast(pa.large_string())
        return pa.array(self.labels(), pa.large_string())

    @property
    def _whole_labels(self) -> Ints | None:
        """The whole number that is the label of each level; None where labels are others."""
        low, plain = self.coded.low, self.coded.levels is None and self.coded.kind in ("integer", "number")
        return self.words.astype(np.int64) + low if plain and abs(low) < LARGEST else None

    def codes_of(self, other: ReleasedColumn) -> Ints:
        """Our code of each label of another column (levels + 1), 0 where missing, -1 where no label of ours is that."""
        own, others = self._whole_labels, other._whole_labels
        if own is not None and others is not None:  # of numbers that are printed as they are
            at = row_of_values(others, own)
            place = np.where(at < 0, -1, at + 1)
        elif _differ_in_length(self.printed, other.printed):  # as ids and what replaces them
            place = np.full(other.n_levels, -1)
        elif pc.count_distinct(self.printed).as_py() == self.n_levels:
            place = np.asarray(pc.index_in(other.printed, value_set=self.printed).fill_null(-2)).astype(np.int64) + 1
        else:  # such as true and 1: the last one
            codes = {label: code for code, label in enumerate(self.labels(), 1)}
            place = np.array([codes.get(label, -1) for label in other.labels()], np.int64)
        return np.concatenate([[0], place])

    @cached_property
    def starts(self) -> Starts:
        """Codes of the first characters of the labels; kept, since they are asked for again and again."""
        return starts_of(self.printed, len(self.codes))


def _differ_in_length(some: pa.Array, others: pa.Array) -> bool:
    """Whether no text of one has the length of a text of the other."""
    ends = [pc.min_max(pc.binary_length(texts)).as_py() for texts in (some, others)]
    if ends[0]["min"] is None or ends[1]["min"] is None:
        return True
    return bool(ends[0]["max"] < ends[1]["min"] or ends[1]["max"] < ends[0]["min"])


def read_columns(frame: Any, names: Sequence[str]) -> dict[str, ReleasedColumn]:
    """Code columns, and the fields and elements of structures and lists; absent ones and mixed types are left out."""
    there = set(frame.columns)

    def read(name: str) -> list[ReleasedColumn]:
        columns: list[ReleasedColumn] = []
        with suppress(DataError):  # the fields before one of mixed types stay
            fresh = (at for at in plain_series(frame.get_column(name)) if at.name == name or at.name not in there)
            columns.extend(_read(series, "" if series.name == name else name) for series in fresh)
        return columns

    of_names = apart(read, [name for name in names if name in there], len(frame))
    return {column.name: column for columns in of_names for column in columns}


def in_frame(names: Sequence[str], columns: Mapping[str, ReleasedColumn]) -> tuple[str, ...]:
    """The columns of the frame that hold those named, each once: "address" for "address.city"."""
    return tuple(dict.fromkeys(columns[name].within or name if name in columns else name for name in names))


def _read(series: Any, within: str) -> ReleasedColumn:
    coded = code_column(series)
    groups = group(coded.codes().astype(np.uint64))
    absent = groups.words == np.uint64(coded.span)
    number = np.cumsum(~absent) * ~absent
    codes = number[groups.of_row].astype(np.int32)
    words = groups.words[~absent]
    ends = numbers = None
    if series.dtype.is_integer() and coded.kind == "integer" and coded.levels is None:
        single = np.append(np.nan, words.astype(np.int64) + float(coded.low))  # as the numbers of the records would be
        whole = np.abs(single).max(initial=0.0, where=~np.isnan(single)) < LARGEST
        ends = np.broadcast_to(single[:, None], (len(single), 2)) if whole else None
    elif series.dtype.is_numeric():
        numbers = _numbers(series)
    elif coded.kind == "date":
        numbers = days_values(series, file="the release")
    elif coded.kind in TEXTS and 0 < len(words) <= MOST_LABELS:
        ranges = _ranges(coded.labels(words.astype(np.int64)))
        ends = None if ranges is None else np.vstack([[np.nan, np.nan], ranges])
    if numbers is not None:
        ends = np.broadcast_to(of_levels(codes, len(words), numbers), (len(words) + 1, 2))
    return ReleasedColumn(series.name, codes, len(words), ends, coded.without_rows(), words, within)


def _numbers(series: Any) -> Floats | None:
    """Numbers of a column, NaN for those beyond 1e100; None if integers are too large to be exact as floats.

    Products and squares of what is beyond are infinite, so that nothing is told by them.

    Raises SdcError: most of them are, and what is told of the column would be missed.
    """
    values = float_values(series, "column")
    finite = np.isfinite(values)
    if np.abs(values[finite]).max(initial=0.0) >= LARGEST and series.dtype.is_integer():
        return None
    within = np.abs(values) < FURTHEST
    if 2 * np.count_nonzero(within) < np.count_nonzero(finite):
        raise SdcError(f"column {series.name!r}: most numbers exceed {FURTHEST:g}: take a larger unit, or leave it out")
    return np.where(within, values, np.nan)


def _ranges(labels: Sequence[str]) -> Floats | None:
    """Lower and upper bound (labels, 2) of each label; None unless all labels are numbers or numeric ranges."""
    ranges = [hierarchy.range_of_label(label, whole=False) for label in labels]
    if any(range_ is None for range_ in ranges):
        return None
    ends = np.array(ranges, np.float64)
    if (ends[np.isfinite(ends)] % 1 != 0).any():
        return ends
    return np.array([hierarchy.range_of_label(label) or (math.nan, math.nan) for label in labels], np.float64)


MOST_GROUPED = 100  # most distinct values of a column of numeric codes
SUPPRESSED, CODED, BANDED, ROUNDED, CHANGED, GROUPED, LEFT_OUT = (
    "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed", "in groups", "left out",
)  # fmt: skip
HEAP = 1.5  # ratio to the count of the adjacent value from which on an extreme value is heaped
CLEARLY = 2.0  # least difference of the square roots of two counts for a significant excess


class Logged(Protocol):
    """Protocol of a log of protection steps: the attributes used here."""

    @property
    def n(self) -> int:
        """Records of the file."""

    @property
    def steps(self) -> Iterable[Any]:
        """A change each, with ``method``, ``changed`` and ``parameters``."""

    def rows(self, original: Any = None) -> Ints | None:
        """The row of the original that each released row was made from; None where the order was not changed."""


@dataclass(frozen=True)
class _SeenStep:
    """Kind of protection that is visible in the columns `changed`, named by a method that leaves such a trace."""

    method: str
    changed: Mapping[str, int]
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class SeenChanges:
    """What a file shows of its protection without its original: missing values and ranges, as a `Logged`.

    Heaps at the ends of a column do not count: without the original they may be how the values are distributed.
    """

    n: int
    steps: tuple[_SeenStep, ...]

    def rows(self, original: Any = None) -> None:
        """The order of the rows is taken for that of the original."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with a missing value or a range."""
        return tuple(dict.fromkeys(name for step in self.steps for name in step.changed))


def others_around(labels: Sequence[str], label: int) -> Bools:
    """(labels,) which are a range in which the one at the place `label` may lie, and are not this one.

    >>> others_around(["1-2", "2", "3"], 1).tolist()
    [True, False, False]
    """
    ends = _ranges(labels) if labels else None
    if ends is None:
        return np.zeros(len(labels), np.bool_)
    low, high = ends.T
    others = np.arange(len(low)) != label
    return np.asarray((low <= high[label]) & (high >= low[label]) & (high > low) & others)


def has_ranges(labels: Sequence[str]) -> bool:
    """Whether all labels are numbers or ranges, and one is a range.

    >>> has_ranges(["0-19", "20"]), has_ranges(["0-19", "n"]), has_ranges(["1", "2"])
    (True, False, False)
    """
    ends = _ranges(labels) if labels else None
    return ends is not None and bool((ends[:, 1] > ends[:, 0]).any())


def seen_changes(frame: Any, names: Sequence[str]) -> SeenChanges:
    """Find the columns, of those named, in which a file shows missing values or ranges.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> seen_changes(open_frame(pl.DataFrame({"age": ["0-19", "20-39"], "sex": ["f", None], "n": [1, 2]})),
    ...              ["age", "sex", "n"]).columns
    ('sex', 'age')
    """
    counts: dict[str, dict[str, int]] = {"missing": {}, "range": {}}
    for name, column in read_columns(frame, names).items():
        if column.within:
            continue
        low, high = column.low, column.high
        ranged = 0 if low is None or high is None else np.count_nonzero(high > low)
        for trace, count in (("missing", np.count_nonzero(column.codes == 0)), ("range", ranged)):
            if count:
                counts[trace][name] = int(count)
    steps = (
        _SeenStep(next(kind.name for kind in methods.METHODS.values() if kind.trace == trace), changed, {})
        for trace, changed in counts.items()
        if changed
    )
    return SeenChanges(len(frame), tuple(steps))


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of numbers: those of each level, changed and not, where they are the same ones for it."""

    ends: tuple[Floats, Floats]  # of the levels, those of changed values last; or of the records, where `codes` is None
    codes: Codes | None
    changed: Bools

    @classmethod
    def of(cls, column: ReleasedColumn, changed: Bools, low: Floats | None, high: Floats | None) -> Bounds | None:
        """Bounds of many records by level, if that is the same."""
        if low is None or high is None:
            return None
        if len(low) > MOST_KEPT:
            at = _with_changed(column.codes, changed, column.n_levels)
            table = of_levels(at, 2 * column.n_levels + 1, low, high)
            ends = table[:, 0].copy(), table[:, 1].copy()
            pairs = zip(ends, (low, high), strict=True)
            if all(np.array_equal(own[at], given, equal_nan=True) for own, given in pairs):
                return cls(ends, column.codes, changed)
        return cls((low, high), None, changed)

    def end(self, which: int) -> Floats:
        """The lower (0) or upper (1) bounds of the records."""
        own = self.ends[which]
        return own if self.codes is None else own[_with_changed(self.codes, self.changed, len(own) // 2 - 1)]


def _with_changed(codes: Codes, changed: Bools, n_levels: int) -> Codes:
    return codes + changed * np.int32(n_levels + 1)


@dataclass(frozen=True, eq=False)
class ChangedColumn:
    """The changed values of one column.

    `touched` (n,): whether a value was changed. `bounds`: those of the true number, infinite where the value is
    missing; None for columns without numbers. `kinds`: the kinds of protection, in words.
    """

    column: ReleasedColumn
    touched: Bools
    bounds: Bounds | None
    kinds: tuple[str, ...]

    @property
    def low(self) -> Floats | None:
        """Lower bounds (n,) of the true number; None for columns without numbers."""
        return None if self.bounds is None else self.bounds.end(0)

    @property
    def high(self) -> Floats | None:
        """Upper bounds (n,) of the true number; None for columns without numbers."""
        return None if self.bounds is None else self.bounds.end(1)

    @property
    def perturbed(self) -> bool:
        """Whether values were perturbed, so that changed and unchanged ones cannot be distinguished."""
        return CHANGED in self.kinds


@dataclass(frozen=True)
class ChangedValues:
    """How many values of a column were changed, in a file of which rows are not here; None where nobody counted."""

    column: str
    kinds: tuple[str, ...]
    n: int | None


def by_sight(columns: Mapping[str, ReleasedColumn]) -> dict[str, ChangedColumn]:
    """Changed values visible in the release: missing values, ranges, and heaping at the smallest or largest value."""
    changed = {}
    for name, column in columns.items():
        if column.within:
            continue  # an element is missing where its list is shorter
        (low, high), numbers = _ends(column), column.numbers
        touched = column.missing.copy()
        kinds = [SUPPRESSED] * bool(touched.any())
        if low is not None and high is not None:
            with np.errstate(invalid="ignore"):
                ranged = ~column.missing & (high > low)
            kinds += _range_kinds(low[ranged], high[ranged])
            touched |= ranged
            for end, value in _heaps(column):
                at = ~column.missing & (numbers == value) & ~touched
                low, high = _opened(low, high, at, end)
                touched |= at
                kinds.append(CODED)
        if touched.any():
            bounds = Bounds.of(column, touched, low, high)
            changed[name] = ChangedColumn(column, touched, bounds, tuple(dict.fromkeys(kinds)))
    return changed


def by_log(columns: Mapping[str, ReleasedColumn], log: Logged) -> dict[str, ChangedColumn]:
    """Changed values according to the log of the protection steps."""
    changed: dict[str, ChangedColumn] = {}
    for step in log.steps:
        for name, count in step.changed.items():
            if not count or name not in columns:
                continue
            column = columns[name]
            at, low, high, kind = _by_step(column, _ends(column), step)
            if not at.any():
                continue
            known = changed.get(name)
            if known is not None:
                at |= known.touched
                low, high = _narrower(low, high, known)
            kinds = (*(known.kinds if known else ()), kind)
            changed[name] = ChangedColumn(column, at, Bounds.of(column, at, low, high), tuple(dict.fromkeys(kinds)))
    return changed


def by_original(
    columns: Mapping[str, ReleasedColumn], original: Mapping[str, ReleasedColumn], times: Ints | None = None
) -> dict[str, ChangedColumn]:
    """Changed values by comparison of release and original, row by row.

    `times`: records of each row, where rows are the distinct combinations of both values of a single column.
    """
    shared = [(column, original[name]) for name, column in columns.items() if name in original]
    n = len(shared[0][0].codes) if shared else 0
    compared = apart(lambda both: _compared(*both, times), shared, n)
    return {changed.column.name: changed for changed in compared if changed.touched.any()}


def _compared(column: ReleasedColumn, before: ReleasedColumn, times: Ints | None) -> ChangedColumn:
    """Changed values of one column; of recoded categories only the suppressed ones, as recoding leaves no trace."""
    low, high = _ends(column)
    if before.numeric and not before.whole and column.from_labels:
        low, high = _widened(low, high)
    touched = _changed_cells(column, before, low, high, times)
    kinds = [SUPPRESSED] * bool((touched & column.missing).any())
    seen = touched & ~column.missing
    if seen.any() and low is not None and high is not None and before.numeric:
        ranged = _by_truth(low, high, seen, _an_end(before))
        if CHANGED in ranged[2] and _is_grouped(column, before, times):
            touched = touched & column.missing
        else:
            low, high, more = ranged
            kinds += more
    elif seen.any():
        kinds.append(CHANGED)
    return ChangedColumn(column, touched, Bounds.of(column, touched, low, high), tuple(dict.fromkeys(kinds)))


def with_groups(column: ReleasedColumn, before: ReleasedColumn, known: ChangedColumn | None) -> ChangedColumn | None:
    """The changes of a column with the values that were recoded to groups; None where there are none of these.

    What is released of them is right, so the release alone gives nothing back; a code of the value itself does.
    """
    if column.n_levels >= before.n_levels:
        return None
    numeric = before.numeric and column.numeric
    differs = (column.low != before.low) | (column.high != before.high) if numeric else ~_same_text(column, before)
    touched = np.zeros(len(column.codes), np.bool_) if known is None else known.touched
    if numeric and column.low is not None and before.low is not None:  # what is no number is no group of numbers
        differs &= ~(np.isnan(column.low) & np.isnan(before.low))
    grouped = np.asarray(differs & ~before.missing & ~column.missing & ~touched)
    if not grouped.any():
        return None
    kinds = (*(() if known is None else known.kinds), GROUPED)
    return ChangedColumn(column, touched | grouped, None, kinds)


def _changed_cells(
    column: ReleasedColumn, before: ReleasedColumn, low: Floats | None, high: Floats | None, times: Ints | None
) -> Bools:
    """(n,) whether the released value differs from the original one."""
    if not before.numeric or low is None or high is None:
        return np.asarray(~before.missing & (truth_codes(column, before, times) != column.codes))
    numbers = sure(before.numbers)
    with np.errstate(invalid="ignore"):
        touched = ~before.missing & ((low != before.low) | (high != before.high))
    unread = np.isnan(low) & np.isnan(numbers)  # infinite numbers: only their labels can be compared
    if unread.any() or before.from_labels:
        touched &= ~((unread | before.from_labels) & _same_text(column, before))
    return np.asarray(touched)


def _ends(column: ReleasedColumn) -> tuple[Floats | None, Floats | None]:
    """Bounds of each value, infinite where it is missing."""
    low, high = column.low, column.high
    if low is None or high is None:
        return None, None
    return np.where(column.missing, -np.inf, low), np.where(column.missing, np.inf, high)


def _an_end(before: ReleasedColumn) -> Floats:
    """Original numbers; for a range one of its finite bounds, which lies in every wider range."""
    numbers, low, high = sure(before.numbers), sure(before.low), sure(before.high)
    return np.where(np.isnan(numbers), np.where(np.isfinite(low), low, high), numbers)


def _widened(low: Floats | None, high: Floats | None) -> tuple[Floats | None, Floats | None]:
    """Widen ranges read from labels as integer ranges if the numbers are not integers: (0, 10] begins above 0."""
    if low is None or high is None:
        return low, high
    ranged = high > low
    return np.where(ranged, low - 1, low), np.where(ranged, high + 1, high)


def _range_kinds(low: Floats, high: Floats) -> list[str]:
    bounded = np.isfinite(low) & np.isfinite(high)
    return [BANDED] * bool(bounded.any()) + [CODED] * bool((~bounded).any())


def _heaps(column: ReleasedColumn) -> list[tuple[str, float]]:
    """Largest or smallest numbers that are heaped compared with the adjacent value: likely coding limits."""
    numbers = column.numbers
    if numbers is None:
        return []
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 3:
        return []
    heaps = []
    if _heaped(counts[-1], counts[-2]):
        heaps.append(("top", float(values[-1])))
    if _heaped(counts[0], counts[1]) and values[0] not in (0.0, 1.0):
        heaps.append(("bottom", float(values[0])))
    return heaps


def _heaped(count: int, beside: int) -> bool:
    """Whether the excess over the adjacent count is significant (variance-stabilising square root of counts)."""
    return count >= HEAP * beside and math.sqrt(count) - math.sqrt(beside) >= CLEARLY


def _opened(low: Floats, high: Floats, at: Bools, end: str) -> tuple[Floats, Floats]:
    """Open the bounds at a coding limit: the records `at` it may have any number beyond."""
    if end == "top":
        return low, np.where(at, np.inf, high)
    return np.where(at, -np.inf, low), high


def _by_step(
    column: ReleasedColumn, ends: tuple[Floats | None, Floats | None], step: Any
) -> tuple[Bools, Floats | None, Floats | None, str]:
    low, high = ends
    present = ~column.missing
    nothing = np.zeros(len(present), np.bool_)
    trace = methods.kind_of(step.method).trace
    if trace == "missing":
        return column.missing, low, high, SUPPRESSED
    if trace == "other":
        return present, low, high, CHANGED
    if low is None or high is None:
        return (present, low, high, BANDED) if trace == "range" else (nothing, low, high, CHANGED)
    if trace == "limit":
        at = nothing.copy()
        for end in ("top", "bottom"):
            limit = step.parameters.get(end)
            if isinstance(limit, int | float):
                here = present & (low == high) & (low == limit)
                low, high = _opened(low, high, here, end)
                at |= here
        return at, low, high, CODED
    if trace == "rounded":
        base = step.parameters.get("base")
        if isinstance(base, int | float) and base > 0:
            exact = present & (low == high)
            return (exact, np.where(exact, low - base / 2, low), np.where(exact, high + base / 2, high), ROUNDED)
        return nothing, low, high, ROUNDED
    if trace == "range":
        with np.errstate(invalid="ignore"):
            return present & (high > low), low, high, BANDED
    return nothing, low, high, CHANGED


def _narrower(low: Floats | None, high: Floats | None, known: ChangedColumn) -> tuple[Floats | None, Floats | None]:
    """Bounds after two steps: the wider ones, as the later step hides what the earlier one left."""
    if low is None or high is None or known.bounds is None:
        return low, high
    return np.fmin(low, known.bounds.end(0)), np.fmax(high, known.bounds.end(1))


def truth_codes(column: ReleasedColumn, before: ReleasedColumn, times: Ints | None = None) -> Floats:
    """True values as codes of the release; -1 where it has none. `times` as for `by_original`.

    If each value was recoded to one group, the group's code; else the value itself, or, for texts that the release
    lacks, the code that most of their records show.
    """
    own = column.codes_of(before).astype(np.float64)
    seen = ~before.missing & ~column.missing
    groups = before.codes, column.codes
    levels = before.n_levels + 1
    most = tally_groups(*groups, levels) if times is None else tally_cells(*groups, times, levels)
    group = np.where((2 * most.votes > most.size) & (most.votes > 1), most.code, own)
    group[0] = 0.0
    if (group[before.codes] == column.codes)[seen].all():
        return np.asarray(group[before.codes])
    if not column.numeric:
        own = np.where(own < 0, group, own)
    return np.asarray(own[before.codes])


def _is_grouped(column: ReleasedColumn, before: ReleasedColumn, times: Ints | None) -> bool:
    """Whether numeric codes were recoded, each to a single group."""
    known = ~before.missing & ~column.missing
    few = before.n_levels <= MOST_GROUPED
    return few and not (truth_codes(column, before, times) != column.codes)[known].any()


def _same_text(column: ReleasedColumn, before: ReleasedColumn) -> Bools:
    """(n,) whether both files print the same label."""
    there = column.codes_of(before)
    there[0] = -1
    return np.asarray(there[before.codes] == column.codes)


def _by_truth(low: Floats, high: Floats, seen: Bools, truth: Floats) -> tuple[Floats, Floats, list[str]]:
    """Classify changes by the true values: coding limits, ranges, rounding, perturbation; adjusted bounds and kinds."""
    inside = seen & (low <= truth) & (truth <= high)
    kinds = _range_kinds(low[inside], high[inside])
    moved = seen & ~inside & (low == high)
    for end, sign in (("top", 1.0), ("bottom", -1.0)):
        limits = np.unique(low[moved & (sign * truth > sign * low)])
        extreme = np.nanmax(sign * np.where(np.isfinite(low), low, np.nan), initial=-np.inf) * sign
        if len(limits) and (limits == extreme).all():
            at = moved & (low == extreme)
            low, high = _opened(low, high, (low == high) & (low == extreme), end)
            moved &= ~at
            kinds.append(CODED)
    if moved.any():
        base = _base(low[moved])
        if base > 0 and (np.abs(truth - low)[moved] <= base).all():
            low, high = np.where(moved, low - base, low), np.where(moved, high + base, high)
            kinds.append(ROUNDED)
        else:
            kinds.append(CHANGED)
    return low, high, kinds


def _base(values: Floats) -> float:
    """Greatest common divisor of the values if it is above 1, else 0."""
    if not (np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all():
        return 0.0
    divisor = np.gcd.reduce(values.astype(np.int64))
    return float(divisor) if divisor > 1 else 0.0
