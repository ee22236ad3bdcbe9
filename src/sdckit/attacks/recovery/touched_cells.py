"""Which values of a release were changed, and what they say of themselves: nothing, a limit, a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import Coded, code_column, days_values, float_values
from sdckit.data.hierarchy import range_of_label
from sdckit.data.methods import kind_of
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Codes, Floats
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import group
from sdckit.numerics.intervals import wilson

# Groups of records that share one value of a column, and whether that is more than chance.


SUPPORTS = (1, 2, 3, 5, 10, 30, 100)
CHANCE = math.log(1e-7)  # a rule this probable by chance alone is none
MOST_WRONG = 0.03  # of what a rule says; and a fifth of what the most frequent value says
OF_THE_USUAL = 1 / 5
STRICTER = 4  # for neighbours
CONFIDENCE = 0.99
FEWEST_RIGHT = 30  # records a rule is right about before it counts: no error among fewer shows little
FEWEST_WHOLE = 8  # the same of a column that copies another: every group agrees, and with three or more
COPY_SUPPORT = 3
COPY_CHANCE = math.log(1e-4)
LONGEST = 64


@njit(nogil=True, cache=True)
def _tally(group, codes, first, n_first, second, n_second, more):  # type: ignore[no-untyped-def]
    for i in range(len(group)):
        code = codes[i]
        if code == 0:
            continue
        g = group[i]
        if g < 0:
            continue
        if n_first[g] == 0 or first[g] == code:
            first[g] = code
            n_first[g] += 1
        elif n_second[g] == 0 or second[g] == code:
            second[g] = code
            n_second[g] += 1
        else:
            more[g] = True


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known of each group: two of its values and their records, and whether there are more values."""

    first: NDArray[np.int32]
    n_first: NDArray[np.int32]
    second: NDArray[np.int32]
    n_second: NDArray[np.int32]
    more: NDArray[np.bool_]

    @property
    def unanimous(self) -> NDArray[np.bool_]:
        """Groups whose known records have one value."""
        return np.asarray((self.n_first > 0) & (self.n_second == 0))


@dataclass(frozen=True)
class Rule:
    """A rule that tells a value: from how many agreeing records on, and how rarely it errs at most."""

    support: int
    wrong: float


def tally_groups(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> Tally:
    """Count the known values (codes above 0) of each group; records of group -1 are in none.

    >>> found = tally_groups(np.array([0, 0, 1, 1, 1], np.int32), np.array([4, 4, 2, 0, 3], np.int32), 2)
    >>> found.unanimous.tolist(), found.n_first.tolist()
    ([True, False], [2, 1])
    """
    first, n_first, second, n_second = (np.zeros(n_groups, np.int32) for _ in range(4))
    more = np.zeros(n_groups, np.bool_)
    _tally(group, codes, first, n_first, second, n_second, more)
    return Tally(first, n_first, second, n_second, more)


@dataclass(frozen=True, eq=False)
class Majorities:
    """The most frequent code of each group, its records, and those of the next most frequent one."""

    code: NDArray[np.int32]
    votes: NDArray[np.int64]
    next_votes: NDArray[np.int64]
    size: NDArray[np.int64]


def majorities_of(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> Majorities:
    """The most frequent code of each group, whose records without a code do not vote."""
    span = int(codes.max(initial=0)) + 1
    words, counts = np.unique(group.astype(np.int64) * span + codes, return_counts=True)
    of, code = words // span, words % span
    counts = np.where(code == 0, 0, counts)
    order = np.lexsort((counts, of))
    of, code, counts = of[order], code[order], counts[order]
    last = np.flatnonzero(np.append(of[1:] != of[:-1], True))
    size = np.bincount(of, counts, n_groups + 1).astype(np.int64)
    majorities = Majorities(np.zeros(n_groups + 1, np.int32), np.zeros_like(size), np.zeros_like(size), size)
    majorities.code[of[last]], majorities.votes[of[last]] = code[last], counts[last]
    second = last - 1
    second = second[(second >= 0)]
    second = second[~np.isin(second, last)]
    majorities.next_votes[of[second]] = counts[second]
    return majorities


def judge_agreement(tally: Tally, shares: NDArray[np.float64], *, rules: int = 1) -> Rule | None:
    """Whether agreement within groups tells a value; None where it does not.

    Every known record is left out once: where the others of its group agree, do they agree with it? `shares` are
    those of the values among the known records; `rules` is how many rules are tried.
    """
    size = tally.n_first + tally.n_second
    agree = tally.unanimous & (size >= 2)
    one_off = ~tally.more & (tally.n_second > 0) & (np.minimum(tally.n_first, tally.n_second) == 1)
    others = size - 1
    chance = np.array([float((shares**s).sum()) for s in range(LONGEST + 1)])
    usual = 1.0 - float(shares.max(initial=0.0))
    rule, above = None, np.inf
    copied = not bool((tally.n_second > 0).any())
    for support in reversed(SUPPORTS):
        enough, here = others >= support, (others >= support) & (others < above)
        above = support
        if _errs_too_often(size, agree & here, one_off & here):
            break  # whatever larger groups show: those of this size do not tell
        right, groups = int(size[agree & enough].sum()), int((agree & enough).sum())
        wrong = _wrong(size, one_off & enough)
        if right < (FEWEST_WHOLE if copied and support >= COPY_SUPPORT else FEWEST_RIGHT):
            continue
        by_chance = chance[np.minimum(size[enough & (size >= 2)], LONGEST)]
        if copied and support >= COPY_SUPPORT:
            chanced = float(np.log(by_chance).sum()) > COPY_CHANCE - math.log(rules)
        else:
            chanced = log_tail(groups, float(by_chance.sum())) > CHANCE - math.log(rules)
        if chanced:
            continue
        most = _most_wrong(right, wrong, groups + int((one_off & enough).sum()))
        if most > min(MOST_WRONG, usual * OF_THE_USUAL if wrong else 1.0):
            break
        rule = Rule(support, most)
    return rule


def _wrong(size: NDArray[np.int32], one_off: NDArray[np.bool_]) -> int:
    """Records that the others of their group agree against."""
    return int(np.count_nonzero(one_off) + np.count_nonzero(one_off & (size == 2)))


def _errs_too_often(size: NDArray[np.int32], agree: NDArray[np.bool_], one_off: NDArray[np.bool_]) -> bool:
    """Whether groups of one size err too often by themselves."""
    wrong = _wrong(size, one_off)
    return wrong > MOST_WRONG * (wrong + int(size[agree].sum()))


def judge_rule(right: int, wrong: int, usual_wrong: float) -> float | None:
    """How rarely a rule errs at most that gave one value each time; None where that is too often, or no news.

    `usual_wrong` is how often the most frequent value is wrong.
    """
    if right < FEWEST_RIGHT or usual_wrong <= 0.0:
        return None
    if wrong == 0 and usual_wrong < 1.0 and right * math.log1p(-usual_wrong) > CHANCE:
        return None  # the most frequent value alone would have been right as often
    most = _most_wrong(right, wrong, right + wrong)
    # neighbours are alike for many reasons, and what is suppressed is rare: only what orders the file counts
    return most if most <= min(MOST_WRONG, usual_wrong * OF_THE_USUAL) / STRICTER else None


def _most_wrong(right: int, wrong: int, groups: int) -> float:
    """The upper end of the share of errors; none at all where there were none among what chance cannot explain."""
    if wrong == 0:
        return 0.0
    share = wrong / (right + wrong)
    return wilson(share * groups, groups, CONFIDENCE).high


def log_tail(seen: int, expected: float) -> float:
    """Logarithm of (a bound on) the chance of seeing so many of what is rarely expected."""
    if seen <= expected:
        return 0.0
    if expected <= 0.0:
        return -math.inf
    return seen - expected + seen * math.log(expected / seen)


# The columns of a release as an intruder reads them: categories, and the numbers that each value may stand
# for.


LARGEST = 2.0**53  # whole numbers from here on are read as ids
MOST_LABELS = 2_000  # of a column of texts that may be ranges of numbers


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """One column: `codes` (n,) from 1 on, 0 where missing; `low` and `high` (n,) where its values are numbers.

    The two are equal where a value is one number, NaN where it is missing; None where values are no numbers.
    """

    name: str
    codes: Codes
    n_levels: int
    low: Floats | None
    high: Floats | None
    coded: Coded
    words: NDArray[np.uint64]  # the code of `coded` behind each of ours

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where it has no value."""
        return np.asarray(self.codes == 0)

    @cached_property
    def numbers(self) -> Floats | None:
        """The numbers, NaN where there is none or a range of them."""
        if self.low is None or self.high is None:
            return None
        return np.where(self.low == self.high, self.low, np.nan)

    @cached_property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        if self.low is None or self.high is None:
            return False
        ends = np.concatenate([self.low, self.high])
        ends = ends[np.isfinite(ends)]
        return bool((ends == np.round(ends)).all())

    @property
    def from_labels(self) -> bool:
        """Whether its numbers are read from labels ("30-39")."""
        return self.low is not None and self.coded.kind in ("text", "category")

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each code, those of a missing value first."""
        return np.bincount(self.codes, minlength=self.n_levels + 1)

    def labels(self) -> list[str]:
        """How each level is printed, in the order of the codes."""
        return self.coded.labels(self.words.astype(np.int64))


def read_columns(frame: Any, names: Sequence[str]) -> dict[str, ReleasedColumn]:
    """Read columns; those that are not there or hold no plain values (lists, mixed types) are left out."""
    columns = {}
    for name in names:
        if name not in frame.columns:
            continue
        try:
            columns[name] = _read(frame.get_column(name))
        except DataError:
            continue
    return columns


def _read(series: Any) -> ReleasedColumn:
    coded = code_column(series)
    raw = coded.codes()
    groups = group(raw.astype(np.uint64))
    absent = groups.words == np.uint64(coded.span)
    number = np.cumsum(~absent) * ~absent
    codes = number[groups.of_row].astype(np.int32)
    words = groups.words[~absent]
    low = high = None
    if series.dtype.is_numeric():
        low = high = _numbers(series)
    elif coded.kind == "date":
        low = high = days_values(series, file="the release")
    elif coded.kind in ("text", "category") and 0 < len(words) <= MOST_LABELS:
        ranges = _ranges(coded.labels(words.astype(np.int64)))
        if ranges is not None:
            ends = np.vstack([[np.nan, np.nan], ranges])
            low, high = ends[codes, 0], ends[codes, 1]
    return ReleasedColumn(series.name, codes, len(words), low, high, coded, words)


def _numbers(series: Any) -> Floats | None:
    """The numbers of a column, NaN where one is infinite; None where whole ones are too large to be told apart."""
    values = float_values(series, "column")
    if np.abs(values[np.isfinite(values)]).max(initial=0.0) >= LARGEST and series.dtype.is_integer():
        return None
    return np.where(np.isfinite(values), values, np.nan)


def _ranges(labels: Sequence[str]) -> Floats | None:
    """What each label stands for, where all of them are numbers or ranges of numbers."""
    ranges = [range_of_label(label, whole=False) for label in labels]
    if any(range_ is None for range_ in ranges):
        return None
    ends = np.array(ranges, np.float64)
    if (ends[np.isfinite(ends)] % 1 != 0).any():
        return ends
    return np.array([range_of_label(label) or (math.nan, math.nan) for label in labels], np.float64)


MOST_GROUPED = 100  # values of a column of codes
SUPPRESSED, CODED, BANDED, ROUNDED, CHANGED = (
    "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed",
)  # fmt: skip
HEAP = 1.5  # times the records of the next value: a limit was put there
CLEARLY = 2.0  # difference of the square roots of two counts that chance does not make


class Logged(Protocol):
    """A log of protection steps, as far as it is read here."""

    @property
    def n(self) -> int:
        """Records of the file."""
        ...

    @property
    def steps(self) -> Iterable[Any]:
        """A change each, with ``method``, ``changed`` and ``parameters``."""
        ...

    def rows(self, original: Any = None) -> NDArray[np.int64] | None:
        """The row of the original that each released row was made from; None where the order was not changed."""
        ...


@dataclass(frozen=True, eq=False)
class ChangedColumn:
    """What was changed in one column.

    `touched` (n,): the values changed. `low`, `high` (n,): the numbers that each value of the column may stand for,
    unbounded where it is missing; None where values are no numbers. `kinds`: what was done, in words.
    """

    column: ReleasedColumn
    touched: Bools
    low: Floats | None
    high: Floats | None
    kinds: tuple[str, ...]

    @property
    def perturbed(self) -> bool:
        """Whether values were changed into other values, so that no untouched one can be told from them."""
        return CHANGED in self.kinds


def by_sight(columns: Mapping[str, ReleasedColumn]) -> dict[str, ChangedColumn]:
    """What anybody sees: missing values, ranges, and ends at which values are heaped."""
    changed = {}
    for name, column in columns.items():
        low, high = _ends(column)
        touched = column.missing.copy()
        kinds = [SUPPRESSED] * bool(touched.any())
        if low is not None and high is not None:
            with np.errstate(invalid="ignore"):
                ranged = ~column.missing & (high > low)
            kinds += _range_kinds(low[ranged], high[ranged])
            touched |= ranged
            for end, value in _heaps(column):
                at = ~column.missing & (column.numbers == value) & ~touched
                low, high = _opened(low, high, at, end)
                touched |= at
                kinds.append(CODED)
        if touched.any():
            changed[name] = ChangedColumn(column, touched, low, high, tuple(dict.fromkeys(kinds)))
    return changed


def by_log(columns: Mapping[str, ReleasedColumn], log: Logged) -> dict[str, ChangedColumn]:
    """What the log of the recipe says was changed."""
    changed: dict[str, ChangedColumn] = {}
    for step in log.steps:
        for name, count in step.changed.items():
            if not count or name not in columns:
                continue
            column = columns[name]
            ends = _ends(column)
            at, low, high, kind = _by_step(column, ends, step)
            if not at.any():
                continue
            known = changed.get(name)
            if known is not None:
                at |= known.touched
                low, high = _narrower(low, high, known)
            kinds = (*(known.kinds if known else ()), kind)
            changed[name] = ChangedColumn(column, at, low, high, tuple(dict.fromkeys(kinds)))
    return changed


def by_original(
    columns: Mapping[str, ReleasedColumn], original: Mapping[str, ReleasedColumn]
) -> dict[str, ChangedColumn]:
    """Where the release differs from its original, row by row."""
    made = (_compared(column, original[name]) for name, column in columns.items() if name in original)
    return {changed.column.name: changed for changed in made if changed.touched.any()}


def _compared(column: ReleasedColumn, before: ReleasedColumn) -> ChangedColumn:
    """What was changed in one column; of codes in groups only those taken out: nothing shows the others."""
    low, high = _ends(column)
    if before.numbers is not None and not before.whole and column.from_labels:
        low, high = _widened(low, high)
    touched = _changed_cells(column, before, low, high)
    kinds = [SUPPRESSED] * bool((touched & column.missing).any())
    seen = touched & ~column.missing
    if seen.any() and low is not None and high is not None and before.numbers is not None:
        ranged = _by_truth(low, high, seen, _an_end(before))
        if CHANGED in ranged[2] and _is_grouped(column, before):
            touched = touched & column.missing
        else:
            low, high, more = ranged
            kinds += more
    elif seen.any():
        kinds.append(CHANGED)
    return ChangedColumn(column, touched, low, high, tuple(dict.fromkeys(kinds)))


def _changed_cells(column: ReleasedColumn, before: ReleasedColumn, low: Floats | None, high: Floats | None) -> Bools:
    """Where the release says something else than its original."""
    if before.numbers is None or low is None or high is None:
        return np.asarray(~before.missing & (truth_codes(column, before) != column.codes))
    with np.errstate(invalid="ignore"):
        touched = ~before.missing & ((low != before.low) | (high != before.high))
    unread = np.isnan(low) & np.isnan(before.numbers)  # infinite ones: only their print can be compared
    if unread.any() or before.from_labels:
        touched &= ~((unread | before.from_labels) & _same_text(column, before))
    return np.asarray(touched)


def _ends(column: ReleasedColumn) -> tuple[Floats | None, Floats | None]:
    """The range of each value; a missing one may stand for any number."""
    if column.low is None or column.high is None:
        return None, None
    return np.where(column.missing, -np.inf, column.low), np.where(column.missing, np.inf, column.high)


def _an_end(before: ReleasedColumn) -> Floats:
    """The numbers; of a range one of its ends, which lies in every wider range."""
    assert before.numbers is not None
    assert before.low is not None
    assert before.high is not None
    end = np.where(np.isfinite(before.low), before.low, before.high)
    return np.where(np.isnan(before.numbers), end, before.numbers)


def _widened(low: Floats | None, high: Floats | None) -> tuple[Floats | None, Floats | None]:
    """Ranges of labels that were read as of whole numbers, when the numbers are not whole: (0, 10] begins above 0."""
    if low is None or high is None:
        return low, high
    ranged = high > low
    return np.where(ranged, low - 1, low), np.where(ranged, high + 1, high)


def _range_kinds(low: Floats, high: Floats) -> list[str]:
    bounded = np.isfinite(low) & np.isfinite(high)
    return [BANDED] * bool(bounded.any()) + [CODED] * bool((~bounded).any())


def _heaps(column: ReleasedColumn) -> list[tuple[str, float]]:
    """Ends of a column of numbers that more records have than the value next to them."""
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
    """Whether so many more records are no chance: twice the difference of the roots of counts is nearly normal."""
    return count >= HEAP * beside and math.sqrt(count) - math.sqrt(beside) >= CLEARLY


def _opened(low: Floats, high: Floats, at: Bools, end: str) -> tuple[Floats, Floats]:
    """The ranges when a limit stands for everything beyond it."""
    if end == "top":
        return low, np.where(at, np.inf, high)
    return np.where(at, -np.inf, low), high


def _by_step(
    column: ReleasedColumn, ends: tuple[Floats | None, Floats | None], step: Any
) -> tuple[Bools, Floats | None, Floats | None, str]:
    low, high = ends
    present = ~column.missing
    nothing = np.zeros(len(present), np.bool_)
    trace = kind_of(step.method).trace
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
            return (
                exact,
                np.where(exact, low - base / 2, low),
                np.where(exact, high + base / 2, high),
                ROUNDED,
            )
        return nothing, low, high, ROUNDED
    if trace == "range":
        with np.errstate(invalid="ignore"):
            return present & (high > low), low, high, BANDED
    return nothing, low, high, CHANGED


def _narrower(low: Floats | None, high: Floats | None, known: ChangedColumn) -> tuple[Floats | None, Floats | None]:
    """The ranges that two steps leave together: the wider one, as the later step hides what the earlier left."""
    if low is None or high is None or known.low is None or known.high is None:
        return low, high
    return np.fmin(low, known.low), np.fmax(high, known.high)


def truth_codes(column: ReleasedColumn, before: ReleasedColumn) -> Floats:
    """The true values as codes of the release: -1 where it has none for them.

    Where each value was put into one group, its group; else the value itself, or, of texts that the release does not
    have, what most of their records show.
    """
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    own = np.array([0.0, *(place.get(label, -1.0) for label in before.labels())])
    seen = ~before.missing & ~column.missing
    most = majorities_of(before.codes, column.codes, before.n_levels)
    group = np.where((2 * most.votes > most.size) & (most.votes > 1), most.code, own)
    group[0] = 0.0
    if (group[before.codes] == column.codes)[seen].all():
        return np.asarray(group[before.codes])
    if column.numbers is None:
        own = np.where(own < 0, group, own)
    return np.asarray(own[before.codes])


def _is_grouped(column: ReleasedColumn, before: ReleasedColumn) -> bool:
    """Whether codes were put into groups with numbers for names, each into one."""
    known = ~before.missing & ~column.missing
    few = before.n_levels <= MOST_GROUPED
    return few and not (truth_codes(column, before) != column.codes)[known].any()


def _same_text(column: ReleasedColumn, before: ReleasedColumn) -> Bools:
    """Where both files print the same."""
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    there = np.array([-1, *(place.get(label, -1) for label in before.labels())])
    return np.asarray(there[before.codes] == column.codes)


def _by_truth(low: Floats, high: Floats, seen: Bools, truth: Floats) -> tuple[Floats, Floats, list[str]]:
    """Tell limits, ranges, rounding and other changes apart by what the values were."""
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
    """The largest whole number above one that all values are multiples of; 0 where there is none."""
    if not (np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all():
        return 0.0
    divisor = np.gcd.reduce(values.astype(np.int64))
    return float(divisor) if divisor > 1 else 0.0
