"""The measures of the room `identity`: identity disclosure and re-identification risk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sdckit.catalogue.row import REASONS, ROWS, Context, Measure, Part, rows_of
from sdckit.display import counted

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

TESTED_K = (2, 3, 5)
SMALL_SEARCH = 400_000_000  # cells times key subsets: a search of a few seconds
SHORT_SEARCH = 3
MOST_DISTANCES = 40_000_000_000  # pairs of records: a nearest-neighbour search of some ten seconds
MOST_ROBUST = 50_000  # records: a robust covariance of some seconds
NO_DESIGN = "the scenario names neither a weight nor a sampling fraction"
NOT_ALIGNED = REASONS["not_aligned"]
NO_ORDER = REASONS["no_order"]
SPECIAL = "special uniques are records; with several rows per person they say too little"
PERSONS = "distinct persons cannot be counted from cells"


def _tested_k(context: Context) -> list[int]:
    limit = context.scenario.limits.k
    return sorted({*TESTED_K, *([limit] if limit else [])})


def _under_both_rules(row: Measure, context: Context, **given: Any) -> Iterator[Part]:
    """Run a measure under the scenario's rule for missing keys; under wildcards, also with missing as a category.

    The stricter rule (category) comes first: the records it counts include those counted under wildcards.
    """
    given |= context.grouped
    if context.wildcards:
        yield "category", lambda: row.measure(context.categories, **given)
    yield "", lambda: row.measure(context.cells, **given)


def _frequency_parts(context: Context) -> Iterator[Part]:
    yield "", lambda: FREQUENCIES.measure(context.cells, **context.grouped)
    if context.wildcards:
        yield "category", lambda: FREQUENCIES.measure(context.categories, **context.grouped)


FREQUENCIES = replace(ROWS["key_frequencies"], parts=_frequency_parts)


ANONYMITY: Measure = replace(
    ROWS["k_anonymity"], parts=lambda context: _under_both_rules(ANONYMITY, context, k=_tested_k(context))
)


def _risk_parts(context: Context) -> Iterator[Part]:
    """Individual risk under both rules; household risks of a lazy frame are aggregated for both in one pass.

    Where household members are needed anyway (`household_structure`), they are collected first: that costs less than
    aggregating in the engine.
    """
    if context.scenario.household is not None and not STRUCTURE.lacks(context):
        context.cells.keep_members(context.scenario.household)
    *first, (place, last) = _under_both_rules(RISK, context, threshold=context.scenario.limits.risk)
    yield from first
    yield place, lambda: _with_household_sums(last())


def _with_household_sums(result: Any) -> Any:
    """Compute the household sums of a result now, so that their warnings are raised by this measure."""
    _ = result.expected_household_reidentifications
    return result


RISK = replace(ROWS["individual_risk"], parts=_risk_parts)


def _contribution_condition(context: Context) -> str:
    if len(context.keys) < 2:
        return "there is only one key"
    return PERSONS if context.scenario.person is not None else ""


def _design_condition(context: Context) -> str:
    scenario = context.scenario
    return NO_DESIGN if scenario.weight is None and scenario.sampling_fraction is None else ""


def _suda_arguments(context: Context) -> dict[str, Any]:
    """Search all subsets of the keys where that takes seconds, else small ones; DIS sampling fraction as declared."""
    here = context.cells.in_memory()
    n_keys = len(here.keys)
    whole = here.n_cells * 2**n_keys <= SMALL_SEARCH
    fraction = 1.0
    if not _design_condition(context):
        from sdckit.identity.population.size_models import sampling_fraction_of

        fraction = sampling_fraction_of(here)
    size = n_keys if whole else min(SHORT_SEARCH, n_keys)
    return {"max_size": size, "sampling_fraction": fraction, "step": context.tell}


def _suda_typed(*, scenario: Scenario, **given: Any) -> Callable[..., Any]:
    """Without --sampling-fraction it is that of the scenario or its weights, else 0.01."""
    given.pop("missing", None)  # it is the scenario's by now, and so that of the cells

    def run(data: Any, **more: Any) -> Any:
        from sdckit.cells.as_cells import as_cells
        from sdckit.identity.population.size_models import sampling_fraction_of

        cells = as_cells(data, scenario=scenario).in_memory()
        if not _design_condition(Context(scenario=scenario)):
            given["sampling_fraction"] = sampling_fraction_of(cells)
        return SUDA.measure(cells, scenario=scenario, **given, **more)

    return run


def _suda_parts(context: Context) -> Iterator[Part]:
    def run() -> Any:
        given = _suda_arguments(context)
        result = SUDA.measure(context.cells.in_memory(), **given)
        size, n_keys = given["max_size"], len(context.keys)
        result.notes["max_size"] = (
            f"all subsets of the {counted(n_keys, 'key')} were searched"
            if size == n_keys
            else f"subsets of up to {size} of the {counted(n_keys, 'key')} were searched; "
            f"{SUDA.name}(max_size=...) searches larger ones"
        )
        if _design_condition(context):
            result.notes["sampling_fraction"] = (
                "neither a weight nor a sampling fraction is declared: the file counts as the whole population, "
                "so that every unique match is correct"
            )
        return result

    yield "", run


SUDA = replace(
    ROWS["suda"],
    condition=lambda context: SPECIAL if context.scenario.person is not None else "",
    parts=_suda_parts,
    by_command=_suda_typed,
)


def _population_risk_parts(context: Context) -> Iterator[Part]:
    from sdckit.identity.population.population_risk import searched_risk

    yield "", lambda: searched_risk(context.cells)


def _population_typed(*, scenario: Scenario, **typed: Any) -> Callable[..., Any]:
    """The models of group sizes stand beside it, and pairs of keys are searched for where that takes seconds.

    That is without --interactions, --formula, --select, --method and --linear.
    """
    given = {name: value for name, value in typed.items() if name not in ("weight", "sampling_fraction")}

    def run(data: Any) -> Any:
        from sdckit.cells.as_cells import as_cells
        from sdckit.identity.population.population_risk import searched_risk

        cells = as_cells(data, scenario=scenario, missing="category")
        chosen = not given.keys().isdisjoint(("interactions", "formula", "select", "method", "linear"))
        return (MODELLED.measure if chosen else searched_risk)(cells, **given), UNIQUES.measure(cells)

    return run


MODELLED = replace(
    ROWS["population_risk"], condition=_design_condition, parts=_population_risk_parts, by_command=_population_typed
)
UNIQUES = replace(ROWS["population_uniques"], condition=_design_condition, arguments=lambda _: {})


def _outliers_typed(**given: Any) -> Callable[..., Any]:
    """With --lower-quantile the upper end is looked at where --upper-quantile says so, too."""
    if "lower_quantile" in given:
        given.setdefault("upper_quantile", None)
    return partial(OUTLIERS.measure, **given)


OUTLIERS = replace(
    ROWS["outliers"], arguments=lambda context: {"scenario": context.scenario}, by_command=_outliers_typed
)


def _alignment_condition(context: Context) -> str:
    return "" if context.aligned else NO_ORDER if context.on_engine else NOT_ALIGNED


def _linkage_condition(context: Context) -> str:
    many = context.n_drawn is None and context.n_pairs > MOST_DISTANCES
    far = f"{context.n:,} records are too many for a search of neighbours here" if many else ""
    return _alignment_condition(context) or far


def _linkage_arguments(context: Context) -> dict[str, Any]:
    numbers = list(context.numeric(*context.keys))
    return {"variables": context.keys, "numeric": numbers, "targets": context.n_drawn, "seed": context.seed}


def _robust_condition(context: Context) -> str:
    if context.aligned and len(context.scenario.numeric) < 2:
        return "the scenario names fewer than two numeric variables"
    many = (context.n or 0) > MOST_ROBUST
    return _alignment_condition(context) or (
        f"{context.n:,} records are many for a robust covariance here; call {ROBUST.name}" if many else ""
    )


ROBUST = replace(
    ROWS["robust_interval_risk"],
    condition=_robust_condition,
    arguments=lambda context: {"numeric": context.scenario.numeric, "seed": context.seed},
)

STRUCTURE = replace(ROWS["household_structure"], arguments=lambda _: {})


def _presence_typed(*, lower: float = 0.0, upper: float = 1.0, **given: Any) -> Callable[..., Any]:
    """Shares of a key in the file are held against two thresholds.

    Parameters
    ----------
    lower, upper : float
        Smallest share of a key allowed, above 0 only where every key of the population is in the file; largest share.
    """
    return partial(PRESENCE.measure, limits=(lower, upper), **given)


PRESENCE = replace(ROWS["delta_presence"], by_command=_presence_typed)


def _followed_arguments(context: Context) -> dict[str, Any]:
    """One to three rows are known, or as many as the limit names."""
    limit = context.scenario.limit_on(FOLLOWED.name)
    most = max(3, 1 if limit is None else limit.points)
    return {"scenario": context.scenario, "points": range(1, most + 1), "seed": context.seed or 0}


FOLLOWED = replace(
    ROWS["known_points"], arguments=_followed_arguments, when=lambda context: context.scenario.followed is not None
)


IDENTITY = rows_of(
    "identity",
    FREQUENCIES,
    ANONYMITY,
    RISK,
    replace(
        ROWS["key_contributions"],
        condition=_contribution_condition,
        arguments=lambda context: {"k": TESTED_K, "pairs": False, "scenario": context.scenario},
    ),
    STRUCTURE,
    SUDA,
    MODELLED,
    UNIQUES,
    replace(ROWS["risky_cells"], arguments=lambda _: {}),
    replace(ROWS["key_separation"], arguments=lambda _: {}),
    OUTLIERS,
    PRESENCE,
    replace(
        ROWS["matching_risk"],
        condition=_alignment_condition,
        arguments=lambda context: {"scenario": context.scenario, "missing": "category"},
    ),
    replace(
        ROWS["few_matches"],
        condition=_alignment_condition,
        arguments=lambda context: {"keys": context.keys, "scenario": context.scenario},
    ),
    replace(ROWS["identity_disclosure"], arguments=lambda context: {"keys": context.keys}),
    replace(ROWS["record_linkage"], condition=_linkage_condition, arguments=_linkage_arguments),
    replace(
        ROWS["interval_risk"],
        condition=_alignment_condition,
        arguments=lambda context: {"numeric": context.scenario.numeric},
    ),
    ROBUST,
    FOLLOWED,
)
