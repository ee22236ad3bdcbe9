"""A9: which key makes the file risky: uniques, violations and risk when keys are left out or coarsened."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import as_cells, frequencies
from sdckit.cells.packing import TABLE_SPAN
from sdckit.cells.table import Cells
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, sure
from sdckit.identity.contributions import coarsening
from sdckit.identity.contributions.coarsening import Declared, Grouping, Levels
from sdckit.identity.individual_risk import refuse_short
from sdckit.numerics.risk_kernel import sums_of_cells
from sdckit.numerics.threads import run
from sdckit.numerics.wildcard_matches.matched_margins import Wild, matched_sums
from sdckit.numerics.wildcard_matches.submargins import Branch, Counted, Sums, margin_sums, weigh
from sdckit.result import Result

# Figures with keys left out or coarsened, for every key and pair, in a few passes over the cells.


# The rows of A9: a key left out, a key coarsened, and the suggestions in order.


@dataclass(frozen=True)
class Figures:
    """Counts for one set of keys: sample uniques, global risk, records that violate each k."""

    uniques: int
    risk: float
    violations: dict[int, int]


@dataclass(frozen=True)
class Coarsened:
    """What one step to a coarser key changes.

    Attributes
    ----------
    rule : str
        How levels were merged, in words.
    levels_before, levels_after : int
    uniques_without, uniques_saved : int
        Sample uniques (records) that remain, and that are gone.
    violations_without : dict of int to int
        Records that still violate each k.
    risk_without : float
        Global risk that remains.
    entropy_lost : float
        Information lost, in bits per record.
    decides_alone : float
        Share of the sample uniques that stop being unique; NaN without sample uniques.
    plain_rule : str
        The rule without a number of levels, for documents.
    scale : str
        What the levels were taken for: "number", "date", "ordered", "codes", or "unknown".
    step : str
        The step of a recipe that does just this, as TOML; "" where no step does.
    step_is_public : bool
        Whether the step names nothing that few records of the data have.
    listed : bool
        Whether documents list it: beside one frequent level, that there is a step would tell of the rare ones.
    """

    rule: str
    levels_before: int
    levels_after: int
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float
    entropy_lost: float
    decides_alone: float = math.nan
    plain_rule: str = ""
    scale: str = "unknown"
    step: str = ""
    step_is_public: bool = False
    listed: bool = True

    @classmethod
    def of(cls, grouping: Grouping, levels: Levels, whole: Figures, left: Figures) -> Coarsened:
        """Compare the figures with the coarser key (`left`) with those of all keys (`whole`)."""
        saved = whole.uniques - left.uniques
        return cls(
            grouping.rule, len(levels.codes), grouping.after, left.uniques, saved, left.violations, left.risk,
            grouping.entropy_lost(levels), saved / whole.uniques if whole.uniques else math.nan,
            grouping.plain_rule or grouping.rule, levels.scale, coarsening.step_text(grouping.step), grouping.public,
            levels.hide_the_rare,
        )  # fmt: skip


@dataclass(frozen=True)
class Contribution:
    """What leaving out one key, or a pair, changes.

    Attributes
    ----------
    variables : tuple of str
        The keys left out.
    uniques_without, uniques_saved : int
        Sample uniques (records) that remain, and that are gone.
    violations_without : dict of int to int
        Records that still violate each k.
    risk_without : float
        Global risk that remains.
    suggestion : str
        In words, what leaving the keys out brings.
    decides_alone : float
        Share of the sample uniques that stop being unique; NaN without sample uniques.
    entropy_lost : float
        Information lost, in bits per record.
    """

    variables: tuple[str, ...]
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float
    suggestion: str
    decides_alone: float = math.nan
    entropy_lost: float = math.nan

    @classmethod
    def of(cls, variables: tuple[str, ...], whole: Figures, left: Figures, entropies: Sequence[float]) -> Contribution:
        """Compare the figures of the remaining keys (`left`) with those of all keys (`whole`)."""
        saved, lost = whole.uniques - left.uniques, math.fsum(entropies)
        share = saved / whole.uniques if whole.uniques else math.nan
        name = " and ".join(variables)
        words = (
            f"without {name}, {saved} of {whole.uniques} sample uniques are gone: coarsen or drop it"
            if saved > 0
            else f"{name} makes nobody unique"
        )
        return cls(variables, left.uniques, saved, left.violations, left.risk, words, share, lost)


@dataclass(frozen=True)
class Suggestion:
    """One thing to do.

    Attributes
    ----------
    action : {"drop", "coarsen"}
    variables : tuple of str
    uniques_saved : int
    violations_saved : dict of int to int
    risk_saved : float
    entropy_lost : float
        Bits per record.
    saved_per_bit : float
        Sample uniques saved per bit lost; NaN where nothing is lost.
    sentence : str
    step : str
        The step of a recipe that does just this, as TOML; "" where no step does.
    """

    action: Literal["drop", "coarsen"]
    variables: tuple[str, ...]
    uniques_saved: int
    violations_saved: dict[int, int]
    risk_saved: float
    entropy_lost: float
    saved_per_bit: float
    sentence: str
    step: str = ""


def suggest(
    action: Literal["drop", "coarsen"], variables: tuple[str, ...], row: Contribution | Coarsened, whole: Figures
) -> Suggestion:
    """Turn a row into a suggestion."""
    what = "leave out" if action == "drop" else "coarsen"
    how, step = "", coarsening.step_text({"method": "drop_identifiers", "columns": list(variables)})
    if isinstance(row, Coarsened):
        unsure = "; or group codes that belong together" if row.scale == "unknown" else ""
        how = f" ({row.rule}, {row.levels_before} to {row.levels_after} levels{unsure})"
        step = row.step
    sentence = (
        f"{what} {' and '.join(variables)}{how}: {row.uniques_saved} of {whole.uniques} sample uniques gone "
        f"for {row.entropy_lost:.2f} bits of information"
    )
    return Suggestion(
        action, variables, row.uniques_saved,
        {k: count - row.violations_without[k] for k, count in whole.violations.items()},
        _saved(whole.risk, row.risk_without), row.entropy_lost, _per_bit(row.uniques_saved, row.entropy_lost), sentence,
        step,
    )  # fmt: skip


def rank(suggestion: Suggestion) -> tuple[float, float, float, str, tuple[str, ...]]:
    """Sorting key of suggestions: uniques saved per bit, then risk saved per bit, then the smaller loss."""
    risk = _per_bit(suggestion.risk_saved, suggestion.entropy_lost)
    gains = [math.inf if math.isnan(gain) else -nine_digits(gain) for gain in (suggestion.saved_per_bit, risk)]
    return (gains[0], gains[1], nine_digits(suggestion.entropy_lost), suggestion.action, suggestion.variables)


def nine_digits(value: float) -> float:
    """Round to nine digits, so that comparisons do not depend on the order of summation.

    Examples
    --------
    >>> nine_digits(0.1 + 0.2) == nine_digits(0.3)
    True
    """
    return float(f"{value:.9g}")


def _saved(before: float, after: float) -> float:
    """Reduction of a risk; 0 where the difference is rounding error."""
    return 0.0 if math.isclose(before, after, rel_tol=1e-12) else before - after


def _per_bit(saved: float, lost: float) -> float:
    return saved / lost if lost > 0 else math.nan


Plan = Sequence[tuple[Sequence[int], Sequence[Branch]]]
Results = tuple[Sums, list[tuple[Branch, Counted]]]

FEW_CELLS = 1 << 13  # NumPy is done with these before a kernel is compiled
CELLS_PER_VALUE = 1 << 14  # cells that may share the keys kept in a round: they stay in the processor's cache


@dataclass(frozen=True)
class Round:
    """One pass over the cells: the keys that stay in, and its branches, a key left out alone and with partners."""

    shared: tuple[int, ...]
    branches: tuple[tuple[int, bool, tuple[int, ...]], ...]  # a key, whether for the first time, its partners


@dataclass(frozen=True)
class LeftOut:
    """Figures with all keys, by the keys left out (in the order of the cells), and by the key coarsened."""

    whole: Figures
    without: dict[tuple[str, ...], Figures]
    coarser: dict[str, Figures]


def rounds(entropy: Sequence[float], n_cells: int, *, pairs: bool) -> list[Round]:
    """Cover every key, and every pair of more than two keys, once, in at most three rounds.

    No key of a pair is in one of three sets of keys, so the pair's turn comes when that set stays in. The keys
    that tell most make the first two sets, as small as can be, and are left out first: their pairs are merged
    from the fewest cells.

    Examples
    --------
    >>> for one in rounds([1.0, 3.0, 2.0], 10, pairs=True):
    ...     print(one.shared, one.branches)
    (1,) ((2, True, (0,)), (0, True, ()))
    (2,) ((1, True, (0,)),)
    (0,) ((1, False, (2,)),)
    """
    order = sorted(range(len(entropy)), key=lambda j: -entropy[j])
    done: set[frozenset[int]] = set()
    out = []
    for shared in _thirds(entropy, order, math.log2(max(2.0, n_cells / CELLS_PER_VALUE))):
        branches, rest = [], [j for j in order if j not in shared]
        for first in rest:
            others = rest if pairs and len(order) > 2 else []
            partners = [second for second in others if second != first and frozenset((first, second)) not in done]
            if frozenset((first,)) not in done or partners:
                branches.append((first, frozenset((first,)) not in done, tuple(partners)))
            done |= {frozenset((first,)), *(frozenset((first, second)) for second in partners)}
        if branches:
            out.append(Round(tuple(shared), tuple(branches)))
    return out


def _thirds(entropy: Sequence[float], order: Sequence[int], enough: float) -> list[list[int]]:
    """Split the keys into three sets: two with `enough` bits but at most a third of the keys, and the rest."""
    rest, sets = list(order), []
    for _ in range(min(2, len(rest))):
        some = [rest.pop(0)]
        while len(some) < len(order) // 3 and sum(entropy[j] for j in some) < enough:
            some.append(rest.pop(0))
        sets.append(some)
    return [*sets, rest] if len(order) > 1 else []


def limits_of(k: Sequence[int]) -> NDArray[np.float64]:
    """Upper limits of f for a unique and for violating each k, with a tolerance for sums of fractions of alpha."""
    return np.array([1 + 1e-9, *(level - 1e-9 for level in k)])


def takes_whole_cells(cells: Cells) -> bool:
    """Whether leaving keys out only merges cells: packed words, and no missing value that matches others."""
    return is_packed(cells) and not cells.has_wildcards


def is_packed(cells: Cells) -> bool:
    """Whether the keys of a cell fit into one word."""
    return cells.table.layout is not None


def leave_out(
    cells: Cells, levels: Mapping[str, Levels], groupings: Mapping[str, Grouping], *, k: Sequence[int], pairs: bool
) -> LeftOut:
    """Figures of every margin of packed cells: keys left out, alone and in pairs, and each key coarsened.

    Keys with more codes than a table takes are left out of `coarser`.
    """
    table, layout, keys = cells.table, sure(cells.table.layout), cells.keys

    def branch_of(j: int, new: bool, partners: tuple[int, ...]) -> Branch:
        codes = _codes(layout.bits[j], levels[keys[j]], groupings.get(keys[j])) if new else None
        return Branch(j, partners, codes)

    planned = rounds([levels[key].entropy for key in keys], len(table.size), pairs=pairs)
    plan = [(round_.shared, [branch_of(*branch) for branch in round_.branches]) for round_ in planned]
    merges = takes_whole_cells(cells) and len(table.size) > FEW_CELLS
    whole, counted = _merged(cells, plan, k) if merges else _matched(cells, levels, plan, k)

    def figures(sums: Sums) -> Figures:
        uniques, *below = sums.below.tolist()
        return Figures(uniques, sums.risk / cells.n, dict(zip(k, below, strict=True)))

    out = LeftOut(figures(whole), {}, {})
    for branch, counts in counted:
        out.without[keys[branch.field],] = figures(counts.alone)
        if counts.coarse is not None:
            out.coarser[keys[branch.field]] = figures(counts.coarse)
        for other, sums in zip(branch.partners, counts.together, strict=True):
            first, second = sorted((branch.field, other))
            out.without[keys[first], keys[second]] = figures(sums)
    return out


def _merged(cells: Cells, plan: Plan, k: Sequence[int]) -> Results:
    """Margin sums where cells only merge; a record is unique where its cell has fewer than 2 records."""
    table, layout, limits = cells.table, sure(cells.table.layout), [2, *k]
    weighed = weigh(sure(table.words), table.size, cells.columns.get("population_frequency"))
    whole = np.array([table.size[table.size < limit].sum() for limit in limits])
    out: list[tuple[Branch, Counted]] = []
    for shared, branches in plan:
        counts = margin_sums(weighed, branches, shifts=layout.shifts, bits=layout.bits, shared=shared, limits=limits)
        out.extend(zip(branches, counts, strict=True))
    return Sums(whole, float(weighed.risk.sum())), out


def _matched(cells: Cells, levels: Mapping[str, Levels], plan: Plan, k: Sequence[int]) -> Results:
    """Margin sums where cells also match others by wildcards; match counts are sums of fractions of alpha."""
    table, layout, fraction = cells.table, sure(cells.table.layout), cells.roles.sampling_fraction
    limits = limits_of(k)
    weight = table.weight if fraction is None else table.size / fraction
    wild = Wild(
        [level.span for level in cells.levels],
        [levels[key].codes if free else None for key, free in zip(cells.keys, cells.wild, strict=True)],
        cells.alpha,
    )
    weighed = weigh(sure(table.words), table.size, weight)
    by_round = matched_sums(weighed, plan, shifts=layout.shifts, bits=layout.bits, limits=limits.tolist(), wild=wild)
    branches = [branch for _, of_round in plan for branch in of_round]
    f, big_f = cells.columns["sample_frequency"], cells.columns.get("population_frequency")
    risk, below = sums_of_cells(f, big_f, table.size, limits)
    counted = [counts for of_round in by_round for counts in of_round]
    return Sums(np.array(below), risk), list(zip(branches, counted, strict=True))


def _codes(bits: int, levels: Levels, grouping: Grouping | None) -> NDArray[np.uint64] | None:
    if grouping is None or bits > TABLE_SPAN.bit_length():
        return None
    table = np.arange(1 << bits, dtype=np.uint64)
    table[levels.codes] = grouping.codes(levels).astype(np.uint64)
    return table


OF_ROW = ("uniques_without", "uniques_saved", "decides_alone", "violations_without", "risk_without", "entropy_lost")


# --- kernel -----------------------------------------------------------------------------------------


def figures_of(columns: dict[str, Any], size: Any, k: Sequence[int], n: int) -> Figures:
    """Uniques, global risk and violations of cells."""
    f, big_f = columns["sample_frequency"], columns.get("population_frequency")
    total, below = sums_of_cells(f, big_f, size, limits_of(k))
    return Figures(below[0], total / n, dict(zip(k, below[1:], strict=True)))


def _of_margin(margin: frequencies.Margin, k: Sequence[int], n: int) -> Figures:
    return figures_of(margin.frequencies(), margin.size, k, n)


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class KeyContributions(Result):
    """Which keys to recode first.

    Attributes
    ----------
    uniques : int
        Sample uniques with all keys.
    risk : float
        Global risk with all keys.
    violations : dict of int to int
        Records that violate each k with all keys.
    resting_on_missing : int
        Records that would be unique with all keys if other records' missing values matched nothing.
    table : tuple of Contribution
        One per key, then one per pair; within each, what saves most uniques first.
    coarsenings : dict of str to Coarsened
        What one step to a coarser key changes, for the keys that can be coarsened.
    decides_alone : dict of str to float
        Share of the sample uniques that stop being unique when this key alone is left out.
    suggestions : tuple of Suggestion
        Leaving out or coarsening each key, ranked by the uniques saved per bit of information lost.
    """

    measure: ClassVar[str] = "key_contributions"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "uniques", "resting_on_missing", "risk", "violations", "table_figures", "coarsening_figures",
        "suggestion_figures",
    )  # fmt: skip
    cells: Cells
    k: tuple[int, ...]
    pairs: bool
    prefix: str = ""
    declared: Declared = coarsening.NOTHING

    @cached_property
    def n(self) -> int:
        """Records."""
        return self.cells.n

    @cached_property
    def _left_out(self) -> LeftOut:
        """Figures with keys left out: packed cells in passes; keys beyond one word, margin by margin."""
        if is_packed(self.cells):
            return leave_out(self.cells, self._levels, self._groupings, k=self.k, pairs=self.pairs)
        whole = figures_of(dict(self.cells.columns), self.cells.table.size, self.k, self.n)
        return LeftOut(whole, self._dropped(), {})

    @property
    def _whole(self) -> Figures:
        return self._left_out.whole

    @cached_property
    def uniques(self) -> int:
        """Sample uniques with all keys."""
        return self._whole.uniques

    @cached_property
    def risk(self) -> float:
        """Global risk with all keys."""
        return self._whole.risk

    @cached_property
    def violations(self) -> dict[int, int]:
        """Records that violate each k with all keys."""
        return self._whole.violations

    @cached_property
    def notes(self) -> dict[str, str]:
        """Why a figure is undefined, and what could not be told of the keys."""
        notes = {}
        if not self.uniques:
            notes["decides_alone"] = "there are no sample uniques, so no key decides a share of them"
        if unsure := [
            key for key, levels in self._levels.items() if levels.scale == "unknown" and len(levels.codes) > 2
        ]:
            notes["coarsenings"] = (
                f"numbers or codes? {', '.join(unsure)}: whole numbers, which may be codes, so neighbours are not "
                "merged; declare the column numeric or ordered, or a hierarchy that says which codes belong together"
            )
        return notes

    @cached_property
    def resting_on_missing(self) -> int:
        """Records that would be unique with all keys if other records' missing values matched nothing."""
        return self.cells.count_resting([1 + 1e-9])[0]

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words."""
        return self.cells.missing_rule

    @cached_property
    def _levels(self) -> dict[str, Levels]:
        keys = self.cells.keys
        return dict(zip(keys, run(lambda key: coarsening.levels_of(self.cells, key, self.declared), keys), strict=True))

    @cached_property
    def _groupings(self) -> dict[str, Grouping]:
        groupings = {key: coarsening.smaller_key(levels, key) for key, levels in self._levels.items()}
        return {key: grouping for key, grouping in groupings.items() if grouping is not None}

    def _dropped(self) -> dict[tuple[str, ...], Figures]:
        """Figures of every set of keys left out, the key that merges most first: its pairs start from its cells."""
        keys = sorted(self.cells.keys, key=lambda key: -self._levels[key].entropy)
        parts = range(len(keys)) if len(keys) > 1 else ()
        return dict(row for rows in run(lambda i: self._dropping(keys[i], keys[i + 1 :]), parts) for row in rows)

    def _dropping(self, key: str, others: Sequence[str]) -> list[tuple[tuple[str, ...], Figures]]:
        """Leave a key out, then each of the others too, starting from the cells merged already."""
        single = frequencies.margin_of(self.cells).without(key)
        rows: list[tuple[tuple[str, ...], Figures]] = [((key,), _of_margin(single, self.k, self.n))]
        if self.pairs and len(self.cells.keys) > 2:
            for other in others:
                pair = tuple(name for name in self.cells.keys if name in (key, other))
                rows.append((pair, _of_margin(single.without(other), self.k, self.n)))
        return rows

    def _coarsening(self, key: str) -> Coarsened:
        levels, grouping = self._levels[key], self._groupings[key]
        figures = self._left_out.coarser.get(key)
        if figures is None:
            coarse = frequencies.margin_of(self.cells).coarser(key, levels.codes, grouping.codes(levels))
            figures = _of_margin(coarse, self.k, self.n)
        return Coarsened.of(grouping, levels, self._whole, figures)

    @cached_property
    def coarsenings(self) -> dict[str, Coarsened]:
        """What one step to a coarser key changes."""
        return dict(zip(self._groupings, run(self._coarsening, self._groupings), strict=True))

    @cached_property
    def table(self) -> tuple[Contribution, ...]:
        """What leaving out each key, and each pair, changes."""
        rows = [
            Contribution.of(names, self._whole, figures, [self._levels[name].entropy for name in names])
            for names, figures in self._left_out.without.items()
        ]
        place = {key: j for j, key in enumerate(self.cells.keys)}

        def order(contribution: Contribution) -> tuple[Any, ...]:
            at = tuple(place[name] for name in contribution.variables)
            return len(contribution.variables), -contribution.uniques_saved, nine_digits(contribution.risk_without), at

        return tuple(sorted(rows, key=order))

    @cached_property
    def decides_alone(self) -> dict[str, float]:
        """Share of the sample uniques that stop being unique when this key alone is left out."""
        return {row.variables[0]: row.decides_alone for row in self.table if len(row.variables) == 1}

    @cached_property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Leaving out or coarsening each key, what saves most uniques per bit lost first."""
        alone = [row for row in self.table if len(row.variables) == 1]
        drops = [suggest("drop", row.variables, row, self._whole) for row in alone]
        steps = [suggest("coarsen", (key,), row, self._whole) for key, row in self.coarsenings.items()]
        return tuple(sorted([*steps, *drops], key=rank))

    @cached_property
    def table_figures(self) -> dict[str, dict[str, Any]]:
        """The table by the names of the keys left out."""
        return {" + ".join(row.variables): {name: getattr(row, name) for name in OF_ROW} for row in self.table}

    @cached_property
    def coarsening_figures(self) -> dict[str, dict[str, Any]]:
        """The coarsenings by the names of the keys."""
        names = ("rule", "scale", "levels_before", "levels_after", *OF_ROW)
        return {key: {name: getattr(row, name) for name in names} for key, row in self.coarsenings.items()}

    @cached_property
    def suggestion_figures(self) -> tuple[dict[str, Any], ...]:
        """The suggestions, what to do first first, without the steps: these may name values of records."""
        rows = map(asdict, self.suggestions)
        return tuple({name: value for name, value in row.items() if name != "step"} for row in rows)

    def __getstate__(self) -> dict[str, Any]:
        """State without the levels: a pickled result names no level that few records have."""
        state = {
            "table": self.table,
            "decides_alone": self.decides_alone,
            "coarsenings": {
                key: row if row.step_is_public else replace(row, step="") for key, row in self.coarsenings.items()
            },
            "suggestions": tuple(replace(suggestion, step="") for suggestion in self.suggestions),
        }
        return super().__getstate__() | state

    @property
    def records(self) -> Any:
        """Refuse: the measure speaks of keys, not of records.

        Raises
        ------
        DataError
            Always; `individual_risk` has figures per record.
        """
        raise DataError("key contributions are figures of the file; individual_risk gives figures per record")


# --- measure ----------------------------------------------------------------------------------------


def key_contributions(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    k: Sequence[int] | int = (2, 3, 5),
    missing: MissingRule | None = None,
    alpha: float | None = None,
    pairs: bool = True,
    numeric: Sequence[str] | None = None,
    ordered: Sequence[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    scenario: Scenario | None = None,
) -> KeyContributions:
    """Show which key, and which pair of keys, makes the file risky: what is left without it, or coarser.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    weight : str, optional
        Column of sampling weights, persons that a record stands for.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    k : sequence of int
        Levels of k-anonymity to count violations of.
    missing, alpha
        As in `key_frequencies`.
    pairs : bool
        Whether to leave out every pair of keys too.
    numeric, ordered : sequence of str, optional
        Keys that are measured numbers; keys of categories or codes whose order means something.
    hierarchies : dict, optional
        For keys that are codes, what belongs together: `Hierarchy`, path, or ``{value: [coarser names]}``.
    scenario : Scenario, optional
        Gives what is not given here.

    Returns
    -------
    KeyContributions
        ``uniques``, ``risk``, ``violations`` with all keys, ``table`` of `Contribution`, ``coarsenings``,
        ``suggestions``.

    Raises
    ------
    ColumnError, DataError, ScenarioError
        As `key_frequencies`; what is declared of a column that is no key; a scenario with a person column is
        refused, since distinct persons cannot be counted from cells.
    FileFormatError
        The file of a hierarchy is absent, or is none.

    Notes
    -----
    Exact: the cells of fewer or coarser keys are merged from the cells of all keys, under the same missing
    rule. One step coarser means: of numbers, bands with round edges, of which the outermost hold 5 records and
    1 % of them at least; of dates, the year or the month; of ordered categories, neighbours in pairs; of codes
    with a hierarchy, one level up; of any other key, the rarest levels pooled, two at least, until the pool and
    every level left has 5 records. A missing value stays what it was. What is declared decides on the kind of a
    key. Else whole numbers are numbers where they are many, evenly spaced and held by similar numbers of
    records, or span orders of magnitude; of others it cannot be told, and they are treated as codes. ``step``
    is the step of a recipe that does just what the figures say. Information lost is the entropy of the key (bits
    per record) that goes; a pair loses the sum.

    References
    ----------
    Elliot, M., Mackey, E. and O'Hara, K. (2020). The Anonymisation Decision-Making Framework, 2nd ed.
    Shannon, C. (1948). A mathematical theory of communication. Bell System Technical Journal 27, 379-423.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30]})
    >>> result = key_contributions(survey, keys=["sex", "age"])
    >>> [(one.variables, one.uniques_without) for one in result.table]
    [(('age',), 0), (('sex',), 1)]
    """
    levels = arguments.counts(k, "k", "counts records", at_least=2)
    arguments.flag(pairs, "pairs")
    scenario = arguments.scenario_or_none(scenario)
    cells = as_cells.tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, missing=missing, alpha=alpha,
        scenario=scenario,
    )  # fmt: skip
    if cells.roles.person is not None:
        words = "distinct persons cannot be counted from cells"
        raise DataError(f"{words}; leave person= out for key contributions")
    declared = coarsening.declared_kinds(
        cells.keys, scenario, numeric=numeric, ordered=ordered, hierarchies=hierarchies
    )
    in_memory = cells.in_memory()
    if "population_frequency" in in_memory.columns:
        refuse_short(in_memory)
    return KeyContributions(in_memory, levels, pairs, declared=declared)
