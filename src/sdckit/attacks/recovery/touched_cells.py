"""Changed values of a release, and the bounds that each still shows: none, a coding limit, or a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.code_tables import Starts, starts_of
from sdckit.data.columns import Coded, code_column, days_values, float_values, plain_series
from sdckit.data.hierarchy import range_of_label
from sdckit.data.methods import METHODS, kind_of
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Codes, Floats
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import group
from sdckit.numerics.intervals import wilson

# Agreement of a column within groups of records, tested against chance and by leave-one-out error.


SUPPORTS = np.array([1, 2, 3, 5, 10, 30, 100])
DEVIATING = np.array([0.03, 0.1, 0.25, 0.45])  # shares of a group whose value is not that of its majority
CHANCE = math.log(1e-7)  # agreement at least this probable by chance is no rule
MOST_WRONG = 0.1  # largest error rate of a rule; and a fifth of that of the most frequent value
MOST_SURELY = 0.03  # the same where
SAFELY = 5  # times the values asked for are fewer than the deviating ones seen
OF_THE_USUAL = 1 / 5
OF_PERTURBED = 0.4  # the same of perturbed values, any of which may deviate because it was changed
STRICTER = 4  # for neighbours
CONFIDENCE = 0.99
FEWEST_RIGHT = 30  # correct predictions needed before a rule counts
FEWEST_WHOLE = 8  # the same if every group agrees, with support of three or more (a copied column)
COPY_SUPPORT = 3
COPY_CHANCE = math.log(1e-4)
LONGEST = 64


@njit(nogil=True, cache=True)
def _tally(group, codes, code, votes, size):  # type: ignore[no-untyped-def]
    """Find the majority of each group among known codes, in place.

    In: `group` (n,) from 0, -1 for none; `codes` (n,) from 1, 0 for unknown. Out, by group: the `code` that more than
    half of the `size` known records have, and its `votes`; some code where there is none.
    """
    for i in range(len(group)):
        if codes[i] > 0 and group[i] >= 0:
            g = group[i]
            if votes[g] == 0:
                code[g] = codes[i]
            votes[g] += 1 if code[g] == codes[i] else -1
    votes[:] = 0
    for i in range(len(group)):
        if codes[i] > 0 and group[i] >= 0:
            g = group[i]
            size[g] += 1
            votes[g] += code[g] == codes[i]


@dataclass(frozen=True, eq=False)
class Tally:
    """Known values of each group: the majority's `code`, its `votes`, and the `size`; each (groups,)."""

    code: NDArray[np.int32]
    votes: NDArray[np.int32]
    size: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rule:
    """A reliable rule: which groups `tell`, by number and by share of deviating records; a bound of its error rate.

    `tells`: (SUPPORTS, DEVIATING).
    """

    tells: Bools
    wrong: float

    def telling(self, tally: Tally) -> Bools:
        """(groups,) whether the majority tells the value of the others."""
        column = np.searchsorted(DEVIATING, (tally.size - tally.votes) / np.maximum(tally.size, 1))
        tells = np.pad(self.tells, ((1, 0), (0, 1)))  # of no record nobody is told, nor where most deviate
        rows = (np.searchsorted(SUPPORTS, tally.size - less, "right") for less in (0, 1))  # as judged: less one
        return np.asarray(np.logical_or(*(tells[row, column] for row in rows)))


def tally_groups(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> Tally:
    """Tally the known values (codes above 0) by group; records of group -1 belong to none.

    >>> found = tally_groups(np.array([0, 0, 1, 1, 1, 1], np.int32), np.array([4, 4, 2, 0, 3, 3], np.int32), 2)
    >>> found.code.tolist(), found.votes.tolist(), found.size.tolist()
    ([4, 3], [2, 2], [2, 3])
    """
    tally = Tally(*(np.zeros(n_groups, np.int32) for _ in range(3)))
    _tally(group, codes, tally.code, tally.votes, tally.size)
    return tally


def tally_cells(group: Codes, codes: Codes, times: NDArray[np.int64], n_groups: int) -> Tally:
    """The same of distinct combinations of group and code, and the number of records of each.

    >>> found = tally_cells(*np.array([[0, 0, 1], [4, 2, 3]], np.int32), np.array([9, 1, 2]), 2)
    >>> found.code.tolist(), found.votes.tolist(), found.size.tolist()
    ([4, 3], [9, 2], [10, 2])
    """
    tally = Tally(*(np.zeros(n_groups, np.int32) for _ in range(3)))
    rows = np.flatnonzero((codes > 0) & (group >= 0))
    rows = rows[np.argsort(times[rows], kind="stable")]  # the last one written is the largest
    tally.code[group[rows]], tally.votes[group[rows]] = codes[rows], times[rows]
    np.add.at(tally.size, group[rows], times[rows].astype(np.int32))
    return tally


@njit(nogil=True, cache=True)
def _leave_out(votes, size, supports, deviating, right, wrong, groups, sizes):  # type: ignore[no-untyped-def]
    """Count, in place, records told rightly and wrongly by the majority of the others of their group.

    Out: `right`, `wrong`, and the `groups` that agree, by number of the others and share of deviating ones; `sizes`:
    all groups by number of the others and size.
    """
    for g in range(len(size)):
        others = size[g] - 1
        if others < 1:
            continue
        row = np.searchsorted(supports, others, "right") - 1
        sizes[row, min(size[g], sizes.shape[1] - 1)] += 1
        off = size[g] - votes[g]
        column = np.searchsorted(deviating, off / others)
        if column < len(deviating):
            right[row, column] += votes[g]
            groups[row, column] += 1
        if off > 0:  # a deviating record sees one deviating record less
            column = np.searchsorted(deviating, (off - 1) / others)
            if column < len(deviating):
                wrong[row, column] += size[g] if votes[g] == off else off


def agreement_by_chance(shares: Floats) -> Floats:
    """Probability (DEVIATING, LONGEST + 1) that a group of a size agrees by chance but for a share of its records.

    >>> agreement_by_chance(np.array([0.0, 0.5, 0.5]))[0, :4].round(6).tolist()
    [1.0, 1.0, 0.5, 0.25]
    """
    share, levels = np.unique(shares[shares > 0], return_counts=True)
    chance = np.ones((len(DEVIATING), LONGEST + 1))
    log, log_rest = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
    for size in range(2, LONGEST + 1):
        most = np.floor(DEVIATING * (size - 1) + (size == LONGEST)).astype(np.int64)  # larger groups count as LONGEST
        off = np.arange(most[-1] + 1)
        ways = [math.log(math.comb(size, int(d))) for d in off]
        of_off = np.exp(np.array(ways)[:, None] + (size - off)[:, None] * log + off[:, None] * log_rest) @ levels
        chance[:, size] = np.minimum(np.cumsum(of_off)[most], 1.0)
    return chance


def judge_agreement(
    tally: Tally, shares: Floats, chance: Floats | None = None, *, asked: Codes | None = None, rules: int = 1,
    perturbed: bool = False,
) -> Rule | None:  # fmt: skip
    """Judge by leave-one-out whether the majority of a group determines a value; None if it does not.

    Every known record is left out once and predicted by the majority of the others of its group; groups alike in size
    and in their share of deviating records are judged by themselves, then all of them together. `shares` are the
    relative frequencies of the known values, `chance` what `agreement_by_chance` makes of them; `asked` the groups of
    the values sought; `rules` is the number of rules tried (Bonferroni correction). Where `perturbed`, any
    may be wrong.
    """
    usual = 1.0 - float(shares.max(initial=0.0))
    shape = len(SUPPORTS), len(DEVIATING)
    right, wrong, groups = (np.zeros(shape, np.int64) for _ in range(3))
    sizes = np.zeros((len(SUPPORTS), LONGEST + 1), np.int64)
    _leave_out(tally.votes, tally.size, SUPPORTS, DEVIATING, right, wrong, groups, sizes)
    copied = not bool((tally.votes < tally.size).any())

    def judged(tells: Bools, limit: float) -> Rule | None:
        hits, errors, agreeing = (int(counts[tells].sum()) for counts in (right, wrong, groups))
        whole = copied and SUPPORTS[tells.argmax(axis=0)[0]] >= COPY_SUPPORT
        if hits < (FEWEST_WHOLE if whole else FEWEST_RIGHT):
            return None
        rule = Rule(tells.copy(), 0.0)
        if errors:
            telling, attempts = rule.telling(tally), hits + errors
            if asked is not None and not perturbed and errors * SAFELY > np.append(telling, False)[asked].sum():
                # suppressed may be just those who deviate: as many as are seen would be too many of those asked for
                limit, attempts = min(limit, MOST_SURELY), agreeing + errors
            votes = np.bincount(tally.code[telling], tally.votes[telling], minlength=1)
            limit = min(limit, OF_THE_USUAL * min(usual, 1 - votes.max() / (hits + errors))) if not perturbed else limit
            rule = Rule(rule.tells, wilson(attempts * errors / (hits + errors), attempts, CONFIDENCE).high)
        if rule.wrong > limit:
            return None
        by_chance = agreement_by_chance(shares) if chance is None else chance
        return None if _is_by_chance(tells, agreeing, sizes, by_chance, rules, whole) else rule

    for limit in (usual * OF_PERTURBED,) if perturbed else (MOST_WRONG, MOST_SURELY):
        held = []
        for loosest in range(shape[1]):
            tells = np.zeros(shape, np.bool_)
            for row in reversed(np.flatnonzero((right + wrong).any(axis=1))):
                within = _within(right[row, : loosest + 1], wrong[row, : loosest + 1], limit)
                if not within:
                    break  # smaller groups are no better, and a choice among them would be one of lucky ones
                tells[row, :within] = True
                if (rule := judged(tells, limit)) is not None:
                    held.append(rule)
        if held:
            return max(held, key=lambda rule: int(right[rule.tells].sum()))
    return None


def _within(right: NDArray[np.int64], wrong: NDArray[np.int64], limit: float) -> int:
    """Up to which share of deviating records, of those looked at, groups of a size keep to the error rate."""
    seen = right + wrong
    few = np.maximum(1.0, limit * seen)  # a single exception ends nothing
    together = np.cumsum(wrong) <= np.maximum(1.0, limit * np.cumsum(seen))
    alone = np.append(True, (wrong <= few)[1:])
    return int(np.flatnonzero(np.append(True, together & np.logical_and.accumulate(alone)))[-1])


def _is_by_chance(
    tells: Bools, agreeing: int, sizes: NDArray[np.int64], chance: Floats, rules: int, whole: bool
) -> bool:
    """Whether as many groups could agree with values dealt at random; `whole`: all groups of the file."""
    rows = np.flatnonzero(tells.any(axis=1))
    loosest = tells[rows].sum(axis=1) - 1
    if whole:
        return float((sizes[rows] * np.log(chance[loosest])).sum()) > COPY_CHANCE - math.log(rules)
    return log_tail(agreeing, float((sizes[rows] * chance[loosest]).sum())) > CHANCE - math.log(rules)


def judge_rule(right: int, wrong: int, usual_wrong: float) -> float | None:
    """Upper bound of the error rate of a rule; None if it is too high, or no better than the most frequent value.

    `usual_wrong` is the error rate of the most frequent value.
    """
    if right < FEWEST_RIGHT or usual_wrong <= 0.0:
        return None
    if wrong == 0 and usual_wrong < 1.0 and right * math.log1p(-usual_wrong) > CHANCE:
        return None  # the most frequent value could be right as often by chance
    most = _most_wrong(right, wrong)
    # neighbours may agree for other reasons and suppressed values are rare ones: hence the stricter limit
    return most if most <= min(MOST_SURELY, usual_wrong * OF_THE_USUAL) / STRICTER else None


def _most_wrong(right: int, wrong: int) -> float:
    """Upper Wilson bound of the error rate; 0 without errors (chance agreement is excluded elsewhere)."""
    return wilson(wrong, right + wrong, CONFIDENCE).high if wrong else 0.0


def log_tail(seen: int, expected: float) -> float:
    """Log of the Chernoff bound on the probability of at least `seen` events with the given expectation."""
    if seen <= expected:
        return 0.0
    if expected <= 0.0:
        return -math.inf
    return seen - expected + seen * math.log(expected / seen)


# Columns of a release as an intruder reads them: category codes, and the range of numbers of each value.


LARGEST = 2.0**53  # integers from here on are not exact as floats and are read as ids
TEXTS = ("text", "category")  # kinds of columns whose values may be ranges
MOST_LABELS = 2_000  # of a column of texts that may be ranges of numbers


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A coded column: `codes` (n,) from 1 on, 0 where missing; `low` and `high` (n,) bounds if it is numeric.

    The bounds are equal for a single number and NaN where missing; None for a column without numbers.
    """

    name: str
    codes: Codes
    n_levels: int
    low: Floats | None
    high: Floats | None
    coded: Coded
    words: NDArray[np.uint64]  # the code of `coded` behind each of ours
    within: str = ""  # the column of structures or lists that it is part of

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n,) whether the value is missing."""
        return np.asarray(self.codes == 0)

    @cached_property
    def numbers(self) -> Floats | None:
        """Single numbers (n,), NaN for missing values and ranges; None for a column without numbers."""
        return None if self.low is None or self.high is None else np.where(self.low == self.high, self.low, np.nan)

    @cached_property
    def whole(self) -> bool:
        """Whether all numbers and bounds are integers."""
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
        """Records of each code, with those of missing values at index 0."""
        return np.bincount(self.codes, minlength=self.n_levels + 1)

    def labels(self) -> list[str]:
        """Printed label of each level, in the order of the codes."""
        return self.coded.labels(self.words.astype(np.int64))

    @cached_property
    def starts(self) -> Starts:
        """Codes of the first characters of the labels; kept, since they are asked for again and again."""
        return starts_of(self.labels(), len(self.codes))


def read_columns(frame: Any, names: Sequence[str]) -> dict[str, ReleasedColumn]:
    """Code columns, and the fields and elements of structures and lists; absent ones and mixed types are left out."""
    columns = {}
    for name in names:
        if name not in frame.columns:
            continue
        with suppress(DataError):
            for series in plain_series(frame.get_column(name)):
                if series.name == name or series.name not in frame.columns:
                    columns[series.name] = _read(series, "" if series.name == name else name)
    return columns


def in_frame(names: Sequence[str], columns: Mapping[str, ReleasedColumn]) -> tuple[str, ...]:
    """The columns of the frame that hold those named, each once: "address" for "address.city"."""
    return tuple(dict.fromkeys(columns[name].within or name if name in columns else name for name in names))


def _read(series: Any, within: str) -> ReleasedColumn:
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
    elif coded.kind in TEXTS and 0 < len(words) <= MOST_LABELS:
        ranges = _ranges(coded.labels(words.astype(np.int64)))
        if ranges is not None:
            ends = np.vstack([[np.nan, np.nan], ranges])
            low, high = ends[codes, 0], ends[codes, 1]
    return ReleasedColumn(series.name, codes, len(words), low, high, coded, words, within)


def _numbers(series: Any) -> Floats | None:
    """Numbers of a column, NaN for infinite ones; None if integers are too large to be exact as floats."""
    values = float_values(series, "column")
    if np.abs(values[np.isfinite(values)]).max(initial=0.0) >= LARGEST and series.dtype.is_integer():
        return None
    return np.where(np.isfinite(values), values, np.nan)


def _ranges(labels: Sequence[str]) -> Floats | None:
    """Lower and upper bound (labels, 2) of each label; None unless all labels are numbers or numeric ranges."""
    ranges = [range_of_label(label, whole=False) for label in labels]
    if any(range_ is None for range_ in ranges):
        return None
    ends = np.array(ranges, np.float64)
    if (ends[np.isfinite(ends)] % 1 != 0).any():
        return ends
    return np.array([range_of_label(label) or (math.nan, math.nan) for label in labels], np.float64)


MOST_GROUPED = 100  # most distinct values of a column of numeric codes
SUPPRESSED, CODED, BANDED, ROUNDED, CHANGED, GROUPED = (
    "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed", "in groups",
)  # fmt: skip
HEAP = 1.5  # ratio to the count of the adjacent value from which on an extreme value is heaped
CLEARLY = 2.0  # least difference of the square roots of two counts for a significant excess


class Logged(Protocol):
    """Protocol of a log of protection steps: the attributes used here."""

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
        ranged = 0 if column.low is None or column.high is None else np.count_nonzero(column.high > column.low)
        for trace, count in (("missing", np.count_nonzero(column.codes == 0)), ("range", ranged)):
            if count:
                counts[trace][name] = int(count)
    steps = (
        _SeenStep(next(kind.name for kind in METHODS.values() if kind.trace == trace), changed, {})
        for trace, changed in counts.items()
        if changed
    )
    return SeenChanges(len(frame), tuple(steps))


@dataclass(frozen=True, eq=False)
class ChangedColumn:
    """The changed values of one column.

    `touched` (n,): whether a value was changed. `low`, `high` (n,): bounds of the true number, infinite where the value
    is missing; None for columns without numbers. `kinds`: the kinds of protection, in words.
    """

    column: ReleasedColumn
    touched: Bools
    low: Floats | None
    high: Floats | None
    kinds: tuple[str, ...]

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
    """Changed values according to the log of the protection steps."""
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
    columns: Mapping[str, ReleasedColumn], original: Mapping[str, ReleasedColumn],
    times: NDArray[np.int64] | None = None,
) -> dict[str, ChangedColumn]:  # fmt: skip
    """Changed values by comparison of release and original, row by row.

    `times`: records of each row, where rows are the distinct combinations of both values of a single column.
    """
    compared = (_compared(column, original[name], times) for name, column in columns.items() if name in original)
    return {changed.column.name: changed for changed in compared if changed.touched.any()}


def _compared(column: ReleasedColumn, before: ReleasedColumn, times: NDArray[np.int64] | None) -> ChangedColumn:
    """Changed values of one column; of recoded categories only the suppressed ones, as recoding leaves no trace."""
    low, high = _ends(column)
    if before.numbers is not None and not before.whole and column.from_labels:
        low, high = _widened(low, high)
    touched = _changed_cells(column, before, low, high, times)
    kinds = [SUPPRESSED] * bool((touched & column.missing).any())
    seen = touched & ~column.missing
    if seen.any() and low is not None and high is not None and before.numbers is not None:
        ranged = _by_truth(low, high, seen, _an_end(before))
        if CHANGED in ranged[2] and _is_grouped(column, before, times):
            touched = touched & column.missing
        else:
            low, high, more = ranged
            kinds += more
    elif seen.any():
        kinds.append(CHANGED)
    return ChangedColumn(column, touched, low, high, tuple(dict.fromkeys(kinds)))


def with_groups(column: ReleasedColumn, before: ReleasedColumn, known: ChangedColumn | None) -> ChangedColumn | None:
    """The changes of a column with the values that were recoded to groups; None where there are none of these.

    What is released of them is right, so the release alone gives nothing back; a code of the value itself does.
    """
    if column.n_levels >= before.n_levels or (known is not None and known.perturbed):
        return None
    numeric = before.numbers is not None and column.low is not None
    differs = (column.low != before.low) | (column.high != before.high) if numeric else ~_same_text(column, before)
    touched = np.zeros(len(column.codes), np.bool_) if known is None else known.touched
    grouped = np.asarray(differs & ~before.missing & ~column.missing & ~touched)
    if not grouped.any():
        return None
    kinds = (*(() if known is None else known.kinds), GROUPED)
    return ChangedColumn(column, touched | grouped, None, None, kinds)


def _changed_cells(
    column: ReleasedColumn, before: ReleasedColumn, low: Floats | None, high: Floats | None,
    times: NDArray[np.int64] | None,
) -> Bools:  # fmt: skip
    """(n,) whether the released value differs from the original one."""
    if before.numbers is None or low is None or high is None:
        return np.asarray(~before.missing & (truth_codes(column, before, times) != column.codes))
    with np.errstate(invalid="ignore"):
        touched = ~before.missing & ((low != before.low) | (high != before.high))
    unread = np.isnan(low) & np.isnan(before.numbers)  # infinite numbers: only their labels can be compared
    if unread.any() or before.from_labels:
        touched &= ~((unread | before.from_labels) & _same_text(column, before))
    return np.asarray(touched)


def _ends(column: ReleasedColumn) -> tuple[Floats | None, Floats | None]:
    """Bounds of each value, infinite where it is missing."""
    if column.low is None or column.high is None:
        return None, None
    return np.where(column.missing, -np.inf, column.low), np.where(column.missing, np.inf, column.high)


def _an_end(before: ReleasedColumn) -> Floats:
    """Original numbers; for a range one of its finite bounds, which lies in every wider range."""
    assert before.numbers is not None
    assert before.low is not None
    assert before.high is not None
    end = np.where(np.isfinite(before.low), before.low, before.high)
    return np.where(np.isnan(before.numbers), end, before.numbers)


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
            return (exact, np.where(exact, low - base / 2, low), np.where(exact, high + base / 2, high), ROUNDED)
        return nothing, low, high, ROUNDED
    if trace == "range":
        with np.errstate(invalid="ignore"):
            return present & (high > low), low, high, BANDED
    return nothing, low, high, CHANGED


def _narrower(low: Floats | None, high: Floats | None, known: ChangedColumn) -> tuple[Floats | None, Floats | None]:
    """Bounds after two steps: the wider ones, as the later step hides what the earlier one left."""
    if low is None or high is None or known.low is None or known.high is None:
        return low, high
    return np.fmin(low, known.low), np.fmax(high, known.high)


def truth_codes(column: ReleasedColumn, before: ReleasedColumn, times: NDArray[np.int64] | None = None) -> Floats:
    """True values as codes of the release; -1 where it has none. `times` as for `by_original`.

    If each value was recoded to one group, the group's code; else the value itself, or, for texts that the release
    lacks, the code that most of their records show.
    """
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    own = np.array([0.0, *(place.get(label, -1.0) for label in before.labels())])
    seen = ~before.missing & ~column.missing
    groups = before.codes, column.codes
    levels = before.n_levels + 1
    most = tally_groups(*groups, levels) if times is None else tally_cells(*groups, times, levels)
    group = np.where((2 * most.votes > most.size) & (most.votes > 1), most.code, own)
    group[0] = 0.0
    if (group[before.codes] == column.codes)[seen].all():
        return np.asarray(group[before.codes])
    if column.numbers is None:
        own = np.where(own < 0, group, own)
    return np.asarray(own[before.codes])


def _is_grouped(column: ReleasedColumn, before: ReleasedColumn, times: NDArray[np.int64] | None) -> bool:
    """Whether numeric codes were recoded, each to a single group."""
    known = ~before.missing & ~column.missing
    few = before.n_levels <= MOST_GROUPED
    return few and not (truth_codes(column, before, times) != column.codes)[known].any()


def _same_text(column: ReleasedColumn, before: ReleasedColumn) -> Bools:
    """(n,) whether both files print the same label."""
    place = {label: code for code, label in enumerate(column.labels(), 1)}
    there = np.array([-1, *(place.get(label, -1) for label in before.labels())])
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
