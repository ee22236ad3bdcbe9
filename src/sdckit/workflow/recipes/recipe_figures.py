"""Risk and utility figures of a file after every step of a recipe."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import IN_BANDS, Pair, Recoded, open_files
from sdckit.data import frames, hierarchy
from sdckit.data.columns import n_differing
from sdckit.data.losses import COARSENING, DIFFERING, PMSE
from sdckit.data.replace import open_eager, pick_rows, with_levels
from sdckit.data.scenarios.roles import read_hierarchies
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, SdcError, SdcWarning
from sdckit.workflow.recipes.run_step import changes_number

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe_log import RecipeLog


DEFAULT_K = 3
SMALL = 5
RISKS = ("sample_uniques", "below_k", "expected_reidentifications")
LOSSES = (DIFFERING, PMSE)
COARSER = "coarser"  # how many records carry a loss of coarser keys
FIGURES = (*RISKS, *LOSSES)


@dataclass(frozen=True)
class StepFigures:
    """The figures after a step (0: before the first), for one intruder.

    Attributes
    ----------
    step : int
    method : str
    intruder : str
        Empty without a scenario; the risks are NaN then.
    values_changed : int
        By this step.
    sample_uniques, below_k, expected_reidentifications : float
        Records alone with their keys, in groups of fewer than k, and links expected to be correct.
    share_changed : float
        Values that differ from the original, as a share of all; the values of a column left out count.
    keys : tuple of str
        Those of the intruder's keys that were still in the file.
    compared : int
        Values of the original that were compared.
    rule : str
        What missing key values were taken for: "wildcard", "category", or "" where none is missing.
    pmse : float
        Propensity score mean squared error on the scenario's variables; NaN where none can be compared.
    behind : int
        Records that carry it, at least: the values of one of those variables that differ.
    small : int
        Records in groups of fewer than five; of several files in the one that has fewest.
    estimated : bool
        Whether the expected re-identifications are estimated, from weights or a sampling fraction.
    """

    step: int
    method: str
    intruder: str
    values_changed: int
    sample_uniques: float = math.nan
    below_k: float = math.nan
    expected_reidentifications: float = math.nan
    share_changed: float = math.nan
    pmse: float = math.nan
    rule: str = ""
    keys: tuple[str, ...] = ()
    compared: int = 0
    behind: int = 0
    small: int = 0
    estimated: bool = False


def worst_of(figures: Sequence[StepFigures]) -> dict[str, float]:
    """Maximum of each figure over intruders, and the smallest counts behind them, for output checking.

    >>> worst_of([StepFigures(1, "pram", "a", 3, pmse=0.1), StepFigures(1, "pram", "b", 3, pmse=0.2)])["pmse"]
    0.2
    """
    few = {"behind": min(row.behind for row in figures), "small": min(row.small * row.estimated for row in figures)}
    return {**{name: max(getattr(row, name) for row in figures) for name in FIGURES}, **few}


@dataclass(frozen=True, eq=False)
class Watch:
    """Measures the changing file against the original.

    Without a scenario, only the changed values are counted.
    """

    original: Any
    scenario: Scenario | None
    # of the file measured last: how many values of the compared variables differ, these variables, and the score
    scored: list[tuple[list[int], Any, float]] = field(default_factory=list, init=False, repr=False)

    @property
    def k(self) -> int:
        """The k of `below_k`: the scenario's, or 3."""
        declared = None if self.scenario is None else self.scenario.limits.k
        return DEFAULT_K if declared is None else declared

    def in_order(self, rows: NDArray[np.int64] | None) -> Watch:
        """The same with the original reordered by `rows`, after a step that permuted the records.

        Records of another number stand for none of the original, whatever their order.
        """
        frame: Any = frames.open_frame(self.original)
        if rows is None or len(rows) != len(frame):
            return self
        return replace(self, original=frames.open_frame(pick_rows(frame, rows)))

    def beside(self, log: RecipeLog, data: Any, folder: Path | None) -> Watch:
        """The same with the original in the order of the file that a recipe made of `data`, as its log tells."""
        return self.in_order(None if changes_number(log.steps, log.n) else log.rows(data, folder=folder))

    def after(self, step: int, method: str, data: Any, values_changed: int) -> tuple[StepFigures, ...]:
        """Measure a file; of several from one synthesis every figure is the mean."""
        files = data if isinstance(data, list) else [data]
        original: Any = frames.open_frame(self.original)
        base = StepFigures(step, method, "", values_changed, compared=len(original) * len(original.columns))
        # of the original they are told by an assessment, here they would repeat
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            counts = [self.differing(file) for file in files]
            shares = (sum(own.values()) / (len(own) * len(original)) for own in counts)
            base = replace(base, share_changed=fmean(shares))
            if self.scenario is not None:
                pmse = fmean(self._pmse(file, own) for file, own in zip(files, counts, strict=True))
                base = replace(base, pmse=pmse, behind=self._behind(files, counts))
            return self._by_intruder(base, files, frames.open_frame(files[0]).columns)

    def _by_intruder(self, base: StepFigures, files: list[Any], columns: Sequence[str]) -> tuple[StepFigures, ...]:
        """Add the risks from each intruder to the figures; unchanged without a scenario."""
        if self.scenario is None:
            return (base,)
        figures = []
        for name in self.scenario.intruders:
            rules, small, *risks = zip(*(self._risks(file, name) for file in files), strict=True)
            uniques, below, expected = map(fmean, risks)
            left = self._left(self.scenario.intruder(name), columns)
            figures.append(
                replace(
                    base, intruder=name, sample_uniques=uniques, below_k=below, expected_reidentifications=expected,
                    rule=max(rules), keys=() if left is None else left.keys, small=min(small),
                    estimated=self.scenario.weight is not None or self.scenario.sampling_fraction is not None,
                )
            )  # fmt: skip
        return tuple(figures)

    def of_plans(self, step: int, method: str, plans: Sequence[Any], values_changed: int) -> tuple[StepFigures, ...]:
        """Measure a lazy frame that is being changed; of several from one synthesis every figure is the mean.

        How well scores tell it from the original is not measured.
        """
        first = plans[0]
        compared = first.n_file * len(first.own)
        share = fmean(sum(plan.differing().values()) / compared for plan in plans)
        base = StepFigures(step, method, "", values_changed, share_changed=share, compared=compared)
        files = [plan.bare() for plan in plans]
        # an assessment tells them, here they would repeat
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            return self._by_intruder(base, files, first.columns)

    def check_risks(self, files: Sequence[Any]) -> None:
        """Measure the risks of a file, or of several, for nothing but what is refused."""
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            self._by_intruder(StepFigures(0, "", "", 0), [*files], frames.column_names(frames.open_frame(files[0])))

    def differing(self, data: Any) -> dict[str, int]:
        """Number of values per column of the original that differ in a changed file.

        All of them where the file has another number of records: none stands for one of the original.
        """
        before: Any = frames.open_frame(self.original)
        after: Any = frames.open_frame(data)
        alike = len(before) == len(after)
        return n_differing(before, after) if alike else dict.fromkeys(before.columns, len(before))

    def _risks(self, data: Any, intruder: str) -> tuple[str, int, float, float, float]:
        """Rule for missing keys, and risks from one intruder by the keys still released; all 0 where none is."""
        from sdckit.cells.as_cells import tabulate_roles
        from sdckit.data.scenarios.roles import resolve_roles
        from sdckit.identity.individual_risk import individual_risk
        from sdckit.identity.k_anonymity import k_anonymity
        from sdckit.identity.key_frequencies import key_frequencies

        assert self.scenario is not None
        left = self._left(self.scenario.intruder(intruder), frames.open_frame(data).columns)
        if left is None:
            return "", 0, 0.0, 0.0, math.nan
        cells = tabulate_roles(data, resolve_roles(scenario=left))
        expected = math.nan
        if left.weight == self.scenario.weight:
            expected = float(individual_risk(cells).expected_reidentifications)
        uniques = float(key_frequencies(cells).sample_uniques)
        below = k_anonymity(cells, k=sorted({self.k, SMALL})).violations
        return cells.rule, below[SMALL], uniques, float(below[self.k]), expected

    def _left(self, intruder: Scenario, columns: Sequence[str]) -> Scenario | None:
        left = intruder.of_keys(columns)
        if not left.intruders:
            return None
        weight, person = (name if name in columns else None for name in (intruder.weight, intruder.person))
        return type(intruder)(
            keys=left.keys, missing=left.missing, alpha=intruder.alpha, sampling_fraction=intruder.sampling_fraction,
            weight=weight, person=person,
        )  # fmt: skip

    def _shared(self, data: Any) -> list[str]:
        """Variables of the scenario that are numeric in both files or in neither."""
        assert self.scenario is not None
        before, after = frames.open_frame(self.original).schema, frames.open_frame(data).schema
        wanted = dict.fromkeys([*self.scenario.all_keys, *self.scenario.sensitive, *self.scenario.numeric])
        return [
            name
            for name in wanted
            if name in before and name in after and before[name].is_numeric() == after[name].is_numeric()
        ]

    def _behind(self, files: list[Any], counts: list[dict[str, int]]) -> int:
        pairs = zip(files, counts, strict=True)
        most_changed = [max((own[name] for name in self._shared(file)), default=0) for file, own in pairs]
        return min((count for count in most_changed if count), default=0)

    def _pmse(self, data: Any, counts: dict[str, int]) -> float:
        """The score of a file; that of the file before where a step left the compared variables as they were."""
        frame: Any = frames.open_frame(data)
        shared = self._shared(data)
        if not shared:
            return math.nan
        now, changed = frame[shared], [counts[name] for name in shared]
        for counted, before, value in self.scored:
            same = counted == changed and before.schema == now.schema and len(before) == len(now)
            if same and not any(n_differing(before, now).values()):
                return value
        aligned = len(frames.open_frame(self.original)) == len(frame)  # type: ignore[arg-type]
        try:
            value = pmse(self.original, data, shared, aligned=aligned)
        except SdcError:
            value = math.nan
        self.scored[:] = [(changed, now, value)]
        return value


def pmse(original: Any, release: Any, names: Sequence[str], *, aligned: bool) -> float:
    """Propensity score MSE of a release by some variables."""
    from sdckit.utility.propensities.propensity import propensity

    schema = frames.open_frame(original).schema
    numeric = [name for name in names if schema[name].is_numeric()]
    return float(propensity(original, release, variables=names, numeric=numeric, aligned=aligned).pmse)


# What a recipe lost by making keys coarser: a figure of `generalization_loss`, by name.


@dataclass(frozen=True, eq=False)
class CoarseningLoss:
    """A figure of what a release lost by making its keys coarser and taking values out; less is better.

    Keys have the hierarchies of the scenario, those without one that of what their values became. A key that is left
    out lost all its values.
    """

    figure: str
    scenario: Scenario

    @cached_property
    def hierarchies(self) -> dict[str, hierarchy.Hierarchy]:
        """The hierarchies of the keys, by key."""
        return read_hierarchies(self.scenario, self.scenario.all_keys)

    def __call__(self, data: Any, release: Any) -> float:
        """The figure of a release; `DataError` where a key was changed otherwise, too."""
        return self.measured(data, release)[self.figure]

    def measured(self, data: Any, release: Any) -> dict[str, float]:
        """Every such figure of a release, and as `COARSER` the records that lost something in a key, at least."""
        from sdckit.utility.losses.generalization_loss import generalization_loss

        keys = self.scenario.all_keys
        found = generalization_loss(self.pair(data, release, keys), hierarchies=self.hierarchies, aligned=True)
        if lacking := [key for key in keys if key not in found.columns]:
            raise DataError(found.notes[lacking[0]])
        figures = {name: float(getattr(found, name)) for name in COARSENING}
        most = max(row["changed"] for row in found.per_column[0])
        return {**figures, "precision": 1 - figures["precision"], COARSER: most}

    def pair(self, data: Any, release: Any, keys: Sequence[str]) -> Pair:
        """Both files, the keys that are left out without any value, and those without a hierarchy to be judged, too."""
        before, after = open_eager(data, {}), open_eager(release, {})
        if gone := [key for key in keys if key not in after.columns]:
            nowhere = np.full(len(before), -1)
            empty: Any = frames.open_frame(with_levels(before, {key: ([], nowhere) for key in gone}))
            after = after.with_columns(*(empty[key] for key in gone))
        judged = [key for key in keys if key not in self.hierarchies]
        kinds = (IN_BANDS if before.schema[key].is_numeric() else "" for key in judged)
        recoded = tuple(Recoded(key, kind, "recipe") for key, kind in zip(judged, kinds, strict=True))
        return replace(open_files(before.to_native(), after.to_native()), recoded=recoded)
