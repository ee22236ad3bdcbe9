"""A9: which key makes the file risky: uniques, violations and risk when keys are left out or coarsened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.frequencies import Margin, margin_of
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.contributions.coarsening import (
    NOTHING,
    Declared,
    Grouping,
    Levels,
    declared_kinds,
    levels_of,
    smaller_key,
)
from sdckit.identity.contributions.leaving_out import (
    Coarsened,
    Contribution,
    Figures,
    LeftOut,
    Suggestion,
    is_packed,
    leave_out,
    limits_of,
    nine_digits,
    rank,
    suggest,
)
from sdckit.identity.individual_risk import refuse_short
from sdckit.numerics.risk_kernel import sums_of_cells
from sdckit.numerics.threads import run
from sdckit.result import Result

if TYPE_CHECKING:
    from sdckit.cells.table import Cells


OF_ROW = (
    "uniques_without", "uniques_saved", "decides_alone", "violations_without", "risk_without", "entropy_lost",
)  # fmt: skip
Task = Callable[[], list[tuple[tuple[str, ...], Figures]]]


# --- kernel -----------------------------------------------------------------------------------------


def figures_of(columns: dict[str, Any], size: Any, k: Sequence[int], n: int) -> Figures:
    """Uniques, global risk and violations of cells."""
    f, big_f = columns["sample_frequency"], columns.get("population_frequency")
    total, below = sums_of_cells(f, big_f, size, limits_of(k))
    return Figures(below[0], total / n, dict(zip(k, below[1:], strict=True)))


def _of_margin(margin: Margin, k: Sequence[int], n: int) -> Figures:
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
    declared: Declared = NOTHING

    @cached_property
    def n(self) -> int:
        """Records."""
        return self.cells.n

    @cached_property
    def _left_out(self) -> LeftOut:
        """Packed cells are counted in rounds; of keys beyond one word, each margin by itself."""
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
        return dict(zip(keys, run(lambda key: levels_of(self.cells, key, self.declared), keys), strict=True))

    @cached_property
    def _groupings(self) -> dict[str, Grouping]:
        found = {key: smaller_key(levels, key) for key, levels in self._levels.items()}
        return {key: grouping for key, grouping in found.items() if grouping is not None}

    def _dropped(self) -> dict[tuple[str, ...], Figures]:
        """Figures of every set of keys left out: what merges most first, since its pairs are merged from it."""
        keys = sorted(self.cells.keys, key=lambda key: -self._levels[key].entropy)
        tasks = [self._dropping(key, keys[i + 1 :]) for i, key in enumerate(keys)] if len(keys) > 1 else []
        return dict(row for rows in run(lambda task: task(), tasks) for row in rows)

    def _dropping(self, key: str, others: Sequence[str]) -> Task:
        """Leave a key out, then each of the others as well: from the cells merged already."""

        def task() -> list[tuple[tuple[str, ...], Figures]]:
            single = margin_of(self.cells).without(key)
            rows: list[tuple[tuple[str, ...], Figures]] = [((key,), _of_margin(single, self.k, self.n))]
            if self.pairs and len(self.cells.keys) > 2:
                for other in others:
                    pair = tuple(name for name in self.cells.keys if name in (key, other))
                    rows.append((pair, _of_margin(single.without(other), self.k, self.n)))
            return rows

        return task

    def _coarsening(self, key: str) -> Coarsened:
        levels, grouping = self._levels[key], self._groupings[key]
        figures = self._left_out.coarser.get(key)
        if figures is None:
            coarse = margin_of(self.cells).coarser(key, levels.codes, grouping.codes(levels))
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

        def order(one: Contribution) -> tuple[Any, ...]:
            at = tuple(place[name] for name in one.variables)
            return len(one.variables), -one.uniques_saved, nine_digits(one.risk_without), at

        return tuple(sorted(rows, key=order))

    @cached_property
    def decides_alone(self) -> dict[str, float]:
        """Share of the sample uniques that stop being unique when this key alone is left out."""
        return {one.variables[0]: one.decides_alone for one in self.table if len(one.variables) == 1}

    @cached_property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Leaving out or coarsening each key, what saves most uniques per bit lost first."""
        alone = [one for one in self.table if len(one.variables) == 1]
        drops = [suggest("drop", one.variables, one, self._whole) for one in alone]
        steps = [suggest("coarsen", (key,), one, self._whole) for key, one in self.coarsenings.items()]
        return tuple(sorted([*steps, *drops], key=rank))

    @cached_property
    def table_figures(self) -> dict[str, dict[str, Any]]:
        """The table by the names of the keys left out."""
        rows = self.table
        return {" + ".join(one.variables): {name: getattr(one, name) for name in OF_ROW} for one in rows}

    @cached_property
    def coarsening_figures(self) -> dict[str, dict[str, Any]]:
        """The coarsenings by the names of the keys."""
        names = ("rule", "scale", "levels_before", "levels_after", *OF_ROW)
        return {key: {name: getattr(one, name) for name in names} for key, one in self.coarsenings.items()}

    @cached_property
    def suggestion_figures(self) -> tuple[dict[str, Any], ...]:
        """The suggestions, what to do first first, without the steps: these may name values of records."""
        rows = map(asdict, self.suggestions)
        return tuple({name: value for name, value in row.items() if name != "step"} for row in rows)

    def __getstate__(self) -> dict[str, Any]:
        """Without the levels: a pickled result names none that few records have."""
        told = {
            "table": self.table,
            "decides_alone": self.decides_alone,
            "coarsenings": {
                key: one if one.step_is_public else replace(one, step="")
                for key, one in self.coarsenings.items()
            },
            "suggestions": tuple(replace(one, step="") for one in self.suggestions),
        }
        return super().__getstate__() | told

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
    cells = tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, missing=missing, alpha=alpha,
        scenario=scenario,
    )  # fmt: skip
    if cells.roles.person is not None:
        words = "distinct persons cannot be counted from cells"
        raise DataError(f"{words}; leave person= out for key contributions")
    declared = declared_kinds(cells.keys, scenario, numeric=numeric, ordered=ordered, hierarchies=hierarchies)
    found = cells.in_memory()
    if "population_frequency" in found.columns:
        refuse_short(found)
    return KeyContributions(found, levels, pairs, declared=declared)
