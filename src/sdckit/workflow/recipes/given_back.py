"""Steps that take keys out of the records which are below a limit with what the release gives back."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data import households
from sdckit.data.columns import float_values
from sdckit.data.frames import open_frame
from sdckit.data.limits import LIMITS, LimitKind
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import SdcWarning, sure
from sdckit.numerics.array_types import Floats
from sdckit.workflow.recipes.recipe_steps import GIVEN_BACK, RISK_MEASURE, lose_values
from sdckit.workflow.recipes.run_step import of_release

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe import Applied
    from sdckit.workflow.recoded_original.published_recodings import Recodings

Step = dict[str, Any]
CommentedStep = tuple[Mapping[str, Any] | None, Sequence[str]]  # a step, or None for a remark; its comment
SEED = 1  # of whatever is judged in a trial, of which nothing is kept
FEW_TAKEN = 0.02  # of the records, that lose keys since the release gives values back, before anything else is tried
MOST_TAKEN = 0.5  # where nothing else helped
PUT_BACK = {name for name, kind in LIMITS.items() if kind.measure == GIVEN_BACK}
MOSTLY_SHARED = 0.8  # of the households of two or more: a value taken out is told by mates nearly always
TAKEN = "Records that would be beyond a threshold with what the release gives back by itself lose these keys."


def mostly_shared(data: Any, scenario: Scenario) -> list[str]:
    """Keys in which the members of most households are alike, and not those of all."""
    if scenario.household is None:
        return []
    alike, most = (
        households.household_variables(data, household=scenario.household, among=scenario.keys, share=share)
        for share in (1.0, MOSTLY_SHARED)
    )
    return [key for key in most if key not in alike]


def with_home(keys: Sequence[str], shared: Sequence[str], household: str | None) -> list[str]:
    """Keys, and the number of the household where one of them is mostly `shared`: mates would show it."""
    return [*keys, *[str(household)] * bool({*keys} & {*shared})]


def lacking_records(
    original: Any, recodings: Recodings | None, current: Any, scenario: Scenario,
    recovered: dict[Any, Any] | None = None,
) -> Floats:  # fmt: skip
    """Number of records that each group lacks to k with what the file gives back; 1 where the risk alone is too high.

    `recodings`: of the steps that made the `current` file of the original; None where there was none. What it gives
    back is found as `check` finds it; of several intruders the one counts to whom a group lacks most. `recovered`: what
    the search kept of these files in a trial, and keeps, as of `assess_read`.
    """
    from sdckit.catalogue import measure
    from sdckit.catalogue.attacks import RECOVERABLE
    from sdckit.workflow.assess import assess_read

    results: dict[str, Any] = dict.fromkeys(scenario.intruders)
    if recodings is not None:
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            measured: Any = assess_read(
                original, current, scenario=scenario, recipe=recodings, lean=True,
                soonest=(RECOVERABLE, lambda _: True), recovered=recovered, seed=None if recovered is None else SEED,
            )  # fmt: skip
        results = {intruder: measured[intruder].get(RECOVERABLE.name) for intruder in measured}
    limits, lacking = scenario.limits_of(compared=True), np.zeros(1)
    tabulated = "key_frequencies" if limits.risk is None else RISK_MEASURE  # which has the frequencies, too
    for intruder, result in results.items():
        undone = current if result is None else result.undone()
        own = of_release(undone, scenario.intruder(intruder))
        records: Any = open_frame(measure(tabulated).measure(undone, scenario=own).records)
        lacking = np.maximum(lacking, (limits.k or 0) - float_values(records["sample_frequency"], "sample_frequency"))
        if limits.risk is not None:
            risky = float_values(records["risk"], "risk") > limits.risk
            lacking = np.where(risky, np.maximum(lacking, 1.0), lacking)
    return lacking


def reconstructing_intruders(assessment: Any, scenario: Scenario, most: float) -> list[str]:
    """Intruders to whom a release gives back so much that records are below a limit, but to none more than `most`."""
    limits, records = scenario.limits_of(compared=True), {}
    for name in assessment:
        if (result := assessment[name].get(GIVEN_BACK)) is not None:
            records[name] = max(result.below_k[0].get(limits.k, 0), result.above_risk[0] or 0)
    within = max(records.values(), default=0) <= most
    return [name for name, below in records.items() if within and below]


def ways_to_take(data: Any, scenario: Scenario, name: str) -> list[Step]:
    """Steps for records below a limit with what the release gives back: of keys that mates do not share, and of all.

    All go with the number of the household, by which mates put them back.
    """
    own, home = scenario.intruders[name], scenario.household
    shared = households.household_variables(data, household=home, among=own) if home is not None else ()
    alone = [key for key in own if key not in shared]
    all_keys = [*own, *(() if home is None or home in own else (home,))]
    return [lose_values(scenario, name, GIVEN_BACK, 0, some) for some in (alone, all_keys) if some]


def taking_more(
    exceeded: Collection[str], assessment: Any, made: Applied, steps: Collection[Mapping[str, Any] | None]
) -> list[tuple[Step, list[str]]]:
    """Steps by which records lose keys, each with why, where no limit is exceeded but with what is given back.

    `exceeded`: the limits as a starter recipe names them. `steps`: those that the recipe has already.
    """
    if not exceeded or not {*exceeded} <= {named(LIMITS[name]) for name in PUT_BACK}:
        return []
    there = open_eager(made.data, {}).columns
    most = MOST_TAKEN * made.log.n
    more = further_steps(made.original, sure(made.scenario), assessment, most, steps, there)
    return [(step, [TAKEN]) for step in more]


def options_taking_more(judged: Any, trials: Any, share: float) -> Any:
    """Options by which the records lose keys that are below a limit with what the release of a node gives back.

    None where there are no such records, or more than this share of all, or where another limit does not hold.
    """
    if not judged.failing or not {*judged.failing} <= PUT_BACK:
        return None
    data, taken = trials.data, judged.how.taken
    there = open_eager(data, {}).columns  # a trial of a node leaves out what the node does
    more = further_steps(data, trials.scenario, judged.assessment, share * trials.lattice.n, taken, there)
    return replace(judged.how, taken=(*taken, *more)) if more else None


def further_steps(
    data: Any, scenario: Scenario, assessment: Any, most: float, steps: Collection[Mapping[str, Any] | None],
    there: Collection[str],
) -> list[Step]:  # fmt: skip
    """For each intruder who reconstructs some records, the first step not among `steps`, on columns `there`.

    None where to one of them more than `most` records are below a limit.
    """
    more: list[Step] = []
    for name in reconstructing_intruders(assessment, scenario, most):
        ways = (on_columns(step, there) for step in ways_to_take(data, scenario, name))
        more += [step for step in ways if step is not None and step not in steps][:1]
    return more


def mixed_before(steps: Sequence[CommentedStep], mixing: Sequence[CommentedStep]) -> list[CommentedStep]:
    """All steps, those that mix the order before those that look for what the release gives back.

    Who is the first of a household may tell what its members have: it has to be looked at in the order that goes out.
    """
    last = [(step, why) for step, why in steps if step is not None and step.get("risk") == GIVEN_BACK]
    return [*(commented for commented in steps if commented not in last), *mixing, *last]


def on_columns(step: Mapping[str, Any], there: Collection[str]) -> Step | None:
    """A step on those of its columns that are `there`; None where none is."""
    columns = [name for name in step["columns"] if name in there]
    return {**step, "columns": columns} if columns else None


def named(kind: LimitKind) -> str:
    """A limit as the outcome of a starter recipe names it: "k after reconstruction" is not k."""
    return kind.words if kind.of else kind.name


def taken_shares(applied: Applied) -> dict[str, float]:
    """By column, the share of its values that steps took out by what the release gives back."""
    taken: dict[str, float] = {}
    for change, step in zip(applied.log.steps, applied.recipe.all_steps, strict=True):
        if step.arguments.get("risk") == GIVEN_BACK:
            for name, count in change.changed.items():
                taken[name] = taken.get(name, 0.0) + count / change.n
    return {name: share for name, share in taken.items() if share}
