"""The measures that `assess` runs when they are asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdckit.attribute.alpha_k import alpha_k
from sdckit.attribute.beta_likeness import beta_likeness
from sdckit.attribute.delta_disclosure import delta_disclosure
from sdckit.attribute.t_closeness import TCloseness, t_closeness
from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.identity.log_linear import MAX_GRID, grid_of
from sdckit.identity.outliers import Outliers, outliers
from sdckit.identity.population_risk import PopulationRisk, population_risk
from sdckit.identity.population_size import category_cells, sampling_fraction_of
from sdckit.identity.population_uniques import PopulationUniques, population_uniques
from sdckit.identity.risky_cells import RiskyCells, risky_cells
from sdckit.identity.suda import Suda, suda
from sdckit.result import Result

__all__ = ["EXTRA", "chosen_measures", "extra_measures", "searched_risk"]

CLOSENESS = ("t_closeness", "beta_likeness", "delta_disclosure", "alpha_k")
EXTRA = ("suda", "population_risk", "population_uniques", "risky_cells", "outliers", *CLOSENESS)
ALL = "all"
SMALL_SEARCH = 400_000_000  # cells times key subsets: a search of a few seconds
SHORT_SEARCH = 3
QUICK_MODEL = 60_000_000  # possible cells times pairs of keys squared: at most some five seconds on two cores
NO_DESIGN = "the scenario names neither a weight nor a sampling fraction"
NO_NUMERIC = "the scenario names no numeric variable"
NO_SENSITIVE = "the scenario names no sensitive variable"
Step = Callable[[str], None]
Found = tuple[dict[str, Result], list[tuple[str, str]]]


def chosen_measures(measures: Sequence[str] | str) -> tuple[str, ...]:
    """Read `measures=`: names of further measures, or "all".

    Raises
    ------
    ScenarioError
        A name that is none of them.

    Examples
    --------
    >>> chosen_measures("suda"), chosen_measures(["outliers", "suda"])
    (('suda',), ('suda', 'outliers'))
    """
    asked = arguments.texts(measures, "measures")
    for name in asked:
        if name not in (*EXTRA, ALL):
            raise ScenarioError(
                f"measures: no further measure {name!r}; {did_you_mean(name, (*EXTRA, ALL))}",
                argument="measures",
            )
    return EXTRA if ALL in asked else tuple(name for name in EXTRA if name in asked)


def extra_measures(
    frame: Any, cells: Any, scenario: Scenario, chosen: Sequence[str], tell: Step, *, shared: dict[str, Any]
) -> Found:
    """Run the chosen measures against one intruder.

    Parameters
    ----------
    frame, cells
        The data, and the cells of the intruder's keys.
    scenario
        Of this intruder alone.
    chosen
        Names out of `EXTRA`.
    tell
        Is told what is being done.
    shared
        What does not depend on the intruder is kept here from one intruder to the next.

    Returns
    -------
    found, skipped
        Results by name; (measure, reason) of those that did not run.
    """
    found: dict[str, Result] = {}
    skipped: list[tuple[str, str]] = []
    for name in chosen:
        reason = _lacking(name, scenario)
        if not reason:
            tell(WORDS[name].format(next(iter(scenario.intruders))))
            try:
                found[name] = _run(name, frame, cells, scenario, tell, shared)
            except DataError as error:
                reason = str(error)
        if reason:
            skipped.append((name, reason))
    return found, skipped


WORDS = {
    "suda": "searching the special uniques of {}",
    "population_risk": "modelling the population for {}",
    "population_uniques": "estimating the population uniques for {}",
    "risky_cells": "counting combinations of a few keys of {}",
    "outliers": "looking for outliers",
    "t_closeness": "comparing what groups of {} hold with the file",
    "beta_likeness": "weighing what {} would gain",
    "delta_disclosure": "weighing what {} could rule out",
    "alpha_k": "looking for groups of {} that mostly agree",
}


def _lacking(name: str, scenario: Scenario) -> str:
    if name in {"population_risk", "population_uniques"}:
        return NO_DESIGN if scenario.weight is None and scenario.sampling_fraction is None else ""
    if name in CLOSENESS:
        return "" if scenario.sensitive else NO_SENSITIVE
    return NO_NUMERIC if name == "outliers" and not scenario.numeric else ""


def _run(name: str, frame: Any, cells: Any, scenario: Scenario, tell: Step, shared: dict[str, Any]) -> Result:
    if name == "suda":
        return _suda(cells, scenario, tell)
    if name == "population_risk":
        return searched_risk(cells)
    if name == "population_uniques":
        sized: PopulationUniques = population_uniques(cells)
        return sized
    if name == "risky_cells":
        risky: RiskyCells = risky_cells(cells.as_categories())
        return risky
    if name in CLOSENESS:
        return _closeness(name, cells, scenario)
    if name not in shared:
        shared[name] = outliers(frame, scenario=scenario)
    extreme: Outliers = shared[name]
    return extreme


def _closeness(name: str, cells: Any, scenario: Scenario) -> Result:
    base = cells.as_categories() if cells.has_wildcards else cells
    if name == "t_closeness":
        distance = {one: "numeric" if one in scenario.numeric else "equal" for one in scenario.sensitive}
        close: TCloseness = t_closeness(base, sensitive=scenario.sensitive, distance=distance)
        return close
    if name == "alpha_k":
        return alpha_k(base, sensitive=scenario.sensitive, k=scenario.thresholds.k)
    measure = beta_likeness if name == "beta_likeness" else delta_disclosure
    found: Result = measure(base, sensitive=scenario.sensitive)
    return found


def searched_risk(cells: Any) -> PopulationRisk:
    """Model the population by a forward search, or by main effects where searching would take long.

    Parameters
    ----------
    cells
        Cells whose sampling fraction or weights are known.

    Returns
    -------
    PopulationRisk
        Its notes say how the model was chosen.
    """
    here = category_cells(cells)
    n_keys, possible = len(here.keys), grid_of(here).n_possible
    if possible * (n_keys * (n_keys - 1) // 2) ** 2 <= QUICK_MODEL:
        return population_risk(here, select=True)
    result = population_risk(here)
    way_out = (
        "population_risk(select=True) does it" if possible <= MAX_GRID else "recode keys to have it searched"
    )
    result.notes["path"] = (
        f"these are main effects: to choose among pairs of {n_keys} keys on {possible:,} possible cells would "
        f"take long; {way_out}"
    )
    return result


def _suda(cells: Any, scenario: Scenario, tell: Step) -> Suda:
    if scenario.person is not None:
        raise DataError("special uniques are records; with several rows per person they say too little")
    here = cells.in_memory()
    n_keys = len(here.keys)
    whole = here.n_cells * 2**n_keys <= SMALL_SEARCH
    size = n_keys if whole else min(SHORT_SEARCH, n_keys)
    declared = scenario.weight is not None or scenario.sampling_fraction is not None
    fraction = sampling_fraction_of(here) if declared else 1.0
    result = suda(here, max_size=size, sampling_fraction=fraction, step=tell)
    result.notes["max_size"] = (
        f"all subsets of the {n_keys} keys were searched"
        if size == n_keys
        else f"subsets of up to {size} of the {n_keys} keys were searched; suda(max_size=...) searches larger ones"
    )
    if not declared:
        result.notes["sampling_fraction"] = (
            "neither a weight nor a sampling fraction is declared: the file counts as the whole population, "
            "so that every unique match is correct"
        )
    return result
