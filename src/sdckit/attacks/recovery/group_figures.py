"""Figures of groups that tell a member: counts, totals, means and ends of a class or a village, rates of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import group_agreement
from sdckit.attacks.recovery.derived_columns import Household
from sdckit.attacks.recovery.numeric_relations import printed_unit, tolerance
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Reconstruction
from sdckit.attacks.recovery.touched_cells import ReleasedColumn
from sdckit.numerics.array_types import Bools, Codes, Floats

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


def group_figures(columns: Mapping[str, ReleasedColumn], household: str | None) -> list[GroupFigure]:
    """The figures of households, and of other columns whose values make groups of several records."""
    n = max((len(column.codes) for column in columns.values()), default=0)
    listed = []
    for name, column in columns.items():
        if column.n_levels < FEWEST_GROUPS or (name != household and column.n_levels > MOST_GROUPS * n):
            continue
        group = Household.of(column)
        rows, few = group.some
        for other in columns.values():
            if other.name == name or (numbers := other.numbers) is None or len(other.distinct) < 2:
                continue
            if not _is_shared(few, numbers[rows]):
                continue
            low, high = group.extremes(numbers)
            if (low >= high).all():
                listed.append(GroupFigure(group, other.name, np.where(np.isfinite(low), low, np.nan)))
    return listed


def _is_shared(group: Household, numbers: Floats) -> bool:
    """Whether no two members of a group have different numbers."""
    low, high = group.extremes(numbers)
    return bool((low >= high).all())


def by_group_figures(state: Reconstruction, figures: list[GroupFigure]) -> None:
    """Reconstruct by counts of members of one kind, and by totals and means, less what the other members show."""
    for figure in figures:
        if state.name in (figure.group.name, figure.name) or not state.open.any():
            continue
        group, has = figure.group, figure.group.of_row >= 0
        unknown = group.sums((state.known == 0).astype(np.float64))
        whole = (unknown == 0) & (group.sizes > 0) & ~np.isnan(figure.values)
        if np.count_nonzero(whole & (group.sizes > 1)) < FEWEST_GROUPS:
            continue
        if 1 < len(state.shares) - 1 <= FEW_PARTS:
            _by_kinds(state, figure, unknown, whole, has)
        if (own := state.numbers) is not None:
            unknown = group.sums(np.isnan(own).astype(np.float64))  # missing, or shown as a range
            _by_total(state, figure, own, unknown, whole & (unknown == 0))
            _by_ends(state, figure, own, unknown, whole & (unknown == 0))


def _scaled(figure: GroupFigure, *, shares: bool) -> list[tuple[str, Floats]]:
    """The figure itself, and times the members of its group: of a mean, a share or a percentage."""
    sizes = figure.group.sizes.astype(np.float64)
    products = [("share", figure.values * sizes), ("percentage", figure.values * sizes / 100)]
    return [("number", figure.values), *products] if shares else [("total", figure.values), ("mean", products[0][1])]


def _by_kinds(state: Reconstruction, figure: GroupFigure, unknown: Floats, whole: Bools, has: Bools) -> None:
    """Where a figure is the number of members of one kind, those whose value is missing are the rest of them."""
    group, width = figure.group, len(state.shares)
    cell = (group.of_row.astype(np.int64) + 1) * width + state.known
    counts = np.bincount(cell, minlength=(group.n + 1) * width).reshape(-1, width)[1:].astype(np.int64)
    kinds = np.flatnonzero(counts.sum(axis=0)[1:]) + 1
    for how, numbers in _scaled(figure, shares=True):
        rounded = np.round(numbers)
        with np.errstate(invalid="ignore"):
            judged = whole & (np.abs(numbers - rounded) <= NEAR_WHOLE)
            if np.count_nonzero(judged) < 0.9 * np.count_nonzero(whole):
                continue
        some = counts[judged]
        members = some[:, 1:].sum(axis=1)
        for kind in kinds:
            rest = rounded - counts[:, kind]
            other = int(kinds[kinds != kind][0]) if len(kinds) == 2 else 0
            if not _counts_kind(state, some[:, kind], members, rest[judged], two=other > 0):
                continue
            codes: Codes = np.zeros(len(rest), np.int32)
            codes[(unknown > 0) & (rest == unknown)] = kind
            codes[(unknown > 0) & (rest == 0)] = other
            of_row = np.append(codes, np.int32(0))[group.of_row]
            words = f"{figure.name} is the {how} of one {state.name} within {group.name}"
            state.restore_codes(has & (of_row > 0), of_row, (figure.name, group.name), words, "divided")


def _counts_kind(
    state: Reconstruction, of_kind: NDArray[np.int64], members: NDArray[np.int64], rest: Floats, *, two: bool
) -> bool:  # fmt: skip
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


def _by_total(state: Reconstruction, figure: GroupFigure, own: Floats, unknown: Floats, whole: Bools) -> None:
    """Where a figure is the total or the mean of the members, one whose value is missing is what they leave of it."""
    group = figure.group
    total, near = group.sums(np.where(np.isnan(own), 0.0, own)), tolerance(own)
    for how, numbers in _scaled(figure, shares=False):
        rest = numbers - total
        with np.errstate(invalid="ignore"):
            hit = np.abs(rest) <= near
        several = whole & (group.sizes > 1)
        right, wrong = (int(np.count_nonzero(several & which)) for which in (hit, ~hit))
        if group_agreement.judge_rule(right, wrong, state.usual_wrong) is None:
            continue
        unit = printed_unit(own)
        values = np.round(rest / unit) * unit if unit else rest
        values = group.spread(np.where(unknown == 1, np.round(values, 9), np.nan))
        words = f"{figure.name} is the {how} of {state.name} within {group.name}"
        given = ~np.isnan(values) & np.isnan(own)
        state.restore_numbers(given, values, (figure.name, group.name), words, "divided")


def _by_ends(state: Reconstruction, figure: GroupFigure, own: Floats, unknown: Floats, whole: Bools) -> None:
    """Where a figure is the greatest or the least of the members, one is missing who has it, if no other does."""
    group = figure.group
    least, most = group.extremes(own)
    for how, ends, sign in (("greatest", most, 1.0), ("least", least, -1.0)):
        several = whole & (group.sizes > 1)
        right = int(np.count_nonzero(several & (ends == figure.values)))
        if group_agreement.judge_rule(right, int(several.sum()) - right, state.usual_wrong) is None:
            continue
        with np.errstate(invalid="ignore"):
            beyond = (unknown == 1) & (sign * figure.values > sign * ends)
        values = group.spread(np.where(beyond, figure.values, np.nan))
        words = f"{figure.name} is the {how} {state.name} within {group.name}"
        state.restore_numbers(~np.isnan(values) & np.isnan(own), values, (figure.name, group.name), words, "divided")


def by_group_rates(state: Reconstruction, columns: Mapping[str, ReleasedColumn]) -> None:
    """Reconstruct numbers that are another one times a rate of their group, or more than it by the same in a group."""
    own = state.numbers
    if own is None or not state.open.any() or len(state.target.column.distinct) < FEWEST:
        return
    others = {name: column for name, column in columns.items() if column.numeric and len(column.distinct) >= FEWEST}
    others.pop(state.name, None)
    near = tolerance(own)
    for name, column in columns.items():
        if name == state.name or not 1 < column.n_levels <= len(own) / FEWEST:
            continue
        group = Household.of(column)
        for other, companion in others.items():
            x = companion.numbers
            if other == name or x is None:
                continue
            for how, ratio in (("times a rate of", True), ("beside an amount of", False)):
                _by_rate(state, own, near, x, group, (other, name), f"{other} {how} {name}", ratio=ratio)


def _by_rate(
    state: Reconstruction, own: Floats, near: float, x: Floats, group: Household, columns: tuple[str, str],
    words: str, *, ratio: bool,
) -> None:  # fmt: skip
    """Put back what a rate or an amount of the group tells, if it tells the numbers that are known."""
    if not _hits(own[:FIRST], x[:FIRST], _first(group), near, ratio=ratio)[2]:
        return
    fitted, hit, tells = _hits(own, x, group, near, ratio=ratio)
    right = int(np.count_nonzero(hit))
    wrong = int(np.count_nonzero(~np.isnan(own) & ~np.isnan(fitted))) - right
    if tells and group_agreement.judge_rule(right, wrong, state.usual_wrong) is not None:
        unit = printed_unit(own)
        values = np.round(np.round(fitted / unit) * unit, 9) if unit else fitted
        state.restore_numbers(~np.isnan(values) & np.isnan(own), values, columns, words, "divided")


def _first(group: Household) -> Household:
    of_row = group.of_row[:FIRST]
    return Household(group.name, of_row, np.bincount(of_row[of_row >= 0], minlength=group.n))


def _hits(y: Floats, x: Floats, group: Household, near: float, *, ratio: bool) -> tuple[Floats, Bools, bool]:
    """Numbers by the rate or the amount of each group; which of those known are hit; whether nearly all are.

    Numbers are rounded: a rate lies where all of its group hit, if there is such a place.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = ((y - near) / x, (y + near) / x) if ratio else (y - near - x, y + near - x)
        known = np.isfinite(ends[0]) & np.isfinite(ends[1]) & ((x > 0) | (not ratio))
        low, high = (
            group.extremes(np.where(known, ends[0], np.nan))[1],
            group.extremes(np.where(known, ends[1], np.nan))[0],
        )
        sums = [group.sums(np.where(known, numbers, 0.0)) for numbers in (y, x, known.astype(np.float64))]
        mean = sums[0] / sums[1] if ratio else (sums[0] - sums[1]) / sums[2]
        of_group = np.where(low <= high, (low + high) / 2, mean)
        of_group[(sums[2] < FEWEST_OF_RATE) | ~np.isfinite(of_group)] = np.nan
        fitted = x * group.spread(of_group) if ratio else x + group.spread(of_group)
        hit = np.abs(fitted - y) <= near
    judged = int(np.count_nonzero(known & ~np.isnan(fitted)))
    return fitted, hit, judged >= FEWEST_JUDGED and bool(np.count_nonzero(hit) >= NEARLY_ALL * judged)
