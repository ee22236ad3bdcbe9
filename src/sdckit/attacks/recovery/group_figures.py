"""Figures of groups that tell a member: counts, totals, means and ends of a class or a village, rates of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdckit.attacks.recovery import group_agreement, numeric_relations
from sdckit.attacks.recovery.derived_columns import Household
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Reconstruction
from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit

FEWEST_GROUPS = 10  # groups without a missing value, by which a figure is judged
MOST_GROUPS = 0.5  # groups per record, from which on a column other than the household is taken as an id
FEWEST_OF_RATE = 4  # known members of a group, by which its rate is judged
FEWEST_JUDGED = 30  # records by which rates are judged
FEWEST = 10  # different numbers of a column that is multiplied, and records per group
FIRST = 2000  # records that are tried first
NEARLY_ALL = 0.9  # share of hits among them, below which no more are tried
NEAR_WHOLE = 0.3  # how far a share times the members may be from a number of them


@dataclass(frozen=True, eq=False)
class GroupFigure:
    """A column of numbers that is the same for all members of each group, and its `values` (groups,)."""

    group: Household
    name: str
    values: Floats

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is read from."""
        return frozenset((self.group.name, self.name))


def group_figures(columns: Mapping[str, ReleasedColumn], household: str | None) -> list[GroupFigure]:
    """The figures of households, and of other columns whose values make groups of several records."""
    n = max((len(column.codes) for column in columns.values()), default=0)
    listed = []
    for name, column in columns.items():
        if column.n_levels < FEWEST_GROUPS or (name != household and column.n_levels > MOST_GROUPS * n):
            continue
        first = _first(column)
        shared = [
            other
            for other in columns.values()
            if other.name != name and other.numeric and len(other.distinct) > 1
            and _is_shared(first, _first_numbers(other))
        ]  # fmt: skip
        if not shared:
            continue
        group = Household.of(column)
        rows, few = group.some
        for other in shared:
            numbers = sure(other.numbers)
            if not _is_shared(few, numbers[rows]):
                continue
            low, high = group.extremes(numbers)
            if (low >= high).all():
                listed.append(GroupFigure(group, other.name, np.where(np.isfinite(low), low, np.nan)))
    return listed


def _first(column: ReleasedColumn) -> Household:
    """The groups of the first records."""
    codes = column.codes[:FIRST]
    levels, of_row = np.unique(codes[codes > 0], return_inverse=True)
    groups = np.full(len(codes), -1, np.int32)
    groups[codes > 0] = of_row
    return Household(column.name, groups, np.bincount(of_row, minlength=len(levels)))


def _first_numbers(column: ReleasedColumn) -> Floats:
    """The numbers of the first records."""
    return sure(column.single)[column.codes[:FIRST]]


def _is_shared(group: Household, numbers: Floats) -> bool:
    """Whether no two members of a group have different numbers."""
    low, high = group.extremes(numbers)
    return bool((low >= high).all())


@dataclass(eq=False)
class _Members:
    """What the members of each group show of a column, made once for all figures of the group."""

    state: Reconstruction
    group: Household

    @cached_property
    def unknown(self) -> Floats:
        """Members whose value is missing."""
        return self.group.sums((self.state.known == 0).astype(np.float64))

    @cached_property
    def whole(self) -> Bools:
        """Groups that miss no value."""
        return np.asarray((self.unknown == 0) & (self.group.sizes > 0))

    @cached_property
    def counts(self) -> Ints:
        """Members of each kind, (kinds + 1, groups)."""
        n = self.group.n + 1
        cell = self.state.known * np.int64(n) + self.group.of_row
        cell += 1
        return np.bincount(cell, minlength=len(self.state.shares) * n).reshape(-1, n)[:, 1:]

    @cached_property
    def without_number(self) -> Floats:
        """Members whose number is missing, or shown as a range."""
        return self.group.sums(np.isnan(sure(self.state.numbers)).astype(np.float64))

    @cached_property
    def total(self) -> Floats:
        """Sum of the numbers that are known."""
        own = sure(self.state.numbers)
        return self.group.sums(np.where(np.isnan(own), 0.0, own))

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Least and greatest of the numbers that are known."""
        return self.group.extremes(sure(self.state.numbers))


def by_group_figures(state: Reconstruction, figures: list[GroupFigure]) -> None:
    """Reconstruct by counts of members of one kind, and by totals and means, less what the other members show."""
    if not figures or not state.open.any():
        return
    members = _Members(state, figures[0].group)
    for figure in figures:
        if state.name in (figure.group.name, figure.name) or not state.open.any():
            continue
        if figure.group is not members.group:
            members = _Members(state, figure.group)
        whole = members.whole & ~np.isnan(figure.values)
        if np.count_nonzero(whole & (figure.group.sizes > 1)) < FEWEST_GROUPS:
            continue
        if 1 < len(state.shares) - 1 <= FEW_PARTS:
            _by_kinds(state, figure, members, whole)
        if state.numbers is not None:
            whole &= members.without_number == 0
            _by_total(state, figure, members, whole)
            _by_ends(state, figure, members, whole)


def _scaled(figure: GroupFigure, *, shares: bool) -> list[tuple[str, Floats]]:
    """The figure itself, and times the members of its group: of a mean, a share or a percentage."""
    sizes = figure.group.sizes.astype(np.float64)
    products = [("share", figure.values * sizes), ("percentage", figure.values * sizes / 100)]
    return [("number", figure.values), *products] if shares else [("total", figure.values), ("mean", products[0][1])]


def _by_kinds(state: Reconstruction, figure: GroupFigure, members: _Members, whole: Bools) -> None:
    """Where a figure is the number of members of one kind, those whose value is missing are the rest of them."""
    group, n_whole = figure.group, np.count_nonzero(whole)
    for how, numbers in _scaled(figure, shares=True):
        rounded = np.round(numbers)
        with np.errstate(invalid="ignore"):
            judged = np.flatnonzero(whole & (np.abs(numbers - rounded) <= NEAR_WHOLE))
        if len(judged) < 0.9 * n_whole:
            continue
        counts, unknown = members.counts, members.unknown
        kinds = np.flatnonzero(counts.sum(axis=1)[1:]) + 1
        some = judged[: max(FIRST, len(judged) // 8)]
        for kind in kinds:
            if _is_off(counts[kind][some], rounded[some], len(judged)):
                continue
            rest = rounded - counts[kind]
            other = int(kinds[kinds != kind][0]) if len(kinds) == 2 else 0
            if not _counts_kind(state, counts[kind][judged], group.sizes[judged], rest[judged], two=other > 0):
                continue
            codes: Codes = np.zeros(len(rest), np.int32)
            codes[(unknown > 0) & (rest == unknown)] = kind
            codes[(unknown > 0) & (rest == 0)] = other
            of_row = np.append(codes, np.int32(0))[group.of_row]
            words = f"{figure.name} is the {how} of one {state.name} within {group.name}"
            state.restore_codes((group.of_row >= 0) & (of_row > 0), of_row, (figure.name, group.name), words, "divided")


def _is_off(of_kind: Ints, figure: Floats, n: int) -> bool:
    """Whether some of `n` groups show that `_counts_kind` says no, whatever the others are."""
    away = np.abs(figure - of_kind)
    telling = n - len(away) + np.count_nonzero((away == 0) & (of_kind > 0))
    return bool(np.count_nonzero(away > 1) > telling * group_agreement.MOST_SURELY)


def _counts_kind(state: Reconstruction, of_kind: Ints, members: Ints, rest: Floats, *, two: bool) -> bool:
    """Whether the figure tells members of whole groups: each is left out once, and told by the rest of the count.

    `of_kind`: members of the kind, of all `members`; `two`: whether those who are not of it are of one other.
    """
    others = members - of_kind
    right = of_kind[rest == 0].sum() + (others[rest == 0].sum() if two else 0)
    wrong = others[rest == 1].sum() + (of_kind[rest == -1].sum() if two else 0)
    telling = np.count_nonzero((rest == 0) & (of_kind > 0))
    off = np.count_nonzero(np.abs(rest) > 1)  # these tell nobody, but a count of the kind it is not
    if telling < FEWEST_GROUPS or off > telling * group_agreement.MOST_SURELY:
        return False
    return group_agreement.judge_rule(int(right), int(wrong), state.usual_wrong) is not None


def _by_total(state: Reconstruction, figure: GroupFigure, members: _Members, whole: Bools) -> None:
    """Where a figure is the total or the mean of the members, one whose value is missing is what they leave of it."""
    own, group = sure(state.numbers), figure.group
    near = numeric_relations.tolerance(own)
    for how, numbers in _scaled(figure, shares=False):
        rest = numbers - members.total
        with np.errstate(invalid="ignore"):
            hit = np.abs(rest) <= near
        if group_agreement.judge_hits(hit, whole & (group.sizes > 1), state.usual_wrong) is None:
            continue
        unit = numeric_relations.printed_unit(own)
        values = np.round(rest / unit) * unit if unit else rest
        values = group.spread(np.where(members.without_number == 1, np.round(values, 9), np.nan))
        words = f"{figure.name} is the {how} of {state.name} within {group.name}"
        given = ~np.isnan(values) & np.isnan(own)
        state.restore_numbers(given, values, (figure.name, group.name), words, "divided")


def _by_ends(state: Reconstruction, figure: GroupFigure, members: _Members, whole: Bools) -> None:
    """Where a figure is the greatest or the least of the members, one is missing who has it, if no other does."""
    own, group = sure(state.numbers), figure.group
    least, most = members.ends
    for how, ends, sign in (("greatest", most, 1.0), ("least", least, -1.0)):
        if group_agreement.judge_hits(ends == figure.values, whole & (group.sizes > 1), state.usual_wrong) is None:
            continue
        with np.errstate(invalid="ignore"):
            beyond = (members.without_number == 1) & (sign * figure.values > sign * ends)
        values = group.spread(np.where(beyond, figure.values, np.nan))
        words = f"{figure.name} is the {how} {state.name} within {group.name}"
        state.restore_numbers(~np.isnan(values) & np.isnan(own), values, (figure.name, group.name), words, "divided")


@dataclass(frozen=True, eq=False)
class RateGroup:
    """A column whose groups may have rates, and those of the first records, which mostly decide."""

    column: ReleasedColumn
    first: Household

    @cached_property
    def every(self) -> Household:
        """The groups of all records."""
        return Household.of(self.column)


def rate_groups(columns: Mapping[str, ReleasedColumn]) -> list[RateGroup]:
    """The columns with several records per group, of which some are among the first."""
    listed = []
    for column in columns.values():
        if 1 < column.n_levels <= len(column.codes) / FEWEST:
            sizes = (group := RateGroup(column, _first(column))).first.sizes
            if sizes[sizes >= FEWEST_OF_RATE].sum() >= FEWEST_JUDGED:
                listed.append(group)
    return listed


def by_group_rates(
    state: Reconstruction, columns: Mapping[str, ReleasedColumn], groups: Sequence[RateGroup], renewed: frozenset[str]
) -> None:  # fmt: skip
    """Reconstruct numbers that are another one times a rate of their group, or more than it by the same in a group.

    Of a column that is not `renewed` only by one that is.
    """
    own = state.numbers
    if own is None or not state.open.any() or len(state.target.column.distinct) < FEWEST:
        return
    near, first = numeric_relations.tolerance(own), own[:FIRST]
    companions = [
        (column, _first_numbers(column))
        for name, column in columns.items()
        if name != state.name and column.numeric and len(column.distinct) >= FEWEST
    ]
    for group in groups:
        for companion, x in companions:
            names = {state.name, companion.name, group.column.name}
            if len(names) == 3 and renewed & names:
                for ratio in (True, False):
                    if _Rates.of(first, x, group.first, near, ratio=ratio).hit_nearly_all:
                        _by_rate(state, own, near, companion, group.every, ratio=ratio)


def _by_rate(
    state: Reconstruction, own: Floats, near: float, companion: ReleasedColumn, group: Household, *, ratio: bool
) -> None:
    """Put back what a rate or an amount of the group tells, if it tells the numbers that are known."""
    x = sure(companion.numbers)
    most_wrong = int(group_agreement.MOST_SURELY / group_agreement.STRICTER * len(own))  # of which no rule has more
    rates = _Rates.of(own, x, group, near, ratio=ratio, most_wrong=most_wrong)
    wrong = rates.told - rates.hits
    if not rates.hit_nearly_all or wrong > most_wrong:
        return
    if group_agreement.judge_rule(rates.hits, wrong, state.usual_wrong) is not None:
        of_row = group.spread(rates.of_group)
        with np.errstate(invalid="ignore"):
            fitted = x * of_row if ratio else x + of_row
        unit, of = numeric_relations.printed_unit(own), (companion.name, group.name)
        values = np.round(np.round(fitted / unit) * unit, 9) if unit else fitted
        words = f"{of[0]} {'times a rate of' if ratio else 'beside an amount of'} {of[1]}"
        state.restore_numbers(~np.isnan(values) & np.isnan(own), values, of, words, "divided")


@dataclass(frozen=True, eq=False)
class _Rates:
    """The rate or amount of each group; of how many known numbers there is one, how many are `told`, and the `hits`."""

    of_group: Floats
    judged: int
    told: int
    hits: int

    @property
    def hit_nearly_all(self) -> bool:
        """Whether there are enough numbers, and nearly all of them are hit."""
        return self.judged >= FEWEST_JUDGED and self.hits >= NEARLY_ALL * self.judged

    @classmethod
    def of(
        cls, y: Floats, x: Floats, group: Household, near: float, *, ratio: bool, most_wrong: int | None = None
    ) -> _Rates:
        """Find the rates. Numbers are rounded: a rate lies where all of its group hit, if there is such a place.

        Of more than `most_wrong` numbers told wrongly no more are counted.
        """
        ends, sums = np.tile([-np.inf, np.inf], (group.n + 1, 1)), np.zeros((group.n + 1, 3))
        _sum_rates(y, x, group.of_row, near, ratio, ends, sums)
        (low, high), (of_y, of_x, known) = ends[:-1].T, sums[:-1].T
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = of_y / of_x if ratio else (of_y - of_x) / known
            of_group = np.where(low <= high, (low + high) / 2, mean)
            of_group[(known < FEWEST_OF_RATE) | ~np.isfinite(of_group)] = np.nan
        most, with_none = len(y) if most_wrong is None else most_wrong, np.append(of_group, np.nan)
        return cls(of_group, *_count_hits(y, x, group.of_row, with_none, near, ratio, most))


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_rates(y, x, of_row, near, ratio, ends, sums):  # type: ignore[no-untyped-def]
    """Add up, in place, what each group (groups + 1, the last one: none) shows of its rate, or of its amount.

    Out: `ends` (groups + 1, 2) between which it hits all; `sums` (groups + 1, 3) of y, of x and of records.
    """
    for i in range(len(y)):
        low = (y[i] - near) / x[i] if ratio else y[i] - near - x[i]
        high = (y[i] + near) / x[i] if ratio else y[i] + near - x[i]
        if np.isfinite(low) and np.isfinite(high) and (x[i] > 0 or not ratio):
            g = of_row[i]
            ends[g, 0], ends[g, 1] = max(ends[g, 0], low), min(ends[g, 1], high)
            sums[g, 0] += y[i]
            sums[g, 1] += x[i]
            sums[g, 2] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def _count_hits(y, x, of_row, of_group, near, ratio, most_wrong):  # type: ignore[no-untyped-def]
    """Known numbers that have a rate; all that have one; and those of them that it hits to within `near`."""
    judged, told, hits = 0, 0, 0
    for i in range(len(y)):
        rate = of_group[of_row[i]]
        fitted = x[i] * rate if ratio else x[i] + rate
        if np.isnan(y[i]) or np.isnan(fitted):
            continue
        told += 1
        hits += abs(fitted - y[i]) <= near
        low = (y[i] - near) / x[i] if ratio else y[i] - near - x[i]
        high = (y[i] + near) / x[i] if ratio else y[i] + near - x[i]
        judged += np.isfinite(low) and np.isfinite(high) and (x[i] > 0 or not ratio)
        if told - hits > most_wrong:
            break
    return judged, told, hits
