"""The measures of the room `utility`: how fit a release is for analysis."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sdckit.catalogue.row import ROWS, Context, as_numbers, rows_of
from sdckit.data.scenarios.scenario_toml import read_toml
from sdckit.errors import DataError


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


RULES = replace(
    ROWS["edit_rules"],
    arguments=lambda context: {"scenario": context.scenario, "aligned": context.aligned},
    when=lambda context: bool(context.scenario.rules),
    by_command=_rules_typed,
)
UTILITY = rows_of(
    "utility", replace(ROWS["utility_overview"], arguments=_overview_arguments, inside=_overview_parts), RULES
)
