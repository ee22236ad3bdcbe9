"""The measures of the room `attribute`: attribute disclosure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sdckit.catalogue.row import ROWS, Context, Part, raising, rows_of
from sdckit.data.scenarios import scenario_checks, thresholds
from sdckit.errors import DataError

TESTED_L = (2, 3)


def _comparable(context: Context) -> tuple[list[str], list[DataError]]:
    """Split the sensitive variables into those whose diversity can be computed and the errors of the others."""
    usable, refused = [], []
    for variable in context.scenario.sensitive:
        try:
            DIVERSITY.measure(context.categories, sensitive=[variable], kind="distinct")
            usable.append(variable)
        except DataError as error:
            refused.append(error)
    return usable, refused


def _diversity_parts(context: Context) -> Iterator[Part]:
    limit = context.scenario.limits.l
    levels = sorted({*TESTED_L, *([limit] if limit else [])})

    def measured(cells: Any, names: Sequence[str]) -> Any:
        return DIVERSITY.measure(cells, sensitive=names, levels=levels, **context.grouped)

    usable, refused = list(context.scenario.sensitive), list[DataError]()
    try:
        diversity = measured(context.categories, usable)
    except DataError:  # perhaps of one variable only: try the others
        usable, refused = _comparable(context)
        diversity = measured(context.categories, usable) if usable else None
    for error in refused:
        yield "", raising(error)
    if diversity is None:
        return
    yield "", lambda: diversity
    if context.wildcards:
        yield "wildcard", lambda: measured(context.cells, usable)


DIVERSITY = replace(ROWS["l_diversity"], parts=_diversity_parts)


def _sensitive_arguments(context: Context) -> dict[str, Any]:
    return {"sensitive": context.scenario.sensitive}


def _closeness_arguments(context: Context) -> dict[str, Any]:
    scenario = context.scenario
    kinds = {name: "numeric" if name in scenario.numeric else "equal" for name in scenario.sensitive}
    return {"sensitive": scenario.sensitive, "distance": kinds}


def _attribution_arguments(context: Context) -> dict[str, Any]:
    width = 0.1 if context.target in context.scenario.numeric else None
    return {"keys": context.keys, "target": context.target, "width": width}


def _disclosure_arguments(context: Context) -> dict[str, Any]:
    names = (*context.keys, context.target or "")
    return {"keys": context.keys, "target": context.target, "numeric": list(context.numeric(*names))}


def _bayesian_typed(*, draws: Path, **given: Any) -> Callable[..., Any]:
    """The draws are arrays in a file as numpy.savez writes it.

    Parameters
    ----------
    draws : path
        H draws of the parameters given the original, row i for record i of it: mean and sd of a number, rate of a
        count, probability of the levels of a category; missing beside them.
    """
    import numpy as np

    try:
        with np.load(draws, allow_pickle=False) as file:
            arrays = dict(file)
    except (ValueError, AttributeError, TypeError, EOFError):
        raise DataError(f"{draws.name} is no .npz file of arrays; numpy.savez writes one") from None
    return partial(BAYESIAN.measure, draws=arrays, **given)


BAYESIAN = replace(ROWS["bayesian_attribute_risk"], by_command=_bayesian_typed)


def _number_condition(context: Context) -> str:
    scenario = context.scenario
    if scenario.judged_numbers:
        return ""
    return thresholds.STATED_NONE["magnitudes"] if "magnitudes" in scenario.stated else scenario_checks.NO_MAGNITUDES


def _number_arguments(context: Context) -> dict[str, Any]:
    return {"scenario": context.scenario, **({} if context.pair is None else {"aligned": context.aligned})}


NUMBERS = replace(
    ROWS["exact_numbers"],
    condition=_number_condition,
    arguments=_number_arguments,
    when=lambda context: bool(context.scenario.magnitudes),
)
ATTRIBUTE = rows_of(
    "attribute",
    DIVERSITY,
    replace(ROWS["t_closeness"], arguments=_closeness_arguments),
    replace(ROWS["beta_likeness"], arguments=_sensitive_arguments),
    replace(ROWS["delta_disclosure"], arguments=_sensitive_arguments),
    replace(
        ROWS["alpha_k"], arguments=lambda context: {**_sensitive_arguments(context), "k": context.scenario.limits.k}
    ),
    replace(ROWS["correct_attribution_probability"], arguments=_attribution_arguments),
    replace(ROWS["attribute_disclosure"], arguments=_disclosure_arguments),
    replace(
        ROWS["prediction_risk"], arguments=lambda context: {**_disclosure_arguments(context), "seed": context.seed}
    ),
    NUMBERS,
    BAYESIAN,
)
