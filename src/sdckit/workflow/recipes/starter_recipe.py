"""A recipe to start from: identifiers, the advised recodings, suppression of what is left, each with its reason."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.replace import open_eager
from sdckit.display import Displayed, plain_html
from sdckit.errors import ScenarioError, SdcWarning
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.recipe_steps import RISK_MEASURE
from sdckit.workflow.recipes.starter_keys import coarsen_keys, over_limits
from sdckit.workflow.recipes.starter_steps import before_suppression, last_step, suppressions
from sdckit.workflow.recipes.starter_text import Told, write_starter

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe_applied import Applied


SEED, TRIAL = 1, bytes(32)  # of the trial, of which nothing is kept
AIMED_AT = ("k", "risk", "global_risk")
TITLE = "A recipe to start from"
HEAD = (
    "A recipe to start from, written by sdckit. Each step follows the advice on the keys; its comment says why.",
    "Shares of records are ranges. Read it through and change it: sdckit does not know what the columns mean.",
)


@dataclass(frozen=True)
class StarterRecipe(Displayed):
    """A recipe to start from.

    Attributes
    ----------
    recipe : Recipe
        Its steps; they were tried on the file.
    text : str
        The same as TOML, with a comment above each step.
    exceeded : tuple of str
        The thresholds that do not hold after the last step, for one intruder at least.
    unjudged : tuple of str
        Those that could not be judged.
    """

    recipe: Recipe
    text: str = field(repr=False)
    exceeded: tuple[str, ...]
    unjudged: tuple[str, ...]

    def _repr_html_(self) -> str:
        return plain_html(self.text)


def starter_recipe(
    data: Any, *, scenario: Scenario, share: float = 0.05, internal: bool = False,
    folder: str | Path | None = None,
) -> StarterRecipe:  # fmt: skip
    """Write a recipe to start from, by the ranked advice on the keys.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    scenario : Scenario
        Its thresholds of k, of the risk and of the mean risk are what the steps aim at.
    share : float
        Keys are made coarser until no intruder has more than this share of the records beyond a threshold;
        `local_suppression` does the rest.
    internal : bool
        Whether recodings that name values few records have are taken, too. The recipe then stays in the room.
    folder : str or Path, optional
        Where the recipe is to lie: paths of hierarchies start there. Default the folder of the scenario.

    Returns
    -------
    StarterRecipe
        ``recipe``, and ``text`` with the comments.

    Raises
    ------
    ScenarioError
        No scenario, or none of these thresholds in it.
    ColumnError
        A column of the scenario is absent.

    Notes
    -----
    Identifiers are left out, numbers of households and persons replaced. Each key has a first step
    (`key_contributions`): numbers in bands with round edges, codes one level up their hierarchy. After it come bands
    twice as wide, or the next level. Of all steps the one that brings most records within the thresholds per bit of
    information lost is taken, and all are looked at again. Keys without a step are named in a comment. Weights that
    tell a key are coarsened, what is left is suppressed for one intruder after the other, and the order is mixed.

    Which steps are taken follows from the exact figures of the file. The comments give shares of records in ranges
    of five percent and ten records at least; with `internal` they are no less coarse.

    References
    ----------
    Hundepool, A. et al. (2012). Statistical Disclosure Control, chapter 3. Samarati, P. (2001). IEEE Transactions on
    Knowledge and Data Engineering 13(6).

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import Scenario, starter_recipe
    >>> survey = pl.DataFrame({"age": [18 + i % 67 for i in range(300)], "sex": ["f", "m", "f"] * 100})
    >>> start = starter_recipe(survey, scenario=Scenario(keys=["age", "sex"], thresholds={"k": 3}))
    >>> [step.method for step in start.recipe.steps], start.exceeded
    (['recode', 'local_suppression', 'random_order'], ())
    """
    arguments.share(share, "share", "is a share of the records")
    arguments.flag(internal, "internal")
    if arguments.scenario_or_none(scenario) is None:
        raise ScenarioError(
            "scenario= is missing: its thresholds are what the steps aim at", argument="scenario"
        )
    if folder is not None and not isinstance(folder, str | Path):
        raise ScenarioError("folder= is a path, where the recipe is to lie", argument="folder")
    frame = open_eager(data, {})
    return make_starter(
        data, scenario, columns=frame.columns, share=share, internal=internal,
        folder=None if folder is None else Path(folder),
    )  # fmt: skip


def make_starter(
    data: Any, scenario: Scenario, *, columns: Sequence[str], share: float, internal: bool, folder: Path | None,
    head: Sequence[str] = HEAD,
) -> StarterRecipe:  # fmt: skip
    """Write the recipe for a file of these `columns`, of which `data` need not hold the identifiers."""
    if not any(name in scenario.limits.declared for name in AIMED_AT):
        raise ScenarioError(
            "the scenario has no threshold that steps could aim at; add [thresholds] with k or risk, or a type "
            "of release"
        )
    scenario.changed(identifiers=()).check_columns(open_eager(data, {}).columns)
    with (
        warnings.catch_warnings()
    ):  # of identifiers that are not read here, and of weights, which a step is about
        warnings.simplefilter("ignore", SdcWarning)
        way = coarsen_keys(data, scenario, share=share, internal=internal)
        told = [*before_suppression(way, columns), *suppressions(way)]
        told += _too_risky(data, scenario, told)
        told += last_step(scenario, columns)
        exceeded, unjudged = _judged(data, scenario, told)
    told.append((None, [_outcome(exceeded, unjudged)]))
    steps = [_from(step, scenario.folder, folder) for step, _ in told if step is not None]
    if not steps:  # the order stays, too
        raise ScenarioError("there is nothing to do: the thresholds hold")
    again = iter(steps)
    text = write_starter(
        TITLE, head, [(None if step is None else next(again), lines) for step, lines in told]
    )
    return StarterRecipe(
        Recipe(steps, title=TITLE, folder=folder or scenario.folder), text, tuple(exceeded), tuple(unjudged)
    )


def _too_risky(data: Any, scenario: Scenario, told: Sequence[Told]) -> Iterator[Told]:
    """A step for the records whose risk is still too high, where a missing key may stand for any value."""
    if scenario.limits.risk is None or scenario.missing != "wildcard":
        return
    over = over_limits(_applied(data, scenario, told).data, scenario)
    for name in (name for name, count in over.items() if count):
        step: dict[str, Any] = {"method": "suppress_above"}
        if len(scenario.intruders) > 1:
            step["intruder"] = name
        step |= {
            "risk": RISK_MEASURE,
            "threshold": scenario.limits.risk,
            "columns": [*scenario.intruders[name]],
        }
        yield step, ["Records whose risk is still above the threshold lose their keys."]


def _applied(data: Any, scenario: Scenario, told: Sequence[Told]) -> Applied:
    """The data after the steps, but for those on direct identifiers, which it need not hold."""
    steps = [step for step, _ in told if step is not None and step["method"] != "drop_identifiers"]
    recipe = Recipe(steps or [{"method": "random_order"}], folder=scenario.folder)
    keys = {str(step["column"]): TRIAL for step in steps if step["method"] == "new_ids"}
    return recipe.apply(
        data, scenario=scenario.changed(identifiers=()), secret=TRIAL, id_keys=keys, watch=False
    )


def _judged(data: Any, scenario: Scenario, told: Sequence[Told]) -> tuple[list[str], list[str]]:
    """The thresholds that do not hold after the steps, and those that could not be judged."""
    verdicts = _applied(data, scenario, told).assess(seed=SEED).verdicts
    found: tuple[list[str], list[str]] = ([], [])
    for verdict in verdicts:
        names = found[verdict.holds is None]
        if verdict.holds is not True and (name := verdict.name.removesuffix("_undone")) not in names:
            names.append(name)
    return found


def _outcome(exceeded: Sequence[str], unjudged: Sequence[str]) -> str:
    said = "Tried on the file: no threshold is exceeded after these steps"
    if exceeded:
        over = f"exceeded after these steps: {listed(exceeded)}"
        said = f"Tried on the file: {over}; make keys coarser by hand, or leave one out"
    return said + (f". Not judged: {listed(unjudged)}." if unjudged else ".")


def _from(step: Any, start: Path, folder: Path | None) -> dict[str, Any]:
    """A step whose paths start in the folder of the recipe."""
    if folder is None or "hierarchy" not in step or step["method"] != "recode":
        return dict(step)
    path = os.path.relpath(start / step["hierarchy"], folder)
    return {**step, "hierarchy": Path(path).as_posix()}
