"""Rules that reconstruct changed values of a column: groups, households, row order, and relations between numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import derived_columns, group_agreement, judged_relations, numeric_relations, sorted_orders
from sdckit.attacks.recovery.derived_columns import Household, Kind, Predictor, Rows
from sdckit.attacks.recovery.touched_cells import ChangedColumn, ReleasedColumn, apart, made_again, others_around
from sdckit.cells.packing import group_codes
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import n_threads

FEW_PARTS = 30  # most levels of a column that is tested for exactly one per household
FEW_GROUPS = 100  # of which it is seen before they are judged that none tells
MOST_JOINED = 0.8  # levels per record of a column that is read together with others
MOSTLY_ALONE = 0.5  # groups per record, from which on records that are alone in theirs are left out first
FEW_KNOWN = 120  # unchanged numbers, below which arithmetic is fitted to all of them
MOST_COUNTED = 30.0  # largest number that is tested as a count of household members


@dataclass(frozen=True)
class Source:
    """A rule that reconstructed values: columns used, description, number of values, kind (which gives the remedy).

    `formula`: of arithmetic, as a recipe writes it.
    """

    columns: tuple[str, ...]
    words: str
    told: int
    kind: Kind = "column"
    formula: str = ""


@dataclass(eq=False)
class Reconstruction:
    """State of the reconstruction of one column.

    `open` (n,): changed values not yet reconstructed. `known` (n,): codes of unchanged values, 0 elsewhere. `codes` and
    `values` (n,): reconstructed values, 0 and NaN elsewhere. `source` (n,): index into `sources`, -1 for none. Arrays
    of which nothing is known yet take no room. `times` (n,): records that each row stands for; one unless given.
    """

    target: ChangedColumn
    open: Bools
    known: Codes
    codes: Codes
    values: Floats | None
    source: NDArray[np.int16]
    apart: Codes  # as `known`, but one record per household if its members share the value
    sources: list[Source] = field(default_factory=list)
    narrower: tuple[Floats, Floats] | None = None  # bounds of numbers, where they are narrower than what is released
    memo: dict[str, Callable[[], Floats | None]] = field(default_factory=dict, repr=False)
    looked_at: numeric_relations.LookedAt | None = None  # what arithmetic is looked for in
    times: Ints | None = None

    @classmethod
    def of(cls, target: ChangedColumn, times: Ints | None = None) -> Reconstruction:
        """Initial state: nothing is reconstructed."""
        column, n = target.column, len(target.touched)
        unknown = target.touched & (not target.perturbed)  # who sees which are perturbed? all vote
        known = np.where(unknown, np.int32(0), column.codes)
        return cls(
            target=target, open=target.touched.copy(), known=known, codes=np.broadcast_to(np.int32(0), n),
            values=np.broadcast_to(np.nan, n) if column.numeric else None, source=np.broadcast_to(np.int16(-1), n),
            apart=known, times=times,
        )  # fmt: skip

    @property
    def numbers(self) -> Floats | None:
        """Unchanged values (n,) as numbers, NaN elsewhere; None for a column without numbers."""
        column = self.target.column
        if not column.numeric or self.target.perturbed:
            return column.numbers

        def unchanged() -> Floats:
            return np.where(self.target.touched, np.nan, sure(column.numbers))

        return made_again(self.memo, "numbers", unchanged)

    @property
    def low(self) -> Floats | None:
        """Lower bounds (n,) of numbers."""
        return self.target.low if self.narrower is None else self.narrower[0]

    @property
    def high(self) -> Floats | None:
        """Upper bounds (n,) of numbers."""
        return self.target.high if self.narrower is None else self.narrower[1]

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.target.column.name

    @cached_property
    def places(self) -> Ints:
        """Rows of the changed values."""
        return np.flatnonzero(self.target.touched)

    @cached_property
    def number_of_code(self) -> Floats:
        """The number of each code that is known of some record; NaN for others."""
        single, number = sure(self.target.column.single), np.full(self.target.column.n_levels + 1, np.nan)
        known = np.flatnonzero(self.shares)
        number[known] = single[known]
        return number

    @cached_property
    def shares(self) -> Floats:
        """Relative frequency of each known value, by code."""
        there = self.known > 0
        counts = np.bincount(self.known[there], None if self.times is None else self.times[there], minlength=1)
        return np.asarray(counts / max(float(counts.sum()), 1.0))

    @cached_property
    def chance(self) -> Floats:
        """Probability that groups of records agree by chance."""
        return group_agreement.agreement_by_chance(self.shares)

    @property
    def usual_wrong(self) -> float:
        """Error rate of predicting the most frequent value."""
        return 1.0 - float(self.shares.max(initial=0.0))

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Bottom- and top-coding limits of the column; infinite where there is none."""
        low, high = sure(self.target.low), sure(self.target.high)
        top = low[np.isinf(high) & np.isfinite(low)]
        bottom = high[np.isinf(low) & np.isfinite(high)]
        return float(bottom.max(initial=-np.inf)), float(top.min(initial=np.inf))

    def restore_codes(
        self, determined: Bools, codes: Codes, columns: Sequence[str], words: str, kind: Kind = "column"
    ) -> None:
        """Reconstruct values by code in the records `determined`, where they are feasible."""
        determined = determined & self.target.touched
        if self.values is None or not determined.any():
            self._put(determined & (codes > 0), columns, words, kind, codes=codes)
            return
        values = self.number_of_code[codes]
        # beyond a coding limit no value is known: agreement of the known ones at the limit is no evidence
        with np.errstate(invalid="ignore"):
            determined = determined & (values > self.limits[0]) & (values < self.limits[1])
        self.restore_numbers(determined, values, columns, words, kind)

    def restore_numbers(
        self, determined: Bools, values: Floats, columns: Sequence[str], words: str, kind: Kind = "column",
        formula: str = "",
    ) -> None:  # fmt: skip
        """Reconstruct numbers in the records `determined`, where they lie within the bounds of the release."""
        if not (determined & self.target.touched).any():
            return
        low, high = sure(self.target.low), sure(self.target.high)
        with np.errstate(invalid="ignore"):
            within = (values >= low - 1e-9) & (values <= high + 1e-9)
            if self.target.column.whole:
                values = np.where(np.abs(values - np.round(values)) < 1e-6, np.round(values), values)
        values = values + 0.0  # no negative zero, which would print as another value
        self._put(determined & self.target.touched & within, columns, words, kind, values=values, formula=formula)

    def _put(
        self, determined: Bools, columns: Sequence[str], words: str, kind: Kind, *, codes: Codes | None = None,
        values: Floats | None = None, formula: str = "",
    ) -> None:  # fmt: skip
        count = int(np.count_nonzero(determined))
        if not count:
            return
        fresh = determined & self.open
        number = next((i for i, source in enumerate(self.sources) if source.words == words), len(self.sources))
        if number == len(self.sources):
            self.sources.append(Source(tuple(columns), words, count, kind, formula))
        if codes is not None:
            self.codes = _with(self.codes, fresh, codes[fresh])
        if values is not None and self.values is not None:
            self.values = _with(self.values, fresh, values[fresh])
        self.source = _with(self.source, fresh, number)
        self.open &= ~fresh

    def narrow(self, low: Floats, high: Floats) -> None:
        """Intersect the bounds with `low` and `high` (n,)."""
        own = self.low, self.high
        if own[0] is not None and own[1] is not None:
            self.narrower = np.fmax(own[0], low), np.fmin(own[1], high)


def _with(array: Values, at: Bools, values: Any) -> Values:
    """The array with values put in; in place, unless it is nothing but a default so far."""
    own = array if array.flags.writeable else array.copy()
    own[at] = values
    return own


def by_mates(state: Reconstruction, predictor: Predictor, household: Household, *, rules: int) -> None:
    """Reconstruct by the value shared in a household; if it is shared, each household counts once in other rules."""
    if state.name in predictor.columns:
        return
    determined, codes = _determined(state, *predictor.grouped, rules, state.known)
    if determined is None:
        return
    state.restore_codes(determined, codes, predictor.columns, predictor.words)
    rows = np.flatnonzero((state.known > 0) & (household.of_row >= 0))
    first = np.full(household.n, len(state.known))
    np.minimum.at(first, household.of_row[rows], rows)
    state.apart = state.known.copy()
    state.apart[rows[first[household.of_row[rows]] != rows]] = 0


def by_columns(state: Reconstruction, predictors: Sequence[Predictor], *, rules: int) -> None:
    """Reconstruct by values of a predictor with which only one value of the column occurs."""
    for predictor in predictors:
        if predictor.groups and state.name not in predictor.columns:
            determined, codes = _determined(state, *predictor.grouped, rules, state.apart)
            if determined is not None:
                words = f"most records alike in {predictor.words}" if state.target.perturbed else predictor.words
                state.restore_codes(determined, codes, predictor.columns, words, predictor.kind)


def by_pairs(
    states: Sequence[Reconstruction], predictors: Sequence[Predictor], tell: Callable[[str], None] = lambda _: None
) -> None:
    """Reconstruct by combinations of two predictors, for values that single ones leave open."""
    n = len(predictors[0].codes) if predictors else 0
    states = [state for state in states if state.open.any()]
    use = [predictor for predictor in predictors if predictor.joins and 1 < predictor.grouped[1] < MOST_JOINED * n]
    pairs = len(use) * (len(use) - 1) // 2
    for i, first in enumerate(use):
        tell(f"reading pairs of columns, {i + 1} of {len(use)}")
        _with_others(states, first, use[:i], rules=max(pairs, 1))
    # amounts, of which nearly each record has its own, are no groups: whether two of them are missing is read instead
    read = {predictor.columns for predictor in use}
    amounts = {predictor.columns for predictor in predictors if predictor.joins and predictor.n_levels > FEW_PARTS}
    marks = [predictor for predictor in predictors if predictor.marks and predictor.columns in amounts]
    beside = [
        [other for other in marks[:i] if not {first.columns, other.columns} <= read] for i, first in enumerate(marks)
    ]
    for first, others in zip(marks, beside, strict=True):
        _with_others(states, first, others, rules=pairs + sum(map(len, beside)))


def _with_others(
    states: Sequence[Reconstruction], first: Predictor, others: Sequence[Predictor], *, rules: int
) -> None:
    """Reconstruct by a predictor together with each of some others."""
    n, at_once = len(first.codes), 2 * n_threads()
    judge = partial(_by_pair, states, (first, *first.grouped), rules=rules)
    for start in range(0, len(others), at_once):  # what is determined is put in afterwards, in the order of the pairs
        judged = apart(judge, others[start : start + at_once], n)
        for state, determined, codes, columns, words, kind in chain.from_iterable(judged):
            state.restore_codes(determined & state.open, codes, columns, words, kind)


def _by_pair(
    states: Sequence[Reconstruction], grouped: tuple[Predictor, Codes, int], second: Predictor, *, rules: int
) -> list[tuple[Reconstruction, Bools, Codes, tuple[str, ...], str, Kind]]:
    """What two predictors together determine of columns that are open; nothing is put in."""
    first, left_groups, n_left = grouped
    left = [state for state in states if state.open.any() and state.name not in (*first.columns, *second.columns)]
    if not left:
        return []
    joined = joint_groups((left_groups, n_left), second.grouped)
    group, n_groups, of = _shared(*joined) if left[0].times is None else (*joined, None)
    given = []
    columns = tuple(dict.fromkeys((*second.columns, *first.columns)))
    kind: Kind = "counted" if "counted" in (first.kind, second.kind) else "column"
    for state in left:
        determined, codes = _determined(state, group, n_groups, rules, state.apart, of)
        if determined is not None:
            words = f"{second.words} with {first.words}"
            words = f"most records alike in {words}" if state.target.perturbed else words
            given.append((state, determined, codes, columns, words, kind))
    return given


def joint_groups(first: tuple[Codes, int], second: tuple[Codes, int]) -> tuple[Codes, int]:
    """Group index by the groups of two predictors together, -1 where one is missing; and the number of groups."""
    (left, n_left), (right, n_right) = first, second
    if n_left * n_right <= 4 * len(left):
        joined = np.empty(len(left), np.int32)
        _join(left, right, n_right, joined)
        return joined, n_left * n_right
    groups = group_codes([left + 1, right + 1], len(left))
    joined = groups.of_row.astype(np.int32)
    joined[(left | right) < 0] = -1
    return joined, len(groups.size)


@njit(nogil=True, cache=True)
def _join(left, right, n_right, joined):  # type: ignore[no-untyped-def]
    """The number of each pair of groups, -1 where one of them is missing, into `joined`; all (n,)."""
    for i in range(len(left)):
        joined[i] = -1 if left[i] < 0 or right[i] < 0 else left[i] * n_right + right[i]


@dataclass(frozen=True, eq=False)
class _Shared:
    """The `rows` of records that share their group; those `alone` in theirs, who are determined by nobody."""

    rows: Ints
    alone: Ints


def _shared(group: Codes, n_groups: int) -> tuple[Codes, int, _Shared | None]:
    """Groups of the records that share theirs alone, numbered anew, and which these are, where groups are many."""
    n = len(group)
    if n < group_agreement.FEWEST_COUNTED or n_groups < MOSTLY_ALONE * n:
        return group, n_groups, None
    rows, of_row = np.empty(n, np.int64), np.empty(n, np.int32)
    shared, alone, k = group_agreement.split_alone(group, np.zeros(n_groups, np.int32), rows, of_row)
    return of_row[:shared], k, _Shared(rows[:shared], rows[n - alone :])


def _determined(
    state: Reconstruction, group: Codes, n_groups: int, rules: int, known: Codes, of: _Shared | None = None
) -> tuple[Bools | None, Codes]:
    """Changed values that their group determines, and their codes; None if agreement is not reliable.

    `of`: the records that the groups are of; all unless given.
    """
    own, times = (known, state.times) if of is None else (known[of.rows], None)
    if of is not None and not state.open[of.rows].any():
        return None, known
    if times is None:
        tally = group_agreement.tally_known(group, own, n_groups, len(state.shares) - 1)
    else:
        tally = group_agreement.tally_cells(group, own, times, n_groups)
    perturbed = state.target.perturbed
    if n_groups <= FEW_GROUPS and not perturbed and not group_agreement.could_tell(tally, state.usual_wrong):
        return None, known

    def asked() -> Codes:
        groups = group[state.places if of is None else state.target.touched[of.rows]]
        return groups if times is None else np.repeat(groups, times[state.places])

    rule = group_agreement.judge_agreement(
        tally, state.shares, state.chance, rules=rules, perturbed=perturbed, asked=asked,
        alone=None if of is None else known[of.alone],
    )  # fmt: skip
    if rule is None:
        return None, known
    tells, code = np.append(rule.telling(tally), False), np.append(tally.code, np.int32(0))
    at = state.places if of is None else np.flatnonzero(state.target.touched[of.rows])
    at = at[tells[group[at]]]
    if perturbed:
        at = at[code[group[at]] != own[at]]
    determined, codes = np.zeros(len(known), np.bool_), np.zeros(len(known), np.int32)
    rows = at if of is None else of.rows[at]
    determined[rows], codes[rows] = True, code[group[at]]
    return determined, codes


def by_household(state: Reconstruction, household: Household) -> None:
    """Reconstruct by partition: one member per household has a value, or members are numbered from 1 to the size."""
    has = household.of_row >= 0
    numbers = state.numbers if state.target.column.has_ranges else None
    hidden = state.known == 0 if numbers is None else np.isnan(numbers)  # a range is none of its values
    unknown = household.sums(hidden.astype(np.float64))
    whole = unknown == 0
    if np.count_nonzero(whole) < 10:
        return
    rows, few = household.some  # a household less will do for what holds in each
    first = few.sums(hidden[rows].astype(np.float64)) == 0
    single = household.spread(unknown) == 1
    name = household.name
    known = state.numbers if state.target.column.whole else None
    if known is not None and _are_numbered(few, known[rows], first) and _are_numbered(household, known, whole):
        several = np.count_nonzero(whole & (household.sizes > 1)) >= 10
        if several and household.sizes[whole].max() > 2:
            m = household.sizes.astype(np.float64)
            rest = household.spread(m * (m + 1) / 2 - household.sums(np.where(np.isnan(known), 0.0, known)))
            state.restore_numbers(single & state.open, rest, (name,), f"mates are numbered within {name}", "divided")
    levels = int(state.known.max(initial=0))
    if not 1 < levels <= FEW_PARTS:
        return
    for code in range(1, levels + 1):
        if not (few.sums((state.known[rows] == code).astype(np.float64))[first] == 1).all():
            continue
        counts = household.sums((state.known == code).astype(np.float64))
        if not (counts[whole] == 1).all() or _one_by_chance(state.shares[code], household.sizes[whole]):
            continue
        may_be = others_around(state.target.column.labels(), code - 1)  # ranges in which it may lie
        if may_be.any():
            counts = counts + household.sums(np.append(False, may_be)[state.known].astype(np.float64))
        determined = has & single & (household.spread(counts) == 0)
        codes = np.full(len(determined), code, np.int32)
        state.restore_codes(determined, codes, (name,), f"each {name} has exactly one of a kind", "divided")


def _are_numbered(household: Household, known: Floats, whole: Bools) -> bool:
    """Whether the members of whole households have the numbers from 1 to the size, by their sums and squares."""
    numbers, m = np.where(np.isnan(known), 0.0, known), household.sizes.astype(np.float64)
    sums, squares = household.sums(numbers), household.sums(numbers**2)
    return bool(((sums == m * (m + 1) / 2) & (squares == m * (m + 1) * (2 * m + 1) / 6) | ~whole).all())


def _one_by_chance(share: float, sizes: Ints) -> bool:
    """Whether exactly one member of a kind in every household is plausible under independence."""
    several = sizes[sizes > 1]
    log_chance = np.log(several * share) + (several - 1) * math.log1p(-share) if 0 < share < 1 else np.zeros(0)
    return float(log_chance.sum()) > group_agreement.CHANCE


def by_order(state: Reconstruction, orders: Mapping[str, Ints], household: Household | None = None) -> None:
    """Reconstruct by equal known neighbours on both sides, mates passed over, in file order or in that of an id."""
    homes = None if household is None else household.of_row.astype(np.int64)
    for words, order in orders.items():
        known = state.apart[order]
        if homes is None and not _agree_in_threes(known[known > 0], state.usual_wrong):
            continue
        last, following = sorted_orders.neighbours(known > 0, None if homes is None else homes[order])
        before, after = (np.append(known, 0)[at] for at in (last, following))
        agree = (before == after) & (before > 0)
        if group_agreement.judge_hits(known == before, agree & (known > 0), state.usual_wrong) is None:
            continue
        determined, codes = np.zeros(len(known), np.bool_), np.zeros(len(known), np.int32)
        determined[order], codes[order] = agree, before
        state.restore_codes(determined, codes, (), words, "order")


def _agree_in_threes(codes: Codes, usual_wrong: float) -> bool:
    """Whether records between two alike are like them: what `by_order` judges by where nobody has mates."""
    return group_agreement.judge_hits(codes[1:-1] == codes[2:], codes[:-2] == codes[2:], usual_wrong) is not None


def by_numbers(
    state: Reconstruction, columns: Mapping[str, ReleasedColumn], predictors: Sequence[Predictor],
    household: Household | None, renewed: frozenset[str],
) -> None:  # fmt: skip
    """Reconstruct numbers by functional relations to other numbers, exact or within bounds.

    A column that is not `renewed` is a copy of none but one that is.
    """
    own = state.numbers
    if own is None or state.target.bounds is None:
        return
    companions = list(_number_predictors(state, columns, predictors, household))
    for predictor in companions:
        if not renewed.intersection((state.name, *predictor.columns)):
            continue
        first = sure(predictor.numbers_of(slice(derived_columns.SAMPLE)))
        if not derived_columns.could_be_scaled(own[: derived_columns.SAMPLE], first):
            continue
        numbers = sure(predictor.numbers)
        if (scaling := derived_columns.scaled_copy(own, numbers)) is not None:
            values = scaling[1] + scaling[0] * numbers
            state.restore_numbers(~np.isnan(values), values, predictor.columns, predictor.words, predictor.kind)
    beside = {name: column for name, column in columns.items() if column.numeric and name != state.name}
    for logs in (False, True):
        relation = derived_columns.linear_relation(own, beside, logs=logs)
        if relation is not None:
            values = relation.values(beside)
            how = "product or quotient" if logs else "sum or difference"
            words = f"a {how} of {', '.join(relation.names)}"
            state.restore_numbers(~np.isnan(values), values, relation.names, words)
    if state.open.any():  # there may be a relation that records are exceptions to
        _by_arithmetic(state, companions)
    _by_offset(state, columns)


def _by_arithmetic(state: Reconstruction, companions: Sequence[Predictor]) -> None:
    """Reconstruct by arithmetic that most unchanged numbers obey, judged on those that it was not fitted to."""
    truth = sure(state.numbers)
    if state.looked_at is None:
        state.looked_at = numeric_relations.LookedAt.of(truth, _halves(truth).fit)
    relations, tried = numeric_relations.find_relations(truth, companions, name=state.name, looked_at=state.looked_at)
    if not relations:
        return
    judge = judged_relations.Judge(truth, np.zeros(len(truth), np.bool_), state.known, _halves(truth).judge)
    for relation in relations:
        numbers = {part: own for part in relation.parts if (own := companions[part].numbers) is not None}
        fitted = relation.values(numbers)
        if judge.tells(fitted, numeric_relations.tolerance(truth), tried):
            formula = relation.formula if relation.plain else ""
            given = ~np.isnan(fitted)
            state.restore_numbers(given, fitted, relation.columns, relation.formula, "numbers", formula)


def _halves(truth: Floats) -> judged_relations.Halves:
    """Records whose number is known, to fit arithmetic on and to judge it on; of few of them all."""
    known = ~np.isnan(truth)
    if np.count_nonzero(known) >= FEW_KNOWN:
        return judged_relations.Halves.of(known, 0)
    return judged_relations.Halves(np.flatnonzero(known), np.flatnonzero(known))


def _number_predictors(
    state: Reconstruction, columns: Mapping[str, ReleasedColumn], predictors: Sequence[Predictor],
    household: Household | None,
) -> Iterator[Predictor]:  # fmt: skip
    for predictor in predictors:
        if predictor.numeric and state.name not in predictor.columns:
            yield predictor
    own = state.numbers
    if household is None or own is None:
        return
    yield from _parts_of_totals(state, columns, household)
    largest = np.nanmax(own, initial=-np.inf)
    if state.target.column.whole and 0 < largest <= MOST_COUNTED:
        for name, column in columns.items():
            if name not in (state.name, household.name):
                yield from derived_columns.below_counts(column, household, like=own)


def _parts_of_totals(
    state: Reconstruction, columns: Mapping[str, ReleasedColumn], household: Household
) -> Iterator[Predictor]:
    """Predictors from household totals: the total less the values of the other members."""
    others = household.sums_of_others(sure(state.numbers))
    for name, column in columns.items():
        if name not in (state.name, household.name) and column.numeric and column.n_levels > 3:
            words = f"{name} less the {state.name} of mates"
            rest = partial(_less, column, others)
            yield Predictor((name, household.name), words, np.zeros(0, np.int32), 0, rest, groups=False)


def _less(column: ReleasedColumn, others: Floats, rows: Rows) -> Floats:
    """The numbers of some records less others."""
    return np.asarray(sure(column.numbers)[rows] - others[rows])


def _by_offset(state: Reconstruction, columns: Mapping[str, ReleasedColumn]) -> None:
    low, high = sure(state.target.low), sure(state.target.high)
    widest = derived_columns.widest_offset(low, high)
    for name, column in columns.items():
        numbers = None if name == state.name else column.numbers
        if numbers is None or not any(derived_columns.slopes_within(low, high, numbers, widest)):
            continue
        offset = derived_columns.offset_of(low, high, numbers)
        if offset is None:
            continue
        least = offset.low + offset.slope * numbers
        most = offset.high + offset.slope * numbers
        state.narrow(np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most))
        first, last = sure(state.low), sure(state.high)
        if state.target.column.whole:
            first, last = np.ceil(first - 1e-9), np.floor(last + 1e-9)
        with np.errstate(invalid="ignore"):
            exact = np.isfinite(first) & (np.abs(last - first) < 1e-9) & ~np.isnan(least)
        state.restore_numbers(exact, first, (name,), f"{name} at a fixed distance")
