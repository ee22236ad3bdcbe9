"""A proposed recipe as it would go out: applied to the file and held against every threshold, as `check` does."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sdckit.data.replace import open_eager
from sdckit.errors import SdcWarning
from sdckit.workflow.check import check
from sdckit.workflow.proposing.trials import TRIAL, How, Made
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.starter_steps import identifier_steps, last_step

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.release_assessment import ReleaseAssessment
    from sdckit.workflow.verdicts import Verdict


SEED = 1  # of the trial, of which nothing is kept
GIVEN_BACK = ("k_undone", "risk_undone", "recoverable")
MEASURE = "recoverable_values"
SMALL = 5
Told = tuple[dict[str, Any], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Judged:
    """What the gate says of a recipe."""

    made: Made
    how: How
    verdicts: tuple[Verdict, ...]
    assessment: ReleaseAssessment
    measured: float = math.inf  # by the loss that the caller asked for
    estimated: bool = False  # whether the risk is that of a sample

    @property
    def passed(self) -> bool:
        """Whether every threshold was checked and holds."""
        return bool(self.verdicts) and all(one.holds is True for one in self.verdicts)

    @property
    def failing(self) -> tuple[str, ...]:
        """Thresholds that do not hold, or were not judged."""
        return tuple(dict.fromkeys(one.name for one in self.verdicts if one.holds is not True))

    @property
    def resting(self) -> int:
        """Records that reach k only through other records' missing values, for the intruder with most of them."""
        return max((one.n_resting or 0 for one in self.verdicts if one.name == "k"), default=0)

    @property
    def risk(self) -> float:
        """The expected share of re-identifications, of the intruder for whom it is largest."""
        worst = self._worst
        return 0.0 if worst is None else float(worst["individual_risk"].global_risk)

    @property
    def expected(self) -> float:
        """The expected re-identifications of that intruder."""
        worst = self._worst
        return 0.0 if worst is None else float(worst["individual_risk"].expected_reidentifications)

    @property
    def small(self) -> int:
        """Records in groups of fewer than five, where that number is estimated from them; else 0."""
        worst = self._worst
        if worst is None or not self.estimated:
            return 0
        return int(worst["k_anonymity"].violations[SMALL])

    @property
    def _worst(self) -> Any:
        files = [file[name] for file in self.assessment.released for name in file]
        return max(files, key=lambda one: float(one["individual_risk"].global_risk), default=None)


def around(scenario: Scenario, columns: Sequence[str]) -> tuple[list[Told], list[Told]]:
    """The steps before and after those on the keys, of a file of these columns, each with its comment.

    The order of the records is mixed last; the scenario may say that it stays.
    """
    before = [(dict(step), lines) for step, lines in identifier_steps(scenario, columns) if step is not None]
    after = [(dict(step), lines) for step, lines in last_step(scenario, columns) if step is not None]
    return before, after


def judge(data: Any, scenario: Scenario, made: Made, how: How, *, control: Any = None) -> Judged:
    """Apply the steps and check every threshold; `data` without its direct identifiers."""
    columns = open_eager(data, {}).columns
    before, after = around(scenario, columns)
    steps = [*(step for step, _ in before), *(step for _, step in made.steps), *(step for step, _ in after)]
    recipe = Recipe(steps or [{"method": "random_order"}], folder=scenario.folder)
    keys = {str(step["column"]): TRIAL for step in steps if step["method"] == "new_ids"}
    with warnings.catch_warnings():  # of the original: an assessment of it tells them
        warnings.simplefilter("ignore", SdcWarning)
        applied = recipe.apply(
            data, scenario=scenario.changed(identifiers=()), secret=TRIAL, id_keys=keys, watch=False
        )
        checked = check(
            data,
            applied.data,
            scenario=scenario.changed(identifiers=()),
            control=control,
            seed=SEED,
            recipe=recipe,
            log=applied.log,
        )
    found: Any = checked.assessment
    sampled = scenario.weight is not None or scenario.sampling_fraction is not None
    return Judged(made, how, checked.verdicts, found, estimated=sampled)


def improved(one: Judged, scenario: Scenario, keep: Sequence[str]) -> How | None:
    """Another way to take values out, where what was taken out is given back; None where there is no other.

    First nothing is taken out that follows from the rest, and columns that tell a key lose their value where it does;
    then such columns are left out.
    """
    if not set(one.failing) & set(GIVEN_BACK):
        return None
    told = _tellers(one, scenario)
    how = one.how
    bundles = {
        key: tuple(dict.fromkeys([*how.bundles.get(key, ()), *told.get(key, ())]))
        for key in {**how.bundles, **told}
    }
    if not how.hide or bundles != dict(how.bundles):
        return replace(how, hide=True, bundles=bundles)
    needed = {*scenario.columns, *keep, *how.without}
    gone = tuple(dict.fromkeys(name for names in told.values() for name in names if name not in needed))
    if not gone:
        return None
    left = {key: tuple(name for name in names if name not in gone) for key, names in how.bundles.items()}
    return replace(how, bundles=left, without=(*how.without, *gone))


def _tellers(one: Judged, scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """By key, the other columns that give its values back."""
    found: dict[str, tuple[str, ...]] = {}
    fixed = {*scenario.all_keys, scenario.household, scenario.weight}
    for name in one.assessment:
        result = one.assessment[name].get(MEASURE)
        if result is None:
            continue
        for column in (column for file in result.columns for column in file):
            if column.counted and column.column in scenario.all_keys:
                names = [name for source in column.sources for name in source.columns if name not in fixed]
                if names:
                    found[column.column] = tuple(dict.fromkeys([*found.get(column.column, ()), *names]))
    return found
