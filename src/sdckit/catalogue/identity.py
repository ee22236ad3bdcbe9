"""The measures of the room `identity`: identity disclosure and re-identification risk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sdckit.catalogue.row import Context, Measure, Part
from sdckit.display import counted

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

TESTED_K = (2, 3, 5)
SMALL_SEARCH = 400_000_000  # cells times key subsets: a search of a few seconds
SHORT_SEARCH = 3
MOST_DISTANCES = 40_000_000_000  # pairs of records: a nearest-neighbour search of some ten seconds
MOST_ROBUST = 50_000  # records: a robust covariance of some seconds
NO_DESIGN = "the scenario names neither a weight nor a sampling fraction"
NOT_ALIGNED = (
    "row i of the release is not declared to come from row i of the original; say aligned = true in the "
    "scenario, or name the id"
)
NO_ORDER = (
    "rows on an engine have no order; give the log of protect, or name the id that says which belong together, or "
    "leave the engine out where both files fit into memory"
)
SPECIAL = "special uniques are records; with several rows per person they say too little"
PERSONS = "distinct persons cannot be counted from cells"
ONE = partial(Measure, room="identity", files="one", of_plan="cells")
RELEASE = partial(Measure, room="identity", files="release")
BOTH = partial(RELEASE, of_plan="cells")


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


FREQUENCIES = ONE(
    name="key_frequencies", question="How many records, and how many people, share each record's key?",
    needs=("keys",), missing="wildcard", words="counting the keys of {intruder}", parts=_frequency_parts,
    essential=True,
)  # fmt: skip


ANONYMITY: Measure = ONE(
    name="k_anonymity", question="How many records share their key with fewer than k?",
    needs=("keys",), missing="wildcard", words="looking for rare keys of {intruder}",
    parts=lambda context: _under_both_rules(ANONYMITY, context, k=_tested_k(context)),
    essential=True,
)  # fmt: skip


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


RISK = ONE(
    name="individual_risk", question="How likely is each record to be recognised by its key?",
    needs=("keys",), missing="wildcard", words="estimating the risk from {intruder}", parts=_risk_parts,
    essential=True,
)  # fmt: skip


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


SUDA = ONE(
    name="suda", question="Which records do a few of the keys already single out, and how special are they?",
    needs=("keys",), missing="wildcard", words="searching the special uniques of {intruder}",
    condition=lambda context: SPECIAL if context.scenario.person is not None else "", parts=_suda_parts,
    on_request=True, by_command=_suda_typed,
)  # fmt: skip


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


MODELLED = ONE(
    name="population_risk",
    question="How many of those unique in the file are unique in the population, too?",
    needs=("keys",), words="modelling the population for {intruder}", condition=_design_condition,
    parts=_population_risk_parts, on_request=True, by_command=_population_typed,
)  # fmt: skip
UNIQUES = ONE(
    name="population_uniques",
    question="How many people are unique in the population, judged by the sizes of the classes in the file?",
    needs=("keys",), words="estimating the population uniques for {intruder}", condition=_design_condition,
    arguments=lambda _: {}, on_request=True,
)  # fmt: skip


def _outliers_typed(**given: Any) -> Callable[..., Any]:
    """With --lower-quantile the upper end is looked at where --upper-quantile says so, too."""
    if "lower_quantile" in given:
        given.setdefault("upper_quantile", None)
    return partial(OUTLIERS.measure, **given)


OUTLIERS = ONE(
    name="outliers", question="Which records have values so extreme that they are recognised as such?",
    of_plan="columns", needs=("numeric",), words="looking for outliers", on_request=True, once=True,
    arguments=lambda context: {"scenario": context.scenario}, by_command=_outliers_typed,
)  # fmt: skip


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


ROBUST = RELEASE(
    name="robust_interval_risk",
    question="In how many records is a number close to the true one, the more so for outliers?",
    needs=("numeric",), words="comparing numbers with the original, outliers apart", condition=_robust_condition,
    arguments=lambda context: {"numeric": context.scenario.numeric, "seed": context.seed},
)  # fmt: skip

STRUCTURE = ONE(
    name="household_structure", question="Which households stand out by their size or their members?",
    of_plan="columns", needs=("household", "keys"), words="comparing the households", arguments=lambda _: {},
)  # fmt: skip


def _presence_typed(*, lower: float = 0.0, upper: float = 1.0, **given: Any) -> Callable[..., Any]:
    """Shares of a key in the file are held against two thresholds.

    Parameters
    ----------
    lower, upper : float
        Smallest share of a key allowed, above 0 only where every key of the population is in the file; largest share.
    """
    return partial(PRESENCE.measure, limits=(lower, upper), **given)


PRESENCE = Measure(
    name="delta_presence", question="How surely is a person whose key is known in the file at all?",
    room="identity", files="population", needs=("keys",), of_plan="cells", by_command=_presence_typed,
    instead=("limits",),
)  # fmt: skip


def _followed_arguments(context: Context) -> dict[str, Any]:
    """One to three rows are known, or as many as the limit names."""
    limit = context.scenario.limit_on(FOLLOWED.name)
    most = max(3, 1 if limit is None else limit.points)
    return {"scenario": context.scenario, "points": range(1, most + 1), "seed": context.seed or 0}


FOLLOWED = RELEASE(
    name="known_points", question="How many rows must somebody know of a person to find them alone?", alone=True,
    needs=("person", "keys"), missing="wildcard", words="following people over their rows known to {intruder}",
    arguments=_followed_arguments,
    when=lambda context: context.scenario.followed is not None,
)  # fmt: skip


IDENTITY: tuple[Measure, ...] = (
    FREQUENCIES,
    ANONYMITY,
    RISK,
    ONE(
        name="key_contributions",
        question="Which key makes the file risky, and what would leaving it out save?",
        needs=("keys",), missing="wildcard", words="leaving out the keys of {intruder} one by one",
        condition=_contribution_condition,
        arguments=lambda context: {"k": TESTED_K, "pairs": False, "scenario": context.scenario},
    ),
    STRUCTURE,
    SUDA,
    MODELLED,
    UNIQUES,
    ONE(
        name="risky_cells", question="Which combinations of a few variables do too few records have?",
        needs=("keys",), words="counting combinations of a few keys of {intruder}", arguments=lambda _: {},
        on_request=True,
    ),
    ONE(
        name="key_separation", question="Which share of the records, and of their pairs, do sets of keys tell apart?",
        needs=("keys",), words="counting the pairs that keys of {intruder} tell apart", arguments=lambda _: {},
        on_request=True,
    ),
    OUTLIERS,
    Measure(
        name="k_map", question="How many people of the population share each record's key?",
        room="identity", files="population", needs=("keys",), of_plan="cells",
    ),
    PRESENCE,
    Measure(
        name="explain",
        question="Which keys single one record out, and what is the cheapest change that ends it?",
        room="identity", files="estimates", needs=("keys",), missing="wildcard",
        no_chart="it shows the values of one record, which no picture may carry out of the room",
    ),
    BOTH(
        name="matching_risk",
        question="How well can the rows of a release be matched back to the people they were made from?",
        needs=("known",), words="matching the rows of {intruder} back", condition=_alignment_condition,
        arguments=lambda context: {"scenario": context.scenario, "missing": "category"},
    ),
    BOTH(
        name="few_matches", question="How many people are left with few released records, for who knows their keys?",
        needs=("keys",), words="counting what matches the keys of {intruder}",
        condition=_alignment_condition, arguments=lambda context: {"keys": context.keys, "scenario": context.scenario},
    ),
    BOTH(
        name="identity_disclosure",
        question="Which share of the records can be singled out in the original, in the release, and in both?",
        needs=("keys",), words="looking for uniques of {intruder} in the release",
        arguments=lambda context: {"keys": context.keys},
    ),
    BOTH(
        name="replicated_uniques",
        question="How many records that are alone with their key appear alone in the release, too?",
        needs=("keys",),
    ),
    RELEASE(
        name="record_linkage",
        question="How many released records are closest to the very original they were made from?",
        needs=("variables",), words="linking records on the keys of {intruder}", condition=_linkage_condition,
        arguments=_linkage_arguments, on_targets=True,
    ),
    RELEASE(
        name="interval_risk", question="In how many records are all numbers still close to the true ones?",
        needs=("numeric",), words="comparing numbers with the original", condition=_alignment_condition,
        arguments=lambda context: {"numeric": context.scenario.numeric},
    ),
    ROBUST,
    FOLLOWED,
)  # fmt: skip
