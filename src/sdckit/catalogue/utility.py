"""The measures of the room `utility`: how fit a release is for analysis."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sdckit.catalogue.row import Context, Measure, OfPlan, as_numbers
from sdckit.data.scenarios.scenario_toml import read_toml
from sdckit.errors import DataError

CELLS: OfPlan = "cells"
GIVEN = "it takes two intervals and gives one number; compare_intervals draws them"


def _overview_arguments(context: Context) -> dict[str, Any]:
    """Arguments of the overview: the declared variables that all files have."""
    scenario, present = context.scenario, context.columns or frozenset()
    named = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric])
    shared = [name for name in named if name in present]
    numbers = scenario if context.pair is None else as_numbers(scenario, context.pair)
    return {
        "variables": shared, "numeric": [name for name in shared if name in numbers.numeric], "models": context.models,
        "aligned": context.aligned, "seed": context.seed, "scenario": numbers, "step": context.tell,
    }  # fmt: skip


def _overview_parts(context: Context) -> list[tuple[str, str]]:
    """The measures of the overview, each with the reason why it cannot run, if any."""
    from sdckit.utility.utility_overview import lacking, recoded_among

    given = _overview_arguments(context)
    recoded = context.pair is not None and bool(recoded_among(context.pair, given["variables"]))
    return lacking(
        given["variables"], given["numeric"], tuple(context.models), aligned=context.aligned, n=context.n or 0,
        sizes=context.sizes, recoded=recoded,
    )  # fmt: skip


def _measure(name: str, question: str, no_chart: str = "", **more: Any) -> Measure:
    return Measure(name=name, question=question, room="utility", files="utility", no_chart=no_chart, **more)


def _rules_typed(*, rules: Path | None = None, **given: Any) -> Callable[..., Any]:
    """Without --rules they are those of the scenario.

    Parameters
    ----------
    rules : path, optional
        A TOML file with [[rules]], each with column, when and value.
    """
    if rules is not None:
        given["rules"] = read_toml(rules, what="file of rules").get("rules", ())
        from sdckit.data.rule_conditions import read_edit_rules

        try:
            listed = read_edit_rules(given["rules"])
        except DataError as error:
            raise DataError(f"{rules.name}: {error}") from None
        if not listed:
            raise DataError(f"{rules.name} has no rule; write [[rules]] with column, when and value")
    return partial(RULES.measure, **given)


RULES = Measure(
    name="edit_rules", question="How many records contradict themselves, in the release and in its original?",
    room="utility", files="release", words="holding records against edit rules", once=True, of_intruder=False,
    arguments=lambda context: {"scenario": context.scenario, "aligned": context.aligned},
    when=lambda context: bool(context.scenario.rules), by_command=_rules_typed,
)  # fmt: skip
UTILITY: tuple[Measure, ...] = (
    Measure(
        name="utility_overview",
        question="What is the release still good for, as a whole, by variable, by pair, and for models?",
        room="utility", files="utility", words="measuring utility", arguments=_overview_arguments,
        inside=_overview_parts, of_intruder=False,
    ),
    _measure(
        "propensity", "How well can a model tell released records from original ones?", of_plan=CELLS,
        of_categories=True,
    ),
    _measure("cluster_utility", "Do clusters of similar records hold as many released records as they should?"),
    _measure(
        "information_loss",
        "How far do protected values, and correlations between them, lie from the original ones?",
        of_plan=CELLS,
    ),
    _measure("generalization_loss", "What was lost by making values coarser and leaving some out?"),
    _measure("combine", "What do m synthetic files say together, and how surely?"),
    _measure(
        "interval_overlap",
        "How much do the intervals from the original and from the release overlap?",
        no_chart=GIVEN,
        of_plan="nothing",
    ),
    _measure(
        "compare_intervals", "How do intervals that were computed elsewhere, or printed, lie beside each other?",
        of_plan="nothing",
    ),
    _measure(
        "compare_estimates", "Does the release give the same means, totals, proportions or quantiles?", of_plan=CELLS
    ),
    _measure("compare_models", "Does a regression on the release come to the same conclusions?", of_plan=CELLS),
    _measure(
        "ecdf_utility", "How far are the distribution functions of the release from those of the original?",
        of_plan=CELLS,
    ),
    _measure(
        "tabular_utility", "How well does the release keep every table of one, two or three variables?", of_plan=CELLS
    ),
    _measure("compare_distributions", "How does each variable, and each pair, look before and after?", of_plan=CELLS),
    RULES,
    _measure("compare_associations", "Do variables still go together as they did?", of_plan=CELLS),
)  # fmt: skip
