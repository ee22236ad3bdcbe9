"""The measures of the room `attribute`: attribute disclosure."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sdckit.catalogue.row import Context, Measure, Part, raising
from sdckit.data.scenarios import scenario_checks, thresholds
from sdckit.errors import DataError

TESTED_L = (2, 3)
ONE = partial(Measure, room="attribute", files="one", of_plan="cells")
RELEASE = partial(Measure, room="attribute", files="release")
BOTH = partial(RELEASE, of_plan="cells")


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


DIVERSITY = ONE(
    name="l_diversity",
    question="What is learnt about somebody whose key is known, without even finding the record?",
    needs=("keys", "sensitive"), words="comparing what {intruder} would learn", parts=_diversity_parts,
)  # fmt: skip


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


BAYESIAN = RELEASE(
    name="bayesian_attribute_risk",
    question="How probable does a record's true value become for somebody who has the release and the synthesizer?",
    needs=("target",), by_command=_bayesian_typed,
)  # fmt: skip


def _number_condition(context: Context) -> str:
    scenario = context.scenario
    if scenario.judged_numbers:
        return ""
    return thresholds.STATED_NONE["magnitudes"] if "magnitudes" in scenario.stated else scenario_checks.NO_MAGNITUDES


def _number_arguments(context: Context) -> dict[str, Any]:
    return {"scenario": context.scenario, **({} if context.pair is None else {"aligned": context.aligned})}


NUMBERS = RELEASE(
    name="exact_numbers", question="Whose large number goes out as it is?", alone=True,
    words="looking for large numbers that {intruder} would read off", condition=_number_condition,
    arguments=_number_arguments,
    when=lambda context: bool(context.scenario.magnitudes), limited=True,
)  # fmt: skip
ATTRIBUTE: tuple[Measure, ...] = (
    DIVERSITY,
    ONE(
        name="t_closeness",
        question="How far are the sensitive values of those with one key from those of the whole file?",
        needs=("keys", "sensitive"), words="comparing what groups of {intruder} hold with the file",
        arguments=_closeness_arguments, on_request=True,
    ),
    ONE(
        name="beta_likeness",
        question="By how much does knowing the key raise the belief in a sensitive value?",
        needs=("keys", "sensitive"), words="weighing what {intruder} would gain", arguments=_sensitive_arguments,
        on_request=True,
    ),
    ONE(
        name="delta_disclosure",
        question="By which factor does knowing the key change the share of a sensitive value, up or down?",
        needs=("keys", "sensitive"), words="weighing what {intruder} could rule out", arguments=_sensitive_arguments,
        on_request=True,
    ),
    ONE(
        name="alpha_k", question="How large a share of those with one key have the same sensitive value?",
        needs=("keys", "sensitive"), words="looking for groups of {intruder} that mostly agree",
        arguments=lambda context: {**_sensitive_arguments(context), "k": context.scenario.limits.k}, on_request=True,
    ),
    BOTH(
        name="correct_attribution_probability",
        question="How often would somebody who knows a record's keys read its target off the release?",
        needs=("keys", "target"), words="attributing {target} from the keys of {intruder}",
        arguments=_attribution_arguments, per_target=True,
    ),
    BOTH(
        name="attribute_disclosure",
        question="For whom does the release name the target, and for how many of them rightly?",
        needs=("keys", "target"), words="looking for disclosed values of {target}", arguments=_disclosure_arguments,
        per_target=True,
    ),
    RELEASE(
        name="prediction_risk",
        question="How well would a model trained on the release predict a person's confidential value?",
        needs=("keys", "target"), words="predicting {target} from the keys of {intruder}",
        arguments=lambda context: {**_disclosure_arguments(context), "seed": context.seed}, per_target=True,
    ),
    NUMBERS,
    BOTH(
        name="attribute_disclosure_table",
        question="Which of many variables does the release disclose most of?",
        needs=("keys",),
    ),
    BAYESIAN,
)  # fmt: skip
